"""Look for better numbers of `TRUSTED` in `agents/search/agent.py`: how a seat is taken to decide.

    python experiments/fitting/fit_choice_model.py --seed 1

Searchers play at all seats. Where one of them has a choice and others have called before it, its
position is taken at times (`SHARE`), with the cards that the others really held. Beside that true
world `--worlds` more are drawn from what the seat knows, all alike; the likelihood of
`agents/likelihood.py` weighs them, and the score of the numbers is the mean logarithm of the share
of the weight that falls on the true one. Numbers that say nothing get log(1 / (worlds + 1)).

From the shipped numbers on, each in turn is multiplied or divided by a factor for as long as the
mean of the games' scores rises; the factor is smaller in every round. A number that changes no
score (some are for games without a table of hands) stays as it is. What is found is held against
the shipped numbers on positions from other hands, played before the search began: only that
difference is to be trusted. Its interval is over hands, as positions of one hand are alike.

The shipped numbers were found with `--hands 200 --seed 1`, begun from blunter ones (points 0.3,
tricks 0.1, slip 0.02, lead 0.4, follow 0.15, exchange -1.5, the rest as shipped). On hands held out
they were better on Barrie (+0.10, 95 % interval +0.08 to +0.12) and not surely so on Cincinnati
(+0.03, -0.01 to +0.07). Searchers then solved their worlds whole, and the order of an exchange
counted too, which nobody knows; "exchange" may be too strict for that.

Nothing is written: the table and the numbers, in a form to paste, are printed. Ctrl-C ends the
search, and what is found until then is compared; before that there is nothing to compare.
"""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bideuchre_env.agents.expert.agent import Book
from bideuchre_env.agents.search.agent import (
    MOST_WORLDS,
    PLAYED_OUT,
    TRUSTED,
    WORLDS,
    InferenceAgent,
    begin_row,
    check_range,
)
from bideuchre_env.agents.search.candidates import draw_world
from bideuchre_env.agents.search.likelihood import log_likelihood
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.script_args import parse, run
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import DEAL, new_states
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.statistics.intervals import Interval, Moments
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, Word, entry_kernel

PARTS = tuple(TRUSTED)
SHARED = ("slip", "lead", "follow")  # shares, which are below 1
MOST_SHARE = 0.95
SHARE = 0.35  # of the decisions with a choice that are scored
FACTOR = 1.6  # of the first round; the square root of the last one's in each further round
STEPS = 8  # one way, in one round
LEAST = 2e-4  # a smaller gain is none
AT_ONCE = 16  # positions weighed between two looks at Ctrl-C
FITTED, HELD_OUT = 0, 1  # streams of hands

Numbers = dict[str, float]
Score = Callable[[Numbers], float]
Played = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class Args:
    """What to fit; every field is an option of the command line."""

    variants: tuple[str, ...] = field(
        default=("cincinnati_v0", "barrie_v0"), metadata={"help": "the games that are played"}
    )
    parts: tuple[str, ...] = field(default=PARTS, metadata={"help": "the numbers to fit"})
    hands: int = field(
        default=400, metadata={"help": "hands of each game to fit to, and as many held out"}
    )
    worlds: int = field(default=100, metadata={"help": "worlds beside the true one"})
    rounds: int = field(default=3, metadata={"help": "times every number is tried"})
    search: int = field(
        default=WORLDS,
        metadata={"help": "worlds the players try a card in, and as many for a call"},
    )
    seed: int = field(default=0, metadata={"help": "same seed, same hands and numbers"})


def parse_args(arguments: list[str] | None = None) -> Args:
    """The command line as `Args`: an option a field, its default the field's."""
    return parse(Args, __doc__, arguments)


def main(args: Args) -> int:
    """Play, search and print what is found; 130 if interrupted."""
    check(args)
    code, found = 0, dict(TRUSTED)
    try:
        fitted = [gather(name, args, FITTED) for name in args.variants]
        held_out = [gather(name, args, HELD_OUT) for name in args.variants]
    except KeyboardInterrupt:
        print("interrupted: nothing is fitted yet", file=sys.stderr)
        return 130
    try:
        climb(lambda numbers: mean_score(fitted, numbers), found, args.parts, args.rounds)
    except KeyboardInterrupt:
        print("interrupted: what was found until then", file=sys.stderr)
        code = 130
    print(source(found), flush=True)
    try:
        print(table(held_out, found, args.worlds))
    except KeyboardInterrupt:
        print("interrupted: not compared", file=sys.stderr)
        code = 130
    return code


def check(args: Args) -> None:
    """Raise `OptionError` for arguments that fit nothing, before anything is played."""
    split_seed(args.seed)
    check_range("worlds", args.worlds, 1, MOST_WORLDS)
    check_range("search", args.search, 1, MOST_WORLDS)
    if unknown := sorted(set(args.variants) - set(RULES)):
        raise OptionError(f"--variants {' '.join(unknown)}: of {' '.join(RULES)}")
    if unknown := sorted(set(args.parts) - set(PARTS)):
        raise OptionError(f"--parts {' '.join(unknown)}: of {' '.join(PARTS)}")
    if args.hands < 2 or args.rounds < 1:
        raise OptionError(f"--hands {args.hands} --rounds {args.rounds}: at least 2, and 1")


# --- the positions --------------------------------------------------------------------------------


class Positions:
    """Positions of one game with their true worlds, and the room to weigh them in.

    `played` are the observations, int8 (n, D), their masks, the state rows, and the numbers of the
    hands they are of, (n,); `worlds` are drawn beside each true one, from `seed`.
    """

    def __init__(self, name: str, played: Played, worlds: int, seed: int) -> None:
        self.name, self.worlds = name, worlds
        self.room = InferenceAgent(RULES[name], seed=seed)
        seen, masks, truths, self.hands = played
        n = len(truths)
        self.scripts, self.bases, self.truths = new_states(n), new_states(n), new_states(n)
        self.words = np.zeros(n, np.uint64)
        for i in range(n):
            self._enter(i, seen, masks, truths)

    def _enter(self, i: int, seen: Array, masks: Array, truths: Array) -> None:
        """Tell position i again from what its seat saw, and put the true cards into one of two."""
        a = self.room
        script, world, _ = a.states
        begin_row(
            seen, masks, i, a.tables, a.layout.offsets, a.book, a.views, a.bidding, a.calls,
            a.layouts, script, world, a.seen, a.may, a.plan, a.low,
        )  # fmt: skip
        assert a.plan["n"][0] > 0, "a position that was played can be told again"
        self.scripts[i], self.bases[i], self.truths[i] = script[0], world[0], world[0]
        self.words[i] = a.plan["word"][0]
        seats = (np.arange(N_SEATS) + int(truths["turn"][i])) & 3  # 0 is the seat to act
        self.truths["hands"][i] = truths["hands"][i, seats]
        self.truths["given"][i], self.truths["passed"][i] = truths["given"][i], truths["passed"][i]

    def logs(self, numbers: Numbers) -> Array:
        """How likely the true world and the others are, as logarithms; float64 (n, 1 + worlds)."""
        a = self.room
        _, world, tries = a.states
        for part, number in numbers.items():
            a.trust[part] = number
        logs = np.zeros((len(self.truths), 1 + self.worlds))
        for first in range(0, len(logs), AT_ONCE):
            weigh_positions(
                self.scripts, self.bases, self.truths, self.words, world, tries, a.tables,
                a.layout.offsets, a.book, a.views, a.bidding, a.calls, a.layouts, a.seen, a.may,
                a.trust, a.kept, a.plan, a.scratch, a.high, logs, first,
                min(first + AT_ONCE, len(logs)),
            )  # fmt: skip
        return logs

    def scores(self, numbers: Numbers) -> Array:
        """The score of every position, float64 (n,)."""
        return log_shares(self.logs(numbers))


def gather(name: str, args: Args, stream: int) -> Positions:
    """Positions from hands of one game; those of another stream share no hand with them."""
    rng = np.random.default_rng([args.seed, [*RULES].index(name), stream])
    start, seed = time.perf_counter(), int(rng.integers(2**62))
    title = f"{name}, {'to fit' if stream == FITTED else 'held out'}"
    positions = Positions(name, play(RULES[name], title, args, rng), args.worlds, seed)
    n, seconds = len(positions.truths), time.perf_counter() - start
    print(f"{title}: {n:,} positions of {args.hands:,} hands, {seconds:.0f} s", flush=True)
    return positions


def play(rules: Rules, title: str, args: Args, rng: np.random.Generator) -> Played:
    """Play hands with searchers at all seats, and take positions on the way."""
    agent = InferenceAgent(
        rules,
        seed=int(rng.integers(2**62)),
        worlds=args.search,
        played_out=min(args.search * PLAYED_OUT // WORLDS, MOST_WORLDS),
    )
    states, tables, offsets = new_states(args.hands), agent.tables, agent.layout.offsets
    seed_rows(states, *split_seed(int(rng.integers(2**62))))
    start_rows(states, tables, np.arange(args.hands) % N_SEATS)
    deal_rows(states, tables)
    seen, mask = np.zeros((1, agent.layout.size), np.int8), np.zeros((1, agent.n_actions), np.int8)
    found: list[tuple[Array, Array, Array, int]] = []
    decisions = 0
    with progress_bar(title, "hands") as progress:
        for i in range(args.hands):
            row = np.array([i])
            while states["phase"][i] < DEAL:
                encode_rows(states, tables, offsets, row, seen, mask)
                told = mask.sum() > 1 and states["calls_made"][i] > 0
                if told and rng.random() < SHARE:
                    found.append((seen[0].copy(), mask[0].copy(), states[i : i + 1].copy(), i))
                apply_rows(states, tables, row, agent.act_rows(seen, mask))
                decisions += 1
            progress(i + 1, args.hands, decisions)
    if not found:
        raise OptionError(f"--hands {args.hands}: no position came up, more are needed")
    observations, masks, truths, hands = zip(*found, strict=True)
    return np.array(observations), np.array(masks), np.concatenate(truths), np.array(hands)


@entry_kernel
def weigh_positions(
    scripts: Array,
    bases: Array,
    truths: Array,
    words: Array,
    worlds: Array,
    tries: Array,
    tables: Array,
    offsets: Array,
    book: Book,
    views: Array,
    bidding: Array,
    calls: Array,
    layouts: Array,
    seen: Array,
    may: Array,
    trust: Array,
    kept: Array,
    plans: Array,
    scratch: Array,
    high: Word,
    logs: Array,
    first: int,
    last: int,
) -> None:
    """Fill rows `first` to `last` - 1 of `logs`: how likely the true world and the others are.

    Unlike the searchers, to the end, however unlikely; `worlds` to `scratch` are working room.
    """
    for i in range(first, last):
        plans[0].word = words[i]
        kept[0].keys[:] = np.uint64(0)
        worlds[0] = truths[i]
        for j in range(logs.shape[1]):
            if j == 1:
                worlds[0] = bases[i]
            if j > 0:
                draw_world(worlds, tables, scratch, plans[0], j, high)
            logs[i, j] = log_likelihood(
                worlds[0], scripts[i], tries[0], tables[0], offsets[0], book, views[1], bidding[0],
                calls[0], layouts[0], row_of(seen, 0), row_of(may, 0), trust[0], kept[0],
                -1e18,
            )  # fmt: skip


# --- the search -----------------------------------------------------------------------------------


def log_shares(logs: Array) -> Array:
    """The logarithm of the first column's share of the weight, (n,), of logarithms (n, m)."""
    shares: Array = logs[:, 0] - np.logaddexp.reduce(logs, axis=1)
    return shares


def mean_score(sets: list[Positions], numbers: Numbers) -> float:
    """The mean over games of the mean score of their positions."""
    return float(np.mean([positions.scores(numbers).mean() for positions in sets]))


def climb(score: Score, numbers: Numbers, parts: tuple[str, ...], rounds: int) -> None:
    """Better `numbers` in place, one part after another; what is there is the best so far."""
    best, idle, factor = score(numbers), set[str](), FACTOR
    print(f"to begin with: {best:.4f}", flush=True)
    for turn in range(1, rounds + 1):
        for part in parts:
            if part in idle:
                continue
            tried: list[float] = []
            for way in (factor, 1 / factor):
                for _ in range(STEPS):
                    value = moved(part, numbers[part], way)
                    if value == numbers[part]:
                        break
                    now = score({**numbers, part: value})
                    tried.append(now - best)
                    if tried[-1] < LEAST:
                        break
                    best, numbers[part] = now, value
                    print(f"round {turn}: {part} {value:g}: {best:.4f}", flush=True)
                if max(tried, default=0.0) >= LEAST:
                    break  # the other way lies what it comes from
            if not any(tried):
                idle.add(part)
                print(f"{part} changes nothing: left at {numbers[part]:g}", flush=True)
        factor **= 0.5


def moved(part: str, number: float, way: float) -> float:
    """The number times a factor, to three digits, as far as it may go."""
    value = float(f"{number * way:.3g}")
    return min(value, MOST_SHARE) if part in SHARED else value


# --- what is printed ------------------------------------------------------------------------------


def over(positions: Positions, better: Array, worse: Array) -> Interval:
    """How much better scores are than others, a position: a 95 % interval over hands."""
    hands = positions.hands - positions.hands.min()
    gained, n = np.bincount(hands, better - worse), np.bincount(hands).astype(float)
    gained, n = gained[n > 0], n[n > 0]
    sums = (gained.sum(), n.sum(), gained @ gained, gained @ n, n @ n)
    found = Moments(len(n), *map(float, sums)).interval()
    assert found is not None
    return found


def table(sets: list[Positions], found: Numbers, worlds: int) -> str:
    """The scores of nothing known, of the shipped numbers and of those found, as Markdown."""
    lines = [
        "| variant | numbers | score | over the shipped ones | 95 % interval | positions | hands |",
        "|---|---|---|---|---|---|---|",
    ]
    for positions in sets:
        shipped = positions.scores(TRUSTED)
        rows = {
            "all worlds alike": np.full(len(shipped), -np.log(worlds + 1.0)),
            "shipped": shipped,
            "found": positions.scores(found),
        }
        for name, scores in rows.items():
            line = f"| `{positions.name}` | {name} | {scores.mean():.4f} |"
            if name != "shipped":
                gain = over(positions, scores, shipped)
                sure = "" if gain.low is None else f"{gain.low:+.4f} to {gain.high:+.4f}"
                line += f" {gain.mean:+.4f} | {sure} |"
            else:
                line += " | |"
            hands = len(np.unique(positions.hands))
            lines.append(f"{line} {len(scores):,} | {hands:,} |")
    return "\n".join(lines)


def source(numbers: Numbers) -> str:
    """The numbers as they stand in `agents/search/agent.py`."""
    pairs = ", ".join(f'"{part}":_{number:g}' for part, number in numbers.items()) + ","
    inside = textwrap.wrap(pairs, 92, break_on_hyphens=False)
    inside = [" " * 4 + line.replace(":_", ": ") for line in inside]
    return "\n".join(["TRUSTED = {", *inside, "}  # fmt: skip"])


if __name__ == "__main__":
    sys.exit(run(main, parse_args))
