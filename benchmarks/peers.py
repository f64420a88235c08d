"""Speed on one core, compared with OpenSpiel, RLCard, PettingZoo, pgx and a minimal game.

    python benchmarks/peers.py
    python benchmarks/peers.py --peers openspiel pgx --no-install

Each peer has its own virtual environment, created on the first run. The minimal game, "limit",
is written for this comparison and runs in this environment. The measuring programs of
`peer_programs/`, including this package's own, take turns round by round, so that ratios come from
one run. Peers that cannot be installed or run are skipped, with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import reporting
from reports import Report

from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import DECISIONS, Figure
from bideuchre_env.cli.options import argument
from bideuchre_env.cli.program import script
from bideuchre_env.errors import BidEuchreError

PROGRAMS = reporting.HERE / "peer_programs"
VENVS = reporting.HERE.parent / "runs" / "peers"
OURS = "bideuchre_env"


class Unavailable(BidEuchreError):
    """Raised with the reason if a peer cannot be measured."""


@dataclass(frozen=True)
class Peer:
    """A library to compare with, and how to measure it."""

    title: str
    requires: tuple[str, ...]  # packages that pip installs; () to run in this environment
    program: str  # file name in `peer_programs/`


PEERS = {
    "limit": Peer("The machine's limit", (), "measure_limit.py"),
    "openspiel": Peer("OpenSpiel", ("open_spiel",), "measure_openspiel.py"),
    "rlcard": Peer("RLCard", ("rlcard",), "measure_rlcard.py"),
    "pettingzoo": Peer(
        "PettingZoo classic",
        ("pettingzoo[classic]>=1.25", "shimmy", "open_spiel"),
        "measure_pettingzoo.py",
    ),
    "pgx": Peer("pgx on JAX, CPU", ("pgx", "jax"), "measure_pgx.py"),
}


class Program:
    """A running program of `peer_programs/`, and the rates it has measured, by task.

    The constructor starts it and waits until every task has run once; `Unavailable` if the program
    ends before. `like` has, for each task, the name of our task to compare it with.
    """

    def __init__(self, title: str, python: Path, script: Path, seconds: float, *more: str) -> None:
        reporting.announce(f"starting {title}")
        env = dict(os.environ)
        if python != Path(sys.executable):  # a peer must not import this package
            env.pop("PYTHONPATH", None)
        self.title = title
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self.process = subprocess.Popen(
            [str(python), str(script), str(seconds), *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            encoding="utf-8",
            env=env,
        )
        self.rates: dict[str, list[float]] = {}
        try:
            hello = self._answer()
        except Unavailable:
            self.close()
            raise
        self.like: dict[str, str] = hello["like"]
        self.packages: dict[str, str] = hello["packages"]
        self.skipped = [f"{title}, {name}: {why}" for name, why in hello["skipped"].items()]

    def round(self) -> None:
        """Measure every task once, and store the rates; `Unavailable` if the program ends."""
        try:
            self.process.stdin.write("round\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the program has ended; the answer has the reason
        for name, rate in self._answer().items():
            self.rates.setdefault(name, []).append(rate)

    def _answer(self) -> dict[str, Any]:
        """Return the next JSON line of the program; `Unavailable` if it has ended."""
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.errors.seek(0)
        raise Unavailable(f"its program ended: {reason(self.errors.read())}")

    def close(self) -> None:
        """Kill the program, and close its files."""
        self.process.kill()
        self.process.communicate()
        self.errors.close()


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = reporting.options(__doc__)
    names = {"nargs": "+", "choices": list(PEERS)}
    argument(parser, "--peers NAME", "which to measure", default=list(PEERS), **names)
    add_venv_options(parser)
    return parser.parse_args(arguments)


def add_venv_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the folder and installation of the peers' environments."""
    argument(parser, "--venvs FOLDER", "where the peers' environments are kept", Path, VENVS)
    argument(parser, "--no-install", "install nothing, use the environments there are")


def main(args: argparse.Namespace) -> int:
    """Install and start the peers, measure in rounds, and publish the report; return 0.

    With `--redraw` only the saved report is drawn again.
    """
    if args.redraw:
        return reporting.redraw("peers", args.out)
    measure.check(args.repeats, args.seconds)
    skipped: list[str] = []
    installed = {
        name: python
        for name in args.peers
        if (python := install(PEERS[name], args.venvs / name, args, skipped))
    }
    with measure.pinned(args.core) as core, ExitStack() as stack:
        ours = Program(OURS, Path(sys.executable), PROGRAMS / "measure_bideuchre.py", args.seconds)
        runs = [stack.enter_context(closing(ours))]
        for name, python in installed.items():
            runs += start(PEERS[name], python, args, stack, skipped)
        for _ in range(args.repeats):
            runs = [run for run in runs if measure_round(run, skipped)]
    packages = {name: version for run in runs for name, version in run.packages.items()}
    report = Report(
        "peers",
        "Peers",
        f"random legal play, {reporting.pinning(core)}, medians of {args.repeats} rounds in which "
        f"all take turns, {args.seconds} s each; ratios are medians over the rounds.",
        [row for run in runs for row in figures_of(run, ours.rates)],
        skipped,
        {name: packages[name] for name in packages if name != OURS},
    )
    reporting.publish(report, args)
    return 0


def install(peer: Peer, venv: Path, args: argparse.Namespace, skipped: list[str]) -> Path | None:
    """Return the path of Python in a peer's environment, which is created if necessary.

    If that fails, return None and append the reason to `skipped`.
    """
    try:
        return environment(peer, venv, args.no_install)
    except Unavailable as error:
        skipped.append(f"{peer.title}: {error}")
        return None


def start(
    peer: Peer,
    python: Path,
    args: argparse.Namespace,
    stack: ExitStack,
    skipped: list[str],
    *more: str,
) -> list[Program]:
    """Start a peer's program with the arguments `more`; return a list with it. `stack` closes it.

    The tasks that it skips are appended to `skipped`. If the program cannot run, return [] and
    append the reason to `skipped`.
    """
    try:
        run = Program(peer.title, python, PROGRAMS / peer.program, args.seconds, *more)
    except Unavailable as error:
        skipped.append(f"{peer.title}: {error}")
        return []
    skipped += run.skipped
    return [stack.enter_context(closing(run))]


def measure_round(run: Program, skipped: list[str]) -> bool:
    """Run a round of a program; return False if it has ended, with the reason in `skipped`.

    If it is this package's own program, raise `Unavailable` instead.
    """
    try:
        run.round()
    except Unavailable as error:
        if run.title == OURS:
            raise
        skipped.append(f"{run.title}: {error}")
        return False
    return True


def environment(peer: Peer, venv: Path, no_install: bool) -> Path:
    """Return the path of Python in a peer's virtual environment, created if necessary.

    A peer without required packages runs in this environment. Raise `Unavailable` if the
    environment cannot be created, or does not exist and `no_install` is set.
    """
    if not peer.requires:
        return Path(sys.executable)
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    complete = venv / "complete"
    if complete.exists():
        return python
    if no_install:
        raise Unavailable(f"--no-install, and there is no {venv}")
    reporting.announce(f"installing {peer.title}")
    shutil.rmtree(venv, ignore_errors=True)
    commands = (
        [sys.executable, "-m", "venv", str(venv)],
        [str(python), "-m", "pip", "install", *peer.requires],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            packages = " ".join(peer.requires)
            raise Unavailable(f"{packages} cannot be installed: {reason(done.stderr)}")
    complete.touch()
    return python


def reason(text: str) -> str:
    """Return one line of a failed program's output, cut to 200 characters.

    It is the last line that names an exception, else the last that begins with "error", else the
    last line.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (named or errors or lines or ["no reason given"])[-1][:200]


def figures_of(run: Program, ours: dict[str, list[float]]) -> list[Figure]:
    """Return a figure for every task of a program, with the ratio of our rate to its rate.

    `ours` has the rates of our tasks, by name, in the same rounds. The ratio is the median over
    the rounds; a task that corresponds to none of `ours` has no ratio.
    """
    rows = []
    for name, rates in run.rates.items():
        like = run.like[name]
        more: dict[str, Any] = {}
        if like in ours:
            ratios = [a / b for a, b in zip(ours[like], rates, strict=True)]
            more = {"against": like, "ratio": statistics.median(ratios)}
        rows.append(measure.figure(run.title, name, DECISIONS, rates, **more))
    return rows


if __name__ == "__main__":
    sys.exit(script(lambda: main(parse_args())))
