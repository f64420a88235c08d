"""Studies of agents: a small run of each."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.script_modules import load_scripts

import bideuchre_env
from bideuchre_env import agents, match
from bideuchre_env.rules import actions

STUDIES = ("beliefs", "bidding_vs_cards", "compare_decisions", "exploit", "ladder")
NAMES = ("studies", *STUDIES)


@pytest.fixture(scope="module")
def scripts():
    with load_scripts("experiments", *NAMES) as modules:
        yield dict(zip(NAMES, modules, strict=True))


def run(study, folder, *words):
    """Run a study with these options; return the rows of its JSON file."""
    file, out = folder / "rows.json", folder / "saved"
    words = ["--json", str(file), *words]
    if "out" in vars(study.Args()):
        words = ["--out", str(out), *words]
    assert study.main(study.Args.parse(words)) == 0
    content = json.loads(file.read_text())
    return content["rungs" if "rungs" in content else "rows"]


def test_every_study_is_a_sub_command(scripts, capsys):
    for name in scripts["studies"].STUDIES:
        with (
            pytest.raises(SystemExit) as ended,
            load_scripts("experiments", name.replace("-", "_")),
        ):
            scripts["studies"].main([name, "--help"])
        assert ended.value.code == 0
        assert f" {name} [-h]" in capsys.readouterr().out


def test_beliefs_cover_uniform_deals(scripts, tmp_path, monkeypatch):
    """The study runs on one position, with few deals."""
    beliefs = scripts["beliefs"]
    monkeypatch.setattr(beliefs, "DRAWS", 20_000)
    monkeypatch.setattr(beliefs, "MOST_DRAWS", 20_000)
    words = ["--variants", "cincinnati_v0", "--hands", "300", "--positions", "1", "--seeds", "3"]
    [row] = run(beliefs, tmp_path, *words)["cincinnati_v0"]
    assert beliefs.LEAST_RARE <= row["chance"] <= beliefs.MOST_RARE
    assert 0.0 <= row["covered"] <= 1.0
    assert row["rms"] < 12.0
    assert row["error"] < row["deviation"]


def test_a_prediction_between_two_ranges_counts_in_the_upper_range(scripts):
    predicted, made = np.array([0.1, 0.19, 0.2, 0.5, 1.0]), np.array([0, 1, 1, 0, 1.0])
    rows = scripts["beliefs"].by_range(predicted, made)
    assert [(row["range"], row["n"], row["made"]) for row in rows] == [
        ("all", 5, 3),
        ("0% to 20%", 2, 1),
        ("20% to 40%", 1, 1),
        ("40% to 60%", 1, 0),
        ("80% to 100%", 1, 1),
    ]


def test_one_agent_calls_and_the_other_plays_the_cards(scripts):
    game = bideuchre_env.make("cincinnati_v0")
    first_card = actions.of(game.rules).card_offset
    one, other = (agents.make(name, game.rules, seed=1) for name in ("rule", "expert"))
    both, vec = scripts["bidding_vs_cards"].Combined(one, other, first_card), game.vec(64)
    observed, _ = vec.reset(seed=3)
    for _ in range(30):
        rows = observed["observation"], observed["action_mask"]
        cards = rows[1][:, first_card:].any(axis=1)
        chosen = both.act_rows(*rows)
        expected = np.where(cards, other.act_rows(*rows), one.act_rows(*rows))
        np.testing.assert_array_equal(chosen, expected)
        observed, *_ = vec.step(chosen)


def test_better_cards_under_the_same_calls_make_more_points(scripts, tmp_path):
    words = ["--agents", "rule", "cautious", "--boards", "600"]
    rows = run(scripts["bidding_vs_cards"], tmp_path, *words)
    points = {(row["calls"], row["cards"]): row["points_per_hand"] for row in rows}
    assert points["rule", "rule"]["mean"] == 0
    assert points["cautious", "cautious"]["high"] < points["cautious", "rule"]["low"]


def test_decisions_that_differ_from_a_search_cost_points(scripts, tmp_path):
    names = ["expert", "expert:margin=0.1", "random", "cautious"]
    words = ["--agents", *names, "--worlds", "60", "--boards", "5"]
    rows = {row["agent"]: row for row in run(scripts["compare_decisions"], tmp_path, *words)}
    random = rows["random"]
    assert rows["expert"]["points_lost_in_100"]["mean"] == 0
    assert rows["expert"]["cards"]["differ"] == rows["expert"]["calls"]["differ"] == 0
    assert random["points_lost_in_100"]["low"] > 20
    assert random["points_lost_in_100"]["mean"] > rows["cautious"]["points_lost_in_100"]["mean"]
    assert 0.2 < random["cards"]["differ"] / random["cards"]["asked"] < 0.9
    assert random["calls"]["differ"] > 0


def test_an_exploiter_gains_from_the_cautious_player(scripts, tmp_path):
    words = ["--agents", "cautious", "--pairs", "6000", "--rounds", "1", "--boards", "400"]
    [row] = run(scripts["exploit"], tmp_path, *words, "--seed", "3")
    assert row["gain"]["low"] > 0.2


def test_a_rung_is_a_match_and_is_played_once(scripts, tmp_path, monkeypatch):
    """Pairs with an agent that searches play fewer boards."""
    ladder = scripts["ladder"]
    monkeypatch.setattr(ladder, "SEARCH", ("rule",))
    agents = ["random", "cautious", "rule:boldness=1"]
    words = ["--variants", "six_card_v0", "--boards", "60", "--games", "50", "--seed", "3"]
    rows = run(ladder, tmp_path, *words, "--agents", *agents)
    assert [tuple(row["agents"]) for row in rows] == ladder.pairs(agents)
    for row, boards in zip(rows, (60, 2), strict=True):
        games = {60: 50, 2: 2}[boards]
        whole = match.play(row["variant"], *row["agents"], boards=boards, games=games, seed=3)
        assert row["points_per_hand"] == pytest.approx(whole.points_per_hand.to_dict())
        assert row["win_rate"] == pytest.approx(whole.win_rate.to_dict())
    monkeypatch.setattr(match, "play", None)
    assert run(ladder, tmp_path, *words, "--agents", *agents) == rows
