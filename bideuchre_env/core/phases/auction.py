"""The auction: one call per seat, and the naming of the strain if that is a separate action."""

from __future__ import annotations

from bideuchre_env.core.records import State, Tables
from bideuchre_env.rules.cards import N_STRAINS
from bideuchre_env.runtime.jit import inline_kernel, kernel

STRAIN_BITS = (1 << N_STRAINS) - 1


@inline_kernel
def legal_call(s: State, t: Tables) -> int:
    """Return the legal calls of the seat to act: bit 0 is a pass, bit 1 + level a bid."""
    return t.legal_calls[s.calls_made, s.level + 1]


@kernel
def apply_call(s: State, t: Tables, action: int) -> bool:
    """Apply a call; the next seat is then to act. Return True when the auction has ended."""
    seat = s.turn
    if action == 0:
        s.calls[seat] = 0
    else:
        level = (action - 1) // t.strains_per_bid
        s.calls[seat] = 1 + level
        s.level = level
        s.declarer = seat
        if t.strains_per_bid > 1:
            s.strain = (action - 1) % t.strains_per_bid
            s.call_strains[seat] = s.strain
    s.calls_made += 1
    s.turn = (seat + 1) & 3
    if s.calls_made < 4:
        return False
    if s.level >= 0 and t.alone[s.level]:
        s.sitting_out = (s.declarer + 2) & 3
    return True


@inline_kernel
def legal_strain(s: State, t: Tables) -> int:
    """Return the strains that the declarer may name, as bits: all of them."""
    return STRAIN_BITS


@kernel
def apply_strain(s: State, t: Tables, strain: int) -> None:
    """Name the strain of the contract."""
    s.strain = strain
