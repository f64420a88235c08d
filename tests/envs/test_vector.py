"""The vector environment: arguments, refusals, returned arrays."""

import numpy as np
import pytest
from support.chi_square import assert_fits
from support.custom_agents import ObservationPolicy

import bideuchre_env
from bideuchre_env.errors import DealError, IllegalActionError, OptionError
from bideuchre_env.rules.actions import of as actions_of
from bideuchre_env.rules.cards import hand_names

PARTS = ("observation", "action_mask")
choose = ObservationPolicy(1).act_rows


def test_refused_step_names_the_first_row_and_changes_nothing():
    vec = bideuchre_env.cincinnati_v0.vec(50)
    obs, info = vec.reset(seed=3)
    before = vec.get_state()
    actions = choose(*obs.values())
    held = np.flatnonzero(obs["observation"][20][vec.observation_layout.slices["hand"]])
    actions[20] = actions_of(vec.rules).card_offset + held[0]  # a card, during the auction
    actions[30] = -1
    card = vec.action_names[actions[20]]
    expected = f"row 20: seat {info['seat'][20]} may not choose '{card}'; legal: 'pass', 'bid 3'"
    with pytest.raises(IllegalActionError, match=expected):
        vec.step(actions)
    actions[20] = 0
    with pytest.raises(IllegalActionError, match=r"row 30: seat \d may not choose -1; legal: "):
        vec.step(actions)
    np.testing.assert_array_equal(vec.get_state(), before)


def test_unusable_options_are_named():
    bad = [("episode", "match"), ("reward", 1), ("threads", 0), ("threads", True), ("copy", "yes")]
    bad += [("device", device) for device in ("gpu", "cuda:0", 0, None, True)]
    bad += [("render_mode", "ansi"), ("skip_forced", "yes"), ("skip_forced", None)]
    bad += [("num_envs", n) for n in (0, -1, 2.0, True, None, "4", 2**40)]
    for name, value in bad:
        with pytest.raises(OptionError, match=name):
            bideuchre_env.cincinnati_v0.vec(**({"num_envs": 4} | {name: value}))


def test_reset_by_mask_restarts_only_masked_rows():
    vec, twin, fresh = (bideuchre_env.cincinnati_v0.vec(6) for _ in range(3))
    mask = np.arange(6) % 2 == 0
    options = {"reset_mask": mask, "score": (4, 5)}
    for each in (vec, twin):
        each.reset(seed=1)
        for _ in range(9):
            each.step(each.sample())
    before = vec.get_state()
    vec.reset(options=options)
    _, info = twin.reset(mask=mask, options={"score": (4, 5)})
    assert not info["_episode"].any()
    after = vec.get_state()
    np.testing.assert_array_equal(after, twin.get_state())
    np.testing.assert_array_equal(after[~mask], before[~mask])
    assert (after["score"][mask] == (4, 5)).all()
    assert (after["calls_made"][mask] == 0).all()
    assert (after["hands"][mask] != before["hands"][mask]).any(axis=1).all()
    vec.reset(seed=77, mask=mask)
    fresh.reset(seed=77)
    np.testing.assert_array_equal(vec.get_state()[mask], fresh.get_state()[mask])
    np.testing.assert_array_equal(vec.get_state()[~mask], before[~mask])
    for wrong in ([True] * 6, np.zeros(6, bool), np.ones(5, bool), np.ones(6, int)):
        with pytest.raises(OptionError, match="reset_mask"):
            vec.reset(options={"reset_mask": wrong})
    for wrong in ([1, 0] * 3, np.ones(5, bool)):
        with pytest.raises(OptionError, match="mask"):
            vec.reset(mask=wrong)
    with pytest.raises(OptionError, match="one of the two"):
        vec.reset(mask=mask, options=options)


def hands_of(seed):
    vec = bideuchre_env.simplified_v0.vec(1)
    vec.reset(seed=seed)
    return [hand_names(hand) for hand in vec.get_state()[0]["hands"]]


def test_reset_options_equal_the_aec_environment():
    options = {"dealer": 2, "deal": hands_of(8), "score": (5, -3)}
    vec = bideuchre_env.simplified_v0.vec(3)
    vec.reset(seed=4, options=options)
    env = bideuchre_env.simplified_v0.raw_env()
    for row in range(3):
        env.reset(seed=4 + row, options=options)
        np.testing.assert_array_equal(vec.get_state()[row], env.get_state()[0])
    with pytest.raises(DealError, match="dealer"):
        vec.reset(options={"dealer": 4})


def test_set_deal_changes_the_chosen_rows():
    vec = bideuchre_env.simplified_v0.vec(5)
    vec.reset(seed=2)
    before = vec.get_state()
    deals = [hands_of(31), hands_of(32)]
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
    few = "deals=.*: expected a sequence of 5"
    for rows, word in (([0, 0], "rows"), ([0, 5], "rows"), (None, few)):
        with pytest.raises(OptionError, match=word):
            vec.set_deal(deals, rows)
    np.testing.assert_array_equal(vec.get_state(), after)


def test_saved_states_continue_in_any_rows():
    vec, twin = bideuchre_env.double_deck_v0.vec(8), bideuchre_env.double_deck_v0.vec(8)
    obs, _ = vec.reset(seed=21)
    for _ in range(11):
        obs, *_ = vec.step(choose(*obs.values()))
    saved = vec.get_state()
    seen, _ = twin.set_state(saved)
    for _ in range(80):
        for part in PARTS:
            np.testing.assert_array_equal(obs[part], seen[part])
        obs, rewards, *_ = vec.step(choose(*obs.values()))
        seen, twin_rewards, *_ = twin.step(choose(*seen.values()))
        np.testing.assert_array_equal(rewards, twin_rewards)
    obs, _ = twin.set_state(np.repeat(saved[3:4], 4), [7, 0, 2, 4])
    assert (obs["observation"][[7, 0, 2, 4]] == obs["observation"][0]).all()
    saved[:] = 0  # a copy: the environment does not change
    assert twin.get_state()["hands"].any()


def test_unusable_states_are_refused():
    """`core/test_validity.py` tries every field."""
    vec = bideuchre_env.barrie_v0.vec(40)
    vec.reset(seed=6)
    saved = vec.get_state()
    over = saved.copy()
    over["phase"] = 6
    shapes = saved[:39], saved["hands"], saved.tolist(), None, saved.view(f"V{saved.itemsize}")
    for wrong, match in (*((each, "states") for each in shapes), (over, r"states\[0\]")):
        with pytest.raises(OptionError, match=match):
            vec.set_state(wrong)
    np.testing.assert_array_equal(vec.get_state(), saved)


def test_samples_are_uniform_over_legal_actions():
    vec = bideuchre_env.double_deck_v0.vec(1, copy=True)
    vec.reset(seed=0)
    for calls in (("bid 4 S", "pass", "pass", "pass"), ()):
        legal = np.flatnonzero(vec._rows.masks[0])
        counts = np.bincount([vec.sample()[0] for _ in range(60 * len(legal))], minlength=85)
        assert counts[legal].sum() == counts.sum()
        assert_fits(counts[legal], np.full(len(legal), 60))
        for action in calls:
            vec.step([vec.action_names.index(action)])


def test_arrays_are_copies_unless_copy_is_false():
    vec, shared = (bideuchre_env.cincinnati_v0.vec(16, copy=own) for own in (True, False))
    obs, _ = vec.reset(seed=8)
    shared.reset(seed=8)
    copies = {name: array.copy() for name, array in obs.items()}
    for _ in range(120):
        actions = vec.sample()
        vec.step(actions)
        seen, *rest, info = shared.step(actions)
        for array in (*seen.values(), *rest, info["seat"]):
            array[:] = 1
    for name, array in copies.items():
        np.testing.assert_array_equal(obs[name], array)
    np.testing.assert_array_equal(vec.get_state(), shared.get_state())


def test_observe_and_state_equal_the_aec_environment():
    vec = bideuchre_env.club_v0.vec(5)
    obs, _ = vec.reset(seed=40)
    envs = [bideuchre_env.club_v0.raw_env() for _ in range(5)]
    for i, env in enumerate(envs):
        env.reset(seed=40 + i)
    for _ in range(14):
        actions = choose(*obs.values())
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


def test_spaces_contain_observations_and_samples():
    rules = bideuchre_env.cincinnati_v0.rules.replace(copies=2)
    vec = bideuchre_env.make(rules, name="big").vec(3, target=7, episode="hand")
    assert (vec.rules.target, vec.rules.copies, vec.name) == (7, 2, "big")
    obs, _ = vec.reset(seed=1)
    assert vec.single_observation_space.contains({name: obs[name][0] for name in PARTS})
    assert vec.observation_space.contains(obs)
    assert vec.action_space.contains(vec.sample())
    assert vec.single_action_space.n == len(vec.action_names) == obs["action_mask"].shape[1]
    vec.close()
    vec.close()
    assert repr(vec) == "<big x 3, 1 threads>"
