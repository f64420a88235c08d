"""The search: whether side 0 can win a given number of the remaining tricks.

Alpha-beta with a null window, from trick to trick. A result ("answer") is one int64: the mask of
the top cards that it depends on, with the flag `WON` if side 0 reaches the goal; or `NOTHING` while
it is not known. It is valid for all positions that share these cards (see transpositions.py).
"""

from __future__ import annotations

from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import kernel
from bideuchre_env.solver.move_order import equal_to_below, list_moves, next_move
from bideuchre_env.solver.position import (
    FIELD_SHIFT,
    Position,
    beats,
    before_trick,
    end_trick,
    from_card,
    put_down,
)
from bideuchre_env.solver.quick_tricks import cash_second, sure_tricks
from bideuchre_env.solver.transpositions import NOTHING, WON, Searcher, probe, store


@kernel
def trick_mask(position: Position, depth: int, winner: int) -> int:
    """Return the mask of cards on which it depends that `winner`, a card, wins the trick.

    The mask is 0 if no other card of the trick is of the winner's suit.
    """
    in_suit = 0
    for place in range(position.places):
        in_suit += position.cards[depth, place] >> FIELD_SHIFT == winner >> FIELD_SHIFT
    return from_card(position.tie[depth], winner) if in_suit > 1 else 0


@kernel
def last_trick(position: Position, depth: int, leader: int) -> int:
    """Return the result of the last trick, led by `leader`: a mask, with `WON` if side 0 wins it.

    Each seat has one card left. The hands at `depth` may still contain the cards of a complete
    trick before it; these are ignored.
    """
    gone, trump, tie = 0, position.trump, position.tie[depth]
    if position.left - depth > 1:
        for place in range(position.places):
            gone |= 1 << position.cards[depth, place]
    seat = leader
    best, best_seat, in_suit = -1, leader, 0
    for place in range(position.places):
        card = lowest_bit(position.hands[depth, seat] & ~gone)
        if place == 0:
            best = card
        elif card >> FIELD_SHIFT == best >> FIELD_SHIFT:
            in_suit = 1
            if beats(position, tie, card, best):
                best = card
                best_seat = seat
        elif card >> FIELD_SHIFT == trump:
            best = card
            best_seat = seat
            in_suit = 0
        seat = position.next[seat]
    mask = from_card(tie, best) if in_suit else 0
    return mask | WON if best_seat & 1 == 0 else mask


@kernel
def whole_runs(position: Position, depth: int, seat: int, mask: int) -> int:
    """Extend a mask of top cards downwards, so that it splits no run of a seat's equal cards.

    Equal cards are equivalent: no card between them is in play.
    """
    equal = equal_to_below(position.hands[depth, seat], position.tie[depth])
    more = ((mask & equal) >> 1) & ~mask
    while more:
        mask |= more
        more = ((mask & equal) >> 1) & ~mask
    return mask


@kernel
def without_search(searcher: Searcher, depth: int, place: int, seat: int, goal: int) -> int:
    """Return the result from quick tricks or the transposition table; NOTHING if it needs a search.

    The question is whether side 0 can take `goal` of the tricks not complete at `depth`. Writes a
    likely best card to `position.hint`, or -1.
    """
    position = searcher.position[0]
    position.hint = -1
    short = position.left - depth - goal + 1  # tricks that side 1 needs
    if place == 1:
        need = goal if seat & 1 == 0 else short
        if cash_second(position, depth, seat, need) < need:
            return NOTHING
        return position.mask | WON if seat & 1 == 0 else position.mask
    if place > 0:
        return NOTHING
    if position.left - depth == 1:
        return last_trick(position, depth, seat)
    if sure_tricks(position, depth, seat, 0, goal) >= goal:
        return position.mask | WON
    if sure_tricks(position, depth, seat, 1, short) >= short:
        return position.mask
    return probe(searcher, depth, seat, goal)


@kernel
def drop_alike(position: Position, depth: int, place: int, mask: int) -> int:
    """Remove untried moves that must fail like the last move tried; return the number of moves.

    `mask` has the cards that the failure of that move depends on. If it does not contain the card
    itself, the cards of the same suit outside the mask fail, too. Tried moves stay in the count.
    """
    moves = position.moves[depth, place]
    tried, count = position.tried[depth, place], position.counts[depth, place]
    move = moves[tried - 1]
    if mask >> move & 1:
        return count
    i = tried
    while i < count:
        card = moves[i]
        if card >> FIELD_SHIFT == move >> FIELD_SHIFT and mask >> card & 1 == 0:
            count -= 1
            moves[i] = moves[count]
            position.scores[depth, place, i] = position.scores[depth, place, count]
        else:
            i += 1
    position.counts[depth, place] = count
    return count


@kernel
def take_answer(searcher: Searcher, depth: int, place: int, answer: int) -> int:
    """Back up the result of the last card tried; return the node's result, or NOTHING.

    A node is decided by the first card with which the seat's side reaches its goal, or when all
    cards have failed. The result of a node before a lead is also stored in the transposition table.
    """
    position = searcher.position[0]
    seat = position.seats[depth, place]
    mask, want = answer & ~WON, WON if seat & 1 == 0 else 0
    mask |= (mask & position.tie[depth]) >> 1
    tried, count = position.tried[depth, place], position.counts[depth, place]
    move = position.moves[depth, place, tried - 1]
    if answer & WON != want:
        if count > 1:
            if tried < count:
                count = drop_alike(position, depth, place, mask)
            mask |= position.masks[depth, place]
            position.masks[depth, place] = mask
            if tried < count:
                return NOTHING
        mask = whole_runs(position, depth, seat, mask)
        move = -1
    if place == 0:
        goal, left = position.goals[depth], position.left - depth
        low, high = (goal, left) if answer & WON else (0, goal - 1)
        store(searcher, depth, seat, low, high, mask, move)
    return mask | (answer & WON)


@kernel
def after_trick(position: Position, depth: int, goal: int) -> int:
    """Return the result after the last card of the trick at `depth`; NOTHING if not known yet.

    `goal` is the tricks that side 0 needs, this one included.
    """
    last = position.places - 1
    top, leader = position.bests[depth, last + 1], position.best_seats[depth, last + 1]
    left = position.left - depth - 1
    goal -= 1 - (leader & 1)
    if goal <= 0:
        return trick_mask(position, depth, top) | WON
    if goal > left:
        return trick_mask(position, depth, top)
    if left > 1:
        return NOTHING
    return trick_mask(position, depth, top) | last_trick(position, depth, leader)


@kernel
def search(searcher: Searcher, depth: int, place: int, seat: int, goal: int) -> bool:
    """Whether side 0 can take at least `goal` of the tricks not complete at `depth`.

    `seat` is to play; the cards of the trick before `place` are on the table. The result is also
    False if `stop` is set meanwhile.
    """
    position = searcher.position[0]
    top_depth, top_place, last = depth, place, position.places - 1
    position.goals[depth] = goal
    while position.stop == 0:
        answer = without_search(searcher, depth, place, seat, goal)
        if answer == NOTHING:
            position.masks[depth, place] = 0
            position.tried[depth, place] = 0
            position.counts[depth, place] = list_moves(position, depth, place, seat)
            position.seats[depth, place] = seat
        while True:
            while answer != NOTHING:  # back to the seat that played last
                if depth == top_depth and place == top_place:
                    return answer & WON != 0
                if place > 0:
                    place -= 1
                else:
                    depth -= 1
                    place = last
                    mask = before_trick(position, depth, answer & ~WON)
                    mask |= trick_mask(position, depth, position.bests[depth, last + 1])
                    answer = mask | (answer & WON)
                answer = take_answer(searcher, depth, place, answer)
            seat = position.seats[depth, place]
            put_down(position, depth, place, seat, next_move(position, depth, place))
            position.nodes += 1
            goal = position.goals[depth]
            if place < last:
                break
            answer = after_trick(position, depth, goal)
            if answer == NOTHING:
                break
            answer = take_answer(searcher, depth, place, answer)
        if place < last:
            place += 1
            seat = position.next[seat]
        else:
            end_trick(position, depth)
            seat = position.best_seats[depth, last + 1]
            goal -= 1 - (seat & 1)
            depth += 1
            place = 0
            position.goals[depth] = goal
    return False
