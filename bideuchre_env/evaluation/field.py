"""Agents, or pairs of agents as partners, against a fixed field of opponents.

    field.play(["cincinnati_v0"], ["net", "./mine.py:Mine"], ["rule", "expert"], out="runs/mine")
    field.play(["cincinnati_v0"], ["net", "expert"], ["rule"], crossplay=True)

It is a tournament without matches among the agents. All matches of a variant have the same deals,
so that results are compared board by board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

from bideuchre_env._checks import brief, check_flag, to_list
from bideuchre_env._files import PathLike
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.field_tables import (
    CROSSPLAY,
    html,
    in_text,
    partners_name,
    table_of,
)
from bideuchre_env.evaluation.ray_pool import RayPool
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.tournament import (
    BOARDS,
    Finished,
    Progress,
    Tournament,
    run,
    variants_of,
)
from bideuchre_env.rules.rules import Rules

EVALUATE = "evaluate"


@dataclass
class FieldTournament(Tournament):
    """A `Tournament` of agents, or pairs of partners, against a field; `agents` begins with it.

    Args:
        kind: "evaluate" or "crossplay".
        field: the opponents; the first has rating 0.
        entrants: the agents to evaluate, or to combine.
        command: the command line, for the tables.
    """

    kind: str = EVALUATE
    field: tuple[str, ...] = ()
    entrants: tuple[str, ...] = ()
    command: str | None = None

    @property
    def has_picture(self) -> bool:
        """Whether heat maps are drawn: in cross-play, once a pair has met the whole field."""
        return self.kind == CROSSPLAY and any("partners" in row for row in self.to_dict()["table"])

    def row_of(self, result: Result) -> dict[str, Any]:
        """Return the object of a match, with `board_points`: the points of every board as text."""
        assert result.board_rows is not None
        points = result.board_rows["points"].sum(axis=1).tolist()
        return {**super().row_of(result), "board_points": " ".join(map(str, points))}

    def to_dict(self) -> dict[str, Any]:
        """Return the object of `results.json`; `table` has the figures of all tables."""
        data = {
            **super().to_dict(),
            "kind": self.kind,
            "field": list(self.field),
            "entrants": list(self.entrants),
            "tricks": {game.name: game.rules.tricks for game in self.variants},
            "command": self.command,
        }
        return data | {"table": table_of(data)}

    def __str__(self) -> str:
        return in_text(self.to_dict())

    def _repr_html_(self) -> str:
        return html(self.to_dict())


def play(
    variants: Sequence[str | Variant | Rules | Path],
    agents: Sequence[str],
    field: Sequence[str],
    *,
    crossplay: bool = False,
    boards: int = BOARDS,
    games: int = 0,
    seed: int = 0,
    workers: int | RayPool = 1,
    out: PathLike | None = None,
    force: bool = False,
    progress: Progress | None = None,
    finished: Finished | None = None,
    command: str | None = None,
) -> FieldTournament:
    """Play each agent against each agent of the field, on every variant.

    Args:
        variants: names of variants, variants, custom `Rules` or rule files, with different names.
        agents: names of the agents; differences are to the first.
        field: names of the opponents; the first has rating 0.
        crossplay: whether to play every agent as partner of every agent, itself included, instead
            of with itself only.
        boards, games, seed, workers: those of `match.play`, for each opponent; `boards` is 2 or
            more.
        out, force, progress, finished: those of `tournament.play`.
        command: the command line, for the tables.

    Raises:
        OptionError: for invalid arguments, and for a folder with other results.
        IllegalActionError, AgentError, WorkerError: as `match.play`.
    """
    check_flag("crossplay", crossplay)
    entrants = _names("agents", agents, 2 if crossplay else 1)
    rivals = _names("field", field)
    pairs = combinations(entrants, 2) if crossplay else ()
    partners = {partners_name(a, b): (a, b) for a, b in pairs}
    pairings = tuple(
        {
            frozenset((a, b)): (a, b) for a, b in product((*entrants, *partners), rivals) if a != b
        }.values()
    )  # each pair once: with the sides swapped, the same deals give the opposite points
    if not pairings:
        raise OptionError(f"field={brief(rivals)}: expected an opponent other than the agent")
    tournament = FieldTournament(
        variants=variants_of(variants),
        agents=tuple(dict.fromkeys((*rivals, *entrants, *partners))),
        boards=boards,
        games=games,
        seed=seed,
        pairings=pairings,
        partners=partners,
        kind=CROSSPLAY if crossplay else EVALUATE,
        field=rivals,
        entrants=entrants,
        command=command,
    )
    run(tournament, workers, out, force, progress, finished)
    return tournament


def _names(name: str, values: Any, least: int = 1) -> tuple[str, ...]:
    """Return different names of agents as a tuple; `OptionError` unless there are `least`."""
    names = tuple(to_list(name, values, "names of agents"))
    if len(set(map(str, names))) < len(names) or len(names) < least:
        raise OptionError(f"{name}={brief(names)}: expected {least} or more different names")
    return names
