"""Certain tricks of a seat that does not lead, against all hands and plays of each other seat.

The other seats act independently of each other: each plays all its cards to win one trick.
"""

from itertools import combinations

import numpy as np
import pytest
from oracles.reference import suit_of
from support.agent_games import BARRIE, CINCINNATI
from support.winning_cards import beats, bits_of, in_order, random_cards

from bideuchre_env.agents.rule.certain import certain_answer, certain_card, takes_all
from bideuchre_env.core.state import PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import new_view
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS, SUITS, parse_card
from bideuchre_env.runtime.jit import entry_kernel

pytestmark = pytest.mark.search


@entry_kernel
def claimed(views, tables, legal):
    """`certain_card` of a view in the card play."""
    return certain_card(views[0], tables[0], legal)


@entry_kernel
def answers_all(views, tables, strain, answers):
    """`takes_all` of a declarer, alone; also write the `certain_answer` to a lead of each suit."""
    for suit in range(4):
        answers[suit] = certain_answer(views[0], tables[0], strain, suit)
    return takes_all(views[0], tables[0], strain, True)


def position_of(rules, strain, hand, unseen):
    """A view with these cards, in which seat 0 declares; seat 1 is eldest hand."""
    views, tables = new_view(), compile_tables(rules)
    view, at = views[0], STRAINS.index(strain)
    view["strain"], view["declarer"], view["dealer"] = at, 0, 0
    view["trumps"] = 0 if strain == "NT" else tables["suit_bits"][0][at][at]
    view["held"], view["held_pair"] = bits_of(hand)
    view["unseen"], view["unseen_pair"] = bits_of(unseen)
    return views, tables


def can_win(tricks, hand, strain):
    """Whether a hand can win one of the tricks: (card led, our card, whether it plays before us).

    Of two identical cards the first played wins.
    """
    if not tricks:
        return False
    led, ours, first = tricks[0]
    follow = {card for card in hand if suit_of(card, strain) == suit_of(led, strain)}
    for card in follow or set(hand):
        if beats(card, ours, strain) or (first and card == ours):
            return True
        rest = list(hand)
        rest.remove(card)
        if can_win(tricks[1:], rest, strain):
            return True
    return False


def hands_of(unseen, n, strain, voids=()):
    """All hands of n of the unseen cards, or of fewer if there are no more, without `voids`."""
    cards = sorted(card for card in unseen if suit_of(card, strain) not in voids)
    return set(combinations(cards, min(n, len(cards))))


def led_later(hand, played, strain):
    """The tricks of `can_win` that a hand leads after it has won a trick with the card `played`."""
    rest = list(hand)
    rest.remove(played)
    return [(card, card, False) for card in in_order(rest, strain)]


def beaten(card, hand, led, others, strain):
    """Whether one of the `others` (plays after us, its possible hands) wins this or a later trick.

    We play the card to the lead `led`, and then lead the others.
    """
    later = led_later(hand, card, strain)
    return any(
        can_win([(led, card, False)] * after + later, other, strain)
        for after, hands in others
        for other in hands
    )


ELDEST_LEADS = {"one copy": CINCINNATI, "two copies": BARRIE.replace(opening_lead="eldest")}
in_both_decks = pytest.mark.parametrize("rules", ELDEST_LEADS.values(), ids=ELDEST_LEADS)


@in_both_decks
def test_a_card_claimed_in_a_trick_wins_it_and_all_later_tricks(rules):
    """Any other seat, partner too, may hold any unseen cards and play them in any legal way.

    Without known voids, a card is claimed whenever there is a certain one.
    """
    rng, certain = np.random.default_rng(7), 0
    for turn in range(1000):
        n, strain, before = 1 + turn % 3, STRAINS[turn % 5], 1 + turn // 5 % 3
        hand, rest = random_cards(rng, rules, 3 + before, strain)
        hand, rest = hand[:n], [*hand[n:], *rest]
        table, unseen = rest[:before], rest[before : before + n + int(rng.integers(4))]
        best = table[0]
        for card in table[1:]:
            best = card if beats(card, best, strain) else best
        led = suit_of(table[0], strain)
        legal = [card for card in hand if suit_of(card, strain) == led] or hand
        views, tables = position_of(rules, strain, hand, unseen)
        view, voids, after = views[0], {}, range(1, 4 - before)
        view["phase"], view["led"], view["winning_kind"] = PLAY, SUITS.index(led), parse_card(best)
        for seat in (1, 2, 3):
            voids[seat] = [suit for suit in SUITS if turn % 2 and rng.random() < 0.4]
            view["void"][seat] = sum(1 << SUITS.index(suit) for suit in voids[seat])
            view["cards_left"][seat] = n - (seat not in after)
        view["after"] = sum(1 << seat for seat in after)
        others = [
            (seat in after, hands_of(unseen, n - (seat not in after), strain, voids[seat]))
            for seat in voids
        ]
        sure = [card for card in legal if beats(card, best, strain)]
        sure = [card for card in sure if not beaten(card, hand, table[0], others, strain)]
        kind = claimed(views, tables, bits_of(legal)[0])
        if kind >= 0:
            assert CARD_NAMES[kind] in sure, (hand, table, unseen, strain, voids)
        elif not any(voids.values()):
            assert not sure, (hand, table, unseen, strain)
        certain += kind >= 0
    assert 250 < certain < 750


@in_both_decks
def test_a_hand_that_does_not_lead_takes_all_tricks_if_it_is_certain(rules):
    """The eldest hand may lead any suit; other seats play to the trick before the hand."""
    rng, certain = np.random.default_rng(8), 0
    for turn in range(1000):
        n, strain, answers = 1 + turn % 3, STRAINS[turn % 5], np.zeros(4, np.int64)
        hand, rest = random_cards(rng, rules, n, strain)
        unseen = rest[: n + int(rng.integers(4))]
        views, tables = position_of(rules, strain, hand, unseen)
        if not answers_all(views, tables, STRAINS.index(strain), answers):
            continue
        certain += 1
        for lead in set(unseen):
            ours = CARD_NAMES[answers[SUITS.index(suit_of(lead, strain))]]
            assert beats(ours, lead, strain), (hand, unseen, strain)
            others, later = list(unseen), led_later(hand, ours, strain)
            others.remove(lead)
            for tricks, size in ((later, n - 1), ([(lead, ours, True), *later], n)):
                for other in hands_of(others, size, strain):
                    assert not can_win(tricks, other, strain), (hand, lead, other, strain)
    assert 250 < certain < 750
