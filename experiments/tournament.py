"""A tournament: every agent plays every other on every variant, on duplicate boards.

    python experiments/tournament.py
    python experiments/tournament.py --variants barrie_v0 --agents random rule
    python experiments/tournament.py --agents expert pimc:worlds=20 --boards 400

Each pair plays the same boards, each dealt twice with the sides swapped, so the luck of the deal
cancels; `--games` adds whole games, `--sprt LOW HIGH` ends a pair's boards as soon as they have
settled the question. It writes a folder with `results.csv` (a line per pair), `results.json` (all
figures), `results.md` (ratings and two tables per variant) and `results-light.svg` and
`results-dark.svg` (the first of them, drawn for light and for dark pages; they need
`pip install -e ".[plot]"`). The tables are rewritten after every pair, so Ctrl-C loses
only the pair that is being played; the picture is drawn last.
"""

from __future__ import annotations

import bideuchre_env.runtime.quitting  # first: Ctrl-C is one line from now on

# isort: split
import csv
import io
import json
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from tournament_picture import Scores, draw

import bideuchre_env
from bideuchre_env import match
from bideuchre_env._files import only_run_in, write_file
from bideuchre_env.cli.script_args import ScriptArgs, run
from bideuchre_env.errors import OptionError, OutputError
from bideuchre_env.evaluation.pictures import files
from bideuchre_env.evaluation.ray_pool import RayPool, workers_of
from bideuchre_env.evaluation.report import part_of, share_of
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.seeding import check_seed
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.evaluation.statistics.ratings import Meeting, ratings
from bideuchre_env.evaluation.statistics.sequential import Bounds


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to play; every field is an option of the command line."""

    variants: tuple[str, ...] = field(
        default=tuple(bideuchre_env.variants),
        metadata={"help": "the games to play: variants, or .toml files of rules"},
    )
    agents: tuple[str, ...] = field(
        default=("random", "cautious", "rule", "expert"),
        metadata={"help": "the agents, weakest first"},
    )
    boards: int = field(default=20_000, metadata={"help": "boards a pair plays on each variant"})
    games: int = field(default=0, metadata={"help": "whole games a pair plays too"})
    sprt: tuple[float, float] | None = field(
        default=None,
        metadata={
            "help": "end a pair's boards once it is settled whether the agent named later is worth "
            "at most LOW or at least HIGH points per hand, as 0 0.1; --boards is then the most"
        },
    )
    workers: int = field(
        default=1, metadata={"help": "processes that play; the results stay the same"}
    )
    ray: bool = field(
        default=False,
        metadata={"help": "play on Ray: on the cluster this machine is in, or on one started here"},
    )
    ray_address: str | None = field(
        default=None,
        metadata={"help": "play on the Ray cluster of this address", "metavar": "HOST:PORT"},
    )
    seed: int = field(default=0, metadata={"help": "same seed, same deals and results"})
    out: Path = field(default=Path("runs/tournament"), metadata={"help": "the folder to write to"})
    force: bool = field(default=False, metadata={"help": "replace the results in that folder"})


COLUMNS = (
    *("variant", "a", "b", "boards", "hands", "points_per_hand", "low", "high"),
    *("a_bid", "a_made", "a_set", "a_lone_bid", "a_lone_made"),
    *("b_bid", "b_made", "b_set", "b_lone_bid", "b_lone_made"),
    *("board_sd", "tie_boards", "variance_reduction", "games", "a_won", "b_won", "win_rate"),
    *("win_low", "win_high", "a_ms_per_decision", "b_ms_per_decision", "seed"),
    *("sprt_low", "sprt_high", "sprt_llr", "sprt_verdict"),
)
Ratings = dict[str, dict[str, Interval]]  # by variant, then agent


def main(args: Args) -> int:
    """Play every pair; 130 if interrupted, 1 if the results cannot be written, else 0."""
    check(args)
    with (
        only_run_in(args.out),
        workers_of(args.workers, args.ray, args.ray_address) as workers,
    ):
        return play_all(args, workers)


def play_all(args: Args, workers: int | RayPool) -> int:
    """Play every pair, and write all there is after each."""
    games = {game.name: game for game in map(bideuchre_env.make, args.variants)}
    args = replace(args, variants=tuple(games))
    results: list[Result] = []
    rated: Ratings = {}
    interrupted = False
    for variant in args.variants:
        for weaker, stronger in combinations(args.agents, 2):
            try:
                result = play(args, games[variant], stronger, weaker, workers)
            except KeyboardInterrupt:
                interrupted = True
                break
            if result.interrupted:
                interrupted = True
                break
            results.append(result)
            print(line(result), flush=True)
            with suppress(OutputError):  # there may be room again after the next one
                write(args, results, rated)
        if any(result.variant == variant for result in results):
            rated[variant] = rate(results, variant)
            print(rating_line(variant, rated[variant]), flush=True)
        if interrupted:
            break
    return finish(args, results, rated, interrupted)


def play(
    args: Args, game: bideuchre_env.Variant, stronger: str, weaker: str, workers: int | RayPool
) -> Result:
    """One pair on one variant; the agents are called as they were asked for."""
    result = match.play(
        game,
        stronger,
        weaker,
        boards=args.boards,
        games=args.games,
        sprt=Bounds(*args.sprt) if args.sprt else None,
        seed=args.seed,
        workers=workers,
    )
    return replace(result, agents=(stronger, weaker))


def check(args: Args) -> None:
    """Raise `OptionError` for arguments that make no tournament, before anything is played."""
    check_seed(args.seed, args.boards)
    if args.boards < 2:
        raise OptionError(f"--boards {args.boards}: 2 or more, for an interval")
    if len(set(args.agents)) != len(args.agents) or len(args.agents) < 2:
        raise OptionError(f"--agents {' '.join(args.agents)}: two or more different agents")
    for name in ("games", "workers"):
        least = 0 if name == "games" else 1
        if getattr(args, name) < least:
            raise OptionError(f"--{name} {getattr(args, name)}: {least} or more")
    if args.sprt:
        Bounds(*args.sprt)  # refuses what are none
    games = [bideuchre_env.make(variant) for variant in args.variants]
    if len({game.name for game in games}) < len(games):
        raise OptionError(f"--variants {' '.join(args.variants)}: each needs a name of its own")
    for game in games:
        for agent in args.agents:
            bideuchre_env.agents.make(agent, game.rules, seed=0)
    for name in ("results.csv", "results.json", "results.md"):
        if (args.out / name).exists() and not args.force:
            raise OptionError(f"{args.out / name} exists: another --out, or --force")


def finish(args: Args, results: list[Result], rated: Ratings, interrupted: bool) -> int:
    """Draw the picture, say what was written, and give the exit code."""
    if interrupted:
        print(f"interrupted: {len(results)} finished pairs are kept", file=sys.stderr)
    if results:
        write(args, results, rated)
        written = ["results.md", "results.csv", "results.json"]
        try:
            draw(args.out / "results", json.loads(as_json(results, rated, args)))
            written += ["results-light.svg", "results-dark.svg"]
        except ImportError:
            print('no picture: it needs matplotlib, pip install -e ".[plot]"', file=sys.stderr)
        print(f"written to {args.out}: {', '.join(written)}")
    return 130 if interrupted else 0


def rate(results: list[Result], variant: str) -> dict[str, Interval]:
    """Ratings of everyone on a variant; whoever was named first has 0."""
    meetings = [
        Meeting(*r.agents, r.board_rows["board"], r.board_rows["points"].sum(axis=1))
        for r in results
        if r.variant == variant
    ]
    return ratings(meetings, anchor=meetings[0].b)


def line(result: Result) -> str:
    """A finished pair in a line."""
    a, b = result.agents
    points = result.boards.points_per_hand
    assert points is not None
    return (
        f"{result.variant:<15} {f'{a} against {b}':<25} {points.mean:+7.2f} points per hand, "
        f"95 % interval {points.low:+.2f} to {points.high:+.2f}"
        + (f"; {result.test.answer}, after {result.test.boards:,} boards" if result.test else "")
    )


def length(args: Args) -> str:
    """How many boards a pair plays, in words."""
    return f"{'up to ' if args.sprt else ''}{args.boards:,} duplicate boards"


def rating_line(variant: str, rated: dict[str, Interval]) -> str:
    """A variant's ratings in a line."""
    cells = (f"{name} {rating_of(rating)}" for name, rating in rated.items())
    return f"{variant:<15} ratings: {', '.join(cells)}"


def rating_of(rating: Interval) -> str:
    """A rating with its interval, which is wider upwards where nearly all boards were won."""
    if rating.low == rating.high:
        return f"{rating.mean:.0f}"
    return f"{rating.mean:.0f} ({rating.low:.0f} to {rating.high:.0f})"


def write(args: Args, results: list[Result], rated: Ratings) -> None:
    """The tables of what is finished; the old ones stay until the new ones are whole."""
    write_file(args.out / "results.md", markdown(results, rated, args))
    write_file(args.out / "results.json", as_json(results, rated, args))
    table = io.StringIO(newline="")
    csv.writer(table).writerows([COLUMNS, *map(csv_row, results)])
    write_file(args.out / "results.csv", table.getvalue())
    if len(results) == 1:
        for picture in files(args.out / "results"):
            picture.unlink(missing_ok=True)  # one of other results


def csv_row(result: Result) -> tuple[Any, ...]:
    """The line of a pair in the table."""
    boards, games = result.boards, result.games
    points, share = boards.points_per_hand, games.win_rate
    assert points is not None
    counts = [n for side in boards.contracts for n in side.values()]
    won = (share.mean, share.low, share.high) if share else ("", "", "")
    test = result.test.to_dict() if result.test else {}
    return (
        *(result.variant, *result.agents, boards.boards, boards.hands),
        *(points.mean, points.low, points.high, *counts),
        *(boards.board_sd, boards.ties, boards.variance_reduction),
        *(games.games, games.a_won, games.b_won, *won, *result.ms_per_decision, result.seed),
        *(test.get(key, "") for key in ("low", "high", "llr", "verdict")),
    )


def as_json(results: list[Result], rated: Ratings, args: Args) -> str:
    """Everything, as one object."""
    data = {
        "agents": args.agents,
        "boards": args.boards,
        "games": args.games,
        "sprt": args.sprt,
        "seed": args.seed,
        "matches": [result.to_dict() for result in results],
        "ratings": {
            variant: {name: rating.to_dict() for name, rating in by_name.items()}
            for variant, by_name in rated.items()
        },
    }
    return json.dumps(data, indent=1) + "\n"


def markdown(results: list[Result], rated: Ratings, args: Args) -> str:
    """Two tables per variant: points per hand by row and column, and how each pair's came about."""
    lines = [
        "# Tournament",
        "",
        "Points per hand of the row's partnership minus the column's, with its 95 % interval, "
        f"over {length(args)} (every deal played twice, sides swapped), seed {args.seed}. The "
        "rating is Bradley-Terry's on who wins a board (400 points: ten boards won for each lost), "
        "with its 95 % interval; each pair is given one board more, half won and half lost. A "
        "decision's time is the mean over the agent's matches.",
        "",
        "The second table has, for both agents of a pair in its order, contracts made and set, and "
        "lone bids tried and made; then the boards on which both scored alike, and the number by "
        "which playing every deal twice divides the variance of points per hand"
        + ("; and the first agent's share of whole games." if args.games else "."),
    ]
    if args.sprt:
        lines += [
            "",
            "A pair's boards ended once a sequential test had settled whether the first is worth "
            "at most {:+g} or at least {:+g} points per hand (errors of 5 % either way); intervals "
            "and ratings are not corrected for stopping.".format(*args.sprt),
        ]
    for variant in args.variants:
        scores = matrix(results, variant)
        if not scores:
            continue
        lines += [
            "",
            f"## {variant}",
            "",
            f"| | {' | '.join(args.agents)} | rating | decision time |",
        ]
        lines += ["|---" * (len(args.agents) + 3) + "|"]
        for row in args.agents:
            cells = [
                "{:+.2f} ± {:.2f}".format(*scores[row, column]) if (row, column) in scores else ""
                for column in args.agents
            ]
            rating = rated.get(variant, {}).get(row)
            cells += [rating_of(rating) if rating else "", decision_time(results, variant, row)]
            lines.append(f"| **{row}** | {' | '.join(cells)} |")
        lines += ["", *details([each for each in results if each.variant == variant], args)]
    return "\n".join(lines) + "\n"


def details(results: list[Result], args: Args) -> list[str]:
    """A table of pairs: contracts, lone bids, ties, what duplication saves, games, the test."""
    columns = ["pair", "boards", "made", "set", "alone", "made alone", "tied boards"]
    columns += (
        ["variance divided by"]
        + ["games won"] * bool(args.games)
        + ["sequential test"] * bool(args.sprt)
    )
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for result in results:
        boards, share = result.boards, result.games.win_rate
        counts = [
            (
                part_of(count["made"], count["bid"]),
                part_of(count["set"], count["bid"]),
                f"{count['lone_bid']:,}",
                part_of(count["lone_made"], count["lone_bid"]),
            )
            for count in boards.contracts
        ]
        reduction = boards.variance_reduction
        cells = [" / ".join(result.agents), f"{boards.boards:,}"]
        cells += [" / ".join(pair) for pair in zip(*counts, strict=True)]
        cells += [part_of(boards.ties, boards.boards), f"{reduction:.2f}" if reduction else ""]
        if args.games:
            cells.append(" ".join(share_of(share).split()))
        if result.test:
            cells.append(result.test.answer)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def decision_time(results: list[Result], variant: str, agent: str) -> str:
    """The mean time of an agent's decision on a variant, in milliseconds."""
    own = [
        (result.decisions[k], result.think_seconds[k])
        for result in results
        for k in range(2)
        if result.variant == variant and result.agents[k] == agent
    ]
    decisions, seconds = sum(n for n, _ in own), sum(spent for _, spent in own)
    return f"{1000 * seconds / decisions:.2g} ms" if decisions else ""


def matrix(results: list[Result], variant: str) -> Scores:
    """(row, column) to the row's points per hand and half the width of the interval."""
    scores = {}
    for result in results:
        points = result.boards.points_per_hand
        if result.variant == variant and points is not None:
            a, b = result.agents
            scores[a, b] = (points.mean, points.half)
            scores[b, a] = (-points.mean, points.half)
    return scores


if __name__ == "__main__":
    sys.exit(run(main, Args))
