"""Enumeration of all remaining worlds with their likelihoods, if few are left.

The likelihood of a world is a product over its three hidden hands (`likelihood.py`). There are far
fewer hands than worlds, so each hand is weighed once. Then all worlds are enumerated twice: the
first pass sums their weights, the second pass stores the worlds that matter. The unknown cards are
numbered from 0 on, and a hand is a bit set of these numbers. The second copy of a card follows the
first; hands that differ only in the choice of copies are listed once. `listing` is the record
`LISTING`.
"""

from __future__ import annotations

from math import exp, gcd

from bideuchre_env.agents.search.chains import NO_LIMIT, find_places
from bideuchre_env.agents.search.history import record_history
from bideuchre_env.agents.search.likelihood import seat_log
from bideuchre_env.agents.search.workspace import MOST_UNKNOWN, Listing, SearchWorkspace
from bideuchre_env.agents.search.worlds import copy_hidden
from bideuchre_env.core.hands import put
from bideuchre_env.core.observation.resample import GIVEN_PILE, PASSED_PILE
from bideuchre_env.core.state import PLAY
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.intrinsics import deposit_bits, lowest_bit, popcount
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel

DEEP = 16.0  # a hand is left out if its log-likelihood is this much below its seat's best so far
LEAST = 1e-4  # worlds up to this share of the weight are left out, if there is room for all
LEFT_OUT = 0.01  # maximum share of the weight that is left out
TOO_MANY = 1e18  # result of `open_listing` if the worlds cannot be enumerated


@entry_kernel
def open_listing(space: SearchWorkspace) -> float:
    """Number the unknown cards; return an upper bound of the number of worlds of the position.

    It is `TOO_MANY` before the play, with more than `MOST_UNKNOWN` unknown cards, if exchanged
    cards are unknown, or if a card in a hidden hand is known.
    """
    listing, world, redeal = space.listings[0], space.worlds[0], space.redeals[0]
    find_places(space)
    if world.phase != PLAY or space.mixings[0].hides_passed == 1:
        return TOO_MANY
    left, ways = redeal.room[1] + redeal.room[2] + redeal.room[3], 1.0
    if redeal.room[GIVEN_PILE] + redeal.room[PASSED_PILE] > 0 or left > MOST_UNKNOWN:
        return TOO_MANY
    number_cards(space, listing)
    for seat in range(1, N_SEATS):
        if redeal.known[seat] != 0:
            return TOO_MANY
        among = min(left, popcount(listing.allowed[seat]))
        for i in range(redeal.room[seat]):
            ways *= (among - i) / (i + 1.0)
        left -= redeal.room[seat]
    return ways


@kernel
def number_cards(space: SearchWorkspace, listing: Listing) -> None:
    """Number the unknown cards in `listing`, and record which seats may have them."""
    world, redeal, n = space.worlds[0], space.redeals[0], 0
    listing.seconds = 0
    listing.allowed[:] = 0
    for suit in range(4):
        for i in range(redeal.n_unknown[suit]):
            listing.kinds[n] = redeal.unknown[suit, i]
            if i > 0 and redeal.unknown[suit, i] == redeal.unknown[suit, i - 1]:
                listing.seconds |= 1 << n
            for seat in range(1, N_SEATS):
                if world.voids[seat] >> suit & 1 == 0:
                    listing.allowed[seat] |= 1 << n
            n += 1
    listing.n = n


@entry_kernel
def list_worlds(space: SearchWorkspace, n_samples: int, weights: Array) -> bool:
    """Enumerate all worlds, and store up to `n_samples` of them with weights; after `open_listing`.

    If there are at most `n_samples` worlds, all but negligible ones are stored, with exact
    posterior weights. Of more worlds, `n_samples` are drawn by systematic sampling. `weights`,
    float64 (n_samples,), must be zeros on entry; its index is the number of a stored world, and the
    weights add up to about `n_samples`. Returns False if all worlds have weight 0.
    """
    listing = space.listings[0]
    record_history(space)
    for seat in range(1, N_SEATS):
        weigh_hands(space, listing, seat)
    listing.total, listing.n_worlds, listing.n_stored, listing.reached = 0.0, 0, -1, 0.0
    enumerate_worlds(space, listing, weights)
    if listing.total <= 0.0:
        return False
    listing.least = min(LEAST, LEFT_OUT / listing.n_worlds) * listing.total
    listing.stride = coprime(min(listing.n_worlds, n_samples))
    listing.n_stored = 0
    enumerate_worlds(space, listing, weights)
    space.mixings[0].n_stored = n_samples
    if listing.n_worlds <= n_samples:
        space.plans[0].all_worlds = float(n_samples)
        return True
    squares = 0.0
    for weight in weights:
        squares += weight * weight
    space.plans[0].design_effect = n_samples / squares
    return True


@kernel
def weigh_hands(space: SearchWorkspace, listing: Listing, seat: int) -> None:
    """Write the likelihood of a seat's actions to `listing.chances` for every possible hand.

    A hand that is far less likely than the seat's best so far (`DEEP`) gets 0. The seat's hand in
    the current world is overwritten.
    """
    world, most = space.worlds[0], NO_LIMIT
    among, room = listing.allowed[seat], space.redeals[0].room[seat]
    subset, end = (1 << room) - 1, 1 << popcount(among)
    while subset < end:
        bits = deposit_bits(subset, among)
        world.hands[seat] = hand_of(listing, bits)
        log = seat_log(space, seat, most - DEEP)
        most = max(most, log)
        listing.chances[seat, bits] = exp(log) if log > most - DEEP else 0.0
        subset = next_subset(subset, end)


@inline_kernel
def next_subset(subset: int, end: int) -> int:
    """Return the next larger number with as many bits set as `subset`; `end` if no bit is set.

    To enumerate the subsets of a size, stop at a result of `end` or more.
    """
    if subset == 0:
        return end
    low = subset & -subset
    high = subset + low
    return high | ((subset ^ high) >> (2 + lowest_bit(low)))


@kernel
def hand_of(listing: Listing, bits: int) -> int:
    """Return the hand, as in a state, of the unknown cards with the numbers in `bits`."""
    hand = 0
    while bits:
        hand = put(hand, listing.kinds[lowest_bit(bits)])
        bits &= bits - 1
    return hand


@inline_kernel
def is_first(listing: Listing, cards: int, hand: int) -> bool:
    """Whether to list this hand among the equal hands that can be dealt from `cards`.

    It is, unless it has the second copy of a card whose first copy is left over in `cards`.
    """
    return (hand & listing.seconds) >> 1 & cards & ~hand == 0


@inline_kernel
def copies(listing: Listing, cards: int, hand: int) -> float:
    """Return how many hands dealt from `cards` are equal to this one up to the choice of copies.

    The hand itself is counted, so the result is at least 1.
    """
    both = (cards & listing.seconds) >> 1 & cards
    return float(1 << popcount(both & hand & ~((hand & listing.seconds) >> 1)))


@kernel
def enumerate_worlds(space: SearchWorkspace, listing: Listing, weights: Array) -> None:
    """Call `add_world` with every possible world and its weight: one of the two passes."""
    cards, chances, rooms = (1 << listing.n) - 1, listing.chances, space.redeals[0].room
    among = listing.allowed[1]
    subset, end = (1 << rooms[1]) - 1, 1 << popcount(among)
    while subset < end:
        one = deposit_bits(subset, among)
        if chances[1, one] > 0.0 and is_first(listing, cards, one):
            weight, rest = chances[1, one] * copies(listing, cards, one), cards & ~one
            left = rest & listing.allowed[2]
            inner, inner_end = (1 << rooms[2]) - 1, 1 << popcount(left)
            while inner < inner_end:
                two = deposit_bits(inner, left)
                three = rest & ~two
                if three & ~listing.allowed[3] == 0 and is_first(listing, rest, two):
                    both = weight * chances[2, two] * chances[3, three]
                    add_world(space, listing, one, two, both * copies(listing, rest, two), weights)
                inner = next_subset(inner, inner_end)
        subset = next_subset(subset, end)


@kernel
def add_world(
    space: SearchWorkspace, listing: Listing, one: int, two: int, weight: float, weights: Array
) -> None:
    """Add a world to the totals in the first pass; store it in the second pass, if it is chosen.

    In the first pass, `listing.n_stored` is -1. `one` and `two` are the hands of seats 1 and 2, as
    bits, and `weight` is the world's likelihood. A world is chosen if it is not negligible, or by
    systematic sampling if not all worlds can be stored. `weights` gets the weights of stored
    worlds.
    """
    if listing.n_stored < 0:
        listing.total += weight
        listing.n_worlds += 1 if weight > 0.0 else 0
        return
    n_samples = len(weights)
    if listing.n_worlds <= n_samples:
        if weight > listing.least:
            share = n_samples * weight / listing.total
            store_world(space, listing, one, two, share, weights)
            listing.n_stored += 1
        return
    listing.reached += weight
    marks, unit = listing.n_stored, listing.total / n_samples
    while marks < n_samples and listing.reached > (marks + 0.5) * unit:
        marks += 1
    if marks > listing.n_stored:
        store_world(space, listing, one, two, float(marks - listing.n_stored), weights)
        listing.n_stored = marks


@kernel
def store_world(
    space: SearchWorkspace, listing: Listing, one: int, two: int, weight: float, weights: Array
) -> None:
    """Store a world with the hands `one` and `two` of seats 1 and 2 (bits), and its weight.

    `listing.stride` puts successive worlds, which are similar, in distant places.
    """
    places = min(listing.n_worlds, len(weights))
    place, world = listing.n_stored * listing.stride % places, space.worlds[0]
    world.hands[1] = hand_of(listing, one)
    world.hands[2] = hand_of(listing, two)
    world.hands[3] = hand_of(listing, ((1 << listing.n) - 1) & ~(one | two))
    copy_hidden(world, space.stored[place])
    weights[place] = weight


@kernel
def coprime(n: int) -> int:
    """Return a number coprime to n, near 0.618 n."""
    number = max(1, int(0.618 * n))
    while gcd(number, n) > 1:
        number += 1
    return number
