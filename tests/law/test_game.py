"""Rules on the game: the next dealer, the end of a game and its winner."""

import pytest
from support.law_tables import (
    BARRIE,
    CINCINNATI,
    CLUB,
    DOUBLE_DECK,
    GENERAL,
    SIMPLIFIED,
    SIX_CARD,
    VARIANTS,
    Table,
    in_games,
    opening,
    play_hand,
)


def after(game, bid, tricks, score, declarer=1, **options):
    """A game after a hand in which seat `declarer` bids `bid`, leads and wins `tricks` tricks."""
    dealer = (declarer + 3) % 4
    calls = [f"bid {bid}", "pass", "pass", "pass"]
    return play_hand(
        game, calls, lead=declarer, tricks=tricks, dealer=dealer, score=score, **options
    )


def result(table):
    """Return winner and outcome of the record; check that PettingZoo's attributes agree."""
    record = table.record
    winner, outcome = record["winner"], record["outcome"]
    assert table.over == (outcome != "unfinished")
    assert all(table.env.terminations.values()) == (outcome in ("won", "drawn"))
    assert all(table.env.truncations.values()) == (outcome == "truncated")
    if table.over:
        rewards = [table.env.rewards[f"player_{seat}"] for seat in range(4)]
        plus = [0, 0] if winner is None else [1 - 2 * winner, 2 * winner - 1]
        assert rewards == plus * 2
    return winner, outcome


UNFINISHED = (None, "unfinished")


@in_games(*VARIANTS)
def test_deal_passes_to_the_left(game):
    """S0.73, S0.76: "We’ll pass the dealing to the left after each round."
    S1.06: "A round consists of each player being the dealer one time."
    R.21: "The deal passes to the left."
    """
    options = {"rounds": 3} if game is SIMPLIFIED else {"target": 500}
    table = Table(game, dealer=2, **options)
    for n in range(9):
        assert table.hands[-1]["dealer"] == (2 + n) % 4
        table.do(*opening(game.rules, "S"))
        table.settle()


@pytest.mark.parametrize("declarer", range(4))
def test_cincinnati_ends_at_thirty_two(declarer):
    """S0.74, S0.77: "We’ll keep playing until one team reaches 32 points or more."
    S0.75, S0.78: "That’s when we know we’ve won!"
    R.12: "game ends | a side at 32 or more | `rounds` x 4 played hands (default 1); most
    points wins, equal = draw | target 52, `made_or_set` | target 52, `made_bid`;
    `win_rule="any"` is S4's second version | target 32, `made_or_set` | target 52,
    `made_or_set` |"
    """
    side = declarer % 2
    score = [0, 0]
    score[side] = 27
    assert result(after(CINCINNATI, 3, 4, score, declarer)) == UNFINISHED
    assert result(after(CINCINNATI, 3, 5, score, declarer)) == (side, "won")
    assert result(after(CINCINNATI, 3, 6, score, declarer)) == (side, "won")


def test_cincinnati_defenders_may_win():
    """S0.05: "The first team to score 32 points or more wins the game!" """
    assert result(after(CINCINNATI, 3, 4, (30, 0))) == (0, "won")
    assert result(after(CINCINNATI, 3, 5, (30, 0))) == UNFINISHED
    assert result(after(CINCINNATI, 5, 4, (30, 31))) == (0, "won")


def test_declarer_wins_with_both_sides_at_the_target_or_the_highest_total():
    """R.40: "both sides at the target after the same hand under `any`. `declarer`: the
    declaring side counts first and wins."
    R.41: "`highest`: the higher total wins, equal totals are a draw."
    """
    assert result(after(CINCINNATI, 3, 4, (30, 28))) == (1, "won")
    assert result(after(CINCINNATI, 3, 3, (40, 29))) == (1, "won")
    highest = {"win_rule": "any", "both_over": "highest"}
    assert result(after(CINCINNATI, 3, 4, (30, 28), **highest)) == (None, "drawn")
    assert result(after(CINCINNATI, 3, 4, (31, 28), **highest)) == (0, "won")
    assert result(after(CINCINNATI, 3, 4, (30, 29), **highest)) == (1, "won")
    assert result(after(BARRIE, 3, 5, (49, 47), **highest)) == (None, "drawn")
    assert result(after(BARRIE, 3, 5, (50, 47), **highest)) == (0, "won")


def test_both_sides_at_the_target_play_on_when_equal():
    """R.42: "`continue`: the higher total wins, equal totals play on, hand by hand, until one
    side is at the target and ahead (so 8 to 10 at target 8 ends the game; 10 to 10 does not)."
    """
    on = {"both_over": "continue"}
    assert result(after(CINCINNATI, 3, 4, (6, 6), target=8, **on)) == (1, "won"), "8 to 10"
    assert result(after(CINCINNATI, 3, 4, (8, 6), target=8, **on)) == UNFINISHED, "10 to 10"
    assert result(after(CINCINNATI, 3, 4, (31, 28), **on)) == (0, "won"), "not the declarer's side"
    assert result(after(CINCINNATI, 3, 4, (29, 28), **on)) == (1, "won"), "one side is there"
    assert result(after(CINCINNATI, 5, 4, (30, 34), **on)) == (0, "won"), "the other fell back"
    table = after(CINCINNATI, 3, 3, (40, 40), declarer=1, **on)
    assert table.hands[0]["score"] == [43, 43]
    assert result(table) == UNFINISHED
    table.do("bid 4", "pass", "pass", "pass").settle()
    (a, b), end = table.hands[1]["score"], result(table)
    assert a != b
    assert end == (int(b > a), "won")


def test_under_made_bid_only_the_side_that_made_its_bid_wins():
    """S4.11: "the winners are the first team who achieve a score of 52 or more points at the end
    of a hand on which they won a bid;"
    R.38: "`made_bid`: only a side that made its own bid in this hand can win."
    R.73: "Under `made_bid` it does not win that way."
    """
    assert result(after(BARRIE, 4, 5, (0, 47))) == (1, "won")
    assert result(after(BARRIE, 4, 4, (0, 47))) == UNFINISHED
    assert result(after(BARRIE, 4, 4, (60, 47))) == UNFINISHED, "without a bid of its own"
    assert result(after(BARRIE, 4, 3, (49, 70))) == UNFINISHED, "a bid lost, and the other's set"
    assert result(after(BARRIE, 1, 5, (60, 60))) == (1, "won")


def test_under_any_a_side_at_the_target_wins():
    """S4.12: "the winners are the first team to reach a score 52 or more points, irrespective
    of whether they finish by winning a bid."
    S4.10: "The game is 52 points."
    """
    any_way = {"win_rule": "any"}
    assert result(after(BARRIE, 4, 5, (0, 47), **any_way)) == (1, "won")
    assert result(after(BARRIE, 4, 5, (49, 0), **any_way)) == (0, "won")
    assert result(after(BARRIE, 4, 3, (47, 0), **any_way)) == (0, "won")
    assert result(after(BARRIE, 4, 5, (48, 46), **any_way)) == UNFINISHED


@in_games(CLUB, *GENERAL)
def test_target_by_a_bid_made_or_set(game):
    """S2.02, S4.39: "A team wins if at the end of a hand in which they succeed in a bid, or
    defeat the opponents' bid, their score is equal to or above the target."
    S4.38: "Games are played to a target score."
    """
    target = 32 if game is SIX_CARD else 52
    n = game.rules.tricks
    assert result(after(game, 3, 4, (0, target - 4))) == (1, "won")
    assert result(after(game, 3, 4, (0, target - 5))) == UNFINISHED
    assert result(after(game, 3, 2, (target - (n - 2), 0))) == (0, "won")
    assert result(after(game, 3, 2, (target - (n - 2) - 1, 0))) == UNFINISHED
    assert result(after(game, 3, 2, (target - (n - 2), 90))) == (0, "won")
    assert result(after(game, 3, 2, (0, 90))) == UNFINISHED


@in_games(CLUB, *GENERAL)
def test_the_tricks_of_defenders_of_a_made_bid_do_not_win(game):
    """S2.01, S4.40: "You cannot win by reaching the target by means of odd tricks made as the
    opponents of a successful bid."
    S4.41: "If you reach the target in this way, the game continues until either team fulfills
    the winning condition."
    R.39: "`made_or_set`: also a side that set the opponents."
    R.72: "6. `made_or_set`: a side at 51 takes 2 tricks against a bid that is made: 53, no
    win; it then sets a bid at any total of 52 or more: win."
    """
    target = 32 if game is SIX_CARD else 52
    n = game.rules.tricks
    table = after(game, 3, n - 2, (target - 1, 0), declarer=1)
    assert table.hands[0]["score"][0] == target + 1
    assert result(table) == UNFINISHED
    assert len(table.hands) == 2
    assert table.sees(0)["phase"] == "auction"
    side_0_bids = after(game, 3, 3, (target + 1, 0), declarer=0)
    assert result(side_0_bids) == (0, "won")
    side_1_fails = after(game, 3, 2, (target + 1, 0), declarer=1)
    assert result(side_1_fails) == (0, "won")
    side_0_fails = after(game, 5, 4, (target + 1, 0), declarer=0)
    assert result(side_0_fails) == UNFINISHED


def test_a_game_of_rounds_ends_after_four_hands_each():
    """S1.05: "Players will first agree that a game will consist of either 1, 2, or 3 rounds
    etc."
    S1.07: "Therefore, four hands makes one round."
    """
    for rounds in (1, 2, 3):
        table = Table(SIMPLIFIED, dealer=1, rounds=rounds, seed=rounds)
        for n in range(4 * rounds):
            assert not table.over, n
            table.do("bid 2 H", "pass", "pass", "pass")
            table.settle()
        assert table.over
        dealers = [hand["dealer"] for hand in table.hands]
        assert dealers == [1, 2, 3, 0] * rounds
    standard = Table(SIMPLIFIED)
    for _ in range(4):
        standard.do("bid 2 H", "pass", "pass", "pass").settle()
    assert standard.over


def one_round(score):
    table = Table(SIMPLIFIED, dealer=0, seed=3, score=score)
    for _ in range(4):
        table.do("bid 2 H", "pass", "pass", "pass").settle()
    return table


def test_most_points_wins():
    """S1.50: "The team with the most points at the end of the agreed number of rounds wins." """
    a, b = one_round((0, 0)).hands[-1]["score"]
    assert a != b
    assert result(one_round((0, 0))) == (int(b > a), "won")
    assert result(one_round((b, a + 1))) == (1, "won")
    assert result(one_round((b + 1, a))) == (0, "won")
    assert result(one_round((b, a))) == (None, "drawn")
    assert result(one_round((-1000, -2000))) == (0, "won")
    assert result(one_round((1000, 2000))) == (1, "won")


def test_passed_out_hands_do_not_count_for_rounds():
    """R.31: "A passed-out hand scores nothing and does not count as played for `rounds`." """
    table = Table(SIMPLIFIED, dealer=0)
    for _ in range(4):
        table.do(*["pass"] * 4)
        assert not table.over
        table.do("bid 2 H", "pass", "pass", "pass").settle()
    assert table.over
    assert len(table.hands) == 8
    assert [hand["dealer"] for hand in table.hands] == [0, 0, 1, 1, 2, 2, 3, 3]


@in_games(*VARIANTS)
def test_truncated_after_max_hands(game):
    """R.45: "deals (passed-out ones included) after which the game is truncated." """
    options = {"win_rule": "made_bid", "target": 10**6, "all_pass": "redeal_next"}
    table = Table(game, max_hands=3, **options)
    table.do(*["pass"] * 4)
    assert result(table) == UNFINISHED
    table.do(*opening(game.rules, "H")).settle()
    assert result(table) == UNFINISHED
    table.do(*["pass"] * 4)
    assert result(table) == (None, "truncated")
    assert len(table.hands) == 3
    hundred = Table(game, **options)
    for _ in range(100):
        assert not hundred.over
        hundred.do(*["pass"] * 4)
    assert result(hundred) == (None, "truncated")


def test_last_hand_may_still_win():
    """R.45: "deals (passed-out ones included) after which the game is truncated." """
    assert result(after(BARRIE, 4, 5, (0, 47), max_hands=1)) == (1, "won")
    assert result(after(BARRIE, 4, 4, (0, 47), max_hands=1)) == (None, "truncated")


def test_the_target_can_be_chosen():
    """R.43: "`target`, `rounds` | int >= 1" """
    assert result(after(CINCINNATI, 3, 3, (0, 0), target=3)) == (1, "won")
    assert result(after(CINCINNATI, 3, 3, (0, 0), target=4)) == UNFINISHED
    assert result(after(DOUBLE_DECK, 3, 9, (0, 91), target=100)) == (1, "won")
    assert result(after(DOUBLE_DECK, 3, 8, (0, 91), target=100)) == UNFINISHED
