"""Hard deals stay as cheap as they were, and the solver is the same under other settings.

`hard_deals.jsonl` holds deals found by making random ones harder: from the hardest of some tens of
random deals on, one or two pairs of cards change places at random, and the change stays if the
solver then tries more cards; 3,000 to 5,000 times over for 20 and 24 cards, 1,200 for 32, 200 for
40, 60 for 48. Later searches went on from those, more steps each, and the hardest of each kind are
kept. With each stand its tricks and the cards the solver tries (its effort), which are counted, not
timed, so they are the same on every machine.
"""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from oracles.plain_solver import slow_tricks
from support.kernels import callable_from_python
from support.solver_positions import RULES, Ending, whole_deal

from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import STRAINS
from bideuchre_env.solver import values
from bideuchre_env.solver.inputs import check_rows, position_of
from bideuchre_env.solver.position import set_up
from bideuchre_env.solver.transpositions import ENTRY, forget, new_searcher

set_up, forget = map(callable_from_python, (set_up, forget))
solve_position, value_from = map(callable_from_python, (values.solve_position, values.value_from))

LINES = Path(__file__).with_name("hard_deals.jsonl").read_text(encoding="utf-8").splitlines()


def hard_deals():
    """Each deal with its tricks and effort when it was found."""
    for line in LINES:
        told = json.loads(line)
        hands = [hand.split() for hand in told["deal"]]
        absent = 2 if told["alone"] else None
        if absent is not None:
            hands[absent] = []
        rules = RULES[told["ranks"], told["copies"]]
        yield Ending(rules, hands, [], 0, told["strain"], absent), told["tricks"], told["effort"]


def solved(ending, memory=64):
    """The tricks of the side to lead, and the cards tried."""
    states, _ = position_of(ending.row, ending.rules, None, None)
    searcher, out = new_searcher(memory), np.zeros(1, np.int8)
    values.solve_rows(searcher, states, compile_tables(ending.rules), 0, 1, out)
    return int(out[0]), int(searcher.position["nodes"][0])


QUICK = 400_000  # cards tried


def check_effort(deals):
    """Tricks as they were; no deal a tenth harder than it was, nor all of them by a fiftieth."""
    was, is_now = [], []
    for ending, tricks, effort in deals:
        found, tried = solved(ending)
        assert found == tricks, ending
        assert tried <= 1.1 * effort, (tried, effort, ending)
        was.append(effort)
        is_now.append(tried)
    assert sum(is_now) <= 1.02 * sum(was)


def test_hard_deals_are_no_harder_than_they_were():
    """Those that take moments; the rest are below."""
    check_effort(deal for deal in hard_deals() if deal[2] < QUICK)


@pytest.mark.slow
def test_the_hardest_deals_are_no_harder_than_they_were():
    """Deals of 40 and 48 cards that take a tenth of a second or more."""
    check_effort(deal for deal in hard_deals() if deal[2] >= QUICK)


@pytest.mark.slow
def test_hard_deals_agree_with_an_independent_solver():
    """Those of single decks, and all the lone ones of up to 32 cards."""
    for ending, tricks, _ in hard_deals():
        if ending.rules.copies == 1 or (ending.absent is not None and ending.rules.cards == 32):
            assert slow_tricks(ending.hands, 0, ending.strain, ending.absent) == tricks


def test_memory_is_bounded_and_does_not_matter():
    """A table takes at most what it is told; a tiny one forgets and finds the same."""
    for megabytes in (1, 8, 64):
        searcher = new_searcher(megabytes)
        assert searcher.heads.nbytes + searcher.entries.nbytes <= megabytes * 2**20
        assert searcher.entries.dtype == ENTRY
    hard = [deal for deal, _, effort in hard_deals() if 40_000 < effort < QUICK]
    overflown = 0
    for ending in hard[:6]:
        searcher, out = new_searcher(0), np.zeros(1, np.int8)
        states, rules = position_of(ending.row, ending.rules, None, None)
        values.solve_rows(searcher, states, compile_tables(rules), 0, 1, out)
        assert int(out[0]) == solved(ending)[0]
        overflown += int(searcher.position["stored"][0]) > len(searcher.entries)
    assert overflown


def test_a_searcher_may_be_used_again():
    """Deals solved one after another by the same searcher, of different decks, are as from new."""
    rng = random.Random(8)
    searcher = new_searcher(1)
    for i in range(60):
        rules = RULES[sorted(RULES)[i % 6]]
        ending = whole_deal(rng, rules, STRAINS[i % 5], lone=i % 7 == 0)
        if rules.tricks > 8:
            continue
        states, out = position_of(ending.row, rules, None, None)[0], np.zeros(1, np.int8)
        values.solve_rows(searcher, states, compile_tables(rules), 0, 1, out)
        assert int(out[0]) == solved(ending, 1)[0]


@pytest.mark.parametrize(
    "n", [300, pytest.param(6_000, id="6000", marks=pytest.mark.slow)], ids=["300", "6000"]
)
def test_what_one_deal_leaves_in_a_table_holds_for_others(n):
    """Whole deals of every kind in one table: a result that rested on too few cards would show."""
    for deck in (("J", 1), ("10", 1), ("J", 2)):
        rules, rng = RULES[deck], random.Random(f"{deck}{n}")
        for strain in STRAINS[3:]:
            for lone in (False, True):
                deals = [whole_deal(rng, rules, strain, lone) for _ in range(n // rules.copies)]
                shared_agrees_with_new(deals, rules)


def shared_agrees_with_new(deals, rules):
    """Each deal's tricks by card, from one table for all and from a new one for each."""
    states, tables, found = check_rows(Ending.rows(deals), rules), compile_tables(rules), []
    for shared in (True, False):
        out = np.zeros((len(states), 24), np.int8)
        values.solve_moves_rows(new_searcher(16), states, tables, 0, len(states), shared, out)
        found.append(out)
    assert (found[0] == found[1]).all(), np.flatnonzero((found[0] != found[1]).any(axis=1))


def test_a_result_that_rests_on_a_card_rests_on_its_equal():
    """A pair of deals of which the first once left a wrong result for the second."""
    first = ["AC AD AH KC JC JC JD JS", "AH AS KS QC QD QS JH JS", "", "AC AD KC KH KS QC QH JH"]
    second = ["AC AH KC KH QC QD JH JS", "AD AS KD KS QS JC JC JD", "", "AC AD AH AS KC KH QC JD"]
    rules = RULES["J", 2]
    deals = [
        Ending(rules, [hand.split() for hand in hands], [], 0, "H", 2) for hands in (first, second)
    ]
    states, tables, found = Ending.rows(deals), compile_tables(rules), []
    searcher = new_searcher(1)
    for i in range(2):
        set_up(searcher.position[0], tables[0], states[i])
        if i == 0:
            forget(searcher)
        found.append(int(solve_position(searcher)))
    assert found == [solved(deal)[0] for deal in deals]
    assert found == [slow_tricks(deal.hands, 0, "H", 2) for deal in deals]


def test_the_first_guess_is_no_matter():
    """From whatever number of tricks the search sets out, it finds the same."""
    rng = random.Random(40)
    for deck in (("9", 1), ("J", 2)):
        rules, tables = RULES[deck], compile_tables(RULES[deck])
        searcher = new_searcher(4)
        for i in range(60):
            deal = whole_deal(rng, rules, STRAINS[i % 5], lone=i % 4 == 3)
            found = set()
            for guess in range(1, rules.tricks + 1):
                set_up(searcher.position[0], tables[0], deal.row[0])
                forget(searcher)
                found.add(int(value_from(searcher, guess)))
            assert len(found) == 1, deal
