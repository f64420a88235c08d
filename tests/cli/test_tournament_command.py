"""`bideuchre tournament`, as a person meets it."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bideuchre_env import match, variants
from bideuchre_env._files import only_run_in
from bideuchre_env.cli import main as cli
from bideuchre_env.cli.main import build_parser
from bideuchre_env.cli.tournament import chosen

QUICK = ("--variant", "six_card_v0", "--agents", "random", "rule", "--boards", "40")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> int:
    try:
        return cli.main(["tournament", *arguments])
    except SystemExit as end:
        return int(end.code or 0)


def test_it_prints_a_line_a_pair_the_table_and_the_ratings(capsys):
    """Within 80 columns, and all of it is in the folder."""
    agents = ("random", "cautious", "rule")
    assert run("--variant", "barrie", "six_card_v0", "--agents", *agents, "--boards", "40") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    data = json.loads(Path("runs/tournament/results.json").read_text())
    lines = out.splitlines()
    for line, each in zip(lines, data["matches"], strict=False):
        a, b = each["agents"]
        assert line.startswith(f"{each['variant']:<16} {a} against {b} ")
        assert f"{each['points_per_hand']['mean']:+.2f} ± " in line
        assert line.endswith("points per hand")
    for variant, rated in data["ratings"].items():
        part = out.partition(f"{variant}: points per hand of the row's agents")[2]
        for agent, rating in rated.items():
            assert f"\n{agent:<8} " in part
            assert f" {rating['mean']:.0f} " in part
    assert "written to runs/tournament: results.md, results.csv, results.json," in out


def test_a_second_time_it_plays_nothing_and_prints_the_same_tables(capsys, monkeypatch):
    assert run(*QUICK) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(match, "play", None)
    assert run(*QUICK) == 0
    again = capsys.readouterr().out
    assert first.endswith(again)
    assert run(*QUICK, "--seed", "1") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "has results with seed=0, not 1" in err


def test_pairs_may_have_options_and_files(capsys):
    """Colons, commas and blanks around a name are no trouble."""
    Path("mine.py").write_text(
        "class A:\n    def act(self, seen, mask):\n        return mask.argmax()\n"
    )
    pairs = ["rule:boldness=1 vs rule", "./mine.py:A  vs rule"]
    assert run("--variant", "six_card_v0", "--boards", "20", "--pairs", *pairs) == 0
    data = json.loads(Path("runs/tournament/results.json").read_text())
    assert [each["agents"] for each in data["matches"]] == [
        ["rule:boldness=1", "rule"],
        ["./mine.py:A", "rule"],
    ]
    assert "rule:boldness=1 against rule" in capsys.readouterr().out


def test_games_are_named_listed_changed_or_files():
    """`--variant` and `--rules` take several and may be repeated; without either it is one."""
    Path("farm.toml").write_text('base = "six_card"\nname = "farm"\ntarget = 9\n')

    def names(*asked):
        return [game.name for game in chosen(build_parser().parse_args(["tournament", *asked]))]

    assert names() == ["cincinnati_v0"]
    assert names("--variant", "barrie", "club_v0", "--variant", "simplified_v0") == [
        *("barrie_v0", "club_v0", "simplified_v0")
    ]
    assert names("--variant", "all") == list(variants)
    assert names("--rules", "farm.toml") == ["farm"]
    assert names("--rules", "farm.toml", "--variant", "barrie") == ["barrie_v0", "farm"]
    asked = ["tournament", "--variant", "barrie", "--option", "target=40"]
    [game] = chosen(build_parser().parse_args(asked))
    assert game.rules.target == 40


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--agents", "rule", "nobody"], "no agent 'nobody'"),
        (["--agents", "rule"], "two or more"),
        (["--pairs", "rule"], "--pairs 'rule': expected \"AGENT vs AGENT\""),
        (["--pairs", "rule vs nobody"], "no agent 'nobody'"),
        (["--variant", "poker"], "poker"),
        (["--variant", "all", "barrie"], "all stands alone"),
        (["--rules", "none.toml"], "none.toml"),
        (["--boards", "1"], "boards"),
        (["--seed", "-1"], "seed"),
        (["--games", "-1"], "games"),
        (["--workers", "0"], "workers"),
        (["--sprt", "1", "0"], "below"),
        (["--sprt", "0", "nan"], "number"),
        (["--agents", "rule", "pimc:depth=3"], "depth=3: no option of 'pimc'"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(options, message, capsys):
    assert run(*options) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err
    assert os.listdir() == []


def test_without_matplotlib_one_line_says_how_to_get_it(monkeypatch, capsys):
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_svg"):
        monkeypatch.setitem(sys.modules, name, None)
    assert run(*QUICK) == 0
    assert capsys.readouterr().err == (
        'no heat map: it needs matplotlib, pip install "bideuchre_env[plot]"\n'
    )


def test_a_second_tournament_in_a_folder_is_refused(monkeypatch, capsys):
    """And one that ends before its first pair leaves the results that are there, and no folder."""
    os.mkdir("t")
    for name in ("results-dark.svg", "results.md"):
        Path("t", name).write_text("old")

    def interrupted(*rest, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(match, "play", interrupted)
    for folder in ("t", "new"):
        with only_run_in(folder):
            assert run("--out", folder, "--force") == 2
        assert "another run is writing to" in capsys.readouterr().err
        assert run("--out", folder, "--force") == 130
        assert capsys.readouterr().err == "interrupted: 0 finished pairs are kept\n"
    assert sorted(os.listdir("t")) == ["results-dark.svg", "results.md"]
    assert Path("t", "results-dark.svg").read_text() == "old"
    assert os.listdir() == ["t"]


PRESSED = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from bideuchre_env import match; from bideuchre_env.cli.main import main; play = match.play\n"
    "def press(*pair, **options):\n"
    "    if pair[1:] == ('rule', 'random'): signal.raise_signal(signal.SIGINT)\n"
    "    return play(*pair, **options)\n"
    "match.play = press; sys.exit(main(sys.argv[1:]))"
)


def test_ctrl_c_prints_and_keeps_the_finished_pairs():
    asked = ["tournament", "--agents", "random", "cautious", "rule", "--boards", "40"]
    command = [sys.executable, "-c", PRESSED, *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (130, -signal.SIGINT)
    assert "1 finished pairs are kept" in done.stderr
    assert "cautious against random" in done.stdout
    assert "rating" in done.stdout
    with Path("runs/tournament/results.csv").open(encoding="utf-8") as file:
        assert [row["a"] for row in csv.DictReader(file)] == ["cautious"]
