"""`analyse`: what each card of a game record cost its side, seen with all hands open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bideuchre_env._checks import shown
from bideuchre_env.core.state import Phase, new_states
from bideuchre_env.errors import PositionError
from bideuchre_env.records.record import GameRecord
from bideuchre_env.rules.cards import CARD_NAMES
from bideuchre_env.rules.rules import Rules
from bideuchre_env.solver.inputs import act, opened_hand
from bideuchre_env.solver.solve import solve_batch


@dataclass(frozen=True)
class PlayedCard:
    """A card of a record: where it was played, and the tricks it gave away.

    `hand` and `ply` count from 0, `ply` among the actions of its hand; `tricks` are what its side
    could still take before it, the current trick included, `lost` how many fewer after it.
    """

    hand: int
    ply: int
    seat: int
    card: str
    tricks: int
    lost: int


def analyse(
    record: GameRecord, *, threads: int | None = None, memory: float | None = None
) -> list[PlayedCard]:
    """The tricks given away by each card played in a record, in order (0 for the best cards).

    Exact for all hands seen, which the players did not: a card may cost a trick and have been
    right. `threads` and `memory` are those of `solve_batch`. Raises `RecordError` for a record
    that does not replay.
    """
    if not isinstance(record, GameRecord):
        raise PositionError(f"{shown(record)}: a GameRecord is expected")
    record.verify()
    rules, found = record.rules, []
    for number in range(len(record.hands)):
        found += _analyse_hand(record, number, rules, threads, memory)
    return found


def _analyse_hand(
    record: GameRecord, number: int, rules: Rules, threads: int | None, memory: float | None
) -> list[PlayedCard]:
    told = record.hands[number]
    states, rows, plies = opened_hand(told, rules), [], []
    for ply, name in enumerate(told["actions"]):
        if states[0]["phase"] == Phase.PLAY:
            rows.append(states[0].copy())
            plies.append(ply)
        act(states, rules, name)
    if not rows:
        return []
    on_going = states[0]["phase"] == Phase.PLAY  # a game cut short in the middle of a hand
    before = new_states(len(rows) + on_going)
    for i, row in enumerate(rows):
        before[i] = row
    if on_going:
        before[-1] = states[0]
    tricks = solve_batch(before, rules, threads=threads, memory=memory)
    left = rules.tricks - before["trick"]
    side_0 = np.where(before["turn"] & 1, left - tricks, tricks)
    all_in = np.append(side_0 + before["tricks_won"][:, 0], int(states[0]["tricks_won"][0]))
    return [
        PlayedCard(
            hand=number,
            ply=ply,
            seat=int(row["turn"]),
            card=told["actions"][ply],
            tricks=int(tricks[i]),
            lost=abs(int(all_in[i]) - int(all_in[i + 1])),
        )
        for i, (ply, row) in enumerate(zip(plies, rows, strict=True))
        if told["actions"][ply] in CARD_NAMES
    ]
