"""Tables on a GPU: a thread for each table, or each decision.

The decisions stay on the GPU. In numba's simulator the tensors are torch's of the CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import deal_hand, split_seed, start_game
from bideuchre_env.core.rows import apply_rows, seed_row
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.feature_rows import FeatureWorkspace, actions_rows
from bideuchre_env.learning.features import Features
from bideuchre_env.learning.returns import Returns, return_rows
from bideuchre_env.learning.sampling import fill_words, first_unfit, sample_rows
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.device import (
    SIMULATED,
    DeviceArray,
    Program,
    lower_cell,
    moved,
    on_device,
    to_device,
)
from bideuchre_env.runtime.jit import Array, Word, inline_kernel
from ppo.networks import torch_device
from ppo.rollout import Tables, check_fits
from ppo.rollout_kernels import (
    CALLS,
    CARDS,
    OVER,
    Outcomes,
    Room,
    Seen,
    enter,
    outcome,
    waits_for,
)


@Program
def begin_one(states: Array, tables: Array, low: Word, high: Word, i: int) -> None:
    """Deal a hand at table i."""
    s = states[i]
    seed_row(s, low, high, i)
    start_game(s, -1)
    deal_hand(s, tables[0])


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
    low: Word,
    high: Word,
    rows: Array,
    words: Array,
    outputs: Array,
    log_probs: Array,
    cells: Array,
    j: int,
) -> None:
    """Draw for decision j, see `learning.sampling.sample`.

    `rows` are 0, 1, 2 ..., int64 (m,), and `words` room for uint64 (m,). `cells`, int64 (1,), has
    the first row in which nothing can be drawn.
    """
    some_logits, some_legal, some_words = logits[j : j + 1], legal[j : j + 1], words[j : j + 1]
    if first_unfit(some_logits, some_legal) >= 0:
        lower_cell(cells, 0, j)
    else:
        fill_words(low, high, np.uint64(0), rows[j : j + 1], some_words)
        drawn = outputs[j : j + 1], log_probs[j : j + 1]
        sample_rows(some_logits, some_legal, some_words, drawn[0], drawn[1])


@Program
def act_one(
    outputs: Array, symmetries: Array, work: FeatureWorkspace, actions: Array, j: int
) -> None:
    """Find the action of decision j, see `actions_rows`."""
    actions_rows(outputs[j : j + 1], symmetries[j : j + 1], work, actions[j : j + 1])


@Program
def return_one(
    seats: Array,
    rewards: Array,
    ended: Array,
    values: Array,
    carried: Array,
    lambda_: float,
    made: Returns,
    i: int,
) -> None:
    """Work out the lambda-returns of table i, see `return_rows`."""
    own = Returns(
        made.returns[:, i : i + 1], made.advantages[:, i : i + 1], made.complete[:, i : i + 1]
    )
    return_rows(
        seats[:, i : i + 1],
        rewards[:, i : i + 1],
        ended[:, i : i + 1],
        values[:, i : i + 1],
        carried[:, i : i + 1],
        1.0,
        lambda_,
        own,
    )


@Program
def outcome_one(states: Array, tables: Array, outcomes: Outcomes, i: int) -> None:
    """Enter the result of table i."""
    outcome(states[i], tables[0], outcomes, i)


def as_device_array(tensor: Tensor) -> DeviceArray:
    """A tensor of the device as an argument of programs, without a copy."""
    return tensor.numpy() if SIMULATED else on_device(tensor)


class DeviceTables(Tables):
    """`Tables` on a GPU, and so are its tensors."""

    device = torch_device("cuda")

    def __init__(self, rules: Rules, n: int) -> None:
        self.rules, self.n = rules, n
        self.tables, self.states = to_device(compile_tables(rules)), to_device(new_states(n))
        self._rooms: list[Room] = []
        self._waits, self._counts = self.zeros(n, torch.int64), (0, 0)
        layout, n_actions = layout_of(rules), actions.of(rules).n
        # of both parts: a table waits for one of them
        self._observation = self.zeros((n, layout.size), torch.int8)
        self._mask = self.zeros((n, n_actions), torch.int8)

    def _room(self, features: Features, seen: Seen, all_hands: bool) -> Room:
        work, n = features.workspace(), self.n
        work = work._replace(views=np.repeat(work.views, n), active=np.repeat(work.active, n, 0))
        return Room(
            seen=Seen(*map(as_device_array, seen)),
            with_hidden=all_hands,
            observation=as_device_array(self._observation),
            mask=as_device_array(self._mask),
            features=moved(work, to_device),
        )

    def begin(self, low: np.uint64, high: np.uint64) -> None:
        """Deal a hand at each table i, by the seed `high:low` + i."""
        begin_one(self.n, self.states, self.tables, low, high)
        self._counts = (0, 0)

    def play_on(self) -> tuple[int, int] | None:
        """See `Tables.play_on`; decisions are entered in the same order."""
        waits = self._waits
        wait_one(self.n, self.states, self.tables, as_device_array(waits))
        places, cells = self.zeros(self.n, torch.int64), self.zeros(1, torch.int64)
        for part, before in zip((CALLS, CARDS), self._counts, strict=True):
            here = waits == part
            places = torch.where(here, here.cumsum(0) - 1 + before, places)
        entered = map(as_device_array, (waits, places, cells))
        enter_one(self.n, self.states, *self._rooms, *entered)
        waiting = [(waits == each).sum() for each in (OVER, CALLS, CARDS)]
        over, calls, cards, fits = torch.stack([*waiting, cells[0]]).tolist()
        check_fits(fits == 0)
        self._counts = self._counts[0] + calls, self._counts[1] + cards
        return None if over == self.n else self._counts

    def apply(self, rows: Tensor, chosen: Tensor) -> None:
        """Carry out these actions in these rows, both int64 (m,)."""
        apply_one(
            len(rows), self.states, self.tables, as_device_array(rows), as_device_array(chosen)
        )

    def sample(
        self, logits: Tensor, legal: Tensor, seed: int, outputs: Tensor, log_probs: Tensor
    ) -> None:
        """See `Tables.sample`; `RuntimeError` where a logit is not finite."""
        m, (low, high) = len(logits), split_seed(seed)
        rows = torch.arange(m, device=self.device)
        words = as_device_array(torch.empty_like(rows)).view(np.uint64)  # torch has few uint64
        cells = torch.full((1,), m, device=self.device)
        drawn = map(as_device_array, (outputs, log_probs, cells))
        draw_one(
            m,
            as_device_array(logits),
            as_device_array(legal),
            low,
            high,
            as_device_array(rows),
            words,
            *drawn,
        )
        if int(cells) < m:
            raise RuntimeError(f"row {int(cells)}: the net's logits are not finite")

    def actions(self, features: Features, outputs: Tensor, symmetries: Tensor) -> Tensor:
        """The actions of these outputs, int64 (m,)."""
        chosen = torch.empty_like(outputs)
        work = self._rooms[features.part == "cards"].features
        of, by, to = map(as_device_array, (outputs, symmetries, chosen))
        act_one(len(outputs), of, by, work, to)
        return chosen

    def returns(
        self, seats: Tensor, rewards: Tensor, ended: Tensor, values: Tensor, lambda_: float
    ) -> Tensor:
        """See `lambda_returns`; float32 (T, n)."""
        carried = self.zeros((3, self.n, N_SEATS), torch.float64)
        made = Returns(*(self.zeros(seats.shape, kind) for kind in RETURNED))
        arrays: Any = map(as_device_array, (seats, rewards, ended, values, carried))
        return_one(self.n, *arrays, lambda_, Returns(*map(as_device_array, made)))
        returns: Tensor = made.returns
        return returns

    def outcomes(self) -> Outcomes:
        """The results of the hands, all of which are over."""
        outcomes = self._new_outcomes()
        arrays = Outcomes(*map(as_device_array, outcomes))
        outcome_one(self.n, self.states, self.tables, arrays)
        return outcomes


RETURNED = torch.float32, torch.float32, torch.bool
