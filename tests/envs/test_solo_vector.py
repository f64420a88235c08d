"""The vector environment of learners is Gymnasium's `SyncVectorEnv` of single ones, bit for bit."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from support.playthroughs import VARIANTS
from support.solo_helpers import Bad, Spy, assert_same, broken, chosen_action

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.errors import DealError, IllegalActionError, OptionError, OutOfBoundsError

every_variant = pytest.mark.parametrize("name", VARIANTS)
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
cincinnati = bideuchre_env.cincinnati_v0
ROWS = 5


def actions_for(obs, turn, careless=0):
    """An action for every row, from what its learner sees."""
    pairs = zip(obs["action_mask"], obs["observation"], strict=True)
    return np.array([chosen_action(m, o, turn + i, careless) for i, (m, o) in enumerate(pairs)])


def sync_of(variant, rows, mode, **options):
    """Gymnasium's own vector environment of single-learner ones."""
    return SyncVectorEnv([lambda: variant.solo(**options)] * rows, autoreset_mode=mode)


def beside(vec, sync, steps, seed=None, careless=30):
    """Walk both alike and compare everything; how many episodes ended."""
    told, twin = vec.reset(seed=seed), sync.reset(seed=seed)
    ended = 0
    for turn in range(steps):
        assert_same(told, twin, f"step {turn}")
        actions = actions_for(told[0], turn, careless)
        told, twin = vec.step(actions), sync.step(actions)
        over = told[2] | told[3]
        ended += over.sum()
        if vec.autoreset_mode == AutoresetMode.DISABLED and over.any():
            assert_same(told, twin, f"step {turn}")
            told, twin = (e.reset(options={"reset_mask": over.copy()}) for e in (vec, sync))
    assert_same(told, twin)
    return ended


@every_variant
@every_mode
def test_it_is_gymnasiums_sync_vector_env(name, mode):
    """Observations, rewards, ends, infos, `final_obs`, `final_info`: same keys, dtypes, values."""
    variant = bideuchre_env.variants[name]
    cases = [
        {"opponents": "random", "episode": "hand", "careless": 30},
        {"opponents": "rule", "partner": "cautious", "reward": "points", "careless": 0},
        {"opponents": Spy, "partner": "random", "seat": 3, "illegal_reward": -5, "careless": 60},
    ]
    for number, options in enumerate(cases):
        careless = options.pop("careless")
        options["max_hands"] = 5
        vec = variant.solo_vec(ROWS, autoreset_mode=mode, **options)
        sync = sync_of(variant, ROWS, mode, **options)
        assert vec.metadata["autoreset_mode"] is mode
        assert vec.observation_space == sync.observation_space
        assert vec.action_space == sync.action_space
        assert vec.single_observation_space == sync.single_observation_space
        assert vec.single_action_space == sync.single_action_space
        seed = (2**64 - 3, 17, [5, 2**100, 5, 0, 9])[number]
        ended = beside(vec, sync, 50, seed, careless)
        assert ended >= (careless > 0)
        beside(vec, sync, 10, None, careless)


def test_truncated_games_are_told_from_finished_ones():
    """A game cut at `max_hands` is truncated, and its last observation is at hand."""
    vec = cincinnati.solo_vec(64, opponents="rule", max_hands=2)
    obs, _ = vec.reset(seed=1)
    cut = 0
    for turn in range(60):
        obs, rewards, terminated, truncated, infos = vec.step(actions_for(obs, turn))
        assert not (terminated & truncated).any()
        assert (rewards[truncated] == 0).all()
        for row in np.flatnonzero(truncated):
            assert infos["final_obs"][row] in vec.single_observation_space
            assert infos["final_info"]["outcome"][row] == bideuchre_env.Outcome.TRUNCATED
            assert infos["final_info"]["hands"][row] == 2
            cut += 1
    assert cut > 30


@every_variant
def test_rows_and_threads_make_no_difference(name):
    """1, 7 and 512 rows, one thread, two and three: the same first rows, players and lots."""
    told = {}
    for rows, threads in ((512, 1), (1, 1), (7, 2), (512, 2), (512, 3)):
        vec = bideuchre_env.variants[name].solo_vec(
            rows, opponents="cautious", partner="rule", threads=threads, episode="hand"
        )
        obs, _ = vec.reset(seed=8)
        seen = []
        for turn in range(25):
            masks = obs["action_mask"]
            picks = (masks.cumsum(1) > (turn * 7919 % 97) % masks.sum(1)[:, None]).argmax(1)
            obs, *ends, infos = vec.step(picks)
            few = min(rows, 7)
            seen.append([obs["observation"][:few], obs["action_mask"][:few]])
            seen[-1] += [end[:few] for end in ends] + [infos["seat"][:few]]
        vec.close()
        vec.close()
        told[rows, threads] = seen
    for (rows, _), seen in told.items():
        for step, whole in zip(seen, told[512, 1], strict=True):
            for part, other in zip(step, whole, strict=True):
                np.testing.assert_array_equal(part, other[: min(rows, 7)])


def test_players_are_asked_for_all_their_rows_at_once():
    """An agent given is asked a few times a step, not once a row; both players apart."""
    spies = Spy(cincinnati.rules), Spy(cincinnati.rules)
    vec = cincinnati.solo_vec(300, opponents=spies[0], partner=spies[1], seat=2)
    spies[0].dealt_by = spies[1].dealt_by = 2
    obs, _ = vec.reset(seed=1, options={"dealer": 2})  # the learner calls last
    assert spies[0].seats == {1, 3}
    assert spies[1].seats == {0}
    assert spies[0].batches == [300, 300]
    assert spies[1].batches == [300]
    for turn in range(4):
        obs, *_ = vec.step(actions_for(obs, turn))
    assert len(spies[0].batches) + len(spies[1].batches) < 80


@pytest.mark.parametrize("who", ["rule", "random"])
def test_an_agent_by_name_and_asked_in_rows(who):
    """The rule player in the kernels and the same agent asked by rows: the same games."""
    asked = agents.make("rule", cincinnati.rules)
    named = cincinnati.solo_vec(40, opponents=who, partner="rule")
    other = cincinnati.solo_vec(40, opponents=asked if who == "rule" else who, partner=asked)
    a, b = named.reset(seed=4), other.reset(seed=4)
    for turn in range(100):
        assert_same(a, b)
        actions = actions_for(a[0], turn, 50)
        a, b = named.step(actions), other.step(actions)


@every_mode
def test_part_of_the_rows_is_reset(mode):
    """By `reset_mask`, with seeds or without; the other rows' observations and games stay."""
    vec = cincinnati.solo_vec(6, opponents="rule", autoreset_mode=mode, seat=0)
    obs, _ = vec.reset(seed=3)
    for turn in range(3):
        obs, *_ = vec.step(actions_for(obs, turn))
    mask = np.array([True, False, False, True, False, True])
    before = vec._rows.states.copy()
    for seed in (None, 40, [1, None, None, 2, None, None]):
        options = {"reset_mask": mask.copy(), "score": (3, 4)}
        again, infos = vec.reset(seed=seed, options=options)
        assert "reset_mask" in options  # the caller's own
        for part in obs:
            np.testing.assert_array_equal(again[part][~mask], obs[part][~mask])
        assert vec._rows.states[~mask].tobytes() == before[~mask].tobytes()
        np.testing.assert_array_equal(infos["_seat"], mask)
        assert not infos["action_mask"][~mask].any()
        assert (vec._rows.states["score"][mask] == (3, 4)).all()
        first = cincinnati.solo(opponents="rule", seat=0)
        if seed == 40:
            seen, _ = first.reset(seed=45, options={"score": (3, 4)})
        elif seed is not None:
            seen, _ = first.reset(seed=2, options={"score": (3, 4)})
        if seed is not None:
            row = 5 if seed == 40 else 3
            np.testing.assert_array_equal(again["observation"][row], seen["observation"])


def test_a_row_that_is_over_must_be_reset_where_nothing_is_reset_by_itself():
    vec = cincinnati.solo_vec(3, autoreset_mode="Disabled")
    obs, _ = vec.reset(seed=1)
    actions = obs["action_mask"].argmax(axis=1)
    actions[1] = obs["action_mask"][1].argmin()
    before = vec._rows.states[1].tobytes()
    obs, rewards, terminated, _, infos = vec.step(actions)
    assert terminated.tolist() == [False, True, False]
    assert rewards[1] == -1
    assert infos["illegal"].tolist() == [False, True, False]
    assert vec._rows.states[1].tobytes() == before
    assert not vec.action_masks()[1].any()
    frozen = vec._rows.states.tobytes()
    with pytest.raises(IllegalActionError, match="row 1: its episode is over"):
        vec.step(obs["action_mask"].argmax(axis=1))
    assert vec._rows.states.tobytes() == frozen
    vec.reset(options={"reset_mask": terminated})
    vec.step(vec.action_masks().argmax(axis=1))


def test_arrays_handed_out():
    """With `copy` they are the caller's for good; without, the environment's, rewritten in place.

    Nothing written into either reaches the game.
    """
    told = []
    for own in (True, False):
        vec = cincinnati.solo_vec(9, opponents="rule", copy=own, episode="hand")
        first = vec.reset(seed=2)
        kept, seen = copy.deepcopy(first), []
        result = first
        for turn in range(25):
            obs = result[0]
            actions = actions_for(obs, turn)
            infos = result[1] if turn == 0 else result[4]
            for array in (*obs.values(), infos["action_mask"]):
                array[:] = 77
            result = vec.step(actions)
            seen.append(copy.deepcopy(result[:4]))
            shared = np.shares_memory(result[0]["observation"], first[0]["observation"])
            assert shared != own
        told.append(seen)
        assert own == (first[0]["observation"] == 77).all()
        assert (kept[0]["observation"] != 77).any()
    assert_same(told[0], told[1])


@every_variant
def test_copies_go_their_own_way(name):
    """Pickled or deep-copied between two steps."""
    vec = bideuchre_env.variants[name].solo_vec(8, opponents="cautious", partner=Spy, threads=2)
    obs, _ = vec.reset(seed=5)
    for turn in range(9):
        obs, *_ = vec.step(actions_for(obs, turn, 40))
    actions = actions_for(obs, 9)
    twins = [copy.deepcopy(vec), pickle.loads(pickle.dumps(vec)), vec]
    a, b, c = (twin.step(actions) for twin in twins)
    assert_same(a, b)
    assert_same(a, c)
    assert repr(vec) == f"<{name} x 8, one learner each with spy against cautious>"


BAD_ACTIONS = [
    None,
    3,
    "pass",
    [1, 2],
    np.zeros(3),
    np.zeros(4, bool),
    np.zeros((4, 1), int),
    np.full(4, np.nan),
    [0, 0, 0, None],
    [0, 0, 0, -1],
    [0, 0, 0, 37],
    [0, 2**63, 0, 0],
    np.full(4, 2**64 - 1, np.uint64),
    np.array([0, 0, -(2**63), 0]),
]


@every_mode
@pytest.mark.parametrize("given", BAD_ACTIONS)
def test_bad_actions_are_refused_whole(mode, given):
    vec = cincinnati.solo_vec(4, autoreset_mode=mode)
    with pytest.raises(IllegalActionError, match="reset"):
        vec.step(given)
    vec.reset(seed=1)
    before = vec._rows.states.tobytes(), vec._rows.solos.tobytes()
    with pytest.raises(IllegalActionError, match="action") as caught:
        vec.step(given)
    if np.shape(given) == (4,) and np.asarray(given).dtype.kind in "iu":
        assert isinstance(caught.value, OutOfBoundsError)
    assert before == (vec._rows.states.tobytes(), vec._rows.solos.tobytes())


def test_actions_of_rows_that_only_restart_are_unused():
    """In mode "NextStep" the row after an episode's end takes any whole number."""
    vec = cincinnati.solo_vec(2, autoreset_mode="NextStep")
    obs, _ = vec.reset(seed=1)
    actions = obs["action_mask"].argmax(axis=1)
    actions[0] = obs["action_mask"][0].argmin()
    _, _, terminated, _, _ = vec.step(actions)
    assert terminated.tolist() == [True, False]
    _, rewards, terminated, _, infos = vec.step([-(10**9), int(vec.action_masks()[1].argmax())])
    assert rewards[0] == 0
    assert not terminated[0]
    assert infos["action_mask"][0].any()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"num_envs": 0}, "num_envs=0"),
        ({"num_envs": 2.0}, r"num_envs=2\.0"),
        ({"autoreset_mode": "Sometimes"}, "autoreset_mode='Sometimes': one of 'NextStep'"),
        ({"autoreset_mode": None}, "autoreset_mode=None"),
        ({"threads": 0}, "threads=0"),
        ({"copy": 1}, "copy=1"),
        ({"render_mode": "human"}, "render_mode='human': one of None, 'ansi', 'rgb_array'"),
    ],
)
def test_unusable_options_are_named(options, match):
    with pytest.raises(OptionError, match=match):
        cincinnati.solo_vec(**({"num_envs": 2} | options))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        ({"seed": -1}, "seed=-1"),
        ({"seed": "1"}, "seed='1'"),
        ({"seed": [1, 2]}, "each of the 3 rows"),
        ({"seed": [1, 2, "3"]}, "seed='3'"),
        ({"seed": [1, 2, -3]}, "seed=-3"),
        ({"options": {"reset_mask": [True, False, False]}}, "reset_mask"),
        ({"options": {"reset_mask": np.zeros(3, bool)}}, "at least one True"),
        ({"options": {"reset_mask": np.ones(2, bool)}}, "reset_mask"),
        ({"options": {"reset_mask": np.ones(3, int)}}, "reset_mask"),
        ({"options": {"seat": -1}}, "seat -1"),
        ({"options": {"dealer": "me"}, "seed": 3}, "dealer 'me'"),
        ({"options": "dealer"}, "options='dealer'"),
    ],
)
def test_unusable_resets_change_nothing(call, match):
    vec = cincinnati.solo_vec(3)
    vec.reset(seed=1)
    before = vec._rows.states.tobytes(), vec._rows.solos.tobytes()
    with pytest.raises((OptionError, DealError), match=match):
        vec.reset(**call)
    assert before == (vec._rows.states.tobytes(), vec._rows.solos.tobytes())


def test_before_the_first_reset():
    vec = cincinnati.solo_vec(2, render_mode="ansi")
    for look in (vec.action_masks, vec.render, lambda: vec.seats):
        with pytest.raises(OptionError, match=r"reset\(\) deals"):
            look()
    with pytest.raises(OptionError, match="before the first reset"):
        vec.reset(options={"reset_mask": np.array([True, False])})
    vec.reset(seed=[None, 3])
    assert len(vec.render()) == 2
    assert vec.reset()[1]["seat"].tolist() == vec.seats.tolist()
    assert vec.action_masks().dtype == bool


def walk_on(vec, steps):
    """Take some steps, and reset the rows that are over where nothing else does."""
    obs, _ = vec.reset(seed=1)
    for turn in range(steps):
        done = vec._rows.solos["ending"] != 0
        if vec.autoreset_mode == AutoresetMode.DISABLED and done.any():
            obs, _ = vec.reset(options={"reset_mask": done})
        else:
            obs, *_ = vec.step(actions_for(obs, turn, 20))


@every_mode
def test_after_an_error_of_a_player_all_rows_need_a_reset(mode):
    """Whenever in the step it goes wrong, be it in the games that begin anew."""
    for after in range(1, 40, 3):
        for answer in (broken, lambda m: np.full(m, -1), lambda m: np.zeros(m)):
            bad = Bad(cincinnati.rules, answer, after)
            vec = cincinnati.solo_vec(
                5, opponents=bad, episode="hand", autoreset_mode=mode, copy=False
            )
            with pytest.raises((IllegalActionError, RuntimeError), match=r"broke down|'bad'"):
                walk_on(vec, 60)
            assert bad.left < 0
            with pytest.raises(IllegalActionError, match=r"call reset\(\)"):
                vec.step([0] * 5)
            with pytest.raises(OptionError, match=r"after an error .*: reset all rows first"):
                vec.reset(options={"reset_mask": np.arange(5) > 2})
            bad.left = 1000
            twin = cincinnati.solo_vec(5, opponents=bad, episode="hand", autoreset_mode=mode)
            assert_same(vec.reset(seed=2), twin.reset(seed=2))
