"""The picture of the ladder: every step of every variant, with its interval, in both looks."""

from __future__ import annotations

import json
import sys

import pytest
from support.script_modules import ROOT, loaded

from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation import pictures


@pytest.fixture(scope="module")
def picture():
    with loaded("experiments", "ladder_picture") as (module,):
        yield module


def rung(variant, stronger, weaker, mean, **more):
    """A row as `ladder.py --json` writes it."""
    points = {"mean": mean, "low": mean - 0.25, "high": mean + 0.25}
    row = {"variant": variant, "agents": [stronger, weaker], "points_per_hand": points}
    return row | {"ms_per_decision": {stronger: 0.004, weaker: 12.3}} | more


def test_each_step_is_drawn_with_its_words(picture, tmp_path, capsys):
    """Two variants of different height; whole games where there were any; the same bytes again."""
    games = {"win_rate": {"mean": 0.584, "low": 0.56, "high": 0.6}}
    few = {"win_rate": {"mean": 0.5, "low": 0.4, "high": 0.6}}
    rungs = [
        rung("cincinnati_v0", "cautious", "random", 10.0, **games),
        rung("cincinnati_v0", "rule", "cautious", 3.0, win_rate={"mean": None}),
        rung("barrie_v0", "cautious", "random", 0.5, **few),
    ]
    file = tmp_path / "ladder.json"
    file.write_text(json.dumps({"rungs": rungs}))
    args = picture.Args(ladder=file, out=tmp_path / "new")
    assert picture.main(args) == 0
    drawn = {path.name: path.read_text(encoding="utf-8") for path in args.out.iterdir()}
    assert sorted(drawn) == ["ladder-dark.svg", "ladder-light.svg"]
    for text in drawn.values():
        assert ">+10.00 ± 0.25, wins 58 % of games, 4 µs<" in text
        assert ">+3.00 ± 0.25, 4 µs<" in text
        assert ">+0.50 ± 0.25, 4 µs<" in text
        assert all(f">{word}<" in text for word in ("barrie_v0", "cautious", "rule", "random"))
    assert picture.main(args) == 0
    assert drawn == {path.name: path.read_text(encoding="utf-8") for path in args.out.iterdir()}


def test_a_step_begins_where_the_weaker_agent_stands(picture, tmp_path):
    """What else an agent played is told under its bar; three variants make two rows of panels."""
    games = {"win_rate": {"mean": 0.584, "low": 0.56, "high": 0.6}}
    rungs = [
        rung("cincinnati_v0", "rule", "cautious", 3.0),
        rung("cincinnati_v0", "expert", "rule", 1.0),
        rung("cincinnati_v0", "ppo", "rule", 2.0),
        rung("cincinnati_v0", "ppo", "expert", -0.4, **games),
        rung("cincinnati_v0", "net:search=true", "expert", 1.5),
        *(rung(variant, "net", "expert", 0.75) for variant in ("barrie_v0", "club_v0")),
    ]
    picture.draw(tmp_path / "ladder", rungs)
    drawn = (tmp_path / "ladder-light.svg").read_text(encoding="utf-8")
    assert ">+2.00 ± 0.25, 4 µs<" in drawn
    assert ">-0.40 ± 0.25 over expert, wins 58 % of games<" in drawn
    assert drawn.count(">+0.75 ± 0.25, 4 µs<") == 2
    figure = picture.panels(rungs, pictures.LIGHT)
    assert [axis.get_title() for axis in figure.axes] == [
        "cincinnati_v0",
        "barrie_v0",
        "club_v0",
        "",
    ]
    bars = {bar.get_y(): (bar.get_x(), bar.get_width()) for bar in figure.axes[0].patches}
    assert [bars[y] for y in sorted(bars)] == [(0, 3), (3, 1), (3, 2), (4, 1.5)]
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["cautious", "rule", "expert", "ppo", "net:search=true"]


@pytest.mark.parametrize("content", [None, "", "[]", '{"rungs": [{}]}', '{"rungs": []}'])
def test_a_wrong_file_is_an_option_error(picture, content, tmp_path):
    """Missing, empty, of another shape."""
    file = tmp_path / "ladder.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(OptionError, match="no rows of a ladder"):
        picture.main(picture.Args(ladder=file, out=tmp_path))


def test_without_matplotlib_it_is_one_line(picture, tmp_path, monkeypatch, capsys):
    """As with any option that cannot be used; what goes wrong while drawing is no wrong file."""
    file = tmp_path / "ladder.json"
    file.write_text(json.dumps({"rungs": [rung("barrie_v0", "rule", "random", 1.0)]}))
    asked = ["--ladder", str(file), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(picture, "panels", lambda *told: {}["a bug"])
    with pytest.raises(KeyError, match="a bug"):
        picture.main(picture.Args.parse(asked))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert picture.run(picture.main, picture.Args, asked) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "needs matplotlib" in error
    assert not (tmp_path / "out").exists()


def test_the_default_files_are_those_of_the_checkout(picture, tmp_path, monkeypatch):
    """Whatever folder a picture is drawn from."""
    monkeypatch.chdir(tmp_path)
    assert picture.Args().ladder == ROOT / "experiments" / "ladder.json"
    with loaded("experiments", "hand_picture") as (hand,):
        for script in (picture, hand):
            assert script.Args().out == ROOT / ".github" / "pictures"
            assert script.Args().out.is_dir()
