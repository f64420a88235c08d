"""`bideuchre play` on a pseudo-terminal or in a pipe, with answers to its prompts."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np

from bideuchre_env import agents
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.one_row import look_row
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.play.session import Session
from bideuchre_env.rules import actions

PROMPT = "(h: help): "
OURS = ("--partner", "rule", "--opponents", "rule", "cautious", "--pause", "0", "--no-review")


def answer(screen: str) -> str:
    """A line for the last prompt of a screen: the first legal action."""
    lines = screen.rsplit(PROMPT, 1)[0].splitlines()
    if lines[-1].startswith("Enter"):
        return ""
    if lines[-1].startswith("Your call"):
        [calls] = re.findall(r"^You may call: (.*)", "\n".join(lines[-3:]), re.M)
        first = calls.split(", ")[0]
        return calls.partition(", as ")[2] if " with " in calls and first != "pass" else first
    if lines[-1].startswith("Your trumps"):
        return "1"
    keys = lines[-3].split()  # above the cards, above the prompt
    return next(key for key in keys if key != "-")


def to_a_claim(session: Session) -> Session:
    """Play until the tricks left may be claimed; the rule player decides for the person."""
    rule, names = agents.make("rule", session.rules), actions.of(session.rules).names
    layout, tables = layout_of(session.rules), compile_tables(session.rules)
    seen, mask = np.zeros(layout.size, np.int8), np.zeros(len(names), np.int8)
    while not session.can_claim:
        assert not session.over
        session.advance()
        if session.hand_over:
            session.next_hand()
        elif session.waits_for_person and not session.can_claim:
            look_row(session.row.reshape(1), tables, layout.offsets, seen, mask)
            session.act(session.seat, names[rule.act(seen, mask)])
    return session


class Play:
    """A run of `bideuchre play` in a folder, on its own terminal; `end` or `kill` it."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.screen = ""
        self._main, terminal = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bideuchre_env", "play", *arguments],
            cwd=folder,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "80"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # Ctrl-C then reaches it
        )
        os.close(terminal)

    def read(self) -> str | None:
        """The whole screen once it waits at a new prompt; None when the run has ended."""
        before = self.screen.count(PROMPT)
        while self.screen.count(PROMPT) == before or not self.screen.endswith(PROMPT):
            select.select([self._main], [], [])
            try:
                data = os.read(self._main, 65536)
            except OSError:  # the other end is closed
                data = b""
            if not data:
                return None
            self.screen += data.decode().replace("\r\n", "\n")
        return self.screen

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._main, f"{line}\n".encode())

    def play(self, moves: int = 10**6) -> bool:
        """Answer so many prompts; whether the run has not ended."""
        for _ in range(moves):
            screen = self.read()
            if screen is None:
                return False
            self.type(answer(screen))
        return True

    def press(self, key: bytes) -> None:
        """Press a key such as Ctrl-C or Ctrl-D."""
        os.write(self._main, key)

    def end(self) -> int:
        """Read to the end; return the exit status."""
        while self.read() is not None:
            pass
        return self.process.wait()

    def kill(self) -> None:
        """Kill the run by SIGKILL, if it has not ended."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self._main >= 0:
            os.close(self._main)
            self._main = -1
