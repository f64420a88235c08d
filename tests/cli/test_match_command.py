"""`bideuchre match`, as a person and as a program meet it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import KEYS, run

from bideuchre_env import match
from bideuchre_env.evaluation import export
from bideuchre_env.evaluation.statistics.intervals import Interval
from bideuchre_env.evaluation.statistics.sequential import H1

COMMAND = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from bideuchre_env import match; from bideuchre_env.cli.main import main; play = match.play\n"
    "def press(*pair, **options):\n"
    "    show = options['progress']\n"
    "    def progress(kind, done, *rest):\n"
    "        show(kind, done, *rest)\n"
    "        if done > 200 and not pressed: pressed.append(signal.raise_signal(signal.SIGINT))\n"
    "    return play(*pair, **{**options, 'progress': progress})\n"
    "pressed, match.play = [], press; sys.exit(main(sys.argv[1:]))"
)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_match_prints_boards_games_contracts_and_time(capsys, tmp_path):
    assert run("match", "rule", "cautious", "--boards", "60", "--games", "6") == 0
    out, err = capsys.readouterr()
    for words in ("rule against cautious, cincinnati_v0, seed 0", "60 boards of two tables",
                  "points per hand", "95 % interval", "tied boards", "duplicate deals",
                  "divide the variance by", "6 games (3 pairs)", "games won", "made alone",
                  "decision time", " ms"):  # fmt: skip
        assert words in out
    assert max(map(len, out.splitlines())) <= 80
    assert err == ""
    assert not list(tmp_path.iterdir())


def test_two_thousand_boards_unless_asked_or_only_games_are_asked_for(capsys, monkeypatch):
    asked, result = [], match.play("cincinnati_v0", "rule", "cautious", boards=3)
    monkeypatch.setattr(match, "play", lambda *pair, **options: asked.append(options) or result)
    for options in ([], ["--games", "4"], ["--sprt", "0", "0.1"], ["--boards", "9"]):
        assert run("match", "rule", "cautious", *options) == 0
    lengths = [(each["boards"], each["games"]) for each in asked]
    assert lengths == [(2000, 0), (0, 4), (50_000, 0), (9, 0)]
    capsys.readouterr()


def test_the_same_result_as_json_csv_and_picture(capsys):
    asked = ["match", "rule", "random", "--boards", "40", "--games", "4", "--seed", "3"]
    asked += ["--variant", "club_v0", "--option", "target=30", "--json", "out/a.json"]
    assert run(*asked, "--csv", "out/a.csv", "--picture", "out/a.png") == 0
    printed = capsys.readouterr().out
    data = json.loads(Path("out/a.json").read_text())
    assert set(KEYS) <= set(data)
    assert (data["variant"], data["options"]) == ("club_v0", {"target": 30})
    assert (data["agents"], data["seed"]) == (["rule", "random"], 3)
    assert (data["mode"], data["boards"], data["hands"]) == ("boards", 40, 80)
    assert (data["pairs"]["boards"], data["records"]) == (2, None)
    mean = data["points_per_hand"]["mean"]
    assert f"rule {mean:+.2f}" in printed
    assert f"divide the variance by {data['variance_reduction']:.2f}" in printed
    assert set(data["win_rate"]) == {"mean", "low", "high"}
    for part in (data, data["pairs"]):
        for counts in part["contracts"].values():
            assert counts["bid"] == counts["made"] + counts["set"]
    assert set(data["ms_per_decision"]) == {"rule", "random"}
    assert min(data["ms_per_decision"].values()) > 0
    assert data["decisions_per_second"] > 0
    rows = list(csv.DictReader(Path("out/a.csv").read_text().splitlines()))
    assert [row["kind"] for row in rows] == ["hand"] * 40 + ["game"] * 2
    hands = rows[:40]
    points = [int(row["points_1"]) + int(row["points_2"]) for row in hands]
    assert sum(points) / 80 == pytest.approx(mean)
    assert [int(row["stream"]) for row in hands] == list(range(3 * 10**9, 3 * 10**9 + 40))
    assert {row["end_1"] for row in hands} == {""}
    ends = [row[key] for row in rows[40:] for key in ("end_1", "end_2")]
    assert [ends.count(word) for word in ("a won", "b won", "drawn", "truncated")] == [
        data["games"][key] for key in ("a_won", "b_won", "drawn", "truncated")
    ]
    assert Path("out/a.png").read_bytes().startswith(b"\x89PNG")


def test_json_to_standard_output_takes_the_tables_place(capsys):
    assert run("match", "rule", "rule", "--boards", "20", "--json", "-") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["boards"], data["tie_boards"]) == (20, 20)
    assert data["pairs"] is data["sprt"] is None
    assert sum(data["games"].values()) == 0
    assert set(data["contracts"]) == {"rule", "rule#2"}


def test_json_of_games_alone_is_of_their_pairs(capsys):
    assert run("match", "rule", "cautious", "--games", "6", "--json", "-") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["mode"], data["boards"], sum(data["games"].values())) == ("games", 3, 6)
    assert data["pairs"].items() <= data.items()


def test_sprt_prints_its_verdict_and_stops(capsys):
    assert run("match", "rule", "cautious", "--sprt", "0", "0.5", "--json", "a.json") == 0
    assert "H1 accepted: at least +0.5 points per hand, after " in capsys.readouterr().out
    data = json.loads(Path("a.json").read_text())
    assert data["sprt"]["verdict"] == H1
    assert data["sprt"]["boards"] == data["boards"] < 2000
    assert data["sprt"]["llr"] >= data["sprt"]["accept_high"]
    assert run("match", "rule", "cautious", "--sprt", "3.3", "3.4", "--boards", "50") == 0
    assert "undecided, after 50 boards" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("match rule", "required"),
        ("match rule nobody", "the agents are random"),
        ("match rule cautious --variant poker", "is no variant: one of"),
        ("match rule cautious --boards -1", "boards=-1"),
        ("match rule cautious --boards 0", "boards=N"),
        ("match rule cautious --games -2", "games=-2"),
        ("match rule cautious --workers 0", "workers=0"),
        ("match rule cautious --at-once 0", "at_once=0"),
        ("match rule cautious --seed -1", "seed"),
        ("match rule cautious --sprt 1 0", "below"),
        ("match rule cautious --sprt 0", "2 arguments"),
        ("match rule cautious --sprt 0 nan", "number"),
        ("match rule cautious --option target", "NAME=VALUE"),
        ("match rule cautious --json taken", "exists"),
        ("match rule cautious --csv taken/x.csv", "cannot be written"),
        ("match rule cautious --csv x --json x", "a different file each"),
    ],
)
def test_bad_input_is_one_line_on_stderr_and_code_2(arguments, message, capsys, tmp_path):
    (tmp_path / "taken").write_text("mine")
    assert run(*arguments.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("bideuchre")
    assert err.count("\n") == 1
    assert message in err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_force_replaces_files(capsys, tmp_path):
    (tmp_path / "a.json").write_text("old")
    assert run("match", "rule", "rule", "--boards", "4", "--json", "a.json", "--force") == 0
    assert json.loads((tmp_path / "a.json").read_text())["boards"] == 4
    capsys.readouterr()


def test_a_picture_without_matplotlib_is_refused_before_anything_is_played(monkeypatch, capsys):
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(match, "play", None)
    assert run("match", "rule", "rule", "--picture", "a.png") == 2
    assert 'pip install "bideuchre_env[plot]"' in capsys.readouterr().err


def test_a_picture_that_cannot_be_drawn_costs_no_result(monkeypatch, capsys, tmp_path):
    """It is drawn last; the error is a line."""

    def fails(place, result):
        assert "points per hand" in capsys.readouterr().out
        raise RuntimeError("no font")

    monkeypatch.setattr(export, "draw", fails)
    pytest.importorskip("matplotlib")
    asked = ("rule", "random", "--boards", "2", "--json", "a.json", "--picture", "a.png")
    assert run("match", *asked) == 1
    assert "a.png could not be drawn: RuntimeError: no font" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_prints_and_writes_what_is_finished(tmp_path, workers):
    asked = ["match", "rule", "cautious", "--boards", "9000000", "--json", "a.json"]
    asked += ["--csv", "a.csv", "--workers", workers]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130, done.stderr
    assert "Interrupted" in done.stdout
    data = json.loads((tmp_path / "a.json").read_text())
    assert data["interrupted"]
    assert data["boards"] > 200
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + data["boards"]


def test_the_course_of_a_picture_ends_where_the_match_does(tmp_path):
    """And a picture is drawn of whole games, of one board, and of nothing but ties."""
    result = match.play("barrie_v0", "rule", "cautious", boards=700)
    course = export.course(result.board_rows, result.boards.tie_margin)
    assert (course[0][0], course[-1][0]) == (2, 700)
    assert course[-1][1] == result.boards.points_per_hand
    assert all(isinstance(interval, Interval) for _, interval in course)
    for number, options in enumerate(({"games": 4}, {"boards": 1}, {"boards": 30})):
        small = match.play("barrie_v0", "rule", "rule", **options)
        export.draw(tmp_path / f"{number}.png", small)
        assert (tmp_path / f"{number}.png").stat().st_size > 5000
