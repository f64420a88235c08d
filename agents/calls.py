"""The expert's auction: the hand's worth looked up, the calls so far read, every call weighed.

What a call is worth has two parts. How the contract would end if it stood, from the table of hands
shifted by what the others called, gives the chance to win the game. And numbers fitted to many
hands of the expert's own, where one call was changed and the rest played out, say how many points
the call really brings: whether it will stand, what the others will make of it, and what is lost
by passing.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env._jit import Array, Row, kernel
from bideuchre_env.agents.bidding import (
    LONE_MADE,
    N_SIGNS,
    N_STRAINS,
    leads,
    read_signs,
    spread_standing,
)
from bideuchre_env.agents.hand_table import (
    SCALE,
    SUIT_MAPS,
    canonical_key,
    canonical_symmetry,
    find_row,
)
from bideuchre_env.agents.win_table import chance_to_win
from bideuchre_env.cards import COPY_SHIFT, MAX_TRICKS, NO_TRUMP

PASS, BID, LONE, SIGNS = 0, 1, 2, 3  # the numbers for calls, and for what others' calls tell
N_KINDS = 4
N_CONTEXTS = 12  # calls made so far (0 to 3), by whose bid stands: nobody's, partner's, theirs
N_FACTS = 16
LOST_ALONE = 1.5  # tricks the defenders take of a lone hand that fails

CALLS = np.dtype(
    [
        ("mean", np.float64, (N_STRAINS,)),  # tricks with partner, by strain
        ("table_mean", np.float64, (N_STRAINS,)),  # the same, whatever was called
        ("chances", np.float64, (N_STRAINS, MAX_TRICKS + 1)),  # of so many tricks
        ("lone", np.float64, (4, N_STRAINS)),  # of all the tricks alone, by exchange and strain
        ("best", np.int64),  # the strain with most tricks
        ("second", np.float64),  # tricks in the next best one
        ("best_lone", np.int64, (4,)),  # by exchange: the strain with the best chance
        ("context", np.int64),
        ("standing", np.float64),  # points if the standing bid is played
        ("standing_win", np.float64),  # the chance to win the game then
        ("need", np.float64),  # tricks of the standing bid
        ("partner_said", np.float64),  # tricks partner has bid, 0 for a pass or none yet
        ("fit", np.float64),  # 1 where partner has bid the best strain
        ("facts", np.float64, (N_FACTS,)),  # of one call, to be weighed
        ("points", np.float64),  # of one call, if its contract is played
        ("win", np.float64),  # the chance to win the game then
        ("spread", np.float64, (MAX_TRICKS + 1,)),
        ("slope", np.float64),  # chance of winning a point is worth
    ],
    align=True,
)


@kernel
def look_up(
    v: Row, t: Row, keys: Array, tricks: Array, lone: Array, numbers: Array, scratch: Row, b: Row
) -> bool:
    """Fill what the hand is worth in every strain; False if the table does not have it."""
    hand = int(v.held) | int(v.held_pair) << COPY_SHIFT
    key = canonical_key(hand)
    row = find_row(keys, key)
    if row < 0:
        return False
    symmetry = canonical_symmetry(hand, key)
    last = tricks.shape[1] - 1
    lead = 0 if leads(v, t, 0, 0, False) else last
    lone_lead = 0 if leads(v, t, 0, 0, True) else last
    x = scratch.counts
    for strain in range(N_STRAINS):
        there = int(SUIT_MAPS[symmetry, strain]) if strain < NO_TRUMP else NO_TRUMP
        kind = 1 if strain == NO_TRUMP else 0
        read_signs(v, t, strain, x)
        shift = numbers[SIGNS, kind, 0]
        for i in range(N_SIGNS):
            shift += x[i] * numbers[SIGNS, kind, 1 + i]
        shift_chances(tricks[row, lead, there], shift, int(t.tricks), b.chances[strain])
        b.mean[strain] = 0.0
        b.table_mean[strain] = 0.0
        for won in range(int(t.tricks) + 1):
            b.mean[strain] += won * b.chances[strain, won]
            b.table_mean[strain] += won * float(tricks[row, lead, there, won]) / SCALE
        for exchange in range(4):
            b.lone[exchange, strain] = float(lone[row, lone_lead, exchange, there]) / SCALE
    return True


@kernel
def shift_chances(row: Array, shift: float, tricks: int, chances: Array) -> None:
    """Write a table row, uint8 (tricks + 1,), moved up by `shift` tricks, to `chances`."""
    for won in range(tricks + 1):
        chances[won] = 0.0
    for won in range(tricks + 1):
        to = min(max(won + shift, 0.0), float(tricks))
        low = int(to)
        high = min(low + 1, tricks)
        chance = float(row[won]) / SCALE
        chances[low] += chance * (low + 1.0 - to)
        chances[high] += chance * (to - low)


@kernel
def find_best(b: Row) -> None:
    """Fill in the best strains."""
    b.best = 0
    for strain in range(1, N_STRAINS):
        if b.mean[strain] > b.mean[int(b.best)]:
            b.best = strain
    b.second = -1.0
    for strain in range(N_STRAINS):
        if strain != int(b.best):
            b.second = max(b.second, b.mean[strain])
    for exchange in range(4):
        b.best_lone[exchange] = 0
        for strain in range(1, N_STRAINS):
            if b.lone[exchange, strain] > b.lone[exchange, int(b.best_lone[exchange])]:
                b.best_lone[exchange] = strain


@kernel
def contract(v: Row, t: Row, level: int, us: bool, chances: Array, wins: Array, b: Row) -> None:
    """Fill points and chance to win if this partnered contract is played."""
    tricks = int(t.tricks)
    b.points = 0.0
    b.win = 0.0
    for won in range(tricks + 1):
        if chances[won] > 0.0:
            bid, others = int(t.payoff[level, won]), tricks - won
            ours, theirs = (bid, others) if us else (others, bid)
            made = won >= int(t.need[level])
            b.points += chances[won] * (ours - theirs)
            b.win += chances[won] * chance_to_win(v, t, wins, ours, theirs, us, made)


@kernel
def lone_contract(v: Row, t: Row, level: int, us: bool, made: float, wins: Array, b: Row) -> None:
    """The same for a lone bid that is made with this chance."""
    value, lost = int(t.payoff[level, int(t.tricks)]), int(LOST_ALONE + 0.5)
    sign = 1.0 if us else -1.0
    b.points = sign * (made * value - (1.0 - made) * (value + LOST_ALONE))
    good = chance_to_win(v, t, wins, value if us else 0, 0 if us else value, us, True)
    bad = chance_to_win(v, t, wins, -value if us else lost, lost if us else -value, us, False)
    b.win = made * good + (1.0 - made) * bad


@kernel
def weigh_standing(v: Row, t: Row, w: Row, wins: Array, scratch: Row, b: Row) -> None:
    """Fill the context, and what becomes of us if the standing bid is played."""
    b.context = 3 * min(int(v.calls_made), 3)
    b.standing = 0.0
    b.need = 0.0
    b.partner_said = 0.0
    b.fit = 0.0
    if int(v.calls[2]) > 0:
        b.partner_said = float(int(t.need[int(v.calls[2]) - 1]))
        b.fit = 1.0 if int(v.call_strains[2]) == int(b.best) else 0.0
    b.standing_win = chance_to_win(v, t, wins, 0, 0, True, False)
    ahead = chance_to_win(v, t, wins, 1, 0, True, True)
    behind = chance_to_win(v, t, wins, 0, 1, False, True)
    b.slope = max(0.5 * (ahead - behind), 0.002)
    seat, level = int(v.standing), int(v.level)
    if seat < 0:
        return
    us = seat == 2
    b.context += 1 if us else 2
    b.need = float(int(t.need[level]))
    if int(t.alone[level]):
        lone_contract(v, t, level, us, LONE_MADE, wins, b)
    else:
        spread_standing(v, t, w, scratch, b.spread)
        contract(v, t, level, us, b.spread, wins, b)
    b.standing = b.points
    b.standing_win = b.win


@kernel
def describe_call(v: Row, t: Row, level: int, wins: Array, b: Row) -> int:
    """Write the facts of a call (level -1: a pass) to `b`, and return its kind."""
    f, best = b.facts, int(b.best)
    mean, need = b.mean[best], b.need
    f[0] = 1.0
    f[2] = mean
    f[8] = b.standing
    f[9] = need
    f[10] = b.partner_said
    f[11] = b.fit
    if level < 0:
        describe_pass(b)
        return PASS
    if int(t.alone[level]):
        describe_lone(v, t, level, wins, b)
        return LONE
    contract(v, t, level, True, b.chances[best], wins, b)
    tricks, made = float(int(t.need[level])), 0.0
    for won in range(int(t.need[level]), int(t.tricks) + 1):
        made += b.chances[best, won]
    f[1] = b.points
    f[3] = tricks
    f[4] = made
    f[5] = made * made
    f[6] = b.lone[0, int(b.best_lone[0])]
    f[7] = b.second
    f[12] = b.lone[2, int(b.best_lone[2])]
    f[13] = tricks * tricks
    f[14] = tricks * mean
    f[15] = mean * mean
    return BID


@kernel
def describe_pass(b: Row) -> None:
    """The facts of a pass."""
    f, mean, need = b.facts, b.mean[int(b.best)], b.need
    b.points = b.standing
    b.win = b.standing_win
    f[1] = need * need
    f[3] = mean * mean
    f[4] = b.second
    f[5] = b.mean[NO_TRUMP]
    f[6] = b.lone[0, int(b.best_lone[0])]
    f[7] = b.lone[2, int(b.best_lone[2])]
    f[12] = mean * need
    f[13] = need * b.standing
    f[14] = b.partner_said * mean
    f[15] = b.standing * b.standing


@kernel
def describe_lone(v: Row, t: Row, level: int, wins: Array, b: Row) -> None:
    """The facts of a lone bid."""
    f, mean, exchange = b.facts, b.mean[int(b.best)], int(t.exchange[level])
    chance = b.lone[exchange, int(b.best_lone[exchange])]
    value = float(int(t.payoff[level, int(t.tricks)]))
    lone_contract(v, t, level, True, chance, wins, b)
    f[1] = b.points
    f[3] = chance
    f[4] = chance * chance
    f[5] = value
    f[6] = float(exchange)
    f[7] = float(exchange) * chance
    f[12] = b.partner_said * value
    f[13] = mean * mean
    f[14] = b.need * value
    f[15] = b.lone[2, int(b.best_lone[2])]


@kernel
def call_worth(v: Row, t: Row, level: int, numbers: Array, wins: Array, b: Row) -> float:
    """What a call (level -1: a pass) is worth, as a chance to win the game."""
    kind = describe_call(v, t, level, wins, b)
    if kind == PASS and int(v.calls_made) == 3 and int(v.standing) < 0:
        return float(b.win)  # passed out: nothing happens
    points = 0.0
    for i in range(N_FACTS):
        points += b.facts[i] * numbers[kind, int(b.context), i]
    return float(b.win) + float(b.slope) * (points - float(b.points))


@kernel
def strain_of(t: Row, level: int, b: Row) -> int:
    """The strain to bid at a level."""
    if int(t.alone[level]):
        return int(b.best_lone[int(t.exchange[level])])
    return int(b.best)


@kernel
def expert_call(v: Row, t: Row, numbers: Array, wins: Array, legal: int, b: Row) -> int:
    """The call to make, as an action; `legal` has bit 0 for a pass and bit 1 + level for a bid."""
    best_level, most = -2, -1e9
    for level in range(-1, int(t.n_levels)):
        if legal >> (1 + level) & 1:
            value = call_worth(v, t, level, numbers, wins, b)
            if value > most:
                best_level, most = level, value
    return call_action(t, best_level, b)


@kernel
def call_action(t: Row, level: int, b: Row) -> int:
    """A call (level -1: a pass) as an action."""
    if level < 0:
        return 0
    per_bid = int(t.strains_per_bid)
    return 1 + level * per_bid + (strain_of(t, level, b) if per_bid > 1 else 0)


@kernel
def expert_strain(v: Row, t: Row, wins: Array, b: Row) -> int:
    """The strain to name after winning the auction."""
    level = int(v.level)
    if int(t.alone[level]):
        return strain_of(t, level, b)
    best, most = 0, -1e9
    for strain in range(N_STRAINS):
        contract(v, t, level, True, b.chances[strain], wins, b)
        value = b.win + 0.001 * b.points
        if value > most:
            best, most = strain, value
    return best
