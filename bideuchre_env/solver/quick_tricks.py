"""Lower bounds of a side's tricks without search, from top cards and trumps ("quick tricks").

Kernels write the mask of the top cards that their count depends on to `position.mask`. In all
arguments, a hand is an int64 with a bit per card, and `field` is a suit (0 to 3).
"""

from __future__ import annotations

from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.intrinsics import highest_bit, lowest_bit, popcount
from bideuchre_env.runtime.jit import kernel
from bideuchre_env.solver.position import FIELD_SHIFT, Position, count_in, field_bits, from_card


@kernel
def top_run(position: Position, own: int, all_cards: int, tie: int, field: int) -> int:
    """Count the consecutive top cards of a suit that a hand can cash by leading them.

    `own` is the hand and `all_cards` the cards in all hands. A top card tied with another hand's
    counts, because it wins if it is led. If the count is not 0, `position.low` is the lowest of the
    cards counted.
    """
    bits = field_bits(field)
    mine, others = own & bits, all_cards & ~own & bits
    if others:
        best = highest_bit(others)
        mine &= -(2 << best)
        if tie >> best & 1 and own >> (best - 1) & 1:
            position.low = best - 1
            return popcount(mine) + 1
    if mine:
        position.low = lowest_bit(mine)
    return popcount(mine)


@kernel
def cash(position: Position, depth: int, seat: int, need: int) -> int:
    """Return a lower bound of the tricks of the leader's side, from its top cards and trumps.

    The leader, `seat`, cashes its suits, trumps first, then leads to partner, who cashes the
    others. The leader's trumps take at least `sure_trumps` tricks, unless partner draws trumps.
    Counting may stop at `need` tricks. The top cards that the bound depends on are written to
    `position.mask`.
    """
    trump, tie = position.trump, position.tie[depth]
    own, mate = position.hands[depth, seat], position.hands[depth, seat ^ 2]
    left, right = position.hands[depth, (seat + 1) & 3], position.hands[depth, (seat + 3) & 3]
    all_cards = own | mate | left | right
    tricks, mask, mate_mask = popcount(own), 0, 0
    drawn, mate_draws, ruffs, mate_ruffs, sure = 0, 0, 0, 0, 0
    own_trumps, mate_trumps = 0, 0
    entry = False
    if trump >= 0:
        own_trumps, mate_trumps = count_in(own, trump), count_in(mate, trump)
        on_left, on_right = count_in(left, trump), count_in(right, trump)
        sure = sure_trumps(position, depth, seat, need)
        if sure >= need:
            return sure
        mask = position.mask
        drawn = top_run(position, own, all_cards, tie, trump)
        if drawn > 0:
            mask = from_card(tie, position.low) | (mask if sure > drawn else 0)
            if drawn >= on_left and drawn >= on_right and drawn >= mate_trumps:
                drawn = own_trumps
        elif mate_trumps > 0:
            mate_draws = top_run(position, mate, all_cards, tie, trump)
            if mate_draws > 0:
                mate_mask = from_card(tie, position.low)
                entry = own_trumps > 0 and not tied_on_top(all_cards, tie, trump)
                if mate_draws >= on_left and mate_draws >= on_right and mate_draws >= own_trumps:
                    mate_draws = mate_trumps
        ruffs = (1 if on_left > drawn else 0) | (2 if on_right > drawn else 0)
        most = drawn + mate_draws
        mate_ruffs = (1 if on_left > most else 0) | (2 if on_right > most else 0)
    side, mate_side, base = 0, 0, max(drawn, sure)
    own_mask = 0
    for field in range(4):
        position.runs[field] = 0
        if field == trump or (own | mate) & field_bits(field) == 0:
            continue
        on_left, on_right = count_in(left, field), count_in(right, field)
        on_own, on_mate = count_in(own, field), count_in(mate, field)
        run = top_run(position, own, all_cards, tie, field)
        if run > 0:
            low, top = position.low, run
            if run >= on_left and run >= on_right and run >= on_mate:
                run = on_own
            run = must_follow(run, on_left, on_right, ruffs)
            side += run
            if run > 0:
                position.runs[field] = run
                position.lows[field] = low + max(top - run, 0)
                own_mask |= from_card(tie, position.lows[field])
            longer = run == top and on_own > run and on_mate > run and tie >> (low + 1) & 1 == 0
            if longer and mate >> (low - 1) & 1:
                more = min(next_run(mate, tie, low - 1), on_mate - run)
                if more > 0 and must_follow(run + 1, on_left, on_right, ruffs) > run:
                    entry = True
                    more = must_follow(run + more, on_left, on_right, mate_ruffs) - run
                    mate_side += more
                    mate_mask |= from_card(tie, low - more)
            continue
        run = top_run(position, mate, all_cards, tie, field)
        if run > 0:
            low, top = position.low, run
            if run >= on_left and run >= on_right and run >= on_own:
                run = on_mate
            run = must_follow(run, on_left, on_right, mate_ruffs)
            mate_side += run
            mate_mask |= from_card(tie, low + max(top - run, 0)) if run > 0 else 0
            if on_own > 0 and must_follow(run, on_left, on_right, ruffs) > 0:
                entry = entry or not tied_on_top(all_cards, tie, field)
    # A hand with only trumps left must ruff its partner's card, and then has the lead.
    if base + side >= need and (mate_trumps <= drawn or need - base <= tricks - mate_trumps):
        position.mask = mask | fewest(position, tie, base + side - need)
        return need
    mask |= own_mask
    position.mask = mask
    if mate_trumps > drawn and side > tricks - mate_trumps:
        return drawn + tricks - mate_trumps + 1
    if not entry:
        return base + side
    position.mask = mask | mate_mask
    if mate_draws > 0:
        sure = 0  # the leader's trumps fall when partner draws
    if own_trumps > drawn + mate_draws:
        spare = tricks - own_trumps - side
        if mate_side > spare:
            return min(max(drawn + 1, sure) + side + mate_draws + spare, tricks)
    return min(max(drawn, sure) + side + mate_draws + mate_side, tricks)


@kernel
def fewest(position: Position, tie: int, spare: int) -> int:
    """Return the mask of the leader's top cards, without suits that the count does not need.

    A suit in `position.runs` is omitted while its tricks fit in `spare`, the surplus of tricks.
    """
    mask = 0
    for field in range(4):
        run, low = position.runs[field], position.lows[field]
        if run == 0:
            continue
        if run <= spare:
            spare -= run
        else:
            mask |= from_card(tie, low)
    return mask


@kernel
def next_run(hand: int, tie: int, card: int) -> int:
    """Count the consecutive cards that a hand has from `card` downwards, before the first tied."""
    count = 0
    while hand >> card & 1 and not tie >> card & 1:
        count += 1
        if card & 15 == 0:
            break
        card -= 1
    return count


@kernel
def must_follow(run: int, on_left: int, on_right: int, ruffs: int) -> int:
    """Limit a number of leads of a suit to those on which no opponent can ruff.

    `ruffs` has the opponents with trumps: bit 0 the left one, bit 1 the right one. Each follows
    suit as often as it has cards of the suit, `on_left` and `on_right`.
    """
    if ruffs & 1:
        run = min(run, on_left)
    if ruffs & 2:
        run = min(run, on_right)
    return run


@kernel
def tied_on_top(all_cards: int, tie: int, field: int) -> bool:
    """Whether the best card of a suit is tied with another hand's card."""
    return tie >> (field << FIELD_SHIFT) + count_in(all_cards, field) - 1 & 1 == 1


@kernel
def sure_trumps(position: Position, depth: int, seat: int, need: int) -> int:
    """Return a lower bound of the tricks that a seat's trumps win, whichever seat leads.

    The seat's trumps from some card up are played to different tricks. Each trick they lose costs
    the opponents a trump above the lowest of them (or tied with it and played first). The result is
    the best such bound, or one of at least `need` that depends on fewer cards. The mask of these
    cards is written to `position.mask`.
    """
    trump = position.trump
    position.mask = 0
    if trump < 0:
        return 0
    field, tie = field_bits(trump), position.tie[depth]
    own = position.hands[depth, seat] & field
    enemy = position.hands[depth, (seat + 1) & 3] | position.hands[depth, (seat + 3) & 3]
    enemy &= field
    count, most, lowest = popcount(own), 0, -1
    while own:
        card = lowest_bit(own)
        own &= own - 1
        tied = tie >> card & 1
        sure = count - popcount(enemy & -(1 << (card - tied)))
        if sure >= most or sure >= need:  # among equals, the one with the smallest mask
            most = sure
            lowest = card
        count -= 1
    if most > 0:
        position.mask = from_card(tie, lowest)
    return max(most, 0)


@kernel
def no_ruffs(position: Position, depth: int, leader: int) -> bool:
    """Whether it is no trump, or only one opponent of the leader, or no seat, has trumps."""
    if position.trump < 0:
        return True
    trumps = field_bits(position.trump)
    if (position.hands[depth, leader] | position.hands[depth, leader ^ 2]) & trumps:
        return False
    next_seat, last_seat = (leader + 1) & 3, (leader + 3) & 3
    return (
        position.hands[depth, next_seat] & trumps == 0
        or position.hands[depth, last_seat] & trumps == 0
    )


@kernel
def winners(position: Position, own: int, all_cards: int, others: int, tie: int, field: int) -> int:
    """Return the tricks that the hand `own` takes by leading a suit of which it has the best card.

    The result is 0 if it does not have the best card, or another hand has its equal. If the top
    cards number at least `others`, the most cards of the suit in another hand, the low cards win,
    too. Unless the result is 0, `position.low` is the lowest top card that it depends on.
    """
    bits = field_bits(field)
    mine, rest = own & bits, all_cards & ~own & bits
    if mine == 0 or rest > mine:
        return 0
    run = popcount(mine)
    if rest:
        best = highest_bit(rest)
        mine &= -(2 << best)
        low = lowest_bit(mine)
        if tie >> low & 1:  # the card tied with it may be played first
            mine &= mine - 1
            if mine == 0:
                return 0
            low = lowest_bit(mine)
        position.low = low
        run = popcount(mine)
        if run >= others:
            run = count_in(own, field)
    else:
        position.low = lowest_bit(mine)
    return run


@kernel
def wait(position: Position, depth: int, leader: int) -> int:
    """Return a lower bound of the tricks of the side not on lead; it is valid only if `no_ruffs`.

    Each hand of that side keeps its winners until a suit is led of which it has the best card. Each
    other suit is led at most as often as the longest other hand has cards of it. The top cards that
    the bound depends on are written to `position.mask`.
    """
    tie = position.tie[depth]
    first, second = position.hands[depth, (leader + 1) & 3], position.hands[depth, (leader + 3) & 3]
    leads, mate = position.hands[depth, leader], position.hands[depth, leader ^ 2]
    all_cards = first | second | leads | mate
    left = position.left - depth
    first_win, second_win, first_wait, second_wait, both_wait = 0, 0, 0, 0, 0
    first_mask, second_mask = 0, 0
    first_link, second_link = False, False
    for field in range(4):
        on_first, on_second = count_in(first, field), count_in(second, field)
        on_leads, on_mate = count_in(leads, field), count_in(mate, field)
        longest = max(on_leads, on_mate)
        run = winners(position, first, all_cards, max(longest, on_second), tie, field)
        if run > 0:
            first_win += run
            first_mask |= from_card(tie, position.low)
            second_wait += max(longest, on_first)
            second_link = second_link or on_second > 0
            continue
        run = winners(position, second, all_cards, max(longest, on_first), tie, field)
        if run > 0:
            second_win += run
            second_mask |= from_card(tie, position.low)
            first_wait += max(longest, on_second)
            first_link = first_link or on_first > 0
            continue
        first_wait += max(longest, on_second)
        second_wait += max(longest, on_first)
        both_wait += max(longest, max(on_first, on_second))
    most, mask = min(first_win, left - first_wait), first_mask
    if min(second_win, left - second_wait) > most:
        most, mask = min(second_win, left - second_wait), second_mask
    if first_win > 0 and second_win > 0:
        both = min(first_win, second_win)
        if first_link and second_link:
            both = first_win + second_win
        both = min(both, left - both_wait)
        if both > most:
            most, mask = both, first_mask | second_mask
    position.mask = mask
    return max(most, 0)


@kernel
def sure_tricks(position: Position, depth: int, leader: int, side: int, need: int) -> int:
    """Return a lower bound of the remaining tricks of a side (0 or 1) if `leader` is to lead.

    Counting may stop at `need` tricks. The top cards that the bound depends on are written to
    `position.mask`.
    """
    most, mask = 0, 0
    if leader & 1 == side:
        most = cash(position, depth, leader, need)
        mask = position.mask
    elif no_ruffs(position, depth, leader):
        most = wait(position, depth, leader)
        mask = position.mask
    for seat in range(side, N_SEATS, 2):
        if seat != leader and position.trump >= 0 and most < need:
            sure = sure_trumps(position, depth, seat, need)
            if sure > most:
                most = sure
                mask = position.mask
    position.mask = mask
    return most


@kernel
def cash_second(position: Position, depth: int, seat: int, need: int) -> int:
    """Return a lower bound of the tricks of `seat`'s side after the first card of a trick.

    `seat` plays second. The current trick is included. If the seat or its partner has the best card
    of the suit led (tied with no other), the third hand cannot ruff, and the seat need not ruff its
    partner's card, the side wins as if it had led the suit, and continues from there. The top cards
    that this depends on are written to `position.mask`. Otherwise, and if partner led, the result
    is 0.
    """
    card = position.cards[depth, 0]
    field, trump, tie = card >> FIELD_SHIFT, position.trump, position.tie[depth]
    leader, third, fourth = (seat + 3) & 3, (seat + 1) & 3, seat ^ 2
    if position.seats[depth, 0] != leader:  # partner led: the seat between sits out
        return 0
    own, mate = position.hands[depth, seat], position.hands[depth, fourth]
    enemy = position.hands[depth, third]
    if field != trump and trump >= 0 and count_in(enemy, field) == 0 and count_in(enemy, trump) > 0:
        return 0
    all_cards = own | mate | enemy | position.hands[depth, leader]
    top = (field << FIELD_SHIFT) + count_in(all_cards, field) - 1
    if top == card or tie >> top & 1:
        return 0
    sure = 0
    if own >> top & 1:
        sure = cash(position, depth, seat, need)
    elif mate >> top & 1 and (count_in(own, field) > 0 or trump < 0 or own & ~field_bits(trump)):
        sure = cash(position, depth, fourth, need)
    position.mask |= from_card(tie, top)
    return sure
