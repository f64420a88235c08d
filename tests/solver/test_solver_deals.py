"""Tables, exchanges and par of a deal, and the analysis of games, compared with real games."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from support.playthroughs import Chooser, act, finish, start
from support.solver_positions import RULES, deal_of, in_play, whole_deal
from support.strategies import rules as any_rules
from support.strategies import seeds

from bideuchre_env import Bid, GameRecord, Rules, errors, make, solver
from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import GIVING, PASSING, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import STRAINS

SINGLE, DOUBLE = RULES["9", 1], RULES["J", 2]
SMALL = Rules(ranks="J", copies=1, partnered=(3, 3), lone=[Bid("moon", value=6)], target=20)


def play_out(states, rules):
    """Side 0's points of the hand minus side 1's after optimal play."""
    states, tables = states.copy(), compile_tables(rules)
    while states[0]["phase"] == PLAY:
        moves = solver.solve_moves(states, rules=rules)
        step_row(states, tables, max(moves, key=moves.get))
    points = states[0]["points"].tolist()
    return points[0] - points[1]


def best_line(env, rules):
    """Side 0's points minus side 1's with the best calls and exchanges, all tried in the game."""
    states = env._states
    phase = int(states[0]["phase"])
    if phase == PLAY:
        return play_out(states, rules)
    if phase > PLAY or states[0]["hands_dealt"] > 1:
        return 0
    values = []
    for action in np.flatnonzero(env.infos[env.agent_selection]["action_mask"]):
        twin = env.clone()
        twin.step(int(action))
        values.append(0 if twin._finished else best_line(twin, rules))
    seat = int(states[0]["turn"])
    if phase in (GIVING, PASSING):  # both halves of an exchange are for the declarer
        seat = int(states[0]["declarer"])
    return min(values) if seat & 1 else max(values)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"strain_named": "after_auction", "all_pass": "dealer_forced", "opening_lead": "eldest"},
        {"partnered": None, "all_pass": "eldest_forced", "dealer_may_equal": "lone"},
        {
            "partnered": (4, 4),
            "lone": [Bid("call-1", value=5, exchange=1)],
            "strain_named": "after_auction",
        },
    ],
    ids=["plain", "forced dealer", "alone only", "exchange"],
)
def test_par_is_the_best_of_every_auction(options):
    """Par equals the value of trying every call in a real game, with cards by the solver."""
    rules = SMALL.replace(**options)
    for seed in range(1 if rules.exchange else 2):
        env = start(rules, seed)
        par = solver.par(deal_of(env), rules, int(env._states[0]["dealer"]))
        assert par.points == best_line(env, rules)
        for call in par.calls:
            act(env, call)
        if par.contract is None:
            assert par == solver.Par(0, None, None, None, ("pass",) * 4)
        else:
            assert env._states[0]["declarer"] == par.declarer


def test_the_best_exchange_is_the_best_of_all():
    call_2 = Bid("call-2", value=5, exchange=2)
    rules = Rules(ranks="J", copies=1, partnered=None, lone=[call_2], target=20)
    for seed in range(4):
        env = start(rules, seed)
        declarer = int(env.agent_selection[-1])
        for call in ("bid call-2 H", "pass", "pass", "pass"):
            act(env, call)
        best = solver.best_exchange(deal_of(env), rules, declarer=declarer, strain="H", cards=2)
        tricks, hands = {}, deal_of(env)
        for gave in itertools.combinations(hands[declarer], 2):
            for passed in itertools.combinations(hands[(declarer + 2) % 4], 2):
                twin = env.clone()
                for card in (*gave, *passed):
                    act(twin, card)
                tricks[frozenset(gave), frozenset(passed)] = solver.solve(twin)
        assert best.tricks == max(tricks.values())
        assert tricks[frozenset(best.given), frozenset(best.passed)] == best.tricks


def test_an_exchange_of_no_cards_is_the_lone_hand_of_the_table():
    deal = whole_deal(random.Random(4), DOUBLE, "H").hands
    table, options = solver.table(deal, DOUBLE), {"declarer": 1, "strain": "NT"}
    plain = solver.best_exchange(deal, DOUBLE, cards=0, **options)
    assert plain == solver.Exchange((), (), int(table.alone[1, 4]))
    more = solver.best_exchange(deal, DOUBLE, cards=1, **options)
    assert more.tricks >= plain.tricks - 1
    assert len(more.given) == len(more.passed) == 1
    for cards in (4, -1, True, 1.5):
        with pytest.raises(errors.OptionError, match="cards="):
            solver.best_exchange(deal, DOUBLE, cards=cards, **options)
    assert len(str(table).splitlines()) == 5


def test_tricks_given_away_lead_from_the_best_result_to_the_real_one():
    for name, seed in (("cincinnati_v0", 2), ("barrie_v0", 3), ("club_v0", 5)):
        env = finish(start(make(name, max_hands=4).rules, seed), Chooser(seed))
        record = GameRecord.loads(env.record.dumps())
        cards = solver.analyse(record, threads=2)
        for number, hand in enumerate(record.hands):
            played = [card for card in cards if card.hand == number]
            if hand["contract"] is None:
                assert not played
                continue
            first = played[0]
            side = first.seat & 1
            lost = [sum(c.lost for c in played if c.seat & 1 == s) for s in (side, 1 - side)]
            assert first.tricks == solver.solve(record, hand=number, ply=first.ply)
            assert hand["tricks"][side] == first.tricks - lost[0] + lost[1]
            assert [c.card for c in played] == hand["actions"][-len(played) :]
            assert all(c.lost >= 0 for c in played)
        assert any(card.lost for card in cards)
    with pytest.raises(errors.PositionError, match="GameRecord"):
        solver.analyse({"hands": []})


def test_best_cards_of_an_unfinished_hand_give_nothing_away():
    env = in_play("cincinnati_v0", seed=7)
    for _ in range(9):
        moves = solver.solve_moves(env)
        env.step(max(moves, key=moves.get))
    assert [card.lost for card in solver.analyse(env.record)] == [0] * 9
    assert solver.analyse(start(SINGLE, 1).record) == []


@settings(max_examples=15)
@given(any_rules(), seeds())
def test_a_table_has_the_tricks_of_every_contract_under_any_rules(rules, seed):
    """Entries of a deal's table equal `solve_batch`, under any rules of up to six tricks."""
    if rules.tricks > 6:
        return
    env = start(rules, seed)
    deal, dealer = deal_of(env), int(env._states[0]["dealer"])
    table = solver.table(deal, rules, dealer=dealer)
    declarer, strain = seed % 4, seed % 5
    options = {"declarer": declarer, "strain": STRAINS[strain], "dealer": dealer}
    for alone, tricks in ((False, table.partnered), (True, table.alone)):
        acting = solver.solve_batch([deal], rules, alone=alone, **options)[0]
        leader = declarer
        if rules.opening_lead == "eldest":
            leader = (dealer + 1) % 4
            leader = (leader + 1) % 4 if alone and leader == (declarer + 2) % 4 else leader
        own = acting if (leader ^ declarer) & 1 == 0 else rules.tricks - acting
        assert tricks[declarer, strain] == own
    if rules.exchange <= 1:
        assert len(solver.par(deal, rules, dealer=dealer).calls) == 4
