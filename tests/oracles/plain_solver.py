"""Two solvers in plain Python, independent of the package's solver: the oracles of its tests.

`all_lines` searches every line of play. `slow_tricks` prunes and caches, so it can solve whole
deals. Cards are strings ("JH"), hands lists by seat; suits and ranks come from `reference.py`.
"""

from functools import cache

from oracles import reference

suit_of, height = cache(reference.suit_of), cache(reference.height)


def all_lines(hands, table, seat, strain, absent=None):
    """The number of remaining tricks that side 0 takes, by trying every card of every seat.

    `table` is the trick so far, a list of (seat, card); `absent` the seat that sits out.
    """
    playing = 4 if absent is None else 3
    follows = [after(s, absent) for s in range(4)]
    seen = {}

    def value(hands, table, seat):
        hand = hands[seat]
        if not table:
            if not hand:
                return 0
            key = (hands, seat)
            if key in seen:
                return seen[key]
        values = [
            played(hands, (*table, (seat, card)), seat, card)
            for card in dict.fromkeys(may_play(hand, table, strain))
        ]
        best = max(values) if seat % 2 == 0 else min(values)
        if not table:
            seen[key] = best
        return best

    def played(hands, table, seat, card):
        at = hands[seat].index(card)
        own = hands[seat][:at] + hands[seat][at + 1 :]
        hands = (*hands[:seat], own, *hands[seat + 1 :])
        if len(table) < playing:
            return value(hands, table, follows[seat])
        seat = winner(table, strain)
        return (seat % 2 == 0) + value(hands, (), seat)

    return value(tuple(tuple(sorted(hand)) for hand in hands), tuple(table), seat)


def winner(table, strain):
    """The winner of a trick: the best trump, else the best of the suit led; the first of equals."""
    suit = suit_of(table[0][1], strain)
    if any(suit_of(card, strain) == strain for _, card in table):
        suit = strain
    able = [(seat, card) for seat, card in table if suit_of(card, strain) == suit]
    return max(able, key=lambda pair: height(pair[1], strain))[0]


def may_play(hand, table, strain):
    """The cards of `hand` that may be played to the trick so far, `table`."""
    if not table:
        return hand
    led = suit_of(table[0][1], strain)
    return [card for card in hand if suit_of(card, strain) == led] or hand


def after(seat, absent):
    left = (seat + 1) % 4
    return (left + 1) % 4 if left == absent else left


def slow_tricks(hands, leader, strain, absent=None):
    """The tricks that side 0 takes in a whole deal, by alpha-beta search.

    Bounds are cached at the beginning of each trick. `leader` leads; seat `absent` sits out.
    """
    cards = sorted(
        (card for hand in hands for card in hand),
        key=lambda card: (suit_of(card, strain), height(card, strain)),
    )
    suits = [suit_of(card, strain) for card in cards]
    heights = [height(card, strain) for card in cards]
    of_suit = {s: sum(1 << i for i, t in enumerate(suits) if t == s) for s in "CDHS"}
    owners = [0, 0, 0, 0]
    for seat, hand in enumerate(hands):
        for card in hand:
            place = next(i for i, c in enumerate(cards) if c == card and not has_owner(owners, i))
            owners[seat] |= 1 << place
    memory = {}

    def better(card, best):
        if suits[card] == suits[best]:
            return heights[card] > heights[best]
        return suits[card] == strain

    @cache
    def in_order(legal, others):
        """Legal cards as indices, high first; of equivalent cards only the highest.

        `legal` and `others`, the cards of the other hands and the table, are bits. Cards are
        equivalent if no card of `others` is between them or identical to one of them.
        """
        chosen, last = [], None
        for card in reversed(range(legal.bit_length())):
            if not legal >> card & 1:
                continue
            if last is not None and suits[last] == suits[card]:
                between = (1 << last) - (2 << card)
                same = [i for i in (card, last) if tied(i, others)]
                if not others & between and not same:
                    last = card
                    continue
            chosen.append(card)
            last = card
        return chosen

    def tied(card, others):
        near = [i for i in (card - 1, card + 1) if 0 <= i < len(cards)]
        return any(cards[i] == cards[card] and others >> i & 1 for i in near)

    def reach(held, seat, table, winner, best, goal):
        """Whether side 0 takes `goal` more tricks, the one on the table included."""
        if not table:
            left = bin(held[seat]).count("1")
            if goal <= 0 or goal > left:
                return goal <= 0
            low, high = memory.get((held, seat), (0, left))
            if low >= goal or high < goal:
                return low >= goal
        legal = held[seat]
        if table:
            legal = legal & of_suit[suits[table[0]]] or legal
        others = sum(held) - held[seat] | sum(1 << card for card in table)
        wish = seat % 2 == 0
        reached = not wish
        for card in in_order(legal, others):
            now = tuple(h ^ (1 << card if s == seat else 0) for s, h in enumerate(held))
            takes = not table or better(card, best)
            top, by = (card, seat) if takes else (best, winner)
            if len(table) + 1 == (4 if absent is None else 3):
                result = reach(now, by, (), None, None, goal - (by % 2 == 0))
            else:
                result = reach(now, after(seat, absent), (*table, card), by, top, goal)
            if result == wish:
                reached = wish
                break
        if not table:
            low, high = memory.get((held, seat), (0, left))
            memory[held, seat] = (max(low, goal), high) if reached else (low, min(high, goal - 1))
        return reached

    tricks = 0
    while reach(tuple(owners), leader, (), None, None, tricks + 1):
        tricks += 1
    return tricks


def has_owner(owners, place):
    return any(hand >> place & 1 for hand in owners)
