"""What a player works out from one observation row: cards as bit masks, the table as numbers.

Everything the rule player and the expert decide from is here, and nothing but the row (and the
game's tables) fills it. Seats are relative: 0 self, 1 left, 2 partner, 3 right. -1 stands for
"none".
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.rule.card_order import BEATS, SUIT_OF
from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.phases.play import opening_leader
from bideuchre_env.core.state import PLAY
from bideuchre_env.core.tables import ROUNDS
from bideuchre_env.runtime.intrinsics import lowest_bit, popcount
from bideuchre_env.runtime.jit import Array, Row, inline_kernel, kernel

VIEW = np.dtype(
    [
        ("phase", np.int64),
        ("dealer", np.int64),  # seat
        ("calls", np.int64, (4,)),  # by seat: -1 none yet, 0 pass, 1 + level a bid
        ("call_strains", np.int64, (4,)),  # by seat: strain of its bid, or -1
        ("calls_made", np.int64),
        ("standing", np.int64),  # seat of the highest call so far, or -1
        ("level", np.int64),  # of the standing or winning bid, or -1
        ("strain", np.int64),  # of the standing or winning bid, or -1
        ("declarer", np.int64),  # seat, or -1 while the auction runs
        ("sitting_out", np.int64),  # seat, or -1
        ("score", np.int64, (2,)),  # ours, theirs
        ("to_go", np.int64, (2,)),  # points to the target, at least 1
        ("rounds", np.int64),  # 1: most points after `hands_left` deals win; 0: a target
        ("hands_left", np.int64),
        ("turning", np.float64, (2,)),  # `equity.read_time`, where it has been asked for
        ("tricks_won", np.int64, (2,)),  # ours, theirs
        ("held", np.int64),  # kinds in hand, as bits
        ("held_pair", np.int64),  # kinds in hand twice
        ("unseen", np.int64),  # kinds of which a copy is not accounted for
        ("unseen_pair", np.int64),  # kinds of which neither copy is
        ("n_unseen", np.int64),  # cards not accounted for
        ("given", np.int64),  # cards given up so far
        ("received", np.int64),  # kinds passed by partner to declarer, as bits
        ("trumps", np.int64),  # the kinds of the trump suit, 0 at no trump
        ("void", np.int64, (4,)),  # by seat: suits it has failed to follow, as bits
        ("led", np.int64),  # suit led to this trick, or -1
        ("winning", np.int64),  # seat winning this trick, or -1
        ("winning_kind", np.int64),  # its card, or -1
        ("cards_left", np.int64, (4,)),  # by seat: cards it holds now, 0 if it sits out
        ("after", np.int64),  # seats still to play to this trick after us, as bits
        ("thrown", np.int64),  # side suits partner has thrown off, as bits; when we lead
    ],
    align=True,
)


@inline_kernel
def one_hot(row: Array, at: int, n: int) -> int:
    """Where the 1 is among the n entries from `row[at]`; -1 if there is none."""
    bits = gather_bits(row, at, n, 0)
    return lowest_bit(bits) if bits else -1


@kernel
def count(v: Row, kinds: int) -> int:
    """How many cards not accounted for are of these kinds."""
    return popcount(v.unseen & kinds) + popcount(v.unseen_pair & kinds)


@kernel
def count_held(v: Row, kinds: int) -> int:
    """How many cards in hand are of these kinds."""
    return popcount(v.held & kinds) + popcount(v.held_pair & kinds)


@kernel
def read_view(row: Array, t: Row, o: Row, v: Row) -> None:
    """Fill the whole of `v` from an observation, int8 (D,)."""
    public = o.private
    v.phase = one_hot(row, public + o.phase, 5)
    v.dealer = one_hot(row, public + o.dealer, 4)
    read_hand(row, t, o, v)
    read_calls(row, public, t, o, v)
    read_scores(row, public, t, o, v)
    if v.phase == PLAY:
        read_seen(row, public, t, o, v)
        read_trick(row, public, t, o, v)
        v.thrown = 0
        if v.led < 0 and v.void[2] != 0 and v.trumps != 0:
            v.thrown = thrown_suits(row, public, t, o, v)


@kernel
def read_hand(row: Array, t: Row, o: Row, v: Row) -> None:
    """The private blocks; every other card counts as unseen."""
    kinds, copies = t.kinds, t.copies
    deck = (1 << kinds) - 1
    v.held = gather_bits(row, o.hand, kinds, 0)
    v.held_pair = gather_bits(row, o.hand, kinds, 1) if copies == 2 else 0
    seen, seen_pair = v.held, v.held_pair
    v.given = 0
    v.received = 0
    if o.discarded >= 0:
        once = gather_bits(row, o.discarded, kinds, 0)
        twice = gather_bits(row, o.discarded, kinds, 1)
        v.given = popcount(once) + popcount(twice)
        v.received = gather_bits(row, o.passed, kinds, 0)
        seen_pair |= twice | (seen & once)
        seen |= once
    v.unseen = deck & ~(seen_pair if copies == 2 else seen)
    v.unseen_pair = deck & ~seen if copies == 2 else 0
    v.n_unseen = popcount(v.unseen) + popcount(v.unseen_pair)


@kernel
def read_calls(row: Array, public: int, t: Row, o: Row, v: Row) -> None:
    """The auction so far, and the contract once it is over."""
    width = 1 + t.n_levels
    v.calls_made = 0
    v.standing = -1
    v.level = -1
    v.strain = -1
    v.sitting_out = -1
    for turn in range(1, 5):  # in the order of the auction: an equalling dealer stands
        seat = (v.dealer + turn) & 3
        said = one_hot(row, public + o.calls + seat * width, width)
        strain = -1
        if said > 0 and o.call_strains >= 0:
            strain = one_hot(row, public + o.call_strains + seat * 5, 5)
        v.calls[seat] = said
        v.call_strains[seat] = strain
        if said >= 0:
            v.calls_made += 1
        if said > 0:
            v.standing = seat
            v.level = said - 1
            v.strain = strain
    v.declarer = one_hot(row, public + o.declarer, 4)
    if v.declarer >= 0:
        v.strain = one_hot(row, public + o.strain, 5)
        if o.sitting_out >= 0:
            v.sitting_out = one_hot(row, public + o.sitting_out, 4)
    strain = v.strain
    v.trumps = t.suit_bits[strain, strain] if 0 <= strain < 4 else 0


@kernel
def read_scores(row: Array, public: int, t: Row, o: Row, v: Row) -> None:
    """Scores, what is still to go, and how long the game lasts."""
    v.rounds = 1 if t.win_rule == ROUNDS else 0
    v.hands_left = row[public + o.hands_left]
    for side in range(2):
        v.score[side] = row[public + o.score + side]
        v.tricks_won[side] = row[public + o.tricks_won + side]
        v.to_go[side] = 1
        if o.to_go >= 0:
            v.to_go[side] = max(1, row[public + o.to_go + side])


@kernel
def read_seen(row: Array, public: int, t: Row, o: Row, v: Row) -> None:
    """Take every card played out of the unseen ones."""
    kinds, copies = t.kinds, t.copies
    unseen, pair = v.unseen, v.unseen_pair
    for plane in range(4 * copies):
        played = gather_bits(row, public + o.played + plane * kinds, kinds, 0)
        from_pair = played & pair
        pair &= ~from_pair
        unseen &= ~(played & ~from_pair)
    v.unseen = unseen
    v.unseen_pair = pair
    v.n_unseen = popcount(unseen) + popcount(pair)


@kernel
def read_trick(row: Array, public: int, t: Row, o: Row, v: Row) -> None:
    """The trick on the table, who still plays to it, and what each seat may hold."""
    kinds = t.kinds
    v.led = one_hot(row, public + o.led, 4)
    v.winning = one_hot(row, public + o.winning, 4) if v.led >= 0 else -1
    v.winning_kind = -1
    v.after = 0
    left = count_held(v, -1)
    v.cards_left[0] = left
    for seat in range(1, 4):
        card = one_hot(row, public + o.trick + (seat - 1) * kinds, kinds)
        if seat == v.winning:
            v.winning_kind = card
        out = seat == v.sitting_out
        v.cards_left[seat] = 0 if out else left - (1 if card >= 0 else 0)
        if card < 0 and not out:
            v.after |= 1 << seat
    for seat in range(4):
        v.void[seat] = gather_bits(row, public + o.voids + seat * 4, 4, 0)


@kernel
def beaters(v: Row, kind: int) -> int:
    """How many unseen cards of its own suit rank above this card."""
    return count(v, BEATS[v.strain, kind])


@kernel
def thrown_suits(row: Array, public: int, t: Row, o: Row, v: Row) -> int:
    """The side suits partner has thrown off so far, from replaying the tricks."""
    strain = v.strain
    leader = opening_leader(t, v.dealer, v.declarer, v.sitting_out)
    thrown = 0
    for trick in range(1, v.tricks_won[0] + v.tricks_won[1] + 1):
        led = SUIT_OF[strain, card_of(row, public, t, o, leader, trick)]
        winner, most = leader, 0
        for turn in range(4):
            seat = (leader + turn) & 3
            if seat == v.sitting_out:
                continue
            card = card_of(row, public, t, o, seat, trick)
            if seat == 2 and SUIT_OF[strain, card] != led:
                thrown |= 1 << SUIT_OF[strain, card]
            if t.power[strain, led, card] > most:
                winner, most = seat, t.power[strain, led, card]
        leader = winner
    return thrown & ~(1 << strain)


@kernel
def card_of(row: Array, public: int, t: Row, o: Row, seat: int, trick: int) -> int:
    """The card a seat played to a trick (from 1)."""
    kinds = t.kinds
    first = public + o.played + seat * t.copies * kinds
    for at in range(t.copies * kinds):
        if row[first + at] == trick:
            return at % kinds
    return 0
