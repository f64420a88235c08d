"""A game played by one person at a terminal, line by line: works in a pipe too."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bideuchre_env.core.state import Outcome, Phase
from bideuchre_env.errors import BidEuchreError, IllegalActionError, NotationError
from bideuchre_env.play.entry import TRUMP, action_typed, calls_listed, spoken
from bideuchre_env.play.seats import place_words
from bideuchre_env.play.session import Move, Session
from bideuchre_env.records.render import card_text, fanned, table_view
from bideuchre_env.records.words import STRAIN_WORDS
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES, MAX_TRICKS, N_SEATS, STRAINS, hand_names

HELP = """\
Type a card by its name or by the key above it, JH or 1; a call by its words,
pass or p, 4, 4 H, moon. Capitals do not matter, and 10♥ is TH. A card without a
key may not be played now. ^ marks trumps, the left bower among them.

  ?  hint: what the adviser would do, and why      t  last trick
  u  undo: take your last card or call back        s  score
  v  the whole table                               q  quit: the game is saved
  h  this help                                     Enter  show your cards again"""
COMMANDS = {
    "hint": ("?", "hint", "advice"),
    "undo": ("u", "undo"),
    "last_trick": ("t", "trick"),
    "score": ("s", "score"),
    "table": ("v", "view", "table"),
    "quit": ("q", "quit", "exit"),
    "help": ("h", "help"),
    "again": ("",),
}
_WORDS = {word: command for command, words in COMMANDS.items() for word in words}
_ASKED = {
    Phase.AUCTION: "Your call",
    Phase.NAMING: "Your trumps",
    Phase.GIVING: "The card you give up",
    Phase.PASSING: "The card you pass to your partner",
    Phase.PLAY: "Your card",
}


class Quit(Exception):
    """Whoever plays has had enough for now."""


class Terminal:
    """One person's game at a console: shows what this seat sees, and asks for lines.

    `pause` are the seconds after each move of an agent; `adviser` is the agent that is asked for
    hints. `read` returns a line, and raises `EOFError` where there are no more.
    """

    def __init__(
        self,
        session: Session,
        console: Console,
        *,
        pause: float = 0.0,
        adviser: str = "inference",
        read: Callable[[], str] = input,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        [self.me] = session.people
        self.session, self.console, self.adviser = session, console, adviser
        self._pause, self._read, self._sleep = pause, read, sleep

    def run(self) -> bool:
        """Play until the game is over: True, or until `q` or the end of the lines: False.

        The game is saved at any time; Ctrl-C raises `KeyboardInterrupt`.
        """
        self._begin_hand()
        try:
            while not self.session.over:
                self.session.advance(self._watched)
                if self.session.hand_over:
                    self._between_hands()
                elif self.session.waits_for_person:
                    self._decide()
        except Quit:
            return False
        return True

    def _say(self, line: str | Text = "") -> None:
        self.console.print(line)

    def _name(self, seat: int) -> str:
        """A seat, seen from here: "you", "left (rule)"."""
        if seat == self.me:
            return "you"
        return f"{place_words(self.me, seat)} ({self.session.agents[seat]})"

    def _begin_hand(self) -> None:
        row = self.session.row
        self._say()
        dealer = int(row["dealer"])
        deals = "you deal" if dealer == self.me else f"{self._name(dealer)} deals"
        self._say(Text(f"Hand {self.session.hand}: {deals}. {self._score_line()}", style="bold"))
        for seat in ((dealer + 1 + turn) % N_SEATS for turn in range(N_SEATS)):
            if row["calls"][seat] >= 0:  # a game that goes on
                self._say(f"  {self._name(seat)}: {self._call_of(row, seat)}")
        if Phase.NAMING < row["phase"] < Phase.DEAL:
            self._say(self._contract_line(row))

    def _call_of(self, row: Any, seat: int) -> str:
        call = int(row["calls"][seat])
        contract = actions.of(self.session.rules).contract(call - 1, int(row["call_strains"][seat]))
        return contract or "pass"

    def _score_line(self) -> str:
        row, rules = self.session.row, self.session.rules
        ours, theirs = (int(row["score"][side]) for side in (self.me & 1, 1 - (self.me & 1)))
        goal = f"game at {rules.target}" if rules.target else f"{4 * (rules.rounds or 0)} hands"
        return f"Score: you {ours}, they {theirs}; {goal}."

    def _watched(self, move: Move) -> None:
        """Show a move that has been made, by whomever, and what it settles."""
        self._say(Text("  ").append_text(self._move_text(move)))
        if move.seat != self.me and self._pause:
            self._sleep(self._pause)
        row = move.row
        if row["phase"] >= Phase.DEAL:
            self._show_trick(row, int(row["trick"]) - 1)
            self._say_result(row)
        elif row["phase"] == Phase.PLAY and row["led"] < 0 and row["trick"] > 0:
            self._show_trick(row, int(row["trick"]) - 1)
        elif row["phase"] > Phase.NAMING and move.name not in CARD_NAMES:
            self._say(self._contract_line(row))
        elif row["phase"] == Phase.PLAY and row["leaders"][1] < 0 and row["led"] < 0:
            self._say_passed(row)

    def _move_text(self, move: Move) -> Text:
        who, row = self._name(move.seat), move.row
        if move.name not in CARD_NAMES:
            return Text(f"{who}: {spoken(move.name)}")
        plays = row["plays"][move.seat * MAX_TRICKS : (move.seat + 1) * MAX_TRICKS]
        card = card_text(move.name, row, self.session.rules)
        mine, gives = move.seat == self.me, move.seat == row["declarer"]
        if any(int(kind) >= 0 and CARD_NAMES[kind] == move.name for kind in plays):
            return Text(f"{who} {'play' if mine else 'plays'} ").append_text(card)
        if not mine:
            return Text(f"{who} {'gives up' if gives else 'passes'} a card")
        return Text(f"you {'give up' if gives else 'pass'} ").append_text(card)

    def _say_passed(self, row: Any) -> None:
        """The exchange is over: the declarer sees what the partner has passed."""
        if row["declarer"] == self.me:
            names = [CARD_NAMES[kind] for kind in row["passed"] if kind >= 0]
            cards = Text(" ").join(card_text(name, row, self.session.rules) for name in names)
            self._say(Text("  you get ").append_text(cards))

    def _contract_line(self, row: Any) -> str:
        rules, level = self.session.rules, int(row["level"])
        contract = actions.of(rules).contract(level, int(row["strain"]))
        alone = ", alone" if rules.ladder[level].alone else ""
        trumps = STRAIN_WORDS[int(row["strain"])]
        word = trumps if trumps == "no trump" else f"{trumps} are trumps"
        return f"Contract: {contract} by {self._name(int(row['declarer']))}{alone}; {word}."

    def _show_trick(self, row: Any, trick: int) -> None:
        """A trick that is complete, and who has it."""
        if trick < 0:
            return
        leader = int(row["leaders"][trick])
        last = trick + 1 == self.session.rules.tricks
        winner = int(row["turn"]) if last else int(row["leaders"][trick + 1])
        line = Text(f"  Trick {trick + 1}: ").append_text(self._cards_of(row, trick, leader))
        takes = "you take it" if winner == self.me else f"{place_words(self.me, winner)} takes it"
        won = [int(row["tricks_won"][side]) for side in (self.me & 1, 1 - (self.me & 1))]
        self._say(line.append(f"; {takes}, {won[0]} to {won[1]}", style="bold"))

    def _cards_of(self, row: Any, trick: int, leader: int) -> Text:
        cards = []
        for seat in ((leader + turn) % N_SEATS for turn in range(N_SEATS)):
            kind = int(row["plays"][seat * MAX_TRICKS + trick])
            if kind >= 0:
                word = Text(f"{place_words(self.me, seat)} ")
                cards.append(word.append_text(card_text(CARD_NAMES[kind], row, self.session.rules)))
        return Text(", ").join(cards)

    def _say_result(self, row: Any) -> None:
        if row["level"] < 0:
            self._say(Text("Passed out.", style="bold"))
            return
        ours = self.me & 1
        points = [int(row["points"][side]) for side in (ours, 1 - ours)]
        declarer = self._name(int(row["declarer"]))
        contract = actions.of(self.session.rules).contract(int(row["level"]), int(row["strain"]))
        line = f"{contract} by {declarer}: {points[0]:+d} for you, {points[1]:+d} for them."
        self._say(Text(f"{line} {self._score_line()}", style="bold"))

    def say_ending(self) -> None:
        """How the game ended, for whoever plays here."""
        row = self.session.row
        ours = self.me & 1
        score = "{} to {}".format(*(int(row["score"][side]) for side in (ours, 1 - ours)))
        hands = f"after {self.session.hand} hand{'s' * (self.session.hand != 1)}"
        if row["outcome"] != Outcome.WON:
            word = "drawn" if row["outcome"] == Outcome.DRAWN else "over without a winner"
            line = f"The game is {word}, {score} {hands}."
        else:
            won = "You and your partner win" if row["winner"] == ours else "Your opponents win"
            line = f"{won}: {score} {hands}."
        self._say()
        self._say(Text(line, style="bold"))

    def _between_hands(self) -> None:
        self._asked("Enter: the next hand", lambda text: self.session.next_hand(), plain="")
        if not self.session.hand_over:
            self._begin_hand()

    def _decide(self) -> None:
        self._show_hand()
        self._asked(_ASKED[Phase(int(self.session.row["phase"]))], self._act)

    def _act(self, text: str) -> None:
        legal, hand = self.session.legal(), self._hand()
        name = action_typed(text, legal, hand, actions.of(self.session.rules))
        self._watched(self.session.act(self.me, name))

    def _hand(self) -> list[str]:
        row = self.session.row
        return fanned(hand_names(int(row["hands"][self.me])), row, self.session.rules)

    def _show_hand(self) -> None:
        """The position as the person to act needs it: the trick, the hand, what may be done."""
        row, legal, hand = self.session.row, self.session.legal(), self._hand()
        self._say()
        if row["phase"] == Phase.PLAY and row["led"] >= 0:
            line = Text("On the table: ")
            trick = int(row["trick"])
            line.append_text(self._cards_of(row, trick, int(row["leaders"][trick])))
            self._say(line.append(f"; {place_words(self.me, int(row['winning']))} winning"))
        grid = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
        cards = legal[0] in CARD_NAMES
        for _ in hand:
            grid.add_column(justify="center", no_wrap=True, min_width=4)
        if cards:
            keys = enumerate(hand, start=1)
            grid.add_row(*(str(key) if name in legal else "-" for key, name in keys))
        grid.add_row(*(card_text(name, row, self.session.rules) for name in hand))
        self.console.print(grid)
        if legal[0].startswith(TRUMP):
            numbered = (f"{key} {spoken(name)}" for key, name in enumerate(legal, start=1))
            self._say(f"You may name: {', '.join(numbered)}")
        elif not cards:
            self._say(f"You may call: {calls_listed(legal)}")

    def _asked(self, prompt: str, answer: Callable[[str], None], plain: str | None = None) -> None:
        """Read lines until the game has changed; what is wrong in one is said, and asked again.

        `plain` is the line that is an answer though it would be a command.
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
        """The command of a line; None of none. Where a strain is named, h is hearts."""
        word = text.casefold()
        naming = self.session.waits_for_person and self.session.row["phase"] == Phase.NAMING
        return None if naming and word.upper() in STRAINS else _WORDS.get(word)

    def _line(self, prompt: str) -> str:
        self.console.print(f"{prompt} (h: help): ", end="")
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
            raise IllegalActionError("a hint is for your own call or card")
        try:
            self._say(Text(str(self.session.advice(self.adviser))))
        except BidEuchreError as error:
            raise IllegalActionError(f"no hint: {error}") from None

    def _do_undo(self) -> None:
        self.session.undo()
        self._say(Text("Taken back.", style="bold"))
        self._begin_hand()

    def _do_last_trick(self) -> None:
        row = self.session.row
        complete = int(row["trick"])
        if complete == 0:
            self._say("No trick of this hand is complete yet.")
        else:
            self._show_trick(row, complete - 1)

    def _do_score(self) -> None:
        row = self.session.row
        won = [int(row["tricks_won"][side]) for side in (self.me & 1, 1 - (self.me & 1))]
        self._say(f"{self._score_line()} Tricks of this hand: you {won[0]}, they {won[1]}.")

    def _do_table(self) -> None:
        session = self.session
        view = table_view(session.row, session.rules, viewer=self.me, agents=session.agents)
        self.console.print(view)

    def _do_help(self) -> None:
        self._say(HELP)

    def _do_again(self) -> None:
        if self.session.waits_for_person:
            self._show_hand()

    def _do_quit(self) -> None:
        raise Quit
