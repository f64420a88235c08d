"""The figures of studies: the ladder, learning curves and tricks given away."""

from __future__ import annotations

import json
import sys

import pytest
from support.script_modules import ROOT, loaded

from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation import pictures

CURVE = "decisions,processor,rule points,rule low,rule high,expert points,expert low,expert high"
WIN_RATE = {"win_rate": {"mean": 0.584, "low": 0.56, "high": 0.6}}


@pytest.fixture(scope="module")
def figures():
    with loaded("experiments", "figures") as (module,):
        yield module


def drawn(folder, name):
    """The text of both files of a picture."""
    return [(folder / f"{name}-{theme}.svg").read_text("utf-8") for theme in ("light", "dark")]


def rung(variant, stronger, weaker, mean, **more):
    """A row as `ladder.py --json` writes it."""
    points = {"mean": mean, "low": mean - 0.25, "high": mean + 0.25}
    row = {"variant": variant, "agents": [stronger, weaker], "points_per_hand": points}
    return row | {"ms_per_decision": {stronger: 0.004, weaker: 12.3}} | more


def test_a_step_of_the_ladder_begins_where_the_weaker_agent_stands(figures, tmp_path):
    """Other rungs of an agent are a line below its bar."""
    few = {"win_rate": {"mean": 0.5, "low": 0.4, "high": 0.6}}
    rungs = [
        rung("cincinnati_v0", "rule", "cautious", 3.0, win_rate={"mean": None}),
        rung("cincinnati_v0", "expert", "rule", 1.0, **few),
        rung("cincinnati_v0", "ppo", "rule", 2.0),
        rung("cincinnati_v0", "ppo", "expert", -0.4, **WIN_RATE),
        rung("cincinnati_v0", "net:search=true", "expert", 1.5, **WIN_RATE),
        *(rung(variant, "net", "expert", 0.75) for variant in ("barrie_v0", "club_v0")),
    ]
    file = tmp_path / "ladder.json"
    file.write_text(json.dumps({"rungs": rungs}))
    assert figures.main(["ladder", "--data", str(file), "--out", str(tmp_path)]) == 0
    for text in drawn(tmp_path, "ladder"):
        assert ">+3.00 ± 0.25, 4 µs<" in text
        assert ">+1.00 ± 0.25, 4 µs<" in text
        assert ">-0.40 ± 0.25 over expert, wins 58 % of games<" in text
        assert ">+1.50 ± 0.25, wins 58 % of games, 4 µs<" in text
        assert text.count(">+0.75 ± 0.25, 4 µs<") == 2
    figure = figures.ladder(rungs, pictures.LIGHT)
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["cincinnati_v0", "barrie_v0", "club_v0", ""]
    bars = {bar.get_y(): (bar.get_x(), bar.get_width()) for bar in figure.axes[0].patches}
    assert [bars[y] for y in sorted(bars)] == [(0, 3), (3, 1), (3, 2), (4, 1.5)]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["cautious", "rule", "expert", "ppo", "net:search=true"]


def write_curve(folder, name):
    """A curve that rises by a point with every million."""
    lines = [CURVE]
    for n in range(1, 4):
        points = ",".join(f"{n + by},{n + by - 0.5},{n + by + 0.5}" for by in (0, -2))
        lines.append(f"{n}000000,{200 * n},{points}")
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def test_every_seed_is_a_learning_curve(figures, tmp_path):
    """A panel per variant; files of other names are ignored."""
    for name in ("cincinnati_v0-seed1", "cincinnati_v0-seed2", "barrie_v0-seed1"):
        write_curve(tmp_path, name)
    (tmp_path / "other.csv").write_text("nothing")
    curves = figures.read_curves(tmp_path)
    assert {variant: len(seeds) for variant, seeds in curves.items()} == {
        "barrie_v0": 1,
        "cincinnati_v0": 2,
    }
    second = curves["cincinnati_v0"][1]
    assert second["millions"] == [1, 2, 3]
    assert second["expert points"] == [-1, 0, 1]
    assert figures.main(["learning", "--data", str(tmp_path), "--out", str(tmp_path)]) == 0
    for text in drawn(tmp_path, "learning"):
        assert text.count("FillBetweenPolyCollection") == 6


WRONG = (None, "", "[]", '{"rungs": [{}], "rows": [{}]}', '{"rungs": [], "rows": []}')


@pytest.mark.parametrize("content", WRONG)
@pytest.mark.parametrize("name", ["ladder", "regret"])
def test_a_wrong_file_is_refused(figures, name, content, tmp_path):
    file = tmp_path / "file.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(OptionError, match=rf"file\.json: expected the data of {name}"):
        figures.write(name, file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [None, "", "decisions\n", CURVE.replace("expert", "x") + "\n1"])
def test_a_wrong_curve_is_refused(figures, content, tmp_path):
    if content is not None:
        (tmp_path / "barrie_v0-seed1.csv").write_text(content)
    with pytest.raises(OptionError, match="expected the data of learning"):
        figures.write("learning", tmp_path, tmp_path / "out")


def test_figures_without_a_hand_that_was_played_are_refused(figures, tmp_path):
    file = tmp_path / "r.json"
    data = json.loads((figures.RESULTS / "regret" / "regret.json").read_text())
    data["rows"][1] |= {"hands": 0, "lone_hands": 0}
    file.write_text(json.dumps(data))
    with pytest.raises(OptionError, match=r"r\.json: expected the data of regret"):
        figures.write("regret", file, tmp_path)


def test_missing_matplotlib_is_one_line(figures, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OptionError, match="needs matplotlib"):
        figures.write("ladder", None, tmp_path)


def test_the_published_pictures_have_the_published_numbers(figures, tmp_path):
    """As committed, and as drawn again from the committed rows."""
    for name in ("ladder", "regret"):
        assert figures.main([name, "--out", str(tmp_path)]) == 0
    rungs = json.loads((ROOT / "experiments" / "ladder.json").read_text("utf-8"))["rungs"]
    for text in (*drawn(figures.PICTURES, "ladder"), *drawn(tmp_path, "ladder")):
        for row in rungs:
            points = row["points_per_hand"]
            half = (points["high"] - points["low"]) / 2
            assert f">{points['mean']:+.2f} ± {half:.2f}" in text
    regret = figures.RESULTS / "regret"
    rows = json.loads((regret / "regret.json").read_text("utf-8"))["rows"]
    for text in (*drawn(regret, "regret"), *drawn(tmp_path, "regret")):
        for row in rows:
            assert f">{row['lost']['total']['mean']:.3f} ± " in text
            parts = sum(part for part, _ in figures.parts_of(row))
            assert parts == pytest.approx(row["lost"]["total"]["mean"])
