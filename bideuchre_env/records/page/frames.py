"""A hand on record as frames: the view of the table after each action, told as changes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.page.view import SEATS, View, table_view
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

_NEVER = ("title", "result", "happened", "to_do")  # what a replay shows otherwise


def hand_frames(dealt: bytes, played: Array, rules: Rules, agents: list[str] | None) -> View:
    """The frames of a hand, from the state row it was dealt in and its actions, int64 (m,).

    `first` is the open view before the first action; `changes`, one an action, lead from each to
    the next (see `change`). `seen` has for each of the m + 1 views, by seat, what the seat sees
    otherwise than `covered` says. `plies`: the seat, name and phase of each action; `tricks`: their
    leader, winner, and place among the actions, by seat, in whole, first and last; `stops`: the
    numbers of actions after which a part is over: the deal, the auction, a trick.
    """
    tables, row, names = compile_tables(rules), rows_of([dealt]), actions.of(rules).names
    views, seen, plies = [], [], []
    for action in (*played.tolist(), None):
        views.append(_view(row[0], rules, None, agents))
        seen.append({seat: _view(row[0], rules, seat, agents, beside=views[-1]) for seat in SEATS})
        if action is not None:
            seat, phase = int(row[0]["turn"]), Phase(int(row[0]["phase"]))
            plies.append({"seat": seat, "action": names[action], "phase": phase.name.lower()})
            step_row(row, tables, action)
    return {
        "first": views[0],
        "changes": [_changes(*pair) for pair in pairwise(views)],
        "seen": [{seat: view for seat, view in each.items() if view} for each in seen],
        "plies": plies,
        "tricks": _tricks(views, plies),
        "stops": _stops(views),
    }


def covered(view: View, seat: int) -> View:
    """What a page makes of the open view by itself for a seat: the others' cards become counts."""
    hands = [cards if who == seat else len(cards) for who, cards in enumerate(view["hands"])]
    legal = view["legal"] if view["turn"] == seat else []
    return view | {"seat": seat, "hands": hands, "legal": legal}


def _view(
    row: Any, rules: Rules, seat: int | None, agents: list[str] | None, beside: View | None = None
) -> View:
    """A view with what a replay shows; what differs from the covered view `beside` alone."""
    view = table_view(row, rules, seat, agents, numbered=True)
    view = {name: value for name, value in view.items() if name not in _NEVER}
    if row["phase"] <= Phase.NAMING:
        view["legal"] = []  # calls are shown when they are made
    if beside is None or seat is None:
        return view
    plain = covered(beside, seat)
    return {name: value for name, value in view.items() if value != plain[name]}


def _changes(before: View, after: View) -> View:
    return {
        name: change(before[name], value) for name, value in after.items() if value != before[name]
    }


def change(before: Any, after: Any) -> Any:
    """What leads from one value to the next: of lists of one length the items that differ."""
    alike = isinstance(before, list) and isinstance(after, list) and len(before) == len(after)
    if not alike:
        return after
    pairs = enumerate(zip(before, after, strict=True))
    return {at: change(one, other) for at, (one, other) in pairs if one != other}


def _tricks(views: list[View], plies: list[View]) -> list[View]:
    """The tricks of a hand, the last one as far as it was played."""
    tricks: list[View] = []
    for at, ply in enumerate(plies):
        if ply["phase"] != "play":
            continue
        if views[at]["leader"] == ply["seat"] and not any(views[at]["trick"]):
            tricks.append({"leader": ply["seat"], "winner": None, "plies": [None] * len(SEATS)})
            tricks[-1] |= {"first": at, "end": None}
        tricks[-1]["plies"][ply["seat"]] = at
        if views[at + 1]["last_number"] == len(tricks):
            tricks[-1] |= {"winner": views[at + 1]["last_winner"], "end": at + 1}
    return tricks


def _stops(views: list[View]) -> list[int]:
    """Where one steps to by whole parts."""
    parts = [(view["phase"] in ("auction", "naming"), view["last_number"]) for view in views]
    stops = [at for at in range(1, len(parts)) if parts[at] != parts[at - 1]]
    return sorted({0, *stops, len(views) - 1})
