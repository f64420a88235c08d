"""The rows of a vector environment on a GPU, one thread for each; nothing but results leaves it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env.core import row_programs as programs
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.row_programs import ENDED, FIRST, N_CELLS
from bideuchre_env.core.rows import NONE_ENDED, SOME_ENDED, Rows
from bideuchre_env.envs.on_device import action_given, actions_there
from bideuchre_env.envs.options import VecOptions
from bideuchre_env.envs.vector.host import blank_rows
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.device import (
    DeviceArray,
    copied,
    moved,
    room_for,
    to_device,
    to_host,
)
from bideuchre_env.runtime.jit import Array, Row, as_rows


class DeviceRows:
    """What `HostRows` is, on a device: what it hands out are arrays there.

    They are its own, those of the episodes too, unless copies are wanted.
    """

    def __init__(self, rules: Rules, n: int, chosen: VecOptions) -> None:
        self.rules, self._n = rules, n
        self._is_flat, self._copy = chosen.observation == "flat", chosen.copy
        self._settle(blank_rows(rules, n, chosen))

    def _settle(self, rows: Rows) -> None:
        """Bring rows to the device, and make room for what is worked out there."""
        n, layout = self._n, layout_of(self.rules)
        self.rows: Rows = moved(rows, to_device)
        self._scale = to_device(layout.scale)
        self._flat = room_for((n, layout.size) if self._is_flat else (1, 1), np.float32)
        self._sampled = room_for((n,), np.int64)
        self._cells = room_for((N_CELLS,), np.int64)
        known = to_device(np.ones(n, bool))
        seen = self._flat if self._is_flat else self.rows.observations
        ends = (self.rows.rewards, self.rows.terminated, self.rows.truncated, self.rows.ended)
        handed = (seen, self.rows.masks, self.rows.seats, *ends, known)
        # not the arrays themselves: the shape of what kernels take is ours
        self._handed = [array.view(array.dtype) for array in handed]

    def seed(self, chosen: Array, words: tuple[np.uint64, np.uint64]) -> None:
        """Seed each row i that is `chosen`, int64 (n,), with the seed of these words + i."""
        programs.seed_one(self._n, self.rows.states, to_device(chosen), *words)

    def restart(self, chosen: Array, dealers: Array, scores: Array, deals: Array) -> None:
        """Start games in the rows that are `chosen`, see `restart_rows`, and present all rows."""
        given = map(to_device, (chosen, dealers, scores, deals))
        programs.restart_one(self._n, self.rows, *given)

    def whole(self, given: Any) -> DeviceArray:
        """Actions on the device, whole numbers (n,); whether they are legal is not asked."""
        return actions_there(given, self._n, self.rows.masks.shape[1])

    def action_of(self, given: Any, row: int) -> int:
        """The action that was given for a row."""
        return action_given(given, row)

    def step(self, taken: DeviceArray) -> int:
        """Carry out one action in every row, see `step_all_rows`."""
        programs.open_cells(1, self._cells, self._n)
        programs.take_one(self._n, self.rows, taken, self._cells)
        programs.step_one(self._n, self.rows, self._cells)
        cells = to_host(self._cells)
        if cells[FIRST] < self._n:
            return int(cells[FIRST])
        return SOME_ENDED if cells[ENDED] else NONE_ENDED

    def sample(self, low: np.uint64, count: int) -> DeviceArray:
        """A uniform legal action for every row, see `sample_rows`; rewritten by the next call."""
        programs.sample_one(self._n, self.rows, low, np.uint64(count), self._sampled)
        return copied(self._sampled) if self._copy else self._sampled.view(np.int64)

    def observe(self, seats: Array) -> DeviceArray:
        """What each of the seats, int64 (n,), sees; a new array."""
        out = room_for(self.rows.observations.shape, np.int8)
        programs.observe_one(self._n, self.rows, to_device(seats), out)
        return self._scaled(out, room_for(out.shape, np.float32)) if self._is_flat else out

    def masks(self) -> DeviceArray:
        """Which actions are legal now, bool (n, A); a new array."""
        return copied(self.rows.masks).view(np.dtype(bool))

    def everything(self) -> DeviceArray:
        """The global state of every row, int8 (n, state_size); a new array."""
        out = room_for((self._n, layout_of(self.rules).state_size), np.int8)
        programs.global_one(self._n, self.rows, out)
        return out

    def states(self) -> Array:
        """The rows themselves, a copy in the machine's own memory."""
        return as_rows(to_host(self.rows.states))

    def state_of(self, row: int) -> Row:
        """One of them."""
        return as_rows(to_host(self.rows.states[row : row + 1]))[0]

    def put(self, places: Array, states: Array) -> None:
        """Put states into the rows at these places, whose tallies begin anew; present all rows."""
        all_states, tallies = to_host(self.rows.states), to_host(self.rows.tallies)
        all_states[places] = states
        tallies[places] = 0
        self.rows = self.rows._replace(states=to_device(all_states), tallies=to_device(tallies))
        programs.present_one(self._n, self.rows)

    def some_ended(self) -> bool:
        """Whether the last call has ended an episode."""
        return bool(to_host(self.rows.ended).any())

    def handed(self) -> list[DeviceArray]:
        """What is seen and what came of it, in the order of `HostRows.handed`."""
        if self._is_flat:
            self._scaled(self.rows.observations, self._flat)
        return [copied(array) for array in self._handed] if self._copy else list(self._handed)

    def _scaled(self, observations: DeviceArray, out: DeviceArray) -> DeviceArray:
        programs.scale_one(self._n, observations, self._scale, out)
        return out

    def episodes(self) -> dict[str, DeviceArray]:
        """What the episodes that ended came to, by name."""
        kept = self.rows.episodes._asdict()
        return {
            name: copied(array) if self._copy else array.view(array.dtype)
            for name, array in kept.items()
        }

    def close(self) -> None:
        """There are no threads to let go."""

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in ("rules", "_n", "_is_flat", "_copy")}
        return kept | {"rows": moved(self.rows, to_host)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        rows = kept.pop("rows")
        self.__dict__.update(kept)
        self._settle(rows)

    def __str__(self) -> str:
        return "on cuda"
