"""Benchmarks at tiny size: they run, and their figures are consistent. Nothing is timed."""

import json
import os
import statistics
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.commands import load_scripts
from support.kernels import in_simulator, simulated

import bideuchre_env
from bideuchre_env.bench import measure
from bideuchre_env.bench.tasks import GROUPS
from bideuchre_env.core.state import STATE
from bideuchre_env.runtime import jit

pytestmark = pytest.mark.slow

TINY = ["--repeats", "2", "--seconds", "1e-6"]


@pytest.fixture(scope="module")
def scripts():
    names = ("reporting", "throughput", "peers", "startup", "solver", "gpu")
    with load_scripts("benchmarks", *names) as modules:
        yield dict(zip(names, modules, strict=True))


def report_of(script, folder, capsys, *options):
    """Run a script; return its report, whose figures are positive, with unique names."""
    words = [*options, "--out", str(folder), "--json", "--no-plot"]
    assert script.main(script.parse_args(words)) == 0
    report = json.loads(capsys.readouterr().out)
    rows = report["figures"]
    assert len({(row["group"], row["name"]) for row in rows}) == len(rows)
    for row in rows:
        assert 0 < row["least"] <= row["low"] <= row["median"] <= row["high"] <= row["most"]
    return report


def some_reports(reporting):
    figure = measure.figure
    peers = [
        figure("bideuchre_env", "AEC raw_env()", "decisions/s", [80e3]),
        figure("RLCard", "bridge", "decisions/s", [1e3, 2e3, 3e3], against="ours", ratio=40.0),
    ]
    startup = [
        figure("First step", "warm cache, process time", "s", [0.25, 0.5], target=0.3),
        figure("Memory", "state of a game", "bytes", [232.0], target=256),
    ]
    return [
        reporting.Report("peers", "Peers", "how.", peers, ["x: no wheel"], {"x": "1.0"}),
        reporting.Report("startup", "Start-up", "how.", startup),
    ]


def test_reports_are_drawn_and_put_into_the_pages(scripts, tmp_path, capsys):
    reporting = scripts["reporting"]
    reports = some_reports(reporting)
    for report in reports:
        reporting.publish(report, reporting.options("d").parse_args(["--out", str(tmp_path)]))
    assert reporting.read_reports(tmp_path) == reports
    assert "| RLCard | `raw_env()` 80.0 k | bridge 40.0 (2.00 k) |" in (
        tmp_path / "README.md"
    ).read_text(encoding="utf-8")
    goal = "| First step: warm cache, process time | 0.375 s | at most 0.300 |"
    notes = (tmp_path / "notes.md").read_text(encoding="utf-8")
    assert goal in notes
    assert "state of a game" not in notes  # meets its goal
    printed = capsys.readouterr().out
    assert "ours is 40.0 times as fast" in printed
    assert "at most 0.300: NOT met" in printed
    assert len(list((tmp_path / "results").glob("*.svg"))) == 4


def test_the_pages_have_the_saved_figures(scripts):
    reporting = scripts["reporting"]
    for name, text in reporting.pages(reporting.HERE).items():
        assert (reporting.HERE / name).read_text(encoding="utf-8") == text, "run with --redraw"


@pytest.mark.parametrize(
    "groups",
    [
        ("threads", "aec"),
        pytest.param(("vec", "solo", "rollouts", "agents", "searchers"), marks=pytest.mark.long),
    ],
)
def test_throughput_measures_every_group(scripts, groups, tmp_path, capsys):
    words = [*TINY, "--rows", "8", "64", "--threads", "2", "--groups", *groups]
    report = report_of(scripts["throughput"], tmp_path, capsys, *words)
    names = {row["name"] for row in report["figures"]}
    assert {row["group"] for row in report["figures"]} == {GROUPS[group][0] for group in groups}
    if "rollouts" in groups:
        assert {f"random, observing, {variant}" for variant in bideuchre_env.variants} <= names
    else:
        assert {"64 rows, step alone, 2 threads", "env(), episodes of a game"} <= names


@pytest.mark.long
def test_the_gpu_benchmark_runs_in_the_simulator():
    assert simulated(__file__).startswith("2 passed")


@in_simulator
def test_simulated_steps_and_rollouts_are_measured(scripts, tmp_path, capsys):
    gpu = scripts["gpu"]
    words = [*TINY, "--json", "--games", "2", "--beside"]
    assert gpu.main(gpu.parse_args([*words, "--no-plot", "--out", str(tmp_path)])) == 0
    report = json.loads(capsys.readouterr().out)
    assert len(report["figures"]) == 1 + 3
    assert all(row["median"] > 0 for row in report["figures"])


@in_simulator
def test_simulated_games_in_lock_step_are_the_same(scripts, capsys):
    gpu = scripts["gpu"]
    args = gpu.parse_args(["--check", "--games", "1", "--decisions", "60"])
    assert gpu.main(args) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(bideuchre_env.variants) * len(gpu.FACES)
    assert all(line.endswith("hands, the same") for line in lines)


def test_the_solver_is_timed_by_deck(scripts, capsys):
    solver = scripts["solver"]
    words = ["--memory", "1", "--json", "--deals", "2", "--decks", "16"]
    assert solver.main(solver.parse_args(words)) == 0
    for row in json.loads(capsys.readouterr().out):
        assert (row["deck"], row["deals"]) == ("16", 2)
        assert 0 < row["us_median"] <= row["us_p99"] <= row["us_most"]
        assert row["rate"] == pytest.approx(1e6 / row["us_mean"])


PROGRAMS = {
    "measure_bideuchre": """
from common import Program, timed
program = Program()
program.add("AEC raw_env()", "", lambda: timed(lambda: 2000))
program.serve("numpy")
""",
    "good": """
from common import Program, timed
program = Program()
program.add("quick", "AEC raw_env()", lambda: timed(lambda: 1000))
program.add("broken", "", lambda: 1 / 0)
program.serve("numpy")
""",
}


def test_peers_that_fail_are_skipped_with_their_reason(scripts, tmp_path, monkeypatch, capsys):
    peers, folder = scripts["peers"], tmp_path / "programs"
    folder.mkdir()
    (folder / "common.py").write_bytes((peers.PROGRAMS / "common.py").read_bytes())
    for name, text in PROGRAMS.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(peers, "PROGRAMS", folder)
    monkeypatch.setattr(peers, "PEERS", {"good": peers.Peer("Good", ("good",), "good.py")})
    monkeypatch.setattr(peers, "environment", lambda *arguments: Path(sys.executable))
    report = report_of(peers, tmp_path, capsys, *TINY)
    rows = {row["name"]: row for row in report["figures"] if row["group"] == "Good"}
    assert list(rows) == ["quick"]
    assert rows["quick"]["against"] == "AEC raw_env()"
    assert report["skipped"] == ["Good, broken: ZeroDivisionError: division by zero"]


def test_ratios_are_medians_over_the_rounds(scripts):
    peers = scripts["peers"]

    def run(title, rates, like):
        program = object.__new__(peers.Program)
        program.title, program.rates, program.like = title, rates, like
        return program

    ours = run(peers.OURS, {"a": [10.0, 40.0, 90.0]}, {"a": ""})
    peer = run("P", {"b": [1.0, 2.0, 3.0]}, {"b": "a"})
    first, second = (peers.figures_of(run, ours.rates)[0] for run in (ours, peer))
    assert (first.ratio, second.against) == (None, "a")
    assert second.ratio == statistics.median([10, 20, 30])


@pytest.mark.long
def test_startup_measures_every_target(scripts, tmp_path, monkeypatch, capsys):
    """The tests' cache is used, so nothing is compiled."""

    @contextmanager
    def usual():
        yield jit.FILES.writable.parent

    startup = scripts["startup"]
    monkeypatch.setattr(startup, "new_cache", usual)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    for program in ("EVERYTHING", "LEARNING", "SEARCH"):
        monkeypatch.setattr(startup, program, startup.FIRST_STEP)
    rows = report_of(startup, tmp_path, capsys, "--repeats", "1")["figures"]
    targets = sorted(row["target"] for row in rows if "target" in row)
    assert targets == [0.3, 1.5, 40, 40, 150, 256]
    by_name = {row["name"]: row["median"] for row in rows}
    assert by_name["state of a game"] == STATE.itemsize
    assert by_name["of which numpy"] < by_name["import bideuchre_env"]
    one, many = "process with one environment, peak", "process with 65,536 rows, peak"
    assert by_name[one] < by_name[many]
