"""`bideuchre selfplay`, `variants`, `check` and `show`, its pages, and Ctrl-C in a long run."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.commands import KEYS, run

import bideuchre_env
from bideuchre_env import analysis, match, records_io
from bideuchre_env.cli.program import BROKEN_PIPE
from bideuchre_env.cli.variants import sheet
from bideuchre_env.rules.options import OPTIONS

PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from bideuchre_env.cli.main import main; sys.exit(main(sys.argv[1:]))"
)
COMMAND = (sys.executable, "-c", PROGRAM)
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    out = tmp_path_factory.mktemp("games") / "games.jsonl"
    match("cincinnati_v0", "rule", "cautious", games=6, seed=1, records=out)
    return out.read_text().splitlines(keepends=True)


def test_selfplay_prints_the_result_and_the_file_of_records(capsys):
    assert run("selfplay", "--games", "6") == 0
    out, err = capsys.readouterr()
    path = "runs/match-cincinnati_v0-rule-cautious-seed0.jsonl"
    for words in ("rule against cautious", "6 games", "points per hand", "95 % interval", path):
        assert words in out
    for words in ("games won", "made", "set", "alone", "decisions per second"):
        assert words in out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out + err
    assert len(list(records_io.read(path))) == 6
    assert run("selfplay", "--games", "2") == 0
    out, err = capsys.readouterr()
    assert "seed0-2.jsonl" in out
    assert err == ""  # nothing is compiled a second time
    assert run("selfplay", "--boards", "2", "--out", path, "--force") == 0
    assert len(list(records_io.read(path))) == 4


@pytest.mark.parametrize("length", ["--boards", "--games"])
def test_selfplay_prints_the_result_as_json(length, capsys, folder):
    options = ["cautious", "cautious", "--variant", "club_v0"]
    options += ["--option", "target=30", "--option", "win_rule=any", "--json"]
    assert run("selfplay", length, "10", *options) == 0
    data = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(KEYS) <= set(data)
    assert data["variant"] == "club_v0"
    assert data["options"] == {"target": 30, "win_rule": "any"}
    assert data["agents"] == ["cautious", "cautious"]
    assert data["boards"] == (10 if length == "--boards" else 5)
    assert set(data["points_per_hand"]) == {"mean", "low", "high"}
    assert set(data["games"]) == {"a_won", "b_won", "drawn", "truncated"}
    assert sum(data["games"].values()) == (0 if length == "--boards" else 10)
    assert list(data["contracts"]) == ["cautious", "cautious#2"]
    for counts in data["contracts"].values():
        assert list(counts) == ["bid", "made", "set", "lone_bid", "lone_made"]
        assert counts["bid"] == counts["made"] + counts["set"]
    first = next(records_io.read(data["records"]))
    assert (first.options, first.agents) == (data["options"], ["cautious"] * 4)
    files = sorted(folder.rglob("*"))
    assert run("selfplay", length, "2", *options, "--no-records") == 0
    assert json.loads(capsys.readouterr().out)["records"] is None
    assert sorted(folder.rglob("*")) == files


def test_variants_prints_every_option_of_every_variant(capsys):
    assert run("variants") == 0
    out = capsys.readouterr().out
    head, *rows = out.splitlines()
    assert head.split() == list(bideuchre_env.variants)
    starts = [head.index(name) for name in bideuchre_env.variants]
    cells = {row.split()[0]: row for row in rows}
    for option in OPTIONS:
        for start, variant in zip(starts, bideuchre_env.variants.values(), strict=True):
            value = getattr(variant.rules, option)
            if option not in ("partnered", "lone") and value is not None:
                assert cells[option][start:].split()[0] == str(value)


def test_rules_are_printed_as_a_sheet_as_json_and_as_a_file(capsys, folder):
    changed = bideuchre_env.barrie_v0.rules.replace(partnered=(4, 8))
    assert run("variants", "barrie", "--option", "partnered=4-8") == 0
    assert str(changed) in capsys.readouterr().out
    assert run("variants", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert bideuchre_env.Rules(**data["club_v0"]) == bideuchre_env.club_v0.rules
    assert run("variants", "--toml", "barrie", "--option", "partnered=4-8") == 0
    text = capsys.readouterr().out
    assert bideuchre_env.Rules.from_toml(text) == changed
    (folder / "farm.toml").write_text(text, encoding="utf-8")
    assert run("variants", "farm.toml") == 0
    assert capsys.readouterr().out == f"farm\n\n{sheet(changed)}\n"
    assert run("variants", "farm.toml", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"farm": changed.to_dict()}


def test_selfplay_and_its_records_use_the_rules_file_and_options(capsys, folder):
    (folder / "farm.toml").write_text('base = "barrie"\ntarget = 9\n', encoding="utf-8")
    options = ("--boards", "4", "--json", "--rules", "farm.toml", "--option", "max_hands=7")
    assert run("selfplay", *options) == 0
    data = json.loads(capsys.readouterr().out)
    rules = bideuchre_env.make("farm.toml").rules
    assert bideuchre_env.Rules(**data["options"]) == rules.replace(max_hands=7)
    assert data["records"] == "runs/match-farm-rule-cautious-seed0.jsonl"
    assert run("show", data["records"], "--first", "1") == 0
    assert "Game 1: farm" in capsys.readouterr().out


def test_check_verifies_files_and_continues_after_bad_lines(games, capsys, folder, monkeypatch):
    (folder / "good.jsonl").write_text("".join(games))
    assert run("check", "good.jsonl") == 0
    assert capsys.readouterr().out.startswith("good.jsonl: 6 games, ")
    game = json.loads(games[0])
    game["hands"][0]["score"][0] += 1
    broken = json.dumps(game) + "\n"
    (folder / "bad.jsonl").write_text(games[0] + broken + games[1] + "{}\n" + games[2][:99])
    assert run("check", "bad.jsonl", "good.jsonl") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bad.jsonl:2: hand 1: score")
    assert lines[1].startswith("bad.jsonl:4: ")
    assert lines[2].startswith("bad.jsonl:5: torn")
    assert lines[3].startswith("bad.jsonl: 2 games, ")
    assert lines[3].endswith("3 bad lines")
    assert lines[4].endswith("no fault")
    stdin = io.TextIOWrapper(io.BytesIO("".join(games).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run("check", "-") == 0
    assert capsys.readouterr().out.startswith("<stdin>: 6 games")


def test_show_prints_the_requested_games_and_hands_in_plain_text(games, capsys, folder):
    (folder / "games.jsonl").write_text("".join(games[:2]) + "junk\n" + "".join(games[3:]))
    assert run("show", "games.jsonl", "--game", "2", "--game", "4") == 0
    out = capsys.readouterr().out
    heads = [line[:7] for line in out.splitlines() if line.startswith("Game ")]
    assert heads == ["Game 2:", "Game 4:"]
    assert "\x1b" not in out
    assert "Contract" in out
    assert run("show", "games.jsonl", "--game", "2", "--hand", "3", "--hand", "1") == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("Hand ")] == ["Hand 1", "Hand 3"]
    assert run("show", "games.jsonl", "--first", "1") == 0
    assert capsys.readouterr().out.count("Game ") == 1
    assert run("show", "games.jsonl") == 1
    out, err = capsys.readouterr()
    assert out.count("\nGame ") + out.startswith("Game ") == 5
    assert err.startswith("games.jsonl:3: not a line of JSON")
    (folder / "empty.jsonl").touch()
    assert run("show", "empty.jsonl") == 0
    assert capsys.readouterr() == ("", "empty.jsonl: no games\n")


@pytest.mark.slow
def test_a_reader_that_closes_the_pipe_is_no_error(games, folder):
    (folder / "games.jsonl").write_text("".join(games) * 20)
    with subprocess.Popen([*COMMAND, "show", "games.jsonl"], **PIPES) as process:
        assert process.stdout.readline().startswith(b"Game 1")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=600) == BROKEN_PIPE


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_prints_the_result_so_far_and_leaves_complete_lines(folder):
    path = folder / "games.jsonl"
    command = [*COMMAND, "selfplay", "--games", "10000000", "--out", "games.jsonl"]
    with subprocess.Popen(command, **PIPES, text=True) as process:
        try:
            while not (path.exists() and path.stat().st_size > 200_000):
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=600)
        finally:
            process.kill()
    lines = path.read_bytes().splitlines(keepends=True)
    assert all(line.endswith(b"\n") for line in lines)
    for line in (*lines[:20], *lines[-20:]):
        bideuchre_env.GameRecord.loads(line.decode())
    assert process.returncode == 130, err
    assert "Interrupted" in out
    assert f"\n{len(lines):,} games" in out


QUICK = ("--agent", "rule", "--worlds", "20")


@pytest.fixture
def game_file(folder):
    """A file of three games whose third line is broken."""
    match("six_card_v0", "rule", "cautious", games=3, seed=1, records="games.jsonl")
    lines = (folder / "games.jsonl").read_text().splitlines(keepends=True)[:3]
    (folder / "games.jsonl").write_text("".join([*lines[:2], "junk\n", lines[2]]))
    return "games.jsonl"


def page_of(path):
    data = re.search(r'id="data">(.*?)</script>', Path(path).read_text(encoding="utf-8"))[1]
    return json.loads(data)["games"]


@pytest.mark.slow
def test_a_page_has_the_requested_games(game_file, capsys):
    assert run("show", game_file, "--html", "a.html", "--game", "2") == 0
    line = "a.html: 1 game to step through; open it in a browser\n"
    assert capsys.readouterr() == (line, "")
    assert [each["name"] for each in page_of("a.html")] == ["game 2"]
    assert run("show", game_file, "--html", "new/b.html") == 1  # for the broken line
    assert "games.jsonl:3: not a line of JSON" in capsys.readouterr().err
    assert [each["name"] for each in page_of("new/b.html")] == ["game 1", "game 2", "game 4"]
    assert run("show", game_file, "--html", "a.html", "--first", "1", "--force") == 0
    assert [each["name"] for each in page_of("a.html")] == ["game 1"]


@pytest.mark.search
def test_the_review_of_the_requested_hands_is_printed(game_file, capsys):
    record = next(line.record for line in records_io.scan(game_file, {2}))
    hands = ("--hand", "1", "--hand", "3")
    assert run("show", game_file, "--game", "2", *hands, "--analyse", *QUICK) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == f"Game 2: {analysis.review(record, 'rule', worlds=20, hands=[0, 2])}\n"
    assert run("show", game_file, "--first", "2", "--hand", "1", "--analyse", *QUICK) == 0
    assert re.findall(r"^Game \d+", capsys.readouterr().out, re.M) == ["Game 1", "Game 2"]


@pytest.mark.search
def test_a_page_has_the_notes_of_the_review_and_the_review_is_printed(game_file, capsys):
    assert run("show", game_file, "--game", "1", "--analyse", *QUICK, "--html", "game.html") == 0
    [data] = page_of("game.html")
    review = analysis.review(next(iter(records_io.read(game_file))), "rule", worlds=20)
    printed = capsys.readouterr().out
    assert printed.startswith(f"Game 1: {review}\n")
    assert printed.endswith("game.html: 1 game to step through; open it in a browser\n")
    assert len(data["mistakes"]) == len(review.mistakes)
    noted = [note for hand in data["hands"] for note in hand["notes"] if note is not None]
    assert len(noted) == sum(player.decisions for player in review.players)
    page = Path("game.html").read_text(encoding="utf-8")
    for player in review.players:
        assert json.dumps(str(player), ensure_ascii=False)[1:-1] in page or str(player) in page
