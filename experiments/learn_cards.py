"""Teach the agent `net` its cards by paired differences, and its calls to go with them.

    python experiments/learn_cards.py --games cincinnati_v0 barrie_v0 --seed 1

In a hand of self-play some card is replaced by another and the rest is played out both ways: the
difference in points is what a network learns to foretell, of every card, from what the player
sees. Each round plays with the network of the round before, and tries cards that it finds good
more often; it learns from its own pairs and those of the rounds just before. Then the calls of the
expert are fitted again to hands played so, and the cards once more to those calls.

Every step of a game is kept in `runs/learn_cards/`: a run that was stopped goes on there, and comes
to the same weights. `--out` takes the weights of every game at the end of it.
"""

from __future__ import annotations

import bideuchre_env.runtime.quitting  # noqa: F401  # first: Ctrl-C is one line from now on

# isort: split
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bideuchre_env.agents.expert.agent import WANTED, ExpertAgent
from bideuchre_env.agents.expert.call_network import load_network
from bideuchre_env.agents.learned.net import MARGIN, NetAgent, calls_of, net_weights
from bideuchre_env.agents.learned.shipped import network_of
from bideuchre_env.cli.options import variant_of
from bideuchre_env.cli.script_args import ScriptArgs, run
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.learning.features import Features, features_of
from bideuchre_env.learning.fitting import Examples, errors_of, fit, joined
from bideuchre_env.learning.network import Network, evaluate, new_network
from bideuchre_env.learning.pairs import Pairs, Policy, pair_blocks
from bideuchre_env.learning.sampling import sample
from bideuchre_env.learning.weights import Weights, read_weights, write_weights
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

HIDDEN = (256, 64)
KEEP = 3  # rounds whose pairs are learned from together
EPOCHS = (2, 1)  # passes over them: in the first round, and after
RATES = (2.5e-3, 1.5e-3)  # of Adam, likewise
SOFTNESS = 0.7  # points: the other card is drawn by what the network says of it, over this
ANY = 0.25  # the share of pairs whose other card is drawn alike from all


class Learner:
    """The networks of one game on their way, and the rounds that make them better."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.rules, self.seed = rules, seed
        self.features = features_of(rules, "cards")
        rng = np.random.default_rng([seed, 0])
        self.cards = new_network(self.features.size, HIDDEN, self.features.outputs, rng)
        self.calls = load_network(rules)
        self.kept: list[Examples] = []

    def policy(self, first: bool) -> Policy:
        """Who plays the lines of a round."""
        if first:  # the same as an empty network, and faster
            return ExpertAgent(
                self.rules, network=self.calls, wanted=(0,) * len(WANTED), goal="points"
            )
        weights = net_weights(self.rules, self.cards, self.calls, {})
        return NetAgent(self.rules, weights=weights, margin=MARGIN, goal="points")

    def play(self, number: int, hands: int) -> Iterator[int]:
        """Make the pairs of a round from so many hands; how many there are, as they come."""
        rng = np.random.default_rng([self.seed, number, 1])
        propose = None if number == 0 else lambda *asked: self.propose(rng, *asked)
        parts, count = [], 0
        seed = int(np.random.SeedSequence([self.seed, number, 2]).generate_state(1)[0])
        for made in pair_blocks(self.policy(number == 0), self.rules, hands, seed, propose=propose):
            parts.append(self.examples(made))
            count += len(made.gain)
            yield count
        self.kept = [*self.kept[1 - KEEP :], joined(parts)]

    def examples(self, made: Pairs) -> Examples:
        """What the network should learn from pairs."""
        packed = self.features.pack(made.observations, made.masks)
        of, against = (
            self.features.outputs_of(actions, packed.symmetries).astype(np.int16)
            for actions in (made.other, made.chosen)
        )
        return Examples(packed.inputs, of, against, made.gain)

    def propose(
        self, rng: np.random.Generator, observations: Array, masks: Array, chosen: Array
    ) -> Array:
        """Other cards to try: those that look good more often."""
        outputs, legal, symmetries = evaluate(self.cards, self.features, observations, masks)
        outputs[rng.random(len(outputs)) < ANY] = 0.0
        found, log_probs = np.empty(len(outputs), np.int64), np.empty(len(outputs), np.float32)
        words = rng.integers(0, 1 << 64, len(outputs), np.uint64)
        sample(outputs / np.float32(SOFTNESS), legal, words, found, log_probs)
        return self.features.actions(found, symmetries)

    def learn(self, number: int) -> None:
        """Fit the network to the pairs that are kept."""
        later = int(number > 0)
        self.cards = fit(
            self.cards,
            self.features,
            joined(self.kept),
            np.random.default_rng([self.seed, number, 3]),
            epochs=EPOCHS[later],
            rate=RATES[later],
        )
