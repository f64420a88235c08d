"""A hand as a person reads it: seats, auction, contract, tricks laid out by seat, result.

One picture serves the environments' "ansi" rendering and `bideuchre show`; it is drawn with rich,
in colour where the console has it and plain where it has not.
"""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bideuchre_env.core.state import Outcome, Phase
from bideuchre_env.records.record import GameRecord, hand_of
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES, MAX_TRICKS, N_SEATS, STRAINS, hand_names
from bideuchre_env.rules.rules import Rules

_STYLE = {"C": "green", "D": "yellow", "H": "red", "S": "blue"}
_WIDTH = 100


def table_text(row: Any, rules: Rules, viewer: int | None = None) -> str:
    """The table as plain text: everything, or what one seat can see."""
    out = io.StringIO()
    console = Console(file=out, width=_WIDTH, color_system=None, force_jupyter=False)
    console.print(table_view(row, rules, viewer=viewer))
    return out.getvalue()


def table_view(
    row: Any, rules: Rules, *, viewer: int | None = None, agents: list[str] | None = None
) -> RenderableType:
    """The hand in a state row: cards held now, auction, contract, tricks, score.

    `viewer` is the seat whose eyes are used, None for all-seeing.
    """
    held = [hand_names(int(hand)) for hand in row["hands"]]
    return _picture(row, rules, held, viewer, agents)


def record_view(record: GameRecord, number: int) -> RenderableType:
    """A whole game for reading: a title, then every hand with the cards as dealt."""
    rules = record.rules
    parts: list[RenderableType] = [_title(record, number)]
    for index, states in enumerate(record.replay()):
        row = states[0]
        held = hand_of(row, rules)["deal"]
        parts.append(Text(f"\nHand {index + 1}", style="bold"))
        parts.append(_picture(row, rules, held, None, record.agents))
    parts.append(Text(f"\n{_ending(record)}", style="bold"))
    return Group(*parts)


def _title(record: GameRecord, number: int) -> Text:
    words = [f"Game {number}: {record.variant}"]
    words += [f"{name}={value!r}" for name, value in record.options.items()]
    if record.seed is not None:
        words.append(f"seed {record.seed}")
    return Text("  ".join(words), style="bold underline")


def _ending(record: GameRecord) -> str:
    score = record.hands[-1]["score"] if record.hands else list(record.start)
    if record.outcome == "won":
        return f"Side {record.winner} wins, {score[0]} to {score[1]}."
    return {"drawn": "Drawn", "truncated": "Truncated", "unfinished": "Unfinished"}[
        record.outcome
    ] + f" at {score[0]} to {score[1]}."


def _picture(
    row: Any, rules: Rules, held: list[list[str]], viewer: int | None, agents: list[str] | None
) -> RenderableType:
    parts: list[RenderableType] = [_seats(row, rules, held, viewer, agents)]
    contract = _contract(row, rules)
    if contract:
        parts.append(contract)
    exchange = _exchange(row, viewer)
    if exchange:
        parts.append(exchange)
    if row["leaders"][0] >= 0:
        parts.append(_tricks(row, rules))
    parts.append(_state_line(row))
    return Group(*parts)


def _card(name: str) -> Text:
    return Text(name, style=_STYLE.get(name[-1], ""))


def _cards(names: list[str]) -> Text:
    return Text(" ").join(_card(name) for name in names)


def _seats(
    row: Any, rules: Rules, held: list[list[str]], viewer: int | None, agents: list[str] | None
) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("seat", "side", "call", "cards"):
        table.add_column(heading, header_style="dim", no_wrap=True)
    for turn in range(N_SEATS):
        seat = (int(row["dealer"]) + 1 + turn) % N_SEATS
        marks = "dealer" if seat == row["dealer"] else ""
        if row["phase"] < Phase.DEAL and seat == row["turn"]:
            marks = (marks + " to act").strip()
        name = f"{seat}" + (f" {agents[seat]}" if agents else "") + (f" ({marks})" if marks else "")
        seen = viewer is None or viewer == seat
        cards = _cards(held[seat]) if seen else Text(" ".join(["??"] * len(held[seat])))
        if seat == row["sitting_out"]:
            cards += Text("  (sits out)", style="dim")
        table.add_row(name, str(seat & 1), _call(row, rules, seat), cards)
    return table


def _call(row: Any, rules: Rules, seat: int) -> Text:
    call = int(row["calls"][seat])
    if call <= 0:
        return Text("pass" if call == 0 else "", style="dim")
    contract = actions.of(rules).contract(call - 1, int(row["call_strains"][seat]))
    return Text(contract or "", style="bold" if seat == row["declarer"] else "")


def _contract(row: Any, rules: Rules) -> Text | None:
    if row["calls_made"] < N_SEATS:
        return None
    if row["level"] < 0:
        return Text("Passed out", style="dim")
    contract = actions.of(rules).contract(int(row["level"]), int(row["strain"]))
    bid = rules.ladder[int(row["level"])]
    how = " alone" if bid.alone else ""
    return Text.assemble("Contract ", (contract or "", "bold"), f" by seat {row['declarer']}{how}")


def _exchange(row: Any, viewer: int | None) -> Text | None:
    """The exchange, as far as the viewer may know it."""
    if row["given"][0] < 0:
        return None
    declarer = int(row["declarer"])
    partner = (declarer + 2) % N_SEATS
    discarded = [CARD_NAMES[kind] for kind in row["given"] if kind >= 0]
    passed = [CARD_NAMES[kind] for kind in row["passed"] if kind >= 0]
    taken = row["phase"] >= Phase.PLAY
    knows_given = viewer in (None, declarer)
    knows_passed = viewer in (None, partner) or (viewer == declarer and taken)
    parts = [Text(f"Seat {declarer} gives up "), _pile(discarded, knows_given)]
    if passed:
        parts += [Text(f", seat {partner} passes "), _pile(passed, knows_passed)]
    return Text.assemble(*parts)


def _pile(names: list[str], seen: bool) -> Text:
    return _cards(names) if seen else Text(" ".join(["??"] * len(names)))


def _tricks(row: Any, rules: Rules) -> Table:
    """A line a trick, a column a seat: `>` led, `*` won."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("trick", header_style="dim", justify="right")
    for seat in range(N_SEATS):
        table.add_column(f"seat {seat}", header_style="dim", no_wrap=True)
    leaders = row["leaders"].tolist()
    for trick in range(min(int(row["trick"]) + 1, rules.tricks)):
        done = trick < row["trick"]
        last = trick + 1 == rules.tricks
        winner = int(row["turn"]) if last else leaders[trick + 1]
        cells = []
        for seat in range(N_SEATS):
            kind = int(row["plays"][seat * MAX_TRICKS + trick])
            cell = Text(">" if seat == leaders[trick] else " ")
            if kind >= 0:
                cell += _card(CARD_NAMES[kind])
                cell += Text("*" if done and seat == winner else " ", style="bold")
            elif seat == row["sitting_out"]:
                cell = Text(" --", style="dim")
            cells.append(cell)
        table.add_row(str(trick + 1), *cells)
    return table


def _state_line(row: Any) -> Text:
    ours, theirs = row["tricks_won"].tolist()
    score = row["score"].tolist()
    words = f"Tricks {ours}-{theirs}   score {score[0]} to {score[1]}"
    if row["phase"] >= Phase.DEAL:
        points = row["points"].tolist()
        words = f"Tricks {ours}-{theirs}   points {points[0]:+d} {points[1]:+d}   score "
        words += f"{score[0]} to {score[1]}"
    else:
        words += f"   {Phase(int(row['phase'])).name.lower()}: seat {row['turn']} to act"
        if row["led"] >= 0:
            words += f", {STRAINS[row['led']]} led"
    if row["outcome"] != Outcome.UNFINISHED:
        words += f"   game {Outcome(int(row['outcome'])).name.lower()}"
    return Text(words)
