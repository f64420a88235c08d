"""The chance to win the game from every score, by value iteration.

Of the games in `score_network.npz` (`experiments/fitting/fit_score_network.py`) it was worked out
from the expert's own hands, score by score. Elsewhere what a hand comes to is taken from hands the
rule player plays against itself, a few thousand of them when an agent is made. From the end
backwards, the chance to win with one more hand to play is the mean over those hands of the chance
after them; repeated until nothing changes, that is the chance with no limit in sight. Games of a
fixed number of hands keep a layer for each hand to come.

Where the table does not reach (a target beyond what an observation tells, a lead beyond the
table, a game about to be cut off) the curve of `win_curve.py` is used; so it is where points are
played for, which need no table.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bideuchre_env.agents.data import read_array, read_provenance
from bideuchre_env.agents.rule.agent import RuleWorkspace, act_by_rule, rule_workspace
from bideuchre_env.agents.rule.win_curve import win_chance, worth
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import deal_hand, seed_stream, start_game
from bideuchre_env.core.phases.scoring import (
    DECLARER_WINS,
    DEFENDERS_WIN,
    NOBODY,
    made,
    result_at_target,
)
from bideuchre_env.core.state import DEAL, new_states
from bideuchre_env.core.tables import ROUNDS, compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, kernel

FILE = "score_network.npz"
HANDS = 3000  # played to learn what a hand comes to
SEED = 20
MOST_TARGET = 100  # points; what an observation tells of a target, less room for a hand
BELOW = 60  # points below 0 that the table reaches
SWEEPS = 60
SETTLED = 1e-4
LAYERS = 16  # of games of a fixed number of hands: those to come
LEAD = 120  # the most points of a lead in those
SHORT = 25  # deals left under which a game may be cut off: the curve knows more
ALMOST = 0.9999  # the most that a game is worth that is not won yet
POINT = 0.002  # what a point is worth in itself: keeps a lost game from reckless calls


def provenance() -> dict[str, Any]:
    """How the numbers of each fitted game were made, by its name."""
    return read_provenance(FILE)


def fitted_name(rules: Rules) -> str | None:
    """The name of the fitted game that these rules are, but for when it is cut off; or None."""
    for name in provenance():
        if RULES[name].to_dict() | {"max_hands": 0} == rules.to_dict() | {"max_hands": 0}:
            return name
    return None


def fitted_wins(rules: Rules) -> Array | None:
    """A `win_table` from games of the expert, float64, new; None for a game that was not fitted."""
    name = fitted_name(rules)
    if name is None:
        return None
    shape = (-1, -1, 1) if rules.win_rule == "rounds" else (1, -1, -1)
    return read_array(FILE, f"{name}_wins", shape, np.float32).astype(np.float64)


@lru_cache(maxsize=64)
def win_table(rules: Rules) -> Array:
    """The chance to win for the side to be asked, float64 (layers, points, points).

    To a target: [0, target - 1 - ours, target - 1 - theirs] as far as `BELOW` points under 0.
    By rounds: [hands to come, `LEAD` + our lead, 0]. Of shape (0, 0, 0) where the curve must do.
    """
    fitted = fitted_wins(rules)
    return rule_table(rules) if fitted is None else fitted


def rule_table(rules: Rules) -> Array:
    """The same from hands of the rule player alone, for any rules."""
    outcomes = sampled_outcomes(rules)
    if rules.win_rule == "rounds":
        table = np.zeros((LAYERS + 1, 2 * LEAD + 1, 1))
        iterate_rounds(outcomes, table)
        return table
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


def sampled_outcomes(rules: Rules) -> Array:
    """What hands come to, float64 (n, 4): declarer's points, defenders', made, share of hands."""
    work, outcomes = rule_workspace(rules), np.zeros((HANDS, 3), np.int64)
    observations = np.zeros((1, layout_of(rules).size), np.int8)
    masks = np.zeros((1, actions.of(rules).n), np.int8)
    play_outcomes(work, new_states(1), observations, masks, np.uint64(SEED), outcomes)
    rows, counts = np.unique(outcomes[outcomes[:, 2] >= 0], axis=0, return_counts=True)
    if not len(rows):  # nobody ever bids
        return np.array([[0.0, 0.0, 1.0, 1.0]])
    return np.concatenate([rows.astype(float), (counts / counts.sum())[:, None]], axis=1)


@entry_kernel
def play_outcomes(
    work: RuleWorkspace,
    states: Array,
    observations: Array,
    masks: Array,
    seed: Word,
    outcomes: Array,
) -> None:
    """Let the rule player play hands at the start of a game, and note what each came to.

    `outcomes` (n, 3): points of the declarer's side, of the defenders, 1 if made; -1 if passed out.
    """
    s, t = states[0], work.tables[0]
    observation, mask = row_of(observations, 0), row_of(masks, 0)
    seed_stream(s, seed, seed)
    for i in range(len(outcomes)):
        start_game(s, i & 3)
        deal_hand(s, t)
        while s.phase < DEAL:
            act_by_rule(s, observation, mask, work)
        side = s.declarer & 1
        outcomes[i, 2] = -1
        if s.level >= 0:
            outcomes[i, 0] = s.points[side]
            outcomes[i, 1] = s.points[1 - side]
            outcomes[i, 2] = 1 if made(s, t) else 0


@kernel
def after_hand(t: Row, table: Array, ours: int, theirs: int, us_declare: bool, made: bool) -> float:
    """The chance to win at `ours` and `theirs` points to go after a played hand; a draw is half."""
    if us_declare:
        result = result_at_target(t, -ours, -theirs, made)
    else:
        result = result_at_target(t, -theirs, -ours, made)
    if result == NOBODY:
        last = table.shape[1] - 1
        return float(table[0, min(max(ours - 1, 0), last), min(max(theirs - 1, 0), last)])
    if result == DECLARER_WINS:
        return 1.0 if us_declare else 0.0
    if result == DEFENDERS_WIN:
        return 0.0 if us_declare else 1.0
    return 0.5


@entry_kernel
def sweep(tables: Array, outcomes: Array, table: Array, out: Array) -> float:
    """Fill `out` from `table`, one more hand to play; the largest change."""
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


@entry_kernel
def iterate_rounds(outcomes: Array, table: Array) -> None:
    """Fill `table` from no hands to come on: by the lead then."""
    lead = (table.shape[1] - 1) // 2
    for at in range(2 * lead + 1):
        table[0, at, 0] = 0.5 if at == lead else (1.0 if at > lead else 0.0)
    for layer in range(1, len(table)):
        for at in range(2 * lead + 1):
            total = 0.0
            for i in range(len(outcomes)):
                gain = int(outcomes[i, 0] - outcomes[i, 1])
                up, down = min(at + gain, 2 * lead), max(at - gain, 0)
                up, down = max(up, 0), min(down, 2 * lead)
                total += (
                    0.5 * outcomes[i, 3] * (table[layer - 1, up, 0] + table[layer - 1, down, 0])
                )
            table[layer, at, 0] = total


@kernel
def table_chance(
    view: Row, t: Row, wins: Array, ours: int, theirs: int, us_declare: bool, made: bool
) -> float:
    """The chance to win the game after a hand of `ours` and `theirs` points, as the table has it.

    -1.0 where it does not reach.
    """
    if t.win_rule == ROUNDS:
        left = view.hands_left - 1
        if 0 <= left < wins.shape[0]:
            middle = (wins.shape[1] - 1) // 2
            lead = middle + view.score[0] - view.score[1] + ours - theirs
            return float(wins[left, min(max(lead, 0), 2 * middle), 0])
    elif wins.shape[0] > 0 and view.hands_left >= SHORT:
        us, them = view.to_go[0], view.to_go[1]
        return after_hand(t, wins, us - ours, them - theirs, us_declare, made)
    return -1.0


@kernel
def game_chance(
    view: Row, t: Row, wins: Array, ours: int, theirs: int, us_declare: bool, made: bool
) -> float:
    """The chance to win the game after such a hand, and nothing else; a draw is half."""
    chance = table_chance(view, t, wins, ours, theirs, us_declare, made)
    if chance >= 0.0:
        return chance
    return win_chance(view, t, float(ours), float(theirs), us_declare, made)


@kernel
def chance_to_win(
    view: Row, t: Row, wins: Array, ours: int, theirs: int, us_declare: bool, made: bool
) -> float:
    """The chance to win the game after a hand of `ours` and `theirs` points, and a little for them.

    Where the table reaches, a game that is won is worth 1.0, by however many points, and one that
    is not is worth less. Where points are the goal, `wins` is empty, and only points count.
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
def passed_out(view: Row, t: Row, wins: Array) -> float:
    """The chance to win the game if nobody bids: the hand is dealt anew, and does not count."""
    again = view.hands_left  # hands to come, of a game of so many
    if t.win_rule == ROUNDS and 0 <= again < wins.shape[0]:
        middle = (wins.shape[1] - 1) // 2
        lead = middle + view.score[0] - view.score[1]
        return float(wins[again, min(max(lead, 0), 2 * middle), 0])
    return chance_to_win(view, t, wins, 0, 0, True, False)
