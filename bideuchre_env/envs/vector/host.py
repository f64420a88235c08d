"""The rows of a vector environment in the machine's own memory, stepped by its processor."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from bideuchre_env._checks import whole_numbers
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.observation.scaling import scale_rows
from bideuchre_env.core.rows import (
    TALLY,
    Episodes,
    Rows,
    global_rows,
    observe_rows,
    present_rows,
    restart_rows,
    sample_rows,
    seed_rows,
)
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.options import VecOptions
from bideuchre_env.envs.vector.threads import StepPool
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, Row, direct, new_rows

_INT64 = np.dtype(np.int64)


def blank_rows(rules: Rules, n: int, chosen: VecOptions) -> Rows:
    """Room for `n` games, none of them begun."""
    layout = layout_of(rules)
    rows = Rows(
        states=new_states(n),
        tables=compile_tables(rules),
        offsets=layout.offsets,
        by_hand=chosen.episode == "hand",
        by_points=chosen.reward == "points",
        actions=np.zeros(n, np.int64),
        observations=np.zeros((n, layout.size), np.int8),
        masks=np.zeros((n, actions.of(rules).n), np.int8),
        seats=np.zeros(n, np.int8),
        keys=np.zeros(n, np.int64),
        rewards=np.zeros((n, N_SEATS), np.float32),
        terminated=np.zeros(n, bool),
        truncated=np.zeros(n, bool),
        ended=np.zeros(n, bool),
        tallies=new_rows(TALLY, n),
        episodes=Episodes(
            r=np.zeros((n, N_SEATS), np.float32),
            l=np.zeros(n, np.int32),
            hands=np.zeros(n, np.int32),
            score=np.zeros((n, 2), np.int64),
            winner=np.full(n, -1, np.int8),
            outcome=np.zeros(n, np.int8),
        ),
    )
    rows.episodes.r[:, 1::2] = -0.0  # what side 1 has lost
    return rows


class HostRows:
    """`n` rows, what is done with all of them, and what is handed out of them."""

    def __init__(self, rules: Rules, n: int, chosen: VecOptions) -> None:
        self.rules, self._n = rules, n
        self._is_flat, self._copy = chosen.observation == "flat", chosen.copy
        self.rows = blank_rows(rules, n, chosen)
        self._flat = np.zeros((n, layout_of(rules).size) if self._is_flat else 0, np.float32)
        self._sampled, self._shape = np.zeros(n, np.int64), (n,)
        self._known = np.ones(n, bool)
        self._pool = StepPool(chosen.threads)
        self._derive()

    def _derive(self) -> None:
        """Make what no copy of these rows takes over."""
        rows = self.rows
        seen = self._flat if self._is_flat else rows.observations
        ends = (rows.rewards, rows.terminated, rows.truncated, rows.ended)
        self._handed = (seen, rows.masks, rows.seats, *ends, self._known)
        self._draw: Callable[..., None] | None = None

    def seed(self, chosen: Array, words: tuple[np.uint64, np.uint64]) -> None:
        """Seed each row i that is `chosen`, int64 (n,), with the seed of these words + i."""
        fresh = new_states(self._n)
        seed_rows(fresh, *words)
        picked = chosen == 1
        self.rows.states["rng"][picked] = fresh["rng"][picked]

    def restart(self, chosen: Array, dealers: Array, scores: Array, deals: Array) -> None:
        """Start games in the rows that are `chosen`, see `restart_rows`, and present all rows."""
        rows = self.rows
        restart_rows(rows.states, rows.tables, chosen, dealers, scores, deals)
        rows.tallies[chosen == 1] = 0
        rows.rewards[:] = 0
        rows.terminated[:] = rows.truncated[:] = rows.ended[:] = False
        present_rows(rows)

    def whole(self, given: Any) -> Array:
        """Actions as int64 (n,), as kernels take them; whether they are legal is not asked."""
        if (
            type(given) is np.ndarray
            and given.dtype is _INT64
            and given.shape == self._shape
            and given.flags.carray
        ):
            return given
        return whole_numbers("actions", given, self._n, self.rows.masks.shape[1])

    def action_of(self, given: Any, row: int) -> int:
        """The action that was given for a row."""
        return operator.index(np.asarray(given)[row])

    def step(self, taken: Array) -> int:
        """Carry out one action in every row, see `step_all_rows`."""
        return self._pool.step(self.rows, taken)

    def sample(self, low: np.uint64, count: int) -> Array:
        """A uniform legal action for every row, see `sample_rows`; rewritten by the next call."""
        rows, sampled = self.rows, self._sampled
        if self._draw is None:
            self._draw = direct(sample_rows, rows.keys, rows.tables, low, low, sampled)
        self._draw(rows.keys, rows.tables, low, count, sampled)
        return sampled.copy() if self._copy else sampled.view()

    def observe(self, seats: Array) -> Array:
        """What each of the seats, int64 (n,), sees; a new array."""
        rows = self.rows
        out = np.empty_like(rows.observations)
        observe_rows(rows.states, rows.tables, rows.offsets, seats, out)
        return layout_of(self.rules).scaled(out) if self._is_flat else out

    def masks(self) -> Array:
        """Which actions are legal now, bool (n, A); a new array."""
        masks: Array = self.rows.masks.astype(bool)
        return masks

    def everything(self) -> Array:
        """The global state of every row, int8 (n, state_size); a new array."""
        out = np.empty((self._n, layout_of(self.rules).state_size), np.int8)
        global_rows(self.rows.states, self.rows.tables, self.rows.offsets, out)
        return out

    def states(self) -> Array:
        """The rows themselves, a copy."""
        return np.array(self.rows.states)

    def state_of(self, row: int) -> Row:
        """One of them."""
        return self.rows.states[row]

    def put(self, places: Array, states: Array) -> None:
        """Put states into the rows at these places, whose tallies begin anew; present all rows."""
        self.rows.states[places] = states
        self.rows.tallies[places] = 0
        present_rows(self.rows)

    def some_ended(self) -> bool:
        """Whether the last call has ended an episode."""
        return bool(self.rows.ended.any())

    def handed(self) -> list[Array]:
        """Observations, masks, seats, rewards, terminated, truncated, where an episode ended, and
        True everywhere. Views, or copies if those are wanted.
        """
        if self._is_flat:
            scale_rows(self.rows.observations, layout_of(self.rules).scale, self._flat)
        self._known.fill(True)
        if self._copy:
            return [array.copy() for array in self._handed]
        # not the arrays themselves: the shape of what kernels take is ours
        return list(map(np.ndarray.view, self._handed))

    def episodes(self) -> dict[str, Array]:
        """What the episodes that ended came to, by name; new arrays."""
        kept = self.rows.episodes._asdict()
        return {name: array.copy() for name, array in kept.items()}

    def close(self) -> None:
        """Let the threads go."""
        self._pool.close()

    def __getstate__(self) -> dict[str, Any]:
        derived = ("_handed", "_draw")
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        tables, offsets = compile_tables(self.rules), layout_of(self.rules).offsets
        self.rows = self.rows._replace(tables=tables, offsets=offsets)  # read-only ones
        self._derive()

    def __str__(self) -> str:
        return f"{self._pool.threads} threads"
