"""Likely hands of the caller, the seat with the rarest calls, as proposals for worlds.

Few uniform deals contain a hand with which a rare call is likely. So every hand that the caller may
have been dealt is enumerated and weighted by the choice model. Worlds then take the caller's hand
from this list and deal the other cards uniformly (`proposals.py`). There is no list if there are
too many hands to enumerate.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.search.enumeration import next_subset
from bideuchre_env.agents.search.history import record_history
from bideuchre_env.agents.search.likelihood import calls_log
from bideuchre_env.agents.search.workspace import MOST_LISTED, Caller, SearchWorkspace
from bideuchre_env.agents.search.worlds import copy_hidden, n_played
from bideuchre_env.core.hands import put, take
from bideuchre_env.core.records import State
from bideuchre_env.core.state import NAMING, PLAY
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import MAX_TRICKS, N_SEATS, NO_TRUMP
from bideuchre_env.runtime.intrinsics import lowest_bit, popcount
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel

MOST_SUBSETS = 3e6  # maximum number of subsets of the unknown cards to enumerate
MOST_HANDS = 1 << 18  # maximum number of different hands
RARE = 0.3  # calls with a higher chance are not rare: no list
NEVER = -1e9  # log-likelihood of calls that no hand makes
NEGLIGIBLE = 12.0  # a hand is left out if its log-weight is this much below the best


def list_caller(space: SearchWorkspace, n_worlds: int, most: float) -> bool:
    """List in the `CALLER` record the likely dealt hands of the seat with the rarest calls.

    Calls are rare if they are unlikely in the first `n_worlds` stored worlds, so `weigh_draws`
    must have run. `most` limits the hands to weigh (see `weigh_hands_dealt`). Returns False,
    without a list, if no seat's calls are rare, or if its hands cannot be enumerated.
    """
    chances = np.zeros(N_SEATS)
    call_chances(space, n_worlds, chances)
    seat = 1 + int(chances[1:].argmin())
    if chances[seat] > RARE:
        return False
    hands, logs, ways = np.empty(MOST_HANDS, np.int64), np.empty(MOST_HANDS), np.empty(MOST_HANDS)
    n = int(weigh_hands_dealt(space, seat, most, hands, logs, ways))
    if n == 0:
        return False
    weights = logs[:n] + np.log(ways[:n])
    listed = np.flatnonzero(weights > weights.max() - NEGLIGIBLE)
    listed = listed[np.argsort(weights[listed])][-MOST_LISTED:]
    caller = space.callers[0]
    caller["seat"], caller["n"] = seat, len(listed)
    caller["hands"][: len(listed)], caller["logs"][: len(listed)] = hands[listed], logs[listed]
    caller["reached"][: len(listed)] = np.cumsum(np.exp(weights[listed] - weights[listed[-1]]))
    return True


@entry_kernel
def call_chances(space: SearchWorkspace, n_worlds: int, chances: Array) -> None:
    """Write the mean chance of the calls of seats 1 to 3 in the first `n_worlds` stored worlds.

    `chances`, float64 (4,), by seat, must be zeros on entry. The current world is overwritten.
    """
    for j in range(n_worlds):
        copy_hidden(space.stored[j], space.worlds[0])
        for seat in range(1, N_SEATS):
            hand = dealt_hand(space.worlds[0], seat)
            chances[seat] += np.exp(calls_log(space, seat, last_call(space, seat), hand)) / n_worlds


def style_logs(space: SearchWorkspace, hands: Array) -> Array:
    """Return the log-likelihoods of the calls of seats 1 to 3, float64 (2, 4), by seat.

    Row 0 is for agents, row 1 for people. `hands`, int64 (4,), are those dealt to the seats of the
    open position. The belief in people is 1 afterwards.
    """
    logs = np.zeros((2, N_SEATS))
    for people in (0, 1):
        space.choice_models["people"] = people
        dealt_logs(space, hands, logs[people])
    return logs


@entry_kernel
def dealt_logs(space: SearchWorkspace, hands: Array, logs: Array) -> None:
    """Write the log-likelihoods of the calls of seats 1 to 3 to `logs`, float64 (4,), by seat.

    `hands`, int64 (4,), are those dealt to the seats.
    """
    record_history(space)
    for seat in range(1, N_SEATS):
        logs[seat] = calls_log(space, seat, last_call(space, seat), hands[seat])


@entry_kernel
def best_chances(space: SearchWorkspace, hands: Array, chances: Array) -> None:
    """Write the highest chance of the calls of each of seats 1 to 3 to `chances`, float64 (4,).

    It is the highest over deals of the open position, whose `hands`, int64 (n, 4), are by seat. The
    chance of several calls of a seat is their geometric mean.
    """
    record_history(space)
    for seat in range(1, N_SEATS):
        last, best, calls = last_call(space, seat), NEVER, 0
        moment = last
        while moment >= 0:
            calls, moment = calls + 1, space.moments[moment].before
        for j in range(len(hands)):
            best = max(best, calls_log(space, seat, last, hands[j, seat]))
        chances[seat] = np.exp(best / max(calls, 1))


@kernel
def last_call(space: SearchWorkspace, seat: int) -> int:
    """Return the index of a seat's last call or named strain in `space.moments`; -1 if none."""
    moment = space.histories[0].last[seat]
    while moment >= 0 and space.moment_views[moment].phase > NAMING:
        moment = space.moments[moment].before
    return int(moment)


@kernel
def dealt_hand(world: State, seat: int) -> int:
    """Return the hand that a seat of the world was dealt, before exchange and play."""
    hand = world.hands[seat]
    for i in range(MAX_TRICKS):
        if world.plays[seat * MAX_TRICKS + i] >= 0:
            hand = put(hand, world.plays[seat * MAX_TRICKS + i])
    for i in range(MAX_EXCHANGE):
        given, passed = world.given[i], world.passed[i]
        if seat == world.declarer and given >= 0:
            hand = put(hand, given)
        if world.phase >= PLAY and passed >= 0:
            if seat == world.declarer:
                hand = take(hand, passed)
            elif seat == world.declarer ^ 2:
                hand = put(hand, passed)
    return int(hand)


@entry_kernel
def weigh_hands_dealt(
    space: SearchWorkspace, seat: int, most: float, hands: Array, logs: Array, ways: Array
) -> int:
    """Enumerate the hands that a seat may have been dealt; return the number of hands written.

    Writes each hand to `hands`, the log-likelihood of the seat's calls to `logs`, and the number of
    ways to choose copies that give this hand to `ways`. `hands` is int64, the others are float64,
    all of the same length. If there are more than `most` subsets of the unknown cards, only
    every (subsets / most)-th hand is written. Returns 0 if the hands cannot be listed: there are
    more subsets than `MOST_SUBSETS` or more hands than `hands` has room for, part of the hand is
    known, or the seat has exchanged cards as the declarer's partner.
    """
    world, t, redeal = space.worlds[0], space.expert.tables[0], space.redeals[0]
    caller, n, seconds, drawn, passed_over = space.callers[0], 0, 0, 0, 0
    gave = world.given[0] >= 0 and world.declarer == seat
    if redeal.known[seat] != 0 or (world.given[0] >= 0 and world.declarer ^ seat == 2):
        return 0
    strain, call = world.strain if world.strain >= 0 else NO_TRUMP, last_call(space, seat)
    for suit in range(4):
        for i in range(redeal.n_unknown[suit]):
            kind = redeal.unknown[suit, i]
            if gave or world.voids[seat] >> t.suit_of[strain, kind] & 1 == 0:
                if n > 0 and caller.pool[n - 1] == kind:
                    seconds |= 1 << n
                caller.pool[n] = kind
                n += 1
    played = n_played(world, seat)
    most_passed = t.exchange[world.level] if gave and world.phase >= PLAY else 0
    for passed in range(min(most_passed, played) + 1):  # cards played that were passed to the seat
        room = t.tricks - played + passed
        if room > n or count_subsets(n, room) > MOST_SUBSETS:
            return 0
        every = max(1, int(count_subsets(n, room) / most))
        own, own_end = (1 << (played - passed)) - 1, 1 << played
        while own < own_end:
            subset, end = (1 << room) - 1, 1 << n
            while subset < end:
                # skip a second copy without the first: the same hand has the first alone
                if (subset & seconds) >> 1 & ~subset == 0:
                    passed_over += 1
                if passed_over == every:
                    passed_over = 0
                    if drawn == len(hands):
                        return 0
                    hands[drawn] = join_cards(world, caller, seat, own, subset)
                    ways[drawn] = float(1 << popcount(subset & ~(subset >> 1) & seconds >> 1))
                    logs[drawn] = calls_log(space, seat, call, hands[drawn])
                    drawn += 1
                subset = next_subset(subset, end)
            own = next_subset(own, own_end)
    return drawn


@kernel
def count_subsets(n: int, size: int) -> float:
    """Return the number of subsets of n cards that have this size."""
    subsets = 1.0
    for i in range(size):
        subsets *= (n - i) / (i + 1.0)
    return subsets


@kernel
def join_cards(world: State, caller: Caller, seat: int, own: int, subset: int) -> int:
    """Return a hand of some cards that a seat has played and some unknown cards.

    The cards are those played in the tricks `own`, and those with the indices `subset` in
    `caller.pool`; both arguments are sets, as bits.
    """
    hand = 0
    while own:
        hand = put(hand, world.plays[seat * MAX_TRICKS + lowest_bit(own)])
        own &= own - 1
    while subset:
        hand = put(hand, caller.pool[lowest_bit(subset)])
        subset &= subset - 1
    return int(hand)
