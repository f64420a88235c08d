"""The declared variants; each value is followed by the sentence of its source.

Sources: S0 Cincinnati Euchre; S1 Simplified bid euchre; S2 the general rules (scrambled); S3 a
club's sheet; S4 Barrie, Ontario, with the general rules (pagat.com). P1 the tests and documents of
three public projects on GitHub (a tournament calls the bid "shooter":
https://www.mainstreetedgerton.me/card/64). P2 "Indiana Double Deck Bid Euchre",
https://docslib.org/doc/8285111/indiana-double-deck-bid-euchre. P3 "How to Play Double Bid Euchre",
http://www.organicmechanic.org/2004/03/. P4 "Pepper", http://gambiter.com/cards/euchre/pepper.html.
Sources P are retold, not quoted. Where a source is silent the comment says whose rule is taken.
"""

from __future__ import annotations

from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.rules import BY_NAME, Rules

_CALLS = (
    # S1, S3, S4: "call for 2 cards: 12 points; call for 1 card: 18 points; moon: 24 points"
    Bid("call-2", value=12, exchange=2),
    Bid("call-1", value=18, exchange=1),
    Bid("moon", value=24),
)

CINCINNATI = Rules(
    ranks="9",  # S0 "a special 24-card deck ... ranked from 9 (low) to Ace (high)"
    copies=1,
    partnered=(3, 5),  # S0 "The lowest bid that can be made is three tricks"
    lone=(  # S0 "Moon bidding": "Capture 6 tricks alone"
        Bid("moon", value=12),
        Bid("double moon", value=24),
        Bid("triple moon", value=32),
        Bid("quadruple moon", value=48),
    ),
    strain_named="after_auction",  # S0 "The player who wins the bid gets to choose the trump suit"
    moon_ladder="step",  # S0 "once the Moon is doubled, the next player would have to bid Triple"
    all_pass="dealer_forced",  # S0 "the dealer ... must play with a bid of 3 or more"
    opening_lead="eldest",  # S0 "It's the oldest player's job to lead the first trick"
    dealer_may_equal="never",  # S0 "the next player has the chance to make a higher bid"
    win_rule="any",  # S0 "The first team to score 32 points or more wins the game!"
    both_over="declarer",  # no source: the declarer's side counts first
    target=32,
)

SIMPLIFIED = Rules(
    ranks="J",  # S1 "32 cards. Two each of jacks, queens, kings, and aces"
    copies=2,
    partnered=(1, 7),  # S1 "1 to 8 tricks", all eight being the three bids alone
    lone=_CALLS,  # S1 "exchanging two cards", "exchanging one card", "over the Moon"
    strain_named="in_bid",  # S1 "and names a particular suit or no Trump"
    all_pass="redeal_same",  # S1 is silent: the same dealer deals again
    opening_lead="declarer",  # S1 "wins the contract and will play the first card of the hand"
    dealer_may_equal="lone",  # S1 "The dealer can also bid the same number of eight tricks"
    win_rule="rounds",  # S1 "The team with the most points at the end of the agreed rounds wins"
    rounds=1,  # S1 "either 1, 2, or 3 rounds etc."; "four hands makes one round"
)

CLUB = Rules(
    ranks="J",  # S3 "Double deck is used - J, Q K, A"
    copies=2,
    partnered=(3, 8),  # S3 "Lowest bid is 3 and can go up to 8 tricks"
    lone=_CALLS,  # S3 "Play alone, ask for 2 cards from your partner"
    strain_named="in_bid",  # S3 "a proposed trump suit or 'no trump'"
    all_pass="redeal_next",  # S3 is silent: the next dealer deals
    opening_lead="declarer",  # S3 "The high bidder leads to the first trick"
    win_rule="made_or_set",  # S3 is silent: S4's general rule
    target=52,  # S3 is silent: S4 "The game is 52 points"
)

BARRIE = Rules(
    ranks="J",  # S4 "2 decks using the J Q K A only, that is 32 cards in all"
    copies=2,
    partnered=(1, 8),  # S4 "any number of a suit or no trump up to a maximum of 8"
    lone=_CALLS,  # S4 "calling for 1 or 2 cards", "The highest bid of all is moon"
    strain_named="in_bid",  # S4 "the trump suit is the suit named in the bid"
    all_pass="redeal_next",  # S4 is silent: the next dealer deals
    opening_lead="declarer",  # S4 "The high bidder leads to the first trick"
    win_rule="made_bid",  # S4 "at the end of a hand on which they won a bid"; version 2 is "any"
    target=52,  # S4 "The game is 52 points"
)

SIX_CARD = Rules(
    ranks="9",  # S2 "Bid Euchre, also known as 6 card Euchre": A K Q J 10 9
    copies=1,
    partnered=(1, 6),  # S2, S4 "A bid is a number of tricks (one or more)"
    strain_named="in_bid",  # S2, S4 "for example '4 spades' or '5 no trump'"
    all_pass="redeal_next",  # S2, S4 are silent: the next dealer deals
    opening_lead="declarer",  # S2, S4 "The high bidder leads to the first trick"
    win_rule="made_or_set",  # S2, S4 "succeed in a bid, or defeat the opponents' bid"
    target=32,  # S2, S4 give none: Cincinnati's, for the same hand
)

DOUBLE_DECK = Rules(
    ranks="9",  # S2, S4 "Usually a double deck is used - containing two of each card"
    copies=2,
    partnered=(1, 12),  # S2, S4 "A bid is a number of tricks (one or more)"
    strain_named="in_bid",  # S2, S4 "for example '4 spades' or '5 no trump'"
    all_pass="redeal_next",  # S2, S4 are silent: the next dealer deals
    opening_lead="declarer",  # S2, S4 "The high bidder leads to the first trick"
    win_rule="made_or_set",  # S2, S4 "succeed in a bid, or defeat the opponents' bid"
    target=52,  # S2, S4 give none: Barrie's
)

PARTNERS_BEST = Rules(
    ranks="9",  # P1: 24 cards, nine to ace
    copies=1,
    partnered=(3, 6),  # P1: bids from 3 to 6 tricks
    lone=(
        Bid("partners best", value=12, exchange=1),  # P1: alone, with the best card of partner
        Bid("alone", value=24),  # P1
    ),
    strain_named="after_auction",  # P1: the declarer names the strain
    no_trump="both",  # P1: a suit, high or low; two projects bar both with a bid of 3
    all_pass="dealer_forced",  # P1: after three passes the dealer must bid
    opening_lead="eldest",  # P1: the seat left of the dealer leads
    exchange_seen="blind",  # P1, one project; the other two exchange openly
    win_rule="any",  # P1
    both_over="continue",  # P1: a tie plays on
    target=40,  # P1, the first project; others play to 32
)

INDIANA = Rules(
    ranks="9",  # P2: two of each card from nine to ace
    copies=2,
    partnered=(1, 12),  # P2
    lone=(Bid("shoot", value=24, exchange=3),),  # P2: discard 3, take partner's best 3, play alone
    strain_named="in_bid",  # P2: a bid has a number and a strain
    no_trump="both",  # P2, P3: no trump is high or low
    auction="until_out",  # P2: the bidding goes round, and a pass is final
    all_pass="redeal_next",  # P2 is silent: the next dealer deals
    opening_lead="declarer",  # P2
    win_rule="made_or_set",  # P3: only by making a bid or setting the other side
    target=52,  # P3
)

PEPPER = Rules(
    ranks="9",  # P4: 24 cards
    copies=1,
    partnered=(1, 5),  # P4: bids of 1 to 5; all six tricks are the two peppers
    lone=(  # P4: all six tricks, with partner
        Bid("little pepper", value=6, partner=True),
        Bid("big pepper", value=12, partner=True),
    ),
    strain_named="after_auction",  # P4: the highest bidder names trump, or no trump
    auction="until_passes",  # P4: until three passes follow a bid
    all_pass="redeal_next",  # P4 is silent: the next dealer deals
    opening_lead="declarer",  # P4
    win_rule="any",  # P4
    target=30,  # P4
)

CUSTOM = "custom_v0"
"""The name of a game with custom rules."""

RULES: dict[str, Rules] = BY_NAME
"""Every declared variant, by name."""
RULES |= {
    "cincinnati_v0": CINCINNATI,
    "simplified_v0": SIMPLIFIED,
    "club_v0": CLUB,
    "barrie_v0": BARRIE,
    "six_card_v0": SIX_CARD,
    "double_deck_v0": DOUBLE_DECK,
    "partners_best_v0": PARTNERS_BEST,
    "indiana_v0": INDIANA,
    "pepper_v0": PEPPER,
}
