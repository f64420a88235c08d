"""`bideuchre tournament` against a field, tables, files, and resuming."""

from __future__ import annotations

import json
import shlex
from datetime import date
from pathlib import Path

import pytest
from support.commands import run

from bideuchre_env import match
from bideuchre_env.cli.main import build_parser
from bideuchre_env.cli.tournament import command_line, set_defaults

TOURNAMENT = "bideuchre_env.evaluation.tournament"
QUICK = ("--field", "cautious", "timid", "--variant", "six_card_v0", "--boards", "40")


def data_of(folder):
    return json.loads((Path(folder) / "results.json").read_text(encoding="utf-8"))


def test_a_tournament_against_a_field_prints_and_writes_its_tables(capsys, monkeypatch):
    command = ("tournament", "rule", "rash", *QUICK, "--games", "4", "--out", "runs/evaluate")
    assert run(*command) == 0
    out, err = capsys.readouterr()
    assert err == ""
    rows = data_of("runs/evaluate")["table"]
    assert [row["agent"] for row in rows] == ["rule", "rash"]
    for row in rows:
        assert "{mean:+.2f} ± ".format(**row["points_per_hand"]) in out
    assert "written to runs/evaluate: results.md, results.tex, results.csv," in out
    monkeypatch.setattr(f"{TOURNAMENT}.match", None)
    command = [*shlex.split(data_of("runs/evaluate")["command"])[1:], "--out", "runs/evaluate"]
    assert run(*command) == 0
    _, origin, tables = capsys.readouterr().out.split("\n", 2)
    assert origin == f"4 of 4 matches are from the folder, of {date.today()}"
    assert out.endswith(tables)
    assert run(*command, "--json") == 0
    assert json.loads(capsys.readouterr().out) == data_of("runs/evaluate")


def test_crossplay_draws_a_heat_map(capsys):
    pytest.importorskip("matplotlib")
    assert run("tournament", "rule", "rash", *QUICK, "--partners") == 0
    out = capsys.readouterr().out
    assert "Self-play and cross-play" in out
    assert "rule + rash against cautious" in out
    for theme in ("light", "dark"):
        assert "as partners" in Path(f"runs/partners/results-{theme}.svg").read_text("utf-8")


def test_ctrl_c_keeps_finished_matches_and_explains_how_to_resume(monkeypatch, capsys):
    play = match

    def interrupted(variant, a, b, **options):
        if b == "timid":
            raise KeyboardInterrupt
        return play(variant, a, b, **options)

    monkeypatch.setattr(f"{TOURNAMENT}.match", interrupted)
    assert run("tournament", "rule", *QUICK, "--games", "0") == 130
    out, err = capsys.readouterr()
    assert err == "interrupted: 1 finished matches are saved; the same command resumes\n"
    assert "Interrupted before an agent had played the whole field." in out
    assert len(data_of("runs/field")["matches"]) == 1


def test_the_command_line_has_every_setting_of_the_results():
    words = "tournament net ./a.py:B --field rule --option target=9 --boards 9 --workers 2 --seed 3"
    arguments = build_parser().parse_args(words.split())
    set_defaults(arguments)
    assert command_line(arguments) == (
        "bideuchre tournament net ./a.py:B --field rule --variant cincinnati_v0 --option target=9 "
        "--boards 9 --games 200 --seed 3"
    )
