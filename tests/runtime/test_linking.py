"""Kernels that kernels alone call: linked into their callers, and kept between processes."""

import os
import subprocess
import sys

KERNELS = """
from bideuchre_env.runtime.jit import entry_kernel, inline_kernel, kernel

@inline_kernel
def least(a, b):
    return min(a, b)

@kernel
def scaled(a, b):
    return 3 * least(a, b)

@kernel
def shared(a, b):
    return scaled(a, b) + 1

@entry_kernel
def one(a, b):
    return shared(a, b)

@entry_kernel
def two(a, b):
    return shared(a, b) + scaled(b, a) + one(a, b)
"""
ASK = """
import sys, small_kernels
name = sys.argv[1]
print(getattr(small_kernels, name)(5, 7))
kernels = [vars(small_kernels)[each] for each in ("least", "scaled", "shared", "one", "two")]
print(*(sum(each.stats.cache_hits.values()) for each in kernels))
print(*(sum(each.stats.cache_misses.values()) for each in kernels))
"""


def ask(folder, name):
    """What an entry gives in a fresh process, and by kernel how many were read, and compiled."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, name],
        cwd=folder,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


def test_kernels_are_shared_by_entries_and_processes(tmp_path):
    """The second entry finds what the first has compiled, and need not look at what that calls."""
    (tmp_path / "small_kernels.py").write_text(KERNELS)
    assert ask(tmp_path, "one") == [[16], [0, 0, 0, 0, 0], [1, 1, 1, 1, 0]]
    assert ask(tmp_path, "two") == [[16 + 15 + 16], [0, 1, 1, 1, 0], [0, 0, 0, 0, 1]]
    assert ask(tmp_path, "two") == [[16 + 15 + 16], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]


def test_a_kernel_that_is_compiled_again_fits_its_callers(tmp_path):
    """Those that are kept have its code in them, under another symbol."""
    (tmp_path / "small_kernels.py").write_text(KERNELS)
    ask(tmp_path, "one")
    (lost,) = tmp_path.rglob("small_kernels.scaled-*.nbi")
    lost.unlink()
    assert ask(tmp_path, "two") == [[16 + 15 + 16], [1, 0, 1, 1, 0], [0, 1, 0, 0, 1]]
    assert ask(tmp_path, "two") == [[16 + 15 + 16], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
