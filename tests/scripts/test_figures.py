"""Figures of the ladder, of learning curves and of tricks given away."""

import json

import pytest
from support.commands import load_scripts

CURVE = "decisions,processor,rule points,rule low,rule high,expert points,expert low,expert high"


@pytest.fixture(scope="module")
def figures():
    with load_scripts("experiments", "figures") as (module,):
        yield module


def drawn(folder, name):
    """The texts of a figure's two SVG files: light, dark."""
    return [(folder / f"{name}-{theme}.svg").read_text("utf-8") for theme in ("light", "dark")]


def test_published_results_are_drawn_with_their_numbers(figures, tmp_path):
    for name in ("ladder", "regret"):
        assert figures.main([name, "--out", str(tmp_path)]) == 0
    rungs = json.loads((figures.RESULTS.parent / "ladder.json").read_text("utf-8"))["rungs"]
    for text in drawn(tmp_path, "ladder"):
        for row in rungs:
            assert f">{row['points_per_hand']['mean']:+.2f} ± " in text
    rows = json.loads((figures.RESULTS / "regret" / "regret.json").read_text("utf-8"))["rows"]
    for text in drawn(tmp_path, "regret"):
        for row in rows:
            assert f">{row['lost']['total']['mean']:.3f} ± " in text


def test_a_learning_curve_is_drawn_for_every_seed(figures, tmp_path):
    for name in ("cincinnati_v0-seed1", "cincinnati_v0-seed2", "barrie_v0-seed1"):
        lines = [f"{n}000000,{n},{n},{n - 0.5},{n + 0.5},0,-1,1" for n in (1, 2, 3)]
        (tmp_path / f"{name}.csv").write_text("\n".join([CURVE, *lines]) + "\n")
    (tmp_path / "other.csv").write_text("nothing")
    curves = figures.read_curves(tmp_path)
    assert {variant: len(seeds) for variant, seeds in curves.items()} == {
        "barrie_v0": 1,
        "cincinnati_v0": 2,
    }
    assert curves["cincinnati_v0"][1]["rule points"] == [1, 2, 3]
    assert figures.main(["learning", "--data", str(tmp_path), "--out", str(tmp_path)]) == 0
    assert len(drawn(tmp_path, "learning")) == 2
