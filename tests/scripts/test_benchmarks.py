"""The benchmarks at tiny size: that they run, and that their figures add up. Nothing is timed."""

from __future__ import annotations

import json
import os
import re
import runpy
import statistics
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.device_code import simulated
from support.script_modules import ROOT, loaded

import bideuchre_env
from bideuchre_env.bench import measure
from bideuchre_env.bench.tasks import GROUPS
from bideuchre_env.core.state import STATE
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime import devices, jit
from bideuchre_env.runtime.cache import kernel_sources

FOLDER = ROOT / "benchmarks"
TINY = ["--repeats", "2", "--seconds", "1e-6"]


@pytest.fixture(scope="module")
def scripts():
    names = ("reporting", "throughput", "peers", "startup", "solver", "gpu")
    with loaded("benchmarks", *names) as modules:
        yield dict(zip(names, modules, strict=True))


@pytest.fixture(scope="module")
def reporting(scripts):
    return scripts["reporting"]


@pytest.fixture(scope="module")
def peers(scripts):
    return scripts["peers"]


def some_report(reporting):
    rows = [
        measure.figure("One", "slow", "decisions/s", [1e3, 2e3, 3e3], against="ours", ratio=40.0),
        measure.figure("One", "fast", "decisions/s", [1e6], target=2e6),
        measure.figure("Two", "short", "s", [0.25, 0.5], target=1.0),
    ]
    return reporting.Report("peers", "Peers", "how.", rows, ["x: no wheel"], {"x": "1.0"})


def test_a_report_is_written_read_drawn_and_put_into_the_readme(reporting, tmp_path, capsys):
    report = some_report(reporting)
    reporting.publish(report, reporting.options("d").parse_args(["--out", str(tmp_path)]))
    assert reporting.read_reports(tmp_path) == [report]
    for name in ("peers-light.svg", "peers-dark.svg"):
        drawn = (tmp_path / "results" / name).read_text(encoding="utf-8")
        for words in ("Beside One", "slow", "40.0\N{MULTIPLICATION SIGN}"):
            assert words in drawn
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert (FOLDER / "notes.md").read_text(encoding="utf-8").strip() in readme
    for line in (
        "| slow | 2.00 k decisions/s | 1.50 k to 2.50 k | ours is 40.0 times as fast |",
        "| fast | 1.00 M decisions/s | 1.00 M to 1.00 M | at least 2.00 M: **not met** |",
        "| short | 0.375 s | 0.312 to 0.438 | at most 1.00: met |",
    ):
        assert line in readme
    assert "- skipped: x: no wheel" in readme
    assert '<img alt="Peers, drawn" src="results/peers-light.svg">' in readme
    for name, version in measure.machine()["packages"].items():
        assert f"{name} {version}" in readme
    out = capsys.readouterr().out
    assert "ours is 40.0 times as fast" in out
    assert "skipped: x: no wheel" in out


def test_without_matplotlib_it_says_so_and_writes_the_rest(
    reporting, tmp_path, monkeypatch, capsys
):
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    args = reporting.options("d").parse_args(["--out", str(tmp_path), "--json"])
    reporting.publish(some_report(reporting), args)
    out, err = capsys.readouterr()
    assert "no picture" in err
    assert json.loads(out) == some_report(reporting).to_dict()
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["peers.json"]
    assert "<img" not in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_what_the_scripts_wrote(reporting, tmp_path):
    """Not edited by hand: the reports and notes of the folder give the same file again."""
    (tmp_path / "results").mkdir()
    for path in (FOLDER / "results").iterdir():
        (tmp_path / "results" / path.name).write_bytes(path.read_bytes())
    reporting.write_readme(tmp_path)
    assert (tmp_path / "README.md").read_bytes() == (FOLDER / "README.md").read_bytes()


def adds_up(rows, repeats=2):
    """Every figure is a positive number of so many repeats, and none is there twice."""
    assert len({(row["group"], row["name"]) for row in rows}) == len(rows)
    for row in rows:
        assert 0 < row["least"] <= row["low"] <= row["median"] <= row["high"] <= row["most"]
        assert row["repeats"] == repeats


def throughput_names(throughput, groups, tmp_path, capsys):
    """The names of what these groups measure at tiny size, by title of the group."""
    asked = [*TINY, "--rows", "8", "64", "--threads", "2", "--out", str(tmp_path)]
    args = throughput.parse_args([*asked, "--json", "--no-plot", "--groups", *groups])
    assert throughput.main(args) == 0
    rows = json.loads(capsys.readouterr().out)["figures"]
    adds_up(rows)
    names = {}
    for row in rows:
        names.setdefault(row["group"], []).append(row["name"])
    assert list(names) == [GROUPS[group][0] for group in groups]
    return list(names.values())


def test_throughput_measures_one_game_many_and_rollouts(scripts, tmp_path, capsys):
    groups = ("threads", "aec")
    threads, aec = throughput_names(scripts["throughput"], groups, tmp_path, capsys)
    assert {"8 rows, step alone, 1 thread", "64 rows, step alone, 2 threads"} < set(threads)
    assert {"rollouts, observing, 1 thread", "rollouts, 2 threads"} < set(threads)
    assert {"raw_env(), episodes of a hand", "env(), episodes of a game"} < set(aec)


@pytest.mark.slow
def test_throughput_measures_every_variant_and_agent(scripts, tmp_path, capsys):
    groups = ("vec", "solo", "rollouts", "agents", "searchers")
    vec, _, rollouts, agents, searchers = throughput_names(
        scripts["throughput"], groups, tmp_path, capsys
    )
    for variant in bideuchre_env.variants:
        assert f"random, observing, {variant}" in rollouts
        if variant != "cincinnati_v0":
            assert f"4,096 rows, step alone, {variant}" in vec
    assert len(agents) == len(bideuchre_env.agents.names())
    assert searchers == [f"{agent}, whole hands" for agent in ("expert", "pimc", "inference")]


@pytest.mark.parametrize("wrong", [["--rows", "0"], ["--threads", "0"], ["--repeats", "0"]])
def test_throughput_refuses_what_measures_nothing(scripts, wrong, tmp_path):
    throughput = scripts["throughput"]
    with pytest.raises(OptionError):
        throughput.main(throughput.parse_args([*wrong, "--out", str(tmp_path)]))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_on_a_gpu_it_measures_and_checks():
    """In numba's simulator: `support/simulated_bench.py`."""
    assert re.match(r"4 passed", simulated("support/simulated_bench.py"))


def test_without_a_gpu_it_is_one_sentence(scripts, tmp_path, monkeypatch):
    """Nothing is written; so are numbers of games that are none."""
    gpu, out = scripts["gpu"], ["--out", str(tmp_path)]
    monkeypatch.setattr(devices, "_missing", lambda: "no GPU is found on this machine")
    for asked in ([], ["--check"]):
        with pytest.raises(OptionError, match="cannot be used: no GPU is found on this machine"):
            gpu.main(gpu.parse_args([*asked, *out]))
    for asked in (["--games", "0"], ["--beside", "-1"], ["--check", "--decisions", "0"]):
        with pytest.raises(OptionError, match="numbers of 1 or more"):
            gpu.main(gpu.parse_args([*asked, *out]))
    assert not list(tmp_path.iterdir())


def solved(scripts, capsys, *asked, deals=2):
    """What `solver.py` prints as JSON, from so many deals of each kind."""
    solver, few = scripts["solver"], ["--deals", str(deals), "--memory", "1", "--json"]
    assert solver.main(solver.parse_args([*few, *asked])) == 0
    return json.loads(capsys.readouterr().out)


def test_the_solver_is_timed_by_deck_and_question(scripts, capsys):
    """Random deals, the best exchange of each number of cards, the hard deals of a deck."""
    decks = ["16"] * 5 + ["20"] * 5
    for row, deck in zip(solved(scripts, capsys, "--decks", "16", "20"), decks, strict=True):
        assert (row["deck"], row["deals"]) == (deck, 2)
        assert 0 < row["us_median"] <= row["us_p99"] <= row["us_most"]
        assert 0 <= row["cards_median"] <= row["cards_p99"] <= row["cards_most"]
        assert row["rate"] == pytest.approx(1e6 / row["us_mean"])
    rows = solved(scripts, capsys, "--decks", "16", "--exchange")
    assert [(row["cards"], row["strain"]) for row in rows] == [
        (cards, strain) for cards in (1, 2, 3) for strain in ("H", "NT")
    ]
    assert all(row["deals"] == 2 and 0 < row["median"] <= row["most"] for row in rows)
    for row in solved(scripts, capsys, "--decks", "24", "--hard", deals=40):
        assert row["hard"] == len(row["means"]) > 0
        assert row["most_means"] == pytest.approx(max(row["means"]), abs=0.1)


def test_the_solver_publishes_rates_and_tails(scripts, tmp_path, capsys):
    """Rounds of other deals of three decks, and how far the slowest deals are off the mean."""
    solver = scripts["solver"]
    report = solved(scripts, capsys, "--publish", "--no-plot", "--out", str(tmp_path))
    adds_up(report["figures"], solver.ROUNDS)
    rates = {
        (row["group"].split()[0], row["name"]): row["target"]
        for row in report["figures"]
        if row["unit"] == "deals/s" and "target" in row
    }
    assert rates == solver.TARGETS
    assert (tmp_path / "results" / "solver.json").exists()
    assert "## Solver" in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_the_solver_refuses_what_measures_nothing(scripts):
    solver = scripts["solver"]
    with pytest.raises(OptionError, match="--deals 0: 1 or more"):
        solver.main(solver.parse_args(["--deals", "0"]))
    with pytest.raises(OptionError, match="--deals 1: too few"):
        solver.main(solver.parse_args(["--deals", "1", "--decks", "20", "--hard", "--json"]))


GOOD = """
from common import Program, timed
program = Program()
print("a library that prints")
program.add("quick", "AEC raw_env()", lambda: timed(lambda: 1000))
program.add("strange", "nothing of ours", lambda: timed(lambda: 10))
program.add("broken", "", lambda: 1 / 0)
program.serve("numpy")
"""


@pytest.fixture
def programs(peers, tmp_path, monkeypatch):
    """Peers that are small programs: one that works, one that ends too soon, one that never is."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in {
        "measure_bideuchre.py": "from common import Program, timed\n"
        "program = Program()\n"
        "program.add('AEC raw_env()', '', lambda: timed(lambda: 2000))\n"
        "program.serve('numpy')\n",
        "good.py": GOOD,
        "early.py": "import nowhere_to_be_found\n",
        "late.py": "from common import Program, timed\n"
        "program = Program()\n"
        "program.add('x', '', lambda: timed(lambda: 1))\n"
        "program.answer({'like': {}, 'skipped': {}, 'packages': {}})\n"
        "raise SystemExit('error: it broke')\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    common = FOLDER / "peer_programs" / "common.py"
    (folder / "common.py").write_bytes(common.read_bytes())
    monkeypatch.setattr(peers, "PROGRAMS", folder)
    chosen = {
        name: peers.Peer(name.title(), (name,), f"{name}.py") for name in ("good", "early", "late")
    }
    monkeypatch.setattr(peers, "PEERS", chosen)
    monkeypatch.setattr(peers, "environment", lambda *arguments: Path(sys.executable))


def test_peers_take_turns_and_what_fails_is_skipped_with_its_reason(
    peers, programs, tmp_path, capsys
):
    assert peers.main(peers.parse_args([*TINY, "--out", str(tmp_path), "--json", "--no-plot"])) == 0
    report = json.loads(capsys.readouterr().out)
    adds_up(report["figures"])
    rows = {row["name"]: row for row in report["figures"] if row["group"] == "Good"}
    assert list(rows) == ["quick", "strange"]
    assert rows["quick"]["against"] == "AEC raw_env()"
    assert "ratio" not in rows["strange"]
    assert report["skipped"] == [
        "Good, broken: ZeroDivisionError: division by zero",
        "Early: its program ended: ModuleNotFoundError: No module named 'nowhere_to_be_found'",
        "Late: its program ended: error: it broke",
    ]
    assert list(report["packages"]) == ["numpy"]


def test_ratios_are_medians_over_the_rounds(peers):
    def run(title, rates, like):
        program = object.__new__(peers.Program)
        program.title, program.rates, program.like = title, rates, like
        return program

    ours = run(peers.OURS, {"a": [10.0, 40.0, 90.0]}, {"a": ""})
    peer = run("P", {"b": [1.0, 2.0, 3.0]}, {"b": "a"})
    first, second = peers.figures([ours, peer])
    assert (first.ratio, second.against) == (None, "a")
    assert second.ratio == statistics.median([10, 20, 30])


@pytest.mark.slow
def test_without_environments_our_own_figures_and_the_limits_are_left(peers, tmp_path, capsys):
    asked = ["--no-install", "--venvs", str(tmp_path / "none"), "--out", str(tmp_path)]
    assert peers.main(peers.parse_args([*TINY, *asked, "--json", "--no-plot"])) == 0
    report = json.loads(capsys.readouterr().out)
    adds_up(report["figures"])
    limit = peers.PEERS["limit"]
    assert {row["group"] for row in report["figures"]} == {peers.OURS, limit.title}
    like = set(runpy.run_path(str(FOLDER / "peer_programs" / "common.py"))["VEC"])
    for path in (FOLDER / "peer_programs").glob("measure_*.py"):
        like |= set(re.findall(r'"((?:AEC|vec|rollouts)[^"]*)"', path.read_text(encoding="utf-8")))
    ours = {row["name"] for row in report["figures"] if row["group"] == peers.OURS}
    assert ours == like  # what the peers are set against
    assert [line.partition(":")[0] for line in report["skipped"]] == [
        peer.title for peer in peers.PEERS.values() if peer is not limit
    ]
    assert all("--no-install" in line for line in report["skipped"])


def test_what_cannot_be_installed_is_skipped_with_pips_reason(peers, tmp_path, monkeypatch):
    printed = (
        "Collecting x\n  urllib.error.URLError: <no network>\nerror: subprocess-exited\nnote: y\n"
    )
    commands = []

    def run(command, **options):
        commands.append(command)
        return subprocess.CompletedProcess(command, "pip" in command, "", printed)

    monkeypatch.setattr(peers.subprocess, "run", run)
    with pytest.raises(
        peers.Unavailable, match=r"pgx jax cannot be installed: urllib\.error\.URLError"
    ):
        peers.environment("pgx", tmp_path, False)
    assert [command[1:3] for command in commands] == [["-m", "venv"], ["-m", "pip"]]
    assert (
        peers.reason("a\nERROR: No matching distribution\n\n") == "ERROR: No matching distribution"
    )
    assert peers.reason("") == "no reason given"


def test_an_environment_that_is_complete_is_used_as_it_is(peers, tmp_path, monkeypatch):
    (tmp_path / "rlcard").mkdir()
    (tmp_path / "rlcard" / "complete").touch()
    monkeypatch.setattr(peers.subprocess, "run", None)
    python = peers.environment("rlcard", tmp_path, False)
    assert python.parent.parent == tmp_path / "rlcard"


@pytest.fixture
def usual_cache(scripts, monkeypatch):
    """Every cache of `startup.py` is the one the tests use: nothing is compiled anew."""

    @contextmanager
    def usual():
        yield Path(jit.CACHE_FOLDER).parent

    monkeypatch.setattr(scripts["startup"], "new_cache", usual)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))


def test_startup_measures_every_target(scripts, usual_cache, tmp_path, monkeypatch, capsys):
    startup = scripts["startup"]
    for program in ("EVERYTHING", "LEARNING", "SEARCH"):
        monkeypatch.setattr(startup, program, startup.FIRST_STEP)
    asked = ["--repeats", "1", "--out", str(tmp_path), "--json", "--no-plot"]
    assert startup.main(startup.parse_args(asked)) == 0
    rows = json.loads(capsys.readouterr().out)["figures"]
    adds_up(rows, rows[0]["repeats"])
    targets = sorted(row["target"] for row in rows if "target" in row)
    assert targets == [0.3, 1.5, 40, 40, 150, 256]
    by_name = {row["name"]: row["median"] for row in rows}
    assert by_name["state of a game"] == STATE.itemsize
    assert by_name["of which numpy"] < by_name["import bideuchre_env"]
    one, many = "process with one environment, peak", "process with 65,536 rows, peak"
    assert by_name[one] < by_name[many]


@pytest.mark.slow
def test_everything_compiles_every_kernel(scripts):
    """From empty caches: what none of the long programs reaches is not measured."""
    startup = scripts["startup"]
    programs = startup.EVERYTHING, startup.LEARNING, startup.SEARCH
    reached = [startup.cold(program)["kernels"] for program in programs]
    text = "\n".join(path.read_text(encoding="utf-8") for path in kernel_sources().values())
    kernels = set(re.findall(r"^@(?:entry_)?kernel\ndef (\w+)", text, re.M))
    assert {"step_rows", "random_rows", "resample_row"} <= kernels
    assert sorted(kernels - set().union(*reached)) == []


def test_pictures_are_drawn_again_without_measuring(reporting, scripts, tmp_path):
    """`--redraw` reads the report that exists, and without one it is an error."""
    asked = ["--out", str(tmp_path)]
    reporting.publish(some_report(reporting), reporting.options("d").parse_args(asked))
    drawn = sorted((tmp_path / "results").glob("*.svg"))
    for path in drawn:
        path.unlink()
    peers = scripts["peers"]
    assert peers.main(peers.parse_args([*asked, "--redraw"])) == 0
    assert sorted((tmp_path / "results").glob("*.svg")) == drawn != []
    for name in ("throughput", "solver", "startup", "gpu"):
        script = scripts[name]
        with pytest.raises(OptionError, match=f"no .*{name}.json"):
            script.main(script.parse_args([*asked, "--redraw"]))
