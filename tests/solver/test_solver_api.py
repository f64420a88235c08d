"""The solver's public functions: positions, batches, errors, Ctrl-C; tables, exchanges and par."""

import itertools
import os
import random
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from support.playthroughs import Chooser, act, finish, over, start
from support.solver_positions import RULES, Ending, deal_of, in_play, random_endings, whole_deal
from support.strategies import rules as any_rules
from support.strategies import seeds

from bideuchre_env import Bid, GameRecord, Rules, errors, make, solver
from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import GIVING, PASSING, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import STRAINS, SUITS, hand_bits, parse_card

pytestmark = pytest.mark.search

SINGLE, DOUBLE = RULES["9", 1], RULES["J", 2]
LAST_TRICK = Ending(SINGLE, [["AH"], ["KH"], ["QH"], ["TH"]], [], 0, "H", None)


def test_an_environment_a_row_and_a_record_at_a_ply_have_the_same_value():
    wrapped = make("barrie_v0", max_hands=2).env()
    wrapped.reset(seed=8)
    env, choose, moves = wrapped.unwrapped, Chooser(1), {}
    while not over(env):
        if env._states[0]["phase"] == PLAY:
            expected = solver.solve_moves(wrapped)
            assert expected == solver.solve_moves(env)
            assert expected == solver.solve_moves(env._states, rules=env.rules)
            assert expected == solver.solve_moves(env._states[0], rules=env.rules)
            hand = env.record.hands[-1]
            moves[len(env.record.hands) - 1, len(hand["actions"])] = expected
        wrapped.step(choose(env))
    record = env.record
    before = [0, len(record.hands[0]["actions"])]
    for (hand, ply), expected in list(moves.items())[::5]:
        assert solver.solve_moves(record, hand=hand, ply=ply) == expected
        assert solver.solve_moves(record, ply=before[hand] + ply) == expected


@pytest.mark.parametrize(
    ("message", "position", "options"),
    [
        ("in phase AUCTION", lambda env: start(env.rules, 1), {}),
        ("nothing has been dealt", lambda env: make("club_v0").raw_env(), {}),
        ("ply=None: expected the number of an action", lambda env: env.record, {}),
        ("ply=999: expected 0 to", lambda env: env.record, {"ply": 999}),
        ("hand=7: expected a number from 0 to 0", lambda env: env.record, {"ply": 1, "hand": 7}),
        ("ply, hand: expected None without a record", lambda env: env, {"ply": 3}),
        ("rules: expected None with ", lambda env: env, {"rules": SINGLE}),
        ("rules=None", lambda env: env._states, {}),
        ("2 state rows: expected one", lambda env: np.repeat(env._states, 2), {"rules": SINGLE}),
        ("rows of the STATE dtype", lambda env: np.zeros(3), {"rules": SINGLE}),
        ("an environment, a state row", lambda env: "AH KH", {}),
        ("memory=0", lambda env: env, {"memory": 0}),
    ],
)
def test_invalid_positions_are_refused(message, position, options):
    env = in_play(SINGLE)
    with pytest.raises(errors.BidEuchreError, match=message):
        solver.solve(position(env), **options)


BAD_ROWS = [(0, "phase", 0, [77]), (0, "strain", 0, [6, -1]), (0, "turn", 0, [4])]
BAD_ROWS += [(0, "trick", 0, [6, -1, 2]), (0, "sitting_out", 0, [4]), (0, "led", 0, [4, 2])]
BAD_ROWS += [(0, "hands", (0, 1), [1 << 62, -1, 0])]
BAD_ROWS += [(0, "hands", (0, 0), [hand_bits([0, 0, 1, 2, 3, 4])]), (1, "leaders", 0, [9])]
BAD_ROWS += [(1, "plays", 0, [99, -1]), (1, "led", 0, [-1])]


@pytest.mark.parametrize(("cards", "field", "index", "values"), BAD_ROWS)
def test_invalid_rows_do_not_reach_the_search(cards, field, index, values):
    env = in_play(SINGLE)
    for _ in range(cards):
        env.step(next(iter(solver.solve_moves(env))))
    for value in values:
        rows = env._states.copy()
        rows[field][index] = value
        with pytest.raises(errors.PositionError, match="position 0 "):
            solver.solve(rows, rules=SINGLE)


@pytest.mark.parametrize("seed", range(6))
def test_can_make_counts_tricks_taken_and_tricks_to_come(seed):
    env = in_play("barrie_v0" if seed % 2 else "cincinnati_v0", seed=seed)
    for _ in range(10):
        row = env._states[0]
        side, left = int(row["declarer"]) & 1, env.rules.tricks - int(row["trick"])
        acting = solver.solve(env)
        rest = acting if int(row["turn"]) & 1 == side else left - acting
        total = int(row["tricks_won"][side]) + rest
        for tricks in range(env.rules.tricks + 1):
            assert solver.can_make(env, tricks) == (total >= tricks)
        need = int(compile_tables(env.rules)["need"][0][int(row["level"])])
        assert solver.can_make(env) == (total >= need)
        moves = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
        env.step(int(moves[seed % len(moves)]))
    with pytest.raises(errors.OptionError, match="tricks=13"):
        solver.can_make(env, 13)
    row = env._states.copy()
    row["declarer"] = -1
    with pytest.raises(errors.PositionError, match="the position has no contract"):
        solver.can_make(row, rules=env.rules)


def test_a_batch_is_the_same_for_any_threads_and_memory():
    """A transposition table of one megabyte overwrites entries, which only costs time."""
    rng = random.Random(2)
    rules = RULES["10", 2]
    rows = Ending.rows([whole_deal(rng, rules, "H", lone=i % 3 == 0) for i in range(12)])
    tricks = solver.solve_batch(rows, rules, threads=1)
    assert (tricks.dtype, tricks.shape) == (np.int8, (12,))
    for threads, memory in ((2, 64), (3, 1), (1, 1.5), (None, None)):
        assert (solver.solve_batch(rows, rules, threads=threads, memory=memory) == tricks).all()
    endings = [e for e in random_endings(600, seed=3, most=6) if e.rules == DOUBLE]
    rows = Ending.rows(endings)
    by_card = solver.solve_batch(rows, DOUBLE, moves=True, threads=1)
    assert (solver.solve_batch(rows, DOUBLE, moves=True, threads=4) == by_card).all()
    assert (by_card.max(axis=1) == solver.solve_batch(rows, DOUBLE)).all()


def test_a_batch_of_deals_is_solved_for_one_contract():
    rng = random.Random(6)
    deals = [whole_deal(rng, SINGLE, "H").hands for _ in range(5)]
    hands = np.array([[hand_bits(map(parse_card, h)) for h in deal] for deal in deals])
    options = {"strain": "S", "declarer": 3}
    tricks = solver.solve_batch(deals, SINGLE, **options)
    assert (solver.solve_batch(hands, SINGLE, **options) == tricks).all()
    tables = solver.tables_of(hands, SINGLE, threads=2)
    assert (tables[:, 0, 3, SUITS.index("S")] == tricks).all()
    alone = solver.solve_batch(deals, SINGLE, alone=True, **options)
    assert (tables[:, 1, 3, SUITS.index("S")] == alone).all()
    eldest = SINGLE.replace(opening_lead="eldest")
    with pytest.raises(errors.OptionError, match="dealer=None: expected a seat"):
        solver.solve_batch(deals, eldest, **options)


BAD_OPTIONS = [("deals: expected a contract", {"strain": None})]
BAD_OPTIONS += [("declarer 7: expected a seat from 0 to 3", {"declarer": 7})]
BAD_OPTIONS += [("'X' is no strain", {"strain": "X"}), ("alone=2", {"alone": 2})]
BAD_OPTIONS += [("threads=0", {"threads": 0}), ("threads=True", {"threads": True})]


@pytest.mark.parametrize(("message", "options"), BAD_OPTIONS)
def test_a_bad_option_of_a_batch_is_refused_by_name(message, options):
    deal = whole_deal(random.Random(1), SINGLE, "H").hands
    with pytest.raises(errors.BidEuchreError, match=message):
        solver.solve_batch([deal], SINGLE, **{"strain": "H", "declarer": 0} | options)


def test_a_batch_that_is_no_deal_is_refused():
    deal = np.array([[hand_bits(range(6 * i, 6 * i + 6)) for i in range(4)]])
    options = {"strain": "H", "declarer": 0}
    assert solver.solve_batch(deal, SINGLE, **options).shape == (1,)
    arrays = (deal[:, :3], deal.astype(float), deal * 2, deal - 1, deal[:, [0, 0, 1, 2]])
    for wrong in (*arrays, "AH", 3, [["AH"]], [[["AH"]] * 4]):
        with pytest.raises(errors.DealError):
            solver.solve_batch(wrong, SINGLE, **options)
    with pytest.raises(errors.OptionError, match="expected only with deals"):
        solver.solve_batch(in_play(SINGLE)._states, SINGLE, **options)


def test_ctrl_c_ends_a_batch_and_the_solver_can_be_used_again(default_ctrl_c):
    rng, rules = random.Random(12), RULES["9", 2]
    rows = Ending.rows([whole_deal(rng, rules, "H") for _ in range(2_000)])  # minutes of search
    solver.solve_batch(rows[:1], rules)
    press = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    press.start()
    with pytest.raises(KeyboardInterrupt):
        solver.solve_batch(rows, rules, threads=2)
    press.join()
    assert solver.solve(LAST_TRICK.row, rules=SINGLE) == 1
    assert not any(t.name.startswith("bideuchre-solver") for t in threading.enumerate())


SMALL = Rules(ranks="J", copies=1, partnered=(3, 3), lone=[Bid("moon", value=6)], target=20)


def play_out(states, rules):
    """Side 0's points of the hand minus side 1's after optimal play."""
    states, tables = states.copy(), compile_tables(rules)
    while states[0]["phase"] == PLAY:
        moves = solver.solve_moves(states, rules=rules)
        step_row(states, tables, max(moves, key=moves.get))
    points = states[0]["points"].tolist()
    return points[0] - points[1]


def best_line(env, rules, known):
    """Side 0's points minus side 1's with the best calls and exchanges, all tried in the game."""
    states = env._states
    phase = int(states[0]["phase"])
    if phase == PLAY:
        fields = ("hands", "declarer", "level", "strain", "turn", "sitting_out")
        key = tuple(states[0][name].tobytes() for name in fields)
        if key not in known:
            known[key] = play_out(states, rules)
        return known[key]
    if phase > PLAY or states[0]["hands_dealt"] > 1:
        return 0
    values = []
    for action in np.flatnonzero(env.infos[env.agent_selection]["action_mask"]):
        twin = env.clone()
        twin.step(int(action))
        values.append(0 if twin._finished else best_line(twin, rules, known))
    seat = int(states[0]["turn"])
    if phase in (GIVING, PASSING):  # both halves of an exchange are for the declarer
        seat = int(states[0]["declarer"])
    return min(values) if seat & 1 else max(values)


CALL_1 = Bid("call-1", value=5, exchange=1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"strain_named": "after_auction", "all_pass": "dealer_forced", "opening_lead": "eldest"},
        {"partnered": None, "all_pass": "eldest_forced", "dealer_may_equal": "lone"},
        {"partnered": (4, 4), "lone": [CALL_1], "strain_named": "after_auction"},
        {"no_trump": "both", "no_trump_from": 3, "strain_named": "after_auction"},
        {"auction": "until_passes", "no_trump": "none", "strain_named": "after_auction"},
        {
            "auction": "until_out",
            "all_pass": "dealer_lowest",
            "lone": [Bid("pepper", value=6, partner=True, lost=3)],
            "strain_named": "after_auction",
            "no_trump": "none",
        },
        {
            "dealer_may_equal": "any",
            "opening_lead": "left",
            "strain_named": "lone_after",
            "made_scores": "bid",
            "defenders_score": "value_if_set",
        },
        {
            "partnered": (4, 4),
            "lone": [CALL_1],
            "strain_named": "after_auction",
            "exchange_seen": "open",
        },
    ],
    ids=[
        "plain",
        "forced dealer",
        "alone only",
        "exchange",
        "low no trump",
        "until passes",
        "until out",
        "scoring",
        "open exchange",
    ],
)
def test_par_is_the_best_of_every_auction(options):
    rules = SMALL.replace(**options)
    for seed in range(1 if rules.exchange else 2):
        env = start(rules, seed)
        par = solver.par(deal_of(env), rules, int(env._states[0]["dealer"]))
        assert par.points == best_line(env, rules, {})
        for call in par.calls:
            act(env, call)
        if par.contract is None:
            assert par == solver.Par(0, None, None, None, ("pass",) * 4)
        else:
            assert env._states[0]["declarer"] == par.declarer


def test_makeable_contracts_are_those_of_the_tables_and_the_best_exchanges():
    rules = make("simplified_v0").rules
    for seed in range(2):
        env = start(rules, seed)
        deal, dealer = deal_of(env), int(env._states[0]["dealer"])
        result = solver.makeable(deal, rules, dealer)
        assert result.par == solver.par(deal, rules, dealer)
        assert str(result.table) == str(solver.table(deal, rules, dealer=dealer))
        assert list(result.lone) == [bid.name for bid in rules.lone]
        for bid, seat in itertools.product(rules.lone, range(4)):
            options = {"declarer": seat, "cards": bid.exchange, "dealer": dealer}
            makes = [
                strain
                for strain in rules.strains
                if solver.best_exchange(deal, rules, strain=strain, **options).tricks
                == rules.tricks
            ]
            assert list(result.lone[bid.name][seat]) == makes


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


@settings(max_examples=15)
@given(any_rules(), seeds())
def test_a_table_has_the_tricks_of_every_contract_under_any_rules(rules, seed):
    if rules.tricks > 6:
        return
    env = start(rules, seed)
    deal, dealer = deal_of(env), int(env._states[0]["dealer"])
    table = solver.table(deal, rules, dealer=dealer)
    declarer, strain = seed % 4, seed % len(rules.strains)
    options = {"declarer": declarer, "strain": STRAINS[strain], "dealer": dealer}
    for alone, tricks in ((False, table.partnered), (True, table.alone)):
        acting = solver.solve_batch([deal], rules, alone=alone, **options)[0]
        leader = declarer
        if rules.opening_lead == "eldest":
            leader = (dealer + 1) % 4
            leader = (leader + 1) % 4 if alone and leader == (declarer + 2) % 4 else leader
        elif rules.opening_lead == "left":
            leader = (declarer + 1) % 4
        own = acting if (leader ^ declarer) & 1 == 0 else rules.tricks - acting
        assert tricks[declarer, strain] == own
    if rules.exchange <= 1:
        calls = len(solver.par(deal, rules, dealer=dealer).calls)
        assert calls == 4 if rules.auction == "once" else 1 <= calls <= rules.most_calls
