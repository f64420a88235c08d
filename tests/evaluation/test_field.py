"""Agents and partners against a field: figures, files, and runs that are interrupted."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env import match, tournament
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.statistics.intervals import t_quantile
from bideuchre_env.evaluation.statistics.scores import interval_dict

GAME, AGENTS, FIELD = "six_card_v0", ("rule", "cautious", "rash"), ("cautious", "timid", "random")
BOARDS, GAMES, SEED = 60, 6, 5
TOURNAMENT = "bideuchre_env.evaluation.tournament"
FILES = ["results.md", "results.tex", "results.csv", "results.json"]
real = match


def play(out=None, agents=AGENTS, rivals=FIELD, variants=(GAME,), **options):
    settings = {"boards": BOARDS, "games": GAMES, "seed": SEED, **options}
    return tournament(variants, agents, field=rivals, out=out, **settings)


def table(result):
    """The rows of the table without the measured speed."""
    rows = result.to_dict()["table"]
    return [{k: v for k, v in row.items() if k != "decisions_per_second"} for row in rows]


def points(side, rival):
    """Points of each board of a match, float64 (boards,); 0 for an agent against itself."""
    if side == rival:
        return np.zeros(BOARDS)
    rows = real(GAME, side, rival, boards=BOARDS, seed=SEED).board_rows
    return rows["points"].sum(axis=1).astype(np.float64)


def interval(values, opponents=1):
    """Mean and t interval of points per hand of boards, widened for ties as in a match."""
    n, ties = len(values), (values == 0).mean()
    margin = bideuchre_env.make(GAME).rules.tricks ** 2 * ties
    squares = ((values - values.mean()) ** 2).sum() + 2 * margin / opponents
    half = t_quantile(n - 1) * np.sqrt(squares / (n - 1) / n)
    mean = values.mean()
    return pytest.approx({"mean": mean, "low": mean - half, "high": mean + half})


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    out = tmp_path_factory.mktemp("evaluate")
    return play(out), out


def test_figures_follow_from_the_boards_of_the_matches(evaluated):
    rows = {row["agent"]: row for row in table(evaluated[0])}
    first = sum(points("rule", rival) for rival in FIELD)
    for agent in AGENTS:
        total = sum(points(agent, rival) for rival in FIELD)
        assert rows[agent]["points_per_hand"] == interval(total / 6, 3)
        for rival in set(FIELD) - {agent}:
            alone = real(GAME, agent, rival, boards=BOARDS, seed=SEED)
            assert rows[agent]["opponents"][rival] == interval_dict(alone.points_per_hand)
            assert rows[agent]["opponents"][rival] == interval(points(agent, rival) / 2)
        if agent != "rule":
            assert rows[agent]["more_than_first"] == interval((total - first) / 6, 3)
            less = (points(agent, "timid") - points("rule", "timid")) / 2
            assert rows[agent]["more_by_opponent"]["timid"] == interval(less)
    assert "more_than_first" not in rows["rule"]


def test_an_agent_of_the_field_wins_half_of_the_games_against_itself(evaluated):
    rows = {row["agent"]: row["games_won"] for row in table(evaluated[0])}
    for agent in AGENTS:
        rivals = [rival for rival in FIELD if rival != agent]
        shares = [real(GAME, agent, each, games=GAMES, seed=SEED).win_rate.mean for each in rivals]
        shares += [0.5] * (len(FIELD) - len(rivals))
        assert rows[agent]["mean"] == pytest.approx(np.mean(shares))
        assert 0 <= rows[agent]["low"] < rows[agent]["mean"] <= rows[agent]["high"] <= 1


def test_files_have_the_tables_command_seed_and_versions(tmp_path):
    command = "bideuchre tournament rule --field cautious"
    result = play(tmp_path, ("rule",), ("cautious",), command=command)
    assert result.written == FILES
    data = json.loads((tmp_path / "results.json").read_text("utf-8"))
    [row] = data["table"]
    cell = "{mean:+.2f}".format(**row["points_per_hand"])
    for name in ("results.md", "results.tex"):
        text = (tmp_path / name).read_text("utf-8")
        for word in (f"`{command}`", "60 duplicate", "6 games", "seed 5", "95 %"):
            assert word in text
        for package, version in data["software"]["packages"].items():
            assert f"{package} {version}" in text
        assert data["software"]["data"][:12] in text
        assert cell.replace("+", "$+$" if name.endswith("tex") else "+") in text
    assert "six\\_card\\_v0" in text
    assert cell in str(result)
    assert cell in result._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rivals": FIELD[:2]}, r"has results with field="),
        ({"partners": True}, "has results with kind='evaluate', not 'crossplay'"),
        ({"agents": AGENTS[:2]}, "has six_card_v0: rash against cautious, which is not in"),
    ],
)
def test_results_of_other_settings_are_not_overwritten(evaluated, options, message):
    _, out = evaluated
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(OptionError, match=message):
        play(out, **options)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_other_versions_and_damaged_points_are_refused(evaluated, tmp_path, monkeypatch):
    data = json.loads((evaluated[1] / "results.json").read_text("utf-8"))
    other = json.loads(json.dumps(data))
    other["software"]["packages"]["numpy"] = "0.1"
    short = json.loads(json.dumps(data))
    short["matches"][0]["board_points"] += " 1"
    for damaged, message in ((other, "has results with software="), (short, "points are not")):
        (tmp_path / "results.json").write_text(json.dumps(damaged))
        with pytest.raises(OptionError, match=message):
            play(tmp_path)
    monkeypatch.setattr(f"{TOURNAMENT}.match", None)
    (tmp_path / "results.json").write_text(json.dumps(data))
    assert table(play(tmp_path)) == table(evaluated[0])


def test_only_agents_with_all_matches_have_a_row_over_all_variants(tmp_path, monkeypatch):
    left = iter(range(3))

    def press(*sides, **options):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return real(*sides, **options)

    monkeypatch.setattr(f"{TOURNAMENT}.match", press)
    result = play(tmp_path, ("rule", "rash"), ("cautious",), ("six_card_v0", "barrie_v0"))
    assert result.interrupted
    rows = [(row["variant"], row["agent"]) for row in table(result)]
    rated = [("six_card_v0", "rule"), ("six_card_v0", "rash"), ("barrie_v0", "rule")]
    assert rows == [*rated, ("all variants", "rule")]


def test_the_rating_over_all_variants_is_the_mean_of_the_ratings():
    result = play(None, ("rule",), ("cautious", "random"), ("six_card_v0", "barrie_v0"))
    *rows, both = table(result)
    assert [row["variant"] for row in rows] == ["six_card_v0", "barrie_v0"]
    ratings = [row["rating"] for row in rows]
    assert both["variant"] == "all variants"
    assert both["rating"]["mean"] == pytest.approx(np.mean([each["mean"] for each in ratings]))
    errors = [each["mean"] - each["low"] for each in ratings]
    assert both["rating"]["mean"] - both["rating"]["low"] == pytest.approx(np.hypot(*errors) / 2)
    assert "all variants: Strength" in str(result)


@pytest.mark.slow
def test_cross_play_is_compared_with_self_play_board_by_board(tmp_path):
    agents, rivals = ("rule", "cautious", "timid"), ("random", "rule")
    result = play(tmp_path, agents, rivals, games=0, partners=True)
    rows = table(result)
    total = {
        (a, b): sum(points(a if a == b else (a, b), rival) for rival in rivals)
        for k, a in enumerate(agents)
        for b in agents[k:]
    }
    pairs = {tuple(row["partners"]): row for row in rows if "partners" in row}
    assert list(pairs) == list(total)
    for (a, b), values in total.items():
        assert pairs[a, b]["points_per_hand"] == interval(values / 4, 2)
        for each, less in pairs[a, b]["more_than_self_play"].items():
            assert less == interval((values - total[each, each]) / 4, 2)
        assert set(pairs[a, b]["more_than_self_play"]) == ({a, b} if a != b else set())
    alone = real(GAME, "cautious", "random", boards=BOARDS, seed=SEED).points_per_hand
    only = play(None, agents[:2], ("random",), games=0, partners=True)
    [own] = [row for row in table(only) if row.get("partners") == ["cautious", "cautious"]]
    assert own["points_per_hand"] == interval_dict(alone)
    summary = {row["agent"]: row for row in rows if "agent" in row}
    mixed = total["rule", "cautious"] + total["cautious", "timid"]
    assert summary["cautious"]["cross_play"] == interval(mixed / 8, 4)
    less = mixed - 2 * total["cautious", "cautious"]
    assert summary["cautious"]["difference"] == interval(less / 8, 4)
    assert set(result.written) >= set(FILES)


BAD_ARGUMENTS = [({"agents": ("rule", "nobody")}, "no agent 'nobody'")]
BAD_ARGUMENTS += [({"rivals": ("nobody",)}, "no agent 'nobody'")]
BAD_ARGUMENTS += [({"agents": ()}, "expected 1 or more different names")]
BAD_ARGUMENTS += [({"agents": ("rule", 3)}, "expected names"), ({"rivals": 3}, "field")]
BAD_ARGUMENTS += [({"variants": ("poker",)}, "poker"), ({"partners": 1}, "partners")]
BAD_ARGUMENTS += [({"workers": 0}, "workers=0")]


@pytest.mark.parametrize(("options", "message"), BAD_ARGUMENTS)
def test_unusable_arguments_are_refused_before_play(tmp_path, options, message):
    with pytest.raises(OptionError, match=message):
        play(tmp_path / "t", **options)
    assert not (tmp_path / "t").exists()
