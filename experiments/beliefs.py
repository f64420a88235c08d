"""As how many worlds those count that a searcher tries its cards in, trick by trick.

    python experiments/beliefs.py
    python experiments/beliefs.py --variant barrie_v0 --agent inference:considered=20

Worlds that are likely are few, and those of one chain are alike, so 200 of them may tell no more
than ten drawn by themselves from all that there may be. Here every decision is asked again and
again with other seeds. How often a seat holds a card then differs from seed to seed: in n worlds
drawn by themselves by p (1 - p) / n, where it holds it in p of all. So n is found for each decision
from all seats and cards. Where all worlds there are were gone through, and those that are tried lie
evenly over them, no seed makes a difference. The positions are those in which agent `net` has a
card to choose when it plays itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env._files import write_file
from bideuchre_env.agents.search.agent import PimcAgent
from bideuchre_env.agents.search.workspace import SearchWorkspace
from bideuchre_env.agents.search.worlds import bring_world
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, run
from bideuchre_env.core.state import PLAY
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import COPY_SHIFT, N_SEATS
from bideuchre_env.runtime.jit import Array, entry_kernel

EXACT = 10_000.0
"""Worlds; as many or more are told as those of positions that no seed makes a difference to."""
BITS = 2 * COPY_SHIFT


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to ask; every field is an option of the command line."""

    agent: str = field(default="inference", metadata={"help": "the searcher"})
    variant: str = field(default="cincinnati_v0", metadata={"help": "the game"})
    hands: int = field(default=40, metadata={"help": "hands that positions are taken from"})
    seeds: int = field(default=8, metadata={"help": "how often each position is asked"})
    seed: int = field(default=0, metadata={"help": "same seed, same positions and seeds"})
    json: Path | None = field(default=None, metadata={"help": "a file to write the rows to"})


@entry_kernel
def count_cards(space: SearchWorkspace, numbers: Array, weights: Array, held: Array) -> None:
    """Add up in how many worlds, by their weights, each seat holds each card of its hand's bits."""
    for i in range(len(numbers)):
        bring_world(space, numbers[i])
        for seat in range(1, N_SEATS):
            hand = space.worlds[0].hands[seat]
            for bit in range(BITS):
                if hand >> bit & 1:
                    held[seat, bit] += weights[numbers[i]]


def positions(game: bideuchre_env.Variant, hands: int, seed: int) -> Iterator[tuple[Any, ...]]:
    """Observation, mask and trick (0: an exchange) wherever the net has a card to choose."""
    env, net = game.raw_env(episode="hand"), agents.make("net", game.rules)
    for number in range(hands):
        env.reset(seed=seed + number)
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                break
            row, mask = seen["observation"], seen["action_mask"]
            state = env.get_state()[0]
            if mask.sum() > 1 and mask[-game.rules.kinds :].any():
                trick = int(state["trick"]) + 1 if state["phase"] == PLAY else 0
                yield row, mask, trick
            env.step(int(net.act(row, mask)))


def shares_of(searcher: PimcAgent, row: Array, mask: Array, in_play: bool) -> Array:
    """How often each seat holds each card in the worlds of one decision, float64 (4, BITS)."""
    searcher.open(row[np.newaxis], mask[np.newaxis], 0)
    wanted = searcher.worlds if in_play else searcher.played_out
    weights = searcher.weights_of_worlds(wanted, searcher.considered[in_play], inf)
    held = np.zeros((N_SEATS, BITS))
    count_cards(searcher.space, np.flatnonzero(weights), weights, held)
    return held / weights.sum()


def effective(shares: Array) -> float:
    """As how many worlds those count whose shares, float64 (seeds, 4, BITS), differ so."""
    mean = shares.mean(axis=0)
    apart = float(shares.var(axis=0, ddof=1).sum())
    return min(float((mean * (1 - mean)).sum()) / apart, EXACT) if apart > 1e-9 else EXACT


def main(args: Args) -> int:
    """Ask, and print the table."""
    if args.hands < 1 or args.seeds < 2:
        raise OptionError("--hands: 1 or more; --seeds: 2 or more")
    game = bideuchre_env.make(args.variant)
    seeds = range(args.seed, args.seed + args.seeds)
    searchers = [agents.make(args.agent, game.rules, seed=seed) for seed in seeds]
    if not all(isinstance(searcher, PimcAgent) for searcher in searchers):
        raise OptionError(f"--agent {args.agent}: none that tries worlds, as pimc and inference do")
    found: dict[int, list[float]] = {}
    asked, seconds = list(positions(game, args.hands, args.seed)), 0.0
    for row, mask, trick in asked[:3]:
        shares_of(searchers[0], row, mask, trick > 0)  # compiles what is yet to be compiled
    with progress_bar(f"beliefs on {args.variant}", "positions") as progress:
        for n, (row, mask, trick) in enumerate(asked, 1):
            began = thread_time()
            shares = np.array([shares_of(each, row, mask, trick > 0) for each in searchers])
            seconds += thread_time() - began
            if shares[0].max() > 0.0 and searchers[0].space.plans[0]["n"] > 1:
                found.setdefault(trick, []).append(effective(shares))
            progress(n, len(asked), n)
    if not found:
        raise OptionError(f"--hands {args.hands}: no position leaves a choice of cards")
    rows = [row_of(trick, found[trick]) for trick in sorted(found)]
    rows.append(row_of(None, [number for each in found.values() for number in each]))
    print(table(rows))
    milliseconds = 1000 * seconds / max(len(asked) * args.seeds, 1)
    print(f"\n{milliseconds:.1f} ms of processor time to find the worlds of a decision")
    if args.json is not None:
        kept = {"variant": args.variant, "agent": args.agent, "seed": args.seed, "rows": rows}
        kept |= {"hands": args.hands, "seeds": args.seeds, "milliseconds": milliseconds}
        write_file(args.json, json.dumps(kept, indent=1) + "\n")
    return 0


def row_of(trick: int | None, numbers: list[float]) -> dict[str, Any]:
    """The positions of a trick; all of them for None."""
    tenth, median = np.percentile(numbers, [10, 50])
    return {"trick": trick, "positions": len(numbers), "median": median, "tenth": tenth}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = ["| trick | positions | median | worst tenth |", "|---|---|---|---|"]
    names = {None: "all", 0: "exchange"}
    for row in rows:
        told = ["gone through" if row[k] >= EXACT else f"{row[k]:.0f}" for k in ("median", "tenth")]
        name = names.get(row["trick"], row["trick"])
        lines.append(f"| {name} | {row['positions']} | {' | '.join(told)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run(main, Args))
