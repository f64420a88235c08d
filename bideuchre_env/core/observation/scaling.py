"""Observations as float32 numbers in [-1, 1], as most networks take them."""

from __future__ import annotations

from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel


@entry_kernel
def scale_rows(observations: Array, scale: Array, out: Array) -> None:
    """Write every row of `observations`, int8 (n, D), times `scale`, to `out`, float32 (n, D)."""
    for i in range(len(observations)):
        scale_row(observations, scale, out, i)


@inline_kernel
def scale_row(observations: Array, scale: Array, out: Array, i: int) -> None:
    """Write row i of `observations` times `scale` to row i of `out`."""
    for j in range(len(scale)):
        out[i, j] = observations[i, j] * scale[j]
