"""Move generation and move ordering: a good first card gives most of the search's speed."""

from __future__ import annotations

from bideuchre_env.runtime.intrinsics import highest_bit, lowest_bit, popcount
from bideuchre_env.runtime.jit import kernel
from bideuchre_env.solver.position import FIELD_SHIFT, Position, beats, count_in, field_bits


@kernel
def equal_to_below(hand: int, tie: int) -> int:
    """Return the mask of a hand's cards that are equivalent to the card just below them.

    Both cards are in the hand, and neither is tied with another hand's card.
    """
    return hand & (hand << 1) & ~(tie << 1) & ~(tie >> 1)


@kernel
def playable(position: Position, depth: int, place: int, seat: int) -> int:
    """Return the mask of the cards a seat may play: the suit led if it can follow, else any."""
    hand = position.hands[depth, seat]
    if place > 0:
        follow = hand & field_bits(position.cards[depth, 0] >> FIELD_SHIFT)
        if follow:
            return follow
    return hand


@kernel
def best_reply(position: Position, hand: int, led: int) -> int:
    """Return the strongest card that a hand can play if the suit `led` is led.

    It is its highest card of that suit, else its highest trump, else -1.
    """
    follow = hand & field_bits(led)
    if follow:
        return highest_bit(follow)
    if position.trump >= 0:
        ruff = hand & field_bits(position.trump)
        if ruff:
            return highest_bit(ruff)
    return -1


@kernel
def list_moves(position: Position, depth: int, place: int, seat: int) -> int:
    """List the moves of a seat in `moves`, with `scores` for `next_move`; return their number.

    Only the highest of a run of equivalent cards is listed. A single move gets no score.
    """
    tie = position.tie[depth]
    cards = playable(position, depth, place, seat)
    cards &= ~(equal_to_below(cards, tie) >> 1)  # the highest of each run
    count = 0
    while cards:
        position.moves[depth, place, count] = lowest_bit(cards)
        cards &= cards - 1
        count += 1
    if count > 1:
        if place == 0:
            score_leads(position, depth, seat, count)
        else:
            score_replies(position, depth, place, seat, count)
    return count


@kernel
def next_move(position: Position, depth: int, place: int) -> int:
    """Return the listed card with the highest score that is not tried yet; mark it as tried."""
    moves, scores = position.moves[depth, place], position.scores[depth, place]
    i, count = position.tried[depth, place], position.counts[depth, place]
    position.tried[depth, place] = i + 1
    if i + 1 < count:
        top = i
        for j in range(i + 1, count):
            if scores[j] > scores[top]:
                top = j
        if top != i:
            move, score = moves[top], scores[top]
            moves[top], scores[top] = moves[i], scores[i]
            moves[i], scores[i] = move, score
    return moves[i]


@kernel
def options(hand: int, tie: int, led: int) -> int:
    """Count the cards that a hand may play if this suit is led; equivalent cards count once."""
    follow = hand & field_bits(led)
    if follow:
        hand = follow
    return popcount(hand & ~equal_to_below(hand, tie))


@kernel
def score_leads(position: Position, depth: int, seat: int, count: int) -> None:
    """Write `scores` of the listed leads: high for cards that win, or over which partner wins.

    A proof searches all replies of both opponents, so suits with few replies score higher.
    """
    tie, trump = position.tie[depth], position.trump
    left, right = position.hands[depth, (seat + 1) & 3], position.hands[depth, (seat + 3) & 3]
    own, partner = position.hands[depth, seat], position.hands[depth, seat ^ 2]
    suit, enemy, mate, ease = -1, -1, -1, 0
    for i in range(count):  # suit by suit, as they were listed
        card = position.moves[depth, 0, i]
        led, height = card >> FIELD_SHIFT, card & 15
        if led != suit:
            suit = led
            enemy, other = best_reply(position, left, led), best_reply(position, right, led)
            if enemy < 0 or (other >= 0 and beats(position, tie, other, enemy)):
                enemy = other
            mate = best_reply(position, partner, led)
            if mate >= 0 and enemy >= 0 and beats(position, tie, enemy, mate):
                mate = -1
            ease = 2 * count_in(own, led)
            ease -= 19 * (options(left, tie, led) + options(right, tie, led))
        if enemy < 0 or not beats(position, tie, enemy, card):
            score = 120 if led != trump else 80
        elif mate >= 0 and beats(position, tie, mate, card):
            score = 90
        else:
            score = 48 + 3 * height
        if card == position.hint:
            score += 1000
        position.scores[depth, 0, i] = score + ease


@kernel
def score_replies(position: Position, depth: int, place: int, seat: int, count: int) -> None:
    """Write `scores` of the listed replies: high for the lowest card that wins the trick.

    If partner wins the trick, low cards score high.
    """
    tie, trump = position.tie[depth], position.trump
    led = position.cards[depth, 0] >> FIELD_SHIFT
    best, best_seat = position.bests[depth, place], position.best_seats[depth, place]
    threat, after = -1, position.next[seat]
    for _ in range(place + 1, position.places):
        if (after ^ seat) & 1:
            reply = best_reply(position, position.hands[depth, after], led)
            if reply >= 0 and beats(position, tie, reply, best):
                threat = reply
        after = position.next[after]
    standing = (best_seat ^ seat) & 1 == 0 and threat < 0
    for i in range(count):
        card = position.moves[depth, place, i]
        suit, height = card >> FIELD_SHIFT, card & 15
        score = -2 * height
        if suit != led:
            score += 3 * count_in(position.hands[depth, seat], suit)
            if suit == trump:
                score -= 30
        if not standing and beats(position, tie, card, best):
            if threat < 0 or not beats(position, tie, threat, card):
                score += 100
            else:
                score += 50
        position.scores[depth, place, i] = score
