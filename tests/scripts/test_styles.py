"""The script that measures agents against other styles."""

from __future__ import annotations

import json

import pytest
from support.script_modules import ROOT, loaded

from bideuchre_env.errors import OptionError

AGENTS = ["--agents", "rule", "rule:boldness=3", "cautious"]


@pytest.fixture(scope="module")
def styles():
    with loaded("experiments", "styles") as (module,):
        yield module


def ask(styles, tmp_path, *more):
    """The script's options, its files in the test's own folder."""
    files = ["--out", str(tmp_path / "kept"), "--json", str(tmp_path / "rows.json")]
    return styles.Args.parse([*AGENTS, "--opponents", "rule", "cautious", *files, *more])


def test_the_tables_and_the_file(styles, tmp_path, capsys):
    """Agents over opponents, and board by board beside the first; what is kept is not played."""
    assert styles.main(ask(styles, tmp_path, "--boards", "500")) == 0
    kept = json.loads((tmp_path / "rows.json").read_text())
    found = {(row["agent"], row["opponent"]): row for row in kept["rows"]}
    assert found["rule", "rule"]["points_per_hand"]["mean"] == 0
    assert found["rule", "cautious"]["more"] is None
    more = found["cautious", "rule"]["more"]
    assert more["mean"] == pytest.approx(found["cautious", "rule"]["points_per_hand"]["mean"])
    assert found["rule:boldness=3", "rule"]["points_per_hand"]["high"] < 0
    difference = found["rule:boldness=3", "cautious"]
    assert difference["more"]["mean"] == pytest.approx(
        difference["points_per_hand"]["mean"] - found["rule", "cautious"]["points_per_hand"]["mean"]
    )
    printed = capsys.readouterr().out
    assert "| points per hand | over rule | over cautious |" in printed
    assert "| more than rule | over rule | over cautious |" in printed

    files = sorted((tmp_path / "kept").iterdir())
    assert len(files) == 6
    for file in files:
        told = json.loads(file.read_text())
        told["points"] = [2] * 500
        file.write_text(json.dumps(told))
    assert styles.main(ask(styles, tmp_path, "--boards", "500")) == 0
    assert "| rule | +1.000 ± 0.000 | +1.000 ± 0.000 |" in capsys.readouterr().out


def test_what_is_no_result_is_said(styles, tmp_path):
    """A damaged file, or one of other agents, is refused and left as it is."""
    args = ask(styles, tmp_path, "--boards", "20")
    assert styles.main(args) == 0
    file = min((tmp_path / "kept").iterdir())
    for text in ("", "{}", '{"pair": ["a", "b"], "points": []}', "[]"):
        file.write_text(text)
        with pytest.raises(OptionError, match="is no result of"):
            styles.main(args)
        assert file.read_text() == text
    with pytest.raises(OptionError, match="--boards: 2 or more"):
        styles.main(ask(styles, tmp_path, "--boards", "1"))


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_no_searcher_is_surely_weaker_than_the_expert_against_any_style(styles, variant):
    """What is published, and that the page says so."""
    path = ROOT / "experiments" / "results" / "styles" / f"{variant}.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    rows, boards = kept["rows"], kept["boards"]
    agents = list(dict.fromkeys(row["agent"] for row in rows))
    opponents = list(dict.fromkeys(row["opponent"] for row in rows))
    assert kept["variant"] == variant
    assert {"expert", "pimc", "inference"} <= set(agents)
    assert {"rule", styles.RASH, styles.TIMID, "ppo", "net"} == set(opponents)
    for row in rows:
        assert row["agent"] == "expert" or row["more"]["high"] > 0.0
        assert row["agent"] != "inference" or row["more"]["low"] > 0.0
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    assert f"--boards {boards} --seed {kept['seed']}" in page
    for told in ("points_per_hand", "more"):
        assert f"\n{styles.table(rows, told, agents, opponents)}\n" in page
