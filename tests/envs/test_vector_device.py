"""`vec(device="cuda")`: in numba's simulator beside the CPU, and as machine code of two GPUs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.device_code import compiled_by

import bideuchre_env
from bideuchre_env.errors import OptionError

TESTS = Path(__file__).parents[1]


def simulated(*args):
    """Run the simulator's tests in a process of their own; pytest's last line."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args],
        cwd=TESTS,
        env=kept | {"NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout.splitlines()[-1]


def test_beside_the_cpu():
    """Lock-step, what is refused, resets, states: `support/simulated_cuda.py`."""
    told = simulated("support/simulated_cuda.py")
    assert re.match(r"\d+ passed", told)
    assert "skipped" not in told


@pytest.mark.slow
def test_beside_the_cpu_for_long():
    """200 hands of every variant."""
    assert "passed" in simulated("support/simulated_cuda.py", "-m", "slow")


def test_devices_are_named():
    """Any other is refused, and a solo environment has no such option."""
    for device in ("gpu", "cuda:0", 0, None, True):
        with pytest.raises(OptionError, match=r"device=.*: one of 'cpu', 'cuda'"):
            bideuchre_env.cincinnati_v0.vec(2, device=device)
    with pytest.raises(OptionError, match="unexpected keyword argument 'device'"):
        bideuchre_env.cincinnati_v0.solo_vec(2, device="cuda")


@pytest.mark.slow
def test_every_kernel_becomes_machine_code(monkeypatch):
    """For two architectures, as each call of the environment starts it; none needs a stack."""
    with compiled_by(monkeypatch, "bideuchre_env.envs.vector.on_device") as compiled:
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
    assert len(compiled) >= 2 * (10 + 2)
