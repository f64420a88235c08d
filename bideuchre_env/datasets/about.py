"""What a dataset is of: its game, how episodes and rewards were taken, who played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bideuchre_env._checks import shown
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.envs.options import EpisodeOptions
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.returns import checked_rate
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules

FORMAT = "bideuchre-dataset/1"
METADATA = "bideuchre"
"""The key of the metadata in that of a .parquet file or of a Minari dataset."""


@dataclass(frozen=True, kw_only=True)
class DatasetOptions(EpisodeOptions):
    """How the decisions of a dataset are taken. Raises `OptionError` for any other value."""

    gamma: float = 1.0
    """What a return counts of what comes a decision of the same seat later, from 0 to 1."""
    forced: bool = True
    """Whether moves with one legal action are in it; False gives their pay to earlier ones."""
    player: str | None = None
    """The name of the only player whose decisions are in it; None: everybody's are."""

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_rate("gamma", self.gamma)
        if not isinstance(self.forced, bool):
            raise OptionError(f"forced={shown(self.forced)}: True or False")
        if not isinstance(self.player, str | None):
            raise OptionError(f"player={shown(self.player)}: the name of a player, or None")


class About(NamedTuple):
    """What a dataset is of."""

    variant: str
    rules: Rules
    options: DatasetOptions
    agents: Sequence[str] | None
    """Who plays by seat, in the first game if not in all."""
    source: Any
    """Where the decisions come from: the files of records, or how many rows of a `vec`."""

    def dtypes(self) -> dict[str, Any]:
        """The dtype of every column, in order, with the shape of an entry."""
        number = np.float32 if self.options.observation == "flat" else np.int8
        return {
            "observation": np.dtype((number, (layout_of(self.rules).size,))),
            "action_mask": np.dtype((np.bool_, (actions.of(self.rules).n,))),
            "action": np.dtype(np.int64),
            "reward": np.dtype(np.float32),
            "return": np.dtype(np.float32),
            "terminated": np.dtype(np.bool_),
            "truncated": np.dtype(np.bool_),
            "seat": np.dtype(np.int8),
            "player": np.dtype(np.int32),
            "forced": np.dtype(np.bool_),
            "episode": np.dtype(np.int64),
            "hand": np.dtype(np.int32),
            "decision": np.dtype(np.int32),
        }

    def metadata(self) -> dict[str, Any]:
        """A JSON object: the game, the layout, the names of the actions, the options."""
        from bideuchre_env import __version__

        layout, options = layout_of(self.rules), self.options
        blocks = [
            {
                "name": block.name,
                "start": layout.slices[block.name].start,
                "stop": layout.slices[block.name].stop,
                "shape": list(block.shape),
                "low": block.low,
                "high": block.high,
                "meaning": block.meaning,
            }
            for block in layout.blocks
        ]
        return {
            "format": FORMAT,
            "bideuchre_env": __version__,
            "variant": self.variant,
            "rules": self.rules.to_dict(),
            "layout": blocks,
            "actions": list(actions.of(self.rules).names),
            **{name: getattr(options, name) for name in options.names()},
            "source": self.source,
        }
