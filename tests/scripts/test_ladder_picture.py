"""The picture of the ladder: every step of every variant, with its interval, in both looks."""

from __future__ import annotations

import json

import pytest
from support.script_modules import loaded

from bideuchre_env.errors import OptionError


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
    games = {"win_rate": {"mean": 0.584, "low": 0.5, "high": 0.6}}
    rungs = [
        rung("cincinnati_v0", "cautious", "random", 10.0, **games),
        rung("cincinnati_v0", "rule", "cautious", 3.0, win_rate={"mean": None}),
        rung("barrie_v0", "cautious", "random", 0.5),
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
        assert all(f">{word}<" in text for word in ("barrie_v0", "cautious", "rule", "random"))
    assert picture.main(args) == 0
    assert drawn == {path.name: path.read_text(encoding="utf-8") for path in args.out.iterdir()}


@pytest.mark.parametrize("content", [None, "", "[]", '{"rungs": [{}]}'])
def test_a_wrong_file_is_an_option_error(picture, content, tmp_path):
    """Missing, empty, of another shape."""
    file = tmp_path / "ladder.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(OptionError, match="no rows of a ladder"):
        picture.main(picture.Args(ladder=file, out=tmp_path))
