"""The number of cards searched in hard deals, and equal results under other settings.

`hard_deals.jsonl` holds deals optimised to be hard, each with its tricks and its effort: the number
of cards that the solver tries, which is the same on every machine.
"""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from oracles.plain_solver import slow_tricks
from support.solver_positions import RULES, Ending, whole_deal

from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import STRAINS
from bideuchre_env.solver import values
from bideuchre_env.solver.inputs import check_rows, position_of
from bideuchre_env.solver.transpositions import new_searcher

LINES = Path(__file__).with_name("hard_deals.jsonl").read_text(encoding="utf-8").splitlines()


def hard_deals():
    """Yield (ending, tricks of the side to lead, effort) for each saved deal."""
    for line in LINES:
        data = json.loads(line)
        hands = [hand.split() for hand in data["deal"]]
        absent = 2 if data["alone"] else None
        if absent is not None:
            hands[absent] = []
        rules = RULES[data["ranks"], data["copies"]]
        yield Ending(rules, hands, [], 0, data["strain"], absent), data["tricks"], data["effort"]


def solved(ending):
    """Solve an ending; return the tricks of the side to lead, and the number of cards tried."""
    states, _ = position_of(ending.row, ending.rules, None, None)
    searcher, out = new_searcher(64), np.zeros(1, np.int8)
    values.solve_rows(searcher, states, compile_tables(ending.rules), 0, 1, out)
    return int(out[0]), int(searcher.position["nodes"][0])


QUICK = 400_000  # cards tried


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_effort_of_hard_deals_does_not_grow(slow):
    """The effort of a deal grows by at most 10 %, that of all deals together by at most 2 %."""
    before, now = [], []
    for ending, tricks, effort in hard_deals():
        if (effort >= QUICK) == slow:
            solution, tried = solved(ending)
            assert solution == tricks, ending
            assert tried <= 1.1 * effort, (tried, effort, ending)
            before.append(effort)
            now.append(tried)
    assert sum(now) <= 1.02 * sum(before)


@pytest.mark.slow
def test_hard_deals_agree_with_an_independent_solver():
    """The saved tricks agree with `slow_tricks` in single decks, and in lone hands of 32 cards."""
    for ending, tricks, _ in hard_deals():
        if ending.rules.copies == 1 or (ending.absent is not None and ending.rules.cards == 32):
            assert slow_tricks(ending.hands, 0, ending.strain, ending.absent) == tricks


def test_a_table_too_small_for_the_search_gives_the_same_tricks():
    hard = [deal for deal, _, effort in hard_deals() if 40_000 < effort < QUICK]
    for ending in hard[:6]:
        searcher, out = new_searcher(0), np.zeros(1, np.int8)
        states, rules = position_of(ending.row, ending.rules, None, None)
        values.solve_rows(searcher, states, compile_tables(rules), 0, 1, out)
        assert int(out[0]) == solved(ending)[0]
        assert int(searcher.position["stored"][0]) > len(searcher.entries)


@pytest.mark.parametrize("n", [300, pytest.param(6_000, id="6000", marks=pytest.mark.slow)])
@pytest.mark.parametrize("deck", [("J", 1), ("10", 1), ("J", 2)])
def test_deals_that_share_a_table_have_the_same_tricks(deck, n):
    """Sharing a table exposes stored results that depend on more cards than their key."""
    rules, rng = RULES[deck], random.Random(f"{deck}{n}")
    for strain in STRAINS[3:]:
        for lone in (False, True):
            deals = [whole_deal(rng, rules, strain, lone) for _ in range(n // rules.copies)]
            states, tables = check_rows(Ending.rows(deals), rules), compile_tables(rules)
            tricks = np.zeros((2, len(states), 24), np.int8)
            for shared in (True, False):
                values.solve_moves_rows(
                    new_searcher(16), states, tables, 0, len(states), shared, tricks[int(shared)]
                )
            assert (tricks[0] == tricks[1]).all()
