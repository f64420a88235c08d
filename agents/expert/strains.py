"""Chances of tricks of the expert's hand in every strain, computed before calls are weighed.

Decks of up to 32 cards have a table of hands (`hand_table.py`). Larger decks have too many hands
for a table: there the rule player's estimates give the mean of a normal distribution of tricks, and
the chances of lone bids. In both cases weights of the game's network shift the tricks by the hand
and the others' calls. `t` are the game's tables, `calls` is the record `auction.CALLS`, and
`scratch` is the rule player's scratch memory.
"""

from __future__ import annotations

from bideuchre_env.agents.expert.call_features import N_HAND, Calls
from bideuchre_env.agents.expert.hand_table import SCALE, find_row, mirrored
from bideuchre_env.agents.expert.tables import ExpertTables
from bideuchre_env.agents.rule.bidding import (
    DECLARER,
    N_AUCTION_FEATURES,
    Scratch,
    bell_curve,
    describe_auction,
    lone_chance,
    we_lead,
)
from bideuchre_env.agents.rule.hand_features import describe_hand, no_trump, weigh
from bideuchre_env.core.records import Tables, View
from bideuchre_env.learning.suits import SUIT_MAPS, canonical
from bideuchre_env.rules.bids import N_EXCHANGES
from bideuchre_env.rules.cards import COPY_SHIFT, LOW, NO_TRUMP
from bideuchre_env.runtime.jit import Array, inline_kernel, kernel


@kernel
def weigh_strains(
    view: View, t: Tables, learned: ExpertTables, scratch: Scratch, calls: Calls
) -> bool:
    """Write chances of tricks, means and order of the strains to `calls`, for the hand in `view`.

    Returns False if there are none: the game has neither a hand table nor estimates, or the table
    does not have the hand.
    """
    if len(learned.hands.keys) == 0:
        if not learned.estimates:
            return False
        estimate(view, t, learned, scratch, calls)
    elif not look_up(view, t, learned, scratch, calls):
        return False
    find_best(t, calls)
    return True


@inline_kernel
def valued(t: Tables) -> int:
    """Return the number of strains that are valued: also no trump in a game without it.

    The networks of calls need the values of no trump.
    """
    return max(t.n_strains, NO_TRUMP + 1)


@kernel
def look_up(view: View, t: Tables, learned: ExpertTables, scratch: Scratch, calls: Calls) -> bool:
    """Write the table's chances of tricks and lone bids in every strain to `calls`.

    Returns False if the table does not have the hand. `scratch.features` is overwritten.
    """
    hand = view.held | view.held_pair << COPY_SHIFT
    key, symmetry = canonical(hand)
    row = find_row(learned.hands.keys, key)
    if row < 0:
        return False
    tricks = learned.hands.tricks
    last = tricks.shape[1] - 1
    lead = 0 if we_lead(view, t, 0, False) else last
    lone_lead = 0 if we_lead(view, t, 0, True) else last
    for strain in range(valued(t)):
        if strain == LOW:
            key, symmetry = canonical(mirrored(hand, t.kinds))
            row = find_row(learned.hands.keys, key)
            if row < 0:
                return False
        there = SUIT_MAPS[symmetry, strain] if strain < NO_TRUMP else NO_TRUMP
        calls.table_mean[strain] = 0.0
        for won in range(t.tricks + 1):
            calls.table_mean[strain] += won * float(tricks[row, lead, there, won]) / SCALE
        describe_hand(view, t, strain, 1 if lead == 0 else 0, 0, scratch.features)
        shift = trick_shift(view, t, strain, learned.network.shifts, scratch.features, calls)
        shift_chances(tricks[row, lead, there], shift, t.tricks, calls.chances[strain])
        for exchange in range(N_EXCHANGES):
            chance = float(learned.hands.lone[row, lone_lead, exchange, there])
            calls.lone[exchange, strain] = chance / SCALE
    return True


@kernel
def estimate(view: View, t: Tables, learned: ExpertTables, scratch: Scratch, calls: Calls) -> None:
    """Write the chances of tricks and lone bids in every strain from the rule player's estimates.

    They are written to `calls`; `scratch` is overwritten.
    """
    weights, features = learned.weights[0], scratch.features
    on_lead = we_lead(view, t, 0, False)
    for strain in range(valued(t)):
        plain = no_trump(strain)
        describe_hand(view, t, strain, on_lead, 0, features)
        mean = weigh(features, weights.tricks[DECLARER, plain])
        calls.table_mean[strain] = min(max(mean, 0.0), float(t.tricks))
        mean += trick_shift(view, t, strain, learned.network.shifts, features, calls)
        mean = min(max(mean, -1.0), t.tricks + 1.0)  # farther out all chances would underflow
        bell_curve(mean, weights.deviation[DECLARER, plain], t.tricks, calls.chances[strain])
        for exchange in range(N_EXCHANGES):
            calls.lone[exchange, strain] = 0.0
        for level in range(t.n_levels):
            exchange = t.exchange[level]
            if t.alone[level] and calls.lone[exchange, strain] == 0.0:
                chance = lone_chance(view, t, weights, strain, exchange, scratch)
                calls.lone[exchange, strain] = chance


@kernel
def trick_shift(
    view: View, t: Tables, strain: int, shifts: Array, features: Array, calls: Calls
) -> float:
    """Return the tricks that the network adds to `calls.table_mean` for the hand and the calls.

    Before the call, `features` must be those of the hand in this strain. They are copied to
    `calls.features`, and then overwritten by those of the auction.
    """
    kind = no_trump(strain)
    shift = calls.table_mean[strain] * shifts[kind, 0]
    for i in range(N_HAND):
        calls.features[strain, i] = features[i]
        shift += features[i] * shifts[kind, 1 + i]
    describe_auction(view, t, strain, features)
    for i in range(N_AUCTION_FEATURES):
        shift += features[i] * shifts[kind, 1 + N_HAND + i]
    return float(shift)


@kernel
def shift_chances(row: Array, shift: float, tricks: int, chances: Array) -> None:
    """Write the chances of each number of tricks to `chances`, moved up by `shift` tricks.

    `row`, uint8 (tricks + 1,), are the table's chances. A fractional number of tricks is divided
    between its two neighbours; numbers beyond 0 or `tricks` are clipped.
    """
    for won in range(tricks + 1):
        chances[won] = 0.0
    for won in range(tricks + 1):
        to = min(max(won + shift, 0.0), float(tricks))
        low = int(to)
        high = min(low + 1, tricks)
        chance = float(row[won]) / SCALE
        chances[low] += chance * (low + 1.0 - to)
        chances[high] += chance * (to - low)


@kernel
def find_best(t: Tables, calls: Calls) -> None:
    """Write `calls.means`, `calls.ranked` and `calls.best_lone` from the chances in `calls`.

    `means` are the expected tricks by strain. `ranked` are the strains by expected tricks, the most
    first. `best_lone` is the best strain for a lone bid, by the number of cards exchanged.
    """
    for strain in range(valued(t)):
        calls.means[strain] = 0.0
        for won in range(t.tricks + 1):
            calls.means[strain] += won * calls.chances[strain, won]
    for strain in range(t.n_strains):
        place = strain
        while place > 0 and calls.means[strain] > calls.means[calls.ranked[place - 1]]:
            calls.ranked[place] = calls.ranked[place - 1]
            place -= 1
        calls.ranked[place] = strain
    for exchange in range(N_EXCHANGES):
        calls.best_lone[exchange] = 0
        for strain in range(1, t.n_strains):
            best = calls.best_lone[exchange]
            more = calls.lone[exchange, strain] - calls.lone[exchange, best]
            if more > 0.0 or (more == 0.0 and calls.means[strain] > calls.means[best]):
                calls.best_lone[exchange] = strain
