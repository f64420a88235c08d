"""The table as plain data, for pages: everything that one seat may know, and nothing more.

No page has a rule of the game: which actions are legal, which cards are trumps, who has won a trick
and every word for it come from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.look import Look
from bideuchre_env.records.picture import SHAPES
from bideuchre_env.records.words import STRAIN_WORDS, TO_DO, action_words, card_words
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import N_SEATS, STRAINS
from bideuchre_env.rules.parse import parse_seat
from bideuchre_env.rules.rules import Rules

View = dict[str, Any]
SEATS = range(N_SEATS)


def game_view(rules: Rules) -> View:
    """What a page knows of a game before anything is dealt, JSON-able.

    `words` says every action by its name, `strains` the strains; `shapes` are the signs of the
    suits as paths in a square of 20 by 20; `tricks` of a hand, and the `goal`, "to 32".
    """
    hands = int(compile_tables(rules)[0]["hands_to_play"])
    return {
        "words": action_words(rules),
        "strains": dict(zip(STRAINS, STRAIN_WORDS, strict=True)),
        "shapes": SHAPES,
        "tricks": rules.tricks,
        "goal": f"{hands} hands" if hands else f"to {rules.target}",
    }


def table_view(
    row: Any,
    rules: Rules,
    seat: int | None = None,
    agents: list[str] | None = None,
    *,
    numbered: bool = False,
) -> View:
    """The table in a state row as `seat` may know it, None for all of it; JSON-able.

    Seats are 0 to 3, sides `seat & 1`, actions and cards go by their names, and what is not there
    yet is None. In the order of the dict: `seat`; `agents`, their four names; `phase`; `turn`, the
    seat to act; `dealer`; `hands`, four, each the cards in display order, trumps first, or how many
    where they are hidden; `sitting_out`; `calls`, four; `contract` ("4 H"), `declarer`, its
    `partner` and `side`, `alone`,
    `need` (tricks), `strain`; `given` and `passed`, the cards of an exchange or how many; `trick`,
    four cards, `number` (from 1), `leader` and `winning` seat; `last_trick`, `last_number`,
    `last_leader`, `last_winner`; `tricks_won`, `points` (None before the end) and `score` by side;
    `hand`, its number in the game; `target`; `legal`, the names of the actions of the seat to act
    where its cards are seen; `words`, what has happened and who is to do what, also apart as
    `happened` and `to_do`; `remark`, which card is not what it seems; `result`, how the hand has
    ended; `title`.

    In words seats are "you", "left", "partner" and "right" of `seat`, or with `numbered`, and
    without a seat, "seat 0" to "seat 3". Raises `OptionError` for a seat that is none.
    """
    if seat is not None:
        seat = parse_seat("seat", seat)
    look = _Table(row, rules, seat, agents=agents, numbered=numbered)
    phase, bid = Phase(int(row["phase"])), look.bid
    given, passed = look.exchanged()
    last = int(row["trick"]) - 1 if phase >= Phase.PLAY else -1
    strain = None if look.strain < 0 else STRAINS[look.strain]
    happened = " ".join(map(_sentence, look.happened()))
    to_do = " ".join(map(_sentence, look.next_words()))
    return {
        "seat": seat,
        "agents": agents,
        "phase": phase.name.lower(),
        "turn": None if look.over else int(row["turn"]),
        "dealer": int(row["dealer"]),
        "hands": [look.hand(who) if look.seen(who) else look.cards_of(who) for who in SEATS],
        "sitting_out": _seat(row["sitting_out"]),
        "calls": [look.call(who) for who in SEATS],
        "contract": look.notation(),
        "declarer": int(row["declarer"]) if bid else None,
        "partner": int(row["declarer"]) ^ 2 if bid else None,
        "side": int(row["declarer"]) & 1 if bid else None,
        "alone": bid is not None and bid.alone,
        "need": look.need if bid else None,
        "strain": strain,
        "given": look.pile(*given),
        "passed": look.pile(*passed),
        "trick": look.trick(last + 1) if last + 1 < rules.tricks else [None] * N_SEATS,
        "number": min(last + 2, rules.tricks),
        "leader": int(row["leaders"][last + 1]) if phase == Phase.PLAY else None,
        "winning": _seat(row["winning"]) if phase == Phase.PLAY else None,
        "last_trick": look.trick(last) if last >= 0 else None,
        "last_number": last + 1 if last >= 0 else None,
        "last_leader": int(row["leaders"][last]) if last >= 0 else None,
        "last_winner": look.winner(last) if last >= 0 else None,
        "tricks_won": row["tricks_won"].tolist(),
        "points": row["points"].tolist() if look.over else None,
        "score": row["score"].tolist(),
        "hand": int(row["hands_dealt"]),
        "target": rules.target,
        "legal": [] if look.over or not look.seen(int(row["turn"])) else legal_names(row, rules),
        "words": f"{happened} {to_do}".rstrip(),
        "happened": happened,
        "to_do": to_do,
        "remark": look.left_bower_words() if strain not in (None, "NT") else None,
        "result": " ".join(look.result()) or None if look.over else None,
        "title": look.title(),
    }


def _seat(number: Any) -> int | None:
    return int(number) if number >= 0 else None


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:].rstrip(".") + "."


@dataclass(frozen=True)
class _Table(Look):
    """The table, and what happens at it in sentences."""

    numbered: bool = False

    @property
    def bottom(self) -> int:
        return 0 if self.numbered else self.viewer or 0

    def who(self, seat: int) -> str:
        return f"seat {seat}" if self.numbered else super().who(seat)

    @property
    def bid(self) -> Bid | None:
        """The bid that has won the auction."""
        decided = self.row["calls_made"] == N_SEATS and self.row["level"] >= 0
        return self.rules.ladder[int(self.row["level"])] if decided else None

    def notation(self) -> str | None:
        """The contract."""
        level, strain = int(self.row["level"]), int(self.row["strain"])
        return actions.of(self.rules).contract(level, strain) if self.bid else None

    def cards_of(self, seat: int) -> int:
        """How many cards a seat holds."""
        return int(self.row["hands"][seat]).bit_count()

    def pile(self, names: list[str], known: bool) -> list[str] | int:
        """Cards put aside, or how many."""
        return self.fanned(names) if known or not names else len(names)

    def does(self, seat: int, verb: str, what: str = "") -> str:
        """A seat does something: "seat 1 plays the jack of hearts", "you play ..."."""
        who = self.who(seat)
        ending = "" if who == "you" else "es" if verb.endswith("ss") else "s"
        return f"{who} {verb}{ending}{what}"

    def happened(self) -> Iterator[str]:
        """What the last action was, and what has come of it."""
        row = self.row
        given, passed = self.exchanged()
        if row["trick"] > 0 or row["winning"] >= 0:
            yield from self._played()
        elif passed[0]:
            yield self._gave((int(row["declarer"]) + 2) % N_SEATS, "pass", *passed)
        elif given[0]:
            yield self._gave(int(row["declarer"]), "give up", *given)
        elif row["calls_made"] == 0:
            yield self.does(int(row["dealer"]), "deal")
        elif row["phase"] > Phase.NAMING and self.bid and not self._named_in_bid():
            yield self.does(int(row["declarer"]), "name", f" {STRAIN_WORDS[row['strain']]}")
        else:
            yield self._called((int(row["dealer"]) + int(row["calls_made"])) % N_SEATS)
        if self.bid and row["phase"] > Phase.NAMING and row["trick"] == 0 and row["winning"] < 0:
            yield f"the contract is {self.contract()} by {self.who(int(row['declarer']))}"
        if self.over:
            yield from self.result() or ["all four have passed"]

    def _named_in_bid(self) -> bool:
        return bool(self.row["call_strains"][int(self.row["declarer"])] >= 0)

    def _called(self, seat: int) -> str:
        call = self.call(seat)
        if call == "pass":
            return self.does(seat, "pass")
        return self.does(seat, "bid", action_words(self.rules)[f"bid {call}"][3:])

    def _gave(self, seat: int, verb: str, cards: list[str], known: bool) -> str:
        """The last of the cards put aside, as far as it is known."""
        first, _, rest = verb.partition(" ")
        name = f"the {card_words(cards[-1])}" if known else "a card"
        return self.does(seat, first, f"{rest and ' '}{rest} {name}")

    def _played(self) -> Iterator[str]:
        """The last card played, and the trick it has ended."""
        row = self.row
        begun = row["phase"] == Phase.PLAY and row["winning"] >= 0
        number = int(row["trick"]) - (not begun)
        leader, cards = int(row["leaders"][number]), self.trick(number)
        order = [(leader + turn) % N_SEATS for turn in SEATS]
        seat = [who for who in order if cards[who]][-1]
        yield self.does(seat, "play", f" the {card_words(str(cards[seat]))}")
        if not begun:
            yield self.does(self.winner(number), "win", f" trick {number + 1}")

    def next_words(self) -> Iterator[str]:
        """Who is to do what."""
        row = self.row
        if not self.over:
            led = f", {STRAIN_WORDS[row['led']]} led" if row["led"] >= 0 else ""
            yield f"{self.who(int(row['turn']))} {TO_DO[Phase(int(row['phase']))]}{led}"
