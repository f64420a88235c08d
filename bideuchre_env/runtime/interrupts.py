"""Handlers of Ctrl-C: end the program at once, raise once, or set an event.

Importing this module changes nothing. The `bideuchre` command calls `quit_on_ctrl_c`, and scripts
run inside `raising`. Other programs keep Python's handler.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from bideuchre_env._files import discard_all

INTERRUPTED = 130  # the exit code after Ctrl-C
_CLEAR_LINE, _SHOW_CURSOR = "\r\x1b[2K", "\x1b[?25h"


class Quit:
    """Signal handler that ends the program at once, with exit code `INTERRUPTED`.

    It removes incomplete files, ends child processes, and prints one line with `name` to standard
    error. It raises no exception, which an import, a compiler or a finalizer could swallow.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, number: int = signal.SIGINT, frame: FrameType | None = None) -> NoReturn:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with suppress(Exception):
            discard_all()
        with suppress(Exception):
            if "multiprocessing" in sys.modules:
                for process in sys.modules["multiprocessing"].active_children():
                    process.terminate()
        bar = "rich" in sys.modules and os.isatty(2)  # it hides the cursor
        line = f"{_CLEAR_LINE + _SHOW_CURSOR if bar else ''}{self.name}: interrupted\n"
        try:
            os.write(2, line.encode())
        finally:
            os._exit(INTERRUPTED)


class RaiseOnce(Quit):
    """Signal handler that raises `KeyboardInterrupt`; the second Ctrl-C ends the program.

    While numba compiles, the first one ends it, because an interrupted compiler may crash.
    """

    def __call__(self, number: int = signal.SIGINT, frame: FrameType | None = None) -> NoReturn:
        private: Any = sys.modules.get("bideuchre_env.runtime.numba_private")
        if private is not None and private.is_compiling():
            super().__call__()
        signal.signal(signal.SIGINT, Quit(self.name))
        raise KeyboardInterrupt


def quit_on_ctrl_c(name: str) -> None:
    """Let Ctrl-C end this program at once, with a line that names it.

    Has no effect if the program has another handler than Python's.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, Quit(name))


@contextmanager
def raising(name: str = "") -> Iterator[None]:
    """Context manager: the first Ctrl-C raises `KeyboardInterrupt`, the second ends the program.

    This replaces the handler `Quit` and, with a `name`, also Python's. It has no effect on other
    handlers, and outside the main thread.
    """
    before = signal.getsignal(signal.SIGINT)
    if not _can_replace(before) or not (name or isinstance(before, Quit)):
        yield
        return
    signal.signal(signal.SIGINT, RaiseOnce(before.name if isinstance(before, Quit) else name))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _can_replace(handler: Any) -> bool:
    """Whether a handler is Python's or one of this module's, and this is the main thread."""
    ours = handler is signal.default_int_handler or isinstance(handler, Quit)
    return ours and threading.current_thread() is threading.main_thread()


@contextmanager
def ctrl_c() -> Iterator[threading.Event]:
    """Context manager that yields an event, which the first Ctrl-C sets.

    The second Ctrl-C has the effect of the previous handler: it raises, or ends the program. The
    event is never set outside the main thread, or if the handler is not Python's or this module's.
    """
    event = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if not _can_replace(before):
        yield event
        return

    def handle(number: int, frame: FrameType | None) -> None:
        """Set the event, and restore the previous handler."""
        event.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, handle)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


def typed_line() -> str:
    """Return a line of standard input, like `input()`; Ctrl-C ends the wait at any moment.

    `input` checks for signals and then blocks: a signal in between is handled only after the next
    line. So this function first waits for the terminal and for a pipe to which Python writes every
    signal. It just calls `input`, without that wait, on Windows, outside the main thread, without a
    terminal, or if `readline` is loaded, which edits lines while they are typed. Raises `EOFError`
    at the end of the input, like `input`.
    """
    alone = threading.current_thread() is threading.main_thread()
    if os.name == "posix" and alone and "readline" not in sys.modules and sys.stdin.isatty():
        _wait_for(sys.stdin.fileno())
    return input()


def _wait_for(descriptor: int) -> None:
    """Wait until the file descriptor can be read; signal handlers run meanwhile, and may raise.

    Only for the main thread.
    """
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    before = signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    try:
        while descriptor not in select.select([descriptor, woken], [], [])[0]:
            os.read(woken, 64)
    finally:
        signal.set_wakeup_fd(before)
        os.close(woken)
        os.close(waker)
