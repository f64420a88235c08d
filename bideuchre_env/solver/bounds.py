"""Tricks that are certain without search: top cards to cash, trumps that cannot all be beaten.

Each bound comes with the mask of the top cards it rests on, in `b.mask`.
"""

from __future__ import annotations

from bideuchre_env._jit import Row, kernel, lowest_bit, popcount
from bideuchre_env.solver.board import FIELD_SHIFT, count_in, field_bits, from_card


@kernel
def top_run(b: Row, own: int, all_cards: int, tie: int, field: int) -> int:
    """How many of the top cards of a suit a hand holds in a row, when it leads them itself.

    Writes the lowest of them to `b.low`. A card that is tied wins if it is led.
    """
    base = field << FIELD_SHIFT
    card = base + count_in(all_cards, field) - 1
    count = 0
    while card >= base:
        if own >> card & 1:
            count += 1
            b.low = card
            card -= 1
        elif tie >> card & 1 and own >> (card - 1) & 1:
            b.low = card - 1
            return count + 1
        else:
            break
    return count


@kernel
def cash(b: Row, depth: int, seat: int) -> int:
    """Tricks the leader takes by leading its top cards, trumps first; their mask to `b.mask`."""
    trump = int(b.trump)
    own, partner = int(b.hands[depth, seat]), int(b.hands[depth, seat ^ 2])
    left = int(b.hands[depth, (seat + 1) & 3])
    right = int(b.hands[depth, (seat + 3) & 3])
    all_cards, tie = own | partner | left | right, int(b.tie[depth])
    mask, total, drawn, most_side = 0, 0, 0, 99
    left_ruffs, right_ruffs = False, False
    if trump >= 0:
        theirs = max(count_in(left, trump), count_in(right, trump))
        ours = count_in(partner, trump)
        run = top_run(b, own, all_cards, tie, trump)
        if run > 0:
            mask |= from_card(tie, int(b.low))
            if run >= theirs and run >= ours:
                run = count_in(own, trump)
        total = drawn = run
        left_ruffs = count_in(left, trump) > drawn
        right_ruffs = count_in(right, trump) > drawn
        if ours > drawn:  # once only trumps are left to it, partner must ruff, and has the lead
            most_side = popcount(partner) - ours + 1
    side = 0
    for field in range(4):
        if field == trump or own & field_bits(field) == 0:
            continue
        run = top_run(b, own, all_cards, tie, field)
        if run == 0:
            continue
        low = int(b.low)
        on_left, on_right = count_in(left, field), count_in(right, field)
        if run >= on_left and run >= on_right and run >= count_in(partner, field):
            run = count_in(own, field)
        if left_ruffs:
            run = min(run, on_left)
        if right_ruffs:
            run = min(run, on_right)
        if run > 0:
            side += run
            mask |= from_card(tie, low)
    b.mask = mask
    return total + min(side, most_side)


@kernel
def sure_trumps(b: Row, depth: int, seat: int) -> int:
    """Tricks a seat's trumps bring its side whatever happens; their mask to `b.mask`.

    Its trumps from some card up fall in different tricks, and each trick lost takes an enemy
    trump that is higher than the lowest of them (or equal to it, played first).
    """
    trump = int(b.trump)
    b.mask = 0
    if trump < 0:
        return 0
    field, tie = field_bits(trump), int(b.tie[depth])
    own = int(b.hands[depth, seat]) & field
    enemy = int(b.hands[depth, (seat + 1) & 3]) | int(b.hands[depth, (seat + 3) & 3])
    enemy &= field
    count, most, lowest = popcount(own), 0, -1
    while own:
        card = lowest_bit(own)
        own &= own - 1
        tied = tie >> card & 1
        sure = count - popcount(enemy & -(1 << (card - tied)))
        if sure >= most:  # of equal bounds the one that rests on the fewest cards
            most = sure
            lowest = card
        count -= 1
    if most > 0:
        b.mask = from_card(tie, lowest)
    return max(most, 0)


@kernel
def sure_tricks(b: Row, depth: int, leader: int, side: int) -> int:
    """The best bound of a side: its trumps and, where it has the lead, its top cards."""
    most = sure_trumps(b, depth, side)
    mask = int(b.mask)
    if int(b.hands[depth, side + 2]):
        sure = sure_trumps(b, depth, side + 2)
        if sure > most:
            most = sure
            mask = int(b.mask)
    if leader & 1 == side:
        cashed = cash(b, depth, leader)
        if cashed > most:
            most = cashed
            mask = int(b.mask)
    b.mask = mask
    return most
