"""Run the Python blocks of pages, and compare or write the outputs that follow them.

    python .github/docs/outputs.py --write         # of all tutorials
    python .github/docs/outputs.py --write PAGE... # of these pages, as paths in the repository

In a tutorial, a Python block that prints is followed by a `text` block with its output. The line
`VARY` between the two means that numbers depend on the machine or on versions of libraries.
An output that is `equal` to the printed one stays unchanged. So does a page from the first block on
whose library is missing.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ".github/docs/tutorials"
VARY = "The numbers vary:"
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n"
    rf"(?:\n(?P<vary>{VARY}\n\n)?```text\n(?P<output>.*?)^```\n)?",
    re.M | re.S,
)
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?")
DECIMAL = re.compile(r"[-+]?\d+\.(\d+)")
TIME = re.compile(r"[\d.,]+(?= ms| decisions per second)")


class Block(NamedTuple):
    """A Python block of a page, the output that follows it, and whether its numbers vary."""

    code: str
    output: str | None
    varies: bool


def block_of(match: re.Match[str]) -> Block:
    """Return the block of a match of `BLOCK`."""
    return Block(match["code"], match["output"], match["vary"] is not None)


def blocks(page: str) -> list[Block]:
    """Return the Python blocks of a page."""
    return [*map(block_of, BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")))]


def run(page: str, code: str, scope: dict[str, Any]) -> str:
    """Run a block of a page with these variables, which it changes, and return its output."""
    with redirect_stdout(StringIO()) as printed:
        exec(compile(code, page, "exec"), scope)
    return tidy(printed.getvalue())


def tidy(output: str) -> str:
    """Return an output without spaces at the ends of lines and without empty lines at both ends."""
    text = "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")
    return text and f"{text}\n"


def equal(expected: str, printed: str, varies: bool) -> bool:
    """Whether the output that a page shows is equal to the one that a block has printed.

    Times are not compared, and the last digit of a decimal number may differ by 1, since machines
    round differently. If numbers vary, neither numbers nor the widths of columns are compared.
    """
    if varies:
        texts = (" ".join(NUMBER.sub("N", text).split()) for text in (expected, printed))
        return len(set(texts)) == 1
    expected, printed = TIME.sub("N", expected), TIME.sub("N", printed)
    return DECIMAL.sub("N", expected) == DECIMAL.sub("N", printed) and all(
        abs(float(one[0]) - float(other[0])) < 1.1 * 10.0 ** -len(one[1])
        for one, other in zip(DECIMAL.finditer(expected), DECIMAL.finditer(printed), strict=True)
    )


def written(page: str, text: str) -> str:
    """Run the blocks of a page and return its text with their outputs.

    From the first block on whose library is missing, the text stays unchanged.
    """
    scope: dict[str, Any] = {}
    missing = ""

    def renew(match: re.Match[str]) -> str:
        nonlocal missing
        if missing:
            return match[0]
        code, output, varies = block_of(match)
        try:
            printed = run(page, code, scope)
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if not missing or missing.startswith("bideuchre_env"):
                raise
            print(f"{page}: the rest is unchanged without {missing}")
            return match[0]
        if output is not None and equal(output, printed, varies):
            return match[0]
        block = f"\n{match['vary'] or ''}```text\n{printed}```\n" if printed else ""
        return f"```python\n{code}```\n{block}"

    return BLOCK.sub(renew, text)


def main(*pages: str) -> None:
    """Write the outputs of pages, of all tutorials by default; the blocks run in a new folder."""
    tutorials = sorted((ROOT / TUTORIALS).glob("*.md"))
    for page in pages or [path.relative_to(ROOT).as_posix() for path in tutorials]:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            new = written(page, text)
            os.chdir(ROOT)
        if new != text:
            path.write_text(new, encoding="utf-8")
            print(f"{page}: written")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit("usage: python .github/docs/outputs.py --write [PAGE...]")
    main(*sys.argv[2:])
