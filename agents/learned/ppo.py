"""`ppo`: two networks trained from scratch by self-play, one for the auction, one for the cards.

There is no search: the legal action with the largest output is chosen, unless some action is
certain to take every trick left. As last bidder the agent ignores partnered bids above the lowest.
`experiments/train_ppo.py` trains the weights.
"""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import NamedTuple

from bideuchre_env.agents.learned.shipped import LearnedAgent, fitting_weights
from bideuchre_env.agents.protocols import WEIGHTS_OPTION, AgentInfo
from bideuchre_env.agents.rule.agent import certain_action, legal_choice, useful_calls
from bideuchre_env.agents.rule.discards import worth_trying
from bideuchre_env.core.state import AUCTION
from bideuchre_env.core.view import see_observation
from bideuchre_env.learning.feature_rows import list_inputs, output_of
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.network import (
    NetworkWorkspace,
    add_up,
    another,
    network_of,
    network_workspace,
)
from bideuchre_env.learning.weights import Weights
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel

KIND = "ppo"


class PpoWorkspace(NamedTuple):
    """The networks for auction and cards, with scratch memory."""

    auction: NetworkWorkspace
    cards: NetworkWorkspace


@entry_kernel
def ppo_rows(observations: Array, masks: Array, work: PpoWorkspace, choices: Array) -> None:
    """Fill `choices`, int64 (n,), with the agent's actions for n observations and masks.

    Each row of the masks must have a legal action.
    """
    t = work.cards.features.tables[0]
    for i in range(len(observations)):
        observation, mask = row_of(observations, i), row_of(masks, i)
        action = legal_choice(-1, mask, t)  # the first legal one
        if action < t.card_offset:
            choices[i] = best_action(observation, mask, action, t.card_offset, work.auction)
        else:
            choices[i] = best_action(observation, mask, action, t.n_actions, work.cards)


class PpoAgent(LearnedAgent):
    """Plays the action with the largest output of its networks, for the points of each hand.

    Args:
        rules: the rules of the game.
        seed: checked, but without effect: the agent is deterministic.
        weights: a file of weights, or `Weights`; None for the default weights of the rules.

    Raises:
        OptionError: there are no weights for these rules.
        WeightsError: the weights do not fit these rules.
    """

    name = KIND
    rows = staticmethod(ppo_rows)
    info = AgentInfo(
        "PPO: two networks, for calls and cards, trained from scratch by self-play.",
        WEIGHTS_OPTION,
        milliseconds=0.002,
    )

    def __init__(
        self, rules: Rules, *, seed: int | None = None, weights: str | Path | Weights | None = None
    ) -> None:
        super().__init__(rules, seed)
        loaded = fitting_weights(KIND, rules, weights, PARTS, {})
        self._remember(loaded)
        self._work = PpoWorkspace(
            *(
                network_workspace(network_of(loaded, part), features_of(rules, part))
                for part in PARTS
            )
        )

    def workspace(self) -> PpoWorkspace:
        """Return a new workspace; each thread needs its own, because decisions overwrite it."""
        parts = zip(self._work, PARTS, strict=True)
        return PpoWorkspace(*(another(work, features_of(self.rules, part)) for work, part in parts))


@kernel
def best_action(
    observation: Array, mask: Array, first: int, stop: int, work: NetworkWorkspace
) -> int:
    """Return the legal action from `first` to `stop` - 1 with the largest output of a network.

    `first` must be the first legal action. An action that is certain to take every trick left has
    priority. The last bidder's partnered bids above the lowest are skipped (`useful_calls`), and so
    are cards that give away a higher card than necessary (`worth_trying`).
    """
    features, t = work.features, work.features.tables[0]
    p, known, view = features.places[0], features.known[0], features.views[0]
    legal = see_observation(observation, mask, t, features.offsets[0], known, view)
    certain = certain_action(view, t, legal)
    if certain >= 0:
        return legal_choice(certain, mask, t)
    calls = useful_calls(view, t, legal)
    cards = worth_trying(view, t, legal)
    n, symmetry = list_inputs(known, t, 0, p, view, True, features.active)
    add_up(n, work)
    best, most = first, -inf
    for action in range(first, stop):
        if view.phase == AUCTION:
            call = 1 + t.call_levels[action]
            tried = calls >> call & 1 == 1
        else:
            tried = action < t.card_offset or cards >> (action - t.card_offset) & 1 == 1
        if mask[action] and tried:
            output = work.outputs[output_of(features, symmetry, action)]
            if output > most:
                best, most = action, output
    return best
