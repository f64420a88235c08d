"""The ladder: each agent against the next weaker one, on duplicate boards.

    python experiments/ladder.py
    python experiments/ladder.py --variants barrie_v0 --search-boards 100
    python experiments/ladder.py --agents expert pimc:worlds=20

A rung is a match: points per hand with a 95 % interval over boards. Rungs of fast agents get
`--boards` boards, those of agents that search `--search-boards`. Each finished rung is kept in the
folder `--out` as JSON and is not played again: take another folder, or empty it, when the agents
have changed. `--write FILE` puts the table into a file, between the lines `<!-- ladder -->` and
`<!-- end -->`.
"""

from __future__ import annotations

import bideuchre_env.runtime.quitting  # first: Ctrl-C is one line from now on

# isort: split
import json
import sys
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import bideuchre_env
from bideuchre_env import match, records_io
from bideuchre_env.cli.script_args import ScriptArgs, run
from bideuchre_env.errors import OptionError

SEARCH = ("pimc", "inference")  # agents that take milliseconds per decision
BEGIN, END = "<!-- ladder -->", "<!-- end -->"


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to play; every field is an option of the command line."""

    variants: tuple[str, ...] = field(
        default=("cincinnati_v0", "barrie_v0"), metadata={"help": "the games to play"}
    )
    agents: tuple[str, ...] = field(
        default=bideuchre_env.agents.names(), metadata={"help": "the rungs, weakest first"}
    )
    boards: int = field(default=100_000, metadata={"help": "boards of a rung of fast agents"})
    search_boards: int = field(default=3_200, metadata={"help": "boards of a rung that searches"})
    seed: int = field(default=0, metadata={"help": "same seed, same deals and results"})
    workers: int = field(default=1, metadata={"help": "processes that play; same results"})
    out: Path = field(default=Path("runs/ladder"), metadata={"help": "where finished rungs are"})
    write: Path | None = field(default=None, metadata={"help": "a file to put the table into"})


def searches(agent: str) -> bool:
    """Whether an agent, whatever its options, takes milliseconds per decision."""
    return bideuchre_env.agents.parse(agent)[0] in SEARCH


def rung(args: Args, variant: str, weaker: str, stronger: str) -> dict[str, Any]:
    """The result of a match of two neighbours: from its file, or played now and kept."""
    boards = args.search_boards if searches(weaker) or searches(stronger) else args.boards
    words = (variant, stronger, weaker, str(boards), f"seed{args.seed}")
    path = args.out / f"{records_io.file_stem(*words)}.json"
    if path.exists():
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if kept.get("agents") != [stronger, weaker] or "points_per_hand" not in kept:
            raise OptionError(f"{path} is no result of {stronger} and {weaker}: another --out")
        return kept
    result = match.play(
        variant, stronger, weaker, boards=boards, seed=args.seed, workers=args.workers
    )
    if result.interrupted:
        raise KeyboardInterrupt
    result = replace(result, agents=(stronger, weaker))  # called as they were asked for
    path.write_text(json.dumps(result.to_dict(), indent=1) + "\n", encoding="utf-8")
    return result.to_dict()


def table(rungs: list[dict[str, Any]]) -> str:
    """The rungs as Markdown."""
    lines = [
        "| variant | rung | points per hand | 95 % interval | boards | ties | ms per decision |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in rungs:
        boards, (stronger, weaker) = result["boards"], result["agents"]
        points = result["points_per_hand"]
        ms = " and ".join(f"{result['ms_per_decision'][name]:.3g}" for name in (stronger, weaker))
        lines.append(
            f"| `{result['variant']}` | {stronger} over {weaker} | {points['mean']:+.2f} | "
            f"{points['low']:+.2f} to {points['high']:+.2f} | {boards:,} | "
            f"{100 * result['tie_boards'] / boards:.0f} % | {ms} |"
        )
    return "\n".join(lines)


def put(path: Path, text: str) -> None:
    """Put the text between the two marks of a file."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise OptionError(f"{path}: no lines {BEGIN} and {END} to put the table between")
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main(args: Args) -> int:
    """Play the rungs that are not there yet, and print the ladder; 130 if interrupted."""
    for variant in args.variants:
        for agent in args.agents:
            bideuchre_env.agents.make(agent, bideuchre_env.make(variant).rules, seed=0)
    args.out.mkdir(parents=True, exist_ok=True)
    rungs: list[dict[str, Any]] = []
    code = 0
    try:
        for variant in args.variants:
            for weaker, stronger in pairwise(args.agents):
                print(f"{variant}: {stronger} over {weaker}", file=sys.stderr, flush=True)
                rungs.append(rung(args, variant, weaker, stronger))
    except KeyboardInterrupt:
        code = 130
    print(table(rungs))
    if args.write is not None and code == 0:
        put(args.write, table(rungs))
    return code


if __name__ == "__main__":
    sys.exit(run(main, Args))
