"""The tables that a batch is played at on a GPU: a thread for each table, or each decision.

What is learned from stays there. In numba's simulator the tensors are torch's of the CPU.
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
from bideuchre_env.runtime.device import SIMULATED, DeviceArray, DeviceMemory, Program
from bideuchre_env.runtime.intrinsics import lower_cell
from bideuchre_env.runtime.jit import Array, Word, inline_kernel
from ppo.entering import CALLS, CARDS, OVER, Outcomes, Room, Seen, enter, outcome, waits_for
from ppo.nets import torch_device
from ppo.tables import HostTables, check_fits

MEMORY = DeviceMemory()


@Program
def begin_one(states: Array, tables: Array, low: Word, high: Word, i: int) -> None:
    """Deal a hand at table i."""
    s = states[i]
    seed_row(s, low, high, i)
    start_game(s, -1)
    deal_hand(s, tables[0])


@Program
def wait_one(states: Array, tables: Array, waits: Array, i: int) -> None:
    """Play what is forced at table i; enter what it waits for in `waits`, int64 (n,)."""
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
    """Enter the decision that table i waits for, if it does.

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
def tell_one(states: Array, tables: Array, outcomes: Outcomes, i: int) -> None:
    """Enter what the hand of table i came to."""
    outcome(states[i], tables[0], outcomes, i)


def given(tensor: Tensor) -> DeviceArray:
    """A tensor of the device as programs take it, without a copy."""
    return tensor.numpy() if SIMULATED else MEMORY.foreign(tensor)


class DeviceTables(HostTables):
    """What `HostTables` is, on a GPU, and so are its tensors."""

    device = torch_device("cuda")
    on_host = False

    def __init__(self, rules: Rules, n: int) -> None:
        self.rules, self.n = rules, n
        self.tables, self.states = MEMORY.put((compile_tables(rules), new_states(n)))
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
            features=MEMORY.put(work),
        )

    def begin(self, low: np.uint64, high: np.uint64) -> None:
        """Deal a hand at each table i, by the seed `high:low` + i."""
        begin_one(self.n, self.states, self.tables, low, high)
        self._counts = (0, 0)

    def go_on(self) -> tuple[int, int] | None:
        """See `HostTables.go_on`; decisions are entered in the same order."""
        waits = self._waits
        wait_one(self.n, self.states, self.tables, given(waits))
        places, cells = self.zeros(self.n, torch.int64), self.zeros(1, torch.int64)
        for part, before in zip((CALLS, CARDS), self._counts, strict=True):
            here = waits == part
            places = torch.where(here, here.cumsum(0) - 1 + before, places)
        entered = map(given, (waits, places, cells))
        enter_one(self.n, self.states, *self._rooms, *entered)
        told = [(waits == each).sum() for each in (OVER, CALLS, CARDS)]
        over, calls, cards, fits = torch.stack([*told, cells[0]]).tolist()
        check_fits(fits == 0)
        self._counts = self._counts[0] + calls, self._counts[1] + cards
        return None if over == self.n else self._counts

    def apply(self, rows: Tensor, chosen: Tensor) -> None:
        """Carry out these actions in these rows, both int64 (m,)."""
        apply_one(len(rows), self.states, self.tables, given(rows), given(chosen))

    def sample(
        self, logits: Tensor, legal: Tensor, seed: int, outputs: Tensor, log_probs: Tensor
    ) -> None:
        """See `HostTables.sample`; `RuntimeError` where a logit is not finite."""
        m, (low, high) = len(logits), split_seed(seed)
        rows = torch.arange(m, device=self.device)
        words = given(torch.empty_like(rows)).view(np.uint64)  # torch has few uint64
        cells = torch.full((1,), m, device=self.device)
        drawn = map(given, (outputs, log_probs, cells))
        draw_one(m, given(logits), given(legal), low, high, given(rows), words, *drawn)
        if int(cells) < m:
            raise RuntimeError(f"row {int(cells)}: the net's logits are not finite")

    def actions(self, features: Features, outputs: Tensor, symmetries: Tensor) -> Tensor:
        """What these outputs stand for, int64 (m,)."""
        found = torch.empty_like(outputs)
        work = self._rooms[features.part == "cards"].features
        act_one(len(outputs), given(outputs), given(symmetries), work, given(found))
        return found

    def returns(
        self, seats: Tensor, rewards: Tensor, ended: Tensor, values: Tensor, lambda_: float
    ) -> Tensor:
        """See `lambda_returns`; float32 (T, n)."""
        carried = self.zeros((3, self.n, N_SEATS), torch.float64)
        made = Returns(*(self.zeros(seats.shape, kind) for kind in RETURNED))
        arrays: Any = map(given, (seats, rewards, ended, values, carried))
        return_one(self.n, *arrays, lambda_, Returns(*map(given, made)))
        found: Any = made.returns
        return found  # type: ignore[no-any-return]

    def outcomes(self) -> Outcomes:
        """What the hands came to, all of them being over."""
        found = self._outcomes()
        tell_one(self.n, self.states, self.tables, Outcomes(*map(given, found)))
        return found


RETURNED = torch.float32, torch.float32, torch.bool
