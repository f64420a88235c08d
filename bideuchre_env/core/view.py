"""The view of a seat: its knowledge of a state row, cards as bit masks, the rest as numbers.

Agents and the features of networks decide by views. `see` computes the fields from a state row and
the game's tables; only `for_points` is set by `new_view`, and `turning` by agents. Seats are
relative: 0 self, 1 left, 2 partner, 3 right. -1 stands for "none". A set of kinds or suits is an
integer with a bit for each.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.observation.decode import decode_entries, find_leaders
from bideuchre_env.core.observation.encode import clip, hands_left
from bideuchre_env.core.records import Offsets, State, Tables, View
from bideuchre_env.core.state import DEAL, PLAY
from bideuchre_env.core.step import read_mask
from bideuchre_env.core.tables import ROUNDS
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import (
    COPY_SHIFT,
    KIND_BITS,
    MAX_KINDS,
    MAX_TRICKS,
    N_SEATS,
    NO_TRUMP,
)
from bideuchre_env.runtime.intrinsics import line_of, popcount
from bideuchre_env.runtime.jit import Array, inline_kernel, kernel, new_rows

VIEW = np.dtype(
    [
        ("for_points", np.int64),  # 1: the points of each hand are the goal; 0: the game
        ("phase", np.int64),  # Phase, or -1 when the hand is over
        ("dealer", np.int64),  # seat
        ("calls", np.int64, (4,)),  # by seat: -1 none yet, 0 pass, 1 + level a bid
        ("call_strains", np.int64, (4,)),  # by seat: strain of its bid, or -1
        ("calls_made", np.int64),
        ("standing", np.int64),  # seat of the highest call so far, or -1
        ("level", np.int64),  # of the standing or winning bid, or -1
        ("strain", np.int64),  # of the standing or winning bid, or -1
        ("declarer", np.int64),  # seat, or -1 while the auction runs
        ("sitting_out", np.int64),  # seat, or -1
        ("score", np.int64, (2,)),  # ours, theirs, clipped to int8
        ("to_go", np.int64, (2,)),  # points to the target, at least 1
        ("rounds", np.int64),  # 1: most points after `hands_left` deals win; 0: a target
        ("hands_left", np.int64),
        ("turning", np.float64, (2,)),  # `win_curve.read_time`, if it was called
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
        ("thrown", np.int64),  # side suits partner has discarded, as bits; 0 unless we lead
        # suits but the suit led that a lone declarer has played, as bits; 0 unless we follow to its
        # trick in a single deck
        ("abandoned", np.int64),
    ],
    align=True,
)


def new_view(for_points: bool = False) -> Array:
    """Return a new view, an array of one row; `see` fills it in.

    Agents play for the points of each hand if `for_points`, else to win the game. All other fields
    are 0.
    """
    views = new_rows(VIEW, 1)
    views["for_points"] = for_points
    return views


@kernel
def count(view: View, kinds: int) -> int:
    """Return the number of unseen cards whose kinds are in the bit mask `kinds`."""
    return popcount(view.unseen & kinds) + popcount(view.unseen_pair & kinds)


@kernel
def count_held(view: View, kinds: int) -> int:
    """Return the number of cards in hand whose kinds are in the bit mask `kinds`."""
    return popcount(view.held & kinds) + popcount(view.held_pair & kinds)


@kernel
def see_observation(
    observation: Array, mask: Array, t: Tables, o: Offsets, known: State, view: View
) -> int:
    """Fill `view` from an observation, int8 (D,); return the legal bits of its mask, int8 (A,).

    The row that the observing seat knows is written to `known`, in which it is seat 0. `o` are the
    offsets of the observation's blocks.
    """
    see_entries(observation, t, o, known, view)
    return read_mask(t, view.phase, mask)


@kernel
def see_entries(observation: Array, t: Tables, o: Offsets, known: State, view: View) -> None:
    """Fill `known` and `view` as `see_observation`; leaders of tricks only if the view needs them.

    Deriving them takes as long as all the rest.
    """
    decode_entries(observation, t, o, known)
    if known.led < 0 and known.voids[2] != 0:  # for `thrown`
        find_leaders(known, t)
    see(known, t, 0, view)


@kernel
def see(s: State, t: Tables, seat: int, view: View) -> None:
    """Fill `view` with a seat's knowledge of the state `s`, but not `for_points` and `turning`.

    The fields of the trick (`led`, `winning`, `winning_kind`, `after`), `void`, `cards_left`,
    `thrown` and `abandoned` are written only in the card play; in other phases they are unchanged.
    """
    view.phase = s.phase if s.phase < DEAL else -1
    see_contract(s, t, seat, view)
    see_scores(s, t, seat, view)
    seen, seen_pair = see_exchange(s, t, view)
    if s.phase == PLAY:
        played, played_twice = played_kinds(s, t)
        seen_pair |= played_twice | (seen & played)
        seen |= played
    show_hand(view, t, s.hands[seat], seen, seen_pair)
    if s.phase == PLAY:
        see_trick(s, seat, view)
        view.thrown = 0
        if view.led < 0 and view.void[2] != 0 and view.trumps != 0:
            view.thrown = thrown_suits(s, t, (seat + 2) & 3)
        view.abandoned = 0
        if t.copies == 1 and view.led >= 0 and view.sitting_out >= 0 and view.declarer & 1:
            view.abandoned = declarer_suits(s, t) & ~(1 << view.led)


@inline_kernel
def see_contract(s: State, t: Tables, seat: int, view: View) -> None:
    """Write the dealer, the calls so far, and the standing bid or the contract."""
    strain = s.strain
    view.dealer = (s.dealer - seat) & 3
    for rel in range(N_SEATS):
        who = (seat + rel) & 3
        view.calls[rel] = s.calls[who]
        view.call_strains[rel] = s.call_strains[who]
    view.calls_made = s.calls_made
    view.standing = (s.declarer - seat) & 3 if s.declarer >= 0 else -1
    view.level = s.level
    view.strain = strain
    view.declarer = view.standing if s.calls_made == N_SEATS else -1
    view.sitting_out = (s.sitting_out - seat) & 3 if s.sitting_out >= 0 else -1
    view.trumps = t.suit_bits[strain, strain] if 0 <= strain < NO_TRUMP else 0


@inline_kernel
def see_scores(s: State, t: Tables, seat: int, view: View) -> None:
    """Write scores, points to the target, hands left (and `rounds`), and tricks won."""
    view.rounds = 1 if t.win_rule == ROUNDS else 0
    view.hands_left = clip(hands_left(s, t))
    for i in range(2):
        side = (seat & 1) ^ i
        view.score[i] = clip(s.score[side])
        view.to_go[i] = 1 if t.win_rule == ROUNDS else max(1, clip(t.target - s.score[side]))
        view.tricks_won[i] = s.tricks_won[side]


@inline_kernel
def see_exchange(s: State, t: Tables, view: View) -> tuple[int, int]:
    """Write the part of the exchange that the seat knows.

    Returns the kinds that it has given up or laid away, and those twice, as bits. Cards of an open
    exchange that partner has returned do not count.
    """
    seen, seen_pair = 0, 0
    view.given = 0
    view.received = 0
    if view.declarer == 0:
        seen, seen_pair = add_kinds(0, 0, s.given)
        view.given = popcount(seen) + popcount(seen_pair)
        if t.open_exchange and s.phase >= PLAY:
            for i in range(MAX_EXCHANGE):
                back = 1 << s.passed[i] if s.passed[i] >= 0 else 0
                twice = seen_pair & back
                seen_pair ^= twice
                seen &= ~(back ^ twice)
        if t.kitty > 0:
            seen, seen_pair = add_kinds(seen, seen_pair, s.laid)
    if view.declarer == 2 or (view.declarer == 0 and s.phase >= PLAY):
        view.received, _ = add_kinds(0, 0, s.passed)
    return seen, seen_pair


@inline_kernel
def add_kind(seen: int, seen_pair: int, kind: int) -> tuple[int, int]:
    """Add a card to `seen`, kinds as bits; if it is there already, also to `seen_pair`.

    Returns the new `seen` and `seen_pair`.
    """
    return seen | 1 << kind, seen_pair | seen & 1 << kind


@inline_kernel
def add_kinds(seen: int, seen_pair: int, cards: Array) -> tuple[int, int]:
    """Add the kinds in `cards` (-1: none), laid away, given up or passed, as `add_kind`."""
    for i in range(len(cards)):
        if cards[i] >= 0:
            seen, seen_pair = add_kind(seen, seen_pair, cards[i])
    return seen, seen_pair


@inline_kernel
def played_kinds(s: State, t: Tables) -> tuple[int, int]:
    """Return the kinds played in this hand, and those played twice, as bits."""
    tags = line_of(s.tags)
    twice = gather_bits(tags, MAX_KINDS, t.kinds, 0) if t.copies == 2 else 0
    return gather_bits(tags, 0, t.kinds, 0), twice


@kernel
def show_hand(view: View, t: Tables, hand: int, seen: int, seen_pair: int) -> None:
    """Write the cards held and unseen to the view of a seat with this hand.

    `seen` are the kinds seen outside the hand, `seen_pair` those seen twice (bits).
    """
    once, pair, deck = hand & KIND_BITS, hand >> COPY_SHIFT, (1 << t.kinds) - 1
    view.held = once
    view.held_pair = pair
    if t.copies == 2:
        view.unseen = deck & ~(pair | seen_pair | (once & seen))
        view.unseen_pair = deck & ~(once | seen)
    else:
        view.unseen = deck & ~(once | seen)
        view.unseen_pair = 0
    view.n_unseen = popcount(view.unseen) + popcount(view.unseen_pair)


@inline_kernel
def see_trick(s: State, seat: int, view: View) -> None:
    """Write the current trick, the seats still to play, and each seat's cards left and voids."""
    led, trick, left = s.led, s.trick, popcount(s.hands[seat])
    view.led = led
    view.winning = (s.winning - seat) & 3 if led >= 0 else -1
    view.winning_kind = s.plays[s.winning * MAX_TRICKS + trick] if view.winning > 0 else -1
    view.after = 0
    view.cards_left[0] = left
    view.void[0] = s.voids[seat]
    for rel in range(1, N_SEATS):
        who = (seat + rel) & 3
        played, out = s.plays[who * MAX_TRICKS + trick] >= 0, who == s.sitting_out
        view.void[rel] = s.voids[who]
        view.cards_left[rel] = 0 if out else left - (1 if played else 0)
        view.after |= 0 if played or out else 1 << rel


@kernel
def thrown_suits(s: State, t: Tables, seat: int) -> int:
    """Return the side suits that a seat has discarded when another suit was led, as bits.

    A side suit is any suit but trump, which must be a suit. The state `s` is in the play.
    """
    strain, thrown = s.strain, 0
    for trick in range(s.trick):
        suit = t.suit_of[strain, s.plays[seat * MAX_TRICKS + trick]]
        if suit != t.suit_of[strain, s.plays[s.leaders[trick] * MAX_TRICKS + trick]]:
            thrown |= 1 << suit
    return thrown & ~(1 << strain)


@kernel
def declarer_suits(s: State, t: Tables) -> int:
    """Return the suits of the cards that the declarer has played, as bits; `s` is in the play."""
    suits = 0
    for trick in range(s.trick + 1):
        kind = s.plays[s.declarer * MAX_TRICKS + trick]
        if kind >= 0:
            suits |= 1 << t.suit_of[s.strain, kind]
    return suits
