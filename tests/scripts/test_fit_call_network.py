"""The script that trains the expert's auction, and the file it writes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.script_modules import loaded

from bideuchre_env.agents.expert.call_network import NETWORK, fitted_network, provenance
from bideuchre_env.cli import script_args
from bideuchre_env.errors import DivergedError, OptionError
from bideuchre_env.training import calls

SMALL = ["--hands", "400", "--rounds", "4"]


@pytest.fixture(scope="module")
def fit():
    with loaded("experiments/fitting", "fit_call_network") as (module,):
        yield module


def run(fit, out, *options):
    assert fit.main(fit.Args.parse([*SMALL, "--out", str(out), *options])) == 0
    with np.load(out) as arrays:
        return {name: arrays[name] for name in arrays.files}


def test_a_training_that_diverges_writes_nothing(fit, tmp_path, monkeypatch):
    """The script ends with the error, and there is no file."""
    monkeypatch.setattr(calls, "RATE", 1e4)
    out = tmp_path / "network.npz"
    with np.errstate(all="ignore"), pytest.raises(DivergedError, match="nothing is written"):
        run(fit, out, "--games", "six_card_v0")
    assert list(tmp_path.iterdir()) == []


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
        (["--games", "farm_v0"], "farm_v0"),
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
