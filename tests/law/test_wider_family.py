"""Options of the wider family: low no trump, auctions in rounds, lone bids, scoring."""

import pytest
from support.agent_games import Position
from support.law_tables import (
    BARRIE,
    CINCINNATI,
    SIX_CARD,
    SUITS,
    Table,
    play_trick,
    split_hands,
)

import bideuchre_env
from bideuchre_env import Bid, Rules
from bideuchre_env.core.state import PLAY
from bideuchre_env.errors import RulesError
from bideuchre_env.rules import actions

PASS = ("pass",)
PEPPER = Rules(
    partnered=(1, 5),
    lone=[
        Bid("little pepper", value=6, partner=True),
        Bid("big pepper", value=12, partner=True, lost=14),
    ],
    strain_named="after_auction",
    auction="until_passes",
    target=30,
)


def game(rules):
    return bideuchre_env.make(rules)


def bids(table):
    return {name.removeprefix("bid ") for name in table.legal if name.startswith("bid ")}


LEADS = {  # cards in the order played, from seat 0, and the winner
    "TH 9H AS JH": 1,  # in the led suit the nine is the highest
    "TH JH AS KH": 0,  # the jack follows its own suit, and is lower than the ten
    "AH KH 9S TC": 1,
}


@pytest.mark.parametrize(("cards", "winner"), LEADS.items())
def test_low_no_trump_is_won_by_the_lowest_card_of_the_suit_led(cards, winner):
    """F.01: ""both" adds the strain LOW: no trumps, no bowers, all jacks in their own suit, and in
    each suit the lowest card wins; of equal cards the first."
    """
    assert play_trick(SIX_CARD, "LOW", cards.split(), no_trump="both").seat == winner


def test_of_equal_cards_at_low_no_trump_the_first_played_wins():
    """F.01: ""both" adds the strain LOW: no trumps, no bowers, all jacks in their own suit, and in
    each suit the lowest card wins; of equal cards the first."
    """
    options = {"copies": 2, "partnered": (1, 12), "no_trump": "both"}
    assert play_trick(SIX_CARD, "LOW", ["TC", "9C", "9C", "AS"], **options).seat == 1


def test_a_jack_follows_its_own_suit_at_low_no_trump():
    """F.01: ""both" adds the strain LOW: no trumps, no bowers, all jacks in their own suit, and in
    each suit the lowest card wins; of equal cards the first."
    """
    table = Table(SIX_CARD, dealer=3, hands={0: "QD", 1: "JH AS 9D"}, no_trump="both")
    table.do("bid 1 LOW", *PASS * 3, "QD")
    assert {card for card in table.legal if card[1] == "D"} == set(table.legal)
    assert "JH" not in table.legal


def test_strains_of_the_game():
    """F.02: ""none": the strains are the four suits only."
    F.03: "Bids in LOW rank with all strains."
    """
    table = Table(SIX_CARD, dealer=0, no_trump="none")
    assert bids(table) == {f"{n} {s}" for n in range(1, 7) for s in "CDHS"}
    table = Table(SIX_CARD, dealer=0, no_trump="both").do("bid 3 LOW")
    assert bids(table) == {f"{n} {s}" for n in (4, 5, 6) for s in (*"CDHS", "NT", "LOW")}
    table = Table(SIX_CARD, dealer=0, no_trump="both").do("bid 3 NT")
    assert "bid 3 LOW" not in table.legal
    sizes = [actions.of(BARRIE.rules.replace(no_trump=word)).n for word in ("none", "high", "both")]
    assert sizes == [61, 72, 83]


ROUNDS = [  # the auction, dealer 3: calls, then the seat to act, or the declarer of a contract
    ("until_passes", "pass 2 pass pass 3 4 pass pass pass", None, 1),
    ("until_passes", "pass 2 pass pass", 0, None),
    ("until_out", "pass 2 pass 3", 1, None),
    ("until_out", "pass 2 pass 3 4 pass", None, 1),
    ("until_passes", "1 pass pass pass", None, 0),
    ("until_out", "1 pass pass pass", None, 0),
    ("until_out", "1 2 3 4 5 pass pass", 3, None),
    ("until_passes", "1 moon", None, 1),
]


@pytest.mark.parametrize(("auction", "calls", "turn", "declarer"), ROUNDS)
def test_auctions_in_rounds(auction, calls, turn, declarer):
    """F.04: "An auction in rounds goes from the eldest hand clockwise, and a bid must be higher."
    F.05: ""until_passes": a bid followed by three passes in a row wins; a seat that passed may bid
    again."
    F.06: ""until_out": a pass is final, seats that passed are skipped."
    F.07: "The highest bid ends the auction at once, and so does the bid of a dealer who may not
    pass."
    """
    rules = Rules(lone=[Bid("moon", value=24)], auction=auction, target=32)
    table = Table(game(rules), dealer=3)
    for call in calls.split():
        names = [name for name in table.legal if name.split()[:2][-1] == call]
        table.do(names[0])
    if turn is not None:
        assert table.seat == turn
        assert "pass" in table.legal
    else:
        assert table.hands[0]["declarer"] == declarer


def test_the_next_bid_of_a_round_is_higher():
    """F.04: "An auction in rounds goes from the eldest hand clockwise, and a bid must be
    higher."
    """
    rules = Rules(auction="until_passes", no_trump="both", target=32)
    table = Table(game(rules), dealer=3).do("bid 2 H", "pass", "bid 4 LOW", "pass")
    assert table.seat == 0
    assert bids(table) == {f"{n} {s}" for n in (5, 6) for s in (*"CDHS", "NT", "LOW")}
    seen = table.do("bid 5 C").sees(2)
    assert seen["calls"] == ["bid 4 LOW", "pass", "bid 5 C", "pass"]
    assert seen["bids"] == [(2, "bid 2 H"), (0, "bid 4 LOW"), (2, "bid 5 C")]


@pytest.mark.parametrize("all_pass", ["dealer_forced", "dealer_lowest"])
@pytest.mark.parametrize("auction", ["until_passes", "until_out"])
def test_a_forced_dealer_ends_an_auction_in_rounds(auction, all_pass):
    """F.07: "The highest bid ends the auction at once, and so does the bid of a dealer who may not
    pass."
    """
    rules = Rules(auction=auction, all_pass=all_pass, target=32)
    table = Table(game(rules), dealer=3).do(*PASS * 3)
    assert "pass" not in table.legal
    assert table.do("bid 1 D").hands[0]["contract"] == "1 D"


def test_an_auction_in_rounds_is_passed_out():
    """F.08: "After four first passes `all_pass` applies." """
    for auction in ("until_passes", "until_out"):
        table = Table(game(Rules(auction=auction, target=32)), dealer=2).do(*PASS * 4)
        assert table.hands[0]["points"] == [0, 0]
        assert table.hands[1]["dealer"] == 3


def test_rounds_exclude_equal_bids_of_the_dealer():
    """F.04: "An auction in rounds goes from the eldest hand clockwise, and a bid must be
    higher."
    """
    with pytest.raises(RulesError, match="expected 'never' with auction='until_out'"):
        Rules(auction="until_out", dealer_may_equal="any", target=32)
    many = [Bid(f"moon {n}", value=n) for n in range(1, 17)]
    with pytest.raises(RulesError, match="22 bids: expected at most 21"):
        Rules(auction="until_out", lone=many, target=32)


def test_a_pepper_is_played_with_partner():
    """F.09: "A lone bid with `partner`: both play, for all tricks, without an exchange." """
    hands = split_hands(PEPPER, 0, 1, 6)
    table = Table(game(PEPPER), dealer=3, hands={s: " ".join(hand) for s, hand in hands.items()})
    table.do("bid 5", "bid little pepper", *PASS * 3, "trump H")
    assert table.sees(0)["sitting_out"] is None
    hand = table.settle()
    assert len(hand["actions"]) == 6 + 24
    with pytest.raises(RulesError, match="expected 0, because partner takes part"):
        Rules(lone=[Bid("pepper", value=6, partner=True, exchange=1)], target=30)


@pytest.mark.parametrize(("tricks", "points"), [(6, [12, 0]), (5, [-14, 1])])
def test_a_lone_bid_loses_its_own_points(tricks, points):
    """F.10: "A lone bid that fails loses `lost` points, by default its value." """
    assert played(PEPPER, "bid big pepper", tricks) == points
    default = PEPPER.replace(lone=[Bid("pepper", value=7, partner=True)])
    assert played(default, "bid pepper", tricks) == ([7, 0] if tricks == 6 else [-7, 1])


def played(rules, bid, tricks):
    """Points of declarer's side and of the defenders: seat 0 bids and wins `tricks` at no trump."""
    hands = split_hands(rules, 0, 1, tricks)
    deal = {seat: " ".join(hand) for seat, hand in hands.items()}
    table = Table(game(rules), dealer=3, hands=deal)
    table.do(bid if rules.strain_named == "after_auction" else f"{bid} NT")
    while "trump NT" not in table.legal and "pass" in table.legal:
        table.do("pass")
    if "trump NT" in table.legal:
        table.do("trump NT")
    order = "AKQJT9"
    hand = table.settle(lambda table: min(table.legal, key=lambda card: order.index(card[0])))
    assert hand["tricks"][0] == tricks
    return hand["points"]


SCORINGS = [
    ({"made_scores": "bid"}, 4, 6, [4, 0]),
    ({"made_scores": "tricks"}, 4, 6, [6, 0]),
    ({"made_bonus": 2}, 4, 5, [7, 1]),
    ({"made_bonus": 2}, 4, 3, [-4, 3]),
    ({"made_scores": "bid", "made_bonus": 1}, 3, 5, [4, 1]),
    ({"defenders_score": "none"}, 4, 3, [-4, 0]),
    ({"defenders_score": "value_if_set"}, 4, 3, [-4, 4]),
    ({"defenders_score": "value_if_set"}, 4, 5, [5, 0]),
]


@pytest.mark.parametrize(("options", "bid", "tricks", "points"), SCORINGS)
def test_scorings(options, bid, tricks, points):
    """F.11: "`made_scores`: a made bid in tricks scores its tricks, or the bid."
    F.12: "`made_bonus`: further points for a made bid in tricks only."
    F.13: "`defenders_score`: a point a trick, nothing, or the value of the bid if it is set."
    """
    assert played(Rules(**options, target=32), f"bid {bid}", tricks) == points


def test_a_lone_bid_has_no_bonus():
    """F.12: "`made_bonus`: further points for a made bid in tricks only." """
    rules = PEPPER.replace(made_bonus=3)
    assert played(rules, "bid little pepper", 6) == [6, 0]


def test_a_forced_dealer_makes_the_lowest_bid():
    """F.14: ""dealer_lowest": after three passes the dealer's legal calls are the lowest bid, in
    every strain."
    """
    table = Table(BARRIE, dealer=3, all_pass="dealer_lowest", no_trump="both").do(*PASS * 3)
    assert table.legal == [f"bid 1 {strain}" for strain in (*"CDHS", "NT", "LOW")]
    assert Table(CINCINNATI, dealer=3, all_pass="dealer_lowest").do(*PASS * 3).legal == ["bid 3"]
    table = Table(BARRIE, dealer=3, all_pass="dealer_lowest").do("bid 2 H", *PASS * 2)
    assert {"pass", "bid 3 C", "bid moon NT"} <= set(table.legal)


def test_the_dealer_equals_any_bid():
    """F.15: "`dealer_may_equal="any"`: over any standing bid the dealer may bid the same, in any
    strain, and becomes the declarer."
    """
    table = Table(SIX_CARD, dealer=3, dealer_may_equal="any").do("bid 4 H")
    assert "bid 4 C" not in table.legal
    table.do(*PASS * 2)
    assert bids(table) == {f"{n} {s}" for n in (4, 5, 6) for s in (*"CDHS", "NT")}
    assert table.do("bid 4 C").hands[0]["declarer"] == 3


def test_lone_bids_name_the_strain_after_the_auction():
    """F.16: ""lone_after": numbers name the strain, lone bids do not; after the auction the
    declarer names it, then the exchange."
    """
    table = Table(BARRIE, dealer=0, strain_named="lone_after")
    assert len(table.env.action_names) == 65
    table.do("pass", "bid 5 H", "bid call-1", "pass")
    assert table.legal == [f"trump {strain}" for strain in (*"CDHS", "NT")]
    assert table.seat == 3
    assert table.sees(0)["calls"] == ["pass", "pass", "bid 5 H", "bid call-1"]
    table.do("trump S")
    assert table.sees(3)["phase"] == "giving"
    table = Table(BARRIE, dealer=0, strain_named="lone_after").do("bid 5 H", *PASS * 3)
    assert table.sees(1)["phase"] == "play"
    with pytest.raises(RulesError, match="unless there are bids in tricks and lone bids"):
        SIX_CARD.rules.replace(strain_named="lone_after")


@pytest.mark.parametrize("bid", ["bid 3 H", "bid moon H"])
def test_the_seat_left_of_the_declarer_leads(bid):
    """F.17: "`opening_lead="left"`: the seat left of the declarer leads, alone or not." """
    table = Table(BARRIE, dealer=0, opening_lead="left").do("pass", bid, *PASS * 2)
    assert table.seat == 3


def test_no_trump_from_a_level():
    """F.18: "`no_trump_from`: the lowest bid that may be NT or LOW; lone bids always may; tricks +
    1: lone bids only."
    """
    options = {"no_trump": "both", "no_trump_from": 4}
    legal = bids(Table(BARRIE, dealer=0, **options))
    assert {bid for bid in legal if bid[0] == "3"} == {f"3 {s}" for s in "CDHS"}
    assert {bid for bid in legal if bid[0] == "4"} == {f"4 {s}" for s in (*"CDHS", "NT", "LOW")}
    table = Table(CINCINNATI, dealer=3, **options)
    assert len(table.do("bid 3", *PASS * 3).legal) == 4
    assert len(Table(CINCINNATI, dealer=3, **options).do("bid 4", *PASS * 3).legal) == 6
    legal = bids(Table(BARRIE, dealer=0, no_trump_from=9))
    assert {bid for bid in legal if bid.endswith("NT")} == {
        f"{name} NT" for name in ("call-2", "call-1", "moon")
    }
    for options in ({"no_trump_from": 10}, {"no_trump_from": 0}):
        with pytest.raises(RulesError, match="no_trump_from="):
            BARRIE.rules.replace(**options)


def test_an_open_exchange_may_return_cards():
    """F.19: "`exchange_seen="open"`: the given cards join partner's hand, who then passes as many
    and may return them."
    """
    table = Table(BARRIE, dealer=3, hands={0: "AH JC"}, exchange_seen="open")
    table.do("bid call-2 C", *PASS * 3, "AH", "JC")
    assert table.seat == 2
    assert table.sees(2)["discarded"] == ["AH", "JC"]
    assert table.sees(1)["discarded"] == []
    assert {"AH", "JC"} <= set(table.legal)
    assert len(table.sees(2)["hand"]) == 10
    table.do("JC", next(card for card in table.legal if card != "AH"))
    assert "JC" in table.sees(0)["hand"]
    assert "AH" in table.sees(2)["hand"]
    with pytest.raises(RulesError, match="no bid of this ladder exchanges cards"):
        SIX_CARD.rules.replace(exchange_seen="open")


@pytest.mark.parametrize(("score", "winner"), [((-44, 0), 1), ((-44, -60), 1), ((-43, 0), None)])
def test_a_side_at_the_floor_loses(score, winner):
    """F.20: "`floor`: after the winning test a side at or below it loses; if both are, the
    declarer's side."
    """
    rules = Rules(partnered=(6, 6), floor=-50, target=52)
    hands = split_hands(rules, 0, 1, 3)
    deal = {seat: " ".join(hand) for seat, hand in hands.items()}
    table = Table(game(rules), dealer=3, hands=deal, score=score)
    table.do("bid 6 NT", *PASS * 3)
    order = "AKQJT9"
    table.settle(lambda table: min(table.legal, key=lambda card: order.index(card[0])))
    assert table.over == (winner is not None)
    assert table.record["winner"] == winner
    assert table.sees(0)["floor"] == -50


def test_a_game_that_is_won_has_no_floor():
    """F.20: "`floor`: after the winning test a side at or below it loses; if both are, the
    declarer's side."
    """
    rules = Rules(partnered=(6, 6), floor=-50, win_rule="rounds", rounds=1, target=None)
    hands = split_hands(rules, 0, 1, 3)
    deal = {seat: " ".join(hand) for seat, hand in hands.items()}
    winners = {(-44, -60): 0, (-90, -60): 1}
    for score, winner in winners.items():  # after the last hand both sides are at the floor
        table = Position(rules, deal, dealer=3, score=score, played=rules.hands_to_play - 1)
        table.do("bid 6 NT, pass, pass, pass")
        while table.states["phase"][0] == PLAY:
            table.do(next(table.names[i] for i in table.look()[1].nonzero()[0]))
        assert max(table.states["score"][0]) <= rules.floor
        assert table.states["winner"][0] == winner
    with pytest.raises(RulesError, match="floor="):
        rules.replace(floor=0)


def kitty_table():
    """A table of 32 cards with a kitty of AS KS QS JS, at which seat 0 declares 3 hearts."""
    cards = [rank + suit for rank in "AKQJ" for suit in SUITS] * 2
    for card in ("AS", "KS", "QS", "JS"):
        cards.remove(card)
    deal = {seat: " ".join(cards[seat * 7 : seat * 7 + 7]) for seat in range(4)}
    table = Table(BARRIE, dealer=3, hands=deal, kitty=4, partnered=(1, 7))
    return table.do("bid 3 H", *PASS * 3), deal


def test_a_kitty_is_taken_up_and_as_many_cards_are_laid_away():
    """F.21: "`kitty`: cards are dealt to a kitty; before any exchange the declarer takes them up
    and lays away as many cards, face down and out of play, unseen by the others."
    """
    table, deal = kitty_table()
    assert [len(hand) for hand in table.hands[0]["deal"]] == [7] * 4
    assert table.hands[0]["kitty"] == ["AS", "KS", "QS", "JS"]
    assert table.seat == 0
    eleven = sorted([*deal[0].split(), "AS", "KS", "QS", "JS"])
    assert table.sees(0)["hand"] == eleven
    assert set(table.legal) == set(eleven)
    away = ["JS", *deal[0].split()[:3]]
    table.do(*away)
    assert table.sees(0)["phase"] == "play"
    assert table.sees(0)["kitty"] == ["AS", "JS", "KS", "QS"]
    assert table.sees(0)["laid_away"] == sorted(away)
    for seat in (1, 2, 3):
        assert table.sees(seat)["kitty"] == table.sees(seat)["laid_away"] == []
    assert len(table.sees(0)["hand"]) == 7
    assert sum(table.settle()["tricks"]) == 7


def test_the_kitty_comes_before_the_exchange():
    """F.21: "`kitty`: cards are dealt to a kitty; before any exchange the declarer takes them up
    and lays away as many cards, face down and out of play, unseen by the others."
    """
    table = Table(BARRIE, dealer=3, hands={0: "AH JC"}, kitty=4, partnered=(1, 7))
    table.do("bid call-1 H", *PASS * 3)
    for hand in (11, 10, 9, 8, 7):  # four cards laid away, one given
        assert (table.seat, len(table.sees(0)["hand"])) == (0, hand)
        card = next(name for name in table.legal if name != "AH")
        table.do(card)
    assert (table.seat, table.sees(0)["phase"]) == (2, "passing")
    assert table.sees(0)["discarded"] == [card]
    assert len(table.sees(0)["laid_away"]) == 4
    table.do(table.legal[0])
    assert (table.seat, len(table.sees(0)["hand"])) == (0, 7)


def test_the_kitty_is_taken_up_when_the_strain_is_named():
    """F.22: "The kitty is taken up after the auction, when the strain is named, in every
    contract."
    """
    for bid in ("4", "moon"):
        table = Table(CINCINNATI, dealer=3, kitty=4, partnered=(3, 4), hands={})
        table.do(f"bid {bid}", *PASS * 3)
        assert (table.sees(0)["phase"], len(table.sees(0)["hand"])) == ("naming", 5)
        assert table.sees(0)["kitty"] == []
        table.do("trump H")
        assert (table.sees(0)["phase"], len(table.sees(0)["hand"])) == ("giving", 9)
        assert len(table.sees(0)["kitty"]) == 4


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"kitty": 2}, "expected 0 or 4"),
        ({"kitty": True}, "expected 0 or 4"),
        ({"kitty": 4, "copies": 1}, "16 cards"),
        ({"kitty": 4}, "less a kitty of 4"),
    ],
)
def test_a_kitty_that_no_table_plays_is_refused(options, reason):
    """F.21: "`kitty`: cards are dealt to a kitty; before any exchange the declarer takes them up
    and lays away as many cards, face down and out of play, unseen by the others."
    """
    with pytest.raises(RulesError, match=reason):
        BARRIE.rules.replace(**options)


OPTIONS = {
    "no_trump": ("both", "none"),
    "no_trump_from": (4,),
    "auction": ("until_passes", "until_out"),
    "exchange_seen": ("open",),
    "made_scores": ("bid",),
    "made_bonus": (2,),
    "defenders_score": ("none", "value_if_set"),
    "floor": (-50,),
    "kitty": (4,),
    "all_pass": ("dealer_lowest",),
    "dealer_may_equal": ("any",),
    "strain_named": ("lone_after",),
    "opening_lead": ("left",),
    "lone": ([{"name": "pepper", "exchange": 0, "value": 9, "partner": True, "lost": 8}],),
}
MORE = {"kitty": {"partnered": [1, 7]}}  # options that another one requires
CASES = [(name, value) for name, values in OPTIONS.items() for value in values]


@pytest.mark.parametrize(("name", "value"), CASES)
def test_every_form_takes_the_option(name, value):
    """F.12: "`made_bonus`: further points for a made bid in tricks only."

    The same holds for every option: keywords, files of rules, ids of environments, and records.
    """
    options = {name: value, **MORE.get(name, {})}
    rules = BARRIE.rules.replace(**options)
    assert rules.options_from(BARRIE.rules) == options
    assert Rules.from_toml(rules.to_toml()) == rules
    assert Rules(**rules.to_dict()) == rules
    env = bideuchre_env.barrie_v0.raw_env(**options)
    env.reset(seed=1)
    assert env.rules == rules
    record = env.record.to_dict()
    assert record["options"] == options
    for words in ("nonsense", None if name != "floor" else 1, 1.5, [3]):
        with pytest.raises(RulesError, match="expected"):
            BARRIE.rules.replace(**{name: words})
