"""Chance of a call by people: they count the tricks of their hand, and bid this number.

A person chooses a strain by the expected tricks with partner (`calls.means`), and counts tricks
more or less well. Some count only their own tricks. The others count partner's too, and pass below
half of all tricks. All pass if the count is below the lowest bid. Of those who bid some make the
lowest bid, others the highest that they count. Lone bids compete by their chance of all tricks. The
call network is not used, and the score does not matter. Whether a seat is a person or an agent is
mixed once for all its calls, and again in each of its cards (`likelihood.py`).

The parameters are those of `CHOICE_MODEL`, argument `model`; `legal` are calls as bits, bit 0 a
pass, bit 1 + level that bid; `calls` is the record `auction.CALLS` after `weigh_hand`.
"""

from __future__ import annotations

from math import erf, exp, sqrt

from bideuchre_env.agents.expert.call_features import Calls
from bideuchre_env.agents.rule.bidding import may_name
from bideuchre_env.agents.search.workspace import ChoiceModel
from bideuchre_env.core.records import Tables
from bideuchre_env.runtime.jit import kernel

LEAST_SHARE = 0.5  # share of all tricks below which those who count partner's tricks pass
# partner is expected to take one trick for every two of the opponents
PARTNER_PER_OPPONENT_TRICK = 0.5


@kernel
def people_chance(t: Tables, legal: int, did: int, calls: Calls, model: ChoiceModel) -> float:
    """Return the chance that a person makes the call `did`, an action, of the `legal` calls."""
    level, named, alone = t.call_levels[did], t.call_strains[did], 0.0  # odds of all lone bids
    for other in range(t.n_levels):
        if legal >> (1 + other) & 1 and t.alone[other]:
            alone += lone_odds(t, other, -1, calls, model)
    if level >= 0 and t.alone[level]:
        return lone_odds(t, level, named, calls, model) / (1.0 + alone)
    total = 0.0
    for strain in range(t.n_strains):
        if named < 0 or named == strain:
            mean, share = calls.means[strain], model.own
            own = mean - PARTNER_PER_OPPONENT_TRICK * (t.tricks - mean)
            chance = share * counted_chance(t, legal, level, strain, own, 0.0, model)
            least = LEAST_SHARE * t.tricks
            chance += (1.0 - share) * counted_chance(t, legal, level, strain, mean, least, model)
            total += chance * strain_share(t, -1, strain, calls, model.taste, model.doubt)
    return total / (1.0 + alone)


@kernel
def lone_odds(t: Tables, level: int, named: int, calls: Calls, model: ChoiceModel) -> float:
    """Return the odds of a lone bid against all bids with partner and a pass.

    If `named` is -1, the bid names any strain.
    """
    exchange, odds = t.exchange[level], 0.0
    for strain in range(t.n_strains):
        if t.call_strains[t.first_of_bid[level]] < 0:
            if strain != calls.best_lone[exchange]:
                continue
        elif named >= 0 and named != strain:
            continue
        odds += exp((calls.lone[exchange, strain] - model.daring) / model.doubt)
    return odds


@kernel
def counted_chance(
    t: Tables, legal: int, level: int, strain: int, mean: float, least: float, model: ChoiceModel
) -> float:
    """Return the chance that a person calls `level` with partner, or passes (-1), in this strain.

    The person counts `mean` tricks, more or less, and passes below `least` if it may pass. Of bids
    that need the same number of tricks each is equally likely.
    """
    lowest, above, same = -1, t.tricks + 1, 0
    for other in range(t.n_levels):
        if legal >> (1 + other) & 1 and not t.alone[other] and may_name(t, other, strain):
            lowest = other if lowest < 0 else lowest
            if level >= 0 and t.need[other] == t.need[level]:
                same += 1
            elif level >= 0 and t.need[other] > t.need[level]:
                above = min(above, t.need[other])
    if lowest < 0:
        return 1.0 if level < 0 else 0.0
    speaks = 1.0
    if legal & 1:
        speaks = chance_to_count(max(float(t.need[lowest]), least), mean, model)
    if level < 0:
        return 1.0 - speaks
    counted = speaks
    if t.need[level] > t.need[lowest]:
        counted = chance_to_count(max(float(t.need[level]), least), mean, model)
    if above <= t.tricks:
        counted -= chance_to_count(max(float(above), least), mean, model)
    chance = (1.0 - model.lowest) * counted / max(same, 1)
    return chance + model.lowest * speaks if level == lowest else chance


@kernel
def chance_to_count(need: float, mean: float, model: ChoiceModel) -> float:
    """Return the chance that a person counts `need` tricks or more, if `mean` are expected."""
    return 0.5 - 0.5 * erf((need - mean) / (model.spread * sqrt(2.0)))


@kernel
def strain_share(
    t: Tables, level: int, strain: int, calls: Calls, tricks: float, chance: float
) -> float:
    """Return the chance to prefer this strain, of the strains that may be named for `level`.

    It is a softmax over the expected tricks, with the temperature `tricks`, or for a lone bid over
    the chances of all tricks, with the temperature `chance`. Level -1 stands for bids with partner,
    before their level is known.
    """
    alone = bool(level >= 0 and t.alone[level] == 1)
    exchange, total, own = t.exchange[max(level, 0)], 0.0, 0.0
    for other in range(t.n_strains):
        if level >= 0 and not may_name(t, level, other):
            continue
        if alone:
            best = calls.lone[exchange, calls.best_lone[exchange]]
            part = exp((calls.lone[exchange, other] - best) / chance)
        else:
            part = exp((calls.means[other] - calls.means[calls.ranked[0]]) / tricks)
        total += part
        if other == strain:
            own = part
    return own / total
