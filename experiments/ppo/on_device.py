"""The tables that a batch is played at on a GPU: a thread for each table, or each decision.

What is learned from stays there. In numba's simulator the tensors are torch's of the CPU.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
from ppo.entering import CALLS, CARDS, OVER, Outcomes, Room, Seen, enter, outcome, waits_for
from ppo.nets import torch_device
from ppo.tables import HostTables, check_fits


class Beginning(NamedTuple):
    """A hand for each table."""

    states: Array
    tables: Array
    low: Word
    high: Word


@Program
def begin_one(job: Beginning, i: int) -> None:
    """Deal a hand at table i."""
    s = job.states[i]
    seed_row(s, job.low, job.high, i)
    start_game(s, -1)
    deal_hand(s, job.tables[0])


class Waiting(NamedTuple):
    """What tables wait for, see `waits_for`."""

    states: Array
    tables: Array
    waits: Array  # int64 (n,)


@Program
def wait_one(job: Waiting, i: int) -> None:
    """Play what is forced at table i."""
    job.waits[i] = waits_for(job.states[i], job.tables[0])


class Entering(NamedTuple):
    """Decisions that are entered; the rooms' scratch has a row for each table."""

    states: Array
    calls: Room
    cards: Room
    waits: Array
    places: Array  # int64 (n,)
    cells: Array  # int64 (1,): -1 if a list was too long


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
def enter_one(job: Entering, i: int) -> None:
    """Enter the decision that table i waits for, if it does."""
    waits, s, fits = job.waits[i], job.states[i], True
    if waits == CALLS:
        fits = enter(s, job.calls.features.tables[0], i, own_room(job.calls, i), job.places[i])
    elif waits == CARDS:
        fits = enter(s, job.cards.features.tables[0], i, own_room(job.cards, i), job.places[i])
    if not fits:
        lower_cell(job.cells, 0, -1)


class Applying(NamedTuple):
    """Actions, see `apply_rows`."""

    states: Array
    tables: Array
    rows: Array
    chosen: Array


@Program
def apply_one(job: Applying, j: int) -> None:
    """Carry out action j."""
    apply_rows(job.states, job.tables, job.rows[j : j + 1], job.chosen[j : j + 1])


class Drawing(NamedTuple):
    """Draws by logits, see `learning.sampling.sample`."""

    logits: Array
    legal: Array
    low: Word
    high: Word
    rows: Array  # int64 (m,): 0, 1, 2 ...
    words: Array  # uint64 (m,)
    outputs: Array
    log_probs: Array
    cells: Array  # int64 (1,): the first row that nothing can be drawn in


@Program
def draw_one(job: Drawing, j: int) -> None:
    """Draw for decision j."""
    logits, legal, words = job.logits[j : j + 1], job.legal[j : j + 1], job.words[j : j + 1]
    if first_unfit(logits, legal) >= 0:
        lower_cell(job.cells, 0, j)
    else:
        fill_words(job.low, job.high, np.uint64(0), job.rows[j : j + 1], words)
        sample_rows(logits, legal, words, job.outputs[j : j + 1], job.log_probs[j : j + 1])


class Acting(NamedTuple):
    """Outputs and what they stand for, see `actions_rows`."""

    outputs: Array
    symmetries: Array
    work: FeatureWorkspace
    actions: Array


@Program
def act_one(job: Acting, j: int) -> None:
    """Find the action of decision j."""
    here = job.outputs[j : j + 1], job.symmetries[j : j + 1]
    actions_rows(here[0], here[1], job.work, job.actions[j : j + 1])


class Returning(NamedTuple):
    """Lambda-returns, see `return_rows`."""

    seats: Array
    rewards: Array
    ended: Array
    values: Array
    carried: Array
    lambda_: float
    made: Returns


@Program
def return_one(job: Returning, i: int) -> None:
    """Work out the returns of table i."""
    made = Returns(
        job.made.returns[:, i : i + 1],
        job.made.advantages[:, i : i + 1],
        job.made.complete[:, i : i + 1],
    )
    return_rows(
        job.seats[:, i : i + 1],
        job.rewards[:, i : i + 1],
        job.ended[:, i : i + 1],
        job.values[:, i : i + 1],
        job.carried[:, i : i + 1],
        1.0,
        job.lambda_,
        made,
    )


class Telling(NamedTuple):
    """What hands came to."""

    states: Array
    tables: Array
    outcomes: Outcomes


@Program
def tell_one(job: Telling, i: int) -> None:
    """Enter what the hand of table i came to."""
    outcome(job.states[i], job.tables[0], job.outcomes, i)


def given(tensor: Tensor) -> DeviceArray:
    """A tensor of the device as programs take it, without a copy."""
    return tensor.numpy() if SIMULATED else on_device(tensor)


class DeviceTables(HostTables):
    """What `HostTables` is, on a GPU, and so are its tensors."""

    device = torch_device("cuda")
    on_host = False

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
            seen=Seen(*map(given, seen)),
            with_hidden=all_hands,
            observation=given(self._observation),
            mask=given(self._mask),
            features=moved(work, to_device),
        )

    def begin(self, low: np.uint64, high: np.uint64) -> None:
        """Deal a hand at each table i, by the seed `high:low` + i."""
        begin_one(self.n, Beginning(self.states, self.tables, low, high))
        self._counts = (0, 0)

    def go_on(self) -> tuple[int, int] | None:
        """See `HostTables.go_on`; decisions are entered in the same order."""
        waits = self._waits
        wait_one(self.n, Waiting(self.states, self.tables, given(waits)))
        places, cells = self.zeros(self.n, torch.int64), self.zeros(1, torch.int64)
        for part, before in zip((CALLS, CARDS), self._counts, strict=True):
            here = waits == part
            places = torch.where(here, here.cumsum(0) - 1 + before, places)
        job = Entering(self.states, *self._rooms, given(waits), given(places), given(cells))
        enter_one(self.n, job)
        told = [(waits == each).sum() for each in (OVER, CALLS, CARDS)]
        over, calls, cards, fits = torch.stack([*told, cells[0]]).tolist()
        check_fits(fits == 0)
        self._counts = self._counts[0] + calls, self._counts[1] + cards
        return None if over == self.n else self._counts

    def apply(self, rows: Tensor, chosen: Tensor) -> None:
        """Carry out these actions in these rows, both int64 (m,)."""
        job = Applying(self.states, self.tables, given(rows), given(chosen))
        apply_one(len(rows), job)

    def sample(
        self, logits: Tensor, legal: Tensor, seed: int, outputs: Tensor, log_probs: Tensor
    ) -> None:
        """See `HostTables.sample`; `RuntimeError` where a logit is not finite."""
        m, (low, high) = len(logits), split_seed(seed)
        rows = torch.arange(m, device=self.device)
        words = given(torch.empty_like(rows)).view(np.uint64)  # torch has few uint64
        cells = torch.full((1,), m, device=self.device)
        drawn = map(given, (outputs, log_probs, cells))
        draw_one(m, Drawing(given(logits), given(legal), low, high, given(rows), words, *drawn))
        if int(cells) < m:
            raise RuntimeError(f"row {int(cells)}: the net's logits are not finite")

    def actions(self, features: Features, outputs: Tensor, symmetries: Tensor) -> Tensor:
        """What these outputs stand for, int64 (m,)."""
        found = torch.empty_like(outputs)
        work = self._rooms[features.part == "cards"].features
        act_one(len(outputs), Acting(given(outputs), given(symmetries), work, given(found)))
        return found

    def returns(
        self, seats: Tensor, rewards: Tensor, ended: Tensor, values: Tensor, lambda_: float
    ) -> Tensor:
        """See `lambda_returns`; float32 (T, n)."""
        carried = self.zeros((3, self.n, N_SEATS), torch.float64)
        made = Returns(*(self.zeros(seats.shape, kind) for kind in RETURNED))
        arrays: Any = map(given, (seats, rewards, ended, values, carried))
        return_one(self.n, Returning(*arrays, lambda_, Returns(*map(given, made))))
        found: Any = made.returns
        return found  # type: ignore[no-any-return]

    def outcomes(self) -> Outcomes:
        """What the hands came to, all of them being over."""
        found = self._outcomes()
        tell_one(self.n, Telling(self.states, self.tables, Outcomes(*map(given, found))))
        return found


RETURNED = torch.float32, torch.float32, torch.bool
