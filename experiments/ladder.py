"""The ladder: each agent against weaker ones, on duplicate boards and in whole games.

    python experiments/ladder.py
    python experiments/ladder.py --variants barrie_v0 --search-boards 100
    python experiments/ladder.py --agents expert pimc:worlds=20
    python experiments/ladder.py --agents expert net --variants club_v0 --json rows.json --add

`COMPARED` says whom an agent is compared with: those of them that stand before it in `--agents`,
or, where none does, the agent before it. Without weights for a variant an agent has no rungs there.

A rung is a match: points per hand over boards of one hand, where agents that can play for points
do so, and the share of whole games that the stronger agent wins. Rungs of fast agents get
`--boards` and `--games`, those of agents that search `--search-boards` and `--search-games`. The
time of a decision is processor time, the mean of a part, and the median of those.

A rung is played in parts: part k has the seed `--seed` + k and 100,000 boards or 2,000 games; 100
boards or 20 games where an agent searches. Each part is kept in the folder `--out` as JSON and is
not played again, so Ctrl-C loses only the part being played, and more boards add parts: take
another folder, or empty it, when the agents have changed. `--kept` plays nothing, and shows what is
there. `--write FILE` puts the table into a file, between the lines `<!-- ladder -->` and
`<!-- end -->`; `--json FILE` writes its rows as JSON; with `--kept` both want every part. With
`--add` the rows that the JSON file has of other rungs stay in it, and in the table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from study_tools import Store, has_weights, markdown_table

import bideuchre_env
from bideuchre_env import match
from bideuchre_env._files import reason, write_file
from bideuchre_env.bench import measure
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.boards import TOTALS, add_boards
from bideuchre_env.evaluation.statistics.scores import Scores, interval_dict
from bideuchre_env.runtime.jit import new_rows

COMPARED = {
    "random": (),
    "cautious": ("random",),
    "rule": ("cautious",),
    "expert": ("rule",),
    "ppo": ("rule", "expert"),
    "net": ("expert",),
    "net:search=true": ("expert",),
    "pimc": ("expert",),
    "inference": ("net", "expert"),
}
"""The agents, weakest first, and whom each is compared with: the first is the one below it."""
SEARCH = ("pimc", "inference")  # agents that take milliseconds per decision
PART = {"boards": (100_000, 100), "games": (2_000, 20)}  # of fast agents, of those that search
BEGIN, END = "<!-- ladder -->", "<!-- end -->"

Part = dict[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to play; every field is an option of the command line."""

    variants: tuple[str, ...] = option(("cincinnati_v0", "barrie_v0"), "the games to play")
    agents: tuple[str, ...] = option(tuple(COMPARED), "who is compared, weakest first")
    boards: int = option(100_000, "boards of a rung of fast agents")
    games: int = option(10_000, "whole games of a rung of fast agents")
    search_boards: int = option(3_200, "boards of a rung that searches")
    search_games: int = option(400, "games of a rung that searches")
    kept: bool = option(False, "play nothing: print the saved rungs")
    seed: int = option(0, "same seed, same deals and results")
    workers: int = option(1, "processes that play; same results")
    out: Path = option(Path("runs/ladder"), "where finished parts are")
    write: Path | None = option(None, "a file to put the table into")
    json: Path | None = option(None, "a file to write the rows to")
    add: bool = option(False, "other rungs in the file of --json stay")


def searches(agent: str) -> bool:
    """Whether an agent, whatever its options, takes milliseconds per decision."""
    return bideuchre_env.agents.parse(agent)[0] in SEARCH


def pairs(agents: tuple[str, ...]) -> list[tuple[str, str]]:
    """Who is compared with whom, of these agents: stronger and weaker."""
    found = []
    for k, stronger in enumerate(agents):
        before = agents[:k]
        weaker = [each for each in COMPARED.get(stronger, ()) if each in before]
        found += [(stronger, each) for each in weaker or before[-1:]]
    return found


def rungs_of(args: Args) -> list[tuple[str, str, str]]:
    """The rungs, as variant, stronger and weaker; says which are left out for lack of weights."""
    found = []
    for variant in args.variants:
        game = bideuchre_env.make(variant)
        lack = [agent for agent in args.agents if not has_weights(agent, game)]
        for stronger, weaker in pairs(args.agents):
            if stronger in lack or weaker in lack:
                words = f"{variant}: {stronger} over {weaker} is left out"
                print(f"{words}: no weights for this variant", file=sys.stderr)
            else:
                found.append((variant, stronger, weaker))
    return found


def rung(args: Args, variant: str, stronger: str, weaker: str) -> Row | None:
    """The row of two agents: its parts taken from their files, or played now and kept.

    With `--kept` the row of the parts that there are, or None.
    """
    parts: dict[str, list[Part]] = {"boards": [], "games": []}
    for kind, n, seed in parts_of(args, (stronger, weaker)):
        played = part(args, variant, (stronger, weaker), kind, n, seed)
        parts[kind] += [played] if played else []
    return row(variant, (stronger, weaker), parts) if parts["boards"] else None


def parts_of(args: Args, agents: tuple[str, str]) -> Iterator[tuple[str, int, int]]:
    """The parts of a rung: `boards` or `games`, how many of them, and the seed."""
    slow = any(map(searches, agents))
    asked = {"boards": args.boards, "games": args.games}
    if slow:
        asked = {"boards": args.search_boards, "games": args.search_games}
    for kind, number in asked.items():
        most = PART[kind][slow]
        for k, first in enumerate(range(0, number, most)):
            yield kind, min(most, number - first), args.seed + k


def file_of(
    args: Args, variant: str, agents: tuple[str, str], kind: str, n: int, seed: int
) -> Path:
    """The file of a part."""
    return Store(args.out).path(variant, *agents, f"{n}{kind}", f"seed{seed}")


def part(
    args: Args, variant: str, agents: tuple[str, str], kind: str, n: int, seed: int
) -> Part | None:
    """`n` boards, or games, of this seed: from their file, or played now and saved.

    None where there is no file and nothing is to be played.
    """
    return Store(args.out, compute=not args.kept).get(
        file_of(args, variant, agents, kind, n, seed),
        {"variant": variant, "agents": agents, kind: n, "seed": seed},
        lambda: play_part(args, variant, agents, kind, n, seed),
        check_part,
        " and ".join(agents),
    )


def play_part(
    args: Args, variant: str, agents: tuple[str, str], kind: str, n: int, seed: int
) -> Part:
    """A part that is played now."""
    prepare(variant, agents)
    result = match.play(variant, *agents, seed=seed, workers=args.workers, **{kind: n})
    if result.interrupted:
        raise KeyboardInterrupt
    totals = new_rows(TOTALS, 1)
    add_boards(result.board_rows if kind == "boards" else result.game_rows, totals)
    return {
        "totals": {name: totals[name][0].tolist() for name in TOTALS.names or ()},
        "decisions": result.decisions,
        "think_seconds": result.think_seconds,
        "machine": measure.machine_line(measure.machine()),
    }


def check_part(saved: Part) -> Part:
    """A part from its file; raises `ValueError` if it is damaged."""
    shapes = {name: TOTALS[name].shape for name in TOTALS.names or ()}
    sound = (
        {name: np.shape(total) for name, total in saved["totals"].items()} == shapes
        and np.shape(saved["decisions"]) == np.shape(saved["think_seconds"]) == (2,)
        and min(saved["decisions"]) > 0 <= min(saved["think_seconds"])
        and isinstance(saved["machine"], str)
    )
    if not sound:
        raise ValueError("damaged")
    scores_of([saved], 1.0)
    return saved


@lru_cache
def prepare(variant: str, agents: tuple[str, str]) -> None:
    """Play a few boards that do not count: what is compiled or loaded is no time of a decision."""
    match.play(variant, *agents, boards=4)


def scores_of(parts: list[Part], tricks: float) -> Scores:
    """The figures of all these parts together."""
    totals = new_rows(TOTALS, 1)
    for each in parts:
        for name, total in each["totals"].items():
            totals[name][0] += np.array(total, totals[name].dtype)
    return Scores.of_totals(totals, tricks)


def row(variant: str, agents: tuple[str, str], parts: dict[str, list[Part]]) -> Row:
    """What the table and the JSON file have of a rung."""
    tricks = float(bideuchre_env.make(variant).rules.tricks)
    boards, games = (scores_of(parts[kind], tricks) for kind in ("boards", "games"))
    every = [*parts["boards"], *parts["games"]]
    seconds = [np.divide(each["think_seconds"], each["decisions"]) for each in every]
    milliseconds = 1000 * np.median(seconds, axis=0)
    return {
        "variant": variant,
        "agents": list(agents),
        "points_per_hand": interval_dict(boards.points_per_hand),
        "boards": boards.boards,
        "tie_boards": boards.ties,
        "win_rate": interval_dict(games.win_rate),
        "games": games.games_dict(),
        "ms_per_decision": dict(zip(agents, milliseconds.tolist(), strict=True)),
        "machine": every[0]["machine"],
    }


def table(rungs: list[Row]) -> str:
    """The rungs as Markdown."""
    heads = (
        "variant", "rung", "points per hand", "95 % interval", "boards", "ties", "games won",
        "95 % interval", "games", "ms per decision",
    )  # fmt: skip
    lines = []
    for result in rungs:
        boards, (stronger, weaker) = result["boards"], result["agents"]
        points, won = result["points_per_hand"], result["win_rate"]
        cells = [f"`{result['variant']}`", f"{stronger} over {weaker}"]
        cells += [f"{points['mean']:+.2f}", f"{points['low']:+.2f} to {points['high']:+.2f}"]
        cells += [f"{boards:,}", f"{100 * result['tie_boards'] / boards:.0f} %"]
        cells += ["", ""]
        if won["mean"] is not None:
            low, high = 100 * won["low"], 100 * won["high"]
            cells[-2:] = [f"{100 * won['mean']:.1f} %", f"{low:.1f} to {high:.1f} %"]
        cells.append(f"{sum(result['games'].values()):,}")
        ms = (f"{result['ms_per_decision'][name]:.3g}" for name in (stronger, weaker))
        cells.append(" and ".join(ms))
        lines.append(cells)
    return markdown_table(heads, lines)


def rows_in(path: Path, seed: int) -> list[Row]:
    """The rows that `--json` put into a file, all played with this seed."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        rungs, theirs = merge_rows(kept["rungs"], []), kept["seed"]
        table(rungs)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        raise OptionError(f"{path}: no rows of a ladder ({error})") from None
    if theirs != seed:
        raise OptionError(f"--seed {seed}: the rows of {path} have seed {theirs}, and so have more")
    return rungs


def merge_rows(kept: list[Row], rungs: list[Row]) -> list[Row]:
    """Both, a rung of both as it is in `rungs`: by variant, and in the order of the ladder."""
    rows = {(row["variant"], *row["agents"]): row for row in [*kept, *rungs]}
    variants, order = list(dict.fromkeys(key[0] for key in rows)), pairs(tuple(COMPARED))

    def place(key: tuple[str, ...]) -> tuple[int, int]:
        agents = key[1:]
        known = agents in order
        return variants.index(key[0]), order.index(agents) if known else len(order)

    return [rows[key] for key in sorted(rows, key=place)]


def split_page(path: Path) -> tuple[str, str]:
    """What stands before and after the lines between the two marks of a file."""
    try:
        before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    except OSError as error:
        raise OptionError(f"{path} cannot be read: {reason(error)}") from None
    except UnicodeDecodeError:
        raise OptionError(f"{path} is no text") from None
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise OptionError(f"{path}: no lines {BEGIN} and {END} to put the table between")
    return before + BEGIN, END + after


def write_table(path: Path, text: str) -> None:
    """Put the text between the two marks of a file."""
    before, after = split_page(path)
    write_file(path, f"{before}\n{text}\n{after}")


def check_kept(args: Args, asked: list[tuple[str, str, str]]) -> None:
    """Raise `OptionError` where a part of these rungs is not kept."""
    files = [
        file_of(args, variant, (stronger, weaker), *each)
        for variant, stronger, weaker in asked
        for each in parts_of(args, (stronger, weaker))
    ]
    missing = [path for path in files if not path.exists()]
    if missing:
        raise OptionError(
            f"--kept: {len(missing)} of {len(files)} parts are missing, {missing[0]} first: "
            "--write and --json want all of them"
        )


def main(args: Args) -> int:
    """Play what is not there yet, and print the ladder; 130 if interrupted."""
    if min(args.boards, args.search_boards) < 2 or min(args.games, args.search_games) < 0:
        raise OptionError("--boards and --search-boards: 2 or more; --games, --search-games: 0")
    asked = rungs_of(args)
    for variant, *agents in asked:
        for agent in agents:
            bideuchre_env.agents.make(agent, bideuchre_env.make(variant).rules, seed=0)
    if args.write is not None:
        split_page(args.write)
    if args.add and args.json is None:
        raise OptionError("--add: to the rows of --json FILE")
    kept = rows_in(args.json, args.seed) if args.add and args.json is not None else []
    if not args.kept:
        args.out.mkdir(parents=True, exist_ok=True)
    elif args.write is not None or args.json is not None:
        check_kept(args, asked)
    rungs: list[Row] = []
    code = 0
    try:
        for variant, stronger, weaker in asked:
            print(f"{variant}: {stronger} over {weaker}", file=sys.stderr, flush=True)
            found = rung(args, variant, stronger, weaker)
            rungs += [found] if found else []
    except KeyboardInterrupt:
        code = 130
    rungs = merge_rows(kept, rungs)
    print(table(rungs))
    if code == 0 and args.write is not None:
        write_table(args.write, table(rungs))
    if code == 0 and args.json is not None:
        text = json.dumps({"seed": args.seed, "rungs": rungs}, indent=1)
        write_file(args.json, text + "\n")
    return code


if __name__ == "__main__":
    sys.exit(run(main, Args))
