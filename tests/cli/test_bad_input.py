"""Bad input of every command is one line, status 2 and no file; full disks and odd files."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import run
from support.custom_agents import write_file

from bideuchre_env import match
from bideuchre_env.bench import tasks
from bideuchre_env.cli import completion, records
from bideuchre_env.cli.main import build_parser
from bideuchre_env.evaluation import kernel_parts

HAND = "advise --hand 'JH JD AH KH QS 9C'"
EIGHT = "advise --hand 'JS JS JC AS KS AH AD QS'"
TEN = "JH JH JD JD AH AH KH KH QS QS"

BAD = [
    ("mach rule random", "invalid choice: 'mach' (did you mean 'match'?): expected play, "),
    ("help mach", "invalid choice: 'mach' (did you mean 'match'?): expected play, "),
    ("dance", "invalid choice: 'dance': expected play, match, tournament,"),
    # games, agents and rules: the same in every command
    ("match --variant ''", "'' is no variant: expected one of cincinnati_v0"),
    ("match --variant poker", "is no variant: expected one of cincinnati_v0"),
    ("match --variant barrie --rules farm.toml", "not allowed with argument"),
    ("match --rules no.toml", "no.toml: cannot be read: No such file or directory"),
    ("match --option target=0", "target=0"),
    ("variants barrie --option trget=1", "unknown option 'trget' (did you mean 'target'?)"),
    ("variants barie", "'barie' is no variant (did you mean 'barrie_v0'?): expected one of c"),
    ("variants --option target=40", "--option: expected with NAME"),
    ("match rule nobody", "the agents are random"),
    ("match ./mine.py:broken rule", "LookupError: no weights (mine.py, line "),
    ("match ./mine.py:Stumbles rule", "./mine.py:Stumbles': IndexError: list index out of"),
    ("match pimc:depth=2 rule", "depth=2: no option of 'pimc'"),
    ("match rule pimc:a", "cannot parse option 'a'"),
    ("agents experd", "did you mean 'expert'?"),
    ("agents net:weights=none.npz", "none.npz cannot be read: No such file"),
    ("compile nobody", "nobody"),
    # match
    ("match rule", "A rule: expected two agents"),
    ("match rule rule rule", "A rule rule rule: expected two agents"),
    ("match --seed -1", "seed"),
    ("match rule random --records mine.npz", "exists"),
    ("match rule random --records mine.npz/x.jsonl", "cannot be written"),
    ("match rule cautious --boards 0", "expected --boards N (boards of one hand), --games N"),
    ("match rule cautious --workers 0", "--workers 0: expected"),
    ("match rule cautious --at-once 0", "--at-once 0: expected"),
    ("match rule cautious --sprt 1 0", "--sprt 1 0: expected the first below the second"),
    ("match rule cautious --sprt nan 0", "--sprt nan 0: expected a finite number"),
    (
        "match rule cautious --bords 9",
        "unrecognized arguments: --bords 9 (did you mean '--boards'?",
    ),
    ("match rule cautious rule", "A rule cautious rule: expected two agents"),
    ("match pimc:worlds=0 rule", "worlds=0: expected a whole number"),
    (
        "match rule cautious --csv mine.npz",
        "exists: choose another file, or replace it (--force) (",
    ),
    ("match rule cautious --csv ''", "argument --csv: expected a path, not ''"),
    ("match rule cautious --csv x --picture x", "expected a different file for each"),
    ("match rule cautious --picture a.xyz", "png"),
    # play
    ("play --level easy --partner rule", "--level easy, --partner rule: expected a level or"),
    ("play --level easy --opponents rule", "--level easy, --opponents rule: expected a level or"),
    ("play --level middle", "invalid choice: 'middle'"),
    ("play --people 0,2", "--people: expected only with --web"),
    ("play --host ::1", "--host: expected only with --web"),
    ("play --port 1", "--port: expected only with --web"),
    ("play --web --people 0,4", "seats from 0 to 3, as 0,2"),
    ("play --web --people 0,0", "seats from 0 to 3, as 0,2"),
    ("play --web --people ''", "seats from 0 to 3, as 0,2"),
    ("play --web --people 0 --seat 0", "expected only one of them"),
    ("play --web --port 65536", "expected 0 to 65535"),
    ("play --web --host 192.0.2.1 --port 0", "--host 192.0.2.1 --port 0: "),
    # tournament
    ("tournament --pairs rule", "--pairs 'rule': expected \"AGENT vs AGENT\""),
    ("tournament --pairs 'rule vs nobody'", "no agent 'nobody'"),
    ("tournament rule", "A rule: expected 2 or more different names"),
    ("tournament rule random --pairs 'rule vs random'", "not allowed with argument"),
    ("tournament --boards 0", "--boards 0: expected 2 or more, for an interval"),
    ("tournament --sprt 0 1 --games 3 --variant all all", "expected all or names of variants"),
    ("tournament --variant barrie barrie_v0", "--variant barrie barrie_v0: expected different"),
    ("tournament --variant all barrie", "expected all or names of variants"),
    ("tournament --workers 0", "--workers 0: expected"),
    # tournament against a field
    ("tournament rule nobody --field", "no agent 'nobody'"),
    ("tournament rule --field rule nobody", "no agent 'nobody'"),
    ("tournament rule --field rule", "--field rule: expected an opponent other than the agent"),
    ("tournament rule rule --field", "A rule rule: expected 1 or more different names"),
    ("tournament rule --variant poker --field", "is no variant: expected one of cincinnati_v0"),
    ("tournament rule --boards 1 --field", "--boards 1: expected 2 or more, for an interval"),
    ("tournament rule --partners", "A rule: expected 2 or more different names"),
    # bench, prepare
    ("bench --seconds 0", "--seconds 0"),
    ("prepare --variant barrie_v0", "barrie_v0 needs no preparing"),
    ("prepare --rules missing.toml", "missing.toml"),
    ("prepare --variant barrie_v0 --option 'partnered=[5, 8]' --hands 10", "--hands 10: expected"),
    ("prepare --variant barrie_v0 --option 'partnered=[5, 8]' --seed -1", "seed"),
    ("prepare --option target=40", "--option: expected --variant or --rules with it"),
    ("prepare --force", "--force: expected --variant or --rules with it"),
    # hand
    ("hand 'JH JD'", "2 cards: expected 6 in this deck"),
    ("hand 'JH JH AH KH QS 9C'", "JH 2 times: expected at most 1 time"),
    (f"hand '{TEN}' --option ranks=10 --option copies=2", "no table for this deck of 40 cards"),
    # advise
    ("advise", "expected --hand"),
    (f"{HAND} --calls '4, 3'", "call 2, seat 3 may not choose 'bid 3'"),
    (f"{HAND} --calls 'P, 4, 3'", "call 3, seat 3 may not choose 'bid 3'"),
    (f"{HAND} --calls '4, pass, pass, pass' --dealer 2", "--strain: expected the strain"),
    (f"{HAND} --calls 'pass, 4' --dealer 3", "--calls: expected all calls before seat 0 acts"),
    (f"{HAND} --calls '4, pass, pass, pass' --strain X", "--strain: 'trump X' is no action"),
    (f"{HAND} --played 9S", "--played: too early, seat 0 is to call first"),
    (f"{HAND} --seat 5", "--seat 5: expected a seat from 0 to 3"),
    (f"{HAND} --score 60-0", "--score 60 to 0: expected a game in progress"),
    (f"{HAND} --deal 0", "--deal 0: expected a whole number from 1"),
    (f"{EIGHT} --variant barrie --calls 'pass, pass, call-2 S, pass'", "--dealer: expected 1 or 3"),
    (f"{HAND} --score many", "--score 'many': expected our points and theirs, as 28-30"),
    (f"{HAND} --ply 2", "--ply: expected only with FILE"),
    (f"{HAND} --agent pimc:worlds=0", ": worlds=0: expected a whole number from 1"),
    ("advise games.jsonl", "--ply: expected 1 to"),
    ("advise games.jsonl --hand 99 --ply 1", "--hand 99: expected 1 to"),
    ("advise games.jsonl --game 9 --ply 1", "has no game 9"),
    ("advise games.jsonl --ply 1 --seat 2", "--seat: not with FILE, whose record"),
    ("advise games.jsonl --ply 1 --variant cincinnati", "expected six_card_v0, as recorded"),
    # play
    ("play --seat 4", "--seat 4: expected 0 to 3"),
    ("play --partner nobody", "no agent 'nobody'"),
    ("play --opponents rule rule rule", "--opponents rule rule rule: expected one or two agents"),
    ("play --pause -1", "expected 0 to 60 seconds"),
    ("play --file mine.npz/game.json", "cannot be written"),
    # check and show
    ("records check none.jsonl", "cannot be read"),
    ("records show farm.toml", "no game record in its first 2 lines (line 1: not a line of JSON"),
    ("records show games.jsonl --game 0", "1 or more"),
    ("records show games.jsonl --game 5", "no readable game 5"),
    ("records show games.jsonl --hand 99", "no hand 99; the longest game of it has"),
    ("records show games.jsonl --force", "--force: expected only with --html"),
    ("records show games.jsonl --variant ''", "--variant: not with FILE"),
    ("records show games.jsonl --analyse --worlds 0", "--worlds 0: expected a whole number from 1"),
    ("records show games.jsonl --html a.html --hand 2", "--hand: not with --html"),
    ("records show games.jsonl --html mine.npz --game 1", "mine.npz exists: choose another file"),
    (
        "records show games.jsonl --html a.html",
        "--html: expected up to 1 games, and there are more",
    ),
    ("records show games.jsonl --agent rule", "--agent: expected only with --analyse"),
    # export
    (
        "records export games.jsonl out.csv",
        "'out.csv': expected NAME.npz, NAME.parquet or minari:ID",
    ),
    ("records export none out.npz", "none cannot be read: No such file or directory"),
    (
        "records export games.jsonl barrie.jsonl out.npz",
        "barrie.jsonl, game 1: barrie_v0 among games of",
    ),
    ("records export games.jsonl mine.npz", "mine.npz exists: choose another file"),
    ("records export games.jsonl out.npz --gamma 2", "--gamma 2: expected a number from 0 to 1"),
    (
        "records export games.jsonl out.npz --episode day",
        "argument --episode: invalid choice: 'day'",
    ),
    ("records export mine.npz mine.npz --force", "OUT mine.npz: expected a file that is not read"),
]


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """No notice that kernels compile, as if they were compiled."""
    monkeypatch.setattr(kernel_parts, "compile_notice", lambda parts: "")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of two games each, by name, with their content."""
    folder, content = tmp_path_factory.mktemp("games"), {}
    for name, variant in (("games.jsonl", "six_card_v0"), ("barrie.jsonl", "barrie_v0")):
        match(variant, "rule", "random", games=2, seed=4, records=folder / name)
        content[name] = (folder / name).read_bytes()
    toml = b'base = "barrie"\ntarget = 9\n'
    return content | {"empty.jsonl": b"", "mine.npz": b"mine", "farm.toml": toml}


@pytest.mark.parametrize(("command", "message"), BAD, ids=[command for command, _ in BAD])
def test_bad_input_is_one_line_that_names_the_help_of_the_command_and_no_file(
    command, message, files, folder, error_of, monkeypatch
):
    if "--web" in command:
        pytest.importorskip("aiohttp")
    for name, content in files.items():
        Path(name).write_bytes(content)
    write_file(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(records, "MOST_GAMES", 1)
    monkeypatch.setattr(tasks, "measure_group", None)  # nothing is measured
    before = sorted(os.listdir())
    error = error_of(*shlex.split(command))
    assert message in error
    if command not in ("dance", "mach rule random", "help mach", "records check none.jsonl"):
        words = command.split()
        name = " ".join(["bideuchre", *words[: 1 + (words[0] == "records")]])
        assert error.startswith(f"{name}: error: ")
        assert error.endswith(f" (see {name} --help)\n")
    assert [name for name in sorted(os.listdir()) if name != "__pycache__"] == before
    assert Path("mine.npz").read_bytes() == b"mine"


NEEDED = {
    "match": "rule cautious",
    "evaluate": "rule --protocol v1",
    "advise": "--hand 'JH JD AH KH QS 9C'",
    **dict.fromkeys(("advise --game", "advise --ply"), "games.jsonl"),
    "play --port": "--web",
    "records show": "games.jsonl --analyse",
    "records check": "games.jsonl",
    "quiz": "--out q.html",
    "boards": "--out b.html",
    "prepare": "--variant barrie_v0 --option target=40",
    "records export": "games.jsonl out.npz",
    "hand": "'JH JD AH KH QS 9C'",
}
"""Arguments that commands need, by command or option."""
NUMBERS = [
    (name, action.option_strings[-1], action.nargs or 1)
    for name, parser in completion.commands_of(build_parser()).items()
    for action in parser._actions
    if action.type in (int, float) and action.option_strings
]


@pytest.mark.parametrize(("name", "option", "count"), NUMBERS)
def test_a_bad_number_is_named_as_typed(name, option, count, files, error_of):
    Path("games.jsonl").write_bytes(files["games.jsonl"])
    needed = NEEDED.get(f"{name} {option}", NEEDED.get(name, ""))
    error = error_of(*name.split(), *shlex.split(needed), option, *["-1"] * count)
    assert error.startswith(f"bideuchre {name}: error: {' '.join([option, *['-1'] * count])}: ")


FULL = Path("/dev/full")
full_disk = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
NO_SPACE = "No space left on device"
MATCH = ("match", "rule", "cautious", "--boards", "2")


def one_line(text):
    """Check that a text is a one-line error message; return it."""
    assert text.count("\n") == 1, text
    assert text.startswith("bideuchre: error: ")
    return text


@full_disk
def test_a_full_disk_is_an_error_after_the_result(capsys):
    os.symlink(FULL, "link.csv")
    assert run(*MATCH, "--csv", "link.csv") == 1
    out, err = capsys.readouterr()
    assert "points per hand" in out
    assert f"link.csv could not be written: {NO_SPACE}" in one_line(err)
    assert os.listdir() == ["link.csv"]


@full_disk
def test_standard_output_on_a_full_disk_is_one_line():
    command = [sys.executable, "-m", "bideuchre_env", "variants", "--json"]
    with FULL.open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert f"standard output: {NO_SPACE}" in one_line(done.stderr)


def test_a_command_runs_with_closed_streams():
    line = f'"{sys.executable}" -m bideuchre_env variants <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 0


ODD = {
    "half a character twice": '{"\\ud800":1,"\\ud800":2}',
    "an escape code": '{"\\u001b[31m":1, "\\u001b[31m":2}',
    "a long name": json.dumps({"x" * 10**6: 1}),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    match("six_card_v0", "rule", "random", games=1, records=path)
    return path.read_text().splitlines(keepends=True)[0]


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_line_is_one_short_line_of_plain_text(odd, good, capfd):
    Path("good").write_text(good)
    Path("odd").write_text(good + ODD[odd] + "\n" + good)
    assert run("check", "odd", "good") == 1
    first, total, other = capfd.readouterr().out.splitlines()
    assert first.startswith("odd:2: ")
    assert first.isascii()
    assert first.isprintable()
    assert len(first) < 400
    assert total.startswith("odd: 2 games")
    assert other.startswith("good: 1 game, ")


def test_a_file_that_cannot_be_read_is_one_line_and_the_others_are_read(good, capfd):
    Path("good").write_text(good)
    os.mkdir("folder")
    assert run("check", "none", "good", "folder", "\x1b[31m", "good") == 2
    out, err = capfd.readouterr()
    assert [line.partition(":")[0] for line in out.splitlines()] == ["good", "good"]
    assert [line.split()[2] for line in err.splitlines()] == ["none", "folder", "\\x1b[31m"]
    assert "\x1b" not in err
