"""The solver against solvers that share nothing with it, and against itself in other clothes."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from oracles import reference
from oracles.plain_solver import all_lines, slow_tricks
from support.playthroughs import Chooser, start
from support.solver_positions import RULES, Ending, random_ending, random_endings, whole_deal
from support.strategies import rules as any_rules
from support.strategies import seeds

from bideuchre_env import make, solver
from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS

SINGLE = RULES["9", 1]


def values(endings):
    """The tricks side 0 takes of each, by the package's solver; endings of any rules."""
    found = np.zeros(len(endings), np.int64)
    for rules in RULES.values():
        at = [i for i, ending in enumerate(endings) if ending.rules == rules]
        chosen = [endings[i] for i in at]
        if chosen:
            acting = solver.solve_batch(Ending.rows(chosen), rules, threads=1)
            found[at] = [
                e.left - v if e.seat & 1 else v
                for e, v in zip(chosen, acting.tolist(), strict=True)
            ]
    return found.tolist()


@pytest.mark.parametrize(
    "n",
    [pytest.param(2_500, id="2500"), pytest.param(100_000, id="100000", marks=pytest.mark.slow)],
)
def test_endings_agree_with_trying_every_card(n):
    """Zero mismatches with a brute-force search: all decks, strains, lone or not, mid-trick."""
    endings = random_endings(n, seed=n)
    for ending, found in zip(endings, values(endings), strict=True):
        wanted = all_lines(ending.hands, ending.table, ending.seat, ending.strain, ending.absent)
        assert found == wanted, ending


@pytest.mark.parametrize("n", [40, pytest.param(1_000, id="1000", marks=pytest.mark.slow)])
def test_whole_deals_agree_with_an_independent_solver(n):
    """Whole 24-card deals, every strain in turn, one in four alone."""
    rng = random.Random(24)
    deals = [whole_deal(rng, SINGLE, STRAINS[i % 5], lone=i % 4 == 3) for i in range(n)]
    for deal, found in zip(deals, values(deals), strict=True):
        assert found == slow_tricks(deal.hands, deal.seat, deal.strain, deal.absent), deal


@pytest.mark.parametrize("n", [6, pytest.param(100, id="100", marks=pytest.mark.slow)])
@pytest.mark.parametrize("deck", [("10", 1), ("J", 2)], ids=["20 cards", "32 cards"])
def test_larger_endings_agree_with_an_independent_solver(deck, n):
    """Five cards of every deck with equal cards and without, more than brute force reaches."""
    rng = random.Random(f"{deck}")
    endings = []
    while len(endings) < n:
        ending = random_ending(rng, RULES[deck], 5, lone=len(endings) % 3 == 2)
        if not ending.table:
            endings.append(ending)
    for ending, found in zip(endings, values(endings), strict=True):
        assert found == slow_tricks(ending.hands, ending.seat, ending.strain, ending.absent), ending


@settings(max_examples=60)
@given(any_rules(), seeds())
def test_a_card_is_worth_what_the_position_after_it_is(rules, seed):
    """`solve_moves` is playing the card and solving, from any point of play, for any rules."""
    env = start(rules, seed)
    choose = Chooser(seed % 2**32)
    while env.agents and not any(env.terminations.values()) and not any(env.truncations.values()):
        if env._states[0]["phase"] == 4 and rules.tricks - env._states[0]["trick"] <= 6:
            check_moves(env, rules)
        env.step(choose(env))
        if env._states[0]["hands_dealt"] > 2:
            break


def check_moves(env, rules):
    """Every legal card once played, and the best of them before."""
    found = solver.solve_moves(env)
    seat, before = int(env._states[0]["turn"]), int(env._states[0]["tricks_won"][0])
    legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"]).tolist()
    assert sorted(found) == legal
    assert solver.solve(env) == max(found.values())
    for action, tricks in found.items():
        states = env._states.copy()
        step_row(states, compile_tables(rules), action)
        row = states[0]
        won = int(row["tricks_won"][0]) - before
        rest = 0
        if row["phase"] == 4:
            rest = solver.solve(states, rules=rules)
            left = rules.tricks - int(row["trick"])
            rest = left - rest if row["turn"] & 1 else rest
        all_left = rules.tricks - int(env._states[0]["trick"])
        side_0 = won + rest
        assert tricks == (all_left - side_0 if seat & 1 else side_0)


def test_a_hand_played_by_the_solver_takes_what_it_says():
    """From the opening lead to the last card, in every variant: no trick more or less."""
    for name in ("cincinnati_v0", "barrie_v0", "double_deck_v0"):
        env = start(make(name).rules, seed=11)
        choose = Chooser(3)
        while env._states[0]["phase"] != 4:
            env.step(choose(env))
        side = int(env._states[0]["turn"]) & 1
        said, rows = solver.solve(env), env._finished
        while not rows:
            moves = solver.solve_moves(env)
            env.step(max(moves, key=moves.get))
        assert rows_of(rows)[0]["tricks_won"][side] == said


def test_known_positions():
    """Small endings a player can count: equal cards, bowers, a finesse, a partner left out."""
    double, single = RULES["J", 2], RULES["9", 1]

    def tricks(rules, hands, seat, strain, absent=None, table=()):
        cards = [hand.split() for hand in hands]
        return values([Ending(rules, cards, list(table), seat, strain, absent)])[0]

    # "Of two identical cards in a trick the first played wins": the lead decides.
    assert tricks(double, ["JH", "JH", "QC", "QD"], 0, "H") == 1
    assert tricks(double, ["JH", "JH", "QC", "QD"], 1, "H") == 0
    # The left bower is a trump: it ruffs nothing, it follows, and only the right beats it.
    assert tricks(single, ["JD", "AH", "9C", "9S"], 1, "H") == 1
    assert tricks(single, ["JD", "JH", "9C", "9S"], 1, "H") == 0
    # A tenace over the king takes both tricks, under it only one.
    assert tricks(single, ["9S 9C", "KS 9H", "AS QS", "9D TD"], 0, "NT") == 2
    assert tricks(single, ["9S JS", "9D TD", "AS QS", "KS TS"], 0, "NT") == 1
    # A lone hand of the top trumps takes all, without its partner.
    assert tricks(single, ["JH JD", "AH KH", "", "QH TH"], 0, "H", absent=2) == 2
    assert all(card in CARD_NAMES for card in reference.deck("9", 1))
