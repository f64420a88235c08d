"""Tables on a GPU: a thread for each table, or each decision.

Hands are dealt, and their returns computed, on the CPU; all between, and the decisions, stay on the
GPU. In numba's simulator the tensors are torch's of the CPU.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.learning.feature_rows import FeatureWorkspace, actions_rows
from bideuchre_env.learning.features import Features
from bideuchre_env.learning.sampling import first_unfit, random_words, sample_rows
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.device import SIMULATED, DeviceArray, DeviceMemory, Program
from bideuchre_env.runtime.intrinsics import lower_cell
from bideuchre_env.runtime.jit import Array, inline_kernel
from ppo.networks import torch_device
from ppo.rollout import Tables, check_fits
from ppo.rollout_kernels import CALLS, CARDS, OVER, Outcomes, Room, Seen, enter, waits_for

MEMORY = DeviceMemory()


@Program
def wait_one(states: Array, tables: Array, waits: Array, i: int) -> None:
    """Play forced moves at table i; set `waits[i]`, int64 (n,), to what it is waiting for."""
    waits[i] = waits_for(states[i], tables[0])


@inline_kernel
def own_room(room: Room, i: int) -> Room:
    """The room with the scratch of table i."""
    work = room.features
    features = FeatureWorkspace(
        work.tables, work.offsets, work.places, work.views[i : i + 1], work.active[i : i + 1]
    )
    observation, mask = room.observation[i : i + 1], room.mask[i : i + 1]
    return Room(room.seen, room.with_hidden, observation, mask, features)


@Program
def enter_one(
    states: Array, calls: Room, cards: Room, waits: Array, places: Array, cells: Array, i: int
) -> None:
    """Enter the decision that table i is waiting for, if any.

    The scratch of both rooms has a row for each table. `cells`, int64 (1,), is -1 if a list was
    too long.
    """
    waiting, s, fits = waits[i], states[i], True
    if waiting == CALLS:
        fits = enter(s, calls.features.tables[0], i, own_room(calls, i), places[i])
    elif waiting == CARDS:
        fits = enter(s, cards.features.tables[0], i, own_room(cards, i), places[i])
    if not fits:
        lower_cell(cells, 0, -1)


@Program
def apply_one(states: Array, tables: Array, rows: Array, chosen: Array, j: int) -> None:
    """Carry out action j, see `apply_rows`."""
    apply_rows(states, tables, rows[j : j + 1], chosen[j : j + 1])


@Program
def draw_one(
    logits: Array,
    legal: Array,
    words: Array,
    outputs: Array,
    log_probs: Array,
    cells: Array,
    j: int,
) -> None:
    """Draw for decision j, see `learning.sampling.sample`.

    `cells`, int64 (1,), has the first row in which nothing can be drawn.
    """
    own_logits, own_legal = logits[j : j + 1], legal[j : j + 1]
    if first_unfit(own_logits, own_legal) >= 0:
        lower_cell(cells, 0, j)
    else:
        drawn = outputs[j : j + 1], log_probs[j : j + 1]
        sample_rows(own_logits, own_legal, words[j : j + 1], drawn[0], drawn[1])


@Program
def act_one(
    outputs: Array, symmetries: Array, work: FeatureWorkspace, actions: Array, j: int
) -> None:
    """Find the action of decision j, see `actions_rows`."""
    actions_rows(outputs[j : j + 1], symmetries[j : j + 1], work, actions[j : j + 1])


def array_of(tensor: Tensor) -> DeviceArray:
    """A tensor of the device as an argument of programs, without a copy."""
    return tensor.numpy() if SIMULATED else MEMORY.foreign(tensor)


class DeviceTables(Tables):
    """`Tables` on a GPU, and so are its tensors."""

    device = torch_device("cuda")

    def __init__(self, rules: Rules, n: int) -> None:
        super().__init__(rules, n)
        self._device_tables = MEMORY.put(self.tables)
        self._waits = self.zeros(n, torch.int64)
        layout, n_actions = layout_of(rules), actions.of(rules).n
        # of both parts: a table waits for one of them
        self._observation = self.zeros((n, layout.size), torch.int8)
        self._mask = self.zeros((n, n_actions), torch.int8)

    def _room(self, features: Features, seen: Seen, all_hands: bool) -> Room:
        work, n = features.workspace(), self.n
        work = work._replace(views=np.repeat(work.views, n), active=np.repeat(work.active, n, 0))
        return Room(
            seen=Seen(*map(array_of, seen)),
            with_hidden=all_hands,
            observation=array_of(self._observation),
            mask=array_of(self._mask),
            features=MEMORY.put(work),
        )

    def begin(self, low: np.uint64, high: np.uint64) -> None:
        """See `Tables.begin`; the hands are dealt on the CPU."""
        super().begin(low, high)
        self._states, self._entered = MEMORY.put(self.states), (0, 0)

    def play_on(self) -> tuple[int, int] | None:
        """See `Tables.play_on`; decisions are entered in the same order."""
        waits = self._waits
        wait_one(self.n, self._states, self._device_tables, array_of(waits))
        places, cells = self.zeros(self.n, torch.int64), self.zeros(1, torch.int64)
        for part, before in zip((CALLS, CARDS), self._entered, strict=True):
            here = waits == part
            places = torch.where(here, here.cumsum(0) - 1 + before, places)
        enter_one(self.n, self._states, *self._rooms, *map(array_of, (waits, places, cells)))
        waiting = [(waits == each).sum() for each in (OVER, CALLS, CARDS)]
        over, calls, cards, fits = torch.stack([*waiting, cells[0]]).tolist()
        check_fits(fits == 0)
        self._entered = self._entered[0] + calls, self._entered[1] + cards
        return None if over == self.n else self._entered

    def apply(self, rows: Tensor, chosen: Tensor) -> None:
        """Carry out these actions in these rows, both int64 (m,)."""
        of = self._states, self._device_tables
        apply_one(len(rows), *of, array_of(rows), array_of(chosen))

    def sample(
        self, logits: Tensor, legal: Tensor, seed: int, outputs: Tensor, log_probs: Tensor
    ) -> None:
        """See `Tables.sample`; `RuntimeError` where a logit is not finite."""
        m = len(logits)
        cells, words = torch.full((1,), m, device=self.device), MEMORY.put(random_words(seed, 0, m))
        drawn = map(array_of, (outputs, log_probs, cells))
        draw_one(m, array_of(logits), array_of(legal), words, *drawn)
        if int(cells) < m:
            raise RuntimeError(f"row {int(cells)}: the net's logits are not finite")

    def actions(self, features: Features, outputs: Tensor, symmetries: Tensor) -> Tensor:
        """The actions of these outputs, int64 (m,)."""
        chosen = torch.empty_like(outputs)
        work = self._rooms[features.part == "cards"].features
        of, by, to = map(array_of, (outputs, symmetries, chosen))
        act_one(len(outputs), of, by, work, to)
        return chosen

    def outcomes(self) -> Outcomes:
        """See `Tables.outcomes`."""
        self.states[:] = MEMORY.to_host(self._states)
        return super().outcomes()
