"""The pictures of studies: the ladder, learning curves and tricks given away, from their files."""

from __future__ import annotations

import json
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
from bideuchre_env.evaluation import pictures
from bideuchre_env.learning.features import PARTS, VERSION, features_of
from bideuchre_env.learning.network import new_network
from bideuchre_env.learning.weights import made_for, write_weights
from bideuchre_env.rules.variants import RULES

NAMES = ("figures", "ladder_picture", "learning_picture", "regret_picture")
CURVE = "decisions,processor,rule points,rule low,rule high,expert points,expert low,expert high"
WIN_RATE = {"win_rate": {"mean": 0.584, "low": 0.56, "high": 0.6}}


@pytest.fixture(scope="module")
def scripts():
    with loaded("experiments", *NAMES) as modules:
        yield dict(zip(NAMES, modules, strict=True))


def drawn(folder, name):
    """The text of both files of a picture."""
    return [(folder / f"{name}-{theme}.svg").read_text("utf-8") for theme in ("light", "dark")]


def rung(variant, stronger, weaker, mean, **more):
    """A row as `ladder.py --json` writes it."""
    points = {"mean": mean, "low": mean - 0.25, "high": mean + 0.25}
    row = {"variant": variant, "agents": [stronger, weaker], "points_per_hand": points}
    return row | {"ms_per_decision": {stronger: 0.004, weaker: 12.3}} | more


def test_a_step_of_the_ladder_begins_where_the_weaker_agent_stands(scripts, tmp_path):
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
    script = scripts["ladder_picture"]
    assert script.main(script.Args(ladder=file, out=tmp_path)) == 0
    for text in drawn(tmp_path, "ladder"):
        assert ">+3.00 ± 0.25, 4 µs<" in text
        assert ">+1.00 ± 0.25, 4 µs<" in text
        assert ">-0.40 ± 0.25 over expert, wins 58 % of games<" in text
        assert ">+1.50 ± 0.25, wins 58 % of games, 4 µs<" in text
        assert text.count(">+0.75 ± 0.25, 4 µs<") == 2
    figure = scripts["figures"].ladder(rungs, pictures.LIGHT)
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


def test_every_seed_is_a_learning_curve(scripts, tmp_path):
    """A panel per variant; files of other names are ignored."""
    script = scripts["learning_picture"]
    for name in ("cincinnati_v0-seed1", "cincinnati_v0-seed2", "barrie_v0-seed1"):
        write_curve(tmp_path, name)
    (tmp_path / "other.csv").write_text("nothing")
    curves = script.curves(tmp_path, ("rule", "expert"))
    counts = {variant: len(opponents["rule"]) for variant, opponents in curves.items()}
    assert counts == {"barrie_v0": 1, "cincinnati_v0": 2}
    second = curves["cincinnati_v0"]["expert"][1]
    assert second == (2, [1, 2, 3], [-1, 0, 1], [-1.5, -0.5, 0.5], [-0.5, 0.5, 1.5], 10)
    assert script.main(script.Args(results=tmp_path, out=tmp_path)) == 0
    for text in drawn(tmp_path, "learning"):
        assert text.count("FillBetweenPolyCollection") == 6


def write_weights_of(folder, name, rules, seed):
    """Weights that choose anyhow."""
    arrays, rng = {}, np.random.default_rng(seed)
    for part in PARTS:
        features = features_of(rules, part)
        network = new_network(features.size, (8, 8), features.outputs, rng)
        arrays |= arrays_of(network, part)
    write_weights(folder / f"{name}.npz", arrays, made_for(KIND, rules, VERSION))


def test_seeds_play_each_other_and_as_partners(scripts, tmp_path, capsys):
    script = scripts["learning_picture"]
    for seed in (1, 2, 3):
        write_weights_of(tmp_path, f"simplified_v0-seed{seed}", RULES["simplified_v0"], seed)
    write_curve(tmp_path, "simplified_v0-seed1")
    assert script.main(script.Args(results=tmp_path, out=tmp_path, boards=4)) == 0
    table = (tmp_path / "cross-play.md").read_text()
    assert capsys.readouterr().out == table
    rows = [line.split(" | ") for line in table.splitlines()[2:]]
    assert [row[1] for row in rows] == ["1 and 2", "1 and 3", "2 and 3"]
    assert all(cell.count("±") == 1 for row in rows for cell in row[2:])


class Lowest(RowAgent):
    """The first legal action."""

    def choose(self, observations, action_masks):
        return action_masks.argmax(axis=1).astype(np.int64)


def test_one_of_two_partners_plays_the_dealer_and_the_seat_before_it(scripts):
    rules = RULES["barrie_v0"]
    rule, low = agents.make("rule", rules), Lowest(rules)
    pair = scripts["learning_picture"].Partners(rule, low)
    dealer, seen = layout_of(rules).slices["dealer"], set()

    def watch(rows, masks, chosen):
        second = rows[:, dealer].argmax(axis=1) >= 2
        assert (chosen[~second] == rule.act_rows(rows[~second], masks[~second])).all()
        assert (chosen[second] == masks[second].argmax(axis=1)).all()
        seen.update(second)

    play_on(rules, start(rules, 24), (pair, pair), watch=watch)
    assert seen == {False, True}


@pytest.mark.parametrize("content", [None, "", "[]", '{"K": [{}]}', '{"K": []}'])
@pytest.mark.parametrize(
    ("name", "key", "message"),
    [("ladder", "rungs", "no rows of a ladder"), ("regret", "rows", "no figures of tricks lost")],
)
def test_a_wrong_file_is_refused(scripts, name, key, message, content, tmp_path):
    file, script = tmp_path / "file.json", scripts[f"{name}_picture"]
    if content is not None:
        file.write_text(content.replace("K", key))
    option = "ladder" if name == "ladder" else "figures"
    with pytest.raises(OptionError, match=message):
        script.main(script.Args(**{option: file}, out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [None, "", "decisions\n", CURVE.replace("expert", "x") + "\n1"])
def test_a_wrong_curve_is_refused(scripts, content, tmp_path):
    script = scripts["learning_picture"]
    if content is not None:
        (tmp_path / "barrie_v0-seed1.csv").write_text(content)
    with pytest.raises(OptionError, match=r"no VARIANT-seedN.csv|no curve of train_ppo.py over"):
        script.main(script.Args(results=tmp_path, out=tmp_path / "out"))


def test_figures_without_a_hand_that_was_played_are_refused(scripts, tmp_path):
    script, file = scripts["regret_picture"], tmp_path / "r.json"
    data = json.loads(script.Args().figures.read_text())
    data["rows"][1] |= {"hands": 0, "lone_hands": 0}
    file.write_text(json.dumps(data))
    with pytest.raises(OptionError, match=r"no figures of tricks lost \(expert has no hand"):
        script.main(script.Args(figures=file, out=tmp_path / "x"))


def test_missing_weights_boards_or_matplotlib_are_one_line(scripts, tmp_path, monkeypatch, capsys):
    script = scripts["learning_picture"]
    write_curve(tmp_path, "barrie_v0-seed1")
    options = ["--results", str(tmp_path), "--out", str(tmp_path / "out")]
    for more, message in (
        (["--boards", "4"], "no two VARIANT"),
        (["--boards", "1"], "2 or more"),
    ):
        assert script.run(script.main, script.Args, [*options, *more]) == 2
        assert message in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for one, more in ((script, options), (scripts["ladder_picture"], options[2:])):
        assert one.run(one.main, one.Args, more) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert "needs matplotlib" in error


def test_the_published_pictures_have_the_published_numbers(scripts, tmp_path):
    """As committed, and as drawn again from the committed rows."""
    ladder, regret = scripts["ladder_picture"], scripts["regret_picture"]
    assert ladder.main(ladder.Args(out=tmp_path)) == 0
    assert regret.main(regret.Args(out=tmp_path / "regret")) == 0
    rungs = json.loads((ROOT / "experiments" / "ladder.json").read_text("utf-8"))["rungs"]
    for text in (*drawn(ROOT / ".github" / "pictures", "ladder"), *drawn(tmp_path, "ladder")):
        for row in rungs:
            points = row["points_per_hand"]
            half = (points["high"] - points["low"]) / 2
            assert f">{points['mean']:+.2f} ± {half:.2f}" in text
    rows = json.loads(regret.Args().figures.read_text("utf-8"))["rows"]
    for text in (*drawn(regret.RESULTS, "regret"), *drawn(tmp_path, "regret")):
        for row in rows:
            assert f">{row['lost']['total']['mean']:.3f} ± " in text
            parts = sum(part for part, _ in scripts["figures"].parts_of(row))
            assert parts == pytest.approx(row["lost"]["total"]["mean"])
