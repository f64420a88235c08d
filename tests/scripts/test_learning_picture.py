"""The picture of learning curves, and the table of seeds that play each other."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from support.agent_games import play_on, start
from support.script_modules import ROOT, loaded

from bideuchre_env import agents
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.learned.ppo import KIND
from bideuchre_env.agents.learned.shipped import arrays_of
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import PARTS, VERSION, features_of
from bideuchre_env.learning.network import new_network
from bideuchre_env.learning.weights import made_for, write_weights
from bideuchre_env.rules.variants import RULES

HEAD = (
    "decisions,hands,processor,rule points,rule low,rule high,expert points,expert low,expert high"
)


@pytest.fixture(scope="module")
def picture():
    with loaded("experiments", "learning_picture") as (module,):
        yield module


def write_curve(folder, name, *, to=3, seconds=600):
    """A curve that rises by a point with every million."""
    lines = [HEAD]
    for n in range(1, to + 1):
        over_rule, over_expert = (f"{n + by},{n + by - 0.5},{n + by + 0.5}" for by in (0, -2))
        lines.append(f"{n}000000,{n},{seconds * n / to},{over_rule},{over_expert}")
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def write_agent(folder, name, rules, seed):
    """Weights that choose anyhow."""
    arrays, rng = {}, np.random.default_rng(seed)
    for part in PARTS:
        features = features_of(rules, part)
        network = new_network(features.size, (8, 8), features.outputs, rng)
        arrays |= arrays_of(network, part)
    write_weights(folder / f"{name}.npz", arrays, made_for(KIND, rules, VERSION))


class Lowest(RowAgent):
    """The first legal action."""

    def choose(self, observations, action_masks):
        return action_masks.argmax(axis=1).astype(np.int64)


def test_every_seed_is_a_line_with_its_interval(picture, tmp_path):
    """A panel a variant; other files are no curves; the same bytes again."""
    for name in ("cincinnati_v0-seed1", "cincinnati_v0-seed2", "barrie_v0-seed1"):
        write_curve(tmp_path, name, to=4 if name.startswith("barrie") else 3)
    (tmp_path / "other.csv").write_text("nothing")
    found = picture.curves(tmp_path, ("rule", "expert"))
    assert {variant: len(each["rule"]) for variant, each in found.items()} == {
        "barrie_v0": 1,
        "cincinnati_v0": 2,
    }
    one = found["cincinnati_v0"]["expert"][1]
    assert one == (2, [1, 2, 3], [-1, 0, 1], [-1.5, -0.5, 0.5], [-0.5, 0.5, 1.5], 10)
    args = picture.Args(results=tmp_path, out=tmp_path / "new")
    assert picture.main(args) == 0
    drawn = {path.name: path.read_text(encoding="utf-8") for path in args.out.iterdir()}
    assert sorted(drawn) == ["learning-dark.svg", "learning-light.svg"]
    for text in drawn.values():
        words = ("barrie_v0", "cincinnati_v0", "over rule", "over expert")
        assert all(f">{word}<" in text for word in words)
        assert "in 10 minutes of one core" in text
        assert text.count("FillBetweenPolyCollection") == 6
    assert picture.main(args) == 0
    assert drawn == {path.name: path.read_text(encoding="utf-8") for path in args.out.iterdir()}


def test_seeds_play_each_other_and_together(picture, tmp_path, capsys):
    """A row a pair, printed and kept."""
    for seed in (1, 2, 3):
        write_agent(tmp_path, f"simplified_v0-seed{seed}", RULES["simplified_v0"], seed)
    write_curve(tmp_path, "simplified_v0-seed1")
    args = picture.Args(results=tmp_path, out=tmp_path / "new", boards=4)
    assert picture.main(args) == 0
    table = (tmp_path / "cross-play.md").read_text()
    assert capsys.readouterr().out == table
    rows = [line.split(" | ") for line in table.splitlines()[2:]]
    assert [row[1] for row in rows] == ["1 and 2", "1 and 3", "2 and 3"]
    assert all(cell.count("±") == 1 for row in rows for cell in row[2:])


def test_partners_are_one_of_each(picture):
    """On either side, whoever deals."""
    rules = RULES["barrie_v0"]
    rule, low = agents.make("rule", rules), Lowest(rules)
    pair, dealer = picture.Partners(rule, low), layout_of(rules).slices["dealer"]
    seen = set()

    def watch(rows, masks, chosen):
        second = rows[:, dealer].argmax(axis=1) >= 2
        assert (chosen[~second] == rule.act_rows(rows[~second], masks[~second])).all()
        assert (chosen[second] == masks[second].argmax(axis=1)).all()
        seen.update(second)

    play_on(rules, start(rules, 24), (pair, pair), watch=watch)
    assert seen == {False, True}


@pytest.mark.parametrize("content", [None, "", "decisions\n", HEAD.replace("expert", "x") + "\n1,"])
def test_a_wrong_file_is_an_option_error(picture, content, tmp_path):
    """None, empty, of another shape, without the opponent."""
    if content is not None:
        (tmp_path / "barrie_v0-seed1.csv").write_text(content)
    with pytest.raises(OptionError, match=r"no VARIANT-seedN.csv|no curve of train_ppo.py over"):
        picture.main(picture.Args(results=tmp_path, out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_what_is_missing_is_one_line(picture, tmp_path, monkeypatch, capsys):
    """Weights, boards, matplotlib."""
    write_curve(tmp_path, "barrie_v0-seed1")
    asked = ["--results", str(tmp_path), "--out", str(tmp_path / "out")]
    for options, told in ((["--boards", "4"], "no two VARIANT"), (["--boards", "1"], "2 or more")):
        assert picture.run(picture.main, picture.Args, [*asked, *options]) == 2
        assert told in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert picture.run(picture.main, picture.Args, asked) == 2
    assert "needs matplotlib" in capsys.readouterr().err


def test_the_default_folders_are_those_of_the_checkout(picture):
    assert picture.Args().results == ROOT / "experiments" / "results" / "ppo"
    assert picture.Args().out == ROOT / ".github" / "pictures"
