"""The options of an advice and their order; positions from known facts."""

import numpy as np
import pytest
from support.agent_games import (
    decisions,
    knowledge_of,
    limit_listing,
    lone_decisions,
    look,
    settled,
    varied_decisions,
)
from support.custom_agents import Once
from support.playthroughs import SIX

from bideuchre_env._intervals import t_quantile
from bideuchre_env.agents.advice import Advisor, advise_row
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.core.state import AUCTION, NAMING, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.validity import checked_states
from bideuchre_env.errors import BidEuchreError, DealError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES

pytestmark = pytest.mark.search


def test_a_choice_that_is_clearly_behind_is_reported_with_its_loss():
    rules = RULES["cincinnati_v0"]
    row = known_position(rules, ["JH", "JD", "AH", "KH", "QH", "TH"], calls=["pass"])
    advice = advise_row(row, rules, Once())
    assert (advice.choice.name, advice.best.name[:3]) == ("pass", "bid")
    behind = advice.choice.behind
    assert behind.low > 0.0
    lost, off = 100 * behind.mean, 100 * behind.half
    assert f"the agent chooses pass all the same, which is {lost:.1f} % ±{off:.1f}" in advice.why
    assert f"Once chooses pass, but {advice.best.name} is better." in advice.headline
    assert "\npass " in advice.text()
    assert 1 <= advice.effective <= advice.worlds <= advice.drawn
    assert advice.to_dict()["choice"] == "pass"


@pytest.mark.parametrize("goal", ["game", "points"])
def test_options_are_ordered_by_the_goal_and_close_ones_are_within_the_error(goal):
    """The test computes averages, paired differences and Student's t itself."""
    rules, kinds = RULES["cincinnati_v0"], set()
    figure = "points" if goal == "points" else "wins"
    for agent in (f"expert:goal={goal}", f"inference:goal={goal}"):
        advisor = Advisor(rules, agent, worlds=40 if agent[0] == "e" else 200)
        for _, _, state in varied_decisions(rules, 8, seed=17):
            trial = advisor.try_row(state)
            advice, counted = advisor.advice([trial]), trial.counted
            shares = counted.weights / counted.weights.sum()
            several = (
                1 / (shares**2).sum() / counted.design_effect - 1
                if counted.design_effect
                else np.inf
            )
            means = [shares @ counted.column(each.action)[figure] for each in advice.options]
            assert means == pytest.approx(sorted(means, reverse=True))
            first = counted.column(advice.best.action)[figure].astype(float)
            for option in advice.options[1:]:
                gaps = first - counted.column(option.action)[figure]
                centre = shares @ gaps
                variance = shares @ (gaps - centre) ** 2
                unseen = (2 * np.abs(gaps).max()) ** 2 / (several + 2)
                error = np.sqrt((variance + unseen) / several) if several else np.inf
                least = 0.05 if goal == "points" else 0.0005
                t = 1.96 if several == np.inf else t_quantile(max(1, round(several)))
                sure = centre >= least and centre > t * error
                assert option.behind.mean == pytest.approx(centre)
                known = several == np.inf or (len(set(first)) == 1 and several >= 9)
                never = known and gaps.min() >= 0 and gaps.max() > 0
                assert option.dominated == (never or advice.best.action == trial.certain)
                assert (option in advice.close) == (not sure and not option.dominated)
            near = sorted((advice.best, *advice.close), key=lambda each: each.deviation)
            differ = near[0].deviation < 0.95 * near[-1].deviation
            by_points = goal == "points" and not advice.few and differ
            assert advice.safer == (near[0] if by_points else None)
            assert ("safe" in advice.headline) == by_points
            kinds.add((bool(advice.close), advice.choice is advice.best, by_points))
    assert len(kinds) >= 3


@pytest.mark.parametrize("worlds", [30, 320])
def test_option_worlds_is_the_number_of_deals_tried(worlds):
    rules, calls = RULES["cincinnati_v0"], []
    row = known_position(rules, ["9H", "TS", "QC", "9D", "KD", "TC"], calls=["pass", "5"])
    advice = advise_row(row, rules, worlds=worlds, how_far=lambda *how: calls.append(how))
    assert advice.drawn == worlds >= advice.worlds
    assert advice.choice.name == "pass"
    assert calls[-1] == ("played out", advice.worlds, advice.worlds)
    assert ("weighed", 6 * worlds, 6 * worlds) in calls


def test_a_time_limit_alone_sets_the_number_of_deals():
    rules = RULES["cincinnati_v0"]
    row = known_position(rules, ["JH", "JD", "AH", "KH", "QS", "9C"])
    advisor, ticks = Advisor(rules, milliseconds=1000.0), iter(range(10**6))
    advisor.searcher.clock = lambda: next(ticks) / 100  # the limit is reached at reading 100
    assert 300 < advisor.of_row(row).drawn < 500


def levels_of(some, acts, t, alone):
    """Ladder levels of the lone (`alone` 1) or partnered (`alone` 0) bids among actions, a set."""
    levels = {int(t["call_levels"][action]) for action in some if 0 < action < acts.trump_offset}
    return {level for level in levels if level < t["n_levels"] and t["alone"][level] == alone}


CUSTOM = Rules(ranks="9", copies=1, partnered=(2, 6), strain_named="in_bid", target=20)


@pytest.mark.parametrize("rules", [*map(RULES.get, SIX), CUSTOM], ids=[*SIX, "custom"])
def test_a_pass_a_partnered_bid_and_every_lone_bid_are_tried(rules, monkeypatch):
    """Advice of any agent tries these calls, all strains and all cards that waste no higher."""
    limit_listing(monkeypatch)
    acts, t = actions.of(rules), compile_tables(rules)[0]
    advisor, calls = Advisor(rules, Once(), worlds=4), 0
    for row, mask, state in varied_decisions(rules, 6, seed=8):
        if state["phase"] == AUCTION:
            calls += 1
            tried = set(advisor.try_row(state).counted.actions)
            legal = set(np.flatnonzero(mask).tolist())
            assert tried <= legal
            assert (0 in tried) == (0 in legal)
            assert levels_of(tried, acts, t, alone=1) == levels_of(legal, acts, t, alone=1)
            assert bool(levels_of(tried, acts, t, 0)) == bool(levels_of(legal, acts, t, 0))
        elif state["phase"] in (NAMING, PLAY):
            advice = advisor.of_row(state)
            tried = {option.action for option in advice.options}
            _, worth = settled(rules, row[np.newaxis], mask[np.newaxis])
            assert tried == {advice.chosen, *np.flatnonzero(worth[0]).tolist()}
    assert calls > 3


HAND = ["JH", "JD", "AH", "KH", "QS", "9C"]
EIGHT = ["JS", "JS", "JC", "AS", "KS", "AH", "AD", "QS"]
NINE = ["9S", *EIGHT[:7]]
EXCHANGE = {"hand": EIGHT, "dealer": 2}
OPEN = RULES["barrie_v0"].replace(exchange_seen="open")
FOUR = ["4", "pass", "pass", "pass"]
LED_SPADES = {"calls": FOUR, "strain": "S", "seat": 1, "dealer": 3}
FIRST = ["AC", "9H", "9C", "TC", "AS"]
SECOND = ["AC", "9C", "9H", "TC", "AD", "TD", "KC", "9D", "QD"]

NO_CLUBS = ["9D", "AD", "TD", "QD", "9C", "9H", "TH", "QH"]  # no seat has the other clubs
TRICKS = "JH 9C 9S JD, AH TC TS 9D, KH JC JS TD, QH QC QS QD, TH KC KS KD, 9H AC AS AD"
DECK = TRICKS.replace(",", "").split()


ONCE = {name: rules for name, rules in RULES.items() if rules.auction == "once"}


WITH_KITTY = RULES["barrie_v0"].replace(kitty=4, partnered=(1, 7))
KNOWN = ONCE | {"open exchange": OPEN, "kitty": WITH_KITTY}


@pytest.mark.parametrize("rules", KNOWN.values(), ids=KNOWN)
def test_the_facts_known_to_a_seat_give_its_observation(rules):
    """In one call each: `knowledge_of` reads the last call of each seat."""
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
        ({"hand": HAND[:5]}, "hand: 5 cards: expected 6, held by seat 0 when it is to call"),
        ({"hand": ["JH", *HAND[:5]]}, "hand: JH 2 times: expected at most 1 time"),
        ({"hand": [*HAND[:5], "XX"]}, "no card"),
        ({"seat": 4}, "seat 4: expected a seat from 0 to 3"),
        ({"dealer": 1}, "calls: expected all calls before seat 0 acts; with dealer 1 seat 2 is to"),
        ({"deal": 0}, "deal 0: expected a whole number from 1 to"),
        ({"score": (1, 2, 3)}, "two whole numbers"),
        (
            {"calls": ["4", "3"]},
            "calls: call 2, seat 3 may not choose 'bid 3'; legal: 'pass', 'bid 5'",
        ),
        ({"calls": ["pass"] * 5}, "calls: 5 calls: expected at most four"),
        ({"calls": ["pass"] * 3, "strain": "H"}, "strain: too early, seat 0 is to call first"),
        ({"calls": ["pass"] * 3 + ["4"], "strain": "X"}, "strain: 'trump X' is no action of this"),
        ({"calls": ["pass", "4"], "played": ["9S"]}, "played: too early, seat 0 is to call"),
        (
            {"calls": FOUR, "strain": "H", "given": ["9S"]},
            "given: expected no cards, because there is",
        ),
        (LED_SPADES | {"strain": "H", "played": ["JH"]}, "are not of one deck"),
        (
            LED_SPADES | {"hand": [*HAND[:4], "KC"], "played": FIRST},
            "hand: KC: seat 1 has failed to follow this suit",
        ),
        (
            LED_SPADES | {"hand": HAND[:4], "played": SECOND},
            "played: card 7, KC: seat 2 has failed to follow",
        ),
        ({"hand": EIGHT, "seat": 0}, "dealer=None: expected 1 or 3"),
        (EXCHANGE | {"seat": 1, "given": ["QS"]}, "hand: 8 cards: expected 7, held by seat 1 when"),
        (EXCHANGE | {"seat": 1, "given": ["QD", "QD"]}, "passed: 0 cards: expected 2 from partner"),
        (
            EXCHANGE | {"seat": 1, "given": ["QD"], "passed": ["AS"]},
            "given: expected 2 cards before",
        ),
        (
            EXCHANGE | {"seat": 1, "given": ["QD", "QD", "QC"]},
            "given: 3 cards: expected at most 2",
        ),
        (EXCHANGE | {"seat": 3, "given": ["QD"]}, "given: expected no cards, because seat 3 does"),
        (EXCHANGE | {"seat": 0, "passed": ["QD"]}, "passed: expected no cards, because seat 0"),
        (EXCHANGE | {"seat": 3, "strain": "S"}, "strain: expected None, because it is part of"),
        ({"calls": FOUR, "dealer": 2}, "strain=None: expected the strain, which is named before"),
        ({"calls": FOUR, "dealer": 2, "strain": "H"}, "played: expected all cards played before"),
        ({"calls": FOUR, "strain": "H", "hand": HAND[:5]}, "when it is to play to trick 1"),
        ({"calls": ["JH"]}, "calls: 'bid JH' is no action of this game"),
        (
            LED_SPADES | {"strain": "S", "hand": HAND[:4], "played": NO_CLUBS},
            "no deal of the hidden",
        ),
        ({"calls": FOUR, "strain": "H", "played": DECK}, "played: the hand is over"),
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
    if rules.both_over == "continue":
        fine, over = [*fine, (target, target)], over[:2]
    for score in over:
        with pytest.raises(DealError, match=f"expected a game in progress, to {target}"):
            known_position(rules, hand, score=score)
    for score in fine:
        known_position(rules, hand, score=score)
