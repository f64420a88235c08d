"""The solver agrees with independent solvers and with the game; its effort does not grow.

`hard_deals.jsonl` holds hard deals, each with its tricks and its effort: the number of cards that
the solver tries, which is the same on every machine.
"""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from oracles.plain_solver import all_lines, slow_tricks
from support.playthroughs import Chooser, plies, start
from support.solver_positions import RULES, Ending, in_play, random_endings, whole_deal
from support.strategies import rules as any_rules
from support.strategies import seeds

from bideuchre_env import solver
from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import PLAY, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import STRAINS
from bideuchre_env.solver import values as solver_values
from bideuchre_env.solver.inputs import check_rows, position_of
from bideuchre_env.solver.transpositions import new_searcher

pytestmark = pytest.mark.search


def values(endings):
    """The tricks that side 0 takes in each ending by the package's solver, a list."""
    tricks = np.zeros(len(endings), np.int64)
    for rules in RULES.values():
        at = [i for i, ending in enumerate(endings) if ending.rules == rules]
        chosen = [endings[i] for i in at]
        if chosen:
            acting = solver.solve_batch(Ending.rows(chosen), rules, threads=1)
            tricks[at] = [
                e.left - v if e.seat & 1 else v
                for e, v in zip(chosen, acting.tolist(), strict=True)
            ]
    return tricks.tolist()


@pytest.mark.parametrize(
    "n",
    [pytest.param(1_000, id="1000"), pytest.param(100_000, id="100000", marks=pytest.mark.long)],
)
def test_endings_agree_with_trying_every_card(n):
    endings = random_endings(n, seed=n)
    for ending, tricks in zip(endings, values(endings), strict=True):
        expected = all_lines(ending.hands, ending.table, ending.seat, ending.strain, ending.absent)
        assert tricks == expected, ending


@pytest.mark.parametrize("n", [40, pytest.param(1_000, id="1000", marks=pytest.mark.long)])
def test_whole_deals_agree_with_an_independent_solver(n):
    rng, rules = random.Random(24), RULES["9", 1]
    deals = [whole_deal(rng, rules, STRAINS[i % 6], lone=i % 4 == 3) for i in range(n)]
    for deal, tricks in zip(deals, values(deals), strict=True):
        assert tricks == slow_tricks(deal.hands, deal.seat, deal.strain, deal.absent), deal


@settings(max_examples=60)
@given(any_rules(), seeds())
def test_a_card_is_worth_the_value_of_the_position_after_it(rules, deal):
    env = start(rules, deal)
    for _ in plies(env, Chooser(deal % 2**32)):
        if env._states[0]["phase"] == PLAY and rules.tricks - env._states[0]["trick"] <= 6:
            check_moves(env, rules)
        if env._states[0]["hands_dealt"] > 2:
            break


def check_moves(env, rules):
    """Compare `solve_moves` with playing each legal card and solving the rest."""
    moves, before = solver.solve_moves(env), env._states[0]
    seat, left = int(before["turn"]), rules.tricks - int(before["trick"])
    legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"]).tolist()
    assert sorted(moves) == legal
    assert solver.solve(env) == max(moves.values())
    for action, tricks in moves.items():
        states = env._states.copy()
        step_row(states, compile_tables(rules), action)
        after = states[0]
        side_0 = int(after["tricks_won"][0]) - int(before["tricks_won"][0])
        if after["phase"] == PLAY:
            rest = solver.solve(states, rules=rules)
            still = rules.tricks - int(after["trick"])
            side_0 += still - rest if after["turn"] & 1 else rest
        assert tricks == (left - side_0 if seat & 1 else side_0)


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
def test_a_hand_played_by_the_solver_takes_the_solved_number_of_tricks(variant):
    env = in_play(variant, seed=11)
    side = int(env._states[0]["turn"]) & 1
    tricks = solver.solve(env)
    while not env._finished:
        moves = solver.solve_moves(env)
        env.step(max(moves, key=moves.get))
    assert rows_of(env._finished)[0]["tricks_won"][side] == tricks


def test_a_partners_card_is_no_entry_if_an_opponent_plays_its_equal_first():
    """Partner and an opponent hold a king of diamonds each; the opponent's is played first."""
    hands = [hand.split() for hand in ("AH AD JD", "KD JD JC", "KD QD QC", "KS QD JS")]
    ending = Ending(RULES["J", 2], hands, [], 0, "NT", None)
    assert all_lines(hands, [], 0, "NT") == 2
    assert {*solver.solve_moves(ending.row, rules=ending.rules).values()} == {2}
    assert values([ending]) == [2]


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
    solver_values.solve_rows(searcher, states, compile_tables(ending.rules), 0, 1, out)
    return int(out[0]), int(searcher.position["nodes"][0])


QUICK = 400_000  # cards tried


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.long)])
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


@pytest.mark.long
def test_hard_deals_agree_with_an_independent_solver():
    for ending, tricks, _ in hard_deals():
        if ending.rules.copies == 1 or (ending.absent is not None and ending.rules.cards == 32):
            assert slow_tricks(ending.hands, 0, ending.strain, ending.absent) == tricks


def test_a_table_too_small_for_the_search_gives_the_same_tricks():
    hard = [deal for deal, _, effort in hard_deals() if 40_000 < effort < QUICK]
    for ending in hard[:6]:
        searcher, out = new_searcher(0), np.zeros(1, np.int8)
        states, rules = position_of(ending.row, ending.rules, None, None)
        solver_values.solve_rows(searcher, states, compile_tables(rules), 0, 1, out)
        assert int(out[0]) == solved(ending)[0]
        assert int(searcher.position["stored"][0]) > len(searcher.entries)


@pytest.mark.parametrize("n", [300, pytest.param(6_000, id="6000", marks=pytest.mark.long)])
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
                solver_values.solve_moves_rows(
                    new_searcher(16), states, tables, 0, len(states), shared, tricks[int(shared)]
                )
            assert (tricks[0] == tricks[1]).all()
