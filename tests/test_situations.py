"""What players complain about in euchre bots, and the main principles, as positions by name.

A position is built through the real core: a deal from named cards, then actions by name. The
rule player is asked for its action, by name. Seat 0 deals unless said otherwise, so seat 1 is
eldest hand; cards nobody is given are dealt out from the lowest up.
"""

from __future__ import annotations

import numpy as np
import pytest

from bideuchre_env import actions, agents, batch
from bideuchre_env.cards import CARD_NAMES, hand_bits, parse_card
from bideuchre_env.deal import split_seed
from bideuchre_env.observation import layout_of
from bideuchre_env.rules import Rules
from bideuchre_env.state import new_states
from bideuchre_env.tables import compile_tables
from bideuchre_env.variants import RULES

CINCINNATI, BARRIE = RULES["cincinnati_v0"], RULES["barrie_v0"]
SIX_CARD, CLUB = RULES["six_card_v0"], RULES["club_v0"]


class Position:
    """A game at the table: `do` plays actions by name, `choice` asks the rule player."""

    def __init__(
        self,
        rules: Rules,
        hands: dict[int, str],
        *,
        dealer: int = 0,
        score: tuple[int, int] = (0, 0),
    ) -> None:
        self.rules, self.tables, self.layout = rules, compile_tables(rules), layout_of(rules)
        self.names = actions.of(rules).names
        self.states = new_states(1)
        batch.seed_rows(self.states, *split_seed(1))
        batch.start_rows(self.states, self.tables, np.array([dealer]))
        batch.deal_rows(self.states, self.tables)
        self.states["hands"][0] = deal_out(rules, hands)
        self.states["score"][0] = score
        self.agent = agents.make("rule", rules)

    def do(self, text: str) -> Position:
        """Carry out actions, separated by commas or, for cards, by spaces."""
        for part in text.split(","):
            part = part.strip()
            words = part.split() if part.split()[0] in CARD_NAMES else [part]
            for word in words:
                action = self.names.index(word)
                _, mask = self.look()
                assert mask[action], f"{word} is not legal: {self.legal()}"
                batch.step_row(self.states, self.tables, action)
        return self

    def look(self) -> tuple[np.ndarray, np.ndarray]:
        """What the seat to act sees, and its mask."""
        row = np.zeros((1, self.layout.size), np.int8)
        mask = np.zeros((1, len(self.names)), np.int8)
        batch.encode_rows(
            self.states, self.tables, self.layout._offsets(), np.zeros(1, np.int64), row, mask
        )
        return row[0], mask[0]

    def legal(self) -> list[str]:
        return [self.names[i] for i in np.flatnonzero(self.look()[1])]

    def choice(self) -> str:
        return self.names[self.agent.act(*self.look())]

    def choices(self, n: int) -> list[str]:
        """The next n actions of the rule player, carried out."""
        chosen = []
        for _ in range(n):
            chosen.append(self.choice())
            self.do(chosen[-1])
        return chosen


def deal_out(rules: Rules, hands: dict[int, str]) -> list[int]:
    kinds = {seat: [parse_card(card) for card in text.split()] for seat, text in hands.items()}
    left = [kind for kind in range(rules.kinds) for _ in range(rules.copies)]
    for held in kinds.values():
        for kind in held:
            left.remove(kind)
    for seat in range(4):
        held = kinds.setdefault(seat, [])
        while len(held) < rules.tricks:
            held.append(left.pop())
    return [hand_bits(kinds[seat]) for seat in range(4)]


# --- the auction -------------------------------------------------------------------------------


def test_no_call_2_on_nothing_higher_than_an_ace():
    """TricksterBots #310: "Bot bids call 2 holding nothing higher than an A. wtf is that?" """
    position = Position(BARRIE, {1: "AS KS QS QS AH KH AC KD"})
    assert not position.choice().startswith(("bid call", "bid moon"))


def test_no_call_2_when_most_bowers_are_missing():
    """#368: "Nobody bids Call 2 unless they have 3 jacks, because if one is out they will go
    down 12 points." """
    position = Position(BARRIE, {1: "JS JC AS AS KS KS QH KD"})
    assert not position.choice().startswith(("bid call", "bid moon"))


def test_call_2_with_three_bowers_and_side_aces():
    """#368, the other way round: with three jacks, trump length and aces it is bid."""
    position = Position(BARRIE, {1: "JS JS JC AS KS AH AD QS"})
    assert position.choice() in ("bid call-2 S", "bid call-1 S", "bid moon S")


@pytest.mark.parametrize("hand", ["JS JC KS QD TD 9H", "JH AH KH QD TS 9C"])
def test_no_moon_on_a_hand_with_side_losers(hand):
    """#223 and #238: bots go "alone a little too aggressively"."""
    assert "moon" not in Position(CINCINNATI, {1: hand}).choice()


def test_a_laydown_goes_alone():
    """#225, #12: "left, right, ace trump, ace, queen same suit, should go alone"."""
    assert Position(CINCINNATI, {1: "JS JC AS KS QS AH"}).choice() == "bid moon"


def test_no_lone_bid_when_a_few_points_win():
    """#228: do not go alone when one or two points suffice."""
    hand = {1: "JS JS JC AS KS AH AD QS"}
    assert Position(BARRIE, hand).choice().startswith(("bid call", "bid moon"))
    near = Position(BARRIE, hand, score=(40, 48)).choice()
    assert near.endswith(" S")
    assert near.split()[1].isdigit()


def test_no_trump_alone_needs_the_lead_or_every_suit_covered():
    """#228: no trump alone "only when on lead or all suits covered"."""
    hand = "AS KS QS JS AH KH"
    defending = Position(CINCINNATI, {3: hand}, dealer=0).do("pass, pass")
    assert defending.choice() != "bid moon"


def test_opponents_about_to_win_makes_us_bid_more():
    """#328: with the opponents about to make a bid that wins the game, bid where one would pass."""
    hands = {1: "AD KD QD 9D AH TC", 2: "KH QC JD AS JS 9H"}
    level = Position(SIX_CARD, hands).do("bid 3 D")
    losing = Position(SIX_CARD, hands, score=(20, 30)).do("bid 3 D")
    assert level.choice() == "pass"
    assert losing.choice() != "pass"


def test_the_last_bidder_bids_only_the_minimum():
    """Whoever speaks last cannot be outbid: one more than the standing bid is enough."""
    hands = {0: "JS JC AS KS QS 9H"}
    position = Position(SIX_CARD, hands).do("bid 2 H, pass, pass")
    assert position.choice() == "bid 3 S"


def test_the_dealer_does_not_outbid_partner_for_nothing():
    """A partner's bid that will be made is left alone by a hand with nothing to add."""
    position = Position(BARRIE, {0: "JS AS QS KH QH KD QC KC"}, dealer=0)
    assert position.do("pass, bid 4 H, pass").choice() == "pass"


def test_a_weak_hand_stays_low():
    """Nothing above a queen: a pass, or one of the two bids that only tell partner something."""
    call = Position(SIX_CARD, {1: "9S TS 9H TH 9D QC"}).choice()
    assert call == "pass" or call.split()[1] in "12"
    assert Position(CINCINNATI, {1: "9S TS 9H TH 9D QC"}).choice() == "pass"


def test_a_forced_dealer_bids_as_little_as_possible():
    """The dealer may not pass at Cincinnati: with a bad hand the lowest bid costs least."""
    position = Position(CINCINNATI, {0: "9S TH QH 9D TC KD"}).do("pass, pass, pass")
    assert position.choice() == "bid 3"


def test_a_double_moon_is_not_bid_on_a_plain_moon_hand():
    """A step up the moons over one's own partner gains nothing but risk."""
    position = Position(CINCINNATI, {3: "JS JC AS KS 9H TD"}).do("bid moon, pass")
    assert position.choice() == "pass"


def test_nobody_drifts_home_at_barrie():
    """Only a side that makes its own bid can win at Barrie: at the target, bid to get out."""
    hand = {3: "JS AS KS QS KH QH KD QC"}
    assert Position(BARRIE, hand, score=(0, 55)).do("pass, pass").choice() != "pass"


def test_the_longest_strongest_suit_is_named():
    """After the auction the declarer names the suit the hand is best in."""
    position = Position(CINCINNATI, {1: "JH JD AH QH 9S TC"})
    assert position.do("bid 4, pass, pass, pass").choice() == "trump H"


def test_no_trump_is_named_on_aces_with_the_lead():
    """A hand of aces and kings without a bower wants no trump."""
    position = Position(CINCINNATI, {1: "AS KS AH KH AD AC"})
    assert position.do("bid 4, pass, pass, pass").choice() == "trump NT"


# --- the exchange ------------------------------------------------------------------------------


def test_the_lone_partner_passes_the_ace():
    """#233: the partner must pass the ace, not a lower card of that suit."""
    hands = {1: "JS JS JC AS AS KS QD KD", 3: "AH KH QH KC QC QD KD QS"}
    position = Position(BARRIE, hands).do("bid call-1 S, pass, pass, pass, QD")
    assert position.choice() == "AH"


def test_the_lone_partner_passes_a_bower_before_an_ace():
    """The right bower is worth more to the declarer than any ace."""
    hands = {1: "JS JC AS AS KS QS QD KD", 3: "AH KH QH KC JS AC QD KD"}
    position = Position(BARRIE, hands).do("bid call-2 S, pass, pass, pass, QD KD")
    assert position.choices(2)[0] == "JS"


def test_the_lone_declarer_never_gives_up_an_ace():
    """#233, at the other end: "then passed me an ace, while keeping a lower card"."""
    hands = {1: "JS JS JC AS KS AH AD QD"}
    position = Position(BARRIE, hands).do("bid call-2 S, pass, pass, pass")
    given = position.choices(2)
    assert given[0] == "QD"
    assert not {"AH", "AD", "JS", "JC"} & set(given)


def test_no_trump_partner_passes_an_ace():
    """At no trump only aces are sure."""
    hands = {1: "AS AS KS AH AH KH AD QD", 3: "JS JC AC KC QS QH KD QD"}
    position = Position(BARRIE, hands).do("bid call-1 NT, pass, pass, pass, QD")
    assert position.choice() == "AC"


# --- leading -----------------------------------------------------------------------------------


def test_declarer_leads_trump_with_the_right_bower():
    """#205: "The bots have got to start leading trump before aces"."""
    position = Position(SIX_CARD, {1: "JH AH KH AS AC 9D"})
    assert position.do("bid 4 H, pass, pass, pass").choice() == "JH"


def test_declarer_leads_a_high_trump_when_the_right_is_missing():
    """#313: "it has left bower, ace and nine of trump, he should lead Ace or Left bower to force
    the right bower. Currently, it always leads the smallest trump"."""
    position = Position(SIX_CARD, {1: "JD AH 9H QS TC 9C", 2: "JH TH 9D TD QC QD"})
    assert position.do("bid 3 H, pass, pass, pass").choice() in ("JD", "AH")


def test_with_two_tricks_left_declarer_leads_the_higher_trump():
    """#267: the caller who needs the last two tricks and has two trumps "*has* to lead the
    higher trump"."""
    hands = {
        1: "KH TH AS AC AD KD",
        2: "QS QC QD KS JH 9H",
        3: "JS TC TD TS QH AH",
        0: "9S 9C 9D KC JC JD",
    }
    position = Position(SIX_CARD, hands).do("bid 5 H, pass, pass, pass")
    position.do("AS QS JS 9S AC QC TC 9C AD QD TD 9D KD KS TS KC")
    assert position.choice() == "KH"


def test_partner_of_the_declarer_leads_the_left_bower():
    """#81: "If I make trump and my partner has the left bower he should lead it to show me where
    it is and not hold on to it." """
    position = Position(CINCINNATI, {1: "JD 9H AS QS TC 9D", 3: "JH AH KH QC TD 9C"})
    position.do("pass, pass, bid 4, pass, trump H")
    assert position.choice() == "JD"


def test_partner_of_the_declarer_keeps_leading_trump():
    """#278: "The bot led the JH for the first trick, but then led a low off-suit for the second
    trick instead of leading the JD"."""
    hands = {1: "JH JD QD TD AC KC", 2: "KH QH 9D TC QC 9C", 3: "AH 9H AS KS QS JS"}
    position = Position(CINCINNATI, {**hands, 0: "TH TS 9S AD KD JC"})
    position.do("pass, pass, bid 4, pass, trump H, JH QH 9H TH")
    assert position.choice() == "JD"


def test_no_trump_lead_once_both_opponents_are_void():
    """#272: "Trick shows that both opponents are void ... bot leads trump again, wasting the trump
    I still have." """
    hands = {1: "JH AH QH QD AC KC", 2: "KS QS 9D TC QC 9C", 3: "JD 9H KH TD AS JS"}
    position = Position(CINCINNATI, {**hands, 0: "TH TS 9S AD KD JC"})
    position.do("pass, pass, bid 4, pass, trump H, JH 9C 9H TH")
    assert position.choice() == "AH"  # one opponent showed a heart
    position.do("AH TC KH JC")
    assert position.choice() == "AC"


def test_partner_of_a_stuck_dealer_does_not_lead_trump():
    """#322: "Bot should not lead trump to partner if partner was stuck"."""
    hands = {2: "KH TH AC 9S QS 9D", 1: "9C QC JS AD KD TD", 0: "JH 9H QD JC KC AS"}
    stuck = Position(CINCINNATI, hands).do("pass, pass, pass, bid 3, trump H, 9C AC TC JC")
    assert not stuck.choice().endswith("H")
    chosen = Position(CINCINNATI, hands).do("pass, pass, pass, bid 4, trump H, 9C AC TC JC")
    assert chosen.choice() == "KH"


def test_the_safer_of_two_aces():
    """#308: "Instead of choosing the A with the lesser chance of getting trumped (the Ah), he
    chooses the Ad" with AD KD in hand."""
    hands = {1: "AS AD KD QC TC 9C", 3: "JH JD AH KH QS KC"}
    position = Position(CINCINNATI, hands).do("pass, pass, bid 4, pass, trump H")
    assert position.choice() == "AS"


def test_the_suit_partner_threw_off_is_led():
    """#285: "I'm void, so throw off to create a void. Instead of leading the suit I threw off,
    bot leads a different loser"."""
    hands = {
        1: "AS 9D 9C JC TS KC",
        2: "KS TD AH KD TC QS",
        3: "9H TH QC JH QD AC",
        0: "9S JS AD QH KH JD",
    }
    position = Position(SIX_CARD, hands).do("bid 1 H, pass, pass, pass")
    position.do("AS KS QD 9S")
    assert position.choice() == "9D"


def test_at_no_trump_the_suit_the_opponents_are_void_in_is_led():
    """#320: "Leads AC ... and discovers only he and his partner (me) have clubs. Instead of leading
    his other club ... he leads a loser diamond"."""
    hands = {
        1: "AC TC 9D QD JS TS",
        2: "AH KH QH TH AS KS",
        3: "KC QC JC 9C KD TD",
        0: "JH 9H AD JD QS 9S",
    }
    position = Position(SIX_CARD, hands).do("bid 3 NT, pass, pass, pass, AC TH 9C 9H")
    assert position.choice() == "TC"


def test_a_defender_leads_an_ace_not_trump():
    """Never lead trump into the declarer's suit with an ace to cash."""
    position = Position(CINCINNATI, {1: "AS 9S KH TC QC 9D", 0: "JH JD AH QH TD KC"})
    position.do("pass, pass, pass, bid 4, trump H")
    assert position.choice() == "AS"


def test_a_lone_declarer_cashes_winners_before_losers():
    """Alone, every trick is needed: losers are led last, when the others have thrown off."""
    hands = {1: "JS JC AS KS QS 9H", 2: "TS AD KD QC AC KC", 0: "9S AH QH TD 9D TC"}
    position = Position(SIX_CARD.replace(lone=[{"name": "moon", "value": 12}]), hands)
    position.do("bid moon S, pass, pass, pass")
    assert position.choice() == "JS"
    position.do("JS TS 9S")
    assert position.choice() in ("JC", "AS")


# --- following ---------------------------------------------------------------------------------


def test_partners_winning_trick_is_not_trumped_in_last_seat():
    """ "Don't trump winning partner in last seat": the name of a TricksterBots test."""
    hands = {1: "JH AH KH TS AC KD", 2: "AS QS AD TD JC KC", 0: "9H TH QC TC 9D QD"}
    position = Position(SIX_CARD, hands).do("bid 3 H, pass, pass, pass, TS AS 9S")
    assert position.choice() in ("TC", "9D")


def test_last_seat_wins_as_cheaply_as_possible():
    """The last to play takes the trick with the lowest card that does it."""
    hands = {1: "QS JS TD 9D KD TC", 2: "KS 9S QD JD QC JC", 3: "TS TH QH JH 9H AH"}
    position = Position(SIX_CARD, {**hands, 0: "AS KH AD AC KC 9C"})
    position.do("bid 1 NT, pass, pass, pass, QS KS TS")
    assert position.choice() == "AS"
    hands = {1: "9S JS TD 9D KD TC", 2: "TS QC QD JD 9C JC", 3: "QH TH AD JH 9H AH"}
    position = Position(SIX_CARD, {**hands, 0: "AS KS QS AC KC KH"})
    position.do("bid 1 NT, pass, pass, pass, 9S TS QH")
    assert position.choice() == "QS"


def test_last_seat_ruffs_with_the_lowest_trump():
    """A ruff in last seat is made with the smallest trump."""
    hands = {1: "JH AH KH AS AC KD", 2: "TS QS AD TD JC KC", 0: "9H TH QC TC 9D QD"}
    position = Position(SIX_CARD, hands).do("bid 3 H, pass, pass, pass, AS TS 9S")
    assert position.choice() == "9H"


def test_a_hopeless_trick_gets_the_lowest_card():
    """Nothing can be won: throw off low, not the king."""
    hands = {1: "AS JS TD 9D KD TC", 2: "KS QS 9S QD QC JC"}
    position = Position(SIX_CARD, hands).do("bid 1 NT, pass, pass, pass, AS")
    assert position.choice() == "9S"


def test_a_guarded_king_keeps_its_guard():
    """Throwing off, a lone low card goes before the card that guards a king."""
    hands = {1: "AS KS JS TD TC 9C", 2: "KD 9D KC QC TH QH"}
    position = Position(SIX_CARD, hands).do("bid 3 NT, pass, pass, pass, AS")
    assert position.choice() == "TH"


def test_the_left_bower_keeps_its_guard():
    """Thrown off in second seat, while partner is likely to win, is not the left bower's guard."""
    hands = {1: "JH AH KH 9S AC KC", 2: "JD 9H QD TD QC TC", 0: "KS QS 9D KD 9C JC"}
    position = Position(SIX_CARD, {**hands, 3: "TS AS JS QH TH AD"})
    position.do("bid 3 H, pass, pass, pass, JH")
    assert position.choice() == "9H"  # under the right bower the small one goes, not the left


def test_third_hand_does_not_overtake_partners_boss():
    """Partner's ace is winning: the king stays home."""
    hands = {1: "AS JS TD 9D KD TC", 2: "QS AC AD AH KC KH", 3: "KS 9S QD QC JC JH"}
    position = Position(SIX_CARD, hands).do("bid 2 NT, pass, pass, pass, AS QS")
    assert position.choice() == "9S"


def test_over_ruffing_is_just_enough():
    """An opponent has ruffed: over-ruff with the lowest trump that beats it."""
    hands = {1: "JH AS QC TC 9D KD", 2: "9H AD TD JC KC AC", 3: "KH QH AH TH 9C QD"}
    position = Position(SIX_CARD, {**hands, 0: "9S TS JS QS KS JD"})
    position.do("bid 2 H, pass, pass, pass, AS 9H")
    assert position.choice() == "TH"


def test_last_seat_with_the_highest_and_a_middle_card_plays_the_middle():
    """Of a run of winners, the cheapest takes the trick and the best stays for the next."""
    hands = {1: "9D TD TC 9C TH JC", 2: "QD JD 9H QC KC QH", 3: "JH TS 9S QS JS KS"}
    position = Position(SIX_CARD, {**hands, 0: "AD KD AS AC AH KH"})
    assert position.do("bid 1 NT, pass, pass, pass, TD QD JH").choice() == "KD"
