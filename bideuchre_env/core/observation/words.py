"""How the values of an observation's blocks read in words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bideuchre_env.rules.cards import CARD_NAMES, N_SEATS, SUITS
from bideuchre_env.runtime.jit import Array


def one_of(words: tuple[str, ...]) -> Callable[[Array], str | None]:
    """A reader of flags, at most one of them set, as one of so many words; None of none."""

    def read(flags: Array) -> str | None:
        where = seat(flags)
        return None if where is None else words[where]

    return read


def seat(flags: Array) -> int | None:
    """The place of the flag that is set, of seats or of anything else; None of none."""
    where = np.flatnonzero(flags)
    return int(where[0]) if where.size else None


def cards(counts: Array) -> list[str]:
    """The cards of which a block holds so many copies, by kind."""
    return sorted(CARD_NAMES[kind] for kind in np.repeat(np.arange(counts.size), counts))


def voids(flags: Array) -> list[str]:
    """By seat the suits that are set."""
    return ["".join(SUITS[suit] for suit in np.flatnonzero(row)) for row in flags]


def numbers(values: Array) -> list[int] | None:
    """All numbers of a block; None of none."""
    return values.tolist() or None


def number(values: Array) -> int | None:
    """The one number of a block; None of none."""
    return int(values[0]) if values.size else None


def played(planes: Array, tricks: int) -> list[list[str | None]]:
    """By seat and trick the card played; `planes` are [seat, copy, kind]: the trick, from 1."""
    seats: list[list[str | None]] = [[None] * tricks for _ in range(N_SEATS)]
    for seat, copy, kind in zip(*np.nonzero(planes), strict=True):
        seats[seat][int(planes[seat, copy, kind]) - 1] = CARD_NAMES[kind]
    return seats
