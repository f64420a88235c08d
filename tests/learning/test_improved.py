"""`ImprovedPolicy`: a policy whose actions networks correct."""

import numpy as np
import pytest
from support.custom_agents import ObservationPolicy

import bideuchre_env
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.improved import PHASES, ImprovedPolicy
from bideuchre_env.learning.network import evaluate, new_network
from bideuchre_env.learning.pairs import pairs

RULES = bideuchre_env.make("cincinnati_v0").rules


def new_network_of(part, hidden=(4, 4)):
    """Return a new network of the part "auction" or "cards", and its features."""
    features = features_of(RULES, part)
    return new_network(features.size, hidden, features.outputs, np.random.default_rng(1)), features


@pytest.mark.parametrize("part", PARTS)
def test_an_action_changes_where_the_network_gains_more_than_the_margin(part):
    policy, (network, features) = ObservationPolicy(2), new_network_of(part, (16, 8))
    phases = PHASES[part]
    made = pairs(policy, RULES, 60, 5, phases=phases)
    rng = np.random.default_rng(2)
    network.last[:] = rng.normal(0, 1, network.last.shape)
    outputs, legal, symmetries = evaluate(network, features, made.observations, made.masks)
    changed = 0
    for margin in (0.0, 0.3, 1e9):
        player = ImprovedPolicy(policy, RULES, {part: network}, {part: margin})
        actions = player.act_rows(made.observations, made.masks)
        for i, action in enumerate(actions):
            [own], [choice] = (
                features.outputs_of(np.array([a]), symmetries[i : i + 1])
                for a in (made.chosen[i], action)
            )
            best = max(np.flatnonzero(legal[i]), key=lambda k: outputs[i, k])
            better = outputs[i, best] - outputs[i, own] > margin
            assert choice == (best if better else own)
            changed += action != made.chosen[i]
    assert changed > 20
    others = [phase for parts, its in PHASES.items() if parts != part for phase in its]
    made = pairs(policy, RULES, 20, 5, phases=others)
    player = ImprovedPolicy(policy, RULES, {part: network}, {part: 0.0})
    assert np.array_equal(player.act_rows(made.observations, made.masks), made.chosen)


def test_networks_and_margins_that_do_not_fit_are_refused():
    policy, (network, _) = ObservationPolicy(1), new_network_of("cards")
    for networks, margins in (
        ({"cards": network}, {}),
        ({"auction": network}, {"auction": 0.1}),
        ({"else": network}, {"else": 0.1}),
        *(({"cards": network}, {"cards": bad}) for bad in (np.nan, -1.0, None)),
    ):
        with pytest.raises(OptionError):
            ImprovedPolicy(policy, RULES, networks, margins)
