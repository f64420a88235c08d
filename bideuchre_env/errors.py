"""The errors of the package: every one is a `ValueError` with a sentence that says what to do.

An error names what was given and what is allowed, and leaves the state as it was.
"""

from __future__ import annotations


class BidEuchreError(ValueError):
    """Base class of every error this package raises on bad input."""


class RulesError(BidEuchreError):
    """A `Rules` value or a variant's option that makes no game."""


class OptionError(BidEuchreError):
    """An unknown or unusable keyword, reset option, agent name or command-line value."""


class IllegalActionError(BidEuchreError):
    """An action that is not a legal action of the seat to act (wrong type, range or moment)."""


class DealError(BidEuchreError):
    """A deal that is not the deck dealt out equally, or a dealer that is not a seat."""


class RecordError(BidEuchreError):
    """A game record that cannot be read, replayed, or that contradicts its own replay."""


class NotationError(BidEuchreError):
    """A card, strain, call or action name that cannot be parsed."""


def shown(given: object) -> str:
    """A value as an error names it: its repr, cut short, or its type where it has no repr."""
    try:
        text = repr(given)
    except Exception:  # a number of more digits than Python writes, or an object's own fault
        return f"<{type(given).__name__} that cannot be printed>"
    return text if len(text) <= 200 else f"{text[:200]}..."
