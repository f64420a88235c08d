"""The script that plays the calls of one agent with the cards of another."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.script_modules import loaded

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions


@pytest.fixture(scope="module")
def halves():
    with loaded("experiments", "halves") as (module,):
        yield module


def test_each_half_decides_its_own(halves):
    """Calls and strains as the one would, cards as the other."""
    game = bideuchre_env.make("cincinnati_v0")
    first_card = actions.of(game.rules).card_offset
    one, other = (agents.make(name, game.rules, seed=1) for name in ("rule", "expert"))
    both, vec = halves.Halves(one, other, first_card), game.vec(64)
    seen, _ = vec.reset(seed=3)
    differ = {False: 0, True: 0}
    for _ in range(40):
        rows = seen["observation"], seen["action_mask"]
        found, first, second = (agent.act_rows(*rows) for agent in (both, one, other))
        cards = rows[1][:, first_card:].any(axis=1)
        np.testing.assert_array_equal(found, np.where(cards, second, first))
        for part in differ:
            differ[part] += int((first != second)[cards == part].sum())
        seen, *_ = vec.step(found)
    assert min(differ.values()) > 0


def test_the_table_and_the_file(halves, tmp_path, capsys):
    """An agent's own halves against itself are level; better halves are better."""
    out = tmp_path / "halves.json"
    options = ["--agents", "rule", "cautious", "--boards", "600", "--json", str(out)]
    assert halves.main(halves.Args.parse(options)) == 0
    kept = json.loads(out.read_text())
    found = {(row["calls"], row["cards"]): row["points_per_hand"] for row in kept["rows"]}
    assert found["rule", "rule"]["mean"] == 0
    assert found["cautious", "cautious"]["high"] < found["cautious", "rule"]["low"]
    printed = capsys.readouterr().out
    assert "| calls of rule | +0.000 ± " in printed
    with pytest.raises(OptionError, match="--boards: 2 or more"):
        halves.main(halves.Args.parse(["--boards", "1"]))
