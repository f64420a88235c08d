"""The script that trains the expert's auction: its arithmetic, and the file it writes."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from support.script_modules import loaded

from bideuchre_env.agents.expert.agent import ExpertAgent
from bideuchre_env.agents.expert.call_network import LAYERS, NETWORK, fitted_network, provenance
from bideuchre_env.cli import script_args
from bideuchre_env.errors import DivergedError, OptionError
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import new_rows

SMALL = ["--hands", "400", "--rounds", "4"]


@pytest.fixture(scope="module")
def fit():
    with loaded("experiments/fitting", "fit_call_network") as (module,):
        yield module


@pytest.fixture
def training(fit):
    return sys.modules["call_training"]


def run(fit, out, *options):
    assert fit.main(fit.Args.parse([*SMALL, "--out", str(out), *options])) == 0
    with np.load(out) as arrays:
        return {name: arrays[name] for name in arrays.files}


def test_the_slopes_are_those_of_the_loss(fit, training):
    """Against differences of the network's own sums, in double precision."""
    rng = np.random.default_rng(1)
    network = fit.drawn_network(rng)
    p = {name: rng.normal(0, 0.3, network[name][0].shape) for name in LAYERS}
    x, g = rng.normal(0, 1, (7, fit.N_INPUTS)), rng.normal(0, 1, 7)
    _, one, two = training.forward(p, x)
    for name, slope in training.gradients(p, x, one, two, g).items():
        at = tuple(rng.integers(0, size) for size in p[name].shape)
        sums = []
        for change in (1e-6, -1e-6):
            moved = p[name].copy()
            moved[at] += change
            sums.append(training.forward({**p, name: moved}, x)[0] @ g)
        assert np.asarray(slope)[at] == pytest.approx(
            (sums[0] - sums[1]) / 2e-6, rel=1e-3, abs=1e-6
        )


def test_training_finds_what_is_there(fit, training):
    """Points made up from the inputs, with luck that strikes both calls alike, are learned."""
    rng = np.random.default_rng(2)
    trials = new_rows(fit.TRIAL, 20_000)
    x = rng.random((20_000, 2, fit.N_INPUTS)) < 0.1
    trials["inputs"] = x
    truth = 3.0 * x[:, :, 0] - 4.0 * x[:, :, -1] + 2.0 * (x[:, :, 1] & x[:, :, 2])
    trials["points"] = truth + rng.normal(0, 6, (20_000, 1)) + rng.normal(0, 1, (20_000, 2))
    network = fit.drawn_network(rng)
    training.train(network, 10 * [trials], rng)
    p = {name: network[name][0] for name in LAYERS}
    said = training.SCALE * training.forward(p, trials["inputs"].reshape(-1, fit.N_INPUTS))[0]
    wrong = np.diff(said.reshape(-1, 2)) - np.diff(truth)
    assert float(np.mean(wrong**2)) < 0.25 * float(np.var(np.diff(truth)))


@pytest.mark.parametrize(
    ("points", "rate", "told"), [(np.nan, 2e-3, "not finite"), (1.0, 1e4, "squared error|finite")]
)
def test_a_training_that_diverges_is_an_error(fit, training, monkeypatch, points, rate, told):
    """Points that are no numbers, or steps far too long: an error, and the weights stay."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(training, "RATE", rate)
    trials = new_rows(fit.TRIAL, 3_000)
    trials["inputs"] = rng.random((3_000, 2, fit.N_INPUTS)) < 0.1
    trials["points"] = rng.normal(0, 6, (3_000, 2)) * points
    network = fit.drawn_network(rng)
    there = network.copy()
    with np.errstate(all="ignore"), pytest.raises(DivergedError, match=told):
        training.train(network, [trials], rng)
    for name in network.dtype.names:  # not the bytes: what lies between two fields is anyone's
        np.testing.assert_array_equal(network[name], there[name])


def test_a_training_that_diverges_writes_nothing(fit, training, tmp_path, monkeypatch):
    """The script ends with the error, and there is no file."""
    monkeypatch.setattr(training, "RATE", 1e4)
    out = tmp_path / "network.npz"
    with np.errstate(all="ignore"), pytest.raises(DivergedError, match="nothing is written"):
        run(fit, out, "--games", "six_card_v0")
    assert list(tmp_path.iterdir()) == []


def test_a_call_that_looks_bad_is_tried_at_times(fit):
    """Were only calls near the best tried, the network could say anything of the others."""
    rules = RULES["barrie_v0"]
    agent = ExpertAgent(rules, wanted=(0,) * 13)
    tried = {
        width: fit.try_calls(
            agent.workspace(), agent, agent, 2000, 0, width, np.random.default_rng(3)
        )
        for width in (-1.0, 2.0, 1e6)  # the last: any call at all
    }
    assert len(tried[1e6]) == 2000  # whoever speaks first may pass or bid
    assert 0.5 * fit.ANY < 100 * len(tried[-1.0]) / 2000 < 1.5 * fit.ANY
    lost = {width: -np.diff(trials["points"]).mean() for width, trials in tried.items()}
    assert lost[2.0] < lost[-1.0]


def test_a_small_fit_writes_the_game_and_keeps_the_others(fit, tmp_path, capsys):
    """Every part of every network, and how it was made."""
    written = run(fit, tmp_path / "new" / "network.npz", "--games", "barrie_v0")
    assert "barrie_v0 round 4:" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["network.npz"]
    told = json.loads(str(written.pop("provenance")))
    assert told["barrie_v0"]["hands"] == 400
    assert {**told, "barrie_v0": 0} == {**provenance(), "barrie_v0": 0}
    assert set(written) == {f"{name}_{part}" for name in fit.GAMES for part in NETWORK.names}
    for name in fit.GAMES:
        for part in NETWORK.names:
            same = np.array_equal(written[f"{name}_{part}"], fitted_network(name)[part][0])
            assert same == (name != "barrie_v0")


def test_the_same_seed_gives_the_same_weights(fit, tmp_path):
    """Whichever other games are fitted; another seed gives others."""
    a, b, c = (
        run(fit, tmp_path / f"{i}.npz", "--games", *games)
        for i, games in enumerate(
            (["club_v0"], ["six_card_v0", "club_v0"], ["club_v0", "--seed", "1"])
        )
    )
    name = "club_v0_first"
    assert np.array_equal(a[name], b[name])
    assert not np.array_equal(a[name], c[name])


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
        (["--games", "double_deck_v0"], "double_deck_v0"),
        (["--hands", "99"], "hands"),
        (["--rounds", "0"], "rounds"),
        (["--search", "2"], "search"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_dealt(fit, tmp_path, options, told):
    with pytest.raises(OptionError, match=told):
        fit.main(fit.Args.parse(["--out", str(tmp_path / "network.npz"), *options]))
    assert list(tmp_path.iterdir()) == []
