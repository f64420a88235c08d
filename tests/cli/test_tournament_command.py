"""`bideuchre tournament`: pairs, tables, files, and resuming."""

import csv
import json
from pathlib import Path

from support.commands import run

from bideuchre_env import match, variants
from bideuchre_env._files import only_run_in
from bideuchre_env.cli.main import build_parser
from bideuchre_env.cli.tournament import variants_of

QUICK = ("--variant", "six_card_v0", "--pairs", "rule vs random", "--boards", "40")


def test_a_tournament_prints_pairs_tables_and_ratings(capsys):
    agents = ("random", "cautious", "rule")
    games = ("--variant", "barrie", "six_card_v0", "--agents", *agents, "--boards", "40")
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


def test_a_finished_tournament_is_printed_but_not_played_again(capsys, monkeypatch, error_of):
    assert run("tournament", *QUICK) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(match, "play", None)
    assert run("tournament", *QUICK) == 0
    assert first.endswith(capsys.readouterr().out)
    assert "has results with seed=0, not 1" in error_of("tournament", *QUICK, "--seed", "1")


def test_games_are_variants_or_files_of_rules():
    """Options take several values and may repeat; without them there is one game."""
    Path("farm.toml").write_text('base = "six_card"\nname = "farm"\ntarget = 9\n')

    def names(*options):
        return [
            game.name for game in variants_of(build_parser().parse_args(["tournament", *options]))
        ]

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
    agents = ("--agents", "random", "cautious", "rule", "--boards", "40")
    play = match.play

    def interrupted(variant, a, b, **options):
        if a == "rule":
            raise KeyboardInterrupt
        return play(variant, a, b, **options)

    monkeypatch.setattr(match, "play", interrupted)
    with only_run_in("t"):
        assert "another run is writing to" in error_of("tournament", *agents, "--out", "t")
    assert run("tournament", *agents, "--out", "t") == 130
    out, err = capsys.readouterr()
    assert err == "interrupted: 1 finished pairs are saved\n"
    assert "cautious against random" in out
    with Path("t/results.csv").open(encoding="utf-8") as file:
        assert [row["a"] for row in csv.DictReader(file)] == ["cautious"]
