"""The net's outputs for cards as the prior of search agents."""

from __future__ import annotations

import numpy as np
import pytest
from support.agent_games import decisions

from bideuchre_env import agents
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.agents.learned.shipped import network_of, shipped_weights
from bideuchre_env.agents.search.agent import InferenceAgent, PimcAgent
from bideuchre_env.agents.search.candidates import begin
from bideuchre_env.agents.search.card_prior import NET_ERROR
from bideuchre_env.core.phases.scoring import played_points
from bideuchre_env.core.state import AUCTION, NAMING, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import features_of
from bideuchre_env.learning.network import evaluate
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel


@entry_kernel
def points_for(tables, level, won):
    """The declarer's points less the defenders' for this number of tricks."""
    ours, theirs, _ = played_points(tables[0], level, won, True)
    return ours - theirs


def span(rules, state):
    """The points between the best and the worst result of the hand in this state."""
    tables, level = compile_tables(rules), int(state["level"])
    points = [points_for(tables, level, won) for won in range(rules.tricks + 1)]
    return max(points) - min(points)


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
@pytest.mark.parametrize("goal", ["points", "game"])
def test_priors_are_the_outputs_of_the_net(variant, goal):
    """The net's card is the one to beat; priors are the network's outputs, in points."""
    rules, checked = RULES[variant], 0
    agent = InferenceAgent(rules, seed=1, goal=goal)
    net, plain = NetAgent(rules, search=True), NetAgent(rules, margin=0.0)
    network = network_of(shipped_weights("net", rules), "cards")
    plan = agent.space.plans
    for row, mask, state in decisions(rules, 3, seed=4, every=2):
        rows, masks = row[np.newaxis], mask[np.newaxis]
        begin(agent.space, rows, masks, 0)
        before = plan.copy()
        agent.open(rows, masks, 0)
        if state["phase"] in (AUCTION, NAMING):
            assert plan.tobytes() == before.tobytes()
            continue
        assert plan["expert_action"][0] == net.act(row, mask)
        n = int(plan["n"][0])
        if n < 2 or plan["has_priors"][0] == 0 or plan["certain"][0]:
            continue
        outputs, legal, _ = evaluate(network, features_of(rules, "cards"), rows, masks)
        points = plan["priors"][0, :n] / plan["prior_unit"][0]
        expected = outputs[legal == 1]
        assert np.sort(points) == pytest.approx(np.sort(expected), abs=1e-4)
        unit = float(plan["prior_unit"][0])
        assert (plan["prior_errors"][0, :n] == NET_ERROR * unit).all()
        if goal == "points" and state["phase"] == PLAY:
            worth = plan["by_tricks"][0, : rules.tricks + 1]
            assert unit == pytest.approx(np.ptp(worth) / span(rules, state), rel=1e-6)
        best = set(plan["actions"][0, :n][points > points.max() - 1e-4].tolist())
        assert plain.act(row, mask) in best
        checked += 1
    assert checked > 12


def test_which_agents_use_the_net_for_priors():
    """`inference` by default where the net has weights, `pimc` on request."""
    cincinnati, strange = RULES["cincinnati_v0"], RULES["cincinnati_v0"].replace(ranks="10")
    assert InferenceAgent(cincinnati).net is not None
    assert PimcAgent(cincinnati).net is None
    assert agents.make("pimc:net_cards=true", cincinnati).net is not None
    assert agents.make("inference:net_cards=false", cincinnati).net is None
    assert InferenceAgent(strange).net is None
    with pytest.raises(OptionError, match="agent 'net' has no weights for these rules"):
        agents.make("inference:net_cards=true", strange)
    with pytest.raises(OptionError, match="net_cards=1: True, False or None"):
        InferenceAgent(cincinnati, net_cards=1)
