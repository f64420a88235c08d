"""Settings for every test: Hypothesis tries the same examples in every run, without a deadline.

Kernels are compiled when a test calls them; of several processes (`-n 2`) one compiles each.
"""

import os

# numpy's threads would compete with the other test process; numpy reads this at import
os.environ.setdefault("OMP_NUM_THREADS", "1")

import re
import signal

import pytest
from hypothesis import HealthCheck, settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell began the tests in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["COLUMNS"] = "80"  # a fixed width, also in subprocesses

settings.register_profile(
    "repeatable",
    derandomize=True,  # the same examples on every machine
    deadline=None,  # the first example of a run may compile kernels
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("repeatable")


@pytest.fixture
def default_ctrl_c():
    """Install Python's own Ctrl-C handler for one test, and check that it is still there after."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    after = signal.signal(signal.SIGINT, before)
    assert after is signal.default_int_handler


SEARCHING = {"expert", "inference", "net", "pimc", "ppo"}


@pytest.hookimpl(tryfirst=True)  # before pytest selects by markers
def pytest_collection_modifyitems(items) -> None:
    """Mark the cases of tests whose parameters name an agent that searches or has learned."""
    for item in items:
        case = getattr(item, "callspec", None)
        if case is not None and SEARCHING & {*re.findall("[a-z]+", case.id)}:
            item.add_marker(pytest.mark.search)
