"""Scripts that fit the expert's networks: determinism, written files and chances to win."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from support.script_modules import loaded

from bideuchre_env.agents.expert import call_network, win_table
from bideuchre_env.agents.expert.score_network import fitted_score_network
from bideuchre_env.agents.expert.win_table import LEAD, rule_table
from bideuchre_env.agents.rule.agent import RuleAgent
from bideuchre_env.cli import script_args
from bideuchre_env.errors import DivergedError, OptionError
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.training import calls

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
    with loaded("experiments/fitting", *NAMES) as modules:
        yield dict(zip(NAMES, modules, strict=True))


def run(script, out, *options):
    """Arrays that a small run writes."""
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


@pytest.mark.parametrize("name", NAMES)
def test_a_failed_fit_writes_nothing(scripts, name, tmp_path, monkeypatch, capsys):
    script, out = scripts[name], ["--out", str(tmp_path / "network.npz")]
    for words in (["--games", "farm_v0"], ["--hands", "99"], ["--rounds", "-1"], ["--seed", "-1"]):
        with pytest.raises(OptionError, match=r"farm_v0|hands|rounds|seed"):
            script.main(script.Args.parse([*out, *words]))
    with monkeypatch.context() as patch:
        if name == "fit_call_network":
            patch.setattr(calls, "RATE", 1e4)
        else:
            patch.setattr(script, "RATE", 1e5)
        with np.errstate(all="ignore"), pytest.raises(DivergedError, match="nothing is written"):
            run(script, tmp_path / "network.npz", "--games", "simplified_v0")

    def interrupt(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(script, "fit_game", interrupt)
    assert script_args.run(script.main, script.Args, out) == 130
    assert "interrupted" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def values(scripts):
    return sys.modules["score_values"]


def hands_of_one_or_two_points(scores):
    """Hands in which the declarer's side makes 1 or 2 points, at every score."""
    hands = [(*score, 0, points, 0, 1) for score in scores for points in (1, 2)]
    return np.array(hands, np.int64)


def test_chances_to_win_equal_those_of_the_game_tree(values):
    """To 3 points, one or two for the declarer, either side alike."""
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


def test_chances_to_win_by_rounds_equal_those_of_the_game_tree(values):
    """Each of four hands gives a point or two to one side or the other."""
    rules = Rules(win_rule="rounds", rounds=1)
    hands = np.repeat(hands_of_one_or_two_points([(0, 0)]), 4, axis=0)
    hands[:, values.PLAYED] = np.arange(len(hands)) % 4
    table = values.score_values(rules, hands)
    ways, leads = {0: 1.0}, range(-8, 9)
    for left in range(1, 5):
        ways = {
            lead: sum(ways.get(lead - gain, 0.0) / 4 for gain in (-2, -1, 1, 2)) for lead in leads
        }
        for lead in leads:
            truth = sum(
                p * (1.0 if lead + more > 0 else 0.5 if lead + more == 0 else 0.0)
                for more, p in ways.items()
            )
            assert table[left, LEAD + lead, 0] == pytest.approx(truth, abs=2e-3)


def test_the_score_before_each_hand_is_the_sum_of_earlier_points(values):
    rules = RULES["simplified_v0"]
    hands = values.played_hands(RuleAgent(rules), 50, np.random.default_rng(1))
    assert hands.shape == (200, 6)
    first, second = (hands[hands[:, values.PLAYED] == k] for k in (0, 1))
    assert len(first) == len(second) == 50
    assert (first[:, values.SCORE] == 0).all()
    earlier = np.sort(first[:, values.POINTS].sum(axis=1))
    assert earlier.tolist() == np.sort(second[:, values.SCORE].sum(axis=1)).tolist()
    made = hands[:, values.MADE] == 1
    assert ((hands[:, 3] > 0) == made).all()


def test_a_trial_is_two_different_calls_whose_promise_is_true_on_average(scripts):
    fit, rules = scripts["fit_score_network"], RULES["simplified_v0"]
    agent = fit.expert(rules, fit.new_score_network(), rule_table(rules))
    trials = fit.try_hands(agent, agent, 500, 8, np.random.default_rng(1))
    assert 1000 < len(trials) <= 4000
    assert (trials["action"][:, 0] != trials["action"][:, 1]).all()
    assert (abs(trials["won"] - 0.5) <= 0.5 + 1e-9).all()
    assert abs(trials["won"][:, 0].mean() - trials["promise"][:, 0].mean()) < 0.1
    assert np.corrcoef(trials["won"][:, 0], trials["promise"][:, 0])[0, 1] > 0.3
