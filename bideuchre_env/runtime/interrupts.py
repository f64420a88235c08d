"""Handlers of Ctrl-C and SIGTERM: end the program at once, raise once, or set an event.

SIGTERM, which batch systems, containers and `timeout` send, has the effect of Ctrl-C in the command
and in scripts; the exit code is 128 plus the number of the signal. Importing this module changes
nothing. The `bideuchre` command calls `quit_on_signals`, and scripts run inside `raising`. Other
programs keep Python's handlers.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from bideuchre_env._quitting import finish_all

_PYTHONS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
"""The signals that interrupt a program, with Python's handlers."""
_CLEAR_LINE, _SHOW_CURSOR = "\r\x1b[2K", "\x1b[?25h"
CTRL_C = 128 + signal.SIGINT  # the exit code, 130
_last = int(signal.SIGINT)


def interrupted_code() -> int:
    """Return the exit code after an interrupt: 130 after Ctrl-C, 143 after SIGTERM."""
    return 128 + _last


class Quit:
    """Signal handler that ends the program at once, with exit code 128 + the signal's number.

    It removes incomplete files, ends child processes, and prints one line with `name` to standard
    error. It raises no exception, which an import, a compiler or a finalizer could swallow.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, number: int = signal.SIGINT, frame: FrameType | None = None) -> NoReturn:
        _install(dict.fromkeys(_PYTHONS, signal.SIG_IGN))
        with suppress(Exception):
            finish_all()
        with suppress(Exception):
            if "multiprocessing" in sys.modules:
                for process in sys.modules["multiprocessing"].active_children():
                    process.kill()
        bar = "rich" in sys.modules and os.isatty(2)  # it hides the cursor
        line = f"{_CLEAR_LINE + _SHOW_CURSOR if bar else ''}{self.name}: interrupted\n"
        try:
            os.write(2, line.encode())
        finally:
            os._exit(128 + number)


class RaiseOnce(Quit):
    """Signal handler that raises `KeyboardInterrupt`; the second signal ends the program.

    While numba compiles, the first one ends it, because an interrupted compiler may crash.
    """

    def __call__(self, number: int = signal.SIGINT, frame: FrameType | None = None) -> NoReturn:
        private: Any = sys.modules.get("bideuchre_env.runtime.numba_private")
        if private is not None and private.is_compiling():
            super().__call__(number)
        _note(number)
        own = [each for each in _PYTHONS if signal.getsignal(each) is self]
        _install(dict.fromkeys(own, Quit(self.name)))
        raise KeyboardInterrupt


def _install(handlers: Mapping[int, Any]) -> None:
    """Set the handlers of these signals."""
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _note(number: int) -> None:
    """Set the signal of `interrupted_code`."""
    global _last
    _last = number


def quit_on_signals(name: str) -> None:
    """Let Ctrl-C and SIGTERM end this program at once, with a line that names it.

    Has no effect on a signal with another handler than Python's.
    """
    _install(dict.fromkeys(_replaceable(_PYTHONS), Quit(name)))


@contextmanager
def raising(name: str = "") -> Iterator[None]:
    """Context manager: the first signal raises `KeyboardInterrupt`, the second ends the program.

    This replaces the handlers `Quit` and, with a `name`, also Python's. It has no effect on other
    handlers, and outside the main thread.
    """
    before = _replaceable(_PYTHONS if name else ())
    names = [handler.name for handler in before.values() if isinstance(handler, Quit)]
    _install(dict.fromkeys(before, RaiseOnce([*names, name][0])))
    try:
        yield
    finally:
        _install(before)


def _replaceable(pythons: Collection[int]) -> dict[int, Any]:
    """Return, by signal, the handlers of this module and, of the signals `pythons`, Python's own.

    It is empty outside the main thread, where no handler can be replaced.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    handlers = {number: signal.getsignal(number) for number in _PYTHONS}
    return {
        number: handler
        for number, handler in handlers.items()
        if isinstance(handler, Quit) or (number in pythons and handler is _PYTHONS[number])
    }


@contextmanager
def ctrl_c() -> Iterator[threading.Event]:
    """Context manager that yields an event, which the first Ctrl-C sets.

    So does SIGTERM in the command and in scripts; other programs keep its handler. The second
    signal has the effect of the previous handler: it raises, or ends the program. The event is
    never set outside the main thread, or if the handler is not Python's or this module's.
    """
    event = threading.Event()
    before = _replaceable((signal.SIGINT,))

    def handle(number: int, frame: FrameType | None) -> None:
        """Set the event, and restore the previous handlers."""
        _note(number)
        event.set()
        _install(before)

    _install(dict.fromkeys(before, handle))
    try:
        yield event
    finally:
        _install(before)


def leave_to_parent() -> None:
    """Ignore Ctrl-C and SIGTERM in a worker process, because its parent process handles them.

    Both reach every process of a terminal, job or container. A worker whose parent has died ends at
    either signal. The parent blocks both while it starts workers (`blocked`), and ends workers by
    `kill`.
    """
    from multiprocessing import parent_process

    def handle(number: int, frame: FrameType | None) -> None:
        parent = parent_process()
        if parent is not None and not parent.is_alive():
            os._exit(128 + number)

    _install(dict.fromkeys(_PYTHONS, handle))
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _PYTHONS)


@contextmanager
def blocked() -> Iterator[None]:
    """Context manager that blocks Ctrl-C and SIGTERM, also in the processes that it starts.

    On Windows it has no effect.
    """
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # first, because starting it unblocks the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _PYTHONS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
