"""Inputs of the network that weighs a call: the hand, the calls so far, and the call itself.

All inputs are of order 1. Strains are described relative to the hand (its best, its second best, no
trump), never by name, so that the network generalises over suits. The inputs of the call come last;
those before them are the same for every legal call. `calls` is the record `auction.CALLS`, into
which `weigh_strains` must have written the chances of the hand.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple, TypeAlias

from bideuchre_env.agents.rule.hand_features import RIGHT, TOP, TRUMPS, bowers_held, ranked_held
from bideuchre_env.core.card_order import same_colour
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.view import count_held
from bideuchre_env.rules.cards import N_SUITS, NO_TRUMP
from bideuchre_env.runtime.jit import Row, kernel

Calls: TypeAlias = Row  # of `auction.CALLS`

N_HAND = TRUMPS.level  # features of `hand_features.describe_hand`, without the last, the level
N_CARDS = TRUMPS.on_lead - 1  # features of the cards, from the second feature on
MOST_NEED = 8  # inputs for the tricks that a bid needs
TRICKS = 0.25  # scale of tricks
POINTS = 0.125  # scale of points


class SeatInputs(NamedTuple):
    """Offsets of the inputs that describe another seat's call, within the inputs of that seat."""

    passed: int
    need: int
    alone: int
    best: int  # 1 if its strain is our hand's best
    second: int  # 1 if it is our second best
    same_colour: int  # 1 if it has the colour of our best
    no_trump: int
    tricks: int  # our expected tricks in its strain, less those in our best
    bowers: int


SEAT = SeatInputs(*range(len(SeatInputs._fields)))


class Inputs(NamedTuple):
    """Number of inputs of each feature, in order; `AT` has the index of each feature's first input.

    The "best" strain is the one in which our hand expects the most tricks.
    """

    means: int = 3  # the hand: tricks in its best three strains
    no_trump_mean: int = 1
    table_mean: int = 1  # tricks in the best strain by the table alone
    high: int = 4  # chances in the best strain to lose no trick, at most one, two, three
    lone: int = 3  # chances of lone bids by exchange, each in its best strain
    best_no_trump: int = 1
    second_no_trump: int = 1
    second_same_colour: int = 1
    aces: int = 1
    jacks: int = 1
    length: int = 1  # of the best suit
    turn: int = 4  # calls made before
    standing: int = 4  # the seat of the standing bid; the first if there is none
    standing_need: int = 1
    standing_alone: int = 1
    standing_value: int = 1
    standing_points: int = 1  # if it is played
    standing_mean: int = 1  # tricks our hand would take in its strain
    standing_bowers: int = 1
    seats: int = 3 * len(SEAT)
    passing: int = 1  # the inputs of the call start here
    partnered: int = 1
    alone: int = 1
    value: int = 1
    exchange: int = 1
    need: int = MOST_NEED
    short: int = 1  # tricks it needs beyond the expected tricks
    made: int = 1  # chance
    points: int = 1
    jump: int = 1  # levels above the lowest bid
    behind: int = 1  # expected tricks in its strain, less those in the best; 0 or less
    rank: int = 2  # of its strain: best, second
    no_trump: int = 1
    bowers: int = 1
    same_strain: int = 3  # as the bid of each other seat
    partners_colour: int = 1
    over_partner: int = 1  # a lone bid over partner's bid
    trump_cards: int = N_CARDS  # the hand in the call's strain, if that is a suit
    plain_cards: int = N_CARDS


AT = Inputs(*accumulate(Inputs()[:-1], initial=0))
N_INPUTS = sum(Inputs())
CALL = AT.passing


@kernel
def describe_table(view: View, t: Tables, calls: Calls) -> None:
    """Write the inputs that are the same for every call to `calls.inputs`; set the rest to 0.

    `calls.standing` must be set.
    """
    inputs, standing, level, strain = calls.inputs, view.standing, view.level, view.strain
    inputs[:] = 0.0
    describe_strains(view, t, calls)
    inputs[AT.turn + min(view.calls_made, 3)] = 1.0
    inputs[AT.standing + max(standing, 0)] = 1.0
    if level >= 0:
        inputs[AT.standing_need] = 0.125 * t.need[level]
        inputs[AT.standing_alone] = float(t.alone[level])
        if t.alone[level]:
            inputs[AT.standing_value] = 0.04 * t.payoff[level, t.tricks]
        inputs[AT.standing_points] = POINTS * calls.standing
        if strain >= 0:
            inputs[AT.standing_mean] = TRICKS * calls.table_mean[strain]
            inputs[AT.standing_bowers] = bowers(view, t, strain)
    for seat in range(1, 4):
        describe_seat(view, t, seat, calls)


@kernel
def bowers(view: View, t: Tables, strain: int) -> float:
    """Return 0.5 for each bower in hand if the suit `strain` is trump; 0 at no trump."""
    return 0.0 if strain >= NO_TRUMP else 0.5 * bowers_held(view, t, strain)


@kernel
def describe_strains(view: View, t: Tables, calls: Calls) -> None:
    """Write the inputs of the hand: tricks in the best strains, chances, and high cards.

    `calls.inputs` must be 0 before.
    """
    inputs, tricks = calls.inputs, t.tricks
    best, second = calls.ranked[0], calls.ranked[1]
    for place in range(3):
        inputs[AT.means + place] = TRICKS * calls.means[calls.ranked[place]]
    inputs[AT.no_trump_mean] = TRICKS * calls.means[NO_TRUMP]
    inputs[AT.table_mean] = TRICKS * calls.table_mean[best]
    at_least = 0.0
    for short in range(4):
        at_least += calls.chances[best, tricks - short]
        inputs[AT.high + short] = at_least
    for exchange in range(3):
        inputs[AT.lone + exchange] = calls.lone[exchange, calls.best_lone[exchange]]
    inputs[AT.best_no_trump] = 1.0 if best >= NO_TRUMP else 0.0
    inputs[AT.second_no_trump] = 1.0 if second >= NO_TRUMP else 0.0
    inputs[AT.second_same_colour] = 1.0 if second == same_colour(best) else 0.0
    for suit in range(N_SUITS):
        inputs[AT.aces] += 0.25 * ranked_held(view, t, NO_TRUMP, suit, TOP)
        inputs[AT.jacks] += 0.25 * ranked_held(view, t, suit, suit, RIGHT)
    if best < NO_TRUMP:
        inputs[AT.length] = count_held(view, t.suit_bits[best, best]) / float(tricks)


@kernel
def describe_seat(view: View, t: Tables, seat: int, calls: Calls) -> None:
    """Write the inputs of another seat's call, if it has called (`seat` 1 to 3, relative to us).

    The strain of its bid is described relative to our hand's best strains.
    """
    inputs, call, strain = calls.inputs, view.calls[seat], view.call_strains[seat]
    at, best = AT.seats + (seat - 1) * len(SEAT), calls.ranked[0]
    if call == 0:
        inputs[at + SEAT.passed] = 1.0
    if call <= 0:
        return
    inputs[at + SEAT.need] = 0.125 * t.need[call - 1]
    inputs[at + SEAT.alone] = float(t.alone[call - 1])
    if strain < 0:
        return
    if strain == best:
        inputs[at + SEAT.best] = 1.0
    elif strain == calls.ranked[1]:
        inputs[at + SEAT.second] = 1.0
    if strain == same_colour(best):
        inputs[at + SEAT.same_colour] = 1.0
    if strain >= NO_TRUMP:
        inputs[at + SEAT.no_trump] = 1.0
    inputs[at + SEAT.tricks] = TRICKS * (calls.table_mean[strain] - calls.table_mean[best])
    inputs[at + SEAT.bowers] = bowers(view, t, strain)


@kernel
def describe_call(
    view: View, t: Tables, level: int, strain: int, made: float, calls: Calls
) -> None:
    """Write the inputs of a call (level -1: a pass) to `calls.inputs`, after `describe_table`.

    `made` is the chance to make the bid; `calls.points` must be its expected points. A pass needs a
    strain, too: the inputs of the hand's cards are in that strain.
    """
    inputs = calls.inputs
    for i in range(CALL, N_INPUTS):
        inputs[i] = 0.0
    cards = AT.plain_cards if strain >= NO_TRUMP else AT.trump_cards
    for i in range(N_CARDS):
        inputs[cards + i] = 0.5 * calls.features[strain, 1 + i]
    if level < 0:
        inputs[AT.passing] = 1.0
        return
    alone, need, partners = t.alone[level] == 1, t.need[level], view.call_strains[2]
    if alone:
        inputs[AT.alone] = 1.0
        inputs[AT.value] = 0.04 * t.payoff[level, t.tricks]
        inputs[AT.exchange] = 0.5 * t.exchange[level]
    else:
        inputs[AT.partnered] = 1.0
        place = need  # number of the input that is 1, from 1 on; in long hands some bids share one
        if t.tricks > MOST_NEED:
            place = (need * MOST_NEED + t.tricks - 1) // t.tricks
        inputs[AT.need + place - 1] = 1.0
        inputs[AT.short] = TRICKS * (need - calls.means[strain])
    inputs[AT.made] = made
    inputs[AT.points] = POINTS * calls.points
    inputs[AT.jump] = 0.25 * (level - view.level - 1)
    inputs[AT.behind] = TRICKS * (calls.means[strain] - calls.means[calls.ranked[0]])
    for place in range(2):
        inputs[AT.rank + place] = 1.0 if strain == calls.ranked[place] else 0.0
    inputs[AT.no_trump] = 1.0 if strain >= NO_TRUMP else 0.0
    inputs[AT.bowers] = bowers(view, t, strain)
    for seat in range(1, 4):
        inputs[AT.same_strain + seat - 1] = 1.0 if strain == view.call_strains[seat] else 0.0
    if 0 <= partners < NO_TRUMP:
        inputs[AT.partners_colour] = 1.0 if strain == same_colour(partners) else 0.0
    inputs[AT.over_partner] = 1.0 if alone and view.calls[2] > 0 else 0.0
