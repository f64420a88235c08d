"""Generate the parts of the variants' pages that depend on the rules.

The pages are `bideuchre_env/rules/README.md` and a file for each variant beside it. The generated
parts are between marks such as `<!-- specs -->` and `<!-- end -->`. The rest is prose.
`python .github/docs/variant_pages.py --write` writes these parts, the pictures of a hand of each
variant (`learn_pages.py`), and the picture at the top of the README.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from learn_pages import PICTURES, learn_lines, pictures

from bideuchre_env import make
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.registration import aec_id, gymnasium_id
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.options import CHOICES, OPTIONS, meaning_of, values_of, words_of
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES

FOLDER = Path(__file__).resolve().parents[2] / "bideuchre_env" / "rules"
INDEX = "README.md"
MARKED = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.S)

Row = tuple[str, ...]


# The game in ten sentences.


def sheet_of(rules: Rules) -> dict[str, list[str]]:
    """The lines of the rule sheet by section; all texts on options come from there."""
    sections: dict[str, list[str]] = {}
    title = ""
    for line in str(rules).splitlines():
        title = line[:10].strip(" :") or title
        sections.setdefault(title, []).append(line[10:])
    return sections


def clause(sentence: str) -> str:
    """A sentence as a part of a longer one."""
    return sentence[0].lower() + sentence[1:].rstrip(".")


def listed(words: list[str], last: str = "and") -> str:
    """Words joined by commas and a final conjunction."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def ten_sentences(rules: Rules) -> tuple[str, ...]:
    """The game in ten sentences; options are worded as in the rule sheet."""
    sheet = sheet_of(rules)
    cards = sheet["Cards"][0].partition(" of four seats")[0]
    higher, naming = sheet["Auction"][0].split("; ")[1].split(". ")
    call = (
        "Everyone makes one *call*, the *eldest hand* (left of the dealer) first and the dealer "
        "last: a pass or a *bid*"
    )
    same = ", the first played of two identical ones" if rules.copies == 2 else ""
    return (
        f"Four players, partners sitting opposite, play with {cards}.",
        "; ".join([call, *map(clause, (higher, *sheet["Auction"][1:-1]))]) + ".",
        sheet["Auction"][-1],
        f"{_with_partner(rules)}; the highest bid is the *contract* and its bidder the *declarer*, "
        f"against the *defenders*; {clause(naming).replace('strain', '*strain*')}.",
        _alone(rules),
        "The suit named is *trump* and beats the others: its jack, the *right bower*, is the "
        "highest card, next comes the other jack of its colour, the *left bower*, which belongs to "
        "trumps for every purpose, and all other cards, as all cards at no trump, rank "
        f"{' '.join(_ranks(rules))}.",
        _before_the_play(rules, sheet),
        "To each *trick* everyone plays a card, of the suit led if possible, else any; the highest "
        f"trump wins it, or without one the highest card of the suit led{same}, and its player "
        "leads to the next.",
        _scoring(rules),
        "The game is " + "; ".join(clause(line) for line in sheet["Game"]) + ".",
    )


def _ranks(rules: Rules) -> Row:
    """The ranks of the deck, highest first."""
    return ("A", "K", "Q", "J", "10", "9")[: 6 - CHOICES["ranks"].index(rules.ranks)]


def _with_partner(rules: Rules) -> str:
    if rules.partnered is None:
        return "Every bid is to play alone"
    low, high = rules.partnered
    span = f"{low}" if low == high else f"{low} to {high}"
    return f"A bid with partner promises {span} tricks between the two"


def _alone(rules: Rules) -> str:
    if not rules.lone:
        return "There are no bids to play alone."
    bids = listed([_lone_bid(bid) for bid in rules.lone])
    above = ", higher than all others," if rules.partnered is not None else ""
    first = ", lowest first" if len(rules.lone) > 1 else ""
    return (
        f"A *lone* bid{above} promises every trick while partner sits out, for these points"
        f"{first}: {bids}."
    )


def _lone_bid(bid: Bid) -> str:
    cards = "a card" if bid.exchange == 1 else f"{bid.exchange} cards"
    return f"*{bid.name}* {bid.value}{f' ({cards} exchanged first)' if bid.exchange else ''}"


def _before_the_play(rules: Rules, sheet: dict[str, list[str]]) -> str:
    """The exchange, if the rules have one, and the first lead."""
    leads = sheet["Play"][0]
    if not rules.exchange:
        return leads
    called = listed([bid.name for bid in rules.lone if bid.exchange], "or")
    exchange = clause(" ".join(sheet["Exchange"]).partition(". ")[0])
    return f"Where the contract is {called}, {exchange}; then, as in any contract, {clause(leads)}."


def _scoring(rules: Rules) -> str:
    alone = ", or a lone bid's points" if rules.partnered is not None and rules.lone else ""
    made, lost = "the bid's points", "the bid's points"
    if rules.partnered is not None:
        made, lost = "a point per trick", "as many points as it bid tricks"
    return (
        f"A declarer's side that wins what it bid has *made* it and scores {made}{alone}; "
        f"otherwise it is *set* and loses {lost}{alone}; the defenders score a point per trick, "
        "always."
    )


# The figures of a game.


def decisions_of_hands(rules: Rules) -> list[int]:
    """Possible numbers of decisions of a played hand, forced ones included; fewest first."""
    naming = rules.strain_named == "after_auction"
    before = {bid: N_SEATS + naming + 2 * bid.exchange for bid in rules.ladder}
    return sorted({n + (N_SEATS - bid.alone) * rules.tricks for bid, n in before.items()})


def most_points_ahead(rules: Rules) -> int:
    """The most points of a hand that one side can be ahead of the other."""
    payoff = compile_tables(rules)[0]["payoff"]
    return max(
        abs(int(payoff[level, won]) - (rules.tricks - won))
        for level in range(len(rules.ladder))
        for won in range(rules.tricks + 1)
    )


def fewest_hands(rules: Rules) -> int:
    """The fewest played hands in which a game from no score can be won."""
    if rules.win_rule == "rounds":
        return 4 * (rules.rounds or 0)
    made = max(bid.value if bid.alone else rules.tricks for bid in rules.ladder)
    most = max(made, rules.tricks)  # the defenders may take every trick
    last = made if rules.win_rule == "made_bid" else most
    return 1 + max(0, -((last - (rules.target or 0)) // most))


def specs(name: str, rules: Rules) -> list[Row]:
    """The rows of the table of figures."""
    layout, acts = layout_of(rules), actions.of(rules)
    numbered = [f"`pass` 0, bids 1 to {acts.trump_offset - 1}"]
    if acts.trump_offset < acts.card_offset:
        numbered.append(f"strains {acts.trump_offset} to {acts.card_offset - 1}")
    numbered.append(f"cards {acts.card_offset} to {acts.n - 1}")
    lengths = decisions_of_hands(rules)
    decisions = listed([f"{n}" for n in lengths], "or") + ", forced ones included"
    if rules.all_pass.startswith("redeal"):
        decisions += f"; {N_SEATS} where all pass"
    ahead, fewest = most_points_ahead(rules), fewest_hands(rules)
    hands = f"{fewest} played" if rules.win_rule == "rounds" else f"at least {fewest}"
    return [
        ("players", "4: `player_0` and `player_2` against `player_1` and `player_3`"),
        ("deck", sheet_of(rules)["Cards"][0].partition("), ")[0] + ")"),
        ("tricks in a hand", f"{rules.tricks}"),
        ("actions A", f"{acts.n}: {', '.join(numbered)}"),
        (
            "observation D",
            f"{layout.size} int8, from {layout.low.min()} to {layout.high.max()}; each block has "
            "bounds of its own",
        ),
        ("global state", f"{layout.state_size} int8"),
        (
            'rewards, `episode="game"`',
            "+1 to the winners, -1 to the losers, at the end; otherwise 0",
        ),
        ('rewards, `episode="hand"`', f"points minus the other side's, -{ahead} to {ahead}"),
        ("decisions in a hand", decisions),
        ("hands in a game", f"{hands}; truncated after {rules.max_hands} deals"),
        ("in PettingZoo", f'`pettingzoo.make("aec", "{aec_id(name)}")`'),
        ("in Gymnasium", f'`gymnasium.make("{gymnasium_id(name)}")`'),
        ("many tables at once", f"`bideuchre_env.{name}.vec(4096)`"),
        ("in game records", f'`"variant": "{name}"`'),
    ]


# Tables.


def table(heads: Row, rows: list[Row]) -> list[str]:
    """The lines of a table in Markdown."""
    return ["| " + " | ".join(cells) + " |" for cells in (heads, ("---",) * len(heads), *rows)]


def value_text(rules: Rules, option: str) -> str:
    """The value of an option as a cell of a table."""
    value = getattr(rules, option)
    if option == "lone":
        return ", ".join(f"{bid.name} {bid.value}" for bid in value) or "none"
    return f"`{value!r}`".replace("'", '"')


def differing_options(name: str) -> list[Row]:
    """Options in which the variants differ: the name, the value here, the other values."""
    rows = []
    for option in OPTIONS:
        here = value_text(RULES[name], option)
        values = dict.fromkeys(value_text(rules, option) for rules in RULES.values())
        if len(values) > 1:
            elsewhere = " · ".join(value for value in values if value != here)
            rows.append((f"`{option}`", here, elsewhere))
    return rows


def option_rows() -> list[Row]:
    """Every option of `Rules`: its name, its values and its meaning."""
    rows = []
    for each in fields(Rules):
        words = " ".join(f'`"{word}"`' for word in words_of(each))
        rows.append((f"`{each.name}`", words or values_of(each), meaning_of(each)))
    return rows


def variant_rows() -> list[Row]:
    """Every variant: its name, linked to its page, and its figures."""
    rows = []
    for name, rules in RULES.items():
        bids = value_text(rules, "partnered")
        if rules.partnered is not None:
            bids = "{} to {}".format(*rules.partnered)
        sizes = rules.cards, rules.tricks, actions.of(rules).n, layout_of(rules).size
        title = (FOLDER / f"{name}.md").read_text(encoding="utf-8").partition(":")[0][2:]
        figures = [f"{size}" for size in sizes]
        linked = f"[`{name}`]({name}.md)"
        rows.append((linked, title, *figures[:2], bids, value_text(rules, "lone"), *figures[2:]))
    return rows


# The pages.


def example_of(name: str, text: str) -> dict[str, Any]:
    """The options in the example call of a page."""
    [call] = re.findall(rf"^env = (bideuchre_env\.{name}\(.+\))$", text, re.M)
    parsed = ast.parse(call, mode="eval").body
    assert isinstance(parsed, ast.Call)
    return {str(option.arg): ast.literal_eval(option.value) for option in parsed.keywords}


def changed_sentences(name: str, text: str) -> list[str]:
    """The sentences that the page's example changes."""
    here = ten_sentences(RULES[name])
    there = ten_sentences(make(name).replace(**example_of(name, text)).rules)
    pairs = enumerate(zip(here, there, strict=True), 1)
    return [f"- **{number}.** {after}" for number, (before, after) in pairs if before != after]


def sentence_lines(rules: Rules) -> list[str]:
    """The ten sentences as a numbered list."""
    return [f"{number}. {sentence}" for number, sentence in enumerate(ten_sentences(rules), 1)]


def parts_of(file: str, text: str) -> dict[str, Callable[[], list[str]]]:
    """The generators of the parts between marks, by the word of the mark."""
    name = file.removesuffix(".md")
    if file == INDEX:
        heads = ("name", "game", "cards", "tricks", "bids", "lone bids", "A", "D")
        return {
            "variants": lambda: table(heads, variant_rows()),
            "options": lambda: table(("option", "values", "meaning"), option_rows()),
        }
    return {
        "learn": lambda: learn_lines(name),
        "sentences": lambda: sentence_lines(RULES[name]),
        "specs": lambda: table(("", ""), specs(name, RULES[name])),
        "options": lambda: table(("option", "here", "elsewhere"), differing_options(name)),
        "changed": lambda: changed_sentences(name, text),
    }


def renewed(file: str) -> str:
    """Return a page with its generated parts renewed; raise an error if a mark is missing."""
    text = (FOLDER / file).read_text(encoding="utf-8")
    parts = parts_of(file, text)
    marks = [mark[2] for mark in MARKED.finditer(text)]
    assert marks == list(parts), f"{file} has the marks {marks}, not {list(parts)}"
    return MARKED.sub(lambda mark: "\n".join([mark[1][:-1], *parts[mark[2]](), mark[3]]), text)


def page_files() -> list[str]:
    """The files of all pages."""
    return [*(f"{name}.md" for name in RULES), INDEX]


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python .github/docs/variant_pages.py --write")
    for file in page_files():
        (FOLDER / file).write_text(renewed(file), encoding="utf-8")
    for name in RULES:
        for file, text in pictures(name).items():
            (PICTURES / file).write_text(text, encoding="utf-8")
