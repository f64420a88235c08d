"""Shared checks of values, and how error messages show values."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from bideuchre_env.errors import IllegalActionError, OptionError

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_NAME = 80  # an agent's name with its options fits one line of a terminal


def is_plain_name(name: object) -> bool:
    """Whether a value can be displayed as a name: a short string of printable characters."""
    return isinstance(name, str) and 0 < len(name) <= MAX_NAME and name.isprintable()


def is_whole(value: object) -> bool:
    """Whether a value is a Python int and not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_integer(value: object) -> bool:
    """Whether a value is an integer of Python or numpy and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a finite real number of Python or numpy and not a bool."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def brief(value: object) -> str:
    """Format a value for an error message: its ASCII repr, shortened, or its type if that fails."""
    try:
        text = ascii(value)
    except Exception:  # an integer with too many digits for Python, or a faulty `__repr__`
        return f"<{type(value).__name__} that cannot be printed>"
    return text if len(text) <= 200 else f"{text[:200]}..."


def typed(value: object) -> str:
    """Quote typed text for an error message, with control codes escaped.

    Other objects, and long texts, are represented as by `brief`.
    """
    return repr(value) if isinstance(value, str) and len(value) <= 200 else brief(value)


def check_name(name: object) -> None:
    """Raise `OptionError` unless `name` can be the name of a game."""
    if not is_plain_name(name):
        raise OptionError(f"name={brief(name)}: expected 1 to {MAX_NAME} printable characters")


def check_type(name: str, value: object, kinds: Any, expected: str) -> None:
    """Raise `OptionError` unless a parameter's value is an instance of `kinds`."""
    if not isinstance(value, kinds):
        raise OptionError(f"{name}={brief(value)}: expected {expected}")


def check_flag(name: str, value: object) -> None:
    """Raise `OptionError` unless a parameter is True or False, of Python or numpy."""
    if str(getattr(value, "dtype", "")) != "bool" or getattr(value, "ndim", True):
        check_type(name, value, bool, "True or False")


def check_callback(name: str, value: object) -> None:
    """Raise `OptionError` unless a parameter is a function to call, or None."""
    if value is not None and not callable(value):
        raise OptionError(f"{name}={brief(value)}: expected a function, or None")


def check_path(name: str, value: object) -> str:
    """Return a path as text; `OptionError` unless a parameter can be the path of a file.

    Bytes and numbers are rejected: `open` would take a number as a file descriptor.
    """
    check_type(name, value, (str, os.PathLike), "a path")
    text = os.fspath(value)  # type: ignore[call-overload]
    try:
        sound = isinstance(text, str) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        sound = False
    if not sound:
        raise OptionError(
            f"{name}={brief(value)}: expected a path without NUL, in the encoding of file names"
        )
    return str(text)


def to_iterator(name: str, values: Any, expected: str) -> Iterator[Any]:
    """Return an iterator over a parameter; `OptionError` if it cannot be iterated over."""
    try:
        return iter(values)
    except Exception:  # `__iter__` of a 0-dimensional array raises
        raise OptionError(f"{name}={brief(values)}: expected {expected}") from None


def to_list(name: str, values: Any, expected: str) -> list[Any]:
    """Return the items of a parameter; `OptionError` if it cannot be iterated over."""
    return list(to_iterator(name, values, expected))


def to_array(name: str, value: Any) -> npt.NDArray[Any]:
    """Return any array-like as an array; `OptionError` if it is masked or cannot be converted."""
    import numpy as np

    if isinstance(value, np.ma.MaskedArray):
        raise OptionError(f"{name}: expected an array without a mask, not a masked array")
    try:
        return np.asarray(value)
    except Exception as error:  # `__array__` of an object may raise anything
        raise OptionError(f"{name}={brief(value)}: expected an array ({error})") from None


def check_array(
    name: str,
    value: Any,
    dtype: Any,
    shape: tuple[int, ...],
    *,
    any_order: bool = False,
    written: bool = False,
) -> None:
    """Raise `OptionError` unless a parameter is an array of this dtype and shape (-1: any length).

    It must be in C order, unless `any_order`, and writable if it will be `written`.
    """
    import numpy as np

    is_array = isinstance(value, np.ndarray)
    if not (is_array and value.dtype == dtype and _fits(value.shape, shape)):
        lengths = ", ".join("any" if n < 0 else str(n) for n in shape) + "," * (len(shape) == 1)
        raise OptionError(
            f"{name}: expected a numpy array of {np.dtype(dtype)} and shape ({lengths}), not "
            + (f"{value.dtype} {value.shape}" if is_array else brief(value))
        )
    if not (any_order or value.flags.c_contiguous):
        raise OptionError(f"{name}: expected a contiguous array: use np.ascontiguousarray({name})")
    if written and not value.flags.writeable:
        raise OptionError(f"{name}: expected a writable array, not a read-only one")


def _fits(lengths: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    if len(lengths) != len(expected):
        return False
    return all(n in (-1, m) for n, m in zip(expected, lengths, strict=True))


def whole_numbers(name: str, value: Any, n: int, limit: int = 2**62) -> npt.NDArray[Any]:
    """Return actions, integers of any dtype, as a new int64 array (n,).

    Numbers from 2**63 on, which do not fit int64, become `limit`. Raises `IllegalActionError` for
    any other value.
    """
    import numpy as np

    try:
        numbers = to_array(name, value)
    except OptionError as error:
        raise IllegalActionError(str(error)) from None
    if numbers.shape != (n,) or numbers.dtype.kind not in "iu":
        raise IllegalActionError(
            f"{name}: expected whole numbers of shape ({n},), not {numbers.dtype} of shape "
            f"{numbers.shape}"
        )
    if isinstance(value, (list, tuple)) and any(isinstance(one, (bool, np.bool_)) for one in value):
        raise IllegalActionError(f"{name}: expected whole numbers, not True or False")
    if numbers.dtype.kind == "u" and numbers.dtype.itemsize == 8:
        numbers = np.where(numbers < 2**63, numbers, np.uint64(limit))
    return numbers.astype(np.int64)


def did_you_mean(name: object, words: Iterable[str]) -> str:
    """Return " (did you mean 'expert'?)" if one of the words is close to `name`, else ""."""
    if not isinstance(name, str):
        return ""
    spelled = {word.lower(): word for word in words}
    close = get_close_matches(name.lower(), spelled, n=1)
    return f" (did you mean {spelled[close[0]]!r}?)" if close else ""


def unknown_options(
    keywords: Iterable[object],
    options: Sequence[str],
    whose: str = "",
    what: str = "unknown option",
) -> str:
    """Return the error message about keywords that are not `options`; "" if there are none.

    It begins with `what`; `whose`, such as " of pimc", follows the names of the unknown options.
    """
    unknown = sorted(set(keywords) - set(options), key=brief)
    if not unknown:
        return ""
    names = ", ".join(map(brief, unknown))
    close = "".join(did_you_mean(name, options) for name in unknown)
    return f"{what} {names}{whose}{close}; the options are: {', '.join(options)}"


def printable(text: str) -> str:
    """Escape unprintable characters in a text: control characters, line ends, surrogates."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
