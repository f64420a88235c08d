"""Hard deals stay as cheap as they were, and the solver is the same under other settings.

`hard_deals.jsonl` holds deals found by making random ones harder, card by card: the tricks, and
the cards the solver tried. Effort is counted, not timed, so it is the same on every machine.
"""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from plain_solver import slow_tricks
from solver_positions import RULES, Ending, whole_deal

from bideuchre_env.cards import STRAINS
from bideuchre_env.solver import values
from bideuchre_env.solver.board import new_board
from bideuchre_env.solver.memory import ENTRY, new_memory
from bideuchre_env.solver.positions import check_rows, position_of
from bideuchre_env.tables import compile_tables

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
    boards, out = new_board(), np.zeros(1, np.int8)
    values.solve_rows(states, compile_tables(ending.rules), 0, 1, boards, *new_memory(memory), out)
    return int(out[0]), int(boards["nodes"][0])


def test_hard_deals_are_no_harder_than_they_were():
    """Never by more than 10 times on one of them, nor by a fifth on all."""
    was, is_now = [], []
    for ending, tricks, effort in hard_deals():
        found, tried = solved(ending)
        assert found == tricks, ending
        assert tried <= 10 * effort, ending
        was.append(effort)
        is_now.append(tried)
    assert sum(is_now) <= 1.2 * sum(was)


@pytest.mark.slow
def test_hard_deals_agree_with_an_independent_solver():
    """Those of single decks, and all the lone ones of up to 32 cards."""
    for ending, tricks, _ in hard_deals():
        if ending.rules.copies == 1 or (ending.absent is not None and ending.rules.cards == 32):
            assert slow_tricks(ending.hands, 0, ending.strain, ending.absent) == tricks


def test_effort_has_no_long_tail():
    """Of 300 random deals of each strain, the 99th in a hundred takes under 10 times the mean."""
    for deck in (("9", 1), ("J", 2)):
        rng = random.Random(f"{deck}")
        for strain in STRAINS[3:]:
            tried = [solved(whole_deal(rng, RULES[deck], strain), 1)[1] for _ in range(300)]
            assert np.percentile(tried, 99) <= 10 * np.mean(tried)


def test_memory_is_bounded_and_does_not_matter():
    """A table takes at most what it is told; a tiny one forgets and finds the same."""
    rng = random.Random(3)
    for megabytes in (1, 8, 64):
        heads, entries = new_memory(megabytes)
        assert heads.nbytes + entries.nbytes <= megabytes * 2**20
        assert entries.dtype == ENTRY
    overflown = 0
    for i in range(4):
        ending = whole_deal(rng, RULES["10", 2], STRAINS[i], lone=i == 3)
        boards, out = new_board(), np.zeros(1, np.int8)
        heads, entries = new_memory(0)
        values.solve_rows(
            position_of(ending.row, ending.rules, None, None)[0],
            compile_tables(ending.rules),
            0,
            1,
            boards,
            heads,
            entries,
            out,
        )
        assert int(out[0]) == solved(ending)[0]
        overflown += int(boards["stored"][0]) > len(entries)
    assert overflown


def test_boards_and_tables_may_be_used_again():
    """Deals solved one after another in the same room, of different decks, are as from new."""
    rng = random.Random(8)
    boards, (heads, entries) = new_board(), new_memory(1)
    for i in range(60):
        rules = RULES[sorted(RULES)[i % 6]]
        ending = whole_deal(rng, rules, STRAINS[i % 5], lone=i % 7 == 0)
        if rules.tricks > 8:
            continue
        states, out = position_of(ending.row, rules, None, None)[0], np.zeros(1, np.int8)
        values.solve_rows(states, compile_tables(rules), 0, 1, boards, heads, entries, out)
        assert int(out[0]) == solved(ending, 1)[0]


def test_worlds_of_one_strain_may_share_a_table():
    """`solve_moves` with what earlier deals left in the table finds what a new one finds."""
    rng = random.Random(15)
    rules, tables = RULES["J", 2], compile_tables(RULES["J", 2])
    worlds = Ending.rows([whole_deal(rng, rules, "D") for _ in range(30)])
    states = check_rows(worlds, rules)
    found = []
    for shared in (True, False):
        boards, (heads, entries) = new_board(), new_memory(4)
        out = np.zeros((len(states), 24), np.int8)
        values.solve_moves_rows(states, tables, 0, len(states), boards, heads, entries, shared, out)
        found.append(out)
    assert (found[0] == found[1]).all()
