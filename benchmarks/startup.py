"""Start-up: importing, the first step with a cold and a warm cache, compiling everything, memory.

    python benchmarks/startup.py

Every measurement is a fresh process with a cache folder of its own (`NUMBA_CACHE_DIR`): an empty
one where it says cold, one that an earlier process has filled where it says warm.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import reporting

from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import Figure
from bideuchre_env.cli.program import script

IMPORT, STEP, MEMORY = "Import", "First step", "Memory"
MB = 1e6
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
EVERYTHING = PLAY.replace("NAMES", "('game', 'rule', 'learner', 'expert', 'fitting')")
LEARNING = PLAY.replace("NAMES", "('learning', 'ppo', 'net')")
SEARCH = PLAY.replace("NAMES", "('search', 'advice', 'solver')")
FOOTER = """
import json, os, sys, time
def peak():
    try:  # of this program alone; the other way counts what forked it
        with open("/proc/self/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if "VmHWM" in line)
    except OSError:
        import resource
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else 1024 * most
print(json.dumps({"cpu": time.process_time(), "peak": peak(), "numba": "numba" in sys.modules}))
"""


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    return reporting.options(__doc__, None).parse_args(arguments)


def fresh(program: str, cache: Path, rows: int = ROWS) -> dict[str, Any]:
    """Run a program in a fresh Python: its process time and wall time (s), its peak memory."""
    started = time.perf_counter()
    done = python(cache, "-c", program.replace("ROWS", str(rows)) + FOOTER)
    wall = time.perf_counter() - started
    return {**json.loads(done.stdout.splitlines()[-1]), "wall": wall}


def python(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a Python with this cache folder; its output is captured."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env)


def cold(program: str) -> dict[str, Any]:
    """The same with an empty cache; `kernels` are those it holds afterwards."""
    with new_cache() as cache:
        run = fresh(program, cache)
        names = (KERNEL_FILE.match(path.name) for path in cache.rglob("*.nbi"))
        return {**run, "kernels": {name.group(1) for name in names if name}}


@contextmanager
def new_cache() -> Iterator[Path]:
    """An empty folder, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


KERNEL_FILE = re.compile(r"[\w.]+?\.(\w+)-\d+\.py\d+\w*\.nbi$")


def import_times(cache: Path) -> dict[str, float]:
    """The times by `python -X importtime` of the package and its dependencies, in seconds."""
    printed = python(cache, "-X", "importtime", "-c", PACKAGE).stderr
    lines = re.findall(r"import time: +\d+ \| +(\d+) \| +([\w.]+)", printed)
    packages = ("bideuchre_env", "pettingzoo", "gymnasium", "numpy")
    return {name: int(spent) / 1e6 for spent, name in lines if name in packages}


def imports(repeats: int, cache: Path) -> list[Figure]:
    """Importing: the package, what of it is its dependencies, and a bare Python for comparison."""
    times = [import_times(cache) for _ in range(repeats)]
    rows = [
        measure.figure(
            IMPORT, "import bideuchre_env", "s", column(times, "bideuchre_env"), target=0.3
        )
    ]
    for name, title in (
        ("pettingzoo", "of which pettingzoo, gymnasium and numpy within"),
        ("gymnasium", "of which gymnasium, numpy within"),
        ("numpy", "of which numpy"),
    ):
        rows.append(measure.figure(IMPORT, title, "s", column(times, name)))
    for program, title in (
        (PACKAGE, "a process that imports it"),
        (NOTHING, "a process that does nothing"),
    ):
        runs = [fresh(program, cache) for _ in range(repeats)]
        rows.append(measure.figure(IMPORT, f"{title}, process time", "s", column(runs, "cpu")))
    return rows


def first_steps(repeats: int, cache: Path) -> list[Figure]:
    """The first step of an environment, and of everything, by the state of the cache."""
    warm = [fresh(FIRST_STEP, cache) for _ in range(repeats)]
    chilly = [cold(FIRST_STEP) for _ in range(repeats)]
    return [
        measure.figure(STEP, "warm cache, process time", "s", column(warm, "cpu"), target=1.5),
        measure.figure(STEP, "warm cache, wall time", "s", column(warm, "wall")),
        measure.figure(STEP, "cold cache, process time", "s", column(chilly, "cpu")),
        measure.figure(STEP, "cold cache, wall time", "s", column(chilly, "wall")),
        *whole("everything but learning and search", EVERYTHING, repeats, cache, target=40.0),
        *whole("learning, and agents that have learned", LEARNING, repeats, cache),
        *whole("agents that search, and the solver", SEARCH, repeats, cache),
    ]


def whole(
    name: str, program: str, repeats: int, cache: Path, target: float | None = None
) -> list[Figure]:
    """A long program from a full and from an empty cache, and the kernels it has compiled."""
    compiled = [cold(program) for _ in range(repeats)]
    again = [fresh(program, cache) for _ in range(repeats)]
    name = f"{name} ({len(compiled[0]['kernels'])} kernels)"
    return [
        measure.figure(STEP, f"{name}, warm cache, wall time", "s", column(again, "wall")),
        *(
            measure.figure(STEP, f"{name}, cold cache, {clock}", "s", values, target=target)
            for clock, values in (
                ("process time", column(compiled, "cpu")),
                ("wall time", column(compiled, "wall")),
            )
        ),
    ]


def memory(repeats: int, cache: Path) -> list[Figure]:
    """The bytes of a row, and the most memory a process has taken."""
    from bideuchre_env.core.state import STATE

    one = [fresh(FIRST_STEP, cache)["peak"] / MB for _ in range(repeats)]
    few = [fresh(FIRST_VEC_STEP, cache, rows=1)["peak"] / MB for _ in range(repeats)]
    many = [fresh(FIRST_VEC_STEP, cache)["peak"] / MB for _ in range(repeats)]
    more = [b - a for a, b in zip(few, many, strict=True)]
    return [
        measure.figure(MEMORY, "state of a game", "bytes", [float(STATE.itemsize)], target=256),
        measure.figure(MEMORY, "process with one environment, peak", "MB", one),
        measure.figure(MEMORY, f"process with {ROWS:,} rows, peak", "MB", many, target=150),
        measure.figure(MEMORY, f"of which {ROWS:,} rows more than one", "MB", more),
    ]


def column(runs: list[dict[str, Any]], name: str) -> list[float]:
    """One value of every run."""
    return [run[name] for run in runs]


def kernels() -> set[str]:
    """The names of all kernels of the package, as its sources have them."""
    from bideuchre_env.runtime.cache import kernel_sources

    texts = (path.read_text(encoding="utf-8") for path in kernel_sources().values())
    return {
        name for text in texts for name in re.findall(r"^@(?:entry_)?kernel\ndef (\w+)", text, re.M)
    }


def main(args: argparse.Namespace) -> int:
    """Measure everything and publish."""
    if args.redraw:
        return reporting.redraw("startup", args.out)
    measure.check(args.repeats, 1.0)
    steps: tuple[Callable[[int, Path], list[Figure]], ...] = (imports, first_steps, memory)
    with measure.pinned(args.core) as core, new_cache() as cache:
        reporting.announce("filling a cache")
        for program in (EVERYTHING, LEARNING, SEARCH, FIRST_VEC_STEP):
            fresh(program, cache)
        figures: list[Figure] = []
        for step in steps:
            reporting.announce(step.__name__.replace("_", " "))
            figures += step(args.repeats, cache)
    report = reporting.Report(
        "startup",
        "Start-up and memory",
        f"fresh processes on {reporting.pinning(core)}, medians of {args.repeats} repeats; "
        "a row of the state is what its dtype says.",
        figures,
    )
    reporting.publish(report, args)
    return 0


if __name__ == "__main__":
    sys.exit(script(lambda: main(parse_args())))
