"""`analyse`: the tricks that each card of a game record lost, with all hands open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import PositionError
from bideuchre_env.records.record import GameRecord, PlayedHand
from bideuchre_env.solver.solve import solve_batch


@dataclass(frozen=True)
class PlayedCard:
    """A card of a record, and the tricks it lost.

    `hand` and `ply` count from 0, `ply` among the actions of its hand. `tricks` is the number that
    the player's side could still win before the card, the current trick included. `lost` is how
    many of them the card gave away.
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
    """Return the tricks that each card played in a record gave away, in order.

    The loss is exact with all four hands open. The players saw only their own cards, so a card that
    costs a trick may have been the right choice.

    Args:
        record: the game.
        threads, memory: those of `solve_batch`.

    Raises:
        PositionError: unless `record` is a `GameRecord`.
        RecordError: for a record that does not replay.
        OptionError: for invalid `threads` or `memory`.
    """
    if not isinstance(record, GameRecord):
        raise PositionError(f"{brief(record)}: expected a GameRecord")
    cards = []
    for number, played in enumerate(list(record.played_hands())):
        cards += _analyse_hand(record, number, played, threads, memory)
    return cards


def _analyse_hand(
    record: GameRecord, number: int, played: PlayedHand, threads: int | None, memory: float | None
) -> list[PlayedCard]:
    rules, states, rows, plies = record.rules, rows_of([played.dealt]), [], []
    for ply, action in enumerate(played.actions.tolist()):
        if states[0]["phase"] == Phase.PLAY:
            rows.append(states.tobytes())
            plies.append(ply)
        step_row(states, compile_tables(rules), action)
    if not plies:
        return []
    if states[0]["phase"] == Phase.PLAY:  # a game cut short in the middle of a hand
        rows.append(states.tobytes())
    before = rows_of(rows)
    tricks = solve_batch(before, rules, threads=threads, memory=memory)
    left = rules.tricks - before["trick"]
    side_0 = np.where(before["turn"] & 1, left - tricks, tricks)
    in_all = np.append(side_0 + before["tricks_won"][:, 0], states[0]["tricks_won"][0])
    return [
        PlayedCard(
            hand=number,
            ply=ply,
            seat=int(before[i]["turn"]),
            card=record.hands[number]["actions"][ply],
            tricks=int(tricks[i]),
            lost=abs(int(in_all[i]) - int(in_all[i + 1])),
        )
        for i, ply in enumerate(plies)
    ]
