"""The seats whose pages are connected (`Presence`), and those ready to continue (`ReadySeats`)."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

PATIENCE = 30.0
"""Seconds until the game may continue without seats that are not ready."""
GRACE = 5.0
"""Seconds after the last poll of a seat until it is away: a page tries again after 2 seconds."""


class Presence:
    """Connected seats, by the polls of their pages; `changed(seat)` is called for each change."""

    def __init__(self, changed: Callable[[int], object], grace: float = GRACE) -> None:
        self._changed, self._grace = changed, grace
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self.here = set[int]()
        """Seats with a poll now, or less than `grace` seconds ago."""
        self.polls = Counter[int]()
        """Polls in progress, by seat."""

    @contextmanager
    def polling(self, seat: int) -> Iterator[None]:
        """Context manager of a poll: the seat is here, and away if no other poll follows soon."""
        self.polls[seat] += 1
        if seat not in self.here:
            self.here.add(seat)
            self._changed(seat)
        try:
            yield
        finally:
            self.polls[seat] -= 1
            if seat in self._timers:
                self._timers[seat].cancel()
            loop = asyncio.get_running_loop()
            self._timers[seat] = loop.call_later(self._grace, self._leave, seat)

    def _leave(self, seat: int) -> None:
        if not self.polls[seat] and seat in self.here:
            self.here.remove(seat)
            self._changed(seat)


class ReadySeats:
    """The seats that are ready to continue after a hand or a game.

    The game continues when all people are ready. `patience` seconds after the first is ready, those
    who are ready may continue alone, so that a person who has left does not block the table.
    """

    def __init__(
        self,
        people: Sequence[int],
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._people, self._patience, self._clock = people, patience, clock
        self.ready_at: dict[int, float] = {}  # time by seat

    def add(self, seat: int) -> bool:
        """Mark a seat as ready; return whether the table continues.

        It does when no seat is missing, or after `patience` when a ready seat is added again.
        """
        again = seat in self.ready_at
        self.ready_at.setdefault(seat, self._clock())
        return not self.missing or (again and self.seconds_left == 0)

    @property
    def missing(self) -> list[int]:
        """Seats that are not ready."""
        return [seat for seat in self._people if seat not in self.ready_at]

    @property
    def seconds_left(self) -> float | None:
        """Seconds until those who are ready may continue; None while no seat is ready."""
        if not self.ready_at:
            return None
        return max(0.0, min(self.ready_at.values()) + self._patience - self._clock())
