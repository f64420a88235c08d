"""What a batch of learners hands out: arrays by row, and masks that say which rows they are of."""

from __future__ import annotations

from typing import Any

import numpy as np

from bideuchre_env._checks import whole_numbers
from bideuchre_env.core.observation.scaling import scale_rows
from bideuchre_env.envs.face import Observation
from bideuchre_env.envs.options import SoloVecOptions
from bideuchre_env.envs.solo.batch import SoloBatch
from bideuchre_env.envs.solo.rows import Results, result_rows
from bideuchre_env.runtime.jit import Array


class Looks:
    """Of rows in the machine's own memory; a mask of some of them is bool (n,)."""

    def __init__(self, rows: SoloBatch, chosen: SoloVecOptions) -> None:
        self._rows, self._copy = rows, chosen.copy
        self.is_flat = chosen.observation == "flat"
        size = rows.layout.size
        self._flat = np.zeros((rows.n, size) if self.is_flat else 0, np.float32)
        self.all: Any = np.ones(rows.n, bool)
        self._acting: Any = rows.every  # 1 in the rows that act, as `take` has found

    def mask(self, chosen: Array) -> Any:
        """A mask of the rows chosen by bool (n,), where the rows are."""
        return chosen

    def done(self) -> Any:
        """A mask of the rows whose episode is over; None if there are none."""
        done = self._rows.done
        return done if done.any() else None

    def restart(self, chosen: Any, begin: dict[str, Any] | None = None) -> None:
        """`SoloBatch.restart` in the rows of a mask."""
        self._rows.restart(chosen.astype(np.int64), begin)

    def step(self, choices: Any) -> None:
        """`SoloBatch.step` in the rows that `take` was asked of."""
        self._rows.step(choices, self._acting)

    def take(self, given: Any, idle: Any) -> tuple[Any, int]:
        """The actions given, as `step` takes them, and the first row's that is none; or -1.

        Not asked of are the rows of a mask, if there are any.
        """
        n_actions = self._rows.actions.n
        choices = whole_numbers("actions", given, self._rows.n, n_actions)
        outside = (choices < 0) | (choices >= n_actions)
        self._acting = self._rows.every
        if idle is not None:
            outside &= ~idle
            self._acting = (~idle).astype(np.int64)
        return choices, int(outside.argmax()) if outside.any() else -1

    def action_of(self, given: Any, row: int) -> int:
        """The action that was given for a row."""
        return int(np.asarray(given)[row])

    def observations(self) -> Observation:
        """What the learners see, and may do unless that is told in the infos."""
        rows = self._rows
        if self.is_flat:
            return self._handed(self._scaled(rows.observations, self._flat))
        arrays = {"observation": rows.observations, "action_mask": rows.masks}
        return {name: self._handed(array) for name, array in arrays.items()}

    def ends(self) -> tuple[Array, Array, Array]:
        """Rewards, terminated and truncated, of the last step."""
        rows = self._rows
        rewards, terminated, truncated = rows.rewards, rows.terminated, rows.truncated
        return self._handed(rewards), self._handed(terminated), self._handed(truncated)

    def seats(self) -> Array:
        """The learners' seats, int8 (n,); a new array."""
        return np.array(self._rows.solos["seat"])

    def action_masks(self) -> Array:
        """Which actions are legal, bool (n, A); a new array."""
        masks: Array = self._rows.masks.astype(bool)
        return masks

    def infos(self, chosen: Any) -> dict[str, Any]:
        """The infos of every step for the rows of a mask; zeros for the others."""
        masks, seats = self._shown(chosen)
        return {
            "action_mask": masks,
            "_action_mask": self.copied(chosen),
            "seat": seats,
            "_seat": self.copied(chosen),
        }

    def results(self, ended: Any) -> dict[str, Any]:
        """The results of the rows of a mask, whose episodes are over; zeros for the others."""
        results = self._results(ended)._asdict()
        keys = {f"_{name}": self.copied(ended) for name in results}
        return results | keys

    def finals(self, ended: Any) -> Any:
        """The last observations of the rows of a mask, (n,) of objects, None for the others."""
        rows, at = self._rows, np.flatnonzero(ended)
        final = np.full(rows.n, None, object)
        observations, masks = rows.observations[at], rows.masks[at]
        if self.is_flat:
            observations = rows.layout.scaled(observations)
        for i, seen, mask in zip(at, observations, masks, strict=True):
            final[i] = seen if self.is_flat else {"observation": seen, "action_mask": mask}
        return final

    def copied(self, array: Any) -> Any:
        """A copy of an array, where it is."""
        return array.copy()

    def _handed(self, array: Any) -> Any:
        """An array for the caller, a copy or a view: the shape of what kernels take is ours."""
        return array.copy() if self._copy else array.view()

    def _scaled(self, observations: Any, out: Any) -> Any:
        """Observations as float32, in `out`."""
        scale_rows(observations, self._rows.layout.scale, out)
        return out

    def _shown(self, chosen: Any) -> tuple[Array, Array]:
        """Masks, and seats as int64 (n,), of the rows of a mask."""
        masks, seats = self._rows.masks, self._rows.solos["seat"].astype(int)
        if chosen is self.all:
            return self._handed(masks), seats
        # copies: a row that has ended may start anew within the step
        return masks * chosen[:, np.newaxis], seats * chosen

    def _results(self, ended: Any) -> Results:
        rows = self._rows
        results = Results(*(np.empty(shape, kind) for shape, kind in results_of(rows.n)))
        result_rows(rows.states, rows.solos, ended.astype(np.int64), 0, rows.n, results)
        return results


def results_of(n: int) -> list[tuple[tuple[int, ...], Any]]:
    """The shapes and types of the arrays of `Results` of n rows."""
    return [
        ((n,), np.int64),
        ((n, 2), np.int64),
        ((n,), np.int64),
        ((n,), np.int64),
        ((n,), np.bool_),
    ]
