"""Agents `random`, a uniform choice of legal actions, and `cautious`, which bids rarely."""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.protocols import AgentInfo
from bideuchre_env.core.records import Tables
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel

PASSES = 0.9  # probability that the cautious player passes, if a pass is legal


class RandomAgent(RowAgent):
    """Chooses uniformly among the legal actions; `seed` fixes the sequence of choices."""

    name = "random"
    info = AgentInfo("Chooses uniformly among the legal actions.", milliseconds=0.0003)

    def __init__(self, rules: Rules, *, seed: int | None = None) -> None:
        super().__init__(rules, seed)
        self.generator = np.random.default_rng(seed)

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """Return a legal action for every row; int64 (n,)."""
        draws = self.generator.random((len(action_masks), 2))
        choices = np.empty(len(action_masks), np.int64)
        self.draw(action_masks, draws, choices)
        return choices

    def draw(self, action_masks: Array, draws: Array, choices: Array) -> None:
        """Fill `choices` (n,) with actions; `draws`, float64 (n, 2), are uniform in [0, 1)."""
        random_rows(action_masks, draws, choices)


class CautiousAgent(RandomAgent):
    """Passes with probability 0.9, else makes the lowest bid; plays random cards.

    A uniform choice among all calls bids too often and too high; this agent is a fairer baseline.
    It bids alone only if every other call is illegal.
    """

    name = "cautious"
    info = AgentInfo(
        "Passes nine times in ten, else makes the lowest bid; plays random cards.",
        milliseconds=0.0003,
    )

    def draw(self, action_masks: Array, draws: Array, choices: Array) -> None:
        """Fill `choices` (n,) with actions; `draws`, float64 (n, 2), are uniform in [0, 1)."""
        cautious_rows(action_masks, draws, self.tables, choices)


@kernel
def pick(mask: Array, first: int, last: int, draw: float) -> int:
    """Return a random legal action from `first` to `last` - 1, uniformly; -1 if none is legal.

    `draw` is a random number in [0, 1) that determines the choice.
    """
    n = 0
    for action in range(first, last):
        n += 1 if mask[action] else 0
    left = int(draw * n)
    for action in range(first, last):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1


@entry_kernel
def random_rows(masks: Array, draws: Array, choices: Array) -> None:
    """Fill `choices`, int64 (n,), with a random legal action for each of n masks.

    `draws`, float64 (n, 2), are uniform in [0, 1).
    """
    for i in range(len(masks)):
        choices[i] = pick(masks[i], 0, masks.shape[1], draws[i, 0])


@kernel
def cautious_choice(mask: Array, t: Tables, draws: Array) -> int:
    """Return the cautious agent's action: outside the auction, a random legal action.

    In the auction it is a pass with probability `PASSES`, else the lowest partnered bid in a random
    strain. A lone bid is made only if nothing else is legal. `draws`, float64 (2,), are random
    numbers in [0, 1).
    """
    if mask[0] and draws[1] < PASSES:
        return 0
    for level in range(t.n_levels):
        if mask[0] and t.alone[level]:
            return 0
        first = t.first_of_bid[level]
        after = t.first_of_bid[level + 1] if level + 1 < t.n_levels else t.trump_offset
        bid = pick(mask, first, after, draws[0])
        if bid >= 0:
            return bid
    return 0 if mask[0] else pick(mask, 0, len(mask), draws[0])


@entry_kernel
def cautious_rows(masks: Array, draws: Array, tables: Array, choices: Array) -> None:
    """Fill `choices`, int64 (n,), with the cautious agent's action for each of n masks.

    `draws`, float64 (n, 2), are uniform in [0, 1); `tables` are from `compile_tables`.
    """
    for i in range(len(masks)):
        choices[i] = cautious_choice(masks[i], tables[0], draws[i])
