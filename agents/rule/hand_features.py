"""How many tricks a hand is worth in each strain, whoever names it.

A hand is turned into a few counts that players speak of (bowers, trump length, side aces,
guarded kings, voids), and those are weighed with numbers fitted to played-out deals
(`hand_weights.py`), by deck, by whether there are trumps, and by whose contract it is.
"""

from __future__ import annotations

from bideuchre_env.agents.rule.view import count_held
from bideuchre_env.rules.cards import JACK, NO_TRUMP
from bideuchre_env.runtime.intrinsics import popcount
from bideuchre_env.runtime.jit import Array, Row, kernel

N_FEATURES = 16
ON_LEAD = 14  # 1 if this hand leads to the first trick
LEVEL = 15  # tricks of the contract, for those who did not bid it; alone, `missing_bowers`
RANK_BITS = 0b1111  # the kinds of one rank are four neighbours


@kernel
def describe(v: Row, t: Row, strain: int, on_lead: int, level: int, x: Array) -> None:
    """Write the counts of the hand for a strain to `x`, float64 (N_FEATURES,)."""
    x[:] = 0.0
    x[0] = 1.0
    x[ON_LEAD] = on_lead
    x[LEVEL] = level
    if strain == NO_TRUMP:
        describe_no_trump(v, t, x)
    else:
        describe_trumps(v, t, strain, x)


@kernel
def copies_held(v: Row, kind: int) -> int:
    """How many copies of a kind are in hand."""
    return (v.held >> kind & 1) + (v.held_pair >> kind & 1)


@kernel
def describe_trumps(v: Row, t: Row, strain: int, x: Array) -> None:
    """Bowers, trumps by rank and number; side aces, kings, voids and singletons."""
    copies = t.copies
    rights = copies_held(v, JACK * 4 + strain)
    lefts = copies_held(v, JACK * 4 + 3 - strain)
    n = count_held(v, t.suit_bits[strain, strain])
    x[1] = rights
    x[2] = lefts
    x[3] = copies_held(v, strain)
    x[4] = copies_held(v, 4 + strain)
    x[5] = copies_held(v, 8 + strain)
    x[6] = n - rights - lefts - x[3] - x[4] - x[5]
    x[7] = 0.1 * n * n
    if rights == copies:
        x[8] = 1 + lefts  # trumps from the top without a gap
    for suit in range(4):
        if suit != strain:
            length = count_held(v, t.suit_bits[strain, suit])
            aces, kings = copies_held(v, suit), copies_held(v, 4 + suit)
            x[9] += 1 if aces else 0
            x[10] += aces - 1 if aces else 0
            if aces == copies:
                x[11] += kings
            elif kings and length > 1:
                x[12] += 1
            if length == 0:
                x[13] += min(n, 3)
            elif length == 1 and n > 0:
                x[13] += 0.5


@kernel
def describe_no_trump(v: Row, t: Row, x: Array) -> None:
    """Aces, cards behind all higher ones, guarded kings, suits without a stopper."""
    copies, kinds = t.copies, t.kinds
    for suit in range(4):
        suit_bits = t.suit_bits[NO_TRUMP, suit]
        length = count_held(v, suit_bits)
        aces, kings = copies_held(v, suit), copies_held(v, 4 + suit)
        x[1] += 1 if aces else 0
        x[2] += aces - 1 if aces else 0
        if aces == 0:
            x[3] += 1  # open suit
        if aces < copies and kings and length > 1:
            x[4] += 1
        if aces == copies:
            x[5] += kings
            if kings == copies:
                x[6] += length - 2 * copies
            else:
                x[7] += length - aces - kings
        elif aces:
            x[8] += length - 1
            x[9] += 1 if kings else 0
        else:
            x[10] += max(0, length - 2)
    x[11] = x[3] * x[3]
    x[12] = popcount(v.held & (RANK_BITS << 4))
    x[13] = popcount(v.held & (RANK_BITS << (kinds - 4)))


@kernel
def weigh(x: Array, weights: Array) -> float:
    """The weighted sum of the counts."""
    total = 0.0
    for i in range(N_FEATURES):
        total += x[i] * weights[i]
    return total
