"""The value of calls and cards separately: the calls of one agent with the cards of another.

    python experiments/studies.py bidding-vs-cards --agents rule ppo net
    python experiments/studies.py bidding-vs-cards --variant barrie_v0 --json rows.json

Each pair is a combined agent: one agent makes its calls, another plays its cards. All pairs play
the same duplicate boards against the agent `--over`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from study_tools import play_match, plus_minus, tracked, write_json

import bideuchre_env
from bideuchre_env._columns import markdown_table
from bideuchre_env.agents import CompleteAgent
from bideuchre_env.cli.script_args import ScriptArgs, option
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.statistics.scores import interval_dict
from bideuchre_env.rules import actions
from bideuchre_env.runtime.jit import Array


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the study; every field is an option of the command line."""

    agents: tuple[str, ...] = option(
        ("rule", "ppo", "expert", "net"), "agents to combine: each gives the calls or the cards"
    )
    over: str = option("rule", "opponent of all combinations")
    variant: str = option("cincinnati_v0", "variant")
    boards: int = option(10_000, "duplicate boards of each pair")
    seed: int = option(0, "seed of deals and results")
    json: Path | None = option(None, "JSON file for the rows")


class Combined:
    """An agent that takes calls and strains from `calls`, and all cards from `cards`.

    Cards include those of an exchange. `first_card` is the number of the first card action.
    """

    def __init__(self, calls: CompleteAgent, cards: CompleteAgent, first_card: int) -> None:
        self.calls, self.cards, self._first_card = calls, cards, first_card
        self.name = f"{calls.name}+{cards.name}"

    def act_rows(self, observations: Array, action_masks: Array) -> Array:
        """Return actions, int64 (n,), for observations, int8 (n, D), and masks, int8 (n, A)."""
        chosen = np.empty(len(observations), np.int64)
        cards = action_masks[:, self._first_card :].any(axis=1)
        for agent, rows in ((self.calls, ~cards), (self.cards, cards)):
            if rows.any():
                chosen[rows] = agent.act_rows(observations[rows], action_masks[rows])
        return chosen


def main(args: Args) -> int:
    """Play every pair, print the table, and write `args.json` if it is set."""
    if args.boards < 2:
        raise OptionError("--boards: 2 or more")
    game = bideuchre_env.make(args.variant)
    first_card = actions.of(game.rules).card_offset
    players = {
        name: bideuchre_env.agents.make(name, game.rules, seed=args.seed, goal="points")
        for name in (*args.agents, args.over)
    }
    rows: list[dict[str, Any]] = []
    pairs = list(product(dict.fromkeys(args.agents), repeat=2))
    for calls, cards in tracked(f"calls and cards on {args.variant}", pairs):
        both = Combined(players[calls], players[cards], first_card)
        points = interval_dict(play_match(game, both, players[args.over], args).points_per_hand)
        rows.append({"calls": calls, "cards": cards, "points_per_hand": points})
    print(table(rows, args.over))
    about = {name: getattr(args, name) for name in ("variant", "over", "boards", "seed")}
    write_json(args.json, about | {"rows": rows})
    return 0


def table(rows: list[dict[str, Any]], over: str) -> str:
    """Format the rows as Markdown: calls by row, cards by column."""
    points = {(row["calls"], row["cards"]): row["points_per_hand"] for row in rows}
    names = list(dict.fromkeys(row["calls"] for row in rows))
    lines = [[f"over {over}", *(f"cards of {name}" for name in names)]]
    for calls in names:
        cells = (plus_minus(points[calls, cards], "+") for cards in names)
        lines.append([f"calls of {calls}", *cells])
    return markdown_table(lines)
