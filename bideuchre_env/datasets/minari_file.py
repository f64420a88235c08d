"""Minari datasets: an episode for each seat, as in the Gymnasium environment `SoloEnv`."""

from __future__ import annotations

import copy
import errno
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env._files import PathLike, TakenError, only_run_in
from bideuchre_env._install import how_to_install
from bideuchre_env._quitting import before_quitting
from bideuchre_env.agents import parse
from bideuchre_env.datasets.columns import METADATA, About, Columns
from bideuchre_env.datasets.files import writing
from bideuchre_env.envs.face import row_space
from bideuchre_env.envs.registry_ids import gymnasium_id
from bideuchre_env.errors import BidEuchreError, OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array

PREFIX = "minari:"
NEEDS_MINARI = f"a Minari dataset needs minari: {how_to_install('minari')}"
_ROOT = "MINARI_DATASETS_PATH"
_MOST_OVERHEAD = 1 << 15  # bytes per episode, independent of its length


class MinariFile:
    """A Minari dataset, in which each seat's decisions in an episode are an episode of `SoloEnv`.

    `About.metadata` is stored in the metadata as `METADATA`. A dataset of a declared variant has an
    environment to recover, with the opponents and partner of the first game; random players replace
    those that cannot be made by name. The dataset is written to a temporary folder beside the other
    datasets, by one process at a time. Raises `OptionError` without Minari, for an invalid ID, and
    for a `gamma` other than 1, because there are no returns; `TakenError` for an existing dataset
    unless `overwrite`.
    """

    def __init__(self, path: PathLike, about: About, *, overwrite: bool = False) -> None:
        if about.options.gamma != 1:
            raise OptionError(
                f"gamma={brief(about.options.gamma)}: expected 1.0; a Minari dataset has no returns"
            )
        self._minari = _library()
        self.names: list[str] = []
        self._id = _checked_id(os.fspath(path).removeprefix(PREFIX))
        self._about, self._episodes = about, 0
        self.stored = 0
        """Number of episodes in the dataset, up to four for each of the game."""
        self._dataset: Any = None
        root = self._minari.storage.get_dataset_path()
        self._place, self._staging = root / self._id, root / ".bideuchre"
        self._old = self._staging / f"old-{self._id.replace('/', '+')}"
        self._lock, self._unfinished = ExitStack(), True
        self._lock.enter_context(only_run_in(self._staging))
        self._clear()  # left by a process that was killed
        if self._place.exists() and not overwrite:
            self._lock.close()
            raise TakenError(
                f"{PREFIX}{self._id} exists: choose another ID, or replace it "
                "(--force, overwrite=True)"
            )
        self._lock.enter_context(before_quitting(self.discard))

    def write(self, columns: Columns, finals: Array | None = None) -> None:
        """Append the rows of complete episodes, as an episode of the dataset for each seat.

        `finals`, (episodes, 4, D), are the observations of each seat after each episode. They are
        required.
        """
        assert finals is not None
        episodes = list(self._episodes_of(columns, finals))
        self._episodes += len(finals)
        if not episodes:
            return
        self.stored += len(episodes)
        with writing(PREFIX + self._id):
            _require_room(self._staging, columns, len(episodes))
            if self._dataset is None:
                self._dataset = self._created(episodes)
            else:
                self._dataset.update_dataset_from_buffer(episodes)

    def close(self) -> None:
        """Move the complete dataset to its place; no effect if nothing has been written."""
        if self._dataset is None:
            return
        from minari.namespace import create_namespace, list_local_namespaces

        with writing(PREFIX + self._id):
            namespace = self._id.rpartition("/")[0]
            if namespace and namespace not in list_local_namespaces():
                create_namespace(namespace)
            if self._place.exists():
                self._place.rename(self._old)
            (self._staging / "made" / self._id).rename(self._place)
        self._dataset = None
        self.discard()

    def discard(self) -> None:
        """Remove the new dataset; an old one stays."""
        if not self._unfinished:
            return
        self._clear()
        self._unfinished = False
        self._lock.close()

    def _clear(self) -> None:
        """Remove temporary folders; first restore an old dataset that was moved aside."""
        if self._old.exists() and not self._place.exists():  # interrupted between the two moves
            self._old.rename(self._place)
        for folder in (self._staging / "made", self._old):
            shutil.rmtree(folder, ignore_errors=True)

    def _episodes_of(self, columns: Columns, finals: Array) -> Iterator[Any]:
        """Yield Minari's buffer of each seat's decisions in each episode, if it has any."""
        from minari.data_collector.episode_buffer import EpisodeBuffer

        key = (columns["episode"] - self._episodes) * N_SEATS + columns["seat"]
        order = np.argsort(key, kind="stable")
        flat = self._about.options.observation != "dict"
        nothing = np.zeros((1, columns["action_mask"].shape[1]), np.int8)
        for rows in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
            if not len(rows):
                continue
            episode, seat = divmod(int(key[rows[0]]), N_SEATS)
            last = finals[episode, seat][None]
            seen = np.concatenate([columns["observation"][rows], last])
            mask = np.concatenate([columns["action_mask"][rows].astype(np.int8), nothing])
            infos = {"seat": np.full(len(rows) + 1, seat)}
            yield EpisodeBuffer(
                observations=seen if flat else {"observation": seen, "action_mask": mask},
                actions=columns["action"][rows],
                rewards=columns["reward"][rows],
                terminations=columns["terminated"][rows],
                truncations=columns["truncated"][rows],
                infos=infos | ({"action_mask": mask} if flat else {}),
            )

    def _created(self, episodes: list[Any]) -> Any:
        """Create the dataset with its first episodes in the temporary folder, and return it."""
        about, (spec, missing) = self._about, _environment(self._about)
        text = f"{about.variant}, {about.options.episode}s, reward {about.options.reward}"
        if missing:
            text += f". The environment has random players in place of {', '.join(missing)}"
        with _root(self._staging / "made"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about missing optional metadata
            made = self._minari.create_dataset_from_buffers(
                self._id,
                episodes,
                env=spec,
                eval_env=spec,
                observation_space=row_space(about.rules, about.options.observation),
                action_space=gymnasium.spaces.Discrete(actions.of(about.rules).n),
                algorithm_name=about.options.player or ", ".join(self.names) or None,
                description=f"Bid Euchre: {text}",
                requirements=["bideuchre_env"],
                data_format="hdf5",
            )
            made.storage.update_metadata({METADATA: about.metadata()})
        return made


def _library() -> Any:
    """Return the module minari; `OptionError` if it or its HDF5 format is not installed."""
    try:
        import h5py  # noqa: F401, its HDF5 format needs both
        import minari
        import minari.storage
        import PIL  # noqa: F401
    except ImportError:
        raise OptionError(NEEDS_MINARI) from None
    return minari


def _checked_id(name: str) -> str:
    """Return the ID of a Minari dataset; `OptionError` for an invalid one."""
    from minari.dataset.minari_dataset import parse_dataset_id

    try:
        parse_dataset_id(name)
    except (ValueError, TypeError):
        raise OptionError(
            f"{brief(PREFIX + name)}: expected an ID as {PREFIX}bideuchre/rule-v0"
        ) from None
    return name


def _environment(about: About) -> tuple[Any, list[str]]:
    """Return the spec of the Gymnasium environment to recover, and the agents it lacks.

    The spec is None for custom rules. Random players replace the agents in the list, because their
    names do not say how to make them.
    """
    if about.variant not in RULES:
        return None, []
    spec = copy.deepcopy(gymnasium.spec(gymnasium_id(about.variant)))
    options, names = about.options, list(about.agents or ())
    spec.kwargs |= about.rules.options_from(RULES[about.variant])
    spec.kwargs |= {name: getattr(options, name) for name in ("episode", "reward", "observation")}
    learner = names.index(options.player) if options.player in names else 0
    others = [names[(learner + turn) % N_SEATS] for turn in (1, 2, 3)] if names else []
    made = list(map(_maker, others))
    if any(made):
        left, partner, right = (each or "random" for each in made)
        spec.kwargs["opponents"] = left if left == right else (left, right)
        spec.kwargs["partner"] = partner
    missing = [name for name, maker in zip(others, made, strict=True) if maker is None]
    return spec, list(dict.fromkeys(missing))


def _require_room(folder: Path, columns: Columns, episodes: int) -> None:
    """Raise `OSError` if the disk is nearly full: on a full disk HDF5 would abort the program."""
    needed = 2 * sum(each.nbytes for each in columns.values()) + _MOST_OVERHEAD * episodes
    if shutil.disk_usage(folder).free < needed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _maker(name: str) -> str | None:
    """Return the name by which `agents.make` can make a record's player `name`; None if none can.

    The "#2" of a second agent of the same name is dropped.
    """
    stem = name.removesuffix("#2")
    try:
        parse(stem)
    except BidEuchreError:
        return None
    return stem


@contextmanager
def _root(folder: Path) -> Iterator[None]:
    """Context manager in which `folder` is Minari's folder of datasets."""
    before = os.environ.get(_ROOT)
    os.environ[_ROOT] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_ROOT]
        else:
            os.environ[_ROOT] = before
