"""How Ctrl-C ends a program of this repository, the command or a script: at once, with one line.

The package imports this before anything else, so that it holds while the heavy imports run. In a
program of anybody else's nothing changes. It imports little, to be there soon.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # `typing` itself takes longer than all the rest
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType
    from typing import NoReturn, TextIO

INTERRUPTED = 130  # the exit code of what Ctrl-C has ended
_COMMAND = "bideuchre"
_CLEAR_LINE, _SHOW_CURSOR = "\r\x1b[2K", "\x1b[?25h"


def program() -> str:
    """The name of what is running if it is the command or a script of this repository, else "".

    Such a script is one that imports this file at its head; another that lies there is left alone.
    """
    argv = getattr(sys, "argv", None) or [""]
    if argv[0] == "-m":  # a package is imported before its `__main__`
        named = sys.orig_argv[sys.orig_argv.index("-m") + 1 :] if "-m" in sys.orig_argv else []
        return _COMMAND if named and named[0].split(".")[0] == "bideuchre_env" else ""
    if os.path.basename(argv[0]) in (_COMMAND, f"{_COMMAND}.exe", f"{_COMMAND}-script.py"):
        return _COMMAND
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    path = os.path.realpath(argv[0])
    if path == os.path.join(package, "__main__.py"):
        return _COMMAND
    root = os.path.dirname(package)
    folders = [os.path.join(root, name, "") for name in ("experiments", "benchmarks")]
    if not path.startswith((*folders,)):
        return ""
    try:
        with open(path, "rb") as file:
            head = file.read(8192)
    except OSError:  # it has been moved
        return ""
    return os.path.basename(path) if __name__.encode() in head else ""


def quit_at_once(number: int = signal.SIGINT, frame: FrameType | None = None) -> NoReturn:
    """End the program with one line: files that are not complete are removed, processes ended.

    Nothing is raised, so nothing can swallow it: an import, a compiler, a finalizer.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _clean_up()
    bar = "rich" in sys.modules and os.isatty(2)  # which hides the cursor
    line = f"{_CLEAR_LINE + _SHOW_CURSOR if bar else ''}{program() or _COMMAND}: interrupted\n"
    try:
        os.write(2, line.encode())
    finally:
        os._exit(INTERRUPTED)


def leave_at_once(streams: Iterable[TextIO]) -> None:
    """End a program of ours that Ctrl-C has ended, and that has said so; others go on.

    Without finalizers: a compiler that was broken off may crash in them.
    """
    if signal.getsignal(signal.SIGINT) is not quit_at_once:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _clean_up()
    try:
        for stream in streams:
            stream.flush()
    finally:
        os._exit(INTERRUPTED)


def _clean_up() -> None:
    for clean_up in (_discard_files, _end_processes):
        try:
            clean_up()
        except Exception:  # then that is left
            continue


def _discard_files() -> None:
    if "bideuchre_env._files" in sys.modules:
        from bideuchre_env._files import discard_all

        discard_all()


def _end_processes() -> None:
    if "multiprocessing" in sys.modules:
        import multiprocessing

        for process in multiprocessing.active_children():
            process.terminate()


def take_ctrl_c() -> None:
    """Let Ctrl-C end the program at once, if it is one of ours and nobody has taken Ctrl-C yet."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler and program():
        try:
            signal.signal(signal.SIGINT, quit_at_once)
        except ValueError:  # this is not the main thread
            return


take_ctrl_c()
