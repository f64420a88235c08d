"""The page of a live game: the table of the replay, and a script that talks to the server."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from bideuchre_env.records.page.page import asset, document
from bideuchre_env.records.page.view import game_view
from bideuchre_env.rules.rules import Rules


@lru_cache(maxsize=4)
def game_page(rules: Rules) -> str:
    """The page for every seat of a game of these rules; nothing of a game in progress is in it."""
    return document(
        "Bid Euchre",
        {"game": game_view(rules)},
        body=_own("live.html"),
        script=asset("table.js") + asset("keys.js") + _own("live.js"),
        style=asset("table.css") + _own("live.css"),
        connect=True,
    )


def _own(name: str) -> str:
    """The text of a file of this page."""
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")
