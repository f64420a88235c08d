"""The benchmark protocol: fixed tasks and opponents, so that rows of different papers compare.

A version in `PROTOCOLS` never changes: a change of tasks, field or boards is a new version.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from bideuchre_env._checks import brief
from bideuchre_env._columns import markdown_table
from bideuchre_env._files import PathLike
from bideuchre_env.agents.prepared import rules_hash
from bideuchre_env.envs.registration import make
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.field_tables import mean_of, points_text
from bideuchre_env.evaluation.tournament import tournament

Row = dict[str, Any]


@dataclass(frozen=True)
class Protocol:
    """A version of the protocol.

    Attributes:
        tasks: the variants, each with the `rules_hash` of its rules and the seed of its boards.
        field: the opponents in every task.
        boards: the number of boards of a match.
    """

    tasks: tuple[tuple[str, str, int], ...]
    field: tuple[str, ...]
    boards: int

    @property
    def definition(self) -> str:
        """A hash of all attributes, sixteen hexadecimal digits."""
        return hashlib.sha256(json.dumps(astuple(self)).encode()).hexdigest()[:16]


PROTOCOLS = {
    "v1": Protocol(
        tasks=(
            ("cincinnati_v0", "524548571da86ed4", 7101),
            ("simplified_v0", "37d9ddce732992f4", 7102),
            ("club_v0", "96506c87fa499d19", 7103),
            ("barrie_v0", "556a5ec30f161f3f", 7104),
            ("six_card_v0", "9065c5bb563bce37", 7105),
            ("double_deck_v0", "f9d38f80dd2e0f9d", 7106),
            ("partners_best_v0", "65e3d7d511a24f06", 7107),
            ("indiana_v0", "c5e79f6364165c61", 7108),
            ("pepper_v0", "2dfcaca6d826db1b", 7109),
        ),
        field=("cautious", "rule", "rule:boldness=1", "rule:boldness=-1", "expert", "net"),
        boards=1000,
    )
}


def evaluate(
    agent: str,
    protocol: str = "v1",
    *,
    decisions: float | None = None,
    minutes: float | None = None,
    out: PathLike | None = None,
    **options: Any,
) -> Row | None:
    """Play an agent against the field of a protocol, and return its row, a JSON object.

    Args:
        agent: a name for `agents.make`.
        protocol: a version, a key of `PROTOCOLS`.
        decisions, minutes: the budget of the agent's training, for the row.
        out: the folder of the results, with a folder for each task; the same call resumes there.
        options: `workers`, `force`, `progress` and `finished` of `tournament`.

    Returns:
        The row; None if the run was interrupted.

    Raises:
        OptionError: for an unknown protocol or an invalid budget, or if the rules of a variant are
            not those of the protocol; also as `tournament`.
    """
    if protocol not in PROTOCOLS:
        raise OptionError(f"protocol={brief(protocol)}: expected {' or '.join(PROTOCOLS)}")
    for name, value in (("decisions", decisions), ("minutes", minutes)):
        if value is not None and not 0 <= value < math.inf:
            raise OptionError(f"{name}={brief(value)}: expected 0 or more")
    fixed, played, seconds = PROTOCOLS[protocol], 0, 0.0
    row: Row = {"protocol": protocol, "definition": fixed.definition, "agent": agent}
    row |= {"training_decisions": decisions, "processor_minutes": minutes}
    points: dict[str, Any] = {}
    for name, rules, seed in fixed.tasks:
        game = make(name)
        if rules_hash(game.rules) != rules:
            raise OptionError(f"protocol={protocol}: {name} has other rules in this version")
        result = tournament(
            [game],
            [agent],
            field=fixed.field,
            boards=fixed.boards,
            seed=seed,
            out=None if out is None else Path(out) / name,
            **options,
        )
        if result.interrupted:
            return None
        assert result.data is not None
        points[name] = result.data["table"][0]["points_per_hand"]
        place = result.agents.index(agent)
        played += result.decisions[place]
        seconds += result.think_seconds[place]
        row |= {"version": result.data["version"], "data": result.data["software"]["data"]}
    row |= {"mean": mean_of(list(points.values())), "points_per_hand": points}
    return row | {"decisions_per_second": played / seconds if seconds else None}


def markdown(row: Row) -> str:
    """Format a row below its header, as a Markdown table."""
    cells = {
        "protocol": row["protocol"],
        "agent": row["agent"],
        "version": f"{row['version']} ({row['data'][:8]})",
        "training decisions": amount(row["training_decisions"]),
        "processor minutes": amount(row["processor_minutes"]),
        "mean": points_text(row["mean"]),
        **{name: points_text(points) for name, points in row["points_per_hand"].items()},
        "decisions/s": amount(row["decisions_per_second"]),
    }
    return markdown_table([list(cells), list(cells.values())])


def amount(number: float | None) -> str:
    """Format a number of a row as a whole number; None is "not stated"."""
    return "not stated" if number is None else f"{number:,.0f}"
