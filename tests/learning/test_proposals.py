"""Networks that propose alternative actions, and that correct the actions of a policy."""

import pickle

import numpy as np
import pytest
from support.custom_agents import ObservationPolicy

from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.improved import PHASES, ImprovedPolicy
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


CINCINNATI = RULES["cincinnati_v0"]


def new_network_of(part, hidden=(4, 4)):
    """Return a new network of the part "auction" or "cards", and its features."""
    features = features_of(CINCINNATI, part)
    return new_network(features.size, hidden, features.outputs, np.random.default_rng(1)), features


@pytest.mark.parametrize("part", PARTS)
def test_an_action_changes_where_the_network_gains_more_than_the_margin(part):
    policy, (network, features) = ObservationPolicy(2), new_network_of(part, (16, 8))
    phases = PHASES[part]
    made = pairs(policy, CINCINNATI, 60, 5, phases=phases)
    rng = np.random.default_rng(2)
    network.last[:] = rng.normal(0, 1, network.last.shape)
    outputs, legal, symmetries = evaluate(network, features, made.observations, made.masks)
    changed = 0
    for margin in (0.0, 0.3, 1e9):
        player = ImprovedPolicy(policy, CINCINNATI, {part: network}, {part: margin})
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
    made = pairs(policy, CINCINNATI, 20, 5, phases=others)
    player = ImprovedPolicy(policy, CINCINNATI, {part: network}, {part: 0.0})
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
            ImprovedPolicy(policy, CINCINNATI, networks, margins)
