"""A slow reference engine for the Bid Euchre family, with which tests compare the fast engine.

Written from the rule texts alone (S0..S4 are the five source documents, R is rules.md, F is
`law/sentences/F.txt`, the options of the wider family) and sharing nothing with the package.
Cards are strings ("JH"), hands are lists, seats are 0..3 clockwise, side 0 is seats 0 and 2, side 1
is seats 1 and 3. Rules are a dict, as of `Rules.to_dict`.
"""

from collections import Counter
from typing import NamedTuple

SUITS = ["C", "D", "H", "S"]
STRAINS = {"none": SUITS, "high": [*SUITS, "NT"], "both": [*SUITS, "NT", "LOW"]}
SAME_COLOUR = {"C": "S", "S": "C", "D": "H", "H": "D"}
PLAIN_ORDER = "9TJQKA"  # low to high


class Level(NamedTuple):
    """A rung of the bid ladder, without its strain."""

    words: str  # "4", "double moon"
    tricks: int  # tricks needed to make it
    lone: bool
    exchange: int  # cards exchanged with the partner (lone bids)
    value: int  # points at stake: the bid, or the lone bid's value
    lost: int  # points lost when it fails
    in_tricks: bool  # a bid of a number of tricks, not one for all tricks


def deck(ranks, copies):
    """All cards. S2: "In some versions ... the nines, or the nines and tens are omitted"."""
    lowest = {"9": "9", "10": "T", "J": "J"}[ranks]
    ranks_left = PLAIN_ORDER[PLAIN_ORDER.index(lowest) :]
    return [rank + suit for rank in ranks_left for suit in SUITS] * copies


def is_left_bower(card, strain):
    """Whether a card is S4's "other jack of the same colour (left bower)"; R: none at no trump."""
    return strain in SUITS and card == "J" + SAME_COLOUR[strain]


def suit_of(card, strain):
    """A card's suit. S4: "left bower(s) count for all purposes as belonging to the trump suit"."""
    return strain if is_left_bower(card, strain) else card[1]


def height(card, strain):
    """A card's strength in its suit. S4: "the highest trump is the jack of the trump suit (right
    bower), then the other jack of the same colour (left bower), then ace, king, queen, 10, 9".
    """
    if strain == "LOW":  # F: "in each suit the lowest card wins"
        return -PLAIN_ORDER.index(card[0])
    if strain in SUITS and card == "J" + strain:
        return 101
    if is_left_bower(card, strain):
        return 100
    return PLAIN_ORDER.index(card[0])


def winner_of(plays, strain):
    """The seat that wins the trick `plays`, a list of (seat, card) in the order played.

    S0: "the highest card in the lead suit or the highest trump card if trump is played".
    S4: "the first played of two equal cards beats the second": only a better card takes over.
    """
    led = suit_of(plays[0][1], strain)
    trumps = [(seat, card) for seat, card in plays if suit_of(card, strain) == strain]
    contenders = trumps or [(seat, card) for seat, card in plays if suit_of(card, strain) == led]
    best_seat, best_card = contenders[0]
    for seat, card in contenders[1:]:
        if height(card, strain) > height(best_card, strain):
            best_seat, best_card = seat, card
    return best_seat


class ReferenceGame:
    def __init__(self, rules, dealer, score=(0, 0)):
        self.rules = rules
        self.deck = deck(rules["ranks"], rules["copies"])
        # F: "cards dealt to a kitty"; cards each = tricks in a hand
        self.size = (len(self.deck) - rules["kitty"]) // 4
        # S4: "A bid to play alone is higher than a bid with a partner"; it needs every trick.
        self.levels = []
        if rules["partnered"] is not None:
            lo, hi = rules["partnered"]
            self.levels += [Level(str(n), n, False, 0, n, n, True) for n in range(lo, hi + 1)]
        for bid in rules["lone"]:
            # F: a bid for all tricks may be played with partner, and lose other points
            lone, lost = not bid.get("partner", False), bid.get("lost", bid["value"])
            level = Level(bid["name"], self.size, lone, bid["exchange"], bid["value"], lost, False)
            self.levels.append(level)
        self.dealer = dealer
        self.score = list(score)
        self.hands_dealt = self.hands_played = 0
        self.winner, self.outcome = None, "unfinished"
        self.points = [0, 0]  # of the last finished hand
        self.last_hand = None
        self.needs_deal = True
        self.phase, self.to_act = "deal", None
        self._clear_hand()

    def _clear_hand(self):
        """Reset all attributes of a hand, before a deal."""
        self.hand_dealer = self.dealer  # stays put when `dealer` moves on at the end of the hand
        self.hands = [[], [], [], []]
        self.calls = [None, None, None, None]  # the last of each seat
        self.bids, self.passes_in_a_row = [], 0  # every (seat, bid) in order
        self.standing = None  # index into levels of the highest bid so far
        self.standing_seat = self.standing_strain = None
        self.declarer = self.level = self.strain = None  # the contract
        self.sitting_out = None
        self.kitty, self.laid_away = [], []
        self.given, self.passed = [], []  # exchanged: by the declarer, by the partner
        self.past_tricks, self.trick, self.trick_number = [], [], 0  # (seat, card) as played
        self.played = [[None] * self.size for _ in range(4)]
        self.voids = [set(), set(), set(), set()]
        self.tricks = [0, 0]
        self.last_trick_winner = None
        self.hands_left = self.rules["max_hands"] - self.hands_dealt
        if self.rules["win_rule"] == "rounds":
            self.hands_left = min(self.hands_left, 4 * self.rules["rounds"] - self.hands_played)

    @property
    def contract(self):
        if self.level is None:
            return None
        return self.level.words if self.strain is None else f"{self.level.words} {self.strain}"

    def deal(self, hands):
        """Begin a hand. S4: "All the cards are dealt out equally to the players"."""
        if not self.needs_deal:
            raise ValueError("no deal is due")
        if len(hands) != 4 or any(len(hand) != self.size for hand in hands):
            raise ValueError(f"need four hands of {self.size} cards")
        rest = Counter(self.deck)
        rest.subtract(card for hand in hands for card in hand)
        if min(rest.values()) < 0 or rest.total() != self.rules["kitty"]:
            raise ValueError("the hands are not the deck")
        self._clear_hand()
        self.kitty = list(rest.elements())
        self.hands = [list(hand) for hand in hands]
        self.hands_dealt += 1
        self.needs_deal = False
        self.phase = "auction"  # S4: "starting with the player to the left of the dealer"
        self.to_act = (self.dealer + 1) % 4

    def legal(self):
        if self.phase == "auction":
            return self._legal_calls()
        if self.phase == "naming":
            return {f"trump {strain}" for strain in self._strains(self.level)}
        if self.phase in ("laying away", "giving", "passing"):
            return set(self.hands[self.to_act])
        return self._legal_cards() if self.phase == "play" else set()

    def _legal_calls(self):
        calls = set()
        if self._may_pass():
            calls.add("pass")
        for index, level in enumerate(self.levels):
            if self._may_bid(index):
                if self._names_strain(level):
                    calls |= {f"bid {level.words} {strain}" for strain in self._strains(level)}
                else:
                    calls.add(f"bid {level.words}")
        return calls

    def _names_strain(self, level):
        if self.rules["strain_named"] == "lone_after":
            return level.in_tricks  # F: "numbers name the strain, lone bids do not"
        return self.rules["strain_named"] == "in_bid"

    def _strains(self, level):
        # F: "the lowest bid in tricks that may be played at no trump"
        if level.in_tricks and level.tricks < self.rules["no_trump_from"]:
            return SUITS
        return STRAINS[self.rules["no_trump"]]

    def _may_pass(self):
        # S0: "if every player ... passes, the dealer is put in a tough spot and must play"
        if self.rules["all_pass"] in ("dealer_forced", "dealer_lowest"):
            return not (self.to_act == self.dealer and self.standing is None)
        # R: "`eldest_forced`: the first speaker may not pass"
        if self.rules["all_pass"] == "eldest_forced":
            return not (self.to_act == (self.dealer + 1) % 4 and self.standing is None)
        return True

    def _may_bid(self, index):
        # F: "after three passes the dealer must make the lowest bid"
        forced = self.rules["all_pass"] == "dealer_lowest" and self.standing is None
        if forced and self.to_act == self.dealer:
            return index == 0
        if self.standing is not None:
            # S4: "you must either pass or bid a larger number of tricks than the previous bid"
            if index < self.standing:
                return False
            # S1: "The only time a player does not have to overbid is when it is the dealers turn
            # and the previous high bid is to take all eight tricks" - R: a standing lone bid
            if index == self.standing:
                allowed = {"never": False, "lone": self.levels[index].lone, "any": True}
                return allowed[self.rules["dealer_may_equal"]] and self.to_act == self.dealer
        # R: "`step`: a k-fold moon needs a standing (k-1)-fold moon, passes in between allowed,
        # over one's partner allowed. `jump`: any higher bid."
        if self.rules["moon_ladder"] == "step" and not self.levels[index].in_tricks:
            first_lone = index == 0 or self.levels[index - 1].in_tricks
            return first_lone or self.standing == index - 1
        return True

    def _legal_cards(self):
        hand = self.hands[self.to_act]
        if self.trick:
            # S4: "you must follow suit, and if void ... you may trump or discard at will"
            led = suit_of(self.trick[0][1], self.strain)
            following = {card for card in hand if suit_of(card, self.strain) == led}
            if following:
                return following
        return set(hand)

    def play(self, action):
        if action not in self.legal():
            raise ValueError(f"illegal: {action!r} in {self.phase}, legal {sorted(self.legal())}")
        if self.phase == "auction":
            self._call(action)
        elif self.phase == "naming":
            self.strain = action.removeprefix("trump ")
            self._after_strain()
        elif self.phase == "laying away":
            self._lay_away(action)
        elif self.phase == "giving":
            self._give(action)
        elif self.phase == "passing":
            self._pass_card(action)
        else:
            self._play_card(action)

    def _call(self, action):
        seat = self.to_act
        self.calls[seat] = action
        self.passes_in_a_row += 1
        if action != "pass":
            words, self.standing_strain = action.removeprefix("bid "), None
            names = [level.words for level in self.levels]
            if words not in names:
                words, self.standing_strain = words.rsplit(" ", 1)
            self.standing = names.index(words)
            self.standing_seat = seat
            self.bids.append((seat, action))
            self.passes_in_a_row = 0
        if self.rules["auction"] != "once":
            self._next_in_rounds(seat, action)
            return
        # S4: "Each player has just one opportunity to bid ... ending with the dealer"
        if self.to_act != self.dealer:
            self.to_act = (self.to_act + 1) % 4
        elif self.standing is None:
            self._end_hand(passed_out=True)
        else:
            self._end_auction()

    def _next_in_rounds(self, seat, action):
        """End an auction in rounds or find the next to call.

        F: "until three passes follow a bid, and a seat that passed may bid later" (until_passes),
        "the same, but a pass is final" (until_out). "The highest bid, and the bid of a dealer who
        may not pass, end it at once."
        """
        if self.standing is None:
            if self.passes_in_a_row == 4:
                self._end_hand(passed_out=True)
            else:
                self.to_act = (seat + 1) % 4
            return
        must_bid = self.rules["all_pass"] in ("dealer_forced", "dealer_lowest")
        forced = must_bid and len(self.bids) == 1 and None not in self.calls
        forced = forced and action != "pass" and seat == self.dealer
        out = [other for other in range(4) if other != seat and self.calls[other] == "pass"]
        if self.rules["auction"] == "until_passes":
            out = []
        following = [(seat + step) % 4 for step in (1, 2, 3, 4)]
        self.to_act = next(other for other in following if other not in out)
        silent = [other for other in range(4) if self.calls[other] == "pass"]
        over = self.passes_in_a_row == 3 and self.rules["auction"] == "until_passes"
        over = over or (self.rules["auction"] == "until_out" and len(silent) == 3)
        if over or forced or self.standing == len(self.levels) - 1:
            self._end_auction()

    def _end_auction(self):
        """S4: "The highest bidder is declarer and the trump suit is the suit named in the bid"."""
        self.declarer = self.standing_seat
        self.level = self.levels[self.standing]
        if self.level.lone:
            # S4: "your partner puts his or her cards face down and takes no part in the play"
            self.sitting_out = (self.declarer + 2) % 4
        if self.standing_strain is not None:
            self.strain = self.standing_strain
            self._after_strain()
        else:
            # S0: "The player who wins the bid gets to choose the trump suit" (or no-trump)
            self.phase, self.to_act = "naming", self.declarer

    def _after_strain(self):
        # F: "before any exchange the declarer takes them up and lays away as many cards"
        if self.kitty:
            self.hands[self.declarer] += self.kitty
            self.phase, self.to_act = "laying away", self.declarer
        else:
            self._begin_exchange()

    def _lay_away(self, card):
        """Lay away one card. F: "face down and out of play"."""
        self.hands[self.declarer].remove(card)
        self.laid_away.append(card)
        if len(self.laid_away) == len(self.kitty):
            self._begin_exchange()

    def _begin_exchange(self):
        # S1: "The exchange takes place after the end of bidding and before the first card"
        if self.level.exchange > 0:
            self.phase, self.to_act = "giving", self.declarer
        else:
            self._start_play()

    def _give(self, card):
        """Give up one card. S4: "the bidder discards the relevant number of cards face down"."""
        self.hands[self.declarer].remove(card)
        self.given.append(card)
        if len(self.given) == self.level.exchange:
            self.phase, self.to_act = "passing", self.sitting_out
            if self.rules["exchange_seen"] == "open":  # F: "they join partner's hand"
                self.hands[self.sitting_out] += self.given

    def _pass_card(self, card):
        """Pass one card. S4: "the bidder's partner passes an equal number of cards face down"."""
        self.hands[self.sitting_out].remove(card)
        self.passed.append(card)
        if len(self.passed) == self.level.exchange:
            # R: "Then the declarer takes the partner's cards into hand"
            self.hands[self.declarer] += self.passed
            self._start_play()

    def _start_play(self):
        self.phase = "play"
        if self.rules["opening_lead"] == "declarer":
            self.to_act = self.declarer  # S4: "The high bidder leads to the first trick"
        elif self.rules["opening_lead"] == "left":
            self.to_act = (self.declarer + 1) % 4  # F: "the seat left of the declarer"
        else:
            # R: "eldest hand (left of dealer); if it sits out, the next seat"
            self.to_act = self._next_player(self.dealer)

    def _next_player(self, seat):
        """The next seat clockwise that takes part. R: "three cards to a trick" in a lone hand."""
        seat = (seat + 1) % 4
        return (seat + 1) % 4 if seat == self.sitting_out else seat

    def _play_card(self, card):
        seat = self.to_act
        if self.trick:
            led = suit_of(self.trick[0][1], self.strain)
            if suit_of(card, self.strain) != led:
                self.voids[seat].add(led)  # failing to follow shows a void
        self.hands[seat].remove(card)
        self.played[seat][self.trick_number] = card
        self.trick.append((seat, card))
        if len(self.trick) < (4 if self.sitting_out is None else 3):
            self.to_act = self._next_player(seat)
            return
        # S0: "The player with the highest card collects the trick and leads the next one"
        self.last_trick_winner = winner_of(self.trick, self.strain)
        self.tricks[self.last_trick_winner % 2] += 1
        self.past_tricks.append(self.trick)
        self.trick, self.trick_number = [], self.trick_number + 1
        self.to_act = self.last_trick_winner
        # R: "All tricks are played even after a set"
        if self.trick_number == self.size:
            self._end_hand(passed_out=False)

    def _end_hand(self, passed_out):
        if passed_out:
            self.points = [0, 0]  # R: "A passed-out hand scores nothing"
        else:
            self.hands_played += 1
            self.points = self._hand_points()
            self.score = [self.score[0] + self.points[0], self.score[1] + self.points[1]]
        self.last_hand = {"dealer": self.dealer, "declarer": self.declarer}
        self.last_hand |= {"contract": self.contract, "tricks": list(self.tricks)}
        self.last_hand |= {"points": list(self.points)}
        # S0: "let's gather the cards" - this empties the hand of a partner who sat out, too
        self.hands = [[], [], [], []]
        # S0: "pass the dealing to the left"; R: `redeal_same` is "same dealer deals again"
        if not (passed_out and self.rules["all_pass"] == "redeal_same"):
            self.dealer = (self.dealer + 1) % 4
        self.to_act = None
        if not passed_out:
            self._decide()
        # R: "deals (passed-out ones included) after which the game is truncated"
        if self.outcome == "unfinished" and self.hands_dealt >= self.rules["max_hands"]:
            self.outcome = "truncated"
        self.needs_deal = self.outcome == "unfinished"
        self.phase = "deal" if self.needs_deal else "over"

    def _made(self):
        return self.tricks[self.declarer % 2] >= self.level.tricks

    def _hand_points(self):
        ours = self.declarer % 2
        # S0: "the defending team, always gets one point for every trick they capture"
        points = list(self.tricks)  # R: made: "1 point a trick; lone: its value"
        if not self._made():
            points[ours] = -self.level.lost  # R: failed: "minus the bid; lone: minus its value"
        elif not self.level.in_tricks:
            points[ours] = self.level.value
        else:
            # F: "one for each trick", or the bid's number; and "further points"
            if self.rules["made_scores"] == "bid":
                points[ours] = self.level.tricks
            points[ours] += self.rules["made_bonus"]
        if self.rules["defenders_score"] != "tricks":
            # F: "the value of the bid if it fails, else none"
            gets = self.rules["defenders_score"] == "value_if_set" and not self._made()
            points[1 - ours] = self.level.value if gets else 0
        return points

    def _decide(self):
        """Set winner and outcome after a played hand, if the game has been won or drawn."""
        self._decide_by_target()
        if self.outcome != "unfinished" or self.rules["floor"] is None:
            return
        # F: "points at or below which a side loses the game, unless it is won; the declarer's side
        # if both are"
        ours = self.declarer % 2
        for loser in (ours, 1 - ours):
            if self.outcome == "unfinished" and self.score[loser] <= self.rules["floor"]:
                self.winner, self.outcome = 1 - loser, "won"

    def _decide_by_target(self):
        rule = self.rules["win_rule"]
        if rule == "rounds":
            # R: "`rounds` x 4 played hands ...; most points wins, equal = draw"
            if self.hands_played == 4 * self.rules["rounds"]:
                self._highest_wins()
            return
        ours = self.declarer % 2
        there = [side for side in (0, 1) if self.score[side] >= self.rules["target"]]
        if rule == "made_bid":
            # R: "only a side that made its own bid in this hand can win"
            there = [side for side in there if side == ours and self._made()]
        elif rule == "made_or_set":
            # S4: "a hand in which they succeed in a bid, or defeat the opponents' bid"
            succeeded = ours if self._made() else 1 - ours
            there = [side for side in there if side == succeeded]
        if len(there) == 1:
            self.winner, self.outcome = there[0], "won"
        elif len(there) == 2 and self.rules["both_over"] == "declarer":
            self.winner, self.outcome = ours, "won"  # R: "the declarer's side counts first"
        elif len(there) == 2 and self.rules["both_over"] == "highest":
            self._highest_wins()
        elif len(there) == 2 and self.score[0] != self.score[1]:
            # R: "`continue`: the higher total wins, equal totals play on, hand by hand"
            self._highest_wins()

    def _highest_wins(self):
        self.outcome = "drawn" if self.score[0] == self.score[1] else "won"
        if self.outcome == "won":
            self.winner = 0 if self.score[0] > self.score[1] else 1

    def view(self, seat):
        seats = [(seat + step) % 4 for step in range(4)]  # self, left, partner, right

        def rel(other):
            return None if other is None else (other - seat) % 4

        on_table = dict(self.trick)
        us, them = seat % 2, 1 - seat % 2
        rounds = self.rules["win_rule"] == "rounds"
        target = 0 if rounds else self.rules["target"]
        # R: "what the partner passed is known to both", the declarer only after it is all passed
        knows_passed = seat == self.sitting_out
        if seat == self.declarer and self.phase != "passing":
            knows_passed = True
        knows_given = seat == self.declarer
        knows_kitty = seat == self.declarer and self.strain is not None
        if self.rules["exchange_seen"] == "open" and self.phase != "giving":
            knows_given = knows_given or (seat == self.sitting_out and self.level.exchange > 0)
        return {
            "phase": "giving" if self.phase == "laying away" else self.phase,
            "to_act": rel(self.to_act),
            "hand": sorted(self.hands[seat]),
            "dealer": rel(self.hand_dealer),
            "calls": [self.calls[other] for other in seats],
            "bids": []
            if self.rules["auction"] == "once"
            else [(rel(bidder), bid) for bidder, bid in self.bids],
            "bid": None if self.level is None else self.level.words,
            "strain": self.strain,
            "declarer": rel(self.declarer),
            "sitting_out": rel(self.sitting_out),
            "trick": [on_table.get(other) for other in seats],
            "led": suit_of(self.trick[0][1], self.strain) if self.trick else None,
            "winning": rel(winner_of(self.trick, self.strain)) if self.trick else None,
            "played": [list(self.played[other]) for other in seats],
            # F: "unseen by the others"
            "kitty": sorted(self.kitty) if knows_kitty else [],
            "laid_away": sorted(self.laid_away) if knows_kitty else [],
            # R: "what the declarer gave up ... stays known to the declarer alone"
            "discarded": sorted(self.given) if knows_given else [],
            "passed": sorted(self.passed) if knows_passed else [],
            "voids": ["".join(sorted(self.voids[other])) for other in seats],
            "tricks_won": [self.tricks[us], self.tricks[them]],
            "score": [self.score[us], self.score[them]],
            "to_go": [0, 0] if rounds else [target - self.score[us], target - self.score[them]],
            "target": target,
            "floor": self.rules["floor"],
            "hands_left": self.hands_left,
        }
