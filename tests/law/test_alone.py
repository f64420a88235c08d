"""Rules on playing alone: who sits out, how many tricks must be won, and the score."""

import pytest
from support.law_tables import (
    BARRIE,
    CALLING,
    CINCINNATI,
    CLUB,
    DOUBLE_DECK,
    SIX_CARD,
    Table,
    in_games,
    one_bid,
    play_hand,
)

from bideuchre_env import Bid

MOONS = ["bid moon", "bid double moon", "bid triple moon", "bid quadruple moon"]
VALUES = [12, 24, 32, 48]


def moon(k, tricks):
    """Play a hand in which the declarer of a k-fold moon wins `tricks` tricks; return the table.

    Seat 0 deals. The first k callers bid the moons in order, so the k-th declares.
    """
    declarer = k % 4
    lead = 2 if declarer == 3 else 1
    calls = [*MOONS[:k], *["pass"] * (4 - k)]
    won = tricks if lead == declarer else 6 - tricks
    return play_hand(CINCINNATI, calls, lead=lead, tricks=won)


def lone(game, name, tricks):
    """Play a hand in which seat 1 makes the lone bid `name` and wins `tricks` of eight tricks.

    Return the points of seat 1's side and of the defenders.
    """
    hand = play_hand(game, one_bid(1, f"bid {name}"), lead=1, tricks=tricks).hands[0]
    assert hand["contract"] == f"{name} NT"
    assert hand["tricks"] == [8 - tricks, tricks]
    return hand["points"][1], hand["points"][0]


@pytest.mark.parametrize("k", range(1, 5))
def test_a_moon_with_all_tricks_wins_its_value(k):
    """S0.43: "It means capturing all six tricks alone and earning a whopping 12 points!"
    S0.65: "Moon | Must capture 6 tricks without a partner. | 12 points |"
    S0.66: "Double Moon | Must capture 6 tricks without a partner. | 24 points |"
    S0.67: "Triple Moon | Must capture 6 tricks without a partner. | 32 points |"
    S0.68: "Quadruple Moon | Must capture 6 tricks without a partner. | 48 points |"
    S0.32: "So, if they win, their points will be doubled."
    R.09: "made | 1 point a trick; lone: its value | same | same | same | same | same |"
    """
    hand = moon(k, 6).hands[0]
    side = k % 2
    assert hand["tricks"][side] == 6
    assert hand["points"][side] == VALUES[k - 1]
    assert hand["points"][1 - side] == 0
    assert hand["score"] == hand["points"]


@pytest.mark.parametrize("tricks", range(6))
@pytest.mark.parametrize("k", range(1, 5))
def test_a_moon_with_fewer_tricks_loses_its_value(k, tricks):
    """S0.40: "Double Moon | Capture 6 tricks alone (24 points) |"
    S0.41: "Triple Moon | Capture 6 tricks alone (32 points) |"
    S0.42: "Quadruple Moon | Capture 6 tricks alone (48 points) |"
    R.10: "failed | minus the bid; lone: minus its value | same | same | same | same | same |"
    """
    hand = moon(k, tricks).hands[0]
    side = k % 2
    assert hand["tricks"][side] == tricks
    assert hand["points"][side] == -VALUES[k - 1]
    assert hand["points"][1 - side] == 6 - tricks


@pytest.mark.parametrize("k", range(1, 5))
def test_cincinnati_moon_is_played_without_the_partner(k):
    """S0.28: "But if a player goes for the Moon, they have to play the round without their
    partner’s help."
    S0.39: "Moon | Capture 6 tricks alone (12 points) |"
    """
    table = moon(k, 6)
    hand = table.hands[0]
    assert len(hand["actions"]) == 4 + 1 + 18
    partner = (k + 2) % 4
    for card in hand["deal"][partner]:
        assert card not in hand["actions"]


@in_games(*CALLING)
@pytest.mark.parametrize("name", ["call-2", "call-1", "moon"])
def test_the_partner_takes_no_part_in_the_play(game, name):
    """S1.24, S1.27, S1.29, S1.40, S1.42: "The partner does not play."
    S3.12: "Play alone – no partner"
    R.19: "Lone hand: the declarer's partner sits out (three cards to a trick) and every trick
    must be won."
    """
    table = Table(game, dealer=0).do(*one_bid(1, f"bid {name} H"))
    while table.sees(0)["phase"] != "play":
        table.do(table.legal[0])
    assert table.sees(0)["sitting_out"] == 3
    seats = []
    while len(table.hands) == 1:
        seats.append(table.seat)
        table.do(table.legal[0])
    assert len(seats) == 24
    assert set(seats) == {0, 1, 2}
    for n in range(0, 24, 3):
        assert set(seats[n : n + 3]) == {0, 1, 2}
        order = seats[n : n + 3]
        assert order in ([0, 1, 2], [1, 2, 0], [2, 0, 1])


@in_games(SIX_CARD, DOUBLE_DECK)
def test_lone_bids_can_be_added_to_a_game(game):
    """S2.15: "In some versions there are additional bids to play alone in which case your
    partner puts his or her cards face down and takes no part in the play."
    S4.25: "In some versions there are additional bids to play alone; in which case your
    partner puts his or her cards face down and takes no part in the play."
    """
    bids = (Bid("call-3", value=9, exchange=3), Bid("solo", value=20))
    table = Table(game, dealer=0, lone=bids)
    assert f"bid {game.rules.tricks} H" in table.legal
    table.do(*one_bid(1, "bid solo H"))
    assert table.sees(0)["sitting_out"] == 3
    for _ in range(game.rules.tricks):
        assert {table.seat for _ in range(3) if table.do(table.legal[0])} <= {0, 1, 2}
    assert table.hands[0]["points"][1] in (20, -20)
    calling = Table(game, dealer=0, lone=bids).do(*one_bid(1, "bid call-3 H"))
    for seat in (1, 1, 1, 3, 3, 3):
        assert calling.seat == seat
        calling.do(calling.legal[0])
    assert calling.seat == 1
    assert calling.sees(1)["phase"] == "play"
    without = Table(game)
    assert not [bid for bid in without.legal if bid != "pass" and not bid.split()[1].isdigit()]


@in_games(*CALLING)
@pytest.mark.parametrize("tricks", range(9))
def test_lone_bid_wins_its_value_with_all_tricks_and_loses_it_with_fewer(game, tricks):
    """S1.37: "A successful winning bid of eight tricks and the declarer plays alone, with no
    card exchange, scores 24 points."
    S1.39: "A successful winning bid of eight tricks and the declarer exchanged one card,
    scores 18 points."
    S1.41: "A successful winning bid of eight tricks and the declarer exchanged two cards,
    scores 12 points."
    S3.26, S4.06: "call for 2 cards: 12 points"
    S3.27, S4.07: "call for 1 card: 18 points"
    S3.28, S4.08: "moon: 24 points"
    S1.43: "Should a bid of 8 be unsuccessful, the team would lose the number of points they
    would have received had they won; 24, 18, or 12."
    S1.44: "The opposition will score one point for each trick they've taken."
    S3.29: "LOSE EQUAL AMOUNT IF YOU FAIL"
    S3.30, S4.09: "You win this amount if you take all 8 tricks and lose an equal amount if you
    fail."
    """
    sign = 1 if tricks == 8 else -1
    assert lone(game, "call-2", tricks) == (sign * 12, 8 - tricks)
    assert lone(game, "call-1", tricks) == (sign * 18, 8 - tricks)
    assert lone(game, "moon", tricks) == (sign * 24, 8 - tricks)


@in_games(*CALLING)
def test_moon_is_all_eight_with_the_cards_dealt(game):
    """S1.25: "If successful this is called over the Moon."
    S1.38: "This is called over the Moon."
    S3.13: "Play alone and don't ask for any cards from your partner [Moon]"
    """
    table = Table(game, dealer=0).do("bid moon S")
    while table.seat != 0:
        table.do("pass")
    table.do("pass")
    assert table.sees(1)["phase"] == "play"
    assert table.seat == 1
    assert sorted(table.legal) == sorted(set(table.hands[0]["deal"][1]))
    assert sorted(table.sees(1)["hand"]) == sorted(table.hands[0]["deal"][1])
    assert lone(game, "moon", 8) == (24, 0)
    assert lone(game, "moon", 7) == (-24, 1)


@in_games(BARRIE, CLUB)
def test_eight_with_a_partner_is_no_lone_bid(game):
    """S4.04: "A bid to play alone is higher than a bid with a partner, and a bid calling for one
    card is higher than a bid calling for two."
    """
    table = Table(game, dealer=0).do(*one_bid(1, "bid 8 NT"))
    assert table.sees(0)["sitting_out"] is None
    hand = play_hand(game, one_bid(1, "bid 8"), lead=1, tricks=8).hands[0]
    assert hand["points"] == [0, 8]
    assert len(hand["actions"]) == 4 + 32
