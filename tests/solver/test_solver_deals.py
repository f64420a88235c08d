"""What a deal is worth: tables, exchanges, par and the analysis of games, against the real game."""

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
from bideuchre_env.core.tables import compile_tables

SINGLE, DOUBLE = RULES["9", 1], RULES["J", 2]
SMALL = Rules(ranks="J", copies=1, partnered=(3, 3), lone=[Bid("moon", value=6)], target=20)


def play_out(states, rules):
    """The points of the hand once all play their best from a row in play: (side 0, side 1)."""
    states, tables = states.copy(), compile_tables(rules)
    while states[0]["phase"] == 4:
        moves = solver.solve_moves(states, rules=rules)
        step_row(states, tables, max(moves, key=moves.get))
    return states[0]["points"].tolist()


def best_line(env, rules):
    """Side 0's points minus side 1's by trying every call and exchange of the environment."""
    states = env._states
    phase = int(states[0]["phase"])
    if phase == 4:
        points = play_out(states, rules)
        return points[0] - points[1]
    if phase > 4 or states[0]["hands_dealt"] > 1:
        return 0
    found = []
    for action in np.flatnonzero(env.infos[env.agent_selection]["action_mask"]):
        twin = env.clone()
        twin.step(int(action))
        found.append(0 if twin._finished else best_line(twin, rules))
    seat = int(states[0]["turn"])
    if phase in (2, 3):  # both halves of an exchange are for the declarer
        seat = int(states[0]["declarer"])
    return min(found) if seat & 1 else max(found)


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
    """Par against trying every call of the real game, the cards then played by the solver."""
    rules = SMALL.replace(**options)
    for seed in range(1 if rules.exchange else 2):
        env = start(rules, seed)
        dealer = int(env._states[0]["dealer"])
        found = solver.par(deal_of(env), rules, dealer)
        assert found.points == best_line(env, rules)
        for call in found.calls:  # its own calls lead to its contract
            act(env, call)
        row = env._states[0]
        if found.contract is None:
            assert found == solver.Par(0, None, None, None, ("pass",) * 4)
        else:
            assert row["declarer"] == found.declarer


def test_the_best_exchange_is_the_best_of_all():
    """Every exchange of the real game is solved: none takes more, and the one named takes that."""
    rules = Rules(
        ranks="J", copies=1, partnered=None, lone=[Bid("call-2", value=5, exchange=2)], target=20
    )
    for seed in range(4):
        env = start(rules, seed)
        first = env.agent_selection
        act(env, "bid call-2 H")
        for _ in range(3):
            act(env, "pass")
        declarer = int(first[-1])
        found = solver.best_exchange(deal_of(env), rules, declarer=declarer, strain="H", cards=2)
        tricks = {}
        hands = env.record.hands[0]["deal"]
        for gave in itertools.combinations(hands[declarer], 2):
            for passed in itertools.combinations(hands[(declarer + 2) % 4], 2):
                twin = env.clone()
                for card in (*gave, *passed):
                    act(twin, card)
                tricks[frozenset(gave), frozenset(passed)] = solver.solve(twin)
        assert found.tricks == max(tricks.values())
        assert tricks[frozenset(found.given), frozenset(found.passed)] == found.tricks


def test_no_cards_may_be_exchanged_too():
    """An exchange of nothing is the lone hand of the table; bad numbers are refused."""
    deal = whole_deal(random.Random(4), DOUBLE, "H").hands
    table = solver.table(deal, DOUBLE)
    plain = solver.best_exchange(deal, DOUBLE, declarer=1, strain="NT", cards=0)
    assert plain == solver.Exchange((), (), int(table.alone[1, 4]))
    more = solver.best_exchange(deal, DOUBLE, declarer=1, strain="NT", cards=1)
    assert more.tricks >= plain.tricks - 1
    assert len(more.given) == len(more.passed) == 1
    for cards in (4, -1, True, 1.5):
        with pytest.raises(errors.OptionError, match="cards="):
            solver.best_exchange(deal, DOUBLE, declarer=1, strain="NT", cards=cards)
    assert len(str(table).splitlines()) == 5


def test_analysis_finds_what_each_card_gave_away():
    """The sum of what both sides gave away is the way from the solver's result to the real one."""
    for name, seed in (("cincinnati_v0", 2), ("barrie_v0", 3), ("club_v0", 5)):
        env = finish(start(make(name, max_hands=4).rules, seed), Chooser(seed))
        record = GameRecord.loads(env.record.dumps())
        cards = solver.analyse(record, threads=2)
        for number, hand in enumerate(record.hands):
            mine = [card for card in cards if card.hand == number]
            if hand["contract"] is None:
                assert not mine
                continue
            first = mine[0]
            side = first.seat & 1
            given = [sum(c.lost for c in mine if c.seat & 1 == s) for s in (side, 1 - side)]
            assert first.tricks == solver.solve(record, hand=number, ply=first.ply)
            assert hand["tricks"][side] == first.tricks - given[0] + given[1]
            assert [c.card for c in mine] == hand["actions"][-len(mine) :]
            assert all(c.lost >= 0 for c in mine)
        assert any(card.lost for card in cards)
    with pytest.raises(errors.PositionError, match="GameRecord"):
        solver.analyse({"hands": []})


def test_analysis_of_a_game_cut_short():
    """A hand in progress is analysed as far as it has come; best cards give nothing away."""
    env = in_play("cincinnati_v0", seed=7)
    for _ in range(9):
        moves = solver.solve_moves(env)
        env.step(max(moves, key=moves.get))
    cards = solver.analyse(env.record)
    assert len(cards) == 9
    assert not any(card.lost for card in cards)
    assert solver.analyse(start(SINGLE, 1).record) == []


@settings(max_examples=15)
@given(any_rules(), seeds())
def test_every_rule_set_has_its_tables_and_par(rules, seed):
    """Any rules of up to six tricks: the table of a deal holds what its contracts are worth."""
    if rules.tricks > 6:
        return
    env = start(rules, seed)
    deal, dealer = deal_of(env), int(env._states[0]["dealer"])
    table = solver.table(deal, rules, dealer=dealer)
    declarer, strain = seed % 4, seed % 5
    for alone, found in ((False, table.partnered), (True, table.alone)):
        options = {
            "declarer": declarer,
            "strain": ["C", "D", "H", "S", "NT"][strain],
            "dealer": dealer,
        }
        acting = solver.solve_batch([deal], rules, alone=alone, **options)[0]
        leader = declarer
        if rules.opening_lead == "eldest":
            leader = (dealer + 1) % 4
            leader = (leader + 1) % 4 if alone and leader == (declarer + 2) % 4 else leader
        own = acting if (leader ^ declarer) & 1 == 0 else rules.tricks - acting
        assert found[declarer, strain] == own
    if rules.exchange <= 1:
        found = solver.par(deal, rules, dealer=dealer)
        assert len(found.calls) == 4
