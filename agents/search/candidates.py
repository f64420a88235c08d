"""Candidate actions of a decision, and their values in worlds drawn from an observation.

All candidates are tried in the same worlds; the record `PLAN` has them and their sums. A result is
valued by the chance to win the game, or by points if they are the goal
(`win_table.chance_to_win`). A prior is a value estimated without worlds: that of a call by the
expert, that of a card by agent `net`, without its margin and search.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from bideuchre_env.agents.expert.auction import NOT_WEIGHED, best_call, weigh_calls
from bideuchre_env.agents.expert.decision import (
    PlayerWorkspace,
    decide,
    points_of,
    weigh_cards,
    weigh_hand,
)
from bideuchre_env.agents.expert.win_table import chance_to_win, passed_out
from bideuchre_env.agents.rule.agent import certain_action, legal_choice, useful_calls
from bideuchre_env.agents.rule.bidding import (
    Scratch,
    Weights,
    call_action,
    expected_tricks,
    lone_strain,
    may_name,
)
from bideuchre_env.agents.rule.discards import worth_trying
from bideuchre_env.agents.rule.win_curve import read_time
from bideuchre_env.agents.search.playouts import play_out
from bideuchre_env.agents.search.workspace import MOST_CANDIDATES, Plan, SearchWorkspace
from bideuchre_env.agents.search.worlds import load_world, prepare_worlds, rebuild, stream_of
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.records import State, Tables, View
from bideuchre_env.core.state import AUCTION, NAMING, PLAY
from bideuchre_env.core.step import apply, legal_bits, read_mask, write_mask
from bideuchre_env.core.view import see, see_observation
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel
from bideuchre_env.solver.values import solve_moves

HOPELESS = 3.0  # standard errors below the best at which a candidate is dropped
HARDLY = 1e-3  # tolerance for the total weight of worlds
RELIABLE_SIZE = 40.0  # effective sample size above which a standard error is reliable
CALL_ERRORS = np.array([[0.7, 1.2, 4.0], [1.5, 0.7, 3.5], [2.2, 1.9, 3.2]])
"""[kind of a call, kind of the expert's call]: standard error of their difference, in points.

The kinds are a pass, a bid with partner and a lone bid. The error is the root mean square
difference between the expert's worths of close calls and those in 200 deals (weighted as by
`inference`), minus the sampling error, over 400 hands each of Barrie, Simplified and Club.
"""
NET_ERROR = 0.7  # standard error of the net's difference between two cards, in points
NEAR = 3.0  # points below the best call up to which a call is a candidate
MOST_CALLS = 8  # maximum number of calls tried, if the expert has weighed them
REACH = 1.6  # tricks above the expected tricks up to which a bid is tried
LIKELY = 0.1  # a lone bid is tried if the chance to make it is above this


@entry_kernel
def begin(space: SearchWorkspace, observations: Array, masks: Array, i: int) -> bool:
    """Rebuild the position of row i in the workspace, reset the plan, and list its candidates.

    A mask of zeros is overwritten by that of the position. Returns False, and the list is empty, if
    no game has this observation, or if the mask is not that of the position. The plan's
    `expert_action` is set in any case.
    """
    observation, mask = row_of(observations, i), row_of(masks, i)
    expert, plan, view = space.expert, space.plans[0], space.expert.views[0]
    t, o, known, replay = expert.tables[0], expert.offsets[0], expert.known[0], space.replays[0]
    world, true_mask = space.worlds[0], row_of(space.masks, 0)
    legal, blank = see_observation(observation, mask, t, o, known, view), True
    for action in range(t.n_actions):
        blank = blank and mask[action] == 0
    space.replays[0] = known
    possible = rebuild(observation, t, o, replay, world, row_of(space.observations, 0))
    if possible:
        true_legal = legal_bits(world, t)
        write_mask(t, world.phase, true_legal, true_mask)
        if blank:
            legal = true_legal
            write_mask(t, world.phase, true_legal, mask)
    plan.expert_action = legal_choice(decide(known, 0, view, legal, expert), mask, t)
    plan.certain = 1 if certain_action(view, t, legal) >= 0 else 0
    reset_plan(plan)
    if not possible:
        return False
    for action in range(t.n_actions):
        if (mask[action] != 0) != (true_mask[action] != 0):
            return False
    plan.stream = stream_of(observation, o.entries, space.low)
    prepare_worlds(space)
    read_time(view)
    if view.phase == AUCTION:
        learned = expert.learned
        if learned.weighs_calls and weigh_hand(
            view, t, learned, expert.scratch[0], expert.calls[0]
        ):
            list_weighed(space, useful_calls(view, t, legal))
        else:
            list_calls(space, useful_calls(view, t, legal))
    else:
        first = t.trump_offset if view.phase == NAMING else t.card_offset
        bits = worth_trying(view, t, legal)
        while bits:
            add_candidate(plan, first + lowest_bit(bits))
            bits &= bits - 1
    if view.phase == PLAY:
        for won in range(t.tricks + 1):
            plan.by_tricks[won] = hand_worth(world, t, view, expert.learned.wins, won)
    return True


@inline_kernel
def reset_plan(plan: Plan) -> None:
    """Clear all fields of a plan but `expert_action`, `certain` and the limits of the search."""
    plan.n = 0
    plan.total = 0.0
    plan.total_squares = 0.0
    plan.design_effect = 1.0
    plan.prior_unit = 1.0
    plan.solver_ready = 0
    plan.plays_net = 0
    plan.sums[:] = 0.0
    plan.squares[:] = 0.0
    plan.priors[:] = 0.0
    plan.prior_errors[:] = 0.0
    plan.has_priors = 0
    plan.all_worlds = 0.0


@kernel
def hand_worth(s: State, t: Tables, view: View, wins: Array, won: int) -> float:
    """Return the value of the hand to side 0 if side 0 wins `won` tricks, by `chance_to_win`.

    State `s` has the contract; if it has no bid, all have passed. `view` is that of seat 0.
    """
    level = s.level
    if level < 0:
        return passed_out(view, t, wins)
    us = s.declarer & 1 == 0
    ours, theirs, done = played_points(t, level, won if us else t.tricks - won, us)
    return chance_to_win(view, t, wins, ours, theirs, us, done)


@kernel
def add_candidate(plan: Plan, action: int) -> None:
    """Add an action to the candidates, unless it is in the list or the list is full."""
    for i in range(plan.n):
        if plan.actions[i] == action:
            return
    if plan.n < MOST_CANDIDATES:
        plan.actions[plan.n] = action
        plan.n += 1


@kernel
def kind_of_call(t: Tables, action: int) -> int:
    """Return a call's index in `CALL_ERRORS`: 0 a pass, 1 a bid with partner, 2 a lone bid."""
    if action == 0:
        return 0
    return 2 if t.alone[t.call_levels[action]] else 1


@kernel
def list_weighed(space: SearchWorkspace, legal_calls: int) -> None:
    """Add the expert's call and the best `legal_calls` (see `useful_calls`), with priors.

    They are at most `NEAR` points worse than the best. Call `weigh_hand` before.
    """
    expert, plan = space.expert, space.plans[0]
    t, calls = expert.tables[0], expert.calls[0]
    weigh_calls(expert.views[0], t, expert.learned, legal_calls, calls)
    add_candidate(plan, plan.expert_action)
    most, own = NOT_WEIGHED, kind_of_call(t, plan.expert_action)
    plan.has_priors = 1
    while plan.n < MOST_CALLS:
        best = best_call(t, calls)
        if best < 0:
            return
        level, place = (best >> 3) - 1, best & 7
        worth = calls.worth[1 + level, place]
        most = max(most, worth)
        if worth < most - NEAR * calls.slope:
            return
        action = call_action(t, level, calls.ranked[place])
        add_candidate(plan, action)
        i, kind = index_of(plan, action), kind_of_call(t, action)
        plan.priors[i] = worth
        plan.prior_errors[i] = CALL_ERRORS[kind, own] * calls.slope
        calls.worth[1 + level, place] = NOT_WEIGHED


@kernel
def best_strains(
    view: View, t: Tables, weights: Weights, level: int, scratch: Scratch
) -> tuple[int, int, float, float]:
    """Return the best two strains that a bid of this level may name, and their expected tricks."""
    first, second, most, next_most = 0, -1, -1.0, -1.0
    for strain in range(t.n_strains):
        if not may_name(t, level, strain):
            continue
        mean = expected_tricks(view, t, weights, strain, scratch)
        if mean > most:
            second, next_most = first, most
            first, most = strain, mean
        elif mean > next_most:
            second, next_most = strain, mean
    return first, second, most, next_most


@kernel
def list_calls(space: SearchWorkspace, legal_calls: int) -> None:
    """Add the expert's call, a pass, likely lone bids, and bids in reach in the best two strains.

    For games without a network of calls. `legal_calls` are the result of `useful_calls`.
    """
    expert, plan = space.expert, space.plans[0]
    t, view, scratch = expert.tables[0], expert.views[0], expert.scratch[0]
    weights = expert.learned.weights[0]
    add_candidate(plan, plan.expert_action)
    if legal_calls & 1:
        add_candidate(plan, 0)
    bits, first, second, most, next_most = 0, 0, -1, -1.0, -1.0
    for level in range(t.n_levels):
        if legal_calls >> (1 + level) & 1 == 0:
            continue
        if t.alone[level]:
            best, chance = lone_strain(view, t, weights, t.exchange[level], scratch)
            if chance > LIKELY:
                add_candidate(plan, call_action(t, level, best))
            continue
        if t.strain_bits[level] != bits:
            bits = t.strain_bits[level]
            first, second, most, next_most = best_strains(view, t, weights, level, scratch)
        need = float(t.need[level])
        if need <= most + REACH:
            add_candidate(plan, call_action(t, level, first))
        if t.strains_per_bid > 1 and second >= 0 and need <= next_most + REACH:
            add_candidate(plan, call_action(t, level, second))


@entry_kernel
def try_worlds(
    space: SearchWorkspace, net: PlayerWorkspace | None, numbers: Array, weights: Array
) -> None:
    """Try the candidates in the worlds with these numbers, and add the values to the plan's sums.

    `net` is that of `play_out`. The weight of world j is `weights[j]`: the index is the number of
    the world.
    """
    expert, plan, s = space.expert, space.plans[0], space.simulated[0]
    t, view, wins = expert.tables[0], expert.views[0], expert.learned.wins
    for i in range(len(numbers)):
        load_world(space, numbers[i])
        solved = solve_world(space)
        for j in range(plan.n):
            won = tricks_after(space, net, plan.actions[j], solved)
            if space.worlds[0].phase == PLAY:
                plan.values[j] = plan.by_tricks[won]
            else:
                plan.values[j] = hand_worth(s, t, view, wins, won)
        add_values(plan, weights[numbers[i]])


@kernel
def solve_world(space: SearchWorkspace) -> bool:
    """Solve the current world: write side 0's further tricks after each legal card to `plan.moves`.

    Returns False, without solving, before the play or if more than `plan.solved` tricks are left.
    """
    plan, world, t = space.plans[0], space.worlds[0], space.expert.tables[0]
    if world.phase != PLAY or t.tricks - world.trick > plan.solved:
        return False
    solve_moves(space.solver, world, t, plan.solver_ready == 0, plan.moves)
    plan.solver_ready = 1
    return True


@kernel
def tricks_after(
    space: SearchWorkspace, net: PlayerWorkspace | None, action: int, solved: bool
) -> int:
    """Return the tricks that side 0 takes in the whole hand after an action in the current world.

    `solved` is the result of `solve_world`; if False, the hand is played out in `space.simulated`
    (see `play_out`, also for `net`).
    """
    plan, world, t = space.plans[0], space.worlds[0], space.expert.tables[0]
    if solved:
        return world.tricks_won[0] + max(plan.moves[action - t.card_offset], 0)
    space.simulated[0] = space.worlds[0]
    if world.phase != PLAY:
        plan.solver_ready = 0  # the contract may differ from the last candidate's
    apply(space.simulated[0], t, action)
    return play_out(space, net)


@kernel
def add_values(plan: Plan, weight: float) -> None:
    """Add the candidates' values in a world of this weight, `plan.values`, to the plan's sums."""
    base = plan.values[index_of(plan, plan.expert_action)]
    for i in range(plan.n):
        gain = plan.values[i] - base
        plan.sums[i] += weight * plan.values[i]
        plan.squares[i] += weight * gain * gain
    plan.total += weight
    plan.total_squares += plan.design_effect * weight * weight


@kernel
def index_of(plan: Plan, action: int) -> int:
    """Return the index of an action among the candidates; 0 if it is not a candidate."""
    for i in range(plan.n):
        if plan.actions[i] == action:
            return i
    return 0


@kernel
def count_tried(plan: Plan) -> float:
    """Return the effective sample size of the worlds tried; 0 if there are none."""
    return float(plan.total * plan.total / plan.total_squares) if plan.total > 0.0 else 0.0


@kernel
def standard_error(plan: Plan, i: int) -> float:
    """Return the standard error of candidate i's mean gain over `expert_action`.

    It is 1.0 for an effective sample size up to 1, and 0.0 once all existing worlds are tried.
    """
    total = plan.total
    if plan.all_worlds > 0.0 and total > plan.all_worlds - HARDLY:
        return 0.0
    others = count_tried(plan) - 1.0
    if others < 1e-9:
        return 1.0
    mean = (plan.sums[i] - plan.sums[index_of(plan, plan.expert_action)]) / total
    variance = max(plan.squares[i] / total - mean * mean, 0.0)
    return float(sqrt(variance / others))


@kernel
def known_gain(plan: Plan, i: int) -> tuple[float, float]:
    """Return candidate i's gain over `expert_action` (0.0 for itself) and its standard error.

    It combines the prior gain and the mean gain over worlds with inverse-variance weights; without
    a prior or before the first world, it is the other one alone.
    """
    experts = index_of(plan, plan.expert_action)
    if i == experts:
        return 0.0, 0.0
    prior, variance = plan.priors[i] - plan.priors[experts], plan.prior_errors[i] ** 2
    if plan.total <= 0.0:
        return prior, plan.prior_errors[i]
    gain, error = (plan.sums[i] - plan.sums[experts]) / plan.total, standard_error(plan, i)
    if variance > 0.0:
        tried = error * error
        gain = (gain * variance + prior * tried) / (variance + tried)
        error *= plan.prior_errors[i] / sqrt(variance + tried)
    return gain, error


@entry_kernel
def drop_hopeless(plans: Array) -> int:
    """Drop candidates significantly worse than the best, by `known_gain`; return the number left.

    `expert_action` is never dropped. Before the first world, candidates are dropped only if they
    have priors; later, only if the effective sample size is above `RELIABLE_SIZE`.
    """
    plan, left = plans[0], 0
    informed = plan.has_priors == 1 if plan.total <= 0.0 else count_tried(plan) > RELIABLE_SIZE
    if not informed:
        return int(plan.n)
    best = index_of(plan, plan.expert_action)
    most, doubt = known_gain(plan, best)
    for i in range(plan.n):
        gain, error = known_gain(plan, i)
        if gain > most + 1e-9:
            best, most, doubt = i, gain, error
    for i in range(plan.n):
        gain, error = known_gain(plan, i)
        stays = i == best or most - gain < HOPELESS * max(error, doubt)
        plan.values[i] = 1.0 if stays else 0.0
    for i in range(plan.n):
        if plan.values[i] == 1.0 or plan.actions[i] == plan.expert_action:
            plan.actions[left] = plan.actions[i]
            plan.priors[left] = plan.priors[i]
            plan.prior_errors[left] = plan.prior_errors[i]
            plan.sums[left] = plan.sums[i]
            plan.squares[left] = plan.squares[i]
            left += 1
    plan.n = left
    return left


@kernel
def surprising(t: Tables, action: int, expected: int) -> bool:
    """Whether people would not expect the call `action` if `expected` is about as good.

    Such calls are a lone bid instead of a pass or a bid with partner, and another strain of the
    same bid with partner. `expected`, the expert's call, is the natural one of its own equals
    (`auction.natural_call`).
    """
    if action == expected or action >= t.trump_offset or t.call_levels[action] < 0:
        return False
    level, other = t.call_levels[action], t.call_levels[expected]
    if t.alone[level]:
        return other < 0 or not t.alone[other]
    return level == other


@entry_kernel
def choose(plans: Array, tables: Array, standard_errors: float) -> int:
    """Return the action of the candidate with the highest `known_gain`.

    It is `expert_action` if no world was tried or no gain is positive. Without priors,
    `standard_errors` standard errors are subtracted from every gain; with priors, only from the
    gains of `surprising` calls.
    """
    plan, t = plans[0], tables[0]
    if plan.n == 0 or plan.total <= 0.0:
        return plan.expert_action
    best, most = index_of(plan, plan.expert_action), 0.0
    for i in range(plan.n):
        gain, error = known_gain(plan, i)
        if plan.has_priors == 0 or surprising(t, plan.actions[i], plan.expert_action):
            gain -= standard_errors * error
        if gain > most + 1e-9:
            best, most = i, gain
    return plan.actions[best]


@entry_kernel
def lean_on_net(space: SearchWorkspace, net: PlayerWorkspace, masks: Array, i: int) -> None:
    """Make the net's card the plan's `expert_action`, and its estimates the priors of the cards.

    Call `begin` for row i before. Has no effect in the auction and on the naming of a strain.
    """
    plan, view, cards = space.plans[0], space.expert.views[0], net.cards
    if cards is None or view.phase == AUCTION or view.phase == NAMING:
        return
    t, known, mask, seen = net.tables[0], space.expert.known[0], row_of(masks, i), net.views[0]
    see(known, t, 0, seen)
    legal = read_mask(t, view.phase, mask)
    plan.expert_action = legal_choice(decide(known, 0, seen, legal, net), mask, t)
    plan.plays_net = 1
    if plan.n < 2:
        return
    symmetry, point = weigh_cards(known, 0, seen, t, cards), worth_of_point(space)
    plan.has_priors, plan.prior_unit = 1 if point > 0.0 else 0, point
    plan.prior_errors[:] = NET_ERROR * point
    for j in range(plan.n):
        plan.priors[j] = point * points_of(cards, symmetry, plan.actions[j] - t.card_offset)


@kernel
def worth_of_point(space: SearchWorkspace) -> float:
    """Return the mean value of a point: the range of a hand's values over that of its points."""
    s, t, view = space.worlds[0], space.expert.tables[0], space.expert.views[0]
    us, wins = s.declarer & 1 == 0, space.expert.learned.wins
    least, most, fewest, best = 1e9, -1e9, 1e9, -1e9
    for won in range(t.tricks + 1):
        worth = hand_worth(s, t, view, wins, won)
        ours, theirs, _ = played_points(t, s.level, won if us else t.tricks - won, us)
        least, most = min(least, worth), max(most, worth)
        fewest, best = min(fewest, float(ours - theirs)), max(best, float(ours - theirs))
    return (most - least) / max(best - fewest, 1.0)
