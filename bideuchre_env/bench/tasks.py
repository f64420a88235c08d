"""The tasks of `measure`, one for each interface and agent, and their groups.

Every task acts in positions of real games from a fixed seed, and counts decisions. It measures
processor time, which excludes other work on the machine: that of the playing thread, or for whole
hands of an agent that of the process. With several threads it measures wall time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from time import perf_counter, thread_time
from typing import Any

from bideuchre_env import agents as players
from bideuchre_env.bench.measure import DECISIONS, Figure, Task, figure, pinned, rounds
from bideuchre_env.envs.options import Episode
from bideuchre_env.envs.registration import Variant
from bideuchre_env.evaluation.lockstep import LockstepRunner
from bideuchre_env.evaluation.match import match
from bideuchre_env.evaluation.rollout import count_hands
from bideuchre_env.runtime.jit import Array

SPAN = 64  # steps over which rows are sampled; a hand has fewer decisions
ROLLOUT_HANDS = {"random": 100_000, "rule": 5_000}
BOARDS = 2_000
USUAL = 4_096  # default number of rows
SEARCH = ("pimc", "inference")  # agents that need milliseconds per decision
LONGER = 20  # factor for the duration of a round of agents that search


def clock_of(threads: int) -> Callable[[], float]:
    """Return the clock for a task: processor time of one thread, or wall time of several."""
    return perf_counter if threads > 1 else thread_time


def timed(play: Callable[[], int], threads: int = 1) -> Task:
    """Return the task that times `play`, which returns its number of decisions."""
    clock = clock_of(threads)

    def run() -> tuple[int, float]:
        started = clock()
        done = play()
        return done, clock() - started

    return run


def aec(variant: Variant, *, wrapped: bool, episode: Episode = "game") -> Task:
    """Return a task: an episode of random actions in the AEC environment; `last()` at each step."""
    env: Any = (variant.env if wrapped else variant.raw_env)(episode=episode)
    draw = random.Random(0).random
    env.reset(seed=0)

    def play() -> int:
        done = 0
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[int(draw() * len(legal))])
            done += 1
        return done

    return timed(play)


def vec(
    variant: Variant, rows: int, *, threads: int = 1, sampled: bool = True, **options: Any
) -> Task:
    """Return a task: steps of the vector environment with random actions.

    Drawing the actions is timed if `sampled`. `options` are those of `Variant.vec`.
    """
    env = variant.vec(rows, threads=threads, copy=False, **options)
    env.reset(seed=0)
    actions = env.sample()

    def choose() -> None:
        nonlocal actions
        actions = env.sample()

    steps, clock = max(1, 16_384 // rows), clock_of(threads)
    return in_turn(choose, lambda: env.step(actions), steps, rows, drawn=sampled, clock=clock)


def in_turn(
    choose: Callable[[], Any],
    step: Callable[[], Any],
    steps: int,
    rows: int,
    *,
    drawn: bool,
    clock: Callable[[], float] = thread_time,
) -> Task:
    """Return a task that calls `choose` and `step` in turn, `steps` times, for `rows` rows.

    If `drawn`, the time of the choices counts. Otherwise the time of as many choices without steps
    is measured and subtracted, because reading the clock at every step would take longer than a
    step of one row.
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
    """Return a task: a game of the Gymnasium environment of one learner, by random actions.

    Only the learner's decisions count, but the time includes those of the other players.
    """
    env: Any = variant.solo(opponents=opponents)
    draw = random.Random(0).random
    env.reset(seed=0)

    def play() -> int:
        done, over = 0, False
        observation, _ = env.reset()
        while not over:
            legal = observation["action_mask"].nonzero()[0]
            action = legal[int(draw() * len(legal))]
            observation, _, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
            done += 1
        return done

    return timed(play)


def solo_vec(variant: Variant, opponents: str) -> Task:
    """Return a task: a step of `USUAL` learners in a vector environment; their decisions count.

    The time includes the other players' decisions, but not the drawing of the learners' actions.
    """
    env: Any = variant.solo_vec(USUAL, opponents=opponents, copy=False)
    sampler = players.make("random", variant.rules, seed=0)
    observed, _ = env.reset(seed=0)

    def run() -> tuple[int, float]:
        nonlocal observed
        actions = sampler.act_rows(observed["observation"], observed["action_mask"])
        started = thread_time()
        observed = env.step(actions)[0]
        return USUAL, thread_time() - started

    return run


def rollouts(
    variant: Variant, policy: str = "random", *, observe: bool = False, threads: int = 1
) -> Task:
    """Return a task: whole hands played inside one kernel, with or without observations.

    `policy` is a key of `ROLLOUT_HANDS`, which has the number of hands: "random" or "rule".
    """
    seeds = count(1)

    def play() -> int:
        return count_hands(
            variant,
            policy=policy,
            hands=ROLLOUT_HANDS[policy],
            seed=next(seeds),
            observe=observe,
            threads=threads,
        ).decisions

    return timed(play, threads)


def sample_rows(variant: Variant, rows: int) -> tuple[Array, Array]:
    """Return observations (n, D) and masks (n, A) from all stages of hands played at random.

    Tables dealt together stay in the same phase for many hands, so each step supplies some rows.
    """
    env = variant.vec(rows)
    observed, _ = env.reset(seed=0)
    observations, masks = (observed[part].copy() for part in ("observation", "action_mask"))
    for step in range(SPAN):
        observed = env.step(env.sample())[0]
        observations[step::SPAN] = observed["observation"][step::SPAN]
        masks[step::SPAN] = observed["action_mask"][step::SPAN]
    return observations, masks


def agent_rows(variant: Variant, agent: str) -> Task:
    """Return a task: an agent's `act_rows` on `USUAL` observations of games played at random."""
    observations, masks = sample_rows(variant, USUAL)
    player = players.make(agent, variant.rules, seed=0)
    return timed(lambda: len(player.act_rows(observations, masks)))


def agent_boards(variant: Variant, agent: str) -> Task:
    """Return a task: an agent's decisions in all four seats, in both hands of the next board.

    Whole hands are needed for an agent that searches: its first tricks take far longer than its
    last ones.
    """
    player, numbers = players.make(agent, variant.rules, seed=0), count()

    def run() -> tuple[int, float]:
        board = next(numbers)
        boards, sides = range(board, board + 1), (player, player)
        runner = LockstepRunner(variant.rules, sides, boards, 0, single=True, at_once=1)
        for _ in runner.play():
            pass
        return sum(runner.decisions), sum(runner.think_seconds)

    return run


def self_play(variant: Variant, a: str, b: str, boards: int = BOARDS) -> Task:
    """Return a task: a match on duplicate boards of one hand, timed with its statistics."""
    seeds, at_once = count(1), max(32, boards // 8)
    return timed(
        lambda: sum(
            match(variant, a, b, boards=boards, seed=next(seeds), at_once=at_once).decisions
        )
    )


@dataclass(frozen=True)
class Setup:
    """Settings of groups of tasks: game, rows of `vec`, threads, agents, and `others` (games)."""

    game: Variant
    rows: Sequence[int] = (4_096,)
    threads: int = 1
    agents: Sequence[str] = ("rule",)
    others: Sequence[Variant] = ()


Tasks = dict[str, Task]


def threads_group(setup: Setup) -> Tasks:
    """Return tasks of the vector environment and of rollouts, on one thread and `setup.threads`."""
    tasks: Tasks = {}
    for number in dict.fromkeys((1, setup.threads)):
        threads = f"{number} thread" + "s" * (number > 1)
        for rows in setup.rows:
            name = f"{rows:,} rows, step alone, {threads}"
            tasks[name] = vec(setup.game, rows, threads=number, sampled=False)
        for way, observe in (("rollouts", False), ("rollouts, observing", True)):
            tasks[f"{way}, {threads}"] = rollouts(setup.game, observe=observe, threads=number)
    return tasks


def aec_group(setup: Setup) -> Tasks:
    """Return tasks of the AEC environment, by episode, wrapper and variant."""
    episodes: tuple[Episode, ...] = ("game", "hand")
    tasks = {
        f"{way}, episodes of a {episode}": aec(setup.game, wrapped=wrapped, episode=episode)
        for episode in episodes
        for way, wrapped in (("raw_env()", False), ("env()", True))
    }
    return tasks | {f"raw_env(), {game.name}": aec(game, wrapped=False) for game in setup.others}


def vec_group(setup: Setup) -> Tasks:
    """Return tasks of the vector environment, by rows, and by variant with `USUAL` rows."""
    tasks: Tasks = {}
    for way, sampled in (("actions drawn", True), ("step alone", False)):
        for rows in setup.rows:
            tasks[f"{rows:,} rows, {way}"] = vec(setup.game, rows, sampled=sampled)
        for game in setup.others:
            tasks[f"{USUAL:,} rows, {way}, {game.name}"] = vec(game, USUAL, sampled=sampled)
    for form in ("flat", "features"):
        tasks[f"{USUAL:,} rows, {form}"] = vec(setup.game, USUAL, observation=form)
    tasks[f"{USUAL:,} rows, skip_forced"] = vec(setup.game, USUAL, skip_forced=True)
    return tasks


def solo_group(setup: Setup) -> Tasks:
    """Return tasks of the Gymnasium environments of one learner."""
    tasks: Tasks = {}
    for opponents in ("random", "rule"):
        tasks[f"one, {opponents} opponents"] = solo(setup.game, opponents)
        tasks[f"{USUAL:,} rows, {opponents} opponents"] = solo_vec(setup.game, opponents)
    return tasks


def rollout_group(setup: Setup) -> Tasks:
    """Return tasks of rollouts: without observations, with them, and by the rule player."""
    tasks: Tasks = {}
    for game in (setup.game, *setup.others):
        tasks[f"random, {game.name}"] = rollouts(game)
        tasks[f"random, observing, {game.name}"] = rollouts(game, observe=True)
        tasks[f"rule player, {game.name}"] = rollouts(game, "rule")
    return tasks


def agent_group(setup: Setup) -> Tasks:
    """Return tasks of the agents: rows for each of `setup.agents`, and self-play of fixed pairs.

    The pairs are rule with random, and rule with rule.
    """
    tasks = {
        f"{agent}, act_rows on {USUAL:,} rows": agent_rows(setup.game, agent)
        for agent in setup.agents
    }
    for a, b in (("rule", "random"), ("rule", "rule")):
        tasks[f"self-play, {a} and {b}"] = self_play(setup.game, a, b)
    return tasks


def searcher_group(setup: Setup) -> Tasks:
    """Return tasks of the expert and the agents that search: whole hands in all four seats."""
    return {
        f"{agent}, whole hands": agent_boards(setup.game, agent) for agent in ("expert", *SEARCH)
    }


# "threads" comes first, because threads started by a pinned thread are pinned too.
GROUPS: dict[str, tuple[str, Callable[[Setup], Tasks]]] = {
    "threads": ("Threads (not pinned; several: wall time)", threads_group),
    "aec": ("AEC, one game", aec_group),
    "vec": ("Vector env", vec_group),
    "solo": ("One learner (Gymnasium)", solo_group),
    "rollouts": ("Rollouts in a kernel", rollout_group),
    "agents": ("Agents", agent_group),
    "searchers": ("Agents that search", searcher_group),
}


def measure_group(
    name: str,
    tasks: Tasks,
    repeats: int,
    seconds: float,
    core: int | None,
    targets: Mapping[str, float] | None = None,
) -> list[Figure]:
    """Measure a group in decisions per second; `targets` maps names of tasks to targets.

    `name` is a key of `GROUPS`. All groups except "threads" run pinned to `core`; None is the last
    allowed core. Agents that search get 20 times the `seconds` per round, because their hands take
    long and vary in duration. Raises `OptionError` for an invalid core or number.
    """
    targets, slices = targets or {}, seconds * (LONGER if name == "searchers" else 1)
    with nullcontext() if name == "threads" else pinned(core):
        return [
            figure(GROUPS[name][0], task, DECISIONS, rates, target=targets.get(task))
            for task, rates in rounds(tasks, repeats, slices).items()
        ]
