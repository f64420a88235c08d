"""`Presence`: the seats whose pages are connected to the server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
