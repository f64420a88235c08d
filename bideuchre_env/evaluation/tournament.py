"""Tournaments: the matches of a schedule, played where their results are missing in a folder.

    tournament(["cincinnati_v0"], ["random", "rule", "./mine.py:Mine"], out="runs/mine")
    tournament(["cincinnati_v0"], pairs=[("net", "expert"), ("expert", "rule")])
    tournament(["cincinnati_v0"], ["net", "./mine.py:Mine"], field=["rule", "expert"])

Each pair plays a `match` on the same boards. Every deal is played twice with the sides swapped, so
that the luck of the deal cancels. `games` adds whole games; `sprt` stops the boards of a pair when
a sequential test has its verdict. `out` is a folder where the results are written after every
pair. A later call resumes there: finished pairs are not played again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bideuchre_env import __version__, agents
from bideuchre_env._checks import brief, check_callback, check_flag, is_whole, to_list
from bideuchre_env._files import PathLike, only_run_in
from bideuchre_env.agents.inputs import inputs
from bideuchre_env.agents.prepared import PREPARED_FILE, prepared_digests, watch_files
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError, OutputError
from bideuchre_env.evaluation.executors import Executor, executor_of
from bideuchre_env.evaluation.field_tables import table_of
from bideuchre_env.evaluation.match import check_numbers, match
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.schedules import Schedule, against_field, all_pairs, named_pairs
from bideuchre_env.evaluation.seeding import check_seed, options_of
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.evaluation.statistics.ratings import Meeting, ratings
from bideuchre_env.evaluation.statistics.scores import Scores
from bideuchre_env.evaluation.statistics.sequential import Bounds
from bideuchre_env.evaluation.tournament_files import (
    finished_matches,
    first_changed,
    key_of,
    origin_of,
    remove_pictures,
    write,
    write_pictures,
)
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.interrupts import raising

BOARDS = 2000
SIGNS = "-=+"  # a board lost, tied or won by the first agent of a pair

Progress = Callable[[str, str, int, int, int], None]
Finished = Callable[[dict[str, Any]], None]


class Pair(NamedTuple):
    """Two agents and the variant that they play."""

    game: Variant
    a: str
    b: str

    def __str__(self) -> str:
        return f"{self.game.name}: {self.a} against {self.b}"

    @property
    def key(self) -> str:
        """The key of the pair's match, see `tournament_files.key_of`."""
        options = options_of(self.game)
        return key_of({"variant": self.game.name, "options": options, "agents": [self.a, self.b]})


@dataclass
class Tournament:
    """Settings and results of a tournament.

    Args:
        variants, boards, games, sprt, seed, command: see `tournament`.
        schedule: the pairs of agents on each variant.

    Attributes:
        matches: the finished pairs in order, each the JSON object of `Result.to_dict` with its
            `date` and `outcomes`: per board + (won), - (lost) or = (tied). Against a field it has
            also `board_points`, the points of every board as text.
        ratings: by variant, then agent, highest first.

    Raises:
        OptionError: for invalid settings.
    """

    variants: tuple[Variant, ...]
    schedule: Schedule
    boards: int = BOARDS
    games: int = 0
    sprt: Bounds | None = None
    seed: int = 0
    command: str | None = None
    matches: list[dict[str, Any]] = attribute(default_factory=list)
    ratings: dict[str, dict[str, Interval]] = attribute(default_factory=dict)
    files: dict[str, str | None] = attribute(init=False, repr=False)
    """The `inputs` of the agents when the tournament was created, and hashes of the files of
    `bideuchre prepare` that they look for, by `PREPARED_FILE` + name; None for a missing one."""

    def __post_init__(self) -> None:
        if is_whole(self.boards) and self.boards < 2:
            raise OptionError(f"boards={brief(self.boards)}: expected 2 or more, for an interval")
        check_numbers(self.boards, self.games, self.sprt)
        check_seed(self.seed, self.boards)
        names = [game.name for game in self.variants]
        if len(set(names)) < len(names) or not names:
            raise OptionError(f"variants={brief(names)}: expected different names")
        self.files = {}
        with watch_files(self.files.__setitem__):
            for game in self.variants:
                for agent in self.names:
                    agents.make(agent, game.rules, seed=0)
        self.files |= inputs(self.names)

    @property
    def names(self) -> list[str]:
        """The names of all single agents, without those of partners."""
        pairs = [self.schedule.partners.get(name, (name,)) for name in self.schedule.agents]
        return list(dict.fromkeys(chain.from_iterable(pairs)))

    @property
    def pairs(self) -> list[Pair]:
        """All pairs in playing order."""
        return [Pair(game, a, b) for game in self.variants for a, b in self.schedule.pairs]

    @property
    def missing(self) -> list[Pair]:
        """The pairs without a finished match."""
        played = {key_of(each) for each in self.matches}
        return [pair for pair in self.pairs if pair.key not in played]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings `boards`, `games`, `sprt` and `seed` of all pairs, as JSON values.

        `sprt` is [low, high] or None.
        """
        sprt = [self.sprt.low, self.sprt.high] if self.sprt else None
        return {"boards": self.boards, "games": self.games, "sprt": sprt, "seed": self.seed}

    def play(self, workers: Executor, progress: Progress | None = None) -> Iterator[dict[str, Any]]:
        """Play the missing matches, add each to `matches`, and yield it.

        Ctrl-C drops the match in progress and raises `KeyboardInterrupt`.

        Args:
            workers, progress: see the function `tournament`.

        Raises:
            OptionError: if a file of an agent has changed before a pair.
        """
        missing = self.missing
        for number, pair in enumerate(missing, 1):
            prepared = prepared_digests()
            sought = [name for name in self.files if name.startswith(PREPARED_FILE)]
            now = {name: prepared.get(name) for name in sought} | inputs(self.names)
            if changed := first_changed(self.files, now):
                raise OptionError(f"{changed} has changed since this tournament began")
            self.files |= now  # modules that were imported during a match
            title = f"{pair} ({number} of {len(missing)})"
            result = match(
                pair.game,
                self.schedule.partners.get(pair.a, pair.a),
                pair.b,
                **{**self.settings, "sprt": self.sprt},
                workers=workers,
                progress=None if progress is None else partial(progress, title),
            )
            if result.interrupted:
                raise KeyboardInterrupt
            result = replace(result, agents=(pair.a, pair.b))
            finished = json.loads(json.dumps(self.row_of(result)))  # as if loaded
            self.keep([finished])
            yield finished

    def row_of(self, result: Result) -> dict[str, Any]:
        """Return the object of a finished match for `matches`."""
        assert result.board_rows is not None
        points = result.board_rows["points"].sum(axis=1)
        outcomes = "".join(SIGNS[sign + 1] for sign in np.sign(points).tolist())
        row = {**result.to_dict(), "outcomes": outcomes, "date": str(date.today())}
        if self.schedule.kind is not None:
            row["board_points"] = " ".join(map(str, points.tolist()))
        return row

    def keep(self, matches: list[dict[str, Any]]) -> None:
        """Add finished matches to `matches`, which is kept in the order of `pairs`.

        Computes the ratings of the variants of these matches that have no match missing.
        """
        places = [pair.key for pair in self.pairs]
        self.matches.extend(matches)
        self.matches.sort(key=lambda each: places.index(key_of(each)))
        unfinished = {pair.game.name for pair in self.missing}
        for variant in dict.fromkeys(each["variant"] for each in matches):
            if variant not in unfinished:
                self.rate(variant)

    def rate(self, variant: str) -> None:
        """Compute `ratings` on a variant; the first agent that has played there has rating 0.

        The ratings do not depend on the order in which matches finish.
        """
        meetings = []
        for each in self.matches:
            if each["variant"] == variant:
                signs = np.array([SIGNS.index(letter) - 1 for letter in each["outcomes"]])
                a, b = each["agents"]
                meetings.append(Meeting(a, b, np.arange(len(signs)), signs))
        played = {name for meeting in meetings for name in (meeting.a, meeting.b)}
        anchor = next(name for name in self.schedule.agents if name in played)
        self.ratings[variant] = ratings(meetings, anchor=anchor)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole tournament as JSON values: the object of `results.json`.

        Against a field, `table` has the figures of all tables.
        """
        data: dict[str, Any] = {
            "version": __version__,
            "agents": list(self.schedule.agents),
            **self.settings,
            **origin_of(self.files),
            "matches": self.matches,
            "ratings": {
                variant: {name: rating.to_dict() for name, rating in rated.items()}
                for variant, rated in self.ratings.items()
            },
        }
        if self.schedule.kind is None:
            return data
        data |= {
            "kind": self.schedule.kind,
            "field": list(self.schedule.field),
            "entrants": list(self.schedule.entrants),
            "tricks": {game.name: game.rules.tricks for game in self.variants},
            "command": self.command,
        }
        return data | {"table": table_of(data)}

    def result(self, **more: Any) -> Result:
        """Return the result; `more` are fields of it."""
        names, seconds = self.schedule.agents, sum(each["seconds"] for each in self.matches)
        decisions, think_seconds = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
        for each in self.matches:
            for name, number in each["decisions"].items():
                decisions[name] += number
                think_seconds[name] += number * (each["ms_per_decision"][name] or 0) / 1000
        return Result(
            variant=", ".join(game.name for game in self.variants),
            options={},
            agents=names,
            seed=self.seed,
            mode=self.schedule.kind or "tournament",
            boards=Scores(),
            games=Scores(),
            decisions=tuple(decisions[name] for name in names),
            think_seconds=tuple(think_seconds[name] for name in names),
            decisions_per_second=sum(decisions.values()) / seconds if seconds else 0.0,
            seconds=seconds,
            at_once=0,
            matches=self.matches,
            ratings=self.ratings,
            data=self.to_dict(),
            **more,
        )


def tournament(
    variants: Sequence[str | Variant | Rules | Path],
    agents: Sequence[str] | None = None,
    *,
    field: Sequence[str] | None = None,
    partners: bool = False,
    pairs: Sequence[tuple[str, str]] | None = None,
    boards: int = BOARDS,
    games: int = 0,
    sprt: Bounds | None = None,
    seed: int = 0,
    workers: int | Executor = 1,
    out: PathLike | None = None,
    force: bool = False,
    progress: Progress | None = None,
    finished: Finished | None = None,
    command: str | None = None,
) -> Result:
    """Play the matches of a schedule on every variant: all pairs, named pairs, or against a field.

    All matches of a variant have the same deals, so that results are compared board by board.
    Ctrl-C ends the tournament: finished pairs are kept, the match in progress is dropped.

    Args:
        variants: names of variants, variants, custom `Rules` or rule files, with different names.
        agents: two or more names for `agents.make`, weaker agents first; every agent plays every
            other. With a `field`, one or more names; differences are to the first.
        field: opponents of all agents, which do not play each other; the first has rating 0.
        partners: whether to play every agent as partner of every agent, itself included, instead
            of with itself only. It needs a `field`.
        pairs: instead of `agents`, the pairs to play, with the stronger agent first.
        boards, games, sprt, seed, workers: those of `match`, for each pair; `boards` is 2 or more,
            `sprt` is not for a field.
        out: the folder of the results, written after every pair, and of heat maps, drawn at the
            end. Its finished matches with the same settings are not played again.
        force: whether to play all pairs, and to replace other results in the folder.
        progress: `progress(pair, kind, done, total, decisions)` is called during a pair; `pair` is
            its description, the others are those of `match`.
        finished: `finished(match)` is called after a pair, with an object of `Result.matches`.
        command: the command line, for the tables of a field.

    Raises:
        OptionError: for invalid arguments, and for a folder with other results.
        IllegalActionError, AgentError, WorkerError: as `match`.
    """
    check_flag("partners", partners)
    for name, callback in (("progress", progress), ("finished", finished)):
        check_callback(name, callback)
    check_flag("force", force)
    if field is not None:
        if sprt is not None or pairs is not None:
            raise OptionError("sprt, pairs: not with a field")
        schedule = against_field(agents, field, partners)
    elif partners:
        raise OptionError("partners: expected field=..., their opponents")
    elif (agents is None) == (pairs is None):
        raise OptionError("agents, pairs: expected one of them")
    else:
        schedule = all_pairs(agents) if pairs is None else named_pairs(pairs)
    games_of = tuple(
        each if isinstance(each, Variant) else make(each)
        for each in to_list("variants", variants, "names of variants")
    )
    settings = Tournament(games_of, schedule, boards, games, sprt, seed, command)
    with executor_of(workers) as executor, nullcontext() if out is None else only_run_in(out):
        folder = None if out is None else Path(out)
        return _run(settings, executor, folder, force, progress, finished)


def _run(
    played: Tournament,
    workers: Executor,
    folder: Path | None,
    force: bool,
    progress: Progress | None,
    finished: Finished | None,
) -> Result:
    """Play the matches that are missing in the folder, write it, and return the result."""
    if folder is not None and not force:
        keys = {pair.key for pair in played.pairs}
        played.keep(finished_matches(folder, played.to_dict(), keys))
    origin, interrupted, written, unwritten = origin_text(played), False, [], None
    try:
        with raising():
            for each in played.play(workers, progress):
                if finished is not None:
                    finished(each)
                if folder is not None:
                    with suppress(OutputError):  # written again after the next pair
                        write(folder, played.to_dict())
                        remove_pictures(folder)  # of other results
    except KeyboardInterrupt:
        interrupted = True
    for variant in dict.fromkeys(each["variant"] for each in played.matches):
        if variant not in played.ratings:
            played.rate(variant)
    if folder is not None and played.matches:
        try:
            written += write(folder, played.to_dict())
            written += write_pictures(folder, played.to_dict())
        except OutputError as error:
            unwritten = str(error)
    return played.result(
        origin=origin,
        interrupted=interrupted,
        written=written,
        unwritten=unwritten,
        workers=workers.workers,
    )


def origin_text(played: Tournament) -> str:
    """Return a sentence on the matches that are from a folder; "" if there are none."""
    dates = sorted(each["date"] for each in played.matches)
    if not dates:
        return ""
    span = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    return f"{len(dates)} of {len(played.pairs)} matches are from the folder, of {span}"
