"""Checks of values that every room needs, and how an error shows what was given."""

from __future__ import annotations

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


def printable(text: str) -> str:
    """A text in which control characters and halves of characters are escaped, line ends too."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
