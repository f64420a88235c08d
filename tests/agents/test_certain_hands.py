"""Hands that take every trick alone for certain, and calls that are dominated."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.agent_games import LEARNED, SEARCH, decisions, shipped
from support.certainty import settled, wins_the_rest
from support.positions import BARRIE, CINCINNATI, Position

from bideuchre_env import agents
from bideuchre_env.agents.rule.certain import certain_strain
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.state import AUCTION
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.view import new_view, read_view
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import STRAINS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel


@entry_kernel
def strain_of(observations, tables, offsets, views):
    """Call `certain_strain` for a lone hand of the seat of row 0."""
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
    """Hands that take every trick alone for certain, in one strain only."""
    return ONCE if RULES[variant].copies == 1 else TWICE


def bid_made(rules, agent, hand, story="", seat=1):
    """The call of a hand and its strain, which may be named after the auction."""
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


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        (name, variant)
        for name in ("rule", "expert", *LEARNED, *SEARCH)
        for variant in (shipped(name) if name in LEARNED else RULES)
        if RULES[variant].lone
    ],
)
def test_a_certain_hand_is_bid_as_the_highest_lone_bid_in_its_strain(name, variant):
    rules = RULES[variant]
    options = {"worlds": 2, "played_out": 2} if name in SEARCH else {}
    agent = agents.make(name, rules, **options)
    for hand, strain in sure_hands(variant):
        assert bid_made(rules, agent, hand) == f"bid moon {strain}", hand


EIGHT_TRICKS_PAY_MORE = BARRIE.replace(lone=(Bid("solo", value=2),))
CALL_1_PAYS_AS_MUCH = Rules(
    ranks="J", copies=2, partnered=(1, 8), strain_named="in_bid", opening_lead="declarer",
    target=52, lone=(Bid("call-1", value=24, exchange=1), Bid("moon", value=24)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "hand", "story", "seat", "pattern"),
    [
        (CINCINNATI, ONCE[0][0], "bid moon", 2, "bid double moon H"),
        (RULES["simplified_v0"], TWICE[0][0], "bid moon S, pass, pass", 0, "bid moon D"),
        (EIGHT_TRICKS_PAY_MORE, TWICE[0][0], "", 1, "(?!bid solo).*"),
        (CALL_1_PAYS_AS_MUCH, TWICE[0][0], "", 1, "bid moon D"),
    ],
    ids=["one step higher", "as high by the dealer", "not if it pays less", "without exchange"],
)
def test_a_certain_hand_is_bid_as_the_lone_bid_that_pays_most(rules, hand, story, seat, pattern):
    call = bid_made(rules, agents.make("rule", rules), hand, story, seat)
    assert re.fullmatch(pattern, call), call


# --- dominated calls ---------------------------------------------------------------


@pytest.mark.parametrize("variant", RULES)
def test_the_last_to_call_makes_no_partnered_bid_above_the_lowest(variant):
    """All other legal calls stay."""
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


def test_a_hand_that_does_not_lead_is_certain_only_if_it_wins_whatever_is_led():
    """At Cincinnati eldest hand leads: six trumps win anything, a side ace may be ruffed."""
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
