"""Rules on the exchange of cards before a lone hand."""

import pytest
from support.law_tables import (
    BARRIE,
    CALLING,
    CLUB,
    DOUBLE_DECK,
    SIX_CARD,
    Table,
    in_games,
    one_bid,
)

from bideuchre_env import Bid
from bideuchre_env.errors import IllegalActionError

DECLARER = "AH AH KH KH QH QH JC QC"
PARTNER = "JH JH JD AS AS AC KS KS"
CALLS = {"call-2": 2, "call-1": 1}


def after_auction(game, name, **options):
    """A table after seat 1's lone bid `name` in hearts; seats 1 and 3 hold fixed cards."""
    hands = {1: DECLARER, 3: PARTNER}
    table = Table(game, dealer=0, hands=hands, **options)
    return table.do(*one_bid(1, f"bid {name} H"))


def held(table, seat):
    return sorted(table.sees(seat)["hand"])


@in_games(*CALLING)
@pytest.mark.parametrize("name", CALLS)
def test_the_exchange_is_between_the_auction_and_the_first_lead(game, name):
    """S1.32: "The exchange takes place after the end of bidding and before the first card is
    played."
    R.51: "After the auction, trump known, before the first card."
    R.53: "As turns: the declarer picks k cards one at a time, then the partner picks k cards
    one at a time, with the declarer's picks hidden from everyone else."
    """
    k = CALLS[name]
    table = after_auction(game, name)
    assert table.sees(2)["strain"] == "H"
    turns = []
    for card in ["JC", "QC"][:k] + ["JH", "JH"][:k]:
        assert table.sees(2)["phase"] in ("giving", "passing")
        assert table.sees(2)["led"] is None
        turns.append((table.seat, table.sees(2)["phase"]))
        table.play(card)
    assert turns == [(1, "giving")] * k + [(3, "passing")] * k
    assert table.sees(2)["phase"] == "play"
    assert table.seat == 1


@in_games(*CALLING)
def test_one_or_two_cards_are_exchanged_as_called(game):
    """S1.26: "The second highest bid is taking all eight tricks but exchanging one card with
    your partner (the card is selected by the non-playing partner and passed across the table
    face down to keep it hidden from the opposition)."
    S1.28: "The third highest bid is the declarer taking all eight tricks but exchanging two
    cards with his partner (the cards are selected by the non-playing partner and passed across
    the table face down to keep them hidden from the opposition)."
    S3.14: "Play alone, ask for 2 cards from your partner; you discard 2 cards then pick up the
    2 cards your partner passes to you;"
    S3.15: "Play alone, ask for 1 card from your partner; you discard 1 card then pick up the 1
    card your partner passes to you."
    S4.03: "You can also bid to take all 8 tricks alone, calling for 1 or 2 cards, which you
    exchange with your partner as described in the general rules above."
    R.54: "Then the declarer takes the partner's cards into hand;"
    """
    one = after_auction(game, "call-1").play("QC JH")
    assert held(one, 1) == sorted(["AH", "AH", "KH", "KH", "QH", "QH", "JC", "JH"])
    two = after_auction(game, "call-2").play("JC QC JH JD")
    assert held(two, 1) == sorted(["AH", "AH", "KH", "KH", "QH", "QH", "JH", "JD"])
    assert sorted(set(two.legal)) == sorted({"AH", "KH", "QH", "JH", "JD"})
    with pytest.raises(IllegalActionError):
        two.play("QC")
    two.play("JH")
    assert two.seat == 2


@in_games(SIX_CARD, DOUBLE_DECK)
def test_bidder_discards_and_partner_passes(game):
    """S2.13, S4.27: "In this case the bidder discards the relevant number of cards face down
    and the bidder's partner passes an equal number of cards face down to the bidder to replace
    them."
    S2.14, S4.26: "Sometimes these lone bids allow you to exchange some cards with partner."
    """
    hands = {1: "AH KH QH TH 9H TC", 3: "JH JD AS AC KS AD"}
    for k in (1, 2, 3):
        lone = [Bid("call", value=9, exchange=k)]
        table = Table(game, dealer=0, hands=hands, lone=lone).do(*one_bid(1, "bid call H"))
        before, passer = held(table, 1), held(table, 3)
        discards, passed = ["TC", "9H", "TH"][:k], ["JH", "JD", "AS"][:k]
        table.do(*discards)
        assert len(held(table, 1)) == len(before) - k
        table.do(*passed)
        expected = list(before)
        for card in discards:
            expected.remove(card)
        assert held(table, 1) == sorted(expected + passed)
        assert len(held(table, 1)) == game.rules.tricks
        assert len(held(table, 3)) == len(passer) - k


@in_games(*CALLING)
def test_any_card_may_be_exchanged(game):
    """R.53: "As turns: the declarer picks k cards one at a time, then the partner picks k cards
    one at a time, with the declarer's picks hidden from everyone else."
    """
    table = after_auction(game, "call-2")
    assert set(table.legal) == set(DECLARER.split())
    table.play("JC")
    assert set(table.legal) == set(DECLARER.split()) - {"JC"}
    table.play("AH")
    assert set(table.legal) == set(PARTNER.split())
    table.play("JD")
    assert set(table.legal) == set(PARTNER.split()) - {"JD"}
    table.play("JH")
    assert "JH" in table.legal


def views(game, seat, *choices, name="call-2"):
    """A list of (observation, mask) of a seat, one for each of `choices`.

    A choice is a text of the cards that are given up and passed after the lone bid `name`.
    """
    seen = []
    for cards in choices:
        table = after_auction(game, name).play(cards)
        got = table.env.observe(f"player_{seat}")
        seen.append((got["observation"].tolist(), got["action_mask"].tolist()))
    return seen


@in_games(*CALLING)
def test_both_choose_before_seeing_the_cards_of_the_other(game):
    """S2.12, S4.28: "Both players must decide which cards to pass before seeing the cards
    passed by the other."
    R.52: "The declarer gives k cards face down and the partner gives k cards face down;
    neither sees the other's choice before making their own (S2, S4)."
    """
    first, second = views(game, 3, "JC QC", "AH KH")
    assert first == second, "the partner chooses without seeing the declarer's discards"
    first, second = views(game, 3, "JC QC JH", "AH KH JH")
    assert first == second
    table = after_auction(game, "call-2")
    before = held(table, 1)
    assert before == sorted(DECLARER.split()), "the declarer chooses from the cards dealt"
    assert table.sees(1)["passed"] == []
    first, second = views(game, 1, "JC QC JH", "JC QC AS")
    assert first == second, "the declarer sees no card before both have chosen"


@in_games(*CALLING)
def test_opponents_see_no_card_of_an_exchange(game):
    """S1.26: "The second highest bid is taking all eight tricks but exchanging one card with
    your partner (the card is selected by the non-playing partner and passed across the table
    face down to keep it hidden from the opposition)."
    S1.28: "The third highest bid is the declarer taking all eight tricks but exchanging two
    cards with his partner (the cards are selected by the non-playing partner and passed across
    the table face down to keep them hidden from the opposition)."
    """
    for seat in (0, 2):
        for cards in (("JC", "AH"), ("JC QC JH", "AH AH AS"), ("JC QC JH JD", "AH KH AS AC")):
            first, second = views(game, seat, *cards)
            assert first == second
        first, second = views(game, seat, "JC JH", "AH KS", name="call-1")
        assert first == second
        table = after_auction(game, "call-2").play("JC QC JH JD")
        assert table.sees(seat)["passed"] == table.sees(seat)["discarded"] == []


@in_games(BARRIE, CLUB)
def test_each_partner_knows_the_cards_it_gave_and_got(game):
    """R.55: "what the declarer gave up is out of play and stays known to the declarer alone;"
    R.56: "what the partner passed is known to both."
    R.57: "Defenders see none of it."
    """
    table = after_auction(game, "call-2").play("JC QC JH JD")
    assert table.sees(1)["discarded"] == ["JC", "QC"]
    assert table.sees(1)["passed"] == table.sees(3)["passed"] == ["JD", "JH"]
    assert table.sees(3)["discarded"] == []
    first, second = views(game, 3, "JC QC JH JD", "AH KH JH JD")
    assert first == second, "the partner never sees the discards"
    out = {"JC", "QC"}
    cards = table.settle()["actions"][8:]
    gone = [card for card in cards if card in out]
    copies = [hand.count(card) for hand in table.hands[0]["deal"][::2] for card in out]
    assert len(gone) == sum(copies), "of discarded cards, only the defenders' copies are played"
