"""The first layer of a network on packed 0/1 inputs, there and back: only the inputs that are 1."""

from __future__ import annotations

import numpy as np

from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel


@inline_kernel
def list_ones(packed: Array, i: int, active: Array) -> int:
    """List the inputs of a row that are 1 in `active`, int64 (m,); how many there are."""
    n = 0
    for b in range(packed.shape[1]):
        byte = np.int64(packed[i, b])
        at = 8 * b
        while byte:
            if byte & 128:
                active[n] = at
                n += 1
            byte = (byte << 1) & 255
            at += 1
    return n


@entry_kernel
def add_first(packed: Array, first: Array, bias: Array, sums: Array, active: Array) -> None:
    """Rewrite `sums`, float32 (n, H), by `bias + inputs @ first`.

    `packed` uint8 (n, B) has eight inputs a byte, the first the highest bit; `first` is (F, H) and
    `active`, int64 (8 * B,), room to work in.
    """
    width = sums.shape[1]
    for i in range(len(packed)):
        n, k = list_ones(packed, i, active), 0
        for h in range(width):
            sums[i, h] = bias[h]
        while k + 4 <= n:
            a, b, c, d = active[k], active[k + 1], active[k + 2], active[k + 3]
            for h in range(width):
                sums[i, h] += (first[a, h] + first[b, h]) + (first[c, h] + first[d, h])
            k += 4
        while k < n:
            for h in range(width):
                sums[i, h] += first[active[k], h]
            k += 1


@entry_kernel
def add_slopes(packed: Array, slopes: Array, out: Array, active: Array) -> None:
    """Add `inputs.T @ slopes` to `out`, float32 (F, H); `slopes` is float32 (n, H)."""
    width = slopes.shape[1]
    for i in range(len(packed)):
        for k in range(list_ones(packed, i, active)):
            at = active[k]
            for h in range(width):
                out[at, h] += slopes[i, h]
