"""Tricks that cards give away: the script's figures, compared with a count by hand."""

import json

import numpy as np
import pytest
from support.commands import load_scripts

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
    with load_scripts("experiments", "regret") as (module,):
        yield module


class Scripted:
    """An agent that plays given cards in order."""

    name = "scripted"

    def __init__(self, cards):
        self.cards = iter(cards.split())

    def act_rows(self, observations, masks):
        return np.array([actions.of(RULES).index[next(self.cards)]])


@pytest.mark.parametrize("alone", [False, True])
def test_losses_of_a_hand_counted_by_hand(regret, alone):
    """At no trump, two cards of the hand below lose four tricks each; all others lose none.

    The declarer, seat 0, has five winning hearts and the nine of spades. Its lead of the nine gives
    seat 1 five spades. Seat 1 then leads the nine of hearts, and the declarer has the rest again.
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


def test_a_saved_result_of_other_hands_is_refused(regret, tmp_path):
    words = ["--agents", "rule", "--hands", "20", "--seed", "5", "--out", str(tmp_path)]
    assert regret.main(regret.Args.parse(words)) == 0
    [file] = tmp_path.glob("*.json")
    content = json.loads(file.read_text())
    content["result"]["kinds"].pop()
    file.write_text(json.dumps(content))
    with pytest.raises(OptionError, match="is no result of this run: another --out"):
        regret.main(regret.Args.parse(words))
    assert json.loads(file.read_text()) == content
