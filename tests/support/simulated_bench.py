"""`benchmarks/gpu.py` with a handful of games in numba's simulator.

`tests/scripts/test_benchmarks.py` runs it with `NUMBA_ENABLE_CUDASIM` set.
"""

import json
import re
import sys
from pathlib import Path

import pytest
from support.script_modules import loaded

import bideuchre_env
from bideuchre_env.runtime import device

assert device.SIMULATED

PROGRAM = """
import sys
from common import Program, timed
program = Program()
assert sys.argv[2] == "cuda"
for rows in sys.argv[3:]:
    program.add(f"kuhn, {rows} games", f"{rows} games", lambda: timed(lambda: 1000))
program.serve("numpy")
"""


@pytest.fixture
def gpu(monkeypatch, tmp_path):
    """The script, beside a peer that is a small program."""
    with loaded("benchmarks", "reporting", "peers", "gpu") as (reporting, peers, script):
        folder = tmp_path / "programs"
        folder.mkdir()
        (folder / "measure_pgx.py").write_text(PROGRAM, encoding="utf-8")
        common = reporting.HERE / "peer_programs" / "common.py"
        (folder / "common.py").write_bytes(common.read_bytes())
        monkeypatch.setattr(peers, "PROGRAMS", folder)
        monkeypatch.setattr(peers, "environment_of", lambda *given: Path(sys.executable))
        yield script


def measured(gpu, folder, capsys, *options):
    """The report that it prints."""
    tiny = ["--repeats", "2", "--seconds", "1e-6", "--json", "--out", str(folder)]
    assert gpu.main(gpu.parse_args([*tiny, "--games", "2", *options])) == 0
    return json.loads(capsys.readouterr().out)


def test_it_measures_everything(gpu, tmp_path, capsys):
    """Steps, rollouts, a peer; the picture and the page."""
    report = measured(gpu, tmp_path, capsys, "--beside", "3")
    rows = {(row["group"], row["name"]): row for row in report["figures"]}
    assert len(rows) == len(report["figures"]) == 2 * (1 + 3) + 1
    assert all(row["median"] > 0 for row in rows.values())
    assert "numba's simulator" in report["how"]
    beside = rows[gpu.PGX.title, "kuhn, 3 games"]
    assert beside["against"] == "3 games"
    assert "## On a GPU" in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert (tmp_path / "results" / "gpu-light.svg").exists()


def test_a_peer_that_cannot_be_had_is_skipped(gpu, tmp_path, capsys, monkeypatch):
    peers = sys.modules["peers"]

    def refuse(*given):
        raise peers.Unavailable("no network")

    monkeypatch.setattr(peers, "environment_of", refuse)
    report = measured(gpu, tmp_path, capsys, "--no-plot", "--beside", "2")
    assert report["skipped"] == [f"{gpu.PGX.title}: no network"]
    assert measured(gpu, tmp_path, capsys, "--no-plot", "--beside")["skipped"] == []


def test_what_the_memory_cannot_hold_is_skipped(gpu, tmp_path, capsys, monkeypatch):
    """Any other error is raised."""
    said = "[CUDA_ERROR_OUT_OF_MEMORY] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"

    def fail(n):
        raise RuntimeError(said)

    monkeypatch.setattr(gpu, "stepping", fail)
    report = measured(gpu, tmp_path, capsys, "--no-plot", "--beside")
    where = f"{gpu.STEPS}, 2 games"
    assert report["skipped"] == [f"{where}: the GPU's memory cannot hold it"]
    said = "something else"
    with pytest.raises(RuntimeError, match="something else"):
        measured(gpu, tmp_path, capsys, "--no-plot", "--beside")


def test_lock_step_is_checked(gpu, capsys, monkeypatch):
    """A line for each variant; what differs is found."""
    asked = gpu.parse_args(["--check", "--games", "1", "--decisions", "60"])
    assert gpu.main(asked) == 0
    lines = iter(capsys.readouterr().out.splitlines())
    for name in bideuchre_env.variants:
        for face in gpu.FACES:
            found = re.fullmatch(r"(.*), (.*): 60 decisions, (\d+) hands, the same", next(lines))
            assert found[1] == name
            assert found[2] == face
            assert int(found[3]) > 0
    assert next(lines, None) is None
    few = gpu.parse_args(["--check", "--games", "1", "--decisions", "2"])
    assert gpu.main(few) == 1  # no hand has ended
    assert "barrie_v0, vec: 2 decisions, 0 hands, the same" in capsys.readouterr().out
    host = device.DeviceMemory.to_host

    def wrong(memory, array):
        found = host(memory, array)
        return found + 1 if found.dtype.kind == "f" else found

    monkeypatch.setattr(device.DeviceMemory, "to_host", wrong)
    assert gpu.main(asked) == 1
    told = capsys.readouterr().out
    for face in gpu.FACES:
        assert f"barrie_v0, {face}: 1 decisions, 0 hands, NOT the same" in told
