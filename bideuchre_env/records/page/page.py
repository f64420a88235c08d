"""Self-contained HTML pages: styles, script and data in one file, no network.

`replay_page` is the replay of a recorded game. To make another page with the same table, call
`document(title, data, body=..., script=table_script() + its own, style=asset("table.css") + its
own)`. The page's script reads the data from the element `data`, makes `new bideuchre.Table(root,
game)` with the result of `game_view(rules)`, and calls `draw(view, {bottom, choose, markOf,
suggested})` with the result of `table_view`. `choose(action)` is called with the name of a legal
action, by mouse, touch or keyboard. `new bideuchre.Keys(button, press)` handles the keys of the
page. Colours are CSS variables with the names of `records.picture`; they follow
the system's theme, or `data-theme="dark"` or `"light"` of the root element.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from importlib import resources
from typing import Any

from bideuchre_env.records import words
from bideuchre_env.records.page import notes as noted
from bideuchre_env.records.page.notes import Notes
from bideuchre_env.records.page.sheet import MARKS, game_sheet
from bideuchre_env.records.page.view import View, game_view, hand_frames
from bideuchre_env.records.picture import DARK, LIGHT

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
{scripts}</body>
</html>
"""
SCRIPTS = """\
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
"""


@lru_cache(maxsize=16)
def asset(name: str) -> str:
    """Return the text of a file in the folder `assets` here: `table.js`, `replay.css`, ..."""
    return (resources.files(__package__) / "assets" / name).read_text(encoding="utf-8")


def table_script() -> str:
    """Return the script of the table, to which a page appends its own."""
    return asset("cards.js") + asset("table.js") + asset("keys.js")


def document(
    title: str, data: Any, *, body: str, script: str, style: str, connect: bool = False
) -> str:
    """Return a complete page; its script can read `data`, JSON values without NaN.

    With an empty `script` the page has neither script nor data.
    `title` is plain text; `body` (HTML), `script` and `style` are inserted unchanged, after the
    CSS variables of the colours. The page's content security policy allows only this script and
    style; `connect` also allows requests to the page's server.
    """
    style = _themes() + style
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        f"connect-src {chr(39) + 'self' + chr(39) if connect else chr(39) + 'none' + chr(39)}; "
        "base-uri 'none'; form-action 'none'"
    )
    scripts = SCRIPTS.format(data=plain(data), script=script) if script else ""
    return PAGE.format(policy=policy, title=escape(title), style=style, body=body, scripts=scripts)


def plain(data: Any) -> str:
    """Return data as JSON that is safe inside HTML; `ValueError` for NaN or infinity."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # in ASCII
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _hash(text: str) -> str:
    """Return the source "sha256-..." that allows a script or style in the security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _themes() -> str:
    """Return the colours of both themes as CSS variables."""
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in theme.items()) for theme in (LIGHT, DARK)
    )
    return (
        f":root{{color-scheme:light;{light}}}"
        f"@media screen and (prefers-color-scheme:dark)"
        f"{{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}"
        f"@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n"
    )


def replay_page(game: words.Game, notes: Notes | None = None, title: str | None = None) -> str:
    """Return the replay of a `GameRecord` as one HTML file.

    `notes` are those of a review (see `records.page.notes`); without them nothing is marked. The
    default of `title` is the variant. Raises `RecordError` for a record that does not replay,
    `OptionError` for notes on another game.
    """
    return replays_page([game], [notes], title)


def replays_page(
    games: Sequence[words.Game],
    notes: Sequence[Notes | None] | None = None,
    title: str | None = None,
    names: Sequence[str] | None = None,
) -> str:
    """Return the replay of several games as one HTML file.

    `notes` and `names` have an entry for each game (else `ValueError`); `names` default to "game 1"
    etc., `title` to the variants. Other errors are those of `replay_page`.
    """
    reviews = notes or [None] * len(games)
    names = names or [f"game {number + 1}" for number in range(len(games))]
    views = [
        game_data(game, review) | {"name": name}
        for game, review, name in zip(games, reviews, names, strict=True)
    ]
    sheets = map(game_sheet, games, views)
    heading = title or ", ".join(dict.fromkeys(game.variant for game in games))
    return document(
        f"{heading} · Bid Euchre",
        {"games": views},
        body=asset("replay.html").replace("{sheets}", "".join(sheets)),
        script=table_script() + asset("replay.js"),
        style=asset("table.css") + asset("replay.css"),
    )


def game_data(game: words.Game, notes: Notes | None = None) -> View:
    """Return the data of a game on a page: words, frames of the hands, and the texts of the notes.

    The errors are those of `replay_page`.
    """
    rules, view = game.rules, game_view(game.rules)
    hands = [
        hand_frames(hand.dealt, hand.actions, rules, game.agents) for hand in game.played_hands()
    ]
    for hand in hands:
        hand |= {"notes": None, "par": None}
    if notes is not None:
        noted.check(notes, [len(hand["plies"]) for hand in hands])
        for hand, review in zip(hands, notes["hands"], strict=True):
            hand["par"] = review.get("par")
            hand["notes"] = [noted.ply_note(note, view["words"]) for note in review["plies"]]
    return {
        "title": words.title(game),
        "view": view,
        "agents": game.agents,
        "sides": [words.side_name(game, side) for side in range(2)],
        "ending": words.ending(game),
        "hands": hands,
        "legend": "" if notes is None else MARKS.strip(),
        "mistakes": notes and noted.mistakes(hands, view["words"], game.agents),
        "players": None if notes is None else [*map(noted.player_note, notes["players"])],
    }
