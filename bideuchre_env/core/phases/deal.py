"""The random stream of a row, the first dealer, the shuffle and the deal.

Each row has its own stream, xoroshiro128++ with 128 bits of state, enough for every deal of a
48-card deck (88 bits). It is seeded from one number: row i of a batch with seed s has exactly the
stream of a single environment with seed s + i. Only dealing draws from it, so the n-th deal of a
seed does not depend on the play.
"""

from __future__ import annotations

import secrets

import numpy as np

from bideuchre_env._checks import brief, is_integer
from bideuchre_env.core.hands import held, put
from bideuchre_env.core.records import State, Tables
from bideuchre_env.core.state import AUCTION, DEAL, UNFINISHED
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array, Row, Word, inline_kernel, kernel

SEED_LIMIT = 1 << 128
_WORD = (1 << 64) - 1

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_LOW_32 = np.uint64(0xFFFFFFFF)
_ONE_53RD = 2.0**-53


def split_seed(seed: int | None) -> tuple[np.uint64, np.uint64]:
    """Return the low and the high 64 bits of a seed; None draws them from the operating system.

    Raises `OptionError` unless the seed is a whole number from 0 to 2**128 - 1.
    """
    if seed is None:
        seed = secrets.randbits(128)
    if not is_integer(seed) or not 0 <= int(seed) < SEED_LIMIT:
        raise OptionError(f"seed={brief(seed)}: expected a whole number from 0 to 2**128 - 1")
    return np.uint64(int(seed) & _WORD), np.uint64(int(seed) >> 64)


@kernel
def mix(x: Word) -> Word:
    """splitmix64's finaliser of a uint64: every output bit depends on every input bit."""
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


@kernel
def seed_stream(s: State, low: Word, high: Word) -> None:
    """Seed the row's stream. Four Feistel rounds: distinct seeds give distinct streams."""
    x, y = low, high
    y ^= mix(x + GOLDEN)
    x ^= mix(y + _MIX_1)
    y ^= mix(x + _MIX_2)
    x ^= mix(y + GOLDEN)
    if x == np.uint64(0) and y == np.uint64(0):
        x = GOLDEN  # the one state the generator cannot leave
    s.rng[0] = x
    s.rng[1] = y


@inline_kernel
def seed_players(s: State, row: Row) -> None:
    """Seed the stream of a row's players from that of its game, before anything is drawn.

    The swapped words seed a second stream, far from the first.
    """
    seed_stream(row, s.rng[1], s.rng[0])


@kernel
def next_word(s: State) -> Word:
    """Return the next 64 bits of the row's random stream."""
    x, y = s.rng[0], s.rng[1]
    z = x + y
    out = ((z << np.uint64(17)) | (z >> np.uint64(47))) + x
    y ^= x
    s.rng[0] = ((x << np.uint64(49)) | (x >> np.uint64(15))) ^ y ^ (y << np.uint64(21))
    s.rng[1] = (y << np.uint64(28)) | (y >> np.uint64(36))
    return out


@inline_kernel
def fraction(word: Word) -> float:
    """Return a random word as a number in [0, 1)."""
    return float(word >> np.uint64(11)) * _ONE_53RD


@kernel
def bounded(s: State, n: int) -> int:
    """Draw a uniform number from 0 to n - 1 (n < 2**31) without bias, by Lemire's rejection."""
    bound = np.uint64(n)
    product = (next_word(s) >> np.uint64(32)) * bound
    if (product & _LOW_32) < bound:
        threshold = (np.uint64(1 << 32) - bound) % bound
        while (product & _LOW_32) < threshold:
            product = (next_word(s) >> np.uint64(32)) * bound
    return int(product >> np.uint64(32))


@kernel
def shuffle(s: State, n_cards: int, keep: int) -> None:
    """Shuffle `s.plays[:n_cards]` in place (Fisher-Yates), except the order of the first `keep`.

    So the first `keep` places get a random set of cards, in no random order: it is one hand. Four
    draws share one 32-bit word (the remainder of each product feeds the next, as Brackett-Rozinsky
    and Lemire showed), and are drawn again together in the rare biased case.
    """
    last = n_cards - 1
    while last >= keep:
        batch = min(4, last - keep + 1)
        span = np.uint64(1)
        for j in range(batch):
            span *= np.uint64(last + 1 - j)
        threshold = np.uint64(0)
        repeated = False
        while True:
            rest = next_word(s) >> np.uint64(32)
            picked = np.uint64(0)
            for j in range(batch):
                product = rest * np.uint64(last + 1 - j)
                rest = product & _LOW_32
                picked |= (product >> np.uint64(32)) << np.uint64(8 * j)
            if rest >= span:
                break
            if not repeated:
                threshold = np.uint64(1 << 32) % span
                repeated = True
            if rest >= threshold:
                break
        for j in range(batch):
            chosen = int((picked >> np.uint64(8 * j)) & np.uint64(255))
            card = s.plays[chosen]
            s.plays[chosen] = s.plays[last - j]
            s.plays[last - j] = card
        last -= batch


@kernel
def start_game(s: State, dealer: int) -> None:
    """Start a new game at 0 to 0, not dealt yet; `dealer` is a seat, or -1 for a random one.

    A dealer is drawn from the stream in both cases, so that a given dealer does not change the
    cards.
    """
    s.score[0] = 0
    s.score[1] = 0
    s.hands_dealt = 0
    s.hands_played = 0
    s.outcome = UNFINISHED
    s.winner = -1
    s.phase = DEAL
    drawn = bounded(s, N_SEATS)
    s.dealer = dealer if dealer >= 0 else drawn


@kernel
def next_dealer(s: State, t: Tables) -> None:
    """Pass the deal to the left, except before the first deal of a game.

    After a passed-out hand the same dealer deals again if `t.redeal_same` is 1.
    """
    passed_out = s.level < 0
    if s.hands_dealt > 0 and not (passed_out and t.redeal_same == 1):
        s.dealer = (s.dealer + 1) & 3


@kernel
def begin_hand(s: State) -> None:
    """Reset the fields of the hand and start its auction; the four hands are dealt already."""
    s.hands_dealt += 1
    s.phase = AUCTION
    s.turn = (s.dealer + 1) & 3
    s.declarer = -1
    s.level = -1
    s.strain = -1
    s.sitting_out = -1
    s.bidders = 0
    s.bid_strains = 0
    s.calls_made = 0
    s.picks = 0
    s.trick = 0
    s.led = -1
    s.winning = -1
    s.winning_power = 0
    s.points[0] = 0
    s.points[1] = 0
    s.tricks_won[0] = 0
    s.tricks_won[1] = 0
    s.calls[:] = -1
    s.call_strains[:] = -1
    s.laid[:] = -1
    s.given[:] = -1
    s.passed[:] = -1
    s.voids[:] = 0
    s.leaders[:] = -1
    s.plays[:] = -1
    s.tags[:] = 0


@inline_kernel
def deal_kitty(s: State, t: Tables) -> None:
    """Put the rest of the deck into the kitty, by kind; the four hands are dealt already."""
    s.kitty[:] = -1
    if t.kitty == 0:
        return
    n = 0
    for kind in range(t.kinds):
        copies = t.copies
        for seat in range(N_SEATS):
            copies -= held(s.hands[seat], kind)
        for _ in range(min(copies, t.kitty - n)):
            s.kitty[n] = kind
            n += 1


@kernel
def deal_hand(s: State, t: Tables) -> None:
    """Choose the next dealer, shuffle, deal all cards and begin the hand.

    The array of plays, about to be cleared, serves as the deck.
    """
    next_dealer(s, t)
    kinds, each = t.kinds, t.tricks
    for i in range(kinds):
        s.plays[i] = i
        if t.copies == 2:
            s.plays[kinds + i] = i
    shuffle(s, each * N_SEATS + t.kitty, each)
    for seat in range(N_SEATS):
        hand = 0
        for i in range(seat * each, (seat + 1) * each):
            hand = put(hand, s.plays[i])
        s.hands[seat] = hand
    deal_kitty(s, t)
    begin_hand(s)


@kernel
def deal_given(s: State, t: Tables, hands: Array) -> None:
    """Choose the next dealer, deal these four hands, int64 (4,), and begin the hand."""
    next_dealer(s, t)
    for seat in range(N_SEATS):
        s.hands[seat] = hands[seat]
    deal_kitty(s, t)
    begin_hand(s)
