"""The ladder: each agent against weaker ones, on duplicate boards and in whole games.

    python experiments/ladder.py
    python experiments/ladder.py --variants barrie_v0 --boards 2500
    python experiments/ladder.py --agents expert net --variants club_v0 --json rows.json
    python experiments/ladder.py --agents rule expert --lone agents/data/lone_contracts.json

An agent is compared with its opponents in `COMPARED` that precede it in `--agents`; if there are
none, with the agent before it. Agents without weights for a variant are left out there.

The rungs of a variant are the pairs of two tournaments in the folder `--out`: one of fast agents,
one of pairs that search. Finished rungs are not played again; those of another version, or of other
data or inputs of agents, are refused. Use another folder after a change of the package's code. The
table is printed as Markdown; `figures.py ladder` draws the file of `--json`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from study_tools import games_of, write_json

import bideuchre_env
from bideuchre_env import tournament
from bideuchre_env._columns import markdown_table
from bideuchre_env.agents.registry import BUILT_IN
from bideuchre_env.bench import measure
from bideuchre_env.bench.tasks import SEARCH
from bideuchre_env.cli.progress import Bars
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.errors import OptionError

COMPARED = {
    "rule": ("beginner", "cautious"),
    "expert": ("rule", "ppo"),
    "net": ("expert", "pimc"),
    "net:search=true": ("expert",),
    "inference": ("net", "expert"),
}
"""The opponents of an agent, unless it is only the agent before it; the first is the rung below."""
AGENTS = [*BUILT_IN]
"""The default of `--agents`: those of the package, and `net` with search."""
AGENTS.insert(AGENTS.index("net") + 1, "net:search=true")
SHARE = 25  # rungs with these agents have 1 / SHARE of the boards and games

Row = dict[str, Any]


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of a ladder; every field is an option of the command line."""

    variants: tuple[str, ...] = option(("cincinnati_v0", "barrie_v0"), "variants")
    agents: tuple[str, ...] = option(tuple(AGENTS), "agents to compare, weakest first")
    boards: int = option(100_000, f"boards of a rung; with agents that search a {SHARE}th")
    games: int = option(10_000, f"whole games of a rung; with agents that search a {SHARE}th")
    seed: int = option(0, "seed of deals and results")
    workers: int = option(1, "processes that play; the results are the same")
    out: Path = option(Path("runs/ladder"), "folder of finished rungs")
    json: Path | None = option(None, "JSON file for the rows")
    lone: Path | None = option(None, "JSON file for the lone contracts of each agent")


def searches(agent: str) -> bool:
    """Return whether an agent, with any options, needs milliseconds per decision."""
    return bideuchre_env.agents.parse(agent)[0] in SEARCH


def pairs(agents: list[str]) -> list[tuple[str, str]]:
    """Return the rungs as (stronger, weaker); `agents` are ordered from the weakest up."""
    result = []
    for k, stronger in enumerate(agents):
        before = agents[:k]
        weaker = [each for each in COMPARED.get(stronger, ()) if each in before]
        result += [(stronger, each) for each in weaker or before[-1:]]
    return result


def play(args: Args, game: bideuchre_env.Variant, rungs: list[tuple[str, str]]) -> list[Row]:
    """Play the rungs of a variant that are not saved in `args.out`; return the rows of all rungs.

    `rungs` are pairs (stronger, weaker); the rows are in this order. Pairs with an agent that
    searches play a fraction of the boards and games. Raise `KeyboardInterrupt` after Ctrl-C.
    """
    rows = []
    for name, share in (("fast", 1), ("search", SHARE)):
        chosen = [pair for pair in rungs if any(map(searches, pair)) == (name == "search")]
        if not chosen:
            continue
        with Bars() as bars:
            played = tournament(
                [game],
                pairs=chosen,
                boards=max(args.boards // share, 2),
                games=args.games // share,
                seed=args.seed,
                workers=args.workers,
                out=args.out / f"{game.name}-{name}",
                progress=bars.show_titled,
            )
        if played.origin:
            print(f"{game.name}, {name}: {played.origin}", file=sys.stderr)
        if played.interrupted:
            raise KeyboardInterrupt
        rows += played.matches
    for row in rows:
        del row["outcomes"]  # long: a letter for each board
    return sorted(rows, key=lambda row: rungs.index(tuple(row["agents"])))


def table(rungs: list[Row]) -> str:
    """Format the rows of rungs, as `play` returns them, as a Markdown table."""
    lines = [
        ["variant", "rung", "points per hand", "95 % interval", "boards", "ties", "games won",
         "95 % interval", "games", "ms per decision"]
    ]  # fmt: skip
    for row in rungs:
        (stronger, weaker), boards = row["agents"], row["boards"]
        points, won = row["points_per_hand"], row["win_rate"]
        cells = [f"`{row['variant']}`", f"{stronger} over {weaker}"]
        cells += [f"{points['mean']:+.2f}", f"{points['low']:+.2f} to {points['high']:+.2f}"]
        cells += [f"{boards:,}", f"{100 * row['tie_boards'] / boards:.0f} %"]
        if won["mean"] is None:
            cells += ["", ""]
        else:
            low, high = 100 * won["low"], 100 * won["high"]
            cells += [f"{100 * won['mean']:.1f} %", f"{low:.1f} to {high:.1f} %"]
        times = [f"{row['ms_per_decision'][name]:.3g}" for name in (stronger, weaker)]
        cells += [f"{sum(row['games'].values()):,}", " and ".join(times)]
        lines.append(cells)
    return markdown_table(lines)


def lone_contracts(rungs: list[Row]) -> dict[str, dict[str, dict[str, int]]]:
    """Return the numbers of lone contracts `bid` and `made` in all rungs, by agent and variant."""
    totals: dict[str, dict[str, dict[str, int]]] = {}
    for row in rungs:
        for agent, count in row["contracts"].items():
            total = totals.setdefault(agent, {}).setdefault(row["variant"], {"bid": 0, "made": 0})
            for name in total:
                total[name] += count[f"lone_{name}"]
    return totals


def main(args: Args) -> int:
    """Play the missing rungs, print the ladder, and write `args.json` and `args.lone` if set."""
    if args.boards < 2 or args.games < 0:
        raise OptionError("--boards: 2 or more; --games: 0 or more")
    rows: list[Row] = []
    for game, agents in games_of(args.variants, args.agents):
        rows += play(args, game, pairs(agents))
    print(table(rows))
    machine = measure.machine_line(measure.machine())
    write_json(args.json, {"seed": args.seed, "machine": machine, "rungs": rows})
    options = ("variants", "agents", "boards", "games", "seed", "lone")
    command = args.command("experiments/ladder.py", options)
    write_json(args.lone, {"command": command, "agents": lone_contracts(rows)})
    return 0


if __name__ == "__main__":
    sys.exit(run(main, Args))
