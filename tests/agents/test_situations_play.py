"""Leads, following, ruffs and discards of good players in typical situations, by rule and expert.

A comment gives the number of a complaint in the issue tracker of TricksterBots.
"""

import pytest
from support.positions import BARRIE, BOTH, CINCINNATI, SIX_CARD, Position

from bideuchre_env import agents

NT_BID = "bid 1 NT, pass, pass, pass, "
MOON = SIX_CARD.replace(lone=[{"name": "moon", "value": 12}])
KING_FALLEN = {1: "KD 9D AS TS JC QH", 2: "AD TD 9S JS QC KC", 3: "JD TH 9H TC 9C QS"}
BOTH_VOID = {1: "JH JD KH AS QC 9D", 2: "9H TS QS TC KC KD", 3: "TH QH AH KS JS AD"}
STUCK = {2: "KH TH AC 9S QS 9D", 1: "9C QC JS AD KD TD", 0: "JH 9H QD JC KC AS"}
DECLARER = "JH JD AH QH TD KC"
LEFT_GUARDED = {1: "9S AS KS JH AH KC", 2: "JD 9H QC 9D QD TD"}


def case(behaviour, rules, hands, story, good, **options):
    """A test case: a position and its good cards, or "not" and its bad cards."""
    return pytest.param(rules, hands, story, good, options, id=behaviour)


LEADS = [
    case("declarer leads the right bower", SIX_CARD, {1: "JH AH KH AS AC 9D"},  # 205
         "bid 4 H, pass, pass, pass", "JH"),
    case("without the right bower declarer leads a high trump", SIX_CARD,  # 313
         {1: "JD AH 9H QS TC 9C", 2: "JH TH 9D TD QC QD"}, "bid 3 H, pass, pass, pass", "JD AH"),
    case("the declarer's partner leads the left bower", CINCINNATI,  # 81
         {1: "JD 9H AS QS TC 9D", 3: "JH AH KH QC TD 9C"}, "pass, pass, bid 4, pass, trump H",
         "JD"),
    case("the declarer's partner leads trumps again", CINCINNATI,  # 278
         {1: "JH JD QD TD AC KC", 2: "KH QH 9D TC QC 9C", 3: "AH 9H AS KS QS JS",
          0: "TH TS 9S AD KD JC"}, "pass, pass, bid 4, pass, trump H, JH QH 9H TH", "JD"),
    case("no trump is led once both opponents are void", CINCINNATI,  # 272
         {1: "JH AH QH QD AC KC", 2: "KS QS 9D TC QC 9C", 3: "JD 9H KH TD AS JS",
          0: "TH TS 9S AD KD JC"},
         "pass, pass, bid 4, pass, trump H, JH 9C 9H TH, AH TC KH JC", "AC"),
    case("the partner of a stuck dealer leads no trump", CINCINNATI, STUCK,  # 322
         "pass, pass, pass, bid 3, trump H, 9C AC TC JC", "not KH TH"),
    case("the partner of a dealer who bid freely leads trump", CINCINNATI, STUCK,
         "pass, pass, pass, bid 4, trump H, 9C AC TC JC", "KH"),
    case("at no trump a suit that opponents are void in is led", SIX_CARD,  # 320
         {1: "AC TC 9D QD JS TS", 2: "AH KH QH TH AS KS", 3: "KC QC JC 9C KD TD",
          0: "JH 9H AD JD QS 9S"}, "bid 3 NT, pass, pass, pass, AC TH 9C 9H", "TC"),
    case("a defender leads an ace before trump", CINCINNATI,
         {1: "AS 9S KH TC QC 9D", 0: DECLARER}, "pass, pass, pass, bid 4, trump H", "AS"),
    case("a lone declarer leads winners first", MOON,
         {1: "JS JC AS KS QS 9H", 2: "TS AD KD QC AC KC", 0: "9S AH QH TD 9D TC"},
         "bid moon S, pass, pass, pass, JS TS 9S", "JC AS"),
    case("a king is led once the ace has fallen", SIX_CARD,
         KING_FALLEN | {0: "QD KS AC AH KH JH"},
         "bid 3 NT, pass, pass, pass, 9D AD JD QD, 9S QS KS AS", "KD"),
    case("the last trump is not led once both opponents are void", SIX_CARD,
         BOTH_VOID | {0: "9C JC 9S AC TD QD"},
         "bid 4 H, pass, pass, pass, JH 9H TH 9C, JD TS QH JC", "AS"),
    case("without a winner low from the shortest suit", CINCINNATI,
         {0: "JH JD AH QH 9H KC", 1: "TS 9S QD TD 9D QC"}, "pass, pass, pass, bid 4, trump H",
         "QC"),
    case("at one's own no trump low from the longest suit", CINCINNATI,
         {1: "TS 9S QD TD 9D QC"}, "bid 4, pass, pass, pass, trump NT", "9D"),
]  # fmt: skip

FOLLOWING = [
    case("partner's winning trick is not trumped in last seat", SIX_CARD,
         {1: "JH AH KH TS AC KD", 2: "AS QS AD TD JC KC", 0: "9H TH QC TC 9D QD"},
         "bid 3 H, pass, pass, pass, TS AS 9S", "TC 9D"),
    case("last seat wins with the lowest card that does", SIX_CARD,
         {1: "9D TD TC 9C TH JC", 2: "QD JD 9H QC KC QH", 3: "JH TS 9S QS JS KS",
          0: "AD KD AS AC AH KH"}, NT_BID + "TD QD JH", "KD"),
    case("last seat ruffs with the lowest trump", SIX_CARD,
         {1: "JH AH KH AS AC KD", 2: "TS QS AD TD JC KC", 0: "9H TH QC TC 9D QD"},
         "bid 3 H, pass, pass, pass, AS TS 9S", "9H"),
    case("a hopeless trick gets the lowest card", SIX_CARD,
         {1: "AS JS TD 9D KD TC", 2: "KS QS 9S QD QC JC"}, NT_BID + "AS", "9S"),
    case("a guarded king keeps its guard", SIX_CARD,
         {1: "AS KS JS TD TC 9C", 2: "KD 9D KC QC TH QH"}, "bid 3 NT, pass, pass, pass, AS", "TH"),
    case("the left bower is not played under the right", SIX_CARD, LEFT_GUARDED,
         "bid 3 H, pass, pass, pass, JH", "9H"),
    case("third hand does not overtake partner's ace", SIX_CARD,
         {1: "AS JS TD 9D KD TC", 2: "QS AC AD AH KC KH", 3: "KS 9S QD QC JC JH"},
         "bid 2 NT, pass, pass, pass, AS QS", "9S"),
    case("an over-ruff is made with the lowest trump that wins", SIX_CARD,
         {1: "JH AS QC TC 9D KD", 2: "9H AD TD JC KC AC", 3: "KH QH AH TH 9C QD",
          0: "9S TS JS QS KS JD"}, "bid 2 H, pass, pass, pass, AS 9H", "TH"),
    case("third hand takes with the highest card left", SIX_CARD,
         {1: "QS JS TD 9D KD AC", 2: "9S QD JD QC JC KH", 3: "AS TS TH QH JH 9H"},
         NT_BID + "QS 9S", "AS"),
    case("third hand keeps a king that may be beaten", SIX_CARD,
         {1: "QS JS TD 9D KD AC", 2: "9S QD JD QC JC KH", 3: "KS TS TH QH JH 9H"},
         NT_BID + "QS 9S", "TS"),
    case("second hand plays low", SIX_CARD, {1: "9S JS TD 9D KD AC", 2: "QS TS JD QC JC KH"},
         NT_BID + "9S", "TS"),
    case("a trump that would be over-ruffed is not played", BARRIE,
         {0: "QD QC AS KS QS JS JS JC", 1: "AH AH KH QH QH JH AD QD",
          2: "JH QS QC KC KC AS JC KD", 3: "KH KS AC AC JD JD KD AD"},
         "bid 5 S, pass, pass, pass, QD AD KD JD, AH JH KH QC, QH QS", "JD", dealer=3),
    case("an ace is not thrown on partner's trick", SIX_CARD,
         {0: "KC AC AD KD QH TH", 1: "9S KS JH AH KH TS", 2: "AS 9C JC QC 9H JD",
          3: "JS QS TC QD"}, "bid 3 H, pass, pass, pass, 9S AS JS", "KC KD"),
    case("with trumps a discard makes a void", SIX_CARD,
         {1: "9S KS TS AH AD AC", 2: "AS QC JD KC 9H KD", 3: "JS QS JH JC 9C TD",
          0: "9D QD TC KH QH TH"}, "bid 3 H, pass, pass, pass, 9S AS JS", "TC"),
    case("at no trump the lowest card is discarded", SIX_CARD,
         {1: "9S KS TS AH AD AC", 2: "AS QC JD KC 9H KD", 3: "JS QS JH JC 9C TD",
          0: "9D QD TC KH QH TH"}, "bid 3 NT, pass, pass, pass, 9S AS JS", "9D"),
]  # fmt: skip


@BOTH
@pytest.mark.parametrize(("rules", "hands", "story", "good", "options"), LEADS + FOLLOWING)
def test_the_agent_plays_a_good_card(rules, hands, story, good, options, agent):
    choice = Position(rules, hands, agent=agent, **options).do(story).choice()
    assert (choice in good.split()) == ("not" not in good)


@pytest.mark.parametrize("name", ["pimc", "inference"])
def test_searchers_take_the_setting_trick_that_the_rule_player_misses(name):
    """The rule player's queen loses. Discarding the nine lets partner's king win."""
    hands = ("AS 9S JH AD 9D AC", "TS 9H QD JD TD TC", "JS AH KH KD QC 9C", "KS QS QH TH KC JC")
    position = Position(SIX_CARD, dict(enumerate(hands)), dealer=3)
    position.do("bid 4 D, pass, pass, pass, JH JD KD TH TC 9C JC AC AD TD JS QH AS TS QC QS 9S")
    assert position.choice() == "QD"
    position.agent = agents.make(name, SIX_CARD, seed=1)
    assert position.choice() == "9H"
