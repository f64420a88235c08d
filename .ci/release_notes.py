"""Print the section of the changelog for a tag, or the conda recipe for a source archive.

python .ci/release_notes.py v0.3.0   # the tag must be the version of the package
python .ci/release_notes.py --recipe dist/bideuchre_env-0.3.0.tar.gz
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def read(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    """Return `__version__` of the package without importing it."""
    return re.findall(r'^__version__ = "(.*)"$', read("bideuchre_env/__init__.py"), re.M)[0]


def notes(release: str) -> str:
    """Return the section of a version with a date, without its heading; "" if there is none."""
    heading = rf"^## {re.escape(release)} - \d{{4}}-\d\d-\d\d\n"
    parts = re.split(heading, read(".github/CHANGELOG.md"), maxsplit=1, flags=re.M)
    if len(parts) == 1:
        return ""
    section = re.split(r"^## ", parts[1], maxsplit=1, flags=re.M)[0].strip()
    return re.sub(r"\n +(?=\S)", " ", section)  # GitHub displays line breaks within an item


def recipe(archive: str) -> str:
    """Return the conda recipe with the package's version and a source archive's checksum."""
    checksum = hashlib.sha256(Path(archive).read_bytes()).hexdigest()
    text = re.sub(r"\A(#.*\n)+", "", read(".github/conda/recipe.yaml"))
    return text.replace("VERSION", version()).replace("SHA256", checksum)


def main(tag: str, archive: str = "") -> None:
    if tag == "--recipe":
        print(recipe(archive), end="")
        return
    release = version()
    if tag != f"v{release}":
        sys.exit(f"{tag}: expected v{release}, the version of the package")
    if not notes(release):
        sys.exit(f".github/CHANGELOG.md has no section {release} with a date")
    print(notes(release))


if __name__ == "__main__":
    main(*sys.argv[1:])
