"""`DatasetWriter`: writes steps to a dataset, for `export` and `VecRecorder`."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from bideuchre_env._checks import brief, check_path
from bideuchre_env._files import PathLike
from bideuchre_env.datasets.columns import NONE, About, Steps, columns_of
from bideuchre_env.datasets.files import NpzFile, ParquetFile
from bideuchre_env.datasets.minari_file import PREFIX, MinariFile
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array

DatasetFile = type[NpzFile] | type[ParquetFile] | type[MinariFile]
_BY_ENDING: dict[str, DatasetFile] = {".npz": NpzFile, ".parquet": ParquetFile}


class DatasetWriter:
    """Writes steps of complete episodes to a dataset, which `close` moves to its place.

    `decisions` and `episodes` count those written so far.
    """

    def __init__(self, path: PathLike, about: About, *, overwrite: bool = False) -> None:
        self.decisions = self.episodes = 0
        self._about, self._layout = about, about.layout
        self._file = kind_of(path)(path, about, overwrite=overwrite)

    @property
    def stored(self) -> int:
        """Number of episodes of the dataset: of `episodes`, or in Minari those of each seat."""
        return self._file.stored if isinstance(self._file, MinariFile) else self.episodes

    def players(self, names: Sequence[str] | None) -> Array:
        """Return the indices of four players, by seat, int32 (4,); new names are added.

        They are for `Steps.players`, and all `NONE` without `names`.
        """
        players = self._file.names
        players.extend(dict.fromkeys(name for name in names or () if name not in players))
        return np.array([players.index(name) for name in names or ()] or [NONE] * N_SEATS, np.int32)

    def add(self, steps: Steps, finals: Array | None = None) -> None:
        """Write the decisions of complete episodes, or only those of the option `player` if set.

        `finals` are the final observations by seat, (episodes, 4, D). Only a Minari dataset needs
        them. Without steps, nothing is written.
        """
        if not len(steps.actions):
            return
        options, ended = self._about.options, int((steps.terminated | steps.truncated).sum())
        assert finals is None or len(finals) == ended
        columns = columns_of(steps, self._layout, self.episodes, options.gamma, options.forced)
        if options.player is not None:
            names = self._file.names
            number = names.index(options.player) if options.player in names else NONE - 1
            chosen = columns["player"] == number
            columns = {name: each[chosen] for name, each in columns.items()}
        self._file.write(columns, finals)
        self.decisions += len(columns["action"])
        self.episodes += ended

    def close(self) -> None:
        """Complete the dataset and move it to its place.

        Raises `OptionError` if it has no decision, or if no player has the name of the option
        `player`.
        """
        if not self.episodes:
            raise OptionError("expected at least one finished episode")
        options = self._about.options
        check_player(options.player, self._file.names)
        if not self.decisions:
            raise OptionError(
                f"player={brief(options.player)}, forced={options.forced}: no such decision in "
                f"{self.episodes:,} episodes that have ended"
            )
        self._file.close()

    def discard(self) -> None:
        """Discard the new dataset; an old one stays."""
        self._file.discard()


def check_player(player: str | None, names: Sequence[str]) -> None:
    """Raise `OptionError` unless `player` is None or one of the names."""
    if player is not None and player not in names:
        known = f"the players are {', '.join(dict.fromkeys(names))}"
        raise OptionError(f"player={brief(player)}: {known if names else 'no player has a name'}")


def kind_of(path: PathLike) -> DatasetFile:
    """Return the class that writes datasets to this path or `minari:ID`, by its ending.

    Raises `OptionError` for any other ending.
    """
    name = check_path("path", path)
    if name.startswith(PREFIX):
        return MinariFile
    ending = os.path.splitext(name)[1].lower()
    if ending not in _BY_ENDING:
        raise OptionError(
            f"{brief(name)}: expected {', '.join(f'NAME{each}' for each in _BY_ENDING)} or "
            f"{PREFIX}ID, as {PREFIX}bideuchre/cincinnati/rule-v0"
        )
    return _BY_ENDING[ending]
