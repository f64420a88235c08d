"""Agent `player`: each part of a hand is decided by the agent that its option names."""

import numpy as np
import pytest
from support.agent_games import decisions, lone_decisions

from bideuchre_env import agents, match
from bideuchre_env.core.state import GIVING, PASSING, PLAY
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.kernel_parts import agent_parts
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.variants import RULES

HORSE = RULES["cincinnati_v0"].replace(lone=[Bid("horse", 12, exchange=3)], moon_ladder="jump")


@pytest.mark.parametrize("rules", [RULES["cincinnati_v0"], HORSE], ids=["cincinnati", "exchange"])
def test_each_part_of_a_hand_is_decided_by_its_agent(rules):
    """Cards of an exchange are no last tricks, however few are in hand."""
    names = {"calls": "timid", "cards": "rule", "ending": "always-defend"}
    player = agents.make(f"player:{','.join(map('='.join, names.items()))},tricks=4", rules)
    one = {part: agents.make(name, rules) for part, name in names.items()}
    for part, agent in one.items():  # tell the agents apart, whatever they choose
        agent.choose = lambda rows, masks, part=part: seen.append(part) or masks.argmax(axis=1)
    player.parts = list(one.values())
    parts = set()
    played = decisions(rules, 3, seed=4, hands=2)
    for bid in rules.lone if rules.exchange else ():
        played += lone_decisions(rules, bid.name, 2, seed=4)
    for row, mask, state in played:
        seen: list[str] = []
        player.act(row, mask)
        left = int(state["hands"][state["turn"]]).bit_count()
        cards = "ending" if left <= 4 and state["phase"] == PLAY else "cards"
        assert seen == ["calls" if state["phase"] < GIVING else cards]
        parts.add("exchange" if state["phase"] in (GIVING, PASSING) else seen[0])
    assert parts >= {"calls", "cards", "ending", *["exchange"] * (rules.exchange > 0)}


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_a_player_of_one_agent_is_that_agent(variant):
    rules = RULES[variant]
    player = agents.make("player:calls=rule,cards=rule", rules)
    rows, masks, _ = map(np.array, zip(*decisions(rules, 3, seed=4, hands=2), strict=True))
    assert (player.act_rows(rows, masks) == agents.make("rule", rules).act_rows(rows, masks)).all()


def test_better_cards_under_the_same_calls_make_more_points():
    name = "player:calls=cautious,cards=rule"
    result = match("cincinnati_v0", name, "cautious", boards=600, seed=1)
    assert result.agents[0] == name
    assert result.points_per_hand.low > 0


def test_the_kernels_of_its_agents_are_those_of_a_player():
    assert agent_parts(["player:calls=timid,cards=ppo"]) == ("rule", "ppo")
    assert agent_parts(["player:calls=rule,cards=rule,ending=net:search=true"]) == (
        "rule",
        "expert",
        "net",
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("player:calls=rule", "expected calls and cards, as player:calls="),
        ("player", "expected calls and cards, as player:calls="),
        ("player:calls=nobody,cards=rule", "calls='nobody': expected one of random, "),
        ("player:calls=./mine.py:Agent,cards=rule", "calls='./mine.py:Agent': expected one of"),
        ("player:calls=3,cards=rule", "calls=3: expected one of random, "),
        ("player:calls=rule,cards=rule,tricks=0", "tricks=0: expected a whole number from 1 to 12"),
        ("player:calls=rule,cards=player", "expected one of"),
    ],
)
def test_other_names_are_refused(name, message):
    with pytest.raises(OptionError, match=message):
        agents.make(name, RULES["cincinnati_v0"])
    with pytest.raises(OptionError, match="name='player': expected another name"):
        agents.register("player", lambda rules: None)
