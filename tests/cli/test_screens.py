"""What a person sees at the command line: the greeting, every `--help`, `show`, wrong files."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest
from support.commands import run

from bideuchre_env import agents, records_io, selfplay, variants
from bideuchre_env.cli import main as cli
from bideuchre_env.cli import screen


def parsers():
    """Every command's parser by name, and that of `bideuchre` itself as ""."""
    parser = cli.build_parser()
    chosen = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {"": parser, **chosen.choices}


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """A file of two games of Cincinnati."""
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    selfplay.play("cincinnati_v0", "rule", "cautious", games=2, seed=1, out=path)
    return path


def test_the_command_alone_greets(capsys):
    """What this is and five things to try, each a command that there is; exit code 0."""
    assert run() == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Bid Euchre" in out
    tried = [line.split() for line in out.splitlines() if line.startswith("  bideuchre ")]
    assert len(tried) == 5
    for words in tried:
        assert words[1] in parsers()
    assert max(map(len, out.splitlines())) <= 80


def test_the_greeting_shows_the_file_that_its_first_line_writes(tmp_path, monkeypatch, capsys):
    """`selfplay`, then `show` of its records."""
    monkeypatch.chdir(tmp_path)
    assert run("selfplay", "--games", "2") == 0
    capsys.readouterr()
    shown = next(words for words, _ in cli._TRY if words.startswith("bideuchre show"))
    assert run(*shown.split()[1:]) == 0
    assert "Game 1: cincinnati_v0" in capsys.readouterr().out


@pytest.mark.parametrize("name", parsers())
def test_every_help_has_an_example_that_is_read(name):
    """Each example is a command line of this command's parser."""
    page = parsers()[name].format_help()
    lines = page[page.index("\nexample") :].splitlines()
    examples = [line for line in lines if line.startswith("  bideuchre ")]
    assert examples
    for line in examples:
        words = line.partition(" > ")[0].replace('"', "'").split("'")
        asked = [w for k, part in enumerate(words) for w in ([part] if k % 2 else part.split())]
        parsed = cli.build_parser().parse_args(asked[1:])
        assert parsed.run or name == ""


@pytest.mark.parametrize("name", parsers())
def test_help_names_the_variants_and_agents_there_are_to_choose_from(name):
    """Where a command takes one."""
    parser = parsers()[name]
    page = " ".join(parser.format_help().split())
    taken = {action.dest for action in parser._actions}
    if "variant" in taken or name in ("", "variants"):
        assert f"variants: {', '.join(variants)}" in page
    if taken & {"a", "agents"} or not name:
        assert f"agents, weakest first: {', '.join(agents.names())}" in page


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("name", parsers())
def test_help_fits_the_screen(name, columns, monkeypatch):
    """The examples may stick out of the narrowest."""
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = parsers()[name].format_help().splitlines()
    prose = [line for line in lines if not line.startswith("  bideuchre ")]
    assert max(map(len, prose)) <= columns
    assert max(map(len, lines)) <= 80 or columns == 120


def test_python_m_is_the_command():
    """`python -m bideuchre_env`, with its name in what it prints."""
    command = [sys.executable, "-m", "bideuchre_env", "dance"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("bideuchre: error: ")


def test_show_prints_the_hands_asked_for(games, capsys):
    """As often as `--hand` is given; which there is none of is an error, and one line."""
    asked = ["show", str(games), "--game", "2"]
    assert run(*asked, "--hand", "3", "--hand", "1") == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("Hand ")] == ["Hand 1", "Hand 3"]
    hands = len(list(records_io.read(games))[1].hands)
    assert run(*asked, "--hand", "99") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"no hand 99; the longest game it shows has {hands} hands" in err
    assert err.count("\n") == 1
    assert run(*asked, "--hand", "0") == 2
    assert "--hand 0: it must be 1 or more" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(999), "no game record in its first 3 lines"),
        (b"# A page\n\nof text\n" * 50, "no game record in its first 20 lines (line 1: not a line"),
        (b'{"format": "other"}\n', "no game record in it (line 1: a record: lacks"),
        (None, "Is a directory"),
    ],
)
def test_a_wrong_file_is_one_line(content, message, tmp_path, capsys):
    """A picture, a text, another format, a folder."""
    path = tmp_path / "wrong"
    path.mkdir() if content is None else path.write_bytes(content)
    assert run("show", str(path)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err
    code = run("check", str(path))
    lines = "".join(capsys.readouterr()).splitlines()
    assert code == (1 if content and content.count(b"\n") < 20 else 2)
    assert len(lines) <= 5


def test_an_empty_file_has_no_games(tmp_path, capsys):
    """Which is said, and is no error: a run that was stopped early leaves one."""
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    assert run("show", str(path)) == 0
    assert capsys.readouterr() == ("", f"{path}: no games\n")


def test_the_screen_is_at_least_60_columns(monkeypatch):
    """And text is folded to it."""
    for columns, width in (("20", 60), ("72", 72), ("400", 100)):
        monkeypatch.setenv("COLUMNS", columns)
        assert screen.width() == width
    assert max(map(len, screen.folded("word " * 99).splitlines())) <= 100


@pytest.mark.parametrize("name", [None, *parsers()])
def test_help_is_light(name):
    """A greeting or a page of help imports no compiler, and no more than the package does."""
    asked = [] if name is None else [*name.split(), "--help"]
    command = [sys.executable, "-X", "importtime", "-m", "bideuchre_env", *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "bideuchre_env.cli.screen" in imported
    assert not imported & {"numba", "rich", "matplotlib"}
