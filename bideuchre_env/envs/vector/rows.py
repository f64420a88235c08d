"""The rows of a vector environment, in host memory or on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import (
    EPISODE_TALLY,
    NONE_ENDED,
    SOME_ENDED,
    Episodes,
    Rows,
    flag_rows,
    step_unflagged_rows,
)
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.options import VecOptions
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.devices import HostMemory
from bideuchre_env.runtime.jit import new_rows


def blank_rows(rules: Rules, n: int, chosen: VecOptions) -> Rows:
    """Return rows for `n` games, none of them started."""
    layout = layout_of(rules)
    rows = Rows(
        states=new_states(n),
        tables=compile_tables(rules),
        offsets=layout.offsets,
        by_hand=chosen.episode == "hand",
        by_points=chosen.reward == "points",
        skip_forced=chosen.skip_forced,
        actions=np.zeros(n, np.int64),
        observations=np.zeros((n, layout.size), np.int8),
        masks=np.zeros((n, actions.of(rules).n), np.int8),
        seats=np.zeros(n, np.int8),
        keys=np.zeros(n, np.int64),
        rewards=np.zeros((n, N_SEATS), np.float32),
        terminated=np.zeros(n, bool),
        truncated=np.zeros(n, bool),
        ended=np.zeros(n, bool),
        tallies=new_rows(EPISODE_TALLY, n),
        episodes=Episodes(
            r=np.zeros((n, N_SEATS), np.float32),
            l=np.zeros(n, np.int32),
            hands=np.zeros(n, np.int32),
            score=np.zeros((n, 2), np.int64),
            winner=np.full(n, -1, np.int8),
            outcome=np.zeros(n, np.int8),
        ),
    )
    rows.episodes.r[:, 1::2] = -0.0  # side 1's rewards are negated, also zeros
    return rows


class DeviceSteps:
    """Steps of all rows on a GPU, with the interface of `StepPool`."""

    def __init__(self, memory: HostMemory, n: int) -> None:
        self._memory, self._n = memory, n
        self._none = np.array([n, 0])  # `FIRST` and `ENDED` without any row
        self._cells = memory.put(self._none)

    def step(self, rows: Rows, actions: Any) -> int:
        """Apply one action, whole numbers (n,), in every row.

        Return `SOME_ENDED` or `NONE_ENDED`, depending on whether an episode ended. If an action is
        illegal, no row changes, and the first such row is returned.
        """
        self._memory.write(self._cells, self._none)
        on_device = self._memory.put(actions)
        self._memory.run(flag_rows, self._n, rows, on_device, self._cells)
        self._memory.run(step_unflagged_rows, self._n, rows, self._cells)
        first, ended = self._memory.to_host(self._cells).tolist()
        if first < self._n:
            return int(first)
        return SOME_ENDED if ended else NONE_ENDED

    def close(self) -> None:
        """Do nothing: there are no threads."""

    def __reduce__(self) -> tuple[type[DeviceSteps], tuple[HostMemory, int]]:
        return DeviceSteps, (self._memory, self._n)

    def __str__(self) -> str:
        return f"on {self._memory.name}"
