"""Rules on decks, seats, the deal and the rank of the cards."""

from collections import Counter
from itertools import combinations

import pytest
from oracles.reference import SAME_COLOUR
from support.law_tables import (
    BID_EUCHRE,
    CALLING,
    CINCINNATI,
    DOUBLE_DECK,
    GENERAL,
    SIMPLIFIED,
    SIX_CARD,
    SUITS,
    VARIANTS,
    Table,
    in_games,
    opening,
    play_trick,
)

FULL = ("9", "T", "J", "Q", "K", "A")
SHORT = ("J", "Q", "K", "A")


def dealt(game, **options):
    return Counter(card for hand in Table(game, **options).hands[0]["deal"] for card in hand)


def whole(ranks, copies):
    return Counter({rank + suit: copies for rank in ranks for suit in SUITS})


def assert_order(game, strain, low_to_high):
    """Check that each card of a suit loses to each later one, whether it leads or follows."""
    for low, high in combinations(low_to_high, 2):
        others = [c for c in outsiders(game, strain, low_to_high) if c not in (low, high)]
        assert play_trick(game, strain, [low, high, *others[:2]]).seat == 1, (strain, low, high)
        assert play_trick(game, strain, [high, low, *others[:2]]).seat == 0, (strain, high, low)


def outsiders(game, strain, suit_cards):
    """A card of each suit that is neither trump nor the suit of `suit_cards`."""
    suits = {strain, suit_cards[0][1]}
    low = game.rules.ranks
    return [f"{'Q' if low == 'J' else 'T'}{suit}" for suit in SUITS if suit not in suits]


def trumps(strain, ranks):
    """The trumps of the suit `strain` from low to high, the bowers last; one copy of each."""
    plain = [rank + strain for rank in ranks if rank != "J"]
    return [*plain, "J" + SAME_COLOUR[strain], "J" + strain]


def test_decks_may_omit_nines_and_tens():
    """S2.23, S4.17: "In some versions of Bid Euchre, the nines, or the nines and tens are
    omitted from the deck."
    S2.28: "There is no standardization of the rules most of the variation concerns the number
    of cards in the deck (quite often a double deck is used), and the exact bids allowed."
    """
    assert dealt(SIX_CARD, ranks="10", partnered=(1, 5)) == whole(FULL[1:], 1)
    assert dealt(SIX_CARD, ranks="J", partnered=(1, 4)) == whole(SHORT, 1)
    assert dealt(DOUBLE_DECK, ranks="10", partnered=(1, 10)) == whole(FULL[1:], 2)
    assert dealt(DOUBLE_DECK, ranks="J", partnered=(1, 8)) == whole(SHORT, 2)


@pytest.mark.parametrize(
    ("game", "ranks", "copies", "each"),
    [
        *((game, FULL, 1, 6) for game in (CINCINNATI, SIX_CARD)),
        *((game, SHORT, 2, 8) for game in CALLING),
        (DOUBLE_DECK, FULL, 2, 12),
    ],
)
def test_decks_of_the_variants(game, ranks, copies, each):
    """R.01: "deck | 24: 9-A, one copy | 32: J-A, two copies | 32: J-A x2 | 32: J-A x2 | 24:
    9-A | 48: 9-A x2 |"
    R.02: "cards each = tricks | 6 | 8 | 8 | 8 | 6 | 12 |"
    S0.06: "First things first, to play Cincinnati Euchre, you’ll need a special 24-card
    deck."
    S0.07: "The deck is made up of cards ranked from 9 (low) to Ace (high)."
    S1.01: "A 'Bid Euchre' deck comprises 32 cards."
    S1.02: "Two each of jacks, queens, kings, and aces; in all 4 suits."
    S1.22: "Remember: there are two of each card in all 4 suits."
    S2.22, S4.18: "Usually a double deck is used - containing two of each card."
    S2.29: "Bid Euchre, also known as 6 card Euchre, or Racehorse"
    S3.02: "Double deck is used – J, Q K, A"
    S4.01: "The game is played with 2 decks using the J Q K A only, that is 32 cards in all, so
    each of the 4 players is dealt 8 cards."
    S0.18: "The dealer shuffles the deck and gives each player six cards."
    S1.09: "The dealer delivers 8 cards to each player comprising the hand."
    S2.20, S3.06, S4.20: "All the cards are dealt out equally to the players."
    S3.07: "8 cards each."
    """
    table = Table(game)
    assert dealt(game) == whole(ranks, copies)
    assert sum(dealt(game).values()) == 4 * each
    assert [len(hand) for hand in table.hands[0]["deal"]] == [each] * 4
    table.do(*opening(game.rules, "C"))
    assert sum(table.settle()["tricks"]) == each


@in_games(*VARIANTS)
def test_partners_sit_opposite(game):
    """S0.15: "Euchre is a game where you play with a partner."
    S0.16: "You and your partner sit across from each other at the table."
    S1.03: "A game consists of four players (2 teams of 2 players) with partners sitting across
    from each other."
    S2.26, S3.01, S4.13: "Most often there are four players in fixed partnerships, partners
    sitting opposite."
    """
    table = Table(game, dealer=3, reward="points", episode="hand")
    assert table.env.possible_agents == ["player_0", "player_1", "player_2", "player_3"]
    table.do(*opening(game.rules, "NT"))
    for _ in range(4):
        table.do(table.legal[0])
    tricks = table.hands[0]["tricks"]
    assert tricks == ([1, 0] if table.seat in (0, 2) else [0, 1])
    for seat in range(4):
        ours, theirs = table.sees(seat)["tricks_won"]
        assert [ours, theirs] == (tricks if seat in (0, 2) else tricks[::-1])
    ours, theirs = table.settle()["points"]
    rewards = [table.env.rewards[f"player_{seat}"] for seat in range(4)]
    assert rewards == [ours - theirs, theirs - ours] * 2


@in_games(CINCINNATI, SIMPLIFIED, DOUBLE_DECK)
def test_first_dealer_and_cards_are_random(game):
    """S0.17: "To start, you need to decide who will be the dealer."
    S0.19: "The cards are dealt three at a time."
    S1.08: "The first dealer is chosen by high card draw."
    R.22: "The first dealer is random (S1: high card draw)."

    The number of cards dealt at a time does not show in shuffled hands. The test checks that
    every seat is equally likely to deal and to get a card; `core/test_deals.py` tests all cards
    and pairs of cards.
    """
    table, draws, copies = Table(game), 2000, game.rules.copies
    dealers, aces = Counter(), Counter()
    for seed in range(draws):
        table.env.reset(seed=seed)
        hand = table.hands[0]
        dealers[hand["dealer"]] += 1
        aces.update({seat: cards.count("AS") for seat, cards in enumerate(hand["deal"])})
    for seat in range(4):
        assert abs(dealers[seat] - draws / 4) < 5 * (draws * 3 / 16) ** 0.5
        assert abs(aces[seat] - draws * copies / 4) < 5 * (draws * copies * 3 / 16) ** 0.5


@pytest.mark.parametrize("strain", SUITS)
def test_cincinnati_trumps(strain):
    """S0.08: "But here’s the twist – the ranking of the trump suit changes depending on what’s
    chosen."
    S0.09: "The order becomes 9, 10, Queen, King, Ace, Same Color Jack, and Jack."
    S0.10: "For example, if Diamonds is the trump suit, the ranking of Diamonds will be 9,
    10, Queen, King, Ace, Jack of Hearts (the Left Bower), and Jack of Diamonds (the Right
    Bower)."
    S0.11: "Speaking of Jacks, those two special Jacks are called the Left Bower and Right
    Bower."
    """
    nine, ten, queen, king, ace, left, right = trumps(strain, FULL)
    same_color = {"C": "JS", "S": "JC", "D": "JH", "H": "JD"}[strain]
    assert (left, right) == (same_color, "J" + strain)
    assert_order(CINCINNATI, strain, [nine, ten, queen, king, ace, left, right])


@in_games(*CALLING, *GENERAL)
def test_order_of_trumps(game):
    """S2.27, S4.14: "As in Euchre, the highest trump is the jack of the trump suit (right
    bower), then the other jack of the same colour (left bower), then ace, king, queen, 10, 9."
    S3.03: "As in Euchre, the highest trump is the jack of the trump suit (right bower),
    then the other jack of the same colour (left bower), then ace, king, queen."
    S1.04: "Right bowers, left bowers and going alone are the major similarities with the
    traditional game of euchre."
    S1.19: "The highest trumps are the jacks of the bid suit, thus called the right Bowers."
    S1.20: "The second highest trumps are the jacks of the same colour of the bid suit."
    """
    for suit in SUITS:
        assert_order(game, suit, trumps(suit, FULL if game in GENERAL else SHORT))


@in_games(*GENERAL)
def test_order_of_the_plain_suits(game):
    """S2.25, S4.15: "The other suits ranks ace (high), king, queen, jack, 10, 9 - except that
    the suit which is the same colour of trumps has no jack."
    """
    for strain in SUITS:
        for suit in SUITS:
            if suit == strain:
                continue
            ranks = [r for r in FULL if r != "J" or suit != SAME_COLOUR[strain]]
            assert_order(game, strain, [rank + suit for rank in ranks])
    assert play_trick(SIX_CARD, "S", ["9C", "AC", "JC", "TC"]).seat == 2


@in_games(*VARIANTS)
def test_order_of_the_suits_at_no_trump(game):
    """S2.24, S4.16: "When the bid is 'no trumps', all four suits rank A-K-Q-J-10-9."
    S3.05: "When the bid is 'no trumps', all four suits rank A-K-Q-J."
    S1.21: "In no Trump rounds, aces are the highest card."
    """
    for suit in SUITS:
        ranks = SHORT if game in CALLING else FULL
        assert_order(game, "NT", [rank + suit for rank in ranks])


def test_left_bower_follows_diamonds_when_diamonds_are_trump():
    """S0.12: "When it’s named the trump suit, it actually becomes a part of the trump suit for
    that round."
    S0.13: "So, if Diamonds are trump, the Jack of Hearts will act as a Diamond for that
    round."
    S0.14: "It follows the rules of the trump suit and has to be played when Diamonds are led."
    """
    hands = {0: "9D 9C", 1: "JH AH KH QH TH 9H", 2: "JD", 3: "AC"}
    table = Table(CINCINNATI, dealer=3, hands=hands).do(*opening(CINCINNATI.rules, "D"))
    table.play("9D")
    assert table.legal == ["JH"]
    hearts = Table(CINCINNATI, dealer=3, hands=hands).do(*opening(CINCINNATI.rules, "H"))
    hearts.play("9D")
    assert "JH" in hearts.legal
    assert set(hearts.legal) > {"JH", "AH"}


@in_games(*BID_EUCHRE)
def test_left_bower_counts_as_a_trump(game):
    """S2.08, S3.20, S4.32: "The left bower(s) count for all purposes as belonging to the trump
    suit."
    R.15: "Right bower, left bower, A K Q (10 9); the left bower belongs to trump for every
    purpose; at no trump a jack is a plain jack."

    A left bower led calls for trumps. It follows trumps, not its printed suit.
    """
    for strain in SUITS:
        mate = SAME_COLOUR[strain]
        left = "J" + mate
        led = Table(game, dealer=3, hands={0: left, 1: f"A{strain} A{mate}"})
        led.do(*opening(game.rules, strain)).play(left)
        assert led.sees(1)["led"] == strain
        assert f"A{strain}" in led.legal
        assert f"A{mate}" not in led.legal
        printed = Table(game, dealer=3, hands={0: f"A{mate}", 1: f"{left} K{mate}"})
        printed.do(*opening(game.rules, strain)).play(f"A{mate}")
        assert f"K{mate}" in printed.legal
        assert left not in printed.legal
