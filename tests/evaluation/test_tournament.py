"""A tournament: its tables, its files, its heat maps, what is kept and what is refused."""

from __future__ import annotations

import csv
import json
import sys
from itertools import combinations
from pathlib import Path

import pytest

import bideuchre_env
from bideuchre_env import match, tournament
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation import pictures
from bideuchre_env.evaluation.statistics.sequential import Bounds

SHIPPED = Path(__file__).parents[2] / "experiments" / "results" / "tournament"
VARIANTS = ("barrie_v0", "six_card_v0")
AGENTS = ("random", "cautious", "rule")
ALL_FILES = [
    *("results-dark.svg", "results-light.svg", "results.csv", "results.json", "results.md")
]
MINE = "class Mine:\n    def act(self, observation, mask):\n        return int(mask.argmax())\n"


def play(out, variants=VARIANTS, agents=AGENTS, **options):
    return tournament.play(variants, agents, out=out, **{"boards": 40, **options})


def rows_of(out):
    """The lines of the table of figures."""
    return list(csv.DictReader((out / "results.csv").open(encoding="utf-8")))


def second_table(out, variant):
    """The rows of a variant's table of pairs: heading to cell."""
    page = (out / "results.md").read_text(encoding="utf-8")
    table = page.partition(f"## {variant}\n")[2].split("\n\n")[1]
    first, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return [dict(zip(first, row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A tournament of three agents on two games, and its folder."""
    out = tmp_path_factory.mktemp("tournament") / "t"
    return play(out), out


def test_every_pair_on_every_variant_is_in_every_table(played):
    found, out = played
    rows = rows_of(out)
    assert [(row["variant"], row["a"], row["b"]) for row in rows] == [
        (variant, a, b)
        for variant in VARIANTS
        for a, b in (("cautious", "random"), ("rule", "random"), ("rule", "cautious"))
    ]
    table = (out / "results.md").read_text(encoding="utf-8")
    for row in rows:
        mean = float(row["points_per_hand"])
        assert float(row["low"]) < mean < float(row["high"])
        assert int(row["a_bid"]) == int(row["a_made"]) + int(row["a_set"])
        for text in (table, str(found), found._repr_html_()):
            assert f"{mean:+.2f}" in text
            assert f"{-mean:+.2f}" in text
        assert row["games"] == "0"
        assert row["win_rate"] == ""
    assert sorted(path.name for path in out.iterdir()) == ALL_FILES
    assert sorted(found.written) == ALL_FILES
    assert max(map(len, str(found).splitlines())) <= 80
    for picture in out.glob("*.svg"):
        text = picture.read_text(encoding="utf-8")
        assert all(f">{word}<" in text for word in (*VARIANTS, *AGENTS))


def test_ratings_and_times_stand_in_every_result(played):
    """The first agent named has 0, the better agents more, each with its interval."""
    found, out = played
    data = json.loads((out / "results.json").read_text(encoding="utf-8"))
    table = (out / "results.md").read_text(encoding="utf-8")
    assert set(data["ratings"]) == set(VARIANTS)
    for rated in data["ratings"].values():
        assert list(rated) == ["rule", "cautious", "random"]
        assert rated["random"] == {"mean": 0, "low": 0, "high": 0}
        for name in ("rule", "cautious"):
            rating = rated[name]
            assert 0 < rating["low"] < rating["mean"] < rating["high"]
            assert "{mean:.0f} ({low:.0f} to {high:.0f})".format(**rating) in table
            assert "{low:.0f} to {high:.0f}".format(**rating) in str(found)
    assert table.count(" ms |") == 6
    assert [each["boards"] for each in data["matches"]] == [40] * 6
    assert all(each["pairs"] is None for each in data["matches"])
    for each in data["matches"]:
        assert each["outcomes"].count("=") == each["tie_boards"]


def test_ratings_are_those_of_the_boards(played):
    """What is read back from the file rates as the matches themselves do."""
    found, _ = played
    meetings = []
    for a, b in (("cautious", "random"), ("rule", "random"), ("rule", "cautious")):
        rows = match.play("barrie_v0", a, b, boards=40).board_rows
        meetings.append(
            bideuchre_env.ratings.Meeting(a, b, rows["board"], rows["points"].sum(axis=1))
        )
    assert found.ratings["barrie_v0"] == bideuchre_env.ratings.ratings(meetings, anchor="random")


def test_the_same_tournament_again_plays_nothing(played, monkeypatch):
    """It writes the same files, and draws the pictures that are missing."""
    _, out = played
    before = {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()}
    (out / "results-dark.svg").unlink()
    monkeypatch.setattr(match, "play", None)
    again = play(out)
    assert {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()} == before
    assert len(again.matches) == 6


def test_one_more_agent_plays_only_its_own_pairs(tmp_path, monkeypatch):
    """The result is that of all in one go, but for times."""
    out, whole, asked = tmp_path / "t", tmp_path / "whole", []
    play(out, ["six_card_v0"], ["random", "rule"])

    def noted(*pair, **options):
        asked.append(pair[1:3])
        return real(*pair, **options)

    real = match.play
    monkeypatch.setattr(match, "play", noted)
    play(out, ["six_card_v0"], ["random", "cautious", "rule"])
    assert asked == [("cautious", "random"), ("rule", "cautious")]
    play(whole, ["six_card_v0"], ["random", "cautious", "rule"])
    times = {"a_ms_per_decision", "b_ms_per_decision"}
    one, other = (
        [{k: v for k, v in row.items() if k not in times} for row in rows_of(each)]
        for each in (out, whole)
    )
    assert one == other
    both = [json.loads((each / "results.json").read_text())["ratings"] for each in (out, whole)]
    assert both[0] == both[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"boards": 50}, "has results with boards=40, not 50"),
        ({"seed": 1}, "has results with seed=0, not 1"),
        ({"games": 2}, "has results with games=0, not 2"),
        ({"sprt": Bounds(0, 1)}, r"has results with sprt=None, not \[0, 1\]"),
        ({"agents": ("random", "rule")}, "has barrie_v0: cautious against random, which"),
        ({"agents": ("rule", "cautious", "random")}, "has barrie_v0: cautious against random"),
        ({"variants": ("six_card_v0",)}, "has barrie_v0: cautious against random, which"),
    ],
)
def test_other_results_in_the_folder_stay_unless_forced(played, options, message):
    _, out = played
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(OptionError, match=message) as refused:
        play(out, **options)
    assert "--force" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_changed_file_of_an_agent_is_not_taken_for_the_old_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    asked = {"variants": ["six_card_v0"], "agents": ["random", "./mine.py:Mine"]}
    play("t", **asked)
    play("t", **asked)
    Path("mine.py").write_text(MINE + "# another\n")
    with pytest.raises(OptionError, match=r"mine\.py has changed since t/results\.json"):
        play("t", **asked)
    assert len(play("t", **asked, force=True).matches) == 1


def test_results_without_their_json_are_not_overwritten_unless_asked(tmp_path):
    (tmp_path / "results.csv").write_text("mine")
    with pytest.raises(OptionError, match="exists"):
        play(tmp_path, ["six_card_v0"], ["random", "rule"])
    assert (tmp_path / "results.csv").read_text() == "mine"
    play(tmp_path, ["six_card_v0"], ["random", "rule"], force=True)
    assert len(rows_of(tmp_path)) == 1


def test_a_broken_file_of_results_is_one_line(played, tmp_path):
    """Whatever it lacks; nothing of it is changed."""
    _, out = played
    data = json.loads((out / "results.json").read_text(encoding="utf-8"))
    first = data["matches"][0]
    wrong = [[], {}, data | {"matches": []}, data | {"agents": ["rule"]}, data | {"boards": []}]
    wrong += [{k: v for k, v in data.items() if k != key} for key in ("sprt", "ratings", "matches")]
    wrong += [data | {"matches": [first, first]}, data | {"matches": [first | {"outcomes": "?"}]}]
    wrong += [
        data | {"matches": [{k: v for k, v in first.items() if k != key}]}
        for key in ("outcomes", "agents", "contracts", "points_per_hand", "ms_per_decision")
    ]
    for each in wrong:
        text = json.dumps(each)
        (tmp_path / "results.json").write_text(text)
        with pytest.raises(OptionError, match=r"no results of a tournament|has results with"):
            play(tmp_path)
        assert (tmp_path / "results.json").read_text() == text
    (tmp_path / "results.json").write_text("not JSON")
    with pytest.raises(OptionError, match="no results of a tournament"):
        play(tmp_path)


def test_a_game_of_ones_own_is_played_by_its_name(tmp_path):
    file = tmp_path / "farm.toml"
    file.write_text('base = "six_card"\ntarget = 9\n', encoding="utf-8")
    found = play(tmp_path / "t", ("six-card", file), ("random", "rule"))
    assert [row["variant"] for row in rows_of(tmp_path / "t")] == ["six_card_v0", "farm"]
    table = (tmp_path / "t" / "results.md").read_text(encoding="utf-8")
    for text in (table, str(found)):
        assert "six_card_v0" in text
        assert "farm" in text
    with pytest.raises(OptionError, match="each needs a name of its own"):
        play(None, ("barrie", "barrie_v0"), ("random", "rule"))


def test_without_matplotlib_the_tables_are_written(tmp_path, monkeypatch):
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_svg"):
        monkeypatch.setitem(sys.modules, name, None)
    found = play(tmp_path, ["six_card_v0"], ["random", "rule"])
    assert found.written == ["results.md", "results.csv", "results.json"]
    assert found.unwritten is None
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(found.written)


def test_what_goes_wrong_in_a_picture_costs_nothing_else(tmp_path, monkeypatch):
    def broken(data, theme):
        raise RuntimeError("a font")

    monkeypatch.setattr(pictures, "heat_maps", broken)
    found = play(tmp_path, ["six_card_v0"], ["random", "rule"])
    assert found.unwritten.startswith(f"{tmp_path / 'results'} could not be drawn: RuntimeError")
    assert len(rows_of(tmp_path)) == 1


def test_games_are_played_besides_and_workers_change_nothing(tmp_path):
    files = []
    for workers in (1, 2):
        out = tmp_path / str(workers)
        asked = {"boards": 30, "games": 6, "workers": workers}
        play(out, ["cincinnati_v0"], ["cautious", "rule"], **asked)
        [row] = rows_of(out)
        assert row["games"] == "6"
        assert int(row["a_won"]) + int(row["b_won"]) <= 6
        assert 0 <= float(row["win_low"]) <= float(row["win_rate"]) <= float(row["win_high"]) <= 1
        [cells] = second_table(out, "cincinnati_v0")
        assert cells["games won"].startswith(f"{100 * float(row['win_rate']):.1f} %")
        files.append({k: v for k, v in row.items() if "ms" not in k})
    assert files[0] == files[1]


def test_ctrl_c_keeps_the_finished_pairs_and_the_rest_is_played_later(tmp_path, monkeypatch):
    done, real = [], match.play

    def pressed(*pair, **options):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(real(*pair, **options))
        return done[-1]

    monkeypatch.setattr(match, "play", pressed)
    found = play(tmp_path)
    assert found.interrupted
    assert len(rows_of(tmp_path)) == len(found.matches) == 2
    assert (tmp_path / "results-dark.svg").exists()
    assert set(found.ratings["barrie_v0"]) == set(AGENTS)
    monkeypatch.setattr(match, "play", real)
    played = []
    whole = play(tmp_path, finished=played.append)
    assert not whole.interrupted
    assert (len(played), len(rows_of(tmp_path))) == (4, 6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agents": ("rule", "nobody")}, "nobody"),
        ({"agents": ("rule",)}, "two or more"),
        ({"agents": ("rule", "rule")}, "two or more"),
        ({"agents": ("rule", print)}, "names"),
        ({"variants": ("poker",)}, "poker"),
        ({"variants": ()}, "name of its own"),
        ({"boards": 1}, "boards"),
        ({"seed": -1}, "seed"),
        ({"games": -1}, "games"),
        ({"workers": 0}, "workers=0"),
        ({"agents": ("rule", "pimc:depth=3")}, "depth=3: no option of 'pimc'"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_played(options, message, tmp_path):
    with pytest.raises(OptionError, match=message):
        play(tmp_path / "t", **options)
    assert not (tmp_path / "t").exists()


def test_a_table_of_pairs_says_how_the_points_came_about(played):
    """Contracts, lone bids, ties and the variance, as the table of figures has them."""
    _, out = played
    rows = rows_of(out)
    for variant in VARIANTS:
        figures = [row for row in rows if row["variant"] == variant]
        for cells, row in zip(second_table(out, variant), figures, strict=True):
            assert cells["pair"] == f"{row['a']} / {row['b']}"
            assert cells["boards"] == row["boards"] == "40"
            for column, key in (("made", "made"), ("set", "set"), ("made alone", "lone_made")):
                a, b = cells[column].split(" / ")
                assert a.startswith(row[f"a_{key}"])
                assert b.startswith(row[f"b_{key}"])
                assert row["b_bid"] == "0" or column == "made alone" or b.endswith(" %)")
            assert cells["alone"] == f"{row['a_lone_bid']} / {row['b_lone_bid']}"
            assert cells["tied boards"].startswith(f"{row['tie_boards']} (")
            assert cells["variance divided by"] == f"{float(row['variance_reduction']):.2f}"
            assert list(cells)[-1] == "variance divided by"
            assert {row[f"sprt_{key}"] for key in ("low", "high", "llr", "verdict")} == {""}
    assert json.loads((out / "results.json").read_text())["sprt"] is None


def test_a_sequential_test_ends_pairs_and_its_verdict_is_in_every_table(tmp_path):
    """That of a match with the same bounds: the agent named later is the first of the pair."""
    bounds = Bounds(5.8, 6.0)
    play(tmp_path, ["barrie_v0"], boards=300, sprt=bounds)
    data = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    rows = rows_of(tmp_path)
    assert data["sprt"] == [5.8, 6.0]
    assert [row["sprt_verdict"] for row in rows] == ["H1", "H1", "undecided"]
    answers = ["H1 accepted: at least +6 points per hand"] * 2 + ["undecided"]
    pairs = zip(rows, data["matches"], second_table(tmp_path, "barrie_v0"), answers, strict=True)
    for row, result, cells, answer in pairs:
        boards = int(row["boards"])
        assert (boards < 300) == (row["sprt_verdict"] == "H1")
        assert result["sprt"]["boards"] == result["boards"] == boards
        assert (float(row["sprt_low"]), float(row["sprt_high"])) == (5.8, 6.0)
        assert float(row["sprt_llr"]) == result["sprt"]["llr"]
        assert (cells["sequential test"], cells["boards"]) == (answer, row["boards"])
    alone = match.play("barrie_v0", "cautious", "random", boards=300, sprt=bounds)
    assert alone.test.to_dict() == data["matches"][0]["sprt"]
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert "over up to 300 duplicate boards" in page
    assert "at most +5.8 or at least +6 points per hand" in page


def test_agents_with_options_are_players_of_their_own(tmp_path):
    agents = ("rule", "expert:margin=0", "expert:margin=100")
    found = play(tmp_path, ["six_card_v0"], agents, boards=30)
    assert [(row["b"], row["a"]) for row in rows_of(tmp_path)] == list(combinations(agents, 2))
    data = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert set(data["ratings"]["six_card_v0"]) == set(agents)
    assert max(map(len, str(found).splitlines())) <= 80
    assert (tmp_path / "results-dark.svg").exists()


def test_the_heat_maps_committed_are_of_the_results_committed():
    """Every agent, and the points of every pair of every variant, in both looks."""
    data = json.loads((SHIPPED / "results.json").read_text(encoding="utf-8"))
    assert {each["variant"] for each in data["matches"]} == set(bideuchre_env.variants)
    for look in ("light", "dark"):
        drawn = (SHIPPED / f"results-{look}.svg").read_text(encoding="utf-8")
        assert len(drawn) < 100_000
        for each in data["matches"]:
            assert f">{each['points_per_hand']['mean']:+.2f}<" in drawn
            assert all(f">{agent}<" in drawn for agent in each["agents"])


def test_the_heat_maps_of_the_results_committed_can_be_drawn(tmp_path):
    """The same picture, but for what another version of matplotlib draws otherwise."""
    data = json.loads((SHIPPED / "results.json").read_text(encoding="utf-8"))
    pictures.save(tmp_path / "results", lambda theme: pictures.heat_maps(data, theme))
    for name in ("results-light.svg", "results-dark.svg"):
        drawn = (tmp_path / name).read_text(encoding="utf-8")
        words = [line for line in drawn.split(">") if line.endswith("</text")]
        shipped = (SHIPPED / name).read_text(encoding="utf-8").split(">")
        assert words == [line for line in shipped if line.endswith("</text")]
