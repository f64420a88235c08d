"""`device="cuda"`: in numba's simulator beside the CPU, and as machine code of two GPUs."""

import re

import numpy as np
import pytest
from support.device_code import compiled_by, simulated

import bideuchre_env
from bideuchre_env.errors import OptionError


@pytest.mark.parametrize("file", ["simulated_cuda.py", "simulated_solo.py"])
def test_beside_the_cpu(file):
    """Lock-step, what is refused, resets, states: `support/simulated_*.py`."""
    told = simulated(f"support/{file}")
    assert re.match(r"\d+ passed", told)
    assert "skipped" not in told


@pytest.mark.slow
@pytest.mark.parametrize("name", bideuchre_env.variants)
def test_beside_the_cpu_for_long(name):
    """200 hands of every variant: its four seats, rollouts, and learners."""
    files = "support/simulated_cuda.py", "support/simulated_solo.py"
    told = simulated(*files, "-m", "slow", "-k", name)
    assert re.match(r"5 passed", told)


def test_devices_are_named():
    """Any other is refused, and an environment of one learner has no such option."""
    for device in ("gpu", "cuda:0", 0, None, True):
        for make in (bideuchre_env.cincinnati_v0.vec, bideuchre_env.cincinnati_v0.solo_vec):
            with pytest.raises(OptionError, match=r"device=.*: one of 'cpu', 'cuda'"):
                make(2, device=device)
    with pytest.raises(OptionError, match="unexpected keyword argument 'device'"):
        bideuchre_env.cincinnati_v0.solo(device="cuda")


@pytest.mark.slow
def test_every_kernel_becomes_machine_code(monkeypatch):
    """For two architectures, as each call of the environment starts it; none needs a stack."""
    with compiled_by(monkeypatch) as compiled:
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
def test_every_kernel_of_learners_becomes_machine_code(monkeypatch):
    """As for `vec`; the rule player needs a stack of one number, see `test_rollout.py`."""
    with compiled_by(monkeypatch, stack=8) as compiled:
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
