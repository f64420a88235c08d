"""Hands in the PTN text of Trickster Cards (`.ptn`, `.pbn`); `README.md` here describes the tags.

`read_hands` yields each hand of a text, an event, as far as it is written. A hand with the cards of
all seats can become a `GameRecord`; a hand with the cards of one seat is a position for advice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from bideuchre_env._checks import brief, is_plain_name
from bideuchre_env.core.legality import illegal
from bideuchre_env.core.one_row import deal_given_row, replay_row
from bideuchre_env.core.rows import start_rows
from bideuchre_env.core.state import Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import BidEuchreError, RecordError
from bideuchre_env.records.record import GameRecord, PlayedHand
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS, hand_bits, parse_card, plain_letters
from bideuchre_env.rules.options import Ranks
from bideuchre_env.rules.parse import parse_deal
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import CUSTOM

SUFFIXES = (".ptn", ".pbn")
SEATS = ("South", "West", "North", "East")  # seats 0 to 3
_TAG = re.compile(r'\[(\w+)\s+"(.*)"\s*\]?')
_BID = re.compile(r"(\d{1,2})?(nt[↑↓]?|[cdhs])?(alone|call\d)?")
_RANKS: dict[int, Ranks] = {16: "J", 20: "10", 24: "9"}
_LONE = {  # by option; the values are those of the variants, the text has none
    "offeralonecall2": {"name": "call-2", "value": 12, "exchange": 2},
    "callforbest": {"name": "call-1", "value": 18, "exchange": 1},
    "noalone": {"name": "moon", "value": 24},
}
_VALUES: dict[str, tuple[object, ...]] = {  # of options; () for any, and no other option is on
    "variation": (1,),
    "decksize": (16, 20, 24),
    "numdecks": (1, 2),
    "players": (4,),
    "ispartnership": (True,),
    "biddingstyle": (0, 1),  # 1: until all pass; a second bid of a seat is an error in `_auction`
    "bidtype": (0, 1),
    **dict.fromkeys(("gameoverscore", "minbid", "stickthedealer", "makerleadsfirst", *_LONE), ()),
    **dict.fromkeys(("allownotrump", "nosuggestions", "nowatching"), ()),
}


def is_text(path: object) -> bool:
    """Whether a path has the suffix of PTN text; other files have records."""
    return str(path).lower().endswith(SUFFIXES)


class Step(NamedTuple):
    """An action of the text: its phase, its seat, and its name in notation."""

    phase: Phase
    seat: int
    action: str


class Tag(NamedTuple):
    """A tag: its value, and the number and words of each line after it."""

    line: int
    name: str
    value: str
    rows: list[tuple[int, list[str]]]


@contextmanager
def _at(line: int, what: str = "") -> Iterator[None]:
    """Context manager: add the line and the tag to an error, as a `RecordError`."""
    try:
        yield
    except BidEuchreError as error:
        raise RecordError(f"line {line}: {what}{': ' if what else ''}{error}") from None


def game_of_options(text: str) -> Rules:
    """Return the rules of GameOptionsJson; `RecordError` for an option that no rules express."""
    try:
        given = json.loads(text)
        options = {name.lower(): value for name, value in given.items()}
    except (ValueError, AttributeError):
        raise RecordError("expected a JSON object") from None
    if "variation" not in options:
        raise RecordError("variation: expected 1, Bid Euchre; plain euchre has other rules")
    for name, value in given.items():
        allowed = _VALUES.get(name.lower(), (False, 0, None))
        if allowed and value not in allowed:
            values = " or ".join(map(json.dumps, allowed[:1] if None in allowed else allowed))
            raise RecordError(
                f"{name}={json.dumps(value)}: expected {values}, or a game by --variant"
            )
    cards, copies = options.get("decksize", 24), options.get("numdecks", 1)
    low = options.get("minbid") or 1
    has = {name: bool(options.get(name)) != (name == "noalone") for name in _LONE}
    return Rules(
        ranks=_RANKS[cards],
        copies=copies,
        partnered=(low, cards * copies // N_SEATS),
        lone=[bid for name, bid in _LONE.items() if has[name]],
        strain_named="in_bid" if options.get("bidtype") else "after_auction",
        moon_ladder="jump",
        all_pass="dealer_forced" if options.get("stickthedealer") else "redeal_next",
        opening_lead="declarer" if options.get("makerleadsfirst") else "eldest",
        win_rule="any",
        target=options.get("gameoverscore", 52),
    )


def read_hands(
    text: str, game: tuple[str, Rules] | None = None
) -> Iterator[tuple[int, TextHand | RecordError]]:
    """Yield the number, from 1, and the hand or first error of each event of a text.

    `game`, a name and rules, replaces the options of the text.
    """
    events: list[list[Tag]] = []
    for line, content in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not content.strip() or content.lstrip().startswith("%"):
            continue
        if match := _TAG.fullmatch(content.strip()):
            if match[1] == "Event" or not events:
                events.append([])
            events[-1].append(Tag(line, match[1], re.sub(r"\\(.)", r"\1", match[2]), []))
        elif events and not content.lstrip().startswith("["):
            events[-1][-1].rows.append((line, content.split()))
        else:
            events.append([Tag(line, "", content, [])])
    for number, tags in enumerate(events, 1):
        try:
            yield number, TextHand(tags, game)
        except RecordError as error:
            yield number, error


class TextHand:
    """A hand of a text, played as far as it is written; `RecordError` for invalid tags.

    `cards` has the names of the cards dealt, by seat; none for a hand that is not in the text.
    `row` is the state row, shape (1,), after the `steps`; hands that are not in the text are empty.
    """

    def __init__(self, tags: list[Tag], game: tuple[str, Rules] | None) -> None:
        self._tags: dict[str, list[Tag]] = {}
        for tag in tags:
            if not tag.name:
                raise RecordError(f'line {tag.line}: {brief(tag.value)}: expected [Tag "value"]')
            self._tags.setdefault(tag.name, []).append(tag)
        self.line, self.steps = tags[0].line, list[Step]()
        if game is None:
            tag = self._tag("GameOptionsJson")
            with _at(tag.line, tag.name):
                game = CUSTOM, game_of_options(tag.value)
        self.variant, self.rules = game
        self._tables, self._actions = compile_tables(self.rules), actions.of(self.rules)
        deal = self._tag("Deal")
        with _at(deal.line, deal.name):
            first, words = _by_seat(deal.value)
            hands = [words[(seat - first) % N_SEATS] for seat in range(N_SEATS)]
            self.cards = _dealt(hands, self.rules)
            self.dealer = self._seat("Dealer", first)
        self.start = self._score()
        self.row = new_states(1)
        start_rows(self.row, self._tables, np.array([self.dealer], np.int64))
        self.row["score"] = self.start
        bits = [hand_bits(map(parse_card, names)) for names in self.cards]
        deal_given_row(self.row, self._tables, np.array(bits, np.int64))
        self._dealt = self.row.tobytes()
        self._auction()
        self._exchange()
        self._play()

    def played(self) -> tuple[GameRecord, list[PlayedHand]]:
        """Return a record of this hand and its replay; `RecordError` if some cards are unknown."""
        missing = [SEATS[seat] for seat in range(N_SEATS) if not self.cards[seat]]
        if missing:
            raise RecordError(
                f"line {self.line}: no cards of {', '.join(missing)}: expected four hands; for "
                "fewer use `bideuchre advise`"
            )
        players = [self._tags[seat][0].value if seat in self._tags else "" for seat in SEATS]
        record = GameRecord.from_sound_rows(
            self.row,
            self.rules,
            self.variant,
            agents=players if all(map(is_plain_name, players)) else None,
            start=self.start,
        )
        done = np.array([self._actions.index[step.action] for step in self.steps], np.int64)
        return record, [PlayedHand(self._dealt, done, self.row)]

    def _tag(self, name: str) -> Tag:
        tags = self._tags.get(name, [])
        if len(tags) != 1:
            line = tags[1].line if tags else self.line
            raise RecordError(f"line {line}: {name}: expected this tag once for each Event")
        return tags[0]

    def _seat(self, name: str, default: int) -> int:
        if name not in self._tags:
            return default
        tag = self._tag(name)
        with _at(tag.line, tag.name):
            return _seat_of(tag.value)

    def _score(self) -> tuple[int, int]:
        if "GameScores" not in self._tags:
            return 0, 0
        tag = self._tag("GameScores")
        with _at(tag.line, tag.name):
            first, words = _by_seat(tag.value)
            if not all(re.fullmatch(r"-?\d{1,9}", word) for word in words):
                raise RecordError(f"{brief(tag.value)}: expected whole numbers")
            return int(words[-first % N_SEATS]), int(words[(1 - first) % N_SEATS])

    def _in(self, phase: Phase) -> bool:
        return int(self.row["phase"][0]) == phase

    def _act(self, name: str, line: int) -> None:
        """Apply an action; a hand that is not in the text holds the card that it plays."""
        seat, phase = int(self.row["turn"][0]), Phase(int(self.row["phase"][0]))
        if name[:1].isupper() and phase in (Phase.GIVING, Phase.PASSING, Phase.PLAY):
            with _at(line):
                card = hand_bits([parse_card(name)])
            if not self.cards[seat]:
                self.row["hands"][0][seat] = card
        number = self._actions.index.get(name, -1)
        if replay_row(self.row, self._tables, np.array([number], np.int64)) >= 0:
            raise RecordError(illegal(self.row[0], self.rules, name, f"line {line}: "))
        self.steps.append(Step(phase, seat, name))

    def _auction(self) -> None:
        """Play the calls and the naming of the strain; those of Contract if there is no Auction."""
        eldest, in_bid = (self.dealer + 1) % N_SEATS, self.rules.strain_named == "in_bid"
        if "Auction" in self._tags:
            tag = self._tag("Auction")
            words = [(line, word) for line, row in tag.rows for word in row]
            if self._seat("Auction", eldest) != eldest:
                raise RecordError(f"line {tag.line}: Auction: expected {SEATS[eldest][0]} first")
        elif "Contract" in self._tags:
            tag = self._tag("Contract")
            passes = [(tag.line, "-")] * ((self._seat("Declarer", eldest) - eldest) % N_SEATS)
            words = [*passes, (tag.line, tag.value)]
            if not in_bid:
                words += [(tag.line, "-")] * (N_SEATS - 1) + [(tag.line, tag.value)]
        else:
            return
        while words and words[-1][1] == "-":
            words.pop()
        if self._tags.keys() & {"Contract", "CardsPassed", "Play"}:  # "-" is a pass
            words += [(tag.line, "-")] * (N_SEATS - len(words))
        for at, (line, word) in enumerate(words):
            with _at(line):
                bid, strain = _bid(word, self.rules)
            if at < N_SEATS:
                name = f"bid {bid} {strain}" if in_bid else f"bid {bid}"
                self._act(name if bid else "pass", line)
            elif bid:
                named = self.rules.ladder[int(self.row["level"][0])].name
                if not self._in(Phase.NAMING) or bid != named:
                    raise RecordError(f"line {line}: {brief(word)}: expected one call of each seat")
                self._act(f"trump {strain}", line)

    def _exchange(self) -> None:
        """Play the cards that the declarer gives up, then those that the partner passes."""
        tags, giver = self._tags.get("CardsPassed", []), int(self.row["declarer"][0])
        for phase, seat in ((Phase.GIVING, giver), (Phase.PASSING, (giver + 2) % N_SEATS)):
            for tag in tags:
                sender, _, cards = tag.value.partition(":")
                with _at(tag.line, tag.name):
                    names = _cards(cards[2:]) if _seat_of(sender) == seat else []
                for name in names if self._in(phase) else []:
                    self._act(name, tag.line)

    def _play(self) -> None:
        """Play the cards: a row for each trick, a column for each seat from that of the tag."""
        if "Play" not in self._tags:
            return
        tag = self._tag("Play")
        leader = int(self.row["turn"][0])
        first = self._seat("Play", leader)
        if not self._in(Phase.PLAY):
            raise RecordError(f"line {tag.line}: Play: expected a complete auction and CardsPassed")
        if first != leader:
            raise RecordError(
                f"line {tag.line}: Play {brief(tag.value)}: expected {SEATS[leader][0]}, who leads "
                f"with opening_lead={self.rules.opening_lead!r}"
            )
        for line, words in tag.rows:
            with _at(line):
                names = {
                    (first + column) % N_SEATS: _cards(word)[0]
                    for column, word in enumerate(words[:N_SEATS])
                    if word != "-"
                }
            while self._in(Phase.PLAY) and (seat := int(self.row["turn"][0])) in names:
                self._act(names.pop(seat), line)
            if names or len(words) > N_SEATS:
                turn = SEATS[int(self.row["turn"][0])][0]
                raise RecordError(f"line {line}: {' '.join(words)}: expected a card of {turn}")


def _seat_of(letter: str) -> int:
    for seat, name in enumerate(SEATS):
        if letter.strip().upper() in (name[0], name.upper()):
            return seat
    raise RecordError(f"{brief(letter)}: expected a seat, S, W, N or E")


def _by_seat(value: str) -> tuple[int, list[str]]:
    """Return the seat before the colon, and the words after it: of this seat and the next three."""
    letter, _, text = value.partition(":")
    words = text.split()
    if len(words) != N_SEATS:
        raise RecordError(f"{brief(value)}: expected a seat, a colon and four words")
    return _seat_of(letter), words


def _dealt(hands: list[str], rules: Rules) -> list[list[str]]:
    """Return the names of the cards of each hand, its suits in the order S H D C; none for "-"."""
    cards = []
    for hand in hands:
        suits = hand.split(".")
        if hand != "-" and len(suits) != len("SHDC"):
            raise RecordError(f"{brief(hand)}: expected four suits S.H.D.C, or -")
        names = [rank + suit for suit, ranks in zip("SHDC", suits, strict=False) for rank in ranks]
        names = [] if hand == "-" else [name.upper() for name in names]
        if hand != "-" and len(names) != rules.tricks:
            raise RecordError(f"{brief(hand)}: expected {rules.tricks} cards")
        cards.append(names)
    dealt = [name for names in cards for name in names]
    if all(cards):
        parse_deal(cards, rules, notation=True)
    for name in dealt:
        if parse_card(name) >= rules.kinds or dealt.count(name) > rules.copies:
            raise RecordError(
                f"{name}: expected one deck of {rules.cards} cards from {rules.ranks} up"
            )
    return cards


def _cards(text: str) -> list[str]:
    """Return the names of cards that are written suit first: "DQ HA" are QD and AH."""
    plain = "".join(text.split()).upper()
    names = [plain[at : at + 2][::-1] for at in range(0, len(plain), 2)]
    for name in names or [text]:
        parse_card(name)
    return names


def _bid(word: str, rules: Rules) -> tuple[str | None, str]:
    """Return the name of a bid in the ladder, None for a pass, and the strain, "" if unnamed."""
    plain = plain_letters(word)
    if plain in ("-", "pass"):
        return None, ""
    match = _BID.fullmatch(plain)
    if match is None or bool(match[1]) == bool(match[3]):
        raise RecordError(f"{brief(word)}: expected Pass, 4, 4♥, Alone, NTAlone, ♥Call2 or -")
    if match[2] == "nt↓":
        raise RecordError(f"{brief(word)}: expected no low no trump, which no rules here have")
    strain = (match[2] or "").removesuffix("↑").upper()
    if match[3]:
        exchange = int(match[3].removeprefix("call")) if match[3] != "alone" else 0
        names = [bid.name for bid in rules.lone if bid.exchange == exchange]
    else:
        names = [str(int(match[1]))]
    if not names:
        raise RecordError(f"{brief(word)}: expected {' or '.join(b.name for b in rules.lone)}")
    return names[0], strain
