"""`RowAgent`, the base class of the package's agents; custom agents may use it, too."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from bideuchre_env._checks import check_array
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules, check_rules
from bideuchre_env.runtime.jit import Array, direct, entry_kernel

_machine_code: dict[Any, Any] = {}  # by entry kernel and absent parts of its workspace
_idle: WeakKeyDictionary[KernelAgent, list[Any]] = WeakKeyDictionary()
"""Workspaces of agents that no thread uses now: to make one takes longer than most decisions."""


class RowAgent:
    """Agent that chooses actions for many observations (rows) at once; `act` handles one row.

    Subclasses implement `choose`, whose arguments are validated arrays. The `name` of an agent is
    the name of its class, unless the class sets `name`.

    Args:
        rules: the rules of the game.
        seed: 0 to 2**128 - 1, for agents that choose at random; the base class only checks it.
    """

    name = "RowAgent"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def __init__(self, rules: Rules, seed: int | None = None) -> None:
        check_rules(rules)
        if seed is not None:
            split_seed(seed)  # raises for an invalid seed
        self.rules = rules
        self.layout = layout_of(rules)
        self.tables = compile_tables(rules)
        self.n_actions = int(self.tables["n_actions"][0])

    def __repr__(self) -> str:
        return f"<agent {self.name!r} for {self.n_actions} actions>"

    def act(self, observation: Array, action_mask: Array) -> int:
        """Return the action for one observation, int8 (D,), and its mask, int8 (A,).

        Raises `OptionError` for other arrays, and for a mask without a legal action.
        """
        check_array("observation", observation, np.int8, (self.layout.size,), any_order=True)
        check_array("action_mask", action_mask, np.int8, (self.n_actions,), any_order=True)
        return int(self.act_rows(observation[np.newaxis], action_mask[np.newaxis])[0])

    def act_rows(self, observations: Array, action_masks: Array) -> Array:
        """Return an action for each row.

        Args:
            observations: int8 (n, D).
            action_masks: int8 (n, A), 1 for each legal action.

        Returns:
            int64 (n,).

        Raises:
            OptionError: for arrays of another shape or dtype, and a row without a legal action.
        """
        shape, width = (-1, self.layout.size), self.n_actions
        check_array("observations", observations, np.int8, shape, any_order=True)
        n = len(observations)
        check_array("action_masks", action_masks, np.int8, (n, width), any_order=True)
        observations = np.ascontiguousarray(observations)
        action_masks = np.ascontiguousarray(action_masks)
        empty = int(first_empty(action_masks))
        if empty >= 0:
            raise OptionError(
                f"row {empty} of the masks is all zeros: no action is legal there "
                "(the seat is not to act, or the game is over)"
            )
        return self.choose(observations, action_masks)

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """Return a legal action for every row, int64 (n,); for subclasses to implement.

        The arguments are contiguous: int8 (n, D) and int8 (n, A), with a legal action in each row.
        """
        raise NotImplementedError


class KernelAgent(RowAgent):
    """Agent whose choices the entry kernel `rows` writes, with a workspace of its own.

    The kernel is `rows(observations, masks, workspace, choices)`.
    """

    rows: Any

    def workspace(self) -> Any:
        """Return a new workspace; each thread needs its own, because decisions overwrite it."""
        raise NotImplementedError

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """Return a legal action for every row; int64 (n,).

        The machine code of the kernel is called directly, because numba would check every array of
        a workspace at each call. It depends on the parts of the workspace that are None.
        """
        idle = _idle.setdefault(self, [])
        try:
            workspace = idle.pop()
        except IndexError:  # the first call, or others are running
            workspace = self.workspace()
        choices = np.empty(len(observations), np.int64)
        arguments = observations, action_masks, workspace, choices
        key = self.rows, *(part is None for part in workspace)
        if key not in _machine_code:
            _machine_code[key] = direct(self.rows, *arguments)
        _machine_code[key](*arguments)
        idle.append(workspace)
        return choices


@entry_kernel
def first_empty(masks: Array) -> int:
    """Return the index of the first row of masks, int8 (n, A), without a legal action, or -1."""
    for i in range(len(masks)):
        action = 0
        while action < masks.shape[1] and masks[i, action] == 0:
            action += 1
        if action == masks.shape[1]:
            return i
    return -1
