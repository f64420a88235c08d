"""Rules on auctions in which a bid names its strain."""

import pytest
from oracles.reference import SAME_COLOUR
from support.law_tables import (
    BARRIE,
    BID_EUCHRE,
    CALLING,
    CINCINNATI,
    CLUB,
    DOUBLE_DECK,
    INDIANA,
    PARTNERS_BEST,
    PEPPER,
    SIMPLIFIED,
    SIX_CARD,
    STRAINS,
    SUITS,
    VARIANTS,
    Table,
    bids_in_strains,
    in_games,
    one_bid,
    partnered_bids,
    play_trick,
)

from bideuchre_env.errors import IllegalActionError

LADDERS = {
    CINCINNATI: ["3", "4", "5", "moon", "double moon", "triple moon", "quadruple moon"],
    SIMPLIFIED: [*partnered_bids(1, 7), "call-2", "call-1", "moon"],
    CLUB: [*partnered_bids(3, 8), "call-2", "call-1", "moon"],
    BARRIE: [*partnered_bids(1, 8), "call-2", "call-1", "moon"],
    SIX_CARD: partnered_bids(1, 6),
    DOUBLE_DECK: partnered_bids(1, 12),
    PARTNERS_BEST: [*partnered_bids(3, 6), "partners best", "alone"],
    INDIANA: [*partnered_bids(1, 12), "shoot"],
    PEPPER: [*partnered_bids(1, 5), "little pepper", "big pepper"],
}


@in_games(*CALLING, SIX_CARD, DOUBLE_DECK)
def test_first_bidder_has_the_whole_ladder_in_every_strain(game):
    """S1.11: "The bidder states the number of tricks they will take in that hand; and names a
    particular suit or no Trump."
    S1.12: "The bid consists of 1 to 8 tricks."
    S3.11: "Lowest bid is 3 and can go up to 8 tricks"
    S4.02: "You can bid any number of a suit or no trump up to a maximum of 8."
    """
    table = Table(game)
    assert table.legal == ["pass", *bids_in_strains(*LADDERS[game])]
    table.do("bid 5 H", "pass", "pass", "pass")
    assert table.hands[0]["contract"] == "5 H"


@in_games(*VARIANTS)
def test_ladders_of_the_variants(game):
    """R.03: "partnered bids | 3 4 5 | 1..7 | 3..8 | 1..8 | 1..6 | 1..12 |"
    R.04: "lone bids, low to high | moon 12, double moon 24, triple moon 32, quadruple moon 48
    | call-2 12, call-1 18, moon 24 | call-2 12, call-1 18, moon 24 | call-2 12, call-1 18,
    moon 24 | none | none |"
    R.05: "strain named | by the winner, after the auction | in the bid | in the bid | in the
    bid | in the bid | in the bid |"
    """
    table = Table(game, dealer=0)
    strains, calls = game.rules.strains, ["pass"]
    if game in (CINCINNATI, PARTNERS_BEST, PEPPER):
        calls += [f"bid {name}" for name in LADDERS[game]]
        calls += [f"trump {strain}" for strain in strains]
    else:
        calls += [f"bid {name} {strain}" for name in LADDERS[game] for strain in strains]
    names = table.env.action_names
    assert names[: len(calls)] == calls
    assert all(len(name) == 2 for name in names[len(calls) :]), "the rest are cards"


def test_later_bidders_pass_or_bid_more():
    """S1.13: "There is no hierarchy in the suits."
    S1.14: "Moving clockwise the second bidder may pass or bid the number of tricks they will
    take in a particular suit or no trump."
    S1.15: "However, their bid must be at least one trick more (over bid) than the previous
    bidder."
    S1.16: "The third and fourth bidder (dealer) continue using the same terms as set out
    for the second bidder."
    R.71: "Over 5 nobody may equal."
    """
    for n in range(1, 8):
        table = Table(SIMPLIFIED).do(f"bid {n} D")
        for _ in range(3):
            higher = bids_in_strains(*partnered_bids(n + 1, 7), "call-2", "call-1", "moon")
            assert table.legal == ["pass", *higher]
            table.do("pass")
    table = Table(SIMPLIFIED).do("bid 2 S", "pass", "bid 6 NT")
    assert table.legal == ["pass", *bids_in_strains("7", "call-2", "call-1", "moon")]


def test_the_dealer_may_equal_a_lone_bid():
    """S1.30: "The only time a player does not have to overbid is when it is the dealers turn
    and the previous high bid is to take all eight tricks."
    S1.31: "The dealer can also bid the same number of eight tricks providing they are equal
    to, or greater than, the choice outlined above."
    R.35: "`lone` | S1"
    R.06: "who may say what | strictly higher; each moon step only over the step below it
    (`moon_ladder="step"`) | strictly higher; the dealer may also equal a standing lone bid and
    takes it | strictly higher | strictly higher | strictly higher | strictly higher |"
    R.69: "5. Simplified. Over call-1 the dealer may say call-1 or moon in any strain and
    becomes declarer, may not say call-2;"
    R.70: "a seat that is not the dealer may not equal."
    """
    for i, standing in enumerate(("call-2", "call-1", "moon")):
        equal_or_more = ["call-2", "call-1", "moon"][i:]
        table = Table(SIMPLIFIED, dealer=0).do(f"bid {standing} H")
        while table.seat != 0:
            assert table.legal == ["pass", *bids_in_strains(*equal_or_more[1:])]
            table.do("pass")
        assert table.legal == ["pass", *bids_in_strains(*equal_or_more)]
        table.do(f"bid {standing} S")
        assert table.hands[0]["declarer"] == 0
        assert table.hands[0]["contract"] == f"{standing} S"


@in_games(*CALLING)
def test_lone_bids_outrank_the_rest(game):
    """S1.23: "The highest bid is for the declarer to take all eight tricks with no help from
    their partner."
    S4.04: "A bid to play alone is higher than a bid with a partner, and a bid calling for one
    card is higher than a bid calling for two."
    S4.05: "The highest bid of all is moon, in which you have to win all 8 tricks alone using
    the cards you were dealt."
    R.66: "4. Barrie. 8 H over 7 C; call-2 over 8; call-1 over call-2; moon over call-1."
    R.67: "call-2 S over call-2 C is illegal."
    """
    high = game.rules.partnered[1]
    table = Table(game).do(f"bid {high - 1} C", f"bid {high} H")
    assert table.legal == ["pass", *bids_in_strains("call-2", "call-1", "moon")]
    table = Table(game).do("bid call-2 H")
    assert table.legal == ["pass", *bids_in_strains("call-1", "moon")]
    table.do("bid call-1 NT")
    assert table.legal == ["pass", *bids_in_strains("moon")]
    table.do("bid moon C")
    assert set(table.legal) == {"pass"} | set(bids_in_strains("moon") if game is SIMPLIFIED else [])


@in_games(*BID_EUCHRE)
def test_pass_or_bid_more(game):
    """S2.17, S3.10, S4.23: "At your turn you must either pass or bid a larger number of tricks
    than the previous bid if any."
    """
    low, high = game.rules.partnered
    lone = ["call-2", "call-1", "moon"] if game in (CLUB, BARRIE) else []
    for n in range(low, high + 1):
        table = Table(game).do(f"bid {n} S")
        higher = bids_in_strains(*partnered_bids(n + 1, high), *lone)
        for _ in range(3):
            assert table.legal == ["pass", *higher]
            table.do("pass")
        assert table.hands[0]["contract"] == f"{n} S"


@in_games(*BID_EUCHRE)
def test_suits_do_not_rank(game):
    """S2.16, S4.24: "There is no rank among the suits, so it is not possible to outbid a bid
    in one suit with an equal number of tricks in another suit (this is unlike 500 or Bridge)."
    R.14: "The strains (four suits, no trump) do not outrank each other."
    """
    for n in map(str, range(game.rules.partnered[0], game.rules.partnered[1] + 1)):
        for strain in STRAINS:
            table = Table(game).do(f"bid {n} {strain}")
            for other in STRAINS:
                before = table.record
                with pytest.raises(IllegalActionError):
                    table.do(f"bid {n} {other}")
                assert table.record == before


def test_a_bid_is_tricks_and_a_strain():
    """S2.18, S4.22: "A bid is a number of tricks (one or more), which the bidding side
    contracts to win if they are allowed to chose trumps, and a proposed trump suit or 'no
    trump' - for example '4 spades' or '5 no trump'."
    S3.09: "A bid is a number of tricks (one or more), which the bidding side contracts to
    win if they are allowed to choose trumps, and a proposed trump suit or 'no trump' - for
    example '4 spades' or '5 no trump'."
    R.49: "`strain_named` | `in_bid`"
    """
    for game in BID_EUCHRE:
        table = Table(game).do("bid 4 S")
        assert table.sees(0)["strain"] is None
        table.do("bid 5 NT", "pass", "pass")
        assert table.hands[0]["contract"] == "5 NT"
        assert table.sees(0)["strain"] == "NT"


@in_games(*BID_EUCHRE)
def test_highest_bidder_is_declarer(game):
    """S2.11, S3.16, S4.29: "The highest bidder is declarer and the trump suit is the suit
    named in the bid."
    S2.30: "Bid Euchre is the name given to a group of games played in North America which are
    based on Euchre, but with the trump suit chosen by whichever player is prepared to contract
    to win the largest number of tricks."
    """
    for seat in range(4):
        for suit in SUITS:
            table = Table(game, dealer=1).do(*one_bid(seat, f"bid 3 {suit}", dealer=1))
            assert table.hands[0]["declarer"] == seat
            assert table.sees(seat)["strain"] == suit
            plain = next(name for name in SUITS if name not in (suit, SAME_COLOUR[suit]))
            ace, king = f"A{plain}", f"K{plain}"
            assert play_trick(game, suit, [ace, king, f"Q{suit}", f"Q{plain}"]).seat == 2
    table = Table(game, dealer=1).do("bid 3 C", "bid 4 D", "bid 5 H", "bid 6 S")
    assert (table.hands[0]["declarer"], table.hands[0]["contract"]) == (1, "6 S")


def test_a_bid_of_no_trump_is_played_without_trumps():
    """S3.17: "Or if bid is "no trump"." """
    table = play_trick(CLUB, "NT", ["QH", "AS", "AC", "KH"])
    assert table.hands[0]["contract"] == "3 NT"
    assert table.sees(1)["strain"] == "NT"
    assert table.seat == 3


@in_games(SIMPLIFIED, *BID_EUCHRE)
def test_high_bidder_leads(game):
    """S1.17: "Once all four players have bid their hand, the player with the highest number of
    tricks bid wins the contract and will play the first card of the hand."
    S1.45: "The highest bidder plays first."
    S2.10, S3.18, S4.30: "The high bidder leads to the first trick."
    R.08: "opening lead | eldest hand (left of dealer); if it sits out, the next seat |
    declarer | declarer | declarer | declarer | declarer |"
    """
    for dealer in range(4):
        for seat in range(4):
            table = Table(game, dealer=dealer).do(*one_bid(seat, "bid 3 H", dealer=dealer))
            assert table.seat == table.hands[0]["declarer"] == seat
            assert table.sees(seat)["phase"] == "play"
            assert set(table.legal) == set(table.hands[0]["deal"][seat])
    table = Table(game, dealer=2).do("bid 3 C", "bid 4 NT", "pass", "bid 6 S")
    assert table.seat == table.hands[0]["declarer"] == 2
