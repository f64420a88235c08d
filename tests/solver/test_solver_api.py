"""The solver's public face: what it takes, what it says, what it refuses, threads and Ctrl-C."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest
from support.playthroughs import Chooser, finish, start
from support.solver_positions import RULES, Ending, in_play, random_endings, whole_deal

from bideuchre_env import errors, make, solver
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules.cards import SUITS, hand_bits, parse_card

SINGLE, DOUBLE = RULES["9", 1], RULES["J", 2]


def test_a_position_is_an_environment_a_row_or_a_record_with_a_ply():
    """The same answer for each, wrapped or raw, at every ply of the play."""
    wrapped = make("barrie_v0").env()
    wrapped.reset(seed=8)
    env, choose = wrapped.unwrapped, Chooser(1)
    while not env._finished:
        if env._states[0]["phase"] == 4:
            said = solver.solve_moves(wrapped)
            assert said == solver.solve_moves(env)
            assert said == solver.solve_moves(env._states, rules=env.rules)
            assert said == solver.solve_moves(env._states[0], rules=env.rules)
        wrapped.step(choose(env))
    record = env.record
    states = [solver.solve(record, ply=ply) for ply in range(len(record.hands[0]["actions"]))[-32:]]
    again = [
        solver.solve(record, ply=ply, hand=0)
        for ply in range(len(record.hands[0]["actions"]))[-32:]
    ]
    assert states == again


def test_a_ply_is_counted_through_the_game_or_in_its_hand():
    """Actions count from 0; `hand` says where to count from."""
    env = finish(start(make("cincinnati_v0", max_hands=3).rules, 4), Chooser(4))
    record = env.record
    before = len(record.hands[0]["actions"])
    ply = len(record.hands[1]["actions"]) - 10
    assert solver.solve(record, ply=before + ply) == solver.solve(record, hand=1, ply=ply)


@pytest.mark.parametrize(
    ("say", "given", "options"),
    [
        ("in phase AUCTION", lambda env: start(env.rules, 1), {}),
        ("nothing has been dealt", lambda env: make("club_v0").raw_env(), {}),
        ("ply=None: a record needs", lambda env: env.record, {}),
        ("ply=999: the record's actions", lambda env: env.record, {"ply": 999}),
        ("ply=-1", lambda env: env.record, {"ply": -1}),
        ("hand=7: from 0 to 0", lambda env: env.record, {"ply": 1, "hand": 7}),
        ("ply and hand given", lambda env: env, {"ply": 3}),
        ("rules given", lambda env: env, {"rules": SINGLE}),
        ("rules given", lambda env: env.record, {"rules": SINGLE, "ply": 5}),
        ("rules=None", lambda env: env._states, {}),
        ("2 state rows: one", lambda env: np.repeat(env._states, 2), {"rules": SINGLE}),
        ("rows of the STATE dtype", lambda env: np.zeros(3), {"rules": SINGLE}),
        ("an environment, a state row", lambda env: "AH KH", {}),
        ("memory='lots'", lambda env: env, {"memory": "lots"}),
        ("memory=0", lambda env: env, {"memory": 0}),
    ],
)
def test_other_things_are_refused(say, given, options):
    """A sentence that names what was given; `ValueError`s of the package all."""
    env = in_play(SINGLE)
    with pytest.raises(errors.BidEuchreError, match=say):
        solver.solve(given(env), **options)


def spoil(field, value, index=...):
    """A change that makes a state row unsound."""

    def change(row):
        if index is ...:
            row[field] = value
        else:
            row[field][index] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        spoil("phase", 77),
        spoil("strain", 5),
        spoil("strain", -1),
        spoil("turn", 4),
        spoil("trick", 6),
        spoil("trick", -1),
        spoil("trick", 2),
        spoil("sitting_out", 4),
        spoil("led", 4),
        spoil("led", 2),
        spoil("hands", 1 << 62, 1),
        spoil("hands", -1, 1),
        spoil("hands", 0, 1),
        spoil("hands", hand_bits([0, 0, 1, 2, 3, 4]), 0),
    ],
)
def test_no_unsound_row_reaches_the_search(change):
    """Every field the solver reads, out of range or against the others, is refused by name."""
    env = in_play(SINGLE)
    row = env._states.copy()
    change(row[0])
    with pytest.raises(errors.PositionError, match="position 0 "):
        solver.solve(row, rules=SINGLE)
    env.step(next(iter(solver.solve_moves(env))))
    row = env._states.copy()
    for field, value in (("leaders", 9), ("plays", 99), ("plays", -1), ("led", -1)):
        wrong = row.copy()
        wrong[field] = value
        with pytest.raises(errors.PositionError):
            solver.solve(wrong, rules=SINGLE)


def test_the_contract_can_be_made():
    """`can_make` counts the tricks taken, and is the contract unless told otherwise."""
    for seed in range(12):
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
    bare = Ending(SINGLE, [["AH"], ["KH"], ["QH"], ["TH"]], [], 0, "H", None).row
    bare["declarer"] = -1
    with pytest.raises(errors.PositionError, match="no contract"):
        solver.can_make(bare, rules=SINGLE)


def test_batches_are_the_same_for_any_threads_and_memory():
    """Deterministic; a table of one megabyte forgets, and is only slower."""
    rng = random.Random(2)
    rules = RULES["10", 2]
    rows = Ending.rows([whole_deal(rng, rules, "H", lone=i % 3 == 0) for i in range(12)])
    told = solver.solve_batch(rows, rules, threads=1)
    assert told.dtype == np.int8
    assert told.shape == (12,)
    for threads, memory in ((2, 64), (3, 1), (1, 1.5), (None, None)):
        assert (solver.solve_batch(rows, rules, threads=threads, memory=memory) == told).all()
    endings = [e for e in random_endings(600, seed=3, most=6) if e.rules == DOUBLE]
    rows = Ending.rows(endings)
    one = solver.solve_batch(rows, DOUBLE, moves=True, threads=1)
    assert (solver.solve_batch(rows, DOUBLE, moves=True, threads=4) == one).all()
    assert (one.max(axis=1) == solver.solve_batch(rows, DOUBLE)).all()


def test_batches_of_deals_have_one_contract():
    """Deals by name or as integers; the lead goes by the rules."""
    rng = random.Random(6)
    deals = [whole_deal(rng, SINGLE, "H").hands for _ in range(5)]
    hands = np.array([[hand_bits(map(parse_card, h)) for h in deal] for deal in deals])
    options = {"strain": "S", "declarer": 3}
    told = solver.solve_batch(deals, SINGLE, **options)
    assert (solver.solve_batch(hands, SINGLE, **options) == told).all()
    tables = solver.tables_of(hands, SINGLE, threads=2)
    assert (tables[:, 0, 3, SUITS.index("S")] == told).all()
    alone = solver.solve_batch(deals, SINGLE, alone=True, **options)
    assert (tables[:, 1, 3, SUITS.index("S")] == alone).all()
    eldest = SINGLE.replace(opening_lead="eldest")
    with pytest.raises(errors.OptionError, match="name the dealer"):
        solver.solve_batch(deals, eldest, **options)
    for dealer in range(4):
        acting = solver.solve_batch(deals, eldest, dealer=dealer, **options)
        value = acting if (dealer + 1) & 1 else SINGLE.tricks - acting
        assert (solver.tables_of(deals, eldest, dealer=dealer)[:, 0, 3, 3] == value).all()


@pytest.mark.parametrize(
    ("say", "options"),
    [
        ("deals need a contract", {}),
        ("declarer 7: a seat", {"strain": "H", "declarer": 7}),
        ("'X' is no strain", {"strain": "X", "declarer": 0}),
        ("alone=2", {"strain": "H", "declarer": 0, "alone": 2}),
        ("threads=0", {"strain": "H", "declarer": 0, "threads": 0}),
        ("threads=True", {"strain": "H", "declarer": 0, "threads": True}),
    ],
)
def test_unusable_batches_are_refused(say, options):
    """By name, before anything is solved."""
    deal = whole_deal(random.Random(1), SINGLE, "H").hands
    with pytest.raises(errors.BidEuchreError, match=say):
        solver.solve_batch([deal], SINGLE, **options)


def test_what_is_no_deal_is_refused():
    """Cards missing, twice, of another deck; arrays of another shape."""
    deal = np.array([[hand_bits(range(6 * i, 6 * i + 6)) for i in range(4)]])
    options = {"strain": "H", "declarer": 0}
    assert solver.solve_batch(deal, SINGLE, **options).shape == (1,)
    for wrong in (deal[:, :3], deal.astype(float), deal * 2, deal - 1, deal[:, [0, 0, 1, 2]]):
        with pytest.raises(errors.DealError):
            solver.solve_batch(wrong, SINGLE, **options)
    for wrong in ("AH", 3, [["AH"]], [[["AH"]] * 4]):
        with pytest.raises(errors.DealError):
            solver.solve_batch(wrong, SINGLE, **options)
    row = in_play(SINGLE)._states
    with pytest.raises(errors.OptionError, match="state rows have contracts"):
        solver.solve_batch(row, SINGLE, **options)


def test_ctrl_c_ends_a_batch_and_the_solver_goes_on():
    """The first Ctrl-C in the middle of long searches is raised, and leaves nothing broken."""
    rng = random.Random(12)
    rules = RULES["9", 2]
    rows = Ending.rows([whole_deal(rng, rules, "H") for _ in range(2_000)])
    small = Ending(SINGLE, [["AH"], ["KH"], ["QH"], ["TH"]], [], 0, "H", None).row
    solver.solve_batch(rows[:1], rules)
    over = threading.Event()
    presser = threading.Thread(target=press_ctrl_c, args=(over,), daemon=True)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        presser.start()
        with pytest.raises(KeyboardInterrupt):
            solver.solve_batch(rows, rules, threads=2)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        over.set()
        presser.join()
        signal.signal(signal.SIGINT, before)
    assert solver.solve(small, rules=SINGLE) == 1
    assert not searching()


def press_ctrl_c(over):
    """A while after the search began: before it, whatever runs just then gets the interrupt."""
    while not searching() and not over.is_set():
        time.sleep(0.01)
    if not over.wait(0.2):
        os.kill(os.getpid(), signal.SIGINT)


def searching():
    return [t for t in threading.enumerate() if t.name.startswith("bideuchre-solver")]
