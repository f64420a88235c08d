"""`ppo`: two networks trained by self-play from nothing, one for the auction, one for the cards.

It searches nothing: a call, a strain or a card is the legal output of the network that is largest.
`experiments/train_ppo.py` makes its weights.
"""

from __future__ import annotations

from os import PathLike
from typing import NamedTuple

import numpy as np

from bideuchre_env.agents.base import RowAgent
from bideuchre_env.learning.feature_rows import active_inputs, output_of
from bideuchre_env.learning.features import PARTS, VERSION, features_of
from bideuchre_env.learning.network import Network, NetworkWorkspace, add_up, network_workspace
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel


class PpoWorkspace(NamedTuple):
    """The networks of both parts, with room to play them in."""

    auction: NetworkWorkspace
    cards: NetworkWorkspace


class PpoAgent(RowAgent):
    """Plays the networks of a game, by part."""

    name = "ppo"

    def __init__(self, rules: Rules, networks: dict[str, Network]) -> None:
        super().__init__(rules)
        self._work = PpoWorkspace(
            *(network_workspace(networks[part], features_of(rules, part)) for part in PARTS)
        )

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """A legal action for every row; int64 (n,)."""
        return self._fill(ppo_rows, observations, action_masks, self._work)


@entry_kernel
def ppo_rows(observations: Array, masks: Array, work: PpoWorkspace, choices: Array) -> None:
    """Fill `choices` with the legal action of every row whose output is the largest."""
    t = work.cards.features.tables[0]
    for i in range(len(observations)):
        mask = row_of(masks, i)
        action = 0
        while mask[action] == 0:
            action += 1
        observation = row_of(observations, i)
        if action < t.card_offset:
            choices[i] = best_action(observation, mask, action, t.card_offset, work.auction)
        else:
            choices[i] = best_action(observation, mask, action, t.n_actions, work.cards)


@kernel
def best_action(
    observation: Array, mask: Array, first: int, stop: int, work: NetworkWorkspace
) -> int:
    """The legal action from `first`, which is legal, to `stop` - 1 with the largest output."""
    t, p = work.features.tables[0], work.features.places[0]
    n, symmetry = active_inputs(observation, True, work.features)
    add_up(n, work)
    best = first
    most = work.outputs[0, output_of(t, p.cards, symmetry, first)]
    for action in range(first + 1, stop):
        if mask[action]:
            output = work.outputs[0, output_of(t, p.cards, symmetry, action)]
            if output > most:
                best, most = action, output
    return best
