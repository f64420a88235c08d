"""The points of a hand and the end of a game."""

from __future__ import annotations

from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import DEAL, DRAWN, OVER, TRUNCATED, WON
from bideuchre_env.core.tables import (
    BOTH_CONTINUE,
    BOTH_DECLARER,
    MADE_BID,
    MADE_OR_SET,
    ROUNDS,
)
from bideuchre_env.runtime.jit import kernel

NO_WINNER, DEFENDERS_WIN, DECLARER_WINS, DRAW = -1, 0, 1, 2


@kernel
def end_hand(s: State, t: Tables) -> None:
    """Score the hand, unless it was passed out, and end the game if it is over.

    It is over if it is won or drawn, or if it has reached its limit of deals (truncated).
    """
    winner = NO_WINNER
    if s.level >= 0:
        score_hand(s, t)
        s.hands_played += 1
        winner = game_winner(s, t)
    s.phase = DEAL if winner == NO_WINNER else OVER
    if winner == DRAW:
        s.outcome = DRAWN
    elif winner != NO_WINNER:
        s.outcome = WON
        s.winner = winner
    elif s.hands_dealt >= t.max_hands:
        s.phase = OVER
        s.outcome = TRUNCATED


@kernel
def score_hand(s: State, t: Tables) -> None:
    """Write both sides' points of the hand, and add them to the score.

    The declarer's side gets the points of the contract, negative if it was set.
    """
    side = s.declarer & 1
    s.points[side] = t.payoff[s.level, s.tricks_won[side]]
    s.points[1 - side] = t.others[s.level, s.tricks_won[side]]
    s.score[0] += s.points[0]
    s.score[1] += s.points[1]


@kernel
def played_points(t: Tables, level: int, won: int, ours: bool) -> tuple[int, int, bool]:
    """Return (our points, their points, whether the contract is made) after a hand.

    The declarer's side wins `won` tricks of a contract at this level. `ours` is whether the
    declarer is on our side.
    """
    bid, others = t.payoff[level, won], t.others[level, won]
    done = won >= t.need[level]
    return (bid, others, done) if ours else (others, bid, done)


@kernel
def made(s: State, t: Tables) -> bool:
    """Whether the declarer's side has won the tricks of its contract."""
    return s.tricks_won[s.declarer & 1] >= t.need[s.level]


@kernel
def game_winner(s: State, t: Tables) -> int:
    """Return the side that has won the game after this hand, `DRAW`, or `NO_WINNER`."""
    side = s.declarer & 1
    ours, theirs = s.score[side] - t.target, s.score[1 - side] - t.target
    if t.win_rule == ROUNDS and s.hands_played >= t.hands_to_play:
        return higher(s)
    result = result_of_game(t, ours, theirs, made(s, t))
    if result == DECLARER_WINS:
        return side
    return 1 - side if result == DEFENDERS_WIN else result


@kernel
def result_of_game(t: Tables, ours: float, theirs: float, made: bool) -> int:
    """Return `DECLARER_WINS`, `DEFENDERS_WIN`, `DRAW` or `NO_WINNER`, by the target or the floor.

    `ours` and `theirs` are the scores of the declarer's side and of the defenders after a hand,
    less the target. `made` says whether the contract was made. The end of a fixed number of hands
    is not considered.
    """
    result = NO_WINNER if t.win_rule == ROUNDS else result_at_target(t, ours, theirs, made)
    if result != NO_WINNER:
        return result
    if ours <= t.floor - t.target:
        return DEFENDERS_WIN
    return DECLARER_WINS if theirs <= t.floor - t.target else NO_WINNER


@kernel
def result_at_target(t: Tables, ours: float, theirs: float, made: bool) -> int:
    """Return `result_of_game` by the target."""
    rule = t.win_rule
    if rule == MADE_BID or (rule == MADE_OR_SET and made):
        return DECLARER_WINS if made and ours >= 0 else NO_WINNER
    if rule == MADE_OR_SET:
        return DEFENDERS_WIN if theirs >= 0 else NO_WINNER
    if ours >= 0 and theirs >= 0 and t.both_over != BOTH_DECLARER:
        if ours == theirs:
            return NO_WINNER if t.both_over == BOTH_CONTINUE else DRAW
        return DECLARER_WINS if ours > theirs else DEFENDERS_WIN
    if ours >= 0:
        return DECLARER_WINS
    return DEFENDERS_WIN if theirs >= 0 else NO_WINNER


@kernel
def higher(s: State) -> int:
    """Return the side with the higher score, or `DRAW`."""
    if s.score[0] == s.score[1]:
        return DRAW
    return 0 if s.score[0] > s.score[1] else 1
