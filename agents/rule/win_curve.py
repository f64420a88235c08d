"""Value of points: the chance to win the game after this hand's points.

The chance is a logistic curve of the lead, whose width grows with the hands still to be played; at
the target and the floor the rules themselves decide. An agent that plays for points
(`view.for_points`) ignores the score: every point has the same value.
"""

from __future__ import annotations

from math import exp, sqrt

from bideuchre_env.core.phases.scoring import DECLARER_WINS, DRAW, NO_WINNER, result_of_game
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.tables import MADE_BID
from bideuchre_env.runtime.jit import kernel

SWING = 0.9  # spread of a hand's points between the sides, per trick of the hand
PACE = 0.6  # points a side makes in a hand, per trick of the hand
CERTAIN = 0.98  # the highest chance before the game is won
HURRY = 12.0  # time constant, in deals, to turn a lead into a win
PATIENCE = 30.0  # the same for a side past the target that must still make a bid
FAR = 40.0  # a gap to the target that takes many hands
POINT = 0.003  # value of a point in itself: prevents reckless bids in a lost game
POINT_ALONE = 0.01  # value of a point if points are the goal


@kernel
def logistic(x: float) -> float:
    """Return the logistic function of x, 0.5 at 0."""
    if x > 30.0:
        return 1.0
    return 0.0 if x < -30.0 else 1.0 / (1.0 + exp(-x))


@kernel
def lead_chance(lead: float, tricks: float, hands: float) -> float:
    """Return the chance that a lead of `lead` points remains a lead after `hands` more hands.

    `tricks` is the number of tricks of a hand.
    """
    return logistic(1.7 * lead / (SWING * tricks * sqrt(hands)))


@kernel
def read_time(view: View) -> None:
    """Write `view.turning`: the chances that a lead becomes a win before the last deal.

    [1] is for a side past the target that must still make a bid, [0] for all other cases.
    """
    left = float(view.hands_left - 1)
    view.turning[0] = 1.0 - exp(-left / HURRY)
    view.turning[1] = 1.0 - exp(-left / PATIENCE)


@kernel
def worth(view: View, t: Tables, ours: float, theirs: float, us_declare: bool, made: bool) -> float:
    """Return the value to us of a hand with these points, for bidding.

    It is our chance to win the game, plus a little for the points. A game to a target that is won
    counts the same whatever the points: as much as a hand of all tricks. For points as the goal,
    the value is only the point difference. `us_declare` and `made`: whether we declared, and
    whether the bid was made. `read_time` must have been called for this view.
    """
    if view.for_points:
        return POINT_ALONE * (ours - theirs)
    chance, points = win_chance(view, t, ours, theirs, us_declare, made), ours - theirs
    if chance >= 1.0 and view.rounds == 0:
        points = float(t.tricks)
    return chance + POINT * points


@kernel
def final_chance(
    t: Tables, us_to_go: float, them_to_go: float, us_declare: bool, made: bool
) -> float:
    """Return 1.0 for our win, 0.0 for a loss, 0.5 for a draw; -1.0 if the game is not over.

    `us_to_go` and `them_to_go` are the points to the target after a hand, 0 or less at or past it.
    """
    if us_declare:
        result = result_of_game(t, -us_to_go, -them_to_go, made)
    else:
        result = result_of_game(t, -them_to_go, -us_to_go, made)
    if result == NO_WINNER:
        return -1.0
    if result == DRAW:
        return 0.5
    return 1.0 if (result == DECLARER_WINS) == us_declare else 0.0


@kernel
def floor_chance(
    view: View, t: Tables, ours: float, theirs: float, us_declare: bool, made: bool
) -> float:
    """Return `final_chance` of a game of a fixed number of hands, of which some are left.

    Only a score at the floor ends such a game early. The other arguments are those of `win_chance`.
    """
    us_to_go = t.target - view.score[0] - ours
    return final_chance(t, us_to_go, t.target - view.score[1] - theirs, us_declare, made)


@kernel
def win_chance(
    view: View, t: Tables, ours: float, theirs: float, us_declare: bool, made: bool
) -> float:
    """Return our chance to win the game after a hand of `ours` and `theirs` points; a draw is 0.5.

    `read_time` must have been called for this view.
    """
    tricks = float(t.tricks)
    left = float(view.hands_left - 1)
    if view.rounds == 1:
        lead = float(view.score[0] - view.score[1]) + ours - theirs
        if left <= 0.0:
            return 0.5 if lead == 0.0 else (1.0 if lead > 0.0 else 0.0)
        chance = floor_chance(view, t, ours, theirs, us_declare, made)
        return chance if chance >= 0.0 else lead_chance(lead, tricks, left)
    gap_us, gap_them = float(view.to_go[0]) - ours, float(view.to_go[1]) - theirs
    chance = final_chance(t, gap_us, gap_them, us_declare, made)
    if chance >= 0.0:
        return chance
    if left <= 0.0:
        return 0.5  # truncated: neither side wins
    # a lead must become a win before the last deal; that takes longest if we can win only by
    # making a bid, against a side that keeps overbidding
    waiting = t.win_rule == MADE_BID and gap_us <= 0.0 and gap_them > FAR
    chance_to_turn = float(view.turning[1 if waiting else 0])
    gap_us, gap_them = max(gap_us, 1.0), max(gap_them, 1.0)
    hands = 0.5 + min(gap_us, gap_them) / (PACE * tricks)
    chance = lead_chance(gap_them - gap_us, tricks, hands)
    return 0.5 + (min(chance, CERTAIN) - 0.5) * chance_to_turn
