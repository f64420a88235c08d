"""The table as a picture: what is drawn and where, whoever paints it: `svg.py` or `pixels.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.state import Outcome, Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.marks import WIDTH, Box, Card, Mark, Suit, Words
from bideuchre_env.records.words import STRAIN_WORDS, TO_DO
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

RAISED = 14  # pixels that a card which may be played stands out
CENTRE = (380, 196)  # of the table
SPREAD = 40  # pixels between the left edges of cards in a long hand
_ROW = 4  # small cards side by side at the left and at the right

_SEATS = ("you", "left", "partner", "right")


@dataclass(frozen=True)
class Size:
    """How large a card is, and what is on it: the rank's place and size, the suit's."""

    width: int
    height: int
    radius: int
    rank: tuple[int, int, int]
    suit: tuple[int, int, int]


LARGE = Size(50, 70, 5, (6, 21, 18), (11, 31, 30))
SMALL = Size(26, 36, 3, (3, 14, 13), (6, 18, 14))


@dataclass(frozen=True)
class TablePicture:
    """The table in a state row, with `viewer` at the bottom and its partner at the top.

    A viewer sees its own cards and the backs of the others'; with `open_hands` all cards lie face
    up. Without a viewer they do, too, and seats go by number, seat 0 at the bottom. Where it is the
    turn of a seat whose cards are seen to give or play one, those it may not choose are pale.
    `agents` are four names, by seat.
    """

    row: Any
    rules: Rules
    viewer: int | None
    open_hands: bool = False
    agents: list[str] | None = None

    @property
    def bottom(self) -> int:
        """The seat at the bottom."""
        return self.viewer or 0

    def marks(self) -> Iterator[Mark]:
        """Everything there is to draw, from the back to the front."""
        yield Box(150, 84, 460, 232, 116, "felt", "edge", 2)
        title = self.title()
        yield Words(380, 22, title, min(15, 1350 // len(title)), "ink", 600)
        for place in range(N_SEATS):
            yield from self._seat(place)
        yield from self._middle()
        yield from self._own_hand()
        for i, line in enumerate(self._result() if self._over else self._footer()):
            size, colour, weight = (14, "ink", 600) if self._over else (12, "dim", 400)
            yield Words(380, 462 + 18 * i, line, size, colour, weight)

    def title(self) -> str:
        """The contract and the score, in words; the auction while there is no contract."""
        row = self.row
        ours, theirs = self._pair("score")
        score = f"score {ours} to {theirs}"
        if row["calls_made"] < N_SEATS or row["level"] < 0:
            return f"{'Passed out' if self._over else 'Auction'} · {score}"
        bid = self.rules.ladder[int(row["level"])]
        alone = " alone" if bid.alone else ""
        named = f" in {STRAIN_WORDS[row['strain']]}" if row["strain"] >= 0 else ""
        trick = min(int(row["trick"]) + 1, self.rules.tricks)
        won = self._pair("tricks_won")
        return (
            f"{bid.name.capitalize()}{named}{alone} by {self._who(int(row['declarer']))} · "
            f"trick {trick} of {self.rules.tricks} · tricks {won[0]} to {won[1]} · {score}"
        )

    @property
    def _strain(self) -> int:
        """The strain of the contract, -1 while there is none."""
        settled = self.row["phase"] > Phase.NAMING and self.row["level"] >= 0
        return int(self.row["strain"]) if settled else -1

    @property
    def _over(self) -> bool:
        return bool(self.row["phase"] >= Phase.DEAL)

    def _pair(self, name: str) -> tuple[int, int]:
        """A field by side, the one at the bottom first."""
        side = self.bottom & 1
        return int(self.row[name][side]), int(self.row[name][1 - side])

    def _who(self, seat: int) -> str:
        if self.viewer is None:
            return f"seat {seat}"
        return _SEATS[(seat - self.viewer) % N_SEATS]

    def _seen(self, seat: int) -> bool:
        """Whether the cards that a seat holds lie face up."""
        return self.viewer is None or self.open_hands or seat == self.viewer

    def _to_act(self, seat: int) -> bool:
        return bool(not self._over and self.row["turn"] == seat)

    def _seat(self, place: int) -> Iterator[Mark]:
        """The name of a seat, framed where it is to act, its call, and the cards of the others."""
        seat, row = (self.bottom + place) % N_SEATS, self.row
        x, y = ((380, 330), (92, 146), (380, 46), (668, 146))[place]
        words = self._who(seat) + (f" · {self.agents[seat]}" if self.agents else "")
        if seat == row["dealer"]:
            words += " · dealer"
        if self._to_act(seat):
            width = 6 * len(words) + 20
            yield Box(x - width / 2, y - 14, width, 19, 9.5, "felt", "mark", 1.5)
        yield Words(x, y, words, 13, "ink", 600)
        if call := self._call(seat):
            yield Words(x, y + 18, call, 13, "mark" if seat == row["declarer"] else "dim", 600)
        if place and self._seen(seat):
            names = self._fanned(seat)
            rows = 1 if place == 2 else -(-len(names) // _ROW)
            per_row = -(-len(names) // max(rows, 1))
            for i in range(rows):
                shown = names[i * per_row : (i + 1) * per_row]
                yield from self._small_cards(seat, shown, x, y + 26 + i * (SMALL.height + 2))
        elif place and seat != row["sitting_out"]:
            yield from _backs(x, y + 26, int(row["hands"][seat]).bit_count())

    def _small_cards(self, seat: int, names: list[str], x: float, y: float) -> Iterator[Card]:
        pale = self._pale(seat)
        for name, left in zip(names, _spread(len(names), SMALL.width, 27, x), strict=True):
            yield _card(name, left, y, SMALL, pale=name in pale)

    def _call(self, seat: int) -> str:
        row, call = self.row, int(self.row["calls"][seat])
        if seat == row["sitting_out"]:
            return "sits out"
        if call <= 0:
            return "pass" if call == 0 else ""
        words = actions.of(self.rules).contract(call - 1, int(row["call_strains"][seat]))
        return f"bid {words}"

    def _middle(self) -> Iterator[Mark]:
        """What lies on the table: the trick, or who is to do what; and trump."""
        row, phase = self.row, self.row["phase"]
        if phase in TO_DO and phase != Phase.PLAY:
            to_do = f"{self._who(int(row['turn']))} {TO_DO[Phase(int(phase))]}"
            yield Words(380, 158, to_do, 14, "dim")
        if phase in (Phase.GIVING, Phase.PASSING):
            yield from self._exchange()
        yield from self._trick()
        strain = self._strain
        if strain == NO_TRUMP:
            yield Words(556, 204, "no trump", 12, "dim")
        elif strain >= 0:
            yield Words(556, 190, "trump", 12, "dim")
            yield Suit(543, 198, STRAINS[strain], 26, "red" if STRAINS[strain] in "DH" else "ink")

    def _exchange(self) -> Iterator[Mark]:
        """The cards given up and passed so far, face up to whom they are known."""
        declarer = int(self.row["declarer"])
        halves = (("given up", "given", declarer), ("passed", "passed", (declarer + 2) % N_SEATS))
        for (words, field, seat), x in zip(halves, (320, 440), strict=True):
            names = [CARD_NAMES[kind] for kind in self.row[field] if kind >= 0]
            if names:
                yield Words(x, 190, words, 12, "dim")
            if not self._seen(seat):
                yield from _backs(x, 199, len(names))
                continue
            for name, left in zip(names, _spread(len(names), SMALL.width, 27, x), strict=True):
                yield _card(name, left, 199, SMALL)

    def _trick(self) -> Iterator[Mark]:
        """The cards of the current trick, each before its seat; the last one's, pale, before it."""
        row, trick = self.row, int(self.row["trick"])
        winner, last = int(row["winning"]), _winner_of_last(row)
        begun = row["phase"] == Phase.PLAY and winner >= 0
        if not begun:
            trick, winner = trick - 1, last
        if row["phase"] < Phase.PLAY or trick < 0:
            return
        for place in range(N_SEATS):
            seat = (self.bottom + place) % N_SEATS
            kind = int(row["plays"][seat * MAX_TRICKS + trick])
            if kind >= 0:
                dx, dy = ((0, 42), (-88, 0), (0, -42), (88, 0))[place]
                x, y = CENTRE[0] + dx - LARGE.width / 2, CENTRE[1] + dy - LARGE.height / 2
                yield _card(CARD_NAMES[kind], x, y, marked=seat == winner, pale=not begun)

    def _own_hand(self) -> Iterator[Mark]:
        names, pale = self._fanned(self.bottom), self._pale(self.bottom)
        legal = self._legal(self.bottom)
        step = min(LARGE.width + 6, max(SPREAD, (WIDTH - 40) // max(len(names), 1)))
        lefts = _spread(len(names), LARGE.width, step, CENTRE[0])
        for name, left in zip(names, lefts, strict=True):
            may = name in legal
            yield _card(name, left, 374 - RAISED * may, marked=may, pale=name in pale)

    def _fanned(self, seat: int) -> list[str]:
        """A seat's cards: trumps first from the right bower down, then suit by suit."""
        kinds, strain = hand_kinds(int(self.row["hands"][seat])), self._strain
        if strain not in range(NO_TRUMP):
            return hand_names(int(self.row["hands"][seat]))
        tables = compile_tables(self.rules)[0]
        suits, powers = tables["suit_of"][strain], tables["power"][strain]

        def place(kind: int) -> tuple[bool, int, int]:
            suit = int(suits[kind])
            return suit != strain, -suit, -int(powers[suit, kind])

        return [CARD_NAMES[kind] for kind in sorted(kinds, key=place)]

    def _legal(self, seat: int) -> list[str]:
        """The cards that a seat may choose now, where they are seen."""
        row = self.row
        choosing = Phase.NAMING < row["phase"] <= Phase.PLAY and row["turn"] == seat
        return legal_names(row, self.rules) if choosing and self._seen(seat) else []

    def _pale(self, seat: int) -> set[str]:
        """The cards of a seat that it may not choose now, or cannot play because it sits out."""
        held = set(hand_names(int(self.row["hands"][seat])))
        if legal := self._legal(seat):
            return held.difference(legal)
        out = seat == self.row["sitting_out"] and self.row["phase"] >= Phase.PLAY
        return held if out else set()

    def _footer(self) -> list[str]:
        """What the marks mean, and which card at the bottom is not what it seems."""
        row = self.row
        if row["phase"] != Phase.PLAY:
            return []
        may = f"Raised: the cards {self._who(self.bottom)} may play."
        marks = [may] if self._legal(self.bottom) else []
        if row["winning"] >= 0:
            marks.append("Outlined on the table: the winning card.")
        elif row["trick"] > 0:
            marks.append("Pale on the table: the last trick.")
        lines = [" ".join(marks)] if marks else []
        trump = self._strain
        left = JACK * len(SUITS) + same_colour(trump)
        if trump != NO_TRUMP and left in hand_kinds(int(row["hands"][self.bottom])):
            of, as_one = STRAIN_WORDS[same_colour(trump)], STRAIN_WORDS[trump]
            lines.append(f"The jack of {of}, the left bower, is one of the {as_one}.")
        return lines

    def _result(self) -> list[str]:
        """How the hand has ended, and the game where it has."""
        row, lines = self.row, []
        if row["level"] >= 0:
            need = compile_tables(self.rules)[0]["need"][int(row["level"])]
            made = row["tricks_won"][int(row["declarer"]) & 1] >= need
            points = "{:+d} to {:+d}".format(*self._pair("points"))
            lines.append(f"{'Made' if made else 'Set'}: points {points}.")
        if row["outcome"] == Outcome.WON:
            score = "{} to {}".format(*self._pair("score"))
            lines.append(f"The game is won by {self._side(int(row['winner']))}, {score}.")
        elif row["outcome"] != Outcome.UNFINISHED:
            lines.append(f"The game is {Outcome(int(row['outcome'])).name.lower()}.")
        return lines

    def _side(self, side: int) -> str:
        seats = (self.bottom, (self.bottom + 1) % N_SEATS)[side != self.bottom & 1]
        return f"{self._who(seats)} and {self._who((seats + 2) % N_SEATS)}"


def _winner_of_last(row: Any) -> int:
    """The seat that has won the last whole trick: it leads the next, or is to act at the end."""
    trick = int(row["trick"])
    leader = int(row["leaders"][trick]) if trick < MAX_TRICKS else -1
    return leader if leader >= 0 else int(row["turn"])


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


def _spread(n: int, width: float, step: float, centre: float) -> list[float]:
    """The left edges of n cards beside one another."""
    left = centre - (step * (n - 1) + width) / 2
    return [left + step * i for i in range(n)]


def _backs(x: float, y: float, n: int) -> Iterator[Box]:
    for left in _spread(n, 22, 12 if n <= 9 else 8, x):
        yield Box(left, y, 22, 31, 3, "back", "card")
