"""Checks of the arrays that callers hand to kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env._checks import shown
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.runtime.jit import Array


def check_array(
    name: str,
    given: Any,
    dtype: Any,
    shape: tuple[int, ...],
    *,
    written: bool = False,
    strided: bool = False,
) -> None:
    """Raise `OptionError` unless this is such an array (-1: any length).

    It has to be in C order unless it may be `strided`, and writable if it is to be `written`.
    """
    wanted = np.dtype(dtype)
    lengths = ", ".join("any" if n < 0 else str(n) for n in shape) + "," * (len(shape) == 1)
    expected = f"{name}: a numpy array of {wanted} and shape ({lengths}) is expected, not "
    if not isinstance(given, np.ndarray):
        raise OptionError(expected + shown(given))
    fits = given.ndim == len(shape) and all(
        n in (-1, m) for n, m in zip(shape, given.shape, strict=True)
    )
    if given.dtype != wanted or not fits:
        raise OptionError(f"{expected}{given.dtype} {given.shape}")
    if not strided and not given.flags.c_contiguous:
        raise OptionError(
            f"{name}: its rows do not follow each other: np.ascontiguousarray({name})"
        )
    if written and not given.flags.writeable:
        raise OptionError(f"{name}: it is written to, and this one is read-only")


def whole_actions(asked: str, answer: Any, n: int) -> Array:
    """An answer as int64 (n,); `IllegalActionError` unless it is that many whole numbers."""
    choices = np.asarray(answer)
    if choices.shape != (n,) or choices.dtype.kind not in "iu":
        raise IllegalActionError(
            f"{asked}: whole numbers of shape ({n},) are expected, not {choices.dtype} "
            f"{choices.shape}"
        )
    return np.ascontiguousarray(choices, np.int64)
