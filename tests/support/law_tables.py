"""Games for the tests of the law, driven by names of actions through the public environment."""

import pytest
from oracles.reference import suit_of

import bideuchre_env

SUITS = "CDHS"
STRAINS = (*SUITS, "NT")
LOW_TO_HIGH = "9TJQKA"


def deck(rules):
    """The cards of a game, low to high."""
    ranks = LOW_TO_HIGH[{"9": 0, "10": 1, "J": 2}[rules.ranks] :]
    return [rank + suit for rank in ranks for suit in SUITS for _ in range(rules.copies)]


def full_deal(rules, hands):
    """Four hands from cards of some seats ({seat: "JH AH"}), filled up with the lowest left."""
    dealt = [hands.get(seat, "").split() for seat in range(4)]
    left = deck(rules)
    for card in (card for hand in dealt for card in hand):
        left.remove(card)
    for hand in dealt:
        while len(hand) < rules.tricks:
            hand.append(left.pop(0))
    return dealt


class Table:
    """A game in progress of the `Variant` `game`.

    `hands` fixes cards of the first deal, as in `full_deal`; `options` are those of `raw_env`.
    """

    def __init__(self, game, *, dealer=0, hands=None, score=(0, 0), seed=1, **options):
        self.env = game.raw_env(**options)
        self.rules = self.env.rules
        setup = {"dealer": dealer, "score": list(score)}
        if hands is not None:
            setup["deal"] = full_deal(self.rules, hands)
        self.env.reset(seed=seed, options=setup)

    @property
    def seat(self):
        return int(self.env.agent_selection[-1])

    @property
    def legal(self):
        mask = self.env.observe(self.env.agent_selection)["action_mask"]
        return [name for name, bit in zip(self.env.action_names, mask, strict=True) if bit]

    @property
    def over(self):
        return any(self.env.terminations.values()) or any(self.env.truncations.values())

    @property
    def record(self):
        return self.env.record.to_dict()

    @property
    def hands(self):
        return self.record["hands"]

    def sees(self, seat):
        seen = self.env.observe(f"player_{seat}")["observation"]
        return self.env.observation_layout.decode(seen)

    def do(self, *names):
        """Carry out actions by name; return the table."""
        for name in names:
            self.env.step(self.env.action_names.index(name))
        return self

    def play(self, cards):
        """Give, pass or play cards, such as "JH 9H"; return the table."""
        return self.do(*cards.split())

    def settle(self, choose=lambda table: table.legal[0]):
        """Play to the end of the hand by `choose(table)`; return its entry in the record."""
        before = len(self.hands)
        while not self.over and len(self.hands) == before:
            self.do(choose(self))
        return self.hands[before - 1]


def opening(rules, strain):
    """The actions by which the first seat to call wins the auction with the lowest bid."""
    name = rules.ladder[0].name
    passes = ["pass"] * 3
    if rules.strain_named == "in_bid":
        return [f"bid {name} {strain}", *passes]
    return [f"bid {name}", *passes, f"trump {strain}"]


def play_trick(game, strain, cards, **options):
    """Return a table after the first trick: seat 0 declares in `strain` and leads `cards[0]`.

    Only the seats whose card follows hold the suit led. The winner of the trick is to act.
    """
    rules = game.rules.replace(**options)
    left = deck(rules)
    for card in cards:
        left.remove(card)
    led = suit_of(cards[0], strain)
    follows = [suit_of(card, strain) == led for card in cards]
    hands = [[card] for card in cards]
    for card in sorted(left, key=lambda card: suit_of(card, strain) != led):
        able = [
            seat
            for seat in range(4)
            if len(hands[seat]) < rules.tricks and (follows[seat] or suit_of(card, strain) != led)
        ]
        hands[able[0]].append(card)
    deal = {seat: " ".join(hand) for seat, hand in enumerate(hands)}
    table = Table(game, dealer=3, hands=deal, **options)
    return table.do(*opening(rules, strain), *cards)


def split_hands(rules, leader, rival, tricks):
    """Hands with which at no trump `leader` wins `tricks` tricks, and `rival` the rest."""
    clubs, diamonds, hearts, spades = (
        [card for card in reversed(deck(rules)) if card[1] == suit] for suit in SUITS
    )
    if tricks:
        hands = {leader: clubs[:tricks] + diamonds[tricks:], rival: diamonds[:tricks]}
        hands[rival] += clubs[tricks:]
    else:
        hands = {leader: diamonds[1:] + hearts[:1], rival: diamonds[:1] + clubs[:-1]}
        hearts = hearts[1:] + clubs[-1:]
    for seat, suit in zip(sorted({0, 1, 2, 3} - {leader, rival}), (hearts, spades), strict=True):
        hands[seat] = suit
    return hands


def _to_plan(own):
    """Return a card choice, a function of a table, for the hands of `split_hands`.

    A seat plays its highest card of the suit `own[seat]` if it leads or this suit is led, else
    its lowest card of other suits.
    """

    def choose(table):
        cards = sorted(table.legal, key=lambda card: LOW_TO_HIGH.index(card[0]))
        suit = own.get(table.seat)
        mine = [card for card in cards if card[1] == suit]
        others = [card for card in cards if card[1] != suit]
        led = table.sees(table.seat)["led"]
        if mine and led in (None, suit):
            return mine[-1]
        return (others or cards)[0]

    return choose


def play_hand(game, calls, *, lead, tricks, dealer=0, score=(0, 0), **options):
    """Play a hand at no trump after four calls, eldest hand first; return the table after it.

    Seat `lead` leads and wins `tricks` tricks, the other side the rest. Calls name no strain:
    "bid 4". The cards are dealt so that after an exchange the hands are those of `split_hands`.
    """
    rules = game.rules.replace(**{k: v for k, v in options.items() if k != "episode"})
    bids = {bid.name: bid for bid in rules.ladder}
    last = max(i for i, call in enumerate(calls) if call != "pass")
    declarer, partner = (dealer + 1 + last) % 4, (dealer + 3 + last) % 4
    bid = bids[calls[last].removeprefix("bid ")]
    rival = (lead + 1) % 4
    if bid.alone and rival == partner:
        rival = (lead + 3) % 4
    hands = split_hands(rules, lead, rival, tricks)
    swapped = hands[partner][: bid.exchange]
    given_up = hands[declarer][: bid.exchange]
    hands[declarer] = swapped + hands[declarer][bid.exchange :]
    hands[partner] = given_up + hands[partner][bid.exchange :]
    deal = {seat: " ".join(hand) for seat, hand in hands.items()}
    table = Table(game, dealer=dealer, hands=deal, score=score, **options)
    if rules.strain_named == "in_bid":
        table.do(*(call if call == "pass" else f"{call} NT" for call in calls))
    else:
        table.do(*calls, "trump NT")
    table.do(*swapped, *given_up)
    assert table.seat == lead
    table.settle(_to_plan({lead: "C", rival: "D"} if tricks else {rival: "C"}))
    return table


def one_bid(seat, bid, dealer=0):
    """Four calls, eldest hand first, in which only `seat` bids: the name `bid`, else "pass"."""
    return [bid if (dealer + 1 + i) % 4 == seat else "pass" for i in range(4)]


def bids_in_strains(*bids):
    """The actions that bid each of `bids` in every strain."""
    return [f"bid {bid} {strain}" for bid in bids for strain in STRAINS]


def partnered_bids(low, high):
    return [str(n) for n in range(low, high + 1)]


def in_games(*games):
    """Decorator: run a test in each of these variants, as its argument `game`."""
    return pytest.mark.parametrize("game", games, ids=lambda game: game.name)


VARIANTS = tuple(bideuchre_env.variants.values())
CINCINNATI = bideuchre_env.cincinnati_v0
SIMPLIFIED = bideuchre_env.simplified_v0
CLUB = bideuchre_env.club_v0
BARRIE = bideuchre_env.barrie_v0
SIX_CARD = bideuchre_env.six_card_v0
DOUBLE_DECK = bideuchre_env.double_deck_v0
PARTNERS_BEST = bideuchre_env.partners_best_v0
INDIANA = bideuchre_env.indiana_v0
PEPPER = bideuchre_env.pepper_v0
ONE_CALL = tuple(game for game in VARIANTS if game.rules.auction == "once")
CALLING = (SIMPLIFIED, CLUB, BARRIE)
GENERAL = (SIX_CARD, DOUBLE_DECK)
BID_EUCHRE = (CLUB, BARRIE, SIX_CARD, DOUBLE_DECK)
