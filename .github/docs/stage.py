"""Stage the pages of the repository as the sources of the documentation site.

    python .github/docs/stage.py FOLDER   # then `python -m sphinx FOLDER ...`; see `tox -e docs`

Every page is copied to a short address. A relative link becomes a link to a page of the site, or
to the repository; a link to a missing file is an error. `site/` has the pages that are only on the
site; `<!-- README: TITLE -->` in its index is replaced by that section of the README.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from variant_pages import site_text

from bideuchre_env.envs.manual import table
from bideuchre_env.rules.variants import RULES

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / ".github" / "docs" / "site"
PAGES = ("*.md", "experiments/*.ipynb", ":!:*_TEMPLATE*")
SHORT = {  # start of a path in the repository: start of its address; the first match counts
    ".github/docs/site/": "",
    ".github/docs/": "",
    ".github/": "project/",
    "tests/": "project/tests/",
    "bideuchre_env/rules/README.md": "rules.md",
    "bideuchre_env/rules/": "variants/",
    "bideuchre_env/": "guide/",
    "agents/": "guide/agents/",
    "experiments/class.ipynb": "tutorials/class.md",
    "README.md": "index.md",
}
REPOSITORY = re.search(
    r'^Repository = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M
)[1]
FENCE = re.compile(r"(^(?P<fence>`{3,}).*?^(?P=fence)$)", re.M | re.S)
LINK = re.compile(r"(?<=\]\()([^()\s]+)(?=\))")
CHILDREN = {"experiments/results/README.md": "results/*/*"}
"""Pages with pages below them in the sidebar; all others are in the index of `site/`."""
PICTURE = re.compile(r"<picture>.*?</picture>", re.S)
TABLE = re.compile(r"(?:^\|.*\n)+", re.M)
WIDEST = 12  # columns of a table that a page of 1280 pixels can show
README_PART = re.compile(r"^<!-- README: (.+) -->$", re.M)


class DeadLinkError(ValueError):
    """A link to a file that does not exist."""


def addresses() -> dict[str, str]:
    """Return the address on the site of every page, by its path in the repository."""
    listing = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *PAGES)
    pages = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {page: address(page) for page in sorted(pages.splitlines())}


def address(page: str) -> str:
    """Return the address of a page: shortened by `SHORT`, README.md after its folder."""
    for start, short in SHORT.items():
        if page.startswith(start):
            page = short + page.removeprefix(start)
            break
    return page.replace("/README.md", ".md").lower()


class Stager:
    """Rewrites the links of pages; `pictures` has the picture files that the pages display."""

    def __init__(self) -> None:
        self.pages = addresses()
        self.pictures: set[str] = set()

    def path_of(self, page: str, target: str) -> str:
        """Return the path of a link's target in the repository, or raise `DeadLinkError`."""
        path = normpath(PurePosixPath(page).parent / target)
        if path.startswith("..") or not (ROOT / path).exists():
            raise DeadLinkError(f"{page}: {target} does not exist")
        return path

    def link(self, page: str, target: str) -> str:
        """Return a link of a page as it is on the site; `DeadLinkError` for a missing target.

        Links to other sites, and to anchors of the same page, stay unchanged.
        """
        name, _, anchor = target.partition("#")
        if not name or ":" in name:
            return target
        path = self.path_of(page, name)
        readme = "README.md" if path == "." else f"{path}/README.md"
        path = readme if readme in self.pages else path
        if path in self.pages:
            place = relpath(self.pages[path], PurePosixPath(self.pages[page]).parent)
        else:
            kind = "tree" if (ROOT / path).is_dir() else "blob"
            place = f"{REPOSITORY}/{kind}/main/{path}"
        return f"{place}#{anchor}" if anchor else place

    def picture(self, page: str, match: re.Match[str]) -> str:
        """Return a `<picture>` as two pictures in Markdown, one for each theme.

        Their files are added to `pictures`; a missing file raises `DeadLinkError`.
        """
        values = dict(re.findall(r'(\w+)="([^"]*)"', match[0]))
        width = f" width={values['width']}px" if "width" in values else ""
        lines = []
        for theme, source in (("dark", values["srcset"]), ("light", values["src"])):
            path = self.path_of(page, source)
            self.pictures.add(path)
            lines.append(f"![{values['alt']}](/{path.removeprefix('.')}){{.only-{theme}{width}}}")
        return "\n".join(lines)

    def rewrite(self, page: str, text: str) -> str:
        """Return the text of a page with the links of the site; code blocks stay unchanged."""
        parts = re.split(FENCE, text)
        for number in range(0, len(parts), 3):  # text, block, fence, text, ...
            part = LINK.sub(lambda match: self.link(page, match[0]), parts[number])
            part = PICTURE.sub(lambda match: self.picture(page, match), part)
            parts[number] = TABLE.sub(narrowed, part)
        return "".join(part for number, part in enumerate(parts) if number % 3 < 2)

    def text_of(self, page: str) -> str:
        """Return a page as Markdown for the site."""
        text = (ROOT / page).read_text(encoding="utf-8")
        if page.endswith(".ipynb"):
            text = notebook_text(json.loads(text))
            text += f"\n\nThis page is the notebook [{page}]({REPOSITORY}/blob/main/{page})."
        if children := CHILDREN.get(page):
            text += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{children}\n```\n"
        if (name := Path(page).stem) in RULES:
            text = site_text(name, text)
        return self.rewrite(page, text)


def narrowed(match: re.Match[str]) -> str:
    """Return a Markdown table; columns become rows if there are more than `WIDEST`."""
    head, _, *rows = (line.strip("|").split("|") for line in match[0].splitlines())
    if len(head) <= WIDEST:
        return match[0]
    lines = [tuple(map(str.strip, cells)) for cells in zip(head, *rows, strict=True)]
    return "\n".join(table(lines[0], lines[1:])) + "\n"


def notebook_text(notebook: dict) -> str:
    """Return a notebook without outputs as Markdown."""
    cells = (("".join(cell["source"]), cell["cell_type"]) for cell in notebook["cells"])
    return "\n\n".join(
        f"```python\n{text}\n```" if kind == "code" else text for text, kind in cells
    )


def readme_parts(readme: str) -> dict[str, str]:
    """Return the parts of the README: `title` with the first sentence, `summary`, and sections.

    A section's key is its title.
    """
    head, *sections = re.split(r"^(?=## )", readme, flags=re.M)
    title, sentence, summary = head.split("\n\n", 2)
    parts = {section.partition("\n")[0][3:]: section for section in sections}
    return {"title": f"{title}\n\n{sentence}", "summary": summary, **parts}


def stage(folder: Path) -> int:
    """Write the sources of the site into a folder; return the number of pages.

    Raises `DeadLinkError` for a link to a missing file.
    """
    stager = Stager()
    texts = {page: stager.text_of(page) for page in stager.pages}
    parts = readme_parts(texts.pop("README.md"))
    index = f"{SITE.relative_to(ROOT).as_posix()}/index.md"
    texts[index] = README_PART.sub(lambda match: parts[match[1]].strip(), texts[index])
    for page, text in texts.items():
        place = folder / stager.pages[page]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    for picture in stager.pictures:
        place = folder / picture.removeprefix(".")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / picture, place)
    for path in SITE.glob("*.*"):
        if path.suffix != ".md":
            shutil.copy(path, folder)
    return len(texts)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python .github/docs/stage.py FOLDER")
    print(f"{stage(Path(sys.argv[1]))} pages")
