"""The process of a bot: lines in and out with a time limit, and its end in every case.

A thread writes and reads, so that a bot that neither reads nor writes cannot block the program. The
bot has a process group of its own: Ctrl-C reaches only the program, which decides what ends. The
bot ends with its `BotProcess`, with the program, and with a program that is killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import IO, Any

from bideuchre_env._checks import printable
from bideuchre_env._files import reason
from bideuchre_env._quitting import finishers, forget
from bideuchre_env.errors import OptionError

GRACE = 1.0
"""Seconds from the end of a bot's input until it is killed."""
MOST_BYTES = 10_000
"""Maximum length of an answer."""
_WINDOWS = os.name == "nt"


class BotProcess:
    """A running bot that answers each line by a line; `OptionError` if it cannot be started.

    Args:
        words: the program and its arguments.
    """

    def __init__(self, words: Sequence[str]) -> None:
        group: dict[str, Any] = {"start_new_session": True}
        if _WINDOWS:
            group = {"creationflags": 0x200}  # CREATE_NEW_PROCESS_GROUP
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        try:
            process = subprocess.Popen(words, **pipes, **group)  # type: ignore[call-overload]
        except OSError as error:
            raise OptionError(f"{words[0]} cannot be started: {reason(error)}") from None
        kill = partial(kill_group, process)
        finishers.append(kill)
        self._process, guard = process, start_guard(process.pid)
        self._requests: SimpleQueue[bytes | None] = SimpleQueue()
        self._answers: SimpleQueue[bytes] = SimpleQueue()
        self._last: deque[bytes] = deque(maxlen=1)
        self._stderr = _thread(_read_errors, process.stderr, self._last)
        _thread(_exchange, process, self._requests, self._answers)
        self._end = weakref.finalize(self, end, process, guard, self._requests, kill)

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Send a line and return the answer's line, b"" if the bot ends instead.

        Raises `TimeoutError` after `seconds`. The bot is then killed, as after an interrupt.
        """
        self._requests.put(line)
        try:
            return self._answers.get(timeout=seconds)
        except BaseException as error:
            kill_group(self._process)
            self._end()
            if isinstance(error, Empty):
                raise TimeoutError from None
            raise

    def ending(self) -> str:
        """End the bot that has closed its output; return its exit code and last line of errors."""
        try:
            code = f"ended with code {self._process.wait(GRACE)}"
        except subprocess.TimeoutExpired:
            code = "closed its output"
        self._stderr.join(GRACE)
        self._end()
        last = printable(self._last[0].decode("utf-8", "replace").strip()) if self._last else ""
        return f"{code}: {last}" if last else code


def _thread(target: Any, *arguments: Any) -> threading.Thread:
    """Start a thread that ends with the program; it must not hold a `BotProcess`."""
    thread = threading.Thread(target=target, args=arguments, name="bideuchre-bot", daemon=True)
    thread.start()
    return thread


def _exchange(
    process: subprocess.Popen[bytes],
    requests: SimpleQueue[bytes | None],
    answers: SimpleQueue[bytes],
) -> None:
    """Write each request and put the line that answers it, until a request is None."""
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdout:
        while (request := requests.get()) is not None:
            with suppress(OSError):  # the bot has ended: b"" follows
                process.stdin.write(request)
                process.stdin.flush()
            answers.put(process.stdout.readline(MOST_BYTES))
        with suppress(OSError):
            process.stdin.close()


def _read_errors(stream: IO[bytes], last: deque[bytes]) -> None:
    """Read standard error, so that it never fills, and keep its last line that is not blank."""
    with stream:
        while line := stream.readline(MOST_BYTES):
            if line.strip():
                last.append(line)


def end(
    process: subprocess.Popen[bytes],
    guard: subprocess.Popen[bytes] | None,
    requests: SimpleQueue[bytes | None],
    kill: Any,
) -> None:
    """Close the bot's input, and kill it and its children `GRACE` seconds later."""
    requests.put(None)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    kill()
    forget(kill)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    if guard is not None:
        guard.kill()
        guard.communicate()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a bot and the processes that it has started."""
    if _WINDOWS:
        command = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, timeout=GRACE, check=False)
        with suppress(OSError):
            process.kill()
        return
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def start_guard(group: int) -> subprocess.Popen[bytes] | None:
    """Start a shell that kills a process group once this process has ended, however it ends.

    The shell waits for the end of its input, which stays empty. A worker of a match is killed,
    and can end no bots itself. On Windows there is none: the bot's input ends, and so should it.
    """
    if _WINDOWS:
        return None
    script = ["/bin/sh", "-c", 'read -r _; kill -s KILL -- "-$0"', str(group)]
    quiet = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    try:
        return subprocess.Popen(
            script,
            stdin=subprocess.PIPE,
            start_new_session=True,
            **quiet,  # type: ignore[call-overload]
        )
    except OSError:
        return None
