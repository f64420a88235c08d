"""Ctrl-C: where it is not to break into work, and how it ends a program of this repository.

Imported first of all by the package: in the command and the scripts, and nowhere else, Ctrl-C is
one line on stderr from then on, while the heavy imports run and while kernels are compiled, too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from itertools import pairwise

TYPE_CHECKING = False  # `typing` itself takes longer than all the rest
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any, NoReturn

INTERRUPTED = 130  # the exit code of what Ctrl-C has ended
_COMMAND = "bideuchre"
_CLEAR_LINE, _SHOW_CURSOR = "\r\x1b[2K", "\x1b[?25h"


def program() -> str:
    """The name of what is running if it is the command or a script of this repository, else ""."""
    argv = getattr(sys, "argv", None) or [""]
    if argv[0] == "-m":  # a package is imported before its `__main__`
        named = [after for word, after in pairwise(sys.orig_argv) if word == "-m"]
        return _COMMAND if named and named[0].split(".")[0] == "bideuchre_env" else ""
    path = os.path.realpath(argv[0])
    if os.path.basename(argv[0]) in (_COMMAND, f"{_COMMAND}.exe", f"{_COMMAND}-script.py"):
        return _COMMAND
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if path == os.path.join(package, "cli", "__main__.py"):
        return _COMMAND
    folders = (os.path.join(package, os.pardir, name, "") for name in ("experiments", "benchmarks"))
    ours = path.endswith(".py") and path.startswith(tuple(map(os.path.realpath, folders)))
    return os.path.basename(path) if ours else ""


def quit_at_once(number: int = signal.SIGINT, frame: FrameType | None = None) -> NoReturn:
    """End the program with one line: files that are not complete are removed, processes ended.

    Nothing is raised, so nothing can swallow it: an import, a compiler, a finalizer.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(Exception):
        if "bideuchre_env._files" in sys.modules:
            from bideuchre_env import _files

            _files.discard_all()
    with suppress(Exception):
        if "multiprocessing" in sys.modules:
            import multiprocessing

            for process in multiprocessing.active_children():
                process.terminate()
    bar = "rich" in sys.modules and os.isatty(2)  # which hides the cursor
    line = f"{_CLEAR_LINE + _SHOW_CURSOR if bar else ''}{program() or _COMMAND}: interrupted\n"
    with suppress(OSError):
        os.write(2, line.encode())
    os._exit(INTERRUPTED)


def raise_once(number: int, frame: FrameType | None) -> NoReturn:
    """Raise `KeyboardInterrupt`, as Python does; the second Ctrl-C ends the program at once."""
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


if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    and program()
):
    signal.signal(signal.SIGINT, quit_at_once)
