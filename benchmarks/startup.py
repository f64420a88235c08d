"""Start-up: import, first step with a cold and a warm cache, full compilation, and memory.

    python benchmarks/startup.py

Every measurement is a new process with its own cache folder (`NUMBA_CACHE_DIR`): a cold cache is
empty, a warm one was filled by an earlier process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import reporting
from reports import Report

from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import Figure, figure
from bideuchre_env.cli.program import script
from bideuchre_env.core.state import STATE

IMPORT, STEP, MEMORY = "Import", "First step", "Memory"
ROWS = 65_536

NOTHING = ""
PACKAGE = "import bideuchre_env"
FIRST_STEP = """
import bideuchre_env
env = bideuchre_env.cincinnati_v0.raw_env()
env.reset(seed=1)
observation, *_ = env.last()
env.step(int(observation["action_mask"].nonzero()[0][0]))
env.last()
"""
FIRST_VEC_STEP = """
import bideuchre_env
vec = bideuchre_env.cincinnati_v0.vec(ROWS)
vec.reset(seed=1)
for _ in range(20):
    vec.step(vec.sample())
"""
PLAY = """
from bideuchre_env.evaluation.warm_up import PARTS
for part in NAMES:
    PARTS[part]()
"""
EVERYTHING = PLAY.replace("NAMES", "('game', 'claims', 'rule', 'learner', 'expert')")
LEARNING = PLAY.replace("NAMES", "('learning', 'ppo', 'net')")
SEARCH = PLAY.replace("NAMES", "('search', 'advice', 'solver')")
FOOTER = """
import json, sys, time
def peak():
    try:  # of this program alone; the other way counts what forked it
        with open("/proc/self/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if "VmHWM" in line)
    except OSError:
        import resource
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else 1024 * most
print(json.dumps({"cpu": time.process_time(), "MB": peak() / 1e6}))
"""


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    return reporting.options(__doc__, None).parse_args(arguments)


def python(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with this cache folder, and return the finished process with its output.

    `CalledProcessError` if it fails.
    """
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env)


def fresh(program: str, cache: Path, rows: int = ROWS) -> dict[str, Any]:
    """Run a program text in a new Python process, with `rows` in place of its word ROWS.

    Return a dict of the seconds `cpu` and `wall`, and the peak memory `MB`.
    """
    started = time.perf_counter()
    done = python(cache, "-c", program.replace("ROWS", str(rows)) + FOOTER)
    wall = time.perf_counter() - started
    return {**json.loads(done.stdout.splitlines()[-1]), "wall": wall}


def cold(program: str) -> dict[str, Any]:
    """Run a program text with an empty cache; return the dict of `fresh`, with `kernels` added.

    `kernels` is the set of the names of the compiled kernels.
    """
    with new_cache() as cache:
        run = fresh(program, cache)
        return {**run, "kernels": {path.name.split("-")[0] for path in cache.rglob("*.nbc")}}


@contextmanager
def new_cache() -> Iterator[Path]:
    """Yield an empty folder; remove it afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def imports(repeats: int, cache: Path) -> Iterator[Figure]:
    """Yield the import times of the package and its dependencies, and the time of a bare Python."""
    times: dict[str, list[float]] = {}
    for _ in range(repeats):
        printed = python(cache, "-X", "importtime", "-c", PACKAGE).stderr
        for spent, name in re.findall(r"import time: +\d+ \| +(\d+) \| +([\w.]+)", printed):
            times.setdefault(name, []).append(int(spent) / 1e6)
    for name, title, target in (
        ("bideuchre_env", "import bideuchre_env", 0.3),
        ("pettingzoo", "of which pettingzoo, gymnasium and numpy within", None),
        ("gymnasium", "of which gymnasium, numpy within", None),
        ("numpy", "of which numpy", None),
    ):
        yield figure(IMPORT, title, "s", times[name], target=target)
    for program, title in (
        (PACKAGE, "a process that imports it"),
        (NOTHING, "a process that does nothing"),
    ):
        runs = [fresh(program, cache) for _ in range(repeats)]
        yield figure(IMPORT, f"{title}, process time", "s", column(runs, "cpu"))


def first_steps(repeats: int, cache: Path) -> Iterator[Figure]:
    """Yield the times of an environment's first step, and of three programs that use all kernels.

    All are timed with a warm cache, the filled folder `cache`, and a cold one, a new folder.
    """
    for way, target in (("warm cache", 1.5), ("cold cache", None)):
        warm = way == "warm cache"
        runs = [fresh(FIRST_STEP, cache) if warm else cold(FIRST_STEP) for _ in range(repeats)]
        yield figure(STEP, f"{way}, process time", "s", column(runs, "cpu"), target=target)
        yield figure(STEP, f"{way}, wall time", "s", column(runs, "wall"))
    for name, program, target in (
        ("everything but learning and search", EVERYTHING, 40.0),
        ("learning, and agents that have learned", LEARNING, None),
        ("agents that search, and the solver", SEARCH, None),
    ):
        compiled = [cold(program) for _ in range(repeats)]
        again = [fresh(program, cache) for _ in range(repeats)]
        name = f"{name} ({len(compiled[0]['kernels'])} kernels)"
        yield figure(STEP, f"{name}, warm cache, wall time", "s", column(again, "wall"))
        for clock, key in (("process time", "cpu"), ("wall time", "wall")):
            title = f"{name}, cold cache, {clock}"
            yield figure(STEP, title, "s", column(compiled, key), target=target)


def memory(repeats: int, cache: Path) -> Iterator[Figure]:
    """Yield the size of a state in bytes, and the peak memory of processes in MB."""
    one, few, many = (
        column([fresh(program, cache, rows) for _ in range(repeats)], "MB")
        for program, rows in ((FIRST_STEP, 1), (FIRST_VEC_STEP, 1), (FIRST_VEC_STEP, ROWS))
    )
    more = [b - a for a, b in zip(few, many, strict=True)]
    yield figure(MEMORY, "state of a game", "bytes", [float(STATE.itemsize)], target=256)
    yield figure(MEMORY, "process with one environment, peak", "MB", one)
    yield figure(MEMORY, f"process with {ROWS:,} rows, peak", "MB", many, target=150)
    yield figure(MEMORY, f"of which {ROWS:,} rows more than one", "MB", more)


def column(runs: list[dict[str, Any]], name: str) -> list[float]:
    """Return the value `name` of every run."""
    return [run[name] for run in runs]


def main(args: argparse.Namespace) -> int:
    """Measure everything and publish the report, or redraw the saved one; return 0."""
    if args.redraw:
        return reporting.redraw("startup", args.out)
    measure.check(args.repeats, 1.0)
    with measure.pinned(args.core) as core, new_cache() as cache:
        reporting.announce("filling a cache")
        for program in (EVERYTHING, LEARNING, SEARCH, FIRST_VEC_STEP):
            fresh(program, cache)
        figures: list[Figure] = []
        for step in (imports, first_steps, memory):
            reporting.announce(step.__name__.replace("_", " "))
            figures += step(args.repeats, cache)
    report = Report(
        "startup",
        "Start-up and memory",
        f"fresh processes on {reporting.pinning(core)}, medians of {args.repeats} repeats; "
        "the size of a state is that of its dtype.",
        figures,
    )
    reporting.publish(report, args)
    return 0


if __name__ == "__main__":
    sys.exit(script(lambda: main(parse_args())))
