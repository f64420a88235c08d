"""What holds in every game, of any rules: tried on random `Rules`, deals and choices."""

import copy
import pickle

import numpy as np
from hypothesis import strategies as st
from support.playthroughs import (
    Chooser,
    finish,
    legal_names,
    over,
    plies,
    row_bytes,
    rows_bytes,
    same,
    snapshot,
    start,
)
from support.strategies import in_two_sizes, rules, seeds

from bideuchre_env import GameRecord
from bideuchre_env.core.one_row import mask_row, replay_row
from bideuchre_env.core.state import STATE
from bideuchre_env.core.tables import compile_tables

CHOICES = st.integers(0, 2**32)


def copies_of(env) -> dict:
    """The same game three more times, by every way there is to keep one."""
    return {
        "pickle": pickle.loads(pickle.dumps(env)),
        "deepcopy": copy.deepcopy(env),
        "clone": env.clone(),
    }


@in_two_sizes(6, game=rules(), seed=seeds(), choices=CHOICES)
def test_copies_of_a_game_have_the_same_future(game, seed, choices):
    """At every ply each copy is compared; one of them, in turn, goes along for twelve plies."""
    env, companions = start(game, seed), []
    for ply, (_, action) in enumerate(plies(env, Chooser(choices), 90)):
        now = snapshot(env)
        if len(companions) > 12:
            assert same(snapshot(companions.pop(0)), now)
        kept = copies_of(env)
        for way, twin in kept.items():
            assert same(snapshot(twin), now), way
        companions.append(list(kept.values())[ply % 3])
        for twin in companions:
            twin.step(action)
        assert same(snapshot(env), now)  # the copies went their own way
    for twin in companions:
        assert same(snapshot(twin), snapshot(env))


@in_two_sizes(8, game=rules(), seed=seeds(), choices=CHOICES)
def test_redeals_keep_what_a_seat_sees_and_can_be_played_out(game, seed, choices):
    """The record of a redeal replays, before and after it is played out."""
    env, rng = start(game, seed), np.random.default_rng(choices)
    for ply, _ in enumerate(plies(env, Chooser(choices), 70)):
        before = snapshot(env)
        for seat, agent in enumerate(env.possible_agents):
            twin = env.resample_hidden(seat, rng)
            assert same(twin.observe(agent), env.observe(agent))
            assert twin.agent_selection == env.agent_selection
            if agent == env.agent_selection:
                assert same(twin.infos, env.infos)
            twin.record.verify()
            if seat == ply % 4:
                finish(twin, Chooser(choices + ply)).record.verify()
        assert same(snapshot(env), before)


@in_two_sizes(15, game=rules(), seed=seeds(), choices=CHOICES)
def test_a_record_is_read_back_at_every_ply(game, seed, choices):
    """Written, read and replayed, it is the same record and leads to the same state."""
    env = start(game, seed)
    for _ in plies(env, Chooser(choices), 120):
        record = env.record
        again = GameRecord.loads(record.dumps())
        assert again == record
        last = None
        for last in again.replay():  # noqa: B007
            pass
        for name in STATE.names:
            if name != "rng":  # a record holds the deals, not the stream they came from
                assert same(np.asarray(last[name]), np.asarray(env._states[name])), name


@in_two_sizes(15, game=rules(), seed=seeds(), choices=CHOICES)
def test_replay_allows_exactly_the_actions_of_the_mask(game, seed, choices):
    """`is_legal`, which guards replays, allows exactly what the mask does, at every ply."""
    tables, env = compile_tables(game), start(game, seed)
    for _ in plies(env, Chooser(choices), 80):
        mask = np.zeros(len(env.action_names), np.int8)
        mask_row(env._states, tables, mask)
        for action in range(-2, len(mask) + 2):
            rows = env._states.copy()
            allowed = replay_row(rows, tables, np.array([action])) < 0
            assert allowed == (0 <= action < len(mask) and bool(mask[action]))
            assert allowed or rows_bytes(rows) == row_bytes(env)
    assert over(env) or legal_names(env)
