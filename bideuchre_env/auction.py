"""The auction: one call each, and the naming of the strain where that comes after it."""

from __future__ import annotations

from bideuchre_env._jit import Row, inline_kernel, kernel
from bideuchre_env.cards import STRAINS

N_STRAINS = len(STRAINS)
STRAIN_BITS = (1 << N_STRAINS) - 1


@inline_kernel
def legal_call(s: Row, t: Row) -> int:
    """The legal calls of the seat to act: bit 0 a pass, bit 1 + level that bid."""
    return int(t.legal_calls[int(s.calls_made), int(s.level) + 1])


@kernel
def apply_call(s: Row, t: Row, action: int) -> bool:
    """Make the call: moves the turn on, and is True when the auction has ended."""
    seat = int(s.turn)
    if action == 0:
        s.calls[seat] = 0
    else:
        level = (action - 1) // int(t.strains_per_bid)
        s.calls[seat] = 1 + level
        s.level = level
        s.declarer = seat
        if int(t.strains_per_bid) > 1:
            s.strain = (action - 1) % int(t.strains_per_bid)
            s.call_strains[seat] = s.strain
    s.calls_made += 1
    s.turn = (seat + 1) & 3
    if int(s.calls_made) < 4:
        return False
    if int(s.level) >= 0 and int(t.alone[int(s.level)]):
        s.sitting_out = (int(s.declarer) + 2) & 3
    return True


@inline_kernel
def legal_strain(s: Row, t: Row) -> int:
    """The strains the declarer may name, a bit each: all of them."""
    return STRAIN_BITS


@kernel
def apply_strain(s: Row, t: Row, strain: int) -> None:
    """Name the strain of the contract."""
    s.strain = strain
