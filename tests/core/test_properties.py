"""Properties of every game, on random `Rules`, deals and choices."""

import copy
import itertools
import pickle

import numpy as np
from hypothesis import strategies as st
from support.playthroughs import (
    Chooser,
    act,
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

from bideuchre_env import GameRecord, make
from bideuchre_env.core.one_row import mask_row, replay_row
from bideuchre_env.core.state import STATE
from bideuchre_env.core.tables import compile_tables

CHOICES = st.integers(0, 2**32)


def copies_of(env) -> dict:
    """Four copies of the game by the way of copying: row, pickle, deepcopy and clone."""
    by_row = make(env.rules).raw_env()
    by_row.__setstate__(copy.copy(env.__getstate__()))
    by_row._states = np.frombuffer(env._states.tobytes(), STATE).copy().view(type(env._states))
    return {
        "row": by_row.clone(),
        "pickle": pickle.loads(pickle.dumps(env)),
        "deepcopy": copy.deepcopy(env),
        "clone": env.clone(),
    }


@in_two_sizes(6, game=rules(), seed=seeds(), choices=CHOICES)
def test_copies_of_a_game_have_the_same_future(game, seed, choices):
    env, companions = start(game, seed), []
    for ply, (_, action) in enumerate(plies(env, Chooser(choices), 90)):
        now = snapshot(env)
        if len(companions) > 12:
            assert same(snapshot(companions.pop(0)), now)
        copies = copies_of(env)
        for way, twin in copies.items():
            assert same(snapshot(twin), now), way
        companions.append(list(copies.values())[ply % 4])
        for twin in companions:
            twin.step(action)
        assert same(snapshot(env), now)  # the copies went their own way
    for twin in companions:
        assert same(snapshot(twin), snapshot(env))


SUIT_MAPS = [
    dict(zip("CDHS", image, strict=True))
    for image in itertools.permutations("CDHS")
    if {frozenset((image[0], image[3])), frozenset((image[1], image[2]))}
    == {frozenset("CS"), frozenset("DH")}
]


def relabelled(name: str, suits: dict[str, str]) -> str:
    """A card or an action with its suit, if it has one, changed."""
    last = name.rsplit(" ", 1)[-1]
    if last == "NT" or last[-1] not in suits or (name == last and len(name) != 2):
        return name
    return name[:-1] + suits[name[-1]]


def check_transformed(env, suits: dict[str, str], turn: int) -> None:
    """Replay a game with `suits` relabelled and seats rotated by `turn` places, and compare."""
    size = env.observation_layout.size
    for hand in env.record.hands:
        here, there = env.clone(), env.clone()
        deal = [[relabelled(card, suits) for card in cards] for cards in hand["deal"]]
        deal = [deal[(seat - turn) % 4] for seat in range(4)]
        here.reset(options={"deal": hand["deal"], "dealer": hand["dealer"]})
        there.reset(options={"deal": deal, "dealer": (hand["dealer"] + turn) % 4})
        for name in hand["actions"]:
            seat, twin = (int(e.agent_selection[-1]) for e in (here, there))
            assert twin == (seat + turn) % 4
            assert {relabelled(n, suits) for n in legal_names(here)} == set(legal_names(there))
            if all(suit == image for suit, image in suits.items()):
                for who in range(4):
                    other = f"player_{(who + turn) % 4}"
                    views = here.observe(f"player_{who}"), there.observe(other)
                    assert same(*views)
                    assert views[0]["observation"].shape == (size,)
            act(here, name)
            act(there, relabelled(name, suits))
        before, after = here.record.hands[0], there.record.hands[0]
        for word in ("tricks", "points", "score"):
            assert [after[word][side ^ turn & 1] for side in range(2)] == before[word]


@in_two_sizes(25, game=rules(), seed=seeds(), choices=CHOICES)
def test_relabelled_suits_give_relabelled_results(game, seed, choices):
    """No suit is special: every relabelling that preserves colours commutes with the play."""
    assert len(SUIT_MAPS) == 8
    env = finish(start(game, seed, episode="hand"), Chooser(choices))
    for suits in SUIT_MAPS:
        check_transformed(env, suits, 0)


@in_two_sizes(25, game=rules(), seed=seeds(), choices=CHOICES)
def test_rotated_seats_give_rotated_results(game, seed, choices):
    env = finish(start(game, seed, episode="hand"), Chooser(choices))
    for turn in range(1, 4):
        check_transformed(env, {suit: suit for suit in "CDHS"}, turn)


@in_two_sizes(8, game=rules(), seed=seeds(), choices=CHOICES)
def test_redeals_keep_a_seats_observation_and_can_be_played_out(game, seed, choices):
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
    env = start(game, seed)
    for _ in plies(env, Chooser(choices), 120):
        record = env.record
        again = GameRecord.loads(record.dumps())
        assert again == record
        last = None
        for last in again.replay():  # noqa: B007
            pass
        for name in STATE.names:
            if name != "rng":  # a record holds the deals, not their random stream
                assert same(np.asarray(last[name]), np.asarray(env._states[name])), name


@in_two_sizes(15, game=rules(), seed=seeds(), choices=CHOICES)
def test_replay_allows_exactly_the_actions_of_the_mask(game, seed, choices):
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
