"""The script that fits the rule player's bidding weights writes a file like the shipped one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.script_modules import ROOT, loaded

from bideuchre_env.agents.data import PROVENANCE
from bideuchre_env.agents.rule.weights import DECKS, WEIGHTS, load_weights, provenance
from bideuchre_env.cli import script_args
from bideuchre_env.errors import OptionError

SHIPPED = ROOT / "agents" / "data" / "rule_weights.npz"


@pytest.fixture(scope="module")
def fit():
    with loaded("experiments/fitting", "fit_rule_weights") as (module,):
        yield module


def words(out, *options):
    return ["--deals", "300", "--rounds", "1", "--out", str(out), *options]


def arguments(fit, out, *options):
    return fit.Args.parse(words(out, *options))


def read(path):
    """The arrays of a file, and how it says each deck was made."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name != PROVENANCE}
        return arrays, json.loads(str(file[PROVENANCE]))


def test_the_shipped_weights_are_rounded_finite_and_of_every_deck(fit):
    arrays, made = read(SHIPPED)
    assert list(made) == list(fit.NAMES) == [f"{kinds}x{copies}" for kinds, copies in DECKS]
    assert list(arrays) == [f"{deck}_{part}" for deck in made for part in WEIGHTS.names]
    for (kinds, copies), deck in zip(DECKS, made, strict=True):
        weights = load_weights(kinds, copies)
        assert provenance()[deck]["script"] == "experiments/fitting/fit_rule_weights.py"
        for part, decimals in fit.DECIMALS.items():
            shipped = arrays[f"{deck}_{part}"]
            assert shipped.dtype == WEIGHTS[part].base
            assert np.isfinite(shipped).all()
            assert np.array_equal(shipped, weights[part][0])
            assert np.array_equal(shipped, np.round(shipped, decimals))


def test_a_small_fit_writes_the_same_shapes_and_keeps_the_other_decks(fit, tmp_path, capsys):
    """A single and a double deck fitted, the others as they are in the package."""
    out = tmp_path / "new" / "rule_weights.npz"
    assert fit.main(arguments(fit, out, "--decks", "24x1", "16x2")) == 0
    printed = capsys.readouterr().out
    assert [line.split(":")[0] for line in printed.splitlines()[:-1]] == ["24x1", "16x2"]
    assert [path.name for path in out.parent.iterdir()] == ["rule_weights.npz"]
    (arrays, made), (shipped, shipped_made) = read(out), read(SHIPPED)
    assert list(arrays) == list(shipped)
    for deck in fit.NAMES:
        fitted = deck in ("24x1", "16x2")
        assert made[deck].get("deals") == (300 if fitted else None)
        assert (made[deck] == shipped_made[deck]) == (not fitted)
        parts = [f"{deck}_{part}" for part in WEIGHTS.names]
        assert all(np.isfinite(arrays[part]).all() for part in parts)
        assert all(arrays[part].shape == shipped[part].shape for part in parts)
        assert all(np.array_equal(arrays[part], shipped[part]) for part in parts) == (not fitted)


def test_the_same_seed_gives_the_same_weights(fit, tmp_path):
    """Whichever other decks are fitted; another seed gives others."""
    for name, options in (("a", ["20x1"]), ("b", ["16x1", "20x1"]), ("c", ["20x1", "--seed", "1"])):
        assert fit.main(arguments(fit, tmp_path / name, "--decks", *options)) == 0
    a, b, c = (read(tmp_path / name)[0]["20x1_tricks"] for name in "abc")
    assert np.array_equal(a, b)
    assert not np.array_equal(b, c)


def test_ctrl_c_writes_nothing(fit, tmp_path, monkeypatch, capsys):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "fit_roles", interrupted)
    assert (
        script_args.run(fit.main, fit.Args, words(tmp_path / "weights.npz", "--decks", "16x1"))
        == 130
    )
    assert "interrupted" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--decks", "32x1"], "32x1"),
        (["--deals", "99"], "deals"),
        (["--rounds", "0"], "rounds"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_dealt(fit, tmp_path, options, told):
    with pytest.raises(OptionError, match=told):
        fit.main(arguments(fit, tmp_path / "weights.npz", *options))
    assert list(tmp_path.iterdir()) == []
