"""What an agent is: something that chooses a legal action from an observation, singly or by rows."""

from __future__ import annotations

from typing import Protocol

from bideuchre_env._jit import Array


class Agent(Protocol):
    """Chooses actions for one game's `Rules` from observations alone."""

    name: str

    def act(self, observation: Array, action_mask: Array) -> int:
        """The action for one observation, int8 (D,), and its mask, int8 (A,)."""
        ...

    def act_rows(self, observations: Array, action_masks: Array) -> Array:
        """Actions, int64 (n,), for observations, int8 (n, D), and masks, int8 (n, A)."""
        ...
