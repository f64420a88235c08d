"""Cards of agent `net`: those of the rule player, corrected by a network.

The network estimates the points of every card, up to a constant that all cards share. `net` is a
`CardNetwork`, or None for a player without one, for which these kernels change nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from bideuchre_env.agents.rule.exchange import undominated
from bideuchre_env.core.records import State, Tables, View
from bideuchre_env.learning.feature_rows import list_inputs, renamed_kind
from bideuchre_env.learning.network import NetworkWorkspace, add_up
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import inline_kernel, kernel


class CardNetwork(NamedTuple):
    """A network that values cards, with its scratch memory, and the margins of its use."""

    network: NetworkWorkspace
    margin: float
    veto: float


@kernel
def best_card(
    s: State, seat: int, view: View, t: Tables, legal: int, card: int, net: CardNetwork | None
) -> tuple[int, int]:
    """Return the best of the `legal` kinds (bits) by the network if it beats `card` by the margin.

    `card`, the rule player's choice, is the result otherwise. `view` is that of the seat in state
    `s`. Also returns the symmetry of the outputs, for `points_of`.
    """
    if net is None:
        return card, 0
    symmetry, best = weigh_cards(s, seat, view, t, net), card
    left = undominated(view, t, legal)
    least = points_of(net, symmetry, card) + net.margin
    while left:
        kind = lowest_bit(left)
        left &= left - 1
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
