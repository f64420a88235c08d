"""Metadata and options of datasets, and the columns computed from steps of episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.core.blocks import Blocks
from bideuchre_env.core.observation.layout import Block, Layout, layout_of
from bideuchre_env.core.state import Phase
from bideuchre_env.envs.options import EpisodeKeywords, EpisodeOptions
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.encoder import FeatureEncoder, encoder_of
from bideuchre_env.learning.returns import checked_rate, lambda_returns
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

FORMAT = "bideuchre-dataset/1"
METADATA = "bideuchre"
"""The key of our metadata in the metadata of a .parquet file or a Minari dataset."""


class RecorderKeywords(TypedDict, total=False):
    """The keywords of `VecRecorder`: its `vec` has the others."""

    gamma: float
    forced: bool
    player: str | None


class DatasetKeywords(EpisodeKeywords, RecorderKeywords, total=False):
    """The keywords of `DatasetOptions`."""


@dataclass(frozen=True, kw_only=True)
class DatasetOptions(EpisodeOptions):
    """Options of a dataset: those of every environment, and the decisions to include.

    Raises `OptionError` for an invalid value.
    """

    gamma: float = 1.0
    """Discount factor of returns per decision of the same seat, from 0 to 1."""
    forced: bool = True
    """False leaves out forced decisions; their rewards go to the seat's previous decision."""
    player: str | None = None
    """Name of the only player whose decisions are included; None includes all players."""

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_rate("gamma", self.gamma)
        if not isinstance(self.forced, bool):
            raise OptionError(f"forced={brief(self.forced)}: expected True or False")
        if not isinstance(self.player, str | None):
            raise OptionError(
                f"player={brief(self.player)}: expected the name of a player, or None"
            )


class About(NamedTuple):
    """Description of a dataset, stored in it as metadata."""

    variant: str
    rules: Rules
    options: DatasetOptions
    agents: Sequence[str] | None
    """Names of the players by seat in the first game; they may change in later games."""
    source: Any
    """Source of the decisions: the files of records, or the number of rows of a `vec`."""

    @property
    def layout(self) -> Blocks[Any]:
        """The blocks of the observations."""
        features = self.options.observation == "features"
        return encoder_of(self.rules) if features else layout_of(self.rules)

    @property
    def number(self) -> Any:
        """The dtype of the observations' entries."""
        return np.int8 if self.options.observation == "dict" else np.float32

    def dtypes(self) -> dict[str, Any]:
        """Return the dtype of one entry of every column, by name and in order.

        The dtypes of "observation" and "action_mask" are subarrays, with the shape of an entry.
        """
        return {
            "observation": np.dtype((self.number, (self.layout.size,))),
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
        """Return a dict of JSON values: the game, the observation layout, action names, options."""
        from bideuchre_env import __version__

        layout, options = self.layout, self.options
        blocks: list[dict[str, Any]] = []
        for (name, at), block in zip(layout.slices.items(), layout.blocks, strict=True):
            entry: dict[str, Any] = {"name": name, "start": at.start, "stop": at.stop}
            if isinstance(block, Block):
                entry |= {"shape": list(block.shape), "low": block.low, "high": block.high}
            blocks.append({**entry, "meaning": block.meaning})
        return {
            "format": FORMAT,
            "bideuchre_env": __version__,
            "variant": self.variant,
            "rules": self.rules.to_dict(),
            "layout": blocks,
            **({"features_version": layout.version} if isinstance(layout, FeatureEncoder) else {}),
            "actions": list(actions.of(self.rules).names),
            **{name: getattr(options, name) for name in options.names()},
            "source": self.source,
        }


NONE = -1


class Steps(NamedTuple):
    """The N decisions of complete episodes, one episode after another."""

    observations: Array  # int8, or float32 if scaled (N, D): of the seat to act
    masks: Array  # int8 (N, A)
    actions: Array  # int64 (N,)
    seats: Array  # int8 (N,): the seat that acted
    players: Array  # int32 (N,): index of its player's name, or NONE
    rewards: Array  # float32 (N, 4): rewards of the step, by seat
    terminated: Array  # bool (N,): the step terminates the episode
    truncated: Array  # bool (N,): the step truncates the episode


def new_steps(shape: tuple[int, ...], rules: Rules, about: About | None = None) -> Steps:
    """Return new arrays for steps; rewards are 0, flags False, others uninitialized.

    `shape` are the first axes of all arrays, as (N,) or (steps, rows). Observations have the form
    that `about` says, by default int8.
    """
    size, number = (about.layout.size, about.number) if about else (layout_of(rules).size, np.int8)
    return Steps(
        observations=np.empty((*shape, size), number),
        masks=np.empty((*shape, actions.of(rules).n), np.int8),
        actions=np.empty(shape, np.int64),
        seats=np.empty(shape, np.int8),
        players=np.empty(shape, np.int32),
        rewards=np.zeros((*shape, N_SEATS), np.float32),
        terminated=np.zeros(shape, np.bool_),
        truncated=np.zeros(shape, np.bool_),
    )


Columns = dict[str, Array]
"""The columns of a dataset by name, all with the same number of rows."""


def columns_of(
    steps: Steps, layout: Blocks[Any], first_episode: int, gamma: float, forced: bool
) -> Columns:
    """Return the columns of steps, their episodes numbered from `first_episode`.

    `gamma` is the discount factor of the returns. Forced moves are included if `forced`; else they
    are left out, and their rewards count for the seat's previous decision.
    """
    ends = steps.terminated | steps.truncated
    only = steps.masks.sum(axis=1) == 1
    selected = ~(only & (not forced))
    rewards, returns, last = _seat_by_seat(steps, ends, selected, gamma)
    episode: Array = np.cumsum(ends) - ends
    starts = np.flatnonzero(np.r_[True, ends[:-1]])
    lengths = np.diff(np.r_[starts, len(ends)])
    dealt = _first_of_hand(steps.observations, layout)
    dealt[starts] = True  # an episode may begin in the middle of a hand
    hands = np.cumsum(dealt)
    columns = {
        "observation": steps.observations,
        "action_mask": steps.masks.astype(np.bool_),
        "action": steps.actions,
        "reward": rewards,
        "return": returns,
        "terminated": last & np.repeat(steps.terminated[ends], lengths),
        "truncated": last & np.repeat(steps.truncated[ends], lengths),
        "seat": steps.seats,
        "player": steps.players,
        "forced": only,
        "episode": first_episode + episode,
        "hand": (hands - np.repeat(hands[starts], lengths)).astype(np.int32),
        "decision": (np.arange(len(ends)) - np.repeat(starts, lengths)).astype(np.int32),
    }
    return columns if selected.all() else {name: each[selected] for name, each in columns.items()}


def _seat_by_seat(
    steps: Steps, ends: Array, selected: Array, gamma: float
) -> tuple[Array, Array, Array]:
    """Return, per decision, its reward, its return, and whether it is the seat's last decision.

    The reward is the sum of the seat's rewards until its next decision in the episode. Decisions
    outside the mask `selected`, bool (N,), are skipped: they get 0 and False, and their rewards
    count for the seat's previous selected decision. `ends`, bool (N,), are the ends of episodes.
    """
    n = len(ends)
    seats = np.where(selected, steps.seats, np.int8(NONE))[:, None]
    nothing = np.zeros((n, 1), np.float32)
    paid = np.ascontiguousarray(steps.rewards)[:, None]
    at_end = np.repeat(ends.astype(np.float32), N_SEATS).reshape(n, 1, N_SEATS)

    def sums(rewards: Array, rate: float) -> Array:
        """Return the sum of the seat's rewards from each decision on, discounted by `rate`."""
        made = lambda_returns(seats, rewards, ends[:, None], nothing, gamma=rate, lambda_=1.0)
        returns: Array = made.returns[:, 0]
        return returns

    return sums(paid, 0.0), sums(paid, gamma), sums(at_end, 0.0) > 0


def _first_of_hand(observations: Array, layout: Blocks[Any]) -> Array:
    """Return a mask of the first decisions of hands, bool (n,): no seat has called yet."""
    if isinstance(layout, Layout):
        at = layout.slices["phase"].start + Phase.AUCTION
        auction, calls = slice(at, at + 1), layout.slices["calls"]
    else:  # the dealer is known in the auction part while it is active
        auction, calls = layout.slices["auction dealer"], layout.slices["auction calls"]
    bidding, called = (np.any(observations[:, part], axis=1) for part in (auction, calls))
    first: Array = bidding & ~called
    return first
