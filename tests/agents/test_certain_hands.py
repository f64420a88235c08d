"""Hands that take every trick alone for certain are bid so; the last to call bids the lowest."""

from __future__ import annotations

import numpy as np
import pytest
from support.agent_games import decisions, look, shipped, start
from support.certainty import settled, wins_the_rest
from support.positions import BARRIE, CINCINNATI, Position

from bideuchre_env import agents
from bideuchre_env.agents.rule.certain import certain_strain
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import AUCTION
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.view import new_view, read_view
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import STRAINS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel

QUICK = ("rule", "expert", "net", "ppo")
SEARCH = ("pimc", "inference")
ALONE = tuple(name for name, rules in RULES.items() if rules.lone)


@entry_kernel
def strain_of(observations, tables, offsets, views):
    """`certain_strain` of the seat of row 0, alone."""
    read_view(row_of(observations, 0), tables[0], offsets[0], views[0])
    return certain_strain(views[0], tables[0], True)


TWICE = [
    ("JD JD JH JH AD AD KD KD", "D"),
    ("JC JC JS JS AC AC KC KC", "C"),
    ("AD AD AH AH AS AC KD KD", "NT"),
    ("AC AC KC KC AS AS KS KS", "NT"),
    ("JS JS JC JC AS AS AH AD", "S"),
    ("JH JH JD JD AH AH KH QH", "H"),
]
ONCE = [("JH JD AH KH QH TH", "H"), ("AS KS QS JS AC AD", "NT"), ("JC JS AC KC AH AS", "C")]


def sure_hands(variant):
    """Hands that are certain to take every trick alone in one strain only."""
    return ONCE if RULES[variant].copies == 1 else TWICE


def bid_made(rules, agent, hand, story="", seat=1):
    """The call of a hand, and the strain that it names."""
    position = Position(rules, {seat: hand})
    position.agent = agent
    if story:
        position.do(story)
    call = position.choice()
    if rules.strain_named == "in_bid":
        return call
    while position.states["phase"][0] == AUCTION:
        own = position.states["turn"][0] == seat
        position.do(call if own else "pass")
    return f"{call} {position.choice().removeprefix('trump ')}"


@pytest.mark.parametrize("variant", ALONE)
@pytest.mark.parametrize("name", [*QUICK, *SEARCH])
def test_a_certain_hand_is_bid_as_the_highest_lone_bid_in_its_strain(name, variant):
    """No strain that is merely likely, and no bid that pays less."""
    if name in ("ppo", "net") and variant not in shipped(name):
        pytest.skip("no weights")
    rules = RULES[variant]
    options = {"worlds": 2, "played_out": 2} if name in SEARCH else {}
    agent = agents.make(name, rules, **options)
    for hand, strain in sure_hands(variant):
        assert bid_made(rules, agent, hand) == f"bid moon {strain}", hand


def test_a_certain_hand_is_bid_over_another_lone_bid():
    """A step of the ladder higher; and by the dealer of Simplified, as high."""
    rule = agents.make("rule", CINCINNATI)
    assert bid_made(CINCINNATI, rule, "JH JD AH KH QH TH", "bid moon", 2) == "bid double moon H"
    simplified = RULES["simplified_v0"]
    agent = agents.make("rule", simplified)
    calls = "bid moon S, pass, pass"
    assert bid_made(simplified, agent, "JD JD JH JH AD AD KD KD", calls, 0) == "bid moon D"


def test_a_lone_bid_that_pays_less_than_another_call_is_not_forced_on_a_certain_hand():
    """Of a game in which eight tricks with partner bring more than playing alone."""
    rules = BARRIE.replace(lone=(Bid("solo", value=2),))
    hand = "JD JD JH JH AD AD KD KD"
    assert bid_made(rules, agents.make("rule", rules), hand) != "bid solo D"


# --- calls that are surely worse ---------------------------------------------------------------


@pytest.mark.parametrize("variant", RULES)
def test_the_last_to_speak_has_no_partnered_bid_above_the_lowest(variant):
    """Nobody is left to outbid; all other legal calls stay."""
    rules, last = RULES[variant], 0
    t = compile_tables(rules)[0]
    per_bid = int(t["strains_per_bid"])
    for observation, mask, row in decisions(rules, 40, seed=9):
        if row["phase"] != AUCTION:
            continue
        legal = [level for level in range(len(rules.ladder)) if mask[1 + level * per_bid]]
        partnered = [level for level in legal if not t["alone"][level]]
        dropped = partnered[1:] if row["calls_made"] == 3 else []
        kept = settled(rules, observation[None], mask[None])[1][0]
        bids = [1 + level * per_bid + strain for level in dropped for strain in range(per_bid)]
        assert np.flatnonzero(mask != kept).tolist() == bids
        last += bool(dropped)
    assert last > 5


@pytest.mark.parametrize("variant", shipped("ppo"))
def test_ppo_bids_no_more_than_it_must_where_nobody_speaks_after_it(variant):
    """The output of a higher bid with partner may be larger: it is surely no better."""
    rules = RULES[variant]
    tables, per_bid = compile_tables(rules), int(compile_tables(rules)["strains_per_bid"][0])
    agent, states, bids = agents.make("ppo", rules), start(rules, 600), 0
    while len(live := np.flatnonzero(np.asarray(states["phase"]) == AUCTION)):
        rows, masks = look(rules, states, live)
        actions = agent.act_rows(rows, masks)
        for j in np.flatnonzero(np.asarray(states["calls_made"])[live] == 3):
            level = (actions[j] - 1) // per_bid
            if actions[j] > 0 and not tables["alone"][0][level]:
                assert level == 0 or not masks[j, 1 + (level - 1) * per_bid]
                bids += 1
        apply_rows(states, tables, live, actions)
    assert bids > 50


def test_a_call_without_exchange_is_certain_though_one_with_it_pays_as_much():
    """Of equal bids the one that is certain."""
    rules = Rules(
        ranks="J", copies=2, partnered=(1, 8), strain_named="in_bid", opening_lead="declarer",
        target=52, lone=(Bid("call-1", value=24, exchange=1), Bid("moon", value=24)),
    )  # fmt: skip
    assert bid_made(rules, agents.make("rule", rules), TWICE[0][0]) == "bid moon D"


def test_a_hand_that_does_not_lead_is_certain_only_if_it_wins_whatever_is_led():
    """Cincinnati, eldest hand leads: six trumps win anything; a side ace may be ruffed at once."""
    tables, offsets, view = compile_tables(CINCINNATI), layout_of(CINCINNATI).offsets, new_view()
    for hand, strain in (("JH JD AH KH QH TH", "H"), ("JH JD AH KH QH AS", None)):
        position = Position(CINCINNATI, {2: hand}).do("pass")
        found = strain_of(position.look()[0][None], tables, offsets, view)
        assert found == (-1 if strain is None else STRAINS.index(strain))
        assert (
            strain is None or bid_made(CINCINNATI, position.agent, hand, "pass", 2) == "bid moon H"
        )
    hands = {1: "9H 9D TD QD KD AC", 2: "JH JD AH KH QH TH"}
    for lead in hands[1].split():
        position = Position(CINCINNATI, hands).do("pass, bid moon, pass, pass, trump H")
        position.do(lead)
        assert wins_the_rest(CINCINNATI, position.agent, position.states[0])
