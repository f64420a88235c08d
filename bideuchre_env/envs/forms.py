"""The forms of observations that a caller chooses: "dict", "flat" and "features"."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.observation.scaling import scale_rows
from bideuchre_env.learning.encoder import (
    Encoded,
    EncoderWorkspace,
    convert_actions,
    encode_rows,
    encoder_of,
)
from bideuchre_env.learning.features import action_maps
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.devices import HostMemory
from bideuchre_env.runtime.threads import ThreadPool


class Form:
    """Converts the int8 observations and masks of n rows to a caller's form, and actions back.

    `update` computes `seen`, `masks` and `symmetries` from `observations`, int8 (n, D), and
    `action_masks`, int8 (n, A), arrays in a `memory` that their owner rewrites. With "dict", `seen`
    and `masks` are these arrays themselves. With "flat", `seen` is float32 (n, D), scaled. With
    "features", `seen` is float32 (n, F), `masks` and actions have renamed suits (see
    `FeatureEncoder`), and `symmetries`, int64 (n,), are the renamings; otherwise it is None.
    """

    def __init__(
        self,
        rules: Rules,
        kind: str,
        observations: Any,
        action_masks: Any,
        memory: HostMemory | None = None,
        threads: ThreadPool | None = None,
    ) -> None:
        self._memory = memory = memory or HostMemory()
        self._threads = threads or ThreadPool(1)
        self._n = n = len(observations)
        self.stale = False
        """Whether rows may have changed since `update`; the methods below then call it first."""
        self._observations, self._masks = observations, action_masks
        self.is_flat, self.renames = kind != "dict", kind == "features"
        self.seen, self.masks = observations, action_masks
        self.symmetries: Any = None
        if kind == "flat":
            self._scale = memory.put(layout_of(rules).scale)
            self.seen = memory.empty(observations.shape, np.float32)
        if self.renames:
            encoder = encoder_of(rules)
            separate = n if memory.name != "cpu" or self._threads.threads > 1 else 1
            self._work: EncoderWorkspace = memory.put(encoder.workspace(separate))
            self._renamed, self._originals = map(memory.put, action_maps(rules))
            self.seen = memory.empty((n, encoder.size), np.float32)
            self.masks = memory.empty(action_masks.shape, np.int8)
            self.symmetries = memory.empty((n,), np.int64)
            self._numbers = memory.empty((n,), np.int64)

    def update(self) -> Form:
        """Compute all rows again; return the form itself."""
        if self.renames:
            result = Encoded(self.seen, self.masks, self.symmetries)
            arguments = self._observations, self._masks, result, self._work
            if self._memory.name == "cpu":
                self._threads.share(self._n, partial(encode_rows, *arguments), whole=True)
            else:
                self._memory.run(encode_rows, self._n, *arguments)
        elif self.is_flat:
            self._memory.run(scale_rows, self._n, self._observations, self._scale, self.seen)
        self.stale = False
        return self

    def refreshed(self) -> Form:
        """Return the form itself; call `update` if it is `stale`, as after an interrupted step."""
        return self.update() if self.stale else self

    def game_actions(self, choices: Any) -> Any:
        """Convert a caller's actions, whole numbers (n,), to the game's numbers.

        If suits are renamed, the result is an array that is reused, else `choices` themselves.
        """
        return self._converted(choices, self._originals) if self.renames else choices

    def callers_actions(self, actions: Any) -> Any:
        """Convert the game's actions, int64 (n,), to the caller's numbers."""
        return self._converted(actions, self._renamed) if self.renames else actions

    def _converted(self, numbers: Any, table: Any) -> Any:
        arguments = numbers, self.refreshed().symmetries, table, self._numbers
        self._memory.run(convert_actions, self._n, *arguments)
        return self._numbers
