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
from bideuchre_env.core.tables import compile_tables
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
    states = regret.deal_hands(RULES, range(1), 0)
    hands = solver.inputs.hands_of_deals([[hand.split() for hand in deal]], RULES)
    set_contracts(states, compile_tables(RULES), hands, 3, 0, STRAINS.index("NT"), int(alone))
    found = regret.losses(states, RULES, None, Scripted(" ".join(cards)))
    expected = np.zeros_like(found.tricks)
    declarer, defenders = ("alone", "against alone") if alone else ("declarer", "defenders")
    expected[0, regret.ROLES.index(declarer), 0] = 4
    expected[0, regret.ROLES.index(defenders), 1] = 4
    assert np.array_equal(found.tricks, expected)
    assert found.kinds.tolist() == [regret.ALONE if alone else regret.PARTNERS]
    assert states[0]["tricks_won"].tolist() == [5, 1]


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_the_roles_add_up_to_what_the_solver_says_of_the_hand(regret, variant):
    """The declarer's side ends with what it had at the lead, less its losses, plus the others'."""
    rules = bideuchre_env.make(variant).rules
    player = bideuchre_env.agents.make("random", rules, seed=3)
    caller = bideuchre_env.agents.make("rule", rules)
    states = regret.deal_hands(rules, range(60), regret.first_seed(9))
    openings, copies = {}, states.copy()

    def record(slots, *observed):
        for slot in slots[copies["phase"][slots] == regret.Phase.PLAY]:
            openings.setdefault(int(slot), copies[slot : slot + 1].copy())

    players = [bideuchre_env.agents.make(n, rules, seed=3) for n in ("rule", "random")]
    regret.play_hands(copies, rules, players, lambda r: r["phase"] == regret.Phase.PLAY, record)
    found = regret.losses(states, rules, caller, player)
    assert sorted(openings) == np.flatnonzero(found.kinds != regret.PASSED_OUT).tolist()
    assert (found.kinds == regret.ALONE).any()
    assert (found.tricks >= 0).all()
    for i, opening in openings.items():
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
    regret.measure, kept = None, regret.measure
    try:
        again = run(regret, tmp_path, "--agents", "rule", "random", "--hands", "200")
        assert again == (0, rows)
        assert capsys.readouterr().out == printed
    finally:
        regret.measure = kept


def test_the_first_hands_are_the_same_however_many_follow(regret):
    """And others by another seed."""
    few, more = (regret.measure(RULES, "random", n, 4) for n in (256, 300))
    assert np.array_equal(few.tricks, more.tricks[:256])
    assert not np.array_equal(few.tricks, regret.measure(RULES, "random", 256, 5).tricks)


def test_an_interval_is_never_without_width(regret):
    """Hands that all lost nothing; one hand, no hand."""
    small, large = (regret.mean(np.zeros(n), margin=regret.UNSEEN) for n in (5, 500))
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


def test_ctrl_c_keeps_the_agents_that_are_finished(regret, tmp_path, monkeypatch):
    measure, asked, played = regret.measure, ["--agents", "cautious", "rule"], []

    def stopped(rules, agent, *more):
        played.append(agent)
        if played == ["cautious", "rule"]:
            raise KeyboardInterrupt
        return measure(rules, agent, *more)

    monkeypatch.setattr(regret, "measure", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(regret, tmp_path, *asked)
    code, rows = run(regret, tmp_path, *asked)
    assert (code, [row["agent"] for row in rows]) == (0, ["cautious", "rule"])
    assert played == ["cautious", "rule", "rule"]


def test_other_rules_by_the_same_name_are_another_game(regret, tmp_path):
    """A file of rules that was edited: what is kept of it is refused."""
    file = tmp_path / "farm.toml"
    file.write_text('base = "six_card_v0"\nname = "farm"\n')
    asked = ["--agents", "cautious", "--variants", str(file)]
    assert run(regret, tmp_path, *asked)[0] == 0
    file.write_text('base = "six_card_v0"\nname = "farm"\ntarget = 9\n')
    with pytest.raises(OptionError, match="is no result of this run"):
        run(regret, tmp_path, *asked)


def test_losses_of_another_shape_are_refused(regret, tmp_path):
    asked = ["--agents", "rule"]
    run(regret, tmp_path, *asked)
    (path,) = (tmp_path / "kept").iterdir()
    saved = json.loads(path.read_text())
    result = saved["result"]
    others = [{k: v for k, v in result.items() if k != key} for key in result]
    others += [result | {"kinds": kinds} for kinds in ([1, 2], [7] * 60)]
    others += [result | {"tricks": tricks} for tricks in ([[0, 0]], 3, [[0], [0, 1]])]
    for each in others:
        path.write_text(json.dumps(saved | {"result": each}))
        with pytest.raises(OptionError, match=f"{re.escape(path.name)} is no result of this run"):
            run(regret, tmp_path, *asked)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--hands", "1"], "--hands 1: 2 or more"),
        (["--seed", "-1"], "seed=-1"),
        (["--agents", "nobody"], "no agent 'nobody'"),
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
            regret.losses(regret.deal_hands(RULES, range(4), 0), RULES, caller, Odd(answer))
