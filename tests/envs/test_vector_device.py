"""`device="cuda"`: compared with the CPU in numba's simulator, and compiled for two GPUs."""

import re

import numpy as np
import pytest
from support.kernels import compile_only, simulated

import bideuchre_env
from bideuchre_env.errors import OptionError


@pytest.mark.slow
def test_simulated_device_equals_the_cpu():
    """The tests of `support/simulated_cuda.py` pass in a process with numba's simulator."""
    summary = simulated("support/simulated_cuda.py")
    assert re.match(r"\d+ passed", summary)
    assert "skipped" not in summary


def test_unknown_devices_are_refused():
    for device in ("gpu", "cuda:0", 0, None, True):
        for make in (bideuchre_env.cincinnati_v0.vec, bideuchre_env.cincinnati_v0.solo_vec):
            with pytest.raises(OptionError, match=r"device=.*: expected one of 'cpu', 'cuda'"):
                make(2, device=device)
    with pytest.raises(OptionError, match="unexpected keyword argument 'device'"):
        bideuchre_env.cincinnati_v0.solo(device="cuda")


@pytest.mark.slow
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
        bideuchre_env.cincinnati_v0.vec(4, device="cuda", observation="flat").reset(seed=1)
    assert len(compiled) >= 2 * (9 + 2)


@pytest.mark.slow
def test_kernels_of_solo_vec_compile_for_two_architectures(monkeypatch):
    """The rule player needs a stack of one number, see `test_rollout.py`."""
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
