"""The errors of the package; each is a `ValueError` with a message on how to fix it.

A message names the value and the allowed ones. The state does not change before an error.
"""

from __future__ import annotations


class BidEuchreError(ValueError):
    """Base class of every error this package raises on bad input."""


class RulesError(BidEuchreError):
    """A `Rules` value or a variant's option that makes no game."""


class UnknownRuleError(RulesError, TypeError):
    """A keyword that is no option of the rules; a `TypeError` as `UnknownOptionError` is."""


class OptionError(BidEuchreError):
    """An unknown or unusable keyword, reset option, agent name or command-line value."""


class UnknownOptionError(OptionError, TypeError):
    """An unknown keyword. It is also a `TypeError` with "unexpected keyword argument", because
    trainers that try a keyword and continue without it check for these."""


class IllegalActionError(BidEuchreError):
    """An action that is not a legal action of the seat to act (wrong type, range or moment)."""


class OutOfBoundsError(IllegalActionError, AssertionError):
    """An action that is no action of the game at all; PettingZoo's tools expect an assertion."""


class DealError(OptionError):
    """A deal that is not the deck dealt out equally, a dealer that is not a seat, a bad score."""


class PositionError(BidEuchreError):
    """A position the solver cannot begin from: no cards are being played, or it is not sound."""


class RecordError(BidEuchreError):
    """A game record that cannot be read, replayed, or that contradicts its own replay."""


class OutputError(BidEuchreError):
    """A file that could not be written: the disk is full, or its folder has gone."""


class AgentError(BidEuchreError):
    """An agent has raised an error of its own while it was deciding."""


class WorkerError(BidEuchreError):
    """A process that played boards for a match has ended before its time."""


class TableError(BidEuchreError):
    """A file of numbers that the package brings along is missing or damaged."""


class WeightsError(BidEuchreError):
    """A file of weights that is damaged, or was made for another game or another agent."""


class DivergedError(BidEuchreError):
    """Training has gone astray: its weights are of no use."""


class NotationError(BidEuchreError):
    """A card, strain, call or action name that cannot be parsed."""
