"""Tricks given away: the cost of a card by hand and by the solver, and saved results."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest
from support.script_modules import loaded

import bideuchre_env
from bideuchre_env import solver
from bideuchre_env.errors import AgentError, IllegalActionError, OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import STRAINS
from bideuchre_env.solver.values import set_contracts

RULES = bideuchre_env.make("cincinnati_v0").rules
SMALL = ["--hands", "60", "--seed", "5"]


@pytest.fixture(scope="module")
def regret():
    with loaded("experiments", "regret") as (module,):
        yield module


def run(regret, folder, *options):
    asked = [*SMALL, "--out", str(folder / "kept"), "--json", str(folder / "r.json"), *options]
    code = regret.main(regret.Args.parse(asked))
    path = folder / "r.json"
    return code, json.loads(path.read_text())["rows"] if path.exists() else None


class Scripted:
    """Plays these cards, one after another."""

    name = "scripted"

    def __init__(self, cards):
        self.cards = iter(cards.split())

    def act_rows(self, observations, masks):
        return np.array([actions.of(RULES).index[next(self.cards)]])


@pytest.mark.parametrize("alone", [False, True])
def test_a_hand_counted_by_hand(regret, alone):
    """No trump: leading the nine costs the declarer four tricks; the nine of hearts back, four.

    With the ace to the ten of hearts and one small spade it has five tricks. After the spade, seat
    1 has five spades, and the declarer the last heart.
    """
    deal = ["AH KH QH JH TH 9S", "AS KS QS JS TS 9H", "AD KD QD JD TD 9D", "AC KC QC JC TC 9C"]
    played = ["9S AS 9D 9C", "9H TH TD TC", "AH KS JD JC", "KH QS QD QC", "QH JS KD KC"]
    played.append("JH TS AD AC")
    tricks = [trick.split() for trick in played]
    tricks[1] = ["9H", "TD", "TC", "TH"]  # seat 1 leads: seats 2, 3, 0 follow
    out = set(deal[2].split()) if alone else set()
    cards = [card for trick in tricks for card in trick if card not in out]
    table = regret.Table(RULES, 0, 1, 0)
    hands = solver.inputs.hands_of_deals([[hand.split() for hand in deal]], RULES)
    set_contracts(table.states, table.tables, hands, 3, 0, STRAINS.index("NT"), int(alone))
    table.play(None, Scripted(" ".join(cards)))
    found = table.losses(1)
    expected = np.zeros_like(found.tricks)
    declarer, defenders = ("alone", "against alone") if alone else ("declarer", "defenders")
    expected[0, regret.ROLES.index(declarer), 0] = 4
    expected[0, regret.ROLES.index(defenders), 1] = 4
    assert np.array_equal(found.tricks, expected)
    assert found.kinds.tolist() == [regret.ALONE if alone else regret.PARTNERS]
    assert table.states[0]["tricks_won"].tolist() == [5, 1]


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_the_roles_add_up_to_what_the_solver_says_of_the_hand(regret, variant):
    """The declarer's side ends with what it had at the lead, less its losses, plus the others'."""
    rules = bideuchre_env.make(variant).rules
    player = bideuchre_env.agents.make("random", rules, seed=3)
    caller = bideuchre_env.agents.make("rule", rules)
    table = regret.Table(rules, 0, 60, 9)
    table.play(caller, player)
    found = table.losses(1)
    declared, states = np.flatnonzero(table.plies), table.states
    assert np.array_equal(declared, np.flatnonzero(found.kinds != regret.PASSED_OUT))
    assert (found.kinds == regret.ALONE).any()
    assert (found.tricks >= 0).all()
    for i in declared:
        opening = regret.as_rows(table.before[i, 0].view(regret.STATE))
        value, side = solver.solve(opening, rules=rules), states["declarer"][i] & 1
        if opening["turn"][0] & 1 != side:
            value = rules.tricks - value
        lost = found.tricks[i].sum(axis=1)
        ours, theirs = lost[[0, 1, 3]].sum(), lost[[2, 4]].sum()
        assert states["tricks_won"][i, side] == value - ours + theirs
        roles = {0, 1, 2} if found.kinds[i] == regret.PARTNERS else {3, 4}
        assert set(np.flatnonzero(lost)) <= roles


def test_random_loses_more_than_rule_on_the_same_contracts(regret, tmp_path, capsys):
    """Surely so; the parts of a row are those of its total, and a second run plays nothing."""
    code, rows = run(regret, tmp_path, "--agents", "rule", "random", "--hands", "200")
    assert code == 0
    rule, random = rows
    assert (rule["more_than_first"], random["agent"]) == (None, "random")
    assert random["more_than_first"]["low"] > 0.5
    counts = ("hands", "lone_hands", "passed_out")
    assert [rule[count] for count in counts] == [random[count] for count in counts]
    for row in rows:
        lost = {role: figure["mean"] or 0.0 for role, figure in row["lost"].items()}
        lone, total = row["lone_hands"], lost["total"] * row["hands"]
        four = row["hands"] - lone
        parts = four * sum(lost[role] for role in ("declarer", "helper", "defenders"))
        assert parts + lone * (lost["alone"] + lost["against alone"]) == pytest.approx(total)
        by_trick = [each["mean"] for each in row["by_trick"]["total"]]
        assert sum(by_trick) == pytest.approx(lost["total"])
        assert by_trick[-1] == 0
    printed = capsys.readouterr().out
    assert f"{random['lost']['total']['mean']:.3f} ± " in printed
    assert max(map(len, printed.splitlines())) <= 100
    regret.measure, kept = None, regret.measure
    try:
        again = run(regret, tmp_path, "--agents", "rule", "random", "--hands", "200")
        assert again == (0, rows)
        assert capsys.readouterr().out == printed
    finally:
        regret.measure = kept


def test_the_first_hands_are_the_same_however_many_follow(regret):
    """By any number of threads too, and in another process by the same seed."""
    few, more = (regret.measure(RULES, "random", "rule", n, 4) for n in (256, 300))
    threads = regret.measure(RULES, "random", "rule", 256, 4, threads=2)
    assert np.array_equal(few.tricks, more.tricks[:256])
    assert np.array_equal(few.tricks, threads.tricks)
    assert not np.array_equal(few.tricks, regret.measure(RULES, "random", "rule", 256, 5).tricks)


def test_an_agent_that_calls_for_itself_is_called_by_itself(regret, tmp_path, capsys):
    """With `--own-calls`; those who call are tables of their own."""
    _, own = run(regret, tmp_path, "--agents", "cautious", "rule", "--own-calls")
    assert [row["calls"] for row in own] == [None, None]
    assert "each for itself" in capsys.readouterr().out
    _, rows = run(regret, tmp_path, "--agents", "cautious", "rule", "--calls", "cautious", "rule")
    assert [row["calls"] for row in rows] == ["cautious", "cautious", "rule", "rule"]
    assert own[1]["lost"] == rows[3]["lost"] != rows[1]["lost"]
    assert len(list((tmp_path / "kept").iterdir())) == 6


def test_an_interval_is_never_without_width(regret):
    """Hands that all lost nothing; one hand, no hand."""
    small, large = (regret.mean(np.zeros(n)) for n in (5, 500))
    assert small["mean"] == large["mean"] == 0
    assert small["high"] > 0.3 > 0.01 > large["high"] > 0
    assert regret.mean(np.ones(1)) == {"mean": 1, "low": None, "high": None}
    assert regret.mean(np.zeros(0)) == {"mean": None, "low": None, "high": None}
    values = np.random.default_rng(1).normal(1.0, 2.0, 10_000)
    found = regret.mean(values)
    assert found["high"] - found["low"] == pytest.approx(2 * 1.96 * 2.0 / 100, rel=0.03)


def test_an_agent_without_weights_for_a_game_is_left_out(regret, tmp_path, capsys):
    """A line says so; the learned agents are there by default."""
    assert {"rule", "expert", "ppo", "net"} <= set(regret.Args().agents)
    file = tmp_path / "farm.toml"
    file.write_text('base = "barrie_v0"\nname = "farm"\npartnered = [5, 8]\n')
    asked = ["--agents", "cautious", "ppo", "--variants", "cincinnati_v0", str(file)]
    code, rows = run(regret, tmp_path, *asked)
    played = [(row["variant"], row["agent"]) for row in rows]
    assert (code, played[2:]) == (0, [("farm", "cautious")])
    assert played[:2] == [("cincinnati_v0", "cautious"), ("cincinnati_v0", "ppo")]
    assert capsys.readouterr().err.count("farm: ppo is left out: no weights for this game\n") == 1


def test_ctrl_c_keeps_the_agents_that_are_finished(regret, tmp_path, capsys, monkeypatch):
    """They are printed and written; `--kept` shows them too."""
    measure, asked = regret.measure, ["--agents", "cautious", "rule"]

    def stopped(rules, agent, *more):
        if agent == "rule":
            raise KeyboardInterrupt
        return measure(rules, agent, *more)

    monkeypatch.setattr(regret, "measure", stopped)
    code, rows = run(regret, tmp_path, *asked)
    assert (code, [row["agent"] for row in rows]) == (130, ["cautious"])
    printed = capsys.readouterr().out
    assert run(regret, tmp_path, *asked, "--kept") == (0, rows)
    assert capsys.readouterr().out == printed


def test_other_rules_by_the_same_name_are_another_game(regret, tmp_path):
    """A file of rules that was edited: what is kept of it is refused."""
    file = tmp_path / "farm.toml"
    file.write_text('base = "six_card_v0"\nname = "farm"\n')
    asked = ["--agents", "cautious", "--variants", str(file)]
    assert run(regret, tmp_path, *asked)[0] == 0
    file.write_text('base = "six_card_v0"\nname = "farm"\ntarget = 9\n')
    with pytest.raises(OptionError, match="is no result of cautious"):
        run(regret, tmp_path, *asked)


def test_losses_of_another_shape_are_refused(regret, tmp_path):
    asked = ["--agents", "rule"]
    run(regret, tmp_path, *asked)
    (path,) = (tmp_path / "kept").iterdir()
    saved = json.loads(path.read_text())
    result = saved["result"]
    others = [{k: v for k, v in result.items() if k != key} for key in result]
    others += [result | {"kinds": kinds} for kinds in ("12", "7" * 60)]
    others += [result | {"lost": lost} for lost in ([[0, 9, 0, 1]], [[0, 0]], 3, [[-1, 0, 0, 1]])]
    for each in others:
        path.write_text(json.dumps(saved | {"result": each}))
        with pytest.raises(OptionError, match=f"{re.escape(path.name)} is no result of rule"):
            run(regret, tmp_path, *asked)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--hands", "1"], "--hands 1: 2 or more"),
        (["--seed", "-1"], "seed=-1"),
        (["--threads", "0"], "threads"),
        (["--agents", "rule", "rule"], "each of them once"),
        (["--agents", "nobody"], "no agent 'nobody'"),
        (["--calls", "nobody"], "no agent 'nobody'"),
        (["--variants", "nothing_v0"], "nothing_v0"),
        (["--variants", "barrie_v0", "barrie_v0"], "a name of its own"),
    ],
)
def test_what_is_wrong_is_refused_first(regret, tmp_path, options, told):
    """In a line; nothing is made."""
    with pytest.raises(OptionError, match=told):
        run(regret, tmp_path, *options)
    assert list(tmp_path.iterdir()) == []


def test_an_agent_that_fails_is_named(regret):
    """By what it raises, by what it returns, by a card that it may not play."""

    class Odd:
        name = "odd"

        def __init__(self, answer):
            self.act_rows = answer

    caller = bideuchre_env.agents.make("rule", RULES)
    for answer, error, told in (
        (lambda seen, masks: 1 / 0, AgentError, "ZeroDivisionError"),
        (lambda seen, masks: sys.exit(3), AgentError, "SystemExit"),
        (lambda seen, masks: [0.5] * len(masks), IllegalActionError, "not whole numbers"),
        (lambda seen, masks: masks.argmin(axis=1), IllegalActionError, r"hand \d.*; legal: "),
    ):
        with pytest.raises(error, match=f"'odd'.*{told}"):
            regret.Table(RULES, 0, 4, 0).play(caller, Odd(answer))
