"""`benchmarks/gpu.py` with few games in numba's simulator.

`tests/scripts/test_benchmarks.py` runs it with `NUMBA_ENABLE_CUDASIM` set.
"""

import json

import pytest
from support.commands import load_scripts

import bideuchre_env
from bideuchre_env.runtime import device

assert device.SIMULATED


@pytest.fixture
def gpu():
    with load_scripts("benchmarks", "reporting", "peers", "gpu") as (_, _, script):
        yield script


def test_steps_and_rollouts_are_measured(gpu, tmp_path, capsys):
    words = ["--repeats", "2", "--seconds", "1e-6", "--json", "--games", "2", "--beside"]
    assert gpu.main(gpu.parse_args([*words, "--no-plot", "--out", str(tmp_path)])) == 0
    report = json.loads(capsys.readouterr().out)
    assert len(report["figures"]) == 1 + 3
    assert all(row["median"] > 0 for row in report["figures"])


def test_games_in_lock_step_are_the_same(gpu, capsys):
    args = gpu.parse_args(["--check", "--games", "1", "--decisions", "60"])
    assert gpu.main(args) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(bideuchre_env.variants) * len(gpu.FACES)
    assert all(line.endswith("hands, the same") for line in lines)
