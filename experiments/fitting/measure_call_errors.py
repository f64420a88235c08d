"""Measure `CALL_ERRORS` in `agents/expert/tables.py`: how far the expert's worths of calls err.

    python experiments/fitting/measure_call_errors.py --hands 400

Agents play hands that no network was fitted to. Where the expert values other calls nearly as
highly as its own, all are played out in many deals, weighed as agent `inference` weighs them. The
expert's error for a pair of calls is the difference in worth by the expert less that by the deals.
The script prints its root mean square in points, by the kinds of the two calls, with the variance
that chance explains subtracted. It writes no file.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from bideuchre_env import agents
from bideuchre_env.agents.search.agent import InferenceAgent
from bideuchre_env.agents.search.candidates import try_worlds
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import AUCTION, new_states
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array

KINDS = ("pass", "bid with partner", "lone bid")
PLAYERS = ("expert", "net")

Pairs = dict[tuple[int, int], list[tuple[float, float]]]


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of a measurement; every field is an option of the command line."""

    variants: tuple[str, ...] = option(("barrie_v0", "simplified_v0", "club_v0"), "the games")
    hands: int = option(200, "hands of each game")
    worlds: int = option(200, "deals that each call is played out in")
    seed: int = option(0, "same seed, same hands and deals")


def main(args: Args) -> int:
    """Measure and print the table."""
    if unknown := sorted(set(args.variants) - set(RULES)):
        raise OptionError(f"--variants {' '.join(unknown)}: expected some of {' '.join(RULES)}")
    if args.hands < 1:
        raise OptionError(f"--hands {args.hands}: expected 1 or more")
    pairs: Pairs = defaultdict(list)
    for name in args.variants:
        measure(name, args, pairs)
    print(table(pairs))
    return 0


def measure(name: str, args: Args, pairs: Pairs) -> None:
    """Add the pairs of calls of one game, by kinds: squared errors and the variance by chance."""
    rules = RULES[name]
    players = [agents.make(player, rules, seed=args.seed) for player in PLAYERS]
    searcher = InferenceAgent(rules, seed=args.seed, played_out=args.worlds)
    tables, states = searcher.tables, new_states(args.hands)
    seed_rows(states, *split_seed(args.seed))
    start_rows(states, tables, np.arange(args.hands) % N_SEATS)
    deal_rows(states, tables)
    with progress_bar(name, "calls") as progress:
        for call in range(N_SEATS):
            live = np.flatnonzero(np.asarray(states["phase"]) == AUCTION)
            rows = np.zeros((len(live), searcher.layout.size), np.int8)
            masks = np.zeros((len(live), searcher.n_actions), np.int8)
            encode_rows(states, tables, searcher.layout.offsets, live, rows, masks)
            for i in range(len(live)):
                compare(searcher, rows, masks, i, pairs)
                progress(call * args.hands + i + 1, N_SEATS * args.hands, i + 1)
            actions = np.zeros(len(live), np.int64)
            for side, player in enumerate(players):
                own = np.asarray(states["turn"])[live] & 1 == side
                if own.any():
                    actions[own] = player.act_rows(rows[own], masks[own])
            apply_rows(states, tables, live, actions)


def compare(searcher: InferenceAgent, rows: Array, masks: Array, i: int, pairs: Pairs) -> None:
    """Play out the candidates of row i, and add the pair of each with the expert's own call."""
    if masks[i].sum() < 2:
        return
    searcher.open(rows, masks, i)
    space = searcher.space
    plan = space.plans[0]
    if plan["n"] < 2 or not plan["has_priors"]:
        return
    slope = float(space.expert.calls[0]["slope"])  # before other seats are weighed there
    weights = searcher.sampler.weights(searcher.played_out, searcher.considered[0], inf)
    try_worlds(space, np.flatnonzero(weights), weights)
    actions = plan["actions"][: plan["n"]].tolist()
    own, total = actions.index(plan["expert_action"]), float(plan["total"])
    deals = total**2 / float(plan["total_squares"])
    for j, action in enumerate(actions):
        if j != own:
            gain = float(plan["sums"][j] - plan["sums"][own]) / total
            variance = max(float(plan["squares"][j]) / total - gain**2, 0.0) / max(deals - 1, 1.0)
            error = gain - float(plan["priors"][j] - plan["priors"][own])
            kinds = (kind_of(searcher, action), kind_of(searcher, actions[own]))
            pairs[kinds].append((error**2 / slope**2, variance / slope**2))


def kind_of(searcher: InferenceAgent, action: int) -> int:
    """The index in `KINDS` of a call."""
    if action == 0:
        return 0
    table = searcher.tables[0]
    return 1 + int(table["alone"][(action - 1) // int(table["strains_per_bid"])])


def table(pairs: Pairs) -> str:
    """The root mean square errors as Markdown."""
    lines = ["| call | expert's own call | pairs | error | by chance |", "|---|---|---|---|---|"]
    for (kind, own), rows in sorted(pairs.items()):
        square, chance = np.mean(rows, axis=0)
        lines.append(
            f"| {KINDS[kind]} | {KINDS[own]} | {len(rows):,} | "
            f"{sqrt(max(square - chance, 0.0)):.2f} | {sqrt(chance):.2f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run(main, Args))
