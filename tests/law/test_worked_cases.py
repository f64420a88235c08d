"""The worked cases of the rules page R, which settles open questions of the sources."""

import pytest
from support.law_tables import (
    BARRIE,
    CINCINNATI,
    CLUB,
    DOUBLE_DECK,
    SIMPLIFIED,
    SIX_CARD,
    STRAINS,
    VARIANTS,
    Table,
    in_games,
    one_bid,
    opening,
    play_hand,
    play_trick,
)

from bideuchre_env.errors import IllegalActionError

MOONS = ["bid moon", "bid double moon", "bid triple moon", "bid quadruple moon"]


def bid_by_seat_1(game, bid, tricks):
    """[points of seat 1's side, of the defenders] if seat 1 bids, leads and wins `tricks`."""
    return play_hand(game, one_bid(1, f"bid {bid}"), lead=1, tricks=tricks).hands[0]["points"][::-1]


def refused(table, *names):
    """Check that each of the actions raises an error and leaves the game unchanged.

    Return True if there are any.
    """
    before = table.record
    for name in names:
        with pytest.raises(IllegalActionError):
            table.do(name)
    assert table.record == before
    return bool(names)


def test_case_1_points_of_a_bid_and_a_moon():
    """R.58: "1. Cincinnati. Bid 4, five tricks: +5 / +1. Bid 4, three tricks: -4 / +3."
    R.59: "Moon, six: +12 / 0. Moon, five: -12 / +1."
    """
    assert bid_by_seat_1(CINCINNATI, 4, 5) == [5, 1]
    assert bid_by_seat_1(CINCINNATI, 4, 3) == [-4, 3]
    assert bid_by_seat_1(CINCINNATI, "moon", 6) == [12, 0]
    assert bid_by_seat_1(CINCINNATI, "moon", 5) == [-12, 1]


def test_case_1_points_of_higher_moons():
    """R.60: "Triple moon made from 0: +32, the game is won."
    R.61: "Quadruple moon failed with two lost: -48 / +2."
    """
    table = play_hand(CINCINNATI, [*MOONS[:3], "pass"], lead=2, tricks=0)
    hand = table.hands[0]
    assert (hand["declarer"], hand["contract"]) == (3, "triple moon NT")
    assert hand["score"] == [0, 32]
    assert table.over
    assert (table.record["winner"], table.record["outcome"]) == (1, "won")
    hand = play_hand(CINCINNATI, MOONS, lead=1, tricks=2).hands[0]
    assert (hand["declarer"], hand["contract"]) == (0, "quadruple moon NT")
    assert hand["points"] == [-48, 2]


@pytest.mark.parametrize(
    ("declarer", "out", "order"), [(3, 1, [2, 3, 0]), (2, 0, [1, 2, 3]), (1, 3, [1, 2, 0])]
)
def test_case_2_partner_of_a_moon_sits_out(declarer, out, order):
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


def test_case_3_forced_dealer_has_every_bid_and_no_pass():
    """R.65: "3. Cincinnati, three passes: the dealer has every bid a first bidder has, and no
    pass."
    """
    first = Table(CINCINNATI, dealer=0)
    bids = [name for name in first.legal if name != "pass"]
    table = first.do("pass", "pass", "pass")
    assert table.seat == 0
    assert table.legal == bids
    assert refused(table, "pass")


def test_case_4_order_of_the_ladder():
    """R.66: "4. Barrie. 8 H over 7 C; call-2 over 8; call-1 over call-2; moon over call-1."
    R.67: "call-2 S over call-2 C is illegal."
    R.68: "8 with partner, made: +8, not +12."
    """
    for ladder in (["7 C", "8 H", "call-2 D", "call-1 NT"], ["8 S", "call-2 H", "call-1 C"]):
        calls = [f"bid {bid}" for bid in ladder]
        calls += ["bid moon D"] * (4 - len(calls))
        table = Table(BARRIE, dealer=0).do(*calls)
        assert table.hands[0]["declarer"] == 0
        assert table.hands[0]["contract"] == calls[-1].removeprefix("bid ")
    table = Table(BARRIE, dealer=0).do("bid call-2 C")
    for _ in range(3):
        assert refused(table, "bid call-2 S", "bid call-2 NT")
        table.do("pass")
    assert bid_by_seat_1(BARRIE, 8, 8) == [8, 0]


@pytest.mark.parametrize("strain", STRAINS)
def test_case_5_dealer_may_equal_a_lone_bid(strain):
    """R.69: "5. Simplified. Over call-1 the dealer may say call-1 or moon in any strain and
    becomes declarer, may not say call-2;"
    """
    for bid in ("call-1", "moon"):
        table = Table(SIMPLIFIED, dealer=0).do("bid call-1 H", "pass", "pass")
        assert refused(table, f"bid call-2 {strain}")
        table.do(f"bid {bid} {strain}")
        assert table.hands[0]["declarer"] == 0
        assert table.hands[0]["contract"] == f"{bid} {strain}"


@pytest.mark.parametrize(("bid", "seats"), [("call-1", 2), ("5", 3)])
def test_case_5_no_other_bid_may_be_equalled(bid, seats):
    """R.70: "a seat that is not the dealer may not equal."
    R.71: "Over 5 nobody may equal."
    """
    table = Table(SIMPLIFIED, dealer=0).do(f"bid {bid} H")
    for _ in range(seats):
        assert refused(table, *(f"bid {bid} {strain}" for strain in STRAINS))
        table.do("pass")


@in_games(CLUB, DOUBLE_DECK, SIX_CARD)
def test_case_6_setting_a_bid_wins_at_any_total(game):
    """R.72: "6. `made_or_set`: a side at 51 takes 2 tricks against a bid that is made: 53, no
    win; it then sets a bid at any total of 52 or more: win."
    """
    n = game.rules.tricks
    calls = one_bid(1, "bid 3")
    table = play_hand(game, calls, lead=1, tricks=n - 2, score=(51, 0), target=52)
    assert table.hands[0]["score"] == [53, n - 2]
    assert not table.over
    assert table.sees(0)["phase"] == "auction"
    for was in ([53, n - 2], [52, 0], [50, 70]):
        after = play_hand(game, one_bid(1, f"bid {n}"), lead=1, tricks=n - 2, score=was, target=52)
        assert after.hands[0]["score"] == [was[0] + 2, was[1] - n]
        assert (after.record["winner"], after.record["outcome"]) == (0, "won")
    short = play_hand(game, one_bid(1, f"bid {n}"), lead=1, tricks=n - 2, score=(49, 70), target=52)
    assert not short.over


def test_case_6_setting_a_bid_does_not_win_under_made_bid():
    """R.73: "Under `made_bid` it does not win that way." """
    table = play_hand(BARRIE, one_bid(1, "bid 3"), lead=1, tricks=6, score=(51, 0))
    assert table.hands[0]["score"] == [53, 6]
    setting = play_hand(BARRIE, one_bid(1, "bid 8"), lead=1, tricks=6, score=(53, 6))
    assert setting.hands[0]["score"] == [55, -2]
    assert not setting.over


def test_case_7_first_of_two_equal_cards_wins():
    """R.74: "7. Double deck: the second right bower loses to the first."
    R.75: "Ace over an earlier identical ace: no."
    """
    assert play_trick(DOUBLE_DECK, "H", ["JH", "AH", "JH", "KH"]).seat == 0
    assert play_trick(DOUBLE_DECK, "H", ["AH", "JH", "KH", "JH"]).seat == 1
    assert play_trick(DOUBLE_DECK, "H", ["KS", "AS", "AS", "QS"]).seat == 1
    assert play_trick(DOUBLE_DECK, "NT", ["AS", "QS", "KS", "AS"]).seat == 0


@pytest.mark.parametrize(
    ("led", "hand", "legal"),
    [
        ("JD", "9H AD KD QD TD 9D AC KC QC JC AS KS", "9H"),
        ("AH", "JD AD KD QD TD 9D AC KC QC JC AS KS", "JD"),
        ("AD", "JD 9D AC KC QC JC TC 9C AS KS QS JS", "9D"),
        ("AD", "JD AH AC KC QC JC TC 9C AS KS QS JS", "JD AH AC KC QC JC TC 9C AS KS QS JS"),
    ],
)
def test_case_7_left_bower_follows_trump(led, hand, legal):
    """R.76: "Left bower led: trump must be followed."
    R.77: "Holding only the left bower when trump is led: it must be played."
    R.78: "When the left bower's printed suit is led it does not follow: a hand that holds
    another card of that suit must play that one and may not play the left bower;"
    R.79: "a hand with none may play anything."
    """
    table = Table(DOUBLE_DECK, dealer=3, hands={0: led, 1: hand})
    table.do(*opening(DOUBLE_DECK.rules, "H")).play(led)
    assert set(table.legal) == set(legal.split())
    others = set(hand.split()) - set(table.legal)
    assert refused(table, *others) == bool(others)


@in_games(*VARIANTS)
def test_case_8_jacks_are_plain_at_no_trump(game):
    """R.80: "8. No trump: jacks follow their printed suit and rank below the queen." """
    hands = {0: "KH", 1: "JH AC AS AD"}
    table = Table(game, dealer=3, hands=hands).do(*opening(game.rules, "NT")).play("KH")
    assert "JH" in table.legal
    assert {card[1] for card in table.legal} == {"H"}
    hands = {0: "KD", 1: "JH QD"}
    table = Table(game, dealer=3, hands=hands).do(*opening(game.rules, "NT")).play("KD")
    assert refused(table, "JH")
    assert play_trick(game, "NT", ["JH", "QH", "AS", "AC"]).seat == 1
    assert play_trick(game, "NT", ["QH", "JH", "JD", "AC"]).seat == 0


def test_case_9_points_of_a_bid_and_of_call_1():
    """R.81: "9. Simplified, bid 4, five tricks: +5 / +3. Bid 4, three tricks: -4 / +5."
    R.82: "call-1 failed with seven tricks: -18 / +1."
    """
    assert bid_by_seat_1(SIMPLIFIED, 4, 5) == [5, 3]
    assert bid_by_seat_1(SIMPLIFIED, 4, 3) == [-4, 5]
    assert bid_by_seat_1(SIMPLIFIED, "call-1", 7) == [-18, 1]
