"""Ctrl-C where it is not to break into work, and where a program of ours deals with it itself."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from bideuchre_env.runtime.quitting import quit_at_once


def raise_once(number: int, frame: FrameType | None) -> NoReturn:
    """Raise `KeyboardInterrupt`, as Python does; the second Ctrl-C ends the program at once.

    So does the first while numba compiles, which may crash when it is broken off.
    """
    compiler: Any = sys.modules.get("numba.core.compiler_lock")
    if compiler is not None and compiler.global_compiler_lock.is_locked():
        quit_at_once()
    signal.signal(signal.SIGINT, quit_at_once)
    raise KeyboardInterrupt


_HANDLERS = (signal.default_int_handler, quit_at_once, raise_once)


@contextmanager
def raising() -> Iterator[None]:
    """In a program whose Ctrl-C ends it at once: the first one raises `KeyboardInterrupt` here.

    Where that is swallowed, as in a finalizer, the program ends after all.
    """
    if signal.getsignal(signal.SIGINT) is not quit_at_once:
        yield
        return
    hook = sys.unraisablehook

    def unraisable(ignored: Any) -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt):
            quit_at_once()
        hook(ignored)

    sys.unraisablehook = unraisable
    signal.signal(signal.SIGINT, raise_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, quit_at_once)
        sys.unraisablehook = hook


@contextmanager
def ctrl_c() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets, wherever the main thread may be; the second one raises,
    or ends a program of this repository.

    Only where Python's own handler or one of these is in place, in the main thread; elsewhere it is
    never set.
    """
    event = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before not in _HANDLERS:
        yield event
        return

    def handle(number: int, frame: FrameType | None) -> None:
        event.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, handle)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


def typed_line() -> str:
    """A line of standard input, as `input` reads it; Ctrl-C ends the wait for one at any moment.

    `input` looks for signals and then waits: one that comes in between is dealt with when a line is
    there. So a terminal is waited for together with a pipe that Python writes every signal to, but
    where `readline` is loaded, which edits lines as they are typed.
    """
    alone = threading.current_thread() is threading.main_thread()
    if os.name == "posix" and alone and "readline" not in sys.modules and sys.stdin.isatty():
        _wait_for(sys.stdin.fileno())
    return input()


def _wait_for(descriptor: int) -> None:
    """Wait until there is something to read; handlers of signals run meanwhile, and may raise."""
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
