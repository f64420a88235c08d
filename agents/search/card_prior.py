"""Priors of the cards from the net, before any card is tried in a world.

The net's card replaces the expert's as the baseline of the other cards, and the net plays out the
worlds in which cards are tried. The network's estimate of a card, in points, is its prior. Priors
and results of worlds are weighed by their errors (`candidates.choose`). The priors leave out the
net's own margin and search: with hardly a world tried, the card that the network values most is
chosen.
"""

from __future__ import annotations

from bideuchre_env.agents.learned.net import net_decision, points_of, weigh_cards
from bideuchre_env.agents.search.candidates import hand_worth
from bideuchre_env.agents.search.workspace import SearchWorkspace
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.state import AUCTION, NAMING
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel

NET_ERROR = 0.7
"""Standard error of the net's difference between two cards, in points."""


@entry_kernel
def lean_on_net(space: SearchWorkspace, observations: Array, masks: Array, i: int) -> None:
    """Write the net's card and priors to the plan, after `begin` for row i; calls are unchanged."""
    plan, net, view = space.plans[0], space.net, space.expert.views[0]
    if view.phase == AUCTION or view.phase == NAMING:
        return
    observation, t = row_of(observations, i), space.expert.tables[0]
    plan.expert_action = net_decision(observation, row_of(masks, i), net)
    plan.plays_net = 1
    if plan.n < 2:
        return
    symmetry, point = weigh_cards(observation, net), worth_of_point(space)
    plan.has_priors, plan.prior_unit = 1 if point > 0.0 else 0, point
    plan.prior_errors[:] = NET_ERROR * point
    for j in range(plan.n):
        points = points_of(t, net.cards.outputs, symmetry, plan.actions[j] - t.card_offset)
        plan.priors[j] = point * points


@kernel
def worth_of_point(space: SearchWorkspace) -> float:
    """Return the mean value of a point over all results of the hand; 0 if all have one value."""
    s, t, view = space.worlds[0], space.expert.tables[0], space.expert.views[0]
    us, wins = s.declarer & 1 == 0, space.expert.learned.wins
    least, most, fewest, best = 1e9, -1e9, 1e9, -1e9
    for won in range(t.tricks + 1):
        worth = hand_worth(s, t, view, wins, won)
        ours, theirs, _ = played_points(t, s.level, won if us else t.tricks - won, us)
        least, most = min(least, worth), max(most, worth)
        fewest, best = min(fewest, float(ours - theirs)), max(best, float(ours - theirs))
    return (most - least) / max(best - fewest, 1.0)
