"""Checks of values that every room needs, and how an error shows what was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral

MAX_NAME = 80  # an agent's name with its options still fits a screen's line


def is_plain_name(name: object) -> bool:
    """Whether this can stand for an agent on a screen: a short string of printable characters."""
    return isinstance(name, str) and 0 < len(name) <= MAX_NAME and name.isprintable()


def is_whole(value: object) -> bool:
    """Whether this is a Python int, and no bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_integer(value: object) -> bool:
    """Whether this is a whole number of Python or numpy, and no bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A value as an error names it: its repr in plain letters, cut short, or else its type."""
    try:
        text = ascii(value)
    except Exception:  # a number of more digits than Python writes, or an object's own fault
        return f"<{type(value).__name__} that cannot be printed>"
    return text if len(text) <= 200 else f"{text[:200]}..."


def typed(value: object) -> str:
    """What somebody typed, as an error quotes it: in its own letters, with control codes escaped.

    Anything but a text is as `shown`, and so is a long one.
    """
    return repr(value) if isinstance(value, str) and len(value) <= 200 else shown(value)


def did_you_mean(given: object, words: Iterable[str]) -> str:
    """Return " (did you mean 'expert'?)" if one of the words is close to `given`, else ""."""
    if not isinstance(given, str):
        return ""
    spelled = {word.lower(): word for word in words}
    close = get_close_matches(given.lower(), spelled, n=1)
    return f" (did you mean {spelled[close[0]]!r}?)" if close else ""


def unknown_options(
    given: Iterable[object], known: Sequence[str], whose: str = "", what: str = "unknown option"
) -> str:
    """What an error says of options that are not known, " of" `whose` they are; "" for none."""
    unknown = sorted(set(given) - set(known), key=shown)
    if not unknown:
        return ""
    names = ", ".join(map(shown, unknown))
    close = "".join(did_you_mean(name, known) for name in unknown)
    return f"{what} {names}{whose}{close}; the options are: {', '.join(known)}"


def printable(text: str) -> str:
    """A text in which control characters and halves of characters are escaped, line ends too."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
