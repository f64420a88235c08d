"""Options: valid and invalid values in every variant."""

from itertools import product

import pytest
from support.law_tables import (
    BARRIE,
    CALLING,
    CINCINNATI,
    CLUB,
    PARTNERS_BEST,
    PEPPER,
    SIMPLIFIED,
    SIX_CARD,
    VARIANTS,
    Table,
    deck,
    in_games,
    opening,
)

import bideuchre_env
from bideuchre_env import Bid, Rules
from bideuchre_env.errors import RulesError

NOT_INTEGERS = (0, -1, 1.5, "52", True, None)


def play_a_hand(game, **options):
    """The record of a hand, played to the end with the first legal cards."""
    table = Table(game, **options)
    return table.do(*opening(table.rules, "H")).settle()


def refuses(words, game=BARRIE, **options):
    """Check that each function with the options as keywords raises `RulesError`; return True.

    `words` is a pattern of the message.
    """
    for function in (game.raw_env, game.env, game.replace, game.rules.replace):
        with pytest.raises(RulesError, match=words):
            function(**options)
    return True


TO_ANY = (CINCINNATI, PARTNERS_BEST, PEPPER)  # win_rule="any"
AIMED = tuple(game for game in VARIANTS if game is not SIMPLIFIED)
ALL_PASS = ("dealer_forced", "redeal_next", "redeal_same", "eldest_forced")
SUPPORTED = {
    "moon_ladder": {"step": (CINCINNATI, PEPPER), "jump": VARIANTS},
    "all_pass": dict.fromkeys(ALL_PASS, VARIANTS),
    "opening_lead": {"eldest": VARIANTS, "declarer": VARIANTS},
    "dealer_may_equal": {"never": VARIANTS, "lone": (CINCINNATI, *CALLING, PARTNERS_BEST)},
    "win_rule": dict.fromkeys(("any", "made_bid", "made_or_set"), AIMED) | {"rounds": VARIANTS},
    "both_over": {"declarer": VARIANTS} | dict.fromkeys(("highest", "continue"), TO_ANY),
    "strain_named": {"in_bid": VARIANTS, "after_auction": VARIANTS},
    "ranks": {"9": VARIANTS, "10": (CINCINNATI, *CALLING, PEPPER), "J": CALLING},
    "copies": {1: (CINCINNATI, SIX_CARD, PARTNERS_BEST, PEPPER), 2: VARIANTS},
}
PAIRS = [(option, value) for option, values in SUPPORTED.items() for value in values]


@in_games(*VARIANTS)
@pytest.mark.parametrize(("option", "value"), PAIRS)
def test_variants_accept_exactly_the_supported_options(game, option, value):
    """R.24: "every variant accepts every one that makes sense for it; the defaults are the
    table above"

    An option makes no sense if it has no effect on the ladder or the deck.
    """
    if game in SUPPORTED[option][value]:
        hand = play_a_hand(game, **{option: value})
        assert sum(hand["tricks"]) == game.rules.replace(**{option: value}).tricks
    else:
        assert refuses(r"\w", game, **{option: value})


@pytest.mark.parametrize("option", [name for name in SUPPORTED if name != "copies"])
def test_unknown_values_of_an_option_are_refused(option):
    """R.24: "every variant accepts every one that makes sense for it; the defaults are the
    table above"
    """
    for word in ("", "nonsense", None, 7, option):
        assert refuses(f"{option}=.*one of", CINCINNATI, **{option: word})


def test_step_needs_moons_to_step_through():
    """R.25: "`step` (the printed Bicycle wording): a k-fold moon needs a standing (k-1)-fold
    moon, passes in between allowed, over one's partner allowed."
    """
    too_few = "moon_ladder='step': expected 'jump' with fewer than two lone bids"
    for options in ({}, {"lone": [Bid("moon", value=8)]}):
        assert refuses(too_few, SIX_CARD, moon_ladder="step", **options)
    assert refuses("expected 'jump' with lone bids that exchange cards", BARRIE, moon_ladder="step")
    moons = [Bid("moon", value=8), Bid("double moon", value=16), Bid("big one", value=17)]
    table = Table(SIX_CARD, dealer=0, moon_ladder="step", lone=moons).do("bid moon H")
    assert [name for name in table.legal if "big one" in name] == []
    assert "bid double moon S" in table.legal


def test_both_over_needs_any():
    """R.40: "both sides at the target after the same hand under `any`. `declarer`: the
    declaring side counts first and wins."
    """
    for word in ("highest", "continue"):
        assert refuses("win_rule='any'", CLUB, both_over=word)
        hand = play_a_hand(CLUB, both_over=word, win_rule="any")
        assert sum(hand["tricks"]) == 8
        rules = CINCINNATI.rules.replace(both_over=word)
        assert rules.replace(win_rule="any") == rules
        assert rules.replace(win_rule="made_bid").both_over == "declarer"


@pytest.mark.parametrize("value", NOT_INTEGERS)
def test_numbers_that_are_not_positive_integers_are_refused(value):
    """R.44: "`max_hands` | int >= 1, default 100" """
    assert refuses("target", BARRIE, target=value)
    assert refuses("rounds", SIMPLIFIED, rounds=value)
    assert refuses("max_hands", BARRIE, max_hands=value)


def test_target_and_rounds_exclude_each_other():
    """R.37: "`rounds`"
    R.36: "`win_rule` | `any`"
    """
    assert refuses("target", SIMPLIFIED, target=52)
    assert refuses("rounds", BARRIE, rounds=2)
    assert refuses("target=None: expected a number", SIMPLIFIED, win_rule="any")
    assert refuses("max_hands", SIMPLIFIED, rounds=26)
    assert SIMPLIFIED.rules.replace(rounds=25).rounds == 25  # 100 hands, as max_hands allows
    table = Table(SIMPLIFIED, win_rule="any", target=1)
    table.do("bid 1 H", "pass", "pass", "pass").settle()
    assert table.over
    rounds = Table(BARRIE, win_rule="rounds")
    for _ in range(4):
        assert not rounds.over
        rounds.do("bid 1 H", "pass", "pass", "pass").settle()
    assert rounds.over


SIZES = {("9", 1): 6, ("10", 1): 5, ("J", 1): 4, ("9", 2): 12, ("10", 2): 10, ("J", 2): 8}


@pytest.mark.parametrize(("ranks", "copies"), SIZES)
def test_every_deck_is_played(ranks, copies):
    """R.47: "Hands of 6, 5, 4 or 12, 10, 8." """
    each = SIZES[ranks, copies]
    options = {"ranks": ranks, "copies": copies, "partnered": (1, each)}
    table = Table(SIX_CARD, **options)
    hands = table.hands[0]["deal"]
    assert [len(hand) for hand in hands] == [each] * 4
    assert sorted(card for hand in hands for card in hand) == sorted(deck(table.rules))
    lowest = {"9": "9", "10": "T", "J": "J"}[ranks]
    assert {card[0] for hand in hands for card in hand} == set("9TJQKA"["9TJQKA".index(lowest) :])
    hand = table.do(f"bid {each} NT", "pass", "pass", "pass").settle()
    assert sum(hand["tricks"]) == each


def test_unknown_decks_are_refused():
    """R.46: "`ranks`, `copies` | lowest rank `9`, `10` or `J`; 1 or 2 | S2, S4: "In some
    versions the nines, or the nines and tens are omitted"; "usually a double deck"."
    """
    for ranks in ("8", "T", "Q", 9):
        assert refuses("ranks=", SIX_CARD, ranks=ranks)
    for copies in (0, 3, True, "2", 1.0):
        assert refuses("copies=", SIX_CARD, copies=copies)
    assert refuses("up to", SIX_CARD, ranks="J")


BAD_LONE = {
    "exchange of 'moon'": [Bid("moon", value=9, exchange=4)],
    "exchange of 'sun'": [{"name": "sun", "value": 9, "exchange": -1}],
    "value of 'moon'": [Bid("moon", value=0)],
    "value of 'sun'": [Bid("sun", value=-3)],
    "expected different names": [Bid("moon", value=9), Bid("moon", value=10)],
    "blanks aside": [Bid("call 1", value=9), Bid("call1", value=10)],
    "lower-case words": [Bid("Moon", value=9)],
    "tricks=5: expected None": [Bid("moon", value=9, tricks=5)],
    "a mapping with name": [{"name": "moon"}],
    "a Bid, or a mapping": ["moon"],
    "lone bid name 7": [Bid(7, value=9)],
    "lone bid name 'mmm": [Bid("m" * 33, value=9)],
    "value of 'moon'=1000001": [Bid("moon", value=10**6 + 1)],
    "a list of lone bids": "moon",
}


RANGES = [(0, 3), (4, 3), (1, 7), (1,), (1, 2, 3), 4, ("1", "3"), {}]
ACTIONS = ["pass", "true", "none", "bid", "trump", "h", "nt", "jh", "trump h", "trumpnt", "bid x"]
BAD_LADDERS = [("partnered=", {"partnered": each}) for each in RANGES]
BAD_LADDERS += [(reason, {"lone": lone}) for reason, lone in BAD_LONE.items()]
BAD_LADDERS += [("unlike every other action", {"lone": [Bid(name, value=9)]}) for name in ACTIONS]
BAD_LADDERS += [("expected at least one bid", {"partnered": None})]
BAD_LADDERS += [("at most", {"lone": [Bid(f"moon {n}", value=n) for n in range(1, 28)]})]


@pytest.mark.parametrize(("message", "options"), BAD_LADDERS)
def test_unusable_ladders_are_refused(message, options):
    """R.48: "bid ladder | partnered range, then any list of lone bids (name, exchange 0..3,
    value) | S4: "In some versions there are additional bids to play alone""
    """
    assert refuses(message, SIX_CARD, **options)


def test_custom_rules_are_played():
    """R.24: "every variant accepts every one that makes sense for it; the defaults are the table
    above"
    """
    lone = (Bid("call-3", value=10, exchange=3), Bid("solo", value=20))
    rules = Rules(ranks="10", copies=2, partnered=(2, 9), lone=lone, target=40)
    game = bideuchre_env.make(rules)
    table = Table(game, dealer=0)
    names = [*map(str, range(2, 10)), "call-3", "solo"]
    bids = [f"bid {name} {strain}" for name, strain in product(names, ["C", "D", "H", "S", "NT"])]
    assert table.legal == ["pass", *bids]
    table.do("bid call-3 H", "pass", "pass", "pass")
    assert sum(table.settle()["tricks"]) == 10
    assert abs(table.hands[0]["points"][1]) == 10
