"""Worlds: full positions that are consistent with the observation of the seat to act.

The row that the seat knows (`core/observation/decode.py`) is completed to a replay
(`core/replay.py`), which is played by the game's own kernels. `resample.py` then redeals the cards
that the seat does not know. Seats are relative to the observation: 0 is the seat to act. Arguments
`t` and `o` are the records of the game's tables and of the offsets in an observation; `s` is a
state row.
"""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.search.proposals import deal_caller
from bideuchre_env.agents.search.workspace import SearchWorkspace
from bideuchre_env.core.hands import NO_CARDS, held, put, put_cards, take, take_cards
from bideuchre_env.core.observation.encode import encode
from bideuchre_env.core.observation.resample import prepare_redeal, redeal_row
from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.core.phases.exchange import has_kitty
from bideuchre_env.core.records import Offsets, State, Tables
from bideuchre_env.core.replay import deal_replay, next_action
from bideuchre_env.core.state import GIVING, PASSING, PLAY
from bideuchre_env.core.step import apply, is_legal
from bideuchre_env.rules.bids import MAX_EXCHANGE
from bideuchre_env.rules.cards import COPY_SHIFT, KIND_BITS, MAX_KITTY, MAX_TRICKS, N_SEATS
from bideuchre_env.runtime.intrinsics import load_word, lowest_bit, popcount
from bideuchre_env.runtime.jit import Array, Row, Word, entry_kernel, kernel


@kernel
def fill(replay: State, seat: int, rest: int, n_cards: int) -> int:
    """Fill a seat's hand in `replay` up to `n_cards` cards with the lowest kinds of `rest`.

    `rest` is a set of cards as in `core/hands.py`. Returns the cards that remain of it, or
    `NO_CARDS` if there are too few.
    """
    while popcount(replay.hands[seat]) < n_cards:
        if rest <= 0:
            return NO_CARDS
        kind = lowest_bit(rest & KIND_BITS)
        replay.hands[seat] = put(replay.hands[seat], kind)
        rest = take(rest, kind)
    return rest


@kernel
def deal_around(t: Tables, replay: State) -> bool:
    """Complete `replay`, the row that seat 0 knows (`decode`), to a replay with four dealt hands.

    Unknown cards are filled in arbitrarily, even against the rules of following suit; another
    seat's kitty is laid away again as it was taken up. Returns False if no deal and exchange fit
    the known cards.
    """
    kinds, tricks = t.kinds, t.tricks
    rest = (1 << kinds) - 1
    rest |= rest << COPY_SHIFT if t.copies == 2 else 0
    for kind in range(kinds):
        for _ in range(held(replay.hands[0], kind)):
            rest = take(rest, kind)
    for seat in range(N_SEATS):
        for trick in range(tricks):
            kind = replay.plays[seat * MAX_TRICKS + trick]
            if kind >= 0:
                replay.hands[seat] = put(replay.hands[seat], kind)
                rest = take(rest, kind)
    if rest < 0:
        return False
    rest = before_exchange(t, replay, rest)
    own_kitty = has_kitty(replay, t) and replay.declarer == 0
    if own_kitty:
        replay.hands[0] = take_cards(put_cards(replay.hands[0], replay.laid), replay.kitty)
        rest = take_cards(rest, replay.laid)
    for seat in range(1, N_SEATS):
        rest = fill(replay, seat, rest, tricks)
    if own_kitty:
        rest = put_cards(rest, replay.kitty)
    if rest < 0 or popcount(rest) != t.kitty or popcount(replay.hands[0]) != tricks:
        return False
    if has_kitty(replay, t) and not own_kitty:
        for i in range(t.kitty):
            replay.laid[i] = lowest_bit(rest & KIND_BITS)
            rest = take(rest, replay.laid[i])
    return True


@kernel
def before_exchange(t: Tables, replay: State, rest: int) -> int:
    """Change `replay.hands` from the hands after an exchange to those before it.

    Unknown cards given up and passed are taken from `rest`. Returns the cards that remain of it, or
    `NO_CARDS` if the known cards do not allow the exchange. Nothing changes before an exchange, and
    in a game without one.
    """
    declarer, phase, tricks = replay.declarer, replay.phase, t.tricks
    partner = (declarer + 2) & 3
    n_cards = t.exchange[replay.level] if replay.level >= 0 else 0
    if n_cards == 0 or phase < GIVING or rest < 0:
        return rest
    n_given, n_passed = n_cards_in(replay.given), n_cards_in(replay.passed)
    if t.open_exchange and phase >= PASSING and declarer & 1 == 0:
        if n_given != n_cards or (phase == PLAY and n_passed != n_cards):
            return NO_CARDS
        rest = before_open_exchange(replay, rest)
        return rest if phase == PLAY else fill(replay, declarer, rest, tricks)
    if declarer == 0:
        for i in range(n_given):
            replay.hands[0] = put(replay.hands[0], replay.given[i])
            rest = take(rest, replay.given[i])
        if phase == PLAY:
            if n_given != n_cards or n_passed != n_cards:
                return NO_CARDS
            hand_over(replay, 0, partner, n_cards)
        return rest
    if phase == PASSING:
        for i in range(n_passed):
            replay.hands[0] = put(replay.hands[0], replay.passed[i])
            rest = take(rest, replay.passed[i])
    rest = fill(replay, declarer, rest, tricks)
    if rest < 0:
        return rest
    if phase == PASSING:
        give_lowest(replay, declarer, n_cards, replay.given)
        return rest
    give_lowest(replay, declarer, n_cards, replay.passed)
    hand_over(replay, declarer, partner, n_cards)
    for i in range(n_cards):
        if rest <= 0:
            return NO_CARDS
        replay.given[i] = lowest_bit(rest & KIND_BITS)
        replay.hands[declarer] = put(replay.hands[declarer], replay.given[i])
        rest = take(rest, replay.given[i])
    return rest


@kernel
def before_open_exchange(replay: State, rest: int) -> int:
    """`before_exchange` for the side of a declarer whose partner has taken up the cards given up.

    All cards given up and passed are known; a card that was passed back has not changed hands.
    """
    declarer, partner, kept = replay.declarer, (replay.declarer + 2) & 3, 0
    in_play, hands = replay.phase == PLAY, replay.hands
    for i in range(n_cards_in(replay.given)):
        kept = put(kept, replay.given[i])
    for i in range(n_cards_in(replay.passed)):
        kind = replay.passed[i]
        if held(kept, kind) > 0:
            kept = take(kept, kind)
            if not in_play:
                hands[declarer] = put(hands[declarer], kind)
        else:
            hands[partner] = put(hands[partner], kind)
            if in_play:
                hands[declarer] = take(hands[declarer], kind)
        if not in_play:
            rest = take(rest, kind)
        if rest < 0 or hands[declarer] < 0:
            return NO_CARDS
    while kept & KIND_BITS:
        kind = lowest_bit(kept & KIND_BITS)
        kept = take(kept, kind)
        hands[declarer] = put(hands[declarer], kind)
        if in_play:
            rest = take(rest, kind)
        else:
            hands[partner] = take(hands[partner], kind)
        if rest < 0 or hands[partner] < 0:
            return NO_CARDS
    return rest


@kernel
def n_cards_in(cards: Array) -> int:
    """Return the number of known cards in `cards`, those given up or passed in an exchange."""
    n = 0
    for i in range(MAX_EXCHANGE):
        n += cards[i] >= 0
    return n


@kernel
def give_lowest(replay: State, seat: int, n_cards: int, cards: Array) -> None:
    """Write the `n_cards` lowest kinds of a seat's hand to `cards`; the hand keeps them."""
    hand = replay.hands[seat]
    for i in range(n_cards):
        kind = lowest_bit(hand & KIND_BITS)
        cards[i] = kind
        hand = take(hand, kind)


@kernel
def hand_over(replay: State, declarer: int, partner: int, n_cards: int) -> None:
    """Move the passed cards back from the declarer's hand to the partner's, in `replay`.

    Cards that the declarer does not hold are skipped.
    """
    for i in range(n_cards):
        kind = replay.passed[i]
        left = take(replay.hands[declarer], kind)
        if left >= 0:
            replay.hands[declarer] = left
            replay.hands[partner] = put(replay.hands[partner], kind)


@kernel
def carry_out(replay: State, t: Tables, s: State) -> bool:
    """Apply all actions of the replay to the deal in `s`; stop and return False at an illegal one.

    Whether cards follow suit is not checked, because the hands are partly arbitrary.
    """
    action = next_action(replay, t, s)
    while action >= 0:
        if s.phase >= GIVING:
            kind = action - t.card_offset
            if held(s.hands[s.turn], kind) == 0:
                return False
        elif not is_legal(s, t, action):
            return False
        apply(s, t, action)
        action = next_action(replay, t, s)
    return True


@kernel
def rebuild(
    observation: Array, t: Tables, o: Offsets, replay: State, world: State, again: Array
) -> bool:
    """Write a full position with this observation, int8 (D,), to `world`.

    `replay` is the row that the observing seat knows (`decode`); it is completed to the replay of
    the position. Returns False if no game gives this observation to the seat to act. `again`,
    int8 (D,), is scratch memory.
    """
    phase = replay.phase
    if phase > PLAY or replay.dealer < 0 or replay.turn != 0:
        return False
    if not 0 < replay.hands_dealt <= t.max_hands or replay.hands_played < 0:
        return False
    if not deal_around(t, replay):
        return False
    deal_replay(replay, t, world)
    if not carry_out(replay, t, world):
        return False
    if world.phase != phase or world.turn != 0:
        return False
    encode(world, t, o, 0, again)
    same = True
    for i in range(o.entries):
        same = same and observation[i] == again[i]
    return same


@entry_kernel
def prepare_worlds(space: SearchWorkspace) -> None:
    """Prepare redeals of the position in `space.worlds`; discard stored worlds and listed hands."""
    prepare_redeal(space.worlds[0], space.expert.tables[0], 0, space.redeals[0])
    space.mixings[0].n_stored = 0
    space.callers[0].n = 0


@kernel
def draw_world(space: SearchWorkspace, number: int) -> float:
    """Redeal the hidden cards of the current world; within a decision `number` fixes the deal.

    If a caller's hands are listed, its hand comes from the list. Returns the log-density relative
    to uniform deals, or `IMPOSSIBLE` if the proposed deal is not a world of the position.
    """
    stream = space.plans[0].stream + np.uint64(number) * GOLDEN
    world, redeal = space.worlds[0], space.redeals[0]
    redeal_row(world, space.expert.tables[0], 0, redeal, stream, space.high)
    return deal_caller(space, number) if space.callers[0].n > 0 else 0.0


@kernel
def n_played(world: State, seat: int) -> int:
    """Number of cards that a seat has played in this hand."""
    n = 0
    while n < MAX_TRICKS and world.plays[seat * MAX_TRICKS + n] >= 0:
        n += 1
    return n


@kernel
def copy_hidden(source: State, target: Row) -> None:
    """Copy the hands of seats 1 to 3, the kitty and the exchanged cards from `source` to `target`.

    Each may be a state row or a `STORED_WORLD`.
    """
    for seat in range(1, N_SEATS):
        target.hands[seat] = source.hands[seat]
    for i in range(MAX_EXCHANGE):
        target.given[i] = source.given[i]
        target.passed[i] = source.passed[i]
    for i in range(MAX_KITTY):
        target.kitty[i] = source.kitty[i]
        target.laid[i] = source.laid[i]


@kernel
def load_world(space: SearchWorkspace, number: int) -> None:
    """Set the current world to the one with this number.

    It is a stored world or, if none are stored, a redeal by `draw_world`.
    """
    if space.mixings[0].n_stored > 0:
        copy_hidden(space.stored[number], space.worlds[0])
    else:
        draw_world(space, number)


@kernel
def stream_of(row: Array, n: int, low: Word) -> Word:
    """Return the random seed of an observation's worlds: a hash of `row`, int8 (n,), and `low`."""
    word, i = mix(low + GOLDEN), 0
    while i + 8 <= n:
        word = mix(word ^ load_word(row, i)) + GOLDEN
        i += 8
    while i < n:
        word = mix(word ^ np.uint64(row[i] & 255)) + GOLDEN
        i += 1
    return word
