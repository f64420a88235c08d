"""Studies of agents, a small run of each; tricks that cards give away; figures of results."""

import json
import sys
from datetime import date
from importlib import import_module

import numpy as np
import pytest
from support.commands import load_scripts

import bideuchre_env
from bideuchre_env import match, solver
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import STRAINS
from bideuchre_env.solver.values import set_contracts

pytestmark = pytest.mark.slow

STUDIES = ("beliefs", "callers", "compare_decisions", "exploit", "ladder", "late_bids")
NAMES = ("studies", "regret", "figures", *STUDIES)


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
        script = load_scripts("experiments", name.replace("-", "_"))
        with pytest.raises(SystemExit) as ended, script:
            scripts["studies"].main([name, "--help"])
        assert ended.value.code == 0
        assert f" {name} [-h]" in capsys.readouterr().out


def test_a_saved_result_of_an_agent_that_has_changed_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("class Mine:\n    def __init__(self, file='w.txt'): ...\n")
    (tmp_path / "w.txt").write_text("1")
    with load_scripts("experiments", "study_tools") as [tools]:

        def result(value):
            agents = ["rule", "./mine.py:Mine"]
            return tools.cached(tmp_path, ["a"], [], agents, lambda: value, lambda saved: True)

        assert [result(1), result(2)] == [1, 1]
        assert capsys.readouterr().err == f"{tmp_path / 'a.json'}: result of {date.today()}\n"
        (tmp_path / "w.txt").write_text("2")
        with pytest.raises(OptionError, match="is no result of this run: another --out"):
            result(2)


def test_results_are_read_again_until_a_module_imported_meanwhile_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("class Mine: ...\n")
    (tmp_path / "late.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    with load_scripts("experiments", "study_tools") as [tools]:

        def results(value):
            """Two results of one process; an import is made during the first."""
            monkeypatch.delitem(sys.modules, "late", raising=False)

            def compute():
                return value + import_module("late").x

            rest = ([], ["./mine.py:Mine"], compute, lambda saved: True)
            return [tools.cached(tmp_path, [name], *rest) for name in ("first", "second")]

        assert [results(1), results(2)] == [[2, 2]] * 2
        (tmp_path / "late.py").write_text("x = 20\n")
        with pytest.raises(OptionError, match="is no result of this run"):
            results(3)
        (tmp_path / "first.json").unlink()
        with pytest.raises(OptionError, match=r"second\.json is no result of this run"):
            results(3)


@pytest.mark.long
def test_beliefs_cover_uniform_deals(scripts, tmp_path, monkeypatch):
    beliefs = scripts["beliefs"]
    monkeypatch.setattr(beliefs, "DRAWS", 20_000)
    monkeypatch.setattr(beliefs, "MOST_DRAWS", 20_000)
    words = ["--variants", "cincinnati_v0", "--hands", "300", "--positions", "1", "--seeds", "3"]
    [row] = run(beliefs, tmp_path, *words)["cincinnati_v0"]
    assert beliefs.LEAST_RARE <= row["chance"] <= beliefs.MOST_RARE
    assert 0.0 <= row["covered"] <= 1.0
    assert row["rms"] < 12.0
    assert row["error"] < row["deviation"]


@pytest.mark.search
def test_beliefs_about_callers_are_compared_with_true_hands_and_fitting_deals(
    scripts, tmp_path, monkeypatch
):
    """The default callers are found from any folder; one position may have no reference."""
    callers = scripts["callers"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(callers, "DRAWS", 100)
    words = ["--variants", "cincinnati_v0", "--positions", "2", "--seeds", "1", "--seed", "3"]
    rows = run(callers, tmp_path, *words)
    assert [(row["stage"], row["callers"]) for row in rows] == [
        (stage, name) for stage in callers.STAGES for name in callers.CALLERS
    ]
    assert all(row["n"] == 2 and np.isfinite(row["nats"]["mean"]) for row in rows)
    rows = run(callers, tmp_path, *words, "--check", "coverage")
    assert [row["callers"] for row in rows] == list(callers.CALLERS)
    assert all(0.0 <= row["covered"]["mean"] <= 1.0 for row in rows)
    monkeypatch.setattr(callers, "LEAST_PLAYED", 10**9)
    with pytest.raises(OptionError, match="no position with a reference: more --positions"):
        run(callers, tmp_path, *words, "--check", "coverage")


def test_a_prediction_between_two_ranges_counts_in_the_upper_range(scripts):
    predicted, made = np.array([0.1, 0.19, 0.2, 0.5, 1.0]), np.array([0, 1, 1, 0, 1.0])
    rows = scripts["beliefs"].by_range(predicted, made)
    expected = [("all", 5, 3), ("0% to 20%", 2, 1), ("20% to 40%", 1, 1), ("40% to 60%", 1, 0)]
    expected += [("80% to 100%", 1, 1)]
    assert [(row["range"], row["n"], row["made"]) for row in rows] == expected


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
    words = ["--agents", "cautious", "--pairs", "40000", "--rounds", "1", "--boards", "400"]
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
        whole = match(row["variant"], *row["agents"], boards=boards, games=games, seed=3)
        assert row["points_per_hand"] == pytest.approx(whole.points_per_hand.to_dict())
        assert row["win_rate"] == pytest.approx(whole.win_rate.to_dict())
    monkeypatch.setattr("bideuchre_env.evaluation.tournament.match", None)
    lone = tmp_path / "lone.json"
    assert run(ladder, tmp_path, *words, "--agents", *agents, "--lone", str(lone)) == rows
    counts = [row["contracts"][agents[1]] for row in rows]
    total = json.loads(lone.read_text())["agents"][agents[1]]["six_card_v0"]
    assert total == {name: sum(each[f"lone_{name}"] for each in counts) for name in total}


RULES = bideuchre_env.make("cincinnati_v0").rules


class Scripted:
    name = "scripted"

    def __init__(self, cards):
        self.cards = iter(cards.split())

    def act_rows(self, observations, masks):
        return np.array([actions.of(RULES).index[next(self.cards)]])


@pytest.mark.parametrize("alone", [False, True])
def test_losses_of_a_hand_counted_by_hand(scripts, alone):
    """The nine of spades and the nine of hearts lose four tricks each, all others none."""
    regret = scripts["regret"]
    deal = ["AH KH QH JH TH 9S", "AS KS QS JS TS 9H", "AD KD QD JD TD 9D", "AC KC QC JC TC 9C"]
    played = ["9S AS 9D 9C", "9H TD TC TH", "AH KS JD JC", "KH QS QD QC", "QH JS KD KC"]
    played.append("JH TS AD AC")  # seat 1 leads the second trick: seats 2, 3, 0 follow
    out = set(deal[2].split()) if alone else set()
    cards = [card for trick in played for card in trick.split() if card not in out]
    states = regret.deal_hands(RULES, range(1), 0)
    hands = solver.inputs.hands_of_deals([[hand.split() for hand in deal]], RULES)
    set_contracts(states, compile_tables(RULES), hands, 3, 0, STRAINS.index("NT"), int(alone))
    losses = regret.losses(states, RULES, None, Scripted(" ".join(cards)))
    expected = np.zeros_like(losses.tricks)
    declarer, defenders = ("alone", "against alone") if alone else ("declarer", "defenders")
    expected[0, regret.ROLES.index(declarer), 0] = 4
    expected[0, regret.ROLES.index(defenders), 1] = 4
    assert np.array_equal(losses.tricks, expected)
    assert losses.kinds.tolist() == [regret.ALONE if alone else regret.PARTNERS]
    assert states[0]["tricks_won"].tolist() == [5, 1]


def test_random_loses_more_than_rule_and_another_run_reads_results(scripts, tmp_path, monkeypatch):
    regret = scripts["regret"]

    def rows_of_run():
        words = ["--agents", "rule", "random", "--hands", "200", "--seed", "5"]
        words += ["--out", str(tmp_path / "saved"), "--json", str(tmp_path / "r.json")]
        assert regret.main(regret.Args.parse(words)) == 0
        return json.loads((tmp_path / "r.json").read_text())["rows"]

    rows = rows_of_run()
    rule, random = rows
    assert random["more_than_first"]["low"] > 0.5
    counts = ("hands", "lone_hands", "passed_out")
    assert [rule[count] for count in counts] == [random[count] for count in counts]
    for row in rows:
        lost = {role: figure["mean"] or 0.0 for role, figure in row["lost"].items()}
        lone, total = row["lone_hands"], lost["total"] * row["hands"]
        four = row["hands"] - lone
        parts = four * sum(lost[role] for role in ("declarer", "helper", "defenders"))
        assert parts + lone * (lost["alone"] + lost["against alone"]) == pytest.approx(total)
    monkeypatch.setattr(regret, "measure", None)
    assert rows_of_run() == rows


def drawn(folder, name):
    return [(folder / f"{name}-{theme}.svg").read_text("utf-8") for theme in ("light", "dark")]


def test_published_results_are_drawn_with_their_numbers(scripts, tmp_path):
    figures = scripts["figures"]
    for name in ("ladder", "regret", "learning"):
        assert figures.main([name, "--out", str(tmp_path)]) == 0
        assert len(drawn(tmp_path, name)) == 2
    rungs = json.loads((figures.RESULTS.parent / "ladder.json").read_text("utf-8"))["rungs"]
    for text in drawn(tmp_path, "ladder"):
        steps = {}  # the first rung of an agent of a variant
        for row in rungs:
            if "random" not in row["agents"]:
                steps.setdefault((row["variant"], row["agents"][0]), row["points_per_hand"]["mean"])
        assert len(steps) > 50
        assert all(f">{mean:+.2f}<" in text for mean in steps.values())
    rows = json.loads((figures.RESULTS / "regret" / "regret.json").read_text("utf-8"))["rows"]
    for text in drawn(tmp_path, "regret"):
        for row in rows:
            assert f">{row['lost']['total']['mean']:.3f} ± " in text


def test_a_bold_player_loses_games_by_its_last_bids(scripts, tmp_path, capsys):
    """Bids by `rash`, which overbids, win fewer games than those of `rule`, against a pass."""
    words = ("--variants", "six_card_v0", "--agents", "rule", "rash", "always-defend")
    rows = run(scripts["late_bids"], tmp_path, *words, "--hands", "150")
    assert len(rows) == 3 * 13
    total = {row["agent"]: row for row in rows if row["to_go"] == "all"}
    for row in rows:
        if row["bids"]:
            gain = row["won"]["mean"] - row["won_with_a_pass"]["mean"]
            assert row["difference"]["mean"] == pytest.approx(gain)
    assert total["rule"]["bids"] == sum(row["bids"] for row in rows[:12])
    assert total["always-defend"]["bids"] < 0.2 * total["rule"]["bids"] < total["rash"]["bids"]
    assert total["rule"]["difference"]["low"] > total["rash"]["difference"]["high"]
    with pytest.raises(OptionError, match="simplified_v0: expected a game to a target"):
        run(scripts["late_bids"], tmp_path, "--variants", "simplified_v0")
