"""Steps of fitting as kernels: the first layer, of the inputs that are 1 alone, and Adam."""

from __future__ import annotations

import numpy as np

from bideuchre_env.learning.network import SLOPE, ZERO
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
    """Rewrite `sums`, float32 (n, H), by the leaky sums of `bias + inputs @ first`.

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
        for h in range(width):
            sums[i, h] = max(sums[i, h], SLOPE * sums[i, h])


@entry_kernel
def add_slopes(packed: Array, sums: Array, slopes: Array, out: Array, active: Array) -> None:
    """Add `inputs.T @ slopes` to `out`, float32 (F, H).

    `slopes`, float32 (n, H), come as those in the leaky `sums` and leave as those in plain ones.
    """
    width = slopes.shape[1]
    for i in range(len(packed)):
        for h in range(width):
            if sums[i, h] < ZERO:
                slopes[i, h] *= SLOPE
        for k in range(list_ones(packed, i, active)):
            at = active[k]
            for h in range(width):
                out[at, h] += slopes[i, h]


@entry_kernel
def adam_rows(
    part: Array, slope: Array, m: Array, v: Array, keep: Array, size: float, scale: float
) -> None:
    """One step of Adam: rewrites `part`, float32 (n,), and both moments of its slopes.

    `keep`, float32 (2,), is how much of the moments stays; `size` and `scale` are of this step.
    """
    one, two, unit = keep[0], keep[1], np.float32(1.0)
    length, least = np.float32(size), np.float32(1e-8)
    whole = np.float32(scale)
    for i in range(len(part)):
        m[i] = one * m[i] + (unit - one) * slope[i]
        v[i] = two * v[i] + (unit - two) * slope[i] * slope[i]
        part[i] -= length * m[i] / (np.sqrt(v[i] / whole) + least)
