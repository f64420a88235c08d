"""The search: can side 0 take so many of the tricks that are left?

Alpha-beta with a window of nothing, from trick to trick. Every answer comes with the mask of the
top cards it rests on, so that it holds for all boards that share them (see memory.py).
"""

from __future__ import annotations

from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import Array, Row, kernel
from bideuchre_env.solver.move_order import equal_to_below, list_moves, next_move
from bideuchre_env.solver.position import (
    FIELD_SHIFT,
    beats,
    before_trick,
    end_trick,
    from_card,
    put_down,
)
from bideuchre_env.solver.quick_tricks import cash_second, sure_tricks
from bideuchre_env.solver.transpositions import NOTHING, WON, probe, store


@kernel
def trick_mask(b: Row, depth: int, winner: int) -> int:
    """The cards on which it rests that this card won the trick: none if it was alone in suit."""
    in_suit = 0
    for place in range(b.places):
        in_suit += b.cards[depth, place] >> FIELD_SHIFT == winner >> FIELD_SHIFT
    return from_card(b.tie[depth], winner) if in_suit > 1 else 0


@kernel
def last_trick(b: Row, depth: int, leader: int) -> int:
    """The last trick, in which nobody has a choice: the cards not played to the one at `depth`."""
    gone, trump, tie = 0, b.trump, b.tie[depth]
    if b.left - depth > 1:
        for place in range(b.places):
            gone |= 1 << b.cards[depth, place]
    seat = leader
    best, best_seat, in_suit = -1, leader, 0
    for place in range(b.places):
        card = lowest_bit(b.hands[depth, seat] & ~gone)
        if place == 0:
            best = card
        elif card >> FIELD_SHIFT == best >> FIELD_SHIFT:
            in_suit = 1
            if beats(b, tie, card, best):
                best = card
                best_seat = seat
        elif card >> FIELD_SHIFT == trump:
            best = card
            best_seat = seat
            in_suit = 0
        seat = b.next[seat]
    mask = from_card(tie, best) if in_suit else 0
    return mask | WON if best_seat & 1 == 0 else mask


@kernel
def from_bounds(b: Row, depth: int, leader: int, goal: int) -> int:
    """The answer if certain tricks settle it: `WON` or 0, with its mask, or NOTHING."""
    short = b.left - depth - goal + 1  # side 1 is to take so many
    if sure_tricks(b, depth, leader, 0, goal) >= goal:
        return b.mask | WON
    if sure_tricks(b, depth, leader, 1, short) >= short:
        return b.mask
    return NOTHING


@kernel
def whole_runs(b: Row, depth: int, seat: int, mask: int) -> int:
    """The mask, so that it cuts no run of equal cards of this seat in two."""
    equal = equal_to_below(b.hands[depth, seat], b.tie[depth])
    more = ((mask & equal) >> 1) & ~mask
    while more:
        mask |= more
        more = ((mask & equal) >> 1) & ~mask
    return mask


@kernel
def known(
    b: Row, heads: Array, entries: Array, depth: int, place: int, seat: int, goal: int
) -> int:
    """The answer of a board that needs no search, or NOTHING; its likely move to `b.hint`."""
    b.hint = -1
    if place == 1:
        need = goal if seat & 1 == 0 else b.left - depth - goal + 1
        if cash_second(b, depth, seat, need) < need:
            return NOTHING
        return b.mask | WON if seat & 1 == 0 else b.mask
    if place > 0:
        return NOTHING
    if b.left - depth == 1:
        return last_trick(b, depth, seat)
    found = from_bounds(b, depth, seat, goal)
    if found == NOTHING:
        found = probe(b, heads, entries, depth, seat, goal)
    return found


@kernel
def drop_alike(b: Row, depth: int, place: int, mask: int) -> int:
    """Strike the cards that do no better than the one last tried; how many are listed then.

    If it failed for reasons, the mask, that leave it out, any other low card of its suit fails.
    """
    moves = b.moves[depth, place]
    tried, count = b.tried[depth, place], b.counts[depth, place]
    move = moves[tried - 1]
    if mask >> move & 1:
        return count
    i = tried
    while i < count:
        card = moves[i]
        if card >> FIELD_SHIFT == move >> FIELD_SHIFT and mask >> card & 1 == 0:
            count -= 1
            moves[i] = moves[count]
            b.scores[depth, place, i] = b.scores[depth, place, count]
        else:
            i += 1
    b.counts[depth, place] = count
    return count


@kernel
def heard(b: Row, heads: Array, entries: Array, depth: int, place: int, found: int) -> int:
    """Take in the answer after the card last tried; the answer before it, or NOTHING yet.

    A seat looks for one card that gives its side what it wants; else all its cards together
    prove that there is none.
    """
    seat = b.seats[depth, place]
    mask, want = found & ~WON, WON if seat & 1 == 0 else 0
    mask |= (mask & b.tie[depth]) >> 1
    tried, count = b.tried[depth, place], b.counts[depth, place]
    move = b.moves[depth, place, tried - 1]
    if found & WON != want:
        if count > 1:
            if tried < count:
                count = drop_alike(b, depth, place, mask)
            mask |= b.masks[depth, place]
            b.masks[depth, place] = mask
            if tried < count:
                return NOTHING
        mask = whole_runs(b, depth, seat, mask)
        move = -1
    if place == 0:
        goal, left = b.goals[depth], b.left - depth
        low, high = (goal, left) if found & WON else (0, goal - 1)
        store(b, heads, entries, depth, seat, low, high, mask, move)
    return mask | (found & WON)


@kernel
def after_trick(b: Row, depth: int, goal: int) -> int:
    """The answer once all have played to a trick, if what is left needs no search, or NOTHING."""
    last = b.places - 1
    top, leader = b.bests[depth, last + 1], b.best_seats[depth, last + 1]
    left = b.left - depth - 1
    goal -= 1 - (leader & 1)
    if goal <= 0:
        return trick_mask(b, depth, top) | WON
    if goal > left:
        return trick_mask(b, depth, top)
    if left > 1:
        return NOTHING
    return trick_mask(b, depth, top) | last_trick(b, depth, leader)


@kernel
def search(
    b: Row, heads: Array, entries: Array, depth: int, place: int, seat: int, goal: int
) -> bool:
    """Whether side 0 can take `goal` of the tricks not complete, once `seat` is to play.

    The cards of the trick before `place` are put down. False, too, when `b.stop` is set.
    """
    top_depth, top_place, last = depth, place, b.places - 1
    b.goals[depth] = goal
    while b.stop == 0:
        found = known(b, heads, entries, depth, place, seat, goal)
        if found == NOTHING:
            b.masks[depth, place] = 0
            b.tried[depth, place] = 0
            b.counts[depth, place] = list_moves(b, depth, place, seat)
            b.seats[depth, place] = seat
        while True:
            while found != NOTHING:  # back to the seat that played last
                if depth == top_depth and place == top_place:
                    return found & WON != 0
                if place > 0:
                    place -= 1
                else:
                    depth -= 1
                    place = last
                    mask = before_trick(b, depth, found & ~WON)
                    mask |= trick_mask(b, depth, b.bests[depth, last + 1])
                    found = mask | (found & WON)
                found = heard(b, heads, entries, depth, place, found)
            seat = b.seats[depth, place]
            put_down(b, depth, place, seat, next_move(b, depth, place))
            b.nodes += 1
            goal = b.goals[depth]
            if place < last:
                break
            found = after_trick(b, depth, goal)
            if found == NOTHING:
                break
            found = heard(b, heads, entries, depth, place, found)
        if place < last:
            place += 1
            seat = b.next[seat]
        else:
            end_trick(b, depth)
            seat = b.best_seats[depth, last + 1]
            goal -= 1 - (seat & 1)
            depth += 1
            place = 0
            b.goals[depth] = goal
    return False
