"""`bideuchre show --html` and `--analyse`: pages of games, and their review."""

import json
import re
from pathlib import Path

import pytest
from support.commands import run

from bideuchre_env import analysis, records_io, selfplay

QUICK = ("--agent", "rule", "--worlds", "20")


@pytest.fixture
def games(folder):
    """A file of three games whose third line is broken."""
    selfplay.play("six_card_v0", "rule", "cautious", games=3, seed=1, out="games.jsonl")
    lines = (folder / "games.jsonl").read_text().splitlines(keepends=True)[:3]
    (folder / "games.jsonl").write_text("".join([*lines[:2], "junk\n", lines[2]]))
    return "games.jsonl"


def page_of(path):
    """The games in the data of an HTML page."""
    data = re.search(r'id="data">(.*?)</script>', Path(path).read_text(encoding="utf-8"))[1]
    return json.loads(data)["games"]


def test_a_page_has_the_requested_games(games, capsys):
    assert run("show", games, "--html", "a.html", "--game", "2") == 0
    line = "a.html: 1 game to step through; open it in a browser\n"
    assert capsys.readouterr() == (line, "")
    assert [each["name"] for each in page_of("a.html")] == ["game 2"]
    assert run("show", games, "--html", "new/b.html") == 1  # for the broken line
    assert "games.jsonl:3: not a line of JSON" in capsys.readouterr().err
    assert [each["name"] for each in page_of("new/b.html")] == ["game 1", "game 2", "game 4"]
    assert run("show", games, "--html", "a.html", "--first", "1", "--force") == 0
    assert [each["name"] for each in page_of("a.html")] == ["game 1"]


def test_the_review_of_the_requested_hands_is_printed(games, capsys):
    record = next(line.record for line in records_io.scan(games, {2}))
    assert run("show", games, "--game", "2", "--hand", "1", "--hand", "3", "--analyse", *QUICK) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == f"Game 2: {analysis.review(record, 'rule', worlds=20, hands=[0, 2])}\n"
    assert run("show", games, "--first", "2", "--hand", "1", "--analyse", *QUICK) == 0
    assert re.findall(r"^Game \d+", capsys.readouterr().out, re.M) == ["Game 1", "Game 2"]


def test_a_page_has_the_notes_of_the_review(games):
    assert run("show", games, "--game", "1", "--analyse", *QUICK, "--html", "game.html") == 0
    [data] = page_of("game.html")
    review = analysis.review(next(iter(records_io.read(games))), "rule", worlds=20)
    noted = [note for hand in data["hands"] for note in hand["notes"] if note is not None]
    assert len(noted) == sum(player.decisions for player in review.players)
    page = Path("game.html").read_text(encoding="utf-8")
    for player in review.players:
        assert json.dumps(str(player), ensure_ascii=False)[1:-1] in page or str(player) in page
