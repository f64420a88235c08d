"""Agents and advice under the rules of the wider family: auctions in rounds, scoring, the floor."""

import pytest
from support.agent_games import Position

from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.advice.would_bid import PLACES, would_bid
from bideuchre_env.agents.expert.win_table import rule_table
from bideuchre_env.errors import DealError
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES

pytestmark = pytest.mark.search

HEARTS = "JH JD AH KH QH TH"
PEPPER = Rules(
    partnered=(1, 5),
    lone=[Bid("little", value=6, partner=True), Bid("big", value=12, partner=True)],
    strain_named="after_auction",
    target=30,
)


@pytest.mark.parametrize("auction", ["until_passes", "until_out"])
@pytest.mark.parametrize("all_pass", ["redeal_next", "dealer_forced", "dealer_lowest"])
def test_a_bid_that_ends_an_auction_in_rounds_is_followed_by_no_pass(auction, all_pass):
    rules = PEPPER.replace(auction=auction, all_pass=all_pass)
    for hand in (HEARTS, "9C 9D TC TD 9S QC", "JH JD AH KH QH AS"):
        bids = would_bid(hand.split(), rules)
        assert list(bids) == list(PLACES)
        for bid in bids.values():
            assert bid == "pass" or bid.split()[-1] in (*"CDHS", "NT", "LOW")


@pytest.mark.parametrize("agent", ["rule", "expert"])
def test_the_last_bidder_considers_every_bid_that_scores_its_number(agent):
    """A made bid of 1 scores a point only, with a hand that wins nearly all the tricks."""
    rules = Rules(ranks="9", partnered=(1, 6), made_scores="bid", target=15)
    position = Position(rules, {0: HEARTS}, agent=agent).do("pass, pass, pass")
    name, *_ = position.choice().removeprefix("bid ").split()
    assert name != "pass"
    assert name not in ("1", "2", "3")


@pytest.mark.parametrize("strain_named", ["in_bid", "after_auction"])
def test_a_search_lists_bids_if_the_best_strain_may_not_be_named(strain_named):
    rules = Rules(
        ranks="9", partnered=(1, 6), no_trump_from=7, strain_named=strain_named, target=15
    )
    position = Position(rules, {1: "AC KC AD KD AH AS"}, agent="pimc")
    position.agent.act(*position.look())
    plan = position.agent.space.plans[0]
    names = [position.names[action] for action in plan["actions"][: plan["n"]]]
    assert any(name.startswith("bid 3") for name in names), names


@pytest.mark.parametrize("auction", ["until_passes", "until_out"])
@pytest.mark.parametrize("hand", [HEARTS, "JH JD AH KH QH AS", "9H 9D TC TD AH JC"])
@pytest.mark.parametrize("agent", ["rule", "expert"])
def test_the_last_bid_of_an_auction_in_rounds_is_that_of_one_round(auction, hand, agent):
    """A forced dealer's bid ends it: no seat is left to outbid."""
    calls = set()
    for rounds in ("once", auction):
        rules = Rules(
            ranks="9", partnered=(1, 6), all_pass="dealer_forced", auction=rounds, target=15
        )
        position = Position(rules, {0: hand}, agent=agent).do("pass, pass, pass")
        calls.add(position.choice())
    assert len(calls) == 1
    assert calls.pop().startswith("bid 1")


def test_a_score_at_the_floor_is_that_of_a_game_that_is_over():
    rules = RULES["cincinnati_v0"].replace(floor=-30)
    for score in ((-30, 0), (0, -31)):
        with pytest.raises(DealError, match=r"expected a game in progress, .*above -30"):
            known_position(rules, HEARTS.split(), score=score)
    assert known_position(rules, HEARTS.split(), score=(-29, 0))["score"][0].tolist() == [-29, 0]


def test_the_chance_to_win_ends_at_the_floor():
    """A side with 9 points below zero loses with its next bid that is set: all cost 3 or more."""
    rules = RULES["cincinnati_v0"]
    free, floored = (rule_table(rules.replace(floor=floor))[0] for floor in (None, -10))
    even, low = rules.target - 1, rules.target - 1 + 9
    assert 0.2 < floored[low, even] < free[low, even] - 0.01
    assert floored[low, even] == pytest.approx(1 - floored[even, low])
    assert floored[even, even] == pytest.approx(0.5)


@pytest.mark.parametrize("agent", ["rule", "expert"])
@pytest.mark.parametrize("hand", ["QS AH TD 9D JC 9C", "KH TS 9C TH QD JC"])
def test_a_thin_bid_is_not_risked_if_it_may_end_a_game_of_hands_at_the_floor(agent, hand):
    """F.20: "a side at or below it loses"; after the last hand the higher score wins (no floor)."""
    calls = {}
    for floor in (None, -10):
        rules = RULES["cincinnati_v0"].replace(
            win_rule="rounds", rounds=2, target=None, floor=floor
        )
        for played in (2, 7):
            position = Position(
                rules, {0: hand}, dealer=3, score=(-9, -9), played=played, agent=agent
            )
            calls[floor, played] = position.choice()
    assert (calls[None, 2], calls[-10, 2]) == ("bid 3", "pass")
    assert calls[None, 7] == calls[-10, 7]
