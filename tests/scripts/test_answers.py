"""The script that asks agents the same decisions and tries what they decide otherwise."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.script_modules import ROOT, loaded

import bideuchre_env
from bideuchre_env.errors import OptionError


@pytest.fixture(scope="module")
def answers():
    with loaded("experiments", "answers") as (module,):
        yield module


def ask(answers, tmp_path, agents, *more):
    """The script's options, its file in the test's own folder."""
    file = ["--json", str(tmp_path / "rows.json"), "--worlds", "60", "--boards", "5"]
    return answers.Args.parse(["--agents", *agents, *file, *more])


def test_the_table_and_the_file(answers, tmp_path, capsys):
    """Who decides alike loses nothing; who draws lots loses much, and in both parts."""
    args = ask(answers, tmp_path, ["expert", "expert:margin=0.1", "random", "cautious"])
    assert answers.main(args) == 0
    rows = {row["agent"]: row for row in json.loads((tmp_path / "rows.json").read_text())["rows"]}
    assert rows["expert"]["points_lost_in_100"]["mean"] == 0
    assert rows["expert"]["cards"]["differ"] == rows["expert"]["calls"]["differ"] == 0
    lots = rows["random"]
    assert lots["points_lost_in_100"]["low"] > 20
    assert lots["points_lost_in_100"]["mean"] > rows["cautious"]["points_lost_in_100"]["mean"]
    assert 0.2 < lots["cards"]["differ"] / lots["cards"]["asked"] < 0.9
    assert lots["calls"]["differ"] > 0
    assert lots["calls"]["milliseconds"] > 0
    printed = capsys.readouterr().out
    n = lots["cards"]["asked"] + lots["calls"]["asked"]
    assert printed.startswith(f"{n:,} decisions")
    assert (
        "| agent | ms a call | ms a card | calls unlike expert | cards unlike expert | " in printed
    )
    assert answers.main(args) == 0
    again = {row["agent"]: row for row in json.loads((tmp_path / "rows.json").read_text())["rows"]}
    assert again["random"]["points_lost_in_100"] == lots["points_lost_in_100"]


def test_only_decisions_are_positions(answers):
    """Each leaves a choice; calls and cards are told apart by what may be done."""
    game = bideuchre_env.make("barrie_v0")
    found = answers.taken(game, 4, 3)
    assert (found.masks.astype(bool).sum(axis=1) > 1).all()
    phase = bideuchre_env.make("barrie_v0").raw_env().observation_layout.slices["phase"]
    auction = found.observations[:, phase].argmax(axis=1) < 2
    np.testing.assert_array_equal(found.cards, ~auction)
    assert 0 < found.cards.sum() < len(found.cards)


def test_what_cannot_be_asked_is_said(answers, tmp_path):
    with pytest.raises(OptionError, match="--boards: 1 or more"):
        answers.main(ask(answers, tmp_path, ["rule", "expert"], "--boards", "0"))
    with pytest.raises(OptionError, match="--agents: two or more that play this game"):
        answers.main(ask(answers, tmp_path, ["rule", "rule"]))
    with pytest.raises(OptionError, match="worlds=0"):
        answers.main(ask(answers, tmp_path, ["rule", "expert"], "--worlds", "0"))
    assert not (tmp_path / "rows.json").exists()


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_what_is_published_is_what_was_found(answers, variant):
    """Fewer deals cost `inference` points, the fewer the more."""
    path = ROOT / "experiments" / "results" / "answers" / f"{variant}.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    rows = {row["agent"]: row for row in kept["rows"]}
    first, n = kept["rows"][0], sum(kept["rows"][0][part]["asked"] for part in answers.PARTS)
    assert (kept["variant"], first["agent"]) == (variant, "inference")
    lost = [rows[f"inference:{name}"]["points_lost_in_100"]["mean"] for name in
            ("considered=6", "considered=4", "considered=2")]  # fmt: skip
    assert 0 < lost[0] < lost[1] < lost[2]
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    assert f"On `{variant}`, {answers.table(kept['rows'], 'inference', n)}\n" in page
