"""Tests in a process of their own, so that no signal of theirs reaches another test."""

from __future__ import annotations

import subprocess
import sys
from functools import wraps
from pathlib import Path

TESTS = Path(__file__).parents[1]
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from {module} import {name} as test
test.__wrapped__()
"""


def in_own_process(test):
    """Run a test without arguments in a new Python process; its error is the test's."""
    file = Path(test.__code__.co_filename).relative_to(TESTS)
    program = PROGRAM.format(module=".".join(file.with_suffix("").parts), name=test.__name__)

    @wraps(test)
    def run():
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]

    return run
