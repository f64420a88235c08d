"""What the score makes of a call: a small network, of the chance to win the game.

The formula of `auction.py` takes a point to be worth the same wherever it falls. Near the end it is
not: one more may win the game, or nothing less than a lone bid. The network is told how the ends a
hand may have would change the chance to win at this score, what the formula promises of the call
and a little of the hand and the auction, and says by how much that promise is wrong. It is of use
where games are played for and there is a win table (`win_table.py`) alone; the weights of each game
are in the file `score_network.npz`, made by `experiments/fitting/fit_score_network.py`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bideuchre_env.agents.data import read_record, sealed
from bideuchre_env.agents.expert.call_features import AT, CALL, POINTS
from bideuchre_env.agents.expert.call_network import copy, dot, rectify
from bideuchre_env.agents.expert.win_table import FILE, fitted_name, game_chance
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, Row, kernel, new_rows
from bideuchre_env.runtime.vectors import add_rows

TOLD = np.array(
    [
        *range(AT.means, AT.means + 2),
        *range(AT.high, AT.high + 4),
        *range(AT.lone, AT.lone + 3),
        *range(AT.turn, AT.turn + 4),
        *range(AT.standing, AT.seats),
        *range(AT.passing, AT.need),
        *range(AT.short, AT.bowers),
        AT.over_partner,
    ]
)
"""Inputs of the network of calls that this one is told too, those of the call itself last."""
N_TABLE_TOLD = int((TOLD < CALL).sum())
ENDS = 16  # of a hand: eight of a contract of ours, the same of theirs
N_TABLE = N_TABLE_TOLD + ENDS + 4
CALL_TOLD = N_TABLE  # where the inputs of the call begin
PROMISE = N_TABLE + len(TOLD) - N_TABLE_TOLD
N_SCORE = PROMISE + 7
HIDDEN = 24
SCALE = 0.25  # chance of winning for each 1 the network says
LIFT = 4.0  # of differences of chances, as inputs
MOST_MORE = 24.0  # points
LEFT = 4  # deals left: more are as many

SCORE_NETWORK = np.dtype(
    [
        ("first", np.float32, (N_SCORE, HIDDEN)),
        ("first_base", np.float32, (HIDDEN,)),
        ("last", np.float32, (HIDDEN,)),
        ("straight", np.float32, (N_SCORE,)),
        ("base", np.float32),
    ],
    align=True,
)
"""All weights of one game."""


@kernel
def describe_score(view: Row, t: Row, wins: Array, calls: Row) -> None:
    """Write everything but the call: hand, auction, and what the ends of a hand would change."""
    inputs, tricks, at, now = calls.score_inputs, t.tricks, N_TABLE_TOLD, float(calls.now)
    for i in range(N_TABLE_TOLD):
        inputs[i] = calls.inputs[TOLD[i]]
    first, last = -1, -1  # lone bids: of the lowest value, of the highest
    for level in range(t.n_levels):
        if t.alone[level]:
            value = t.payoff[level, tricks]
            if first < 0 or value < t.payoff[first, tricks]:
                first = level
            if last < 0 or value > t.payoff[last, tricks]:
                last = level
    for side in range(2):
        us = side == 0
        for short in range(3):
            won = tricks - short * (tricks // 4)
            inputs[at] = end_chance(view, t, wins, won, tricks - won, us, True) - now
            at += 1
        inputs[at] = end_chance(view, t, wins, -(tricks // 2), tricks // 2 + 1, us, False) - now
        inputs[at + 1] = end_chance(view, t, wins, 1 - tricks, 2, us, False) - now
        at += 2
        for i in range(3):
            inputs[at + i] = 0.0
        if first >= 0:
            value, most = t.payoff[first, tricks], t.payoff[last, tricks]
            inputs[at] = end_chance(view, t, wins, value, 0, us, True) - now
            inputs[at + 1] = end_chance(view, t, wins, -value, 2, us, False) - now
            inputs[at + 2] = end_chance(view, t, wins, most, 0, us, True) - now
        at += 3
    for i in range(N_TABLE_TOLD, at):
        inputs[i] *= LIFT
    inputs[at] = LIFT * (now - 0.5)
    inputs[at + 1] = LIFT * calls.slope * tricks
    inputs[at + 2] = 1.0 if view.hands_left <= 1 else 0.0
    inputs[at + 3] = min(view.hands_left, LEFT) / LEFT


@kernel
def end_chance(
    view: Row, t: Row, wins: Array, bid: int, others: int, us: bool, made: bool
) -> float:
    """The chance to win after a hand of so many points for the declarer's side and the others."""
    if us:
        return game_chance(view, t, wins, bid, others, us, made)
    return game_chance(view, t, wins, others, bid, us, made)


@kernel
def describe_promise(
    view: Row,
    t: Row,
    wins: Array,
    level: int,
    strain: int,
    more: float,
    calls: Row,
) -> None:
    """Write the call: what it is, what its contract brings, what the formula promises of it.

    `more` is the points the formula adds to those of the contract.
    """
    inputs, now = calls.score_inputs, float(calls.now)
    for i in range(N_TABLE_TOLD, len(TOLD)):
        inputs[CALL_TOLD + i - N_TABLE_TOLD] = calls.inputs[TOLD[i]]
    at_once, lost, most = 0.0, 0.0, 0.0
    if level >= 0 and not t.alone[level]:
        for won in range(t.tricks + 1):
            chance = calls.chances[strain, won]
            if chance > 0.0:
                ours, theirs, done = played_points(t, level, won, True)
                end = game_chance(view, t, wins, ours, theirs, True, done)
                most = max(most, end)
                at_once += chance if end >= 1.0 else 0.0
                lost += chance if end <= 0.0 else 0.0
        most -= now
    elif level >= 0:
        made, value = calls.inputs[AT.made], t.payoff[level, t.tricks]
        most = game_chance(view, t, wins, value, 0, True, True)
        at_once = made if most >= 1.0 else 0.0
        lost = 1.0 - made if game_chance(view, t, wins, -value, 2, True, False) <= 0.0 else 0.0
        most -= now
    inputs[PROMISE] = LIFT * (calls.win - now)
    inputs[PROMISE + 1] = LIFT * clipped(calls.promise - now, 1.0)
    inputs[PROMISE + 2] = LIFT * clipped(calls.slope * more, 1.0)
    inputs[PROMISE + 3] = POINTS * clipped(more, MOST_MORE)
    inputs[PROMISE + 4] = at_once
    inputs[PROMISE + 5] = lost
    inputs[PROMISE + 6] = LIFT * most


@kernel
def clipped(number: float, most: float) -> float:
    """The number, from `-most` to `most`: inputs stay of the size the network has seen."""
    return min(max(number, -most), most)


@kernel
def weigh_score(network: Row, calls: Row) -> None:
    """Fill in what the hidden sums make of everything but the call."""
    copy(network.first_base, calls.score_table_sums)
    add_rows(calls.score_inputs, 0, N_TABLE, network.first, calls.score_table_sums)
    calls.score_table_straight = network.base + dot(
        calls.score_inputs, network.straight, 0, N_TABLE
    )


@kernel
def score_correction(network: Row, calls: Row) -> float:
    """The chance to win that the formula misses, after `weigh_score` and `describe_promise`."""
    copy(calls.score_table_sums, calls.score_sums)
    add_rows(calls.score_inputs, CALL_TOLD, N_SCORE, network.first, calls.score_sums)
    rectify(calls.score_sums)
    straight = calls.score_table_straight + dot(
        calls.score_inputs, network.straight, CALL_TOLD, N_SCORE
    )
    return SCALE * float(straight + dot(calls.score_sums, network.last, 0, HIDDEN))


# --- the weights by game ------------------------------------------------------------------------


def fitted_score_network(name: str) -> Array:
    """The weights of a game that was fitted: one `SCORE_NETWORK` record."""
    return read_record(FILE, name, SCORE_NETWORK)


@lru_cache(maxsize=64)
def load_score_network(rules: Rules) -> Array:
    """The weights for these rules, read-only: one `SCORE_NETWORK` record.

    In a game that was not fitted there is none: the formula stands as it is.
    """
    name = fitted_name(rules)
    return sealed(new_rows(SCORE_NETWORK, 0) if name is None else fitted_score_network(name))


def new_score_network() -> Array:
    """A network that corrects nothing: one `SCORE_NETWORK` record."""
    return new_rows(SCORE_NETWORK, 1)
