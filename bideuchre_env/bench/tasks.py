"""The tasks of `measure`, one for each way to play a game, and the groups they stand in.

Every task plays real games with legal actions from a fixed seed, and counts decisions. It takes the
processor time of the thread that plays, so that other work on the machine does not count; where
several threads play, wall time.
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
from bideuchre_env.evaluation import selfplay
from bideuchre_env.evaluation.lockstep import LockstepRunner
from bideuchre_env.evaluation.rollout import rollout
from bideuchre_env.runtime.jit import Array

SPAN = 64  # successive steps that rows are taken from: more than a hand has decisions
ROLLOUT_HANDS = {"random": 100_000, "rule": 5_000}
BOARDS = 2_000
USUAL = 4_096  # rows
SEARCH = ("pimc", "inference")  # agents that take milliseconds a decision
LONGER = 20  # times as long a round of agents that search


def clock_of(threads: int) -> Callable[[], float]:
    """The clock of a task in so many threads."""
    return perf_counter if threads > 1 else thread_time


def timed(play: Callable[[], int], threads: int = 1) -> Task:
    """The task of a function that plays some, and returns the number of decisions."""
    clock = clock_of(threads)

    def run() -> tuple[int, float]:
        started = clock()
        done = play()
        return done, clock() - started

    return run


def aec(variant: Variant, *, wrapped: bool, episode: Episode = "game") -> Task:
    """An episode of the AEC environment, with or without PettingZoo's wrappers.

    Actions are drawn uniformly by the cheapest way Python has; `last()` is asked every time.
    """
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
    seeds = count(1)

    def play() -> int:
        return rollout(
            variant,
            policy=policy,
            hands=ROLLOUT_HANDS[policy],
            seed=next(seeds),
            observe=observe,
            threads=threads,
        ).decisions

    return timed(play, threads)


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

    def decide() -> int:
        player.act_rows(observations, masks)
        return rows

    return timed(decide)


def agent_boards(variant: Variant, agent: str) -> Task:
    """An agent's decisions in all four seats over a whole hand, at both tables of a board.

    Each time it is the next board. Of an agent that searches a few decisions say little: the first
    tricks take it far longer than the last.
    """
    player, numbers = players.make(agent, variant.rules, seed=0), count()

    def run() -> tuple[int, float]:
        board = next(numbers)
        boards, sides = range(board, board + 1), (player, player)
        runner = LockstepRunner(variant.rules, sides, boards, 0, single=True, at_once=1)
        runner.run()
        return sum(runner.decisions), sum(runner.think_seconds)

    return run


def self_play(variant: Variant, a: str, b: str, boards: int = BOARDS) -> Task:
    """Self-play of two agents on duplicate boards of one hand: agents, game and figures."""
    seeds = count(1)
    return timed(
        lambda: sum(selfplay.play(variant, a, b, boards=boards, seed=next(seeds)).decisions)
    )


@dataclass(frozen=True)
class Setup:
    """What groups of tasks are made for: a game, rows of `vec`, threads, agents, other games."""

    game: Variant
    rows: Sequence[int] = (4_096,)
    threads: int = 1
    agents: Sequence[str] = ("rule",)
    others: Sequence[Variant] = ()


Tasks = dict[str, Task]


def threads_group(setup: Setup) -> Tasks:
    """The vector environment and rollouts on one thread and on several."""
    made: Tasks = {}
    for number in dict.fromkeys((1, setup.threads)):
        threads = f"{number} thread" + "s" * (number > 1)
        for rows in setup.rows:
            name = f"{rows:,} rows, step alone, {threads}"
            made[name] = vec(setup.game, rows, threads=number, sampled=False)
        for way, observe in (("rollouts", False), ("rollouts, observing", True)):
            made[f"{way}, {threads}"] = rollouts(setup.game, observe=observe, threads=number)
    return made


def aec_group(setup: Setup) -> Tasks:
    """One game at a time from Python, by episodes, wrappers and variants."""
    made: Tasks = {}
    episodes: tuple[Episode, ...] = ("game", "hand")
    for episode in episodes:
        for way, wrapped in (("raw_env()", False), ("env()", True)):
            name = f"{way}, episodes of a {episode}"
            made[name] = aec(setup.game, wrapped=wrapped, episode=episode)
    return made | {f"raw_env(), {game.name}": aec(game, wrapped=False) for game in setup.others}


def vec_group(setup: Setup) -> Tasks:
    """The vector environment by rows, and by variants at the usual number of rows."""
    made: Tasks = {}
    for way, sampled in (("actions drawn", True), ("step alone", False)):
        for rows in setup.rows:
            made[f"{rows:,} rows, {way}"] = vec(setup.game, rows, sampled=sampled)
        for game in setup.others:
            made[f"{USUAL:,} rows, {way}, {game.name}"] = vec(game, USUAL, sampled=sampled)
    return made


def solo_group(setup: Setup) -> Tasks:
    """The Gymnasium environments of one learner, its own decisions only."""
    made: Tasks = {}
    for opponents in ("random", "rule"):
        made[f"one, {opponents} opponents"] = solo(setup.game, opponents)
        name = f"{USUAL:,} rows, {opponents} opponents"
        made[name] = solo_vec(setup.game, opponents, USUAL)
    return made


def rollout_group(setup: Setup) -> Tasks:
    """Hands played inside one kernel: the game alone, observing, and by the rule player."""
    made: Tasks = {}
    for game in (setup.game, *setup.others):
        made[f"random, {game.name}"] = rollouts(game)
        made[f"random, observing, {game.name}"] = rollouts(game, observe=True)
        made[f"rule player, {game.name}"] = rollouts(game, "rule")
    return made


def agent_group(setup: Setup) -> Tasks:
    """The agents alone on rows of observations, and in self-play with everything it does."""
    made = {
        f"{agent}, act_rows on {USUAL:,} rows": agent_rows(setup.game, agent, USUAL)
        for agent in setup.agents
    }
    for a, b in (("rule", "random"), ("rule", "rule")):
        made[f"self-play, {a} and {b}"] = self_play(setup.game, a, b)
    return made


def searcher_group(setup: Setup) -> Tasks:
    """The expert and the agents that search, whole hands in all four seats."""
    return {
        f"{agent}, whole hands": agent_boards(setup.game, agent) for agent in ("expert", *SEARCH)
    }


# Those on several threads first: what a pinned thread starts is pinned too.
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
    """The figures of a group, in decisions per second; `targets` are by name of the task.

    All but the threads run pinned to `core`. Agents that search get 20 times the `seconds` in a
    round, for a hand takes them long, and hands differ.
    """
    targets, slices = targets or {}, seconds * (LONGER if name == "searchers" else 1)
    with nullcontext() if name == "threads" else pinned(core):
        return [
            figure(GROUPS[name][0], task, DECISIONS, rates, target=targets.get(task))
            for task, rates in rounds(tasks, repeats, slices).items()
        ]
