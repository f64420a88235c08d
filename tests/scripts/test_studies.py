"""Studies of agents: command line, saved results, published tables, and small runs of each."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.script_modules import ROOT, loaded

import bideuchre_env
from bideuchre_env import agents, match
from bideuchre_env.agents.registry import BUILT_IN, find
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions

STUDIES = ("beliefs", "bidding_vs_cards", "compare_decisions", "exploit", "ladder", "regret")
NAMES = ("studies", "study_tools", *STUDIES, "robustness")
RESULTS = ROOT / "experiments" / "results"


@pytest.fixture(scope="module")
def scripts():
    with loaded("experiments", *NAMES) as modules:
        yield dict(zip(NAMES, modules, strict=True))


def run(study, folder, *words):
    """Run a study in a folder, and return its rows."""
    file, out = folder / "rows.json", folder / "saved"
    words = ["--json", str(file), *words]
    if "out" in vars(study.Args()):
        words = ["--out", str(out), *words]
    assert study.main(study.Args.parse(words)) == 0
    content = json.loads(file.read_text())
    return content["rungs" if "rungs" in content else "rows"]


def test_every_study_is_a_sub_command(scripts, capsys):
    studies = scripts["studies"]
    for name in studies.STUDIES:
        with pytest.raises(SystemExit) as ended, loaded("experiments", name.replace("-", "_")):
            studies.main([name, "--help"])
        assert ended.value.code == 0
        assert f" {name} [-h]" in capsys.readouterr().out
    assert studies.main(["bidding-vs-cards", "--boards", "1"]) == 2
    assert "error: --boards: 2 or more" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        studies.main(["nothing"])
    assert ended.value.code == 2


def test_a_result_is_computed_once_and_other_files_are_refused(scripts, tmp_path):
    saved, calls, folder = scripts["study_tools"].saved, [], tmp_path / "new"

    def get(about=("rule", 3), decode=list):
        words = ("barrie_v0", "rule:boldness=1", "seed3")
        return saved(folder, words, {"of": about}, lambda: calls.append(1) or [4, 5], decode)

    assert get() == get() == [4, 5]
    assert calls == [1]
    path = folder / "barrie_v0-rule_boldness=1-seed3.json"
    text = path.read_text()
    with pytest.raises(OptionError, match=r"seed3.json is no result of this run: another --out"):
        get(about=("rule", 4))
    with pytest.raises(OptionError, match="is no result of this run"):
        get(decode=lambda saved: saved[2])
    for damaged in (b"", b"[]", b'{"about": 1}', b"\xff", text[:-9].encode()):
        path.write_bytes(damaged)
        with pytest.raises(OptionError, match="is no result of this run"):
            get()
        assert path.read_bytes() == damaged


def test_an_agent_without_weights_for_a_game_is_left_out(scripts, tmp_path, capsys):
    file = tmp_path / "farm.toml"
    file.write_text('base = "barrie_v0"\nname = "farm"\npartnered = [5, 8]\n')
    names = ["rule", "net", "rule", "ppo:seed=1"]
    assert scripts["study_tools"].with_weights(names, bideuchre_env.make(file)) == ["rule"]
    assert capsys.readouterr().err.splitlines() == [
        f"farm: {agent} is left out: no weights for this game" for agent in ("net", "ppo:seed=1")
    ]


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("beliefs", ["--check", "colour"], "expected coverage or calibration"),
        ("beliefs", ["--variants", "poker"], "expected some of"),
        ("beliefs", ["--seeds", "1"], "--seeds: 2 or more"),
        ("compare_decisions", ["--boards", "0"], "--boards: 1 or more"),
        ("compare_decisions", ["--agents", "rule", "rule"], "--agents: two or more that play"),
        ("compare_decisions", ["--agents", "rule", "expert", "--worlds", "0"], "worlds=0"),
        ("exploit", ["--pairs", "0"], "--pairs 0: 1 or more"),
        ("exploit", ["--rounds", "0"], "--rounds 0: 1 or more"),
        ("exploit", ["--boards", "1"], "--boards 1: 2 or more"),
        ("exploit", ["--seed", "-1"], "seed"),
        ("exploit", ["--variants", "nothing_v0"], "nothing_v0"),
        ("ladder", ["--agents", "random", "pimc:depth=3"], "depth=3: no option of 'pimc'"),
        ("ladder", ["--agents", "random", "nobody"], "no agent 'nobody'"),
        ("ladder", ["--boards", "1"], "--boards: 2 or more"),
        ("regret", ["--hands", "1"], "--hands 1: 2 or more"),
        ("regret", ["--seed", "-1"], "seed=-1"),
        ("regret", ["--variants", "barrie_v0", "barrie_v0"], "a name of its own"),
        ("robustness", ["--boards", "1"], "--boards: 2 or more"),
    ],
)
def test_unusable_options_are_refused_before_play(scripts, name, words, message, tmp_path):
    with pytest.raises(OptionError, match=message):
        run(scripts[name], tmp_path, *words)
    assert list(tmp_path.iterdir()) == []


# --- published results ----------------------------------------------------------------------------


def saved_rows(*parts):
    """Rows of a published result."""
    content = json.loads(RESULTS.joinpath(*parts).read_text(encoding="utf-8"))
    return content["rungs" if "rungs" in content else "rows"]


def tables_of(scripts):
    """The tables of all published results."""
    for check in ("coverage", "calibration"):
        tabulate = getattr(scripts["beliefs"], f"{check}_table")
        yield tabulate(saved_rows("beliefs", f"{check}.json"))
    names = ("rule", "expert", "net", "ppo")
    rows = [row for name in names for row in saved_rows("exploit", f"{name}.json")]
    yield scripts["exploit"].table(rows)
    halves = scripts["bidding_vs_cards"].table(saved_rows("halves.json"), "rule")
    yield halves.split("\n", 1)[1]
    yield scripts["ladder"].table(saved_rows("inference.json"))
    yield scripts["ladder"].table(saved_rows("..", "ladder.json"))
    for variant in ("cincinnati_v0", "barrie_v0"):
        rows = saved_rows("answers", f"{variant}.json")
        n = sum(rows[0][part]["asked"] for part in scripts["compare_decisions"].PARTS)
        yield scripts["compare_decisions"].table(rows, "inference", n)
        rows = saved_rows("styles", f"{variant}.json")
        sides = (list(dict.fromkeys(row[key] for row in rows)) for key in ("agent", "opponent"))
        names, opponents = sides
        for column in ("points_per_hand", "more"):
            yield scripts["robustness"].table(rows, column, names, opponents)


def test_the_page_has_the_tables_of_the_published_results(scripts):
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    for table in tables_of(scripts):
        assert table in page


def test_published_steps_of_the_ladder_are_significant():
    """An agent's first rung is its step; the catalogue has the published times."""
    rungs = saved_rows("..", "ladder.json")
    steps = {(row["variant"], row["agents"][0]): row for row in reversed(rungs)}
    assert {variant for variant, _ in steps} == set(bideuchre_env.variants)
    for row in rungs:
        points = row["points_per_hand"]
        assert points["low"] < points["mean"] < points["high"]
        assert points["low"] > 0.0 or row not in steps.values()
        for name, milliseconds in row["ms_per_decision"].items():
            if name in BUILT_IN and row["variant"] == "cincinnati_v0":
                assert 0.5 < find(name).info.milliseconds / milliseconds < 2.0


# --- small runs -----------------------------------------------------------------------------------


def test_beliefs_cover_uniform_deals(scripts, tmp_path, monkeypatch, capsys):
    """On one position, with few deals; a second run reads the rows of the first."""
    beliefs = scripts["beliefs"]
    monkeypatch.setattr(beliefs, "DRAWS", 20_000)
    monkeypatch.setattr(beliefs, "MOST_DRAWS", 20_000)
    words = ["--variants", "cincinnati_v0", "--hands", "300", "--positions", "1", "--seeds", "3"]
    [row] = run(beliefs, tmp_path, *words)["cincinnati_v0"]
    assert beliefs.LEAST_RARE <= row["chance"] <= beliefs.MOST_RARE
    assert 0.0 <= row["covered"] <= 1.0
    assert row["rms"] < 12.0
    assert row["error"] < row["deviation"]
    printed = capsys.readouterr().out
    assert run(beliefs, tmp_path, *words)["cincinnati_v0"] == [row]
    assert capsys.readouterr().out == printed
    words = ["--check", "calibration", "--variants", "cincinnati_v0", "--hands", "60"]
    run(beliefs, tmp_path, *words)
    assert "| cincinnati_v0 | with partner | all |" in capsys.readouterr().out


def test_a_prediction_on_the_border_of_two_ranges_counts_in_the_upper_one(scripts):
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


def test_better_cards_under_the_same_calls_make_more_points(scripts, tmp_path, capsys):
    words = ["--agents", "rule", "cautious", "--boards", "600"]
    rows = run(scripts["bidding_vs_cards"], tmp_path, *words)
    points = {(row["calls"], row["cards"]): row["points_per_hand"] for row in rows}
    assert points["rule", "rule"]["mean"] == 0
    assert points["cautious", "cautious"]["high"] < points["cautious", "rule"]["low"]
    assert "| calls of rule | +0.000 ± " in capsys.readouterr().out


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
    """A second run of the same seed gives the same rows."""
    words = ["--agents", "cautious", "--pairs", "6000", "--rounds", "1", "--boards", "400"]
    [row] = run(scripts["exploit"], tmp_path, *words, "--seed", "3")
    assert row["gain"]["low"] > 0.2
    (tmp_path / "again").mkdir()
    assert run(scripts["exploit"], tmp_path / "again", *words, "--seed", "3") == [row]


def test_a_rung_is_a_match_and_is_played_once(scripts, tmp_path, monkeypatch, capsys):
    """Pairs with an agent that searches play fewer boards."""
    ladder = scripts["ladder"]
    monkeypatch.setattr(ladder, "SEARCH", ("rule",))
    agents = ["random", "cautious", "rule:boldness=1"]
    words = ["--variants", "six_card_v0", "--boards", "60", "--games", "50", "--seed", "3"]
    rows = run(ladder, tmp_path, *words, "--agents", *agents)
    printed = capsys.readouterr().out
    assert [tuple(row["agents"]) for row in rows] == ladder.pairs(agents)
    for row, boards in zip(rows, (60, 2), strict=True):
        games = {60: 50, 2: 2}[boards]
        whole = match.play(row["variant"], *row["agents"], boards=boards, games=games, seed=3)
        assert row["points_per_hand"] == pytest.approx(whole.points_per_hand.to_dict())
        assert row["win_rate"] == pytest.approx(whole.win_rate.to_dict())
    monkeypatch.setattr(match, "play", None)
    run(ladder, tmp_path, *words, "--agents", *agents)
    assert capsys.readouterr().out == printed


def test_styles_are_compared_board_by_board_with_the_first_agent(scripts, tmp_path):
    sides = ["--agents", "rule", "rule:boldness=3", "cautious", "--opponents", "rule", "cautious"]
    rows = run(scripts["robustness"], tmp_path, *sides, "--boards", "500")
    rows = {(row["agent"], row["opponent"]): row for row in rows}
    assert rows["rule", "rule"]["points_per_hand"]["mean"] == 0
    assert rows["rule", "cautious"]["more"] is None
    assert rows["rule:boldness=3", "rule"]["points_per_hand"]["high"] < 0
    for agent in ("rule:boldness=3", "cautious"):
        row, first = rows[agent, "cautious"], rows["rule", "cautious"]
        difference = row["points_per_hand"]["mean"] - first["points_per_hand"]["mean"]
        assert row["more"]["mean"] == pytest.approx(difference)
