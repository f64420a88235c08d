"""`VecRecorder`: recorder of self-play on a vector environment, which writes a dataset."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from bideuchre_env._checks import brief, check_flag, is_plain_name, printable, to_array
from bideuchre_env._files import PathLike
from bideuchre_env.datasets.columns import About, DatasetOptions, RecorderKeywords, Steps, new_steps
from bideuchre_env.datasets.minari_file import MinariFile
from bideuchre_env.datasets.writer import DatasetWriter, check_player, kind_of
from bideuchre_env.envs.checks import RESET_MASK, reset_options, rows_to_reset
from bideuchre_env.envs.vector.env import BidEuchreVec
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.interrupts import ctrl_c
from bideuchre_env.runtime.jit import Array

if TYPE_CHECKING:
    from typing_extensions import Unpack

DECISIONS_AT_ONCE = 1 << 17
_Step = tuple[Any, Array, Array, Array, dict[str, Any]]


class VecRecorder:
    """A `vec` whose finished episodes are written to a dataset as they are played.

    Use `reset` and `step` of the recorder in place of those of `vec`. An episode is written after
    its end; episodes that are unfinished at `close`, or aborted by a reset, are left out. The
    decisions of unfinished episodes are held in memory.

    It is a context manager, which calls `close`. After Ctrl-C or an error in its block, the
    finished episodes are saved. If a write fails, nothing is saved, and an old dataset stays.

    Args:
        vec: the environment, on the CPU.
        path: a path that ends in .npz or .parquet.
        players: the names of the players, by seat.
        overwrite: whether to replace an existing dataset.
        options: `gamma`, `forced` and `player` of `DatasetOptions`; episodes, rewards and
            observations are those of `vec`.

    Raises:
        OptionError: as `export` does, for `minari:ID` (only `export` writes it), if `vec` was reset
            or stepped directly, and after `close`.
    """

    def __init__(
        self,
        vec: BidEuchreVec,
        path: PathLike,
        *,
        players: Sequence[str] | None = None,
        overwrite: bool = False,
        **options: Unpack[RecorderKeywords],
    ) -> None:
        chosen = _parse_options(vec, path, players, overwrite, options)
        self.vec = vec
        self._about = About(vec.name, vec.rules, chosen, players, {"vec": vec.num_envs})
        self._writer = DatasetWriter(path, self._about, overwrite=overwrite)
        self._players = self._writer.players(players)
        self._make_room(1)
        self._run, self._next_run = np.arange(vec.num_envs), vec.num_envs
        self._unfinished: tuple[Steps, Array] | None = None  # steps, and numbers of episodes
        self._changes: int | None = None  # `vec.changes` after the recorder's last call
        self._closed = False

    @property
    def decisions(self) -> int:
        """Number of decisions written so far."""
        return self._writer.decisions

    @property
    def episodes(self) -> int:
        """Number of episodes written so far; in Minari one for each seat that has decisions."""
        return self._writer.stored

    def reset(
        self,
        seed: int | None = None,
        *,
        mask: Array | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Call `reset` of `vec`; the episodes that it aborts are left out.

        Args:
            seed, mask, options: those of `BidEuchreVec.reset`; results and errors are the same.
        """
        self._require_open()
        reset_mask = reset_options(options, RESET_MASK).get(RESET_MASK)
        rows = np.array(rows_to_reset(mask, reset_mask, self.vec.num_envs))
        if not rows.all():
            self._require_in_step()
        observation, info = self.vec.reset(seed, mask=mask, options=options)
        self._begin(rows)
        self._see(observation, info)
        return observation, info

    def step(self, actions: Any) -> _Step:
        """Call `step` of `vec`, and record it.

        Args:
            actions: those of `BidEuchreVec.step`; results and errors are the same.
        """
        self._require_open()
        self._require_in_step()
        taken_actions = to_array("actions", actions).copy()  # the step may rewrite the array
        observation, rewards, terminated, truncated, info = self.vec.step(actions)
        at, steps = self._at, self._steps
        steps.actions[at], steps.rewards[at] = taken_actions, rewards
        steps.terminated[at], steps.truncated[at] = terminated, truncated
        self._at += 1
        self._begin(terminated | truncated)
        self._see(observation, info)
        return observation, rewards, terminated, truncated, info

    def close(self) -> None:
        """Write the finished episodes, and publish the dataset. Idempotent.

        If there is no decision of a finished episode, raises `OptionError`, and an old dataset
        stays.
        """
        if self._closed:
            return
        with self._writing():
            self._write()
            self._writer.close()
            self._closed = True

    def __enter__(self) -> VecRecorder:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        # after an error, do not also raise that no episode has ended
        with nullcontext() if error is None else suppress(OptionError):
            self.close()

    def _require_open(self) -> None:
        """Raise `OptionError` after `close`."""
        if self._closed:
            raise OptionError("this recorder is closed: make another")

    def _require_in_step(self) -> None:
        """Raise `OptionError` before the first reset, or if `vec` was reset or stepped directly."""
        if self._changes is None:
            raise OptionError("nothing has been dealt yet: call reset() of the recorder first")
        if self._changes != self.vec.changes:
            raise OptionError(
                "the vec was reset or stepped past its recorder: reset() of the recorder begins "
                "new games in every row"
            )

    def _see(self, observation: Any, info: dict[str, Any]) -> None:
        """Copy the observations, masks and seats to act; the next step overwrites them in `vec`.

        If the arrays are full, first writes the finished episodes.
        """
        if self._at == len(self._runs):
            with self._writing():
                self._write()
        at, steps = self._at, self._steps
        flat = isinstance(observation, np.ndarray)
        steps.observations[at] = observation if flat else observation["observation"]
        steps.masks[at], steps.seats[at] = info["action_mask"], info["seat"]
        steps.players[at] = self._players[info["seat"]]
        self._runs[at] = self._run
        self._changes = self.vec.changes

    def _begin(self, rows: Array) -> None:
        """Assign numbers to the episodes that begin in these rows, bool (n,)."""
        new = int(rows.sum())
        self._run = self._run.copy()
        self._run[rows] = self._next_run + np.arange(new)
        self._next_run += new

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Context manager of a write: delays Ctrl-C until the write is complete.

        After Ctrl-C, `KeyboardInterrupt` is then raised. If the write fails, the new dataset is
        discarded and the recorder closed.
        """
        try:
            with ctrl_c() as event:
                yield
        except BaseException:
            self._closed = True
            raise
        finally:
            if self._closed:
                self._writer.discard()
        if event.is_set():
            raise KeyboardInterrupt

    def _write(self) -> None:
        """Write the finished episodes; store the decisions of the unfinished ones for later.

        Decisions of aborted episodes are dropped.
        """
        steps = Steps(*(part[: self._at].reshape(-1, *part.shape[2:]) for part in self._steps))
        runs = self._runs[: self._at].reshape(-1)
        if self._unfinished is not None:
            before, numbers = self._unfinished
            steps = Steps(*map(np.concatenate, zip(before, steps, strict=True)))
            runs = np.concatenate([numbers, runs])
        ended = np.isin(runs, runs[steps.terminated | steps.truncated])
        running = np.flatnonzero(np.isin(runs, self._run) & ~ended)
        self._unfinished = Steps(*(part[running] for part in steps)), runs[running]
        order = np.flatnonzero(ended)
        order = order[np.argsort(runs[order], kind="stable")]
        self._writer.add(Steps(*(part[order] for part in steps)))
        self._make_room(len(running))

    def _make_room(self, waiting: int) -> None:
        """Allocate arrays for the steps until the next write.

        They have room for at least `waiting` decisions, so each is copied only a few times.
        """
        n, rules = self.vec.num_envs, self.vec.rules
        steps = -(-max(DECISIONS_AT_ONCE, waiting) // n)
        self._steps = new_steps((steps, n), rules, self._about)
        self._runs = np.empty((steps, n), np.int64)  # the number of each decision's episode
        self._at = 0


def _parse_options(
    vec: Any, path: Any, players: Any, overwrite: Any, options: Mapping[str, Any]
) -> DatasetOptions:
    """Return the options of a recorder; `OptionError` for invalid arguments."""
    if not isinstance(vec, BidEuchreVec):
        raise OptionError(f"env={brief(vec)}: expected a vec")
    check_flag("overwrite", overwrite)
    if vec.device != "cpu":
        raise OptionError(f"env={brief(vec)}: expected a vec on the CPU")
    inherited = {name: getattr(vec, name) for name in ("episode", "reward", "observation")}
    for name in inherited.keys() & options.keys():
        raise OptionError(f"{name}={brief(options[name])}: expected only as an option of the vec")
    names = isinstance(players, (list, tuple)) and len(players) == N_SEATS
    if players is not None and not (names and all(map(is_plain_name, players))):
        raise OptionError(f"players={brief(players)}: expected four names, by seat, or None")
    chosen = DatasetOptions.chosen({**inherited, **options}, "a recorder")
    if kind_of(path) is MinariFile:
        raise OptionError(
            f"{printable(os.fspath(path))}: a Minari dataset is made of game records: "
            "bideuchre records export"
        )
    check_player(chosen.player, players or ())
    return chosen
