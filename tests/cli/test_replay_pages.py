"""`bideuchre show --html`: a page of the chosen games, whole or not there."""

from __future__ import annotations

import json
import re

import pytest
from support.replays import game

from bideuchre_env.cli import records
from bideuchre_env.cli.main import main
from bideuchre_env.records import files


@pytest.fixture
def games(tmp_path, monkeypatch):
    """The folder of a file of three games, the third line broken."""
    monkeypatch.chdir(tmp_path)
    records = [game("barrie_v0", 5), game("cincinnati_v0", 6), game("six_card_v0", 7)]
    files.write("games.jsonl", records)
    lines = (tmp_path / "games.jsonl").read_text().splitlines()
    lines.insert(2, "junk")
    (tmp_path / "games.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def names(path):
    """The games of a page."""
    data = re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"))[1]
    return [(each["name"], each["title"].split(",")[0]) for each in json.loads(data)["games"]]


def test_the_chosen_games_are_in_the_page(games, capsys):
    """By the numbers of their lines; all of them, or the first."""
    assert main(["show", "games.jsonl", "--html", "a.html", "--game", "2"]) == 0
    out, err = capsys.readouterr()
    assert out == "a.html: 1 game to step through; open it in a browser\n"
    assert err == ""
    assert names(games / "a.html") == [("game 2", "cincinnati_v0")]
    assert main(["show", "games.jsonl", "--html", "new/b.html"]) == 1  # of the broken line
    assert "games.jsonl:3: not a line of JSON" in capsys.readouterr().err
    assert [name for name, _ in names(games / "new" / "b.html")] == ["game 1", "game 2", "game 4"]
    assert main(["show", "games.jsonl", "--html", "c.html", "--first", "1"]) == 0
    assert names(games / "c.html") == [("game 1", "barrie_v0")]


def test_what_is_there_stays(games, capsys):
    """A file is replaced with --force alone; after an error an old one is as it was."""
    (games / "a.html").write_text("mine")
    asked = ["show", "games.jsonl", "--html", "a.html", "--game"]
    assert main([*asked, "1"]) == 2
    assert "a.html exists: choose another file, or replace it (--force" in capsys.readouterr().err
    assert main([*asked, "9", "--force"]) == 2
    assert "no readable game 9" in capsys.readouterr().err
    assert (games / "a.html").read_text() == "mine"
    assert main([*asked, "1", "--force"]) == 0
    assert names(games / "a.html") == [("game 1", "barrie_v0")]
    assert sorted(path.name for path in games.iterdir()) == ["a.html", "games.jsonl"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--force"], "--force: it goes with --html FILE"),
        (["--html", "a.html", "--hand", "2"], "--hand: a page has every hand"),
        (["--html", "games.jsonl/a.html"], "cannot be written"),
        (["--html", "a.html"], "--html: a page has up to 2 games, and there are more"),
    ],
)
def test_wrong_options_are_one_line(more, message, games, capsys, monkeypatch):
    """And leave no file."""
    monkeypatch.setattr(records, "MOST_GAMES", 2)
    assert main(["show", "games.jsonl", *more]) == 2
    err = capsys.readouterr().err.splitlines()
    assert message in err[-1]
    assert [path.name for path in games.iterdir()] == ["games.jsonl"]


def test_a_file_without_games_has_no_page(games, capsys):
    """It says so."""
    (games / "none.jsonl").write_text("\n")
    assert main(["show", "none.jsonl", "--html", "a.html"]) == 2
    assert "--html: there is no game to show" in capsys.readouterr().err
    assert not (games / "a.html").exists()
