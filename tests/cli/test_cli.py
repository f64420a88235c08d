"""The `bideuchre` command, as a person and as a program meet it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from support.commands import KEYS, run

import bideuchre_env
from bideuchre_env import records_io, selfplay
from bideuchre_env.cli.program import BROKEN_PIPE
from bideuchre_env.rules.options import OPTIONS

COMMAND = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from bideuchre_env.cli.main import main; sys.exit(main(sys.argv[1:]))"
)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """The lines of six games of Cincinnati."""
    out = tmp_path_factory.mktemp("games") / "games.jsonl"
    selfplay.play("cincinnati_v0", "rule", "cautious", games=6, seed=1, out=out)
    return out.read_text().splitlines(keepends=True)


def test_selfplay_prints_the_result_and_where_the_records_are(capsys):
    assert run("selfplay", "--games", "20") == 0
    out, err = capsys.readouterr()
    path = "runs/selfplay-cincinnati_v0-rule-random-seed0.jsonl"
    for words in ("rule against random", "20 games", "points per hand", "95 % interval", path):
        assert words in out
    for words in ("games won", "made", "set", "alone", "decisions per second"):
        assert words in out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out + err
    assert len(list(records_io.read(path))) == 20
    assert run("selfplay", "--games", "2") == 0
    out, err = capsys.readouterr()
    assert "seed0-2.jsonl" in out
    assert err == ""  # no word of compiling: the first run did that


@pytest.mark.parametrize("length", ["--boards", "--games"])
def test_json_is_the_object_of_the_notation(length, capsys):
    asked = ["selfplay", length, "10", "--agents", "cautious", "cautious", "--variant", "club_v0"]
    assert run(*asked, "--option", "target=30", "--option", "win_rule=any", "--json") == 0
    out, _ = capsys.readouterr()
    data = json.loads(out.splitlines()[-1])
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
    assert first.options == data["options"]
    assert first.agents == ["cautious"] * 4


def test_no_records_writes_none(capsys, tmp_path):
    assert run("selfplay", "--boards", "4", "--no-records", "--json") == 0
    assert json.loads(capsys.readouterr().out)["records"] is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("selfplay --variant poker", "is no variant: one of cincinnati_v0"),
        ("selfplay --agents rule nobody", "the agents are random"),
        ("selfplay --agents rule", "2 arguments"),
        ("selfplay --boards 0", "--boards 0"),
        ("selfplay --games -1", "--games -1"),
        ("selfplay --games x", "invalid int value"),
        ("selfplay --boards 1 --games 1", "not allowed with"),
        ("selfplay --seed -1", "seed"),
        ("selfplay --option target", "NAME=VALUE"),
        ("selfplay --option target=0", "target=0"),
        ("selfplay --option colour=red", "unknown option 'colour'"),
        ("selfplay --out taken.jsonl", "exists"),
        ("selfplay --out taken.jsonl/x.jsonl", "cannot be written"),
        ("selfplay --out x.jsonl --no-records", "cannot be given together"),
        ("variants poker", "is no variant: one of"),
        ("variants --option target=40", "name it"),
        ("check none.jsonl", "cannot be read"),
        ("show none.jsonl", "cannot be read"),
        ("show taken.jsonl --game 0", "1 or more"),
        ("show taken.jsonl --first 0", "1 or more"),
        ("show taken.jsonl --game 5", "no readable game 5"),
        ("dance", "invalid choice"),
    ],
)
def test_bad_input_is_one_line_on_stderr_and_code_2(arguments, message, capsys, tmp_path):
    (tmp_path / "taken.jsonl").write_text("")
    assert run(*arguments.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("bideuchre")
    assert err.count("\n") == 1
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["taken.jsonl"]


def test_force_replaces_a_file(tmp_path, capsys):
    (tmp_path / "old.jsonl").write_text("old")
    assert run("selfplay", "--boards", "2", "--out", "old.jsonl", "--force") == 0
    assert len(list(records_io.read("old.jsonl"))) == 4


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


def test_a_narrow_table_is_cut_into_whole_columns():
    from bideuchre_env.cli.variants import table

    games = {name: variant.rules for name, variant in bideuchre_env.variants.items()}
    wide = {tuple(row.split()) for row in table(games).splitlines() if "quadruple" not in row}
    narrow = table(games, 80)
    assert max(map(len, narrow.splitlines())) <= 80
    heads = [block.splitlines()[0].split() for block in narrow.split("\n\n")]
    assert len(heads) > 1
    assert [name for head in heads for name in head] == list(games)
    assert ("target", "32", "-", "52", "52", "32", "52") in wide


def test_a_variant_by_name_prints_its_rule_sheet(capsys):
    assert run("variants", "barrie_v0", "--option", "target=40") == 0
    out = capsys.readouterr().out
    assert str(bideuchre_env.barrie_v0.rules.replace(target=40)) in out
    assert run("variants", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert bideuchre_env.Rules(**data["club_v0"]) == bideuchre_env.club_v0.rules


def test_check_passes_good_files_and_goes_on_after_bad_lines(games, capsys, tmp_path):
    (tmp_path / "good.jsonl").write_text("".join(games))
    assert run("check", "good.jsonl") == 0
    assert capsys.readouterr().out.startswith("good.jsonl: 6 games, ")
    game = json.loads(games[0])
    game["hands"][0]["score"][0] += 1
    broken = json.dumps(game) + "\n"
    (tmp_path / "bad.jsonl").write_text(games[0] + broken + games[1] + "{}\n" + games[2][:99])
    assert run("check", "bad.jsonl", "good.jsonl") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bad.jsonl:2: hand 1: score")
    assert lines[1].startswith("bad.jsonl:4: ")
    assert lines[2].startswith("bad.jsonl:5: torn")
    assert lines[3].startswith("bad.jsonl: 2 games, ")
    assert lines[3].endswith("3 bad lines")
    assert lines[4].endswith("no fault")


def test_check_reads_standard_input(games, monkeypatch, capsys):
    stdin = io.TextIOWrapper(io.BytesIO("".join(games).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run("check", "-") == 0
    assert capsys.readouterr().out.startswith("<stdin>: 6 games")


def test_show_prints_the_games_asked_for_in_plain_text(games, capsys, tmp_path):
    (tmp_path / "games.jsonl").write_text("".join(games[:2]) + "junk\n" + "".join(games[3:]))
    assert run("show", "games.jsonl", "--game", "2", "--game", "4") == 0
    out = capsys.readouterr().out
    assert [line[:7] for line in out.splitlines() if line.startswith("Game ")] == [
        "Game 2:",
        "Game 4:",
    ]
    assert "\x1b" not in out
    assert "Contract" in out
    assert run("show", "games.jsonl", "--first", "1") == 0
    assert capsys.readouterr().out.count("Game ") == 1
    assert run("show", "games.jsonl") == 1
    out, err = capsys.readouterr()
    assert out.count("\nGame ") + out.startswith("Game ") == 5
    assert err.startswith("games.jsonl:3: not a line of JSON")


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["selfplay", "--help"], ["show", "--help"], ["selfplay", "--games", "x"]],
)
def test_help_and_parse_errors_import_nothing_heavy(arguments):
    code = (
        "import sys; from bideuchre_env.cli.main import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'rich', 'matplotlib', 'bideuchre_env.evaluation.selfplay'}\n"
        "heavy &= set(sys.modules)\n"
        "sys.exit(f'heavy: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_reader_that_goes_away_is_no_error(games, tmp_path):
    (tmp_path / "games.jsonl").write_text("".join(games) * 20)
    shown = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "show", "games.jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert shown.stdout.readline().startswith(b"Game 1")
    shown.stdout.close()
    assert shown.stderr.read() == b""
    assert shown.wait(timeout=600) == BROKEN_PIPE
    shown.stderr.close()


@contextmanager
def _long_run(path):
    """An endless self-play that has begun to write; killed if it is still there in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "selfplay", "--games", "100000000", "--out", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            deadline = time.monotonic() + 600
            while not (path.exists() and path.stat().st_size > 200_000):
                assert process.poll() is None, process.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.02)
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_prints_what_is_finished_and_leaves_whole_lines(tmp_path):
    path = tmp_path / "games.jsonl"
    with _long_run(path) as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "Interrupted" in out
    assert "points per hand" in out
    lines = path.read_bytes().splitlines(keepends=True)
    assert f"\n{len(lines):,} games" in out
    assert all(line.endswith(b"\n") for line in lines)
    for line in (*lines[:20], *lines[-20:]):
        bideuchre_env.GameRecord.loads(line.decode())


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_killed_run_leaves_whole_lines(tmp_path):
    path = tmp_path / "games.jsonl"
    with _long_run(path) as process:
        process.kill()
        process.communicate(timeout=600)
    lines = path.read_bytes().splitlines(keepends=True)
    assert all(line.endswith(b"\n") for line in lines)
    for line in (*lines[:20], *lines[-20:]):
        bideuchre_env.GameRecord.loads(line.decode())
