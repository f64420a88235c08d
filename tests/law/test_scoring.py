"""Rules on the points of a hand."""

import pytest
from support.law_tables import (
    BARRIE,
    BID_EUCHRE,
    CINCINNATI,
    SIMPLIFIED,
    VARIANTS,
    Table,
    in_games,
    one_bid,
    play_hand,
)


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
    """The numbers of tricks of the bids with partner."""
    low, high = game.rules.partnered
    return range(low, high + 1)


@pytest.mark.parametrize("bid", [3, 4, 5])
def test_cincinnati_a_made_bid_scores_its_tricks(bid):
    """S0.36: "3 | Capture 3 or more tricks as a team |"
    S0.37: "4 | Capture 4 or more tricks as a team |"
    S0.38: "5 | Capture 5 or more tricks as a team |"
    S0.49: "The team that wins the bid is responsible for capturing at least as many tricks as
    they bid."
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


def test_cincinnati_failing_a_bid_of_four():
    """S0.70: "For example, failing a bid of 4 means that we lose four points from our score."
    S0.71: "If we fail a bid of Moon, we lose 12 points."
    S0.50: "For example, if Team A wins the bid with a bid of 4, they have to grab four or more
    tricks."
    """
    assert hand(CINCINNATI, 4, 3, score=(10, 10)) == (-4, 3)
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


def test_simplified_examples_of_a_bid_of_four():
    """S1.34: "Example. A winning bid of four, the declarer takes five tricks. The declarers
    team scores five points the opposition scores three points."
    S1.35: "Should the declarer score 3 tricks or less in the above example (does not make
    their bid) the declarer's team would lose the number of tricks they had bid, in this case a
    four point loss."
    S1.36: "The opposition scores one point for each trick they've taken - five points."
    """
    assert hand(SIMPLIFIED, 4, 5) == (5, 3)
    assert hand(SIMPLIFIED, 4, 3) == (-4, 5)


@in_games(*VARIANTS)
def test_defenders_always_score_their_tricks(game):
    """R.11: "defenders | 1 point a trick, always | same | same | same | same | same |"
    S0.63: "The team that did not win the bid, also known as the defending team, always gets
    one point for every trick they capture."
    """
    name = game.rules.ladder[-1].name
    n = game.rules.tricks
    low = game.rules.partnered[0]
    assert hand(game, low, n - 1)[1] == 1
    assert hand(game, low, 0)[1] == n
    if name == "moon":
        assert hand(game, name, 6)[1] == n - 6


def test_total_is_the_sum_of_the_hands():
    """R.23: "Totals may go negative without a floor." """
    table = Table(BARRIE, dealer=0, seed=11)
    total = [0, 0]
    for _ in range(6):
        if table.over:
            break
        table.do(f"bid {1 + len(table.hands) % 3} H", "pass", "pass", "pass")
        result = table.settle()
        total = [was + got for was, got in zip(total, result["points"], strict=True)]
        assert result["score"] == total
    assert total[0] != total[1]
