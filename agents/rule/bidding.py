"""The rule player's auction: value every contract by the chance to win the game, call the best.

The weights, by deck, are in `rule_weights.npz`. `experiments/fitting/fit_lone_bids.py` makes those
of lone bids in single decks; `agents/README.md` describes the others.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp
from typing import NamedTuple, TypeAlias

import numpy as np

from bideuchre_env.agents.data import read_record, sealed
from bideuchre_env.agents.rule.hand_features import (
    N_FEATURES,
    TRUMPS,
    bowers_held,
    describe_hand,
    no_trump,
    weigh,
)
from bideuchre_env.agents.rule.win_curve import POINT, lead_chance, logistic, read_time, worth
from bideuchre_env.core.card_order import same_colour
from bideuchre_env.core.phases.play import opening_leader
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.tables import ONCE, UNTIL_OUT
from bideuchre_env.rules.bids import N_EXCHANGES
from bideuchre_env.rules.cards import MAX_TRICKS, N_SUITS, NO_TRUMP
from bideuchre_env.runtime.jit import Array, Row, inline_kernel, kernel

DECLARER, HELPER, DEFENDER = 0, 1, 2  # roles: the first index of `weights.tricks`
MOST_POINT = 0.03  # approximate value of a point at the start of a short game
PRESS = 1.5  # points that an early higher bid may cost, because it shuts others out
LONE_MADE = 0.65  # chance that another seat's lone bid is made
PARTNER_HAS = 1.0 / 3.0  # chance that partner holds a card of a single deck that we lack
KITTY_TRICKS = (2.2, 1.7)
"""[trumps, no trump]: tricks that a declarer without any gains by the kitty, and in proportion
fewer with more. Set by hand, by 20,000 hands of each deck played by the rule player."""
KITTY_LONE, KITTY_LONE_GAIN = 0.5, (1.2, 0.9, 0.6, 0.3)
"""The same for the log-odds of all tricks alone: their factor, and the gain by cards exchanged."""
WORTH_A_LOOK = 0.002  # smaller chances of a number of tricks are ignored


class AuctionFeatures(NamedTuple):
    """Indices of one side's features of the auction, relative to a given strain.

    `passes` is a number of passes. Each other feature is the sum of the tricks of bids whose strain
    has this relation to the given strain.
    """

    passes: int
    same: int  # in the given strain
    same_colour: int
    other_colour: int
    no_trump: int  # a bid at no trump if the given strain is a suit, or the reverse
    unnamed: int


N_AUCTION_FEATURES = 2 * len(AuctionFeatures._fields)
PARTNER = AuctionFeatures(*range(6))
OPPONENTS = AuctionFeatures(*range(6, 12))

FILE = "rule_weights.npz"
DECKS = tuple((kinds, copies) for copies in (1, 2) for kinds in (16, 20, 24))
WEIGHTS = np.dtype(
    [
        # [role, 0 trumps / 1 no trump, hand feature]: tricks of the declarer's side
        ("tricks", np.float64, (3, 2, N_FEATURES)),
        ("deviation", np.float64, (3, 2)),  # [role, trumps / no trump]: of those tricks
        ("auction", np.float64, (2, N_AUCTION_FEATURES)),  # [trumps / no trump, feature]: tricks
        # [trumps / no trump, exchange, hand feature]: logit of all the tricks alone
        ("lone", np.float64, (2, 4, N_FEATURES)),
        ("passing", np.float64, (4, 2)),  # [calls made]: points after a pass, base and per trick
    ],
    align=True,
)
Weights: TypeAlias = Row  # of WEIGHTS

# Scratch memory of a call, in a record: views of rows of arrays would cost reference counting.
SCRATCH = np.dtype(
    [
        ("features", np.float64, (N_FEATURES,)),  # of the hand, or of the auction
        ("chances", np.float64, (MAX_TRICKS + 1,)),  # by number of tricks
        ("made_worth", np.float64, (MAX_TRICKS + 1,)),  # of a made bid by tricks; -1.0: unknown
    ]
)
Scratch: TypeAlias = Row  # of SCRATCH


@lru_cache(maxsize=2 * len(DECKS))
def load_weights(kinds: int, copies: int, kitty: int = 0) -> Array:
    """Return the weights for this deck, read-only: one `WEIGHTS` record.

    With a kitty of that many cards, a declarer's estimates count on the hand that it will have.
    """
    record = read_record(FILE, f"{kinds}x{copies}", WEIGHTS)
    if kitty:
        record = record.copy()
        tricks, lone = record["tricks"][0, DECLARER], record["lone"][0]
        for plain, gained in enumerate(KITTY_TRICKS):
            tricks[plain] *= 1.0 - gained / ((kinds * copies - kitty) // 4)
            tricks[plain, TRUMPS.constant] += gained
        lone *= KITTY_LONE
        for exchange in range(N_EXCHANGES):
            lone[:, exchange, TRUMPS.constant] += KITTY_LONE_GAIN[exchange]
    return sealed(record)


@kernel
def we_lead(view: View, t: Tables, declarer: int, alone: bool) -> int:
    """Return 1 if the seat of the view would lead to the first trick, else 0.

    `declarer` is a relative seat, which plays alone if `alone`.
    """
    sitting_out = (declarer + 2) & 3 if alone else -1
    return 1 if opening_leader(t, view.dealer, declarer, sitting_out) == 0 else 0


@kernel
def describe_auction(view: View, t: Tables, strain: int, features: Array) -> None:
    """Write the features of the other seats' calls, relative to a strain, to `features`, float64.

    The first half is partner's (`PARTNER`), the second that of the opponents (`OPPONENTS`).
    """
    for i in range(N_AUCTION_FEATURES):
        features[i] = 0.0
    for seat in range(1, 4):
        at = PARTNER if seat == 2 else OPPONENTS
        call, strain_bid = view.calls[seat], view.call_strains[seat]
        if call == 0:
            features[at.passes] += 1.0
        elif call > 0:
            tricks = float(t.need[call - 1])
            if strain_bid < 0:
                features[at.unnamed] += tricks
            elif strain_bid == strain:
                features[at.same] += tricks
            elif strain_bid >= NO_TRUMP and strain >= NO_TRUMP:
                continue  # one is low, the other high: no feature has been fitted
            elif strain_bid >= NO_TRUMP or strain >= NO_TRUMP:
                features[at.no_trump] += tricks
            elif strain_bid == same_colour(strain):
                features[at.same_colour] += tricks
            else:
                features[at.other_colour] += tricks


@kernel
def expected_tricks(
    view: View, t: Tables, weights: Weights, strain: int, scratch: Scratch
) -> float:
    """Return our side's expected tricks if this seat declares in this strain, with partner.

    The estimate depends on the hand and the calls so far.
    """
    features, plain = scratch.features, no_trump(strain)
    describe_hand(view, t, strain, we_lead(view, t, 0, False), 0, features)
    mean = weigh(features, weights.tricks[DECLARER, plain])
    describe_auction(view, t, strain, features)
    for i in range(N_AUCTION_FEATURES):
        mean += features[i] * weights.auction[plain, i]
    return mean


@kernel
def missing_bowers(view: View, t: Tables, strain: int) -> int:
    """Return the number of bowers that the hand lacks in this strain; 0 at no trump."""
    return 0 if strain >= NO_TRUMP else 2 * t.copies - bowers_held(view, t, strain)


@kernel
def describe_lone_hand(view: View, t: Tables, strain: int, features: Array) -> None:
    """Write the features of the hand for a lone bid of this seat to `features`, float64."""
    missing = missing_bowers(view, t, strain)
    missing *= missing  # two missing bowers are much more than twice as bad as one
    describe_hand(view, t, strain, we_lead(view, t, 0, True), missing, features)


@kernel
def lone_chance(
    view: View, t: Tables, weights: Weights, strain: int, exchange: int, scratch: Scratch
) -> float:
    """Return the chance to take every trick alone in this strain.

    `exchange` is the number of cards exchanged with partner before the play. With an exchange in a
    double deck, the chance is 0 if the hand lacks two or more of the four bowers. Without the right
    bower of a single deck, it is at most that of partner to pass it.
    """
    if exchange > 0 and missing_bowers(view, t, strain) > 1 and t.copies == 2:
        return 0.0  # good players require three of the four bowers
    describe_lone_hand(view, t, strain, scratch.features)
    chance = logistic(weigh(scratch.features, weights.lone[no_trump(strain), exchange]))
    if strain < NO_TRUMP and t.copies == 1 and scratch.features[TRUMPS.rights] == 0:
        return min(chance, PARTNER_HAS) if exchange > 0 else 0.0
    return chance


@kernel
def lone_strain(
    view: View, t: Tables, weights: Weights, exchange: int, scratch: Scratch
) -> tuple[int, float]:
    """Return the strain with the highest chance to make a lone bid, and the chance.

    `exchange` is the number of cards exchanged with partner.
    """
    best, most = 0, -1.0
    for strain in range(t.n_strains):
        chance = lone_chance(view, t, weights, strain, exchange, scratch)
        if chance > most:
            best, most = strain, chance
    return best, most


@kernel
def bell_curve(mean: float, deviation: float, tricks: int, chances: Array) -> None:
    """Write a discretised normal distribution over 0 to `tricks` to `chances`."""
    total = 0.0
    for won in range(tricks + 1):
        z = (won - mean) / deviation
        chances[won] = exp(-0.5 * z * z)
        total += chances[won]
    for won in range(tricks + 1):
        chances[won] /= total


@kernel
def contract_worth(view: View, t: Tables, level: int, us: bool, scratch: Scratch) -> float:
    """Return the value to us of a partnered contract, which we declare if `us`, else opponents.

    `scratch.chances` has the chance of each number of tricks of the declarer's side. A made bid has
    the same value at any level, unless `t.payoff` of all tricks is another number than theirs:
    `scratch.made_worth` caches it by tricks. Fill it with -1.0 before the first level of a strain.
    """
    tricks, need, chances, made_worth = t.tricks, t.need[level], scratch.chances, scratch.made_worth
    total = 0.0
    for won in range(tricks + 1):
        if chances[won] > WORTH_A_LOOK:
            if won < need:
                value = played_worth(view, t, level, us, won)
            else:
                if made_worth[won] < -0.5:
                    made_worth[won] = played_worth(view, t, level, us, won)
                value = made_worth[won]
            total += chances[won] * value
    return total


@kernel
def played_worth(view: View, t: Tables, level: int, us: bool, won: int) -> float:
    """Return the value to us of a partnered contract whose side takes `won` tricks.

    `us` says whether that is our side.
    """
    ours, theirs, done = played_points(t, level, won, us)
    return worth(view, t, float(ours), float(theirs), us, done)


@kernel
def lone_worth(view: View, t: Tables, level: int, us: bool, made: float) -> float:
    """Return the value to us of a lone bid that is made with chance `made`; `us`: our side bids."""
    good = played_worth(view, t, level, us, t.tricks)
    bad = played_worth(view, t, level, us, t.tricks - 1)
    return made * good + (1.0 - made) * bad


@kernel
def standing_tricks(
    view: View, t: Tables, weights: Weights, scratch: Scratch, chances: Array
) -> None:
    """Write to `chances` how likely each number of tricks is for the side of the standing bid.

    The chances are estimated from our hand, for the case that the bid becomes the contract. A bid
    without a strain is averaged over all strains.
    """
    level, seat, strain = view.level, view.standing, view.strain
    role = HELPER if seat == 2 else DEFENDER
    on_lead = we_lead(view, t, seat, False)
    mean, deviation, n = 0.0, 0.0, 0
    for each in range(t.n_strains):
        if each == strain or strain < 0:
            describe_hand(view, t, each, on_lead, t.need[level], scratch.features)
            mean += weigh(scratch.features, weights.tricks[role, no_trump(each)])
            deviation += weights.deviation[role, no_trump(each)]
            n += 1
    bell_curve(mean / n, deviation / n, t.tricks, chances)


@kernel
def pass_worth(
    view: View, t: Tables, weights: Weights, best_mean: float, scratch: Scratch
) -> float:
    """Return the value to us of a pass, if the standing bid becomes the contract.

    Without a standing bid it is estimated from `best_mean`, our expected tricks in the best strain.
    """
    if view.standing >= 0:
        us = view.standing == 2
        if t.alone[view.level]:
            return lone_worth(view, t, view.level, us, LONE_MADE)
        standing_tricks(view, t, weights, scratch, scratch.chances)
        scratch.made_worth[:] = -1.0
        return contract_worth(view, t, view.level, us, scratch)
    made = min(view.calls_made, 3)
    points = weights.passing[made, 0] + best_mean * weights.passing[made, 1]
    if made == 3:
        points = 0.0  # passed out
    if view.rounds == 1 and view.hands_left == 1 and not view.for_points:
        # the last hand is still to be played, so expected points do not decide the game yet
        lead = float(view.score[0] - view.score[1]) + points
        return lead_chance(lead, float(t.tricks), 1.0) + POINT * points
    return worth(view, t, 0.5 * points, -0.5 * points, True, False)


@kernel
def call_action(t: Tables, level: int, strain: int) -> int:
    """Return the action of a call; level -1 is a pass. `strain` is ignored if the bid has none."""
    if level < 0:
        return 0
    action = t.first_of_bid[level]
    return action + strain if t.call_strains[action] >= 0 else action


@inline_kernel
def may_name(t: Tables, level: int, strain: int) -> bool:
    """Whether a strain may be named for a bid of this level."""
    return bool(t.strain_bits[level] >> strain & 1)


@inline_kernel
def last_bid(view: View, t: Tables) -> bool:
    """Whether no seat is left to call after a bid of this seat.

    In rounds these are bids after three passes that are final, and those of a forced dealer.
    """
    if view.calls_made < 3 or t.auction == ONCE:
        return bool(view.calls_made == 3)
    final = t.auction == UNTIL_OUT or not t.legal_calls[3, 0] & 1
    return bool(view.standing < 0 and final)


@kernel
def choose_call(view: View, t: Tables, weights: Weights, legal: int, scratch: Scratch) -> int:
    """Return the call of highest value, as an action, of the `legal` ones (see `useful_calls`).

    Before the last call a slightly worse higher bid is preferred, because it shuts others out.
    """
    read_time(view)
    best_strain, best_mean, suit, suit_mean = 0, -1.0, 0, -1.0
    for strain in range(t.n_strains):
        mean = expected_tricks(view, t, weights, strain, scratch)
        if mean > best_mean:
            best_strain, best_mean = strain, mean
        if strain == N_SUITS - 1:
            suit, suit_mean = best_strain, best_mean
    best_action, best = 0, -1.0
    if legal & 1:
        best = pass_worth(view, t, weights, best_mean, scratch)
    press, weighed, before = 0.0, -1, -1
    if not last_bid(view, t):
        more, less = worth(view, t, 1.0, 0.0, True, False), worth(view, t, 0.0, 1.0, True, False)
        press = PRESS * min(0.5 * (more - less), MOST_POINT)
    lowest_bid = True
    for level in range(t.n_levels):
        if legal >> (1 + level) & 1 == 0 or t.alone[level]:
            continue
        strain, mean = best_strain, best_mean
        if not may_name(t, level, strain):
            strain, mean = suit, suit_mean
        if strain != weighed:
            weighed = strain
            deviation = weights.deviation[DECLARER, no_trump(strain)]
            bell_curve(mean, deviation, t.tricks, scratch.chances)
            scratch.made_worth[:] = -1.0
        elif t.payoff[level, t.tricks] != t.payoff[before, t.tricks]:  # a made bid scores otherwise
            scratch.made_worth[:] = -1.0
        before = level
        value = contract_worth(view, t, level, True, scratch)
        if value > best or (not lowest_bid and best_action > 0 and value > best - press):
            best = max(best, value)
            best_action = call_action(t, level, strain)
        lowest_bid = False
    for level in range(t.n_levels):
        if legal >> (1 + level) & 1 == 0 or t.alone[level] == 0:
            continue
        strain, chance = lone_strain(view, t, weights, t.exchange[level], scratch)
        value = lone_worth(view, t, level, True, chance)
        if value > best:
            best, best_action = value, call_action(t, level, strain)
    if best_action == 0 and legal & 1 == 0:
        return 1  # a forced bid, with no chance to win the game
    return best_action


@kernel
def choose_strain(view: View, t: Tables, weights: Weights, scratch: Scratch) -> int:
    """Return the strain of highest value to name after winning the auction."""
    read_time(view)
    level = view.level
    if t.alone[level]:
        return lone_strain(view, t, weights, t.exchange[level], scratch)[0]
    best, best_value = 0, -1.0
    for strain in range(t.n_strains):
        if not may_name(t, level, strain):
            continue
        mean = expected_tricks(view, t, weights, strain, scratch)
        deviation = weights.deviation[DECLARER, no_trump(strain)]
        bell_curve(mean, deviation, t.tricks, scratch.chances)
        scratch.made_worth[:] = -1.0
        value = contract_worth(view, t, level, True, scratch)
        if value > best_value:
            best, best_value = strain, value
    return best
