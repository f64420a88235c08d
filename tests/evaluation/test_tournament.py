"""Tournaments: tables, files, refused results; interruption, extension, resuming, named pairs."""

import csv
import json
import sys
from datetime import date
from pathlib import Path

import pytest

from bideuchre_env import match, ratings, tournament
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.statistics.sequential import Bounds

TOURNAMENT = "bideuchre_env.evaluation.tournament"
VARIANTS = ("barrie_v0", "six_card_v0")
AGENTS = ("random", "cautious", "rule")
PAIRS = [("cautious", "random"), ("rule", "random"), ("rule", "cautious")]
TABLES = ["results.md", "results.csv", "results.json"]
ALL_FILES = sorted([*TABLES, "results-dark.svg", "results-light.svg"])
MINE = "class Mine:\n    def act(self, observation, mask):\n        return int(mask.argmax())\n"


def play(out, variants=VARIANTS, agents=AGENTS, **options):
    return tournament(variants, agents, out=out, **{"boards": 40, **options})


def rows_of(out):
    return list(csv.DictReader((out / "results.csv").open(encoding="utf-8")))


def data_of(out):
    return json.loads((out / "results.json").read_text(encoding="utf-8"))


@pytest.fixture
def no_pictures(monkeypatch):
    """Skip the pictures, which take most of the time."""
    monkeypatch.setattr(f"{TOURNAMENT}.write_pictures", lambda *arguments: [])


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    out = tmp_path_factory.mktemp("tournament") / "t"
    return play(out), out


def test_every_file_has_every_pair_of_every_variant(played):
    result, out = played
    rows = rows_of(out)
    expected = [(variant, *pair) for variant in VARIANTS for pair in PAIRS]
    assert [(row["variant"], row["a"], row["b"]) for row in rows] == expected
    table = (out / "results.md").read_text(encoding="utf-8")
    for row in rows:
        mean = float(row["points_per_hand"])
        assert float(row["low"]) < mean < float(row["high"])
        assert int(row["a_bid"]) == int(row["a_made"]) + int(row["a_set"])
        for text in (table, str(result), result._repr_html_()):
            assert f"{mean:+.2f}" in text
        assert row["games"] == "0"
        assert row["win_rate"] == ""
    assert sorted(path.name for path in out.iterdir()) == sorted(result.written) == ALL_FILES


def test_ratings_follow_from_the_matches(played):
    result, out = played
    data = data_of(out)
    assert set(data["ratings"]) == set(VARIANTS)
    for rated in data["ratings"].values():
        assert list(rated) == ["rule", "cautious", "random"]
        assert rated["random"] == {"mean": 0, "low": 0, "high": 0}
        for name in ("rule", "cautious"):
            rating = rated[name]
            assert 0 < rating["low"] < rating["mean"] < rating["high"]
    for each in data["matches"]:
        assert each["outcomes"].count("=") == each["tie_boards"]
    meetings = []
    for a, b in PAIRS:
        rows = match("barrie_v0", a, b, boards=40).board_rows
        meetings.append(ratings.Meeting(a, b, rows["board"], rows["points"].sum(axis=1)))
    assert result.ratings["barrie_v0"] == ratings.ratings(meetings, anchor="random")


def test_repeating_a_tournament_plays_no_match(played, monkeypatch):
    _, out = played
    before = {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()}
    (out / "results-dark.svg").unlink()
    monkeypatch.setattr(f"{TOURNAMENT}.match", None)
    again = play(out)
    assert {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()} == before
    assert len(again.matches) == 6


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
def test_results_of_other_settings_are_not_overwritten(played, options, message):
    _, out = played
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(OptionError, match=message) as refused:
        play(out, **options)
    assert "--force" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


TRAINED = """
from pathlib import Path
from bias_of_mine import BIAS  # a module beside it
BIASES = Path(__file__).with_name("biases.txt").read_text()
class Mine:
    def __init__(self, rules, weights="weights.txt", model=Path("model.txt")):
        self.scale = Path(__file__).with_name("scale.txt").read_text()
    def act(self, observation, mask):
        return int(mask.argmax())
"""
INPUTS = ("mine.py", "bias_of_mine.py", "weights.txt", "model.txt", "biases.txt", "scale.txt")


@pytest.fixture
def trained(tmp_path, monkeypatch, no_pictures):
    """The options of a finished tournament in "t" of an agent with `INPUTS`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "bias_of_mine", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in INPUTS:
        Path(name).write_text("BIAS = 1\n" if name != "mine.py" else TRAINED)
    options = {"variants": ["six_card_v0"], "agents": ["random", "./mine.py:Mine"]}
    play("t", **options)
    return options


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_results_of_an_agent_that_has_changed_are_refused(trained, name):
    """Its code, a module beside it, a default that is a file, or a file that it reads changes."""
    again = play("t", **trained)
    assert again.origin == f"1 of 1 matches are from the folder, of {date.today()}"
    text = Path(name).read_text()
    Path(name).write_text(text + "# another\n")
    refused = rf"{name} has changed since t/results\.json was written"
    with pytest.raises(OptionError, match=refused):
        play("t", **trained)
    Path(name).write_text(text)
    assert play("t", **trained).origin
    if not name.endswith(".py"):
        Path(name).unlink()
        with pytest.raises(
            OptionError, match=refused if name in ("weights.txt", "model.txt") else name
        ):
            play("t", **trained)
        Path(name).write_text(text + "# another\n")
    forced = play("t", **trained, force=True)
    assert len(forced.matches) == 1
    assert forced.origin == ""


def test_results_with_another_version_of_an_imported_package_are_refused(trained):
    with Path("mine.py").open("a") as file:
        file.write("import numpy\n")
    play("t", **trained, force=True)
    data = data_of(Path("t"))
    assert data["files"]["package numpy"] == data["software"]["packages"]["numpy"]
    data["files"]["package numpy"] = "0.1"
    Path("t/results.json").write_text(json.dumps(data))
    with pytest.raises(OptionError, match="package numpy has changed since"):
        play("t", **trained)


def test_files_without_results_json_are_overwritten_only_with_force(tmp_path, no_pictures):
    (tmp_path / "results.csv").write_text("mine")
    with pytest.raises(OptionError, match="exists"):
        play(tmp_path, ["six_card_v0"], ["random", "rule"])
    assert (tmp_path / "results.csv").read_text() == "mine"
    play(tmp_path, ["six_card_v0"], ["random", "rule"], force=True)
    assert len(rows_of(tmp_path)) == 1


def test_a_damaged_results_json_is_refused_and_not_changed(played, tmp_path):
    _, out = played
    data = data_of(out)
    first = data["matches"][0]
    damaged = [[], {}, data | {"boards": []}, data | {"matches": [first] * 2}]
    damaged += [{k: v for k, v in data.items() if k != key} for key in ("sprt", "ratings")]
    damaged += [
        data | {"matches": [{k: v for k, v in first.items() if k != key}]}
        for key in ("outcomes", "agents", "contracts")
    ]
    for text in ("not JSON", *map(json.dumps, damaged)):
        (tmp_path / "results.json").write_text(text)
        with pytest.raises(OptionError, match=r"no results of a tournament|has results with"):
            play(tmp_path)
        assert (tmp_path / "results.json").read_text() == text


def test_custom_rules_are_named_after_their_file(tmp_path, no_pictures):
    file = tmp_path / "farm.toml"
    file.write_text('base = "six_card"\ntarget = 9\n', encoding="utf-8")
    play(tmp_path / "t", ("six-card", file), ("random", "rule"))
    assert [row["variant"] for row in rows_of(tmp_path / "t")] == ["six_card_v0", "farm"]
    file.write_text('base = "six_card"\ntarget = 8\n', encoding="utf-8")
    with pytest.raises(OptionError, match="has farm: rule against random"):
        play(tmp_path / "t", ("six-card", file), ("random", "rule"))
    with pytest.raises(OptionError, match="expected different names"):
        play(None, ("barrie", "barrie_v0"), ("random", "rule"))


def test_without_matplotlib_the_tables_are_written(tmp_path, monkeypatch):
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_svg"):
        monkeypatch.setitem(sys.modules, name, None)
    result = play(tmp_path, ["six_card_v0"], ["random", "rule"])
    assert result.written == TABLES
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(TABLES)


@pytest.mark.slow
def test_games_are_counted_and_workers_change_nothing(tmp_path, no_pictures):
    rows = []
    for workers in (1, 2):
        out = tmp_path / str(workers)
        play(out, ["cincinnati_v0"], ["cautious", "rule"], boards=30, games=6, workers=workers)
        [row] = rows_of(out)
        assert row["games"] == "6"
        assert int(row["a_won"]) + int(row["b_won"]) <= 6
        assert 0 <= float(row["win_low"]) <= float(row["win_rate"]) <= float(row["win_high"]) <= 1
        rows.append({k: v for k, v in row.items() if "ms" not in k})
    assert rows[0] == rows[1]


BAD_ARGUMENTS = [({"agents": ("rule", "nobody")}, "nobody")]
BAD_ARGUMENTS += [({"agents": ("rule",)}, "2 or more different names")]
BAD_ARGUMENTS += [({"agents": ("rule", "rule")}, "2 or more different names")]
BAD_ARGUMENTS += [({"agents": ("rule", print)}, "names"), ({"variants": ("poker",)}, "poker")]
BAD_ARGUMENTS += [({"variants": ()}, "expected different names"), ({"boards": 1}, "boards")]
BAD_ARGUMENTS += [({"seed": -1}, "seed"), ({"workers": 0}, "workers=0")]


@pytest.mark.parametrize(("options", "message"), BAD_ARGUMENTS)
def test_unusable_arguments_are_refused_before_play(options, message, tmp_path):
    with pytest.raises(OptionError, match=message):
        play(tmp_path / "t", **options)
    assert not (tmp_path / "t").exists()


def test_a_sequential_test_ends_pairs_and_its_verdict_is_in_every_table(tmp_path, no_pictures):
    bounds = Bounds(5.8, 6.0)
    play(tmp_path, ["barrie_v0"], boards=300, sprt=bounds)
    data, rows = data_of(tmp_path), rows_of(tmp_path)
    assert data["sprt"] == [5.8, 6.0]
    assert [row["sprt_verdict"] for row in rows] == ["H1", "H1", "undecided"]
    table = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert table.count("H1 accepted: at least +6 points per hand") == 2
    for row, result in zip(rows, data["matches"], strict=True):
        boards = int(row["boards"])
        assert (boards < 300) == (row["sprt_verdict"] == "H1")
        assert result["sprt"]["boards"] == result["boards"] == boards
        assert float(row["sprt_llr"]) == result["sprt"]["llr"]
    alone = match("barrie_v0", "cautious", "random", boards=300, sprt=bounds)
    assert alone.test.to_dict() == data["matches"][0]["sprt"]


GAMES, FOUR = ("six_card_v0", "cincinnati_v0"), ("random", "cautious", "rule", "expert")
REAL = match


def play_four(out, agents=FOUR, games=GAMES, **options):
    """Play a tournament; check that its file has the same ratings in the same order."""
    result = tournament(games, agents, boards=30, seed=5, out=out, **options)
    data = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert list(map(list, data["ratings"].values())) == list(map(list, result.ratings.values()))
    return result


def list_pairs(monkeypatch, most=None):
    """Return a list to which every pair (names of two agents) is added when it is played.

    After `most` pairs, the next raises `KeyboardInterrupt`.
    """
    pairs = []

    def append(*pair, **options):
        if len(pairs) == most:
            raise KeyboardInterrupt
        pairs.append(pair[1:3])
        return REAL(*pair, **options)

    monkeypatch.setattr(f"{TOURNAMENT}.match", append)
    return pairs


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{TOURNAMENT}.write_pictures", lambda *arguments: [])
        return play_four(tmp_path_factory.mktemp("whole"))


@pytest.mark.slow
def test_a_resumed_tournament_has_the_ratings_of_an_uninterrupted_one(
    tmp_path, monkeypatch, whole, no_pictures
):
    for pairs in (1, 5, 1, 3):
        list_pairs(monkeypatch, pairs)
        result = play_four(tmp_path)
        assert result.interrupted
        for rated in result.ratings.values():
            assert rated["random"].mean == rated["random"].high == 0
    pairs = list_pairs(monkeypatch)
    result = play_four(tmp_path)
    assert len(pairs) == 2 * 6 - 10
    assert not result.interrupted
    assert result.ratings == whole.ratings


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, 3])
def test_an_agent_that_is_added_later_plays_its_own_pairs_alone(
    tmp_path, monkeypatch, whole, pairs, no_pictures
):
    """The new agent becomes the anchor, because it is the first of the agents."""
    play_four(tmp_path, FOUR[1:], GAMES[:1])
    list_pairs(monkeypatch, 0)
    assert play_four(tmp_path, games=GAMES[:1]).ratings["six_card_v0"]["cautious"].mean == 0
    list_pairs(monkeypatch, pairs - 1)
    play_four(tmp_path, games=GAMES[:1])
    later = list_pairs(monkeypatch)
    result = play_four(tmp_path, games=GAMES[:1])
    assert len(later) == 3 - (pairs - 1)
    assert all("random" in pair for pair in later)
    assert result.ratings["six_card_v0"] == whole.ratings["six_card_v0"]
    played = [each["agents"] for each in whole.matches if each["variant"] == "six_card_v0"]
    assert [each["agents"] for each in result.matches] == played


def play_pairs(out, pairs, agents=None):
    return tournament(["six_card_v0"], agents, pairs=pairs, boards=40, out=out)


@pytest.mark.search
def test_named_pairs_are_played_and_others_can_be_added(tmp_path, monkeypatch, no_pictures):
    pairs = [("rule", "random"), ("cautious", "random"), ("expert:margin=0", "expert:margin=100")]
    result = play_pairs(tmp_path, pairs[:2])
    assert [tuple(each["agents"]) for each in result.matches] == pairs[:2]
    assert result.agents == ("random", "rule", "cautious")
    assert result.ratings["six_card_v0"]["random"].mean == 0
    added = list_pairs(monkeypatch)
    result = play_pairs(tmp_path, pairs)
    assert added == pairs[2:]
    assert set(result.ratings["six_card_v0"]) == {"random", "rule", "cautious"}
    with pytest.raises(OptionError, match="has six_card_v0: cautious against random, which"):
        play_pairs(tmp_path, pairs[:1])


BAD_PAIRS = [([], "one or more"), ([("rule", "rule")], "two different agents")]
BAD_PAIRS += [([("rule", "random"), ("random", "rule")], "each two agents once")]
BAD_PAIRS += [([("rule", "nobody")], "no agent 'nobody'"), (3, "pairs")]


@pytest.mark.parametrize(("pairs", "message"), BAD_PAIRS)
def test_unusable_pairs_are_refused(pairs, message):
    with pytest.raises(OptionError, match=message):
        play_pairs(None, pairs)
    with pytest.raises(OptionError, match="agents, pairs: expected one of them"):
        play_pairs(None, [("rule", "random")], ("random", "rule"))
