"""Rendering of hands and games as text with rich: seats, auction, contract, tricks, result.

Once the contract has a strain, trumps are marked, including the left bower.
"""

from __future__ import annotations

import io
from collections.abc import Container
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bideuchre_env.core.state import Outcome
from bideuchre_env.records.look import Look
from bideuchre_env.records.record import GameRecord, hand_of
from bideuchre_env.records.words import SIDES, ending, side_name, title
from bideuchre_env.rules.cards import N_SEATS, STRAINS, hand_names
from bideuchre_env.rules.rules import Rules

LEGEND = "> led   * won the trick   ^ trump (the left bower too)   -- sits out"
UNSEEN = "   ?? not seen"
_STYLE = {"C": "green", "D": "yellow", "H": "red", "S": "bright_blue"}
_WIDTH = 100


def table_text(row: Any, rules: Rules, viewer: int | None = None) -> str:
    """Return the table as plain text: all hands, or the view of the seat `viewer`."""
    out = io.StringIO()
    console = Console(file=out, width=_WIDTH, color_system=None, force_jupyter=False)
    console.print(table_view(row, rules, viewer=viewer))
    return out.getvalue()


def table_view(
    row: Any,
    rules: Rules,
    *,
    viewer: int | None = None,
    agents: list[str] | None = None,
    relative: bool = False,
) -> RenderableType:
    """Render a state row as text: all hands, or with a `viewer` only the cards it sees.

    `agents` are four names, by seat. With `relative` the seats are "you", "left", "partner" and
    "right" of the viewer, else numbers.
    """
    held = [hand_names(int(hand)) for hand in row["hands"]]
    look = (_RelativeLook if relative else _TextLook)(row, rules, viewer, agents=agents)
    if look.strain < 0:
        return look.picture(held)
    legend = LEGEND if viewer is None else LEGEND + UNSEEN
    return Group(look.picture(held), Text(legend, style="dim"))


def card_text(name: str, row: Any, rules: Rules) -> Text:
    """Format a card in the colour of its effective suit; a trump is marked."""
    return _TextLook(row, rules, None).card(name)


def record_view(
    record: GameRecord, number: int, hands: Container[int] | None = None
) -> RenderableType:
    """Render a game with the title "Game `number`"; `hands` are the numbers, from 1, to include.

    None includes all hands. Raises `RecordError` for a record that does not replay.
    """
    rules = record.rules
    parts: list[RenderableType] = [Text(f"Game {number}: {title(record)}", style="bold underline")]
    if record.agents:
        parts.append(Text(f"{side_name(record, 0)} against {side_name(record, 1)}"))
    parts.append(Text(LEGEND, style="dim"))
    for index, states in enumerate(record.replay()):
        if hands is None or index + 1 in hands:
            row = states[0]
            look = _TextLook(row, rules, None, agents=record.agents)
            parts.append(Text(f"\nHand {index + 1}", style="bold"))
            parts.append(look.picture(hand_of(row, rules)["deal"]))
    parts.append(Text(f"\n{ending(record)}", style="bold"))
    return Group(*parts)


class _TextLook(Look):
    """The table as plain text, with seats by number."""

    def picture(self, held: list[list[str]]) -> RenderableType:
        """Render the whole hand; `held` are the cards for each seat, "??" for the unseen."""
        parts: list[RenderableType] = [self.seats(held)]
        parts += filter(None, (self.contract_text(), self.exchange()))
        if self.row["leaders"][0] >= 0:
            parts.append(self.tricks())
        parts.append(self.state_line())
        return Group(*parts)

    def card(self, name: str) -> Text:
        """Format a card in the colour of its effective suit; a trump is marked."""
        trump = self.trump_power(name) > 0
        suit = STRAINS[self.strain] if trump else name[-1]
        return Text(name + "^" * trump, style=_STYLE[suit] + " bold" * trump)

    def cards(self, names: list[str]) -> Text:
        """Format cards in a row, in the order of `fanned`."""
        return Text(" ").join(map(self.card, self.fanned(names)))

    def pile(self, names: list[str], seen: bool) -> Text:
        """Format cards in a row, or as "??" each unless `seen`."""
        return self.cards(names) if seen else Text(" ".join(["??"] * len(names)))

    @property
    def first(self) -> int:
        """The seat of the first column; its side is the first of each pair of numbers."""
        return 0

    @property
    def first_side(self) -> str:
        """Name the side of the first seat."""
        return SIDES[0]

    @property
    def order(self) -> list[int]:
        """The seats in the order of the columns."""
        return [(self.first + turn) % N_SEATS for turn in range(N_SEATS)]

    def label(self, seat: int) -> str:
        """Name a seat in the column of seats."""
        return f"{seat} {self.agents[seat]}" if self.agents else f"{seat}"

    def seat(self, seat: int) -> str:
        """Name a seat without its agent."""
        return f"seat {seat}"

    def who(self, seat: int) -> str:
        """Name a seat, with its agent if known."""
        return f"{self.seat(seat)} ({self.agents[seat]})" if self.agents else self.seat(seat)

    def does(self, seat: int, verb: str, own: str) -> str:
        """Combine a seat with a verb: "seat 0 passes", "you pass" (`own`)."""
        who = self.seat(seat)
        return f"{who} {own if who == 'you' else verb} "

    def seats(self, held: list[list[str]]) -> Table:
        """Table with a line per seat, eldest hand first: agent, call and cards."""
        row = self.row
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("seat", header_style="dim", no_wrap=True)
        table.add_column("call", header_style="dim", no_wrap=True)
        table.add_column("cards", header_style="dim")
        dealer = int(row["dealer"])
        for turn in range(N_SEATS):
            seat = (dealer + 1 + turn) % N_SEATS
            marks = ["dealer"] * (seat == dealer) + ["to act"] * self.to_act(seat)
            name = self.label(seat)
            name += f" ({', '.join(marks)})" if marks else ""
            cards = self.pile(held[seat], self.seen(seat))
            if seat == row["sitting_out"]:
                cards += Text("  (sits out)", style="dim")
            table.add_row(name, self.call_text(seat), cards)
        return table

    def call_text(self, seat: int) -> Text:
        """The call of a seat; empty before its call."""
        bid = self.row["calls"][seat] > 0
        style = "bold" if bid and seat == self.row["declarer"] else "" if bid else "dim"
        return Text(self.call(seat) or "", style=style)

    def contract_text(self) -> Text | None:
        """The contract and its declarer, or "Passed out"; None before the end of the auction."""
        if self.row["calls_made"] < N_SEATS:
            return None
        if self.bid is None:
            return Text("Passed out", style="dim")
        how = ", alone" if self.bid.alone else ""
        who = self.who(int(self.row["declarer"]))
        return Text.assemble("Contract: ", (self.notation() or "", "bold"), f" by {who}{how}")

    def exchange(self) -> Text | None:
        """The kitty and the exchange so far, with "??" for cards that the viewer does not know.

        None without them.
        """
        given, passed = self.exchanged()
        kitty, laid, declarer = self.kitty(), self.laid_away(), int(self.row["declarer"])
        parts: list[str | Text] = []
        if kitty[0]:
            parts += ["Kitty ", self.pile(*kitty)]
        if laid[0]:
            parts += [f", {self.does(declarer, 'lays away', 'lay away')}", self.pile(*laid)]
        if given[0]:
            gives = self.does(declarer, "gives up", "give up")
            parts += [f", {gives}" if parts else gives.capitalize(), self.pile(*given)]
        if passed[0]:
            passes = self.does((declarer + 2) % N_SEATS, "passes", "pass")
            parts += [f", {passes}", self.pile(*passed)]
        return Text.assemble(*parts) if parts else None

    def tricks(self) -> Table:
        """Table with a line per trick and a column per seat."""
        row, rules = self.row, self.rules
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("trick", header_style="dim", justify="right")
        for seat in self.order:
            table.add_column(self.seat(seat), header_style="dim", no_wrap=True)
        leaders = row["leaders"].tolist()
        for trick in range(min(int(row["trick"]) + 1, rules.tricks)):
            winner = self.winner(trick) if trick < row["trick"] else -1
            cells, cards = [], self.trick(trick)
            for seat in self.order:
                name = cards[seat]
                cell = Text(">" if seat == leaders[trick] else " ")
                if name:
                    cell += self.card(name)
                    cell += Text("*" if seat == winner else "", style="bold")
                elif seat == row["sitting_out"]:
                    cell = Text(" --", style="dim")
                cells.append(cell)
            table.add_row(str(trick + 1), *cells)
        return table

    def state_line(self) -> Text:
        """Tricks, points and score of both sides; then the result, or the next action."""
        row, step = self.row, 1 - 2 * (self.first & 1)
        pairs = {name: row[name].tolist()[::step] for name in ("tricks_won", "points", "score")}
        words = ["Tricks {} to {}".format(*pairs["tricks_won"])]
        if self.over:
            words.append("points {:+d} to {:+d}".format(*pairs["points"]))
        words.append("score {} to {} ({} first)".format(*pairs["score"], self.first_side))
        if self.over and row["level"] >= 0:
            words.insert(0, "Made." if self.made else "Set.")
        if not self.over:
            words.append(self.next_action())
        if row["outcome"] != Outcome.UNFINISHED:
            words.append(f"game {Outcome(int(row['outcome'])).name.lower()}")
        return Text("   ".join(words))


class _RelativeLook(_TextLook):
    """The table as plain text, with seats named from the viewer's."""

    @property
    def first(self) -> int:
        return self.bottom

    @property
    def first_side(self) -> str:
        return "you and partner"

    def label(self, seat: int) -> str:
        agents = None if seat == self.viewer else self.agents
        return f"{self.seat(seat)} {agents[seat]}" if agents else self.seat(seat)

    def seat(self, seat: int) -> str:
        return Look.who(self, seat)

    def who(self, seat: int) -> str:
        return self.seat(seat) if seat == self.viewer else super().who(seat)
