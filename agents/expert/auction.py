"""The expert's auction: every call is valued by the hand and the calls so far.

`weigh_calls` values the legal calls and `best_call` selects one; `calls`, the record `CALLS`, has
their inputs and results. A call is a `level` (the bid's index in the ladder; -1 is a pass) and a
strain. A partnered bid is played with partner, a lone bid alone. The standing bid is the highest so
far. Points are ours minus theirs. `t` are the game's tables, and `wins` is a `win_table`.

The worth of a call has two parts. The chances of tricks in its strain (`strains.py`) give the
chance to win the game if its contract is played. A network adds a correction in points, for higher
bids of others, reactions of partner and opponents, and the cost of passing. It is trained on many
of the expert's hands in which one call was replaced and the hand played out.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.expert.call_features import (
    N_HAND,
    N_INPUTS,
    Calls,
    describe_call,
    describe_table,
)
from bideuchre_env.agents.expert.call_network import FIRST, SECOND, network_points, weigh_table
from bideuchre_env.agents.expert.score_network import (
    HIDDEN,
    N_SCORE,
    describe_promise,
    describe_score,
    score_correction,
    weigh_score,
)
from bideuchre_env.agents.expert.tables import ExpertTables
from bideuchre_env.agents.expert.win_table import chance_to_win, passed_out
from bideuchre_env.agents.rule.bidding import (
    LONE_MADE,
    Scratch,
    last_bid,
    may_name,
    standing_tricks,
)
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.records import Tables, View
from bideuchre_env.core.view import count_held
from bideuchre_env.rules.bids import MAX_BIDS, N_EXCHANGES
from bideuchre_env.rules.cards import MAX_TRICKS, N_STRAINS, NO_TRUMP
from bideuchre_env.runtime.jit import Array, inline_kernel, kernel

N_TRIED = 2  # maximum number of strains in which a partnered bid is weighed
CLOSE = 0.75  # expected tricks below the best strain up to which a strain is weighed
REACH = 1.75  # tricks above the expected tricks up to which a bid is weighed, except the lowest
SHORTER = 0.2  # points that a bid in a shorter suit must gain, for each card
ALONE = 0.2  # points that a lone bid must gain over a bid with partner or a pass
NOT_WEIGHED = -1e9
LIKELY = 0.3  # least chance of a lone bid in a strain that is not the best
CLOSE_ALONE = 0.05  # maximum by which its chance may be below the best strain's
SUREST = 0.98  # the highest chance of a lone bid
LOST_ALONE = 1.5  # mean number of tricks that defenders take when a lone bid fails

CALLS = np.dtype(
    [
        ("means", np.float64, (N_STRAINS,)),  # expected tricks with partner, by strain
        ("table_mean", np.float64, (N_STRAINS,)),  # the same by the hand alone, before the shift
        ("features", np.float64, (N_STRAINS, N_HAND)),  # of the hand, by strain
        ("chances", np.float64, (N_STRAINS, MAX_TRICKS + 1)),  # of each number of tricks
        ("lone", np.float64, (N_EXCHANGES, N_STRAINS)),  # of all the tricks alone, by exchange
        ("ranked", np.int64, (N_STRAINS,)),  # strains by tricks with partner, the best first
        ("best_lone", np.int64, (N_EXCHANGES,)),  # by exchange: the strain with the best chance
        ("standing", np.float64),  # points if the standing bid is played; after a pass by all, 0
        ("standing_win", np.float64),  # chance to win the game if the standing bid is played
        ("points", np.float64),  # of one call, if its contract is played
        ("win", np.float64),  # chance to win the game if the call's contract is played
        ("standing_chances", np.float64, (MAX_TRICKS + 1,)),  # of the standing bid's tricks
        ("slope", np.float64),  # value of a point, as a chance to win the game
        # [1 + level (0: a pass), place of the strain in `ranked`]: worth of a call
        ("worth", np.float64, (1 + MAX_BIDS, N_STRAINS)),
        ("inputs", np.float32, (N_INPUTS,)),  # of the call network; its activations follow
        ("table_sums", np.float32, (FIRST,)),
        ("table_output", np.float64, (1,)),
        ("first_sums", np.float32, (FIRST,)),
        ("second_sums", np.float32, (SECOND,)),
        ("output", np.float64, (1,)),
        ("least", np.float64),  # bounds of the worth of the auction's last bid
        ("most", np.float64),
        ("promise", np.float64),  # the formula's worth of one call
        ("now", np.float64),  # chance to win the game if the hand is passed out
        ("score_inputs", np.float32, (N_SCORE,)),  # of the score network; its activations follow
        ("score_table_sums", np.float32, (HIDDEN,)),
        ("score_table_output", np.float64, (1,)),
        ("score_sums", np.float32, (HIDDEN,)),
        ("score_output", np.float64, (1,)),
    ],
    align=True,
)


@kernel
def contract(
    view: View, t: Tables, level: int, us: bool, chances: Array, wins: Array, calls: Calls
) -> None:
    """Write `calls.points` and `calls.win`, the expected values if a partnered bid is played.

    Our side declares if `us`, else theirs. `chances[k]` is the chance of k tricks of the declarer's
    side.
    """
    tricks = t.tricks
    calls.points = 0.0
    calls.win = 0.0
    for won in range(tricks + 1):
        if chances[won] > 0.0:
            ours, theirs, made = played_points(t, level, won, us)
            calls.points += chances[won] * (ours - theirs)
            calls.win += chances[won] * chance_to_win(view, t, wins, ours, theirs, us, made)


@inline_kernel
def lost_alone(t: Tables, level: int) -> float:
    """Return the usual points of the defenders if a lone bid fails."""
    return LOST_ALONE if t.defenders_by_trick else float(t.others[level, 0])


@kernel
def lone_contract(
    view: View, t: Tables, level: int, us: bool, made: float, wins: Array, calls: Calls
) -> None:
    """Write `calls.points` and `calls.win`, the expected values if a lone bid is played.

    Our side declares if `us`, else theirs. `made` is the chance that the bid is made.
    """
    tricks = t.tricks
    value, loss = t.payoff[level, tricks], -t.payoff[level, 0]
    theirs, usual = int(LOST_ALONE + 0.5), lost_alone(t, level)
    if not t.defenders_by_trick:
        theirs = t.others[level, 0]
    sign = 1.0 if us else -1.0
    calls.points = sign * (made * value - (1.0 - made) * (loss + usual))
    good = chance_to_win(view, t, wins, value if us else 0, 0 if us else value, us, True)
    bad = chance_to_win(view, t, wins, -loss if us else theirs, theirs if us else -loss, us, False)
    calls.win = made * good + (1.0 - made) * bad


@kernel
def point_value(view: View, t: Tables, wins: Array) -> float:
    """Return the value of a point, as a chance to win the game, for `calls.slope`."""
    swing = t.tricks  # points of a typical hand: the value of a single point is discontinuous
    ahead = chance_to_win(view, t, wins, swing, 0, True, True)
    behind = chance_to_win(view, t, wins, 0, swing, False, True)
    return max(0.5 * (ahead - behind) / swing, 0.002)


@kernel
def start_calls(
    view: View, t: Tables, learned: ExpertTables, scratch: Scratch, calls: Calls
) -> None:
    """Write to `calls` all values that are the same for every call.

    They are those of the standing bid, the value of a point, and the networks' common inputs. Call
    `weigh_strains` and `read_time` before.
    """
    wins = learned.wins
    calls.standing = 0.0
    calls.standing_win = passed_out(view, t, wins)
    calls.now = calls.standing_win
    calls.slope = point_value(view, t, wins)
    seat, level = view.standing, view.level
    if seat >= 0:
        us = seat == 2
        if t.alone[level]:
            lone_contract(view, t, level, us, LONE_MADE, wins, calls)
        else:
            standing_tricks(view, t, learned.weights[0], scratch, calls.standing_chances)
            contract(view, t, level, us, calls.standing_chances, wins, calls)
        calls.standing = calls.points
        calls.standing_win = calls.win
    describe_table(view, t, calls)
    weigh_table(learned.network.layers, calls)
    if len(learned.score.first) > 0 and learned.wins.shape[0] > 0:
        describe_score(view, t, learned.wins, calls)
        weigh_score(learned.score, calls)


@kernel
def chance_made(t: Tables, level: int, strain: int, calls: Calls) -> float:
    """Return the chance that we make a partnered bid in this strain, by `calls.chances`."""
    chance = 0.0
    for won in range(t.need[level], t.tricks + 1):
        chance += calls.chances[strain, won]
    return chance


@kernel
def plain_points(
    view: View, t: Tables, learned: ExpertTables, level: int, strain: int, calls: Calls
) -> float:
    """Return a call's expected points if it ends the auction, without the network's correction.

    For a pass, they are those of the standing bid. A pass before the first bid, unless it is the
    fourth, cannot end the auction: then the rule player's estimate of the points is returned.
    Also writes the call's `calls.points`, `calls.win` and inputs of the network.
    """
    made, wins = 0.0, learned.wins
    points = calls.standing
    if level < 0:
        calls.points = calls.standing
        calls.win = calls.standing_win
        if view.standing < 0 and view.calls_made < 3:
            passing = learned.weights[0].passing[view.calls_made]
            points = passing[0] + passing[1] * calls.means[calls.ranked[0]]
    elif t.alone[level]:
        made = calls.lone[t.exchange[level], strain]
        lone_contract(view, t, level, True, made, wins, calls)
        points = calls.points
    else:
        made = chance_made(t, level, strain, calls)
        contract(view, t, level, True, calls.chances[strain], wins, calls)
        points = calls.points
    describe_call(view, t, level, strain, made, calls)
    return float(points)


@kernel
def call_worth(
    view: View, t: Tables, learned: ExpertTables, level: int, strain: int, calls: Calls
) -> float:
    """Return the worth of a call (level -1: a pass), on the scale of `chance_to_win`.

    The networks correct it, except for a pass that ends the auction without a bid. The worth of the
    auction's last bid is limited by `final_worth`.
    """
    points = plain_points(view, t, learned, level, strain, calls)
    if level < 0 and view.calls_made == 3 and view.standing < 0:
        return float(calls.win)  # passed out
    more = points - float(calls.points) + network_points(learned.network.layers, calls)
    win, wins = float(calls.win), learned.wins
    last = level >= 0 and last_bid(view, t)
    worth = win + float(calls.slope) * more
    if last:
        worth = final_worth(view, t, level, strain, more, wins, calls)
    if wins.shape[0] == 0 or len(learned.score.first) == 0:
        return worth
    calls.win, calls.promise = win, worth
    describe_promise(view, t, wins, level, strain, more, calls)
    worth += score_correction(learned.score, calls)
    return min(max(worth, float(calls.least)), float(calls.most)) if last else worth


@kernel
def final_worth(
    view: View, t: Tables, level: int, strain: int, more: float, wins: Array, calls: Calls
) -> float:
    """Return the worth of the auction's last bid, limited to the possible range.

    The limits are written to `calls.least` and `calls.most`. `calls.most` is the value of the best
    result, for a lone bid that of the chance `SUREST` to make it. `calls.least` is the chance of
    results that win the game at once; without such results, and for a lone bid, there is no lower
    limit. `more` are the points that the network adds. For a lone bid they change the chance to
    make it; the value of the changed chance also limits the worth. `calls.points` and `calls.win`
    are then overwritten.
    """
    worth = float(calls.win) + float(calls.slope) * more
    calls.least = NOT_WEIGHED
    if t.alone[level]:
        swing = t.payoff[level, t.tricks] - t.payoff[level, 0] + lost_alone(t, level)
        likelier = calls.lone[t.exchange[level], strain] + more / swing
        lone_contract(view, t, level, True, SUREST, wins, calls)
        calls.most = calls.win
        lone_contract(view, t, level, True, min(max(likelier, 0.0), SUREST), wins, calls)
        return min(worth, float(calls.win))
    at_once = 0.0
    calls.most = NOT_WEIGHED
    for won in range(t.tricks + 1):
        ours, theirs, done = played_points(t, level, won, True)
        end = chance_to_win(view, t, wins, ours, theirs, True, done)
        calls.most = max(float(calls.most), end)
        if end >= 1.0:
            at_once += calls.chances[strain, won] * end
    if at_once > 0.0:  # else no bound: worth may be negative for points or in a nearly lost game
        calls.least = at_once
    return min(max(worth, float(calls.least)), float(calls.most))


@kernel
def worth_trying(view: View, t: Tables, level: int, place: int, calls: Calls) -> bool:
    """Whether a legal call may be the best, so that its worth should be computed.

    Its strain is `calls.ranked[place]`. A pass (level -1) has place 0 only.
    """
    if level < 0:
        return place == 0
    strain, first = calls.ranked[place], 0
    if not may_name(t, level, strain):
        return False
    while not may_name(t, level, calls.ranked[first]):
        first += 1
    if t.alone[level]:
        exchange = t.exchange[level]
        best = calls.best_lone[exchange]
        if strain == best or t.call_strains[t.first_of_bid[level]] < 0:
            return strain == best
        chance = calls.lone[exchange, strain]
        return bool(chance > LIKELY and chance > calls.lone[exchange, best] - CLOSE_ALONE)
    if level > view.level + 1 and t.need[level] > calls.means[strain] + REACH:
        return False  # it is likely to fail, and a lower bid would cost less
    if place == first:
        return True
    near = calls.means[strain] > calls.means[calls.ranked[first]] - CLOSE
    return place < first + N_TRIED and near and t.strains_per_bid > 1


@kernel
def weigh_calls(view: View, t: Tables, learned: ExpertTables, legal: int, calls: Calls) -> None:
    """Write the worth of every legal call that may be best to `calls.worth`, after `weigh_hand`.

    `legal` has bit 0 for a pass, bit 1 + level for a bid. Other calls get `NOT_WEIGHED`.
    """
    for level in range(-1, t.n_levels):
        for place in range(t.n_strains):
            worth = NOT_WEIGHED
            if legal >> (1 + level) & 1 and worth_trying(view, t, level, place, calls):
                worth = call_worth(view, t, learned, level, calls.ranked[place], calls)
            calls.worth[1 + level, place] = worth


@kernel
def best_call(t: Tables, calls: Calls) -> int:
    """Return the call of highest worth in `calls.worth`, or -1 if no call was weighed.

    The result is 8 * (1 + level) + the place of the call's strain in `calls.ranked`.
    """
    best, most = -1, NOT_WEIGHED
    for call in range(8 * (1 + t.n_levels)):
        if call & 7 < t.n_strains and calls.worth[call >> 3, call & 7] > most:
            best, most = call, calls.worth[call >> 3, call & 7]
    return best


@kernel
def natural_call(view: View, t: Tables, calls: Calls) -> int:
    """Return `best_call` or, among calls of about the same worth, the one that people would expect.

    That is a bid with partner or a pass instead of a lone bid, and the longest suit for a bid of
    the same level.
    """
    best = best_call(t, calls)
    if best < 0:
        return -1
    if best >> 3 > 0 and t.alone[(best >> 3) - 1]:
        least = calls.worth[best >> 3, best & 7] - ALONE * calls.slope
        for call in range(8 * (1 + t.n_levels)):
            level, place = (call >> 3) - 1, call & 7
            plain = place < t.n_strains and (level < 0 or not t.alone[level])
            if plain and calls.worth[1 + level, place] >= least:
                best, least = call, calls.worth[1 + level, place]
    if best >> 3 == 0 or t.alone[(best >> 3) - 1]:
        return best
    return (best & ~7) + longest_of(view, t, best >> 3, best & 7, calls)


@kernel
def longest_of(view: View, t: Tables, bid: int, place: int, calls: Calls) -> int:
    """Return the place in `calls.ranked` of the longest suit of about the worth of that at `place`.

    `bid` is 1 + the level of a bid with partner. A shorter suit and no trump are never preferred.
    """
    own = trump_length(view, t, calls.ranked[place])
    best, most = place, own
    for other in range(t.n_strains):
        length = trump_length(view, t, calls.ranked[other])
        loss = calls.worth[bid, place] - calls.worth[bid, other]
        if length > most and own > 0 and loss <= SHORTER * calls.slope * (length - own):
            best, most = other, length
    return best


@inline_kernel
def trump_length(view: View, t: Tables, strain: int) -> int:
    """Return the number of cards in hand of a trump suit; 0 at no trump."""
    return count_held(view, t.suit_bits[strain, strain]) if strain < NO_TRUMP else 0


@kernel
def expert_strain(view: View, t: Tables, wins: Array, calls: Calls) -> int:
    """Return the strain of highest value for the bid that won the auction.

    Call `weigh_hand` before.
    """
    level = view.level
    if t.alone[level]:
        return calls.best_lone[t.exchange[level]]
    calls.slope = point_value(view, t, wins)
    best, most = 0, NOT_WEIGHED
    for place in range(t.n_strains):
        strain, worth = calls.ranked[place], NOT_WEIGHED
        if may_name(t, level, strain):
            contract(view, t, level, True, calls.chances[strain], wins, calls)
            worth = calls.win + 0.001 * calls.points
        calls.worth[1 + level, place] = worth
        if worth > most:
            best, most = place, worth
    return calls.ranked[longest_of(view, t, 1 + level, best, calls)]
