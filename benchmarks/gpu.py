"""Decisions per second on a GPU by games at once, beside its memory's speed and beside pgx on JAX.

    python benchmarks/gpu.py
    python benchmarks/gpu.py --games 1024 65536 --no-install
    python benchmarks/gpu.py --check

Everything takes turns round by round, in time by the clock: steps of the vector environment from
Python, rollouts of whole hands, a copy within the GPU's memory, and pgx in a process and a virtual
environment of its own. `--check` measures nothing: it plays every variant on the GPU and on the
processor in lock-step, and compares all that is handed out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import peers
import reporting

import bideuchre_env
from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import DECISIONS, Figure, Task
from bideuchre_env.cli.program import FAILED, script
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.rollout_kernels import new_workspace
from bideuchre_env.runtime.devices import check_device

if TYPE_CHECKING:
    from bideuchre_env.core.rows import Rows

GAMES = (1_024, 16_384, 65_536, 262_144, 1_048_576, 4_194_304)
BESIDE = (65_536, 1_048_576)  # games that pgx is measured at
CHECKED = 1_000_000  # decisions of a variant in lock-step
COPIED = 1 << 28  # bytes
HANDS = 4  # of a table in a slice of a rollout
GAME = bideuchre_env.cincinnati_v0
FACES: dict[str, dict[str, Any]] = {
    "vec": {},
    "solo_vec": {
        "opponents": ("random", "rule"),
        "partner": "cautious",
        "autoreset_mode": "NextStep",  # last observations are handed out in another form there
    },
}
"""What is played in lock-step, and with what options."""
STEPS, ROLLOUTS, MEMORY = "Steps from Python (vec)", "Rollouts in a kernel", "Memory"
COPY = "a copy, read and written"
READ_TOO = ("states", "tallies", "keys", "actions")  # of `Rows`: a step reads and writes these
PGX = peers.Peer("pgx on JAX, GPU", ("pgx", "jax[cuda13]"), "measure_pgx.py")
TARGETS = {  # of an H100
    (ROLLOUTS, "random, 1,048,576 games"): 1e9,
    (ROLLOUTS, "random, observing, 1,048,576 games"): 300e6,
}

Tasks = dict[tuple[str, str], Task]


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = reporting.options(__doc__)
    parser.add_argument(
        "--games", nargs="+", type=int, default=list(GAMES), metavar="N", help="games at once"
    )
    parser.add_argument(
        "--beside",
        nargs="*",
        type=int,
        default=list(BESIDE),
        metavar="N",
        help="games at once that pgx is measured at, too; none: pgx is left out",
    )
    parser.add_argument(
        "--check", action="store_true", help="play in lock-step with the processor instead"
    )
    parser.add_argument(
        "--decisions",
        type=int,
        default=CHECKED,
        metavar="N",
        help="with --check: decisions of each variant (default: %(default)s)",
    )
    peers.add_venv_options(parser)
    return parser.parse_args(arguments)


def main(args: argparse.Namespace) -> int:
    """Check, or measure in rounds and publish."""
    if args.redraw:
        return reporting.redraw("gpu", args.out)
    measure.check(args.repeats, args.seconds)
    if min([*args.games, *args.beside, args.decisions]) < 1:
        raise OptionError("--games, --beside, --decisions: numbers of 1 or more")
    check_device("cuda")
    if args.check:
        return check(args.games[0], args.decisions)
    skipped: list[str] = []
    with measure.pinned(args.core) as core, ExitStack() as stack:
        tasks = tasks_of(sorted({*args.games, *args.beside}), skipped)
        runs = [stack.enter_context(closing(run)) for run in started(args, skipped)]
        rates: dict[tuple[str, str], list[float]] = {key: [] for key in tasks}
        for number in range(args.repeats):
            reporting.announce(f"round {number + 1} of {args.repeats}")
            for key, task in tasks.items():
                rates[key].append(measure.rate(task, args.seconds))
            runs = [run for run in runs if peers.went_on(run, skipped)]
    report = reporting.Report(
        "gpu",
        "On a GPU",
        f"{GAME.name}, random legal play unless said, on {device_name()}, Python on "
        f"{reporting.pinning(core)}, by the clock, medians of {args.repeats} rounds in which all "
        f"take turns, {args.seconds} s each; the memory's share is of the bytes that a step has to "
        "read or write at least, and of a copy in the same rounds.",
        figures(rates, runs),
        skipped,
        {name: version for run in runs for name, version in run.packages.items()},
    )
    reporting.publish(report, args)
    return 0


def device_name() -> str:
    """What the GPU calls itself."""
    from bideuchre_env.runtime.device import name_of_device

    return name_of_device()


def tasks_of(games: list[int], skipped: list[str]) -> Tasks:
    """Everything of ours that is measured, each tried once; what the memory cannot hold is not."""
    makers: dict[tuple[str, str], Callable[[], Task]] = {(MEMORY, COPY): copying}
    for n in games:
        makers[STEPS, f"{n:,} games"] = lambda n=n: stepping(n)
        for way, policy, observe in (
            ("random", "random", False),
            ("random, observing", "random", True),
            ("rule player", "rule", False),
        ):
            makers[ROLLOUTS, f"{way}, {n:,} games"] = lambda n=n, p=policy, o=observe: rolling(
                n, p, o
            )
    tasks: Tasks = {}
    for key, make in makers.items():
        reporting.announce(", ".join(key))
        try:
            task = make()
            task()
        except Exception as error:
            if "OUT_OF_MEMORY" not in str(error) or key == (MEMORY, COPY):
                raise
            skipped.append(f"{', '.join(key)}: the GPU's memory cannot hold it")
            continue
        tasks[key] = task
    return tasks


def stepping(n: int) -> Task:
    """Steps of `n` games, their actions drawn on the GPU, called from Python."""
    vec = GAME.vec(n, device="cuda", copy=False)
    vec.reset(seed=0)

    def step() -> int:
        vec.step(vec.sample())
        return n

    return by_the_clock(step)


def rolling(n: int, policy: str, observe: bool) -> Task:
    """Some hands at each of `n` tables in one call; their decisions are counted afterwards."""
    from bideuchre_env.evaluation.rollout_on_device import on_tables
    from bideuchre_env.runtime.device import finish, to_host

    words = split_seed(0)
    space = new_workspace(GAME.rules, HANDS * n, n, words)
    play, there = on_tables(GAME.rules, policy, space, words[0], observe)

    def run() -> tuple[int, float]:
        before = to_host(there.counts)["decisions"].sum()
        began = perf_counter()
        play()
        finish()
        spent = perf_counter() - began
        return int(to_host(there.counts)["decisions"].sum() - before), spent

    return run


def copying() -> Task:
    """A copy within the GPU's memory, in bytes that are read or written."""
    from bideuchre_env.runtime.device import finish, room_for

    there, here = (room_for((COPIED,), np.int8) for _ in range(2))

    def copy() -> int:
        there.copy_to_device(here)
        finish()
        return 2 * COPIED

    return by_the_clock(copy)


def by_the_clock(work: Callable[[], int]) -> Task:
    """The task of a function that says how much it has done, and waits for it."""

    def run() -> tuple[int, float]:
        began = perf_counter()
        done = work()
        return done, perf_counter() - began

    return run


def started(args: argparse.Namespace, skipped: list[str]) -> Iterator[peers.Program]:
    """pgx on the same GPU, if it is asked for and can be had."""
    if not args.beside:
        return
    try:
        python = peers.environment_of(PGX, args.venvs / "pgx-gpu", args.no_install)
        sizes = [str(n) for n in args.beside]
        path = peers.PROGRAMS / PGX.program
        run = peers.Program(PGX.title, python, path, args.seconds, "cuda", *sizes)
    except peers.Unavailable as error:
        skipped.append(f"{PGX.title}: {error}")
        return
    skipped += run.skipped
    yield run


def figures(rates: dict[tuple[str, str], list[float]], runs: list[peers.Program]) -> list[Figure]:
    """A figure for every task, for what a game takes of the memory, and for pgx beside ours."""
    targets = TARGETS if "H100" in device_name() else {}
    rows = [
        measure.figure(group, name, DECISIONS, values, target=targets.get((group, name)))
        for (group, name), values in rates.items()
        if group != MEMORY
    ]
    copied = rates[MEMORY, COPY]
    rows.append(measure.figure(MEMORY, COPY, "B/s", copied))
    held, moved = bytes_of(GAME.vec(1, device="cuda")._games.rows)
    rows.append(measure.figure(MEMORY, "a game of the vector env", "B", [float(held)]))
    rows.append(measure.figure(MEMORY, "of which a step moves at least", "B", [float(moved)]))
    for (group, name), values in rates.items():
        if group == STEPS:
            shares = [moved * rate / speed for rate, speed in zip(values, copied, strict=True)]
            rows.append(measure.figure(MEMORY, f"a step of {name}", "of a copy's speed", shares))
    ours = {name: values for (group, name), values in rates.items() if group == STEPS}
    return rows + [row for run in runs for row in peers.figures_beside(run, ours)]


def bytes_of(rows: Rows) -> tuple[int, int]:
    """The bytes of memory that a game takes, and those that a step reads or writes at least."""
    sizes = {
        name: each.dtype.itemsize * each.size
        for name, each in rows._asdict().items()
        if name not in ("tables", "offsets") and hasattr(each, "dtype")
    }
    of_episodes = sum(each.dtype.itemsize * each.size for each in rows.episodes)
    moved = sum(size * (2 if name in READ_TOO else 1) for name, size in sizes.items())
    return sum(sizes.values()) + of_episodes, moved


def check(n: int, decisions: int) -> int:
    """Play every variant in lock-step, `n` games at once; 1 where anything differs, or none end.

    `vec` is played, and `solo_vec` among players of the three kinds that a GPU has.
    """
    failed = 0
    for name, variant in bideuchre_env.variants.items():
        for face, options in FACES.items():
            make = partial(getattr(variant, face), n, episode="hand", **options)
            same, done, ended = in_lock_step(make(device="cpu"), make(device="cuda"), n, decisions)
            told = "the same" if same else "NOT the same"
            print(f"{name}, {face}: {done:,} decisions, {ended:,} hands, {told}", flush=True)
            failed += not same or ended == 0
    return FAILED if failed else 0


def in_lock_step(one: Any, two: Any, n: int, decisions: int) -> tuple[bool, int, int]:
    """Whether both hand out the same all along; the decisions, and the episodes that ended."""
    rng, done, ended = np.random.default_rng(0), 0, 0
    shown, other = one.reset(seed=1), two.reset(seed=1)
    same = alike(shown, other)
    while same and done < decisions:
        masks = shown[0]["action_mask"]
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)  # uniform, of the legal ones
        shown, other = one.step(actions), two.step(actions)
        same = alike(shown, other)
        ended += int((shown[2] | shown[3]).sum())
        done += n
    return same, done, ended


def alike(ours: Any, theirs: Any) -> bool:
    """Whether all arrays are equal: numpy's, and those of the GPU."""
    from bideuchre_env.runtime.device import to_host

    if isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(alike(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, tuple):
        return all(alike(*pair) for pair in zip(ours, theirs, strict=True))
    return bool(np.array_equal(ours, to_host(theirs)))


if __name__ == "__main__":
    sys.exit(script(lambda: main(parse_args())))
