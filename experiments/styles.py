"""How agents do against other styles: each against every opponent, beside the first of them.

    python experiments/styles.py
    python experiments/styles.py --variant barrie_v0 --agents expert inference --boards 2000

All play the same duplicate boards of one hand. The first table has points per hand over each
opponent; the second by how much more each agent takes than the first agent does, board by board.
Finished pairs are kept in the folder `--out` and not played again, so Ctrl-C loses only the one
being played: take another folder when an agent has changed.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from compared import around, with_weights

import bideuchre_env
from bideuchre_env import match, records_io
from bideuchre_env._files import write_file
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, run
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.seeding import check_seed
from bideuchre_env.evaluation.statistics.intervals import Moments
from bideuchre_env.evaluation.statistics.scores import interval_dict
from bideuchre_env.runtime.jit import Array

RASH, TIMID = "rule:boldness=1", "rule:boldness=-1"
Row = dict[str, Any]


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to play; every field is an option of the command line."""

    agents: tuple[str, ...] = field(
        default=("expert", "pimc", "inference"), metadata={"help": "who is measured"}
    )
    opponents: tuple[str, ...] = field(
        default=("rule", RASH, TIMID, "ppo", "net"), metadata={"help": "the styles"}
    )
    variant: str = field(default="cincinnati_v0", metadata={"help": "the game"})
    boards: int = field(default=1000, metadata={"help": "duplicate boards of each pair"})
    seed: int = field(default=0, metadata={"help": "same seed, same deals and results"})
    out: Path = field(default=Path("runs/styles"), metadata={"help": "where pairs are kept"})
    json: Path | None = field(default=None, metadata={"help": "a file to write the rows to"})


def main(args: Args) -> int:
    """Play every pair and print the tables; 130, and nothing printed, if interrupted."""
    if args.boards < 2:
        raise OptionError("--boards: 2 or more")
    check_seed(args.seed, args.boards)
    game = bideuchre_env.make(args.variant)
    agents = with_weights(args.agents, game)
    opponents = with_weights(args.opponents, game)
    if not agents or not opponents:
        raise OptionError("--agents, --opponents: one or more of each that play this game")
    pairs = list(dict.fromkeys(product(agents, opponents)))
    points: dict[tuple[str, str], Array] = {}
    with progress_bar(f"styles on {args.variant}", "pairs") as progress:
        for n, pair in enumerate(pairs, 1):
            found = points_of(pair, game, args)
            if found is None:
                return 130
            points[pair] = found
            progress(n, len(pairs), n)
    rows = [row_of(agent, opponent, points, agents[0]) for agent, opponent in pairs]
    for told in ("points_per_hand", "more"):
        print(table(rows, told, agents, opponents), end="\n\n")
    if args.json is not None:
        about = {name: getattr(args, name) for name in ("variant", "boards", "seed")}
        write_file(args.json, json.dumps({**about, "rows": rows}, indent=1) + "\n")
    return 0


def points_of(pair: tuple[str, str], game: bideuchre_env.Variant, args: Args) -> Array | None:
    """The points of the first over the second at both tables of each board, float64 (boards,).

    From the file of the pair, or played now and kept there; None if that was interrupted.
    """
    stem = records_io.file_stem(args.variant, *pair, f"{args.boards}boards", f"seed{args.seed}")
    path = args.out / f"{stem}.json"
    if path.exists():
        return kept_points(path, pair, args.boards)
    result = match.play(game, *pair, boards=args.boards, seed=args.seed)
    if result.interrupted or result.board_rows is None:
        return None
    points = result.board_rows["points"].sum(axis=1)
    write_file(path, json.dumps({"pair": pair, "points": points.tolist()}) + "\n")
    return np.asarray(points, np.float64)


def kept_points(path: Path, pair: tuple[str, str], boards: int) -> Array:
    """The points in a file of `points_of`; `OptionError` if it holds anything else."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        points = np.array(kept["points"], np.float64)
        sound = kept["pair"] == list(pair) and points.shape == (boards,)
    except (ValueError, KeyError, TypeError):
        sound = False
    if not sound:
        raise OptionError(f"{path} is no result of {' and '.join(pair)}: another --out")
    return points


def row_of(agent: str, opponent: str, points: dict[tuple[str, str], Array], first: str) -> Row:
    """What one pair came to, alone and beside the first agent on the same boards."""
    own, others = points[agent, opponent], points[first, opponent]
    return {
        "agent": agent,
        "opponent": opponent,
        "points_per_hand": per_hand(own),
        "more": per_hand(own - others) if agent != first else None,
    }


def per_hand(points: Array) -> dict[str, float | None]:
    """The mean of points at both tables of a board, by hand, with its interval."""
    n = len(points)
    squares, total = float(points @ points), float(points.sum())
    moments = Moments(n, total, 2.0 * n, squares, 2.0 * total, 4.0 * n)
    return interval_dict(moments.interval())


def table(rows: list[Row], told: str, agents: list[str], opponents: list[str]) -> str:
    """The rows as Markdown: agents downwards, opponents across."""
    found = {(row["agent"], row["opponent"]): row[told] for row in rows}
    shown = [agent for agent in agents if any(found[agent, each] for each in opponents)]
    title = "points per hand" if told == "points_per_hand" else f"more than {agents[0]}"
    lines = [f"| {title} | {' | '.join(f'over {name}' for name in opponents)} |"]
    lines.append("|---" * (1 + len(opponents)) + "|")
    for agent in shown:
        cells = [around(found[agent, each], "+") for each in opponents]
        lines.append(f"| {agent} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run(main, Args))
