"""Tournaments: agents play each other on every variant, on duplicate boards.

    tournament.play(["cincinnati_v0"], ["random", "rule", "./mine.py:Mine"], out="runs/mine")
    tournament.play(["cincinnati_v0"], pairs=[("net", "expert"), ("expert", "rule")])

Each pair plays a `match` on the same boards. Every deal is played twice with the sides swapped, so
that the luck of the deal cancels. `games` adds whole games; `sprt` stops the boards of a pair when
a sequential test has its verdict. `out` is a folder where the results are written after every
pair. A later call resumes there: finished pairs are not played again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from itertools import chain, combinations
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
from bideuchre_env.evaluation import match
from bideuchre_env.evaluation.ray_pool import RayPool
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.seeding import check_seed, options_of
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.evaluation.statistics.ratings import Meeting, ratings
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
from bideuchre_env.evaluation.tournament_tables import html, in_text
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
    """Settings and results of a tournament; `str()` has tables and ratings of each variant.

    Args:
        variants, agents, boards, games, sprt, seed: see `play`.
        pairings: the pairs of agents on each variant; by default all pairs, the agent that is later
            in `agents` first.
        partners: the two agents behind a name in `agents` that stands for partners.

    Attributes:
        matches: the finished pairs in order, each the JSON object of `Result.to_dict` with its
            `date` and `outcomes`: per board + (won), - (lost) or = (tied).
        ratings: by variant, then agent, highest first.
        interrupted: whether Ctrl-C ended it.
        written: the files written at the end; `unwritten` is the error message if one could not be.

    Raises:
        OptionError: for invalid settings.
    """

    variants: tuple[Variant, ...]
    agents: tuple[str, ...]
    boards: int = BOARDS
    games: int = 0
    sprt: Bounds | None = None
    seed: int = 0
    pairings: tuple[tuple[str, str], ...] = ()
    matches: list[dict[str, Any]] = field(default_factory=list)
    ratings: dict[str, dict[str, Interval]] = field(default_factory=dict)
    interrupted: bool = False
    written: list[str] = field(default_factory=list)
    unwritten: str | None = None
    partners: dict[str, tuple[str, str]] = field(default_factory=dict)
    files: dict[str, str | None] = field(init=False, repr=False)
    """The `inputs` of the agents when the tournament was created, and hashes of the files of
    `bideuchre prepare` that they look for, by `PREPARED_FILE` + name; None for a missing one."""
    resumed: list[str] = field(default_factory=list)
    """The dates, as text, of the matches that were finished in the folder before."""

    def __post_init__(self) -> None:
        if is_whole(self.boards) and self.boards < 2:
            raise OptionError(f"boards={brief(self.boards)}: expected 2 or more, for an interval")
        match.check_numbers(self.boards, self.games, self.sprt, 1)
        check_seed(self.seed, self.boards)
        if not all(isinstance(name, str) for name in self.agents):
            raise OptionError(f"agents={brief(self.agents)}: expected names, as ./file.py:Agent")
        if len(set(self.agents)) != len(self.agents) or len(self.agents) < 2:
            raise OptionError(f"agents={brief(self.agents)}: expected 2 or more different names")
        names = [game.name for game in self.variants]
        if len(set(names)) < len(names) or not names:
            raise OptionError(f"variants={brief(names)}: expected different names")
        if not self.pairings:
            self.pairings = tuple((b, a) for a, b in combinations(self.agents, 2))
        self.files = {}
        with watch_files(self.files.__setitem__):
            for game in self.variants:
                for agent in self.names:
                    agents.make(agent, game.rules, seed=0)
        self.files |= inputs(self.names)

    @property
    def has_picture(self) -> bool:
        """Whether heat maps are drawn."""
        return True

    @property
    def names(self) -> list[str]:
        """The names of all single agents, without those of `partners`."""
        pairs = [self.partners.get(name, (name,)) for name in self.agents]
        return list(dict.fromkeys(chain.from_iterable(pairs)))

    @property
    def pairs(self) -> list[Pair]:
        """All pairs in playing order."""
        return [Pair(game, a, b) for game in self.variants for a, b in self.pairings]

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

    def play(
        self, workers: int | RayPool = 1, progress: Progress | None = None
    ) -> Iterator[dict[str, Any]]:
        """Play the missing matches, add each to `matches`, and yield it.

        Ctrl-C drops the match in progress and raises `KeyboardInterrupt`.

        Args:
            workers, progress: see the function `play`.

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
            result = match.play(
                pair.game,
                self.partners.get(pair.a, pair.a),
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
        signs = np.sign(result.board_rows["points"].sum(axis=1)).tolist()
        outcomes = "".join(SIGNS[sign + 1] for sign in signs)
        return {**result.to_dict(), "outcomes": outcomes, "date": str(date.today())}

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
        """Compute `ratings` on a variant; the first of `agents` that has played there has rating 0.

        The ratings do not depend on the order in which matches finish.
        """
        meetings = []
        for each in self.matches:
            if each["variant"] == variant:
                signs = np.array([SIGNS.index(letter) - 1 for letter in each["outcomes"]])
                a, b = each["agents"]
                meetings.append(Meeting(a, b, np.arange(len(signs)), signs))
        played = {name for meeting in meetings for name in (meeting.a, meeting.b)}
        anchor = next(name for name in self.agents if name in played)
        self.ratings[variant] = ratings(meetings, anchor=anchor)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole tournament as JSON values: the object of `results.json`."""
        return {
            "version": __version__,
            "agents": list(self.agents),
            **self.settings,
            **origin_of(self.files),
            "matches": self.matches,
            "ratings": {
                variant: {name: rating.to_dict() for name, rating in rated.items()}
                for variant, rated in self.ratings.items()
            },
        }

    @property
    def origin(self) -> str:
        """A sentence on the matches that were not played now; "" if there are none."""
        if not self.resumed:
            return ""
        first, last = min(self.resumed), max(self.resumed)
        dates = first if first == last else f"{first} to {last}"
        return f"{len(self.resumed)} of {len(self.pairs)} matches are from the folder, of {dates}"

    def __str__(self) -> str:
        return in_text(self.to_dict())

    def _repr_html_(self) -> str:
        return html(self.to_dict())


def play(
    variants: Sequence[str | Variant | Rules | Path],
    agents: Sequence[str] | None = None,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    boards: int = BOARDS,
    games: int = 0,
    sprt: Bounds | None = None,
    seed: int = 0,
    workers: int | RayPool = 1,
    out: PathLike | None = None,
    force: bool = False,
    progress: Progress | None = None,
    finished: Finished | None = None,
) -> Tournament:
    """Play every agent against every other on every variant; list weaker agents first.

    Ctrl-C ends the tournament: finished pairs are kept, the match in progress is dropped.

    Args:
        variants: names of variants, variants, custom `Rules` or rule files, with different names.
        agents: two or more names for `agents.make`.
        pairs: instead of `agents`, the pairs to play, with the stronger agent first.
        boards, games, sprt, seed, workers: those of `match.play`, for each pair; `boards` is 2 or
            more.
        out: the folder of the results, written after every pair, and of heat maps, drawn at the
            end. Its finished matches with the same settings are not played again.
        force: whether to play all pairs, and to replace other results in the folder.
        progress: `progress(pair, kind, done, total, decisions)` is called during a pair; `pair` is
            its description, the others are those of `match.play`.
        finished: `finished(match)` is called after a pair, with an object of `Tournament.matches`.

    Raises:
        OptionError: for invalid arguments, and for a folder with other results.
        IllegalActionError, AgentError, WorkerError: as `match.play`.
    """
    if (agents is None) == (pairs is None):
        raise OptionError("agents, pairs: expected one of them")
    pairings = () if pairs is None else check_pairs(pairs)
    if agents is None:
        agents = list(dict.fromkeys(name for a, b in pairings for name in (b, a)))
    names = tuple(to_list("agents", agents, "names of agents"))
    games_of = variants_of(variants)
    tournament = Tournament(games_of, names, boards, games, sprt, seed, pairings)
    run(tournament, workers, out, force, progress, finished)
    return tournament


def run(
    tournament: Tournament,
    workers: int | RayPool,
    out: PathLike | None,
    force: bool,
    progress: Progress | None,
    finished: Finished | None,
) -> None:
    """Play a tournament in a folder; arguments and errors are those of `play`."""
    for name, callback in (("progress", progress), ("finished", finished)):
        check_callback(name, callback)
    check_flag("force", force)
    match.check_numbers(tournament.boards, tournament.games, tournament.sprt, workers)
    with nullcontext() if out is None else only_run_in(out):
        folder = None if out is None else Path(out)
        if folder is not None and not force:
            keys = {pair.key for pair in tournament.pairs}
            tournament.keep(finished_matches(folder, tournament.to_dict(), keys))
            tournament.resumed = [each["date"] for each in tournament.matches]
        try:
            with raising():
                for each in tournament.play(workers, progress):
                    if finished is not None:
                        finished(each)
                    if folder is not None:
                        with suppress(OutputError):  # written again after the next pair
                            write(folder, tournament.to_dict())
                            remove_pictures(folder)  # of other results
        except KeyboardInterrupt:
            tournament.interrupted = True
        for variant in dict.fromkeys(each["variant"] for each in tournament.matches):
            if variant not in tournament.ratings:
                tournament.rate(variant)
        if folder is not None and tournament.matches:
            try:
                tournament.written += write(folder, tournament.to_dict())
                if tournament.has_picture:
                    tournament.written += write_pictures(folder, tournament.to_dict())
            except OutputError as error:
                tournament.unwritten = str(error)


def variants_of(variants: Any) -> tuple[Variant, ...]:
    """Return the argument `variants` of `play` as variants; `OptionError` if it is invalid."""
    return tuple(
        each if isinstance(each, Variant) else make(each)
        for each in to_list("variants", variants, "names of variants")
    )


def check_pairs(pairs: Any) -> tuple[tuple[str, str], ...]:
    """Return the pairs as tuples; raise `OptionError` unless they are different pairs of agents."""
    listed = []
    for pair in to_list("pairs", pairs, "pairs of agents"):
        names = to_list("pairs", pair, "two agents each")
        if len(names) != 2 or names[0] == names[1] or not all(isinstance(n, str) for n in names):
            raise OptionError(f"pairs: {brief(pair)}: expected the names of two different agents")
        listed.append((names[0], names[1]))
    if len(set(map(frozenset, listed))) < len(listed) or not listed:
        raise OptionError("pairs: expected one or more, each two agents once")
    return tuple(listed)
