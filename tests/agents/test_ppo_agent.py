"""Agent `ppo`: what it chooses by, and which weights it takes."""

from __future__ import annotations

import numpy as np
import pytest
from support.agent_games import play_on, start
from support.certainty import settled

from bideuchre_env.agents.learned.ppo import KIND, PpoAgent
from bideuchre_env.agents.learned.shipped import arrays_of
from bideuchre_env.errors import WeightsError
from bideuchre_env.learning.features import PARTS, VERSION, features_of
from bideuchre_env.learning.network import Network, forward, new_network
from bideuchre_env.learning.weights import Weights, made_for
from bideuchre_env.rules.variants import RULES

CINCINNATI = RULES["cincinnati_v0"]


def networks(rules, seed=3):
    """A network for each part that makes something of every input."""
    rng, found = np.random.default_rng(seed), {}
    for part in PARTS:
        features = features_of(rules, part)
        new = new_network(features.size, (24, 16), features.outputs, rng)
        drawn = (rng.normal(0, 0.1, each.shape).astype(np.float32) + each for each in new)
        found[part] = Network(*drawn)
    return found


def weights_of(rules, **changed):
    """Weights of such networks; `changed` arrays replace theirs, None takes one away."""
    arrays = {}
    for part, network in networks(rules).items():
        arrays |= arrays_of(network, part)
    arrays |= {name.replace("__", "."): array for name, array in changed.items()}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    return Weights(arrays, made_for(KIND, rules, VERSION))


@pytest.mark.parametrize("variant", RULES)
def test_it_plays_the_legal_output_that_is_largest(variant):
    """Against features spread out and networks in numpy, in every variant; one row as many.

    But for actions that are certain to take every trick left, and calls that are surely worse.
    """
    rules = RULES[variant]
    agent, nets = PpoAgent(rules, weights=weights_of(rules)), networks(rules)
    parts = {part: features_of(rules, part) for part in PARTS}
    card_offset, seen = parts["cards"].actions(np.zeros(1, int), np.zeros(1, int))[0], set()

    def watch(rows, masks, chosen):
        calls = ~masks[:, card_offset:].any(axis=1)
        for part, here in (("auction", calls), ("cards", ~calls)):
            if not here.any():
                continue
            seen.add(part)
            features, n = parts[part], int(here.sum())
            inputs = np.zeros((n, features.size), np.float32)
            legal, symmetries = np.zeros((n, features.outputs), np.int8), np.zeros(n, np.int64)
            certain, kept = settled(rules, rows[here], masks[here])
            features.write(rows[here], kept, inputs, legal, symmetries)
            outputs = np.where(legal != 0, forward(nets[part], inputs), -np.inf)
            took = features.outputs_of(chosen[here], symmetries)
            largest = outputs[np.arange(n), took] >= outputs.max(axis=1) - 1e-4
            assert np.where(certain >= 0, chosen[here] == certain, largest).all()
        for i in range(0, len(rows), 7):
            assert agent.act(rows[i], masks[i]) == chosen[i]

    play_on(rules, start(rules, 40), (agent, agent), hands=2, watch=watch)
    assert seen == set(PARTS)


WIDE = np.ones((24, 17), np.float32)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        (weights_of(CINCINNATI, auction__last=None), "the arrays "),
        (weights_of(CINCINNATI, cards__second=WIDE), r"'cards.second_bias' is float32 \[16\]"),
        (weights_of(CINCINNATI, cards__second=WIDE[:, :16].astype(np.float64)), "float64"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, told):
    """Arrays are missing or of another shape; `test_net.py` has weights for something else."""
    with pytest.raises(WeightsError, match=told):
        PpoAgent(CINCINNATI, weights=weights)
