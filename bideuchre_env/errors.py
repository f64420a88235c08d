"""The errors of the package; each is a `ValueError` with a message on how to fix it.

A message names the value and the allowed ones. Invalid arguments are rejected before any state
changes.
"""

from __future__ import annotations


class BidEuchreError(ValueError):
    """Base class of all errors of this package."""


class RulesError(BidEuchreError):
    """Invalid rules: a value of `Rules`, or an option of a variant."""


class UnknownRuleError(RulesError, TypeError):
    """A keyword that is no option of the rules; also a `TypeError`, like `UnknownOptionError`."""


class OptionError(BidEuchreError):
    """An unknown or unusable keyword, reset option, agent name or command-line value."""


class UnknownOptionError(OptionError, TypeError):
    """An unknown keyword. It is also a `TypeError` with "unexpected keyword argument", because
    trainers that try a keyword and continue without it check for these."""


class IllegalActionError(BidEuchreError):
    """An action that is not a legal action of the seat to act (wrong type, range or moment)."""


class OutOfBoundsError(IllegalActionError, AssertionError):
    """An action outside the action space; PettingZoo's tests expect an `AssertionError`."""


class DealError(OptionError):
    """An invalid deal, dealer or score."""


class PositionError(BidEuchreError):
    """A position that the solver cannot start from: invalid, or not in the play of the cards."""


class RecordError(BidEuchreError):
    """A game record that cannot be read or replayed, or that contradicts its own replay."""


class OutputError(BidEuchreError):
    """A file that could not be written, for example because the disk is full."""


class AgentError(BidEuchreError):
    """An exception that an agent raised during a decision."""


class WorkerError(BidEuchreError):
    """A worker process of a match that ended unexpectedly."""


class TableError(BidEuchreError):
    """A data file of the package that is missing or damaged."""


class WeightsError(BidEuchreError):
    """A file of weights that is damaged, or made for another game or agent."""


class DivergedError(BidEuchreError):
    """Training that diverged: weights are not finite, or the error has grown too much."""


class NotationError(BidEuchreError):
    """A card, strain, call or action name that cannot be parsed."""
