"""The ladder script: its rungs, what it keeps, and the table in a file."""

from __future__ import annotations

import json

import pytest
from script_modules import loaded

from bideuchre_env.errors import OptionError


@pytest.fixture(scope="module")
def ladder():
    with loaded("experiments", "ladder") as (module,):
        yield module


@pytest.fixture
def arguments(tmp_path):
    agents = ("random", "cautious", "rule")
    return ["--agents", *agents, "--boards", "60", "--seed", "3", "--out", str(tmp_path / "rungs")]


def test_each_rung_is_a_match_and_is_kept(ladder, arguments, tmp_path, capsys):
    """Two variants of two rungs each; a second run plays nothing and prints the same."""
    assert ladder.main(ladder.parse_args(arguments)) == 0
    printed = capsys.readouterr().out
    kept = sorted((tmp_path / "rungs").glob("*.json"))
    assert len(kept) == 4
    for path in kept:
        found = json.loads(path.read_text())
        stronger, weaker = found["agents"]
        mean = found["boards"]["points_per_hand"]["mean"]
        assert f"| `{found['variant']}` | {stronger} over {weaker} | {mean:+.2f} |" in printed
        assert found["boards"]["boards"] == 60
        assert mean > 0
    told = json.loads(kept[0].read_text())
    told["boards"]["points_per_hand"]["mean"] = 99.0
    kept[0].write_text(json.dumps(told))
    assert ladder.main(ladder.parse_args(arguments)) == 0
    assert "+99.00" in capsys.readouterr().out


def test_the_table_goes_between_its_marks(ladder, arguments, tmp_path, capsys):
    """What stands around the marks stays; a file without them is refused."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- ladder -->\nold\n<!-- end -->\nafter\n")
    given = [*arguments, "--variants", "six_card_v0", "--write", str(page)]
    assert ladder.main(ladder.parse_args(given)) == 0
    table = capsys.readouterr().out.strip()
    assert page.read_text() == f"before\n<!-- ladder -->\n{table}\n<!-- end -->\nafter\n"
    page.write_text("nothing\n")
    with pytest.raises(OptionError, match="no lines"):
        ladder.main(ladder.parse_args(given))
    with pytest.raises(OptionError, match="no agent 'nobody'"):
        ladder.main(ladder.parse_args([*arguments, "--agents", "random", "nobody"]))
