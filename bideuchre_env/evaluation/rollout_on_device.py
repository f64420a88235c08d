"""Rollouts on a GPU: the kernels of `rollout_kernels.py`, a thread for each table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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


class RandomHands(NamedTuple):
    """What `random_hands` is given."""

    space: Workspace
    low: Word
    observe: bool


class RuleHands(NamedTuple):
    """What `rule_hands` is given."""

    space: Workspace
    work: RuleWorkspace  # with a view and a scratch for each table


@Program
def random_table(job: RandomHands, i: int) -> None:
    """Play the hands of table i at random."""
    random_hands(job.space, i, i + 1, job.low, job.observe)


@Program
def rule_table(job: RuleHands, i: int) -> None:
    """Play the hands of table i by the rule player, who has a view and a scratch of its own."""
    rule_hands(job.space, i, i + 1, own_workspace(job.work, i))


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
        job = RandomHands(there, low, observe)
        return lambda: random_table(m, job), there
    work = many_workspaces(rule_workspace(rules), m)
    by_rule = RuleHands(there, moved(work, to_device))
    return lambda: rule_table(m, by_rule), there
