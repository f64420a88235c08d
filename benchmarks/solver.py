"""How fast the solver is: random deals of every deck, one at a time, on one core.

    python benchmarks/solver.py
    python benchmarks/solver.py --decks 24 48 --deals 100 --json

Times are processor time of the thread, so that other work on the machine counts little. Each deal
is solved from an empty transposition table, from the deal to the exact number of tricks; "all
alone?" asks only whether a lone hand takes every trick.
"""

from __future__ import annotations

import argparse
import json
import time

DECKS = {"16": ("J", 1), "20": ("10", 1), "24": ("9", 1), "32": ("J", 2), "40": ("10", 2)}
DECKS["48"] = ("9", 2)
DEALS = {"16": 3000, "20": 3000, "24": 3000, "32": 1000, "40": 200, "48": 100}
QUESTIONS = {
    "trump": ("H", False),
    "no trump": ("NT", False),
    "trump alone": ("H", True),
    "no trump alone": ("NT", True),
    "all alone?": ("H", True),
}


def main() -> None:
    """Measure what the command line asks for and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--decks", nargs="+", choices=sorted(DECKS), default=sorted(DECKS))
    parser.add_argument("--deals", type=int, help="deals of each kind (fewer of the larger decks)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", type=float, default=64, help="megabytes of table")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    args = parser.parse_args()
    figures = []
    for deck in args.decks:
        for question in QUESTIONS:
            found = measure(deck, question, args.deals or DEALS[deck], args.seed, args.memory)
            figures.append(found)
            if not args.json:
                print(line(found), flush=True)
    if args.json:
        print(json.dumps(figures))


def line(found: dict[str, object]) -> str:
    """One figure for reading."""
    return (
        "{deck:>3} cards  {question:<15} {rate:>11,.0f} a second   mean {mean:>11,.1f} us   "
        "median {median:>10,.1f}   p99 {p99:>12,.1f}   {p99_by_mean:>5.1f} means   "
        "cards tried {tried:>11,.1f}".format(**found)
    )


def measure(deck: str, question: str, deals: int, seed: int, memory: float) -> dict[str, object]:
    """Solve so many random deals of a deck one by one."""
    import numpy as np

    from bideuchre_env import Rules
    from bideuchre_env.cards import STRAINS, hand_bits
    from bideuchre_env.solver import values
    from bideuchre_env.solver.board import new_board
    from bideuchre_env.solver.memory import new_memory
    from bideuchre_env.state import new_states
    from bideuchre_env.tables import compile_tables

    ranks, copies = DECKS[deck]
    strain, alone = QUESTIONS[question]
    rules = Rules(ranks=ranks, copies=copies, partnered=(1, 4), target=52)
    tables, rng = compile_tables(rules), np.random.default_rng(seed)
    states, out = new_states(deals), np.zeros(deals, np.int8)
    boards, (heads, entries) = new_board(), new_memory(memory)
    cards = np.repeat(np.arange(rules.kinds), copies)
    hands = np.array(
        [[hand_bits(hand) for hand in np.split(rng.permutation(cards), 4)] for _ in range(deals)]
    )
    values.set_contracts(states, tables, hands, -1, 0, STRAINS.index(strain), int(alone))

    def once(i: int) -> None:
        if question == "all alone?":
            values.reaches_row(states, tables, i, rules.tricks, boards, heads, entries)
        else:
            values.solve_rows(states, tables, i, i + 1, boards, heads, entries, out)

    once(0)  # compiles
    boards["nodes"] = 0
    times = np.zeros(deals)
    for i in range(deals):
        start = time.thread_time_ns()
        once(i)
        times[i] = (time.thread_time_ns() - start) / 1e3
    mean, p99 = float(times.mean()), float(np.percentile(times, 99))
    return {
        "deck": deck,
        "question": question,
        "deals": deals,
        "rate": 1e6 / mean,
        "mean": mean,
        "median": float(np.median(times)),
        "p99": p99,
        "p99_by_mean": p99 / mean,
        "slowest": float(times.max()),
        "tried": int(boards["nodes"][0]) / deals,
    }


if __name__ == "__main__":
    main()
