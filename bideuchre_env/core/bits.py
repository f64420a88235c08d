"""Convert between bits and bytes, many at a time, to write masks and observations quickly."""

from __future__ import annotations

import numpy as np

from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS
from bideuchre_env.runtime.intrinsics import load_word, store_bits, store_word
from bideuchre_env.runtime.jit import Array, Word, inline_kernel

_NONE = np.uint64(0)
_EVERY_BYTE = np.uint64(0x0101010101010101)
_DIAGONAL = np.uint64(0x8040201008040201)  # bit i of byte i
_CARRY = np.uint64(0x7F7F7F7F7F7F7F7F)
_LOW_8 = np.uint64(255)
_LOW_7 = np.uint64(0x7F7F7F7F7F7F7F7F)
_GATHER = np.uint64(0x0102040810204080)  # carries bit 0 of byte i to bit 56 + i


@inline_kernel
def spread_byte(bits: Word) -> Word:
    """Return a uint64 whose byte i, 0 or 1, is bit i of `bits`, for i from 0 to 7."""
    picked = ((bits & _LOW_8) * _EVERY_BYTE) & _DIAGONAL
    return ((picked + _CARRY) >> np.uint64(7)) & _EVERY_BYTE


@inline_kernel
def clear(out: Array, at: int, n: int) -> None:
    """Write `n` zeros to `out[at:]`, a row of int8."""
    if n < 32:
        for i in range(n):
            out[at + i] = 0
        return
    i, last = 0, n - 32
    while i < last:
        store_bits(out, at + i, _NONE, _NONE)
        i += 32
    store_bits(out, at + last, _NONE, _NONE)


@inline_kernel
def spread_bits(out: Array, at: int, bits: Word, n: int) -> None:
    """Write the lowest `n` (up to 64) bits of a uint64 to `out[at : at + n]`, int8, a byte each."""
    if n >= 32:
        store_bits(out, at, bits, _NONE)
        store_bits(out, at + n - 32, bits >> np.uint64(n - 32), _NONE)
        return
    if n < 8:
        for i in range(n):
            out[at + i] = int((bits >> np.uint64(i)) & np.uint64(1))
        return
    i, last = 0, n - 8
    while i < last:
        store_word(out, at + i, spread_byte(bits >> np.uint64(i)))
        i += 8
    store_word(out, at + last, spread_byte(bits >> np.uint64(last)))


@inline_kernel
def spread_bits_at(out: Array, at: int, bits: int, n: int) -> None:
    """Write bits (below 2**40) as bytes from `out[at]` on, and zeros to the rest of `out[:n]`.

    Up to n = 128, zeros and bits are written together, as one number of 128 bits.
    """
    low, high = np.uint64(bits), np.uint64(0)
    if n > 128:
        clear(out, 0, n)
        spread_bits(out, at, low, min(40, n - at))
        return
    if at >= 64:
        low, high = high, low << np.uint64(at - 64)
    elif at > 0:
        low, high = low << np.uint64(at), low >> np.uint64(64 - at)
    spread_bits(out, 0, low, min(n, 64))
    if n > 64:
        spread_bits(out, 64, high, n - 64)


@inline_kernel
def spread_hand(out: Array, at: int, hand: int) -> None:
    """Write the copies of each kind in a hand to `out[at : at + 32]`, int8, 0 after the kinds."""
    one, two = np.uint64(hand & KIND_BITS), np.uint64(hand >> COPY_SHIFT)
    store_bits(out, at, one, two)


@inline_kernel
def gather_byte(row: Array, at: int, above: int) -> int:
    """Return a byte: bit i is set if `row[at + i]` is greater than `above`; both are 0 to 127."""
    bytes_ = load_word(row, at) & _LOW_7
    over = bytes_ + np.uint64(127 - above) * _EVERY_BYTE
    return int((((over >> np.uint64(7)) & _EVERY_BYTE) * _GATHER) >> np.uint64(56))


@inline_kernel
def gather_bits(row: Array, at: int, n: int, above: int) -> int:
    """Return `n` bits: bit i is set if `row[at + i]` is greater than `above`; both are 0 to 127."""
    bits, i, last = 0, 0, n - 8
    if last < 0 <= at + last:
        bits |= gather_byte(row, at + last, above) >> -last
        return bits
    if last < 0:
        for i in range(n):
            bits |= (1 if row[at + i] > above else 0) << i
        return bits
    while i < last:
        bits |= gather_byte(row, at + i, above) << i
        i += 8
    return bits | gather_byte(row, at + last, above) << last
