"""Two agents against each other on duplicate deals: `play(variant, a, b, hands=..., seed=...)`.

Every board is played twice with the same cards, the sides swapped, so what remains of the luck
of the deal cancels. A board is a single hand (`hands=N`), the dealers taking turns, or a whole
game (`games=N`: N games, rounded up to pairs, each pair dealt alike).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bideuchre_env import agents as players
from bideuchre_env.agents.base import Agent
from bideuchre_env.deal import SEED_LIMIT
from bideuchre_env.errors import OptionError, is_whole
from bideuchre_env.intervals import Interval, wilson
from bideuchre_env.record import GameRecord
from bideuchre_env.record_book import RecordBook
from bideuchre_env.records_io import PathLike, RecordWriter
from bideuchre_env.registration import Variant, make
from bideuchre_env.rules import Rules
from bideuchre_env.scores import Scores, interval_dict
from bideuchre_env.solo_players import checked_agent
from bideuchre_env.state import new_states
from bideuchre_env.table_room import Room

BOARD_SEEDS = 10**9
SEED_END = SEED_LIMIT // BOARD_SEEDS
MOST_AT_ONCE = 1024

Progress = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Result:
    """What a run of self-play found; points are A's minus B's. `str(result)` is for reading.

    `boards` counts boards of two tables (pairs of games, under `mode` "games"), `hands` the hands
    dealt at them, passed-out ones included; `points_per_hand` and `win_rate` (of whole games) are
    None where there was nothing to count. `contracts` is keyed by agent; when both have the same
    name the second is `name#2`. `interrupted` runs count only the boards finished at both tables.
    """

    variant: str
    options: dict[str, Any]
    agents: tuple[str, str]
    mode: str
    boards: int
    hands: int
    points_per_hand: Interval | None
    a_won: int
    b_won: int
    drawn: int
    truncated: int
    contracts: dict[str, dict[str, int]]
    decisions: int
    decisions_per_second: float
    seconds: float
    seed: int
    records: str | None
    interrupted: bool

    @property
    def games(self) -> int:
        """Whole games played."""
        return self.a_won + self.b_won + self.drawn + self.truncated

    @property
    def win_rate(self) -> Interval | None:
        """A's share of all games, drawn and truncated ones included, with Wilson's interval."""
        return wilson(self.a_won, self.games)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the notation, and a few fields more."""
        return {
            "variant": self.variant,
            "options": self.options,
            "agents": list(self.agents),
            "mode": self.mode,
            "boards": self.boards,
            "hands": self.hands,
            "points_per_hand": interval_dict(self.points_per_hand),
            "games": {
                "a_won": self.a_won,
                "b_won": self.b_won,
                "drawn": self.drawn,
                "truncated": self.truncated,
            },
            "win_rate": interval_dict(self.win_rate),
            "contracts": self.contracts,
            "decisions": self.decisions,
            "seconds": round(self.seconds, 3),
            "decisions_per_second": round(self.decisions_per_second),
            "seed": self.seed,
            "records": self.records,
            "interrupted": self.interrupted,
        }

    def __str__(self) -> str:
        from bideuchre_env.report import report

        return report(self)


def play(
    variant: str | Variant | Rules,
    a: str | Agent,
    b: str | Agent,
    *,
    hands: int | None = None,
    games: int | None = None,
    seed: int = 0,
    out: PathLike | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    at_once: int | None = None,
) -> Result:
    """Play partnerships of `a` against partnerships of `b` on duplicate deals.

    Give `hands`, how many boards of one hand each, or `games`, how many whole games (rounded up
    to pairs). `out` is a new file for the game records (`overwrite` to replace one): the two
    tables of each board in order, written as boards finish. `progress(done, total, decisions)`,
    in boards or games, is called before the first lock step, which compiles, and after each of
    the others. `at_once` boards are played at a time (an eighth of them unless given, from 32 to
    1,024).

    Board i of seed S is dealt from the stream of an environment reset with seed S * 10**9 + i,
    which is the record's seed: neither other seeds nor the agents change it. The agents' own seeds
    derive from S when they are given by name, as `agents.make` takes it ("pimc:worlds=20").
    Deterministic agents give the same result and file for any `at_once`; ones that draw lots, for
    the same `at_once`.

    Ctrl-C ends the run with what is finished (see `Result`); a second one raises at once.
    Raises `OptionError` for unusable arguments, `IllegalActionError` for an agent's bad choice.
    """
    game = variant if isinstance(variant, Variant) else make(variant)
    mode, boards = _length(hands, games)
    check_seed(seed, boards)
    if at_once is None:
        at_once = max(32, min(boards // 8, MOST_AT_ONCE))
    if not is_whole(at_once) or at_once < 1:
        raise OptionError(f"at_once={at_once!r}: a whole number of boards, 1 or more")
    sides = (seat_agent(a, game.rules, seed, 0), seat_agent(b, game.rules, seed, 1))
    at_once = min(at_once, boards)
    room = Room(game.rules, sides, range(boards), first_seed(seed), mode == "hands", at_once)
    if out is None:
        interrupted = room.run(_per_game(progress, mode))
    else:
        with RecordWriter(out, overwrite=overwrite) as writer:
            names = (sides[0].name, sides[1].name)
            book = RecordBook(writer, game.rules, game.name, names, room.seed, len(room.states))
            try:
                interrupted = room.run(_per_game(progress, mode), book)
            finally:
                book.close()
                if not writer.lines:
                    writer.discard()
                    out = None
    return _result(game, sides, mode, room, seed, out, interrupted)


def _result(
    game: Variant,
    sides: tuple[Agent, Agent],
    mode: str,
    room: Room,
    seed: int,
    out: PathLike | None,
    interrupted: bool,
) -> Result:
    scores = Scores.of_totals(room.totals)
    names = (sides[0].name, sides[1].name)
    return Result(
        variant=game.name,
        options=options_of(game),
        agents=names,
        mode=mode,
        boards=scores.boards,
        hands=scores.hands,
        points_per_hand=scores.points_per_hand,
        a_won=scores.a_won,
        b_won=scores.b_won,
        drawn=scores.drawn,
        truncated=scores.truncated,
        contracts=dict(zip(agent_keys(names), scores.contracts, strict=True)),
        decisions=room.decisions,
        decisions_per_second=room.rate,
        seconds=room.seconds,
        seed=seed,
        records=None if out is None else str(out),
        interrupted=interrupted,
    )


def options_of(game: Variant) -> dict[str, Any]:
    """The rules of a game that are not its variant's own, as a record states them."""
    return GameRecord.from_rows(new_states(0), game.rules, game.name).options


def first_seed(seed: int) -> int:
    """The stream of board 0 of a run with this seed; board i has this plus i."""
    return seed * BOARD_SEEDS


def seat_agent(given: str | Agent, rules: Rules, seed: int, place: int) -> Agent:
    """An agent by name, with a seed of its own for each place of a run; or the agent given.

    `place` is 0 for A and 1 for B in self-play; in a match it is the first board of a block.
    """
    if isinstance(given, str):
        own = int(np.random.SeedSequence((seed, place)).generate_state(1, np.uint64)[0])
        return players.make(given, rules, seed=own)
    return checked_agent(given, rules)


def check_seed(seed: Any, boards: int = 1) -> None:
    """Raise `OptionError` unless a run of so many boards can have this seed."""
    if not is_whole(seed) or not 0 <= seed < SEED_END:
        raise OptionError(f"seed={seed!r}: a whole number from 0 to {SEED_END - 1}")
    if boards > BOARD_SEEDS:
        raise OptionError(f"{boards} boards: a seed deals at most {BOARD_SEEDS}")


def agent_keys(names: tuple[str, str]) -> tuple[str, str]:
    """The agents' names, the second marked where they are the same."""
    return (names[0], names[1] if names[0] != names[1] else f"{names[1]}#2")


def _length(hands: Any, games: Any) -> tuple[str, int]:
    if (hands is None) == (games is None):
        raise OptionError("give hands=N (boards of one hand) or games=N (whole games)")
    mode, number = ("hands", hands) if games is None else ("games", games)
    if not is_whole(number) or number < 1:
        raise OptionError(f"{mode}={number!r}: a whole number, 1 or more")
    return mode, int(number) if mode == "hands" else (int(number) + 1) // 2


def _per_game(progress: Progress | None, mode: str) -> Progress | None:
    if progress is None or mode == "hands":
        return progress
    return lambda done, total, decisions: progress(2 * done, 2 * total, decisions)
