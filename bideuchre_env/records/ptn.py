"""Hands in the PTN text of Trickster Cards (`.ptn`, `.pbn`); `README.md` here describes the tags.

`read_hands` yields each hand of a text, an event, as far as it is written. A hand with the cards of
all seats can become a `GameRecord`; a hand with the cards of one seat is a position for advice.
`deal_text` writes a deal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from bideuchre_env._checks import brief, is_plain_name
from bideuchre_env.core.legality import illegal, revoked
from bideuchre_env.core.one_row import deal_given_row, replay_row, start_row
from bideuchre_env.core.state import Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import BidEuchreError, RecordError
from bideuchre_env.records.ptn_options import game_of_options
from bideuchre_env.records.record import GameRecord, PlayedHand
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import (
    CARD_NAMES,
    N_SEATS,
    hand_bits,
    hand_kinds,
    hand_names,
    parse_card,
    plain_letters,
)
from bideuchre_env.rules.parse import parse_deal
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import CUSTOM

SUFFIXES = (".ptn", ".pbn")
LONGEST_EVENT = 2**16
"""Maximum length of an event in characters, and of a line in bytes."""
SEATS = ("South", "West", "North", "East")  # seats 0 to 3
_TAG = re.compile(r'\[(\w+)\s+"(.*)"\s*\]?')
_PASSED = re.compile(r"(\w+):(\w+):((?:\s*\w\w)+)")
_BID = re.compile(r"(\d{1,2})?(nt[↑↓]?|[cdhs])?(alone|call\d)?")


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


def read_hands(
    lines: Iterable[str], game: tuple[str, Rules] | None = None
) -> Iterator[tuple[int, TextHand | RecordError]]:
    """Yield the number, from 1, and the hand or first error of each event in the lines of a text.

    `game`, a name and rules, replaces the options of the text.
    """
    for number, (tags, size) in enumerate(_events(lines), 1):
        try:
            if size > LONGEST_EVENT:
                raise RecordError(
                    f"line {tags[0].line}: an event of more than {LONGEST_EVENT} characters: it is "
                    "the last one read"
                )
            yield number, TextHand(tags, game)
        except RecordError as error:
            yield number, error


def _events(lines: Iterable[str]) -> Iterator[tuple[list[Tag], int]]:
    """Yield the tags of each event and its number of characters; end above `LONGEST_EVENT`."""
    tags: list[Tag] = []
    size = 0
    for line, content in enumerate(map(str.strip, lines), 1):
        if not content or content.startswith("%"):
            continue
        if tags and re.match(r"\[Event\b", content):
            yield tags, size
            tags, size = [], 0
        size += len(content)
        if size > LONGEST_EVENT:
            break
        if match := _TAG.fullmatch(content):
            tags.append(Tag(line, match[1], re.sub(r"\\(.)", r"\1", match[2]), []))
        elif content.startswith("[") or not tags:
            tags.append(Tag(line, "", content, []))
        else:
            tags[-1].rows.append((line, content.split()))
    if tags:
        yield tags, size


def deal_text(record: GameRecord, event: str) -> str:
    """Return the deal of a record's first hand as an event of PTN text, without game options."""
    hand = record.hands[0]
    dealer = SEATS[hand["dealer"]][0]
    deals = (
        ".".join("".join(name[0] for name in cards if name[1] == suit) for suit in "SHDC")
        for cards in hand["deal"]
    )
    tags = {"Event": event, "Dealer": dealer, "Deal": f"{SEATS[0][0]}:{' '.join(deals)}"}
    if "kitty" in hand:
        tags["Undealt"] = "".join(name[::-1] for name in hand["kitty"])
    return "".join(f'[{name} "{value}"]\n' for name, value in tags.items())


class TextHand:
    """A hand of a text, played as far as it is written; `RecordError` for invalid tags.

    `cards` has the names of the cards dealt, by seat; none for a hand that is not in the text.
    `row` is the state row, shape (1,), after the `steps`. In it, a hand that is not in the text has
    only the cards passed to it.
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
            first, hands = _by_seat(deal.value)
            self.cards = _dealt(hands, self.rules)
            self.dealer = self._seat("Dealer", first)
        self._check_kitty()
        self.start = self._score()
        self.row = new_states(1)
        start_row(self.row, self.dealer, *self.start)
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

    def _check_seat(self, name: str, seat: int, reason: str) -> None:
        """Raise `RecordError` if there is a tag `name` with another seat; -1 is no seat."""
        if self._seat(name, seat) != seat:
            tag, expected = self._tag(name), (*SEATS, "no such tag")[seat]
            raise RecordError(
                f"line {tag.line}: {name}: {brief(tag.value)}: expected {expected}, {reason}"
            )

    def _check_kitty(self) -> None:
        """Raise `RecordError` if the tag Undealt has not the cards that the four hands leave over.

        Also raise it for any tag after the auction of a game with a kitty: the text does not have
        the cards laid away.
        """
        if not self.rules.kitty:
            return
        for name in ("CardsPassed", "Play"):
            if tags := self._tags.get(name):
                raise RecordError(
                    f"line {tags[0].line}: {name}: expected no such tag in a game with a kitty "
                    "(withKitty), because the text does not have the cards laid away"
                )
        if "Undealt" in self._tags and all(self.cards):
            tag = self._tag("Undealt")
            with _at(tag.line, tag.name):
                dealt = [name for names in self.cards for name in names]
                undealt = list(map(_card, re.findall("..?", tag.value)))
                deck = list(CARD_NAMES[: self.rules.kinds]) * self.rules.copies
                if sorted(dealt + undealt) != sorted(deck):
                    number = self.rules.kitty
                    raise RecordError(
                        f"{brief(tag.value)}: expected the {number} cards that no hand has"
                    )

    def _score(self) -> tuple[int, int]:
        if "GameScores" not in self._tags:
            return 0, 0
        tag = self._tag("GameScores")
        with _at(tag.line, tag.name):
            words = _by_seat(tag.value)[1]
            if not all(re.fullmatch(r"-?\d{1,9}", word) for word in words):
                raise RecordError(f"{brief(tag.value)}: expected whole numbers")
            side_0, side_1, *partners = map(int, words)
            if partners != [side_0, side_1]:
                raise RecordError(f"{brief(tag.value)}: expected the same score for partners")
            return side_0, side_1

    def _now(self, name: str) -> int:
        """Return a field of the state row."""
        return int(self.row[name][0])

    def _act(self, name: str) -> None:
        """Apply an action; a card from an unknown hand is first added to that hand."""
        seat, phase = self._now("turn"), Phase(self._now("phase"))
        number, hands = self._actions.index.get(name, -1), self.row["hands"][0]
        is_card = number >= self._actions.card_offset and Phase.GIVING <= phase <= Phase.PLAY
        if is_card and not self.cards[seat] and name not in hand_names(hands[seat]):
            if phase == Phase.PLAY and revoked(self.row[0], self.rules, parse_card(name)):
                raise RecordError(
                    f"{name}: {SEATS[seat]} has failed to follow this suit, so it cannot hold the "
                    "card"
                )
            placed = [step.action for step in self.steps if step.phase != Phase.PASSING]
            placed += [held for hand in hands for held in hand_names(hand)]
            if placed.count(name) >= self.rules.copies:
                raise RecordError(f"{name}: expected a card that no other hand has or had")
            hands[seat] = hand_bits([*hand_kinds(hands[seat]), parse_card(name)])
        if replay_row(self.row, self._tables, np.array([number], np.int64)) >= 0:
            raise RecordError(illegal(self.row[0], self.rules, name))
        self.steps.append(Step(phase, seat, name))

    def _auction(self) -> None:
        """Play the calls and the naming of the strain; those of Contract if there is no Auction."""
        eldest, in_bid = (self.dealer + 1) % N_SEATS, self.rules.strain_named == "in_bid"
        if "Auction" in self._tags:
            tag = self._tag("Auction")
            self._check_seat("Auction", eldest, "left of the dealer")
            words = [(line, at, word) for line, row in tag.rows for at, word in enumerate(row)]
        elif self._tags.keys() & {"Contract", "Declarer"}:
            tag = self._tag("Contract")
            place = (self._seat("Declarer", eldest) - eldest) % N_SEATS
            words = [(tag.line, at, "-") for at in range(place)]
            words.append((tag.line, place, tag.value))
        else:
            return
        while words and words[-1][-1] == "-":
            words.pop()
        for line, at, word in words:
            with _at(line):
                bid, strain = _bid(word, self.rules)
                if self._now("phase") == Phase.AUCTION:
                    if strain and not in_bid and tag.name == "Auction":
                        raise RecordError(f"{brief(word)}: expected the strain after the auction")
                    name = f"bid {bid} {strain}" if in_bid else f"bid {bid}"
                    self._act(name if bid else "pass")
                elif bid and self._now("phase") != Phase.NAMING:
                    raise RecordError(f"{brief(word)}: expected no call after the auction")
                elif bid:
                    self._contract(word, (eldest + at) % N_SEATS)
        if self._tags.keys() & {"Contract", "Declarer", "CardsPassed", "Play"}:
            with _at(tag.line):
                while self._now("phase") == Phase.AUCTION:
                    self._act("pass")
        if "Contract" in self._tags:
            tag = self._tag("Contract")
            with _at(tag.line, tag.name):
                self._contract(tag.value, self._now("declarer"))
        self._check_seat("Declarer", self._now("declarer"), "by the auction")

    def _contract(self, word: str, seat: int) -> None:
        """Name the strain if it is not named yet; compare the contract and its declarer."""
        bid, strain = _bid(word, self.rules)
        if strain and self._now("phase") == Phase.NAMING:
            self._act(f"trump {strain}")
        contract = self._actions.contract(self._now("level"), self._now("strain"))
        declarer, stated = self._now("declarer"), f"{bid} {strain}" if bid else None
        if (stated, seat) != (contract, declarer):
            unnamed = " and its strain" if self._now("strain") < 0 else ""
            expected = f"{contract}{unnamed} by {SEATS[declarer]}" if contract else "Pass"
            raise RecordError(f"{brief(word)}: expected {expected}")

    def _exchange(self) -> None:
        """Play the cards that the declarer gives up, then those that the partner passes.

        The tags may have either order: the site writes those of the partner first.
        """
        tags, declarer = self._tags.get("CardsPassed", []), SEATS[self._now("declarer")]
        for tag in sorted(tags, key=lambda tag: tag.value.strip()[:1].upper() != declarer[0]):
            with _at(tag.line, f"{tag.name}: {brief(tag.value)}"):
                match = _PASSED.fullmatch(tag.value)
                if match is None:
                    raise RecordError("expected seat:seat:cards, as N:S:HA")
                names = list(map(_card, re.findall(r"\w\w", match[3])))
                turn, most = self._now("turn"), 0
                if self._now("phase") in (Phase.GIVING, Phase.PASSING):
                    most = self.rules.ladder[self._now("level")].exchange - self._now("picks")
                seats = (turn, (turn + 2) % N_SEATS)
                if len(names) > most or (_seat_of(match[1]), _seat_of(match[2])) != seats:
                    pair = " to ".join(SEATS[seat] for seat in seats)
                    cards = f"at most {most} cards from {pair}" if most else "no card to be passed"
                    raise RecordError(f"expected {cards} at this point")
                for name in names:
                    self._act(name)

    def _play(self) -> None:
        """Play the cards: a row for each trick, a column for each seat from that of the tag."""
        if "Play" not in self._tags:
            return
        tag, first = self._tag("Play"), self._now("turn")
        if self._now("phase") != Phase.PLAY:
            raise RecordError(f"line {tag.line}: Play: expected a complete auction and CardsPassed")
        self._check_seat("Play", first, "who leads by these rules")
        for line, words in tag.rows:
            with _at(line):
                row = brief(" ".join(words))
                if self._now("phase") != Phase.PLAY:
                    raise RecordError(f"{row}: the hand is over")
                if self._now("led") >= 0 or len(words) > N_SEATS:
                    raise RecordError(f"{row}: expected a row for each trick")
                columns = enumerate(words, first)
                cards = {seat % N_SEATS: _card(word) for seat, word in columns if word != "-"}
                while self._now("phase") == Phase.PLAY and self._now("turn") in cards:
                    self._act(cards.pop(self._now("turn")))
                if cards:
                    turn = SEATS[self._now("turn")]
                    raise RecordError(f"{row}: expected a card of {turn}")


def _seat_of(letter: str) -> int:
    for seat, name in enumerate(SEATS):
        if letter.strip().upper() in (name[0], name.upper()):
            return seat
    raise RecordError(f"{brief(letter)}: expected a seat, S, W, N or E")


def _by_seat(value: str) -> tuple[int, list[str]]:
    """Return the seat before the colon, and the words after it (from this seat on) by seat."""
    letter, _, text = value.partition(":")
    words = text.split()
    if len(words) != N_SEATS:
        raise RecordError(f"{brief(value)}: expected a seat, a colon and four words")
    first = _seat_of(letter)
    return first, [words[(seat - first) % N_SEATS] for seat in range(N_SEATS)]


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


def _card(word: str) -> str:
    """Return the name of a card that is written suit first: "DQ" is QD."""
    name = word[::-1].upper()
    if name not in CARD_NAMES:
        raise RecordError(f"{brief(word)}: expected a card, suit first, as HA")
    return name


def _bid(word: str, rules: Rules) -> tuple[str | None, str]:
    """Return the name of a bid in the ladder, None for a pass, and the strain, "" if unnamed."""
    plain = plain_letters(word)
    if plain in ("-", "pass"):
        return None, ""
    match = _BID.fullmatch(plain)
    if match is None or bool(match[1]) == bool(match[3]):
        raise RecordError(f"{brief(word)}: expected Pass, 4, 4♥, Alone, NTAlone, ♥Call2 or -")
    strain = (match[2] or "").replace("nt↓", "low").removesuffix("↑").upper()
    if strain and strain not in rules.strains:
        raise RecordError(f"{brief(word)}: expected one of the strains {', '.join(rules.strains)}")
    if match[3]:
        exchange = int(match[3].removeprefix("call")) if match[3] != "alone" else 0
        names = [bid.name for bid in rules.lone if bid.exchange == exchange]
    else:
        names = [str(int(match[1]))]
    if not names:
        raise RecordError(f"{brief(word)}: expected {', '.join(b.name for b in rules.ladder)}")
    return names[0], strain
