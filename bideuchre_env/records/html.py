"""A game on record in HTML, for notebooks: a table of its hands, each of which unfolds.

It reads in light and in dark, and needs no script: colours are the page's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from bideuchre_env._columns import html_table
from bideuchre_env.rules.cards import CARD_NAMES, MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.jit import Array

_HEAD = ("hand", "dealer", "contract", "declarer", "tricks", "points", "score")


def game_html(
    title: str, hands: list[dict[str, Any]], rows: Iterable[Array], agents: list[str] | None
) -> str:
    """A game from the hands of its record, and the state row, (1,), that each of them ends in."""
    lines: list[tuple[str, ...]] = [_HEAD]
    folded = []
    for number, (hand, states) in enumerate(zip(hands, rows, strict=True), 1):
        contract = hand["contract"] or "passed out" * (len(hand["actions"]) == N_SEATS)
        declarer = "" if hand["declarer"] is None else str(hand["declarer"])
        totals = ["{} - {}".format(*hand[name]) for name in ("tricks", "points", "score")]
        lines.append((str(number), str(hand["dealer"]), contract, declarer, *totals))
        folded.append(
            f"<details><summary>hand {number}: {escape(contract or 'in progress')}</summary>"
            f"{_seats(hand, agents)}{_tricks(states[0])}</details>"
        )
    sides = "Pairs of numbers are those of seats 0 and 2, then of seats 1 and 3."
    return f"<p><b>{escape(title)}</b></p>{html_table(lines)}<p>{sides}</p>{''.join(folded)}"


def _seats(hand: dict[str, Any], agents: list[str] | None) -> str:
    """A line per seat, eldest hand first: who plays it, its call, the cards dealt to it."""
    calls = [*hand["actions"][:N_SEATS], *[""] * N_SEATS]
    lines = [("seat", "call", "cards dealt")]
    for turn in range(N_SEATS):
        seat = (hand["dealer"] + 1 + turn) % N_SEATS
        who = f"{seat} {agents[seat]}" if agents else str(seat)
        lines.append((who, calls[turn], " ".join(hand["deal"][seat])))
    return html_table(lines)


def _tricks(row: Any) -> str:
    """A line per trick, a column per seat; > led it, * won it."""
    leaders, lines = row["leaders"].tolist(), [("trick", *(f"seat {i}" for i in range(N_SEATS)))]
    played = row["plays"].reshape(N_SEATS, MAX_TRICKS).T
    for trick in range(MAX_TRICKS):
        cells = [CARD_NAMES[kind] if kind >= 0 else "" for kind in played[trick]]
        if not any(cells):
            break
        last = trick + 1 == MAX_TRICKS or leaders[trick + 1] < 0
        winner = int(row["turn"]) if last else leaders[trick + 1]
        cells[leaders[trick]] = f"> {cells[leaders[trick]]}"
        if trick < row["trick"] and winner >= 0:
            cells[winner] += " *"
        lines.append((str(trick + 1), *cells))
    return html_table(lines) if len(lines) > 1 else ""
