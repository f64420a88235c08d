"""Alternative actions that a network proposes."""

import pickle

import numpy as np
import pytest
from support.custom_agents import ObservationPolicy

from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import features_of
from bideuchre_env.learning.network import evaluate, new_network
from bideuchre_env.learning.pairs import pair_blocks, pairs
from bideuchre_env.learning.proposals import Proposals
from bideuchre_env.rules.variants import RULES

RULE_SET = RULES["barrie_v0"]


def planted(kind=3):
    """A network that prefers output `kind` by two points for every input."""
    features = features_of(RULE_SET, "cards")
    rng = np.random.default_rng(0)
    network = new_network(features.size, (8, 8), features.outputs, rng)
    network.last_bias[kind] = 2.0
    return network


def test_proposals_follow_the_softmax_of_the_network_and_do_not_depend_on_blocks():
    policy, made = ObservationPolicy(2), {}
    for share in (0.0, 0.5):
        propose = Proposals(planted(), RULE_SET, "cards", seed=4, temperature=1.0, even=share)
        made[share] = pairs(policy, RULE_SET, 600, 1, propose=propose)
        copy = pickle.loads(pickle.dumps(propose))
        blocks = pair_blocks(policy, RULE_SET, 600, 1, propose=copy, block=70)
        again = map(np.concatenate, zip(*blocks, strict=True))
        for one, other in zip(made[share], again, strict=True):
            np.testing.assert_array_equal(one, other)
    features = features_of(RULE_SET, "cards")
    for share, some in made.items():
        rows = np.arange(len(some.gain))
        assert some.masks[rows, some.other].all()
        assert (some.other != some.chosen).all()
        left = some.masks.copy()
        left[rows, some.chosen] = 0
        _, legal, symmetries = evaluate(planted(), features, some.observations, left)
        outputs = features.outputs_of(some.other, symmetries)
        could = legal[:, 3] == 1
        n = legal[could].sum(axis=1)
        liked = np.exp(2) / (np.exp(2) + n - 1)
        expected = share / n + (1 - share) * liked
        error = np.sqrt(np.sum(expected * (1 - expected)))
        assert abs((outputs[could] == 3).sum() - expected.sum()) < 4 * error
        assert could.sum() > 500


def test_unusable_options_and_networks_of_another_part_are_refused():
    for name, bad in (
        *(("temperature", bad) for bad in (0, float("nan"))),
        *(("even", bad) for bad in (-0.1, 1.1)),
        ("seed", None),
        ("part", "else"),
    ):
        with pytest.raises(OptionError, match=f"^{name}"):
            Proposals(planted(), RULE_SET, **{"part": "cards", "seed": 1, name: bad})
    with pytest.raises(OptionError, match="first: expected a shape of "):
        Proposals(planted(), RULE_SET, "auction", 1)
