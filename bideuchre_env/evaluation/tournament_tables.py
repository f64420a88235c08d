"""The tables of a tournament as text, HTML, Markdown and CSV.

`data` is always the object of `results.json`, `match` one of its matches.
"""

from __future__ import annotations

from html import escape
from typing import Any

from bideuchre_env._columns import columns, html_table, markdown_table
from bideuchre_env.evaluation.reports import contract_rows, part_of, share_of
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.evaluation.statistics.sequential import Bounds, SequentialTest

NOTHING = "Interrupted before a pair was finished."
_GAP = 2  # blanks between columns: eight agents fit 80 characters

Data = dict[str, Any]
Scores = dict[tuple[str, str], tuple[float, float]]  # (row, column): points, half interval


def scores(data: Data) -> dict[str, Scores]:
    """Return points per hand and half the interval's width of every pair, in both orders.

    The result maps a variant to a dict from (agent, opponent) to (points, half the width).
    """
    tables: dict[str, Scores] = {}
    for match in data["matches"]:
        (a, b), points = match["agents"], Interval(**match["points_per_hand"])
        table = tables.setdefault(match["variant"], {})
        table[a, b], table[b, a] = (points.mean, points.half), (-points.mean, points.half)
    return tables


def in_text(data: Data) -> str:
    """Format, per variant, points per hand by row and column, then ratings and decision times."""
    parts = []
    for variant in scores(data):
        table = columns(_cells(data, variant, "\n"), "l" + "r" * len(data["agents"]), gap=_GAP)
        parts += [_title(data, variant), table, columns(_rating_rows(data, variant), "lrr")]
    return "\n\n".join(parts) or NOTHING


def html(data: Data) -> str:
    """Format the tables of `in_text` in HTML, for notebooks."""
    parts = []
    for variant in scores(data):
        table, rated = _cells(data, variant, " "), _rating_rows(data, variant)
        parts.append(f"<p><b>{escape(_title(data, variant))}</b></p>")
        parts.append(html_table(table, "l" + "r" * len(data["agents"])))
        parts.append(html_table(rated, "lrr"))
    return "".join(parts) or f"<p>{NOTHING}</p>"


def _title(data: Data, variant: str) -> str:
    return (
        f"{variant}: points per hand of the row's agents against the column's\n"
        f"(± 95 % interval; {length(data)} a pair, seed {data['seed']})"
    )


def _cells(data: Data, variant: str, between: str) -> list[list[str]]:
    """Return a table of points per hand by agent and opponent, header first.

    `between` separates a number from its ± interval.
    """
    table, agents = scores(data)[variant], data["agents"]
    rows = [["", *map(in_lines, agents)]]
    for row in agents:
        pairs = [table.get((row, column)) for column in agents]
        rows.append([row, *(f"{p[0]:+.2f}{between}± {p[1]:.2f}" if p else "" for p in pairs)])
    return rows


def _rating_rows(data: Data, variant: str) -> list[tuple[str, str, str]]:
    """Return a table of each agent's rating and decision time, header first, best rating first."""
    rows = [("", "rating (95 % interval)", "decision time")]
    for agent, rating in data["ratings"].get(variant, {}).items():
        own = "{mean:.0f} ({low:.0f} to {high:.0f})".format(**rating)
        if rating["low"] == rating["high"]:
            own = f"{rating['mean']:.0f}"
        rows.append((agent, own, decision_time(data["matches"], variant, agent)))
    return rows


def in_lines(agent: str) -> str:
    """Break an agent's name into lines, one for each option."""
    return agent.replace(":", ":\n").replace(",", ",\n")


def length(data: Data) -> str:
    """Return the number of boards of a pair in words, "up to" it with a sequential test."""
    return f"{'up to ' if data['sprt'] else ''}{data['boards']:,} duplicate boards"


def line(match: Data) -> str:
    """Format a finished pair as a line: agents, points per hand, and the verdict of a test."""
    (a, b), points = match["agents"], Interval(**match["points_per_hand"])
    test = f"   {answer(match)}, after {match['boards']:,} boards" if match["sprt"] else ""
    return f"{f'{a} against {b}':<32} {points.mean:+7.2f} ± {points.half:.2f} points per hand{test}"


def answer(match: Data) -> str:
    """The verdict of a pair's sequential test, in words."""
    test = match["sprt"]
    bounds = Bounds(test["low"], test["high"])
    return SequentialTest(bounds, spread=1.0, verdict=test["verdict"]).answer


def csv_row(match: Data) -> dict[str, Any]:
    """Return the row of a pair in `results.csv`, as a dict from column to value."""
    row = {"variant": match["variant"], **dict(zip("ab", match["agents"], strict=True))}
    row |= {name: match[name] for name in ("boards", "hands")}
    points, games, won = (match[name] for name in ("points_per_hand", "games", "win_rate"))
    row |= {"points_per_hand": points["mean"], "low": points["low"], "high": points["high"]}
    for side, agent in zip("ab", match["agents"], strict=True):
        row |= {f"{side}_{name}": n for name, n in match["contracts"][agent].items()}
    row |= {name: match[name] for name in ("board_sd", "tie_boards", "variance_reduction")}
    row |= {"games": sum(games.values()), "a_won": games["a_won"], "b_won": games["b_won"]}
    row |= {"win_rate": won["mean"], "win_low": won["low"], "win_high": won["high"]}
    for side, agent in zip("ab", match["agents"], strict=True):
        row[f"{side}_ms_per_decision"] = match["ms_per_decision"][agent]
    row["seed"], test = match["seed"], match["sprt"] or {}
    return row | {f"sprt_{name}": test.get(name) for name in ("low", "high", "llr", "verdict")}


def markdown(data: Data) -> str:
    """Format two tables per variant: points per hand by row and column, and details of pairs."""
    lines = _introduction(data)
    for variant in scores(data):
        rated = {agent: cells for agent, *cells in _rating_rows(data, variant)}
        table = [["", *data["agents"], "rating", "decision time"]]
        for agent, *points in _cells(data, variant, " ")[1:]:
            table.append([f"**{agent}**", *points, *rated.get(agent, ("", ""))])
        lines += ["", f"## {variant}", "", markdown_table(table), "", _details(data, variant)]
    return "\n".join(lines) + "\n"


def _introduction(data: Data) -> list[str]:
    """Return the lines of Markdown that explain the tables."""
    lines = [
        "# Tournament",
        "",
        f"Each pair plays {length(data)}, seed {data['seed']}. Every deal is played twice, with "
        "the sides swapped. The first table of a variant has the points per hand of the row's "
        "agent minus the column's, with the 95 % interval. The rating is a Bradley-Terry rating of "
        "the boards won, with its 95 % interval: 400 points are ten boards won for each board "
        "lost. One more board, half won and half lost, is added to each pair. The decision time "
        "is the mean over all matches of the agent, in processor time without child processes.",
        "",
        "The second table has, for both agents of a pair in this order, the contracts made, the "
        "lone bids, and the lone bids made. A tied board has the same result for both agents. "
        '"Variance divided by" is the factor by which playing every deal twice reduces the '
        "variance of points per hand."
        + (" Games won are those of the first agent." if data["games"] else ""),
        "",
        "`results.csv` has more figures of each pair, such as contracts set.",
    ]
    if data["sprt"]:
        lines += [
            "",
            "A pair ends as soon as a sequential test decides whether the first agent is better by "
            "at most {:+g} or by at least {:+g} points per hand, with errors of 5 % either way. "
            "Intervals and ratings are not corrected for the early end.".format(*data["sprt"]),
        ]
    return lines


def _details(data: Data, variant: str) -> str:
    """Return a table of pairs: contracts, lone bids, ties, variance reduction, games, test."""
    heads = ["pair", "boards", "made", "alone", "made alone", "tied boards"]
    heads += ["variance divided by"] + ["games won"] * bool(data["games"])
    heads += ["sequential test"] * bool(data["sprt"])
    rows = [heads]
    for match in data["matches"]:
        if match["variant"] != variant:
            continue
        counts = [match["contracts"][agent] for agent in match["agents"]]
        both = zip(*contract_rows(match["agents"], counts), strict=True)
        pair, _, made, _, *lone = (" / ".join(cells) for cells in both)
        reduction = match["variance_reduction"]
        cells = [pair, f"{match['boards']:,}", made, *lone]
        cells.append(part_of(match["tie_boards"], match["boards"]))
        cells.append(f"{reduction:.2f}" if reduction else "")
        if data["games"]:
            cells.append(" ".join(share_of(Interval(**match["win_rate"])).split()))
        if match["sprt"]:
            cells.append(answer(match))
        rows.append(cells)
    return markdown_table(rows)


def decision_time(matches: list[Data], variant: str, agent: str) -> str:
    """Format the mean time of an agent's decisions on a variant in milliseconds; "" for none."""
    own = [each for each in matches if each["variant"] == variant and agent in each["agents"]]
    mean = milliseconds(own, agent)
    return "" if mean is None else f"{mean:.2g} ms"


def milliseconds(matches: list[Data], agent: str) -> float | None:
    """Return the mean time of an agent's decisions in its matches; None without decisions."""
    times = [(match["decisions"][agent], match["ms_per_decision"][agent]) for match in matches]
    decisions, total = sum(n for n, _ in times), sum(n * each for n, each in times if n)
    return total / decisions if decisions else None
