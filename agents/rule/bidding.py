"""The auction: value every contract in reach by the chance to win the game, and call the best."""

from __future__ import annotations

from math import exp

import numpy as np

from bideuchre_env.agents.rule.hand_features import N_FEATURES, copies_held, describe, weigh
from bideuchre_env.agents.rule.win_curve import POINT, lead_chance, logistic, read_time, worth
from bideuchre_env.core.phases.play import opening_leader
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.rules.cards import JACK, MAX_TRICKS, NO_TRUMP, STRAINS
from bideuchre_env.runtime.jit import Array, Row, kernel

N_STRAINS = len(STRAINS)
DECLARER, HELPER, DEFENDER = 0, 1, 2  # the roles `weights.tricks` has a row for
N_SIGNS = 12  # what the auction tells: six signs of partner's call, six of the opponents' calls
MOST_POINT = 0.03  # about a point's worth at the start of a short game
LONE_MADE = 0.65  # how often somebody else's lone bid is made

# What is worked out on the way to a call. Fields of a record, as a view of an array's row would
# be counted in and out every time.
SCRATCH = np.dtype(
    [
        ("counts", np.float64, (N_FEATURES,)),  # of the hand, or the signs of the auction
        ("chances", np.float64, (MAX_TRICKS + 1,)),  # of taking so many tricks
        ("kept", np.float64, (MAX_TRICKS + 1,)),  # worth of a made bid by tricks, or -1.0
    ]
)


@kernel
def leads(v: Row, t: Row, seat: int, declarer: int, alone: bool) -> bool:
    """Whether `seat` would lead to the first trick of this contract."""
    sitting_out = (declarer + 2) & 3 if alone else -1
    return opening_leader(t, v.dealer, declarer, sitting_out) == seat


@kernel
def read_signs(v: Row, t: Row, strain: int, signs: Array) -> None:
    """Write what the calls so far say about `strain` to `signs`, float64 (N_SIGNS,)."""
    signs[:] = 0.0
    for seat in range(1, 4):
        at = 0 if seat == 2 else 6
        said, named = v.calls[seat], v.call_strains[seat]
        if said == 0:
            signs[at] += 1.0
        elif said > 0:
            tricks = float(t.need[said - 1])
            if named < 0:
                signs[at + 5] += tricks
            elif named == strain:
                signs[at + 1] += tricks
            elif named == NO_TRUMP or strain == NO_TRUMP:
                signs[at + 4] += tricks
            elif named + strain == 3:
                signs[at + 2] += tricks
            else:
                signs[at + 3] += tricks


@kernel
def expected_tricks(v: Row, t: Row, w: Row, strain: int, scratch: Row) -> float:
    """The tricks our side should take if we declare in this strain with partner."""
    on_lead = 1 if leads(v, t, 0, 0, False) else 0
    x = scratch.counts
    describe(v, t, strain, on_lead, 0, x)
    kind = 1 if strain == NO_TRUMP else 0
    mean = weigh(x, w.tricks[DECLARER, kind])
    read_signs(v, t, strain, x)
    for i in range(N_SIGNS):
        mean += x[i] * w.signs[kind, i]
    return mean


@kernel
def missing_bowers(v: Row, t: Row, strain: int) -> int:
    """The square of how many bowers are not in hand: two out are far worse than twice one out."""
    if strain == NO_TRUMP:
        return 0
    held = copies_held(v, JACK * 4 + strain) + copies_held(v, JACK * 4 + 3 - strain)
    return (2 * t.copies - held) ** 2


@kernel
def lone_chance(v: Row, t: Row, w: Row, strain: int, exchange: int, scratch: Row) -> float:
    """The chance to take every trick alone in this strain after an exchange."""
    on_lead = 1 if leads(v, t, 0, 0, True) else 0
    missing = missing_bowers(v, t, strain)
    if exchange > 0 and missing > 1 and t.copies == 2:
        return 0.0  # three of the four bowers, as players ask: a second one out is one too many
    describe(v, t, strain, on_lead, missing, scratch.counts)
    return logistic(weigh(scratch.counts, w.lone[1 if strain == NO_TRUMP else 0, exchange]))


@kernel
def spread_tricks(mean: float, deviation: float, tricks: int, chances: Array) -> None:
    """Write a bell curve over 0 to `tricks` to `chances`, float64 (>= tricks + 1,)."""
    total = 0.0
    for won in range(tricks + 1):
        z = (won - mean) / deviation
        chances[won] = exp(-0.5 * z * z)
        total += chances[won]
    for won in range(tricks + 1):
        chances[won] /= total


@kernel
def point_worth(v: Row, t: Row) -> float:
    """What a point is worth at this score, as far as it does not decide the game."""
    slope = 0.5 * (worth(v, t, 1.0, 0.0, True, False) - worth(v, t, 0.0, 1.0, True, False))
    return min(slope, MOST_POINT)


@kernel
def contract_equity(v: Row, t: Row, level: int, us: bool, chances: Array, kept: Array) -> float:
    """The chance to win the game if this contract is played, given its side's chances of tricks.

    A made bid is worth its tricks at any level: `kept`, float64 (>= tricks + 1,), holds what that
    comes to, or -1.0 where it has not been worked out yet.
    """
    tricks, need = t.tricks, t.need[level]
    total = 0.0
    for won in range(tricks + 1):
        if chances[won] > 0.002:
            if won < need:
                value = played_worth(v, t, level, us, won)
            else:
                if kept[won] < -0.5:
                    kept[won] = played_worth(v, t, level, us, won)
                value = kept[won]
            total += chances[won] * value
    return total


@kernel
def played_worth(v: Row, t: Row, level: int, us: bool, won: int) -> float:
    """The chance to win the game if the side of this partnered contract takes `won` tricks."""
    ours, theirs, done = played_points(t, level, won, us)
    return worth(v, t, float(ours), float(theirs), us, done)


@kernel
def lone_equity(v: Row, t: Row, level: int, us: bool, made: float) -> float:
    """The chance to win the game if this lone bid is made with chance `made`."""
    value = float(t.payoff[level, t.tricks])
    if us:
        good, bad = worth(v, t, value, 0.0, us, True), worth(v, t, -value, 1.0, us, False)
    else:
        good, bad = worth(v, t, 0.0, value, us, True), worth(v, t, 1.0, -value, us, False)
    return made * good + (1.0 - made) * bad


@kernel
def spread_standing(v: Row, t: Row, w: Row, scratch: Row, chances: Array) -> None:
    """Write the chances of the tricks of the standing bid's side, as our hand sees them.

    `chances` is float64 (>= tricks + 1,); a bid that names no strain is taken over all of them.
    """
    level, seat, strain = v.level, v.standing, v.strain
    role = HELPER if seat == 2 else DEFENDER
    on_lead = 1 if leads(v, t, 0, seat, False) else 0
    mean, deviation, n = 0.0, 0.0, 0
    for s in range(N_STRAINS):
        if s == strain or strain < 0:
            kind = 1 if s == NO_TRUMP else 0
            describe(v, t, s, on_lead, t.need[level], scratch.counts)
            mean += weigh(scratch.counts, w.tricks[role, kind])
            deviation += float(w.spread[role, kind])
            n += 1
    spread_tricks(mean / n, deviation / n, t.tricks, chances)


@kernel
def standing_equity(v: Row, t: Row, w: Row, scratch: Row) -> float:
    """The chance to win the game if the standing bid, somebody else's, becomes the contract."""
    level, us = v.level, v.standing == 2
    if t.alone[level]:
        return lone_equity(v, t, level, us, LONE_MADE)
    spread_standing(v, t, w, scratch, scratch.chances)
    scratch.kept[:] = -1.0
    return contract_equity(v, t, level, us, scratch.chances, scratch.kept)


@kernel
def pass_equity(v: Row, t: Row, w: Row, best_mean: float, scratch: Row) -> float:
    """The chance to win the game if we pass."""
    if v.standing >= 0:
        return standing_equity(v, t, w, scratch)
    made = min(v.calls_made, 3)
    points = float(w.passing[made, 0]) + best_mean * float(w.passing[made, 1])
    if made == 3:
        points = 0.0  # passed out
    if v.rounds == 1 and v.hands_left == 1:
        # the last hand is still to be played: a few points on average do not settle the game
        lead = float(v.score[0] - v.score[1]) + points
        return lead_chance(lead, float(t.tricks), 1.0) + POINT * points
    return worth(v, t, 0.5 * points, -0.5 * points, True, False)


@kernel
def choose_call(v: Row, t: Row, w: Row, legal: int, scratch: Row) -> int:
    """The call to make, as an action; `legal` has bit 0 for a pass and bit 1 + level for a bid."""
    read_time(v)
    best_strain, best_mean = 0, -1.0
    for strain in range(N_STRAINS):
        mean = expected_tricks(v, t, w, strain, scratch)
        if mean > best_mean:
            best_strain, best_mean = strain, mean
    best_action, best = 0, -1.0
    if legal & 1:
        best = pass_equity(v, t, w, best_mean, scratch) + float(w.caution)
    kind = 1 if best_strain == NO_TRUMP else 0
    spread_tricks(best_mean, float(w.spread[DECLARER, kind]), t.tricks, scratch.chances)
    per_bid = t.strains_per_bid
    in_bid = 1 if per_bid > 1 else 0
    press = float(w.press) * point_worth(v, t) if v.calls_made < 3 else 0.0
    lowest_bid = True
    scratch.kept[:] = -1.0
    for level in range(t.n_levels):
        if legal >> (1 + level) & 1 == 0 or t.alone[level]:
            continue
        value = contract_equity(v, t, level, True, scratch.chances, scratch.kept)
        if value > best or (not lowest_bid and best_action > 0 and value > best - press):
            best = max(best, value)
            best_action = 1 + level * per_bid + in_bid * best_strain
        lowest_bid = False
    return choose_lone(v, t, w, legal, best, best_action, scratch)


@kernel
def choose_lone(
    v: Row, t: Row, w: Row, legal: int, best: float, best_action: int, scratch: Row
) -> int:
    """The best lone bid if one beats `best`, else `best_action`."""
    per_bid = t.strains_per_bid
    in_bid = 1 if per_bid > 1 else 0
    if best_action > 0:
        best += float(w.lone_caution)
    for level in range(t.n_levels):
        if legal >> (1 + level) & 1 == 0 or t.alone[level] == 0:
            continue
        best_strain, best_chance = 0, -1.0
        for strain in range(N_STRAINS):
            chance = lone_chance(v, t, w, strain, t.exchange[level], scratch)
            if chance > best_chance:
                best_strain, best_chance = strain, chance
        value = lone_equity(v, t, level, True, best_chance)
        if value > best:
            best = value
            best_action = 1 + level * per_bid + in_bid * best_strain
    if best_action == 0 and legal & 1 == 0:
        return 1  # forced, and nothing looked better than certain defeat
    return best_action


@kernel
def choose_strain(v: Row, t: Row, w: Row, scratch: Row) -> int:
    """The strain to name after winning the auction."""
    read_time(v)
    level = v.level
    best, best_value = 0, -1.0
    for strain in range(N_STRAINS):
        if t.alone[level]:
            value = lone_chance(v, t, w, strain, t.exchange[level], scratch)
        else:
            kind = 1 if strain == NO_TRUMP else 0
            mean = expected_tricks(v, t, w, strain, scratch)
            spread_tricks(mean, float(w.spread[DECLARER, kind]), t.tricks, scratch.chances)
            scratch.kept[:] = -1.0
            value = contract_equity(v, t, level, True, scratch.chances, scratch.kept)
        if value > best_value:
            best, best_value = strain, value
    return best
