"""Agent `beginner`: its mistakes are small, and the same in the same position."""

import numpy as np
import pytest
from support.agent_games import Position, look, play_on, start

from bideuchre_env import agents, match
from bideuchre_env.rules.variants import RULES

CINCINNATI = RULES["cincinnati_v0"]
CARELESS = f"beginner:mistakes={CINCINNATI.tricks}"
ALL_PASS = "pass, pass, pass, bid 3, trump H"


def choices(hands, actions):
    """Return the actions of careless beginners of 30 seeds, in the same position."""
    position = Position(CINCINNATI, hands).do(actions)
    look_at = position.look()
    return {
        position.names[agents.make(CARELESS, CINCINNATI, seed=seed).act(*look_at)]
        for seed in range(30)
    }


def test_a_careless_lead_is_any_card():
    held = "AS KS TD 9C JC QH"
    assert choices({1: held}, ALL_PASS) == set(held.split())


def test_a_careless_player_wins_with_its_highest_card_but_not_over_partner():
    hands = {1: "9S TS QD JC 9C 9D", 2: "KS AS QS TD AD KD", 3: "JH JD AH TH 9H KH"}
    assert choices(hands, f"{ALL_PASS}, 9S") == {"AS"}
    hands = {1: "AS TS QD JC 9C 9D", 2: "9S KD TD AD KC QC", 3: "JH JD AH TH 9H KH"}
    # partner is winning, and it holds nothing but trumps
    assert choices(hands, f"{ALL_PASS}, AS 9S") == {"9H"}
    hands[3] = "JH JD AH QS KS 9H"
    assert choices(hands, f"{ALL_PASS}, AS 9S") == {"QS"}


def test_a_careless_discard_is_the_lowest_of_a_side_suit():
    hands = {1: "AS TS QD JC 9C 9D", 2: "9S KS QS JS KC QC", 3: "JH 9H AD TD AC TC"}
    assert choices(hands, f"{ALL_PASS}, AS 9S") == {"TD", "TC"}


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_the_same_position_has_the_same_mistake(variant):
    rules, seen = RULES[variant], []
    one, same, other = (agents.make("beginner", rules, seed=seed) for seed in (1, 1, 2))

    def watch(rows, masks, actions):
        seen.extend(zip(rows.copy(), masks.copy(), strict=True))

    play_on(rules, start(rules, 40), (one, other), watch=watch)
    rows, masks = (np.stack([each[k] for each in seen]) for k in (0, 1))
    together = one.act_rows(rows, masks)
    assert (together == same.act_rows(rows[::-1], masks[::-1])[::-1]).all()
    assert (together != other.act_rows(rows, masks)).any()
    for row, mask, action in zip(rows[:50], masks[:50], together, strict=False):
        assert same.act(row, mask) == action


def test_a_beginner_without_seed_differs_from_another():
    rows, masks = look(CINCINNATI, start(CINCINNATI, 400), np.arange(400))
    one, other = (agents.make("beginner", CINCINNATI).act_rows(rows, masks) for _ in range(2))
    assert (one != other).any()


@pytest.mark.parametrize("variant", ["cincinnati_v0", "double_deck_v0", "pepper_v0"])
def test_a_beginner_is_between_the_cautious_and_the_rule_player_and_bids_like_it(variant):
    played = match(variant, "rule", "beginner", boards=1500, seed=3)
    assert 0.3 < played.points_per_hand.mean < 1.5
    declared = [contracts["bid"] for contracts in played.boards.contracts]
    assert 0.8 < declared[1] / declared[0] < 1.25
    assert match(variant, "beginner", "cautious", boards=300, seed=3).points_per_hand.low > 2
