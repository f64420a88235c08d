"""Exit codes and one-line error messages of the command line and the scripts."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from bideuchre_env._checks import printable
from bideuchre_env._files import reason
from bideuchre_env._quitting import finish_all
from bideuchre_env.errors import BidEuchreError, OutputError
from bideuchre_env.runtime.interrupts import interrupted_code, raising

FAILED, USAGE, BROKEN_PIPE = 1, 2, 141
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EIO)


def exit_code(run: Callable[[], int], name: str) -> int:
    """Return the exit code of `run()`; errors of input and files are printed in one line.

    1: a file could not be written or read. 2: bad input. 130: Ctrl-C. 143: SIGTERM. 141: the reader
    of the output has closed it. `SystemExit` passes.
    """
    _prepare_streams()
    try:
        try:
            return run()
        finally:
            sys.stdout.flush()
    except BidEuchreError as error:
        complain(str(error), name)
        return FAILED if isinstance(error, OutputError) else USAGE
    except KeyboardInterrupt:
        _say(f"{name}: interrupted")
        return interrupted_code()
    except BrokenPipeError:
        # the reader has closed the pipe (`bideuchre records show games.jsonl | head`)
        _silence(sys.stdout)
        return BROKEN_PIPE
    except OSError as error:
        full = _silence(sys.stdout) or (error.errno in _NO_ROOM and error.filename is None)
        where = "standard output" if full else error.filename
        complain(f"{where}: {reason(error)}" if where else reason(error), name)
        return FAILED


def script(run: Callable[[], int]) -> int:
    """Return `exit_code` of a script; Ctrl-C or SIGTERM raises `KeyboardInterrupt`."""
    name = os.path.basename(sys.argv[0])
    try:
        with raising(name):
            return exit_code(run, name)
    finally:
        finish_all()


def ending(errors: list[str], interrupted: bool = False) -> int:
    """Print errors of output files on stderr; return 1 if there are any.

    Otherwise it returns 130 (Ctrl-C) or 143 (SIGTERM) if the run was `interrupted`, else 0.
    """
    sys.stdout.flush()
    for error in errors:
        complain(error)
    return FAILED if errors else interrupted_code() if interrupted else 0


def complain(message: str, name: str = "bideuchre") -> None:
    """Print an error on stderr in one line, after the program's name."""
    _say(f"{name}: error: {printable(message)}")


def _say(line: str) -> None:
    """Print a line on stderr, if stderr can be written."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def _prepare_streams() -> None:
    """Replace streams that the shell has closed (`>&-`) by empty ones.

    Characters that the encoding of a terminal lacks are escaped.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _silence(stream: TextIO) -> bool:
    """Whether a stream cannot be written; redirects such a stream to `os.devnull`."""
    try:
        stream.flush()
    except OSError:
        with suppress(OSError):  # a stream without a file descriptor
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return True
    return False
