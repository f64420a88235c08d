"""A hand as an SVG picture: a table of four seats, the calls, the trick, the cards held.

Suits are drawn as shapes, so that a picture looks the same whatever fonts a machine has.
"""

from __future__ import annotations

from html import escape
from typing import Any

from bideuchre_env._checks import is_whole, shown
from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import (
    CARD_NAMES,
    JACK,
    MAX_TRICKS,
    N_SEATS,
    NO_TRUMP,
    STRAINS,
    SUITS,
    hand_kinds,
    hand_names,
    same_colour,
)
from bideuchre_env.rules.rules import Rules

WIDTH, HEIGHT = 760, 488
CARD_WIDTH, CARD_HEIGHT = 50, 70
RAISED = 14  # pixels that a card which may be played stands out
CENTRE = (380, 196)  # of the table
SPREAD = 40  # pixels between the left edges of cards in a long hand

LIGHT = {
    "ink": "#1f2328",
    "dim": "#59636e",
    "felt": "#e6f0ea",
    "edge": "#b7cfc0",
    "card": "#ffffff",
    "line": "#8c959f",
    "back": "#7c93a8",
    "mark": "#1a7f37",
    "red": "#cf222e",
    "black": "#1f2328",
}
DARK = LIGHT | {
    "ink": "#e6edf3",
    "dim": "#9198a1",
    "felt": "#15251c",
    "edge": "#2f4a3a",
    "card": "#f0f3f6",
    "line": "#3d444d",
    "back": "#4a5f73",
    "mark": "#3fb950",
}

_STRAINS = ("clubs", "diamonds", "hearts", "spades", "no trump")

# Each suit in a box of 20 by 20, as an SVG path.
_SHAPES = {
    "H": "M10 18C3 12 1 9 1 6A4.6 4.6 0 0 1 10 4.4A4.6 4.6 0 0 1 19 6C19 9 17 12 10 18Z",
    "D": "M10 1L17 10L10 19L3 10Z",
    "S": "M10 1C13 5 18 8 18 12A4 4 0 0 1 11 14.4L13 19H7L9 14.4A4 4 0 0 1 2 12C2 8 7 5 10 1Z",
    "C": "M10 1A4.2 4.2 0 0 1 13.2 8A4.2 4.2 0 1 1 11 14L13 19H7L9 14A4.2 4.2 0 1 1 6.8 8"
    "A4.2 4.2 0 0 1 10 1Z",
}


def table_svg(
    row: Any,
    rules: Rules,
    *,
    viewer: int = 0,
    agents: list[str] | None = None,
    dark: bool = False,
) -> str:
    """The table in a state row as the seat `viewer` sees it, an SVG document of 760 by 488 pixels.

    The viewer sits at the bottom, its partner at the top; the others show the backs of their cards.
    Where it is the viewer's turn to give or play a card, the cards it may choose stand out.
    `agents` are four names, by seat. Raises `OptionError` for a seat that is none.
    """
    if not is_whole(viewer) or not 0 <= viewer < N_SEATS:
        raise OptionError(f"viewer={shown(viewer)}: a seat from 0 to 3")
    return _Picture(row, rules, viewer, agents, DARK if dark else LIGHT).document()


class _Picture:
    def __init__(
        self, row: Any, rules: Rules, viewer: int, agents: list[str] | None, colours: dict[str, str]
    ) -> None:
        self.row, self.rules, self.viewer, self.agents = row, rules, viewer, agents
        self.colours = colours

    def document(self) -> str:
        """The whole SVG document."""
        symbols = "".join(
            f'<symbol id="{suit}" viewBox="0 0 20 20"><path d="{path}"/></symbol>'
            for suit, path in _SHAPES.items()
        )
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" role="img" '
            "font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\">",
            f"<title>{escape(self.title())}</title><defs>{symbols}</defs>",
            f'<rect x="150" y="84" width="460" height="232" rx="116" fill="{self.colours["felt"]}" '
            f'stroke="{self.colours["edge"]}" stroke-width="2"/>',
            self._text(380, 22, self.title(), 15, "ink", weight=600),
        ]
        for place in range(N_SEATS):
            parts.append(self._seat(place))
        parts += [self._trick(), self._own_hand(), self._footer(), "</svg>"]
        return "\n".join(part for part in parts if part) + "\n"

    def title(self) -> str:
        """The contract and the score, in words; the auction while there is no contract."""
        row = self.row
        ours, theirs = (int(row["score"][side]) for side in self._sides())
        score = f"score {ours} to {theirs}"
        if row["calls_made"] < N_SEATS or row["level"] < 0:
            return f"Auction · {score}"
        level, declarer = int(row["level"]), int(row["declarer"])
        bid = self.rules.ladder[level]
        alone = " alone" if bid.alone else ""
        named = f" in {_STRAINS[row['strain']]}" if row["strain"] >= 0 else ""
        trick = min(int(row["trick"]) + 1, self.rules.tricks)
        won = [int(row["tricks_won"][side]) for side in self._sides()]
        return (
            f"{bid.name.capitalize()}{named}{alone} by {self._who(declarer)} · trick {trick} of "
            f"{self.rules.tricks} · tricks {won[0]} to {won[1]} · {score}"
        )

    def _sides(self) -> tuple[int, int]:
        return self.viewer & 1, 1 - (self.viewer & 1)

    def _who(self, seat: int) -> str:
        return ("you", "left", "partner", "right")[(seat - self.viewer) % N_SEATS]

    def _seat(self, place: int) -> str:
        """The name and call of a seat, and the backs of its cards."""
        seat, row = (self.viewer + place) % N_SEATS, self.row
        x, y = ((380, 330), (92, 146), (380, 46), (668, 146))[place]
        words = self._who(seat) + (f" · {self.agents[seat]}" if self.agents else "")
        if seat == row["dealer"]:
            words += " · dealer"
        parts = [self._text(x, y, words, 13, "ink", weight=600)]
        call = self._call(seat)
        if call:
            bold = seat == row["declarer"]
            parts.append(self._text(x, y + 17, call, 13, "mark" if bold else "dim", weight=600))
        if place:
            n = 0 if seat == row["sitting_out"] else int(row["hands"][seat]).bit_count()
            parts.append(self._backs(x, y + 26, n))
        return "\n".join(parts)

    def _call(self, seat: int) -> str:
        row, call = self.row, int(self.row["calls"][seat])
        if seat == row["sitting_out"]:
            return "sits out"
        if call <= 0:
            return "pass" if call == 0 else ""
        words = actions.of(self.rules).contract(call - 1, int(row["call_strains"][seat]))
        return f"bid {words}"

    def _backs(self, x: int, y: int, n: int) -> str:
        step, width = 12, 22
        left = x - (step * (n - 1) + width) / 2
        return "".join(
            f'<rect x="{left + step * i:g}" y="{y}" width="{width}" height="31" rx="3" '
            f'fill="{self.colours["back"]}" stroke="{self.colours["card"]}"/>'
            for i in range(n)
        )

    def _trick(self) -> str:
        """The cards of the current trick, each in front of its seat; the led suit and trump."""
        row = self.row
        if row["phase"] != Phase.PLAY:
            return ""
        parts = []
        for place in range(N_SEATS):
            seat = (self.viewer + place) % N_SEATS
            kind = int(row["plays"][seat * MAX_TRICKS + int(row["trick"])])
            if kind < 0:
                continue
            dx, dy = ((0, 42), (-88, 0), (0, -42), (88, 0))[place]
            x, y = CENTRE[0] + dx - CARD_WIDTH / 2, CENTRE[1] + dy - CARD_HEIGHT / 2
            parts.append(self._card(CARD_NAMES[kind], x, y, marked=seat == row["winning"]))
        if row["strain"] >= 0 and STRAINS[row["strain"]] != "NT":
            parts.append(self._text(556, 190, "trump", 12, "dim"))
            parts.append(self._suit(STRAINS[row["strain"]], 543, 198, 26))
        elif row["strain"] >= 0:
            parts.append(self._text(556, 204, "no trump", 12, "dim"))
        return "\n".join(parts)

    def _own_hand(self) -> str:
        names, legal = self._fanned(), self._legal()
        step = min(CARD_WIDTH + 6, max(SPREAD, (WIDTH - 40) // max(len(names), 1)))
        left = CENTRE[0] - (step * (len(names) - 1) + CARD_WIDTH) / 2
        return "\n".join(
            self._card(
                name,
                left + step * i,
                374 - RAISED * (name in legal),
                marked=name in legal,
                faded=bool(legal) and name not in legal,
            )
            for i, name in enumerate(names)
        )

    def _fanned(self) -> list[str]:
        """The viewer's cards: trumps first from the right bower down, then suit by suit."""
        kinds = hand_kinds(int(self.row["hands"][self.viewer]))
        strain = int(self.row["strain"])
        if strain not in range(NO_TRUMP):
            return hand_names(int(self.row["hands"][self.viewer]))
        tables = compile_tables(self.rules)[0]
        suits, powers = tables["suit_of"][strain], tables["power"][strain]

        def place(kind: int) -> tuple[bool, int, int]:
            suit = int(suits[kind])
            return suit != strain, -suit, -int(powers[suit, kind])

        return [CARD_NAMES[kind] for kind in sorted(kinds, key=place)]

    def _legal(self) -> list[str]:
        """The cards that the viewer may choose now."""
        row = self.row
        choosing = Phase.NAMING < row["phase"] <= Phase.PLAY and row["turn"] == self.viewer
        return legal_names(row, self.rules) if choosing else []

    def _footer(self) -> str:
        """What the marks mean, and which of the viewer's cards is not what it seems."""
        row = self.row
        if row["phase"] != Phase.PLAY:
            return ""
        marks = ["Raised: the cards you may play."] if self._legal() else []
        marks += ["Outlined on the table: the winning card."] if row["winning"] >= 0 else []
        lines = [" ".join(marks)]
        trump = int(row["strain"])
        left = JACK * len(SUITS) + same_colour(trump)
        if trump != NO_TRUMP and left in hand_kinds(int(row["hands"][self.viewer])):
            of, as_one = _STRAINS[same_colour(trump)], _STRAINS[trump]
            lines.append(f"The jack of {of}, the left bower, is one of the {as_one}.")
        return "\n".join(
            self._text(380, 462 + 18 * i, line, 12, "dim") for i, line in enumerate(lines)
        )

    def _card(
        self, name: str, x: float, y: float, *, marked: bool = False, faded: bool = False
    ) -> str:
        rank, suit = "10" if name[0] == "T" else name[0], name[1]
        colour = self.colours["red" if suit in "DH" else "black"]
        edge, opacity = self.colours["mark" if marked else "line"], 0.45 if faded else 1
        return (
            f'<g opacity="{opacity}"><rect x="{x:g}" y="{y:g}" '
            f'width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5" fill="{self.colours["card"]}" '
            f'stroke="{edge}" stroke-width="{2.5 if marked else 1}"/>'
            f'<text x="{x + 6:g}" y="{y + 21:g}" font-size="18" font-weight="700" '
            f'fill="{colour}">{rank}</text>'
            f"{self._suit(suit, x + 11, y + 31, 30, colour)}</g>"
        )

    def _suit(self, suit: str, x: float, y: float, size: int, colour: str = "") -> str:
        fill = colour or self.colours["red" if suit in "DH" else "ink"]
        return (
            f'<use href="#{suit}" x="{x:g}" y="{y:g}" width="{size}" height="{size}" '
            f'fill="{fill}"/>'
        )

    def _text(
        self, x: float, y: float, words: str, size: int, colour: str, *, weight: int = 400
    ) -> str:
        return (
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" '
            f'text-anchor="middle" fill="{self.colours[colour]}">{escape(words)}</text>'
        )
