"""Check the links of a built site, without the network.

    python .github/docs/check_links.py FOLDER

Every link between pages must lead to a file of the site and to an anchor in it, and every link to
the repository to a file or folder of this checkout, or to one of `OTHER_PAGES` on GitHub.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from stage import REPOSITORY, ROOT

OTHER_PAGES = re.compile(
    r"/(issues|security/advisories/new|compare/v[\d.]+\.\.\.(main|v[\d.]+)|releases/tag/v[\d.]+)"
)
IN_CHECKOUT = re.compile(r"/(?:blob|tree)/main/([^#]+)(?:#L\d+(?:-L\d+)?)?")


class Page(HTMLParser):
    """The anchors and links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the anchor and the links of a tag."""
        values = dict(attrs)
        self.anchors |= {values.get("id") or "", values.get("name") or ""}
        self.links += [values[name] or "" for name in ("href", "src") if name in values]


def fault(page: Path, link: str, pages: dict[Path, Page]) -> str:
    """Return the fault of a link in a few words, or "" for a valid one."""
    if link.startswith(REPOSITORY):
        address = link.removeprefix(REPOSITORY).rstrip("/")
        if not address or OTHER_PAGES.fullmatch(address):
            return ""
        match = IN_CHECKOUT.fullmatch(address)
        exists = match and (ROOT / unquote(match[1])).exists()
        return "" if exists else "not in the repository"
    url = urlsplit(link)
    if url.scheme or url.netloc:
        return ""
    target = (page.parent / unquote(url.path)).resolve() if url.path else page
    if not target.is_file():
        return "no such file"
    anchor = unquote(url.fragment)
    return "no such anchor" if target in pages and anchor not in pages[target].anchors else ""


def main(folder: Path) -> int:
    """Print every fault and the numbers of pages and links; return 1 if there is a fault."""
    pages = {path.resolve(): Page(path) for path in folder.rglob("*.html")}
    links = [(path, link) for path, page in pages.items() for link in page.links]
    faults = [(path, link, fault(path, link, pages)) for path, link in links]
    broken = [
        f"{path.relative_to(folder.resolve())}: {link}: {why}" for path, link, why in faults if why
    ]
    print(*broken, f"{len(pages)} HTML files, {len(links)} links, {len(broken)} broken", sep="\n")
    return int(bool(broken))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python .github/docs/check_links.py FOLDER")
    sys.exit(main(Path(sys.argv[1])))
