"""Kernels that read observations: the state row that the observing seat knows.

The inverse of `encode`: `encode(decode(observation))` is the observation again. Seats become
relative, the observer is seat 0. An observation that no game has is safe to read; the row is then
meaningless, but its numbers can be used as indices like those of any other row.

In the kernels, `public` is the index of the first public entry.
"""

from __future__ import annotations

from bideuchre_env.core.bits import gather_bits
from bideuchre_env.core.phases.auction import put_level
from bideuchre_env.core.phases.play import opening_leader, tag
from bideuchre_env.core.records import Offsets, State, Tables
from bideuchre_env.core.state import AUCTION, DEAL, GIVING, PASSING, PLAY
from bideuchre_env.core.tables import ONCE, ROUNDS
from bideuchre_env.rules.cards import COPY_SHIFT, MAX_KINDS, MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.intrinsics import line_of, lowest_bit
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel

CLIP = 127
"""Scores and counts are clipped to -127 to 127 in an observation."""


@inline_kernel
def one_hot(observation: Array, at: int, n: int) -> int:
    """Return the index (0 to n - 1) of the first 1 among n entries from `at` on, -1 if none."""
    bits = gather_bits(observation, at, n, 0)
    return lowest_bit(bits) if bits else -1


@kernel
def decode(observation: Array, t: Tables, o: Offsets, s: State) -> None:
    """Write the knowledge of the observing seat to the row `s`, from its observation, int8 (D,).

    The hands of the other seats are empty, and unknown cards of an exchange are -1. Numbers that
    are clipped in the observation stay so. A hand that is over is in phase DEAL. The random stream,
    the points and the outcome are not written.
    """
    decode_entries(observation, t, o, s)
    find_leaders(s, t)


@kernel
def decode_entries(observation: Array, t: Tables, o: Offsets, s: State) -> None:
    """Write as `decode`, but not the fields that `find_leaders` derives."""
    public = o.private
    phase = one_hot(observation, public + o.phase, DEAL)
    s.phase = phase if phase >= 0 else DEAL
    s.turn = one_hot(observation, public + o.to_act, N_SEATS)
    s.dealer = one_hot(observation, public + o.dealer, N_SEATS)
    decode_calls(observation, public, t, o, s)
    decode_private(observation, t, o, s)
    decode_game(observation, public, t, o, s)
    decode_play(observation, public, t, o, s)


@inline_kernel
def decode_calls(observation: Array, public: int, t: Tables, o: Offsets, s: State) -> None:
    """Read the calls so far, and the standing bid or the contract; `s.dealer` must be set."""
    width = 1 + t.n_levels
    s.calls_made = 0
    s.declarer = -1
    s.level = -1
    s.strain = -1
    s.sitting_out = -1
    for turn in range(1, N_SEATS + 1):  # in order: the dealer may take over an equal bid
        seat = (s.dealer + turn) & 3
        call = one_hot(observation, public + o.calls + seat * width, width)
        strain = -1
        if call > 0 and o.call_strains >= 0:
            strain = one_hot(observation, public + o.call_strains + seat * t.n_strains, t.n_strains)
        s.calls[seat] = call
        s.call_strains[seat] = strain
        s.calls_made += 1 if call >= 0 else 0
        if call > 0:
            s.declarer = seat
            s.level = call - 1
            s.strain = strain
    s.bidders = 0
    s.bid_strains = 0
    if t.auction != ONCE:
        decode_rounds(observation, public, t, o, s)
    if s.calls_made == N_SEATS and s.declarer >= 0:
        s.strain = one_hot(observation, public + o.strain, t.n_strains)
        if o.sitting_out >= 0:
            s.sitting_out = one_hot(observation, public + o.sitting_out, N_SEATS)


@kernel
def decode_rounds(observation: Array, public: int, t: Tables, o: Offsets, s: State) -> None:
    """Read every bid of an auction in rounds; the phase and `s.calls` must be set.

    `s.calls` of a seat that has bid is its lowest bid or a pass, and becomes its last call.
    """
    width = 1 + t.n_levels
    s.calls_made = min(s.calls_made, N_SEATS - 1) if s.phase == AUCTION else N_SEATS
    s.declarer = -1
    s.level = -1
    s.strain = -1
    for level in range(t.n_levels):
        for seat in range(N_SEATS):
            if observation[public + o.calls + seat * width + 1 + level] == 0 or s.level == level:
                continue
            strain = -1
            if o.bid_strains >= 0:
                at = public + o.bid_strains + level * t.n_strains
                strain = one_hot(observation, at, t.n_strains)
                s.call_strains[seat] = strain
            s.bidders = put_level(s.bidders, level, seat)
            s.bid_strains = put_level(s.bid_strains, level, strain)
            if s.calls[seat] != 0:
                s.calls[seat] = 1 + level
            s.declarer = seat
            s.level = level
            s.strain = strain


@inline_kernel
def decode_private(observation: Array, t: Tables, o: Offsets, s: State) -> None:
    """Read the hand, and the exchange as far as the seat knows it."""
    pairs = gather_bits(observation, o.hand, t.kinds, 1) if t.copies == 2 else 0
    for seat in range(N_SEATS):
        s.hands[seat] = 0
    s.hands[0] = gather_bits(observation, o.hand, t.kinds, 0) | pairs << COPY_SHIFT
    s.picks = 0
    s.kitty[:] = -1
    s.laid[:] = -1
    s.given[:] = -1
    s.passed[:] = -1
    if o.discarded >= 0:
        given = decode_pile(observation, o.discarded, t.kinds, s.given)
        passed = decode_pile(observation, o.passed, t.kinds, s.passed)
        s.picks = given if s.phase == GIVING else passed if s.phase == PASSING else 0
    if t.kitty > 0:
        decode_kitty(observation, t, o, s)


@kernel
def decode_kitty(observation: Array, t: Tables, o: Offsets, s: State) -> None:
    """Read the cards that the declarer took up and laid away, as `decode_private` does."""
    decode_pile(observation, o.kitty, t.kinds, s.kitty)
    laid = decode_pile(observation, o.laid_away, t.kinds, s.laid)
    if s.phase == GIVING and laid < t.kitty:
        s.picks = laid


@inline_kernel
def decode_pile(observation: Array, at: int, kinds: int, cards: Array) -> int:
    """Read counts by kind from `observation[at]` on into `cards`; return the number of cards.

    `cards`, filled with -1, gets an entry for each copy.
    """
    n, once = 0, gather_bits(observation, at, kinds, 0)
    while once and n < len(cards):
        kind = lowest_bit(once)
        once &= once - 1
        for _ in range(min(observation[at + kind], len(cards) - n)):
            cards[n] = kind
            n += 1
    return n


@inline_kernel
def decode_game(observation: Array, public: int, t: Tables, o: Offsets, s: State) -> None:
    """Read scores, and the numbers of hands dealt and played; the calls must have been read."""
    for side in range(2):
        score = observation[public + o.score + side]
        s.score[side] = score
        if o.to_go >= 0:
            to_go = observation[public + o.to_go + side]
            if to_go < CLIP:  # of more than 8 bits, unlike the score
                s.score[side] = t.target - to_go
    left = observation[public + o.hands_left]
    s.hands_dealt = t.max_hands - left + 1
    s.hands_played = max(0, s.hands_dealt - 1)
    if t.win_rule == ROUNDS:
        this_one = 1 if s.phase == DEAL and s.level >= 0 else 0
        s.hands_played = t.hands_to_play - left + this_one


@inline_kernel
def decode_play(observation: Array, public: int, t: Tables, o: Offsets, s: State) -> None:
    """Read the card play; the calls must have been read."""
    tricks, kinds = t.tricks, t.kinds
    for side in range(2):
        s.tricks_won[side] = observation[public + o.tricks_won + side]
    last = tricks - 1 if s.phase == PLAY else tricks
    s.trick = min(max(s.tricks_won[0] + s.tricks_won[1], 0), last)
    s.led = one_hot(observation, public + o.led, 4)
    s.winning = one_hot(observation, public + o.winning, N_SEATS) if s.led >= 0 else -1
    s.winning_power = 0
    s.plays[:] = -1
    s.tags[:] = 0
    s.leaders[:] = -1
    voids = gather_bits(observation, public + o.voids, 4 * N_SEATS, 0)
    at = public + o.played
    for seat in range(N_SEATS):
        s.voids[seat] = voids >> 4 * seat & 15
        for _ in range(t.copies):
            played = gather_bits(observation, at, kinds, 0)
            while played:
                kind = lowest_bit(played)
                played &= played - 1
                trick = observation[at + kind] - 1
                if 0 <= trick < tricks:
                    s.plays[seat * MAX_TRICKS + trick] = kind
                    s.tags[kind + (MAX_KINDS if s.tags[kind] else 0)] = tag(seat, trick)
            at += kinds


@kernel
def find_leaders(s: State, t: Tables) -> None:
    """Derive the leader of each trick, and the power of the card that wins the current one.

    After the last trick its winner is written to `s.turn`. Nothing is written before the play.
    """
    if s.phase < PLAY or s.strain < 0 or s.declarer < 0:
        return
    strain, leader = s.strain, opening_leader(t, s.dealer, s.declarer, s.sitting_out)
    for trick in range(min(s.trick + 1, t.tricks)):
        s.leaders[trick] = leader
        led, winner, most = -1, leader, 0
        for turn in range(N_SEATS):
            seat = (leader + turn) & 3
            kind = s.plays[seat * MAX_TRICKS + trick]
            if kind >= 0:
                led = t.suit_of[strain, kind] if led < 0 else led
                power = t.power[strain, led, kind]
                if power > most:
                    winner, most = seat, power
        leader = winner
        if trick == s.trick:
            s.winning_power = most
    if s.phase == DEAL:
        s.turn = leader


@entry_kernel
def decode_row(observation: Array, tables: Array, offsets: Array, known: Array) -> None:
    """Write the knowledge of the observing seat to row 0 of `known`, see `decode`."""
    decode(line_of(observation), tables[0], offsets[0], known[0])
