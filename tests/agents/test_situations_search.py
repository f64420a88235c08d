"""Endings the players that search get right and the rule player gets wrong.

Every position was met in play; the comment says what the cards can do.
"""

from __future__ import annotations

import pytest
from support.positions import CINCINNATI, SIX_CARD, Position

from bideuchre_env import agents

SEARCH = ("pimc", "inference")


def six_card(dealer, deal, story):
    """A six-card hand: the four hands by seat, and all that was called and played."""
    return Position(SIX_CARD, dict(enumerate(deal)), dealer=dealer).do(story)


def ducked():
    """Declarer (seat 0) has three tricks of the four it bid and one trump, the nine."""
    deal = ("AS 9S JH AD 9D AC", "TS 9H QD JD TD TC", "JS AH KH KD QC 9C", "KS QS QH TH KC JC")
    calls = "bid 4 D, pass, pass, pass, "
    return six_card(3, deal, calls + "JH JD KD TH TC 9C JC AC AD TD JS QH AS TS QC QS 9S")


def drawn_by_jack_of_hearts():
    """Declarer (seat 3) needs one of the last two tricks and has one trump, below the left."""
    deal = ("JS 9H AD KD KC TC", "QS TS QH TD QC JC", "AS KH JH TH QD 9C", "KS 9S AH JD 9D AC")
    calls = "bid 3 C, pass, pass, bid 4 D, "
    cards = "JD KD TD QD AC TC JC 9C AH 9H QH TH 9S JS TS AS"
    return six_card(3, deal, calls + cards)


@pytest.mark.parametrize("name", SEARCH)
@pytest.mark.parametrize(
    ("position", "good", "bad"),
    [
        # throwing the nine off lets partner's king win, and the queen over-ruffs the nine: set
        (ducked, "9H", "QD"),
        # the last trump out, the side card stands: set
        (drawn_by_jack_of_hearts, "JH", "KH"),
    ],
)
def test_the_setting_trick_is_found(name, position, good, bad):
    """Wins the setting trick: search sees it, rules of thumb do not."""
    at_table = position()
    assert at_table.choice() == bad
    at_table.agent = agents.make(name, SIX_CARD, seed=1)
    assert at_table.choice() == good


@pytest.mark.parametrize("name", SEARCH)
def test_a_certain_moon_is_bid(name):
    """All six trumps and the lead: nothing can go wrong alone, so nothing less is bid."""
    position = Position(CINCINNATI, {1: "JH JD AH KH QH TH"})
    position.agent = agents.make(name, CINCINNATI, seed=1)
    assert "moon" in position.choice()
