"""Features of a hand for each strain: bowers, trump length, side aces, guarded kings.

Weighted sums of the features estimate tricks and chances (`bidding.py`).
"""

from __future__ import annotations

from typing import NamedTuple

from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.view import count_held
from bideuchre_env.rules.cards import N_SUITS, NO_TRUMP
from bideuchre_env.runtime.jit import Array, inline_kernel, kernel


class TrumpFeatures(NamedTuple):
    """Index of each feature of a hand in a trump suit.

    `constant`, `on_lead` and `level` are the same as in `PlainFeatures`.
    """

    constant: int
    rights: int
    lefts: int
    aces: int  # of trumps, as are the kings and queens
    kings: int
    queens: int
    low: int  # lower trumps
    length: int  # a tenth of the square of the number of trumps
    unbroken: int  # bowers from the top down without a gap
    side_aces: int  # suits with an ace
    second_aces: int
    backed_kings: int  # behind all aces of their suit
    guarded_kings: int
    ruffs: int  # of void suits, and half a ruff for a singleton
    on_lead: int  # 1 if this hand leads to the first trick
    # tricks of another seat's contract; for our own lone bid, the square of the missing bowers
    level: int


class PlainFeatures(NamedTuple):
    """Index of each feature of a hand at no trump, counted over all suits."""

    constant: int
    aces: int  # suits with an ace
    second_aces: int
    open_suits: int  # without an ace
    guarded_kings: int
    backed_kings: int
    long_tops: int  # cards behind all aces and kings
    long_aces: int  # cards behind all aces, if not all kings
    long_suits: int  # cards behind some aces
    kings_with_ace: int
    low_long: int  # cards behind no ace, from the third on
    open_squared: int
    king_kinds: int
    lowest_kinds: int  # kinds of the lowest rank in hand
    on_lead: int
    level: int


N_FEATURES = len(TrumpFeatures._fields)
TRUMPS, PLAIN = TrumpFeatures(*range(N_FEATURES)), PlainFeatures(*range(N_FEATURES))
RIGHT, LEFT, ACE, KING, QUEEN = range(5)  # places in the trump suit, the highest first
TOP, SECOND = 0, 1  # places in another suit: its ace and king


@inline_kernel
def no_trump(strain: int) -> int:
    """Return the index of a strain's weights: 1 at no trump, high or low, else 0."""
    return 1 if strain >= NO_TRUMP else 0


@kernel
def describe_hand(
    view: View, t: Tables, strain: int, on_lead: int, level: int, features: Array
) -> None:
    """Write the features of the hand in `view` for a strain to `features`, float64 (N_FEATURES,).

    `on_lead` and `level` are the values of the last two features; see `TrumpFeatures`.
    """
    features[:] = 0.0
    features[TRUMPS.constant] = 1.0
    features[TRUMPS.on_lead] = on_lead
    features[TRUMPS.level] = level
    if strain >= NO_TRUMP:
        describe_no_trump(view, t, strain, features)
    else:
        describe_trumps(view, t, strain, features)


@kernel
def ranked_held(view: View, t: Tables, strain: int, suit: int, place: int) -> int:
    """Return the copies in hand of the kind at this place in a suit, 0 for its highest."""
    kind = t.ranked[strain, suit, place]
    return (view.held >> kind & 1) + (view.held_pair >> kind & 1)


@kernel
def bowers_held(view: View, t: Tables, strain: int) -> int:
    """Return the number of right and left bowers in hand if the suit `strain` is trump."""
    rights = ranked_held(view, t, strain, strain, RIGHT)
    return rights + ranked_held(view, t, strain, strain, LEFT)


@kernel
def describe_trumps(view: View, t: Tables, strain: int, features: Array) -> None:
    """Write the `TrumpFeatures` of the cards: trumps by rank, side aces and kings, short suits."""
    copies = t.copies
    rights = ranked_held(view, t, strain, strain, RIGHT)
    lefts = ranked_held(view, t, strain, strain, LEFT)
    n = count_held(view, t.suit_bits[strain, strain])
    aces = ranked_held(view, t, strain, strain, ACE)
    kings = ranked_held(view, t, strain, strain, KING)
    queens = ranked_held(view, t, strain, strain, QUEEN)
    features[TRUMPS.rights] = rights
    features[TRUMPS.lefts] = lefts
    features[TRUMPS.aces] = aces
    features[TRUMPS.kings] = kings
    features[TRUMPS.queens] = queens
    features[TRUMPS.low] = n - rights - lefts - aces - kings - queens
    features[TRUMPS.length] = 0.1 * n * n
    if rights == copies:
        features[TRUMPS.unbroken] = 1 + lefts
    for suit in range(N_SUITS):
        if suit != strain:
            length = count_held(view, t.suit_bits[strain, suit])
            aces = ranked_held(view, t, strain, suit, TOP)
            kings = ranked_held(view, t, strain, suit, SECOND)
            if aces:
                features[TRUMPS.side_aces] += 1
                features[TRUMPS.second_aces] += aces - 1
            if aces == copies:
                features[TRUMPS.backed_kings] += kings
            elif kings and length > 1:
                features[TRUMPS.guarded_kings] += 1
            if length == 0:
                features[TRUMPS.ruffs] += min(n, 3)
            elif length == 1 and n > 0:
                features[TRUMPS.ruffs] += 0.5


@kernel
def describe_no_trump(view: View, t: Tables, strain: int, features: Array) -> None:
    """Write the `PlainFeatures` of the cards: aces, kings, long cards and suits without an ace.

    At low no trump the highest cards of a suit count as aces and kings.
    """
    copies, open_suits, king_kinds, lowest_kinds = t.copies, 0, 0, 0
    for suit in range(N_SUITS):
        length = count_held(view, t.suit_bits[strain, suit])
        aces = ranked_held(view, t, strain, suit, TOP)
        kings = ranked_held(view, t, strain, suit, SECOND)
        king_kinds += 1 if kings else 0
        lowest_kinds += 1 if ranked_held(view, t, strain, suit, t.kinds // N_SUITS - 1) else 0
        if aces:
            features[PLAIN.aces] += 1
            features[PLAIN.second_aces] += aces - 1
        else:
            open_suits += 1
        if aces < copies and kings and length > 1:
            features[PLAIN.guarded_kings] += 1
        if aces == copies:
            features[PLAIN.backed_kings] += kings
            if kings == copies:
                features[PLAIN.long_tops] += length - 2 * copies
            else:
                features[PLAIN.long_aces] += length - aces - kings
        elif aces:
            features[PLAIN.long_suits] += length - 1
            features[PLAIN.kings_with_ace] += 1 if kings else 0
        else:
            features[PLAIN.low_long] += max(0, length - 2)
    features[PLAIN.open_suits] = open_suits
    features[PLAIN.open_squared] = open_suits * open_suits
    features[PLAIN.king_kinds] = king_kinds
    features[PLAIN.lowest_kinds] = lowest_kinds


@kernel
def weigh(features: Array, weights: Array) -> float:
    """Return the weighted sum of the features; both arrays are float64 (N_FEATURES,)."""
    total = 0.0
    for i in range(N_FEATURES):
        total += features[i] * weights[i]
    return total
