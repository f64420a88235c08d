"""Decisions of agents in the same positions: their time, and the cost of their differences.

    python experiments/studies.py compare-decisions
    python experiments/studies.py compare-decisions --agents pimc ./mine.py:Mine

The positions are those in which the expert has a choice when it plays against itself. Every agent
decides each position in a separate call. If its action differs from that of the first agent, both
actions are evaluated on many deals, which are sampled, weighed and played out as in `advise`, with
another seed than that of the agents.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from study_tools import (
    deal_hands,
    mean,
    play_watched,
    plus_minus,
    tracked,
    with_weights,
    write_json,
)

import bideuchre_env
from bideuchre_env._columns import markdown_table
from bideuchre_env.agents.advice import Advisor
from bideuchre_env.cli.script_args import ScriptArgs, option
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.seeding import first_seed
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

PARTS = ("calls", "cards")  # naming a strain is a call, an exchange is a card
WARM = 30  # decisions before the timed ones
Row = dict[str, Any]


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the study; every field is an option of the command line."""

    agents: tuple[str, ...] = option(
        ("inference", "inference:considered=4", "inference:worlds=100", "expert"),
        "agents to compare; all others are compared with the first",
    )
    variant: str = option("cincinnati_v0", "variant")
    boards: int = option(100, "boards from which positions are taken")
    worlds: int = option(2_500, "deals in which differing actions are tried")
    seed: int = option(0, "seed of positions and decisions")
    json: Path | None = option(None, "JSON file for the rows")


@dataclass(frozen=True)
class Positions:
    """The n decisions with at least two legal actions that all agents decide."""

    observations: Array  # int8 (n, D)
    masks: Array  # int8 (n, A)
    cards: Array  # bool (n,): whether the decision is about cards, not a call


def main(args: Args) -> int:
    """Collect the decisions of the agents, evaluate differences, and print the table; return 0.

    If `args.json` is set, the rows are written there.
    """
    if args.boards < 1:
        raise OptionError("--boards: 1 or more")
    game = bideuchre_env.make(args.variant)
    names = with_weights(args.agents, game)
    if len(names) < 2:
        raise OptionError("--agents: two or more that play this game")
    judge = Advisor(game.rules, "rule", worlds=args.worlds, seed=args.seed + 1)
    positions = positions_of(game, args.boards, args.seed)
    answers: dict[str, Array] = {}
    seconds: dict[str, Array] = {}
    for name in tracked(f"answers on {args.variant}", names):
        answers[name], seconds[name] = answers_of(name, game.rules, positions, args.seed)
    first = answers[names[0]]
    differ = np.flatnonzero(np.any([answers[name] != first for name in names], axis=0))
    losses = {name: np.zeros(len(first)) for name in names}
    for i in tracked("differences tried", differ):
        tried = {int(answers[name][i]) for name in names}
        advice = judge.of_observation(
            positions.observations[i], positions.masks[i], also=sorted(tried)
        )
        points = {action: advice.option(action).points.mean for action in tried}
        for name in names:
            losses[name][i] = points[int(first[i])] - points[int(answers[name][i])]
    rows = [
        row_of(name, answers[name] != first, seconds[name], losses[name], positions.cards)
        for name in names
    ]
    print(table(rows, names[0], len(first)))
    about = {name: getattr(args, name) for name in ("variant", "boards", "worlds", "seed")}
    write_json(args.json, about | {"rows": rows})
    return 0


def positions_of(game: bideuchre_env.Variant, boards: int, seed: int) -> Positions:
    """Return the positions with a choice in `boards` hands that the expert plays with itself."""
    decisions: list[tuple[Array, Array]] = []

    def record(slots: Array, observations: Array, masks: Array) -> None:
        choice = masks.sum(axis=1) > 1
        decisions.append((observations[choice], masks[choice]))

    expert = bideuchre_env.agents.make("expert", game.rules, goal="points")
    states = deal_hands(game.rules, range(boards), first_seed(seed))
    play_watched(states, game.rules, (expert, expert), lambda rows: rows["turn"] & 1, record)
    observations, masks = (np.concatenate(part) for part in zip(*decisions, strict=True))
    cards = masks[:, actions.of(game.rules).card_offset :].any(axis=1)
    return Positions(observations, masks, cards)


def answers_of(name: str, rules: Rules, positions: Positions, seed: int) -> tuple[Array, Array]:
    """Return an agent's actions, int64 (n,), and their processor seconds, float64 (n,).

    Each position is decided in a separate call.
    """
    agent = bideuchre_env.agents.make(name, rules, seed=seed, goal="points")
    rows, masks = positions.observations, positions.masks
    for part in (positions.cards, ~positions.cards):
        agent.act_rows(rows[part][:WARM], masks[part][:WARM])  # loads the compiled code
    chosen, seconds = np.empty(len(rows), np.int64), np.empty(len(rows))
    for i in range(len(rows)):
        began = process_time()
        chosen[i] = agent.act_rows(rows[i : i + 1], masks[i : i + 1])[0]
        seconds[i] = process_time() - began
    return chosen, seconds


def row_of(name: str, differs: Array, seconds: Array, losses: Array, cards: Array) -> Row:
    """Return the row of one agent: its time, its differences from the first agent, and their cost.

    Arrays are (n,), one entry for each position: `differs` is bool, `seconds` the time of the
    decision, `losses` the points lost against the first agent's action, `cards` as in `Positions`.
    """
    row: Row = {"agent": name, "points_lost_in_100": mean(100 * losses)}
    for part, here in zip(PARTS, (~cards, cards), strict=True):
        row[part] = {
            "asked": int(here.sum()),
            "differ": int(differs[here].sum()),
            "milliseconds": float(1000 * seconds[here].mean()) if here.any() else None,
        }
    return row


def table(rows: list[Row], first: str, n: int) -> str:
    """Format the rows as Markdown; `first` is the first agent, `n` the number of decisions."""
    heads = ["agent", "ms a call", "ms a card"]
    heads += [f"{part} unlike {first}" for part in PARTS] + ["points lost in 100 decisions"]
    lines = [heads]
    for row in rows:
        times = [row[part]["milliseconds"] for part in PARTS]
        cells = [row["agent"], *("" if each is None else f"{each:.3g}" for each in times)]
        if row is rows[0]:
            cells += ["", "", ""]
        else:
            for part in PARTS:
                share = row[part]["differ"] / max(row[part]["asked"], 1)
                cells.append(f"{100 * share:.1f} %")
            cells.append(plus_minus(row["points_lost_in_100"]))
        lines.append(cells)
    return f"{n:,} decisions\n\n{markdown_table(lines)}"
