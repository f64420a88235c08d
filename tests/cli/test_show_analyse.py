"""`bideuchre show --analyse`: the review of a game, as text and on a page."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bideuchre_env import analysis, records_io, selfplay
from bideuchre_env.cli import main as cli

QUICK = ("--agent", "rule", "--worlds", "20")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """A file of two games."""
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    selfplay.play("six_card_v0", "rule", "cautious", games=2, seed=1, out=path)
    return str(path)


def run(*arguments: str) -> int:
    try:
        return cli.main(["show", *arguments])
    except SystemExit as end:
        return int(end.code or 0)


def test_it_prints_the_review_of_the_hands_asked_for(games, capsys):
    record = list(records_io.read(games))[1]
    assert run(games, "--game", "2", "--hand", "1", "--hand", "3", "--analyse", *QUICK) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == f"Game 2: {analysis.review(record, 'rule', worlds=20, hands=[0, 2])}\n"
    assert max(map(len, out.splitlines())) <= 80 + len("Game 2: ")
    assert [line.split(":")[0] for line in out.splitlines() if line.startswith("Hand ")] == [
        *("Hand 1", "Hand 3")
    ]


def test_every_game_of_a_file_is_reviewed(games, capsys):
    assert run(games, "--hand", "1", "--analyse", *QUICK) == 0
    heads = re.findall(r"^Game \d+: .*$", capsys.readouterr().out, re.M)
    assert [head.split(":")[0] for head in heads] == ["Game 1", "Game 2"]


def test_a_page_has_its_notes(games, capsys):
    """Every decision of the game is marked, and the players are summed up."""
    assert run(games, "--game", "1", "--analyse", *QUICK, "--html", "game.html") == 0
    page = Path("game.html").read_text(encoding="utf-8")
    review = analysis.review(next(iter(records_io.read(games))), "rule", worlds=20)
    for player in review.players:
        told = json.dumps(str(player), ensure_ascii=False)[1:-1]
        assert told in page or str(player) in page
    capsys.readouterr()
    assert run(games, "--game", "1", "--html", "plain.html") == 0
    assert len(Path("plain.html").read_text(encoding="utf-8")) < len(page)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--agent", "rule"], "--agent: it goes with --analyse"),
        (["--worlds", "9"], "--worlds: it goes with --analyse"),
        (["--analyse", "--agent", "nobody"], "no agent 'nobody'"),
        (["--analyse", "--worlds", "0"], "worlds=0"),
        (["--analyse", "--hand", "99"], "no hand 99"),
        (["--analyse", "--agent", "net:weights=none.npz"], "none.npz"),
    ],
)
def test_bad_input_is_one_line(games, options, message, capsys):
    assert run(games, "--game", "1", *options) in (1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


PRESSED = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from bideuchre_env.analysis import reviewing; from bideuchre_env.cli.main import main\n"
    "step = reviewing.step_row\n"
    "def press(*row): step(*row); signal.raise_signal(signal.SIGINT)\n"
    "reviewing.step_row = press; sys.exit(main(sys.argv[1:]))"
)


def test_ctrl_c_is_one_line_and_leaves_no_page(games):
    asked = ["show", games, "--analyse", *QUICK, "--html", "game.html"]
    command = [sys.executable, "-c", PRESSED, *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (130, -signal.SIGINT)
    assert done.stderr.splitlines()[-1] == "bideuchre: interrupted"
    assert os.listdir() == []
