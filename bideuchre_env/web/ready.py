"""Who has asked to go on, after a hand or a game."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

PATIENCE = 30.0


class Ready:
    """The people of a table that has come to an end of a hand or game: it goes on when all ask to.

    `patience` seconds after the first has asked, whoever has asked may go on without the others:
    one who has left blocks nobody.
    """

    def __init__(
        self,
        people: Sequence[int],
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._people, self._patience, self._clock = people, patience, clock
        self._asked: dict[int, float] = {}  # the seats, and when

    def ask(self, seat: int) -> bool:
        """Note that a seat asks to go on; whether the table does."""
        again = seat in self._asked
        self._asked.setdefault(seat, self._clock())
        return not self.missing or (again and self.seconds_left == 0)

    def has_asked(self, seat: int) -> bool:
        """Whether a seat has asked."""
        return seat in self._asked

    @property
    def missing(self) -> list[int]:
        """The seats that have not asked."""
        return [seat for seat in self._people if seat not in self._asked]

    @property
    def seconds_left(self) -> float | None:
        """How long the others are still waited for; None while nobody has asked."""
        if not self._asked:
            return None
        return max(0.0, min(self._asked.values()) + self._patience - self._clock())

    def clear(self) -> None:
        """Nobody has asked."""
        self._asked.clear()
