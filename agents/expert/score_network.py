"""Score network: a small network that corrects the worth of a call for the score.

The formula of `auction.py` gives every point the same value, which is wrong near the end of a game.
The inputs are changes of the chance to win by possible results of the hand, the formula's worth of
the call, and some inputs of the call network. The output is the correction of the formula's
worth. The network is used if the goal is the game and there is a win table.
`experiments/fitting/fit_score_network.py` has made the weights of each game. `t` are the game's
tables, `wins` is a `win_table`, and `calls` is the record `auction.CALLS`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bideuchre_env.agents.expert.call_features import AT, CALL, POINTS, Calls
from bideuchre_env.agents.expert.win_table import fitted_part, game_chance
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.records import Tables, View
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.learning.network import (
    Network,
    add_hidden,
    add_inputs,
    copy,
    network_of,
    sealed_network,
    zero_network,
)
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, kernel

SHARED = np.array(
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
"""Inputs of the call network that the score network shares; the call's own inputs come last."""
N_TABLE_SHARED = int((SHARED < CALL).sum())
ENDS = 16  # possible results of a hand: eight of our contract, eight of theirs
N_TABLE = N_TABLE_SHARED + ENDS + 4
FIRST_OF_CALL = N_TABLE  # index of the first input of the call
PROMISE = N_TABLE + len(SHARED) - N_TABLE_SHARED
N_SCORE = PROMISE + 7
HIDDEN = 24
SCALE = 0.25  # chance of winning per unit of the network's output
LIFT = 4.0  # scale of differences of chances, as inputs
MOST_MORE = 24.0  # limit of the points that the formula adds, as an input
LEFT = 4  # limit of the number of deals left, as an input


@kernel
def describe_score(view: View, t: Tables, wins: Array, calls: Calls) -> None:
    """Write the inputs that are the same for every call to `calls.score_inputs`.

    They are inputs of the call network, the chances to win after 16 possible results of the hand
    minus that after a passed-out hand, and the state of the game. Call `describe_table` before;
    `calls.now` and `calls.slope` must be set.
    """
    inputs, tricks, at, now = calls.score_inputs, t.tricks, N_TABLE_SHARED, float(calls.now)
    for i in range(N_TABLE_SHARED):
        inputs[i] = calls.inputs[SHARED[i]]
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
    for i in range(N_TABLE_SHARED, at):
        inputs[i] *= LIFT
    inputs[at] = LIFT * (now - 0.5)
    inputs[at + 1] = LIFT * calls.slope * tricks
    inputs[at + 2] = 1.0 if view.hands_left <= 1 else 0.0
    inputs[at + 3] = min(view.hands_left, LEFT) / LEFT


@kernel
def end_chance(
    view: View, t: Tables, wins: Array, bid: int, others: int, us: bool, made: bool
) -> float:
    """Return our chance to win the game after a hand, declared by us if `us`, else by them.

    `bid` are the points of the declarer's side, `others` those of the other side; `made` says
    whether the bid was made.
    """
    if us:
        return game_chance(view, t, wins, bid, others, us, made)
    return game_chance(view, t, wins, others, bid, us, made)


@kernel
def describe_promise(
    view: View, t: Tables, wins: Array, level: int, strain: int, more: float, calls: Calls
) -> None:
    """Write the inputs of a call to `calls.score_inputs`.

    `more` are the points that `call_worth` adds to those of the call's contract. `calls.win`,
    `calls.promise` and the call's inputs of the call network must be set.
    """
    inputs, now = calls.score_inputs, float(calls.now)
    for i in range(N_TABLE_SHARED, len(SHARED)):
        inputs[FIRST_OF_CALL + i - N_TABLE_SHARED] = calls.inputs[SHARED[i]]
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
    inputs[PROMISE + 1] = LIFT * clip(calls.promise - now, 1.0)
    inputs[PROMISE + 2] = LIFT * clip(calls.slope * more, 1.0)
    inputs[PROMISE + 3] = POINTS * clip(more, MOST_MORE)
    inputs[PROMISE + 4] = at_once
    inputs[PROMISE + 5] = lost
    inputs[PROMISE + 6] = LIFT * most


@kernel
def clip(number: float, most: float) -> float:
    """Return a number clipped to the range -`most` to `most`, that of the training data."""
    return min(max(number, -most), most)


@kernel
def weigh_score(network: Network, calls: Calls) -> None:
    """Write to `calls` the parts of hidden sums and output that are the same for every call."""
    copy(network.first_bias, calls.score_table_sums)
    copy(network.last_bias, calls.score_table_output)
    add_inputs(
        network, calls.score_inputs, 0, N_TABLE, calls.score_table_sums, calls.score_table_output
    )


@kernel
def score_correction(network: Network, calls: Calls) -> float:
    """Return the correction of a call's worth, to be added, as a chance to win the game.

    Call `describe_score`, `weigh_score` and `describe_promise` before, in this order.
    """
    inputs, sums, output = calls.score_inputs, calls.score_sums, calls.score_output
    copy(calls.score_table_sums, sums)
    copy(calls.score_table_output, output)
    add_inputs(network, inputs, FIRST_OF_CALL, N_SCORE, sums, output)
    add_hidden(network, sums, sums, output)
    return SCALE * float(output[0])


# --- the weights by game ------------------------------------------------------------------------


@lru_cache(maxsize=64)
def load_score_network(rules: Rules) -> Network:
    """Return the weights of these rules; without inputs for a game that was not fitted."""
    part = fitted_part(rules)
    if part is None:
        return sealed_network(zero_network(0, 0, (0, 0)), 0, 0)
    try:
        return sealed_network(network_of(part, "network"), N_SCORE, 1, (HIDDEN, 0))
    except (OptionError, TypeError) as error:
        raise WeightsError(f"{part.name}: {error}") from None


def new_score_network() -> Network:
    """Return a network whose correction is 0."""
    return zero_network(N_SCORE, 1, (HIDDEN, 0))
