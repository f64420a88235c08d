"""Generate the parts of the variants' pages that depend on the rules.

The pages are `bideuchre_env/rules/README.md` and a file for each variant beside it. The generated
parts stand between a mark with a name, such as `<!-- manual -->`, and `<!-- end -->`. The rest
is prose.
`python .github/docs/variant_pages.py --write` writes these parts, the pictures of a hand of each
variant (`learn_pages.py`), and the picture at the top of the README.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from learn_pages import PICTURES, learn_lines, pictures

from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.envs.manual import sections, table
from bideuchre_env.envs.registry_ids import gymnasium_id, pettingzoo_id
from bideuchre_env.rules import actions
from bideuchre_env.rules.options import meaning_of, values_of, words_of
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES

FOLDER = Path(__file__).resolve().parents[2] / "bideuchre_env" / "rules"
INDEX = "README.md"
MARKED = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.S)

Row = tuple[str, ...]


def manual_lines(name: str) -> list[str]:
    """Return the Markdown lines of the manual's sections that depend on the rules of a variant."""
    parts = sections(name, RULES[name]).items()
    lines = [line for title, body in parts for line in ("", f"## {title}", "", *body)]
    return [
        re.sub(r" (?=[-|])|(?<=[-|]) ", "", line) if "| ---" in line else line for line in lines
    ][1:]


def lone_bids(rules: Rules) -> str:
    """Return the lone bids and their values as a cell of a table."""
    return ", ".join(f"{bid.name} {bid.value}" for bid in rules.lone) or "none"


def option_rows() -> list[Row]:
    """Return a row for every option of `Rules`: its name, its values and its meaning."""
    rows = []
    for each in fields(Rules):
        words = " ".join(f'`"{word}"`' for word in words_of(each))
        rows.append((f"`{each.name}`", words or values_of(each), meaning_of(each)))
    return rows


def variant_rows() -> list[Row]:
    """Return a row for every variant: linked name, title, cards, tricks, bids, lone bids, A, D."""
    rows = []
    for name, rules in RULES.items():
        bids = "{} to {}".format(*rules.partnered) if rules.partnered else "none"
        sizes = rules.cards, rules.tricks, actions.of(rules).n, layout_of(rules).size
        title = (FOLDER / f"{name}.md").read_text(encoding="utf-8").partition(":")[0][2:]
        figures = [f"{size}" for size in sizes]
        linked = f"[`{name}`]({name}.md)"
        rows.append((linked, title, *figures[:2], bids, lone_bids(rules), *figures[2:]))
    return rows


def parts_of(file: str) -> dict[str, Callable[[], list[str]]]:
    """Return functions that generate the lines between a page's marks, by the word of the mark."""
    name = file.removesuffix(".md")
    if file == INDEX:
        heads = ("name", "game", "cards", "tricks", "bids", "lone bids", "A", "D")
        return {
            "variants": lambda: table(heads, variant_rows()),
            "options": lambda: table(("option", "values", "meaning"), option_rows()),
        }
    return {"manual": lambda: manual_lines(name), "learn": lambda: learn_lines(name)}


def renewed(file: str) -> str:
    """Return the text of a page with its generated parts renewed.

    `AssertionError` if its marks are not those of `parts_of`.
    """
    text = (FOLDER / file).read_text(encoding="utf-8")
    parts = parts_of(file)
    marks = [match[2] for match in MARKED.finditer(text)]
    assert marks == list(parts), f"{file} has the marks {marks}, not {list(parts)}"
    return MARKED.sub(lambda match: "\n".join([match[1][:-1], *parts[match[2]](), match[3]]), text)


def site_text(name: str, text: str) -> str:
    """Return the page `text` of a variant with tables that only the site has.

    They are the spaces and ids, before "Description", and the observation's blocks, before
    "Rewards".
    """
    rules, layout = RULES[name], layout_of(RULES[name])
    spaces = [
        ("Action space", f"`Discrete({actions.of(rules).n})`"),
        ("Observation space", f"`int8 ({layout.size},)` and mask, `int8 ({actions.of(rules).n},)`"),
        ("Python", f"`bideuchre_env.{name}()`"),
        ("PettingZoo", f'`pettingzoo.make("aec", "{pettingzoo_id(name)}")`; also `"parallel"`'),
        ("Gymnasium", f'`gymnasium.make("{gymnasium_id(name)}")`'),
    ]
    blocks = []
    for block in layout.blocks:
        at = layout.slices[block.name]
        bounds = f"{block.low} to {block.high}"
        blocks.append((block.name, f"{at.start}:{at.stop}", bounds, block.meaning))
    for title, heads, rows in (
        ("## Description", ("", ""), spaces),
        ("## Rewards", ("block", "entries", "values", "meaning"), blocks),
    ):
        lines = "\n".join(table(heads, rows))
        text = text.replace(f"\n{title}\n", f"\n{lines}\n\n{title}\n", 1)
    return text


def page_files() -> list[str]:
    """Return the file names of all pages: one for each variant, and the index."""
    return [*(f"{name}.md" for name in RULES), INDEX]


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python .github/docs/variant_pages.py --write")
    for file in page_files():
        (FOLDER / file).write_text(renewed(file), encoding="utf-8")
    for name in RULES:
        for file, text in pictures(name).items():
            (PICTURES / file).write_text(text, encoding="utf-8")
