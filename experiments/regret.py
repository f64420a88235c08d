"""Tricks given away by each agent, against exact play with all four hands seen.

    python experiments/studies.py regret
    python experiments/studies.py regret --agents rule expert pimc --hands 2000
    python experiments/studies.py regret --variants barrie_v0 --calls rule --json runs/barrie.json

Each agent plays the cards of all four seats on the same deals. Auction and exchange are played by
`--calls`, so that every agent plays the same contracts from the same hands; with `--own-calls` each
bids for itself. The solver says what each card cost its side: the tricks it could still take before
the card, less those after it. Nobody knows the hidden cards, so nobody loses nothing: what an agent
loses more than another, on the same deals, is what its play is worse.

Tricks are counted by who lost them: the declarer, its helper, the two defenders together; hands
played alone are apart. The figures are per hand of that kind, hands passed out not counted, with
95 % intervals over deals. The last column is the difference to the first agent, deal by deal.

What an agent lost is saved in the folder `--out` and not played again, so Ctrl-C loses only the
agent being measured: take another folder, or empty it, when the agents have changed. `--kept` plays
nothing, and shows what is there. `--json FILE` writes all figures; `regret_picture.py` draws them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from study_tools import Store, plus_minus, with_weights, write_json

import bideuchre_env
from bideuchre_env import solver
from bideuchre_env._columns import columns
from bideuchre_env.agents import CompleteAgent
from bideuchre_env.agents.loading import files_kept
from bideuchre_env.agents.prepared import rules_hash
from bideuchre_env.cli.progress import Progress, progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, option
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import STATE, Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.blocks import AT_ONCE, BLOCKS_OF, at_once_for
from bideuchre_env.evaluation.lockstep import answer_of, checked
from bideuchre_env.evaluation.seeding import check_seed, first_seed, seat_agent
from bideuchre_env.evaluation.statistics.intervals import Interval, Moments
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, as_rows
from bideuchre_env.solver.solve import threads_of

ROLES = ("declarer", "helper", "defenders", "alone", "against alone")
PASSED_OUT, PARTNERS, ALONE = range(3)
KIND_OF = (PARTNERS, PARTNERS, PARTNERS, ALONE, ALONE)  # the hands that have these roles
TOTAL = "total"  # of all roles, over hands of both kinds
UNSEEN = 0.5  # tricks: an interval is widened as by two more hands so far off the mean


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to measure; every field is an option of the command line."""

    variants: tuple[str, ...] = option(
        ("cincinnati_v0",), "the games: variants, or .toml files of rules"
    )
    agents: tuple[str, ...] = option(
        ("random", "cautious", "rule", "expert", "ppo", "net"),
        "the agents; the others are compared with the first, those without weights "
        "for a game are left out",
    )
    calls: tuple[str, ...] = option(("expert",), "who bids and exchanges, for all of them alike")
    own_calls: bool = option(False, "each agent bids for itself; contracts differ then")
    hands: int = option(2_000, "hands that each agent plays")
    seed: int = option(0, "same seed, same deals and results")
    threads: int = option(1, "threads that solve; same results")
    kept: bool = option(False, "play nothing: show what is kept")
    out: Path = option(Path("runs/regret"), "where finished agents are")
    json: Path | None = option(None, "a file to write the figures to")


@dataclass(frozen=True)
class Losses:
    """What an agent lost: by hand, role and trick, int8 (n, 5, tricks), and kinds of hands (n,)."""

    tricks: Array
    kinds: Array

    def of(self, role: str) -> Array:
        """Tricks lost by a role, or in `TOTAL`, in each hand that has it; shape (m, tricks)."""
        if role == TOTAL:
            return self.tricks[self.kinds != PASSED_OUT].sum(axis=1)
        place = ROLES.index(role)
        chosen: Array = self.tricks[self.kinds == KIND_OF[place], place]
        return chosen


# --- playing and solving --------------------------------------------------------------------------


def measure(
    rules: Rules,
    agent: str,
    calls: str | None,
    hands: int,
    seed: int,
    threads: int = 1,
    progress: Progress = lambda done, total, decisions: None,
) -> Losses:
    """What `agent` loses on hands 0 to `hands` - 1 of a seed, bid by `calls`, or by itself."""
    # how many hands are played at a time must not go by who calls: it is in the agent's seeds
    alone = seat_agent(agent, rules, seed, 0, True)
    size = BLOCKS_OF * min(at_once_for((alone, alone)), AT_ONCE)
    parts, decisions = [], 0
    for first in range(0, hands, size):
        table = Table(rules, first, min(size, hands - first), seed)
        with files_kept():
            player = seat_agent(agent, rules, seed, first, True)
            caller = player if calls is None else seat_agent(calls, rules, seed, first, True)
        table.play(caller, player)
        parts.append(table.losses(threads))
        decisions += int(table.plies.sum())
        progress(min(first + size, hands), hands, decisions)
    return Losses(*(np.concatenate([getattr(p, k) for p in parts]) for k in ("tricks", "kinds")))


class Table:
    """Some hands played in lock step, one agent bidding, another playing; every position is kept.

    Hand i of a seed is dealt as board i of a match, by seat i % 4.
    """

    def __init__(self, rules: Rules, first: int, n: int, seed: int) -> None:
        self.rules, self.tables, self.first = rules, compile_tables(rules), first
        self.layout = layout_of(rules)
        self.states = new_states(n)
        seed_rows(self.states, *split_seed(first_seed(seed) + first))
        start_rows(self.states, self.tables, np.arange(first, first + n) & 3)
        deal_rows(self.states, self.tables)
        self.before = np.zeros((n, 4 * rules.tricks, STATE.itemsize), np.uint8)
        """The position before each card, as bytes; `plies` (n,) cards have been played."""
        self.plies = np.zeros(n, np.int64)
        self._observations = np.zeros((n, self.layout.size), np.int8)
        self._masks = np.zeros((n, actions.of(rules).n), np.int8)

    def play(self, caller: CompleteAgent, player: CompleteAgent) -> None:
        """Play the hands to their end."""
        while len(slots := np.flatnonzero(self.states["phase"] < Phase.DEAL)):
            in_play = self.states["phase"][slots] == Phase.PLAY
            self._decide(caller, slots[~in_play])
            playing = slots[in_play]
            self.before[playing, self.plies[playing]] = self._bytes()[playing]
            self.plies[playing] += 1
            self._decide(player, playing)

    def _bytes(self) -> Array:
        return self.states.view(np.uint8).reshape(len(self.states), STATE.itemsize)

    def _decide(self, agent: CompleteAgent, slots: Array) -> None:
        if not len(slots):
            return
        n = len(slots)
        observations, masks = self._observations[:n], self._masks[:n]
        encode_rows(self.states, self.tables, self.layout.offsets, slots, observations, masks)
        answer = answer_of(agent, observations, masks)
        choices = checked(agent, answer, self.rules, self.states, self.tables, slots, self._place)
        apply_rows(self.states, self.tables, slots, choices)

    def _place(self, slot: int) -> str:
        return f"hand {self.first + slot}"

    def losses(self, threads: int) -> Losses:
        """What each card of the hands lost, by the solver."""
        states, tricks = self.states, self.rules.tricks
        kinds = np.where(states["sitting_out"] >= 0, ALONE, PARTNERS)
        kinds[self.plies == 0] = PASSED_OUT
        lost = np.zeros((len(states), len(ROLES), tricks), np.int8)
        hand, ply = np.nonzero(np.arange(self.before.shape[1]) < self.plies[:, None])
        rows = as_rows(self.before[hand, ply].reshape(-1).view(STATE))
        if len(rows):
            left = tricks - rows["trick"]
            value = solver.solve_batch(rows, self.rules, threads=threads)
            # what side 0 has in the end, from before each card on; after the last, what it has
            totals = np.zeros((len(states), self.before.shape[1] + 1), np.int64)
            totals[hand, ply] = rows["tricks_won"][:, 0] + np.where(
                rows["turn"] & 1, left - value, value
            )
            played = np.arange(len(states))
            totals[played, self.plies] = states["tricks_won"][:, 0]
            cost = np.abs(totals[hand, ply] - totals[hand, ply + 1])
            place = np.where((rows["turn"] ^ rows["declarer"]) & 1, 2, 0)
            place += (rows["turn"] == rows["declarer"] ^ 2) * 1
            place += (rows["sitting_out"] >= 0) * np.where(place == 0, 3, 2)
            np.add.at(lost, (hand, place, rows["trick"]), cost.astype(np.int8))
        return Losses(lost, kinds.astype(np.int8))


# --- saved results --------------------------------------------------------------------------------


def losses_of(
    args: Args, game: bideuchre_env.Variant, agent: str, calls: str | None
) -> Losses | None:
    """What an agent lost: from its file, or measured now and saved. None for `--kept` without."""
    title = f"{game.name}: {agent}"
    about = {
        "variant": game.name,
        "agent": agent,
        "calls": calls,
        "hands": args.hands,
        "seed": args.seed,
        "rules": rules_hash(game.rules),
    }

    def compute() -> dict[str, Any]:
        print(title, file=sys.stderr, flush=True)
        with progress_bar(title, "hands") as progress:
            return encode(
                measure(game.rules, agent, calls, args.hands, args.seed, args.threads, progress)
            )

    words = [game.name, agent, f"called_by_{calls}" if calls else "own_calls"]
    words += [f"{args.hands}hands", f"seed{args.seed}"]
    store = Store(args.out, compute=not args.kept)
    return store.get(
        store.path(*words),
        about,
        compute,
        lambda saved: decode(saved, args.hands, game.rules.tricks),
        f"{agent} on these hands",
    )


def encode(losses: Losses) -> dict[str, Any]:
    """Losses as JSON: the kind of each hand, and (hand, role, trick, tricks) of the few lost."""
    where = np.transpose(np.nonzero(losses.tricks))
    lost = [[*map(int, at), int(losses.tricks[tuple(at)])] for at in where]
    return {"kinds": "".join(map(str, losses.kinds)), "lost": lost}


def decode(saved: dict[str, Any], hands: int, tricks: int) -> Losses:
    """The losses of `encode`; raises `ValueError` or `IndexError` for anything else."""
    kinds = np.array([int(letter) for letter in saved["kinds"]], np.int8)
    if len(kinds) != hands or not set(saved["kinds"]) <= set("012"):
        raise ValueError("other hands")
    lost = np.zeros((hands, len(ROLES), tricks), np.int8)
    for hand, role, trick, n in saved["lost"]:
        if min(hand, role, trick, n) < 0:
            raise ValueError("a number below 0")
        lost[hand, role, trick] = n
    return Losses(lost, kinds)


# --- figures --------------------------------------------------------------------------------------


def mean(values: Array) -> dict[str, float | None]:
    """The mean of one value a hand with its 95 % interval, as JSON has it; nulls of none.

    It is never without width: that no hand of a few has lost a trick says little of the next.
    """
    v = np.asarray(values, np.float64)
    n, squares = len(v), float(v @ v)
    moments = Moments(n, float(v.sum()), float(n), squares, float(v.sum()), float(n))
    found: Interval | None = moments.interval(UNSEEN)
    return found.to_dict() if found else {"mean": None, "low": None, "high": None}


def figures(
    variant: str, calls: str | None, agent: str, own: Losses, first: Losses
) -> dict[str, Any]:
    """The row of an agent: tricks lost by role, by trick and in all, and more than the first."""
    row: dict[str, Any] = {"variant": variant, "calls": calls, "agent": agent}
    row["hands"] = int((own.kinds != PASSED_OUT).sum())
    row["lone_hands"] = int((own.kinds == ALONE).sum())
    row["passed_out"] = int((own.kinds == PASSED_OUT).sum())
    everyone = (TOTAL, *ROLES)
    row["lost"] = {role: mean(own.of(role).sum(axis=1)) for role in everyone}
    row["by_trick"] = {role: [mean(each) for each in own.of(role).T] for role in everyone}
    both = (own.kinds != PASSED_OUT) & (first.kinds != PASSED_OUT)
    more = own.tricks[both].sum(axis=(1, 2)) - first.tricks[both].sum(axis=(1, 2), dtype=np.int64)
    row["more_than_first"] = mean(more) if own is not first else None
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """The rows for the screen: by role, with half the width of the intervals, then by trick."""
    partners, alone, first = ROLES[:3], ROLES[3:], rows[0]["agent"]
    blocks = [[["tricks lost per hand", TOTAL, f"more than {first}", *partners]]]
    for row in rows:
        cells = [plus_minus(row["lost"][role]) for role in (TOTAL, *partners)]
        cells.insert(1, plus_minus(row["more_than_first"], "+"))
        blocks[0].append([f"  {row['agent']}", *cells])
    if any(row["lone_hands"] for row in rows):
        blocks.append([["in hands alone", "declarer", "defenders"]])
        for row in rows:
            blocks[1].append([f"  {row['agent']}", *(plus_minus(row["lost"][r]) for r in alone)])
    tricks = len(rows[0]["by_trick"][TOTAL])
    blocks.append([["in trick", *(str(k + 1) for k in range(tricks))]])
    for row in rows:
        means = (each["mean"] for each in row["by_trick"][TOTAL])
        blocks[-1].append([f"  {row['agent']}", *("" if m is None else f"{m:.3f}" for m in means)])
    width = max(len(line[0]) for block in blocks for line in block)
    return "\n".join(
        columns(block, "l" + "r" * (len(block[0]) - 1), first=width, gap=2) for block in blocks
    )


def heading(rows: list[dict[str, Any]]) -> str:
    """Which hands these are."""
    row = rows[0]
    calls = f"called by {row['calls']}" if row["calls"] else "called by each for itself"
    return (
        f"{row['variant']}, {calls}: {row['hands']:,} hands, {row['lone_hands']:,} alone, "
        f"{row['passed_out']:,} passed out"
    )


# --- the script -----------------------------------------------------------------------------------


def check(args: Args) -> dict[str, list[str]]:
    """Who plays each game, by its name; `OptionError` before anything is played."""
    if args.hands < 2:
        raise OptionError(f"--hands {args.hands}: 2 or more, for an interval")
    check_seed(args.seed, args.hands)
    threads_of(args.threads)
    if len(set(args.agents)) != len(args.agents):
        raise OptionError(f"--agents {' '.join(args.agents)}: each of them once")
    games = [bideuchre_env.make(variant) for variant in args.variants]
    if len({game.name for game in games}) < len(games):
        raise OptionError(f"--variants {' '.join(args.variants)}: each needs a name of its own")
    players = {game.name: with_weights(args.agents, game) for game in games}
    for game in games:
        for agent in (*players[game.name], *(() if args.own_calls else args.calls)):
            bideuchre_env.agents.make(agent, game.rules, seed=0)
    return players


def groups(args: Args) -> Iterator[tuple[bideuchre_env.Variant, str | None]]:
    """The games, and who bids in them."""
    for variant in args.variants:
        for calls in (None,) if args.own_calls else args.calls:
            yield bideuchre_env.make(variant), calls


def main(args: Args) -> int:
    """Measure what is not there yet, and print the figures; 130 if interrupted."""
    players = check(args)
    if not args.kept:
        args.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    code = 0
    for game, calls in groups(args):
        own: dict[str, Losses] = {}
        try:
            for agent in players[game.name]:
                found = losses_of(args, game, agent, calls)
                own |= {agent: found} if found else {}
        except KeyboardInterrupt:
            code = 130
        if own:
            first = next(iter(own.values()))
            new = [figures(game.name, calls, agent, lost, first) for agent, lost in own.items()]
            print(f"{heading(new)}\n{table(new)}\n", flush=True)
            rows += new
        if code:
            break
    if rows:
        write_json(args.json, rows, seed=args.seed, asked=args.hands, roles=ROLES)
    return code
