"""The vector environment's face: what it takes, what it refuses, what it hands out."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from support.vector_actions import choose

import bideuchre_env
from bideuchre_env.core.state import STATE
from bideuchre_env.errors import DealError, IllegalActionError, OptionError
from bideuchre_env.rules.actions import of as actions_of
from bideuchre_env.rules.cards import hand_names

PARTS = ("observation", "action_mask")


def test_a_refused_step_moves_nothing():
    """The error names the first offending row, its seat, the action and the legal ones."""
    vec = bideuchre_env.cincinnati_v0.vec(50)
    obs, info = vec.reset(seed=3)
    before = vec.get_state()
    actions = choose(obs["action_mask"], 0)
    held = np.flatnonzero(obs["observation"][20][vec.observation_layout.slices["hand"]])
    actions[20] = actions_of(vec.rules).card_offset + held[0]  # a card it holds, in the auction
    actions[30] = -1
    card = vec.action_names[actions[20]]
    told = f"row 20: player_{info['seat'][20]} may not choose '{card}'; legal: 'pass', 'bid 3'"
    with pytest.raises(IllegalActionError, match=told):
        vec.step(actions)
    actions[20] = 0
    with pytest.raises(IllegalActionError, match=r"row 30: player_\d may not choose -1; legal: "):
        vec.step(actions)
    np.testing.assert_array_equal(vec.get_state(), before)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint64, np.int64])
def test_actions_of_any_integer_dtype(dtype):
    """Any integer dtype, any strides and plain lists are the same actions."""
    one, two = (bideuchre_env.barrie_v0.vec(64) for _ in range(2))
    obs, _ = one.reset(seed=9)
    two.reset(seed=9)
    for step in range(60):
        actions = choose(obs["action_mask"], step)
        spaced = np.zeros((64, 3), dtype)
        spaced[:, 1] = actions
        obs, *_ = one.step(spaced[:, 1] if step % 2 else spaced[:, 1].tolist())
        two.step(actions)
    np.testing.assert_array_equal(one.get_state(), two.get_state())


def test_before_the_first_reset():
    """Nothing to step, sample, observe, save or partly reset yet."""
    vec = bideuchre_env.cincinnati_v0.vec(2)
    with pytest.raises(IllegalActionError, match="reset"):
        vec.step([0, 0])
    calls = (
        vec.sample,
        vec.state,
        vec.get_state,
        lambda: vec.observe(0),
        lambda: vec.reset(mask=np.array([True, False])),
        lambda: vec.set_deal([[["AH"]] * 4] * 2),
    )
    for call in calls:
        with pytest.raises(OptionError, match="reset"):
            call()


def test_options_are_checked():
    """Every option refuses what it does not know, and names what it does."""
    for options, word in (
        ({"episode": "match"}, "episode='match': one of 'game', 'hand'"),
        ({"reward": 1}, "reward=1"),
        ({"episode": np.array(["game", "hand"])}, "episode=array"),
        ({"threads": 0}, "threads=0"),
        ({"threads": True}, "threads=True"),
        ({"copy": "yes"}, "copy='yes'"),
        ({"colour": 1}, "unexpected keyword argument 'colour'"),
        ({"render_mode": "ansi"}, "unexpected keyword argument 'render_mode'"),
    ):
        with pytest.raises(OptionError, match=word):
            bideuchre_env.cincinnati_v0.vec(4, **options)
    for n in (0, -1, 2.0, True, None, "4", 2**40):
        with pytest.raises(OptionError, match="num_envs"):
            bideuchre_env.cincinnati_v0.vec(n)


def test_reset_by_mask():
    """The chosen rows start anew, from their streams or a seed; the others stay as they are."""
    vec = bideuchre_env.cincinnati_v0.vec(6)
    obs, _ = vec.reset(seed=1)
    for step in range(9):
        obs, *_ = vec.step(choose(obs["action_mask"], step))
    before = vec.get_state()
    mask = np.array([True, False] * 3)
    obs, info = vec.reset(mask=mask)
    after = vec.get_state()
    np.testing.assert_array_equal(after[1::2], before[1::2])
    assert (after["calls_made"][::2] == 0).all()
    assert (after["hands"][::2] != before["hands"][::2]).any(axis=1).all()
    vec.reset(seed=77, mask=mask)
    fresh = bideuchre_env.cincinnati_v0.vec(6)
    fresh.reset(seed=77)
    np.testing.assert_array_equal(vec.get_state()[::2], fresh.get_state()[::2])
    np.testing.assert_array_equal(vec.get_state()[1::2], before[1::2])
    assert not info["_episode"].any()
    for wrong in ([1, 0] * 3, np.ones(5, bool), np.ones((6, 1), bool), "all"):
        with pytest.raises(OptionError, match="mask"):
            vec.reset(mask=wrong)


def test_reset_mask_resets_only_masked_rows():
    """`options["reset_mask"]` is `mask`, by the rules of Gymnasium's own vector environments."""
    vec, twin = bideuchre_env.cincinnati_v0.vec(6), bideuchre_env.cincinnati_v0.vec(6)
    rows = np.arange(6) % 2 == 0
    for each in (vec, twin):
        each.reset(seed=3)
        each.step(each.sample())
    before, options = vec.get_state(), {"reset_mask": rows, "score": (4, 5)}
    vec.reset(options=options)
    twin.reset(mask=rows, options={"score": (4, 5)})
    np.testing.assert_array_equal(vec.get_state(), twin.get_state())
    np.testing.assert_array_equal(vec.get_state()[~rows], before[~rows])
    assert (vec.get_state()["score"][rows] == (4, 5)).all()
    assert options["reset_mask"] is rows  # the caller's dict stays as it is
    after = vec.get_state()
    for wrong in ([True] * 6, np.zeros(6, bool), np.ones(5, bool), np.ones(6, int)):
        with pytest.raises(OptionError, match="reset_mask"):
            vec.reset(options={"reset_mask": wrong})
    with pytest.raises(OptionError, match="one of the two"):
        vec.reset(mask=rows, options={"reset_mask": rows})
    np.testing.assert_array_equal(vec.get_state(), after)
    with pytest.raises(OptionError, match="before the first reset"):
        bideuchre_env.cincinnati_v0.vec(6).reset(options={"reset_mask": rows})


def test_reset_options():
    """A dealer, a deal and a score for every row, as the AEC environment takes them."""
    deal = [hand_names(hand) for hand in _some_hands(8)]
    options = {"dealer": 2, "deal": deal, "score": (5, -3)}
    vec = bideuchre_env.simplified_v0.vec(3)
    vec.reset(seed=4, options=options)
    env = bideuchre_env.simplified_v0.raw_env()
    for row in range(3):
        env.reset(seed=4 + row, options=options)
        np.testing.assert_array_equal(vec.get_state()[row], env.get_state()[0])
    with pytest.raises(DealError, match="dealer"):
        vec.reset(options={"dealer": 4})


def _some_hands(seed):
    vec = bideuchre_env.simplified_v0.vec(1)
    vec.reset(seed=seed)
    return vec.get_state()[0]["hands"]


def test_set_deal():
    """Rows take the deals, dealers and scores given them; a bad one leaves all as they were."""
    vec = bideuchre_env.simplified_v0.vec(5)
    vec.reset(seed=2)
    before = vec.get_state()
    deals = [[hand_names(hand) for hand in _some_hands(seed)] for seed in (31, 32)]
    vec.set_deal(deals, [4, 1], dealers=[3, None], scores=[(1, 2), (0, 0)])
    after = vec.get_state()
    for row, deal in ((4, deals[0]), (1, deals[1])):
        assert [hand_names(hand) for hand in after[row]["hands"]] == deal
    assert (after[4]["dealer"], after[4]["turn"]) == (3, 0)
    assert after[4]["score"].tolist() == [1, 2]
    np.testing.assert_array_equal(after[[0, 2, 3]], before[[0, 2, 3]])
    short = [deals[0], [*deals[1][:3], deals[1][3][:-1]]]
    with pytest.raises(DealError, match="row 2: deal, seat 3"):
        vec.set_deal(short, [0, 2])
    with pytest.raises(DealError, match="row 2: dealer 7"):
        vec.set_deal(deals, [0, 2], dealers=[0, 7])
    for given, rows, word in (
        (deals, [0, 0], "rows"),
        (deals, [0, 5], "rows"),
        (deals, [0.0, 1.0], "rows"),
        (deals, None, "deals: a sequence of 5"),
        ("AH", [0], "deals"),
    ):
        with pytest.raises(OptionError, match=word):
            vec.set_deal(given, rows)
    np.testing.assert_array_equal(vec.get_state(), after)


def test_states_out_and_in():
    """A saved state goes on as it would have; rows may be branched into others."""
    vec = bideuchre_env.double_deck_v0.vec(8)
    obs, _ = vec.reset(seed=21)
    for step in range(11):
        obs, *_ = vec.step(choose(obs["action_mask"], step))
    saved = vec.get_state()
    told = []
    for step in range(80):
        obs, rewards, *_ = vec.step(choose(obs["action_mask"], step))
        told.append((obs["observation"].copy(), rewards.copy()))
    twin = bideuchre_env.double_deck_v0.vec(8)
    obs, _ = twin.set_state(saved)
    for step in range(80):
        obs, rewards, *_ = twin.step(choose(obs["action_mask"], step))
        np.testing.assert_array_equal(obs["observation"], told[step][0])
        np.testing.assert_array_equal(rewards, told[step][1])
    obs, _ = twin.set_state(np.repeat(saved[3:4], 4), [7, 0, 2, 4])
    assert (obs["observation"][[7, 0, 2, 4]] == obs["observation"][0]).all()
    saved[:] = 0  # a copy: nothing in the environment has changed
    assert twin.get_state()["hands"].any()


def refusal(vec, states):
    """Why the states are refused, or None."""
    try:
        vec.set_state(states)
    except OptionError as error:
        return str(error)
    return None


def test_states_are_checked():
    """What is no position of the game is refused, whichever number is wrong; nothing changes."""
    vec = bideuchre_env.barrie_v0.vec(40)
    obs, _ = vec.reset(seed=6)
    for step in range(17):
        obs, *_ = vec.step(choose(obs["action_mask"], step))
    saved, rng, refused = vec.get_state(), np.random.default_rng(1), 0
    vec.set_state(saved)
    for trial in range(4000):
        states = saved.copy()
        name = str(rng.choice([n for n in STATE.names if n not in ("rng", "padding", "points")]))
        row = int(rng.integers(40))
        if states[name].ndim == 1:
            low, high = np.iinfo(STATE[name]).min, np.iinfo(STATE[name]).max
            states[name][row] = rng.integers(low, high, endpoint=True)
        else:
            kind = STATE[name].subdtype[0]
            place = rng.integers(states[name].shape[1])
            bounds = np.iinfo(kind)
            states[name][row, place] = rng.integers(bounds.min, bounds.max, endpoint=True)
        if trial % 5 == 0:  # near misses
            states = saved.copy()
            states[name][row] += rng.choice((-1, 1))
        fault = refusal(vec, states)
        if fault is None:  # the change made another position: it can be played
            vec.step(vec.sample())
            vec.set_state(saved)
        else:
            refused += 1
            assert f"states[{row}]" in fault
    assert refused > 3000
    np.testing.assert_array_equal(vec.get_state(), saved)
    for wrong in (
        saved[:39],
        saved["hands"],
        saved.tolist(),
        None,
        saved.view(f"V{saved.itemsize}"),
    ):
        with pytest.raises(OptionError, match="states"):
            vec.set_state(wrong)
    over = saved.copy()
    over["phase"] = 6
    with pytest.raises(OptionError, match=r"states\[0\]"):
        vec.set_state(over)


def test_pickle_and_deepcopy_go_on_alike():
    """A copy made in the middle plays on as the original does, sampling included."""
    vec = bideuchre_env.club_v0.vec(9, threads=2)
    vec.reset(seed=12)
    for _ in range(30):
        vec.step(vec.sample())
    for twin in (pickle.loads(pickle.dumps(vec)), copy.deepcopy(vec)):
        for part in ("states", "observations", "masks", "keys", "tallies"):
            np.testing.assert_array_equal(getattr(twin._rows, part), getattr(vec._rows, part))
            assert not np.shares_memory(getattr(twin._rows, part), getattr(vec._rows, part))
    twins = [vec, pickle.loads(pickle.dumps(vec)), copy.deepcopy(vec)]
    for _ in range(60):
        a, b, c = ((t.sample().copy(), t) for t in twins)
        for actions, t in (a, b, c):
            t.step(actions)
        assert (a[0] == b[0]).all()
        assert (a[0] == c[0]).all()
    for one, other in pairwise(twins):
        np.testing.assert_array_equal(one.get_state(), other.get_state())


def test_samples_are_uniform_and_legal():
    """Each legal action of the auction and of the play comes up as often as the others."""
    vec = bideuchre_env.double_deck_v0.vec(1, copy=True)
    vec.reset(seed=0)
    for calls in (("bid 4 S", "pass", "pass", "pass"), ()):
        legal = np.flatnonzero(vec._rows.masks[0])
        found = np.bincount([vec.sample()[0] for _ in range(60 * len(legal))], minlength=85)
        assert found[legal].sum() == found.sum()
        expected = 60.0
        chi = ((found[legal] - expected) ** 2 / expected).sum()
        free = len(legal) - 1
        assert chi < free + 4 * np.sqrt(2 * free)
        for action in calls:
            vec.step([vec.action_names.index(action)])


def test_what_is_given_can_be_scribbled_on():
    """Arrays handed out are no way into the game, and stay as they were given but by copy=False."""
    vec, plain = (bideuchre_env.cincinnati_v0.vec(16, **given) for given in ({}, {"copy": False}))
    obs, info = vec.reset(seed=8)
    plain.reset(seed=8)
    kept = {name: array.copy() for name, array in obs.items()}
    for step in range(120):
        actions = choose(vec._rows.masks, step)
        given = vec.step(actions)
        mine, rewards, terminated, truncated, told = plain.step(actions)
        for array in (*mine.values(), rewards, terminated, truncated, told["seat"]):
            array[:] = 1
    for name, array in kept.items():
        np.testing.assert_array_equal(obs[name], array)
    assert not np.shares_memory(given[0]["observation"], vec._rows.observations)
    own = (vec._rows.rewards, vec._rows.keys)
    assert not any(np.shares_memory(a, b) for a in given[1:4] for b in own)
    np.testing.assert_array_equal(vec.get_state(), plain.get_state())
    assert info["seat"].shape == (16,)


def test_views_of_other_seats():
    """`observe` and `state` are the AEC environment's, for one seat or one in each row."""
    vec = bideuchre_env.club_v0.vec(5)
    obs, _ = vec.reset(seed=40)
    envs = [bideuchre_env.club_v0.raw_env() for _ in range(5)]
    for i, env in enumerate(envs):
        env.reset(seed=40 + i)
    for step in range(14):
        actions = choose(obs["action_mask"], step)
        obs, *_ = vec.step(actions)
        for env, action in zip(envs, actions, strict=True):
            env.step(int(action))
    seats = np.array([0, 1, 2, 3, 1])
    for seen, each in ((vec.observe(seats), seats), (vec.observe(2), [2] * 5)):
        for i, seat in enumerate(each):
            expected = envs[i].observe(f"player_{seat}")["observation"]
            np.testing.assert_array_equal(seen[i], expected)
    np.testing.assert_array_equal(vec.state(), [env.state() for env in envs])
    for wrong in (4, -1, [0, 1], 1.0, [0.0] * 5, "0"):
        with pytest.raises(OptionError, match="seats"):
            vec.observe(wrong)


def test_spaces_hold_what_is_given():
    """Spaces for one row and for all; observations, masks and samples are in them."""
    vec = bideuchre_env.barrie_v0.vec(3)
    obs, _ = vec.reset(seed=1)
    assert vec.single_observation_space.contains({name: obs[name][0] for name in PARTS})
    assert vec.observation_space.contains(obs)
    assert vec.action_space.contains(vec.sample())
    assert vec.single_action_space.n == len(vec.action_names) == obs["action_mask"].shape[1]
    vec.close()
    vec.close()
    assert repr(vec) == "<barrie_v0 x 3, 1 threads>"


def test_custom_rules_have_rows_too():
    """`make(Rules).vec(n)`, with options of the rules among those of the environment."""
    rules = bideuchre_env.cincinnati_v0.rules.replace(copies=2)
    vec = bideuchre_env.make(rules, name="big").vec(4, target=7, episode="hand")
    vec.reset(seed=1)
    assert (vec.rules.target, vec.rules.copies, vec.name) == (7, 2, "big")
    ended = 0
    for _ in range(200):
        *_, info = vec.step(vec.sample())
        ended += info["_episode"].sum()
    assert ended > 8
