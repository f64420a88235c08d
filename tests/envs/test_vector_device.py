"""`device="cuda"`: errors, comparison with the CPU in numba's simulator, compilation for GPUs."""

import re
import sys
from dataclasses import replace
from types import ModuleType
from unittest.mock import MagicMock

import numpy as np
import pytest
from support.kernels import compile_only, in_simulator, simulated

import bideuchre_env
from bideuchre_env import OpponentPool
from bideuchre_env._install import how_to_install
from bideuchre_env.datasets.recorder import VecRecorder
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.evaluation import rollout as rollout_module
from bideuchre_env.evaluation.rollout import count_hands
from bideuchre_env.runtime import devices, jit
from bideuchre_env.runtime.devices import check_device

DEAL = [[rank + suit for rank in "AKQJT9"] for suit in "HDCS"]
every_variant = pytest.mark.parametrize("name", bideuchre_env.variants)
every_face = pytest.mark.parametrize("face", ["vec", "solo_vec"])


@pytest.mark.long
def test_the_device_equals_the_cpu_in_the_simulator():
    summary = simulated(__file__)
    assert re.match(r"\d+ passed", summary)
    assert "skipped" not in summary


@pytest.mark.long
def test_kernels_of_vec_compile_for_two_architectures(monkeypatch):
    """No kernel needs a local stack."""
    with compile_only(monkeypatch) as compiled:
        vec = bideuchre_env.cincinnati_v0.vec(4, device="cuda")
        vec.reset(seed=1)
        for dtype in (np.int64, np.int32, np.uint8):
            vec.step(np.zeros(4, dtype))
        vec.sample()
        vec.observe(0)
        vec.state()
        host = bideuchre_env.cincinnati_v0.vec(4)
        host.reset(seed=1)
        vec.set_state(host.get_state())
        for form in ("flat", "features"):
            bideuchre_env.cincinnati_v0.vec(4, device="cuda", observation=form).reset(seed=1)
    assert len(compiled) >= 2 * (9 + 2)


@pytest.mark.long
def test_kernels_of_solo_vec_compile_for_two_architectures(monkeypatch):
    """The rule player needs a stack of one number, see `test_selfplay.py`."""
    with compile_only(monkeypatch, stack=8) as compiled:
        make = bideuchre_env.cincinnati_v0.solo_vec
        for options in ({"opponents": "rule"}, {"opponents": "cautious", "observation": "flat"}):
            vec = make(4, device="cuda", **options)
            vec.reset(seed=1)
            vec.step(np.zeros(4, np.int64))
            vec.step(np.zeros(4, np.int32))
            vec.action_masks()
            assert vec.seats.shape == (4,)
            every = vec._rows.every  # nothing runs, so that no episode ends
            vec._results(every)
            vec._finals(every)
    assert len(compiled) >= 2 * 12


def gpus(count, error=None):
    """A stand-in for `cuda.gpus`, whose length is `count`, or raises `error`."""
    made = MagicMock()
    made.__len__.configure_mock(return_value=count, side_effect=error)
    return made


NOT_FOUND = "Error at driver init: \n\nCUDA driver library cannot be found.\nEnsure that ...:\n"
NO_NVVM = re.escape(f"its compiler NVVM is not installed: {how_to_install('cuda')}")


@pytest.mark.parametrize(
    ("devices_found", "compiler", "message"),
    [
        (gpus(0, ImportError(NOT_FOUND)), True, "no NVIDIA driver is found on this machine"),
        (
            gpus(0, RuntimeError("[999] unknown")),
            True,
            r"driver cannot be used \(\[999\] unknown\)",
        ),
        (gpus(0), True, "no GPU is found on this machine"),
        (gpus(1), False, NO_NVVM),
        (gpus(1), True, None),
    ],
)
def test_the_first_missing_part_is_named(monkeypatch, devices_found, compiler, message):
    cuda = ModuleType("numba.cuda")
    cuda.gpus, cuda.is_available = devices_found, lambda: compiler
    monkeypatch.setitem(sys.modules, "numba.cuda", cuda)
    monkeypatch.setattr("numba.cuda", cuda, raising=False)
    monkeypatch.setattr(devices, "find_spec", lambda name: name)
    if message is None:
        check_device("cuda")
    else:
        with pytest.raises(OptionError, match=message):
            check_device("cuda")


def test_a_missing_or_broken_package_is_named(monkeypatch):
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"numba-cuda is not installed: pip install .*\[cuda\]"):
        check_device("cuda")
    monkeypatch.setattr(devices, "find_spec", lambda name: name)
    monkeypatch.delattr("numba.cuda", raising=False)
    monkeypatch.setitem(sys.modules, "numba.cuda", None)
    with pytest.raises(OptionError, match=r"numba-cuda cannot be imported \(.*halted"):
        check_device("cuda")
    monkeypatch.setattr(jit, "JIT", False)
    with pytest.raises(OptionError, match="NUMBA_DISABLE_JIT is set"):
        check_device("cuda")


def on_device(array):
    from bideuchre_env.runtime.device import DeviceMemory

    return DeviceMemory().put(array)


def host(array):
    """Copy an array of the device to numpy; return other arrays as they are."""
    return array.copy_to_host() if hasattr(array, "copy_to_host") else array


def assert_alike(ours, theirs, name=""):
    """Fail unless results are equal; `theirs` is in arrays of the device."""
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for key in ours:
            assert_alike(ours[key], theirs[key], key)
    elif isinstance(ours, tuple):
        for one, two in zip(ours, theirs, strict=True):
            assert_alike(one, two)
    elif name.removeprefix("_") in ("left", "partner", "right"):  # names of players
        np.testing.assert_array_equal(ours, theirs)
    elif name == "final_obs":  # numpy: an object or None for each row; device: whole arrays
        arrays = theirs if isinstance(theirs, dict) else {None: theirs}
        for i, seen in enumerate(ours):
            for key, array in arrays.items():
                expected = 0 if seen is None else seen if key is None else seen[key]
                assert (host(array)[i] == expected).all()
    else:
        assert hasattr(theirs, "copy_to_host")
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, host(theirs))


def assert_same_games(one, two):
    """Fail unless the states are equal, random streams included."""
    rows = two._rows
    for name in ("states", "seating") if hasattr(one._rows, "seating") else ():
        ours, theirs = getattr(one._rows, name), rows.memory.to_host(getattr(rows, name))
        for field in ours.dtype.names:
            np.testing.assert_array_equal(ours[field], theirs[field])
    if hasattr(one, "get_state"):
        assert one.get_state().tobytes() == two.get_state().tobytes()


def pair(face, name="cincinnati_v0", n=3, **options):
    make = getattr(bideuchre_env.variants[name], face)
    made = [make(n, device=each, **options) for each in ("cpu", "cuda")]
    assert_alike(*(vec.reset(seed=7) for vec in made))
    return made


def play(one, two, steps, seed=0):
    """Step both with the same random actions, and compare; return finished episodes."""
    rng, ended = np.random.default_rng(seed), 0
    for _ in range(steps):
        if hasattr(one, "sample"):
            actions, device_actions = one.sample(), two.sample()
            assert_alike(actions, device_actions)
        else:
            masks = one.action_masks()
            actions = (masks * rng.random(masks.shape)).argmax(1)
            device_actions = on_device(actions) if rng.random() < 0.5 else actions
        result = one.step(actions)
        assert_alike(result, two.step(device_actions))
        ended += int((result[2] | result[3]).sum())
        assert_alike(one.action_masks(), two.action_masks())
    assert_same_games(one, two)
    return ended


POOL = OpponentPool("random", ("rule", "cautious"), weights=(1, 3))
OTHERS = {"opponents": POOL, "partner": "rule"}


@in_simulator
@every_variant
def test_simulated_hands_are_equal(name, monkeypatch):
    for face, options in (("vec", {}), ("solo_vec", OTHERS)):
        hands, (one, two) = 0, pair(face, name, 8, episode="hand", **options)
        while hands < 200:
            hands += play(one, two, 25, seed=hands)
        if face == "vec":
            assert_alike(one.state(), two.state())
            for seats in (0, 1, 2, 3, [0, 3] * 4):
                assert_alike(one.observe(seats), two.observe(seats))
        else:
            assert_alike(one.seats, two.seats)
    play(*pair("vec", name, 8), 100)
    monkeypatch.setattr(rollout_module, "HANDS_ON_A_GPU", 3)  # of the four hands at each table
    for policy in ("random", "rule"):
        assert_same_rollouts(name, policy, 200, tables=50, observe=policy == "random")


@in_simulator
@pytest.mark.parametrize(
    ("face", "options"),
    [
        ("vec", {"observation": "flat", "copy": False, "max_hands": 1}),
        ("solo_vec", {"copy": False, "max_hands": 1, "seat": 2, "reward": "points"}),
        ("solo_vec", {"autoreset_mode": "NextStep", "observation": "flat", "episode": "hand"}),
    ],
)
def test_simulated_options(face, options):
    """Returned arrays stay unchanged only with `copy=True`."""
    one, two = pair(face, "six_card_v0", **options)
    mask = two.reset(seed=8)[1]["action_mask"]
    before = host(mask)
    one.reset(seed=8)
    assert play(one, two, 30) >= 3
    assert np.array_equal(before, host(mask)) == options.get("copy", True)


@in_simulator
@every_face
def test_simulated_refused_steps_change_nothing(face):
    one, two = pair(face)
    wrong = [[0, 99, 0], [0, 0, -1], [0.5] * 3, [0, 0], np.array([0, 2**63, 1], np.uint64)]
    for actions in wrong:
        for vec, passed in ((one, actions), (two, actions), (two, on_device(np.array(actions)))):
            with pytest.raises(IllegalActionError):
                vec.step(passed)
    assert_same_games(one, two)
    play(one, two, 3)
    make = getattr(bideuchre_env.barrie_v0, face)
    with pytest.raises(IllegalActionError, match=r"reset|nothing has been dealt"):
        make(2, device="cuda").step([0, 0])
    with pytest.raises(OptionError, match="threads=2 with device='cuda'"):
        make(2, device="cuda", threads=2)


@in_simulator
@every_face
def test_simulated_resets_with_options(face):
    one, two = pair(face, "six_card_v0", episode="hand")
    play(one, two, 5)
    options = {"dealer": 2, "score": [10, -3], "reset_mask": np.array([True, False, True])}
    calls = [(options, None), (options | {"deal": DEAL}, 12)]
    if face == "solo_vec":
        players = {"opponents": ["rule", "random", "cautious"], "partner": "rule"}
        calls += [(players, [5, None, 7]), ({"opponents": "random", "seat": 1}, None)]
    for options, seed in calls:
        assert_alike(*(vec.reset(seed=seed, options=options) for vec in (one, two)))
        play(one, two, 4)


@in_simulator
def test_simulated_players_that_need_the_cpu_are_refused():
    with pytest.raises(OptionError, match="with device='cuda': only 'random', 'cautious', 'rule'"):
        bideuchre_env.cincinnati_v0.solo_vec(2, opponents="expert", device="cuda")


@in_simulator
def test_simulated_states_are_saved_and_restored():
    one, two = pair("vec", "club_v0", episode="hand")
    play(one, two, 10)
    saved = one.get_state()
    play(one, two, 10)
    assert_alike(*(vec.set_state(saved[:2], [2, 0]) for vec in (one, two)))
    play(one, two, 10)
    assert_alike(*(vec.set_state(two.get_state()) for vec in (one, two)))
    assert_alike(*(vec.set_deal([DEAL], [1], dealers=[3]) for vec in pair("vec", "six_card_v0")))


@in_simulator
def test_simulated_recorder_needs_the_cpu(tmp_path):
    with pytest.raises(OptionError, match="on cuda>: expected a vec on the CPU"):
        VecRecorder(pair("vec")[1], tmp_path / "d.npz")


def assert_same_rollouts(name, policy, hands, **options):
    one, two = (
        replace(count_hands(name, policy, hands=hands, seed=3, device=each, **options), seconds=0.0)
        for each in ("cpu", "cuda")
    )
    assert one == two
    assert one.hands == hands
