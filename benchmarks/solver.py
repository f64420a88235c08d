"""Speed of the solver: random deals of every deck, one at a time, on one core.

    python benchmarks/solver.py
    python benchmarks/solver.py --decks 24 48 --deals 100 --json
    python benchmarks/solver.py --decks 32 48 --exchange
    python benchmarks/solver.py --hard
    python benchmarks/solver.py --publish

Times are processor time of the thread, so that other work on the machine has little effect. Each
deal is solved from an empty transposition table to the exact number of tricks; "all alone?" only
checks whether a lone hand takes every trick. Cards tried are the same on every machine.

`--exchange` times the best exchange of 1, 2 and 3 cards of a lone call, in wall time. `--hard`
compares the deals of `tests/solver/hard_deals.jsonl`, made harder card by card, with random ones.
`--publish` measures 24, 32 and 48 cards with different deals in each of three rounds, and writes
the figures to `results/` and this folder's pages.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import reporting
from reports import Report

from bideuchre_env import Rules, solver
from bideuchre_env.bench import measure
from bideuchre_env.cli.options import argument
from bideuchre_env.cli.program import script
from bideuchre_env.cli.screen import script_help
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS, hand_bits
from bideuchre_env.runtime.jit import Array
from bideuchre_env.solver import values
from bideuchre_env.solver.transpositions import new_searcher

DECKS: dict[str, tuple[Any, int]] = {
    "16": ("J", 1),
    "20": ("10", 1),
    "24": ("9", 1),
    "32": ("J", 2),
    "40": ("10", 2),
    "48": ("9", 2),
}
DEALS = {"16": 3000, "20": 3000, "24": 3000, "32": 1000, "40": 200, "48": 100}
EXCHANGES = 20
ROUNDS = 3
QUESTIONS = {
    "trump": ("H", False),
    "no trump": ("NT", False),
    "trump alone": ("H", True),
    "no trump alone": ("NT", True),
    "all alone?": ("H", True),
}
TARGETS = {  # deals per second
    (deck, question): target
    for deck, target in (("24", 10_000), ("32", 1_000), ("48", 20))
    for question in ("trump", "no trump")
}
TARGETS |= {(deck, "all alone?"): 100_000 for deck in ("24", "32", "48")}
TAIL = 10  # target of the 99th percentile, in multiples of the mean
CORPUS = Path(__file__).parents[1] / "tests" / "solver" / "hard_deals.jsonl"

LINE = (
    "{deck:>3} cards  {question:<15} {rate:>9,.0f} a second   "
    "us: mean {us_mean:>9,.1f} median {us_median:>9,.1f} p99 {us_p99:>11,.1f} "
    "({us_p99_by_mean:>4.1f} means) most {us_most:>11,.1f}   "
    "cards tried: mean {cards_mean:>9,.0f} median {cards_median:>8,.0f} p99 {cards_p99:>9,.0f} "
    "({cards_p99_by_mean:>4.1f} means) most {cards_most:>9,.0f}"
)
EXCHANGE_LINE = (
    "{deck:>3} cards  {strain:>2}, {cards} exchanged, {deals} deals   ms: mean {mean:>8,.1f} "
    "median {median:>8,.1f} p99 {p99:>8,.1f} most {most:>8,.1f}"
)
HARD_LINE = (
    "{deck:>3} cards  {question:<15} {hard:>2} hard   worst of corpus in means: {most_means:>5.1f} "
    "({cards_most:>11,.0f} cards tried), in time {most_us_means:>5.1f} ({us_most:>11,.1f} us)"
)

Row = dict[str, Any]


def parse_args(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(**script_help(__doc__))
    decks = {"nargs": "+", "choices": sorted(DECKS)}
    argument(parser, "--decks N", "the decks, by cards", default=sorted(DECKS), **decks)
    argument(parser, "--deals N", "deals of each kind (default: fewer of larger decks)", int)
    argument(parser, "--seed S", "same seed, same deals", int, 1)
    argument(parser, "--memory MB", "megabytes of table", float, 64)
    kind = parser.add_mutually_exclusive_group()
    argument(kind, "--exchange", "time the best exchange instead")
    argument(kind, "--hard", "compare the hard deals with random ones")
    argument(kind, "--publish", "write results/ and README.md")
    reporting.add_output_options(parser)
    return parser.parse_args(arguments)


def main(args: argparse.Namespace) -> int:
    """Run the measurement that the options choose, and print or publish it; return 0.

    With `--redraw` only the saved report is drawn again.
    """
    if args.deals is not None and args.deals < 1:
        raise OptionError(f"--deals {args.deals}: 1 or more")
    if args.redraw:
        return reporting.redraw("solver", args.out)
    if args.publish:
        publish(args)
        return 0
    pairs = product(args.decks, QUESTIONS)
    rows = (time_deals(args, deck, question, args.seed) for deck, question in pairs)
    form = LINE
    if args.exchange:
        rows, form = exchanges(args), EXCHANGE_LINE
    elif args.hard:
        rows, form = hard(args), HARD_LINE
    if args.json:
        print(json.dumps(list(rows)))
        return 0
    for row in rows:
        print(form.format(**row), flush=True)
    return 0


def publish(args: argparse.Namespace) -> None:
    """Measure `ROUNDS` rounds with different deals, and write the report and the pages."""
    figures = []
    with measure.pinned() as core:
        for deck in ("24", "32", "48"):
            for question in QUESTIONS:
                reporting.announce(f"{deck} cards, {question}")
                seeds = range(args.seed, args.seed + ROUNDS)
                rounds = [time_deals(args, deck, question, seed) for seed in seeds]
                group, target = f"{deck} cards", TARGETS.get((deck, question))
                rates = [row["rate"] for row in rounds]
                figures.append(measure.figure(group, question, "deals/s", rates, target=target))
                if question != "all alone?":
                    tails = [row["cards_p99_by_mean"] for row in rounds]
                    name = f"{question}: cards tried by the 99th percentile, in means"
                    figures.append(measure.figure(group, name, "means", tails, target=TAIL))
    how = f"exact tricks of random deals, {ROUNDS} rounds of other deals, {reporting.pinning(core)}"
    reporting.publish(Report("solver", "Solver", how, figures), args)


def time_deals(args: argparse.Namespace, deck: str, question: str, seed: int) -> Row:
    """Solve random deals of a deck one by one; return a row with the fields of `LINE`.

    `deck` is a key of `DECKS`, `question` one of `QUESTIONS`.
    """
    rules, deals = rules_of(deck), args.deals or DEALS[deck]
    times, tried = solve(rules, random_deals(rules, deals, seed), question, args.memory)
    return {"deck": deck, "question": question, "deals": deals, "rate": 1e6 / times.mean()} | {
        f"{unit}_{name}": figure
        for unit, numbers in (("us", times), ("cards", tried))
        for name, figure in spread(numbers).items()
    }


def spread(numbers: Array) -> dict[str, float]:
    """Return mean, median, p99, maximum, and p99 / mean (1 if all are 0)."""
    mean, p99 = float(numbers.mean()), float(np.percentile(numbers, 99))
    return {
        "mean": mean,
        "median": float(np.median(numbers)),
        "p99": p99,
        "p99_by_mean": p99 / mean if mean else 1.0,
        "most": float(numbers.max()),
    }


def rules_of(deck: str) -> Rules:
    """Return rules with the deck of this name in `DECKS`."""
    ranks, copies = DECKS[deck]
    return Rules(ranks=ranks, copies=copies, partnered=(1, 4), target=52)


def random_deals(rules: Rules, deals: int, seed: int) -> Array:
    """Return random deals as hand integers, int64 (deals, 4)."""
    rng = np.random.default_rng(seed)
    cards = np.repeat(np.arange(rules.kinds), rules.copies)
    return np.array(
        [[hand_bits(hand) for hand in np.split(rng.permutation(cards), 4)] for _ in range(deals)]
    )


def solve(rules: Rules, hands: Array, question: str, memory: float) -> tuple[Array, Array]:
    """Solve each deal of `hands`, int64 (deals, 4), from an empty table of `memory` MB.

    Return two arrays, float64 (deals,): microseconds of the thread, and cards tried. `question`
    is a key of `QUESTIONS`.
    """
    strain, alone = QUESTIONS[question]
    deals, tables = len(hands), compile_tables(rules)
    states, out = new_states(deals), np.zeros(deals, np.int8)
    searcher = new_searcher(memory)
    values.set_contracts(states, tables, hands, -1, 0, STRAINS.index(strain), int(alone))

    def once(i: int) -> None:
        if question == "all alone?":
            values.reaches_row(searcher, states, tables, i, rules.tricks)
        else:
            values.solve_rows(searcher, states, tables, i, i + 1, out)

    once(0)  # compiles
    times, tried = np.zeros(deals), np.zeros(deals)
    for i in range(deals):
        searcher.position["nodes"] = 0
        start = time.thread_time_ns()
        once(i)
        times[i] = (time.thread_time_ns() - start) / 1e3
        tried[i] = searcher.position["nodes"][0]
    return times, tried


def exchanges(args: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for each deck, number of cards and strain, with the fields of `EXCHANGE_LINE`.

    The wall times, in milliseconds, are those of the best exchange of a lone call on random deals.
    """
    for deck in args.decks:
        rules = rules_of(deck)
        hands = random_deals(rules, args.deals or EXCHANGES, args.seed)
        for cards in (1, 2, 3):
            for strain in ("H", "NT"):
                times = []
                for i in (0, *range(len(hands))):  # the first also compiles
                    start = time.perf_counter()
                    call: Row = {"declarer": 0, "strain": strain, "cards": cards}
                    solver.best_exchange(hands[i], rules, **call, memory=args.memory)
                    times.append(1e3 * (time.perf_counter() - start))
                labels = {"deck": deck, "strain": strain, "cards": cards, "deals": len(hands)}
                yield labels | spread(np.array(times[1:]))


def hard(args: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for each deck and question with hard deals, with the fields of `HARD_LINE`.

    Cards tried and times of the hardest deal are also given in multiples of the mean of random
    deals; `means` has the multiples of all hard deals.
    """
    lines = [json.loads(text) for text in CORPUS.read_text(encoding="utf-8").splitlines()]
    for deck in args.decks:
        rules = rules_of(deck)
        for question in list(QUESTIONS)[:4]:
            kind = (*DECKS[deck], *QUESTIONS[question])
            deals = [
                [hand_bits([CARD_NAMES.index(card) for card in hand.split()]) for hand in d["deal"]]
                for d in lines
                if (d["ranks"], d["copies"], d["strain"], d["alone"]) == kind
            ]
            if not deals:
                continue
            times, tried = solve(rules, np.array(deals), question, args.memory)
            usual = time_deals(args, deck, question, args.seed)
            if not usual["cards_mean"]:
                raise OptionError(f"--deals {args.deals}: too few, none needed a card to be tried")
            yield {
                "deck": deck,
                "question": question,
                "hard": len(deals),
                "us_most": float(times.max()),
                "cards_most": float(tried.max()),
                "means": (tried / usual["cards_mean"]).round(1).tolist(),
                "most_means": float(tried.max()) / usual["cards_mean"],
                "most_us_means": float(times.max()) / usual["us_mean"],
            }


if __name__ == "__main__":
    sys.exit(script(lambda: main(parse_args())))
