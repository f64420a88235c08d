"""State rows from users: only positions of the game reach the kernels."""

import numpy as np
import pytest
from support.playthroughs import VARIANTS, choose

import bideuchre_env
from bideuchre_env import GameRecord
from bideuchre_env.core.state import PASSING, PLAY, STATE, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.validity import checked_states
from bideuchre_env.errors import OptionError


def lowest(hand):
    """The index of the lowest bit of a hand."""
    return (int(hand) & -int(hand)).bit_length() - 1


def put_aside(row):
    """Mark a card of the eldest hand as discarded, during the auction."""
    seat = row["turn"]
    kind = lowest(row["hands"][seat])
    row["hands"][seat] -= 1 << kind
    row["given"][0], row["passed"][0] = kind, 0


def move_a_card(row):
    """Move a card to another hand, so that the hands have the wrong sizes."""
    for giver, taker in ((0, 1), (1, 0), (2, 3)):
        kinds = int(row["hands"][giver]) & ~int(row["hands"][taker]) & (1 << 24) - 1
        single = kinds & ~(int(row["hands"][giver]) >> 24)
        if single:
            row["hands"][giver] -= 1 << lowest(single)
            row["hands"][taker] += 1 << lowest(single)
            return


def count_this_hand(row):
    row["hands_played"] = row["hands_dealt"]


FORGERIES = {  # a change of several numbers, and the field that the error names
    "a card put aside": (put_aside, "hands"),
    "a card in another hand": (move_a_card, "hands"),
    "no stream": (lambda row: row["rng"].fill(0), "rng"),
    "four passes": (lambda row: row["calls"].fill(0), "calls_made"),
    "a score out of range": (lambda row: row["score"].fill(2**60), "score"),
    "as many hands played as dealt": (count_this_hand, "hands_played"),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_rows_are_refused(variant, forgery):
    """A forged row has numbers in range, but no game reaches their combination."""
    vec = bideuchre_env.variants[variant].vec(3)
    vec.reset(seed=4)
    states = vec.get_state()
    change, fault = FORGERIES[forgery]
    if forgery == "four passes" and vec.rules.auction != "once":
        fault = "calls"  # the number of calls stays in range
    change(states[1])
    assert not np.array_equal(states, vec.get_state())
    match = rf"states\[1\] is no position of this game: .*\b{fault}\b"
    with pytest.raises(OptionError, match=match):
        vec.set_state(states)


@pytest.mark.parametrize("variant", VARIANTS)
def test_positions_of_play_are_accepted(variant):
    vec = bideuchre_env.variants[variant].vec(200)
    obs, _ = vec.reset(seed=8)
    seen = set()
    for step in range(90):
        states = vec.get_state()
        seen |= set(states["phase"].tolist())
        vec.set_state(states)
        obs, *_ = vec.step(choose(obs["action_mask"], step))
    assert PLAY in seen
    assert (PASSING in seen) == (vec.rules.exchange > 0)


def test_a_passed_out_hand_is_accepted():
    game = bideuchre_env.make("cincinnati_v0", all_pass="redeal_next")
    env = game.raw_env()
    env.reset(seed=1)
    for _ in range(4):
        env.step("pass")
    record = GameRecord.from_rows(rows_of(env._finished), game.rules, game.name)
    assert record.hands[0]["declarer"] is None


def positions(variant, n=4):
    """Rows of all parts of a hand: row i after 10 i steps."""
    vec = bideuchre_env.variants[variant].vec(n)
    obs, _ = vec.reset(seed=11)
    rows = vec.get_state()
    for step in range(10 * n):
        rows[step // 10] = vec.get_state()[step // 10]
        obs, *_ = vec.step(choose(obs["action_mask"], step))
    return rows


def forgeries(row, rng):
    """Yield (field, copy of `row` with one number changed) for near, extreme and random numbers."""
    for field in STATE.names:
        for at in range(np.size(row[field])):
            number = np.atleast_1d(row[field])[at]
            info = np.iinfo(number.dtype)
            drawn = int(rng.integers(info.min, info.max, dtype=number.dtype, endpoint=True))
            near = {int(number) - 1, int(number) + 1, -1, 0, int(rng.integers(24))}
            for value in sorted(near | {info.min, info.max, drawn}):
                if info.min <= value <= info.max and value != number:
                    forged = row.copy()
                    if forged[field].ndim:
                        forged[field][at] = value
                    else:
                        forged[field] = value
                    yield field, forged


def replayed(row, game):
    """The state row of an AEC environment after this row's deal and actions have been replayed."""
    record = GameRecord.from_rows(np.array([row]), game.rules, game.name)
    [hand] = record.to_dict()["hands"]
    env = game.raw_env()
    env.reset(seed=0, options={"deal": hand["deal"], "dealer": hand["dealer"]})
    for name in hand["actions"]:
        env.step(env.action_names.index(name))
    return env.get_state()[0]


FREE = {"rng", "score", "hands_dealt", "hands_played", "padding"}
"""Fields that the deal and the actions of a row do not determine."""


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_row_with_one_changed_number_is_refused_or_a_position(variant):
    game, rng, accepted = bideuchre_env.variants[variant], np.random.default_rng(7), []
    tables = compile_tables(game.rules)
    for row in positions(variant):
        for field, forged in forgeries(row, rng):
            try:
                checked_states(np.array([forged]), 1, tables)
            except OptionError:
                continue
            accepted.append(forged)
            if field not in FREE:
                again = replayed(forged, game)
                for name in set(STATE.names) - FREE:
                    np.testing.assert_array_equal(again[name], forged[name], f"{field}: {name}")
    assert accepted
    vec = game.vec(len(accepted))
    obs, _ = vec.set_state(np.array(accepted))
    for step in range(60):
        assert obs["action_mask"].any(axis=1).all()
        obs, *_ = vec.step(choose(obs["action_mask"], step))
