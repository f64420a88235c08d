"""Build a state row from what one seat knows: its hand, the calls and the cards played.

`known_position` deals the unknown cards at random with a fixed seed, so that a game can reach the
state. The seat's observation shows exactly the information passed in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from bideuchre_env._checks import brief, is_integer, to_list
from bideuchre_env.agents.expert.hand_worth import check_deck
from bideuchre_env.agents.search.worlds import carry_out, deal_around
from bideuchre_env.core.hands import put
from bideuchre_env.core.legality import illegal, revoked
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.one_row import deal_given_row, replay_row, start_row
from bideuchre_env.core.phases.auction import LEVEL_BITS, LEVEL_MASK
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.phases.scoring import NO_WINNER, result_of_game
from bideuchre_env.core.replay import deal_replay
from bideuchre_env.core.state import PLAY, Phase, new_states
from bideuchre_env.core.step import apply
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.validity import checked_states
from bideuchre_env.errors import BidEuchreError, DealError, IllegalActionError, OptionError
from bideuchre_env.records.words import action_to_do
from bideuchre_env.rules import actions
from bideuchre_env.rules.bids import MAX_ROUND_BIDS
from bideuchre_env.rules.cards import (
    CARD_NAMES,
    MAX_TRICKS,
    N_SEATS,
    hand_bits,
    plain_letters,
    spelled_card,
)
from bideuchre_env.rules.parse import parse_score, parse_seat
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, entry_kernel

# fields of a state row that `rotate_seats` changes: indexed by seat, holding seats, by side
_BY_SEAT = ("hands", "calls", "call_strains", "voids")
_SEATS = ("dealer", "turn", "declarer", "sitting_out", "winning", "leaders")
_BY_SIDE = ("score", "points", "tricks_won")
_REVOKED = "seat {} has failed to follow this suit, so it cannot hold the card"
_MISSING = {  # errors if another seat is to act, by phase
    Phase.AUCTION: "calls: expected all calls before seat {seat} acts",
    Phase.NAMING: "strain=None: expected the strain, which is named before seat {seat} acts",
    Phase.PLAY: "played: expected all cards played before seat {seat} acts",
}


@entry_kernel
def lay_cards(states: Array, tables: Array, kinds: Array) -> int:
    """Give up, pass or play the cards `kinds` one by one in row 0; return how many were applied.

    Before each card, the hand of the seat to act is replaced by that card alone, so that legality
    is not checked. Stops early if the hand is over.
    """
    s, t = states[0], tables[0]
    for i in range(len(kinds)):
        if s.phase > PLAY:
            return i
        s.hands[s.turn] = put(0, kinds[i])
        apply(s, t, t.card_offset + kinds[i])
    return len(kinds)


@entry_kernel
def carry_known_out(replays: Array, tables: Array, states: Array) -> bool:
    """Add the unknown cards to the replay of what seat 0 knows, and play it in row 0 of `states`.

    Returns False if the cards do not fit into one deck or an action is illegal.
    """
    if not deal_around(tables[0], replays[0]):
        return False
    deal_replay(replays[0], tables[0], states[0])
    return carry_out(replays[0], tables[0], states[0])


@entry_kernel
def can_be_unfinished(tables: Array, ours: int, theirs: int) -> bool:
    """Whether a game can be in progress at this score, for some result of the last hand."""
    t = tables[0]
    ours, theirs = ours - t.target, theirs - t.target
    for made in (False, True):
        if result_of_game(t, ours, theirs, made) == NO_WINNER:
            return True
        if result_of_game(t, theirs, ours, made) == NO_WINNER:
            return True
    return False


def known_position(
    rules: Rules,
    hand: Sequence[str],
    *,
    seat: int = 0,
    calls: Sequence[str] = (),
    dealer: int | None = None,
    strain: str | None = None,
    given: Sequence[str] = (),
    passed: Sequence[str] = (),
    played: Sequence[str] = (),
    kitty: Sequence[str] = (),
    laid_away: Sequence[str] = (),
    score: Sequence[int] = (0, 0),
    deal: int = 1,
) -> Array:
    """Return an array of one state row, shape (1,), in which `seat` is to act and holds `hand`.

    The cards that the seat does not know are dealt at random with a fixed seed. Errors begin with
    the name of a parameter, unless several contradict each other.

    Args:
        rules: the rules of the game.
        hand: names of the cards that the seat holds now.
        seat: the seat to act.
        calls: the calls so far, from the eldest hand on: "pass", "4 H", "bid moon".
        dealer: the seat of the dealer. None: derived, if only one dealer is possible.
        strain: the strain named after the auction, in games where bids have none.
        given: names of the cards that the seat has given up as declarer or, in an open exchange,
            has taken up as partner.
        passed: names of the cards passed by partner to declarer, if the seat is one of the two.
        played: names of all cards played in the hand, in order.
        kitty: names of the cards that the seat has taken up from the kitty as declarer.
        laid_away: names of the cards that the seat has laid away for the kitty so far.
        score: points of (the seat's side, the other side).
        deal: number of the deal in the game, from 1. All deals before it count as hands played.

    Raises:
        DealError: the cards, seats or score are impossible, or another seat is to act.
        IllegalActionError: a call or the strain is not legal.
        NotationError: a name is not valid.
    """
    seat, (ours, theirs) = parse_seat("seat", seat), parse_score(tuple(score))
    tables = compile_tables(rules)
    if not can_be_unfinished(tables, ours, theirs):
        floor = "" if rules.floor is None else f", above {rules.floor}"
        goal = f"to {rules.target}{floor}"
        raise DealError(f"score {ours} to {theirs}: expected a game in progress, {goal}")
    most_deals = rules.hands_to_play or rules.max_hands
    if not is_integer(deal) or not 1 <= deal <= most_deals:
        raise DealError(f"deal {brief(deal)}: expected a whole number from 1 to {most_deals}")
    with _naming("calls"):
        called = [call_of(name, rules) for name in calls]
        if len(called) > N_SEATS and rules.auction == "once":
            raise DealError(f"{len(called)} calls: expected at most four, one for each seat")
    with _naming("strain"):
        number = None if strain is None else strain_of(strain, rules)
    cards = []
    known = {"hand": hand, "played": played, "given": given, "passed": passed}
    for name, names in (known | {"kitty": kitty, "laid_away": laid_away}).items():
        with _naming(name):
            cards.append(list(map(spelled_card, to_list("cards", names, "names of cards"))))
            check_deck(cards[-1], rules)
    knowledge = _Knowledge(rules, tables, seat, (ours, theirs), deal, called, number, *cards)
    if dealer is None and (len(called) == N_SEATS or rules.auction != "once"):
        return knowledge.row(knowledge.with_only_dealer())
    before = (seat - len(called) - 1) % N_SEATS
    return knowledge.row(
        knowledge.public(before if dealer is None else parse_seat("dealer", dealer))
    )


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Context manager: put the name of a parameter before the message of an error."""
    try:
        yield
    except BidEuchreError as error:
        raise type(error)(f"{name}: {error}") from None


class _Knowledge(NamedTuple):
    """The arguments of `known_position` as numbers: calls are actions, cards are kinds."""

    rules: Rules
    tables: Array
    seat: int
    score: tuple[int, int]
    deal: int
    calls: list[int]
    strain: int | None
    hand: list[int]
    played: list[int]
    given: list[int]
    passed: list[int]
    kitty: list[int]
    laid_away: list[int]

    def with_only_dealer(self) -> Array:
        """Return `public` of the only dealer with which this seat is to act, after four calls.

        Raises `DealError` if several dealers are possible, else the error of an impossible one.
        """
        rows, fault = {}, None
        for dealer in range(N_SEATS):
            try:
                row = self.public(dealer)
            except BidEuchreError as error:
                fault = error
            else:
                if row["turn"][0] == self.seat:
                    rows[dealer] = row
        if len(rows) > 1:
            raise DealError(f"dealer=None: expected {' or '.join(map(str, rows))}")
        for row in rows.values():
            return row
        raise fault or DealError(f"seat {self.seat}: expected the seat to act; no dealer fits")

    def row(self, public: Array) -> Array:
        """Return the state row, shape (1,), of a result of `public`, with four hands.

        Raises `DealError` or `IllegalActionError` if the position is impossible. Unknown cards are
        dealt with a fixed seed.
        """
        turn, phase = int(public["turn"][0]), Phase(int(public["phase"][0]))
        to_do = action_to_do(public[0], self.rules)
        if turn != self.seat:
            missing = _MISSING[phase].format(seat=self.seat)
            raise DealError(
                f"{missing}; with dealer {public['dealer'][0]} seat {turn} is {to_do} next"
            )
        held = self.rules.tricks - int((_plays(public[0])[self.seat] >= 0).sum())
        held += len(self.kitty) - len(self.laid_away)
        held -= len(self.given) if phase == Phase.GIVING else 0
        if phase == Phase.PASSING:  # cards given up are only known if they were taken up
            held += len(self.given) - len(self.passed)
        if len(self.hand) != held:
            count = f"{len(self.hand)} card{'s' * (len(self.hand) != 1)}"
            trick = f" to trick {public['trick'][0] + 1}" if phase == Phase.PLAY else ""
            raise DealError(
                f"hand: {count}: expected {held}, held by seat {turn} when it is {to_do}{trick}"
            )
        for kind in self.hand:
            if phase == Phase.PLAY and revoked(public[0], self.rules, kind):
                raise DealError(f"hand: {CARD_NAMES[kind]}: {_REVOKED.format(turn)}")
        rows = self._whole(public, phase)
        resample_row(rows, self.tables, 0, new_redeal(), *split_seed(0))
        try:
            rows = checked_states(rows, 1, self.tables)
        except OptionError:
            raise DealError(
                "played: no deal of the hidden cards allows these plays; a seat that did not "
                "follow suit must have held a card of it"
            ) from None
        return rotate_seats(rows, self.seat)

    def public(self, dealer: int) -> Array:
        """Return the row after all calls, exchanges and cards played; its hands are not valid.

        Raises `DealError` or `IllegalActionError` if an action is impossible.
        """
        rows, acts = new_states(1), actions.of(self.rules)
        ours, theirs = self.score
        rows["rng"] = 1
        start_row(rows, dealer, *((theirs, ours) if self.seat & 1 else (ours, theirs)))
        deal_given_row(rows, self.tables, np.zeros(N_SEATS, np.int64))
        rows["hands_dealt"], rows["hands_played"] = self.deal, self.deal - 1
        self._act(rows, self.calls, "calls: call {}, ")
        self._require(rows, Phase.AUCTION, self.strain is None, "strain")
        if self.strain is not None:
            self._act(rows, [acts.trump_offset + self.strain], "strain: ")
        self._exchange(rows)
        self._require(rows, Phase.PASSING, not self.played, "played")
        for number, kind in enumerate(self.played, 1):
            turn, card = rows["turn"][0], f"card {number}, {CARD_NAMES[kind]}"
            if rows["phase"][0] == Phase.PLAY and revoked(rows[0], self.rules, kind):
                raise DealError(f"played: {card}: {_REVOKED.format(turn)}")
            lay_cards(rows, self.tables, np.array([kind], np.int64))
        if rows["phase"][0] > Phase.PLAY:
            raise DealError("played: the hand is over, and no seat is to act")
        return rows

    def _act(self, rows: Array, done: list[int], where: str) -> None:
        """Apply the actions `done` to row 0; raise `IllegalActionError` at an illegal one.

        `where` begins the error; "{}" in it is the number of the action. Raises `DealError` if all
        seats have passed.
        """
        at = int(replay_row(rows, self.tables, np.array(done, np.int64)))
        if at >= 0:
            name = actions.of(self.rules).names[done[at]]
            raise IllegalActionError(illegal(rows[0], self.rules, name, where.format(at + 1)))
        if rows["phase"][0] > Phase.PLAY:
            raise DealError("calls: all seats have passed, and the hand is over")

    def _require(self, rows: Array, phase: Phase, absent: bool, name: str) -> None:
        """Raise `DealError` if later information is present before `phase` is over.

        `name` is its parameter; `absent` is whether it was not passed in.
        """
        now = Phase(int(rows["phase"][0]))
        if now <= phase and not absent:
            to_do = action_to_do(rows[0], self.rules)
            raise DealError(f"{name}: too early, seat {rows['turn'][0]} is {to_do} first")

    def _exchange(self, rows: Array) -> None:
        """Check the cards given up and passed, and apply the exchange as far as it is known.

        Cards that this seat cannot know are replaced by arbitrary ones. Raises `DealError`.
        """
        declarer, phase = int(rows["declarer"][0]), int(rows["phase"][0])
        role = (self.seat - declarer) % N_SEATS if phase == Phase.GIVING else -1
        exchanged = int(self.tables["exchange"][0][int(rows["level"][0])]) if role >= 0 else 0
        self._kitty(rows, role)
        knows_given = (0, 2) if self.rules.exchange_seen == "open" else (0,)
        for name, cards, knows in (
            ("given", self.given, knows_given),
            ("passed", self.passed, (0, 2)),
        ):
            if cards and role not in knows:
                why = (
                    f"seat {self.seat} does not know them" if role >= 0 else "there is no exchange"
                )
                raise DealError(f"{name}: expected no cards, because {why}")
            if len(cards) > exchanged:
                raise DealError(
                    f"{name}: {len(cards)} cards: expected at most {exchanged} with this bid"
                )
        takes_up = role == 2 and 2 in knows_given
        if len(self.given) < exchanged and (takes_up or (role == 0 and self.passed)):
            raise DealError(f"given: expected {exchanged} cards before partner passes any")
        if role == 0 and len(self.given) == exchanged and len(self.passed) < exchanged:
            raise DealError(f"passed: {len(self.passed)} cards: expected {exchanged} from partner")
        unknown = [0] * exchanged  # any kind: `_whole` rebuilds the cards
        first = self.given if role in knows_given else unknown
        second = self.passed if role in (0, 2) else unknown
        lay_cards(rows, self.tables, np.array([*first, *second], np.int64))

    def _kitty(self, rows: Array, role: int) -> None:
        """Check the cards taken up and laid away, and lay away as many as are known.

        `role` is the place of this seat after the declarer; -1 before the kitty is taken up. For
        another declarer arbitrary cards are laid away. Raises `DealError`.
        """
        size = self.rules.kitty if role >= 0 else 0
        for name, cards in (("kitty", self.kitty), ("laid_away", self.laid_away)):
            if cards and (role != 0 or not size):
                why = f"seat {self.seat} does not know them" if size else "no kitty is taken up"
                raise DealError(f"{name}: expected no cards, because {why}")
            if len(cards) > size:
                raise DealError(f"{name}: {len(cards)} cards: expected at most {size}")
        if role == 0 and len(self.kitty) < size:
            raise DealError(f"kitty: {len(self.kitty)} cards: expected the {size} taken up")
        if role == 0 and len(self.laid_away) < size and (self.given or self.passed):
            raise DealError(f"laid_away: expected {size} cards before any exchange")
        laid = self.laid_away if role == 0 else [0] * size  # any kind: `_whole` rebuilds the cards
        lay_cards(rows, self.tables, np.array(laid, np.int64))

    def _whole(self, public: Array, phase: Phase) -> Array:
        """Return a row with four full hands, rotated so that this seat is seat 0.

        Unknown cards are filled in arbitrarily, even against known voids. Raises `DealError` if
        the known cards do not fit into one deck.
        """
        replays, rows = rotate_seats(public, -self.seat), new_states(1)
        replay = replays[0]
        piles = {"given": self.given, "passed": self.passed}
        for name, cards in (piles | {"kitty": self.kitty, "laid": self.laid_away}).items():
            replay[name] = -1
            replay[name][: len(cards)] = cards
        replay["hands"] = hand_bits(self.hand), 0, 0, 0
        sound = carry_known_out(replays, self.tables, rows)
        if not sound or rows["turn"][0] != 0 or rows["phase"][0] != phase:
            raise DealError(
                "the cards held, taken up, laid away, given up, passed and played are not of one "
                "deck"
            )
        return rows


def _plays(row: Any) -> Array:
    """Return the kinds of the cards played, int8 [seat, trick], shape (4, 12); -1 for none."""
    plays: Array = np.asarray(row["plays"]).reshape(N_SEATS, MAX_TRICKS)
    return plays


def rotate_seats(rows: Array, by: int) -> Array:
    """Return a copy of a row, shape (1,), with all seats rotated: seat 0 becomes seat `by`."""
    other = new_states(1)
    other[:] = rows
    row = other[0]
    for name in _BY_SEAT:
        row[name] = np.roll(row[name], by)
    row["plays"] = np.roll(_plays(row), by, axis=0).reshape(-1)
    tags = np.asarray(row["tags"])
    row["tags"] = np.where(tags > 0, tags & ~3 | (tags + by) % N_SEATS, 0)
    for name in _SEATS:
        seats = np.asarray(row[name])
        row[name] = np.where(seats >= 0, (seats + by) % N_SEATS, seats)
    for name in _BY_SIDE:
        row[name] = np.roll(row[name], by)
    bidders = int(row["bidders"])
    row["bidders"] = 0
    for level in range(MAX_ROUND_BIDS):
        seat = (bidders >> LEVEL_BITS * level & LEVEL_MASK) - 1
        if seat >= 0:
            row["bidders"] |= (1 + (seat + by) % N_SEATS) << LEVEL_BITS * level
    return other


def call_of(name: str, rules: Rules) -> int:
    """Return the action of a call: "pass", "bid 4 H", or without "bid": "4 H", "moon".

    Raises `NotationError` for another name.
    """
    acts = actions.of(rules)
    text = name.strip()
    if plain_letters(text) != "pass" and not plain_letters(text).startswith("bid"):
        text = f"bid {text}"
    return acts.parse(text)


def strain_of(name: str, rules: Rules) -> int:
    """Return the number of a strain from its letter or word.

    Raises `DealError` if bids name the strain in this game, and `NotationError` for another name.
    """
    acts = actions.of(rules)
    if acts.trump_offset == acts.card_offset:
        raise DealError("expected None, because it is part of the bid in this game")
    text = name.strip()
    text = text if plain_letters(text).startswith("trump") else f"trump {text}"
    return acts.parse(text) - acts.trump_offset
