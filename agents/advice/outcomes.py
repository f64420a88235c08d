"""Outcomes of actions in each sampled world: tricks, contract, points and chance to win.

Worlds (sampled deals) and playouts are those of the search agents (`search/`). A search agent only
sums the values of its candidate actions. `count_worlds` stores every outcome, also of other
actions. `mark_calls` selects calls to compare, more than the agent itself considers.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.expert.auction import chance_made
from bideuchre_env.agents.expert.call_features import Calls
from bideuchre_env.agents.expert.decision import PlayerWorkspace, weigh_hand
from bideuchre_env.agents.expert.win_table import game_chance, passed_out
from bideuchre_env.agents.rule.agent import useful_calls
from bideuchre_env.agents.rule.bidding import call_action, may_name
from bideuchre_env.agents.search.candidates import add_values, hand_worth, solve_world, tricks_after
from bideuchre_env.agents.search.workspace import SearchWorkspace
from bideuchre_env.agents.search.worlds import load_world
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import AUCTION, PLAY
from bideuchre_env.core.step import read_mask
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.intrinsics import line_of, lowest_bit
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, kernel

NOT_HOPELESS = 0.1  # chance of a lone bid above which it is compared
LIKELY = 0.5  # chance of a partnered bid from which it is compared
PARTNER = 2  # relative seat
NEAR = 1.5  # expected tricks below the best strain up to which a strain is compared

# The end of the hand after one action in one world. Seats are relative: 0 is the seat to act.
OUTCOMES = np.dtype(
    [
        ("worth", np.float64),  # the search agents' value: chance to win, and a little for points
        ("wins", np.float64),  # the chance to win the game
        ("points", np.int64),  # points of the hand, ours minus theirs
        ("tricks", np.int64),  # tricks of our side
        ("declarer", np.int64),  # seat, or -1 if all passed
        ("level", np.int64),  # of the contract, or -1
        ("strain", np.int64),  # of the contract, or -1
        ("good", np.int64),  # 1: our contract is made, or theirs is set
    ],
    align=True,
)


@entry_kernel
def count_worlds(
    space: SearchWorkspace, net: PlayerWorkspace | None, wins: Array, actions: Array,
    numbers: Array, weights: Array, outcomes: Array, hands: Array,
) -> None:  # fmt: skip
    """Try actions, int64 (n,), in the worlds `numbers`; store each outcome and the seats' hands.

    Like `try_worlds`, it also adds the values of the plan's candidates, which `actions` must
    include, to the plan; world j has the weight `weights[j]`. Outcomes in world `numbers[i]` are
    written to `outcomes[n * i : n * i + n]`, dtype `OUTCOMES`, and the hands to `hands[i]`,
    int64 (4,). `wins` is a `win_table`.
    """
    plan, n = space.plans[0], len(actions)
    for i in range(len(numbers)):
        load_world(space, numbers[i])
        for seat in range(N_SEATS):
            hands[i, seat] = space.worlds[0].hands[seat]
        solved = solve_world(space)
        for j in range(n):
            won = tricks_after(space, net, actions[j], solved)
            if space.worlds[0].phase == PLAY:
                write_outcome(space, space.worlds[0], wins, won, outcomes[n * i + j])
            else:
                write_outcome(space, space.simulated[0], wins, won, outcomes[n * i + j])
            for k in range(plan.n):
                if plan.actions[k] == actions[j]:
                    plan.values[k] = outcomes[n * i + j].worth
        add_values(plan, weights[numbers[i]])


@kernel
def write_outcome(space: SearchWorkspace, s: State, wins: Array, won: int, outcome: Row) -> None:
    """Write the result of the hand in `s`, if side 0 takes `won` tricks, to an `OUTCOMES` row.

    `wins` is a `win_table`. If all seats have passed (level below 0), `won` has no effect on points
    and chances.
    """
    expert, level = space.expert, s.level
    t, view = expert.tables[0], expert.views[0]
    outcome.worth = hand_worth(s, t, view, expert.learned.wins, won)
    outcome.tricks = won
    outcome.level = level
    outcome.strain = s.strain
    outcome.declarer = s.declarer
    if level < 0:
        outcome.points = 0
        outcome.good = 0
        outcome.wins = passed_out(view, t, wins)
        return
    us = s.declarer & 1 == 0
    ours, theirs, done = played_points(t, level, won if us else t.tricks - won, us)
    outcome.points = ours - theirs
    outcome.good = 1 if done == us else 0
    outcome.wins = game_chance(view, t, wins, ours, theirs, us, done)


@entry_kernel
def mark_calls(space: SearchWorkspace, mask: Array, marks: Array) -> None:
    """Set `marks` to 1 for the legal calls (`mask`) to compare; both int8 (n_actions,).

    These are a pass, the lone bids of `mark_lone`, the partnered bids of `mark_partnered` in
    strains near the best, and the lowest raise in the strain that partner has bid. No call is
    marked if the expert cannot value the hand (`weigh_hand`).
    """
    expert = space.expert
    t, view, learned, calls = expert.tables[0], expert.views[0], expert.learned, expert.calls[0]
    if not weigh_hand(view, t, learned, expert.scratch[0], calls):
        return
    legal_calls = useful_calls(view, t, read_mask(t, AUCTION, line_of(mask)))
    marks[0] = legal_calls & 1
    best, partnered = calls.ranked[0], 0
    for level in range(t.n_levels):
        if legal_calls >> (1 + level) & 1 and t.alone[level]:
            mark_lone(t, level, calls, marks)
        elif legal_calls >> (1 + level) & 1:
            partnered |= 1 << level
    for strain in range(t.n_strains):
        may_call = strain == best or t.strains_per_bid > 1
        levels = 0
        for level in range(t.n_levels):
            if partnered >> level & 1 and may_name(t, level, strain):
                levels |= 1 << level
        if levels and may_call and calls.means[strain] > calls.means[best] - NEAR:
            mark_partnered(t, levels, strain, strain == best, calls, marks)
        if levels and strain == view.call_strains[PARTNER]:
            marks[call_action(t, lowest_bit(levels), strain)] = 1


@kernel
def mark_lone(t: Tables, level: int, calls: Calls, marks: Array) -> None:
    """Mark the lone bid `level` in its best strain, and in strains likely enough to be made.

    Likely enough is a chance above `NOT_HOPELESS`. `calls` is filled in by `weigh_hand`.
    """
    chances = calls.lone[t.exchange[level]]
    best = 0
    for strain in range(t.n_strains):
        if chances[strain] > chances[best]:
            best = strain
        if chances[strain] > NOT_HOPELESS:
            marks[call_action(t, level, strain)] = 1
    marks[call_action(t, level, best)] = 1


@kernel
def mark_partnered(
    t: Tables, levels: int, strain: int, best: bool, calls: Calls, marks: Array
) -> None:
    """Mark the highest bid in a strain that is likely to be made; `levels` are legal levels (bits).

    If the strain is the hand's best (`best`), also mark the lowest bid, and the bids one level
    below and above the highest likely one, or above the lowest if none is likely. `calls` is filled
    in by `weigh_hand`.
    """
    lowest = lowest_bit(levels)
    highest, level = lowest, lowest
    while levels >> level:
        if levels >> level & 1 and chance_made(t, level, strain, calls) >= LIKELY:
            highest = level
        level += 1
    if best or chance_made(t, highest, strain, calls) >= LIKELY:
        marks[call_action(t, highest, strain)] = 1
    if not best:
        return
    marks[call_action(t, lowest, strain)] = 1
    for level in (highest - 1, highest + 1):
        if level >= 0 and levels >> level & 1:
            marks[call_action(t, level, strain)] = 1
