"""The table as a picture: marks with their positions, independent of the renderer.

`pixels.py` renders them. Suits are shapes, so that a picture does not depend on installed fonts.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

from bideuchre_env.core.state import Phase
from bideuchre_env.records.look import Look
from bideuchre_env.records.words import TO_DO
from bideuchre_env.rules.cards import N_SEATS, NO_TRUMP, STRAIN_WORDS, STRAINS, hand_names

WIDTH, HEIGHT = 760, 488
PALE = 0.45  # opacity of cards that may not be played, and of the last trick

# Each suit in a box of 20 by 20, as an SVG path of lines and cubic curves.
SHAPES = {
    "H": "M10 18C3 12 1 9 1 6C0.9 3.7 2.5 1.6 4.8 1.2C7.1 0.8 9.3 2.2 10 4.4"
    "C10.7 2.2 12.9 0.8 15.2 1.2C17.5 1.6 19.1 3.7 19 6C19 9 17 12 10 18Z",
    "D": "M10 1L17 10L10 19L3 10Z",
    "S": "M10 1C13 5 18 8 18 12C17.9 13.6 16.8 15 15.3 15.5C13.8 16.1 12.1 15.6 11 14.4L13 19L7 19"
    "L9 14.4C7.9 15.6 6.2 16.1 4.7 15.5C3.2 15 2.1 13.6 2 12C2 8 7 5 10 1Z",
    "C": "M10 1C11.7 1 13.2 1.9 13.9 3.5C14.6 5 14.3 6.8 13.2 8C15.3 7.2 17.6 8.2 18.5 10.3"
    "C19.4 12.3 18.5 14.7 16.5 15.7C14.5 16.7 12.1 15.9 11 14L13 19L7 19L9 14"
    "C7.9 15.9 5.5 16.7 3.5 15.7C1.5 14.7 0.6 12.3 1.5 10.3C2.4 8.2 4.7 7.2 6.8 8"
    "C5.7 6.8 5.4 5 6.1 3.5C6.8 1.9 8.3 1 10 1Z",
}

LIGHT = {
    "paper": "#ffffff",
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
    "paper": "#0d1117",
    "ink": "#e6edf3",
    "dim": "#9198a1",
    "felt": "#15251c",
    "edge": "#2f4a3a",
    "card": "#f0f3f6",
    "line": "#3d444d",
    "back": "#4a5f73",
    "mark": "#3fb950",
}


@dataclass(frozen=True)
class Box:
    """A rectangle with round corners; colours are keys of a theme."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    edge: str
    line: float = 1


@dataclass(frozen=True)
class Words:
    """A line of text, centred at x or beginning there; y is its baseline."""

    x: float
    y: float
    text: str
    size: int
    colour: str
    weight: int = 400
    centred: bool = True


@dataclass(frozen=True)
class Suit:
    """The symbol of a suit in a square."""

    x: float
    y: float
    suit: str
    size: float
    colour: str


@dataclass(frozen=True)
class Card:
    """A card and its parts, in coordinates from its corner; pale cards are translucent."""

    x: float
    y: float
    parts: tuple[Box | Words | Suit, ...]
    pale: bool = False


Mark = Box | Words | Suit | Card


RAISED = 14  # pixels by which legal cards are raised
CENTRE = (380, 196)  # of the table
SPREAD = 40  # pixels between the left edges of cards in a long hand
_ROW = 4  # small cards per row at the left and right seats


@dataclass(frozen=True)
class Size:
    """The size of a card, and the places and sizes of its rank and suit."""

    width: int
    height: int
    radius: int
    rank: tuple[int, int, int]
    suit: tuple[int, int, int]


LARGE = Size(50, 70, 5, (6, 21, 18), (11, 31, 30))
SMALL = Size(26, 36, 3, (3, 14, 13), (6, 18, 14))


class TablePicture(Look):
    """The picture of a state row, with `viewer`, or else seat 0, at the bottom.

    Illegal cards of the seat to act are pale.
    """

    def marks(self) -> Iterator[Mark]:
        """Yield all marks to draw, from the back to the front."""
        yield Box(150, 84, 460, 232, 116, "felt", "edge", 2)
        title = self.title()
        yield Words(380, 22, title, min(15, 1350 // len(title)), "ink", 600)
        for place in range(N_SEATS):
            yield from self._seat(place)
        yield from self._middle()
        yield from self._own_hand()
        for i, line in enumerate(self.result() if self.over else self._footer()):
            size, colour, weight = (14, "ink", 600) if self.over else (12, "dim", 400)
            yield Words(380, 462 + 18 * i, line, size, colour, weight)

    def _seat(self, place: int) -> Iterator[Mark]:
        """Yield a seat's name (framed if it is to act), call, and cards unless at the bottom.

        `place` is 0 for the seat at the bottom, then 1 to 3 around the table.
        """
        seat, row = (self.bottom + place) % N_SEATS, self.row
        x, y = ((380, 330), (92, 146), (380, 46), (668, 146))[place]
        words = self.who(seat) + (f" · {self.agents[seat]}" if self.agents else "")
        if seat == row["dealer"]:
            words += " · dealer"
        if self.to_act(seat):
            width = 6 * len(words) + 20
            yield Box(x - width / 2, y - 14, width, 19, 9.5, "felt", "mark", 1.5)
        yield Words(x, y, words, 13, "ink", 600)
        if call := self._called(seat):
            yield Words(x, y + 18, call, 13, "mark" if seat == row["declarer"] else "dim", 600)
        if place and self.seen(seat):
            names = self.hand(seat)
            rows = 1 if place == 2 else -(-len(names) // _ROW)
            per_row = -(-len(names) // max(rows, 1))
            for i in range(rows):
                in_row = names[i * per_row : (i + 1) * per_row]
                top = y + 26 + i * (SMALL.height + 2)
                yield from _small_cards(in_row, x, top, self._pale(seat))
        elif place and seat != row["sitting_out"]:
            yield from _backs(x, y + 26, int(row["hands"][seat]).bit_count())

    def _called(self, seat: int) -> str | None:
        if seat == self.row["sitting_out"]:
            return "sits out"
        call = self.call(seat)
        return f"bid {call}" if call and self.row["calls"][seat] > 0 else call

    def _middle(self) -> Iterator[Mark]:
        """Yield the centre of the table: next action (except a play), exchange, trick and trump."""
        row, phase = self.row, self.row["phase"]
        if phase in TO_DO and phase != Phase.PLAY:
            to_do = f"{self.who(int(row['turn']))} {self.to_do}"
            yield Words(380, 158, to_do, 14, "dim")
        if phase in (Phase.GIVING, Phase.PASSING):
            yield from self._exchange()
        yield from self._trick()
        strain = self.strain
        if strain >= NO_TRUMP:
            yield Words(556, 204, STRAIN_WORDS[strain], 12, "dim")
        elif strain >= 0:
            yield Words(556, 190, "trump", 12, "dim")
            yield Suit(543, 198, STRAINS[strain], 26, "red" if STRAINS[strain] in "DH" else "ink")

    def _exchange(self) -> Iterator[Mark]:
        """Yield the cards given up and passed so far, face up if the viewer knows them.

        While the declarer lays away cards for a kitty, yield these instead.
        """
        piles = zip(("given up", "passed"), self.exchanged(), (320, 440), strict=True)
        for words, (names, visible), x in (
            [("laid away", self.laid_away(), 380)] if self.lays_away else piles
        ):
            if names:
                yield Words(x, 190, words, 12, "dim")
            yield from _small_cards(names, x, 199) if visible else _backs(x, 199, len(names))

    def _trick(self) -> Iterator[Mark]:
        """Yield the cards of the current trick by seat; before its lead, the last trick's, pale."""
        row, trick, winner = self.row, int(self.row["trick"]), int(self.row["winning"])
        begun = row["phase"] == Phase.PLAY and winner >= 0
        if not begun:
            trick -= 1
        if row["phase"] < Phase.PLAY or trick < 0:
            return
        cards, winner = self.trick(trick), winner if begun else self.winner(trick)
        for place in range(N_SEATS):
            seat = (self.bottom + place) % N_SEATS
            if name := cards[seat]:
                dx, dy = ((0, 42), (-88, 0), (0, -42), (88, 0))[place]
                x, y = CENTRE[0] + dx - LARGE.width / 2, CENTRE[1] + dy - LARGE.height / 2
                yield _card(name, x, y, marked=seat == winner, pale=not begun)

    def _own_hand(self) -> Iterator[Mark]:
        names, pale = self.hand(self.bottom), self._pale(self.bottom)
        legal = self.legal(self.bottom)
        step = min(LARGE.width + 6, max(SPREAD, (WIDTH - 40) // max(len(names), 1)))
        lefts = _spread(len(names), LARGE.width, step, CENTRE[0])
        for name, left in zip(names, lefts, strict=True):
            may = name in legal
            yield _card(name, left, 374 - RAISED * may, marked=may, pale=name in pale)

    def _pale(self, seat: int) -> set[str]:
        """The cards of a seat that are illegal now, or all of its cards if it sits out.

        Otherwise the set is empty.
        """
        held = set(hand_names(int(self.row["hands"][seat])))
        if legal := self.legal(seat):
            return held.difference(legal)
        out = seat == self.row["sitting_out"] and self.row["phase"] >= Phase.PLAY
        return held if out else set()

    def _footer(self) -> list[str]:
        """The legend of marks during play, and a note if the bottom seat holds the left bower."""
        row = self.row
        if row["phase"] != Phase.PLAY:
            return []
        may = f"Raised: the cards {self.who(self.bottom)} may play."
        marks = [may] if self.legal(self.bottom) else []
        if row["winning"] >= 0:
            marks.append("Outlined on the table: the winning card.")
        elif row["trick"] > 0:
            marks.append("Pale on the table: the last trick.")
        lines = [" ".join(marks)] if marks else []
        if self.left_bower() in self.hand(self.bottom):
            lines.append(self.left_bower_words())
        return lines


def _card(
    name: str, x: float, y: float, size: Size = LARGE, *, marked: bool = False, pale: bool = False
) -> Card:
    rank, suit = "10" if name[0] == "T" else name[0], name[1]
    colour = "red" if suit in "DH" else "black"
    edge, line = ("mark", 2.5) if marked else ("line", 1.0)
    across, down, letters = size.rank
    parts = (
        Box(0, 0, size.width, size.height, size.radius, "card", edge, line),
        Words(across, down, rank, letters, colour, 700, centred=False),
        Suit(*size.suit[:2], suit, size.suit[2], colour),
    )
    return Card(x, y, parts, pale)


def _small_cards(names: list[str], x: float, y: float, pale: Container[str] = ()) -> Iterator[Card]:
    for name, left in zip(names, _spread(len(names), SMALL.width, 27, x), strict=True):
        yield _card(name, left, y, SMALL, pale=name in pale)


def _spread(n: int, width: float, step: float, centre: float) -> list[float]:
    """Left edges of n cards in a centred row."""
    left = centre - (step * (n - 1) + width) / 2
    return [left + step * i for i in range(n)]


def _backs(x: float, y: float, n: int) -> Iterator[Box]:
    for left in _spread(n, 22, 12 if n <= 9 else 8, x):
        yield Box(left, y, 22, 31, 3, "back", "card")
