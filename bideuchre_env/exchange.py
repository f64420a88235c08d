"""The exchange: the declarer gives cards up, the partner passes as many; neither sees first."""

from __future__ import annotations

from bideuchre_env._jit import Row, inline_kernel, kernel
from bideuchre_env.cards import COPY_SHIFT, KIND_BITS
from bideuchre_env.state import GIVING, PASSING


@inline_kernel
def take_card(s: Row, seat: int, kind: int) -> None:
    """Take one copy of a card out of a seat's hand (the second copy first)."""
    hand = int(s.hands[seat])
    s.hands[seat] = hand - (1 << (kind + COPY_SHIFT * ((hand >> (kind + COPY_SHIFT)) & 1)))


@kernel
def begin_exchange(s: Row) -> None:
    """Ask the declarer for the first card."""
    s.phase = GIVING
    s.turn = s.declarer
    s.picks = 0


@inline_kernel
def legal_exchange(s: Row, t: Row) -> int:
    """The kinds the seat to act may give, a bit each: any card it holds."""
    return int(s.hands[int(s.turn)]) & KIND_BITS


@kernel
def apply_exchange(s: Row, t: Row, kind: int) -> bool:
    """Put one card aside; True when both halves are done and the declarer holds the cards."""
    seat, pick = int(s.turn), int(s.picks)
    take_card(s, seat, kind)
    wanted = int(t.exchange[int(s.level)])
    s.picks = pick + 1
    if int(s.phase) == GIVING:
        s.given[pick] = kind
        if pick + 1 == wanted:
            s.phase = PASSING
            s.turn = (seat + 2) & 3
            s.picks = 0
        return False
    s.passed[pick] = kind
    if pick + 1 < wanted:
        return False
    declarer = int(s.declarer)
    hand = int(s.hands[declarer])
    for i in range(wanted):
        passed = int(s.passed[i])
        hand += 1 << (passed + COPY_SHIFT * ((hand >> passed) & 1))
    s.hands[declarer] = hand
    return True
