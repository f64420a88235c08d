"""The ladder: its rungs, and what is published of it."""

from __future__ import annotations

import json

import pytest
from support.script_modules import ROOT, loaded

from bideuchre_env import match
from bideuchre_env.agents.registry import BUILT_IN, find
from bideuchre_env.errors import OptionError

STEPS = [
    "cautious over random",
    "rule over cautious",
    "expert over rule",
    "ppo over rule",
    "ppo over expert",
    "net over expert",
    "net:search=true over expert",
    "pimc over expert",
    "inference over net",
    "inference over expert",
]
PUBLISHED = {"cincinnati_v0": STEPS[:-2], "barrie_v0": STEPS[:-2]}
OTHERS = ("simplified_v0", "club_v0", "six_card_v0", "double_deck_v0")
PUBLISHED |= {
    v: ["expert over rule", "net over expert", "net:search=true over expert"] for v in OTHERS
}


@pytest.fixture(scope="module")
def ladder():
    with loaded("experiments", "ladder") as (module,):
        yield module


def arguments(folder, *agents):
    words = ["--variants", "six_card_v0", "--boards", "60", "--games", "50", "--seed", "3"]
    words += ["--out", str(folder / "rungs"), "--json", str(folder / "rows.json")]
    return [*words, "--agents", *agents]


def test_each_rung_is_a_match_and_is_played_once(ladder, tmp_path, capsys, monkeypatch):
    """Pairs with an agent that searches have fewer boards; a second run prints the same."""
    monkeypatch.setattr(ladder, "SEARCH", ("rule",))
    agents = ("random", "cautious", "rule:boldness=1")
    asked = ladder.Args.parse(arguments(tmp_path, *agents))
    assert ladder.main(asked) == 0
    printed = capsys.readouterr().out
    rows = json.loads((tmp_path / "rows.json").read_text())["rungs"]
    assert [tuple(row["agents"]) for row in rows] == ladder.pairs(list(agents))
    for row, boards in zip(rows, (60, 2), strict=True):
        (stronger, weaker), points = row["agents"], row["points_per_hand"]
        games = {60: 50, 2: 2}[boards]
        whole = match.play(row["variant"], stronger, weaker, boards=boards, games=games, seed=3)
        assert points == pytest.approx(whole.points_per_hand.to_dict())
        assert row["win_rate"] == pytest.approx(whole.win_rate.to_dict())
        assert row["tie_boards"] == whole.boards.ties
        assert (
            f"| `{row['variant']}` | {stronger} over {weaker} | {points['mean']:+.2f} |" in printed
        )
        assert min(row["ms_per_decision"].values()) > 0
        assert "outcomes" not in row
    monkeypatch.setattr(match, "play", None)
    assert ladder.main(asked) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--agents", "random", "rule", "pimc:depth=3"], "depth=3: no option of 'pimc'"),
        (["--agents", "random", "nobody"], "no agent 'nobody'"),
        (["--boards", "1"], "--boards: 2 or more"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_played(ladder, tmp_path, more, message):
    with pytest.raises(OptionError, match=message):
        ladder.main(ladder.Args.parse([*arguments(tmp_path, "random", "rule"), *more]))
    assert list(tmp_path.iterdir()) == []


def test_whom_an_agent_is_compared_with(ladder):
    """The table's agents with those before them in the list; others with their neighbour."""
    whole = ladder.pairs(list(ladder.Args().agents))
    assert [" over ".join(pair) for pair in whole] == STEPS
    assert ladder.pairs(["rule", "expert", "ppo"]) == [
        ("expert", "rule"),
        ("ppo", "rule"),
        ("ppo", "expert"),
    ]
    assert ladder.pairs(["random", "pimc", "expert"]) == [("pimc", "random"), ("expert", "pimc")]
    assert ladder.pairs(["expert", "pimc:worlds=3"]) == [("pimc:worlds=3", "expert")]
    assert ladder.pairs(["rule"]) == []
    assert all(ladder.COMPARED[agent] for agent in BUILT_IN if agent != "random")


# --- what is published ----------------------------------------------------------------------------


def published():
    """The rows of the published ladder."""
    return json.loads((ROOT / "experiments" / "ladder.json").read_text(encoding="utf-8"))["rungs"]


def test_every_published_step_is_surely_above_nothing(ladder):
    """All rungs in order, each interval as narrow as its boards make it.

    An agent's first rung is its step, and no interval of a step reaches 0.
    """
    rungs = published()
    named = [(row["variant"], " over ".join(row["agents"])) for row in rungs]
    assert named == [(variant, step) for variant, steps in PUBLISHED.items() for step in steps]
    steps = {(row["variant"], row["agents"][0]): row for row in reversed(rungs)}
    for row in rungs:
        points, searches = row["points_per_hand"], any(map(ladder.searches, row["agents"]))
        half, boards = (0.15, 3_200) if searches else (0.05, 100_000)
        assert points["low"] < points["mean"] < points["high"]
        assert points["low"] > 0.0 or row not in steps.values()
        assert (points["high"] - points["low"]) / 2 <= half * (boards / row["boards"]) ** 0.5
        assert row["games"]["a_won"] + row["games"]["b_won"] > 0


def test_what_inference_is_worth_is_published(ladder):
    """In points, on boards of a seed of its own, beside net and beside the expert."""
    text = (ROOT / "experiments" / "results" / "inference.json").read_text(encoding="utf-8")
    rungs = json.loads(text)["rungs"]
    assert {row["variant"] for row in rungs} >= {"cincinnati_v0", "barrie_v0", "six_card_v0"}
    by_name = {(row["variant"], *row["agents"]): row["points_per_hand"] for row in rungs}
    for variant in {row["variant"] for row in rungs}:
        assert by_name[variant, "inference", "expert"]["low"] > 0.0
        assert by_name[variant, "inference", "net"]["high"] > 0.0
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    assert f"<!-- inference -->\n{ladder.table(rungs)}\n<!-- end inference -->" in page
    milliseconds = next(row for row in rungs if row["variant"] == "cincinnati_v0")
    told = milliseconds["ms_per_decision"]["inference"]
    assert 0.5 < find("inference").info.milliseconds / told < 2.0


def test_the_page_and_the_agents_command_say_what_the_ladder_says(ladder):
    """The table is that of the rows; the times of a decision are within a half and twice theirs."""
    rungs = published()
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    assert ladder.table(rungs) == page.partition("<!-- ladder -->\n")[2].partition("\n<!-- end")[0]
    for row in rungs:
        for name, milliseconds in row["ms_per_decision"].items():
            if name in BUILT_IN and row["variant"] == "cincinnati_v0":
                assert 0.5 < find(name).info.milliseconds / milliseconds < 2.0
