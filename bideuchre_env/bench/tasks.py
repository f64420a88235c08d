"""The tasks of `measure`: one for each way to play a game.

Every task plays real games with legal actions from a fixed seed, and counts decisions. It takes the
processor time of the thread that plays, so that other work on the machine does not count; where
several threads play, wall time.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from time import perf_counter, thread_time
from typing import Any

from bideuchre_env import agents as players
from bideuchre_env.bench.measure import Task
from bideuchre_env.envs.options import Episode
from bideuchre_env.envs.registration import Variant
from bideuchre_env.evaluation import selfplay
from bideuchre_env.evaluation.lockstep import LockstepRunner
from bideuchre_env.evaluation.rollout import rollout
from bideuchre_env.runtime.jit import Array

SPAN = 64  # successive steps that rows are taken from: more than a hand has decisions
ROLLOUT_HANDS = {"random": 100_000, "rule": 5_000}
BOARDS = 2_000


def clock_of(threads: int) -> Callable[[], float]:
    """The clock of a task in so many threads."""
    return perf_counter if threads > 1 else thread_time


def aec(variant: Variant, *, wrapped: bool, episode: Episode = "game") -> Task:
    """An episode of the AEC environment, with or without PettingZoo's wrappers.

    Actions are drawn uniformly by the cheapest way Python has; `last()` is asked every time.
    """
    env: Any = (variant.env if wrapped else variant.raw_env)(episode=episode)
    draw = random.Random(0).random
    env.reset(seed=0)

    def run() -> tuple[int, float]:
        done = 0
        started = thread_time()
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[int(draw() * len(legal))])
            done += 1
        return done, thread_time() - started

    return run


def vec(variant: Variant, rows: int, *, threads: int = 1, sampled: bool = True) -> Task:
    """Steps of the vector environment, `copy=False`, its actions drawn by `vec.sample()`.

    The time of drawing them counts where `sampled`; otherwise that of `step` alone does.
    """
    env = variant.vec(rows, threads=threads, copy=False)
    env.reset(seed=0)
    actions = env.sample()

    def choose() -> None:
        nonlocal actions
        actions = env.sample()

    return in_turn(
        choose,
        lambda: env.step(actions),
        max(1, 16_384 // rows),
        rows,
        drawn=sampled,
        clock=clock_of(threads),
    )


def in_turn(
    choose: Callable[[], Any],
    step: Callable[[], Any],
    steps: int,
    rows: int,
    *,
    drawn: bool,
    clock: Callable[[], float] = thread_time,
) -> Task:
    """`steps` times a choice and a step of so many rows, with the time of the choices or without.

    What they take is found by making as many more and no step: a clock read at every step would
    take longer than a step of one row.
    """

    def run() -> tuple[int, float]:
        started = clock()
        for _ in range(steps):
            choose()
            step()
        spent = clock() - started
        if not drawn:
            started = clock()
            for _ in range(steps):
                choose()
            spent -= clock() - started
        return steps * rows, spent

    return run


def solo(variant: Variant, opponents: str) -> Task:
    """A game of the Gymnasium environment of one learner, its actions drawn as for the AEC one.

    Only the learner's decisions count, though the others are made in the same time.
    """
    env: Any = variant.solo(opponents=opponents)
    draw = random.Random(0).random
    env.reset(seed=0)

    def run() -> tuple[int, float]:
        done, over = 0, False
        started = thread_time()
        observation, _ = env.reset()
        while not over:
            legal = observation["action_mask"].nonzero()[0]
            action = legal[int(draw() * len(legal))]
            observation, _, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
            done += 1
        return done, thread_time() - started

    return run


def solo_vec(variant: Variant, opponents: str, rows: int) -> Task:
    """Steps of the vector environment of learners; only theirs are the decisions that count.

    Actions are drawn uniformly by a kernel, whose time is left out.
    """
    env: Any = variant.solo_vec(rows, opponents=opponents, copy=False)
    sampler = players.make("random", variant.rules, seed=0)
    observed, _ = env.reset(seed=0)

    def run() -> tuple[int, float]:
        nonlocal observed
        actions = sampler.act_rows(observed["observation"], observed["action_mask"])
        started = thread_time()
        observed = env.step(actions)[0]
        return rows, thread_time() - started

    return run


def rollouts(
    variant: Variant,
    policy: str = "random",
    *,
    observe: bool = False,
    threads: int = 1,
) -> Task:
    """Hands played from deal to last card inside one kernel, with or without observations."""
    seed, hands, clock = 0, ROLLOUT_HANDS[policy], clock_of(threads)

    def run() -> tuple[int, float]:
        nonlocal seed
        seed += 1
        started = clock()
        done = rollout(
            variant, policy=policy, hands=hands, seed=seed, observe=observe, threads=threads
        )
        return done.decisions, clock() - started

    return run


def anywhere(variant: Variant, rows: int) -> tuple[Array, Array]:
    """Observations of `rows` tables played at random, (n, D), anywhere in a hand; masks (n, A).

    Tables dealt together stay in step for many hands, so each step gives some of the rows.
    """
    env = variant.vec(rows)
    observed, _ = env.reset(seed=0)
    observations, masks = (observed[part].copy() for part in ("observation", "action_mask"))
    for step in range(SPAN):
        observed = env.step(env.sample())[0]
        observations[step::SPAN] = observed["observation"][step::SPAN]
        masks[step::SPAN] = observed["action_mask"][step::SPAN]
    return observations, masks


def agent_rows(variant: Variant, agent: str, rows: int = 4_096) -> Task:
    """An agent's decisions on observations of games played at random, as `act_rows` takes them."""
    observations, masks = anywhere(variant, rows)
    player = players.make(agent, variant.rules, seed=0)

    def run() -> tuple[int, float]:
        started = thread_time()
        player.act_rows(observations, masks)
        return rows, thread_time() - started

    return run


def agent_boards(variant: Variant, agent: str) -> Task:
    """An agent's decisions in all four seats over a whole hand, at both tables of a board.

    Each time it is the next board. Of an agent that searches a few decisions say little: the first
    tricks take it far longer than the last.
    """
    player, board = players.make(agent, variant.rules, seed=0), 0

    def run() -> tuple[int, float]:
        nonlocal board
        boards, sides = range(board, board + 1), (player, player)
        runner = LockstepRunner(variant.rules, sides, boards, 0, single=True, at_once=1)
        runner.run()
        board += 1
        return sum(runner.decisions), sum(runner.think_seconds)

    return run


def self_play(variant: Variant, a: str, b: str, boards: int = BOARDS) -> Task:
    """Self-play of two agents on duplicate boards of one hand: agents, game and figures."""
    seed = 0

    def run() -> tuple[int, float]:
        nonlocal seed
        seed += 1
        started = thread_time()
        result = selfplay.play(variant, a, b, boards=boards, seed=seed)
        return sum(result.decisions), thread_time() - started

    return run
