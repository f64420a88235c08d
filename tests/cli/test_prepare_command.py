"""`bideuchre prepare`: a file of rules is learned, listed, and used by the next match."""

from __future__ import annotations

from functools import partial

import pytest

from bideuchre_env.cli.main import main
from bideuchre_env.preparing import prepare
from bideuchre_env.preparing.prepare import load_again


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    load_again()
    yield
    load_again()


def run(*arguments):
    return main([*arguments])


def test_a_game_is_prepared_and_listed(tmp_path, monkeypatch, capsys):
    """What it brought is told with an interval; the list has what was kept."""
    few = partial(prepare.Preparation, boards=20)
    monkeypatch.setattr(prepare, "Preparation", few)
    (tmp_path / "farm.toml").write_text('base = "six_card_v0"\nname = "farm"\ntarget = 21\n')
    assert run("prepare") == 0
    assert capsys.readouterr().out.startswith("nothing is prepared in ")
    assert run("prepare", "farm.toml", "--hands", "1000") == 0
    out = capsys.readouterr().out
    told = [line for line in out.splitlines() if " points per hand over " in line]
    assert [line.split(":")[0] for line in told] == ["expert", "net"]
    kept = sum("kept in" in line for line in told)
    assert kept + out.count("left out: what was there is as good") == 2
    assert run("prepare") == 0
    assert capsys.readouterr().out.count("bideuchre prepare farm --hands 1000") == kept


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["barrie_v0"], "barrie_v0 needs no preparing"),
        (["nonsense"], "nonsense"),
        (["missing.toml"], "missing.toml"),
        (["barrie_v0", "--option", "partnered=[5, 8]", "--hands", "10"], "hands=10"),
        (["barrie_v0", "--option", "partnered=[5, 8]", "--seed", "-1"], "seed"),
    ],
)
def test_odd_requests_are_one_line(arguments, said, capsys):
    assert run("prepare", *arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
