"""The script that says as how many worlds those of a searcher count."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.script_modules import ROOT, loaded

from bideuchre_env.errors import OptionError


@pytest.fixture(scope="module")
def beliefs():
    with loaded("experiments", "beliefs") as (module,):
        yield module


@pytest.mark.parametrize("n", [5, 50, 500])
def test_worlds_drawn_by_themselves_count_as_many(beliefs, n):
    """Shares of n draws differ from seed to seed as those of n draws do."""
    rng, found = np.random.default_rng(n), []
    for _ in range(100):
        chances = rng.random((4, 48)) * (rng.random((4, 48)) < 0.5)
        found.append(beliefs.effective(rng.binomial(n, chances, (8, 4, 48)) / n))
    assert np.mean(found) == pytest.approx(n, rel=0.1)


def test_the_same_shares_from_every_seed_are_of_all_worlds(beliefs):
    """No seed makes a difference, whether there is one world or many."""
    assert beliefs.effective(np.full((8, 4, 48), 0.3)) == beliefs.EXACT
    assert beliefs.effective(np.zeros((8, 4, 48))) == beliefs.EXACT


def test_the_table_and_the_file(beliefs, tmp_path, capsys):
    """A row for each trick, and one for all; endings are gone through, first tricks drawn."""
    file = tmp_path / "rows.json"
    words = ["--agent", "inference:worlds=40", "--hands", "2", "--seeds", "3", "--json", str(file)]
    assert beliefs.main(beliefs.Args.parse(words)) == 0
    kept = json.loads(file.read_text())
    rows = {row["trick"]: row for row in kept["rows"]}
    assert 1 < rows[1]["median"] < 200
    assert rows[5]["tenth"] == beliefs.EXACT
    assert rows[None]["positions"] == sum(row["positions"] for row in kept["rows"][:-1])
    printed = capsys.readouterr().out
    assert beliefs.table(kept["rows"]) in printed
    assert "gone through" in printed
    assert "ms of processor time" in printed


def test_what_cannot_be_asked_is_said(beliefs, monkeypatch):
    """An agent that tries no worlds, too few seeds, hands without a choice."""
    with pytest.raises(OptionError, match="none that tries worlds"):
        beliefs.main(beliefs.Args.parse(["--agent", "rule"]))
    with pytest.raises(OptionError, match="--seeds: 2 or more"):
        beliefs.main(beliefs.Args.parse(["--seeds", "1"]))
    monkeypatch.setattr(beliefs, "positions", lambda *_: iter(()))
    with pytest.raises(OptionError, match="--hands 2: no position leaves a choice"):
        beliefs.main(beliefs.Args.parse(["--hands", "2"]))


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_what_is_published(beliefs, variant):
    """The page has the table of the file, and the command that makes it."""
    path = ROOT / "experiments" / "results" / "beliefs" / f"{variant}.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    assert f"\n{beliefs.table(kept['rows'])}\n" in page
    assert kept["agent"] == "inference"
    assert f"--hands {kept['hands']} --seeds {kept['seeds']}" in page
