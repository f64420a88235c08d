"""`ppo`: two networks trained by self-play from nothing, one for the auction, one for the cards.

It searches nothing: a call, a strain or a card is the legal output of the network that is largest.
`experiments/train_ppo.py` makes its weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bideuchre_env.agents.learned.shipped import LearnedAgent, fitting_weights, network_of
from bideuchre_env.agents.protocols import WEIGHTS_OPTION, AgentInfo
from bideuchre_env.agents.rule.agent import call_bits, certain_action, legal_choice
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.state import AUCTION
from bideuchre_env.learning.feature_rows import list_inputs, output_of
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.network import NetworkWorkspace, add_up, another, network_workspace
from bideuchre_env.learning.view import read_view
from bideuchre_env.learning.weights import Weights
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel

KIND = "ppo"


class PpoWorkspace(NamedTuple):
    """The networks of both parts, with room to play them in."""

    auction: NetworkWorkspace
    cards: NetworkWorkspace


class PpoAgent(LearnedAgent):
    """Plays the networks of a game for the points of each hand; `seed` changes nothing.

    `weights` is a file of weights instead of the package's own.
    """

    name = KIND
    info = AgentInfo(
        "Two networks that trained themselves from nothing, by self-play.",
        WEIGHTS_OPTION,
        milliseconds=0.005,
        kernels=("ppo",),
    )

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int | None = None,
        weights: str | Path | Weights | None = None,
    ) -> None:
        super().__init__(rules)
        if seed is not None:
            split_seed(seed)  # refuses what is no seed
        found = fitting_weights(KIND, rules, weights, PARTS, {})
        self._remember(found)
        self._work = PpoWorkspace(
            *(
                network_workspace(network_of(found, part), features_of(rules, part))
                for part in PARTS
            )
        )

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """A legal action for every row; int64 (n,)."""
        return self._fill(ppo_rows, observations, action_masks, self.workspace())

    def workspace(self) -> PpoWorkspace:
        """A new workspace, so that whoever shares an agent shares no decision."""
        parts = zip(self._work, PARTS, strict=True)
        return PpoWorkspace(*(another(work, features_of(self.rules, part)) for work, part in parts))


@entry_kernel
def ppo_rows(observations: Array, masks: Array, work: PpoWorkspace, choices: Array) -> None:
    """Fill `choices` with the action of every row."""
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
    """The legal action from `first`, which is legal, to `stop` - 1 with the largest output.

    An action that takes every trick left for certain comes first; a call that `call_bits` leaves
    out is not made.
    """
    features, t = work.features, work.features.tables[0]
    o, p, view = features.offsets[0], features.places[0], features.views[0]
    read_view(observation, t, o, view)
    certain = certain_action(view, t, mask)
    if certain >= 0:
        return legal_choice(certain, mask, t)
    calls = call_bits(view, mask, t)
    n, symmetry = list_inputs(observation, t, o, p, view, True, features.active)
    add_up(n, work)
    best = first
    most = work.outputs[0, output_of(t, p.cards, symmetry, first)]
    for action in range(first + 1, stop):
        call = 0 if action == 0 else 1 + (action - 1) // t.strains_per_bid
        if mask[action] and (view.phase != AUCTION or calls >> call & 1):
            output = work.outputs[0, output_of(t, p.cards, symmetry, action)]
            if output > most:
                best, most = action, output
    return best
