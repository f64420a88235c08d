"""Tricks lost by each agent, compared with exact play that sees all four hands.

    python experiments/studies.py regret
    python experiments/studies.py regret --agents rule expert pimc --hands 2000
    python experiments/studies.py regret --variants barrie_v0 --json runs/barrie.json

Each agent plays the cards of all four seats on the same deals, in contracts that the expert bids.
The loss of a card is the number of tricks that its side could take before it, minus the number
after it. The figures of a role are per hand in which the role occurs: with partner or alone. The
total is per hand that is not passed out. All have 95 % intervals over deals; the difference to the
first agent is paired by deal. `figures.py regret` draws the file of `--json`.

The results of finished agents are cached in the folder `--out`. Those of another version, or of
other data or inputs of an agent, are refused: use another folder, also after a change of the code
of the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from study_tools import cached, deal_hands, games_of, mean, play_watched, plus_minus, write_json

import bideuchre_env
from bideuchre_env import solver
from bideuchre_env._columns import markdown_table
from bideuchre_env.agents import CompleteAgent
from bideuchre_env.agents.prepared import rules_hash
from bideuchre_env.agents.registry import freeze_files
from bideuchre_env.cli.progress import Progress, progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, option
from bideuchre_env.core.state import STATE, Phase
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.blocks import AT_ONCE, at_once_for, block_size
from bideuchre_env.evaluation.seeding import check_seed, first_seed, seat_agent
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, as_rows

ROLES = ("declarer", "helper", "defenders", "alone", "against alone")
PASSED_OUT, PARTNERS, ALONE = range(3)
KIND_OF = (PARTNERS, PARTNERS, PARTNERS, ALONE, ALONE)  # the kind of hand of each role
CALLER = "expert"
TOTAL = "total"  # of all roles, over hands of both kinds
UNSEEN = 0.5
"""Tricks: intervals are widened as if two more hands lay this far from the mean, so that a few
hands without a lost trick still have an interval of positive width."""


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the study; every field is an option of the command line."""

    variants: tuple[str, ...] = option(("cincinnati_v0",), "variants, or .toml files of rules")
    agents: tuple[str, ...] = option(
        ("random", "cautious", "rule", "ppo", "expert", "net"),
        "the agents; the others are compared with the first, those without weights "
        "for a game are left out",
    )
    hands: int = option(2_000, "hands played per agent")
    seed: int = option(0, "seed of deals and results")
    out: Path = option(Path("runs/regret"), "folder of finished agents")
    json: Path | None = option(None, "JSON file for the figures")


class Losses(NamedTuple):
    """The tricks that an agent lost in n hands."""

    tricks: Array  # int8 (n, 5, tricks): tricks lost, by hand, role in `ROLES` and trick
    kinds: Array  # int8 (n,): `PASSED_OUT`, `PARTNERS` or `ALONE`

    def of(self, role: str) -> Array:
        """Return tricks lost by a role, or in `TOTAL`, in the hands with that role: (m, tricks)."""
        if role == TOTAL:
            return self.tricks[self.kinds != PASSED_OUT].sum(axis=1)
        place = ROLES.index(role)
        return self.tricks[self.kinds == KIND_OF[place], place]


# --- playing and solving --------------------------------------------------------------------------


def measure(rules: Rules, agent: str, hands: int, seed: int, progress: Progress) -> Losses:
    """Return the losses of `agent` on hands 0 to `hands` - 1 of a seed, bid by `CALLER`.

    Hand i has the cards of board i of a match with this seed; seat i % 4 deals.
    """
    # the block size must not depend on the caller: it determines the agent's seeds
    alone = seat_agent(agent, rules, seed, 0, True)
    size = block_size(min(at_once_for((alone, alone)), AT_ONCE))
    parts = []
    for first in range(0, hands, size):
        numbers = range(first, min(first + size, hands))
        with freeze_files():
            caller, player = (
                seat_agent(each, rules, seed, first, True) for each in (CALLER, agent)
            )
        parts.append(losses(deal_hands(rules, numbers, first_seed(seed)), rules, caller, player))
        progress(numbers.stop, hands, numbers.stop)
    return Losses(*map(np.concatenate, zip(*parts, strict=True)))


def losses(states: Array, rules: Rules, caller: CompleteAgent, player: CompleteAgent) -> Losses:
    """Play out the dealt hands, and return the losses of `player`, who plays all cards to tricks.

    `caller` makes all other decisions: auction and exchange. `states` (n,) are changed in place.
    """
    n, tricks = len(states), rules.tricks
    before = np.zeros((n, 4 * tricks, STATE.itemsize), np.uint8)  # each card, as bytes
    plies = np.zeros(n, np.int64)

    def record(slots: Array, *observed: Array) -> None:
        playing = slots[states["phase"][slots] == Phase.PLAY]
        before[playing, plies[playing]] = states.view(np.uint8).reshape(n, -1)[playing]
        plies[playing] += 1

    play_watched(
        states, rules, (caller, player), lambda rows: rows["phase"] == Phase.PLAY, watch=record
    )
    kinds = np.where(states["sitting_out"] >= 0, ALONE, PARTNERS)
    kinds[plies == 0] = PASSED_OUT
    lost = np.zeros((n, len(ROLES), tricks), np.int8)
    hand, ply = np.nonzero(np.arange(4 * tricks) < plies[:, None])
    rows = as_rows(before[hand, ply].reshape(-1).view(STATE))
    if len(rows):
        left = tricks - rows["trick"]
        value = solver.solve_batch(rows, rules)
        # side 0's final tricks with exact play from before each card; last, its actual tricks
        totals = np.zeros((n, 4 * tricks + 1), np.int64)
        own = np.where(rows["turn"] & 1, left - value, value)
        totals[hand, ply] = rows["tricks_won"][:, 0] + own
        totals[np.arange(n), plies] = states["tricks_won"][:, 0]
        cost = np.abs(totals[hand, ply] - totals[hand, ply + 1])
        place = np.where((rows["turn"] ^ rows["declarer"]) & 1, 2, 0)
        place += (rows["turn"] == rows["declarer"] ^ 2) * 1
        place += (rows["sitting_out"] >= 0) * np.where(place == 0, 3, 2)
        np.add.at(lost, (hand, place, rows["trick"]), cost.astype(np.int8))
    return Losses(lost, kinds.astype(np.int8))


# --- saved results --------------------------------------------------------------------------------


def losses_of(args: Args, game: bideuchre_env.Variant, agent: str) -> Losses:
    """Return the losses of an agent from its file in `args.out`; without one, measure and save."""

    def compute() -> dict[str, Any]:
        with progress_bar(f"{game.name}: {agent}", "hands", "hands") as progress:
            lost = measure(game.rules, agent, args.hands, args.seed, progress)
        return {"kinds": lost.kinds.tolist(), "tricks": lost.tricks.tolist()}

    words = (game.name, agent, f"{args.hands}hands", f"seed{args.seed}")
    about = [*words, rules_hash(game.rules)]
    result = cached(
        args.out, words, about, [agent], compute, lambda saved: is_sound(saved, args, game)
    )
    return Losses(**{name: np.array(column, np.int8) for name, column in result.items()})


def is_sound(saved: dict[str, Any], args: Args, game: bideuchre_env.Variant) -> bool:
    """Return whether a saved result has the kinds and tricks of all hands of the run."""
    kinds, tricks = (np.array(saved[name], np.int8) for name in ("kinds", "tricks"))
    sound = kinds.shape == (args.hands,) and set(kinds.tolist()) <= {0, 1, 2}
    return sound and tricks.shape == (args.hands, len(ROLES), game.rules.tricks)


# --- figures --------------------------------------------------------------------------------------


def figures(variant: str, agent: str, own: Losses, first: Losses) -> dict[str, Any]:
    """Return an agent's row: tricks lost by role and in total, by trick, and more than the first.

    `own` and `first` are the losses of the agent and of the first agent on the same deals.
    """
    row: dict[str, Any] = {"variant": variant, "calls": CALLER, "agent": agent}
    row["hands"] = int((own.kinds != PASSED_OUT).sum())
    row["lone_hands"] = int((own.kinds == ALONE).sum())
    row["passed_out"] = int((own.kinds == PASSED_OUT).sum())
    row["lost"], row["by_trick"] = {}, {}
    for role in (TOTAL, *ROLES):
        tricks = own.of(role)
        row["lost"][role] = mean(tricks.sum(axis=1), margin=UNSEEN)
        row["by_trick"][role] = [mean(each, margin=UNSEEN) for each in tricks.T]
    both = (own.kinds != PASSED_OUT) & (first.kinds != PASSED_OUT)
    more = own.tricks[both].sum(axis=(1, 2)) - first.tricks[both].sum(axis=(1, 2), dtype=np.int64)
    row["more_than_first"] = mean(more, margin=UNSEEN) if own is not first else None
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """Format the tricks lost per hand by agent and role as Markdown, with half the intervals.

    `rows` are those of one game, the first agent first.
    """
    row = rows[0]
    counts = (
        f"{row['hands']:,} hands, {row['lone_hands']:,} alone, {row['passed_out']:,} passed out"
    )
    lines = [["tricks lost per hand", TOTAL, f"more than {row['agent']}", *ROLES]]
    for row in rows:
        more = plus_minus(row["more_than_first"], "+")
        total, *roles = (plus_minus(row["lost"][role]) for role in (TOTAL, *ROLES))
        lines.append([row["agent"], total, more, *roles])
    return f"{row['variant']}: {counts}\n\n{markdown_table(lines)}\n"


def main(args: Args) -> int:
    """Measure the agents that are not saved yet, print the figures, and write the JSON."""
    if args.hands < 2:
        raise OptionError(f"--hands {args.hands}: 2 or more, for an interval")
    check_seed(args.seed, args.hands)
    rows: list[dict[str, Any]] = []
    for game, agents in games_of(args.variants, args.agents):
        if not agents:
            continue
        lost = {agent: losses_of(args, game, agent) for agent in agents}
        first = lost[agents[0]]
        new = [figures(game.name, agent, own, first) for agent, own in lost.items()]
        print(table(new), flush=True)
        rows += new
    about = {"seed": args.seed, "asked": args.hands, "roles": ROLES}
    write_json(args.json, about | {"rows": rows})
    return 0
