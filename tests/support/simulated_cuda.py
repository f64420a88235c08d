"""Tests of `device="cuda"` in numba's simulator, beside the CPU; in a process of their own.

`tests/envs/test_vector_device.py` runs them with `NUMBA_ENABLE_CUDASIM` set.
"""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env.datasets.recorder import VecRecorder
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.evaluation.rollout import rollout
from bideuchre_env.runtime import device

assert device.SIMULATED
MEMORY = device.DeviceMemory()


def host(array):
    """An array of the device as numpy's; others are those already."""
    return array.copy_to_host() if hasattr(array, "copy_to_host") else array


def assert_alike(ours, theirs):
    """The same arrays by the same names, of the same types: theirs on the device."""
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for name in ours:
            assert_alike(ours[name], theirs[name])
    elif isinstance(ours, tuple):
        for one, two in zip(ours, theirs, strict=True):
            assert_alike(one, two)
    else:
        assert hasattr(theirs, "copy_to_host")
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, host(theirs))


def assert_same_games(one, two):
    """The same states, streams included."""
    assert one.get_state().tobytes() == two.get_state().tobytes()


def pair(name="cincinnati_v0", n=3, **options):
    """A vec on the CPU and one on the device, both seeded with 7."""
    made = [bideuchre_env.variants[name].vec(n, device=each, **options) for each in ("cpu", "cuda")]
    assert_alike(*(vec.reset(seed=7) for vec in made))
    return made


def play(one, two, steps):
    """Step both, and compare all that is handed out; how many episodes ended."""
    ended = 0
    for _ in range(steps):
        ours, theirs = one.sample(), two.sample()
        assert_alike(ours, theirs)
        shown = one.step(ours)
        assert_alike(shown, two.step(theirs))
        ended += int(shown[-1]["_episode"].sum())
    assert_same_games(one, two)
    return ended


@pytest.mark.parametrize("name", bideuchre_env.variants)
def test_lock_step(name):
    """Some hands of every variant."""
    one, two = pair(name, 2, episode="hand")
    assert play(one, two, 56 if one.rules.tricks > 8 else 32) >= 2
    assert_alike(one.state(), two.state())
    for seat in range(4):
        assert_alike(one.observe(seat), two.observe(seat))
    assert_alike(one.observe([0, 3]), two.observe([0, 3]))
    assert_alike(one.action_masks(), two.action_masks())


@pytest.mark.slow
@pytest.mark.parametrize("name", bideuchre_env.variants)
def test_lock_step_for_long(name):
    """200 hands of every variant by points, and some of whole games by wins."""
    hands, vecs = 0, pair(name, 8, episode="hand")
    while hands < 200:
        hands += play(*vecs, 25)
    play(*pair(name, 8), 100)


@pytest.mark.parametrize("options", [{"observation": "flat", "copy": False}, {"max_hands": 1}])
def test_options(options):
    """Flat observations, copies, whole games; what was handed out stays only where it is copied."""
    one, two = pair("six_card_v0", **options)
    before = two.reset(seed=8)[1]
    kept = {name: host(array) for name, array in before.items()}
    one.reset(seed=8)
    ended = play(one, two, 30)
    assert ended == (3 if "max_hands" in options else 0)
    same = [np.array_equal(kept[name], host(before[name])) for name in ("seat", "action_mask")]
    assert all(same) if two.copy else not any(same)
    assert_alike(one.observe(1), two.observe(1))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_actions(dtype):
    """On the device or not, of any integer dtype and strides."""
    one, two = pair()
    for step in range(8):
        actions = one.sample()
        spaced = np.zeros((3, 2), dtype)
        spaced[:, 1] = actions
        ways = [spaced[:, 1], actions.tolist(), MEMORY.put(actions.astype(dtype))]
        ways += [MEMORY.put(spaced)[:, 1]]
        assert_alike(one.step(actions), two.step(ways[step % len(ways)]))


def test_a_refused_step_moves_nothing():
    """The error is the CPU's: of the first row whose action is not legal."""
    one, two = pair(n=5)
    for bad in (-1, 29, 2**40):
        actions = one.sample().copy()
        two.sample()
        actions[2] = actions[4] = bad
        said = []
        for vec, given in ((one, actions), (two, actions), (two, MEMORY.put(actions))):
            changes = vec.changes
            with pytest.raises(IllegalActionError, match="row 2: player_") as caught:
                vec.step(given)
            said.append(str(caught.value))
            assert vec.changes == changes
        assert said[0] == said[1] == said[2]
        assert_same_games(one, two)
    play(one, two, 3)


def test_what_is_no_action():
    """The kind and the shape of what was given are named."""
    _, two = pair()
    for given, told in (
        (MEMORY.put(np.zeros(3)), r"whole numbers of shape \(3,\) .* not float64"),
        (MEMORY.put(np.zeros(4, int)), r"not int64 of shape \(4,\)"),
        (np.zeros(3), "not float64"),
        ([0, True, 0], "not True or False"),
    ):
        with pytest.raises(IllegalActionError, match=told):
            two.step(given)
    with pytest.raises(IllegalActionError, match="reset"):
        bideuchre_env.barrie_v0.vec(2, device="cuda").step([0, 0])
    with pytest.raises(OptionError, match="threads=2 with device='cuda'"):
        bideuchre_env.barrie_v0.vec(2, device="cuda", threads=2)


def test_resets_and_deals():
    """By mask, with a dealer, a score and a deal; several deals."""
    one, two = pair("six_card_v0")
    deal = [["AH", "KH", "QH", "JH", "TH", "9H"], ["AD", "KD", "QD", "JD", "TD", "9D"]]
    deal += [["AC", "KC", "QC", "JC", "TC", "9C"], ["AS", "KS", "QS", "JS", "TS", "9S"]]
    options = {"dealer": 2, "score": [10, -3], "deal": deal}
    play(one, two, 5)
    for seed in (None, 12):
        mask = np.array([True, False, True])
        assert_alike(*(vec.reset(seed, mask=mask, options=options) for vec in (one, two)))
        assert_same_games(one, two)
        play(one, two, 4)
    assert_alike(*(vec.set_deal([deal], [1], dealers=[3]) for vec in (one, two)))
    play(one, two, 4)


def test_states_go_both_ways():
    """From the CPU to the device and back, and into some rows; copies and pickles go on alike."""
    one, two = pair("club_v0", episode="hand")
    play(one, two, 10)
    saved = one.get_state()
    play(one, two, 10)
    assert_alike(*(vec.set_state(saved[:2], [2, 0]) for vec in (one, two)))
    play(one, two, 10)
    assert_alike(*(vec.set_state(two.get_state()) for vec in (one, two)))
    for again in (copy.deepcopy(two), pickle.loads(pickle.dumps(two))):
        play(copy.deepcopy(one), again, 20)
    assert repr(two) == "<club_v0 x 3, on cuda>"


def test_nothing_written_by_a_caller_reaches_the_game():
    """Observations, masks, seats and drawn actions are only told."""
    one, two = pair()
    obs, info = two.reset(seed=7)
    one.reset(seed=7)
    for array in (*obs.values(), info["seat"], two.sample()):
        array[:] = np.ones(array.shape, array.dtype)
    assert_alike(one.step([0, 0, 0]), two.step([0, 0, 0]))


def test_a_recorder_wants_the_cpu(tmp_path):
    """It reads numpy's arrays."""
    _, two = pair()
    with pytest.raises(OptionError, match="on cuda>: a vec on the CPU is expected"):
        VecRecorder(two, tmp_path / "d.npz")


def rolled(name, policy, hands, **options):
    """The counts of a rollout on the CPU, which are those of one on the device."""
    one, two = (
        replace(rollout(name, policy, hands=hands, seed=3, device=each, **options), seconds=0.0)
        for each in ("cpu", "cuda")
    )
    assert one == two
    assert one.hands == hands
    return one


def test_rollouts():
    """At random, with and without observations, and by the rule player."""
    assert rolled("club_v0", "random", 5, tables=2) == rolled(
        "club_v0", "random", 5, tables=2, observe=True
    )
    rolled("six_card_v0", "rule", 2)
    with pytest.raises(OptionError, match="threads=2 with device='cuda'"):
        rollout("club_v0", hands=5, device="cuda", threads=2)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["random", "rule"])
@pytest.mark.parametrize("name", bideuchre_env.variants)
def test_long_rollouts(name, policy):
    """200 hands of every variant."""
    rolled(name, policy, 200, tables=50)
