"""Rules on Cincinnati's auction, and on auctions in which all pass."""

import pytest
from support.law_tables import (
    BARRIE,
    BID_EUCHRE,
    CINCINNATI,
    CLUB,
    GENERAL,
    ONE_CALL,
    SIMPLIFIED,
    STRAINS,
    Table,
    bids_in_strains,
    in_games,
    one_bid,
    opening,
    partnered_bids,
)

from bideuchre_env.errors import IllegalActionError

MOONS = ["bid moon", "bid double moon", "bid triple moon", "bid quadruple moon"]
CINCINNATI_BIDS = ["bid 3", "bid 4", "bid 5", *MOONS]


@pytest.mark.parametrize("dealer", range(4))
@in_games(*ONE_CALL)
def test_every_seat_calls_once_from_the_left_of_the_dealer(game, dealer):
    """S0.01: "In Cincinnati Euchre, players take turns bidding on how many tricks they believe
    they can win in a round."
    S0.20: "The round begins with a bidding phase."
    S0.21: "This is when each player gets a chance to guess how many tricks they think their
    team can win if they win the bid."
    S0.23: "Let’s say I start as the dealer. The player sitting to my left is called the eldest
    hand."
    S0.24: "The eldest hand has the first opportunity to make a bid or pass."
    S0.29: "In this game, players take turns bidding on how many tricks they can capture as a
    team."
    S0.45: "When we play this game, there’s just one round of bidding."
    S1.10: "The first bid is made by the player to the left of the dealer."
    S2.21, S3.08, S4.21: "Each player has just one opportunity to bid, starting with the player
    to the left of the dealer, going around the table clockwise, and ending with the dealer."
    R.13: "one call each, starting left of the dealer, dealer last."
    """
    calls = ["pass", opening(game.rules, "H")[0], "pass", "pass"]
    table = Table(game, dealer=dealer)
    assert {"pass", calls[1]} <= set(table.legal)
    seats = []
    for call in calls:
        assert table.sees(0)["phase"] == "auction"
        seats.append(table.seat)
        table.do(call)
    assert seats == [(dealer + 1 + i) % 4 for i in range(4)]
    assert seats[-1] == dealer
    assert table.sees(0)["phase"] != "auction"


def test_cincinnati_lowest_bid():
    """S0.25: "The lowest bid that can be made is three tricks." """
    table = Table(CINCINNATI)
    assert table.legal == ["pass", "bid 3", "bid 4", "bid 5", "bid moon"]
    for too_low in ("bid 1", "bid 2"):
        assert too_low not in table.env.action_names


@pytest.mark.parametrize("eldest", ["pass", *CINCINNATI_BIDS[:4]])
def test_cincinnati_next_bid_is_higher(eldest):
    """S0.26: "After the eldest hand makes their bid or passes, the next player has the chance
    to make a higher bid."
    S0.27: "They can bid 4, 5, or even go for the Moon, which means six tricks."
    """
    table = Table(CINCINNATI).do(eldest)
    partnered = ["bid 3", "bid 4", "bid 5", "bid moon"]
    higher = partnered[partnered.index(eldest) + 1 :] if eldest in partnered else partnered
    moon = ["bid double moon"] if eldest == "bid moon" else []
    assert table.legal == ["pass", *higher, *moon]


def test_cincinnati_moon_ladder():
    """S0.30: "But here’s the twist – the bids can go beyond just numbers."
    S0.31: "For instance, the next player can bid Double Moon, which means they are doubling
    the stakes for the round."
    S0.33: "But beware, because once the Moon is doubled, the next player would have to bid
    Triple Moon to have a chance at winning."
    S0.34: "The bidding can go even higher!"
    S0.35: "The highest bid possible is Quadruple Moon."
    """
    table = Table(CINCINNATI)
    for i, moon in enumerate(MOONS):
        assert [bid for bid in table.legal if bid in MOONS] == [moon]
        assert "pass" in table.legal
        if i:
            assert table.legal == ["pass", moon]
        table.do(moon)
    assert table.env.action_names[table.env.action_names.index(MOONS[-1]) + 1] == "trump C"
    assert table.hands[0]["contract"] == "quadruple moon"


def test_cincinnati_moon_over_partner_and_after_passes():
    """R.06: "who may say what | strictly higher; each moon step only over the step below it
    (`moon_ladder="step"`) | strictly higher; the dealer may also equal a standing lone bid and
    takes it | strictly higher | strictly higher | strictly higher | strictly higher |"
    """
    table = Table(CINCINNATI, dealer=0).do("bid moon", "pass")
    assert table.seat == 3
    assert table.legal == ["pass", "bid double moon"]
    table.do("bid double moon")
    assert table.legal == ["pass", "bid triple moon"]
    table.do("pass")
    assert table.hands[0]["declarer"] == 3


def test_under_jump_any_higher_moon_may_be_bid():
    """R.26: "`jump`: any higher bid." """
    table = Table(CINCINNATI, moon_ladder="jump")
    assert table.legal == ["pass", *CINCINNATI_BIDS]
    table.do("bid moon")
    assert table.legal == ["pass", *MOONS[1:]]
    table.do("bid triple moon")
    assert table.legal == ["pass", "bid quadruple moon"]


@pytest.mark.parametrize("dealer", range(4))
def test_a_dealer_after_three_passes_must_bid(dealer):
    """S0.46: "And if every player says “no thanks” and passes, the dealer is put in a tough spot
    and must play with a bid of 3 or more."
    R.27: "`all_pass` | `dealer_forced`"
    R.65: "3. Cincinnati, three passes: the dealer has every bid a first bidder has, and no
    pass."

    After a bid, the dealer may pass.
    """
    for i in range(1, 4):
        calls = one_bid((dealer + i) % 4, "bid 3", dealer)[:3]
        assert "pass" in Table(CINCINNATI, dealer=dealer).do(*calls).legal
    table = Table(CINCINNATI, dealer=dealer).do("pass", "pass", "pass")
    assert table.seat == dealer
    assert table.legal == ["bid 3", "bid 4", "bid 5", "bid moon"]
    before = table.record
    with pytest.raises(IllegalActionError):
        table.do("pass")
    assert table.record == before
    table.do("bid 3", "trump H")
    assert table.hands[0]["declarer"] == dealer


@pytest.mark.parametrize("strain", STRAINS)
def test_cincinnati_winner_names_the_strain(strain):
    """S0.02: "The player who wins the bid gets to choose the trump suit for that round."
    S0.03: "Alternatively, they can choose to play with no trump."
    S0.47: "The player who wins the bid gets to choose the trump suit for the round."
    S0.48: "But they also have the option to pick no-trump, where all Aces are considered the
    highest cards in every suit."
    """
    table = Table(CINCINNATI, dealer=0).do("bid 3", "bid 4", "pass", "bid 5")
    assert table.seat == 0
    assert table.legal == [f"trump {name}" for name in STRAINS]
    table.do(f"trump {strain}")
    assert table.hands[0]["contract"] == f"5 {strain}"
    assert table.hands[0]["declarer"] == 0
    assert table.sees(2)["strain"] == strain


def test_highest_bid_wins_wherever_it_is_made():
    """S0.22: "The player who makes the highest bid gets to choose the trump suit or call
    no-trump."
    """
    for seat in range(4):
        table = Table(CINCINNATI, dealer=0).do(*one_bid(seat, "bid 4"))
        assert table.seat == seat
        assert table.legal[0] == "trump C"


@in_games(*BID_EUCHRE)
def test_after_four_passes_the_next_dealer_deals(game):
    """R.28: "`redeal_next`"
    R.07: "all pass | cannot: the dealer, fourth to speak, may not pass | same dealer deals
    again (`redeal_same`) | next dealer deals (`redeal_next`) | `redeal_next` | `redeal_next` |
    `redeal_next` |"
    """
    table = Table(game, dealer=2).do("pass", "pass", "pass", "pass")
    first, second = table.hands
    assert (first["declarer"], first["contract"]) == (None, None)
    assert (first["tricks"], first["points"], first["score"]) == ([0, 0], [0, 0], [0, 0])
    assert second["dealer"] == 3
    assert table.seat == 0


def test_after_four_passes_the_same_dealer_deals():
    """R.29: "`redeal_same`" """
    table = Table(SIMPLIFIED, dealer=2)
    for n in range(1, 4):
        table.do("pass", "pass", "pass", "pass")
        assert [hand["dealer"] for hand in table.hands] == [2] * (n + 1)
        assert table.seat == 3
    deals = [hand["deal"] for hand in table.hands]
    assert deals[0] != deals[1] != deals[2]


def test_eldest_may_be_forced():
    """R.30: "`eldest_forced`: the first speaker may not pass (a literal reading of S1)." """
    table = Table(SIMPLIFIED, all_pass="eldest_forced")
    assert "pass" not in table.legal
    assert table.legal == bids_in_strains(*partnered_bids(1, 7), "call-2", "call-1", "moon")
    table.do("bid 1 C")
    assert "pass" in table.legal


@in_games(*GENERAL)
def test_every_all_pass_option_in_other_games(game):
    """R.30: "`eldest_forced`: the first speaker may not pass (a literal reading of S1)." """
    table = Table(game, all_pass="dealer_forced").do("pass", "pass", "pass")
    assert "pass" not in table.legal
    table = Table(game, all_pass="redeal_same", dealer=1).do(*["pass"] * 4)
    assert table.hands[1]["dealer"] == 1
    table = Table(game, all_pass="eldest_forced")
    assert "pass" not in table.legal
    table = Table(CINCINNATI, all_pass="redeal_next", dealer=1).do(*["pass"] * 4)
    assert table.hands[1]["dealer"] == 2


def test_dealer_may_never_equal():
    """R.34: "`dealer_may_equal` | `never`" """
    for game in (CLUB, BARRIE):
        for bid in ("call-2", "call-1", "moon"):
            table = Table(game, dealer=0).do(f"bid {bid} H", "pass", "pass")
            assert not [name for name in table.legal if name.startswith(f"bid {bid} ")]
    table = Table(BARRIE, dealer=0, dealer_may_equal="lone").do("bid call-1 H", "pass", "pass")
    assert table.legal == ["pass", *bids_in_strains("call-1", "moon")]
    table = Table(SIMPLIFIED, dealer=0, dealer_may_equal="never")
    table.do("bid call-1 H", "pass", "pass")
    assert table.legal == ["pass", *bids_in_strains("moon")]


def test_strain_named_sets_when_the_strain_is_named():
    """R.50: "`after_auction`" """
    table = Table(CINCINNATI, strain_named="in_bid")
    assert table.legal == ["pass", *bids_in_strains("3", "4", "5", "moon")]
    table.do("bid 3 S", "pass", "pass", "pass")
    assert table.sees(0)["phase"] == "play"
    table = Table(BARRIE, strain_named="after_auction", dealer=3).do("bid call-1")
    assert table.legal == ["pass", "bid moon"]
    table.do("pass", "pass", "pass")
    assert table.legal == [f"trump {strain}" for strain in STRAINS]
    table.do("trump D")
    assert table.sees(0)["phase"] == "giving"
