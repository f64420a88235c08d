"""Figures and tables of agents, or partners, against a field, from the object of `results.json`.

`table_of` computes `table` of this object, `data`; the other functions format it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from bideuchre_env._checks import printable
from bideuchre_env._columns import columns, html_table, latex_table, markdown_table
from bideuchre_env.agents.registry import STYLES
from bideuchre_env.evaluation.schedules import CROSSPLAY, partners_name
from bideuchre_env.evaluation.statistics.intervals import Interval, mean_per_hand, wilson
from bideuchre_env.evaluation.statistics.scores import interval_dict
from bideuchre_env.evaluation.tournament_tables import Scores, in_lines, length, milliseconds

ALL = "all variants"
NOTHING = "Interrupted before an agent had played the whole field."

Data = dict[str, Any]
Cells = list[list[str]]


class Points:
    """Points of the boards of a variant, by agent or partners and opponent."""

    def __init__(self, data: Data, variant: str) -> None:
        self.field, self.tricks = data["field"], data["tricks"][variant]
        self.played: dict[tuple[str, str], Any] = {}
        for match in data["matches"]:
            if match["variant"] == variant:
                a, b = match["agents"]
                self.played[a, b] = np.array(match["board_points"].split(), np.int64)
                self.played[b, a] = -self.played[a, b]

    def has(self, names: Iterable[str]) -> bool:
        """Return whether all `names` have played against the whole field."""
        pairs = [(name, rival) for name in names for rival in self.field]
        return all(pair in self.played or pair[0] == pair[1] for pair in pairs)

    def mean(
        self, plus: Sequence[str], minus: Sequence[str] = (), field: Sequence[str] = ()
    ) -> dict[str, float | None]:
        """Return the mean points per hand of `plus` over the field, less that of `minus`.

        The interval is over boards: the same board has the same deal in every match. An agent has
        no points against itself, by symmetry. `minus` has as many names as `plus`, or none.
        """
        field = field or self.field
        total, played = np.zeros(1, np.int64), False
        for sign, names in ((1, plus), (-1, minus)):
            for pair in [(name, rival) for name in names for rival in field]:
                if pair in self.played:
                    total, played = total + sign * self.played[pair], True
        if not played:
            return Interval(0.0, 0.0, 0.0).to_dict()
        margin = self.tricks * math.sqrt(float((total == 0).mean()))
        return interval_dict(mean_per_hand(total, 2 * len(plus) * len(field), margin))


def table_of(data: Data) -> list[Data]:
    """Return the rows of all agents, or pairs of partners, that have played the whole field."""
    rows: list[Data] = []
    for variant in data["tricks"]:
        points = Points(data, variant)
        if data["kind"] == CROSSPLAY:
            rows += _partner_rows(data, variant, points)
            continue
        first = data["entrants"][0]
        for agent in [each for each in data["entrants"] if points.has([each])]:
            row = {"variant": variant, "agent": agent, "points_per_hand": points.mean([agent])}
            row |= _strength(data, variant, agent)
            row["opponents"] = {each: points.mean([agent], (), [each]) for each in points.field}
            if agent != first and points.has([first]):
                less = {each: points.mean([agent], [first], [each]) for each in points.field}
                row |= {"more_than_first": points.mean([agent], [first]), "more_by_opponent": less}
            rows.append(row)
    if data["kind"] != CROSSPLAY and len(data["tricks"]) > 1:
        for agent in data["entrants"]:
            own = [row["rating"] for row in rows if row["agent"] == agent and row["rating"]]
            if len(own) == len(data["tricks"]):
                row = {"variant": ALL, "agent": agent, **_strength(data, ALL, agent)}
                rows.append(row | {"rating": mean_of(own)})
    return rows


def mean_of(intervals: list[Data]) -> Data:
    """Return the mean of intervals whose errors are independent."""
    means, lows, highs = np.array(
        [[each[k] for k in ("mean", "low", "high")] for each in intervals]
    ).T
    n, mean = len(intervals), float(means.mean())
    low, high = (math.hypot(*(means - ends)) / n for ends in (lows, highs))
    return Interval(mean, mean - low, mean + high).to_dict()


def _strength(data: Data, variant: str, agent: str) -> Data:
    """Return the share of games won, the rating and the speed of an agent on a variant."""
    pairs = [(agent, rival) for rival in data["field"]]
    own = [match for match in data["matches"] if variant in (match["variant"], ALL)]
    ours = [(match["games"]["a_won"], match) for match in own if tuple(match["agents"]) in pairs]
    swapped = [(b, a) for a, b in pairs]
    ours += [(match["games"]["b_won"], match) for match in own if tuple(match["agents"]) in swapped]
    won, own = sum(games for games, _ in ours), [match for _, match in ours]
    share = wilson(won, sum(sum(match["games"].values()) for match in own))
    if share is not None and agent in data["field"]:  # half of the games against itself
        n, ends = len(data["field"]), (share.mean, share.low or 0.0, share.high or 0.0)
        share = Interval(*((each * (n - 1) + 0.5) / n for each in ends))
    ms = milliseconds(own, agent)
    return {
        "games_won": share.to_dict() if share else None,
        "rating": data["ratings"].get(variant, {}).get(agent),
        "decisions_per_second": 1000 / ms if ms else None,
    }


def _partner_rows(data: Data, variant: str, points: Points) -> list[Data]:
    """Return a row for each agent's self-play and cross-play, then for each pair of partners."""
    agents, rows = data["entrants"], []
    for agent in agents:
        pairs = [pair for pair in combinations(agents, 2) if agent in pair]
        others = [partners_name(*pair) for pair in pairs]
        if points.has([agent, *others]):
            alone = [agent] * len(others)
            rows.append(
                {
                    "variant": variant,
                    "agent": agent,
                    "self_play": points.mean([agent]),
                    "cross_play": points.mean(others),
                    "difference": points.mean(others, alone),
                }
            )
    for a, b in combinations_with_replacement(agents, 2):
        name = partners_name(a, b)
        if points.has([name]):
            own = [each for each in {a: 0, b: 0} if a != b and points.has([each])]
            less = {each: points.mean([name], [each]) for each in own}
            row = {"variant": variant, "partners": [a, b], "points_per_hand": points.mean([name])}
            rows.append(row | {"more_than_self_play": less})
    return rows


# --- tables ---------------------------------------------------------------------------------------


def sections(data: Data) -> list[tuple[str, str, Cells]]:
    """Return (variant, title, cells with a header row) of every table."""
    tables = []
    for variant in dict.fromkeys(row["variant"] for row in data["table"]):
        rows = [row for row in data["table"] if row["variant"] == variant]
        make = _of_partners if data["kind"] == CROSSPLAY else _of_agents
        tables += [(variant, title, cells) for title, cells in make(data, rows) if cells[1:]]
    return tables


def _of_agents(data: Data, rows: list[Data]) -> list[tuple[str, Cells]]:
    strength = [["agent", "points per hand", "games won", "rating", "decisions/s"]]
    over = [["agent", *(f"over {name}" for name in data["field"])]]
    more = [["agent", "mean", *over[0][1:]]]
    for row in rows:
        agent, rate = row["agent"], row["decisions_per_second"]
        cells = [points_text(row.get("points_per_hand")), _range(row["games_won"], 100, 1, " %")]
        cells += [_range(row["rating"], 1, 0), f"{float(f'{rate:.3g}'):,.0f}" if rate else ""]
        strength.append([agent, *cells])
        if opponents := row.get("opponents"):
            cells = [
                "" if name == agent else points_text(opponents[name]) for name in data["field"]
            ]
            over.append([agent, *cells])
        if "more_than_first" in row:
            less = (row["more_by_opponent"][name] for name in data["field"])
            more.append([agent, *map(points_text, (row["more_than_first"], *less))])
    used = [k for k in range(5) if any(row[k] for row in strength[1:])]
    return [
        ("Strength", [[row[k] for k in used] for row in strength]),
        ("Points per hand over each agent of the field", over),
        (f"Difference to {data['entrants'][0]}, on the same boards", more),
    ]


def _of_partners(data: Data, rows: list[Data]) -> list[tuple[str, Cells]]:
    agents, keys = data["entrants"], ("self_play", "cross_play", "difference")
    summary = [["agent", *(key.replace("_", "-") for key in keys)]]
    summary += [
        [each["agent"], *(points_text(each[k]) for k in keys)] for each in rows if "agent" in each
    ]
    pairs, both, more = pair_rows(rows), [["", *agents]], [["", *agents]]
    for a in agents:
        own = [pairs.get((a, b), {}) for b in agents]
        both.append([a, *(points_text(row.get("points_per_hand")) for row in own)])
        more.append([a, *(points_text(row.get("more_than_self_play", {}).get(a)) for row in own)])
    return [
        ("Self-play and cross-play", summary),
        ("Points per hand of the row's agent with the column's agent as partner", both),
        ("Difference to the row's agent with itself as partner", more),
    ]


def pair_rows(rows: list[Data]) -> dict[tuple[str, str], Data]:
    """Return the rows of partners by their two agents, in both orders."""
    pairs = [row for row in rows if "partners" in row]
    return {tuple(row["partners"][::step]): row for row in pairs for step in (1, -1)}


def pair_scores(data: Data) -> dict[str, Scores]:
    """Return points per hand and half the interval's width of partners, as `scores` of matches."""
    tables: dict[str, Scores] = {}
    for row in data["table"]:
        for pair in pair_rows([row]):
            points = Interval(**row["points_per_hand"])
            tables.setdefault(row["variant"], {})[pair] = points.mean, points.half
    return tables


def points_text(interval: Data | None) -> str:
    """Format an interval of points per hand; "" for None."""
    if interval is None:
        return ""
    return f"{interval['mean']:+.2f} ± {Interval(**interval).half:.2f}"


def _range(interval: Data | None, scale: float, places: int, unit: str = "") -> str:
    if interval is None:
        return ""
    mean, low, high = (f"{scale * interval[key]:.{places}f}" for key in ("mean", "low", "high"))
    return f"{mean}{unit}" if low == high else f"{mean} ({low} to {high}){unit}"


def introduction(data: Data) -> list[str]:
    """Return paragraphs on command, versions, boards, intervals and ratings."""
    facts, field = data["software"], data["field"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    files = {"agents' data": facts["data"], **data["files"]}
    hashes = [f"{printable(name)} {digest[:12]}" for name, digest in files.items() if digest]
    styles = [f"{name} is {STYLES[name]}" for name in data["agents"] if name in STYLES]
    games = f" and {data['games']:,} games" if data["games"] else ""
    made = f"Command: `{printable(data['command'])}`. " if data["command"] else ""
    entrant = "pair of partners" if data["kind"] == CROSSPLAY else "agent"
    own = " By symmetry, an agent has 0 points and half of the games against itself."
    own = "" if set(field).isdisjoint(data["entrants"]) else own
    texts = [
        f"{made}Versions: {versions}, {facts['python']}, {', '.join(hashes)} (SHA-256).",
        f"Each {entrant} plays {length(data)} ({2 * data['boards']:,} hands){games} against each "
        f"agent of the field, seed {data['seed']}. Field: {', '.join(field)}"
        f"{' (' + ', '.join(styles) + ')' if styles else ''}. Points per hand are the mean over "
        f"the field, with the 95 % interval over boards; all matches have the same deals.{own}",
    ]
    if data["kind"] == CROSSPLAY:
        texts.append(
            "Self-play: both partners are the same agent. Cross-play: the mean over all other "
            "agents as partners. The first agent of a pair has seat 0 or 1 of a table, the second "
            "seat 2 or 3."
        )
    else:
        texts.append(
            f"Ratings are Bradley-Terry ratings of the boards won, with 95 % intervals: {field[0]} "
            "has rating 0; 400 points are ten boards won for each board lost. They depend on all "
            "agents of the table. Games won have Wilson's 95 % interval. Decisions per second are "
            "measured in processor time without child processes, in batches of observations."
        )
    return texts


def in_text(data: Data) -> str:
    """Format the tables as text."""
    parts = []
    for variant, title, cells in sections(data):
        if len(cells[0]) > 5 or cells[0][0] == "":  # agents by column
            cells = [[in_lines(cell).replace(" ±", "\n±") for cell in row] for row in cells]
        table = columns(cells, "l" + "r" * (len(cells[0]) - 1), gap=2)
        parts.append(f"{variant}: {title}\n\n{table}")
    note = f"± 95 % interval; {length(data)} a match, seed {data['seed']}"
    return "\n\n".join([*parts, note]) if parts else NOTHING


def html(data: Data) -> str:
    """Format the tables as HTML, for notebooks."""
    parts = [
        f"<p><b>{escape(f'{variant}: {title}')}</b></p>"
        + html_table(cells, "l" + "r" * (len(cells[0]) - 1))
        for variant, title, cells in sections(data)
    ]
    return "".join(parts) or f"<p>{NOTHING}</p>"


def markdown(data: Data) -> str:
    """Format the introduction and the tables as a Markdown page."""
    title = "Cross-play" if data["kind"] == CROSSPLAY else "Evaluation"
    lines, before = [f"# {title}", "", "\n\n".join(introduction(data))], ""
    for variant, title, cells in sections(data):
        lines += ["", f"## {variant}"] if variant != before else []
        lines += ["", f"{title}:", "", markdown_table(cells)]
        before = variant
    return "\n".join(lines) + "\n"


def latex(data: Data) -> str:
    """Format the tables for LaTeX with the package booktabs, the introduction as comments."""
    lines = ["% " + text for text in (*introduction(data), r"Needs \usepackage{booktabs}.")]
    for variant, title, cells in sections(data):
        caption = (
            f"{title}: {variant}, {length(data)} per match, seed {data['seed']}, 95 % intervals."
        )
        lines += ["", latex_table(cells, "l" + "r" * (len(cells[0]) - 1), caption)]
    return "\n".join(lines) + "\n"
