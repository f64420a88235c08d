"""Rows with a learner each on a GPU, one thread for each; nothing but results leaves it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env._checks import shown
from bideuchre_env.agents.rule.agent import many_workspaces, rule_workspace
from bideuchre_env.core.row_programs import FIRST, N_CELLS, open_cells, scale_one
from bideuchre_env.envs.on_device import action_given, actions_there
from bideuchre_env.envs.options import SoloVecOptions
from bideuchre_env.envs.solo import programs
from bideuchre_env.envs.solo.batch import SoloBatch
from bideuchre_env.envs.solo.looks import Looks, results_of
from bideuchre_env.envs.solo.players import BUILT_IN, Player
from bideuchre_env.envs.solo.rows import CAUTIOUS, Draws, Results, SoloRows, SoloScratch
from bideuchre_env.envs.solo.seating import Place
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime.device import (
    DeviceArray,
    copied,
    moved,
    on_device,
    room_for,
    to_device,
    to_host,
)
from bideuchre_env.runtime.jit import Array, Row, as_rows

BEGINNINGS = ("dealers", "scores", "deals", "seats")  # what an episode may have to begin with
ARRAYS = ("states", "solos", "observations", "masks", "rewards", "terminated", "truncated")


def brought(array: Any) -> DeviceArray:
    """An array on the device: the same if it is not numpy's."""
    return to_device(array) if isinstance(array, np.ndarray) else array


class DeviceBatch(SoloBatch):
    """What `SoloBatch` is, its arrays on a device; all its players are of `BUILT_IN`.

    Masks of rows are bool there; those that are not are taken, too, int64 with 1 or 0 as well.
    """

    def _player(self, option: str, spec: Any, place: Place) -> Player:
        if not isinstance(spec, str) or spec not in BUILT_IN:
            raise OptionError(
                f"{option}={shown(spec)} with device='cuda': only "
                f"{', '.join(map(repr, BUILT_IN))} play there"
            )
        return super()._player(option, spec, place)

    def _derive(self) -> None:
        for name in ARRAYS:
            setattr(self, name, brought(getattr(self, name)))
        self._none, self._all = (to_device(np.full(self.n, each)) for each in (False, True))
        self._choices = room_for((self.n,), np.int64)
        self._nothing_there = {name: to_device(self._nothing[name]) for name in BEGINNINGS}
        super()._derive()

    def _bind(self, rows: SoloRows, draws: Draws) -> None:
        self._rows, self._draws = moved(rows, brought), moved(draws, to_device)
        has_rule = self.seating.has_rule
        ruled = self.n if has_rule else 1
        masked = self.n if has_rule or (self.seating.kinds == CAUTIOUS).any() else 1
        scratch = SoloScratch(
            np.zeros((ruled, self.layout.size), np.int8),
            np.zeros((masked, self.actions.n), np.int8),
            np.zeros((masked, 2)),
            np.zeros(masked, np.int64),
            many_workspaces(rule_workspace(self.rules, self._weights), ruled),
        )
        self._scratch_there: SoloScratch = moved(scratch, to_device)
        self._play_one = programs.play_one_by_rule if has_rule else programs.play_one

    @property
    def there(self) -> SoloRows:
        """The rows as programs take them."""
        return self._rows

    def mask(self, chosen: Any) -> DeviceArray:
        """A mask of rows, bool, on the device."""
        found = on_device(chosen)
        return to_device(np.asarray(chosen) == 1) if found is None else found

    def at_hand(self, array: Any) -> Array:
        """One of the batch's arrays for numpy to read: a copy."""
        found = to_host(array)
        return as_rows(found) if found.dtype.names else found

    def _reseed(self, fresh: Array, chosen: Array) -> None:
        streams = to_device(fresh["rng"])
        programs.seed_one(self.n, self.states, self.solos, streams, self.mask(chosen))

    def _deal(self, chosen: Any, **begin: Any) -> None:
        mask, given = self.mask(chosen), dict(self._nothing_there)
        for name in BEGINNINGS:
            if begin[name] is not self._nothing[name]:
                given[name] = to_device(begin[name])
        programs.deal_one(self.n, self._rows, mask, self._draws, *given.values())
        self._turn(self._none, mask)

    def step(self, choices: DeviceArray, acting: DeviceArray) -> None:
        """See `SoloBatch.step`; both are on the device."""
        self._choices = choices
        self._turn(acting, self._all)
        programs.pay_one(self.n, self.solos, self.rewards, self.terminated, self.truncated)

    def _turn(self, acting: DeviceArray, seen: DeviceArray) -> None:
        self._play_one(self.n, self._rows, acting, self._choices, seen, self._scratch_there)

    def position(self, i: int) -> tuple[Row, int]:
        """The state of row i and its learner's seat."""
        state, solo = (as_rows(to_host(array[i : i + 1]))[0] for array in (self.states, self.solos))
        return state, int(solo["seat"])

    def __getstate__(self) -> dict[str, Any]:
        derived = {"_none", "_all", "_choices", "_nothing_there", "_scratch_there", "_play_one"}
        kept = {name: each for name, each in super().__getstate__().items() if name not in derived}
        return kept | {name: self.at_hand(getattr(self, name)) for name in ARRAYS}


class DeviceLooks(Looks):
    """What `Looks` is, of a batch on a device: masks are bool (n,) there.

    The last observations of episodes that end are one array, zeros in the other rows.
    """

    _rows: DeviceBatch

    def __init__(self, rows: DeviceBatch, chosen: SoloVecOptions) -> None:
        super().__init__(rows, chosen)
        self._settle()

    def _settle(self) -> None:
        """Make room on the device."""
        n, layout = self._rows.n, self._rows.layout
        self.all, self._none = (to_device(np.full(n, each)) for each in (True, False))
        self._scale = to_device(layout.scale)
        self._flat = room_for((n, layout.size) if self.is_flat else (1, 1), np.float32)
        self._seats = room_for((n,), np.int64)
        self._done, self._acting = (room_for((n,), np.dtype(bool)) for _ in range(2))
        self._choices, self._cells = room_for((n,), np.int64), room_for((N_CELLS,), np.int64)

    def _first_row(self, program: Any, *arguments: Any) -> int:
        """Run a program that flags rows in `FIRST` of the cells; return the first one, or -1."""
        n = self._rows.n
        open_cells(1, self._cells, n)
        program(n, *arguments, self._cells)
        first = int(to_host(self._cells)[FIRST])
        return first if first < n else -1

    def mask(self, chosen: Array) -> DeviceArray:
        """A mask of the rows chosen by bool (n,), where the rows are."""
        return self._rows.mask(chosen)

    def done(self) -> DeviceArray | None:
        """A mask of the rows whose episode is over; None if there are none."""
        row = self._first_row(programs.find_done, self._rows.solos, self._done)
        return None if row < 0 else copied(self._done)

    def restart(self, chosen: DeviceArray, begin: dict[str, Any] | None = None) -> None:
        """`SoloBatch.restart` in the rows of a mask."""
        self._rows.restart(chosen, begin)

    def take(self, given: Any, idle: DeviceArray | None) -> tuple[DeviceArray, int]:
        """The actions given, as `step` takes them, and the first row's that is none; or -1."""
        n_actions, none = self._rows.actions.n, self._none if idle is None else idle
        actions = actions_there(given, self._rows.n, n_actions)
        row = self._first_row(
            programs.take_one, actions, self._choices, none, self._acting, n_actions
        )
        return self._choices, row

    def step(self, choices: DeviceArray) -> None:
        """`SoloBatch.step` in the rows that `take` was asked of."""
        self._rows.step(choices, self._acting)

    def action_of(self, given: Any, row: int) -> int:
        """The action that was given for a row."""
        return action_given(given, row)

    def _scaled(self, observations: DeviceArray, out: DeviceArray) -> DeviceArray:
        scale_one(self._rows.n, observations, self._scale, out)
        return out

    def seats(self) -> DeviceArray:
        """The learners' seats, int8 (n,); a new array."""
        return self._seats_in(room_for((self._rows.n,), np.int8))

    def _seats_in(self, seats: DeviceArray) -> DeviceArray:
        programs.seat_one(self._rows.n, self._rows.solos, seats)
        return seats

    def action_masks(self) -> DeviceArray:
        """Which actions are legal, bool (n, A); a new array."""
        return copied(self._rows.masks).view(np.dtype(bool))

    def finals(self, ended: DeviceArray) -> Any:
        """The last observations of the rows of a mask; zeros in the others."""
        observations, masks, _ = self._picked(ended)
        if self.is_flat:
            return self._scaled(observations, room_for(observations.shape, np.float32))
        return {"observation": observations, "action_mask": masks}

    def copied(self, array: DeviceArray) -> DeviceArray:
        """A copy of an array, where it is."""
        return copied(array)

    def _handed(self, array: DeviceArray) -> DeviceArray:
        return copied(array) if self._copy else array.view(array.dtype)

    def _shown(self, chosen: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        if chosen is self.all:
            return self._handed(self._rows.masks), self._handed(self._seats_in(self._seats))
        _, masks, seats = self._picked(chosen)
        return masks, seats

    def _picked(self, chosen: DeviceArray) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        """Observations, masks and seats of the rows of a mask, zeros of the others; new arrays."""
        rows = self._rows
        out = room_for(rows.observations.shape, np.int8), room_for(rows.masks.shape, np.int8)
        seats = room_for((rows.n,), np.int64)
        programs.pick_one(rows.n, rows.there, chosen, *out, seats)
        return *out, seats

    def _results(self, ended: DeviceArray) -> Results:
        rows = self._rows
        results = Results(*(room_for(shape, kind) for shape, kind in results_of(rows.n)))
        programs.result_one(rows.n, rows.states, rows.solos, ended, results)
        return results

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("_rows", "_copy", "is_flat")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._settle()
