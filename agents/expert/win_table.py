"""Chance to win the game from every score, by value iteration.

For some variants (`experiments/fitting/fit_score_network.py`) the table was computed from the
expert's own hands. For other games the rule player plays a few thousand hands
against itself when an agent is made. The chance to win at a score is the mean over these hands of
the chance at the score after the hand; this is iterated until it converges. Games of a fixed number
of hands have a layer for each number of hands left.

The curve of `win_curve.py` is used if the table has no entry: for a target above the observation's
range, more hands left than layers, a game about to be truncated, or points as the goal. In the
kernels, `t` are the game's tables, and `wins` is a `win_table`.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from bideuchre_env.agents.data import package_part, parts_of
from bideuchre_env.agents.rule.agent import RuleWorkspace, act_by_rule, rule_workspace
from bideuchre_env.agents.rule.win_curve import final_chance, floor_chance, win_chance, worth
from bideuchre_env.core.phases.deal import deal_hand, seed_stream, start_game
from bideuchre_env.core.phases.scoring import made
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.state import DEAL, new_states
from bideuchre_env.core.tables import ROUNDS, compile_tables
from bideuchre_env.errors import WeightsError
from bideuchre_env.learning.weights import Weights
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array, Word, entry_kernel, kernel

PART = "score"
HANDS = 3000  # played to sample the outcomes of a hand
SEED = 20
MOST_TARGET = 100  # points: the largest target in an observation, minus room for a hand
BELOW = 60  # the lowest score in the table, in points below 0
SWEEPS = 60  # maximum number of iterations
SETTLED = 1e-4  # convergence threshold
LAYERS = 16  # maximum number of hands left, in games of a fixed number of hands
LEAD = 120  # the largest lead in those games, in points
SHORT = 25  # with fewer deals left a game may be truncated, which only the curve models
ALMOST = 0.9999  # the highest value of a game that is not won yet
POINT = 0.002  # value of a point in itself: prevents reckless calls in a lost game


def fitted_part(rules: Rules) -> Weights | None:
    """Return the fitted table and network of a game with these rules (any `max_hands`), or None."""
    for name, known in RULES.items():
        same = known.to_dict() | {"max_hands": 0} == rules.to_dict() | {"max_hands": 0}
        if same and PART in parts_of(name):
            return package_part(name, PART)
    return None


def fitted_wins(rules: Rules) -> Array | None:
    """Return a new `win_table` from games of the expert, float64; None for a game not fitted."""
    part = fitted_part(rules)
    if part is None:
        return None
    wins, axis = part.arrays.get("wins", np.zeros(0)), 2 if rules.win_rule == "rounds" else 0
    if wins.dtype != np.float32 or wins.ndim != 3 or wins.shape[axis] != 1:
        raise WeightsError(f"{part.name}: wins is {wins.dtype} {list(wins.shape)}")
    return wins.astype(np.float64)


@lru_cache(maxsize=64)
def win_table(rules: Rules) -> Array:
    """Return our side's chance to win the game from every score between two hands, float64.

    In games to a target, the index is [0, target - 1 - ours, target - 1 - theirs]: `ours` and
    `theirs` are the scores, which may be down to `BELOW` points below 0. In games of a fixed number
    of hands it is [hands left, `LEAD` + our lead, 0]. The shape is (0, 0, 0) for games to a target
    above `MOST_TARGET`.
    """
    fitted = fitted_wins(rules)
    return rule_table(rules) if fitted is None else fitted


def rule_table(rules: Rules) -> Array:
    """Return a `win_table` for any rules, from `HANDS` hands that the rule player plays.

    It has the shape (0, 0, 0) for games to a target above `MOST_TARGET`.
    """
    outcomes = sampled_outcomes(rules)
    if rules.win_rule == "rounds":
        return rounds_table(outcomes)
    if rules.target is None or rules.target > MOST_TARGET:
        return np.zeros((0, 0, 0))
    size = rules.target + BELOW
    table, next_table = (np.full((1, size, size), 0.5) for _ in range(2))
    tables = compile_tables(rules)
    for _ in range(SWEEPS):
        change = sweep(tables, outcomes, table, next_table)
        table, next_table = next_table, table
        if change < SETTLED:
            break
    return table


def rounds_table(outcomes: Array) -> Array:
    """Return a `win_table` of a game of a fixed number of hands, computed layer by layer.

    The first layer has no hands left, where the lead decides. `outcomes` is the result of
    `sampled_outcomes`.
    """
    at = np.arange(2 * LEAD + 1)
    table = np.zeros((LAYERS + 1, len(at)))
    table[0] = 0.5 + 0.5 * np.sign(at - LEAD)
    for before, layer in pairwise(table):
        for bid, others, _, share in outcomes:
            up, down = (
                np.clip(at + by, 0, 2 * LEAD) for by in (int(bid - others), int(others - bid))
            )
            layer += 0.5 * share * (before[up] + before[down])
    return table[:, :, np.newaxis]


def sampled_outcomes(rules: Rules) -> Array:
    """Return the distinct outcomes of hands of the rule player, float64 (n, 4).

    The columns are the points of the declarer's side, those of the defenders, 1 if the bid was made
    (else 0), and the share of hands with this outcome. Passed-out hands are left out; if all were
    passed out, there is one row without points.
    """
    work, outcomes = rule_workspace(rules), np.zeros((HANDS, 3), np.int64)
    play_outcomes(work, new_states(1), np.uint64(SEED), outcomes)
    rows, counts = np.unique(outcomes[outcomes[:, 2] >= 0], axis=0, return_counts=True)
    if not len(rows):  # every hand was passed out
        return np.array([[0.0, 0.0, 1.0, 1.0]])
    return np.concatenate([rows.astype(float), (counts / counts.sum())[:, None]], axis=1)


@entry_kernel
def play_outcomes(work: RuleWorkspace, states: Array, seed: Word, outcomes: Array) -> None:
    """Let the rule player play n hands, each at the start of a game, and record their outcomes.

    `outcomes`, int64 (n, 3), gets the points of the declarer's side, those of the defenders, and 1
    if the bid was made, 0 if set, -1 if the hand was passed out. `seed` fixes the deals. `states`
    is one row of scratch.
    """
    s, t = states[0], work.tables[0]
    seed_stream(s, seed, seed)
    for i in range(len(outcomes)):
        start_game(s, i & 3)
        deal_hand(s, t)
        while s.phase < DEAL:
            act_by_rule(s, work)
        side = s.declarer & 1
        outcomes[i, 2] = -1
        if s.level >= 0:
            outcomes[i, 0] = s.points[side]
            outcomes[i, 1] = s.points[1 - side]
            outcomes[i, 2] = 1 if made(s, t) else 0


@kernel
def after_hand(
    t: Tables, table: Array, ours: int, theirs: int, us_declare: bool, made: bool
) -> float:
    """Return our chance to win with `ours` and `theirs` points to go after a hand; a draw is 0.5.

    `us_declare` says whether our side declared that hand, `made` whether the bid was made. `table`
    is a `win_table` of a game to a target.
    """
    chance = final_chance(t, ours, theirs, us_declare, made)
    if chance >= 0.0:
        return chance
    last = table.shape[1] - 1
    return float(table[0, min(max(ours - 1, 0), last), min(max(theirs - 1, 0), last)])


@entry_kernel
def sweep(tables: Array, outcomes: Array, table: Array, out: Array) -> float:
    """Write the chances before a hand to `out`, given those after it in `table`: one iteration.

    Both are a `win_table` of a game to a target. Returns the largest difference between the two.
    `outcomes` is the result of `sampled_outcomes`.
    """
    t, size, change = tables[0], table.shape[1], 0.0
    for ours in range(size):
        for theirs in range(ours, size):
            total = 0.0
            for i in range(len(outcomes)):
                bid, others = int(outcomes[i, 0]), int(outcomes[i, 1])
                done, share = outcomes[i, 2] > 0.5, 0.5 * outcomes[i, 3]
                total += share * after_hand(
                    t, table, ours + 1 - bid, theirs + 1 - others, True, done
                )
                total += share * after_hand(
                    t, table, ours + 1 - others, theirs + 1 - bid, False, done
                )
            change = max(change, abs(total - table[0, ours, theirs]))
            out[0, ours, theirs] = total
            out[0, theirs, ours] = 1.0 - total
    return change


@kernel
def rounds_chance(view: View, wins: Array, left: int, gain: int) -> float:
    """Return our chance to win with `left` hands left after our lead has changed by `gain` points.

    Returns -1.0 if the table `wins` has no entry. Only for games of a fixed number of hands.
    """
    if left < 0 or left >= wins.shape[0]:
        return -1.0
    middle = (wins.shape[1] - 1) // 2
    lead = middle + view.score[0] - view.score[1] + gain
    return float(wins[left, min(max(lead, 0), 2 * middle), 0])


@kernel
def table_chance(
    view: View, t: Tables, wins: Array, ours: int, theirs: int, us_declare: bool, made: bool
) -> float:
    """Return our chance to win after a hand of `ours` and `theirs` points, by the table `wins`.

    Returns -1.0 if the table has no entry. `us_declare` says whether our side declared, `made`
    whether the bid was made.
    """
    if t.win_rule == ROUNDS:
        chance = -1.0
        if view.hands_left > 1 and wins.shape[0] > 0:
            chance = floor_chance(view, t, ours, theirs, us_declare, made)
        if chance >= 0.0:
            return chance
        return rounds_chance(view, wins, view.hands_left - 1, ours - theirs)
    if wins.shape[0] > 0 and view.hands_left >= SHORT:
        us, them = view.to_go[0], view.to_go[1]
        return after_hand(t, wins, us - ours, them - theirs, us_declare, made)
    return -1.0


@kernel
def game_chance(
    view: View, t: Tables, wins: Array, ours: int, theirs: int, us_declare: bool, made: bool
) -> float:
    """Return our chance to win the game after a hand of these points; a draw counts half.

    It is from the table `wins` or, without an entry, from the curve of `win_curve.py`, for which
    `read_time` must have been called. The other arguments are those of `table_chance`.
    """
    chance = table_chance(view, t, wins, ours, theirs, us_declare, made)
    if chance >= 0.0:
        return chance
    return win_chance(view, t, float(ours), float(theirs), us_declare, made)


@kernel
def chance_to_win(
    view: View, t: Tables, wins: Array, ours: int, theirs: int, us_declare: bool, made: bool
) -> float:
    """Return the value to us of a hand of `ours` and `theirs` points, for bidding.

    It is our chance to win the game (see `game_chance`), plus a little for the points. By the
    table, a won game has the value 1.0, an unfinished game at most `ALMOST`. If the goal is points,
    `wins` must be empty, and the value is the point difference times a small factor. The other
    arguments are those of `table_chance`.
    """
    chance = table_chance(view, t, wins, ours, theirs, us_declare, made)
    if chance < 0.0:
        return worth(view, t, float(ours), float(theirs), us_declare, made)
    goes_on = t.win_rule == ROUNDS and view.hands_left > 1
    if chance >= 1.0 and not goes_on:
        return 1.0
    more = chance + POINT * (ours - theirs)
    last_round = t.win_rule == ROUNDS and not goes_on
    return more if last_round else min(more, ALMOST)


@kernel
def passed_out(view: View, t: Tables, wins: Array) -> float:
    """Return the value to us of a passed-out hand, on the scale of `chance_to_win`.

    It has no points and is redealt, so it does not count as one of a fixed number of hands.
    """
    chance = rounds_chance(view, wins, view.hands_left, 0) if t.win_rule == ROUNDS else -1.0
    return chance if chance >= 0.0 else chance_to_win(view, t, wins, 0, 0, True, False)
