"""What players complain about in euchre bots: calls, trumps named, cards exchanged.

A docstring quotes the complaint, by its number in the bots' issue tracker where it has one.
"""

from __future__ import annotations

import pytest
from support.positions import BARRIE, BOTH, CINCINNATI, SIMPLIFIED, SIX_CARD, Position

# --- the auction -------------------------------------------------------------------------------


@BOTH
def test_no_call_2_on_nothing_higher_than_an_ace(agent):
    """TricksterBots #310: "Bot bids call 2 holding nothing higher than an A. wtf is that?" """
    position = Position(BARRIE, {1: "AS KS QS QS AH KH AC KD"}, agent=agent)
    assert not position.choice().startswith(("bid call", "bid moon"))


@BOTH
def test_no_call_2_when_most_bowers_are_missing(agent):
    """#368: "Nobody bids Call 2 unless they have 3 jacks, because if one is out they will go
    down 12 points." """
    position = Position(BARRIE, {1: "JS JC AS AS KS KS QH KD"}, agent=agent)
    assert not position.choice().startswith(("bid call", "bid moon"))


@BOTH
def test_call_2_with_three_bowers_and_side_aces(agent):
    """#368, the other way round: with three jacks, trump length and aces it is bid."""
    position = Position(BARRIE, {1: "JS JS JC AS KS AH AD QS"}, agent=agent)
    assert position.choice() in ("bid call-2 S", "bid call-1 S", "bid moon S")


@BOTH
@pytest.mark.parametrize("hand", ["JS JC KS QD TD 9H", "JH AH KH QD TS 9C"])
def test_no_moon_on_a_hand_with_side_losers(agent, hand):
    """#223 and #238: bots go "alone a little too aggressively"."""
    assert "moon" not in Position(CINCINNATI, {1: hand}, agent=agent).choice()


@BOTH
def test_a_laydown_goes_alone(agent):
    """#225, #12: "left, right, ace trump, ace, queen same suit, should go alone"."""
    assert Position(CINCINNATI, {1: "JS JC AS KS QS AH"}, agent=agent).choice() == "bid moon"


@BOTH
def test_no_lone_bid_when_a_few_points_win(agent):
    """#228: do not go alone when one or two points suffice."""
    hand = {1: "JS JC JC AS KS AH AD QS"}
    assert Position(BARRIE, hand, agent=agent).choice().startswith(("bid call", "bid moon"))
    near = Position(BARRIE, hand, score=(40, 48), agent=agent).choice()
    assert near.endswith(" S")
    assert near.split()[1].isdigit()


@pytest.mark.parametrize(
    ("rules", "score", "hand", "call"),
    [
        (BARRIE, (51, 40), "JS JS JC AS QS AH AD KC", "bid 1 S"),
        (BARRIE, (51, 40), "JS JS JC AS KS AH KD QS", "bid 1 S"),
        (CINCINNATI, (29, 29), "JS JC AS KS AH AD", "bid 3"),
        (CINCINNATI, (29, 20), "JS JC AS QS AH KH", "bid 3"),
    ],
)
def test_the_last_to_speak_does_not_go_alone_where_a_low_bid_is_sure(rules, score, hand, call):
    """The same: alone these hands are made in 94 to 98 of 100 deals, with partner in all.

    (At no score they go alone.)
    """
    first, last = (
        Position(rules, {0: hand}, score=s, agent="expert").do("pass, pass, pass").choice()
        for s in ((0, 0), score)
    )
    assert first in ("bid call-1 S", "bid moon")
    assert last == call


@BOTH
@pytest.mark.parametrize("played", range(4))
def test_a_strong_hand_is_bid_on_every_hand_of_the_round(agent, played):
    """With the score level the last hand decides, and a pass leaves it to the others."""
    for hand in ("KS QS JS JS JC AD AH QH", "JS JS JC JC AS KS AH KH", "JS JC AS AS KS QS AH AD"):
        assert Position(SIMPLIFIED, {1: hand}, played=played, agent=agent).choice() != "pass"


@BOTH
@pytest.mark.parametrize(("score", "weak"), [((20, 0), True), ((0, 20), False)])
def test_the_last_hand_of_a_round_is_not_over_before_it_is_played(agent, score, weak):
    """Passed out it is dealt anew: far ahead any low bid ends it won, behind a weak hand passes."""
    for hand, bids in (("JS JS JC JC AS KS AH KH", True), ("QS QD QC QH KD KC QS QD", weak)):
        position = Position(SIMPLIFIED, {0: hand}, score=score, played=3, agent=agent)
        assert (position.do("pass, pass, pass").choice() != "pass") == bids


@BOTH
def test_no_trump_alone_needs_the_lead_or_every_suit_covered(agent):
    """#228: no trump alone "only when on lead or all suits covered"."""
    hand = "AS KS QS JS AH KH"
    defending = Position(CINCINNATI, {3: hand}, dealer=0, agent=agent).do("pass, pass")
    assert defending.choice() != "bid moon"


@BOTH
def test_opponents_about_to_win_makes_us_bid_more(agent):
    """#328: with the opponents about to make a bid that wins the game, bid where one would pass."""
    hands = {1: "AD KD QD 9D AH TC", 2: "KH QC JD AS JS 9H"}
    level = Position(SIX_CARD, hands, agent=agent).do("bid 3 D")
    losing = Position(SIX_CARD, hands, score=(20, 30), agent=agent).do("bid 3 D")
    assert level.choice() == "pass"
    assert losing.choice() != "pass"


@BOTH
def test_the_last_bidder_bids_only_the_minimum(agent):
    """Whoever speaks last cannot be outbid: one more than the standing bid is enough."""
    hands = {0: "JS JC AS KS QS 9H"}
    position = Position(SIX_CARD, hands, agent=agent).do("bid 2 H, pass, pass")
    assert position.choice() == "bid 3 S"


@BOTH
def test_the_dealer_does_not_outbid_partner_for_nothing(agent):
    """A partner's bid that will be made is left alone by a hand with nothing to add."""
    position = Position(BARRIE, {0: "JS AS QS KH QH KD QC KC"}, dealer=0, agent=agent)
    assert position.do("pass, bid 4 H, pass").choice() == "pass"


@BOTH
def test_a_weak_hand_stays_low(agent):
    """Nothing above a queen: a pass, or one of the two bids that only tell partner something."""
    call = Position(SIX_CARD, {1: "9S TS 9H TH 9D QC"}, agent=agent).choice()
    assert call == "pass" or call.split()[1] in "12"
    assert Position(CINCINNATI, {1: "9S TS 9H TH 9D QC"}, agent=agent).choice() == "pass"


@BOTH
def test_a_forced_dealer_bids_as_little_as_possible(agent):
    """The dealer may not pass at Cincinnati: with a bad hand the lowest bid costs least."""
    position = Position(CINCINNATI, {0: "9S TH QH 9D TC KD"}, agent=agent).do("pass, pass, pass")
    assert position.choice() == "bid 3"


@BOTH
def test_a_double_moon_is_not_bid_on_a_plain_moon_hand(agent):
    """A step up the moons over one's own partner gains nothing but risk."""
    position = Position(CINCINNATI, {3: "JS JC AS KS 9H TD"}, agent=agent).do("bid moon, pass")
    assert position.choice() == "pass"


@BOTH
def test_nobody_drifts_home_at_barrie(agent):
    """Only a side that makes its own bid can win at Barrie: at the target, bid to get out."""
    hand = {3: "JS AS KS QS KH QH KD QC"}
    assert Position(BARRIE, hand, score=(0, 55), agent=agent).do("pass, pass").choice() != "pass"


@BOTH
def test_the_longest_strongest_suit_is_named(agent):
    """After the auction the declarer names the suit the hand is best in."""
    position = Position(CINCINNATI, {1: "JH JD AH QH 9S TC"}, agent=agent)
    assert position.do("bid 4, pass, pass, pass").choice() == "trump H"


@BOTH
def test_no_trump_is_named_on_aces_with_the_lead(agent):
    """A hand of aces and kings without a bower wants no trump."""
    position = Position(CINCINNATI, {1: "AS KS AH KH AD AC"}, agent=agent)
    assert position.do("bid 4, pass, pass, pass").choice() == "trump NT"


# --- the exchange ------------------------------------------------------------------------------


@BOTH
def test_the_lone_partner_passes_the_ace(agent):
    """#233: the partner must pass the ace, not a lower card of that suit."""
    hands = {1: "JS JS JC AS AS KS QD KD", 3: "AH KH QH KC QC QD KD QS"}
    position = Position(BARRIE, hands, agent=agent).do("bid call-1 S, pass, pass, pass, QD")
    assert position.choice() == "AH"


@BOTH
def test_the_lone_partner_passes_a_bower_before_an_ace(agent):
    """The right bower is worth more to the declarer than any ace."""
    hands = {1: "JS JC AS AS KS QS QD KD", 3: "AH KH QH KC JS AC QD KD"}
    position = Position(BARRIE, hands, agent=agent).do("bid call-2 S, pass, pass, pass, QD KD")
    assert position.choices(2)[0] == "JS"


@BOTH
def test_the_lone_declarer_never_gives_up_an_ace(agent):
    """#233, at the other end: "then passed me an ace, while keeping a lower card"."""
    hands = {1: "JS JS JC AS KS AH AD QD"}
    position = Position(BARRIE, hands, agent=agent).do("bid call-2 S, pass, pass, pass")
    given = position.choices(2)
    assert given[0] == "QD"
    assert not {"AH", "AD", "JS", "JC"} & set(given)


@BOTH
def test_no_trump_partner_passes_an_ace(agent):
    """At no trump only aces are sure."""
    hands = {1: "AS AS KS AH AH KH AD QD", 3: "JS JC AC KC QS QH KD QD"}
    position = Position(BARRIE, hands, agent=agent).do("bid call-1 NT, pass, pass, pass, QD")
    assert position.choice() == "AC"
