"""Rollouts on a GPU: the kernels of `rollout_kernels.py`, a thread for each table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bideuchre_env.agents.rule.agent import (
    RuleWorkspace,
    many_workspaces,
    own_workspace,
    rule_workspace,
)
from bideuchre_env.evaluation.rollout_kernels import Workspace, random_hands, rule_hands
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.device import Program, moved, to_device, to_host
from bideuchre_env.runtime.jit import Array, Word


@Program
def random_table(space: Workspace, low: Word, observe: bool, i: int) -> None:
    """Play the hands of table i at random, see `random_hands`."""
    random_hands(space, i, i + 1, low, observe)


@Program
def rule_table(space: Workspace, work: RuleWorkspace, i: int) -> None:
    """Play the hands of table i by the rule player; `work` has a view and a scratch for each."""
    rule_hands(space, i, i + 1, own_workspace(work, i))


def play_on_device(
    rules: Rules, policy: str, space: Workspace, low: np.uint64, observe: bool
) -> Array:
    """The counts of every table, (m,) of `COUNT`, once its hands are played."""
    play, there = on_tables(rules, policy, space, low, observe)
    play()
    return to_host(there.counts)


def on_tables(
    rules: Rules, policy: str, space: Workspace, low: np.uint64, observe: bool
) -> tuple[Callable[[], None], Workspace]:
    """What plays the hands of every table, as often as it is called, and where it does."""
    m = len(space.quotas)
    there: Workspace = moved(space, to_device)
    if policy == "random":
        return lambda: random_table(m, there, low, observe), there
    work = moved(many_workspaces(rule_workspace(rules), m), to_device)
    return lambda: rule_table(m, there, work), there
