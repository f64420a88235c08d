"""Whole hands played inside one kernel: for statistics of the game and for measuring speed.

rollout("barrie_v0", "rule", hands=100_000, seed=1)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from bideuchre_env._checks import brief, check_flag, is_integer
from bideuchre_env.agents.rule.agent import many_workspaces, rule_workspace
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.rollout_kernels import (
    Workspace,
    new_workspace,
    random_hands,
    rule_hands,
)
from bideuchre_env.evaluation.seeding import options_of
from bideuchre_env.evaluation.statistics.intervals import Moments
from bideuchre_env.evaluation.statistics.scores import Scores
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.devices import check_device, memory_of
from bideuchre_env.runtime.threads import ThreadPool

POLICIES = ("random", "rule")
TABLES_AT_ONCE, TABLES_ON_A_GPU = 256, 1 << 16
MOST_TABLES = 1 << 22
HANDS_AT_ONCE = 1 << 13
"""Hands per thread in one call of a kernel, which Ctrl-C waits for."""
HANDS_ON_A_GPU = 16
"""Hands per table in one call of a kernel on a GPU."""


@dataclass(frozen=True)
class Rollout:
    """Statistics of hands in which one policy plays all four seats of whole games.

    `contracts` counts the hands that were not passed out, `made` those whose contract was made.
    `lone` and `lone_made` are the same counts for lone contracts.
    """

    hands: int
    decisions: int
    points: tuple[int, int]  # of side 0 and side 1, over all hands
    contracts: int
    made: int
    lone: int
    lone_made: int
    passed_out: int
    seconds: float  # in the kernels, without compilation

    @property
    def rate(self) -> float:
        """Decisions per second."""
        return self.decisions / self.seconds if self.seconds > 0 else 0.0


def rollout(
    game: str | Rules | Variant, policy: str = "random", *, seed: int | None = None, **options: Any
) -> Result:
    """Return `count_hands` of the same arguments as a `Result`: counts, decisions and the time."""
    played = game if isinstance(game, Variant) else make(game)
    counts = count_hands(played, policy, seed=seed, **options)
    contracts = {
        "bid": counts.contracts,
        "made": counts.made,
        "set": counts.contracts - counts.made,
        "lone_bid": counts.lone,
        "lone_made": counts.lone_made,
    }
    points = float(counts.points[0] - counts.points[1])
    return Result(
        variant=played.name,
        options=options_of(played),
        agents=(policy,),
        seed=seed,
        mode="hands",
        boards=Scores(moments=Moments(0, points, counts.hands), contracts=(contracts,)),
        games=Scores(),
        decisions=(counts.decisions,),
        think_seconds=(counts.seconds,),
        decisions_per_second=counts.rate,
        seconds=counts.seconds,
        at_once=options.get("tables") or 0,
        interrupted=False,
    )


def count_hands(
    game: str | Rules | Variant,
    policy: str = "random",
    *,
    hands: int = 10_000,
    seed: int | None = None,
    observe: bool = False,
    threads: int = 1,
    device: str = "cpu",
    tables: int | None = None,
) -> Rollout:
    """Play hands with one policy in every seat; return counts and the time.

    Ctrl-C ends it within about a second, with a `KeyboardInterrupt`.

    Args:
        game: the name of a variant, `Rules` or a `Variant`.
        policy: "random" (uniform legal actions) or "rule".
        hands: the number of hands, 1 to 10**12.
        seed: 0 to 2**128 - 1; None draws one.
        observe: whether to encode the observation and mask at every decision; "rule" always does.
        threads: the number of threads, 1 on a GPU; the result does not depend on it.
        device: "cpu", or "cuda" (a GPU, experimental). The result is the same, except that "rule"
            may choose differently between calls whose values differ only by float64 rounding.
        tables: the number of tables played at once, by default 256, or 65,536 on a GPU; the deals
            depend on it.

    Raises:
        OptionError: for an invalid argument, or a device that cannot be used.

    Example:
        count_hands("barrie_v0", "rule", hands=100_000, seed=1).rate
    """
    rules = (game if isinstance(game, Variant) else make(game)).rules
    check_flag("observe", observe)
    if not isinstance(policy, str) or policy not in POLICIES:
        raise OptionError(
            f"policy={brief(policy)}: expected one of {', '.join(map(repr, POLICIES))}"
        )
    if not is_integer(hands) or not 1 <= hands <= 10**12:
        raise OptionError(f"hands={brief(hands)}: expected a whole number from 1 to 10**12")
    check_device(device)
    usual = TABLES_AT_ONCE if device == "cpu" else TABLES_ON_A_GPU
    at_once = usual if tables is None else tables
    if not is_integer(at_once) or not 1 <= at_once <= MOST_TABLES:
        raise OptionError(
            f"tables={brief(tables)}: expected a whole number from 1 to {MOST_TABLES}, or None"
        )
    words = split_seed(seed)
    with closing(ThreadPool(threads)) as pool:
        if device != "cpu" and pool.threads != 1:
            raise OptionError(f"threads={pool.threads}: expected 1 with device={device!r}")
        _play(rules, policy, 1, at_once, words, bool(observe), pool, device)  # compiles
        began = time.perf_counter()
        space = _play(rules, policy, int(hands), at_once, words, bool(observe), pool, device)
        seconds = time.perf_counter() - began
    sums = space.sums
    bid, made, _, lone, lone_made = sums["contracts"].sum(axis=(0, 1)).tolist()
    points, passed_out = tuple(sums["points"].sum(axis=0).tolist()), int(sums["passed_out"].sum())
    decisions = int(space.decisions.sum())
    return Rollout(int(hands), decisions, points, bid, made, lone, lone_made, passed_out, seconds)


def _play(
    rules: Rules,
    policy: str,
    hands: int,
    at_once: int,
    words: tuple[np.uint64, np.uint64],
    observe: bool,
    pool: ThreadPool,
    device: str,
) -> Workspace:
    """Play the hands; return the workspace with the results of all tables, on the host."""
    space = new_workspace(rules, hands, int(at_once), words)
    m, quota = len(space.quotas), int(space.quotas.max())
    if device != "cpu":
        memory = memory_of(device)
        kernel, arguments = job(rules, policy, space, words[0], observe, HANDS_ON_A_GPU, m)
        arguments = memory.put(arguments)
        for _ in range(0, quota, HANDS_ON_A_GPU):
            memory.run(kernel, m, *arguments)
            memory.finish()
        played: Workspace = memory.to_host(arguments[0])
        return played
    size = min(m, HANDS_AT_ONCE * pool.threads)
    most = HANDS_AT_ONCE * pool.threads // size
    for first in range(0, m, size):

        def work(start: int, stop: int, first: int = first) -> None:
            kernel, arguments = job(rules, policy, space, words[0], observe, most)
            kernel(*arguments, first + start, first + stop)

        for _ in range(0, quota, most):
            pool.share(min(size, m - first), work, 1)
    return space


def job(
    rules: Rules,
    policy: str,
    space: Workspace,
    low: np.uint64,
    observe: bool,
    most: int,
    threads: int = 1,
) -> tuple[Callable[..., None], tuple[Any, ...]]:
    """Return the kernel that plays up to `most` hands at each table, and its arguments.

    The kernel also takes `start` and `stop`, a range of tables, as its last arguments. The rule
    player gets `threads` workspaces.
    """
    if policy == "random":
        return random_hands, (space, low, observe, most)
    return rule_hands, (space, many_workspaces(rule_workspace(rules), threads), most)
