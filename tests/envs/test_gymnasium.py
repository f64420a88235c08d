"""The environments as Gymnasium sees them: its checkers, its registry, its wrappers."""

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from support.playthroughs import VARIANTS
from support.solo_helpers import assert_same, chosen_action

import bideuchre_env
from bideuchre_env import Bid, Pool
from bideuchre_env.envs.solo.env import SoloEnv
from bideuchre_env.envs.solo.vector_env import SoloVectorEnv
from bideuchre_env.errors import OptionError

IDS = (
    "bideuchre/Cincinnati-v0",
    "bideuchre/Simplified-v0",
    "bideuchre/Club-v0",
    "bideuchre/Barrie-v0",
    "bideuchre/SixCard-v0",
    "bideuchre/DoubleDeck-v0",
)
every_id = pytest.mark.parametrize("name", IDS)


def test_every_variant_is_registered():
    """One id each, the variant's own; with both entry points and no limit of steps."""
    assert tuple(bideuchre_env.variants[name].gymnasium_id for name in VARIANTS) == IDS
    assert {name for name in gymnasium.registry if name.startswith("bideuchre/")} == set(IDS)
    for name in IDS:
        spec = gymnasium.spec(name)
        assert spec.entry_point
        assert spec.vector_entry_point
        assert spec.max_episode_steps is None
        assert not spec.nondeterministic
        twin = EnvSpec.from_json(spec.to_json())
        env = gymnasium.make(twin)
        assert isinstance(env.unwrapped, SoloEnv)
        assert env.unwrapped.metadata["name"] == VARIANTS[IDS.index(name)]


@every_id
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"opponents": "rule", "seat": 2},
        {"opponents": "cautious", "partner": "rule", "episode": "hand", "reward": "win"},
        {"seat": None, "reward": "points", "illegal_reward": -3},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "plain",
)
def test_check_env(name, options, capsys):
    """Gymnasium's `check_env`, as made and unwrapped, render modes and all; no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for wrapped in (False, True):
            env = gymnasium.make(name, **options)
            if wrapped:  # it says that it prefers the bare environment
                warnings.filterwarnings("ignore", ".*different from the unwrapped version")
            check_env(env if wrapped else env.unwrapped)
    assert "score" in capsys.readouterr().out  # mode "human" prints


@pytest.mark.parametrize("mode", ["ansi", "human", "rgb_array"])
def test_check_env_where_rendered(mode):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(IDS[0], render_mode=mode).unwrapped)


@every_id
def test_made_environments_play(name):
    """In Gymnasium's wrappers, whole episodes, the mask by `get_wrapper_attr` as trainers ask."""
    env = gymnasium.make(name, opponents="rule", partner="cautious", seat=None, max_hands=5)
    plain = bideuchre_env.variants[VARIANTS[IDS.index(name)]].solo(
        opponents="rule", partner="cautious", max_hands=5
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        obs, info = env.reset(seed=6)
        assert_same((obs, info), plain.reset(seed=6))
        env.action_space.seed(1)
        done, turns = False, 0
        while not done:
            masks = env.get_wrapper_attr("action_masks")()
            assert masks.dtype == bool
            action = env.action_space.sample(mask=info["action_mask"])
            assert masks[action]
            told = env.step(action)
            assert_same(told, plain.step(action))
            obs, _, terminated, truncated, info = told
            assert obs in env.observation_space
            done, turns = terminated or truncated, turns + 1
    assert turns > 4
    assert not info["illegal"]


def test_options_reach_the_game():
    """Those of the rules, of the episode, and unknown ones by name."""
    env = gymnasium.make(IDS[3], win_rule="any", target=20, episode="hand", opponents="rule")
    assert env.unwrapped.rules.target == 20
    assert env.unwrapped.reward == "points"
    with pytest.raises(OptionError, match="unexpected keyword argument 'oponents' of barrie_v0"):
        gymnasium.make(IDS[3], oponents="rule")
    with pytest.raises(OptionError, match="give it to"):
        bideuchre_env.make("barrie_v0", opponents="rule")


def test_custom_games_have_these_faces():
    """`Variant.solo` and `Variant.solo_vec` of any `Rules`."""
    game = bideuchre_env.make(bideuchre_env.barrie_v0.rules.replace(target=9), name="short_v0")
    assert game.gymnasium_id is None
    env = game.solo(opponents="rule")
    assert env.rules.target == 9
    assert env.metadata["name"] == "short_v0"
    check_env(env, skip_render_check=True)
    assert game.solo_vec(3, episode="hand").reset(seed=1)[0]["action_mask"].any(axis=1).all()


@every_id
@pytest.mark.parametrize("how", [None, "vector_entry_point", "sync", "async"])
def test_make_vec(name, how):
    """Every way to vectorise; a true vector entry point by default."""
    kinds = {"sync": SyncVectorEnv, "async": AsyncVectorEnv}
    if how == "async" and name != IDS[0]:
        pytest.skip("one variant in processes of its own is enough")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=DeprecationWarning)  # of forking
        env = gymnasium.make_vec(name, num_envs=3, vectorization_mode=how, opponents="rule")
        assert isinstance(env, kinds.get(how, SoloVectorEnv))
        assert env.num_envs == 3
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


def test_make_vec_has_rows_in_plenty():
    """As the README puts it: 4,096 tables."""
    env = gymnasium.make_vec(IDS[0], num_envs=4096, opponents="rule")
    obs, _ = env.reset(seed=1)
    assert obs["observation"].shape == (4096, env.unwrapped.observation_layout.size)
    assert env.spec.kwargs["num_envs"] == 4096
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    again = gymnasium.make_vec(env.spec)
    assert_same(again.reset(seed=1)[0], obs)
    assert gymnasium.make_vec(IDS[1]).num_envs == 1
    other = gymnasium.make_vec(IDS[1], num_envs=2, autoreset_mode="Disabled")
    assert other.metadata["autoreset_mode"] is AutoresetMode.DISABLED


POOL = Pool("rule", ("cautious", "rule"), ("random", "cautious"), weights=[1, 2, 0.5])
PLAYERS = (
    {"opponents": "rule"},
    {"opponents": ("rule", "cautious"), "partner": "random"},
    {"opponents": POOL, "partner": Pool("rule", "random")},
)
BY_ROW = (
    {"opponents": ["rule", "cautious"]},
    {"opponents": [("rule", "cautious"), POOL], "partner": ["rule", Pool("rule", "random")]},
    {"opponents": ["rule", "cautious"], "partner": "random", "autoreset_mode": "Disabled"},
    {"opponents": ("rule", "rule"), "autoreset_mode": AutoresetMode.NEXT_STEP},
    {"opponents": "rule", "lone": (Bid("moon", 12), Bid("march", 24, exchange=1))},
)


def resets(env):
    """First observations, players and repr of a few episodes."""
    return [
        (env.reset(seed=seed), dict(env.unwrapped.players), repr(env.unwrapped))
        for seed in range(8)
    ]


@pytest.mark.parametrize("options", PLAYERS)
def test_a_spec_as_json_gives_back_the_same_players(options):
    env = gymnasium.make(IDS[3], **options)
    twin = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    third = gymnasium.make(EnvSpec.from_json(twin.spec.to_json()))
    assert_same(resets(twin), resets(env))
    assert_same(resets(third), resets(env))


@pytest.mark.parametrize("num_envs", [1, 2, 3])
@pytest.mark.parametrize("options", PLAYERS + BY_ROW)
def test_a_vector_spec_as_json_gives_back_the_same_players(num_envs, options):
    """A pair stays a pair with two rows, and a list of two players is by row."""
    if num_envs != 2 and isinstance(options["opponents"], list):
        pytest.skip("a list is by row, and this one has two")
    env = gymnasium.make_vec(IDS[3], num_envs, **options)
    twin = gymnasium.make_vec(EnvSpec.from_json(env.spec.to_json()))
    third = gymnasium.make_vec(EnvSpec.from_json(twin.spec.to_json()))
    assert twin.metadata == env.metadata
    assert twin.unwrapped.rules == env.unwrapped.rules
    assert_same(resets(twin), resets(env))
    assert_same(resets(third), resets(env))


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2], ids=lambda mode: mode.value)
def test_vector_statistics(mode):
    """`RecordEpisodeStatistics` over our rows and over Gymnasium's tells the same episodes."""
    told = []
    for how, options in (
        (None, {"autoreset_mode": mode}),
        ("sync", {"vector_kwargs": {"autoreset_mode": mode}}),
    ):
        env = gymnasium.make_vec(
            IDS[0], 4, vectorization_mode=how, opponents="rule", episode="hand", **options
        )
        env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
        obs, _ = env.reset(seed=3)
        for turn in range(50):
            pairs = zip(obs["action_mask"], obs["observation"], strict=True)
            obs, *_ = env.step(np.array([chosen_action(m, o, turn) for m, o in pairs]))
        told.append((list(env.return_queue), list(env.length_queue)))
        env.close()
    assert told[0] == told[1]
    assert len(told[0][0]) > 10


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2], ids=lambda mode: mode.value)
def test_vector_wrappers(mode):
    """Wrappers of rewards and infos, and of observations in the mode that they take."""
    wrappers = gymnasium.wrappers.vector
    env = gymnasium.make_vec(IDS[0], 6, opponents="rule", episode="hand", autoreset_mode=mode)
    layout, names = env.unwrapped.observation_layout, env.unwrapped.action_names
    env = wrappers.TransformReward(env, lambda reward: reward / 10)
    if mode == AutoresetMode.NEXT_STEP:
        env = wrappers.FlattenObservation(env)
    env = wrappers.DictInfoToList(env)
    obs, infos = env.reset(seed=1)
    if mode == AutoresetMode.NEXT_STEP:
        assert obs.shape == (6, layout.size + len(names))
    ended = 0
    for _ in range(20):
        assert len(infos) == 6
        actions = np.array([info["action_mask"].argmax() for info in infos])
        obs, _, terminated, _, infos = env.step(actions)
        ended += terminated.sum()
        for info, over in zip(infos, terminated, strict=True):
            assert ("final_obs" in info) == (over and mode == AutoresetMode.SAME_STEP)
    assert ended > 6


def test_single_wrappers():
    """A flat observation, statistics and autoreset, and the mask is still there."""
    env = gymnasium.make(IDS[2], opponents="rule", episode="hand")
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.wrappers.FlattenObservation(env))
    env = gymnasium.wrappers.Autoreset(env)
    env.reset(seed=1)
    ended = 0
    for _ in range(60):
        masks = env.get_wrapper_attr("action_masks")()
        _, reward, over, _, info = env.step(int(masks.argmax()))
        if over:
            assert info["episode"]["r"] != 0 or reward == 0
            ended += 1
    assert ended >= 4


def test_masked_learning_loop():
    """Rewards as a masked learner sums them: calling the highest on anything loses points."""
    env = gymnasium.make_vec(IDS[0], 256, opponents="rule", episode="hand", seat=0)
    returns = []
    for highest in (False, True):
        _, infos = env.reset(seed=5)
        masks, total, ended = infos["action_mask"], 0.0, np.zeros(256, bool)
        last = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
        actions = last if highest else masks.argmax(axis=1)
        while not ended.all():
            _, rewards, terminated, truncated, infos = env.step(actions)
            total += rewards[~ended].sum()
            ended |= terminated | truncated
            actions = infos["action_mask"].argmax(axis=1)
        returns.append(total / 256)
    assert returns[0] > returns[1] + 5


def fresh(code):
    """What a new interpreter prints, warnings being errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_an_id_imports_its_module():
    """`gymnasium.make("bideuchre_env:bideuchre/Cincinnati-v0")` needs no import of ours."""
    told = fresh(
        "import gymnasium\n"
        "env = gymnasium.make('bideuchre_env:bideuchre/Cincinnati-v0', opponents='random')\n"
        "env.reset(seed=1); print(type(env.unwrapped).__name__)\n"
        "print(gymnasium.make_vec('bideuchre_env:bideuchre/Club-v0', 2).num_envs)\n"
    )
    assert told == "SoloEnv\n2\n"


def test_registering_is_light_and_done_once():
    """numba is loaded when an environment is made, not before; loading twice warns of nothing."""
    told = fresh(
        "import sys, importlib, bideuchre_env\n"
        "print('numba' in sys.modules, 'bideuchre_env.envs.solo.env' in sys.modules)\n"
        "importlib.reload(bideuchre_env)\n"
        "bideuchre_env.cincinnati_v0.solo()\n"
        "print('numba' in sys.modules)\n"
    )
    assert told == "False False\nTrue\n"
