"""Legal actions and the effect of an action, dispatched by phase."""

from __future__ import annotations

import numpy as np

from bideuchre_env.core.bits import clear, gather_bits, spread_bits_at
from bideuchre_env.core.phases.auction import apply_call, apply_strain, legal_call, legal_strain
from bideuchre_env.core.phases.exchange import (
    apply_exchange,
    begin_exchange,
    legal_exchange,
    take_kitty,
)
from bideuchre_env.core.phases.play import apply_card, begin_play, legal_card
from bideuchre_env.core.phases.scoring import end_hand
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import AUCTION, NAMING, PLAY
from bideuchre_env.runtime.intrinsics import lowest_bit, nth_bit, popcount
from bideuchre_env.runtime.jit import Array, Word, inline_kernel, kernel

USUAL_STRAINS = 5  # the suits and no trump


@inline_kernel
def legal_bits(s: State, t: Tables) -> int:
    """Return the legal calls, strains or kinds of the seat to act, as bits; 0 if no seat acts."""
    phase = s.phase
    if phase == PLAY:
        return legal_card(s, t)
    if phase == AUCTION:
        return legal_call(s, t)
    if phase == NAMING:
        return legal_strain(s, t)
    if phase < PLAY:
        return legal_exchange(s, t)
    return 0


@inline_kernel
def legal(s: State, t: Tables, mask: Array) -> None:
    """Write the mask of the seat to act, int8 of shape (A,): 1 for every legal action."""
    write_mask(t, s.phase, legal_bits(s, t), mask)


@inline_kernel
def write_mask(t: Tables, phase: int, bits: int, mask: Array) -> None:
    """Write the legal bits of a phase as a mask, int8 of shape (A,)."""
    offset = 0
    if phase == AUCTION:
        if t.strains_per_bid > 1:
            write_strained_calls(t, bits, mask)
            return
    else:
        offset = t.trump_offset if phase == NAMING else t.card_offset
    spread_bits_at(mask, offset, bits, t.n_actions)


@kernel
def write_strained_calls(t: Tables, bits: int, mask: Array) -> None:
    """Write the legal calls as a mask, int8 (A,), in a game whose bids name the strain."""
    clear(mask, 0, t.n_actions)
    mask[0] = bits & 1
    if t.uniform and t.strains_per_bid == USUAL_STRAINS:
        for level in range(t.n_levels):
            legal_bid = bits >> (1 + level) & 1
            for strain in range(USUAL_STRAINS):  # a constant: the loop is unrolled
                mask[1 + level * USUAL_STRAINS + strain] = legal_bid
        return
    for action in range(1, t.trump_offset):
        mask[action] = allows_call(t, bits, action)


@inline_kernel
def read_mask(t: Tables, phase: int, mask: Array) -> int:
    """Return the legal bits of a mask, int8 (A,), in a phase: the inverse of `write_mask`.

    A phase that is neither AUCTION nor NAMING stands for one of the cards.
    """
    if phase == AUCTION:
        bits = 1 if mask[0] else 0
        for level in range(t.n_levels):
            bits |= (1 if mask[t.first_of_bid[level]] else 0) << (1 + level)
        return bits
    if phase == NAMING:
        return gather_bits(mask, t.trump_offset, t.n_strains, 0)
    return gather_bits(mask, t.card_offset, t.kinds, 0)


@kernel
def is_legal(s: State, t: Tables, action: int) -> bool:
    """Whether an action, any whole number, is legal for the seat to act."""
    return allows(t, s.phase, legal_bits(s, t), action)


@inline_kernel
def allows(t: Tables, phase: int, bits: int, action: int) -> bool:
    """Whether the legal bits of a phase allow an action, which may be any whole number."""
    if action < 0 or action >= t.n_actions:
        return False
    if phase == AUCTION:
        return action < t.trump_offset and allows_call(t, bits, action)
    offset = t.trump_offset if phase == NAMING else t.card_offset
    return action >= offset and bool(bits >> (action - offset) & 1)


@inline_kernel
def allows_call(t: Tables, bits: int, action: int) -> bool:
    """Whether the legal calls as bits allow a call, which must be a number of one."""
    level, strain = t.call_levels[action], t.call_strains[action]
    if strain >= 0 and t.strain_bits[level] >> strain & 1 == 0:
        return False
    return bool(bits >> (1 + level) & 1)


@inline_kernel
def only_one(t: Tables, phase: int, bits: int) -> bool:
    """Whether the legal bits of a phase allow exactly one action.

    The bit of a bid that names its strain stands for several actions.
    """
    if bits == 0 or bits & (bits - 1):
        return False
    if phase != AUCTION or bits == 1 or t.strains_per_bid == 1:
        return True
    return t.call_strains[t.first_of_bid[lowest_bit(bits) - 1]] < 0


@inline_kernel
def pick_legal(t: Tables, phase: int, bits: int, word: Word) -> int:
    """Return a uniform legal action of a phase, chosen by a random word of 64 bits.

    At least one of the legal bits must be set. Only 32 bits of the word are used; the bias is below
    10**-7.
    """
    high = word >> np.uint64(32)
    if phase == AUCTION:
        if not t.uniform:
            return pick_call(t, bits, high)
        per_bid = t.strains_per_bid
        n_pass = bits & 1
        n = n_pass + popcount(bits >> 1) * per_bid
        k = int(high * np.uint64(n) >> np.uint64(32)) - n_pass
        if k < 0:
            return 0
        return 1 + nth_bit(bits >> 1, k // per_bid) * per_bid + k % per_bid
    k = int(high * np.uint64(popcount(bits)) >> np.uint64(32))
    offset = t.trump_offset if phase == NAMING else t.card_offset
    return offset + nth_bit(bits, k)


@kernel
def pick_call(t: Tables, bits: int, high: Word) -> int:
    """Return a uniform legal call as `pick_legal` does, in a game whose bids differ in strains."""
    n = 0
    for action in range(t.trump_offset):
        n += allows_call(t, bits, action)
    k = int(high * np.uint64(n) >> np.uint64(32))
    for action in range(t.trump_offset):
        if allows_call(t, bits, action):
            if k == 0:
                return action
            k -= 1
    return 0


@kernel
def apply(s: State, t: Tables, action: int) -> None:
    """Apply a legal action; score the hand if it ends. The next deal is up to the caller."""
    phase = s.phase
    if phase == PLAY:
        if apply_card(s, t, action - t.card_offset):
            end_hand(s, t)
    elif phase == AUCTION:
        if apply_call(s, t, action):
            if s.level < 0:
                end_hand(s, t)
            elif s.strain < 0:
                s.phase = NAMING
                s.turn = s.declarer
            else:
                begin_cards(s, t)
    elif phase == NAMING:
        apply_strain(s, t, action - t.trump_offset)
        begin_cards(s, t)
    elif apply_exchange(s, t, action - t.card_offset):
        begin_play(s, t)


@inline_kernel
def apply_forced(s: State, t: Tables) -> int:
    """Apply the action of the seat to act if only one is legal: 0, else return its legal bits."""
    bits = legal_bits(s, t)
    if not only_one(t, s.phase, bits):
        return bits
    apply(s, t, pick_legal(t, s.phase, bits, np.uint64(0)))
    return 0


@inline_kernel
def play_forced(s: State, t: Tables) -> int:
    """Apply actions to the state `s` while exactly one is legal.

    Returns the bits of the legal actions at the decision that follows (`legal_bits`), or
    0 if the hand is over.
    """
    bits = legal_bits(s, t)
    while only_one(t, s.phase, bits):
        apply(s, t, pick_legal(t, s.phase, bits, np.uint64(0)))
        bits = legal_bits(s, t)
    return bits


@kernel
def begin_cards(s: State, t: Tables) -> None:
    """Begin the laying away for a kitty, or the exchange if the contract has one, or the play."""
    if t.kitty > 0:
        take_kitty(s)
    elif t.exchange[s.level] > 0:
        begin_exchange(s)
    else:
        begin_play(s, t)
