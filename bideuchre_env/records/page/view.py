"""The table as JSON values, for pages: all information of one seat, and nothing more.

A recorded hand is a list of frames: the view of the table after each action, as a patch to the
previous view.

Pages contain no rules of the game. Legal actions, trumps, winners of tricks and all words come from
here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise, zip_longest
from typing import Any

from bideuchre_env.core.legality import legal_names
from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.look import Look, last_caller
from bideuchre_env.records.picture import SHAPES
from bideuchre_env.records.words import action_words, card_words
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS, STRAIN_WORDS, STRAINS
from bideuchre_env.rules.parse import parse_seat
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

View = dict[str, Any]
SEATS = range(N_SEATS)
_NEVER = ("title", "result", "happened", "to_do")  # shown differently in a replay


def game_view(rules: Rules) -> View:
    """Return the constants of a game for a page, as JSON values.

    `words` has the words for every action name, `strains` for the strains; `shapes` are the suit
    symbols as SVG paths in a square of 20 by 20; `tricks` per hand; and the `goal`, "to 32" or, if
    rounds are counted, "12 hands".
    """
    hands = int(compile_tables(rules)[0]["hands_to_play"])
    return {
        "words": action_words(rules),
        "strains": dict(zip(rules.strains, STRAIN_WORDS, strict=False)),
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
    """Return the view of a table by a seat, or with None the open view, as JSON values.

    Seats are 0 to 3, sides `seat & 1`, actions and cards have their names, and a missing value is
    None. In the order of the dict: `seat`; `agents`, their four names; `phase`; `turn`, the seat to
    act; `dealer`; `hands`, four, each the cards in display order, trumps first, or their number if
    hidden; `sitting_out`; `calls`, four; `contract` ("4 H"), `declarer`, its `partner` and `side`,
    `alone`, `need` (tricks), `strain`; `kitty` and the cards `laid` away for it, `given` and
    `passed`, the cards of an exchange, or their number; `trick`, four cards, `number` (from 1),
    `leader` and `winning` seat; `last_trick`, `last_number`, `last_leader`, `last_winner`;
    `tricks_won`, `points` (None before the end) and `score` by side; `hand`, its number in the
    game; `target`; `legal`, the names of the actions of the seat to act if its cards are visible;
    `words`, the last event and the next action, also separately as `happened` and `to_do`;
    `remark`, the note on the left bower; `result`, the result of the hand; `title`.

    In words seats are "you", "left", "partner" and "right" of `seat`, or with `numbered`, and
    without a seat, "seat 0" to "seat 3". Raises `OptionError` for an invalid seat.
    """
    if seat is not None:
        seat = parse_seat("seat", seat)
    look = _Table(row, rules, seat, agents=agents, numbered=numbered)
    phase, bid = Phase(int(row["phase"])), look.bid
    given, passed = look.exchanged()
    last = int(row["trick"]) - 1 if phase >= Phase.PLAY else -1
    strain = None if look.strain < 0 else STRAINS[look.strain]
    happened = " ".join(map(_sentence, look.happened()))
    to_do = "" if look.over else _sentence(look.next_action())
    return {
        "seat": seat,
        "agents": agents,
        "phase": phase.name.lower(),
        "turn": None if look.over else int(row["turn"]),
        "dealer": int(row["dealer"]),
        "hands": [look.hand(who) if look.seen(who) else len(look.hand(who)) for who in SEATS],
        "sitting_out": _seat(row["sitting_out"]),
        "calls": [look.call(who) for who in SEATS],
        "contract": look.notation(),
        "declarer": int(row["declarer"]) if bid else None,
        "partner": int(row["declarer"]) ^ 2 if bid else None,
        "side": int(row["declarer"]) & 1 if bid else None,
        "alone": bid is not None and bid.alone,
        "need": look.need if bid else None,
        "strain": strain,
        "kitty": look.pile(*look.kitty()),
        "laid": look.pile(*look.laid_away()),
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
        "remark": look.left_bower_words() if look.left_bower() else None,
        "result": " ".join(look.result()) or None if look.over else None,
        "title": look.title(),
    }


def _seat(number: Any) -> int | None:
    return int(number) if number >= 0 else None


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:].rstrip(".") + "."


@dataclass(frozen=True)
class _Table(Look):
    """The table, with sentences about the last event and the next action."""

    numbered: bool = False

    @property
    def bottom(self) -> int:
        return 0 if self.numbered else self.viewer or 0

    def who(self, seat: int) -> str:
        return f"seat {seat}" if self.numbered else super().who(seat)

    def hand(self, seat: int) -> list[str]:
        """Cards of a seat, trumps first; the suits alternate in colour as far as possible."""
        suits: dict[str, list[str]] = {}
        for name in super().hand(seat):
            suits.setdefault("" if self.trump_power(name) else name[1], []).append(name)
        trumps = suits.pop("", [])
        red, black = ([suits[suit] for suit in suits if suit in colour] for colour in ("DH", "CS"))
        black_trumps = bool(trumps) and STRAINS[self.strain] in "CS"
        first, second = (red, black) if len(red) + black_trumps > len(black) else (black, red)
        groups = (group for pair in zip_longest(first, second) for group in pair if group)
        return [*trumps, *chain.from_iterable(groups)]

    def pile(self, names: list[str], visible: bool) -> list[str] | int:
        """Return exchanged cards if visible, else their number."""
        return self.fanned(names) if visible or not names else len(names)

    def does(self, seat: int, verb: str, what: str = "") -> str:
        """Format the action of a seat: "seat 1 plays the jack of hearts", "you play ..."."""
        who = self.who(seat)
        ending = "" if who == "you" else "es" if verb.endswith("ss") else "s"
        return f"{who} {verb}{ending}{what}"

    def happened(self) -> Iterator[str]:
        """Describe the last action and its result."""
        row, declarer = self.row, int(self.row["declarer"])
        given, passed = self.exchanged()
        if row["trick"] > 0 or row["winning"] >= 0:
            yield from self._last_card()
        elif passed[0]:
            yield self._exchanges((declarer + 2) % N_SEATS, "pass", "", *passed)
        elif given[0]:
            yield self._exchanges(declarer, "give", " up", *given)
        elif self.laid_away()[0]:
            yield self._exchanges(declarer, "lay", " away", *self.laid_away())
        elif row["calls_made"] == 0:
            yield self.does(int(row["dealer"]), "deal")
        elif row["phase"] > Phase.NAMING and self.bid and row["call_strains"][declarer] < 0:
            yield self.does(declarer, "name", f" {STRAIN_WORDS[row['strain']]}")
        else:
            seat = (int(row["dealer"]) + int(row["calls_made"])) % N_SEATS
            if self.rules.auction != "once":
                seat = last_caller(row, self.rules)
            yield self._calls(seat)
        if self.bid and row["phase"] > Phase.NAMING and row["trick"] == 0 and row["winning"] < 0:
            yield f"the contract is {self.contract()} by {self.who(declarer)}"
        if self.over:
            yield from self.result() or ["all four have passed"]

    def _calls(self, seat: int) -> str:
        call = self.call(seat)
        if call == "pass":
            return self.does(seat, "pass")
        return self.does(seat, "bid", action_words(self.rules)[f"bid {call}"][3:])

    def _exchanges(self, seat: int, verb: str, up: str, cards: list[str], visible: bool) -> str:
        """Describe the last exchanged card, or "a card" if the viewer does not know it."""
        name = f"the {card_words(cards[-1])}" if visible else "a card"
        return self.does(seat, verb, f"{up} {name}")

    def _last_card(self) -> Iterator[str]:
        """Describe the last card played, and the winner of the trick if it ended one."""
        row = self.row
        begun = row["phase"] == Phase.PLAY and row["winning"] >= 0
        number = int(row["trick"]) - (not begun)
        leader, cards = int(row["leaders"][number]), self.trick(number)
        order = [(leader + turn) % N_SEATS for turn in SEATS]
        seat = [who for who in order if cards[who]][-1]
        yield self.does(seat, "play", f" the {card_words(str(cards[seat]))}")
        if not begun:
            yield self.does(self.winner(number), "win", f" trick {number + 1}")


def hand_frames(dealt: bytes, played: Array, rules: Rules, agents: list[str] | None) -> View:
    """Return the frames of a hand, from the state row after the deal and its actions, int64 (m,).

    `first` is the open view before the first action; `changes` has a patch to the next view for
    each action (see `change`). `seen` has for each of the m + 1 views, by seat, the differences
    between the seat's view and `covered`. `plies`: the seat, name and phase of each action;
    `tricks`: leader, winner, the indices of their actions by seat (`plies`), the `first` one, and
    `end`, the index after the last; `stops`: the numbers of actions after the deal, the auction,
    each trick and the last action.
    """
    tables, row, names = compile_tables(rules), rows_of([dealt]), actions.of(rules).names
    views, seen, plies = [], [], []
    for action in (*played.tolist(), None):
        views.append(_view(row[0], rules, None, agents))
        seen.append({seat: _view(row[0], rules, seat, agents, base=views[-1]) for seat in SEATS})
        if action is not None:
            seat, phase = int(row[0]["turn"]), Phase(int(row[0]["phase"]))
            plies.append({"seat": seat, "action": names[action], "phase": phase.name.lower()})
            step_row(row, tables, action)
    return {
        "first": views[0],
        "changes": [_changes(*pair) for pair in pairwise(views)],
        "seen": [{seat: view for seat, view in each.items() if view} for each in seen],
        "plies": plies,
        "tricks": _tricks(views, plies),
        "stops": _stops(views),
    }


def covered(view: View, seat: int) -> View:
    """Return a seat's view as pages derive it from the open `view`.

    Other seats' cards become their number; there are no legal actions unless the seat is to act.
    """
    hands = [cards if who == seat else len(cards) for who, cards in enumerate(view["hands"])]
    legal = view["legal"] if view["turn"] == seat else []
    return view | {"seat": seat, "hands": hands, "legal": legal}


def _view(
    row: Any, rules: Rules, seat: int | None, agents: list[str] | None, base: View | None = None
) -> View:
    """Return a seat's view in a replay, or with None the open view.

    With a seat and `base`, the open view, return only changes from `covered(base, seat)`.
    """
    view = table_view(row, rules, seat, agents, numbered=True)
    view = {name: value for name, value in view.items() if name not in _NEVER}
    if row["phase"] <= Phase.NAMING:
        view["legal"] = []  # a replay shows calls, not the choice between them
    if base is None or seat is None:
        return view
    plain = covered(base, seat)
    return {name: value for name, value in view.items() if value != plain[name]}


def _changes(before: View, after: View) -> View:
    return {
        name: change(before[name], value) for name, value in after.items() if value != before[name]
    }


def change(before: Any, after: Any) -> Any:
    """Return the patch from one JSON value to the next.

    It is the new value; for lists of equal length, a dict of the changed items' patches by index.
    """
    if not (isinstance(before, list) and isinstance(after, list) and len(before) == len(after)):
        return after
    pairs = enumerate(zip(before, after, strict=True))
    return {at: change(one, other) for at, (one, other) in pairs if one != other}


def _tricks(views: list[View], plies: list[View]) -> list[View]:
    """Return the field `tricks` of `hand_frames`; the last trick may be incomplete."""
    tricks: list[View] = []
    for at, ply in enumerate(plies):
        if ply["phase"] != "play":
            continue
        if views[at]["leader"] == ply["seat"] and not any(views[at]["trick"]):
            tricks.append({"leader": ply["seat"], "winner": None, "plies": [None] * len(SEATS)})
            tricks[-1] |= {"first": at, "end": None}
        tricks[-1]["plies"][ply["seat"]] = at
        if views[at + 1]["last_number"] == len(tricks):
            tricks[-1] |= {"winner": views[at + 1]["last_winner"], "end": at + 1}
    return tricks


def _stops(views: list[View]) -> list[int]:
    """Return the indices of views where a replay pauses: first, last, and the ends of parts."""
    parts = [(view["phase"] in ("auction", "naming"), view["last_number"]) for view in views]
    stops = [at for at in range(1, len(parts)) if parts[at] != parts[at - 1]]
    return sorted({0, *stops, len(views) - 1})
