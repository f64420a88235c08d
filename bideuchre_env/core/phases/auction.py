"""The auction: calls, in one round or several, and the naming of the strain if that is separate."""

from __future__ import annotations

from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.tables import ONCE, UNTIL_OUT
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import inline_kernel, kernel

LEVEL_BITS = 3  # of each level in `bidders` and `bid_strains`
LEVEL_MASK = (1 << LEVEL_BITS) - 1


@inline_kernel
def legal_call(s: State, t: Tables) -> int:
    """Return the legal calls of the seat to act: bit 0 is a pass, bit 1 + level a bid."""
    return t.legal_calls[s.calls_made, s.level + 1]


@inline_kernel
def at_level(word: int, level: int) -> int:
    """Return the seat or strain of a bid of this level in `bidders` or `bid_strains`; -1: none."""
    return (word >> LEVEL_BITS * level & LEVEL_MASK) - 1


@inline_kernel
def put_level(word: int, level: int, value: int) -> int:
    """Return `bidders` or `bid_strains` with a value from -1 on for a level, which has none yet."""
    return word | (value + 1) << LEVEL_BITS * level


@kernel
def apply_call(s: State, t: Tables, action: int) -> bool:
    """Apply a call; the next seat is then to act. Return True when the auction has ended."""
    seat = s.turn
    if action == 0:
        s.calls[seat] = 0
    else:
        level, strain = t.call_levels[action], t.call_strains[action]
        s.calls[seat] = 1 + level
        s.level = level
        s.declarer = seat
        s.strain = strain
        s.call_strains[seat] = strain
    if t.auction == ONCE:
        s.calls_made += 1
        s.turn = (seat + 1) & 3
        if s.calls_made < N_SEATS:
            return False
    elif not ends_rounds(s, t, seat, action):
        return False
    if s.level >= 0 and t.alone[s.level]:
        s.sitting_out = (s.declarer + 2) & 3
    return True


@kernel
def ends_rounds(s: State, t: Tables, seat: int, action: int) -> bool:
    """Pass the turn in an auction in rounds, after a seat's call; return True if it has ended.

    It ends when the turn would return to the declarer, when all four have passed, with the highest
    bid, and with the bid of a dealer who may not pass.
    """
    before, turn = s.calls_made, (seat + 1) & 3
    if s.level < 0:
        over = before == N_SEATS - 1
    else:
        if action > 0:
            s.bidders = put_level(s.bidders, s.level, seat)
            s.bid_strains = put_level(s.bid_strains, s.level, s.strain)
        if t.auction == UNTIL_OUT:
            while s.calls[turn] == 0:
                turn = (turn + 1) & 3
        over = turn == s.declarer or s.level == t.n_levels - 1 or forced_bid(s, t, seat, action)
    s.calls_made = N_SEATS if over else min(before + 1, N_SEATS - 1)
    s.turn = turn
    return over


@kernel
def forced_bid(s: State, t: Tables, seat: int, action: int) -> bool:
    """Whether a call is the bid of a dealer who may not pass, because the others have passed."""
    if action == 0 or seat != s.dealer or t.legal_calls[N_SEATS - 1, 0] & 1:
        return False
    passed = 0
    for other in range(N_SEATS):
        passed += s.calls[other] == 0
    return passed == N_SEATS - 1


@inline_kernel
def legal_strain(s: State, t: Tables) -> int:
    """Return the strains that the declarer may name, as bits."""
    return t.strain_bits[s.level]


@kernel
def apply_strain(s: State, t: Tables, strain: int) -> None:
    """Name the strain of the contract."""
    s.strain = strain
