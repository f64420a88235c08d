"""Steps of whole episodes, and the columns of a dataset that follow from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.core.observation.layout import Layout
from bideuchre_env.core.state import Phase
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array

NOBODY = -1


class Steps(NamedTuple):
    """Every decision of some whole episodes, one episode after another: N in all."""

    observations: Array  # int8 or, scaled, float32 (N, D): what the seat to act saw
    masks: Array  # int8 (N, A)
    actions: Array  # int64 (N,)
    seats: Array  # int8 (N,): who acted
    players: Array  # int32 (N,): the number of that player's name, or NOBODY
    rewards: Array  # float32 (N, 4): what came of it at once, by seat
    terminated: Array  # bool (N,): the episode ends with it
    truncated: Array  # bool (N,): it is cut short with it


Columns = dict[str, Array]
"""The columns of a dataset by name, as many rows in each."""


def columns_of(
    steps: Steps, layout: Layout, first_episode: int, gamma: float, forced: bool
) -> Columns:
    """The columns of steps, their episodes numbered from `first_episode`.

    Without `forced`, moves with one legal action are left out, and what they pay goes to the
    seat's earlier decisions, as if it had not been asked.
    """
    ends = steps.terminated | steps.truncated
    only = steps.masks.sum(axis=1) == 1
    kept = ~(only & (not forced))
    rewards, returns, last = _seat_by_seat(steps, ends, kept, gamma)
    episode: Array = np.cumsum(ends) - ends
    starts = np.flatnonzero(np.r_[True, ends[:-1]])
    lengths = np.diff(np.r_[starts, len(ends)])
    dealt = _first_of_hand(steps.observations, layout)
    dealt[starts] = True  # even one that a caller began in the middle
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
    return columns if kept.all() else {name: each[kept] for name, each in columns.items()}


def _seat_by_seat(
    steps: Steps, ends: Array, kept: Array, gamma: float
) -> tuple[Array, Array, Array]:
    """By decision: its reward up to the seat's next one, its return, whether it is the last."""
    n = len(ends)
    seats = np.where(kept, steps.seats, np.int8(NOBODY))[:, None]
    nothing = np.zeros((n, 1), np.float32)
    paid = np.ascontiguousarray(steps.rewards)[:, None]
    at_end = np.repeat(ends.astype(np.float32), N_SEATS).reshape(n, 1, N_SEATS)

    def sums(rewards: Array, rate: float) -> Array:
        made = lambda_returns(seats, rewards, ends[:, None], nothing, gamma=rate, lambda_=1.0)
        found: Array = made.returns[:, 0]
        return found

    return sums(paid, 0.0), sums(paid, gamma), sums(at_end, 0.0) > 0


def _first_of_hand(observations: Array, layout: Layout) -> Array:
    """Where the first seat of a hand has not called yet: nobody has."""
    auction = observations[:, layout.slices["phase"].start + Phase.AUCTION] == 1
    first: Array = auction & ~(observations[:, layout.slices["calls"]] == 1).any(axis=1)
    return first
