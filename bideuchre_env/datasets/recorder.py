"""Self-play straight to disk: what is played on a `vec`, as a dataset."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from bideuchre_env._checks import is_plain_name, shown
from bideuchre_env._files import PathLike
from bideuchre_env.datasets.about import About, DatasetOptions
from bideuchre_env.datasets.minari_file import PREFIX
from bideuchre_env.datasets.steps import Steps
from bideuchre_env.datasets.writer import DatasetWriter
from bideuchre_env.envs.vector.env import BidEuchreVec
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array

DECISIONS_AT_ONCE = 1 << 17
LEAST_STEPS = 16
_Ending = tuple[Any, Array, Array, Array, dict[str, Any]]


class VecRecorder:
    """A `vec` whose finished episodes are written to a dataset as they are played.

    `reset` and `step` are those of `vec`, which is stepped through this alone. An episode is
    written once it has ended; those that have not when it is closed are left out, as are those
    that a reset breaks off. `players` are the names of who plays, by seat. A row's unfinished
    episode is held in memory. The keywords are `gamma`, `forced` and `player` of `DatasetOptions`;
    episodes, rewards and observations are those of `vec`. A context manager: if it is left by an
    error, nothing is written and an old dataset stays.

    Raises `OptionError` as `export` does, and for `minari:ID`, which needs records.
    """

    def __init__(
        self,
        vec: BidEuchreVec,
        path: PathLike,
        *,
        players: Sequence[str] | None = None,
        overwrite: bool = False,
        **options: Any,
    ) -> None:
        chosen = _chosen(vec, players, options)
        self.vec = vec
        source = {"vec": vec.num_envs}
        if os.fspath(path).startswith(PREFIX):
            raise OptionError(
                f"{os.fspath(path)}: a Minari dataset is made of game records: bideuchre export"
            )
        about = About(vec.name, vec.rules, chosen, players, source)
        self._writer = DatasetWriter(path, about, overwrite=overwrite)
        self._players = self._writer.players(players)
        n, steps = vec.num_envs, max(LEAST_STEPS, DECISIONS_AT_ONCE // vec.num_envs)
        dtypes = about.dtypes()
        self._steps = Steps(
            observations=np.zeros((steps, n), dtypes["observation"]),
            masks=np.zeros((steps, n), dtypes["action_mask"]),
            actions=np.zeros((steps, n), np.int64),
            seats=np.zeros((steps, n), np.int8),
            players=np.zeros((steps, n), np.int32),
            rewards=np.zeros((steps, n, N_SEATS), np.float32),
            terminated=np.zeros((steps, n), np.bool_),
            truncated=np.zeros((steps, n), np.bool_),
        )
        self._runs = np.zeros((steps, n), np.int64)  # the number of the episode of each decision
        self._run, self._next_run = np.arange(n), n
        self._at = 0
        self._left: tuple[Steps, Array] | None = None  # of unfinished episodes, with their numbers

    @property
    def decisions(self) -> int:
        """How many decisions are written so far."""
        return self._writer.decisions

    @property
    def episodes(self) -> int:
        """How many episodes are written so far."""
        return self._writer.episodes

    def reset(
        self,
        seed: int | None = None,
        *,
        mask: Array | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """`reset` of `vec`; the episodes that it breaks off are left out."""
        observation, info = self.vec.reset(seed, mask=mask, options=options)
        self._begin(np.ones(self.vec.num_envs, bool) if mask is None else np.asarray(mask))
        self._see(observation, info)
        return observation, info

    def step(self, actions: Any) -> _Ending:
        """`step` of `vec`, recorded."""
        taken = np.array(actions)  # it may be an array that the step rewrites
        observation, rewards, terminated, truncated, info = self.vec.step(actions)
        at, steps = self._at, self._steps
        steps.actions[at], steps.rewards[at] = taken, rewards
        steps.terminated[at], steps.truncated[at] = terminated, truncated
        self._at += 1
        self._begin(terminated | truncated)
        if self._at == len(self._runs):
            self._write()
        self._see(observation, info)
        return observation, rewards, terminated, truncated, info

    def close(self) -> None:
        """Write what is finished, and put the dataset in its place; closing twice is fine."""
        try:
            self._write()
            self._left = None
            self._writer.close()
        finally:
            self._writer.discard()

    def __enter__(self) -> VecRecorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self._writer.discard()

    def _see(self, observation: Any, info: dict[str, Any]) -> None:
        """Keep what the seats to act see now: the next step rewrites it."""
        at, steps = self._at, self._steps
        flat = isinstance(observation, np.ndarray)
        steps.observations[at] = observation if flat else observation["observation"]
        steps.masks[at], steps.seats[at] = info["action_mask"], info["seat"]
        steps.players[at] = self._players[info["seat"]]
        self._runs[at] = self._run

    def _begin(self, rows: Array) -> None:
        """An episode begins in these rows, bool (n,)."""
        new = int(rows.sum())
        self._run = self._run.copy()
        self._run[rows] = self._next_run + np.arange(new)
        self._next_run += new

    def _write(self) -> None:
        """Write the episodes that have ended, and keep the decisions of those that go on."""
        steps = Steps(*(part[: self._at].reshape(-1, *part.shape[2:]) for part in self._steps))
        runs = self._runs[: self._at].reshape(-1)
        if self._left is not None:
            before, numbers = self._left
            steps = Steps(*map(np.concatenate, zip(before, steps, strict=True)))
            runs = np.concatenate([numbers, runs])
        ended = np.isin(runs, runs[steps.terminated | steps.truncated])
        goes_on = np.flatnonzero(np.isin(runs, self._run) & ~ended)
        self._left = Steps(*(part[goes_on] for part in steps)), runs[goes_on]
        order = np.flatnonzero(ended)
        order = order[np.argsort(runs[order], kind="stable")]
        self._writer.add(Steps(*(part[order] for part in steps)))
        self._at = 0


def _chosen(vec: Any, players: Any, options: dict[str, Any]) -> DatasetOptions:
    """The options of a recorder; `OptionError` for what it cannot take."""
    if not isinstance(vec, BidEuchreVec):
        raise OptionError(f"env={shown(vec)}: the many tables of a vec are expected")
    taken = {name: getattr(vec, name) for name in ("episode", "reward", "observation")}
    for name in taken.keys() & options.keys():
        raise OptionError(f"{name}={shown(options[name])}: it is what the vec was made with")
    names = isinstance(players, (list, tuple)) and len(players) == N_SEATS
    if players is not None and not (names and all(map(is_plain_name, players))):
        raise OptionError(f"players={shown(players)}: four names, by seat, or None")
    return DatasetOptions.chosen(taken | options, "a recorder")
