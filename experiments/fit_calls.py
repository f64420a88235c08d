"""Fit the numbers of the expert's auction: the whole of `agents/call_numbers.npz`.

    python experiments/fit_calls.py --games cincinnati_v0 barrie_v0

For each game the expert plays at all four seats. In every hand one of its calls, at a random turn,
is replaced by any that looks nearly as good (`WIDTH` points), and the hand is played out. Least
squares of the points of the caller's side on the facts of that call (`agents/calls.py`), passes,
bids and lone bids apart, by the turn and by whose bid stands. Each round starts from the numbers
of the one before, and is fitted to the hands of the last `KEEP` rounds. A ridge towards the
numbers before keeps what is rarely seen where it was.

The games not named keep the package's numbers. It writes at the end only.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from command_line import parse, run

from bideuchre_env import batch
from bideuchre_env._jit import Array, kernel, records, row_of
from bideuchre_env.agents.bidding import N_SIGNS, SCRATCH, read_signs
from bideuchre_env.agents.call_weights import fitted_numbers, plain_numbers, set_signs
from bideuchre_env.agents.calls import (
    BID,
    CALLS,
    LONE,
    N_CONTEXTS,
    N_FACTS,
    PASS,
    call_action,
    call_worth,
    describe_call,
    find_best,
    look_up,
    weigh_standing,
)
from bideuchre_env.agents.equity import read_time
from bideuchre_env.agents.expert import WANTED, ExpertAgent
from bideuchre_env.agents.rule import RuleAgent, call_bits
from bideuchre_env.agents.view import VIEW, read_view
from bideuchre_env.agents.win_table import no_table
from bideuchre_env.cards import NO_TRUMP
from bideuchre_env.deal import mix, split_seed
from bideuchre_env.errors import OptionError
from bideuchre_env.state import DEAL, new_states
from bideuchre_env.variants import RULES

GAMES = ("cincinnati_v0", "six_card_v0", "simplified_v0", "club_v0", "barrie_v0")
WIDTH = 3.0  # points below the best call that are still tried
KEEP = 5  # rounds whose hands are fitted together
RIDGE = 50.0
AT_ONCE = 10_000


@dataclass(frozen=True)
class Args:
    """What to fit; every field is an option of the command line."""

    games: tuple[str, ...] = field(default=GAMES, metadata={"help": "the games to fit"})
    hands: int = field(default=60_000, metadata={"help": "hands of each game in each round"})
    rounds: int = field(default=5, metadata={"help": "times all is fitted, each upon the last"})
    search: int = field(default=0, metadata={"help": "1: play the last tricks as the expert does"})
    seed: int = field(default=0, metadata={"help": "same seed, same hands and numbers"})
    out: Path = field(
        default=Path("runs/call_numbers.npz"), metadata={"help": "written at the end"}
    )


def parse_args(arguments: list[str] | None = None) -> Args:
    """The command line as `Args`: an option a field, its default the field's."""
    return parse(Args, __doc__, arguments)


def main(args: Args) -> int:
    """Fit the games and write the file; 130, and no file, if interrupted."""
    split_seed(args.seed)
    if unknown := sorted(set(args.games) - set(GAMES)):
        raise OptionError(f"--games {' '.join(unknown)}: of {' '.join(GAMES)}")
    if args.hands < 100 or args.rounds < 1 or args.search not in (0, 1):
        raise OptionError("--hands at least 100, --rounds at least 1, --search 0 or 1")
    numbers = dict(fitted_numbers())
    try:
        for name in args.games:
            start = time.perf_counter()
            numbers[name] = fit_game(name, args)
            print(f"{name}: fitted in {time.perf_counter() - start:.0f} s", flush=True)
    except KeyboardInterrupt:
        print("interrupted: nothing is written", file=sys.stderr)
        return 130
    args.out.parent.mkdir(parents=True, exist_ok=True)
    partial = args.out.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez_compressed(file, **{name: n.astype(np.float32) for name, n in numbers.items()})
    partial.replace(args.out)  # complete or not at all
    print(f"written to {args.out}")
    return 0


def fit_game(name: str, args: Args) -> Array:
    """The numbers of one game, float64 (kinds, contexts, facts)."""
    rules = RULES[name]
    rng = np.random.default_rng([args.seed, GAMES.index(name)])
    wanted = WANTED if args.search else (0,) * 13
    numbers = plain_numbers(ExpertAgent(rules, wins=no_table()).weights)
    kept: list[tuple[Array, ...]] = []
    for turn in range(args.rounds):
        agent = ExpertAgent(rules, numbers=numbers, wanted=wanted, wins=no_table())
        sides = (agent, RuleAgent(rules))  # whom it plays against, by turns
        n = min(AT_ONCE, args.hands)
        parts = [try_calls(agent, sides[part % 2], n, rng) for part in range(args.hands // n)]
        kept.append(tuple(np.concatenate(column) for column in zip(*parts, strict=True)))
        data = [np.concatenate(column) for column in zip(*kept[-KEEP:], strict=True)]
        error = float(np.mean((kept[-1][3] - predicted(numbers, *kept[-1][:3])) ** 2))
        numbers = refit_signs(refitted(numbers, *data[:4]), *data[4:])
        print(f"  {name} round {turn + 1}: squared error before {error:.2f}", flush=True)
    return numbers


def refit_signs(numbers: Array, signs: Array, strains: Array, beyond: Array) -> Array:
    """Least squares of the tricks beyond the table's on what the others had called."""
    for kind in range(2):
        these = (strains >= 0) & ((strains == NO_TRUMP) == bool(kind))
        x = np.concatenate([np.ones((int(these.sum()), 1)), signs[these]], axis=1)
        left = x.T @ x + np.diag([1e-6] + [RIDGE] * N_SIGNS)
        found = np.linalg.solve(left, x.T @ beyond[these])
        set_signs(numbers, kind, found[0], found[1:])
    return numbers


def predicted(numbers: Array, kinds: Array, contexts: Array, facts: Array) -> Array:
    """The points the numbers say for these calls."""
    said: Array = (numbers[kinds, contexts] * facts).sum(axis=1)
    return said


def refitted(numbers: Array, kinds: Array, contexts: Array, facts: Array, points: Array) -> Array:
    """Least squares with a ridge towards the numbers there were."""
    out = numbers.copy()
    for kind in (PASS, BID, LONE):
        for context in range(N_CONTEXTS):
            these = (kinds == kind) & (contexts == context)
            x, before = facts[these], numbers[kind, context]
            if len(x):
                scale = np.sqrt((x * x).mean(axis=0)) + 1e-9
                z = x / scale
                left = z.T @ z + RIDGE * np.eye(N_FACTS)
                out[kind, context] += (
                    np.linalg.solve(left, z.T @ (points[these] - x @ before)) / scale
                )
    return out


def try_calls(
    agent: ExpertAgent, other: ExpertAgent | RuleAgent, n: int, rng: np.random.Generator
) -> tuple[Array, ...]:
    """Play `n` hands against another agent, one call of each changed.

    Of that call: its kind, context, facts and the points it got; the signs of the calls before
    it, its strain (-1 unless it became the contract, with partner) and the tricks won beyond what
    the table says.
    """
    tables, offsets = agent.tables, agent.layout.offsets
    states = new_states(n)
    batch.seed_rows(states, *split_seed(int(rng.integers(2**62))))
    batch.start_rows(states, tables, np.arange(n) % 4)
    batch.deal_rows(states, tables)
    chosen_turn = rng.integers(0, 4, n)
    kinds, contexts = np.zeros(n, np.int64), np.zeros(n, np.int64)
    facts, signs = np.zeros((n, N_FACTS)), np.zeros((n, N_SIGNS))
    levels, strains, means = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n)
    seats = (states["dealer"] + 1 + chosen_turn) & 3
    observations = np.zeros((n, agent.layout.size), np.int8)
    masks = np.zeros((n, agent.n_actions), np.int8)
    for call in range(4):
        rows = np.arange(n)
        batch.encode_rows(states, tables, offsets, rows, observations, masks)
        choices = agent.act_rows(observations, masks)
        theirs = (states["turn"] ^ seats) & 1 == 1
        if other is not agent:
            choices[theirs] = other.act_rows(observations[theirs], masks[theirs])
        here = np.flatnonzero(chosen_turn == call)
        tried = np.zeros(len(here), np.int64)
        found = np.zeros((len(here), 4), np.int64)
        told, read = np.zeros((len(here), N_FACTS)), np.zeros((len(here), 1 + N_SIGNS))
        try_rows(
            observations[here], masks[here], tables, offsets, agent.weights, agent.table.keys,
            agent.table.tricks, agent.table.lone, agent.numbers, agent.wins, records(VIEW, 1),
            records(SCRATCH, 1), records(CALLS, 1), rng.integers(0, 2**62, len(here)),
            tried, found, told, read,
        )  # fmt: skip
        choices[here], facts[here] = tried, told
        kinds[here], contexts[here], levels[here], strains[here] = found.T
        means[here], signs[here] = read[:, 0], read[:, 1:]
        batch.apply_rows(states, tables, rows, choices)
    while len(rows := np.flatnonzero(states["phase"] < DEAL)):
        batch.encode_rows(states, tables, offsets, rows, observations, masks)
        m = len(rows)
        choices = agent.act_rows(observations[:m], masks[:m])
        theirs = (states["turn"][rows] ^ seats[rows]) & 1 == 1
        if other is not agent and theirs.any():
            choices[theirs] = other.act_rows(observations[:m][theirs], masks[:m][theirs])
        batch.apply_rows(states, tables, rows, choices)
    everyone, sides = np.arange(n), seats & 1
    points = states["points"].astype(float)
    gained = points[everyone, sides] - points[everyone, 1 - sides]
    beyond = states["tricks_won"][everyone, sides] - means
    stood = (states["declarer"] == seats) & (states["level"] == levels) & (kinds == BID)
    strains[~stood] = -1
    return kinds, contexts, facts, gained, signs, strains, beyond


@kernel
def try_rows(
    observations: Array,
    masks: Array,
    tables: Array,
    offsets: Array,
    weights: Array,
    keys: Array,
    tricks: Array,
    lone: Array,
    numbers: Array,
    wins: Array,
    views: Array,
    scratch: Array,
    calls: Array,
    words: Array,
    actions: Array,
    found: Array,
    facts: Array,
    read: Array,
) -> None:
    """Choose for every row one of the calls that look good, by `words`, and note its facts."""
    t, v, b = tables[0], views[0], calls[0]
    for i in range(len(observations)):
        read_view(row_of(observations, i), t, offsets[0], v)
        look_up(v, t, keys, tricks, lone, numbers, scratch[0], b)
        read_time(v)
        find_best(b)
        weigh_standing(v, t, weights[0], wins, scratch[0], b)
        legal = call_bits(row_of(masks, i), t)
        most = -1e9
        for level in range(-1, int(t.n_levels)):
            if legal >> (1 + level) & 1:
                most = max(most, call_worth(v, t, level, numbers, wins, b))
        best, best_draw = -2, -1
        for level in range(-1, int(t.n_levels)):
            if legal >> (1 + level) & 1:
                value = call_worth(v, t, level, numbers, wins, b)
                draw = int(mix(np.uint64(words[i]) + np.uint64(level + 2)) >> np.uint64(2))
                if value >= most - WIDTH * b.slope and draw > best_draw:
                    best, best_draw = level, draw
        found[i, 0] = describe_call(v, t, best, wins, b)
        found[i, 1] = b.context
        for fact in range(N_FACTS):
            facts[i, fact] = b.facts[fact]
        found[i, 2] = best
        found[i, 3] = b.best
        read[i, 0] = b.table_mean[int(b.best)]
        read_signs(v, t, int(b.best), scratch[0].counts)
        for sign in range(N_SIGNS):
            read[i, 1 + sign] = scratch[0].counts[sign]
        actions[i] = call_action(t, best, b)


if __name__ == "__main__":
    sys.exit(run(main, parse_args))
