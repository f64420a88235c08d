"""Single-agent environments: illegal actions, invalid arguments, errors of players, copies."""

import copy
import math
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.custom_agents import First
from support.solo_helpers import (
    Bad,
    Spy,
    actions_for,
    assert_same,
    broken,
    chosen_action,
    unchanged,
    walk,
)

import bideuchre_env
from bideuchre_env import OpponentPool, agents
from bideuchre_env.core.state import Outcome
from bideuchre_env.errors import DealError, IllegalActionError, OptionError, OutOfBoundsError

cincinnati = bideuchre_env.cincinnati_v0
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
every_face = pytest.mark.parametrize("face", ["solo", "solo_vec"])
OTHER_RULES = agents.make("rule", bideuchre_env.barrie_v0.rules)


def made(face, **options):
    return cincinnati.solo(**options) if face == "solo" else cincinnati.solo_vec(3, **options)


@pytest.mark.parametrize(("name", "penalty"), [("cincinnati_v0", -7.5), ("barrie_v0", 0.0)])
def test_illegal_action_ends_the_episode_with_the_penalty(name, penalty):
    env = bideuchre_env.variants[name].solo(illegal_reward=penalty, opponents="rule")
    obs, info = env.reset(seed=2)
    illegal = int(np.flatnonzero(obs["action_mask"] == 0)[-1])
    before = env._rows.states.tobytes()
    seen, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (penalty, True, False)
    assert env._rows.states.tobytes() == before
    np.testing.assert_array_equal(seen["observation"], obs["observation"])
    for mask in (seen["action_mask"], info["action_mask"], env.action_masks()):
        assert not mask.any()
    assert info["illegal"]
    assert (info["hands"], info["outcome"], info["winner"]) == (0, Outcome.UNFINISHED, -1)
    with pytest.raises(IllegalActionError, match=r"call reset\(\) first"):
        env.step(0)
    env.reset()
    env.step(int(env.action_masks().argmax()))


PENALTIES = {  # minus the largest loss of a hand in points, and the most hands of a game
    "cincinnati_v0": (-48 - 6, 100),
    "simplified_v0": (-24 - 8, 4),
    "club_v0": (-24 - 8, 100),
    "barrie_v0": (-24 - 8, 100),
    "six_card_v0": (-6 - 6, 100),
    "double_deck_v0": (-12 - 12, 100),
    "partners_best_v0": (-24 - 6, 100),
    "indiana_v0": (-24 - 12, 100),
    "pepper_v0": (-12 - 6, 100),
}


@pytest.mark.parametrize("name", PENALTIES)
def test_quitting_costs_the_largest_loss_of_an_episode(name):
    """Otherwise a policy without a mask learns to end a hand rather than to lose it."""
    loss, hands = PENALTIES[name]
    variant = bideuchre_env.variants[name]
    for episode, points in (("hand", loss), ("game", loss * hands)):
        for reward, expected in (("points", points), ("win", -1)):
            options = {"episode": episode, "reward": reward}
            solo, table = variant.solo(**options), variant.env(**options)
            rows = variant.solo_vec(2, autoreset_mode="Disabled", **options)
            for env in (solo, rows, table):
                env.reset(seed=2)
            illegal = int(np.flatnonzero(~solo.action_masks())[-1])  # a card, in the auction
            assert solo.step(illegal)[1] == expected
            assert rows.step([illegal, illegal])[1].tolist() == [expected, expected]
            seat = table.agent_selection
            table.step(illegal)
            assert table.rewards[seat] == expected


BAD_ACTIONS = [True, 1.0, math.nan, "1", None, [1], np.array([1]), ..., -1, 37, 2**63]


@pytest.mark.parametrize("action", BAD_ACTIONS, ids=repr)
def test_actions_that_do_not_exist_are_refused(action):
    env = cincinnati.solo()
    env.reset(seed=1)
    before = unchanged(env)
    with pytest.raises(OutOfBoundsError, match="action"):
        env.step(action)
    assert unchanged(env) == before
    env.step(np.array(env.action_masks().argmax()))


BAD_OPTIONS = [
    ({"opponents": "nobody"}, "no agent 'nobody': the agents are random, cautious, beginner, rule"),
    ({"opponents": lambda rules, seed: 5}, "agent 5: expected a name, or an object with act_rows"),
    ({"opponents": OTHER_RULES}, "other rules"),
    ({"seat": 4}, "seat 4: expected a seat from 0 to 3, or None"),
    ({"seat": True}, "seat True"),
    ({"episode": "trick"}, "episode='trick': expected one of 'game', 'hand'"),
    ({"reward": "tricks"}, "reward='tricks'"),
    ({"illegal_reward": math.nan}, "illegal_reward=nan: expected a finite number or None"),
    ({"illegal_reward": 10**400}, "illegal_reward"),
    ({"view": 4}, "view=4"),
    ({"skip_forced": 1}, "skip_forced=1"),
    ({"render_mode": "rgb"}, "render_mode='rgb': expected one of None, "),
]
BAD_VECTOR_OPTIONS = [
    ({"num_envs": 0}, "num_envs=0"),
    ({"num_envs": 2.0}, r"num_envs=2\.0"),
    ({"autoreset_mode": "Sometimes"}, "autoreset_mode='Sometimes': expected one of 'NextStep'"),
    ({"threads": 0}, "threads=0"),
    ({"copy": 1}, "copy=1"),
    ({"device": "gpu"}, "device='gpu': expected one of 'cpu', 'cuda'"),
    ({"device": None}, "device=None"),
    ({"render_mode": "human"}, "render_mode='human': expected one of None, 'ansi', 'rgb_array'"),
]


def test_unusable_options_are_named():
    for options, match in [*BAD_OPTIONS, ({"device": "cuda"}, "unexpected keyword argument")]:
        with pytest.raises(OptionError, match=match):
            cincinnati.solo(**options)
    for options, match in BAD_OPTIONS + BAD_VECTOR_OPTIONS:
        with pytest.raises(OptionError, match=match):
            cincinnati.solo_vec(**({"num_envs": 2} | options))


BAD_CALLS = [
    ({"seed": -1}, "seed=-1"),
    ({"seed": 2**128}, "seed="),
    ({"options": 3}, "options=3"),
    ({"seed": -1, "options": {"opponents": First, "partner": "rule"}}, "seed=-1"),
    ({"seed": 8, "options": {"deal": [["AS"]] * 4}}, "deal"),
]
BAD_RESET_OPTIONS = [
    ({"seat": 9}, "seat 9"),
    ({"seat": True}, "seat True"),
    ({"dealer": 9}, "dealer 9"),
    ({"score": (np.nan, 0)}, "score"),
    ({"deal": [[]] * 4}, "deal"),
    ({"opponents": "nobody"}, "no agent 'nobody'"),
    ({"opponents": 3, "partner": "rule"}, "opponents=3"),
    ({"opponents": "rule", "partner": "nobody"}, "no agent 'nobody'"),
    ({"opponents": ("rule",)}, r"opponents=\('rule',\): expected a player, a pair"),
    ({"opponents": ("rule", None)}, "opponents=None: expected an agent's name"),
    ({"partner": ("rule", "rule")}, "partner=.*: expected one player, or an OpponentPool"),
    ({"opponents": ["rule", "random"]}, "expected a list of .*; a pair is a tuple"),
    ({"partner": ["rule"] * 7}, "expected a list of .*, one for each row"),
    ({"opponents": OTHER_RULES}, "other rules"),
    ({"opponents": "rule", "seat": 9}, "seat 9"),
    ({"opponents": "rule", "deal": [["AS"]] * 4}, "deal"),
]
BAD_VECTOR_CALLS = [
    ({"seed": [1, 2]}, "each of the 3 rows"),
    ({"seed": [1, 2, "3"]}, "seed='3'"),
    ({"seed": [1, 2, -3]}, "seed=-3"),
    ({"options": {"reset_mask": [True, False, False]}}, "reset_mask"),
    ({"options": {"reset_mask": np.zeros(3, bool)}}, "at least one True"),
    ({"options": {"reset_mask": np.ones(2, bool)}}, "reset_mask"),
]


@every_face
def test_unusable_resets_change_nothing(face):
    env = made(face)
    env.reset(seed=1)
    before = unchanged(env)
    calls = BAD_CALLS + [({"options": options}, match) for options, match in BAD_RESET_OPTIONS]
    for call, match in calls + BAD_VECTOR_CALLS * (face == "solo_vec"):
        with pytest.raises((OptionError, DealError), match=match):
            env.reset(**call)
        assert unchanged(env) == before


def test_reset_options_set_deal_dealer_and_score():
    aec = cincinnati.raw_env()
    aec.reset(seed=9)
    deal = aec.record.hands[0]["deal"]
    env = cincinnati.solo(seat=2, opponents="rule")
    obs, _ = env.reset(seed=1, options={"deal": deal, "dealer": 1, "score": (5, -7)})
    decoded = env.observation_layout.decode(obs["observation"])
    assert sorted(decoded["hand"]) == sorted(deal[2])
    assert list(decoded["score"]) == [5, -7]
    assert env._rows.states["dealer"][0] == 1


BAD_ANSWERS = [
    (lambda m: np.zeros(m), IllegalActionError, r"'bad': act_rows: expected whole .*float64"),
    (lambda m: np.full(m, 36), IllegalActionError, "opponents: agent 'bad', row 0: seat "),
    (lambda m: np.full(m, -1), IllegalActionError, "may not choose -1"),
    (lambda m: np.full(m, 2**62), IllegalActionError, "may not choose"),
    (lambda m: np.ma.array(np.zeros(m, int), mask=True), IllegalActionError, "a masked array"),
    (broken, RuntimeError, "broke down"),
]


@pytest.mark.parametrize(("answer", "error", "match"), BAD_ANSWERS)
def test_after_an_error_of_a_player_a_reset_is_required(answer, error, match):
    """The error names the player; after a reset with a seed the game of that seed is dealt."""
    for after in (3, 6):
        bad = Bad(cincinnati.rules, answer, after)
        env = cincinnati.solo(opponents=bad, seat=0)
        with pytest.raises(error, match=match):
            walk(env, 100, 1)
        with pytest.raises(IllegalActionError, match=r"call reset\(\)"):
            env.step(0)
        with pytest.raises(OptionError, match=r"call reset\(\)"):
            env.action_masks()
        bad.left = 100
        twin = cincinnati.solo(opponents=Bad(cincinnati.rules, answer, 100), seat=0)
        assert_same(walk(env, 5, 1), walk(twin, 5, 1))


def walk_rows_with_resets(vec, steps):
    """Step a vector environment, with some illegal actions; in mode "Disabled" reset ended rows."""
    obs, _ = vec.reset(seed=1)
    for turn in range(steps):
        over = vec._rows.seating["ending"] != 0
        if vec.autoreset_mode == AutoresetMode.DISABLED and over.any():
            obs, _ = vec.reset(options={"reset_mask": over})
        else:
            obs, *_ = vec.step(actions_for(obs, turn, 20))


@every_mode
@pytest.mark.parametrize("answer", [broken, lambda m: np.full(m, -1)])
def test_after_an_error_of_a_player_all_rows_need_a_reset(mode, answer):
    options = {"episode": "hand", "autoreset_mode": mode}
    for after in range(1, 40, 6):
        bad = Bad(cincinnati.rules, answer, after)
        vec = cincinnati.solo_vec(5, opponents=bad, copy=False, **options)
        with pytest.raises((IllegalActionError, RuntimeError), match=r"broke down|'bad'"):
            walk_rows_with_resets(vec, 60)
        assert bad.left < 0
        with pytest.raises(IllegalActionError, match=r"call reset\(\)"):
            vec.step([0] * 5)
        with pytest.raises(OptionError, match=r"after an error .*: reset all rows first"):
            vec.reset(options={"reset_mask": np.arange(5) > 2})
        bad.left = 1000
        twin = cincinnati.solo_vec(5, opponents=bad, **options)
        assert_same(vec.reset(seed=2), twin.reset(seed=2))


@pytest.mark.search
@every_face
def test_copies_and_pickles_continue_equally_and_independently(face):
    """Copies continue as the original does, also in rows whose players a reset has changed."""
    pool = OpponentPool("rule", "net", "cautious")
    env = made(face, opponents=pool, partner=First, episode="hand")
    env.reset(seed=3)
    changed = {"opponents": ("cautious", Spy)}
    if face == "solo_vec":
        changed["reset_mask"] = np.arange(3) < 2
    obs, _ = env.reset(options=changed)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env]

    def choose(obs, turn):
        if face == "solo":
            return chosen_action(obs["action_mask"], obs["observation"], turn)
        return actions_for(obs, turn)

    for turn in range(15):
        results = [twin.step(choose(obs, turn)) for twin in twins]
        assert_same(results[0], results[1])
        assert_same(results[0], results[2])
        if face == "solo" and (results[0][2] or results[0][3]):
            results = [twin.reset() for twin in twins]
            assert_same(results[0], results[1])
        obs = results[0][0]


@pytest.mark.parametrize("own", [True, False])
def test_arrays_of_rows_are_copies_unless_copy_is_false(own):
    options = {"opponents": "rule", "episode": "hand"}
    vec, twin = (cincinnati.solo_vec(9, copy=c, **options) for c in (own, True))
    first = result = vec.reset(seed=2)
    expected = twin.reset(seed=2)
    for turn in range(25):
        assert_same(result[:-1], expected[:-1])
        actions = actions_for(expected[0], turn)
        for array in (*result[0].values(), result[-1]["action_mask"]):
            array[:] = 77
        result, expected = vec.step(actions), twin.step(actions)
        shared = np.shares_memory(result[0]["observation"], first[0]["observation"])
        assert shared != own
    assert own == (first[0]["observation"] == 77).all()


def test_rendering_shows_the_cards_of_the_view():
    env = cincinnati.solo(render_mode="ansi", view="actor", seat=2)
    obs, _ = env.reset(seed=4)
    held = set(env.observation_layout.decode(obs["observation"])["hand"])
    words = set(env.render().split())
    assert {word for word in words if len(word) == 2 and word[1] in "CDHS"} == held
    assert "??" in words
