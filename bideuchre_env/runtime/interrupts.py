"""Ctrl-C where it is not to break into work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ctrl_c() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets, wherever the main thread may be; the second one raises.

    Only where Python's own handler is in place, in the main thread; elsewhere it is never set.
    """
    event = threading.Event()
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield event
        return

    def handle(number: int, frame: FrameType | None) -> None:
        event.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, handle)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
