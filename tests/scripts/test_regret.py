"""Tricks given away by cards, by hand and by the solver."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from support.script_modules import loaded

import bideuchre_env
from bideuchre_env import solver
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import STRAINS
from bideuchre_env.solver.values import set_contracts

RULES = bideuchre_env.make("cincinnati_v0").rules


@pytest.fixture(scope="module")
def regret():
    with loaded("experiments", "regret") as (module,):
        yield module


class Scripted:
    """Plays these cards, one after another."""

    name = "scripted"

    def __init__(self, cards):
        self.cards = iter(cards.split())

    def act_rows(self, observations, masks):
        return np.array([actions.of(RULES).index[next(self.cards)]])


@pytest.mark.parametrize("alone", [False, True])
def test_losses_of_a_hand_counted_by_hand(regret, alone):
    """No trump: leading the nine costs the declarer four tricks; the nine of hearts back, four.

    With the ace to the ten of hearts and one small spade it has five tricks. After the spade, seat
    1 has five spades, and the declarer the last heart.
    """
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


def test_losses_explain_the_difference_from_the_solvers_value(regret):
    """The declarer's side wins the solver's value, less its losses, plus the other side's."""
    rules = bideuchre_env.make("barrie_v0").rules
    player = bideuchre_env.agents.make("random", rules, seed=3)
    caller = bideuchre_env.agents.make("rule", rules)
    states = regret.deal_hands(rules, range(60), regret.first_seed(9))
    openings, copies = {}, states.copy()

    def record(slots, *observed):
        for slot in slots[copies["phase"][slots] == regret.Phase.PLAY]:
            openings.setdefault(int(slot), copies[slot : slot + 1].copy())

    players = [bideuchre_env.agents.make(n, rules, seed=3) for n in ("rule", "random")]
    regret.play_hands(copies, rules, players, lambda r: r["phase"] == regret.Phase.PLAY, record)
    losses = regret.losses(states, rules, caller, player)
    assert sorted(openings) == np.flatnonzero(losses.kinds != regret.PASSED_OUT).tolist()
    assert (losses.kinds == regret.ALONE).any()
    assert (losses.tricks >= 0).all()
    for i, opening in openings.items():
        value, side = solver.solve(opening, rules=rules), states["declarer"][i] & 1
        if opening["turn"][0] & 1 != side:
            value = rules.tricks - value
        lost = losses.tricks[i].sum(axis=1)
        ours, theirs = lost[[0, 1, 3]].sum(), lost[[2, 4]].sum()
        assert states["tricks_won"][i, side] == value - ours + theirs
        roles = {0, 1, 2} if losses.kinds[i] == regret.PARTNERS else {3, 4}
        assert set(np.flatnonzero(lost)) <= roles


def test_random_loses_more_than_rule_and_a_second_run_reads_the_results(
    regret, tmp_path, monkeypatch
):
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
    path = min((tmp_path / "saved").iterdir())
    saved = json.loads(path.read_text())
    for changed in ({"kinds": [1, 2]}, {"tricks": [[0, 0]]}, {"tricks": 3}):
        path.write_text(json.dumps(saved | {"result": saved["result"] | changed}))
        with pytest.raises(OptionError, match=f"{re.escape(path.name)} is no result of this run"):
            rows_of_run()


def test_the_first_hands_do_not_depend_on_the_number_of_hands(regret):
    few, more = (regret.measure(RULES, "random", n, 4) for n in (256, 300))
    assert np.array_equal(few.tricks, more.tricks[:256])
    assert not np.array_equal(few.tricks, regret.measure(RULES, "random", 256, 5).tricks)
