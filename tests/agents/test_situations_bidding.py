"""Calls, strains and exchanges of good players in typical situations, by rule and expert.

A comment gives the number of a complaint in the issue tracker of TricksterBots.
"""

import re

import pytest
from support.positions import BARRIE, BOTH, CINCINNATI, SIMPLIFIED, SIX_CARD, Position

ALONE, NOT_ALONE, NO_PASS = r"bid (call|moon).*", r"(?!bid (call|moon)).*", r"(?!pass).*"
PASSES = "pass, pass, pass"
THREE_BOWERS = "JS JC JC AS KS AH AD QS"
TOP_OF_TWO_SUITS, MIXED = "AS AS QS AC AC QC JD KH", "JC JS KC AH QS AD JS QH"
OVERBID = {1: "AD KD QD 9D AH TC", 2: "KH QC JD AS JS 9H"}
MOON_SUIT = "JS JS JC AS AS KS QD KD"


def case(behaviour, rules, hands, story, pattern, **options):
    """A test case: a position, and a regular expression that its good actions match."""
    return pytest.param(rules, hands, story, pattern, options, id=behaviour)


CALLS = [
    case("no call-2 on nothing above an ace", BARRIE,  # 310
         {1: "AS KS QS QS AH KH AC KD"}, "", NOT_ALONE),
    case("no moon with low side cards", CINCINNATI,  # 223
         {1: "JS JC KS QD TD 9H"}, "", "(?!.*moon).*"),
    case("a laydown goes alone", CINCINNATI,  # 225
         {1: "JS JC AS KS QS AH"}, "", "bid moon"),
    case("a strong hand goes alone at no score", BARRIE, {1: THREE_BOWERS}, "", ALONE),
    case("a strong hand does not go alone where few points win", BARRIE,  # 228
         {1: THREE_BOWERS}, "", r"bid \d S", score=(40, 48)),
    case("a strong hand is bid on the last hand of a round", SIMPLIFIED,
         {1: "KS QS JS JS JC AD AH QH"}, "", NO_PASS, played=3),
    case("far ahead on the last hand the dealer bids on anything", SIMPLIFIED,
         {0: "QS QD QC QH KD KC QS QD"}, PASSES, NO_PASS, score=(20, 0), played=3),
    case("far behind on the last hand the dealer passes a weak hand", SIMPLIFIED,
         {0: "QS QD QC QH KD KC QS QD"}, PASSES, "pass", score=(0, 20), played=3),
    case("no trump is not bid alone without the lead", CINCINNATI,  # 228
         {3: "AS KS QS JS AH KH"}, "pass, pass", "(?!bid moon).*"),
    case("a doubtful hand passes at no score", SIX_CARD, OVERBID, "bid 3 D", "pass"),
    case("a doubtful hand bids where the opponents would win", SIX_CARD,  # 328
         OVERBID, "bid 3 D", NO_PASS, score=(20, 30)),
    case("the last to call bids one more than the standing bid", SIX_CARD,
         {0: "JS JC AS KS QS 9H"}, "bid 2 H, pass, pass", "bid 3 S"),
    case("the dealer leaves a partner's bid alone", BARRIE,
         {0: "JS AS QS KH QH KD QC KC"}, "pass, bid 4 H, pass", "pass"),
    case("a weak hand passes", CINCINNATI, {1: "9S TS 9H TH 9D QC"}, "", "pass"),
    case("a forced dealer makes the lowest bid", CINCINNATI,
         {0: "9S TH QH 9D TC KD"}, PASSES, "bid 3"),
    case("no double moon over partner's moon", CINCINNATI,
         {3: "JS JC AS KS 9H TD"}, "bid moon, pass", "pass"),
    case("at the target a side that must make a bid to win bids", BARRIE,
         {3: "JS AS KS QS KH QH KD QC"}, "pass, pass", NO_PASS, score=(0, 55)),
    case("no trump on the top of one suit of a double deck", BARRIE,
         {1: "AS AS KS KS QS QH JD QC"}, "", "bid [4-8] NT"),
    case("far behind on the last hand the agent goes alone", SIMPLIFIED,
         {1: TOP_OF_TWO_SUITS}, "", ALONE, score=(13, 0), played=3),
    case("far behind before the last hand the agent does not go alone", SIMPLIFIED,
         {1: TOP_OF_TWO_SUITS}, "", NOT_ALONE, score=(13, 0)),
    case("level at the first hand the agent goes alone", SIMPLIFIED, {1: MIXED}, "", ALONE),
    case("well ahead on the last hand the agent does not go alone", SIMPLIFIED,
         {1: MIXED}, "", NOT_ALONE, score=(0, 13), played=3),
    case("the longest strongest suit is named", CINCINNATI,
         {1: "JH JD AH QH 9S TC"}, "bid 4, pass, pass, pass", "trump H"),
    case("no trump is named on aces and kings", CINCINNATI,
         {1: "AS KS AH KH AD AC"}, "bid 4, pass, pass, pass", "trump NT"),
]  # fmt: skip

CALL_1, CALL_2 = "bid call-1 S, pass, pass, pass", "bid call-2 S, pass, pass, pass"
EXCHANGES = [
    case("partner passes the ace", BARRIE,  # 233
         {1: MOON_SUIT, 3: "AH KH QH KC QC QD KD QS"}, CALL_1 + ", QD", "AH"),
    case("partner passes a bower before an ace", BARRIE,
         {1: "JS JC AS AS KS QS QD KD", 3: "AH KH QH KC JS AC QD KD"}, CALL_2 + ", QD KD", "JS"),
    case("the declarer gives up no ace and no bower", BARRIE,  # 233
         {1: "JS JS JC AS KS AH AD QD"}, CALL_2 + ", QD", "(?!AH|AD|JS|JC).*"),
    case("at no trump partner passes an ace", BARRIE,
         {1: "AS AS KS AH AH KH AD QD", 3: "JS JC AC KC QS QH KD QD"},
         "bid call-1 NT, pass, pass, pass, QD", "AC"),
    case("of two aces partner passes that of the shortest suit", BARRIE,
         {1: "JS JS JC AS AS KS QD AC", 3: "AD KD QD QC KC QC AH KC"}, CALL_1 + ", QD", "AH"),
    case("the declarer gives up the only card of a suit", BARRIE,
         {1: "JS JS JC AS AS QH QD KD"}, CALL_1, "QH"),
]  # fmt: skip


@BOTH
@pytest.mark.parametrize(("rules", "hands", "story", "pattern", "options"), CALLS + EXCHANGES)
def test_the_agent_chooses_a_good_call_strain_or_exchange(
    rules, hands, story, pattern, options, agent
):
    choice = Position(rules, hands, agent=agent, **options).do(story).choice()
    assert re.fullmatch(pattern, choice), choice


def spades(call):
    """The number of tricks that a call bids in spades; 0 for other calls."""
    words = call.split()
    return int(words[1]) if words[-1] == "S" and words[1].isdigit() else 0


@BOTH
def test_partners_suit_is_bid_higher_and_the_opponents_lower(agent):
    hand = {3: "KS JS JS AC KD QD KH QH"}
    bid = {
        calls: spades(Position(BARRIE, hand, agent=agent).do(calls).choice())
        for calls in (
            "bid 2 S, pass", "bid 2 H, pass", "pass, pass", "pass, bid 2 H", "pass, bid 2 S",
        )
    }  # fmt: skip
    assert bid["bid 2 S, pass"] > bid["pass, pass"] > bid["pass, bid 2 S"]
    assert bid["bid 2 S, pass"] > bid["bid 2 H, pass"]
    assert bid["pass, bid 2 H"] > bid["pass, bid 2 S"]
