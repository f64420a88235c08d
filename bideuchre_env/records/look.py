"""`Look`: the table in a state row as a seat sees it, with descriptions in words.

All renderings of the table use it: text, pixels and pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bideuchre_env.core.legality import lays_away, legal_names
from bideuchre_env.core.replay import last_caller_row
from bideuchre_env.core.state import Outcome, Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.words import action_to_do, card_words
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import (
    CARD_NAMES,
    MAX_TRICKS,
    N_SEATS,
    NO_TRUMP,
    STRAIN_WORDS,
    hand_names,
    parse_card,
    sort_key,
)
from bideuchre_env.rules.rules import Rules

_SEATS = ("you", "left", "partner", "right")


def last_caller(row: Any, rules: Rules) -> int:
    """Return the seat that has made the last call in a state row; the auction must have begun."""
    rows, scratch = new_states(1), new_states(1)
    rows[0] = row
    return int(last_caller_row(rows, compile_tables(rules), scratch))


@dataclass(frozen=True)
class Look:
    """The table in a state row as `viewer` sees it: a seat, or None for the open view.

    A viewer sees its own cards and the backs of the others'. All cards are face up with
    `open_hands` and in the open view, which also calls seats by number. `agents` are four names,
    by seat.
    """

    row: Any
    rules: Rules
    viewer: int | None
    open_hands: bool = False
    agents: list[str] | None = None

    @property
    def bottom(self) -> int:
        """The seat drawn at the bottom."""
        return self.viewer or 0

    @cached_property
    def strain(self) -> int:
        """The strain of the contract, or -1 before it is known."""
        settled = self.row["phase"] > Phase.NAMING and self.row["level"] >= 0
        return int(self.row["strain"]) if settled else -1

    @property
    def over(self) -> bool:
        """Whether the hand is over."""
        return bool(self.row["phase"] >= Phase.DEAL)

    @property
    def need(self) -> int:
        """Number of tricks required by the contract, or by the highest bid; there must be one."""
        return int(compile_tables(self.rules)[0]["need"][int(self.row["level"])])

    @property
    def made(self) -> bool:
        """Whether the declarer's side has won the tricks that its contract requires."""
        return bool(self.row["tricks_won"][int(self.row["declarer"]) & 1] >= self.need)

    def who(self, seat: int) -> str:
        """Name a seat relative to the viewer ("partner"), or by number without a viewer."""
        if self.viewer is None:
            return f"seat {seat}"
        return _SEATS[(seat - self.viewer) % N_SEATS]

    def pair(self, name: str) -> tuple[int, int]:
        """Values of a field for both sides, the side at the bottom first."""
        side = self.bottom & 1
        return int(self.row[name][side]), int(self.row[name][1 - side])

    def side(self, side: int) -> str:
        """Name the two seats of a side, as `who` does."""
        seats = (self.bottom, (self.bottom + 1) % N_SEATS)[side != self.bottom & 1]
        return f"{self.who(seats)} and {self.who((seats + 2) % N_SEATS)}"

    def seen(self, seat: int) -> bool:
        """Whether the viewer sees the cards of a seat."""
        return self.viewer is None or self.open_hands or seat == self.viewer

    def to_act(self, seat: int) -> bool:
        """Whether it is this seat's turn."""
        return bool(not self.over and self.row["turn"] == seat)

    def legal(self, seat: int) -> list[str]:
        """Names of the cards that a seat may choose now; [] if it is not to choose a card.

        They are also [] if the viewer does not see them.
        """
        choosing = self.row["phase"] > Phase.NAMING and self.to_act(seat)
        return legal_names(self.row, self.rules) if choosing and self.seen(seat) else []

    def call(self, seat: int) -> str | None:
        """The call of a seat in notation: "pass", "4", "moon H"; None before its call."""
        call = int(self.row["calls"][seat])
        if call <= 0:
            return None if call < 0 else "pass"
        strain = int(self.row["call_strains"][seat])
        return actions.of(self.rules).contract(call - 1, strain)

    @property
    def bid(self) -> Bid | None:
        """The winning bid of the auction; None before its end, and if all have passed."""
        decided = self.row["calls_made"] == N_SEATS and self.row["level"] >= 0
        return self.rules.ladder[int(self.row["level"])] if decided else None

    def notation(self) -> str | None:
        """The contract in notation: "4 H", "moon"; None without a winning bid."""
        level, strain = int(self.row["level"]), int(self.row["strain"])
        return actions.of(self.rules).contract(level, strain) if self.bid else None

    def contract(self) -> str:
        """The contract, or the highest bid so far, in words: "4 in diamonds"; there must be one."""
        row = self.row
        bid = self.rules.ladder[int(row["level"])]
        strain = f" in {STRAIN_WORDS[row['strain']]}" if row["strain"] >= 0 else ""
        return f"{bid.name}{strain}{' alone' if bid.alone else ''}"

    def title(self) -> str:
        """Heading in words: contract, tricks and score; or "Auction" or "Passed out"."""
        row, ours_theirs = self.row, "score {} to {}".format(*self.pair("score"))
        if not self.bid:
            return f"{'Passed out' if self.over else 'Auction'} · {ours_theirs}"
        tricks = self.rules.tricks
        return (
            f"{self.contract().capitalize()} by {self.who(int(row['declarer']))} · "
            f"trick {min(int(row['trick']) + 1, tricks)} of {tricks} · "
            f"tricks {'{} to {}'.format(*self.pair('tricks_won'))} · {ours_theirs}"
        )

    def next_action(self) -> str:
        """The seat to act and its kind of action, "partner to call"; the hand must not be over."""
        row = self.row
        led = f", {STRAIN_WORDS[row['led']]} led" if row["led"] >= 0 else ""
        return f"{self.who(int(row['turn']))} {self.to_do}{led}"

    @property
    def to_do(self) -> str:
        """The kind of action of the seat to act, "to call"; the hand must not be over."""
        return action_to_do(self.row, self.rules)

    @property
    def lays_away(self) -> bool:
        """Whether the declarer is to lay away a card for the kitty."""
        return lays_away(self.row, self.rules)

    def trump_power(self, name: str) -> int:
        """Rank of a trump, highest for the right bower; 0 for any other card."""
        if not 0 <= self.strain < NO_TRUMP:
            return 0
        power = compile_tables(self.rules)[0]["power"]
        return int(power[self.strain, self.strain, parse_card(name)])

    def fanned(self, names: list[str]) -> list[str]:
        """Sort cards: trumps first from the right bower down, then suit by suit."""
        return sorted(names, key=lambda name: (-self.trump_power(name), sort_key(name)))

    def hand(self, seat: int) -> list[str]:
        """Cards of a seat in the order of `fanned`."""
        return self.fanned(hand_names(int(self.row["hands"][seat])))

    def kitty(self) -> tuple[list[str], bool]:
        """Return the names of the cards dealt to the kitty, and whether the viewer knows them.

        The declarer knows them when it has taken them up; the open view always does.
        """
        row = self.row
        taken = self.bid is not None and row["phase"] > Phase.NAMING
        knows = self.seen(int(row["declarer"])) if taken else self.viewer is None or self.open_hands
        return [CARD_NAMES[kind] for kind in row["kitty"][: self.rules.kitty] if kind >= 0], knows

    def laid_away(self) -> tuple[list[str], bool]:
        """Return the names of the cards laid away, and whether the viewer knows them."""
        laid = [CARD_NAMES[kind] for kind in self.row["laid"][: self.rules.kitty] if kind >= 0]
        return laid, self.seen(int(self.row["declarer"]))

    def exchanged(self) -> tuple[tuple[list[str], bool], tuple[list[str], bool]]:
        """Return the cards given up so far, and the cards passed so far.

        Each is a pair: names of the cards, and whether the viewer knows them.
        """
        row, declarer = self.row, int(self.row["declarer"])
        partner = (declarer + 2) % N_SEATS
        given, passed = (
            [CARD_NAMES[kind] for kind in row[field] if kind >= 0] for field in ("given", "passed")
        )
        received = row["phase"] >= Phase.PLAY and self.seen(declarer)
        taken_up = self.rules.exchange_seen == "open" and row["phase"] >= Phase.PASSING
        knows_given = self.seen(declarer) or (taken_up and self.seen(partner))
        return (given, knows_given), (passed, self.seen(partner) or received)

    def trick(self, number: int) -> list[str | None]:
        """The cards of trick `number`, from 0, by seat; None where no card was played."""
        kinds = (int(self.row["plays"][seat * MAX_TRICKS + number]) for seat in range(N_SEATS))
        return [CARD_NAMES[kind] if kind >= 0 else None for kind in kinds]

    def winner(self, number: int) -> int:
        """The winner of a complete trick: the leader of the next one, or `turn` after the last."""
        later = int(self.row["leaders"][number + 1]) if number + 1 < MAX_TRICKS else -1
        return later if later >= 0 else int(self.row["turn"])

    def left_bower(self) -> str | None:
        """The left bower of the contract; None without trump."""
        trump = self.strain
        if trump not in range(NO_TRUMP):
            return None
        return CARD_NAMES[int(compile_tables(self.rules)[0]["ranked"][trump, trump, 1])]

    def left_bower_words(self) -> str:
        """The note on the left bower: "The jack of hearts, ..., is ..."; there must be a trump."""
        left, trumps = card_words(str(self.left_bower())), STRAIN_WORDS[self.strain]
        return f"The {left}, the left bower, is one of the {trumps}."

    def game_result(self) -> str:
        """Format the result of the game, which must be over: "You lost, 9 to -3".

        The score begins with the winner's, else with that of the side at the bottom.
        """
        row, winner, (ours, theirs) = self.row, int(self.row["winner"]), self.pair("score")
        if row["outcome"] != Outcome.WON:
            drawn = row["outcome"] == Outcome.DRAWN
            how = "drawn" if drawn else "over without a winner"
            return f"The game is {how}, {ours} to {theirs}"
        mine = winner == self.bottom & 1
        points = f"{ours} to {theirs}" if mine else f"{theirs} to {ours}"
        if self.who(self.bottom) == "you":
            return f"You {'won' if mine else 'lost'}, {points}"
        return f"{self.side(winner).capitalize()} won, {points}"

    def result(self) -> list[str]:
        """Sentences on the result of the hand, which must be over, and of the game if it is over.

        A hand that was passed out has no sentence.
        """
        row, lines = self.row, []
        if row["level"] >= 0:
            form = "points {:+d} to {:+d}"
            if self.who(self.bottom) == "you":
                form = "you {:+d}, they {:+d}"
            points = form.format(*self.pair("points"))
            lines.append(f"{'Made' if self.made else 'Set'}: {points}.")
        if row["outcome"] != Outcome.UNFINISHED:
            lines.append(f"{self.game_result()}.")
        return lines
