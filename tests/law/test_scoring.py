"""Rules on scoring, and on playing alone: who sits out, how many tricks must be won, the score."""

import pytest
from support.law_tables import (
    BARRIE,
    BID_EUCHRE,
    CALLING,
    CINCINNATI,
    CLUB,
    DOUBLE_DECK,
    SIMPLIFIED,
    SIX_CARD,
    Table,
    in_games,
    one_bid,
    play_hand,
)

from bideuchre_env import Bid


def hand(game, bid, tricks, score=(0, 0), **options):
    """Play a hand in which seat 1 bids `bid` at no trump, leads and wins `tricks` tricks.

    Return the points of seat 1's side and of the defenders.
    """
    table = play_hand(game, one_bid(1, f"bid {bid}"), lead=1, tricks=tricks, score=score, **options)
    result = table.hands[0]
    assert result["tricks"] == [game.rules.tricks - tricks, tricks]
    assert result["score"] == [was + got for was, got in zip(score, result["points"], strict=True)]
    return result["points"][1], result["points"][0]


def partnered(game):
    low, high = game.rules.partnered
    return range(low, high + 1)


@pytest.mark.parametrize("bid", [3, 4, 5])
def test_cincinnati_a_made_bid_scores_its_tricks(bid):
    """S0.36: "3 | Capture 3 or more tricks as a team |"
    S0.37: "4 | Capture 4 or more tricks as a team |"
    S0.38: "5 | Capture 5 or more tricks as a team |"
    S0.49: "The team that wins the bid is responsible for capturing at least as many tricks as
    they bid."
    S0.63: "The team that did not win the bid, also known as the defending team, always gets
    one point for every trick they capture."
    S0.64: "3, 4, or 5 | Must capture at least 3, 4, or 5 tricks depending on the bid. | 1
    point per trick |"
    """
    for tricks in range(bid, 7):
        assert hand(CINCINNATI, bid, tricks) == (tricks, 6 - tricks)


@pytest.mark.parametrize("bid", [3, 4, 5])
def test_cincinnati_a_failed_bid_loses_its_value(bid):
    """S0.04: "If a player overestimates their abilities and fails to win enough tricks, their
    team will lose points equal to their bid."
    S0.51: "If they don’t, well, tougher luck. They’ll lose some points from their score."
    S0.69: "If my team doesn’t meet our bid, we lose that many points."
    """
    for tricks in range(bid):
        assert hand(CINCINNATI, bid, tricks) == (-bid, 6 - tricks)


def test_cincinnati_points_of_a_bid_of_four_and_of_a_moon():
    """S0.70: "For example, failing a bid of 4 means that we lose four points from our score."
    S0.71: "If we fail a bid of Moon, we lose 12 points."
    S0.50: "For example, if Team A wins the bid with a bid of 4, they have to grab four or more
    tricks."
    R.58: "1. Cincinnati. Bid 4, five tricks: +5 / +1. Bid 4, three tricks: -4 / +3."
    R.59: "Moon, six: +12 / 0. Moon, five: -12 / +1."
    """
    assert hand(CINCINNATI, 4, 5) == (5, 1)
    assert hand(CINCINNATI, 4, 3, score=(10, 10)) == (-4, 3)
    assert hand(CINCINNATI, "moon", 6) == (12, 0)
    assert hand(CINCINNATI, "moon", 5, score=(10, 10)) == (-12, 1)


def test_cincinnati_negative_score():
    """S0.72: "And yes, it’s possible for us to end up with a negative score." """
    table = play_hand(CINCINNATI, one_bid(1, "bid 5"), lead=1, tricks=4, score=(3, 2))
    assert table.hands[0]["score"] == [5, -3]
    table = play_hand(CINCINNATI, one_bid(1, "bid moon"), lead=1, tricks=4, score=(-500, -200))
    assert table.hands[0]["score"] == [-498, -212]
    assert not table.over


@in_games(SIMPLIFIED, *BID_EUCHRE)
def test_a_made_bid_scores_its_tricks(game):
    """S2.06, S4.34: "If the bidding side win at least as many tricks as they bid, each side
    scores one point for each trick they won."
    S3.22: "If the bidding side win at least as many tricks as they bid: each side scores one
    point for each trick they won."
    S1.33: "Each team scores one point for each trick their team takes."
    R.09: "made | 1 point a trick; lone: its value | same | same | same | same | same |"
    R.11: "defenders | 1 point a trick, always | same | same | same | same | same |"
    """
    n = game.rules.tricks
    for bid in partnered(game):
        for tricks in {bid, min(bid + 1, n), n}:
            assert hand(game, bid, tricks) == (tricks, n - tricks)


@in_games(SIMPLIFIED, *BID_EUCHRE)
def test_a_set_bid_loses_its_value(game):
    """S2.05, S4.35: "If the bidding side fail to make as many tricks as they bid they are set,
    and lose a number of points equal to the number of tricks they bid."
    S2.04, S3.24, S4.36: "The other side still score one point for each trick they won."
    S3.23: "If the bidding side fail to make as many tricks as they bid: lose a number of
    points equal to the number of tricks they bid."
    R.10: "failed | minus the bid; lone: minus its value | same | same | same | same | same |"
    R.11: "defenders | 1 point a trick, always | same | same | same | same | same |"
    """
    n = game.rules.tricks
    for bid in partnered(game):
        for tricks in {0, bid // 2, bid - 1}:
            assert hand(game, bid, tricks) == (-bid, n - tricks)


@in_games(*BID_EUCHRE)
def test_overall_score_may_be_negative(game):
    """S2.03, S3.25, S4.37: "It is possible for a team's overall score to be negative."
    R.23: "Totals may go negative without a floor."
    """
    table = play_hand(game, one_bid(1, "bid 4"), lead=1, tricks=3, score=(-1, 3))
    assert table.hands[0]["score"] == [game.rules.tricks - 4, -1]
    table = play_hand(game, one_bid(1, "bid 4"), lead=1, tricks=3, score=(-300, -300))
    assert table.hands[0]["score"][1] == -304
    assert table.sees(1)["score"][0] < 0


def test_simplified_examples_of_a_bid_of_four_and_of_call_1():
    """S1.34: "Example. A winning bid of four, the declarer takes five tricks. The declarers
    team scores five points the opposition scores three points."
    S1.35: "Should the declarer score 3 tricks or less in the above example (does not make
    their bid) the declarer's team would lose the number of tricks they had bid, in this case a
    four point loss."
    S1.36: "The opposition scores one point for each trick they've taken - five points."
    R.81: "9. Simplified, bid 4, five tricks: +5 / +3. Bid 4, three tricks: -4 / +5."
    R.82: "call-1 failed with seven tricks: -18 / +1."
    """
    assert hand(SIMPLIFIED, 4, 5) == (5, 3)
    assert hand(SIMPLIFIED, 4, 3) == (-4, 5)
    assert hand(SIMPLIFIED, "call-1", 7) == (-18, 1)


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
    S0.44: "But if you’re feeling really confident, you can bid Double Moon, Triple Moon, or
    even Quadruple Moon for even higher scores."
    R.09: "made | 1 point a trick; lone: its value | same | same | same | same | same |"
    R.60: "Triple moon made from 0: +32, the game is won."
    """
    table, side = moon(k, 6), k % 2
    hand = table.hands[0]
    assert table.record["winner"] == (side if VALUES[k - 1] >= 32 else None)
    assert hand["contract"] == f"{MOONS[k - 1].removeprefix('bid ')} NT"
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
    R.61: "Quadruple moon failed with two lost: -48 / +2."
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
    R.68: "8 with partner, made: +8, not +12."
    """
    table = Table(game, dealer=0).do(*one_bid(1, "bid 8 NT"))
    assert table.sees(0)["sitting_out"] is None
    hand = play_hand(game, one_bid(1, "bid 8"), lead=1, tricks=8).hands[0]
    assert hand["points"] == [0, 8]
    assert len(hand["actions"]) == 4 + 32
