"""The script that makes what the expert knows of scores: its tables, its trials, its file."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from support.script_modules import loaded

from bideuchre_env.agents.expert.score_network import SCORE_NETWORK, fitted_score_network
from bideuchre_env.agents.expert.win_table import LEAD, fitted_wins, provenance, rule_table
from bideuchre_env.agents.rule.agent import RuleAgent
from bideuchre_env.cli import script_args
from bideuchre_env.errors import DivergedError, OptionError
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import new_rows

SMALL = ["--hands", "400", "--played", "20", "--rounds", "2"]


@pytest.fixture(scope="module")
def fit():
    with loaded("experiments/fitting", "fit_score_network") as (module,):
        yield module


@pytest.fixture
def values(fit):
    return sys.modules["score_values"]


def run(fit, out, *options):
    assert fit.main(fit.Args.parse([*SMALL, "--out", str(out), *options])) == 0
    with np.load(out) as arrays:
        return {name: arrays[name] for name in arrays.files}


# --- the chance to win -------------------------------------------------------------------------


def coin_hands(rules, scores):
    """Hands in which the declarer's side makes 1 or 2 points, alike at every score."""
    hands = [(*score, 0, points, 0, 1) for score in scores for points in (1, 2)]
    return np.array(hands, np.int64)


def test_a_game_that_can_be_reckoned(values):
    """To 3, a point or two for whoever declares, one side or the other alike."""
    rules = RULES["cincinnati_v0"].replace(target=3)
    hands = coin_hands(rules, [(a, b) for a in range(3) for b in range(3)])
    table = values.score_values(rules, hands)

    def chance(ours, theirs):  # by the tree of the game
        if ours >= 3 or theirs >= 3:
            return 1.0 if ours >= 3 else 0.0
        ways = [(ours + k, theirs) for k in (1, 2)] + [(ours, theirs + k) for k in (1, 2)]
        return sum(chance(*way) for way in ways) / 4

    for ours in range(3):
        for theirs in range(3):
            found = table[0, 2 - ours, 2 - theirs]
            assert found == pytest.approx(chance(ours, theirs), abs=2e-3)


def test_a_game_by_rounds_that_can_be_reckoned(values):
    """Each of four hands gives a point or two to one side or the other."""
    rules = Rules(win_rule="rounds", rounds=1)
    hands = coin_hands(rules, [(0, 0)])
    hands = np.repeat(hands, 4, axis=0)
    hands[:, values.PLAYED] = np.arange(len(hands)) % 4
    table = values.score_values(rules, hands)
    assert table.shape == (5, 2 * LEAD + 1, 1)
    ways, leads = {0: 1.0}, range(-8, 9)
    for left in range(1, 5):
        ways = {
            lead: sum(ways.get(lead - gain, 0.0) / 4 for gain in (-2, -1, 1, 2)) for lead in leads
        }
        for lead in range(-8, 9):
            truth = sum(
                p * (1.0 if lead + more > 0 else 0.5 if lead + more == 0 else 0.0)
                for more, p in ways.items()
            )
            assert table[left, LEAD + lead, 0] == pytest.approx(truth, abs=2e-3)


def test_hands_are_counted_by_the_score_before_them(fit, values):
    """Of whole games: each begins at no score, and the points of a hand are in the next score."""
    rules = RULES["simplified_v0"]
    hands = values.played_hands(RuleAgent(rules), 50, np.random.default_rng(1))
    assert hands.shape == (200, 6)
    for k in range(4):
        assert (hands[:, values.PLAYED] == k).sum() == 50
    first = hands[hands[:, values.PLAYED] == 0]
    assert (first[:, values.SCORE] == 0).all()
    second = hands[hands[:, values.PLAYED] == 1]
    assert (
        np.sort(first[:, values.POINTS].sum(axis=1)).tolist()
        == np.sort(second[:, values.SCORE].sum(axis=1)).tolist()
    )
    made = hands[:, values.MADE] == 1
    assert (hands[made, 3] > 0).all()
    assert (hands[~made, 3] < 0).all()


@pytest.mark.parametrize("name", ["simplified_v0", "barrie_v0"])
def test_a_better_score_is_worth_more_and_level_ones_a_half(fit, values, name):
    rules = RULES[name]
    hands = values.played_hands(RuleAgent(rules), 200, np.random.default_rng(2))
    table = values.score_values(rules, hands)
    assert table.shape[1:] == rule_table(rules).shape[1:]
    if rules.win_rule == "rounds":
        assert np.allclose(table[:, LEAD, 0], 0.5)
        assert (np.diff(table[:, :, 0], axis=1) >= 0.0).all()
    else:
        assert np.allclose(table[0] + table[0].T, 1.0)
        assert table[0, 2, 50] > 0.9 > table[0, 20, 20]


# --- trials and training -----------------------------------------------------------------------


def test_a_trial_is_two_calls_and_what_came_of_them(fit):
    """Played by the best call, the formula's own promise comes true on the whole."""
    rules = RULES["simplified_v0"]
    agent = fit.expert(rules, fit.new_score_network(), rule_table(rules))
    trials = fit.try_hands(agent, agent, 500, 8, np.random.default_rng(1))
    assert 1000 < len(trials) <= 4000
    assert (trials["action"][:, 0] != trials["action"][:, 1]).all()
    assert (abs(trials["won"] - 0.5) <= 0.5 + 1e-9).all()
    told = trials["told"] == 1.0
    assert told.mean() > 0.9
    assert (trials["inputs"][~told] == 0.0).all()
    assert abs(trials["won"][:, 0].mean() - trials["promise"][:, 0].mean()) < 0.1
    assert np.corrcoef(trials["won"][:, 0], trials["promise"][:, 0])[0, 1] > 0.3


def test_training_finds_what_is_there(fit):
    """Chances made up from the inputs; what no network is asked about is left out."""
    rng = np.random.default_rng(2)
    trials = new_rows(fit.TRY, 20_000)
    x = rng.normal(0, 1, trials["inputs"].shape) * (rng.random(trials["inputs"].shape) < 0.2)
    trials["inputs"] = x
    truth = 0.1 * x[:, :, 0] + 0.1 * np.maximum(x[:, :, -1], 0.0)
    trials["won"] = truth + rng.normal(0, 0.1, truth.shape)
    trials["told"] = 1.0
    trials["told"][::7, 1] = 0.0
    trials["promise"][::7, 1] = trials["won"][::7, 1]
    network = fit.new_score_network()
    assert "pairs" in fit.train(network, trials, rng)
    p = {name: network[name][0] for name in fit.PARTS}
    said = fit.SCALE * fit.forward(p, trials["inputs"].reshape(-1, fit.N_SCORE))[0]
    wrong = np.diff(said.reshape(-1, 2)) - np.diff(truth)
    assert float(np.mean(wrong**2)) < 0.1 * float(np.var(np.diff(truth)))


def test_a_training_that_diverges_writes_nothing(fit, tmp_path, monkeypatch):
    monkeypatch.setattr(fit, "RATE", 1e5)
    out = tmp_path / "network.npz"
    with np.errstate(all="ignore"), pytest.raises(DivergedError, match="nothing is written"):
        run(fit, out, "--games", "simplified_v0")
    assert list(tmp_path.iterdir()) == []


# --- the file ----------------------------------------------------------------------------------


def test_a_small_fit_writes_the_game_and_keeps_the_others(fit, tmp_path, capsys):
    written = run(fit, tmp_path / "new" / "network.npz", "--games", "simplified_v0")
    assert "simplified_v0 round 2:" in capsys.readouterr().out
    told = json.loads(str(written.pop("provenance")))
    assert told["simplified_v0"]["hands"] == 400
    assert {**told, "simplified_v0": 0} == {**provenance(), "simplified_v0": 0}
    for name in provenance():
        same = np.array_equal(written[f"{name}_wins"], fitted_wins(RULES[name]).astype(np.float32))
        assert same == (name != "simplified_v0")
        for part in SCORE_NETWORK.names:
            same = np.array_equal(written[f"{name}_{part}"], fitted_score_network(name)[part][0])
            assert same == (name != "simplified_v0")


def test_the_same_seed_gives_the_same_numbers(fit, tmp_path):
    """Another seed gives others."""
    a, b, c = (
        run(fit, tmp_path / f"{i}.npz", "--games", "simplified_v0", "--seed", seed)
        for i, seed in enumerate("445")
    )
    for part in ("simplified_v0_first", "simplified_v0_wins"):
        assert np.array_equal(a[part], b[part])
        assert not np.array_equal(a[part], c[part])


def test_ctrl_c_writes_nothing(fit, tmp_path, monkeypatch, capsys):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "fit_game", interrupted)
    assert script_args.run(fit.main, fit.Args, ["--out", str(tmp_path / "network.npz")]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--games", "farm_v0"], "farm_v0"),
        (["--hands", "99"], "hands"),
        (["--rounds", "-1"], "rounds"),
        (["--played", "9"], "played"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_dealt(fit, tmp_path, options, told):
    with pytest.raises(OptionError, match=told):
        fit.main(fit.Args.parse(["--out", str(tmp_path / "network.npz"), *options]))
    assert list(tmp_path.iterdir()) == []
