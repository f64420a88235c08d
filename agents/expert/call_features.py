"""What the network that weighs a call is shown: the hand, the calls so far, and the call itself.

All as numbers of about the size of 1. Strains go by what they are to the hand (its best, its
second best, no trump), never by name, so that what is learned of one suit holds for all. The
numbers of the call stand last: those before them are the same for every call in reach.
"""

from __future__ import annotations

from bideuchre_env.agents.rule.bidding import N_STRAINS
from bideuchre_env.agents.rule.hand_features import copies_held
from bideuchre_env.agents.rule.view import count_held
from bideuchre_env.rules.cards import JACK, NO_TRUMP
from bideuchre_env.runtime.jit import Row, kernel

N_COUNTS = 15  # of `hand_value.describe`; without the level
MOST_NEED = 8  # tricks of the longest hand there is a table for
HAND = 0
TURN = HAND + 18
STANDING = TURN + 8
SEATS = STANDING + 6
PER_SEAT = 9
CALL = SEATS + 3 * PER_SEAT
COUNTS = CALL + 27
N_COUNTED = 13  # counts of a hand that say something of the cards, from the second on
N_INPUTS = COUNTS + 2 * N_COUNTED
TRICKS = 0.25  # scale of tricks
POINTS = 0.125  # scale of points


@kernel
def describe_table(v: Row, t: Row, b: Row) -> None:
    """Write everything but the call itself to `b.inputs`."""
    b.inputs[:] = 0.0
    describe_hand(v, t, b)
    x = b.inputs
    x[TURN + min(v.calls_made, 3)] = 1.0
    x[TURN + 4 + v.standing if v.standing >= 0 else TURN + 4] = 1.0
    level, strain = v.level, v.strain
    if level >= 0:
        x[STANDING] = 0.125 * t.need[level]
        x[STANDING + 1] = float(t.alone[level])
        if t.alone[level]:
            x[STANDING + 2] = 0.04 * t.payoff[level, t.tricks]
        x[STANDING + 3] = POINTS * b.standing
        if strain >= 0:
            x[STANDING + 4] = TRICKS * b.table_mean[strain]
            x[STANDING + 5] = bowers(v, strain)
    for seat in range(1, 4):
        describe_seat(v, t, seat, SEATS + (seat - 1) * PER_SEAT, b)


@kernel
def bowers(v: Row, strain: int) -> float:
    """Bowers held of a suit, a half for each; 0 at no trump."""
    if strain == NO_TRUMP:
        return 0.0
    return 0.5 * (copies_held(v, JACK * 4 + strain) + copies_held(v, JACK * 4 + 3 - strain))


@kernel
def describe_hand(v: Row, t: Row, b: Row) -> None:
    """Tricks in the best strains, chances of the high numbers, of lone bids; high cards."""
    x, tricks = b.inputs, t.tricks
    best, second, third = b.ranked[0], b.ranked[1], b.ranked[2]
    x[HAND] = TRICKS * b.mean[best]
    x[HAND + 1] = TRICKS * b.mean[second]
    x[HAND + 2] = TRICKS * b.mean[third]
    x[HAND + 3] = TRICKS * b.mean[NO_TRUMP]
    x[HAND + 4] = TRICKS * b.table_mean[best]
    at_least = 0.0
    for short in range(4):
        at_least += b.chances[best, tricks - short]
        x[HAND + 5 + short] = at_least
    for exchange in range(3):
        x[HAND + 9 + exchange] = b.lone[exchange, b.best_lone[exchange]]
    x[HAND + 12] = 1.0 if best == NO_TRUMP else 0.0
    x[HAND + 13] = 1.0 if second == NO_TRUMP else 0.0
    x[HAND + 14] = 1.0 if best + second == 3 else 0.0
    for suit in range(4):
        x[HAND + 15] += 0.25 * copies_held(v, suit)
        x[HAND + 16] += 0.25 * copies_held(v, JACK * 4 + suit)
    if best != NO_TRUMP:
        x[HAND + 17] = count_held(v, t.suit_bits[best, best]) / float(tricks)


@kernel
def describe_seat(v: Row, t: Row, seat: int, at: int, b: Row) -> None:
    """What a seat called, and what its strain is to our hand; nothing if it has not called."""
    x, said, strain = b.inputs, v.calls[seat], v.call_strains[seat]
    if said == 0:
        x[at] = 1.0
    if said <= 0:
        return
    x[at + 1] = 0.125 * t.need[said - 1]
    x[at + 2] = float(t.alone[said - 1])
    if strain < 0:
        return
    best = b.ranked[0]
    if strain == best:
        x[at + 3] = 1.0
    elif strain == b.ranked[1]:
        x[at + 4] = 1.0
    if strain + best == 3:
        x[at + 5] = 1.0
    if strain == NO_TRUMP:
        x[at + 6] = 1.0
    x[at + 7] = TRICKS * (b.table_mean[strain] - b.table_mean[best])
    x[at + 8] = bowers(v, strain)


@kernel
def describe_call(v: Row, t: Row, level: int, strain: int, made: float, b: Row) -> None:
    """Write the call itself (level -1: a pass), made by this chance and worth `b.points`."""
    x = b.inputs
    for i in range(CALL, N_INPUTS):
        x[i] = 0.0
    counts = COUNTS + N_COUNTED if strain == NO_TRUMP else COUNTS
    for i in range(N_COUNTED):
        x[counts + i] = 0.5 * b.counts[strain, 1 + i]
    if level < 0:
        x[CALL] = 1.0
        return
    alone, need = t.alone[level] == 1, t.need[level]
    x[CALL + 1] = 0.0 if alone else 1.0
    x[CALL + 2] = 1.0 if alone else 0.0
    if alone:
        x[CALL + 3] = 0.04 * t.payoff[level, t.tricks]
        x[CALL + 4] = 0.5 * t.exchange[level]
    else:
        x[CALL + 4 + min(need, MOST_NEED)] = 1.0
        x[CALL + 13] = TRICKS * (need - b.mean[strain])
    x[CALL + 14] = made
    x[CALL + 15] = POINTS * b.points
    x[CALL + 16] = 0.25 * (level - v.level - 1)
    x[CALL + 17] = TRICKS * (b.mean[strain] - b.mean[b.ranked[0]])
    for place in range(2):
        x[CALL + 18 + place] = 1.0 if strain == b.ranked[place] else 0.0
    x[CALL + 20] = 1.0 if strain == NO_TRUMP else 0.0
    x[CALL + 21] = bowers(v, strain)
    for seat in range(1, 4):
        x[CALL + 21 + seat] = 1.0 if strain == v.call_strains[seat] else 0.0
    if 0 <= v.call_strains[2] < N_STRAINS - 1:
        x[CALL + 25] = 1.0 if strain + v.call_strains[2] == 3 else 0.0
    x[CALL + 26] = 1.0 if alone and v.calls[2] > 0 else 0.0
