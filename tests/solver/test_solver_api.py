"""The solver's public functions: positions, batches, errors, threads and Ctrl-C."""

import os
import random
import signal
import threading

import numpy as np
import pytest
from support.playthroughs import Chooser, over, start
from support.solver_positions import RULES, Ending, in_play, random_endings, whole_deal

from bideuchre_env import errors, make, solver
from bideuchre_env.core.state import PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import SUITS, hand_bits, parse_card

SINGLE, DOUBLE = RULES["9", 1], RULES["J", 2]
LAST_TRICK = Ending(SINGLE, [["AH"], ["KH"], ["QH"], ["TH"]], [], 0, "H", None)


def test_an_environment_a_row_and_a_record_at_a_ply_have_the_same_value():
    """Values agree at every ply; plies count from 0, in the game or in a hand."""
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


@pytest.mark.parametrize(
    ("cards", "field", "index", "value"),
    [
        (0, "phase", 0, 77),
        (0, "strain", 0, 5),
        (0, "strain", 0, -1),
        (0, "turn", 0, 4),
        (0, "trick", 0, 6),
        (0, "trick", 0, -1),
        (0, "trick", 0, 2),
        (0, "sitting_out", 0, 4),
        (0, "led", 0, 4),
        (0, "led", 0, 2),
        (0, "hands", (0, 1), 1 << 62),
        (0, "hands", (0, 1), -1),
        (0, "hands", (0, 1), 0),
        (0, "hands", (0, 0), hand_bits([0, 0, 1, 2, 3, 4])),
        (1, "leaders", 0, 9),
        (1, "plays", 0, 99),
        (1, "plays", 0, -1),
        (1, "led", 0, -1),
    ],
)
def test_invalid_rows_do_not_reach_the_search(cards, field, index, value):
    env = in_play(SINGLE)
    for _ in range(cards):
        env.step(next(iter(solver.solve_moves(env))))
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
    """Deals are card names or integers; the rules determine the opening lead."""
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
    for dealer in range(4):
        acting = solver.solve_batch(deals, eldest, dealer=dealer, **options)
        value = acting if (dealer + 1) & 1 else SINGLE.tricks - acting
        assert (solver.tables_of(deals, eldest, dealer=dealer)[:, 0, 3, 3] == value).all()


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("deals: expected a contract", {"strain": None}),
        ("declarer 7: expected a seat from 0 to 3", {"declarer": 7}),
        ("'X' is no strain", {"strain": "X"}),
        ("alone=2", {"alone": 2}),
        ("threads=0", {"threads": 0}),
        ("threads=True", {"threads": True}),
    ],
)
def test_a_bad_option_of_a_batch_is_refused_by_name(message, options):
    deal = whole_deal(random.Random(1), SINGLE, "H").hands
    with pytest.raises(errors.BidEuchreError, match=message):
        solver.solve_batch([deal], SINGLE, **{"strain": "H", "declarer": 0} | options)


def test_a_batch_that_is_no_deal_is_refused():
    """Batches with missing, repeated or foreign cards, or of another shape or type, are refused."""
    deal = np.array([[hand_bits(range(6 * i, 6 * i + 6)) for i in range(4)]])
    options = {"strain": "H", "declarer": 0}
    assert solver.solve_batch(deal, SINGLE, **options).shape == (1,)
    arrays = (deal[:, :3], deal.astype(float), deal * 2, deal - 1, deal[:, [0, 0, 1, 2]])
    for wrong in (*arrays, "AH", 3, [["AH"]], [[["AH"]] * 4]):
        with pytest.raises(errors.DealError):
            solver.solve_batch(wrong, SINGLE, **options)
    with pytest.raises(errors.OptionError, match="expected only with deals"):
        solver.solve_batch(in_play(SINGLE)._states, SINGLE, **options)


def test_ctrl_c_ends_a_batch_and_the_solver_can_be_used_again():
    rng, rules = random.Random(12), RULES["9", 2]
    rows = Ending.rows([whole_deal(rng, rules, "H") for _ in range(2_000)])  # minutes of search
    solver.solve_batch(rows[:1], rules)
    press = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        press.start()
        with pytest.raises(KeyboardInterrupt):
            solver.solve_batch(rows, rules, threads=2)
    finally:
        press.cancel()
        press.join()
        signal.signal(signal.SIGINT, before)
    assert solver.solve(LAST_TRICK.row, rules=SINGLE) == 1
    assert not any(t.name.startswith("bideuchre-solver") for t in threading.enumerate())
