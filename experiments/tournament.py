"""A tournament: every agent against every agent on every variant, on duplicate deals.

    python experiments/tournament.py
    python experiments/tournament.py --variants barrie_v0 club_v0 --agents random rule --boards 500
    python experiments/tournament.py --agents expert pimc:worlds=20 pimc:worlds=80 --boards 400

Each pair plays the same boards, each dealt twice with the sides swapped, so the luck of the deal
cancels; `--games` adds whole games. It writes a folder with `results.csv` (a line a pair),
`results.json` (all figures), `results.md` (a table and ratings a variant) and `results.png` (the
same, drawn; needs `pip install -e ".[plot]"`). The tables are rewritten after every pair, so
Ctrl-C loses only the pair that is being played; the picture is drawn last.
"""

from __future__ import annotations

import csv
import json
import sys
import textwrap
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from command_line import parse, run

import bideuchre_env
from bideuchre_env import match, selfplay
from bideuchre_env.errors import OptionError
from bideuchre_env.intervals import Interval
from bideuchre_env.ratings import Meeting, ratings


@dataclass(frozen=True)
class Args:
    """What to play; every field is an option of the command line."""

    variants: tuple[str, ...] = field(
        default=tuple(bideuchre_env.variants), metadata={"help": "the games to play"}
    )
    agents: tuple[str, ...] = field(
        default=("random", "cautious", "rule", "expert"),
        metadata={"help": "who plays, weakest first"},
    )
    boards: int = field(default=20_000, metadata={"help": "boards a pair plays on each variant"})
    games: int = field(default=0, metadata={"help": "whole games a pair plays besides, in pairs"})
    workers: int = field(default=1, metadata={"help": "processes that play; same results"})
    seed: int = field(default=0, metadata={"help": "same seed, same deals and results"})
    out: Path = field(
        default=Path("runs/tournament"), metadata={"help": "the folder to write, made if need be"}
    )
    force: bool = field(default=False, metadata={"help": "replace results that are there already"})


COLUMNS = (
    *("variant", "a", "b", "boards", "hands", "points_per_hand", "low", "high"),
    *("a_bid", "a_made", "a_set", "a_lone_bid", "a_lone_made"),
    *("b_bid", "b_made", "b_set", "b_lone_bid", "b_lone_made"),
    *("board_sd", "tie_boards", "variance_reduction", "games", "a_won", "b_won", "win_rate"),
    *("win_low", "win_high", "a_ms_per_decision", "b_ms_per_decision", "seed"),
)
Ratings = dict[str, dict[str, Interval]]  # by variant, then agent


def parse_args(arguments: list[str] | None = None) -> Args:
    """The command line as `Args`: an option a field, its default the field's."""
    return parse(Args, __doc__, arguments)


def main(args: Args) -> int:
    """Play every pair; 130 if interrupted, 0 otherwise."""
    check(args)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "results.png").unlink(missing_ok=True)  # a picture of other results
    results: list[match.Match] = []
    rated: Ratings = {}
    interrupted = False
    for variant in args.variants:
        for weaker, stronger in combinations(args.agents, 2):
            try:
                result = play(args, variant, stronger, weaker)
            except KeyboardInterrupt:
                interrupted = True
                break
            if result.interrupted:
                interrupted = True
                break
            results.append(result)
            print(line(result), flush=True)
            write(args, results, rated)
        if any(result.variant == variant for result in results):
            rated[variant] = rate(results, variant)
            print(rating_line(variant, rated[variant]), flush=True)
        if interrupted:
            break
    write(args, results, rated)
    return finish(args, results, rated, interrupted)


def play(args: Args, variant: str, stronger: str, weaker: str) -> match.Match:
    """One pair on one variant."""
    return match.play(
        variant,
        stronger,
        weaker,
        boards=args.boards,
        games=args.games,
        seed=args.seed,
        workers=args.workers,
    )


def check(args: Args) -> None:
    """Raise `OptionError` for arguments that make no tournament, before anything is played."""
    selfplay.check_seed(args.seed, args.boards)
    if args.boards < 2:
        raise OptionError(f"--boards {args.boards}: 2 or more, for an interval")
    if len(set(args.agents)) != len(args.agents) or len(args.agents) < 2:
        raise OptionError(f"--agents {' '.join(args.agents)}: two or more different agents")
    for name in ("games", "workers"):
        least = 0 if name == "games" else 1
        if getattr(args, name) < least:
            raise OptionError(f"--{name} {getattr(args, name)}: {least} or more")
    for variant in args.variants:
        for agent in args.agents:
            bideuchre_env.agents.make(agent, bideuchre_env.make(variant).rules, seed=0)
    for name in ("results.csv", "results.json", "results.md"):
        if (args.out / name).exists() and not args.force:
            raise OptionError(f"{args.out / name} exists: another --out, or --force")


def finish(args: Args, results: list[match.Match], rated: Ratings, interrupted: bool) -> int:
    """Draw the picture, say what was written, and give the exit code."""
    if interrupted:
        print(f"interrupted: {len(results)} finished pairs are kept", file=sys.stderr)
    if results:
        written = ["results.md", "results.csv", "results.json"]
        try:
            draw(args.out / "results.png", results, rated, args)
            written.append("results.png")
        except ImportError:
            print('no picture: it needs matplotlib, pip install -e ".[plot]"', file=sys.stderr)
        print(f"written to {args.out}: {', '.join(written)}")
    return 130 if interrupted else 0


def rate(results: list[match.Match], variant: str) -> dict[str, Interval]:
    """Ratings of everyone on a variant; whoever was named first has 0."""
    meetings = [
        Meeting(*r.agents, r.board_rows["board"], r.board_rows["points"].sum(axis=1))
        for r in results
        if r.variant == variant
    ]
    return ratings(meetings, anchor=meetings[0].b)


def line(result: match.Match) -> str:
    """A finished pair in a line."""
    a, b = result.agents
    points = result.boards.points_per_hand
    assert points is not None
    return (
        f"{result.variant:<15} {a + ' - ' + b:<20} {points.mean:+7.2f} points a hand, "
        f"95 % interval {points.low:+.2f} to {points.high:+.2f}"
    )


def rating_line(variant: str, rated: dict[str, Interval]) -> str:
    """A variant's ratings in a line."""
    cells = (f"{name} {rating_of(rating)}" for name, rating in rated.items())
    return f"{variant:<15} ratings: {', '.join(cells)}"


def rating_of(rating: Interval) -> str:
    """A rating with its interval, which is wider upwards where nearly all boards were won."""
    if rating.low == rating.high:
        return f"{rating.mean:.0f}"
    return f"{rating.mean:.0f} ({rating.low:.0f} to {rating.high:.0f})"


def write(args: Args, results: list[match.Match], rated: Ratings) -> None:
    """The tables of what is finished; the old ones stay until the new ones are whole."""
    if not results:
        return
    replace(args.out / "results.md", markdown(results, rated, args))
    replace(args.out / "results.json", as_json(results, rated, args))
    partial = args.out / "results.csv.partial"
    with partial.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *map(csv_row, results)])
    partial.replace(args.out / "results.csv")


def replace(path: Path, text: str) -> None:
    """Write a file in one go."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def csv_row(result: match.Match) -> tuple[Any, ...]:
    """A pair's line of the table."""
    boards, games = result.boards, result.games
    points, share = boards.points_per_hand, games.win_rate
    assert points is not None
    counts = [n for side in boards.contracts for n in side.values()]
    won = (share.mean, share.low, share.high) if share else ("", "", "")
    return (
        *(result.variant, *result.agents, boards.boards, boards.hands),
        *(points.mean, points.low, points.high, *counts),
        *(boards.board_sd, boards.ties, boards.variance_reduction),
        *(games.games, games.a_won, games.b_won, *won, *result.ms_per_decision, result.seed),
    )


def as_json(results: list[match.Match], rated: Ratings, args: Args) -> str:
    """Everything, as one object."""
    told = {
        "boards": args.boards,
        "games": args.games,
        "seed": args.seed,
        "matches": [result.to_dict() for result in results],
        "ratings": {
            variant: {name: rating.to_dict() for name, rating in by_name.items()}
            for variant, by_name in rated.items()
        },
    }
    return json.dumps(told, indent=1) + "\n"


def markdown(results: list[match.Match], rated: Ratings, args: Args) -> str:
    """A table a variant: the row's points per hand against the column, with half the interval."""
    lines = [
        "# Tournament",
        "",
        "Points per hand of the row's partnership minus the column's, with its 95 % interval, "
        f"over {args.boards:,} duplicate boards (every deal played twice, sides swapped), seed "
        f"{args.seed}. The rating is Bradley-Terry's on who wins a board (400 points: ten boards "
        "won for each lost), with its 95 % interval; each pair is given one board more, half won "
        "and half lost. A decision's time is the mean over the agent's matches.",
    ]
    for variant in args.variants:
        scores = matrix(results, variant)
        if not scores:
            continue
        lines += ["", f"## {variant}", "", f"| | {' | '.join(args.agents)} | rating | a decision |"]
        lines += ["|---" * (len(args.agents) + 3) + "|"]
        for row in args.agents:
            cells = [
                "{:+.2f} ± {:.2f}".format(*scores[row, column]) if (row, column) in scores else ""
                for column in args.agents
            ]
            rating = rated.get(variant, {}).get(row)
            cells += [rating_of(rating) if rating else "", took(results, variant, row)]
            lines.append(f"| **{row}** | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def took(results: list[match.Match], variant: str, agent: str) -> str:
    """What an agent took over a decision on a variant, in milliseconds."""
    own = [
        (result.decided[k], result.thought[k])
        for result in results
        for k in range(2)
        if result.variant == variant and result.agents[k] == agent
    ]
    decided = sum(n for n, _ in own)
    return f"{1000 * sum(spent for _, spent in own) / decided:.2g} ms" if decided else ""


def matrix(results: list[match.Match], variant: str) -> dict[tuple[str, str], tuple[float, float]]:
    """(row, column) to the row's points per hand and half the width of the interval."""
    scores = {}
    for result in results:
        points = result.boards.points_per_hand
        if result.variant == variant and points is not None:
            a, b = result.agents
            scores[a, b] = (points.mean, points.half)
            scores[b, a] = (-points.mean, points.half)
    return scores


def draw(path: Path, results: list[match.Match], rated: Ratings, args: Args) -> None:
    """The tables as a picture: a panel a variant, blue where the row is ahead, red where behind."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    played = [variant for variant in args.variants if matrix(results, variant)]
    n, columns = len(args.agents), min(3, len(played))
    rows = -(-len(played) // columns)
    cell = max(0.95, 2.9 / n)
    figure = Figure(
        figsize=(columns * (n * cell + 1.0) + 0.9, rows * (n * cell + 0.75) + 1.1),
        layout="constrained",
    )
    FigureCanvasAgg(figure)
    scale = max(abs(mean) for v in played for mean, _ in matrix(results, v).values()) or 1.0
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat[len(played) :]:
        axis.axis("off")
    for axis, variant in zip(axes.flat, played, strict=False):
        image = panel(axis, matrix(results, variant), args.agents, variant, scale)
        axis.set_yticks(range(n), [labelled(a, rated.get(variant, {})) for a in args.agents])
    bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=30, pad=0.02)
    bar.set_label("points per hand, row minus column")
    bar.outline.set_visible(False)
    title = f"Every agent against every agent: {args.boards:,} duplicate boards a pair, ± 95 %"
    letters = int(9 * figure.get_figwidth())
    figure.suptitle(textwrap.fill(f"{title} interval; ratings at the left", letters))
    figure.savefig(path, dpi=150)


def panel(
    axis: Any,
    scores: dict[tuple[str, str], tuple[float, float]],
    agents: tuple[str, ...],
    title: str,
    scale: float,
) -> Any:
    """One variant's table as coloured cells."""
    n = len(agents)
    means = [[scores.get((a, b), (float("nan"),))[0] for b in agents] for a in agents]
    axis.set_facecolor("#eeeeee")
    image = axis.imshow(means, cmap="RdBu", vmin=-scale, vmax=scale)
    for (a, b), (mean, half) in scores.items():
        ink = "white" if abs(mean) > 0.6 * scale else "#222222"
        x, y = agents.index(b), agents.index(a)
        axis.text(x, y - 0.1, _signed(mean), ha="center", va="center", color=ink, size=13)
        axis.text(x, y + 0.2, f"± {half:.2f}", ha="center", va="center", color=ink, size=9)
    axis.set_title(title, size=11)
    axis.set_xticks(range(n), [in_lines(agent) for agent in agents])
    axis.set_yticks(range(n), agents)
    axis.set_xticks([i - 0.5 for i in range(1, n)], minor=True)
    axis.set_yticks([i - 0.5 for i in range(1, n)], minor=True)
    axis.grid(which="minor", color="white", linewidth=2)
    axis.tick_params(which="both", length=0)
    axis.spines[:].set_visible(False)
    return image


def labelled(agent: str, rated: dict[str, Interval]) -> str:
    """An agent's name over its rating, where it has one."""
    return in_lines(agent) + (f"\n{rated[agent].mean:.0f}" if agent in rated else "")


def in_lines(agent: str) -> str:
    """An agent's name with each of its options in a line of its own."""
    return agent.replace(":", ":\n").replace(",", ",\n")


def _signed(mean: float) -> str:
    return f"{mean:+.2f}".replace("-", "\N{MINUS SIGN}")


if __name__ == "__main__":
    sys.exit(run(main, parse_args))
