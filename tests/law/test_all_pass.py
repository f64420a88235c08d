"""Rules on passed-out hands, and the options of the auction."""

from support.law_tables import (
    BARRIE,
    BID_EUCHRE,
    CINCINNATI,
    CLUB,
    GENERAL,
    SIMPLIFIED,
    STRAINS,
    Table,
    bids_in_strains,
    in_games,
    partnered_bids,
)


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
