"""Kernels that write observations: the private blocks of a seat, then the public blocks."""

from __future__ import annotations

import numpy as np

from bideuchre_env.core.bits import clear, spread_bits, spread_hand
from bideuchre_env.core.observation.decode import CLIP
from bideuchre_env.core.phases.auction import at_level
from bideuchre_env.core.phases.exchange import has_kitty
from bideuchre_env.core.records import Offsets, State, Tables
from bideuchre_env.core.state import DEAL, PASSING, PLAY
from bideuchre_env.core.tables import ONCE, ROUNDS
from bideuchre_env.rules.cards import MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.intrinsics import store_both_tricks, store_tricks
from bideuchre_env.runtime.jit import Array, inline_kernel, kernel


@inline_kernel
def clip(value: int) -> int:
    """Clip a score or a count to -127 to 127, so that it fits an int8."""
    return min(max(value, -CLIP), CLIP)


@inline_kernel
def hands_left(s: State, t: Tables) -> int:
    """Return the number of deals left in the game, the current hand included."""
    left = t.max_hands - s.hands_dealt + 1
    if t.win_rule == ROUNDS:
        this_one = 1 if s.phase >= DEAL and s.level >= 0 else 0
        left = min(left, t.hands_to_play - s.hands_played + this_one)
    return left


@kernel
def encode_kitty(s: State, t: Tables, o: Offsets, seat: int, out: Array, at: int) -> None:
    """Write the private blocks of a seat on the kitty, which only its declarer has seen.

    `out[at:]` has the seat's other private blocks.
    """
    if seat != s.declarer or not has_kitty(s, t):
        return
    for i in range(t.kitty):
        out[at + o.kitty + s.kitty[i]] += 1
        if s.laid[i] >= 0:
            out[at + o.laid_away + s.laid[i]] += 1


@inline_kernel
def encode_private(s: State, t: Tables, o: Offsets, seat: int, out: Array, at: int) -> None:
    """Write the private blocks of a seat but the kitty to `out[at:]`, which holds zeros."""
    spread_hand(out, at + o.hand, s.hands[seat])
    declarer = s.declarer
    if (s.given[0] < 0 and s.passed[0] < 0) or (seat ^ declarer) & 1:
        return
    passes_known = seat != declarer or s.phase >= PLAY
    given_known = seat == declarer or (t.open_exchange and s.phase >= PASSING)
    for i in range(len(s.given)):
        if given_known and s.given[i] >= 0:
            out[at + o.discarded + s.given[i]] += 1
        if passes_known and s.passed[i] >= 0:
            out[at + o.passed + s.passed[i]] += 1


@inline_kernel
def encode_public(s: State, t: Tables, o: Offsets, seat: int, out: Array, at: int) -> None:
    """Write the public blocks, relative to this seat, to `out[at:]`, which holds zeros."""
    phase, declarer, voids = s.phase, s.declarer, 0
    calls, width = at + o.calls, 1 + t.n_levels
    for rel in range(N_SEATS):
        who = (seat + rel) & 3
        call = s.calls[who]
        if call >= 0:
            out[calls + call] = 1
        calls += width
        voids |= s.voids[who] << 4 * rel
    spread_bits(out, at + o.voids, np.uint64(voids), 16)
    if phase < DEAL:
        out[at + o.phase + phase] = 1
        out[at + o.to_act + ((s.turn - seat) & 3)] = 1
    out[at + o.dealer + ((s.dealer - seat) & 3)] = 1
    if t.strains_per_bid > 1:
        strains = at + o.call_strains
        for rel in range(N_SEATS):
            strain = s.call_strains[(seat + rel) & 3]
            if strain >= 0:
                out[strains + strain] = 1
            strains += t.n_strains
    if t.auction != ONCE:
        encode_rounds(s, t, o, seat, out, at)
    if s.calls_made == 4 and declarer >= 0:
        out[at + o.bid + s.level] = 1
        out[at + o.declarer + ((declarer - seat) & 3)] = 1
        if s.strain >= 0:
            out[at + o.strain + s.strain] = 1
        if s.sitting_out >= 0:
            out[at + o.sitting_out + ((s.sitting_out - seat) & 3)] = 1
        encode_play(s, t, o, seat, out, at)
    encode_game(s, t, o, seat, out, at)


@kernel
def encode_rounds(s: State, t: Tables, o: Offsets, seat: int, out: Array, at: int) -> None:
    """Write all bids of an auction in rounds, as `encode_public` writes the last calls."""
    for level in range(s.level + 1):
        bidder, strain = at_level(s.bidders, level), at_level(s.bid_strains, level)
        if bidder >= 0:
            out[at + o.calls + ((bidder - seat) & 3) * (1 + t.n_levels) + 1 + level] = 1
        if strain >= 0:
            out[at + o.bid_strains + level * t.n_strains + strain] = 1


@inline_kernel
def encode_play(s: State, t: Tables, o: Offsets, seat: int, out: Array, at: int) -> None:
    """Write the public blocks of the card play, as `encode_public` does."""
    kinds, trick, led = t.kinds, s.trick, s.led
    first, one_deck = at + o.played, t.copies == 1
    for rel in range(N_SEATS):
        who = (seat + rel) & 3
        if one_deck:
            store_tricks(out, first, s.tags, 0, who)
            store_tricks(out, first + kinds - 16, s.tags, kinds - 16, who)
        else:  # the second copy that a seat plays has its own plane
            store_both_tricks(out, first, kinds, s.tags, 0, who)
            store_both_tricks(out, first + kinds - 16, kinds, s.tags, kinds - 16, who)
        first += kinds * t.copies
        kind = s.plays[MAX_TRICKS * who + trick] if led >= 0 and rel > 0 else -1
        if kind >= 0:
            out[at + o.trick + (rel - 1) * kinds + kind] = 1
    if led >= 0:
        out[at + o.led + led] = 1
        out[at + o.winning + ((s.winning - seat) & 3)] = 1
    side = seat & 1
    out[at + o.tricks_won] = s.tricks_won[side]
    out[at + o.tricks_won + 1] = s.tricks_won[1 - side]


@inline_kernel
def encode_game(s: State, t: Tables, o: Offsets, seat: int, out: Array, at: int) -> None:
    """Write the public blocks of the game, as `encode_public` does: scores, target, hands left."""
    side = seat & 1
    for i in range(2):
        score = s.score[side ^ i]
        out[at + o.score + i] = clip(score)
        if o.to_go >= 0:
            out[at + o.to_go + i] = clip(t.target - score)
    if o.target >= 0:
        out[at + o.target] = clip(t.target)
    if o.floor >= 0:
        out[at + o.floor] = clip(t.floor)
    out[at + o.hands_left] = clip(hands_left(s, t))


@kernel
def encode(s: State, t: Tables, o: Offsets, seat: int, out: Array) -> None:
    """Write the observation of a seat to `out`, int8 of shape (size,)."""
    clear(out, 0, o.entries)
    encode_private(s, t, o, seat, out, 0)
    encode_public(s, t, o, seat, out, o.private)
    if t.kitty > 0:
        encode_kitty(s, t, o, seat, out, 0)


@kernel
def encode_state(s: State, t: Tables, o: Offsets, out: Array) -> None:
    """Write the global state to `out`, int8 of shape (state_size,)."""
    clear(out, 0, o.entries + (N_SEATS - 1) * o.private)
    for seat in range(N_SEATS):
        encode_private(s, t, o, seat, out, seat * o.private)
        if t.kitty > 0:
            encode_kitty(s, t, o, seat, out, seat * o.private)
    encode_public(s, t, o, 0, out, N_SEATS * o.private)
