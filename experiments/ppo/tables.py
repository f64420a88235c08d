"""The tables that a batch is played at, in the machine's own memory, stepped by its processor.

Arrays are handed out as torch's tensors, which are the kernels' arrays without a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows, deal_rows, seed_rows, start_rows
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.features import Features
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.learning.sampling import sample
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from ppo.entering import HIDDEN, Outcomes, Room, Seen, go_on, outcome_rows
from ppo.sparse import WIDTH


class HostTables:
    """`n` tables of a game, each of which plays a hand."""

    device = "cpu"  # torch's word
    on_host = True

    def __init__(self, rules: Rules, n: int) -> None:
        self.rules, self.n = rules, n
        self.tables = compile_tables(rules)
        self.states = new_states(n)
        self._counts, self._live = np.zeros(3, np.int64), np.arange(n)
        self._rooms: list[Room] = []

    def zeros(self, shape: Any, dtype: torch.dtype) -> Tensor:
        """A tensor of zeros where the tables are."""
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def seen(self, features: Features, n: int, all_hands: bool) -> Seen:
        """Room for n decisions of a part; `go_on` enters them. The auction's is asked for first."""
        seen = Seen(
            self.zeros((n, WIDTH), torch.int16),
            self.zeros((n, features.outputs), torch.int8),
            self.zeros(n, torch.int64),
            self.zeros(n, torch.int64),
            self.zeros((n if all_hands else 1, HIDDEN), torch.int16),
        )
        self._rooms.append(self._room(features, seen, all_hands))
        return seen

    def _room(self, features: Features, seen: Seen, all_hands: bool) -> Room:
        return Room(
            seen=Seen(*(tensor.numpy() for tensor in seen)),
            with_hidden=all_hands,
            observation=np.zeros((1, layout_of(self.rules).size), np.int8),
            mask=np.zeros((1, actions.of(self.rules).n), np.int8),
            features=features.workspace(),
        )

    def begin(self, low: np.uint64, high: np.uint64) -> None:
        """Deal a hand at each table i, by the seed `high:low` + i."""
        seed_rows(self.states, low, high)
        start_rows(self.states, self.tables, np.full(self.n, -1))
        deal_rows(self.states, self.tables)
        self._counts[:] = self.n, 0, 0
        self._live[:] = np.arange(self.n)

    def go_on(self) -> tuple[int, int] | None:
        """Play what is forced and enter what waits: how many of each part there are now.

        None when all hands are over.
        """
        go_on(self.states, self._live, *self._rooms, self._counts)
        live, calls, cards = self._counts.tolist()
        check_fits(live >= 0)
        return (calls, cards) if live else None

    def apply(self, rows: Tensor, chosen: Tensor) -> None:
        """Carry out these actions in these rows, both int64 (m,)."""
        apply_rows(self.states, self.tables, rows.numpy(), chosen.numpy())

    def sample(
        self, logits: Tensor, legal: Tensor, seed: int, outputs: Tensor, log_probs: Tensor
    ) -> None:
        """See `learning.sampling.sample`."""
        arrays = (logits.numpy(), legal.numpy(), seed, outputs.numpy(), log_probs.numpy())
        sample(*arrays)

    def actions(self, features: Features, outputs: Tensor, symmetries: Tensor) -> Tensor:
        """What these outputs stand for, int64 (m,)."""
        return torch.from_numpy(features.actions(outputs.numpy(), symmetries.numpy()))

    def returns(
        self, seats: Tensor, rewards: Tensor, ended: Tensor, values: Tensor, lambda_: float
    ) -> Tensor:
        """See `lambda_returns`; float32 (T, n)."""
        arrays = (tensor.numpy() for tensor in (seats, rewards, ended, values))
        return torch.from_numpy(lambda_returns(*arrays, lambda_=lambda_).returns)

    def outcomes(self) -> Outcomes:
        """What the hands came to, all of them being over."""
        found = self._outcomes()
        arrays = Outcomes(*(tensor.numpy() for tensor in found))
        outcome_rows(self.states, self.tables, 0, self.n, arrays)
        return found

    def _outcomes(self) -> Outcomes:
        kinds = torch.int64, torch.bool, torch.bool
        return Outcomes(*(self.zeros(self.n, kind) for kind in kinds))


def check_fits(fits: bool) -> None:
    """Raise `RuntimeError` unless all lists of inputs have fitted."""
    if not fits:
        raise RuntimeError(f"more than {WIDTH - 1} inputs are 1: lists are too short")
