"""Game records: deals and actions, as one JSON object per game (see `GameRecord`).

`README.md` in this folder describes the notation and the fields of the JSON object. A finished hand
is determined by its final state row. So records are written from rows, and read by replaying them
with the same kernels that play the game.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple

import numpy as np

from bideuchre_env._checks import MAX_NAME, brief, check_type, is_plain_name, is_whole
from bideuchre_env._deprecation import present_name
from bideuchre_env.core.legality import illegal
from bideuchre_env.core.one_row import deal_given_row, replay_row
from bideuchre_env.core.rows import start_rows
from bideuchre_env.core.state import Outcome, Phase, new_states, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.validity import checked_states
from bideuchre_env.errors import BidEuchreError, OptionError, RecordError
from bideuchre_env.records import transcript
from bideuchre_env.records.transcript import HAND_FIELDS
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.parse import parse_deal, parse_score, parse_seat
from bideuchre_env.rules.rules import Rules, check_rules
from bideuchre_env.rules.variants import CUSTOM, RULES
from bideuchre_env.runtime.jit import Array

FORMAT = "bideuchre/1"
OUTCOMES = tuple(outcome.name.lower() for outcome in Outcome)
_NEEDED = ("ranks", "copies", "partnered", "lone")  # required for a custom game
_FIELDS = ("variant", "options", "seed", "agents", "hands", "winner", "outcome")


class PlayedHand(NamedTuple):
    """A replayed hand of a record."""

    dealt: bytes  #: the state row before the first action, see `state.rows_of`
    actions: Array  #: int64 (m,)
    ended: Array  #: the state row, shape (1,)


@dataclass(repr=False)
class GameRecord:
    """A recorded game; `README.md` in this folder describes its JSON object.

    `from_dict` and `loads` replay their input and raise `RecordError` at the first error; they
    correct nothing. The constructor checks nothing; `verify` does.

    Args:
        variant: the name of a declared variant, or any other name for a custom game.
        options: the rules that differ from a declared variant's, or all rules of a custom game
            (rules missing from older records have their defaults).
        hands: a dict for each hand with its dealer, deal, actions and results, see `README.md`.
        seed: the seed of the deals, if known.
        agents: the names of the four players, by seat, if known.
        winner: the side that won, 0 or 1; None without a winner.
        outcome: "unfinished", "won", "drawn" or "truncated".
        start: the points of both sides at the beginning.
    """

    variant: str
    options: dict[str, Any] = field(default_factory=dict)
    hands: list[dict[str, Any]] = field(default_factory=list)
    seed: int | None = None
    agents: list[str] | None = None
    winner: int | None = None
    outcome: str = "unfinished"
    start: tuple[int, int] = (0, 0)

    @property
    def rules(self) -> Rules:
        """The rules of the game; `RecordError` for an unknown variant or option."""
        return rules_of(self.variant, self.options)

    @classmethod
    def from_rows(
        cls,
        rows: Array,
        rules: Rules,
        variant: str,
        *,
        seed: int | None = None,
        agents: list[str] | None = None,
        start: tuple[int, int] = (0, 0),
    ) -> GameRecord:
        """Return the record of a game from the state row at the end of each hand.

        Args:
            rows: a `STATE` array (n,), a row for each hand; the last hand may be in progress.
            rules: the rules of the game.
            variant, seed, agents, start: see `GameRecord`.

        Raises:
            OptionError: for invalid rules or name, and for a row that legal play cannot reach.
        """
        check_rules(rules)
        if not is_plain_name(variant):
            raise OptionError(f"variant={brief(variant)}: expected the name of a game")
        n = len(rows) if isinstance(rows, np.ndarray) and rows.ndim else 0
        rows = checked_states(rows, n, compile_tables(rules))
        return cls.from_sound_rows(rows, rules, variant, seed=seed, agents=agents, start=start)

    @classmethod
    def from_sound_rows(cls, rows: Array, rules: Rules, variant: str, **about: Any) -> GameRecord:
        """Return `from_rows` without checks, for rows that are known to come from legal play."""
        base = RULES.get(variant)
        return cls(
            variant=variant,
            options=rules.to_dict() if base is None else rules.options_from(base),
            hands=hands_of(rows, rules),
            **about,
            **_result(rows),
        )

    def __repr__(self) -> str:
        try:
            return f"<GameRecord {self._title()}>"
        except (TypeError, LookupError):  # invalid fields, which `verify` would report
            return "<GameRecord that makes no game>"

    def _title(self) -> str:
        """Describe the game in a line: variant, number of hands, score, outcome."""
        score = self.hands[-1]["score"] if self.hands else self.start
        hands = f"{len(self.hands)} hand{'s' * (len(self.hands) != 1)}"
        by = "" if self.winner is None else f" by side {self.winner}"
        return f"{self.variant}: {hands}, score {score[0]} to {score[1]}, {self.outcome}{by}"

    def _repr_html_(self) -> str:
        from bideuchre_env.records.page.page import replay_page  # only needed here

        try:
            title, page = self._title(), replay_page(self)
        except BidEuchreError as error:
            return f"<p>A record that does not replay: {escape(str(error))}</p>"
        except (TypeError, LookupError):  # as in __repr__
            return "<p>A record that makes no game</p>"
        # isolated from the notebook and the network; untrusted notebooks show the words instead
        frame = f'<iframe sandbox="allow-scripts" srcdoc="{escape(page)}" title="Replay of a game" '
        size = 'width="100%" height="900" style="border: 0"'
        words = "The replay is shown when the cell is run, or the notebook trusted."
        return f"<p><b>{escape(title)}</b></p>{frame}{size}>{words}</iframe>"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the notation, which has "start" only if it is not 0-0."""
        data: dict[str, Any] = {"format": FORMAT}
        data |= {name: getattr(self, name) for name in _FIELDS[:4]}
        if self.start != (0, 0):
            data["start"] = list(self.start)
        return data | {name: getattr(self, name) for name in _FIELDS[4:]}

    @classmethod
    def from_dict(cls, data: Any) -> GameRecord:
        """Read and verify a record.

        Args:
            data: the JSON object, as `to_dict` returns it.

        Raises:
            RecordError: at the first error, with the hand, the action and the reason.
        """
        return cls._played(data)[0]

    @classmethod
    def _played(cls, data: Any) -> tuple[GameRecord, list[PlayedHand]]:
        _check_fields("a record", data, ("format", *_FIELDS), optional=("start",))
        if not _same(data["format"], FORMAT):
            raise RecordError(f"format {brief(data['format'])}: expected {FORMAT!r}")
        start = data.get("start", [0, 0])
        if not isinstance(start, list) or len(start) != 2:
            raise RecordError(f"start {brief(start)}: expected the two sides' points, as [0, 0]")
        record = cls(**{name: data[name] for name in _FIELDS}, start=(start[0], start[1]))
        return record, list(record.played_hands())

    def dumps(self) -> str:
        """Return the record as one line of JSON, without the line end."""
        return json.dumps(self.to_dict(), separators=(", ", ": "), allow_nan=False)

    @classmethod
    def loads(cls, line: str) -> GameRecord:
        """Read and verify a line of JSON, see `dumps`; `RecordError` for any other text."""
        return cls.loads_played(line)[0]

    @classmethod
    def loads_played(cls, line: str) -> tuple[GameRecord, list[PlayedHand]]:
        """Return the record and its replayed hands; errors are those of `loads`."""
        try:
            data = json.loads(line, object_pairs_hook=unique_names)
        except (ValueError, TypeError, RecursionError) as error:
            raise RecordError(f"not a line of JSON: {error}") from None
        return cls._played(data)

    def verify(self) -> None:
        """Replay every hand and compare all recorded results; `RecordError` at the first error."""
        for _ in self.replay():
            pass

    def replay(self) -> Iterator[Array]:
        """Verify each hand as `verify` does, and yield the state row, shape (1,), at its end."""
        for hand in self.played_hands():
            yield hand.ended

    def played_hands(self) -> Iterator[PlayedHand]:
        """Replay, verify and yield each hand; `RecordError` at the first error."""
        _check_header(self)
        rules = self.rules
        fields = HAND_FIELDS + ("kitty",) * bool(rules.kitty)
        states = new_states(1)
        for number, hand in enumerate(self.hands):
            where = f"hand {number + 1}"
            _check_fields(where, hand, fields)
            try:
                dealt, played = _replay_hand(states, rules, hand, number, self.start)
                _compare(hand, hand_of(states[0], rules))
            except BidEuchreError as error:
                raise RecordError(f"{where}: {error}") from None
            if states[0]["phase"] < Phase.DEAL and number + 1 < len(self.hands):
                raise RecordError(
                    f"{where}: expected a finished hand, because another hand follows"
                )
            yield PlayedHand(dealt, played, rows_of([states.tobytes()]))
        stated = {"winner": self.winner, "outcome": self.outcome}
        replayed = _result(states if self.hands else states[:0])
        if not all(_same(stated[name], replayed[name]) for name in replayed):
            raise RecordError(f"the record says {brief(stated)}, the replay gives {replayed}")


class GameLines:
    """Formats records as `GameRecord.dumps` does, faster; other fields are those of `like`."""

    def __init__(self, like: GameRecord) -> None:
        line = replace(like, seed=None, hands=[], winner=None, outcome=OUTCOMES[0]).dumps()
        before, _, rest = line.partition('"seed": null')
        between, _, _ = rest.partition('"hands": [')
        self._before, self._between = f'{before}"seed": '.encode(), f'{between}"hands": ['.encode()

    def line(self, seed: int, hands: Sequence[bytes], end: Array) -> bytes:
        """Return the line of a game, from its hands' JSON texts (`HandWriter`) and final row."""
        result = _result_text(int(end["winner"]), int(end["outcome"]))
        return b"".join((self._before, b"%d" % seed, self._between, b", ".join(hands), result))


@lru_cache(maxsize=16)
def _result_text(winner: int, outcome: int) -> bytes:
    """Return the end of a line, after its last hand."""
    return f"], {json.dumps(_outcome(winner, outcome))[1:]}".encode()


def rules_of(variant: str, options: dict[str, Any]) -> Rules:
    """Return a declared variant's rules with `options`, or custom rules; else `RecordError`."""
    try:
        check_type("variant", variant, str, "the name of a game")
        whole = variant == CUSTOM or set(_NEEDED) <= set(options)
        if whole and is_plain_name(variant) and variant not in RULES:
            return Rules(**options)
        return RULES[present_name(variant, RULES)].replace(**options)
    except BidEuchreError as error:
        raise RecordError(f"options: {error}") from None
    except (KeyError, TypeError):
        variants = ", ".join(RULES)
        raise RecordError(
            f"variant {brief(variant)} with options {brief(options)}: expected one of "
            f"{variants} and the options that differ, or custom rules with all options: "
            f"{', '.join(_NEEDED)} at least"
        ) from None


def hands_of(rows: Array, rules: Rules) -> list[dict[str, Any]]:
    """Return the notation's dict for the hand in each state row, finished or in progress."""
    return [json.loads(text) for text in transcript.of(rules).texts(rows, np.arange(len(rows)))]


def hand_of(row: Any, rules: Rules) -> dict[str, Any]:
    """Return the notation's dict for the hand in a state row, finished or in progress."""
    one = new_states(1)
    one[0] = row
    return hands_of(one, rules)[0]


def _result(rows: Array) -> dict[str, Any]:
    """Return the fields `winner` and `outcome` of a record from the state rows of its hands."""
    if not len(rows):
        return _outcome()
    return _outcome(int(rows[-1]["winner"]), int(rows[-1]["outcome"]))


def _outcome(winner: int = -1, outcome: int = Outcome.UNFINISHED) -> dict[str, Any]:
    return {"winner": winner if winner >= 0 else None, "outcome": OUTCOMES[outcome]}


def _replay_hand(
    states: Array, rules: Rules, hand: dict[str, Any], number: int, start: tuple[int, int]
) -> tuple[bytes, Array]:
    """Deal and play a hand of a record, with index `number`, in row 0 of `states`.

    Returns the row after the deal, as bytes, and the action numbers. `start` is the score before
    the first hand. Raises `RecordError` or another `BidEuchreError` for an invalid hand.
    """
    tables = compile_tables(rules)
    dealer = parse_seat("dealer", hand["dealer"])
    if number == 0:
        start_rows(states, tables, np.array([dealer], np.int64))
        states["score"] = start
    elif states[0]["phase"] == Phase.OVER:
        raise RecordError("the game is over before this hand")
    deal_given_row(states, tables, parse_deal(hand["deal"], rules, notation=True))
    if states[0]["dealer"] != dealer:
        raise RecordError(f"dealer {dealer}: expected seat {states[0]['dealer']}")
    acts = actions.of(rules)
    names = hand["actions"]
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise RecordError(f"actions {brief(names)}: expected a list of action names")
    numbers = [acts.index.get(name, -1) for name in names]
    dealt, played = states.tobytes(), np.array(numbers, np.int64)
    at = replay_row(states, tables, played)
    if at >= 0:
        raise RecordError(illegal(states[0], rules, names[at], f"action {at + 1}, "))
    return dealt, played


def _compare(stated: dict[str, Any], replayed: dict[str, Any]) -> None:
    for name in ("declarer", "contract", "tricks", "points", "score", "kitty"):
        if name in replayed and not _same(stated[name], replayed[name]):
            raise RecordError(
                f"{name} {brief(stated[name])}, but the replay gives {replayed[name]!r}"
            )


def _check_header(record: GameRecord) -> None:
    if not isinstance(record.options, dict):
        raise RecordError(f"options {brief(record.options)}: expected a mapping")
    if record.seed is not None and not (is_whole(record.seed) and record.seed >= 0):
        raise RecordError(f"seed {brief(record.seed)}: expected a whole number or null")
    agents = record.agents
    if agents is not None and not (
        isinstance(agents, list) and len(agents) == N_SEATS and all(map(is_plain_name, agents))
    ):
        raise RecordError(
            f"agents {brief(agents)}: expected four names, by seat, of up to {MAX_NAME} printable "
            "characters, or null"
        )
    try:
        if record.start is None:
            raise RecordError("None: expected the two sides' points, as (0, 0)")
        parse_score(record.start)
    except BidEuchreError as error:
        raise RecordError(f"start: {error}") from None
    if not isinstance(record.hands, list):
        raise RecordError(f"hands {brief(record.hands)}: expected a list")
    if not isinstance(record.outcome, str) or record.outcome not in OUTCOMES:
        raise RecordError(f"outcome {brief(record.outcome)}: expected one of {', '.join(OUTCOMES)}")


def _check_fields(what: str, data: Any, required: tuple[str, ...], optional: Any = ()) -> None:
    if not isinstance(data, dict):
        raise RecordError(
            f"{what}: an object with {', '.join(required)}, not {type(data).__name__}"
        )
    missing = [name for name in required if name not in data]
    extra = [name for name in data if name not in (*required, *optional)]
    if missing:
        raise RecordError(f"{what}: lacks {brief(missing)[1:-1]}")
    if extra:
        raise RecordError(f"{what}: has unknown {brief(extra)[1:-1]}")


def _same(stated: Any, replayed: Any) -> bool:
    """Whether a value of a record equals the replayed one and has the same JSON type."""
    if isinstance(replayed, list):
        same_length = isinstance(stated, list) and len(stated) == len(replayed)
        return same_length and all(map(_same, stated, replayed))
    return type(stated) is type(replayed) and bool(stated == replayed)


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict; `ValueError` for duplicate names."""
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError(f"an object with a name twice: {brief([name for name, _ in pairs])[1:-1]}")
    return data
