"""The ladder script: its rungs, what it keeps, and the table in a file."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

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


@pytest.fixture
def arguments(tmp_path):
    agents = ("random", "cautious", "rule")
    return [
        "--agents",
        *agents,
        "--boards",
        "60",
        "--games",
        "10",
        "--seed",
        "3",
        "--out",
        str(tmp_path / "rungs"),
    ]


def test_each_rung_is_a_match_and_is_kept(ladder, arguments, tmp_path, capsys, monkeypatch):
    """Two variants of two rungs each; a second run plays nothing and prints the same."""
    rows_file = tmp_path / "ladder.json"
    arguments += ["--json", str(rows_file)]
    assert ladder.main(ladder.Args.parse(arguments)) == 0
    printed = capsys.readouterr().out
    assert len(sorted((tmp_path / "rungs").iterdir())) == 8
    rows = json.loads(rows_file.read_text())["rungs"]
    assert len(rows) == 4
    for row in rows:
        (stronger, weaker), points = row["agents"], row["points_per_hand"]
        whole = match.play(row["variant"], stronger, weaker, boards=60, games=10, seed=3)
        assert points == pytest.approx(whole.points_per_hand.to_dict())
        assert row["win_rate"] == pytest.approx(whole.win_rate.to_dict())
        assert row["tie_boards"] == whole.boards.ties
        assert (
            f"| `{row['variant']}` | {stronger} over {weaker} | {points['mean']:+.2f} |" in printed
        )
        assert f"| {100 * row['win_rate']['mean']:.1f} % |" in printed
        assert min(row["ms_per_decision"].values()) > 0
        assert "numba" in row["machine"]
    monkeypatch.setattr(ladder.match, "play", None)
    assert ladder.main(ladder.Args.parse(arguments)) == 0
    assert capsys.readouterr().out == printed


def test_a_rung_is_played_in_parts(ladder, arguments, tmp_path, monkeypatch, capsys):
    """Each part has the next seed; Ctrl-C loses only the one that is being played."""
    played = []

    def play(*words, **options):
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(options)
        return match.play(*words, **options)

    monkeypatch.setattr(ladder, "match", SimpleNamespace(play=play))
    monkeypatch.setattr(ladder, "prepare", lambda *pair: None)
    monkeypatch.setattr(ladder, "PART", {"boards": (25, 0), "games": (10, 0)})
    asked = ladder.Args.parse(
        [*arguments, "--variants", "six_card_v0", "--agents", "cautious", "rule"]
    )
    assert ladder.main(asked) == 130
    first, played[:] = played.copy(), []
    assert ladder.main(replace(asked, kept=True)) == 0
    assert "| 50 |" in capsys.readouterr().out
    assert played == []
    assert len(list((tmp_path / "rungs").iterdir())) == 2
    assert ladder.main(asked) == 0
    parts = [(part["seed"], part.get("boards"), part.get("games")) for part in first + played]
    assert parts == [(3, 25, None), (4, 25, None), (5, 10, None), (3, None, 10)]
    assert "| 60 |" in capsys.readouterr().out


def test_the_table_goes_between_its_marks(ladder, arguments, tmp_path, capsys):
    """What stands around the marks stays; a file without them is refused."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- ladder -->\nold\n<!-- end -->\nafter\n")
    options = [*arguments, "--variants", "six_card_v0", "--write", str(page)]
    assert ladder.main(ladder.Args.parse(options)) == 0
    table = capsys.readouterr().out.strip()
    assert page.read_text() == f"before\n<!-- ladder -->\n{table}\n<!-- end -->\nafter\n"
    page.write_text("nothing\n")
    with pytest.raises(OptionError, match="no lines"):
        ladder.main(ladder.Args.parse(options))
    with pytest.raises(OptionError, match="no agent 'nobody'"):
        ladder.main(ladder.Args.parse([*arguments, "--agents", "random", "nobody"]))


@pytest.mark.parametrize("content", [None, b"", b"<!-- ladder -->\n", b"\xff"])
def test_where_the_table_goes_is_looked_at_first(ladder, arguments, tmp_path, content):
    """No file, no marks, one mark, no text: refused before anything is played or made."""
    page = tmp_path / "page.md"
    if content is not None:
        page.write_bytes(content)
    with pytest.raises(OptionError, match=r"page\.md"):
        ladder.main(ladder.Args.parse([*arguments, "--write", str(page)]))
    assert not (tmp_path / "rungs").exists()
    assert not page.exists() or page.read_bytes() == content


@pytest.mark.parametrize("asked", ["--write", "--json"])
def test_a_ladder_with_a_part_missing_is_written_nowhere(ladder, arguments, tmp_path, asked):
    """With `--kept`: one part missing, or all of them and the folder."""
    file, old = tmp_path / "file", "<!-- ladder -->\nold\n<!-- end -->\n"
    file.write_text(old)
    whole = [*arguments, "--variants", "six_card_v0"]
    kept = ladder.Args.parse([*whole, "--kept", asked, str(file)])
    with pytest.raises(OptionError, match="--kept: 4 of 4 parts are missing"):
        ladder.main(kept)
    assert not (tmp_path / "rungs").exists()
    assert ladder.main(ladder.Args.parse(whole)) == 0
    part = tmp_path / "rungs" / "six_card_v0-rule-cautious-10games-seed3.json"
    content = part.read_text()
    part.unlink()
    with pytest.raises(OptionError, match=f"1 of 4 parts are missing, .*{part.name}"):
        ladder.main(kept)
    assert file.read_text() == old
    part.write_text(content)
    assert ladder.main(kept) == 0
    assert "rule" in file.read_text()


def test_options_make_rungs_of_their_own(ladder, arguments, tmp_path, capsys):
    """Whether an agent searches goes by its name alone; no file's name has a colon in it."""
    agents = ("rule", "expert:margin=0", "expert:margin=100", "pimc:worlds=2,played_out=4")
    options = [*arguments, "--variants", "six_card_v0", "--search-boards", "5"]
    options += ["--search-games", "2", "--agents", *agents]
    assert ladder.main(ladder.Args.parse(options)) == 0
    printed = capsys.readouterr().out
    assert "| expert:margin=100 over expert:margin=0 |" in printed
    rungs = {path.name: json.loads(path.read_text()) for path in (tmp_path / "rungs").iterdir()}
    assert sorted(rungs) == [
        "six_card_v0-expert_margin=0-rule-10games-seed3.json",
        "six_card_v0-expert_margin=0-rule-60boards-seed3.json",
        "six_card_v0-expert_margin=100-expert_margin=0-10games-seed3.json",
        "six_card_v0-expert_margin=100-expert_margin=0-60boards-seed3.json",
        "six_card_v0-pimc_worlds=2,played_out=4-expert_margin=100-2games-seed3.json",
        "six_card_v0-pimc_worlds=2,played_out=4-expert_margin=100-5boards-seed3.json",
    ]
    for name, pair in zip(sorted(rungs)[::2], pairwise(agents), strict=True):
        assert rungs[name]["about"]["agents"] == list(reversed(pair))
    assert ladder.main(ladder.Args.parse(options)) == 0
    assert capsys.readouterr().out == printed


def test_a_damaged_part_is_one_line(ladder, arguments, tmp_path, capsys):
    """Of other agents, of another shape, or without something that a part has."""
    asked = ladder.Args.parse([*arguments, "--variants", "six_card_v0", "--games", "0"])
    assert ladder.main(asked) == 0
    path = tmp_path / "rungs" / "six_card_v0-cautious-random-60boards-seed3.json"
    saved = json.loads(path.read_text())
    whole = saved["result"]
    totals = whole["totals"]
    others = [[], [whole], 3, None]
    others += [{k: v for k, v in whole.items() if k != key} for key in whole]
    others += [whole | {"totals": each} for each in ([], {}, totals | {"won": 3, "points": "x"})]
    others += [whole | {"totals": {k: v for k, v in totals.items() if k != "ties"}}]
    others += [whole | {"totals": totals | {"contracts": [1, 2]}}, whole | {"machine": None}]
    others += [whole | {"decisions": each} for each in (1, [1], [0, 0], ["a", "b"], None)]
    files = [saved | {"result": each} for each in others]
    for damaged in (saved | {"about": {"agents": ["expert", "random"]}}, *files):
        path.write_text(json.dumps(damaged))
        with pytest.raises(OptionError, match=f"{path.name} is no result of .*: another --out"):
            ladder.main(asked)
    path.write_text(json.dumps(saved))
    assert ladder.main(asked) == 0


def test_a_wrong_option_is_refused_before_anything_is_played(ladder, arguments, tmp_path):
    options = [*arguments, "--agents", "random", "rule", "pimc:depth=3"]
    with pytest.raises(OptionError, match="depth=3: no option of 'pimc'"):
        ladder.main(ladder.Args.parse(options))
    assert not (tmp_path / "rungs").exists()


def test_whom_an_agent_is_compared_with(ladder):
    """The table's agents with those before them in the list; others with their neighbour."""
    whole = ladder.pairs(ladder.Args().agents)
    assert [" over ".join(pair) for pair in whole] == STEPS
    assert ladder.pairs(("rule", "expert", "ppo")) == [
        ("expert", "rule"),
        ("ppo", "rule"),
        ("ppo", "expert"),
    ]
    assert ladder.pairs(("random", "pimc", "expert")) == [("pimc", "random"), ("expert", "pimc")]
    assert ladder.pairs(("expert", "pimc:worlds=3")) == [("pimc:worlds=3", "expert")]
    assert ladder.pairs(("rule",)) == []
    assert all(ladder.COMPARED[agent] for agent in BUILT_IN if agent != "random")


def test_rungs_are_added_to_those_of_the_file(ladder, arguments, tmp_path, capsys):
    """What the file has of other rungs stays as it is, in the table too; a rung of both is new."""
    file, page = tmp_path / "rows.json", tmp_path / "page.md"
    page.write_text("<!-- ladder -->\n<!-- end -->\n")
    asked = [*arguments, "--variants", "club_v0", "--json", str(file)]
    assert ladder.main(ladder.Args.parse(asked)) == 0
    old = json.loads(file.read_text())
    for row in old["rungs"]:
        row["machine"] = "another"
    file.write_text(json.dumps(old))
    more = ["--agents", "random", "rule", "cautious", "--add", "--write", str(page)]
    added = [*arguments, "--variants", "six_card_v0", "--json", str(file), *more]
    assert ladder.main(ladder.Args.parse(added)) == 0
    ladder.main(ladder.Args.parse([*asked, "--agents", "cautious", "rule", "--add"]))
    rows = json.loads(file.read_text())
    named = [[row["variant"], *row["agents"]] for row in rows["rungs"]]
    assert named == [
        ["club_v0", "cautious", "random"],
        ["club_v0", "rule", "cautious"],
        ["six_card_v0", "cautious", "random"],
        ["six_card_v0", "rule", "random"],
    ]
    assert rows["seed"] == 3
    assert rows["rungs"][0] == old["rungs"][0]
    assert "numba" in rows["rungs"][1]["machine"]
    assert rows["rungs"][1] == old["rungs"][1] | {"machine": rows["rungs"][1]["machine"]}
    assert page.read_text() == f"<!-- ladder -->\n{ladder.table(rows['rungs'])}\n<!-- end -->\n"
    capsys.readouterr()


def test_what_nothing_can_be_added_to_is_refused_first(ladder, arguments, tmp_path):
    """No file, a file of something else, rows of other deals: nothing is played or lost."""
    file = tmp_path / "rows.json"
    asked = ladder.Args.parse([*arguments, "--json", str(file), "--add"])
    rows = {"seed": 3, "rungs": [{"variant": "club_v0", "agents": ["rule", "random"]}]}
    for content in (None, "{", "[]", '{"seed": 3, "rungs": [1]}', json.dumps(rows)):
        if content is not None:
            file.write_text(content)
        with pytest.raises(OptionError, match=r"rows\.json: no rows of a ladder"):
            ladder.main(asked)
    file.write_text('{"seed": 4, "rungs": []}')
    with pytest.raises(OptionError, match=r"--seed 3: the rows of .*rows\.json have seed 4"):
        ladder.main(asked)
    assert file.read_text() == '{"seed": 4, "rungs": []}'
    with pytest.raises(OptionError, match="--add: to the rows of --json FILE"):
        ladder.main(replace(asked, json=None))
    assert not (tmp_path / "rungs").exists()


def test_an_agent_without_weights_has_no_rungs(ladder, arguments, capsys, monkeypatch):
    """They are left out with a line each; the others are played, and nothing is made of it."""
    plain = ("random", "cautious")
    monkeypatch.setattr(ladder, "has_weights", lambda agent, game: agent in plain)
    options = [*arguments, "--variants", "six_card_v0", "--agents", "random", "cautious"]
    assert ladder.main(ladder.Args.parse([*options, "net", "ppo:seed=1"])) == 0
    printed, errors = capsys.readouterr()
    assert "cautious over random" in printed
    assert "net" not in printed
    told = [line for line in errors.splitlines() if "left out" in line]
    assert told == [
        "six_card_v0: net over cautious is left out: no weights for this variant",
        "six_card_v0: ppo:seed=1 over net is left out: no weights for this variant",
    ]


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
        points, asked = row["points_per_hand"], ladder.Args()
        searches = any(map(ladder.searches, row["agents"]))
        half, boards = (0.15, asked.search_boards) if searches else (0.05, asked.boards)
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
