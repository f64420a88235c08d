"""Whole hands played inside one kernel: for statistics of the game and for measuring speed.

rollout("barrie_v0", "rule", hands=100_000, seed=1)
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bideuchre_env._checks import is_integer, shown
from bideuchre_env.agents.rule.agent import RuleWorkspace, act_by_rule, rule_workspace
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import GOLDEN, deal_hand, mix, split_seed, start_game
from bideuchre_env.core.phases.scoring import made
from bideuchre_env.core.rows import seed_rows, start_rows
from bideuchre_env.core.state import DEAL, OVER, new_states
from bideuchre_env.core.step import apply, legal, legal_bits, pick_legal
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, inline_kernel, new_rows
from bideuchre_env.runtime.threads import ThreadPool

POLICIES = ("random", "rule")
TABLES_AT_ONCE = 256

COUNT = np.dtype(
    [
        ("points", np.int64, (2,)),  # of each side, over all hands
        ("hands", np.int64),
        ("decisions", np.int64),
        ("contracts", np.int64),
        ("made", np.int64),
        ("lone", np.int64),
        ("lone_made", np.int64),
        ("passed_out", np.int64),
    ],
    align=True,
)


@dataclass(frozen=True)
class Rollout:
    """The figures of some hands: all four seats played by one policy, games going on as they do."""

    hands: int
    decisions: int
    points: tuple[int, int]  # of side 0 and side 1, over all hands
    contracts: int
    made: int
    lone: int
    lone_made: int
    passed_out: int
    seconds: float  # inside the kernels, compilation not counted

    @property
    def rate(self) -> float:
        """Decisions a second."""
        return self.decisions / self.seconds if self.seconds > 0 else 0.0


def rollout(
    game: str | Rules | Variant,
    policy: str = "random",
    *,
    hands: int = 10_000,
    seed: int | None = None,
    observe: bool = False,
    threads: int = 1,
) -> Rollout:
    """Play `hands` hands with every seat choosing by `policy`: `"random"` (legal) or `"rule"`.

    With `observe` the observation and mask of the seat to act are written at every decision,
    as the rule policy needs in any case. The result is the same for any number of `threads`.
    """
    rules = _rules_of(game)
    if policy not in POLICIES:
        raise OptionError(f"policy={shown(policy)}: one of {', '.join(map(repr, POLICIES))}")
    if not is_integer(hands) or not 1 <= hands <= 10**12:
        raise OptionError(f"hands={shown(hands)}: a whole number from 1 to 10**12")
    words = split_seed(seed)
    with closing(ThreadPool(threads)) as pool:
        _play(rules, policy, 1, words, bool(observe), pool)  # compiles
        began = time.perf_counter()
        counts = _play(rules, policy, int(hands), words, bool(observe), pool)
        seconds = time.perf_counter() - began
    totals = {str(name): counts[name].sum(axis=0).tolist() for name in COUNT.names or ()}
    return Rollout(**totals | {"points": tuple(totals["points"])}, seconds=seconds)


def _rules_of(game: Any) -> Rules:
    if isinstance(game, Variant):
        return game.rules
    return make(game).rules


class Workspace(NamedTuple):
    """The arrays that hands are played in; row i of those after the second is table i's."""

    tables: Array
    offsets: Array
    states: Array
    quotas: Array  # hands to play
    observations: Array
    masks: Array
    counts: Array  # `COUNT`


def _play(
    rules: Rules,
    policy: str,
    hands: int,
    words: tuple[np.uint64, np.uint64],
    observe: bool,
    pool: ThreadPool,
) -> Array:
    """The counts of every table, (m,) of `COUNT`."""
    m = min(TABLES_AT_ONCE, hands)
    tables, layout = compile_tables(rules), layout_of(rules)
    space = Workspace(
        tables,
        layout.offsets,
        states=new_states(m),
        quotas=np.array([hands * (i + 1) // m - hands * i // m for i in range(m)]),
        observations=np.zeros((m, layout.size), np.int8),
        masks=np.zeros((m, actions.of(rules).n), np.int8),
        counts=new_rows(COUNT, m),
    )
    seed_rows(space.states, *words)
    start_rows(space.states, tables, np.full(m, -1))

    def work(start: int, stop: int) -> None:
        if policy == "random":
            random_hands(space, start, stop, words[0], observe)
        else:
            rule_hands(space, start, stop, rule_workspace(rules))

    pool.share(m, work, 1)
    return space.counts


@entry_kernel
def random_hands(space: Workspace, start: int, stop: int, low: Word, observe: bool) -> None:
    """Play `quotas[i]` hands at random at each table i from `start` to `stop` - 1.

    The draws of table i follow from `low` and i; with `observe` its rows of `observations` and
    `masks` are written at every decision.
    """
    for i in range(start, stop):
        if observe:  # two loops: the short one would suffer from what the long one holds
            hands_at_random(space, i, low, True)
        else:
            hands_at_random(space, i, low, False)


@inline_kernel
def hands_at_random(space: Workspace, i: int, low: Word, observe: bool) -> None:
    """Play the hands of table i at random, see `random_hands`."""
    t, o = space.tables[0], space.offsets[0]
    s, draw = space.states[i], mix(low + GOLDEN * np.uint64(i + 1))
    observation, mask = row_of(space.observations, i), row_of(space.masks, i)
    for _ in range(space.quotas[i]):
        deal_hand(s, t)
        n = 0
        while s.phase < DEAL:
            if observe:
                encode(s, t, o, s.turn, observation)
                legal(s, t, mask)
            draw += GOLDEN
            apply(s, t, pick_legal(t, s.phase, legal_bits(s, t), mix(draw)))
            n += 1
        count_hand(s, t, n, space.counts[i])


@entry_kernel
def rule_hands(space: Workspace, start: int, stop: int, work: RuleWorkspace) -> None:
    """Play `quotas[i]` hands by the rule player at each table i from `start` to `stop` - 1."""
    t = space.tables[0]
    for i in range(start, stop):
        s = space.states[i]
        observation, mask = row_of(space.observations, i), row_of(space.masks, i)
        for _ in range(space.quotas[i]):
            deal_hand(s, t)
            n = 0
            while s.phase < DEAL:
                act_by_rule(s, observation, mask, work)
                n += 1
            count_hand(s, t, n, space.counts[i])


@inline_kernel
def count_hand(s: Row, t: Row, decisions: int, count: Row) -> None:
    """Enter a hand that is over in the table's count, and begin a new game after the last."""
    count.hands += 1
    count.decisions += decisions
    count.points[0] += s.points[0]
    count.points[1] += s.points[1]
    if s.level < 0:
        count.passed_out += 1
    else:
        lone, success = 1 if s.sitting_out >= 0 else 0, 1 if made(s, t) else 0
        count.contracts += 1
        count.made += success
        count.lone += lone
        count.lone_made += lone * success
    if s.phase == OVER:
        start_game(s, -1)
