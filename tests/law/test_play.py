"""Rules on the play: the lead, the legal cards and the winner of a trick."""

import pytest
from oracles.reference import SAME_COLOUR, suit_of
from support.law_tables import (
    BARRIE,
    BID_EUCHRE,
    CALLING,
    CINCINNATI,
    CLUB,
    DOUBLE_DECK,
    SIMPLIFIED,
    SIX_CARD,
    STRAINS,
    SUITS,
    VARIANTS,
    Table,
    in_games,
    one_bid,
    opening,
    play_hand,
    play_trick,
)

from bideuchre_env.errors import IllegalActionError

TWO_COPIES = (SIMPLIFIED, CLUB, BARRIE, DOUBLE_DECK)


def led_against(game, strain, hands):
    """A table with seat 1 to play: seat 0 declares in `strain` and has led its first card.

    `hands` has cards by seat, such as {0: "JH AH"}.
    """
    table = Table(game, dealer=3, hands=hands)
    return table.do(*opening(game.rules, strain)).play(hands[0].split()[0])


def must_play(table, *cards):
    """Check that exactly these cards are legal; return whether the seat holds others."""
    held = set(table.sees(table.seat)["hand"])
    assert set(table.legal) == set(cards)
    before = table.record
    for card in held - set(cards):
        with pytest.raises(IllegalActionError):
            table.play(card)
    assert table.record == before
    return held > set(cards)


@pytest.mark.parametrize("dealer", range(4))
def test_cincinnati_eldest_leads(dealer):
    """S0.52: "It’s the oldest player’s job to lead the first trick." """
    for seat in range(4):
        table = Table(CINCINNATI, dealer=dealer).do(*one_bid(seat, "bid 3", dealer), "trump H")
        assert table.sees(0)["phase"] == "play"
        assert table.seat == (dealer + 1) % 4


@pytest.mark.parametrize("dealer", range(4))
def test_cincinnati_next_player_leads_when_the_eldest_sits_out(dealer):
    """S0.53: "But now, if someone decides to go for a “Moon bid” and the player sitting on the
    left of the dealer chooses to skip the round, then the next player on the left takes the
    lead."
    R.08: "opening lead | eldest hand (left of dealer); if it sits out, the next seat |
    declarer | declarer | declarer | declarer | declarer |"
    """
    eldest, declarer = (dealer + 1) % 4, (dealer + 3) % 4
    table = Table(CINCINNATI, dealer=dealer).do(*one_bid(declarer, "bid moon", dealer), "trump H")
    assert table.seat == (eldest + 1) % 4
    other = Table(CINCINNATI, dealer=dealer).do(*one_bid(dealer, "bid moon", dealer), "trump H")
    assert other.seat == eldest


@pytest.mark.parametrize(
    ("declarer", "out", "order"), [(3, 1, [2, 3, 0]), (2, 0, [1, 2, 3]), (1, 3, [1, 2, 0])]
)
def test_partner_of_a_moon_sits_out(declarer, out, order):
    """R.62: "2. Cincinnati, dealer seat 0. Declarer 3 on a moon: seat 1 sits out, seat 2
    leads, order 2, 3, 0."
    R.63: "Declarer 2 on a moon: seat 0 out, seat 1 leads."
    R.64: "Declarer 1 on a moon: seat 3 out, seat 1 leads."
    """
    table = Table(CINCINNATI, dealer=0).do(*one_bid(declarer, "bid moon"), "trump H")
    seats = []
    for _ in range(3):
        seats.append(table.seat)
        table.do(table.legal[0])
    assert (table.sees(0)["sitting_out"], seats) == (out, order)


def test_opening_lead_sets_who_leads_first():
    """R.32: "`opening_lead` | `eldest`"
    R.33: "`declarer`"
    """
    table = Table(BARRIE, dealer=1, opening_lead="eldest").do(*one_bid(0, "bid 3 H", 1))
    assert table.seat == 2
    table = Table(BARRIE, dealer=1, opening_lead="eldest").do(*one_bid(0, "bid moon H", 1))
    assert table.seat == 3
    table = Table(CINCINNATI, dealer=1, opening_lead="declarer")
    table.do(*one_bid(0, "bid 3", 1), "trump H")
    assert table.seat == 0


@in_games(*VARIANTS)
def test_suit_is_followed_or_any_card_played(game):
    """S0.54: "First, it’s crucial to follow the suit that is led."
    S0.56: "But don’t worry if you don’t have a card of the same suit – you can play any card
    instead."
    S1.46: "Players must follow suit continuing clockwise around the table."
    R.16: "Follow suit if you can; else anything."
    """
    followed = led_against(game, "H", {0: "AC", 1: "KC QC AD"})
    assert must_play(followed, *{c for c in followed.legal if suit_of(c, "H") == "C"})
    assert {"KC", "QC"} <= set(followed.legal)
    hand = "AD KD QD JH AS KS QS QH AH KH AD KD".split()[: game.rules.tricks]  # noqa: SIM905
    void = led_against(game, "H", {0: "AC", 1: " ".join(hand)})
    assert set(void.legal) == set(void.sees(1)["hand"])
    assert {suit_of(card, "H") for card in void.legal} == {"D", "H", "S"}


def test_a_spade_led_is_followed_by_spades():
    """S0.55: "For example, if someone plays a Spade card, you should also play a Spade card if
    you have one."
    """
    table = led_against(CINCINNATI, "H", {0: "AS", 1: "9S TS AC AD AH KH"})
    assert must_play(table, "9S", "TS")


@in_games(*BID_EUCHRE)
def test_follow_trump_or_discard(game):
    """S2.09, S3.19, S4.31: "The rules of play are as in Euchre - you must follow suit, and if
    void of the suit led you may trump or discard at will."
    """
    for strain in SUITS:
        plain = next(s for s in SUITS if s not in (strain, SAME_COLOUR[strain]))
        table = led_against(game, strain, {0: f"A{plain}", 1: f"K{plain} A{strain}"})
        assert f"K{plain}" in table.legal
        assert f"A{strain}" not in table.legal
    ruff = play_trick(game, "H", ["AS", "QH", "KS", "AD"])
    assert ruff.seat == 1
    discard = play_trick(game, "H", ["AS", "AC", "KS", "AD"])
    assert discard.seat == 0


@in_games(*VARIANTS)
@pytest.mark.parametrize("strain", SUITS)
def test_left_bower_alone_must_be_played(game, strain):
    """S0.57: "If the trump suit is led, and the only remaining trump card in your hand is the
    Left Bower, you must play it."
    """
    mate = SAME_COLOUR[strain]
    left = f"J{mate}"
    plain = [f"{rank}{suit}" for suit in SUITS if suit != strain for rank in "AKQ"]
    hand = [left, *plain, plain[0], plain[-1]]
    hand = hand[: game.rules.tricks]
    table = led_against(game, strain, {0: f"A{strain}", 1: " ".join(hand)})
    assert must_play(table, left)


@pytest.mark.parametrize(
    ("led", "hand", "legal"),
    [
        ("JD", "9H AD KD QD TD 9D AC KC QC JC AS KS", "9H"),
        ("AH", "JD AD KD QD TD 9D AC KC QC JC AS KS", "JD"),
        ("AD", "JD 9D AC KC QC JC TC 9C AS KS QS JS", "9D"),
        ("AD", "JD AH AC KC QC JC TC 9C AS KS QS JS", "JD AH AC KC QC JC TC 9C AS KS QS JS"),
    ],
)
def test_left_bower_follows_trump(led, hand, legal):
    """R.76: "Left bower led: trump must be followed."
    R.77: "Holding only the left bower when trump is led: it must be played."
    R.78: "When the left bower's printed suit is led it does not follow: a hand that holds
    another card of that suit must play that one and may not play the left bower;"
    R.79: "a hand with none may play anything."
    """
    table = led_against(DOUBLE_DECK, "H", {0: led, 1: hand})
    assert must_play(table, *legal.split()) == (hand != legal)


@in_games(*VARIANTS)
def test_jacks_are_plain_at_no_trump(game):
    """R.80: "8. No trump: jacks follow their printed suit and rank below the queen." """
    table = led_against(game, "NT", {0: "KH", 1: "JH AC AS AD"})
    assert "JH" in table.legal
    assert {card[1] for card in table.legal} == {"H"}
    assert "JH" not in led_against(game, "NT", {0: "KD", 1: "JH QD"}).legal
    assert play_trick(game, "NT", ["JH", "QH", "AS", "AC"]).seat == 1
    assert play_trick(game, "NT", ["QH", "JH", "JD", "AC"]).seat == 0


@in_games(CINCINNATI, SIX_CARD, DOUBLE_DECK)
def test_highest_of_the_suit_led_or_highest_trump(game):
    """S0.58: "The goal of each round is to win tricks."
    S0.59: "To do this, you need to play the highest card in the lead suit or the highest trump
    card if trump is played."
    """
    for strain in STRAINS:
        plain = "C" if strain != "C" else "D"
        off = next(s for s in SUITS if s not in (strain, plain, SAME_COLOUR.get(strain)))
        table = play_trick(game, strain, [f"T{plain}", f"K{plain}", f"A{off}", f"9{plain}"])
        assert table.seat == 1, "the highest card of the suit led wins, an ace aside does not"
        assert table.hands[0]["tricks"] == [0, 1]
        if strain != "NT":
            ruff = play_trick(game, strain, [f"T{plain}", f"9{strain}", f"A{plain}", f"T{strain}"])
            assert ruff.seat == 3, "the highest trump wins"
            assert ruff.hands[0]["tricks"] == [0, 1]


def test_simplified_highest_trump_or_highest_of_the_suit():
    """S1.18: "Throughout the game, the highest trump or the highest suit card played wins the
    hand."
    """
    assert play_trick(SIMPLIFIED, "H", ["QC", "AC", "AS", "KC"]).seat == 1
    assert play_trick(SIMPLIFIED, "H", ["QC", "AC", "QH", "KH"]).seat == 3
    assert play_trick(SIMPLIFIED, "NT", ["QC", "AH", "KC", "AS"]).seat == 2


@in_games(*VARIANTS)
def test_winner_leads_the_next(game):
    """S0.60: "The player with the highest card collects the trick and leads the next one."
    R.18: "The trick's winner leads."
    """
    table = Table(game, dealer=1, seed=5).do(*opening(game.rules, "D"))
    for n in range(1, game.rules.tricks):
        before = table.hands[0]["tricks"]
        for _ in range(4):
            winning = table.sees(table.seat)["winning"], table.seat
            table.do(table.legal[-1])
        after = table.hands[0]["tricks"]
        assert sum(after) == n
        took = 0 if after[0] > before[0] else 1
        assert table.seat % 2 == took
        assert table.sees(table.seat)["led"] is None
        seen, seat = winning
        assert table.seat in (seat, (seat + seen) % 4)


def test_a_hand_is_scored_after_six_tricks():
    """S0.61: "Keep playing until all six tricks have been completed."
    S0.62: "Once that happens, it’s time to tally up the score for the round."
    """
    table = Table(CINCINNATI, dealer=1, seed=5).do(*opening(CINCINNATI.rules, "D"))
    for n in range(24):
        assert table.hands[0]["points"] == [0, 0], n
        assert len(table.hands) == 1
        table.do(table.legal[0])
    assert sum(table.hands[0]["tricks"]) == 6
    assert table.hands[0]["points"] != [0, 0]
    assert len(table.hands) == 2


@in_games(*TWO_COPIES)
def test_of_two_equal_cards_the_first_wins(game):
    """S1.47: "The first card played of equal value counts highest."
    S1.48: "Example. A right Bower is played first then the opponent follows with a right Bower
    as well. The first right Bower played wins the hand."
    S1.49: "Similarly, the first king etc. of a suit played would beat a following king of the
    same suit in that hand."
    S2.07, S4.33: "In double deck versions the first played of two equal cards beats the
    second."
    S2.19, S3.04, S4.19: "When two identical cards are played to the same trick, the first to
    be played beats the second."
    S3.21: "The first played of two equal cards beats the second."
    R.17: "Of two identical cards in a trick the first played wins."
    R.74: "7. Double deck: the second right bower loses to the first."
    R.75: "Ace over an earlier identical ace: no."
    """
    for suit in SUITS:
        mate = SAME_COLOUR[suit]
        off = next(s for s in SUITS if s not in (suit, mate))
        right, left = f"J{suit}", f"J{mate}"
        assert play_trick(game, suit, [right, right, f"Q{suit}", f"K{suit}"]).seat == 0
        assert play_trick(game, suit, [f"A{suit}", left, f"Q{suit}", left]).seat == 1
        assert play_trick(game, suit, [f"Q{suit}", right, left, right]).seat == 1
        for rank in ("K", "A"):
            card, low = f"{rank}{off}", f"Q{off}"
            assert play_trick(game, suit, [card, card, low, low]).seat == 0
            assert play_trick(game, suit, [low, card, low, card]).seat == 1
            assert play_trick(game, "NT", [low, low, card, card]).seat == 2
        assert play_trick(game, suit, [f"A{off}", f"K{suit}", f"K{off}", f"K{suit}"]).seat == 1


@in_games(*CALLING)
def test_a_set_hand_is_played_on(game):
    """R.20: "All tricks are played even after a set." """
    hand = play_hand(game, one_bid(1, "bid 7"), lead=1, tricks=3).hands[0]
    assert hand["tricks"] == [5, 3]
    assert len(hand["actions"]) == 4 + 8 * 4
    alone = play_hand(game, one_bid(1, "bid moon"), lead=1, tricks=0).hands[0]
    assert alone["tricks"] == [8, 0]
    assert len(alone["actions"]) == 4 + 8 * 3
