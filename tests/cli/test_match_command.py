"""`bideuchre match` and `tournament`: reports, files, resuming, and Ctrl-C."""

import csv
import json
import os
import signal
from pathlib import Path

import pytest
from support.commands import KEYS, run

from bideuchre_env import match, variants
from bideuchre_env._files import only_run_in
from bideuchre_env.cli.main import build_parser
from bideuchre_env.cli.tournament import variants_of
from bideuchre_env.evaluation.statistics.sequential import H1


def test_a_match_prints_boards_games_contracts_and_time(capsys, folder):
    assert run("match", "rule", "cautious", "--boards", "60", "--games", "6") == 0
    out, err = capsys.readouterr()
    for words in ("rule against cautious, cincinnati_v0, seed 0", "60 boards of two tables",
                  "points per hand", "95 % interval", "tied boards", "duplicate deals",
                  "divide the variance by", "6 games (3 pairs)", "games won", "made alone",
                  "decision time", " ms"):  # fmt: skip
        assert words in out
    assert max(map(len, out.splitlines())) <= 80
    assert err == ""
    assert not list(folder.iterdir())


def test_boards_are_2000_unless_a_number_of_boards_or_games_is_given(capsys, monkeypatch):
    calls, result = [], match("cincinnati_v0", "rule", "cautious", boards=3)
    monkeypatch.setattr(
        "bideuchre_env.evaluation.match.match",
        lambda *pair, **options: calls.append(options) or result,
    )
    for options in ([], ["--games", "4"], ["--sprt", "0", "0.1"]):
        assert run("match", "rule", "cautious", *options) == 0
    lengths = [(each["boards"], each["games"]) for each in calls]
    assert lengths == [(2000, 0), (0, 4), (50_000, 0)]


@pytest.mark.slow
def test_the_same_result_is_printed_as_json_and_written_as_csv_and_picture(capsys):
    pytest.importorskip("matplotlib")
    command = ["match", "rule", "random", "--boards", "40", "--games", "4", "--seed", "4"]
    command += ["--variant", "club_v0", "--option", "target=30"]
    assert run(*command, "--csv", "out/a.csv", "--picture", "out/a.png") == 0
    printed = capsys.readouterr().out
    assert run(*command, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert set(KEYS) <= set(data)
    assert (data["variant"], data["options"]) == ("club_v0", {"target": 30})
    assert (data["agents"], data["seed"]) == (["rule", "random"], 4)
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
    rows = list(csv.DictReader(Path("out/a.csv").read_text().splitlines()))
    assert [row["kind"] for row in rows] == ["hand"] * 40 + ["game"] * 2
    points = [int(row["points_1"]) + int(row["points_2"]) for row in rows[:40]]
    assert sum(points) / 80 == pytest.approx(mean)
    assert [int(row["stream"]) for row in rows[:40]] == list(range(4 * 10**9, 4 * 10**9 + 40))
    ends = [row[key] for row in rows[40:] for key in ("end_1", "end_2")]
    assert [ends.count(word) for word in ("a won", "b won", "drawn", "truncated")] == [
        data["games"][key] for key in ("a_won", "b_won", "drawn", "truncated")
    ]
    assert Path("out/a.png").read_bytes().startswith(b"\x89PNG")


def test_json_on_standard_output_replaces_the_table(capsys):
    assert run("match", "rule", "rule", "--boards", "20", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["boards"], data["tie_boards"]) == (20, 20)
    assert data["pairs"] is data["sprt"] is None
    assert sum(data["games"].values()) == 0
    assert set(data["contracts"]) == {"rule", "rule#2"}


def test_a_sequential_test_stops_with_its_verdict(capsys):
    command = ("match", "rule", "cautious", "--sprt", "0", "0.5")
    assert run(*command) == 0
    assert "H1 accepted: at least +0.5 points per hand, after " in capsys.readouterr().out
    assert run(*command, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["sprt"]["verdict"] == H1
    assert data["sprt"]["boards"] == data["boards"] < 2000
    assert data["sprt"]["llr"] >= data["sprt"]["accept_high"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_prints_and_writes_the_finished_boards(folder, capsys, monkeypatch):
    play, pressed = match, []

    def press(*pair, progress, **options):
        def pressing(kind, done, *rest):
            progress(kind, done, *rest)
            if done > 200 and not pressed:
                pressed.append(signal.raise_signal(signal.SIGINT))

        return play(*pair, progress=pressing, **options)

    monkeypatch.setattr("bideuchre_env.evaluation.match.match", press)
    files = ["--json", "--csv", "a.csv"]
    assert run("match", "rule", "cautious", "--boards", "9000000", *files) == 130
    data = json.loads(capsys.readouterr().out)
    assert data["interrupted"]
    assert data["boards"] > 200
    assert len((folder / "a.csv").read_text().splitlines()) == 1 + data["boards"]


QUICK = ("--variant", "six_card_v0", "--pairs", "rule vs random", "--boards", "40")


@pytest.mark.slow
def test_a_tournament_prints_pairs_tables_and_ratings(capsys):
    agents = ("random", "cautious", "rule")
    games = (*agents, "--variant", "barrie", "six_card_v0", "--boards", "40")
    assert run("tournament", *games) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    data = json.loads(Path("runs/tournament/results.json").read_text())
    for line, each in zip(out.splitlines(), data["matches"], strict=False):
        a, b = each["agents"]
        assert line.startswith(f"{each['variant']:<16} {a} against {b} ")
        assert f"{each['points_per_hand']['mean']:+.2f} ± " in line
    for variant, rated in data["ratings"].items():
        part = out.partition(f"{variant}: points per hand of the row's agents")[2]
        for agent, rating in rated.items():
            assert f"\n{agent:<8} " in part
            assert f" {rating['mean']:.0f} " in part
    assert "written to runs/tournament: results.md, results.csv, results.json," in out
    assert run("tournament", *games, "--json") == 0
    assert json.loads(capsys.readouterr().out) == data


@pytest.mark.slow
def test_a_finished_tournament_is_printed_but_not_played_again(capsys, monkeypatch, error_of):
    assert run("tournament", *QUICK) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr("bideuchre_env.evaluation.match.match", None)
    assert run("tournament", *QUICK) == 0
    _, origin, tables = capsys.readouterr().out.split("\n", 2)
    assert origin.startswith("1 of 1 matches are from the folder, of 20")
    assert first.endswith(tables)
    assert "has results with seed=0, not 1" in error_of("tournament", *QUICK, "--seed", "1")


def test_games_are_variants_or_files_of_rules():
    Path("farm.toml").write_text('base = "six_card"\nname = "farm"\ntarget = 9\n')

    def names(*options):
        return [g.name for g in variants_of(build_parser().parse_args(["tournament", *options]))]

    assert names() == ["cincinnati_v0"]
    assert names("--variant", "barrie", "club_v0", "--variant", "simplified_v0") == [
        *("barrie_v0", "club_v0", "simplified_v0")
    ]
    assert names("--variant", "all") == list(variants)
    assert names("--rules", "farm.toml", "--variant", "barrie") == ["barrie_v0", "farm"]
    options = ["tournament", "--variant", "barrie", "--option", "target=40"]
    [game] = variants_of(build_parser().parse_args(options))
    assert game.rules.target == 40


def test_ctrl_c_prints_and_keeps_the_finished_pairs(monkeypatch, capsys, error_of):
    agents = ("random", "cautious", "rule", "--boards", "40")
    play = match

    def interrupted(variant, a, b, **options):
        if a == "rule":
            raise KeyboardInterrupt
        return play(variant, a, b, **options)

    monkeypatch.setattr("bideuchre_env.evaluation.tournament.match", interrupted)
    with only_run_in("t"):
        assert "another run is writing to" in error_of("tournament", *agents, "--out", "t")
    assert run("tournament", *agents, "--out", "t") == 130
    out, err = capsys.readouterr()
    assert err == "interrupted: 1 finished matches are saved; the same command resumes\n"
    assert "cautious against random" in out
    with Path("t/results.csv").open(encoding="utf-8") as file:
        assert [row["a"] for row in csv.DictReader(file)] == ["cautious"]
