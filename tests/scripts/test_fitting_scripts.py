"""Scripts that fit the expert's networks: determinism, written files and chances to win."""

import json
import sys

import numpy as np
import pytest
from support.commands import load_scripts

from bideuchre_env.agents.expert import call_network, win_table
from bideuchre_env.agents.expert.score_network import fitted_score_network
from bideuchre_env.rules.variants import RULES

NAMES = ("fit_call_network", "fit_score_network")
SMALL = {
    "fit_call_network": ["--hands", "400", "--rounds", "4"],
    "fit_score_network": ["--hands", "400", "--played", "20", "--rounds", "2"],
}
FITTED = {
    "fit_call_network": call_network.fitted_network,
    "fit_score_network": fitted_score_network,
}
PROVENANCE = {
    "fit_call_network": call_network.provenance,
    "fit_score_network": win_table.provenance,
}


@pytest.fixture(scope="module")
def scripts():
    with load_scripts("experiments/fitting", *NAMES) as modules:
        yield dict(zip(NAMES, modules, strict=True))


def run(script, out, *options):
    """Run a script with small settings and `options`; return the arrays that it writes."""
    words = [*SMALL[script.__name__], "--out", str(out), *options]
    assert script.main(script.Args.parse(words)) == 0
    with np.load(out) as arrays:
        return {name: arrays[name] for name in arrays.files}


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_changes_its_game_alone(scripts, name, tmp_path):
    written = run(scripts[name], tmp_path / "network.npz", "--games", "simplified_v0")
    provenance = json.loads(str(written.pop("provenance")))
    assert provenance["simplified_v0"]["hands"] == 400
    assert {**provenance, "simplified_v0": 0} == {**PROVENANCE[name](), "simplified_v0": 0}
    for game in provenance:
        same = np.array_equal(written[f"{game}_first"], FITTED[name](game)["first"][0])
        assert same == (game != "simplified_v0")


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_determines_the_weights(scripts, name, tmp_path):
    one, again, other = (
        run(scripts[name], tmp_path / f"{i}.npz", "--games", *games)["simplified_v0_first"]
        for i, games in enumerate(
            (
                ["simplified_v0", "--seed", "4"],
                ["six_card_v0", "simplified_v0", "--seed", "4"],
                ["simplified_v0", "--seed", "5"],
            )
        )
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.fixture
def values(scripts):
    return sys.modules["score_values"]


def hands_of_one_or_two_points(scores):
    """Hands in which the declarer's side makes 1 or 2 points, at every score."""
    hands = [(*score, 0, points, 0, 1) for score in scores for points in (1, 2)]
    return np.array(hands, np.int64)


def test_chances_to_win_equal_the_game_tree(values):
    """The target is 3; each side is declarer equally often and makes one or two points."""
    rules = RULES["cincinnati_v0"].replace(target=3)
    hands = hands_of_one_or_two_points([(a, b) for a in range(3) for b in range(3)])
    table = values.score_values(rules, hands)

    def chance(ours, theirs):
        if ours >= 3 or theirs >= 3:
            return 1.0 if ours >= 3 else 0.0
        ways = [(ours + k, theirs) for k in (1, 2)] + [(ours, theirs + k) for k in (1, 2)]
        return sum(chance(*way) for way in ways) / 4

    for ours in range(3):
        for theirs in range(3):
            computed = table[0, 2 - ours, 2 - theirs]
            assert computed == pytest.approx(chance(ours, theirs), abs=2e-3)
