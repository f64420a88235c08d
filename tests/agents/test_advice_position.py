"""Positions from the facts that a seat knows, and errors for impossible facts."""

import numpy as np
import pytest
from support.agent_games import decisions, lone_decisions, look
from support.positions import knowledge_of

from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.core.state import AUCTION
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.validity import checked_states
from bideuchre_env.errors import BidEuchreError, DealError
from bideuchre_env.rules.cards import CARD_NAMES
from bideuchre_env.rules.variants import RULES

HAND = ["JH", "JD", "AH", "KH", "QS", "9C"]
EIGHT = ["JS", "JS", "JC", "AS", "KS", "AH", "AD", "QS"]
NINE = ["9S", *EIGHT[:7]]
EXCHANGE = {"hand": EIGHT, "dealer": 2}
FOUR = ["4", "pass", "pass", "pass"]
SPADES = {"calls": FOUR, "strain": "S", "seat": 1, "dealer": 3}
FIRST = ["AC", "9H", "9C", "TC", "AS"]
SECOND = ["AC", "9C", "9H", "TC", "AD", "TD", "KC", "9D", "QD"]


@pytest.mark.parametrize("variant", RULES)
def test_the_facts_known_to_a_seat_give_its_observation(variant):
    """In every phase, the position from a seat's facts is valid, with its observation and mask."""
    rules = RULES[variant]
    positions = decisions(rules, 3, seed=11, hands=2, every=2)
    for bid in rules.lone:
        if bid.exchange:
            positions += lone_decisions(rules, bid.name, 2, seed=11)
    phases = set()
    for row, mask, state in positions:
        facts = knowledge_of(state, rules)
        rows = known_position(rules, dealer=int(state["dealer"]), **facts)
        checked_states(rows, 1, compile_tables(rules))
        seen, masks = look(rules, rows, np.arange(1))
        assert np.array_equal(seen[0], row)
        assert np.array_equal(masks[0], mask)
        assert rows["turn"][0] == state["turn"]
        if state["phase"] == AUCTION:
            assert known_position(rules, **facts).tobytes() == rows.tobytes()
        phases.add(int(state["phase"]))
    assert len(phases) >= 2


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"hand": HAND[:5]}, "hand of 5 cards: expected 6, held by seat 0"),
        ({"hand": ["JH", *HAND[:5]]}, "JH 2 times: expected at most 1 time"),
        ({"hand": [*HAND[:5], "XX"]}, "no card"),
        ({"seat": 4}, "seat 4: expected a seat from 0 to 3"),
        ({"dealer": 1}, "seat 2 is to act there, not seat 0"),
        ({"deal": 0}, "deal 0: expected a whole number from 1 to"),
        ({"score": (1, 2, 3)}, "two whole numbers"),
        ({"calls": ["4", "3"]}, "call 2, player_3 may not choose 'bid 3'; legal: 'pass', 'bid 5'"),
        ({"calls": ["pass"] * 5}, "5 calls: expected at most four"),
        ({"calls": ["pass"] * 3, "strain": "H"}, "the strain: too early, seat 0 is to act first"),
        ({"calls": ["pass"] * 3 + ["4"], "strain": "X"}, "no action of this game"),
        (
            {"calls": ["pass", "4"], "played": ["9S"]},
            "cards played: too early, seat 0 is to act first",
        ),
        (
            {"calls": FOUR, "strain": "H", "given": ["9S"]},
            "cards given up: expected none for seat 0",
        ),
        (SPADES | {"strain": "H", "played": ["JH"]}, "are not of one deck"),
        (SPADES | {"hand": [*HAND[:4], "KC"], "played": FIRST}, "that did not follow suit"),
        (SPADES | {"hand": HAND[:4], "played": SECOND}, "that did not follow suit"),
        ({"hand": EIGHT, "seat": 0}, "dealer=None: expected 1 or 3"),
        (EXCHANGE | {"seat": 1, "given": ["QS"]}, "hand of 8 cards: expected 7, held by seat 1"),
        (EXCHANGE | {"seat": 1, "given": ["QD", "QD"]}, "0 cards passed: expected 2 from partner"),
        (
            EXCHANGE | {"seat": 1, "given": ["QD"], "passed": ["AS"]},
            "expected 2 cards given up first",
        ),
        (
            EXCHANGE | {"seat": 1, "given": ["QD", "QD", "QC"]},
            "3 cards given up: expected at most 2 with this bid",
        ),
        (EXCHANGE | {"seat": 3, "given": ["QD"]}, "cards given up: expected none for seat 3"),
        (EXCHANGE | {"seat": 0, "passed": ["QD"]}, "cards passed: expected none for seat 0"),
        (EXCHANGE | {"seat": 3, "strain": "S"}, "part of the bid"),
        ({"hand": NINE}, "9S is not in this 32-card deck"),
    ],
)
def test_an_impossible_position_is_a_one_line_error(facts, message):
    rules, facts = RULES["cincinnati_v0"], {"hand": HAND} | facts
    if facts["hand"] in (EIGHT, NINE):
        rules = RULES["barrie_v0"]
        facts = {"calls": ["pass", "pass", "call-2 S", "pass"]} | facts
    with pytest.raises(BidEuchreError) as caught:
        known_position(rules, **facts)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("variant", RULES)
def test_scores_of_a_game_that_is_over_are_refused(variant):
    """The scores that end a game depend on its win rule; scores below zero are valid."""
    rules = RULES[variant]
    target = rules.target or 40
    hand = [CARD_NAMES[kind] for kind in range(rules.tricks)]
    for score in ((0, 0), (-30, 5), (target - 1, target - 1), (-1, target - 1)):
        assert known_position(rules, hand, score=score)["score"][0].tolist() == list(score)
    over = {  # scores that end the game before this hand
        "any": [(target, 0), (0, target + 3), (target, target)],
        "made_or_set": [(target, target), (target + 9, target + 1)],
        "made_bid": [],
        "rounds": [],
    }[rules.win_rule]
    fine = {
        "any": [],
        "made_or_set": [(target, 0), (0, target + 3)],  # defenders of a made bid do not win
        "made_bid": [(target, 0), (target, target)],
        "rounds": [(60, 70)],
    }[rules.win_rule]
    for score in over:
        with pytest.raises(DealError, match=f"expected a game in progress, to {target}"):
            known_position(rules, hand, score=score)
    for score in fine:
        known_position(rules, hand, score=score)
