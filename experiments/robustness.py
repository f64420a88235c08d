"""Points of agents against opponents of several styles, and differences to the first agent.

    python experiments/studies.py robustness
    python experiments/studies.py robustness --agents expert inference --boards 2000

All pairs play the same duplicate boards of one hand; the second table has the difference to the
first agent, paired by board. Finished pairs are cached in the folder `--out`: use another folder
after a change of an agent.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from study_tools import cached, mean, play_match, plus_minus, tracked, with_weights, write_json

import bideuchre_env
from bideuchre_env._columns import markdown_table
from bideuchre_env.cli.script_args import ScriptArgs, option
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime.jit import Array

RASH, TIMID = "rule:boldness=1", "rule:boldness=-1"
Row = dict[str, Any]


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the study; every field is an option of the command line."""

    agents: tuple[str, ...] = option(("expert", "pimc", "inference"), "agents to measure")
    opponents: tuple[str, ...] = option(
        ("rule", RASH, TIMID, "ppo", "net"), "opponents, one style each"
    )
    variant: str = option("cincinnati_v0", "variant")
    boards: int = option(1000, "duplicate boards of each pair")
    seed: int = option(0, "seed of deals and results")
    out: Path = option(Path("runs/styles"), "folder for finished pairs")
    json: Path | None = option(None, "JSON file for the rows")


def main(args: Args) -> int:
    """Play every pair that is not saved yet, print the tables, and write `args.json` if set."""
    if args.boards < 2:
        raise OptionError("--boards: 2 or more")
    game = bideuchre_env.make(args.variant)
    agents = with_weights(args.agents, game)
    opponents = with_weights(args.opponents, game)
    if not agents or not opponents:
        raise OptionError("--agents, --opponents: one or more of each that play this game")
    pairs = list(product(agents, opponents))
    listed = tracked(f"styles on {args.variant}", pairs)
    points = {pair: points_of(pair, game, args) for pair in listed}
    rows = [row_of(agent, opponent, points, agents[0]) for agent, opponent in pairs]
    for column in ("points_per_hand", "more"):
        print(table(rows, column, agents, opponents), end="\n\n")
    about = {name: getattr(args, name) for name in ("variant", "boards", "seed")}
    write_json(args.json, about | {"rows": rows})
    return 0


def points_of(pair: tuple[str, str], game: bideuchre_env.Variant, args: Args) -> Array:
    """Return the points of the first agent over the second, both tables of a board added.

    The result is float64 (boards,); it is read from `args.out` if the pair is saved there.
    """

    def play() -> list[int]:
        return play_match(game, *pair, args).board_rows["points"].sum(axis=1).tolist()

    about = {"variant": args.variant, "pair": pair, "boards": args.boards, "seed": args.seed}
    words = (args.variant, *pair, f"{args.boards}boards", f"seed{args.seed}")
    points = cached(args.out, words, about, play, lambda points: len(points) == args.boards)
    return np.array(points, np.float64)


def row_of(agent: str, opponent: str, points: dict[tuple[str, str], Array], first: str) -> Row:
    """Return the result of a pair, and the difference to the agent `first` on the same boards.

    `points` has the points of every pair, as `points_of` returns them.
    """
    own, others = points[agent, opponent], points[first, opponent]
    return {
        "agent": agent,
        "opponent": opponent,
        "points_per_hand": mean(own, hands=2),
        "more": mean(own - others, hands=2) if agent != first else None,
    }


def table(rows: list[Row], column: str, agents: list[str], opponents: list[str]) -> str:
    """Format `column` of the rows as Markdown: agents by row, opponents by column.

    `column` is `points_per_hand` or `more`; an agent without an entry has no row.
    """
    cells = {(row["agent"], row["opponent"]): row[column] for row in rows}
    title = "points per hand" if column == "points_per_hand" else f"more than {agents[0]}"
    lines = [[title, *(f"over {name}" for name in opponents)]]
    for agent in agents:
        if any(cells[agent, each] for each in opponents):
            lines.append([agent, *(plus_minus(cells[agent, each], "+") for each in opponents)])
    return markdown_table(lines)
