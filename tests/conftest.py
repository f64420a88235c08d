"""Settings for every test: examples are found the same way in every run, and none is timed.

Tests in several processes (`-n 2`) find the kernels compiled: two processes share that beforehand.
"""

import os

# numpy's own threads would fight with those of the other test process; it reads this when imported
os.environ.setdefault("OMP_NUM_THREADS", "1")

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bideuchre_env.runtime import jit

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell began the tests in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["COLUMNS"] = "80"  # of every test and its processes, whatever the terminal's
HALVES = (
    ("game", "claims", "rule", "learner", "learning", "ppo", "solver"),
    ("expert", "fitting", "net", "search", "advice"),
)

settings.register_profile(
    "repeatable",
    derandomize=True,  # a fixed search: what passes here passes everywhere
    deadline=None,  # the first example of a run may compile kernels
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("repeatable")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compile each kernel once; otherwise every process would compile those that it needs."""
    compiled = Path(jit.CACHE_FOLDER) / "compiled"
    if not jit.CACHE_FOLDER or compiled.exists():
        return
    print("compiling the kernels in two processes, a minute or two; they are kept", flush=True)
    program = "from bideuchre_env.evaluation import warm_up; warm_up.compile_parts(%r)"
    halves = [
        subprocess.Popen(
            [sys.executable, "-c", program % (half,)], stderr=subprocess.PIPE, text=True
        )
        for half in HALVES
    ]
    errors = [half.communicate()[1] for half in halves]
    for half, error in zip(halves, errors, strict=True):
        if half.returncode:
            print(f"not all are compiled beforehand (code {half.returncode}):\n{error}", flush=True)
            return
    compiled.touch()
