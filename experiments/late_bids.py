"""Bids of the last seat near the end of a game: do they win more games than a pass?

    python experiments/studies.py late-bids
    python experiments/studies.py late-bids --agents expert net --variants double_deck_v0 pepper_v0

Each agent plays against copies of itself from 12 scores at which both sides need at most four
points. Where the last seat bids over a bid of the opponents, the game is also played out with a
pass instead, on the same deals. A difference below 0 means that a pass would have been better.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from study_tools import games_of, mean, plus_minus, write_json

import bideuchre_env
from bideuchre_env._columns import markdown_table
from bideuchre_env.agents import CompleteAgent
from bideuchre_env.agents.table.parts import play_hands
from bideuchre_env.cli.script_args import ScriptArgs, option
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import AUCTION, DEAL, OVER, WON, new_states
from bideuchre_env.core.table.loop import CALLER
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.seeding import seat_agent
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

TO_GO = [(ours, theirs) for ours in (4, 3, 2) for theirs in (4, 3, 2, 1)]
"""Points to the target of the last seat's side and of the other."""


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the study; every field is an option of the command line."""

    variants: tuple[str, ...] = option(
        ("double_deck_v0",), "variants with a target, or .toml files of rules"
    )
    agents: tuple[str, ...] = option(("expert",), "the agents")
    hands: int = option(2_000, "hands dealt for each score")
    seed: int = option(0, "seed of the deals")
    json: Path | None = option(None, "JSON file for the figures")


def main(args: Args) -> int:
    """Print a table with a row for each score, and one for all; write `args.json` if it is set."""
    if args.hands < 1:
        raise OptionError(f"--hands {args.hands}: expected at least 1")
    rows = []
    for game, agents in games_of(args.variants, args.agents):
        if game.rules.target is None:
            raise OptionError(f"--variants {game.name}: expected a game to a target")
        for agent in agents:
            rows += rows_of(game, agent, args)
    heads = ("variant", "agent", "to go", "bids", "games won", "with a pass", "difference")
    print(markdown_table([heads, *map(cells, rows)]))
    write_json(args.json, {"seed": args.seed, "hands": args.hands, "rows": rows})
    return 0


def rows_of(game: bideuchre_env.Variant, name: str, args: Args) -> list[dict[str, Any]]:
    """Return the figures of an agent at each score, and at all scores together."""
    agent = seat_agent(name, game.rules, args.seed, 0, single=False)
    won = [
        both_ways(game.rules, agent, score, args.hands, args.seed + args.hands * i)
        for i, score in enumerate(TO_GO)
    ]
    titles = [*(f"{ours} and {theirs}" for ours, theirs in TO_GO), "all"]
    return [
        {"variant": game.name, "agent": name, "to_go": title, "bids": len(each),
         "won": mean(each[:, 0]), "won_with_a_pass": mean(each[:, 1]),
         "difference": mean(each[:, 0] - each[:, 1])}
        for title, each in zip(titles, [*won, np.concatenate(won)], strict=True)
    ]  # fmt: skip


def both_ways(
    rules: Rules, agent: CompleteAgent, to_go: tuple[int, int], hands: int, seed: int
) -> Array:
    """Return games won with the last seat's bid, and with a pass instead: float64 (n, 2).

    A row is a hand in which the last seat bids over the opponents; a drawn game counts half.
    """
    states, tables, rows = new_states(hands), compile_tables(rules), np.arange(hands)
    seed_rows(states, *split_seed(seed))
    start_rows(states, tables, np.full(hands, -1))
    deal_rows(states, tables)
    last = states["dealer"].astype(np.int64)
    for side, points in enumerate(to_go):
        states["score"][rows, (last + side) & 1] = tables["target"][0] - points
    players = np.zeros((hands, 4), np.int64)
    players[rows, last] = CALLER
    play_hands(rules, states, (agent,), players)
    deciding = (states["phase"] == AUCTION) & (states["turn"] == last)
    deciding &= (states["declarer"] >= 0) & ((states["declarer"] + last) & 1 == 1)
    states, last = states[deciding], last[deciding]
    observations = np.zeros((len(states), layout_of(rules).size), np.int8)
    masks = np.zeros((len(states), actions.of(rules).n), np.int8)
    offsets = layout_of(rules).offsets
    encode_rows(states, tables, offsets, np.arange(len(states)), observations, masks)
    calls = np.asarray(agent.act_rows(observations, masks)) if len(states) else np.zeros(0)
    bid = (calls > 0) & (masks[:, 0] == 1)
    won = np.zeros((int(bid.sum()), 2))
    for way, chosen in enumerate((calls[bid].astype(np.int64), np.zeros(len(won), np.int64))):
        ended = states[bid]
        apply_rows(ended, tables, np.arange(len(ended)), chosen)
        play_games(rules, agent, ended)
        ours = ended["winner"] == last[bid] & 1
        won[:, way] = np.where(ended["outcome"] == WON, ours, 0.5)
    return won


def play_games(rules: Rules, agent: CompleteAgent, states: Array) -> None:
    """Let an agent play all seats of games until each is over; `states` change in place."""
    tables = compile_tables(rules)
    while len(live := np.flatnonzero(states["phase"] != OVER)):
        rows = states[live]
        next_hand = rows["phase"] == DEAL
        fresh = rows[next_hand]
        deal_rows(fresh, tables)
        rows[next_hand] = fresh
        play_hands(rules, rows, (agent,), np.zeros((len(rows), 4), np.int64))
        states[live] = rows


def cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a row of the table; shares of games are from 0 to 1."""
    shares = plus_minus(row["won"]), plus_minus(row["won_with_a_pass"])
    gain = plus_minus(row["difference"], "+")
    return [row["variant"], row["agent"], row["to_go"], f"{row['bids']:,}", *shares, gain]
