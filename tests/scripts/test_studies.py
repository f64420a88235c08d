"""The entry of the studies, their saved results, and the studies that play matches."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.script_modules import ROOT, loaded

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions

NAMES = ("studies", "study_tools", "bidding_vs_cards", "compare_decisions", "robustness")
RESULTS = ROOT / "experiments" / "results"


@pytest.fixture(scope="module")
def scripts():
    with loaded("experiments", *NAMES) as modules:
        yield dict(zip(NAMES, modules, strict=True))


def page():
    return (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")


# --- the entry and the store ----------------------------------------------------------------------


def test_every_study_is_a_sub_command(scripts, capsys):
    studies = scripts["studies"]
    for name in studies.STUDIES:
        with pytest.raises(SystemExit) as ended, loaded("experiments", name.replace("-", "_")):
            studies.main([name, "--help"])
        assert ended.value.code == 0
        assert f" {name} [-h]" in capsys.readouterr().out
    assert studies.main(["bidding-vs-cards", "--boards", "1"]) == 2
    assert "error: --boards: 2 or more" in capsys.readouterr().err
    for words in (["nothing"], ["--hands", "regret"]):
        with pytest.raises(SystemExit) as ended:
            studies.main(words)
        assert ended.value.code == 2


def test_a_result_is_computed_once_and_only_its_own_file_is_read(scripts, tmp_path):
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
    for damaged in (b"", b"[]", b"3", b'{"about": 1}', b"\xff", text[:-9].encode()):
        path.write_bytes(damaged)
        with pytest.raises(OptionError, match="is no result of this run"):
            get()
        assert path.read_bytes() == damaged


def test_an_agent_without_weights_for_a_game_is_left_out(scripts, tmp_path, capsys):
    """An agent that is named twice is there once."""
    file = tmp_path / "farm.toml"
    file.write_text('base = "barrie_v0"\nname = "farm"\npartnered = [5, 8]\n')
    names = ["rule", "net", "rule", "ppo:seed=1"]
    chosen = scripts["study_tools"].with_weights(names, bideuchre_env.make(file))
    assert chosen == ["rule"]
    assert capsys.readouterr().err.splitlines() == [
        f"farm: {agent} is left out: no weights for this game" for agent in ("net", "ppo:seed=1")
    ]


# --- bidding against cards ------------------------------------------------------------------------


def test_calls_are_those_of_one_agent_and_cards_those_of_the_other(scripts):
    game = bideuchre_env.make("cincinnati_v0")
    first_card = actions.of(game.rules).card_offset
    one, other = (agents.make(name, game.rules, seed=1) for name in ("rule", "expert"))
    both, vec = scripts["bidding_vs_cards"].Combined(one, other, first_card), game.vec(64)
    observed, _ = vec.reset(seed=3)
    differ = {False: 0, True: 0}
    for _ in range(40):
        rows = observed["observation"], observed["action_mask"]
        chosen, first, second = (agent.act_rows(*rows) for agent in (both, one, other))
        cards = rows[1][:, first_card:].any(axis=1)
        np.testing.assert_array_equal(chosen, np.where(cards, second, first))
        for part in differ:
            differ[part] += int((first != second)[cards == part].sum())
        observed, *_ = vec.step(chosen)
    assert min(differ.values()) > 0


def test_better_cards_under_the_same_calls_make_more_points(scripts, tmp_path, capsys):
    out, study = tmp_path / "rows.json", scripts["bidding_vs_cards"]
    options = ["--agents", "rule", "cautious", "--boards", "600", "--json", str(out)]
    assert study.main(study.Args.parse(options)) == 0
    rows = json.loads(out.read_text())["rows"]
    points = {(row["calls"], row["cards"]): row["points_per_hand"] for row in rows}
    assert points["rule", "rule"]["mean"] == 0
    assert points["cautious", "cautious"]["high"] < points["cautious", "rule"]["low"]
    assert "| calls of rule | +0.000 ± " in capsys.readouterr().out


def test_the_page_has_the_points_of_calls_and_cards(scripts):
    study = scripts["bidding_vs_cards"]
    rows = json.loads((RESULTS / "halves.json").read_text(encoding="utf-8"))["rows"]
    table = study.table(rows, "rule")
    assert table.split("\n", 1)[1] in page()


# --- compared decisions ---------------------------------------------------------------------------


def decisions_of(study, tmp_path, names, *more):
    """The study's options, its file in the test's own folder."""
    file = ["--json", str(tmp_path / "rows.json"), "--worlds", "60", "--boards", "5"]
    return study.Args.parse(["--agents", *names, *file, *more])


def test_other_decisions_cost_points(scripts, tmp_path, capsys):
    """Equal agents lose nothing, random ones much; a second run gives the same."""
    study, runs = scripts["compare_decisions"], []
    args = decisions_of(study, tmp_path, ["expert", "expert:margin=0.1", "random", "cautious"])
    for _ in range(2):
        assert study.main(args) == 0
        rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
        runs.append({row["agent"]: row for row in rows})
    rows, random = runs[0], runs[0]["random"]
    assert rows["expert"]["points_lost_in_100"]["mean"] == 0
    assert rows["expert"]["cards"]["differ"] == rows["expert"]["calls"]["differ"] == 0
    assert random["points_lost_in_100"]["low"] > 20
    assert random["points_lost_in_100"]["mean"] > rows["cautious"]["points_lost_in_100"]["mean"]
    assert 0.2 < random["cards"]["differ"] / random["cards"]["asked"] < 0.9
    assert random["calls"]["differ"] > 0
    assert random["calls"]["milliseconds"] > 0
    n = random["cards"]["asked"] + random["calls"]["asked"]
    assert capsys.readouterr().out.startswith(f"{n:,} decisions\n\n| agent | ms a call |")
    assert runs[1]["random"]["points_lost_in_100"] == random["points_lost_in_100"]


def test_positions_leave_a_choice_of_calls_or_of_cards(scripts):
    game = bideuchre_env.make("barrie_v0")
    positions = scripts["compare_decisions"].positions_of(game, 4, 3)
    assert (positions.masks.astype(bool).sum(axis=1) > 1).all()
    phase = game.raw_env().observation_layout.slices["phase"]
    auction = positions.observations[:, phase].argmax(axis=1) < 2
    np.testing.assert_array_equal(positions.cards, ~auction)
    assert 0 < positions.cards.sum() < len(positions.cards)


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["rule", "expert"], ["--boards", "0"], "--boards: 1 or more"),
        (["rule", "rule"], [], "--agents: two or more that play this game"),
        (["rule", "expert"], ["--worlds", "0"], "worlds=0"),
    ],
)
def test_bad_options_of_compared_decisions_are_refused(scripts, names, options, message, tmp_path):
    study = scripts["compare_decisions"]
    with pytest.raises(OptionError, match=message):
        study.main(decisions_of(study, tmp_path, names, *options))
    assert not (tmp_path / "rows.json").exists()


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_fewer_worlds_cost_inference_points(scripts, variant):
    """In the published results, which the page has."""
    study = scripts["compare_decisions"]
    data = json.loads((RESULTS / "answers" / f"{variant}.json").read_text(encoding="utf-8"))
    rows = {row["agent"]: row for row in data["rows"]}
    first = data["rows"][0]
    assert (data["variant"], first["agent"]) == (variant, "inference")
    names = (f"inference:considered={n}" for n in (6, 4, 2))
    lost = [rows[name]["points_lost_in_100"]["mean"] for name in names]
    assert 0 < lost[0] < lost[1] < lost[2]
    n = sum(first[part]["asked"] for part in study.PARTS)
    assert f"On `{variant}`, {study.table(data['rows'], 'inference', n)}\n" in page()


# --- robustness -----------------------------------------------------------------------------------


def styles_of(study, tmp_path, *more):
    """The study's options, its files in the test's own folder."""
    options = ["--agents", "rule", "rule:boldness=3", "cautious", "--opponents", "rule", "cautious"]
    files = ["--out", str(tmp_path / "saved"), "--json", str(tmp_path / "rows.json")]
    return study.Args.parse([*options, *files, *more])


def test_agents_are_compared_board_by_board_with_the_first(scripts, tmp_path, capsys):
    """A second run reads what is saved."""
    study = scripts["robustness"]
    args = styles_of(study, tmp_path, "--boards", "500")
    assert study.main(args) == 0
    saved = json.loads((tmp_path / "rows.json").read_text())
    rows = {(row["agent"], row["opponent"]): row for row in saved["rows"]}
    assert rows["rule", "rule"]["points_per_hand"]["mean"] == 0
    assert rows["rule", "cautious"]["more"] is None
    assert rows["rule:boldness=3", "rule"]["points_per_hand"]["high"] < 0
    for agent in ("rule:boldness=3", "cautious"):
        row, first = rows[agent, "cautious"], rows["rule", "cautious"]
        difference = row["points_per_hand"]["mean"] - first["points_per_hand"]["mean"]
        assert row["more"]["mean"] == pytest.approx(difference)
    printed = capsys.readouterr().out
    assert "| points per hand | over rule | over cautious |" in printed
    assert "| more than rule | over rule | over cautious |" in printed
    files = sorted((tmp_path / "saved").iterdir())
    assert len(files) == 6
    for file in files:
        content = json.loads(file.read_text())
        file.write_text(json.dumps(content | {"result": [2] * 500}))
    assert study.main(args) == 0
    assert "| rule | +1.000 ± 0.000 | +1.000 ± 0.000 |" in capsys.readouterr().out
    files[0].write_text(json.dumps(content | {"result": [2] * 499}))
    with pytest.raises(OptionError, match="is no result of this run"):
        study.main(args)
    with pytest.raises(OptionError, match="--boards: 2 or more"):
        study.main(styles_of(study, tmp_path, "--boards", "1"))


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_no_searcher_is_surely_weaker_than_the_expert_against_any_style(scripts, variant):
    """In the published results, which the page has."""
    study = scripts["robustness"]
    data = json.loads((RESULTS / "styles" / f"{variant}.json").read_text(encoding="utf-8"))
    rows = data["rows"]
    names = list(dict.fromkeys(row["agent"] for row in rows))
    opponents = list(dict.fromkeys(row["opponent"] for row in rows))
    assert data["variant"] == variant
    assert {"expert", "pimc", "inference"} <= set(names)
    assert {"rule", study.RASH, study.TIMID, "ppo", "net"} == set(opponents)
    for row in rows:
        assert row["agent"] == "expert" or row["more"]["high"] > 0.0
        assert row["agent"] != "inference" or row["more"]["low"] > 0.0
    assert f"--boards {data['boards']} --seed {data['seed']}" in page()
    for column in ("points_per_hand", "more"):
        assert f"\n{study.table(rows, column, names, opponents)}\n" in page()
