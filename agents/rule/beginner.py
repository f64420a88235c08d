"""Agent `beginner`: the rule player with the mistakes of people who have just learned the game.

It follows the same maxims, but misjudges two thirds of the hands by half a trick, forgets side
cards of earlier tricks, and plays some cards without care: leads at random, wins tricks with its
highest card, and throws off from a random suit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.base import KernelAgent
from bideuchre_env.agents.data import sealed
from bideuchre_env.agents.protocols import AgentInfo, check_number
from bideuchre_env.agents.rule.agent import (
    RuleAgent,
    RuleWorkspace,
    bolder,
    legal_choice,
    rule_bid,
    rule_card,
    useful_calls,
)
from bideuchre_env.agents.rule.certain import winning_cards
from bideuchre_env.core.card_order import highest, lowest
from bideuchre_env.core.phases.deal import fraction, mix, split_seed
from bideuchre_env.core.records import State, Tables, View
from bideuchre_env.core.state import AUCTION, NAMING, PLAY
from bideuchre_env.core.view import add_kind, count, see_exchange, see_observation, show_hand
from bideuchre_env.learning.sampling import hash_row
from bideuchre_env.rules.cards import MAX_TRICKS, N_SEATS, N_SUITS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import nth_bit, popcount, row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel

MISJUDGED = 0.5  # tricks by which a third of the hands are overrated, and a third underrated
FORGETS = 0.5  # probability that the side cards of earlier tricks are forgotten, at each card


class BeginnerWorkspace(NamedTuple):
    """Workspace of the rule player, and the seed and the frequency of mistakes."""

    rule: RuleWorkspace  # `weights` has three records: underrates the hand, as it is, overrates it
    seeds: Array  # uint64 (2,): decide about mistakes, [0] alone which hands are misjudged
    careless: Array  # float64 (1,), the probability of a careless card


@entry_kernel
def beginner_rows(
    observations: Array, masks: Array, work: BeginnerWorkspace, choices: Array
) -> None:
    """Fill `choices` with the beginner's action for every row."""
    rule = work.rule
    t, o, known, view = rule.tables[0], rule.offsets[0], rule.known[0], rule.views[0]
    for i in range(len(observations)):
        mask = row_of(masks, i)
        legal = see_observation(row_of(observations, i), mask, t, o, known, view)
        if view.phase == AUCTION or view.phase == NAMING:
            hashed = mix(np.uint64(known.hands[0]) ^ work.seeds[0])
            judgement = rule.weights[int(hashed % np.uint64(len(rule.weights)))]
            calls = useful_calls(view, t, legal)
            choice = rule_bid(view, calls, t, judgement, rule.scratch[0])
        else:
            word = hash_row(work.seeds[0], work.seeds[1], observations, i)
            careless, draw = fraction(word) < work.careless[0], fraction(mix(word))
            choice = t.card_offset + beginner_card(view, known, t, legal, careless, draw)
        choices[i] = legal_choice(choice, mask, t)


class BeginnerAgent(KernelAgent):
    """Plays like `rule`, but misjudges hands, forgets cards, and is careless in some of its plays.

    Args:
        rules: the rules of the game.
        seed: determines the mistakes; None: a random seed. The same observation always has the
            same mistake.
        mistakes: probability of a careless card, times the tricks of a hand. Forced cards are never
            careless.

    Raises:
        OptionError: an option has an invalid value.
    """

    name = "beginner"
    rows = staticmethod(beginner_rows)
    info = AgentInfo(
        "Plays like `rule`, but misjudges hands, forgets cards and plays some carelessly.",
        {"mistakes": "probability of a careless card, times the tricks of a hand"},
        milliseconds=0.0008,
    )

    def __init__(self, rules: Rules, *, seed: int | None = None, mistakes: float = 1.0) -> None:
        super().__init__(rules, seed)
        share = check_number("mistakes", mistakes, 0, rules.tricks) / rules.tricks
        self._careless, self._seeds = np.array([share]), np.array(split_seed(seed))
        self._rule = RuleAgent(rules)
        usual = self._rule.workspace().weights
        judged = [bolder(usual, tricks) for tricks in (-MISJUDGED, 0, MISJUDGED)]
        self._weights = sealed(np.concatenate(judged))

    def workspace(self) -> BeginnerWorkspace:
        """Return a new workspace; each thread needs its own, because decisions overwrite it."""
        rule = self._rule.workspace()._replace(weights=self._weights)
        return BeginnerWorkspace(rule, self._seeds, self._careless)


@kernel
def beginner_card(
    view: View, known: State, t: Tables, legal: int, careless: bool, draw: float
) -> int:
    """Return the card to lay away, give up, pass or play: a kind of the `legal` ones (bits).

    `known` is the row that the seat knows, as seat 0. `draw`, in [0, 1), decides which careless
    card is played, or whether cards are forgotten.
    """
    if view.phase != PLAY or legal & (legal - 1) == 0:
        return rule_card(view, t, legal)
    if careless:
        return careless_card(view, t, legal, draw)
    if draw < FORGETS:
        forget_side_cards(view, known, t)
    return rule_card(view, t, legal)


@kernel
def forget_side_cards(view: View, known: State, t: Tables) -> None:
    """Count the side cards of earlier tricks as unseen; trumps and this trick are remembered."""
    trumps, out, out_pair = view.trumps, view.unseen, view.unseen_pair
    seen, seen_pair = see_exchange(known, t, view)
    for seat in range(N_SEATS):
        kind = known.plays[seat * MAX_TRICKS + known.trick]
        if kind >= 0:
            seen, seen_pair = add_kind(seen, seen_pair, kind)
    show_hand(view, t, known.hands[0], seen, seen_pair)
    view.unseen = (view.unseen & ~trumps) | (out & trumps)
    view.unseen_pair = (view.unseen_pair & ~trumps) | (out_pair & trumps)
    view.n_unseen = count(view, -1)


@kernel
def careless_card(view: View, t: Tables, legal: int, draw: float) -> int:
    """Return a card played without care, of the `legal` kinds (bits).

    A lead is random. A trick that an opponent is winning is won with the highest card; to other
    tricks the lowest card of a random suit is played, but no card that would beat partner's, and no
    trump if there is another card.
    """
    if view.led < 0:
        return random_kind(legal, draw)
    winners = winning_cards(view, t, legal)
    if winners and view.winning != 2:
        return highest(t, view.strain, winners)
    for spared in (winners | view.trumps, winners):
        if legal & ~spared:
            legal &= ~spared
    lows = 0
    for suit in range(N_SUITS):
        held = legal & t.suit_bits[view.strain, suit]
        if held:
            lows |= 1 << lowest(t, view.strain, held)
    return random_kind(lows, draw)


@inline_kernel
def random_kind(kinds: int, draw: float) -> int:
    """Return the kind of a set (bits) that a random number in [0, 1) selects."""
    return nth_bit(kinds, int(draw * popcount(kinds)))
