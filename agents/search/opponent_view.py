"""Views of the seat to act in the play, computed from a state: faster than from its observation.

Only the fields that the card play of `rule/` reads are filled in. The calling function keeps track
of the kinds that the seat has seen outside its hand: `gone` once or more, `gone_pair` twice (bits).
"""

from __future__ import annotations

from bideuchre_env.core.state import PLAY
from bideuchre_env.learning.card_order import SUIT_OF
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS, MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.intrinsics import popcount
from bideuchre_env.runtime.jit import Array, Row, inline_kernel, kernel


@inline_kernel
def add_gone(gone: int, gone_pair: int, kind: int) -> tuple[int, int]:
    """Add a card to `gone`, the kinds seen; if it is there already, also to `gone_pair`.

    Returns the new `gone` and `gone_pair`, as bits.
    """
    return gone | 1 << kind, gone_pair | gone & 1 << kind


@inline_kernel
def add_given(gone: int, gone_pair: int, given: Array) -> tuple[int, int]:
    """Add the kinds in `given` (-1: none) to `gone` and `gone_pair`; return both.

    `given` are the cards that the declarer gave up.
    """
    for i in range(MAX_EXCHANGE):
        if given[i] >= 0:
            gone, gone_pair = add_gone(gone, gone_pair, given[i])
    return gone, gone_pair


@kernel
def show_hand(view: Row, t: Row, hand: int, gone: int, gone_pair: int) -> None:
    """Write the cards held and unseen to the view of a seat with this hand.

    `gone` are the kinds seen outside the hand, `gone_pair` those seen twice (bits).
    """
    once, pair, deck = hand & KIND_BITS, hand >> COPY_SHIFT, (1 << t.kinds) - 1
    view.held = once
    view.held_pair = pair
    if t.copies == 2:
        view.unseen = deck & ~(pair | gone_pair | (once & gone))
        view.unseen_pair = deck & ~(once | gone)
    else:
        view.unseen = deck & ~(once | gone)
        view.unseen_pair = 0
    view.n_unseen = popcount(view.unseen) + popcount(view.unseen_pair)


@kernel
def see_play(s: Row, t: Row, gone: int, gone_pair: int, view: Row) -> None:
    """Fill in the view of the seat to act in state `s`, during the play.

    `gone` are the kinds played so far in this hand, by any seat, `gone_pair` those played twice
    (bits). If the declarer is to act, the cards that it gave up are added here.
    """
    seat, strain, led, declarer = s.turn, s.strain, s.led, s.declarer
    view.phase = PLAY
    view.dealer = (s.dealer - seat) & 3
    view.level = s.level
    view.strain = strain
    view.declarer = (declarer - seat) & 3
    view.sitting_out = (s.sitting_out - seat) & 3 if s.sitting_out >= 0 else -1
    view.trumps = t.suit_bits[strain, strain] if strain < 4 else 0
    for side in range(2):
        view.tricks_won[side] = s.tricks_won[(seat & 1) ^ side]
    if seat == declarer:
        gone, gone_pair = add_given(gone, gone_pair, s.given)
    show_hand(view, t, s.hands[seat], gone, gone_pair)
    view.led = led
    view.winning = (s.winning - seat) & 3 if led >= 0 else -1
    view.winning_kind = s.plays[s.winning * MAX_TRICKS + s.trick] if led >= 0 else -1
    view.after = 0
    left = popcount(s.hands[seat])
    view.cards_left[0] = left
    view.void[0] = s.voids[seat]
    for rel in range(1, N_SEATS):
        who = (seat + rel) & 3
        view.void[rel] = s.voids[who]
        played = s.plays[who * MAX_TRICKS + s.trick] >= 0
        if who == s.sitting_out:
            view.cards_left[rel] = 0
        else:
            view.cards_left[rel] = left - (1 if played else 0)
            view.after |= 0 if played else 1 << rel
    view.thrown = 0
    if led < 0 and view.void[2] != 0 and view.trumps != 0:
        view.thrown = thrown_suits(s)
    view.abandoned = 0
    if t.copies == 1 and led >= 0 and s.sitting_out >= 0 and view.declarer & 1:
        view.abandoned = declarer_suits(s) & ~(1 << led)


@kernel
def thrown_suits(s: Row) -> int:
    """Return the side suits from which partner has discarded when another suit was led, as bits.

    Partner is that of the seat to act. The state `s` must be in the play.
    """
    strain, partner, thrown = s.strain, (s.turn + 2) & 3, 0
    for trick in range(s.trick):
        kind = s.plays[partner * MAX_TRICKS + trick]
        suit = SUIT_OF[strain, kind]
        if suit != SUIT_OF[strain, s.plays[s.leaders[trick] * MAX_TRICKS + trick]]:
            thrown |= 1 << suit
    return thrown & ~(1 << strain)


@kernel
def declarer_suits(s: Row) -> int:
    """Return the suits of the cards that the declarer has played, as bits; `s` is in the play."""
    suits = 0
    for trick in range(s.trick + 1):
        kind = s.plays[s.declarer * MAX_TRICKS + trick]
        if kind >= 0:
            suits |= 1 << SUIT_OF[s.strain, kind]
    return suits
