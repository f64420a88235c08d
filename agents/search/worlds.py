"""Worlds: whole positions that agree with everything the seat to act has seen, and nothing more.

From one observation the hand is told again as a script (a state row that holds the calls, the
cards put aside and the cards played, and hands that may have come to that), and played through by
the game's own kernels to where it stands. `resample.py` then redeals what the seat cannot know.
Seats are those of the observation: 0 is the seat to act.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.rule.view import read_view
from bideuchre_env.core.hands import NO_CARDS, held, put, take
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.observation.layout import CLIP
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.replay import deal_replay, next_action
from bideuchre_env.core.state import (
    GIVING,
    NAMING,
    PASSING,
    PLAY,
)
from bideuchre_env.core.step import apply, is_legal
from bideuchre_env.core.tables import ROUNDS
from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS, MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.intrinsics import load_word, lowest_bit, popcount
from bideuchre_env.runtime.jit import Array, Row, Word, kernel


@kernel
def read_pile(row: Array, at: int, kinds: int, cards: Array) -> int:
    """Write the kinds counted in a block to one half of an exchange; how many, or -1."""
    n = 0
    cards[:] = -1
    for kind in range(kinds):
        copies = row[at + kind]
        if copies < 0 or copies > 2 or n + copies > len(cards):
            return -1
        for _ in range(copies):
            cards[n] = kind
            n += 1
    return n


@kernel
def read_plays(row: Array, t: Row, o: Row, plays: Array) -> bool:
    """Write who played what to which trick; False if no game can give such a block."""
    kinds, copies, tricks = t.kinds, t.copies, t.tricks
    plays[:] = -1
    at = o.private + o.played
    for seat in range(N_SEATS):
        for i in range(kinds * copies):
            trick = row[at + i]
            if trick != 0:
                place = seat * MAX_TRICKS + trick - 1
                if trick < 0 or trick > tricks or plays[place] >= 0:
                    return False
                plays[place] = i % kinds
        at += kinds * copies
    return True


@kernel
def read_numbers(row: Array, t: Row, o: Row, a: Row) -> bool:
    """Scores and deals that look like those of the observation, which clips them."""
    public = o.private
    for side in range(2):
        score = row[public + o.score + side]
        if o.to_go >= 0:
            to_go = row[public + o.to_go + side]
            if to_go < CLIP:
                score = t.target - to_go
        a.score[side] = score
    left = row[public + o.hands_left]
    a.hands_dealt = t.max_hands - left + 1
    a.hands_played = max(0, a.hands_dealt - 1)
    if t.win_rule == ROUNDS:
        a.hands_played = t.hands_to_play - left
    return left > 0 and a.hands_played >= 0 and a.hands_dealt > 0


@kernel
def fill(a: Row, seat: int, rest: int, wanted: int) -> int:
    """Fill a hand up to so many cards with the lowest kinds of `rest`; what is left of that."""
    while popcount(a.hands[seat]) < wanted:
        if rest <= 0:
            return NO_CARDS
        kind = lowest_bit(rest & KIND_BITS)
        a.hands[seat] = put(a.hands[seat], kind)
        rest = take(rest, kind)
    return rest


@kernel
def read_script(row: Array, t: Row, o: Row, v: Row, a: Row) -> bool:
    """Write to `a` the hand so far, and hands dealt that may have come to that.

    `v` is the view of the row. False if no game can give such an observation to a seat to act.
    """
    kinds, tricks, phase = t.kinds, t.tricks, v.phase
    if phase < 0 or v.dealer < 0 or row[o.private + o.to_act] != 1:
        return False
    a.dealer = v.dealer
    a.strain = -1 if phase <= NAMING else v.strain
    for seat in range(N_SEATS):
        a.calls[seat] = v.calls[seat]
        a.call_strains[seat] = v.call_strains[seat]
    a.given[:] = -1
    a.passed[:] = -1
    n_given, n_passed = 0, 0
    if o.discarded >= 0:
        n_given = read_pile(row, o.discarded, kinds, a.given)
        n_passed = read_pile(row, o.passed, kinds, a.passed)
    if n_given < 0 or n_passed < 0 or not read_numbers(row, t, o, a):
        return False
    if not read_plays(row, t, o, a.plays):
        return False
    rest = (1 << kinds) - 1
    rest |= rest << COPY_SHIFT if t.copies == 2 else 0
    for seat in range(N_SEATS):
        a.hands[seat] = 0
        for trick in range(tricks):
            kind = a.plays[seat * MAX_TRICKS + trick]
            if kind >= 0:
                a.hands[seat] = put(a.hands[seat], kind)
                rest = take(rest, kind)
    for kind in range(kinds):
        for _ in range(row[o.hand + kind]):
            a.hands[0] = put(a.hands[0], kind)
            rest = take(rest, kind)
    if rest < 0:
        return False
    wanted = 0
    if v.declarer >= 0 and v.level >= 0:
        wanted = t.exchange[v.level]
    if wanted == 0 and n_given + n_passed > 0:
        return False
    rest = before_exchange(t, v, a, wanted, n_given, n_passed, rest)
    for seat in range(1, N_SEATS):
        rest = fill(a, seat, rest, tricks)
    return rest == 0 and popcount(a.hands[0]) == tricks


@kernel
def before_exchange(
    t: Row, v: Row, a: Row, wanted: int, n_given: int, n_passed: int, rest: int
) -> int:
    """Turn an exchange back in the hands: what is left of `rest`, or `NO_CARDS`.

    What the seat does not know of it is made up, from the cards it does not know.
    """
    declarer, phase, tricks = v.declarer, v.phase, t.tricks
    partner = (declarer + 2) & 3
    if wanted == 0 or phase < GIVING or rest < 0:
        return rest
    if phase < PLAY and (declarer if phase == GIVING else partner) != 0:
        return NO_CARDS
    if declarer == 0:
        for i in range(n_given):
            a.hands[0] = put(a.hands[0], a.given[i])
            rest = take(rest, a.given[i])
        if phase == PLAY:
            if n_given != wanted or n_passed != wanted:
                return NO_CARDS
            hand_over(a, 0, partner, wanted)
        return rest
    if phase == PASSING:
        for i in range(n_passed):
            a.hands[0] = put(a.hands[0], a.passed[i])
            rest = take(rest, a.passed[i])
    rest = fill(a, declarer, rest, tricks)
    if rest < 0:
        return rest
    if phase == PASSING:
        give_lowest(a, declarer, wanted, a.given)
        return rest
    give_lowest(a, declarer, wanted, a.passed)
    hand_over(a, declarer, partner, wanted)
    for i in range(wanted):
        if rest <= 0:
            return NO_CARDS
        a.given[i] = lowest_bit(rest & KIND_BITS)
        a.hands[declarer] = put(a.hands[declarer], a.given[i])
        rest = take(rest, a.given[i])
    return rest


@kernel
def give_lowest(a: Row, seat: int, wanted: int, cards: Array) -> None:
    """Write the lowest kinds of a hand of so many cards or more to one half of an exchange."""
    hand = a.hands[seat]
    for i in range(wanted):
        kind = lowest_bit(hand & KIND_BITS)
        cards[i] = kind
        hand = take(hand, kind)


@kernel
def hand_over(a: Row, declarer: int, partner: int, wanted: int) -> None:
    """Give the cards passed back to the partner; a hand that lacks one is left as it is."""
    for i in range(wanted):
        kind = a.passed[i]
        left = take(a.hands[declarer], kind)
        if left >= 0:
            a.hands[declarer] = left
            a.hands[partner] = put(a.hands[partner], kind)


@kernel
def play_script(a: Row, t: Row, s: Row) -> bool:
    """Carry the script out from the deal in `s`; False where it is not what a game can be.

    Whether suit was followed is not asked: the hands not known need not allow what was played.
    """
    action = next_action(a, t, s)
    while action >= 0:
        if s.phase >= GIVING:
            kind = action - t.card_offset
            if held(s.hands[s.turn], kind) == 0:
                return False
        elif not is_legal(s, t, action):
            return False
        apply(s, t, action)
        action = next_action(a, t, s)
    return True


@kernel
def rebuild(row: Array, t: Row, o: Row, v: Row, script: Row, world: Row, again: Array) -> bool:
    """Make of an observation, int8 (D,), a whole position that gives it: in `world`.

    Rewrites `v`, `script` and `again`, int8 (D,). False if no game can give this observation to a
    seat that is to act.
    """
    read_view(row, t, o, v)
    if not read_script(row, t, o, v, script):
        return False
    deal_replay(script, world)
    if not play_script(script, t, world):
        return False
    if world.phase != v.phase or world.turn != 0:
        return False
    encode(world, t, o, 0, again)
    same = True
    for i in range(o.entries):
        same = same and row[i] == again[i]
    return same


@kernel
def stream_of(row: Array, n: int, low: Word) -> Word:
    """The number the worlds of an observation, int8 (n,), are drawn from: any change changes it."""
    word, i = mix(low + GOLDEN), 0
    while i + 8 <= n:
        word = mix(word ^ load_word(row, i)) + GOLDEN
        i += 8
    while i < n:
        word = mix(word ^ np.uint64(row[i] & 255)) + GOLDEN
        i += 1
    return word
