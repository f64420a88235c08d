"""`Terminal`: a game played by one person at a terminal; input and output may also be pipes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from bideuchre_env.core.state import Phase
from bideuchre_env.errors import BidEuchreError, IllegalActionError, NotationError
from bideuchre_env.play.lines import Lines, action_typed, addressed
from bideuchre_env.play.session import Move, Session
from bideuchre_env.records.render import table_view
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import STRAINS
from bideuchre_env.runtime.interrupts import typed_line

HELP = """\
Type a card by its name or by the key above it: JH or 1.
Type a call by its words: pass or p, 4, 4 H, moon.
Case does not matter; 10♥ means TH. A card without a key is not legal now.
^ marks trumps, the left bower included.

  ?  hint, with a reason                           t  last trick
  u  undo your last card or call                   s  score
  c  claim, if all tricks left are yours           v  view the whole table
  h  help                                          q  quit; the game is saved
  Enter  show your cards again"""
COMMANDS = {
    "hint": ("?", "hint", "advice"),
    "undo": ("u", "undo"),
    "claim": ("c", "claim"),
    "last_trick": ("t", "trick"),
    "score": ("s", "score"),
    "table": ("v", "view", "table"),
    "quit": ("q", "quit", "exit"),
    "help": ("h", "help"),
    "again": ("",),
}
_WORDS = {word: command for command, words in COMMANDS.items() for word in words}
_PROMPTS = {
    Phase.AUCTION: "Your call",
    Phase.NAMING: "Your strain",
    Phase.GIVING: "The card you give up",
    Phase.PASSING: "The card you pass to your partner",
    Phase.PLAY: "Your card",
}
_LAY_AWAY = "The card you lay away"


class Quit(Exception):
    """The player has quit."""


class Terminal:
    """A person's game at a console: prints the view of this seat, and reads lines.

    The session must have exactly one person.
    `pause` is the delay in seconds after each move of an agent. `adviser` is the agent for hints;
    `before_hint` is called before the first hint, for example to compile. `read` returns a line,
    and raises `EOFError` at the end of the input.
    """

    def __init__(
        self,
        session: Session,
        console: Console,
        *,
        pause: float = 0.0,
        adviser: str = "inference",
        before_hint: Callable[[], None] = lambda: None,
        read: Callable[[], str] = typed_line,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        [self.me] = session.people
        self.session, self.console, self.adviser = session, console, adviser
        self._pause, self._read, self._sleep = pause, read, sleep
        self._get_ready: Callable[[], None] | None = before_hint

    def run(self) -> bool:
        """Play; return True when the game is over, False after `q` or the end of the input.

        The game is saved after every action; Ctrl-C raises `KeyboardInterrupt`.
        """
        self._begin_hand()
        try:
            while not self.session.over:
                self.session.advance(self._print_move)
                if self.session.hand_over:
                    self._between_hands()
                elif self.session.waits_for_person:
                    self._decide()
        except Quit:
            return False
        return True

    def _say(self, *lines: RenderableType) -> None:
        for line in lines:
            self.console.print(line)

    def _lines(self, row: Any = None) -> Lines:
        """Return the `Lines` of the current state row, or of another row."""
        row = self.session.row if row is None else row
        return Lines(row, self.session.rules, self.me, agents=self.session.names)

    def _begin_hand(self) -> None:
        lines = self._lines()
        self._say("", Text(lines.title(), style="bold"), *lines.so_far())

    def _print_move(self, move: Move, pause: float | None = None) -> None:
        """Print a move and its result; wait `pause` seconds between them after an agent's move.

        None is the terminal's own pause.
        """
        lines, pause = self._lines(move.row), self._pause if pause is None else pause
        self._say(lines.move(move.seat, move.name))
        if move.seat != self.me and pause:
            self._sleep(pause)
        self._say(*lines.result_lines(move.name))

    def print_ending(self) -> None:
        """Print the result of the game."""
        self._say("", Text(self._lines().ending(), style="bold"))

    def _between_hands(self) -> None:
        self._prompt("Enter: next hand", self._next_hand, plain="")

    def _next_hand(self, text: str) -> None:
        if text:
            raise NotationError("Enter deals the next hand; u undoes your last card (h: help)")
        self.session.next_hand()
        self._begin_hand()

    def _decide(self) -> None:
        self._do_again()
        prompt = _PROMPTS[Phase(int(self.session.row["phase"]))]
        self._prompt(_LAY_AWAY if self._lines().lays_away else prompt, self._act)

    def _act(self, text: str) -> None:
        legal, hand = self.session.legal(), self._lines().hand(self.me)
        led, acts = int(self.session.row["led"]), actions.of(self.session.rules)
        name = action_typed(text, legal, hand, acts, led)
        self._print_move(self.session.act(self.me, name))

    def _prompt(self, prompt: str, answer: Callable[[str], None], plain: str | None = None) -> None:
        """Read lines until the game has changed; after an invalid line, print the reason.

        `plain` is a line that is passed to `answer` although it is also a command. Raises `Quit`
        when the player quits or the input ends.
        """
        before = self._place()
        while self._place() == before:
            text = self._line(prompt)
            command = None if text == plain else self._command(text)
            try:
                if command is not None:
                    getattr(self, f"_do_{command}")()
                else:
                    answer(text)
            except (NotationError, IllegalActionError) as error:
                self._say(Text(str(error), style="yellow"))

    def _place(self) -> tuple[int, int]:
        return self.session.decisions, self.session.hand

    def _command(self, text: str) -> str | None:
        """Return the command of a line, or None. While a strain is named, h is hearts."""
        word = text.casefold()
        return None if self._is_naming() and word.upper() in STRAINS else _WORDS.get(word)

    def _is_naming(self) -> bool:
        return self.session.waits_for_person and bool(self.session.row["phase"] == Phase.NAMING)

    def _line(self, prompt: str) -> str:
        key = "help" if self._is_naming() else "h"
        self.console.print(f"{prompt} ({key}: help): ", end="")
        self.console.file.flush()
        try:
            text = self._read()
        except EOFError:
            self._say()
            raise Quit from None
        if not sys.stdin.isatty():
            self._say(Text(text))
        return text.strip()

    def _do_hint(self) -> None:
        if not self.session.waits_for_person:
            raise IllegalActionError("a hint is available only on your turn")
        if self._get_ready is not None:
            self._say(Text(f"{self.adviser} is thinking ..."))
            self._get_ready()
            self._get_ready = None
        try:
            advice = self.session.advice(self.adviser)
            self._say(Text(addressed(str(advice), self.me)))
        except BidEuchreError as error:
            raise IllegalActionError(f"no hint: {error}") from None

    def _do_undo(self) -> None:
        self.session.undo()
        self._say("Your last action is undone.")
        self._begin_hand()

    def _do_claim(self) -> None:
        self.session.claim(self.me, partial(self._print_move, pause=0.0))

    def _do_last_trick(self) -> None:
        lines = self._lines()
        complete = int(lines.row["trick"])
        none = "No trick of this hand is complete yet."
        self._say(lines.trick_line(complete - 1) if complete else none)

    def _do_score(self) -> None:
        lines = self._lines()
        tricks = "you {}, they {}".format(*lines.pair("tricks_won"))
        self._say(f"{lines.score()} Tricks of this hand: {tricks}.")

    def _do_table(self) -> None:
        session = self.session
        view = table_view(
            session.row, session.rules, viewer=self.me, agents=session.names, relative=True
        )
        self.console.print(view)

    def _do_help(self) -> None:
        self._say(HELP, *["c, d, h, s are suits now: type claim, help, score."] * self._is_naming())

    def _do_again(self) -> None:
        if self.session.waits_for_person:
            lines = self._lines()
            self._say(*lines.to_decide(self.session.legal(), lines.hand(self.me)))
            if self.session.can_claim:
                self._say("You are certain to take every trick left: c claims them.")

    def _do_quit(self) -> None:
        raise Quit
