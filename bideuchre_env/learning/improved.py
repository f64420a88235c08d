"""`ImprovedPolicy`: another policy whose choices are corrected by networks trained on pairs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bideuchre_env._checks import brief, check_type, whole_numbers
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.state import Phase
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.network import Network, checked, evaluate
from bideuchre_env.learning.pairs import CARDS, Policy, check_player
from bideuchre_env.rules.rules import Rules, check_rules
from bideuchre_env.runtime.jit import Array

PHASES = {"auction": (Phase.AUCTION, Phase.NAMING), "cards": CARDS}
"""The phases of each part of the features."""


class ImprovedPolicy:
    """Plays the action of `policy`, unless a network predicts that another gains enough points.

    `networks` has a network for one or both of the parts "auction" and "cards". Its outputs are the
    values of actions in points, up to a constant per decision, as `fit` learns them from pairs. In
    a part without a network, or whose network is untrained (outputs all 0), `policy` decides.
    `margins` has, for each part with a network, the predicted gain in points that must be exceeded,
    0 or more. Raises `OptionError` for invalid arguments.
    """

    name = "improved"

    def __init__(
        self,
        policy: Policy,
        rules: Rules,
        networks: Mapping[str, Network],
        margins: Mapping[str, float],
    ) -> None:
        check_rules(rules)
        check_player("policy", policy)
        for name, values in (("networks", networks), ("margins", margins)):
            check_type(name, values, Mapping, f"a mapping from {' and '.join(PARTS)}")
        for part, network in networks.items():
            if part not in PARTS or part not in margins:
                raise OptionError(
                    f"networks, margins: expected {' and '.join(PARTS)}, not {brief(part)}"
                )
            checked(network, features_of(rules, part))
            margin = margins[part]
            if type(margin) not in (int, float) or not margin >= 0:
                raise OptionError(f"margins: {part}={brief(margin)}: expected points from 0 on")
        self.policy, self.rules = policy, rules
        self.margins = dict(margins)
        self.networks = {  # without untrained networks, whose outputs are all 0
            part: n for part, n in networks.items() if n.last.any() or n.last_bias.any()
        }
        self._phase = layout_of(rules).slices["phase"]
        if hasattr(policy, "at_once"):
            self.at_once: int = policy.at_once

    def act_rows(self, observations: Array, action_masks: Array) -> Array:
        """Return actions, int64 (n,), for observations, int8 (n, D), and masks, int8 (n, A).

        The rows may belong to different parts of the hand. Raises `IllegalActionError` if `policy`
        does not return n whole numbers.
        """
        answer = self.policy.act_rows(observations, action_masks)
        choices = whole_numbers("act_rows", answer, len(observations))
        phases = observations[:, self._phase].argmax(axis=1)
        for part in self.networks:
            rows = np.flatnonzero(np.isin(phases, PHASES[part]))
            if len(rows):
                choices[rows] = self._improve(
                    part, observations[rows], action_masks[rows], choices[rows]
                )
        return choices

    def _improve(self, part: str, seen: Array, masks: Array, choices: Array) -> Array:
        """Return the final actions at decisions of one part; `choices` are those of the policy.

        `seen` are the observations.
        """
        features = features_of(self.rules, part)
        outputs, legal, symmetries = evaluate(self.networks[part], features, seen, masks)
        rows, own = np.arange(len(seen)), features.outputs_of(choices, symmetries)
        outputs[legal == 0] = -np.inf
        best = outputs.argmax(axis=1)
        better = outputs[rows, best] - outputs[rows, own] > self.margins[part]
        return features.actions(np.where(better, best, own), symmetries)
