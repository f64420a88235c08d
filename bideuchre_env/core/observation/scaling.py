"""Observations as float32 numbers in [-1, 1], as most networks take them."""

from __future__ import annotations

from bideuchre_env.runtime.jit import Array, entry_kernel


@entry_kernel
def scale_rows(observations: Array, scale: Array, out: Array, start: int, stop: int) -> None:
    """Write `observations`, int8 (n, D), times `scale`, to `out`, float32 (n, D).

    Only rows `start` to `stop` - 1 are written.
    """
    for i in range(start, stop):
        for j in range(len(scale)):
            out[i, j] = observations[i, j] * scale[j]
