"""Old spellings of arguments work for one minor version, with a notice of the present one."""

import json
from pathlib import Path

import pytest
from support.commands import run

import bideuchre_env
from bideuchre_env.cli.main import build_parser
from bideuchre_env.cli.old_spellings import UNTIL, present

OLD = [
    ("selfplay --games 2 --agents rule random", "match rule random --games 2 --records"),
    ("tournament --agents rule random cautious", "tournament rule random cautious"),
    ("compile --agents rule", "compile rule"),
    ("tournament rule x --variants barrie club_v0", "tournament rule x --variant barrie club_v0"),
    ("evaluate rule --seed 3", "tournament rule --seed 3 --out runs/evaluate --field"),
    ("evaluate rule --field net --out x", "tournament rule --field net --out x"),
    ("crossplay rule net", "tournament rule net --out runs/crossplay --partners"),
    ("prepare farm.toml --hands 9", "prepare --rules farm.toml --hands 9"),
    ("prepare barrie --option target=9", "prepare --variant barrie --option target=9"),
    ("match rule random --json - --seed 2", "match rule random --json --seed 2"),
]


def test_old_spellings_end_with_the_next_minor_version():
    major, minor = map(int, bideuchre_env.__version__.split(".")[:2])
    assert f"{major}.{minor + 1}" == UNTIL, "remove old_spellings.py"


@pytest.mark.parametrize(("old", "new"), OLD)
def test_an_old_spelling_is_parsed_as_the_present_one(old, new, capsys):
    words, file = present(old.split())
    err = capsys.readouterr().err
    assert err.startswith(f"bideuchre {old.split()[0]} ")
    assert err.endswith(f"; the old spelling works until bideuchre_env {UNTIL}\n")
    assert err.count("\n") == 1
    assert (sorted(words), file) == (sorted(new.split()), None)
    old_parsed, parsed = (vars(build_parser().parse_args(each)) for each in (words, new.split()))
    assert old_parsed | {"parser": 0, "run": 0} == parsed | {"parser": 0, "run": 0}


@pytest.mark.parametrize("new", [*(new for _, new in OLD), "evaluate rule --protocol v1"])
def test_the_present_spelling_has_no_notice(new, capsys):
    assert present(new.split()) == (new.split(), None)
    assert capsys.readouterr().err == ""


def test_an_old_json_file_is_written(capsys):
    command = ("match", "rule", "random", "--boards", "4")
    assert run(*command, "--json") == 0
    expected = json.loads(capsys.readouterr().out)
    assert run(*command, "--json", "a.json") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "bideuchre match --json a.json is now bideuchre match --json > a.json; " in err
    data = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert data["points_per_hand"] == expected["points_per_hand"]
    assert run(*command, "--json", "a.json") == 2
    assert "a.json exists" in capsys.readouterr().err
    assert run(*command, "--json", "a.json", "--force") == 0
    assert run("bench", "--seconds", "0", "--json", "a.json", "--force") == 2
    assert json.loads(Path("a.json").read_text(encoding="utf-8"))["boards"] == 4
