"""The environment of one learner: what ends an episode, what is refused, whose the arrays are."""

import copy
import math
import pickle

import numpy as np
import pytest
from support.playthroughs import VARIANTS
from support.solo_helpers import Bad, assert_same, broken, chosen_action, walk

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.core.state import Outcome
from bideuchre_env.errors import DealError, IllegalActionError, OptionError, OutOfBoundsError

every_variant = pytest.mark.parametrize("name", VARIANTS)
cincinnati = bideuchre_env.cincinnati_v0


@every_variant
def test_an_illegal_action_ends_the_episode_at_its_price(name):
    """The state is as it was, the mask empty, the penalty the whole reward."""
    for penalty in (-1.0, -7.5, 0.0):
        env = bideuchre_env.variants[name].solo(illegal_reward=penalty, opponents="rule")
        obs, info = env.reset(seed=2)
        illegal = int(np.flatnonzero(obs["action_mask"] == 0)[-1])
        before = env._rows.states.copy()
        seen, paid, terminated, truncated, info = env.step(illegal)
        assert (paid, terminated, truncated) == (penalty, True, False)
        assert env._rows.states.tobytes() == before.tobytes()
        np.testing.assert_array_equal(seen["observation"], obs["observation"])
        assert not seen["action_mask"].any()
        assert not info["action_mask"].any()
        assert not env.action_masks().any()
        assert info["illegal"]
        assert (info["hands"], info["outcome"], info["winner"]) == (0, Outcome.UNFINISHED, -1)
        with pytest.raises(IllegalActionError, match=r"reset\(\) starts one"):
            env.step(0)
        env.reset()
        env.step(int(env.action_masks().argmax()))


NO_ACTIONS = [True, 1.0, math.nan, "1", None, [1], np.array([1]), np.float32(1), object(), 1j]


@pytest.mark.parametrize("given", [*NO_ACTIONS, -1, 37, 2**63, -(2**70), np.int64(99)])
def test_what_is_no_action_is_refused(given):
    """Nothing changes, and the episode goes on."""
    env = cincinnati.solo()
    obs, _ = env.reset(seed=1)
    before = env._rows.states.tobytes(), env._rows.solos.tobytes()
    with pytest.raises(OutOfBoundsError, match="action"):
        env.step(given)
    assert before == (env._rows.states.tobytes(), env._rows.solos.tobytes())
    env.step(np.int8(obs["action_mask"].argmax()))
    env.step(np.array(env.action_masks().argmax()))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"opponents": "nobody"}, "no agent 'nobody': the agents are random, cautious, rule"),
        ({"opponents": None}, "opponents=None"),
        ({"opponents": 3}, "opponents=3: the name of an agent"),
        ({"partner": "nobody"}, "no agent 'nobody'"),
        ({"opponents": lambda rules, seed: 5}, "agent 5: a name, or an object with act_rows"),
        ({"opponents": agents.make("rule", bideuchre_env.barrie_v0.rules)}, "other rules"),
        ({"seat": 4}, "seat 4: a seat from 0 to 3, or None"),
        ({"seat": True}, "seat True"),
        ({"seat": "0"}, "seat '0'"),
        ({"episode": "trick"}, "episode='trick': one of 'game', 'hand'"),
        ({"reward": "tricks"}, "reward='tricks'"),
        ({"illegal_reward": math.nan}, "illegal_reward=nan: a finite number"),
        ({"illegal_reward": "-1"}, "illegal_reward='-1'"),
        ({"illegal_reward": 10**400}, "illegal_reward"),
        ({"render_mode": "rgb"}, "render_mode='rgb': one of None, 'human', 'ansi', 'rgb_array'"),
        ({"view": 4}, "view=4"),
        ({"oponents": "rule"}, "unexpected keyword argument 'oponents'"),
    ],
)
def test_unusable_options_are_named(options, match):
    with pytest.raises(OptionError, match=match):
        cincinnati.solo(**options)
    if "render_mode" not in options:
        with pytest.raises(OptionError, match=match):
            cincinnati.solo_vec(2, **options)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**128}, "seed="),
        ({"seed": 1.5}, "seed=1.5"),
        ({"options": 3}, "options=3"),
        ({"options": {"seat": 9}}, "seat 9"),
        ({"options": {"dealer": 9}}, "dealer 9"),
        ({"options": {"score": 1}}, "score 1"),
        ({"options": {"deal": [[]] * 4}}, "deal"),
        ({"seed": 8, "options": {"deal": [["AS"]] * 4}}, "deal"),
    ],
)
def test_unusable_resets_change_nothing(call, match):
    env = cincinnati.solo()
    env.reset(seed=1)
    before = env._rows.states.tobytes(), env._rows.solos.tobytes()
    with pytest.raises((OptionError, DealError), match=match):
        env.reset(**call)
    assert before == (env._rows.states.tobytes(), env._rows.solos.tobytes())


def test_reset_options_begin_the_game():
    """A deal, a dealer and a score, as the AEC environment takes them."""
    aec = cincinnati.raw_env()
    aec.reset(seed=9)
    deal = aec.record.hands[0]["deal"]
    env = cincinnati.solo(seat=2, opponents="rule")
    options = {"deal": deal, "dealer": 1, "score": (5, -7)}
    obs, _ = env.reset(seed=1, options=options)
    decoded = env.observation_layout.decode(obs["observation"])
    assert sorted(decoded["hand"]) == sorted(deal[2])
    assert decoded["score"] == {"ours": 5, "theirs": -7} or list(decoded["score"]) == [5, -7]
    assert env._rows.states["dealer"][0] == 1


@pytest.mark.parametrize("look", ["step", "seat", "action_masks", "render"])
def test_nothing_to_see_before_the_first_reset(look):
    env = cincinnati.solo(render_mode="ansi")
    with pytest.raises((OptionError, IllegalActionError), match="reset"):
        env.step(0) if look == "step" else getattr(env, look)() if look != "seat" else env.seat


@pytest.mark.parametrize(
    ("answer", "error", "match"),
    [
        (lambda m: np.zeros(m), IllegalActionError, r"'bad': act_rows: whole numbers.*float64"),
        (lambda m: np.zeros(m + 1, int), IllegalActionError, "shape"),
        (lambda m: None, IllegalActionError, "object"),
        (lambda m: np.full(m, 36), IllegalActionError, "opponents: agent 'bad', row 0: player_"),
        (lambda m: np.full(m, -1), IllegalActionError, "may not choose -1"),
        (lambda m: np.full(m, 2**62), IllegalActionError, "may not choose"),
        (broken, RuntimeError, "broke down"),
    ],
)
def test_after_an_error_of_a_player_the_game_needs_a_reset(answer, error, match):
    """The player is named; every call says so; with a better player a seed deals the same game."""
    for after in range(3, 9):
        bad = Bad(cincinnati.rules, answer, after)
        env = cincinnati.solo(opponents=bad, seat=0, render_mode="ansi")
        with pytest.raises(error, match=match):
            walk(env, 100, 1)
        with pytest.raises(IllegalActionError, match=r"call reset\(\)"):
            env.step(0)
        for call in (env.action_masks, env.render):
            with pytest.raises(OptionError, match=r"call reset\(\)"):
                call()
        with pytest.raises(OptionError, match=r"call reset\(\)"):
            env.seat  # noqa: B018
        assert "interrupted by an error" in repr(env)
        bad.left = 100
        twin = cincinnati.solo(opponents=Bad(cincinnati.rules, answer, 100), seat=0)
        assert_same(walk(env, 5, 1), walk(twin, 5, 1))


def test_an_error_in_the_first_reset_leaves_no_game():
    """The next reset without a seed takes the one that was given."""
    bad = Bad(cincinnati.rules, broken, 0)
    env, twin = (cincinnati.solo(opponents=bad, seat=0) for _ in range(2))
    with pytest.raises(RuntimeError, match="broke down"):
        env.reset(seed=1, options={"dealer": 0})
    with pytest.raises(IllegalActionError, match="reset"):
        env.step(0)
    bad.left = 100
    assert_same(env.reset(), twin.reset(seed=1))


@every_variant
def test_copies_go_their_own_way(name):
    """Pickled or deep-copied in mid-game, both go on alike and apart."""
    env = bideuchre_env.variants[name].solo(opponents="cautious", partner="rule", max_hands=5)
    obs, _ = env.reset(seed=5)
    for turn in range(12):
        obs, _, done, cut, _ = env.step(chosen_action(obs["action_mask"], obs["observation"], turn))
        if done or cut:
            obs, _ = env.reset()
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        went = copy.deepcopy(env)
        action = chosen_action(obs["action_mask"], obs["observation"])
        assert_same(twin.step(action), went.step(action))
        assert_same(walk(twin, 30, None), walk(went, 30, None))
    assert_same(env._seen(), obs)


def test_arrays_are_the_callers():
    """Nothing written into them reaches the game, and no two calls share one."""
    env, twin = (cincinnati.solo(opponents="rule") for _ in range(2))
    obs, info = env.reset(seed=3)
    twin.reset(seed=3)
    kept = []
    for turn in range(30):
        action = chosen_action(obs["action_mask"], obs["observation"], turn)
        for array in (obs["observation"], obs["action_mask"], info["action_mask"]):
            assert not any(np.shares_memory(array, other) for other in kept)
            kept.append(array)
            array[:] = 1
        obs, paid, done, cut, info = env.step(action)
        assert_same((obs, paid, done, cut, info), twin.step(action))
        if done or cut:
            obs, info = env.reset()
            twin.reset()


def test_rendering_keeps_to_the_view(capsys):
    """ "ansi" returns what "human" prints, at reset and at every step; "actor" is the learner."""
    env = cincinnati.solo(render_mode="ansi", view="actor", seat=2)
    env.reset(seed=4)
    held = set(env.observation_layout.decode(env._seen()["observation"])["hand"])
    words = set(env.render().split())
    assert {word for word in words if len(word) == 2 and word[1] in "CDHS"} == held
    assert "??" in words
    human = cincinnati.solo(render_mode="human", seat=2)
    everything = cincinnati.solo(render_mode="ansi", seat=2)
    for one in (human, everything):
        one.reset(seed=4)
    shown = capsys.readouterr().out
    assert shown.strip() == everything.render().strip()
    assert "??" not in shown
    human.step(0)
    assert "score" in capsys.readouterr().out
    human.close()
