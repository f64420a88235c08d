"""The decision kernel of `expert` and `net`, one player with different settings.

Calls are weighed by tables and a network, cards are those of the rule player, corrected by a
network of cards unless there is none, and the last tricks are searched unless no deals are sampled.

The network estimates the points of every card, up to a constant that all cards share. `net` is a
`CardNetwork`, or None for a player without one, for which its kernels change nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from bideuchre_env.agents.expert.auction import (
    expert_strain,
    natural_call,
    start_calls,
    weigh_calls,
)
from bideuchre_env.agents.expert.call_features import Calls
from bideuchre_env.agents.expert.endgame import endgame_card
from bideuchre_env.agents.expert.strains import weigh_strains
from bideuchre_env.agents.expert.tables import ExpertTables
from bideuchre_env.agents.rule.agent import (
    certain_action,
    legal_choice,
    rule_bid,
    rule_card,
    useful_calls,
)
from bideuchre_env.agents.rule.bidding import Scratch, call_action
from bideuchre_env.agents.rule.discards import worth_trying
from bideuchre_env.agents.rule.win_curve import read_time
from bideuchre_env.core.records import State, Tables, View
from bideuchre_env.core.state import AUCTION, NAMING, PLAY
from bideuchre_env.core.view import see_observation
from bideuchre_env.learning.feature_rows import list_inputs, renamed_kind
from bideuchre_env.learning.network import NetworkWorkspace, add_up
from bideuchre_env.rules.cards import NO_TRUMP
from bideuchre_env.runtime.intrinsics import lowest_bit, row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel
from bideuchre_env.solver.transpositions import Searcher

GUARDED = 2.0
"""Least margin of a defender's card against a lone declarer at no trump (high or low), in points.

With this margin `net` beats more of its own contracts and of those of an outside bidder, and as
many of those of `expert` (experiments/notes.md).
"""


class CardNetwork(NamedTuple):
    """A network that values cards, with its scratch memory, and the margins of its use."""

    network: NetworkWorkspace
    margin: float
    veto: float


@kernel
def best_card(
    s: State, seat: int, view: View, t: Tables, tried: int, card: int, net: CardNetwork | None
) -> tuple[int, int]:
    """Return the best of the `tried` kinds (bits) by the network if it beats `card` by the margin.

    `card`, the rule player's choice, is the result otherwise. `view` is that of the seat in state
    `s`. Also returns the symmetry of the outputs, for `points_of`.
    """
    if net is None:
        return card, 0
    symmetry, best = weigh_cards(s, seat, view, t, net), card
    guards = view.strain >= NO_TRUMP and view.sitting_out >= 0 and view.declarer & 1 == 1
    least = points_of(net, symmetry, card) + (max(net.margin, GUARDED) if guards else net.margin)
    while tried:
        kind = lowest_bit(tried)
        tried &= tried - 1
        worth = points_of(net, symmetry, kind)
        if kind != card and worth > least:
            best, least = kind, worth
    return best, symmetry


@kernel
def unless_vetoed(searched: int, best: int, symmetry: int, net: CardNetwork | None) -> int:
    """Return the card of the search, or the network's `best` if it is more than `veto` better.

    `best` and `symmetry` are the results of `best_card`.
    """
    if net is None:
        return searched
    behind = points_of(net, symmetry, best) - points_of(net, symmetry, searched)
    return best if behind > net.veto else searched


@kernel
def weigh_cards(s: State, seat: int, view: View, t: Tables, net: CardNetwork) -> int:
    """Run the network on the cards of a seat in state `s`; return its suit symmetry (0 to 7).

    `view` is that of the seat. `points_of` looks up the estimate of a card.
    """
    work = net.network
    places, active = work.features.places[0], work.features.active
    n, symmetry = list_inputs(s, t, seat, places, view, True, active)
    add_up(n, work)
    return int(symmetry)


@inline_kernel
def points_of(net: CardNetwork, symmetry: int, kind: int) -> float:
    """Return the points of a card by the last `weigh_cards`, whose result is `symmetry`."""
    return float(net.network.outputs[renamed_kind(kind, symmetry)])


class PlayerWorkspace(NamedTuple):
    """Settings, tables and scratch memory of a player in one game; arrays of one row.

    Kernels are compiled once for players with `cards`, and once for those without.
    """

    tables: Array
    offsets: Array  # of the observation's blocks
    learned: ExpertTables
    known: Array  # `STATE`: the knowledge of an observing seat; rewritten as all below
    views: Array  # `view.VIEW`
    scratch: Array  # `rule.bidding.SCRATCH`
    calls: Array  # `auction.CALLS`
    deals: Array  # `endgame.SAMPLED_DEAL`; without deals to sample, no search
    searcher: Searcher  # for the last tricks
    cards: CardNetwork | None = None


@entry_kernel
def decide_rows(observations: Array, masks: Array, work: PlayerWorkspace, choices: Array) -> None:
    """Fill `choices`, int64 (n,), with a player's actions for n observations and masks."""
    t, o, known, view = work.tables[0], work.offsets[0], work.known[0], work.views[0]
    for i in range(len(observations)):
        mask = row_of(masks, i)
        legal = see_observation(row_of(observations, i), mask, t, o, known, view)
        choices[i] = legal_choice(decide(known, 0, view, legal, work), mask, t)


@kernel
def decide(s: State, seat: int, view: View, legal: int, work: PlayerWorkspace) -> int:
    """Return the action of a seat in state `s`, of the `legal` ones (see `step.legal_bits`).

    `view` is that of the seat.
    """
    t = work.tables[0]
    choice = certain_action(view, t, legal)
    if choice >= 0:
        return choice
    if view.phase == AUCTION or view.phase == NAMING:
        calls = useful_calls(view, t, legal)
        return expert_bid(view, calls, t, work.learned, work.scratch[0], work.calls[0])
    card, tried = rule_card(view, t, legal), worth_trying(view, t, legal)
    if tried & (tried - 1):
        best, symmetry = best_card(s, seat, view, t, tried, card, work.cards)
        card = best
        if view.phase == PLAY:
            searched = endgame_card(s, seat, view, t, work.deals[0], work.searcher, tried, best)
            card = unless_vetoed(searched, best, symmetry, work.cards)
    return t.card_offset + card


@kernel
def expert_bid(
    view: View, legal: int, t: Tables, learned: ExpertTables, scratch: Scratch, calls: Calls
) -> int:
    """Return the action in the auction: one of the `legal` calls, or the strain to name.

    `legal` has bit 0 for a pass, bit 1 + level for a bid; it is 0 when the strain is to be
    named. If the expert has no values for the hand (see `weigh_strains`), the rule player chooses.
    The result may be -1 if no call is legal.
    """
    if weigh_hand(view, t, learned, scratch, calls):
        if view.phase == NAMING:
            return t.trump_offset + expert_strain(view, t, learned.wins, calls)
        weigh_calls(view, t, learned, legal, calls)
        best = natural_call(view, t, calls)
        return call_action(t, (best >> 3) - 1, calls.ranked[best & 7]) if best >= 0 else -1
    return rule_bid(view, legal, t, learned.weights[0], scratch)


@kernel
def weigh_hand(
    view: View, t: Tables, learned: ExpertTables, scratch: Scratch, calls: Calls
) -> bool:
    """Write the values of the hand in every strain to `calls`, before calls are weighed.

    In the auction, also writes the values of the standing (highest) bid. Returns False if there are
    no values for this hand (see `weigh_strains`); `calls` is then meaningless.
    """
    if not weigh_strains(view, t, learned, scratch, calls):
        return False
    read_time(view)
    if view.phase != NAMING:
        start_calls(view, t, learned, scratch, calls)
    return True
