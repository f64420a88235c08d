"""Write the installation commands on the pages of users: from an index, or from a checkout.

`ON_INDEX` in `bideuchre_env/_install.py` decides. After a change of it,
`python .github/docs/install_text.py --write` rewrites the commands on all pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from bideuchre_env import _install

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".ci", ".github", "agents", "benchmarks", "bideuchre_env", "experiments", "tests")
CHECKOUT = (
    *(".ci/", ".github/CONTRIBUTING.md", ".github/workflows/", ".pre-commit-config.yaml", "tests/"),
    *("benchmarks/README.md", "experiments/README.md", "experiments/class.ipynb"),
)
"""Starts of the paths of files that need a checkout: wheels lack tests, scripts and tools."""
COMMAND = re.compile(
    r'pip install (?:-e "?\.|"?bideuchre_env)(?!\[(?:test|docs)\b)(?:\[([\w,]+)\]")?(?=[\s`])'
)  # the extras `test` and `docs` need a checkout
PLACE = re.compile(r"(?<=Python 3\.10 or newer)(?:, from a checkout)?(?=\.)")


def files(*suffixes: str) -> Iterator[Path]:
    """Yield the repository's files with these suffixes, except those that need a checkout."""
    for path in (*ROOT.iterdir(), *(each for name in FOLDERS for each in (ROOT / name).rglob("*"))):
        name = path.relative_to(ROOT).as_posix()
        if path.is_file() and path.suffix in suffixes and not name.startswith(CHECKOUT):
            yield path


def rewritten(text: str) -> str:
    """Return the text of a page with the commands that fit `ON_INDEX`."""
    text = PLACE.sub("" if _install.ON_INDEX else ", from a checkout", text)
    return COMMAND.sub(lambda match: _install.command(match[1] or ""), text)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python .github/docs/install_text.py --write")
    for path in files(".md"):
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
