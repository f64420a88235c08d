"""The errors of the package: every one is a `ValueError` with a sentence that says what to do.

An error names what was given and what is allowed, and leaves the state as it was.
"""

from __future__ import annotations

from numbers import Integral


class BidEuchreError(ValueError):
    """Base class of every error this package raises on bad input."""


class RulesError(BidEuchreError):
    """A `Rules` value or a variant's option that makes no game."""


class OptionError(BidEuchreError):
    """An unknown or unusable keyword, reset option, agent name or command-line value."""


class IllegalActionError(BidEuchreError):
    """An action that is not a legal action of the seat to act (wrong type, range or moment)."""


class OutOfBoundsError(IllegalActionError, AssertionError):
    """An action that is no action of the game at all; PettingZoo's tools expect an assertion."""


class DealError(BidEuchreError):
    """A deal that is not the deck dealt out equally, or a dealer that is not a seat."""


class PositionError(BidEuchreError):
    """A position the solver cannot begin from: no cards are being played, or it is not sound."""


class RecordError(BidEuchreError):
    """A game record that cannot be read, replayed, or that contradicts its own replay."""


class WorkerError(BidEuchreError):
    """A process that played boards for a match has ended before its time."""


class TableError(BidEuchreError):
    """A file of numbers that the package brings along is missing or damaged."""


class NotationError(BidEuchreError):
    """A card, strain, call or action name that cannot be parsed."""


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


def shown(given: object) -> str:
    """A value as an error names it: its repr in plain letters, cut short, or else its type."""
    try:
        text = ascii(given)
    except Exception:  # a number of more digits than Python writes, or an object's own fault
        return f"<{type(given).__name__} that cannot be printed>"
    return text if len(text) <= 200 else f"{text[:200]}..."
