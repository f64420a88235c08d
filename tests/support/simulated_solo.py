"""Tests of learners with `device="cuda"` in numba's simulator, beside the CPU.

`tests/envs/test_vector_device.py` runs them with `NUMBA_ENABLE_CUDASIM` set.
"""

import copy
import pickle

import numpy as np
import pytest
from support.simulated_cuda import assert_alike, host

import bideuchre_env
from bideuchre_env import Pool
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.runtime import device

assert device.SIMULATED
MEMORY = device.DeviceMemory()

NAMES = ("left", "partner", "right")


def pair(name="cincinnati_v0", n=3, **options):
    """Learners on the CPU and on the device, both seeded with 7."""
    made = [
        bideuchre_env.variants[name].solo_vec(n, device=each, **options) for each in ("cpu", "cuda")
    ]
    assert_same(*(vec.reset(seed=7) for vec in made))
    return made


def assert_same(ours, theirs):
    """The same of a step or reset: names alike, last observations in the rows that end."""
    assert_alike(ours[:-1], theirs[:-1])
    assert_same_infos(ours[-1], theirs[-1])


def assert_same_infos(ours, theirs):
    assert list(ours) == list(theirs)
    for name, array in ours.items():
        if name == "final_info":
            assert_same_infos(array, theirs[name])
        elif name == "final_obs":
            assert_same_finals(array, theirs[name])
        elif name.removeprefix("_") in NAMES:
            np.testing.assert_array_equal(array, theirs[name])
        else:
            assert_alike(array, theirs[name])


def assert_same_finals(ours, theirs):
    """An object for each row, or None, beside whole arrays."""
    for i, seen in enumerate(ours):
        if isinstance(theirs, dict):
            for name, array in theirs.items():
                expected = 0 if seen is None else seen[name]
                assert (host(array)[i] == expected).all()
        else:
            assert (host(theirs)[i] == (0 if seen is None else seen)).all()


def drawn(vec, rng):
    """A legal action for every row, 0 where an episode is over."""
    odds = vec.action_masks() * rng.random((vec.num_envs, vec.single_action_space.n))
    return odds.argmax(1)


def play(one, two, steps, seed=0):
    """Step both, and compare all that is handed out; how many episodes ended."""
    rng, ended = np.random.default_rng(seed), 0
    for _ in range(steps):
        actions = drawn(one, rng)
        shown = one.step(actions)
        given = MEMORY.put(actions) if rng.random() < 0.5 else actions
        assert_same(shown, two.step(given))
        ended += int((shown[2] | shown[3]).sum())
        assert_alike(one.action_masks(), two.action_masks())
    assert_same_games(one, two)
    return ended


def assert_same_games(one, two):
    """The same states and lots."""
    rows = two._rows
    for name in ("states", "solos"):
        ours, theirs = getattr(one._rows, name), rows.memory.to_host(getattr(rows, name))
        for field in ours.dtype.names:
            np.testing.assert_array_equal(ours[field], theirs[field])


@pytest.mark.parametrize("name", bideuchre_env.variants)
def test_lock_step(name):
    """Every variant, against all that play on a device."""
    others = Pool("random", ("rule", "cautious"), weights=(1, 3))
    one, two = pair(name, opponents=others, partner="rule", episode="hand")
    assert play(one, two, 40 if one.rules.tricks > 8 else 24) >= 3
    assert_alike(one.seats, two.seats)
    assert {place: names.tolist() for place, names in one.players.items()} == {
        place: names.tolist() for place, names in two.players.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("opponents", ["random", "rule"])
@pytest.mark.parametrize("name", bideuchre_env.variants)
def test_lock_step_for_long(name, opponents):
    """200 hands of every variant."""
    hands, (one, two) = 0, pair(name, 8, opponents=opponents, episode="hand")
    while hands < 200:
        hands += play(one, two, 25, seed=hands)


@pytest.mark.parametrize(
    "options",
    [
        {"observation": "flat"},
        {"copy": False, "max_hands": 1, "seat": 2, "reward": "points"},
        {"autoreset_mode": "NextStep", "episode": "hand", "opponents": "rule"},
        {"autoreset_mode": "NextStep", "observation": "flat", "episode": "hand"},
        {"observation": "flat", "episode": "hand", "opponents": "cautious"},
    ],
)
def test_options(options):
    """Flat observations, the environment's own arrays, other ways to begin again."""
    one, two = pair("six_card_v0", **options)
    kept = two.reset(seed=7)[1]["action_mask"]
    before, same = host(kept), one.reset(seed=7)
    assert len(same) == 2
    assert play(one, two, 24) >= (0 if one.episode == "game" and "max_hands" not in options else 3)
    assert np.array_equal(before, host(kept)) == options.get("copy", True)


def test_resets():
    """By mask, with all that a reset may be told; other players from then on; seeds by row."""
    one, two = pair("six_card_v0", episode="hand")
    play(one, two, 3)
    chosen = np.array([True, False, True])
    told = {"dealer": 2, "score": [10, -3], "seat": 1, "reset_mask": chosen}
    deal = [["AH", "KH", "QH", "JH", "TH", "9H"], ["AD", "KD", "QD", "JD", "TD", "9D"]]
    deal += [["AC", "KC", "QC", "JC", "TC", "9C"], ["AS", "KS", "QS", "JS", "TS", "9S"]]
    for options, seed in (
        (told, None),
        (told | {"deal": deal}, 12),
        ({"opponents": ["rule", "random", "cautious"], "partner": "rule"}, [5, None, 7]),
        ({"opponents": "random", "reset_mask": chosen}, None),
    ):
        assert_same(*(vec.reset(seed=seed, options=options) for vec in (one, two)))
        play(one, two, 3)
    before = two._rows.memory.to_host(two._rows.states).tobytes()
    for given in ("expert", lambda seen, mask: 0, bideuchre_env.agents.make("rule", one.rules)):
        with pytest.raises(OptionError, match="only 'random', 'cautious', 'rule' play there"):
            two.reset(options={"opponents": given})
    assert two._rows.memory.to_host(two._rows.states).tobytes() == before
    play(one, two, 1)


def test_bad_actions_move_nothing():
    """The errors are the CPU's."""
    one, two = pair(autoreset_mode="Disabled", episode="hand")
    for bad in ([0, 99, 0], [0, 0, -1], [0.5] * 3, [0, 0], np.array([0, 2**63, 1], np.uint64)):
        said = []
        for vec, given in ((one, bad), (two, bad), (two, MEMORY.put(np.array(bad)))):
            with pytest.raises(IllegalActionError) as caught:
                vec.step(given)
            said.append(str(caught.value))
        assert said[0] == said[1]
        assert said[2].split(":")[0] == said[0].split(":")[0]
    assert_same_games(one, two)
    illegal = host(two.action_masks()).argmin(1)
    assert_same(*(vec.step(illegal) for vec in (one, two)))
    for vec in (one, two):
        with pytest.raises(IllegalActionError, match="row 0: its episode is over"):
            vec.step(illegal)
    with pytest.raises(IllegalActionError, match="nothing has been dealt"):
        bideuchre_env.barrie_v0.solo_vec(2, device="cuda").step([0, 0])


@pytest.mark.parametrize("opponents", ["expert", ("random", "net"), Pool("rule", "search")])
def test_who_does_not_play_there(opponents):
    """They are named, and so are those who do."""
    with pytest.raises(OptionError, match="with device='cuda': only 'random', 'cautious', 'rule'"):
        bideuchre_env.cincinnati_v0.solo_vec(2, opponents=opponents, partner="rule", device="cuda")


def test_copies_and_pickles_go_on_alike():
    """And so does what is drawn as text."""
    one, two = pair("club_v0", opponents="rule", episode="hand", render_mode="ansi")
    play(one, two, 10)
    for again in (copy.deepcopy(two), pickle.loads(pickle.dumps(two))):
        play(copy.deepcopy(one), again, 12)
    assert one.render() == two.render()
    assert repr(one) == repr(two)


def test_threads_are_a_cpus():
    with pytest.raises(OptionError, match="threads=2 with device='cuda'"):
        bideuchre_env.barrie_v0.solo_vec(2, device="cuda", threads=2)
