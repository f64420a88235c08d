"""Agents, advice and the solver in games with a kitty: cards laid away, bids, clear refusals."""

import numpy as np
import pytest
from support.agent_games import BARRIE, BOTH, Position, look

from bideuchre_env import match, solver
from bideuchre_env.agents.advice import advise_row
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.advice.would_bid import would_bid
from bideuchre_env.agents.expert.hand_worth import hand_worth
from bideuchre_env.agents.rule.bidding import load_weights
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.state import GIVING, PLAY
from bideuchre_env.errors import DealError, OptionError
from bideuchre_env.play.lines import Lines
from bideuchre_env.rules.cards import CARD_NAMES, hand_names
from bideuchre_env.rules.rules import Rules

KITTY = BARRIE.replace(kitty=4, partnered=(1, 7))
HAND = "JH JD AH QC QS QD KS"
BIG = Rules(copies=2, kitty=4, partnered=(1, 11), target=52)


def laid_away(position):
    """Play the agent's actions up to the play; return the names of the cards it laid away."""
    away = []
    while position.states["phase"][0] != PLAY:
        away.append(position.choice())
        position.do(away[-1])
    return away


@BOTH
@pytest.mark.parametrize(
    ("hand", "kitty", "away"),
    [
        # keeps every trump and every ace, and lays away the losers
        ("JH JD AH KH AS QC QD", "AC KC QH QS", {"QC", "QD", "QS", "KC"}),
        # with nothing but trumps and aces it gives up none of the bowers
        ("JH JH JD JD AH AH KH", "AS AS AC AD", None),
    ],
)
def test_the_declarer_lays_away_its_losers(agent, hand, kitty, away):
    deck = [rank + suit for rank in "AKQJ" for suit in "CDHS" for _ in range(2)]
    for card in (*hand.split(), *kitty.split()):
        deck.remove(card)
    hands = {0: hand} | {seat: " ".join(deck[(seat - 1) * 7 : seat * 7]) for seat in (1, 2, 3)}
    position = Position(KITTY, hands, dealer=3, agent=agent).do("bid 4 H, pass, pass, pass")
    cards = laid_away(position)
    assert len(cards) == 4
    assert not {"JH", "JD"} & set(cards)
    if away:
        assert set(cards) == away


def test_no_cards_are_passed_to_a_declarer_who_has_laid_away():
    position = Position(KITTY, {0: HAND}, dealer=3, agent="rule").do("bid 4 H, pass, pass, pass")
    last = laid_away(position)[-1]
    assert Lines(position.states[0], KITTY, 0).result_lines(last) == []


@pytest.mark.parametrize("rules", [KITTY, BIG], ids=["32 cards", "48 cards"])
def test_rule_beats_cautious_in_a_game_with_a_kitty(rules):
    assert match(rules, "rule", "cautious", boards=300, seed=3).points_per_hand.low > 2


@pytest.mark.search
def test_bids_count_on_the_kitty():
    """The rule player expects more tricks as declarer; as partner or defender as many."""
    plain, kitty = load_weights(16, 2), load_weights(16, 2, 4)
    more = kitty["tricks"][0, 0, :, 0] - plain["tricks"][0, 0, :, 0]
    assert (more > 0).all()
    assert (kitty["tricks"][0, 1:] == plain["tricks"][0, 1:]).all()
    bids = would_bid(HAND.split(), KITTY)
    assert int(bids["first to call"].split()[0]) >= 4


def test_what_cannot_infer_a_kitty_says_so():
    for refused in (
        lambda: hand_worth(HAND, KITTY),
        lambda: solver.par([[]] * 4, KITTY, 0),
        lambda: solver.table([[]] * 4, KITTY),
    ):
        with pytest.raises(OptionError, match="kitty=4: expected 0"):
            refused()


TAKEN, AWAY, BID = "KC QH AS JS", "QC QS QD KS", ["bid 4 H", "pass", "pass", "pass"]


@pytest.mark.parametrize("laid", range(5))
def test_the_position_of_a_declarer_has_the_cards_taken_up_and_laid_away(laid):
    away, hand = AWAY.split()[:laid], [*HAND.split(), *TAKEN.split()]
    for card in away:
        hand.remove(card)
    cards = {"kitty": TAKEN.split(), "laid_away": away}
    row = known_position(KITTY, hand, calls=BID, dealer=3, **cards)[0]
    assert row["phase"] == (PLAY if laid == 4 else GIVING)
    assert sorted(hand_names(int(row["hands"][0]))) == sorted(hand)
    assert [CARD_NAMES[kind] for kind in row["laid"] if kind >= 0] == away
    decoded = layout_of(KITTY).decode(look(KITTY, np.array([row]), np.zeros(1, np.int64))[0][0])
    assert sorted(decoded["kitty"]) == sorted(TAKEN.split())
    assert sorted(decoded["laid_away"]) == sorted(away)


@pytest.mark.parametrize("seat", [1, 2, 3])
def test_another_seat_knows_no_card_of_the_kitty(seat):
    hand, known = (
        ["KD", "KD", "KC", "AC", "AC", "AD", "AD"],
        {"calls": BID, "dealer": 3, "seat": seat},
    )
    known["played"] = ["AH", "KH", "QH"][:seat]
    row = known_position(KITTY, hand, **known)[0]
    assert row["phase"] == PLAY
    assert (row["laid"] >= 0).all()
    for name in ("kitty", "laid_away"):
        with pytest.raises(DealError, match=f"{name}: expected no cards, because seat {seat} does"):
            known_position(KITTY, hand, **known, **{name: ["JS"]})


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        ({}, "kitty: 0 cards: expected the 4 taken up"),
        ({"kitty": "KC QH AS"}, "kitty: 3 cards: expected the 4 taken up"),
        ({"kitty": TAKEN, "laid_away": f"{AWAY} AD"}, "laid_away: 5 cards: expected at most 4"),
        ({"kitty": TAKEN, "laid_away": "QC", "given": "QS"}, "laid_away: expected 4 cards before"),
        ({"kitty": TAKEN, "played": "QS"}, "played: too early, seat 0 is to lay away a card first"),
        ({"kitty": "KC KC QH AS"}, "taken up, laid away, .*are not of one deck"),
        ({"kitty": TAKEN, "calls": ()}, "kitty: expected no cards, because no kitty is taken up"),
        ({"kitty": TAKEN, "laid_away": "QC"}, "hand: 11 cards: expected 10, .*lay away a card"),
    ],
)
def test_cards_that_do_not_fit_a_kitty_are_refused(cards, message):
    known = {"calls": BID} | {k: v.split() if v else v for k, v in cards.items()}
    with pytest.raises(DealError, match=message):
        known_position(KITTY, [*HAND.split(), *TAKEN.split()], dealer=3, **known)


@pytest.mark.search
def test_the_play_after_a_kitty_is_solved():
    position = Position(KITTY, {}, dealer=3).do("bid 4 H, pass, pass, pass")
    laid_away(position)
    assert 0 <= solver.solve(position.states, rules=KITTY) <= KITTY.tricks


@pytest.mark.search
def test_advice_on_cards_to_lay_away_ranks_losers_before_trumps():
    position = Position(KITTY, {0: HAND}, dealer=3).do("bid 4 H, pass, pass, pass")
    advice = advise_row(position.states[0], KITTY, "inference", worlds=60)
    assert advice.phase == "lay away a card"
    assert [option.name for option in advice.options][-1] == "AH"
    assert advice.choice.name in {"QS", "QC", "QD"}


@pytest.mark.search
def test_inference_beats_rule_in_a_game_with_a_kitty():
    """It gains 1.3 ± 0.8 points per hand with 40 worlds."""
    searcher = "inference:worlds=40,played_out=40"
    assert match(KITTY, searcher, "rule", boards=300, seed=3).points_per_hand.low > 0
