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
def add_gradients(packed: Array, sums: Array, gradients: Array, out: Array, active: Array) -> None:
    """Add `inputs.T @ gradients` to `out`, float32 (F, H).

    `gradients`, float32 (n, H), come as those in the leaky `sums` and leave as those in plain ones.
    """
    width = gradients.shape[1]
    for i in range(len(packed)):
        for h in range(width):
            if sums[i, h] < ZERO:
                gradients[i, h] *= SLOPE
        for k in range(list_ones(packed, i, active)):
            at = active[k]
            for h in range(width):
                out[at, h] += gradients[i, h]


@entry_kernel
def adam_rows(
    part: Array,
    gradient: Array,
    m: Array,
    v: Array,
    betas: Array,
    step_size: float,
    bias_correction: float,
) -> None:
    """One step of Adam: rewrites `part`, float32 (n,), and both moments of its gradient.

    `betas`, float32 (2,), is how much of the moments stays. `step_size` is the learning rate with
    the bias of the first moment corrected, and the second moment is divided by `bias_correction`.
    """
    beta_1, beta_2, one = betas[0], betas[1], np.float32(1.0)
    size, correction = np.float32(step_size), np.float32(bias_correction)
    epsilon = np.float32(1e-8)
    for i in range(len(part)):
        m[i] = beta_1 * m[i] + (one - beta_1) * gradient[i]
        v[i] = beta_2 * v[i] + (one - beta_2) * gradient[i] * gradient[i]
        part[i] -= size * m[i] / (np.sqrt(v[i] / correction) + epsilon)
