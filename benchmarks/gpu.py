"""Decisions per second on a GPU by number of parallel games, compared with pgx on JAX.

    python benchmarks/gpu.py
    python benchmarks/gpu.py --games 1024 65536 --no-install
    python benchmarks/gpu.py --check

Three kinds of tasks take turns in every round: steps of the vector environment from Python,
rollouts of whole hands, and pgx in its own process and virtual environment. All are measured in
wall time.

`--check` measures nothing: it plays every variant on the GPU and on the CPU in lock-step, and
compares all returned arrays.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import peers
import reporting
from reports import Report

import bideuchre_env
from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import DECISIONS, Figure, Task
from bideuchre_env.cli.options import argument
from bideuchre_env.cli.program import FAILED, script
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.rollout import job
from bideuchre_env.evaluation.rollout_kernels import new_workspace
from bideuchre_env.runtime.devices import check_device, memory_of

GAMES = (1_024, 16_384, 65_536, 262_144, 1_048_576, 4_194_304)
BESIDE = (65_536, 1_048_576)  # numbers of games for pgx
CHECKED = 1_000_000  # decisions per variant and environment in lock-step
HANDS = 4  # hands per table in a slice of a rollout
GAME = bideuchre_env.cincinnati_v0
FACES: dict[str, dict[str, Any]] = {
    "vec": {},
    "solo_vec": {
        "opponents": ("random", "rule"),
        "partner": "cautious",
        "autoreset_mode": "NextStep",  # `final_obs` has another form on a GPU
    },
}
"""Environments that are played in lock-step, with their options."""
STEPS, ROLLOUTS = "Steps from Python (vec)", "Rollouts in a kernel"
PGX = peers.Peer("pgx on JAX, GPU", ("pgx", "jax[cuda13]"), "measure_pgx.py")
TARGETS = {  # for an H100
    (ROLLOUTS, "random, 1,048,576 games"): 1e9,
    (ROLLOUTS, "random, observing, 1,048,576 games"): 300e6,
}

Tasks = dict[tuple[str, str], Task]


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = reporting.options(__doc__)
    argument(parser, "--games N", "games at once", int, list(GAMES), nargs="+")
    beside = "games at once that pgx is measured at, too; none: pgx is left out"
    argument(parser, "--beside N", beside, int, list(BESIDE), nargs="*")
    argument(parser, "--check", "play in lock-step with the processor instead")
    argument(parser, "--decisions N", "with --check: decisions of each variant", int, CHECKED)
    peers.add_venv_options(parser)
    return parser.parse_args(arguments)


def main(args: argparse.Namespace) -> int:
    """Run `--redraw` or `--check`, or measure in rounds and publish; return the exit code.

    `OptionError` without a usable GPU.
    """
    if args.redraw:
        return reporting.redraw("gpu", args.out)
    measure.check(args.repeats, args.seconds)
    if min([*args.games, *args.beside, args.decisions]) < 1:
        raise OptionError("--games, --beside, --decisions: numbers of 1 or more")
    check_device("cuda")
    if args.check:
        return check(args.games[0], args.decisions)
    skipped: list[str] = []
    pgx = peers.install(PGX, args.venvs / "pgx-gpu", args, skipped) if args.beside else None
    with measure.pinned(args.core) as core, ExitStack() as stack:
        tasks = tasks_of(sorted({*args.games, *args.beside}), skipped)
        runs = []
        if pgx is not None:
            sizes = map(str, args.beside)
            runs = peers.start(PGX, pgx, args, stack, skipped, "cuda", *sizes)
        rates: dict[tuple[str, str], list[float]] = {key: [] for key in tasks}
        for number in range(args.repeats):
            reporting.announce(f"round {number + 1} of {args.repeats}")
            for key, task in tasks.items():
                rates[key].append(measure.rate(task, args.seconds))
            runs = [run for run in runs if peers.measure_round(run, skipped)]
    from bideuchre_env.runtime.device import name_of_device

    device = name_of_device()
    report = Report(
        "gpu",
        "On a GPU",
        f"{GAME.name}, random legal play unless said, on {device}, Python on "
        f"{reporting.pinning(core)}, by the clock, medians of {args.repeats} rounds in which all "
        f"take turns, {args.seconds} s each.",
        figures(rates, runs, TARGETS if "H100" in device else {}),
        skipped,
        {name: version for run in runs for name, version in run.packages.items()},
    )
    reporting.publish(report, args)
    return 0


def tasks_of(games: list[int], skipped: list[str]) -> Tasks:
    """Return this package's tasks by (group, name), after a first run of each.

    A task that exceeds the GPU's memory is left out, with a line in `skipped`.
    """
    makers: dict[tuple[str, str], Callable[[], Task]] = {}
    for n in games:
        makers[STEPS, f"{n:,} games"] = partial(steps, n)
        makers[ROLLOUTS, f"random, {n:,} games"] = partial(rollouts, n, "random", False)
        makers[ROLLOUTS, f"random, observing, {n:,} games"] = partial(rollouts, n, "random", True)
        makers[ROLLOUTS, f"rule player, {n:,} games"] = partial(rollouts, n, "rule", False)
    tasks: Tasks = {}
    for key, make in makers.items():
        reporting.announce(", ".join(key))
        try:
            task = make()
            task()
        except Exception as error:
            if "OUT_OF_MEMORY" not in str(error):
                raise
            skipped.append(f"{', '.join(key)}: the GPU's memory cannot hold it")
            continue
        tasks[key] = task
    return tasks


def steps(n: int) -> Task:
    """Return a task: steps of `n` games from Python, with actions drawn on the GPU."""
    vec = GAME.vec(n, device="cuda", copy=False)
    vec.reset(seed=0)

    def step() -> tuple[int, float]:
        began = perf_counter()
        vec.step(vec.sample())
        return n, perf_counter() - began

    return step


def rollouts(n: int, policy: str, observe: bool) -> Task:
    """Return a task: `HANDS` hands at each of `n` tables in one call of the rollout kernel.

    `policy`, "random" or "rule", plays all seats; with `observe`, observations are written, too.
    """
    words, memory = split_seed(0), memory_of("cuda")
    space = new_workspace(GAME.rules, 10**12, n, words)
    kernel, arguments = job(GAME.rules, policy, space, words[0], observe, HANDS, n)
    arguments = memory.put(arguments)

    def decisions() -> int:
        return int(memory.to_host(arguments[0].decisions).sum())

    def run() -> tuple[int, float]:
        before, began = decisions(), perf_counter()
        memory.run(kernel, n, *arguments)
        memory.finish()
        spent = perf_counter() - began
        return decisions() - before, spent

    return run


def figures(
    rates: dict[tuple[str, str], list[float]],
    runs: list[peers.Program],
    targets: dict[tuple[str, str], float],
) -> list[Figure]:
    """Return a figure for every task in `rates`, and for every task of the pgx programs `runs`.

    `rates` has a list by (group, name), one rate per round; `targets` the goals of some of these
    tasks. A figure of pgx has the ratio of our rate to its rate.
    """
    rows = [
        measure.figure(group, name, DECISIONS, values, target=targets.get((group, name)))
        for (group, name), values in rates.items()
    ]
    ours = {name: values for (group, name), values in rates.items() if group == STEPS}
    return rows + [row for run in runs for row in peers.figures_of(run, ours)]


def check(n: int, decisions: int) -> int:
    """Play every variant on CPU and GPU in lock-step, `n` games at once, and print a line for each.

    Return the exit code: `FAILED` if in any variant a result differs or no episode ends, else 0.
    `solo_vec` is played with the three kinds of players that a GPU supports.
    """
    failed = 0
    for name, variant in bideuchre_env.variants.items():
        for face, options in FACES.items():
            make = partial(getattr(variant, face), n, episode="hand", **options)
            same, done, ended = compare(make(device="cpu"), make(device="cuda"), n, decisions)
            verdict = "the same" if same else "NOT the same"
            print(f"{name}, {face}: {done:,} decisions, {ended:,} hands, {verdict}", flush=True)
            failed += not same or ended == 0
    return FAILED if failed else 0


def compare(one: Any, two: Any, n: int, decisions: int) -> tuple[bool, int, int]:
    """Play two environments of `n` games each with the same random actions.

    Stop after the first step whose results differ, or after at least `decisions` decisions.
    Return whether all results are equal, the number of decisions, and that of ended episodes.
    """
    rng, done, ended = np.random.default_rng(0), 0, 0
    outputs, other = one.reset(seed=1), two.reset(seed=1)
    same = equal(outputs, other)
    while same and done < decisions:
        masks = outputs[0]["action_mask"]
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)  # uniform over the legal ones
        outputs, other = one.step(actions), two.step(actions)
        same = equal(outputs, other)
        ended += int((outputs[2] | outputs[3]).sum())
        done += n
    return same, done, ended


def equal(ours: Any, theirs: Any) -> bool:
    """Return whether two arrays, tuples or dictionaries are equal; `theirs` may be on the GPU."""
    if isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(equal(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, tuple):
        return all(equal(*pair) for pair in zip(ours, theirs, strict=True))
    return bool(np.array_equal(ours, memory_of("cuda").to_host(theirs)))


if __name__ == "__main__":
    sys.exit(script(lambda: main(parse_args())))
