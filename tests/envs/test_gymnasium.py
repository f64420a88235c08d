"""Gymnasium's checkers, registry and wrappers accept the environments."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from support.playthroughs import VARIANTS, slow_unless
from support.solo_helpers import assert_same

import bideuchre_env
from bideuchre_env import Bid, OpponentPool
from bideuchre_env.envs.solo.env import SoloEnv
from bideuchre_env.envs.solo.vector_env import SoloVectorEnv

STEMS = ("Cincinnati", "Simplified", "Club", "Barrie", "SixCard", "DoubleDeck")
STEMS += ("PartnersBest", "Indiana", "Pepper")
IDS = tuple(f"bideuchre/{stem}-v0" for stem in STEMS)
every_id = pytest.mark.parametrize("name", slow_unless(IDS[::7], IDS))


def test_every_variant_is_registered():
    assert tuple(bideuchre_env.variants[name].gymnasium_id for name in VARIANTS) == IDS
    assert {name for name in gymnasium.registry if name.startswith("bideuchre/")} == set(IDS)
    for name in IDS:
        spec = gymnasium.spec(name)
        assert spec.entry_point
        assert spec.vector_entry_point
        assert spec.max_episode_steps is None
        env = gymnasium.make(EnvSpec.from_json(spec.to_json()))
        assert isinstance(env.unwrapped, SoloEnv)
        assert env.unwrapped.metadata["name"] == VARIANTS[IDS.index(name)]
    assert bideuchre_env.make(bideuchre_env.barrie_v0.rules.replace(target=9)).gymnasium_id is None


@every_id
@pytest.mark.parametrize(
    "options",
    [
        {"render_mode": "human"},
        {"opponents": "cautious", "partner": "rule", "episode": "hand", "reward": "win"},
        {"seat": None, "reward": "points", "illegal_reward": -3, "observation": "flat"},
    ],
)
def test_check_env_without_warnings(name, options):
    """Both the environment that `make` returns and the unwrapped one pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for wrapped in (False, True):
            env = gymnasium.make(name, **options)
            if wrapped:  # the checker prefers the unwrapped environment
                warnings.filterwarnings("ignore", ".*different from the unwrapped version")
            check_env(env if wrapped else env.unwrapped)


POOL = OpponentPool("rule", ("cautious", "rule"), ("random", "cautious"), weights=[1, 2, 0.5])
PAIR = OpponentPool("rule", "random")
PLAYERS = (
    {"opponents": "rule"},
    {"opponents": ("rule", "cautious"), "partner": "random"},
    {"opponents": POOL, "partner": PAIR},
)
BY_ROW = (
    {"opponents": [("rule", "cautious"), POOL], "partner": ["rule", PAIR]},
    {"opponents": ["rule", "cautious"], "partner": "random", "autoreset_mode": "Disabled"},
    {"opponents": ("rule", "rule"), "autoreset_mode": AutoresetMode.NEXT_STEP},
    {"opponents": "rule", "lone": (Bid("moon", 12), Bid("march", 24, exchange=1))},
)


def resets(env):
    return [
        (env.reset(seed=seed), dict(env.unwrapped.players), repr(env.unwrapped))
        for seed in range(8)
    ]


@pytest.mark.parametrize("num_envs", [None, 2, 3])
@pytest.mark.parametrize("options", PLAYERS + BY_ROW)
def test_specs_as_json_restore_the_players(num_envs, options):
    """With two rows a pair stays a pair, and a list of two players is by row."""
    by_row = isinstance(options["opponents"], list)
    if (by_row and num_envs != 2) or (num_envs is None and "autoreset_mode" in options):
        pytest.skip("these are options of two rows")
    make = gymnasium.make if num_envs is None else gymnasium.make_vec
    env = make(IDS[3], *([] if num_envs is None else [num_envs]), **options)
    twin = make(EnvSpec.from_json(env.spec.to_json()))
    assert twin.metadata == env.metadata
    assert twin.unwrapped.rules == env.unwrapped.rules
    assert_same(resets(twin), resets(env))


@pytest.mark.parametrize("wrapper", ["RecordEpisodeStatistics", "NormalizeReward"])
def test_vector_wrappers_of_gymnasium_accept_solo_vec(wrapper):
    vec = bideuchre_env.cincinnati_v0.solo_vec(3, opponents="rule", episode="hand")
    env = getattr(gymnasium.wrappers.vector, wrapper)(vec)
    obs, infos = env.reset(seed=1)
    for _ in range(12):
        assert obs in env.observation_space
        obs, *_, infos = env.step(infos["action_mask"].argmax(axis=1))
    if wrapper == "RecordEpisodeStatistics":
        assert env.episode_count > 0


@pytest.mark.parametrize("how", [None, "vector_entry_point", "sync", "async"])
def test_make_vec_in_every_vectorization_mode(how):
    kinds = {"sync": SyncVectorEnv, "async": AsyncVectorEnv}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=DeprecationWarning)  # of forking
        env = gymnasium.make_vec(IDS[0], num_envs=3, vectorization_mode=how, opponents="rule")
        assert isinstance(env, kinds.get(how, SoloVectorEnv))
        assert isinstance(env.metadata["autoreset_mode"], AutoresetMode)
        obs, infos = env.reset(seed=1)
        assert obs in env.observation_space
        env.action_space.seed(4)
        for _ in range(12):
            actions = env.action_space.sample(mask=tuple(infos["action_mask"]))
            obs, rewards, terminated, truncated, infos = env.step(actions)
            assert obs in env.observation_space
            assert rewards.dtype == np.float64
            assert terminated.dtype == truncated.dtype == bool
    env.close()
    env.close()
    assert gymnasium.make_vec(IDS[1]).num_envs == 1
    other = gymnasium.make_vec(IDS[1], num_envs=2, autoreset_mode="Disabled")
    assert other.metadata["autoreset_mode"] is AutoresetMode.DISABLED
