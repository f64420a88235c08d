"""Calls that an advice compares in the auction, beside those that the agent itself considers."""

from __future__ import annotations

from bideuchre_env.agents.expert.agent import weigh_hand
from bideuchre_env.agents.rule.agent import call_bits
from bideuchre_env.agents.rule.bidding import N_STRAINS, call_action
from bideuchre_env.agents.search.workspace import SearchWorkspace
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import Array, Row, entry_kernel, kernel

NOT_HOPELESS = 0.1  # chance of a lone bid
LIKELY = 0.5  # chance of a partnered bid
NEAR = 1.5  # tricks that a strain may be worth less than the best


@entry_kernel
def mark_calls(space: SearchWorkspace, mask: Array, marks: Array) -> None:
    """Set `marks` to 1 for the calls to compare in the open position, whose legal mask is `mask`.

    Both are int8 (n_actions,). The calls are a pass; every lone bid that is not hopeless, and each
    in its best strain; in every strain near the best one the highest partnered bid that is likely
    to be made; in the best strain also the bids next to that and the lowest bid. Nothing is marked
    in games of which the expert has learned nothing: there the agents consider more calls.
    """
    expert = space.expert
    t, view, learned, calls = expert.tables[0], expert.views[0], expert.learned, expert.calls[0]
    if not weigh_hand(view, t, learned, expert.scratch[0], calls):
        return
    legal_calls = call_bits(view, mask, t)
    marks[0] = legal_calls & 1
    best, partnered = 0, 0
    for strain in range(N_STRAINS):
        if calls.means[strain] > calls.means[best]:
            best = strain
    for level in range(t.n_levels):
        if legal_calls >> (1 + level) & 1 and t.alone[level]:
            mark_lone(t, level, calls, marks)
        elif legal_calls >> (1 + level) & 1:
            partnered |= 1 << level
    for strain in range(N_STRAINS):
        named = strain == best or t.strains_per_bid > 1
        if partnered and named and calls.means[strain] > calls.means[best] - NEAR:
            mark_partnered(t, partnered, strain, strain == best, calls, marks)


@kernel
def mark_lone(t: Row, level: int, calls: Row, marks: Array) -> None:
    """Mark a lone bid in its best strain and in all strains in which it is not hopeless."""
    chances = calls.lone[t.exchange[level]]
    best = 0
    for strain in range(N_STRAINS):
        if chances[strain] > chances[best]:
            best = strain
        if chances[strain] > NOT_HOPELESS:
            marks[call_action(t, level, strain)] = 1
    marks[call_action(t, level, best)] = 1


@kernel
def mark_partnered(t: Row, levels: int, strain: int, best: bool, calls: Row, marks: Array) -> None:
    """Mark the highest likely bid in a strain, of `levels` as bits; more in the `best` strain."""
    lowest = lowest_bit(levels)
    highest, level = lowest, lowest
    while levels >> level:
        if levels >> level & 1 and chance_made(t, level, strain, calls) >= LIKELY:
            highest = level
        level += 1
    if best or chance_made(t, highest, strain, calls) >= LIKELY:
        marks[call_action(t, highest, strain)] = 1
    if not best:
        return
    marks[call_action(t, lowest, strain)] = 1
    for level in (highest - 1, highest + 1):
        if level >= 0 and levels >> level & 1:
            marks[call_action(t, level, strain)] = 1


@kernel
def chance_made(t: Row, level: int, strain: int, calls: Row) -> float:
    """The chance that a partnered bid is made."""
    chance = 0.0
    for won in range(t.need[level], t.tricks + 1):
        chance += calls.chances[strain, won]
    return chance
