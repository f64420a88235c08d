"""A player's view, computed from one observation row: cards as bit masks, the rest as numbers.

Agents and the features of networks use it. `read_view` computes the fields from the row and the
game's tables; only `for_points` is set by `new_view`, and `turning` by agents. Seats are relative:
0 self, 1 left, 2 partner, 3 right. -1 stands for "none".

In the kernels, `observation` is int8 (D,), `t` are the game's tables, and `o` the offsets of the
observation's blocks. Offsets of public blocks are relative to `public`, the index of the first
public entry. A set of kinds or suits is an integer with a bit for each.
"""

from __future__ import annotations

from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.observation.decode import one_hot
from bideuchre_env.core.phases.play import opening_leader
from bideuchre_env.core.state import PLAY
from bideuchre_env.core.tables import ROUNDS
from bideuchre_env.core.view import count, count_held
from bideuchre_env.learning.card_order import BEATS, SUIT_OF
from bideuchre_env.runtime.intrinsics import popcount
from bideuchre_env.runtime.jit import Array, Row, kernel


@kernel
def read_view(observation: Array, t: Row, o: Row, view: Row) -> None:
    """Fill `view` from an observation, int8 (D,), except for `for_points` and `turning`.

    The fields of the trick (`led`, `winning`, `winning_kind`, `after`), `void`, `cards_left`,
    `thrown` and `abandoned` are written only in the card play; in other phases they are unchanged.
    """
    public = o.private
    view.phase = one_hot(observation, public + o.phase, 5)
    view.dealer = one_hot(observation, public + o.dealer, 4)
    read_hand(observation, t, o, view)
    read_calls(observation, public, t, o, view)
    read_scores(observation, public, t, o, view)
    if view.phase == PLAY:
        read_seen(observation, public, t, o, view)
        read_trick(observation, public, t, o, view)
        view.thrown = 0
        if view.led < 0 and view.void[2] != 0 and view.trumps != 0:
            view.thrown = thrown_suits(observation, public, t, o, view)
        view.abandoned = 0
        if t.copies == 1 and view.led >= 0 and view.sitting_out >= 0 and view.declarer & 1:
            view.abandoned = declarer_suits(observation, public, t, o, view) & ~(1 << view.led)


@kernel
def read_hand(observation: Array, t: Row, o: Row, view: Row) -> None:
    """Read the hand and the exchange.

    The cards of the deck that are neither in hand nor given up become unseen, also cards that have
    been played; `read_seen` removes these.
    """
    kinds, copies = t.kinds, t.copies
    deck = (1 << kinds) - 1
    view.held = gather_bits(observation, o.hand, kinds, 0)
    view.held_pair = gather_bits(observation, o.hand, kinds, 1) if copies == 2 else 0
    seen, seen_pair = view.held, view.held_pair
    view.given = 0
    view.received = 0
    if o.discarded >= 0:
        once = gather_bits(observation, o.discarded, kinds, 0)
        twice = gather_bits(observation, o.discarded, kinds, 1)
        view.given = popcount(once) + popcount(twice)
        view.received = gather_bits(observation, o.passed, kinds, 0)
        seen_pair |= twice | (seen & once)
        seen |= once
    view.unseen = deck & ~(seen_pair if copies == 2 else seen)
    view.unseen_pair = deck & ~seen if copies == 2 else 0
    view.n_unseen = popcount(view.unseen) + popcount(view.unseen_pair)


@kernel
def read_calls(observation: Array, public: int, t: Row, o: Row, view: Row) -> None:
    """Read the calls so far, and the contract once the auction is over.

    `view.dealer` must be set.
    """
    width = 1 + t.n_levels
    view.calls_made = 0
    view.standing = -1
    view.level = -1
    view.strain = -1
    view.sitting_out = -1
    for turn in range(1, 5):  # in the order of the auction: the dealer may take over an equal bid
        seat = (view.dealer + turn) & 3
        call = one_hot(observation, public + o.calls + seat * width, width)
        strain = -1
        if call > 0 and o.call_strains >= 0:
            strain = one_hot(observation, public + o.call_strains + seat * 5, 5)
        view.calls[seat] = call
        view.call_strains[seat] = strain
        if call >= 0:
            view.calls_made += 1
        if call > 0:
            view.standing = seat
            view.level = call - 1
            view.strain = strain
    view.declarer = one_hot(observation, public + o.declarer, 4)
    if view.declarer >= 0:
        view.strain = one_hot(observation, public + o.strain, 5)
        if o.sitting_out >= 0:
            view.sitting_out = one_hot(observation, public + o.sitting_out, 4)
    strain = view.strain
    view.trumps = t.suit_bits[strain, strain] if 0 <= strain < 4 else 0


@kernel
def read_scores(observation: Array, public: int, t: Row, o: Row, view: Row) -> None:
    """Fill in scores, points to the target, hands left (and `rounds`), and tricks won."""
    view.rounds = 1 if t.win_rule == ROUNDS else 0
    view.hands_left = observation[public + o.hands_left]
    for side in range(2):
        view.score[side] = observation[public + o.score + side]
        view.tricks_won[side] = observation[public + o.tricks_won + side]
        view.to_go[side] = 1
        if o.to_go >= 0:
            view.to_go[side] = max(1, observation[public + o.to_go + side])


@kernel
def read_seen(observation: Array, public: int, t: Row, o: Row, view: Row) -> None:
    """Remove all cards played so far from the unseen cards; call `read_hand` before."""
    kinds, copies = t.kinds, t.copies
    unseen, pair = view.unseen, view.unseen_pair
    for plane in range(4 * copies):
        played = gather_bits(observation, public + o.played + plane * kinds, kinds, 0)
        from_pair = played & pair
        pair &= ~from_pair
        unseen &= ~(played & ~from_pair)
    view.unseen = unseen
    view.unseen_pair = pair
    view.n_unseen = popcount(unseen) + popcount(pair)


@kernel
def read_trick(observation: Array, public: int, t: Row, o: Row, view: Row) -> None:
    """Read the current trick, the seats still to play, and each seat's cards left and voids.

    Call `read_hand` and `read_calls` before.
    """
    kinds = t.kinds
    view.led = one_hot(observation, public + o.led, 4)
    view.winning = one_hot(observation, public + o.winning, 4) if view.led >= 0 else -1
    view.winning_kind = -1
    view.after = 0
    left = count_held(view, -1)
    view.cards_left[0] = left
    for seat in range(1, 4):
        card = one_hot(observation, public + o.trick + (seat - 1) * kinds, kinds)
        if seat == view.winning:
            view.winning_kind = card
        out = seat == view.sitting_out
        view.cards_left[seat] = 0 if out else left - (1 if card >= 0 else 0)
        if card < 0 and not out:
            view.after |= 1 << seat
    voids = gather_bits(observation, public + o.voids, 16, 0)
    for seat in range(4):
        view.void[seat] = voids >> 4 * seat & 15


@kernel
def beaters(view: Row, kind: int) -> int:
    """Count the unseen cards of a card's suit that rank above it; `view.strain` must be set."""
    return count(view, BEATS[view.strain, kind])


@kernel
def thrown_suits(observation: Array, public: int, t: Row, o: Row, view: Row) -> int:
    """Return the side suits from which partner has discarded when another suit was led, as bits.

    A side suit is any suit but trump. The complete tricks are replayed from the observation. The
    other fields of `view` must have been read, and the strain must be a suit.
    """
    strain = view.strain
    leader = opening_leader(t, view.dealer, view.declarer, view.sitting_out)
    thrown = 0
    for trick in range(1, view.tricks_won[0] + view.tricks_won[1] + 1):
        led = SUIT_OF[strain, card_of(observation, public, t, o, leader, trick)]
        winner, most = leader, 0
        for turn in range(4):
            seat = (leader + turn) & 3
            if seat == view.sitting_out:
                continue
            card = card_of(observation, public, t, o, seat, trick)
            if seat == 2 and SUIT_OF[strain, card] != led:
                thrown |= 1 << SUIT_OF[strain, card]
            if t.power[strain, led, card] > most:
                winner, most = seat, t.power[strain, led, card]
        leader = winner
    return thrown & ~(1 << strain)


@kernel
def declarer_suits(observation: Array, public: int, t: Row, o: Row, view: Row) -> int:
    """Return the suits of the cards that the declarer of a single deck has played, as bits.

    `view.strain` and `view.declarer` must be set.
    """
    first, suits = public + o.played + view.declarer * t.kinds, 0
    played = gather_bits(observation, first, t.kinds, 0)
    for suit in range(4):
        if played & t.suit_bits[view.strain, suit]:
            suits |= 1 << suit
    return suits


@kernel
def card_of(observation: Array, public: int, t: Row, o: Row, seat: int, trick: int) -> int:
    """Return the kind that a seat played to trick `trick`, counted from 1.

    0, which is also the kind of the ace of clubs, is returned if the seat has not played to it.
    """
    kinds = t.kinds
    first = public + o.played + seat * t.copies * kinds
    for at in range(t.copies * kinds):
        if observation[first + at] == trick:
            return at % kinds
    return 0
