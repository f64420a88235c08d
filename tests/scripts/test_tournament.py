"""The tournament script: its table, its files, its picture."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace
from itertools import combinations

import pytest
from support.script_modules import ROOT, loaded

import bideuchre_env
from bideuchre_env.errors import OptionError


@pytest.fixture(scope="module")
def tournament():
    with loaded("experiments", "tournament") as (module,):
        yield module


def tournament_picture(results):
    """The exit code of the script that draws the results again."""
    with loaded("experiments", "tournament_picture") as (module,):
        return module.main(module.Args(results=results))


@pytest.fixture
def args(tournament, tmp_path):
    return tournament.Args.parse(
        [
            *("--variants", "barrie_v0", "six_card_v0", "--agents", "random", "cautious", "rule"),
            *("--boards", "40", "--out", str(tmp_path / "t")),
        ]
    )


def test_every_pair_on_every_variant_is_in_every_table(tournament, args, capsys):
    assert tournament.main(args) == 0
    printed = capsys.readouterr().out
    rows = list(csv.DictReader((args.out / "results.csv").open(encoding="utf-8")))
    assert [(row["variant"], row["a"], row["b"]) for row in rows] == [
        (variant, a, b)
        for variant in args.variants
        for a, b in (("cautious", "random"), ("rule", "random"), ("rule", "cautious"))
    ]
    table = (args.out / "results.md").read_text(encoding="utf-8")
    for row in rows:
        mean = float(row["points_per_hand"])
        assert float(row["low"]) < mean < float(row["high"])
        assert int(row["a_bid"]) == int(row["a_made"]) + int(row["a_set"])
        assert f"{mean:+.2f} ± " in table
        assert f"{-mean:+.2f} ± " in table
        assert f"{mean:+7.2f} points per hand" in printed
        assert row["games"] == "0"
        assert row["win_rate"] == ""
    assert sorted(path.name for path in args.out.iterdir()) == [
        *("results-dark.svg", "results-light.svg", "results.csv", "results.json", "results.md")
    ]
    drawn = {path.name: path.read_text(encoding="utf-8") for path in args.out.glob("*.svg")}
    for text in drawn.values():
        assert all(f">{word}<" in text for word in (*args.variants, *args.agents))
    assert tournament_picture(args.out / "results.json") == 0
    assert drawn == {path.name: path.read_text(encoding="utf-8") for path in args.out.glob("*.svg")}


def test_a_game_of_ones_own_is_played_by_its_name(tournament, args, capsys, tmp_path):
    file = tmp_path / "farm.toml"
    file.write_text('base = "six_card"\ntarget = 9\n', encoding="utf-8")
    chosen = replace(args, variants=("six-card", str(file)), agents=("random", "rule"))
    assert tournament.main(chosen) == 0
    rows = list(csv.DictReader((args.out / "results.csv").open(encoding="utf-8")))
    assert [row["variant"] for row in rows] == ["six_card_v0", "farm"]
    table = (args.out / "results.md").read_text(encoding="utf-8")
    assert "## six_card_v0" in table
    assert "## farm" in table
    assert "farm            ratings: " in capsys.readouterr().out
    with pytest.raises(OptionError, match="each needs a name of its own"):
        tournament.main(replace(chosen, variants=("barrie", "barrie_v0"), force=True))


def test_without_matplotlib_it_says_so_and_writes_the_tables(tournament, args, monkeypatch, capsys):
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_svg"):
        monkeypatch.setitem(sys.modules, name, None)
    assert tournament.main(args) == 0
    assert "matplotlib" in capsys.readouterr().err
    assert sorted(path.name for path in args.out.iterdir()) == [
        *("results.csv", "results.json", "results.md")
    ]


def test_the_picture_alone_is_one_line_without_matplotlib_or_results(monkeypatch, tmp_path, capsys):
    """By default it is of the results of the checkout; drawn again only if they can be read."""
    results = tmp_path / "results.json"
    with loaded("experiments", "tournament_picture") as (script,):
        shipped = script.Args().results
        assert shipped == ROOT / "experiments" / "results" / "tournament" / "results.json"
        data = json.loads(shipped.read_text(encoding="utf-8"))
        wrong = [[], {}, data | {"matches": []}, data | {"agents": ["rule"]}, data | {"boards": []}]
        for each in (*wrong, *({k: v for k, v in data.items() if k != key} for key in ("sprt",))):
            results.write_text(json.dumps(each))
            with pytest.raises(OptionError, match="no results of a tournament"):
                script.main(script.Args(results=results))
        results.write_text(json.dumps(data))
        monkeypatch.setattr(script, "panels", lambda *told: {}["a bug"])
        with pytest.raises(KeyError, match="a bug"):
            script.main(script.Args(results=results))
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert script.run(script.main, script.Args, ["--results", str(results)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "needs matplotlib" in error
    assert list(tmp_path.iterdir()) == [results]


def test_ratings_and_times_stand_in_every_result(tournament, args, capsys):
    """The first agent named has 0, the better agents more, each with its interval."""
    assert tournament.main(args) == 0
    printed = capsys.readouterr().out
    data = json.loads((args.out / "results.json").read_text(encoding="utf-8"))
    table = (args.out / "results.md").read_text(encoding="utf-8")
    assert set(data["ratings"]) == set(args.variants)
    for rated in data["ratings"].values():
        assert list(rated) == ["rule", "cautious", "random"]
        assert rated["random"] == {"mean": 0, "low": 0, "high": 0}
        for name in ("rule", "cautious"):
            rating = rated[name]
            assert 0 < rating["low"] < rating["mean"] < rating["high"]
            cell = "{mean:.0f} ({low:.0f} to {high:.0f})".format(**rating)
            assert cell in table
            assert f"{name} {cell}" in printed
    assert table.count(" ms |") == 6
    assert [match["boards"] for match in data["matches"]] == [40] * 6
    assert all(match["pairs"] is None for match in data["matches"])


def test_games_are_played_besides_and_workers_change_nothing(tournament, tmp_path, capsys):
    files = []
    for workers in ("1", "2"):
        out = tmp_path / workers
        options = ["--variants", "cincinnati_v0", "--agents", "cautious", "rule", "--boards", "30"]
        options += ["--games", "6", "--workers", workers, "--out", str(out)]
        assert tournament.main(tournament.Args.parse(options)) == 0
        [row] = csv.DictReader((out / "results.csv").open(encoding="utf-8"))
        assert row["games"] == "6"
        assert int(row["a_won"]) + int(row["b_won"]) <= 6
        assert 0 <= float(row["win_low"]) <= float(row["win_rate"]) <= float(row["win_high"]) <= 1
        files.append({k: v for k, v in row.items() if "ms" not in k})
    assert files[0] == files[1]
    capsys.readouterr()


def test_ctrl_c_keeps_the_finished_pairs(tournament, args, monkeypatch, capsys):
    played = []

    def play(*pair, **options):
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(tournament_play(*pair, **options))
        return played[-1]

    tournament_play = tournament.match.play
    monkeypatch.setattr(tournament.match, "play", play)
    assert tournament.main(args) == 130
    assert "2 finished pairs are kept" in capsys.readouterr().err
    assert len((args.out / "results.csv").read_text().splitlines()) == 3
    assert (args.out / "results-dark.svg").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--agents", "rule", "nobody"], "nobody"),
        (["--agents", "rule"], "two or more"),
        (["--variants", "poker"], "poker"),
        (["--boards", "1"], "boards"),
        (["--seed", "-1"], "seed"),
        (["--games", "-1"], "--games -1"),
        (["--workers", "0"], "--workers 0"),
        (["--sprt", "1", "0"], "below"),
        (["--sprt", "0", "nan"], "number"),
        (["--agents", "rule", "pimc:depth=3"], "depth=3: no option of 'pimc'"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_played(
    tournament, options, message, tmp_path
):
    with pytest.raises(OptionError, match=message):
        tournament.main(tournament.Args.parse([*options, "--out", str(tmp_path / "t")]))
    assert not (tmp_path / "t").exists()


def test_results_are_not_overwritten_unless_asked(tournament, tmp_path):
    (tmp_path / "results.csv").write_text("mine")
    with pytest.raises(OptionError, match="exists"):
        tournament.main(tournament.Args.parse(["--out", str(tmp_path)]))
    assert (tmp_path / "results.csv").read_text() == "mine"


def second_table(args, variant):
    """The rows of a variant's table of pairs: heading to cell."""
    page = (args.out / "results.md").read_text(encoding="utf-8")
    table = page.partition(f"## {variant}\n")[2].split("\n\n")[1]
    first, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return [dict(zip(first, row, strict=True)) for row in rows]


def test_a_table_of_pairs_says_how_the_points_came_about(tournament, args, capsys):
    """Contracts, lone bids, ties and the variance, as the table of figures has them."""
    assert tournament.main(args) == 0
    rows = list(csv.DictReader((args.out / "results.csv").open(encoding="utf-8")))
    for variant in args.variants:
        figures = [row for row in rows if row["variant"] == variant]
        for cells, row in zip(second_table(args, variant), figures, strict=True):
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
    assert json.loads((args.out / "results.json").read_text())["sprt"] is None


def test_a_sequential_test_ends_pairs_and_its_verdict_is_in_every_table(tournament, args, capsys):
    """That of a match with the same bounds: the agent named later is the first of the pair."""
    args = replace(args, variants=("barrie_v0",), boards=300, games=4, sprt=(5.8, 6.0))
    assert tournament.main(args) == 0
    printed = capsys.readouterr().out
    data = json.loads((args.out / "results.json").read_text(encoding="utf-8"))
    rows = list(csv.DictReader((args.out / "results.csv").open(encoding="utf-8")))
    assert data["sprt"] == [5.8, 6.0]
    assert [row["sprt_verdict"] for row in rows] == ["H1", "H1", "undecided"]
    answers = ["H1 accepted: at least +6 points per hand"] * 2 + ["undecided"]
    pairs = zip(rows, data["matches"], second_table(args, "barrie_v0"), answers, strict=True)
    for row, result, cells, answer in pairs:
        boards = int(row["boards"])
        assert (boards < 300) == (row["sprt_verdict"] == "H1")
        assert result["sprt"]["boards"] == result["boards"] == boards
        assert (float(row["sprt_low"]), float(row["sprt_high"])) == (5.8, 6.0)
        assert float(row["sprt_llr"]) == result["sprt"]["llr"]
        assert (cells["sequential test"], cells["boards"]) == (answer, row["boards"])
        assert cells["games won"].startswith(f"{100 * float(row['win_rate']):.1f} %")
        assert f"; {answer}, after {boards} boards\n" in printed
    bounds = tournament.Bounds(5.8, 6.0)
    alone = tournament.match.play("barrie_v0", "cautious", "random", boards=300, sprt=bounds)
    assert alone.test.to_dict() == data["matches"][0]["sprt"]
    page = (args.out / "results.md").read_text(encoding="utf-8")
    assert "over up to 300 duplicate boards" in page
    assert "at most +5.8 or at least +6 points per hand" in page


def test_agents_with_options_are_players_of_their_own(tournament, tmp_path, capsys):
    agents = ("rule", "expert:margin=0", "expert:margin=100")
    options = ["--variants", "six_card_v0", "--boards", "30", "--out", str(tmp_path / "t")]
    args = tournament.Args.parse([*options, "--agents", *agents])
    assert tournament.main(args) == 0
    rows = list(csv.DictReader((args.out / "results.csv").open(encoding="utf-8")))
    assert [(row["b"], row["a"]) for row in rows] == list(combinations(agents, 2))
    data = json.loads((args.out / "results.json").read_text(encoding="utf-8"))
    assert set(data["ratings"]["six_card_v0"]) == set(agents)
    assert (args.out / "results-dark.svg").exists()
    capsys.readouterr()


def test_the_heat_maps_committed_are_of_the_results_committed():
    """Every agent, and the points of every pair of every variant, in both looks."""
    folder = ROOT / "experiments" / "results" / "tournament"
    data = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert {match["variant"] for match in data["matches"]} == set(bideuchre_env.variants)
    for look in ("light", "dark"):
        drawn = (folder / f"results-{look}.svg").read_text(encoding="utf-8")
        assert len(drawn) < 100_000
        for match in data["matches"]:
            assert f">{match['points_per_hand']['mean']:+.2f}<" in drawn
            assert all(f">{agent}<" in drawn for agent in match["agents"])
