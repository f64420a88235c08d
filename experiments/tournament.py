"""A tournament: every agent against every agent on every variant, on duplicate deals.

    python experiments/tournament.py
    python experiments/tournament.py --variants barrie_v0 club_v0 --agents random rule --boards 500

Each pair plays the same boards, each dealt twice with the sides swapped, so the luck of the deal
cancels. It writes a folder with `results.csv` (a line a pair), `results.md` (a table a variant)
and `results.png` (the same, drawn; needs `pip install -e ".[plot]"`). The tables
are rewritten after every pair, so Ctrl-C loses only the pair that is being played; the picture is
drawn last.
"""

from __future__ import annotations

import argparse
import csv
import sys
import textwrap
from dataclasses import dataclass, field, fields
from itertools import combinations
from pathlib import Path
from typing import Any

import bideuchre_env
from bideuchre_env import selfplay
from bideuchre_env.errors import BidEuchreError, OptionError


@dataclass(frozen=True)
class Args:
    """What to play; every field is an option of the command line."""

    variants: tuple[str, ...] = field(
        default=tuple(bideuchre_env.variants), metadata={"help": "the games to play"}
    )
    agents: tuple[str, ...] = field(
        default=bideuchre_env.agents.names(), metadata={"help": "who plays, weakest first"}
    )
    boards: int = field(default=20_000, metadata={"help": "boards a pair plays on each variant"})
    seed: int = field(default=0, metadata={"help": "same seed, same deals and results"})
    out: Path = field(
        default=Path("runs/tournament"), metadata={"help": "the folder to write, made if need be"}
    )
    force: bool = field(default=False, metadata={"help": "replace results that are there already"})


COLUMNS = (
    *("variant", "a", "b", "boards", "hands", "points_per_hand", "low", "high"),
    *("a_bid", "a_made", "a_set", "a_lone_bid", "a_lone_made"),
    *("b_bid", "b_made", "b_set", "b_lone_bid", "b_lone_made"),
    *("seed", "decisions_per_second"),
)


def parse_args(arguments: list[str] | None = None) -> Args:
    """The command line as `Args`: an option a field, its default the field's."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    for option in fields(Args):
        name, default = f"--{option.name}", option.default
        told: dict[str, Any] = {"help": f"{option.metadata['help']} (default: {_shown(default)})"}
        if isinstance(default, bool):
            parser.add_argument(name, action="store_true", help=option.metadata["help"])
        elif isinstance(default, tuple):
            parser.add_argument(name, nargs="+", default=default, metavar="NAME", **told)
        else:
            parser.add_argument(name, type=type(default), default=default, metavar="X", **told)
    given = vars(parser.parse_args(arguments))
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return Args(**values)


def main(args: Args) -> int:
    """Play every pair; 130 if interrupted, 0 otherwise."""
    check(args)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "results.png").unlink(missing_ok=True)  # a picture of other results
    results: list[selfplay.Result] = []
    interrupted = False
    for variant in args.variants:
        for weaker, stronger in combinations(args.agents, 2):
            try:
                result = selfplay.play(variant, stronger, weaker, hands=args.boards, seed=args.seed)
            except KeyboardInterrupt:
                interrupted = True
                break
            if result.interrupted:
                interrupted = True
                break
            results.append(result)
            print(line(result), flush=True)
            write_csv(args.out / "results.csv", results)
            write_markdown(args.out / "results.md", results, args)
        if interrupted:
            break
    return finish(args, results, interrupted)


def check(args: Args) -> None:
    """Raise `OptionError` for arguments that make no tournament, before anything is played."""
    selfplay.check_seed(args.seed, args.boards)
    if args.boards < 2:
        raise OptionError(f"--boards {args.boards}: 2 or more, for an interval")
    if len(set(args.agents)) != len(args.agents) or len(args.agents) < 2:
        raise OptionError(f"--agents {' '.join(args.agents)}: two or more different agents")
    for variant in args.variants:
        for agent in args.agents:
            bideuchre_env.agents.make(agent, bideuchre_env.make(variant).rules, seed=0)
    if (args.out / "results.csv").exists() and not args.force:
        raise OptionError(f"{args.out / 'results.csv'} exists: another --out, or --force")


def finish(args: Args, results: list[selfplay.Result], interrupted: bool) -> int:
    """Draw the picture, say what was written, and give the exit code."""
    if interrupted:
        print(f"interrupted: {len(results)} finished pairs are kept", file=sys.stderr)
    if results:
        written = ["results.md", "results.csv"]
        try:
            draw(args.out / "results.png", results, args)
            written.append("results.png")
        except ImportError:
            print('no picture: it needs matplotlib, pip install -e ".[plot]"', file=sys.stderr)
        print(f"written to {args.out}: {', '.join(written)}")
    return 130 if interrupted else 0


def line(result: selfplay.Result) -> str:
    """A finished pair in a line."""
    a, b = result.agents
    points = result.points_per_hand
    assert points is not None
    return (
        f"{result.variant:<15} {a + ' - ' + b:<20} {points.mean:+7.2f} points a hand, "
        f"95 % interval {points.low:+.2f} to {points.high:+.2f}"
    )


def write_csv(path: Path, results: list[selfplay.Result]) -> None:
    """A line a pair."""
    partial = path.with_suffix(".csv.partial")
    with partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for r in results:
            p = r.points_per_hand
            assert p is not None
            counts = [n for side in r.contracts.values() for n in side.values()]
            points = (p.mean, p.low, p.high)
            rate = round(r.decisions_per_second)
            writer.writerow(
                (r.variant, *r.agents, r.boards, r.hands, *points, *counts, r.seed, rate)
            )
    partial.replace(path)


def write_markdown(path: Path, results: list[selfplay.Result], args: Args) -> None:
    """A table a variant: the row's points per hand against the column, with half the interval."""
    lines = [
        "# Tournament",
        "",
        "Points per hand of the row's partnership minus the column's, with its 95 % interval, "
        f"over {args.boards:,} duplicate boards (every deal played twice, sides swapped), seed "
        f"{args.seed}.",
    ]
    for variant in args.variants:
        scores = matrix(results, variant)
        if not scores:
            continue
        lines += ["", f"## {variant}", "", f"| | {' | '.join(args.agents)} |"]
        lines += ["|---" * (len(args.agents) + 1) + "|"]
        for row in args.agents:
            cells = [
                "{:+.2f} ± {:.2f}".format(*scores[row, column]) if (row, column) in scores else ""
                for column in args.agents
            ]
            lines.append(f"| **{row}** | {' | '.join(cells)} |")
    partial = path.with_suffix(".md.partial")
    partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
    partial.replace(path)


def matrix(
    results: list[selfplay.Result], variant: str
) -> dict[tuple[str, str], tuple[float, float]]:
    """(row, column) to the row's points per hand and half the width of the interval."""
    scores = {}
    for result in results:
        points = result.points_per_hand
        if result.variant == variant and points is not None:
            a, b = result.agents
            scores[a, b] = (points.mean, points.half)
            scores[b, a] = (-points.mean, points.half)
    return scores


def draw(path: Path, results: list[selfplay.Result], args: Args) -> None:
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
    bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=30, pad=0.02)
    bar.set_label("points per hand, row minus column")
    bar.outline.set_visible(False)
    title = f"Every agent against every agent: {args.boards:,} duplicate boards a pair, ± 95 %"
    letters = int(9 * figure.get_figwidth())
    figure.suptitle(textwrap.fill(f"{title} interval", letters))
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
    axis.set_xticks(range(n), agents)
    axis.set_yticks(range(n), agents)
    axis.set_xticks([i - 0.5 for i in range(1, n)], minor=True)
    axis.set_yticks([i - 0.5 for i in range(1, n)], minor=True)
    axis.grid(which="minor", color="white", linewidth=2)
    axis.tick_params(which="both", length=0)
    axis.spines[:].set_visible(False)
    return image


def _signed(mean: float) -> str:
    return f"{mean:+.2f}".replace("-", "\N{MINUS SIGN}")


def _shown(value: object) -> str:
    return " ".join(value) if isinstance(value, tuple) else str(value)


if __name__ == "__main__":
    try:
        sys.exit(main(parse_args()))
    except BidEuchreError as error:
        print(f"tournament.py: error: {error}", file=sys.stderr)
        sys.exit(2)
