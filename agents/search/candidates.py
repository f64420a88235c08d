"""What an action comes to in worlds drawn from an observation: played out, the end of it solved.

Every candidate action is tried in the same worlds, and what follows is valued by the chance to win
the game (`win_table.chance_to_win`). A world is played out by the expert in all four seats, without
its search of the last tricks: it does not know the hidden cards either, so that bids and cards are
worth what play makes of them. When few tricks are left the solver plays them, all hands open.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from bideuchre_env.agents.expert.agent import Book, expert_decision, weigh_hand
from bideuchre_env.agents.expert.auction import NOT_WEIGHED, call_action, weigh_calls
from bideuchre_env.agents.expert.win_table import chance_to_win, passed_out
from bideuchre_env.agents.rule.agent import call_bits
from bideuchre_env.agents.rule.bidding import N_STRAINS, expected_tricks, lone_chance
from bideuchre_env.agents.rule.win_curve import read_time
from bideuchre_env.agents.search.worlds import rebuild, stream_of
from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.observation.resample import resample_row
from bideuchre_env.core.phases.deal import GOLDEN
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.state import AUCTION, DEAL, NAMING, PLAY
from bideuchre_env.core.step import apply, legal
from bideuchre_env.rules.bids import MAX_BIDS
from bideuchre_env.rules.cards import MAX_KINDS, MAX_TRICKS
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import Array, Row, Word, kernel, new_rows
from bideuchre_env.solver.position import set_up
from bideuchre_env.solver.transpositions import Searcher, forget
from bideuchre_env.solver.values import solve_moves, solve_position

MOST_CANDIDATES = 2 * MAX_BIDS + 2
SURELY = 2.5  # standard errors behind the best that rule a candidate out
NEAR = 3.0  # points a call may look worse than the expert's and still be tried
MOST_CALLS = 8  # calls tried, where the expert has weighed them
REACH = 1.6  # tricks above the expected ones that a bid is still tried at

PLAN = np.dtype(
    [
        ("word", np.uint64),  # the worlds' stream
        ("own", np.int64),  # the expert's action
        ("n", np.int64),  # candidates; 0: play as the expert does
        ("actions", np.int64, (MOST_CANDIDATES,)),
        ("sums", np.float64, (MOST_CANDIDATES,)),  # worth over worlds
        ("squares", np.float64, (MOST_CANDIDATES,)),  # of what it is above the expert's
        ("values", np.float64, (MOST_CANDIDATES,)),  # in this world
        ("total", np.float64),  # worlds, by their weight
        ("total_squares", np.float64),  # the same, of their weights' squares
        ("priors", np.float64, (MOST_CANDIDATES,)),  # worth by the expert's own reckoning
        ("trust", np.float64),  # how far that may err, or 0 where the expert reckons nothing
        ("by_tricks", np.float64, (MAX_TRICKS + 1,)),  # worth of the hand, by our side's tricks
        ("ready", np.int64),  # 1: the solver's table holds worlds of this decision
        ("solved", np.int64),  # tricks left that the solver finishes; until then it is played out
        ("moves", np.int8, (MAX_KINDS,)),  # the solver's answer
    ],
    align=True,
)


def new_plan() -> Array:
    """Working room for one decision, an array of one `PLAN`."""
    return new_rows(PLAN, 1)


@kernel
def hand_worth(s: Row, t: Row, v: Row, wins: Array, won: int) -> float:
    """What the hand is worth to seat 0, whose view at the decision is `v`, by its side's tricks."""
    level = s.level
    if level < 0:
        return passed_out(v, t, wins)
    us = s.declarer & 1 == 0
    ours, theirs, done = played_points(t, level, won if us else t.tricks - won, us)
    return chance_to_win(v, t, wins, ours, theirs, us, done)


@kernel
def begin(
    row: Array,
    mask: Array,
    t: Row,
    o: Row,
    book: Book,
    views: Array,
    bidding: Row,
    b: Row,
    x: Row,
    script: Row,
    world: Row,
    again: Array,
    may: Array,
    plan: Row,
    low: Word,
) -> None:
    """Rebuild the position of an observation and list what is to be tried, in `plan`.

    `views` are two; the first is left as that of the row. Nothing is tried where no game gives
    this observation, or the mask is not that of the position.
    """
    plan.own = expert_decision(row, mask, t, o, book, views[1], bidding, b, x)
    plan.n = 0
    plan.total = 0.0
    plan.total_squares = 0.0
    plan.ready = 0
    plan.sums[:] = 0.0
    plan.squares[:] = 0.0
    plan.priors[:] = 0.0
    plan.trust = 0.0
    v = views[0]
    if not rebuild(row, t, o, v, script, world, again):
        return
    legal(world, t, may)
    for action in range(t.n_actions):
        if (mask[action] != 0) != (may[action] != 0):
            return
    plan.word = stream_of(row, o.entries, low)
    read_time(v)
    if v.phase == AUCTION:
        if book.trusted > 0.0 and weigh_hand(v, t, book, bidding, b):
            list_weighed(mask, t, book, v, b, plan)
        else:
            list_calls(mask, t, book.weights[0], v, bidding, plan)
    elif v.phase == NAMING:
        list_legal(mask, t.trump_offset, N_STRAINS, plan)
    else:
        list_legal(mask, t.card_offset, t.kinds, plan)
    if v.phase == PLAY:
        for won in range(t.tricks + 1):
            plan.by_tricks[won] = hand_worth(world, t, v, book.wins, won)


@kernel
def add_candidate(plan: Row, action: int) -> None:
    """Enter an action among the candidates, once."""
    for i in range(plan.n):
        if plan.actions[i] == action:
            return
    if plan.n < MOST_CANDIDATES:
        plan.actions[plan.n] = action
        plan.n += 1


@kernel
def list_weighed(mask: Array, t: Row, book: Book, v: Row, b: Row, plan: Row) -> None:
    """Enter the expert's call, and the others it finds nearly as good, the best first."""
    weigh_calls(v, t, book.numbers[0], book.weights[0], book.wins, call_bits(mask, t), b)
    plan.trust = book.trusted * b.slope
    add_candidate(plan, plan.own)
    most = NOT_WEIGHED
    while plan.n < MOST_CALLS:
        best_level, best_place, best = -2, 0, NOT_WEIGHED
        for level in range(-1, t.n_levels):
            for place in range(N_STRAINS):
                if b.worth[1 + level, place] > best:
                    best_level, best_place, best = level, place, b.worth[1 + level, place]
        most = max(most, best)
        if best_level < -1 or best < most - NEAR * b.slope:
            return
        action = call_action(t, best_level, b.ranked[best_place])
        add_candidate(plan, action)
        plan.priors[place_of(plan, action)] = best
        b.worth[1 + best_level, best_place] = NOT_WEIGHED


@kernel
def list_legal(mask: Array, offset: int, n: int, plan: Row) -> None:
    """Enter every legal action of a run of the numbering."""
    bits = gather_bits(mask, offset, n, 0)
    while bits:
        add_candidate(plan, offset + lowest_bit(bits))
        bits &= bits - 1


@kernel
def list_calls(mask: Array, t: Row, w: Row, v: Row, bidding: Row, plan: Row) -> None:
    """Enter the expert's call, a pass, and the bids within reach in the best two strains."""
    add_candidate(plan, plan.own)
    if mask[0]:
        add_candidate(plan, 0)
    bits, per_bid = call_bits(mask, t), t.strains_per_bid
    first, second, most, next_most = 0, -1, -1.0, -1.0
    for strain in range(N_STRAINS):
        mean = expected_tricks(v, t, w, strain, bidding)
        if mean > most:
            second, next_most = first, most
            first, most = strain, mean
        elif mean > next_most:
            second, next_most = strain, mean
    for level in range(t.n_levels):
        if bits >> (1 + level) & 1 == 0:
            continue
        at = 1 + level * per_bid
        if t.alone[level]:
            strain, chance = lone_strain(t, w, v, t.exchange[level], bidding)
            if chance > 0.1:
                add_candidate(plan, at + (strain if per_bid > 1 else 0))
            continue
        need = float(t.need[level])
        if need <= most + REACH:
            add_candidate(plan, at + (first if per_bid > 1 else 0))
        if per_bid > 1 and need <= next_most + REACH:
            add_candidate(plan, at + second)


@kernel
def lone_strain(t: Row, w: Row, v: Row, exchange: int, bidding: Row) -> tuple[int, float]:
    """The strain a lone bid is likeliest to be made in, and that chance."""
    best, most = 0, -1.0
    for strain in range(N_STRAINS):
        chance = lone_chance(v, t, w, strain, exchange, bidding)
        if chance > most:
            best, most = strain, chance
    return best, most


@kernel
def play_out(
    s: Row,
    t: Row,
    o: Row,
    book: Book,
    v: Row,
    bidding: Row,
    b: Row,
    x: Row,
    seen: Array,
    may: Array,
    plan: Row,
    searcher: Searcher,
) -> int:
    """The tricks side 0 takes of the hand; rewrites `s` and `v` to `may`.

    The expert plays in all four seats until as many tricks are left as are solved.
    """
    while s.phase < DEAL:
        if s.phase == PLAY and t.tricks - s.trick <= plan.solved:
            set_up(searcher.position[0], t, s)
            if plan.ready == 0:
                forget(searcher)
                plan.ready = 1
            return s.tricks_won[0] + solve_position(searcher)
        encode(s, t, o, s.turn, seen)
        legal(s, t, may)
        apply(s, t, expert_decision(seen, may, t, o, book, v, bidding, b, x))
    return s.tricks_won[0]


@kernel
def value_world(
    worlds: Array,
    tries: Array,
    t: Row,
    o: Row,
    book: Book,
    views: Array,
    bidding: Row,
    b: Row,
    x: Row,
    seen: Array,
    may: Array,
    plan: Row,
    searcher: Searcher,
) -> None:
    """Write what each candidate comes to in the world of row 0 to `plan.values`."""
    s, v = worlds[0], views[0]
    in_play = s.phase == PLAY
    if in_play and t.tricks - s.trick <= plan.solved:
        solve_moves(searcher, s, t, plan.ready == 0, plan.moves)
        plan.ready = 1
        for i in range(plan.n):
            took = plan.moves[plan.actions[i] - t.card_offset]
            plan.values[i] = plan.by_tricks[s.tricks_won[0] + max(took, 0)]
        return
    for i in range(plan.n):
        tries[0] = worlds[0]
        if not in_play:
            plan.ready = 0  # the contract may be another
        apply(tries[0], t, plan.actions[i])
        won = play_out(tries[0], t, o, book, views[1], bidding, b, x, seen, may, plan, searcher)
        if in_play:
            plan.values[i] = plan.by_tricks[won]
        else:
            plan.values[i] = hand_worth(tries[0], t, v, book.wins, won)


@kernel
def add_value(plan: Row, weight: float) -> None:
    """Add the values of a world, which counts `weight`-fold, to the sums."""
    base = plan.values[place_of(plan, plan.own)]
    for i in range(plan.n):
        above = plan.values[i] - base
        plan.sums[i] += weight * plan.values[i]
        plan.squares[i] += weight * above * above
    plan.total += weight
    plan.total_squares += weight * weight


@kernel
def draw_world(
    worlds: Array, tables: Array, scratch: Array, plan: Row, number: int, high: Word
) -> None:
    """Redeal row 0 as the world of this number."""
    word = plan.word + np.uint64(number) * GOLDEN
    resample_row(worlds, tables, 0, scratch, word, high)


@kernel
def error_of(plan: Row, i: int) -> float:
    """The standard error of how far a candidate is above the expert's action.

    A world that counts many times is still one world, and one world tells nothing of the error:
    then it is as much as a chance can be wrong by.
    """
    total = plan.total
    others = total * total / plan.total_squares - 1.0  # worlds that count, but for one
    if others < 1e-9:
        return 1.0
    mean = (plan.sums[i] - plan.sums[place_of(plan, plan.own)]) / total
    spread = max(plan.squares[i] / total - mean * mean, 0.0)
    return float(sqrt(spread / others))


@kernel
def place_of(plan: Row, action: int) -> int:
    """The place of an action among the candidates; 0 if it is not there."""
    for i in range(plan.n):
        if plan.actions[i] == action:
            return i
    return 0


@kernel
def best_of(plan: Row) -> int:
    """The place of the best candidate, the first of equal ones."""
    best = 0
    for i in range(plan.n):
        if plan.sums[i] > plan.sums[best] + 1e-9:
            best = i
    return best


@kernel
def drop_hopeless(plan: Row) -> int:
    """Take out candidates that are surely not the best; how many are left.

    The expert's action stays, for the others are measured against it.
    """
    most, kept = plan.sums[best_of(plan)], 0
    for i in range(plan.n):
        behind = (most - plan.sums[i]) / plan.total
        error = error_of(plan, i)
        plan.values[i] = 1.0 if behind <= SURELY * error + 1e-9 else 0.0
    for i in range(plan.n):
        if plan.values[i] == 1.0 or plan.actions[i] == plan.own:
            plan.actions[kept] = plan.actions[i]
            plan.priors[kept] = plan.priors[i]
            plan.sums[kept] = plan.sums[i]
            plan.squares[kept] = plan.squares[i]
            kept += 1
    plan.n = kept
    return kept


@kernel
def choice_of(plan: Row, doubt: float) -> int:
    """The action to choose: the best by what was tried and by what the expert reckons.

    Where it reckons something, both are weighed by how far they may err. Where it does not, its own
    action is chosen unless another is better by `doubt` standard errors.
    """
    if plan.n == 0 or plan.total <= 0.0:
        return plan.own
    own = place_of(plan, plan.own)
    best, most = own, 0.0
    for i in range(plan.n):
        gain, error = (plan.sums[i] - plan.sums[own]) / plan.total, error_of(plan, i)
        if plan.trust > 0.0:
            known, tried = plan.trust * plan.trust, error * error
            gain = (gain * known + (plan.priors[i] - plan.priors[own]) * tried) / (known + tried)
        else:
            gain -= doubt * error
        if gain > most + 1e-9:
            best, most = i, gain
    return plan.actions[best]
