"""Training of the networks on a batch: PPO for the cards, a regression for the auction."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.learning.features import PARTS
from ppo.networks import CRITIC, NEVER, Networks, forward, new_weights
from ppo.rollout import Batch, Decisions

MAX_GRADIENT_NORM = 1.0


class Learner:
    """The networks of both parts, auction and cards, and their optimizers.

    `sizes` has the layers of each part: inputs, two hidden layers, outputs with the critic's value.
    With `hidden` above 0 there is also a separate critic for the cards. It has `hidden` more
    inputs: the cards of the other seats.
    """

    def __init__(
        self, sizes: dict[str, tuple[int, int, int, int]], seed: int, device: str, hidden: int = 0
    ) -> None:
        rng = np.random.default_rng([seed, 0])
        self.device = device
        self.networks: Networks = {part: new_weights(sizes[part], rng) for part in PARTS}
        if hidden:
            self.networks[CRITIC] = new_weights((*sizes["cards"][:3], 1), rng, hidden)
        for weights in self.networks.values():
            for name, weight in weights.items():
                weights[name] = weight.to(device).requires_grad_()
        self.optimizers = {
            part: torch.optim.Adam(weights.values(), eps=1e-5, fused=True)
            for part, weights in self.networks.items()
        }

    def state(self) -> dict[str, Any]:
        """Return the networks and the state of the optimizers, for `load`; the memory is shared."""
        return {
            "networks": self.networks,
            "optimizers": {part: each.state_dict() for part, each in self.optimizers.items()},
        }

    def load(self, state: dict[str, Any]) -> None:
        """Copy a result of `state` into the networks and optimizers.

        Raises `KeyError`, `RuntimeError` or `ValueError` if it does not fit the networks.
        """
        with torch.no_grad():
            for part, weights in self.networks.items():
                for name, weight in weights.items():
                    weight.copy_(state["networks"][part][name])
        for part, optimizer in self.optimizers.items():
            optimizer.load_state_dict(state["optimizers"][part])

    def learn(
        self, batch: Batch, args: Any, learning_rate: float, entropy: float
    ) -> dict[str, float]:
        """Train all networks on a batch, in one pass; return the statistics by name.

        `args` are the trainer's options, of which `minibatch`, `clip` and `critic` are used;
        `entropy` is the weight of the entropy bonus. The statistics are means over the minibatches:
        the cards' `entropy`, `card_critic` and `call_critic` (mean squared errors), and `clipped`,
        the fraction of clipped ratios.
        """
        for optimizer in self.optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = learning_rate
        statistics = self._learn_cards(batch.cards, args, entropy)
        statistics |= self._learn_auction(batch.auction, args.minibatch)
        return {name: float(value) for name, value in statistics.items()}

    def _learn_cards(self, cards: Decisions, args: Any, bonus: float) -> dict[str, Tensor]:
        """Train the cards' network by PPO, in one pass over the decisions; return mean statistics.

        A separate critic is trained too. Advantages are computed once, from the values stored when
        the outputs were chosen. `bonus` is the weight of the entropy.
        """
        inputs, legal, outputs, before, values, returns, _, hidden = self._tensors(cards)
        advantages = returns - values
        deviation = advantages.std() if len(advantages) > 1 else torch.ones(())  # undefined for one
        advantages = (advantages - advantages.mean()) / (deviation + 1e-6)
        totals: dict[str, list[Tensor]] = {"entropy": [], "card_critic": [], "clipped": []}
        for part in minibatches(len(inputs), args.minibatch):
            logits = forward(self.networks["cards"], inputs[part])
            log_probs = log_softmax(logits[:, :-1], legal[part])
            ratio = (log_probs.gather(1, outputs[part, None])[:, 0] - before[part]).exp()
            advantage = advantages[part]
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            surrogate = torch.minimum(ratio * advantage, clipped * advantage).mean()
            entropy = -(log_probs.exp() * log_probs).sum(1).mean()
            value = logits[:, -1]
            if CRITIC in self.networks:
                value = forward(self.networks[CRITIC], inputs[part], hidden[part])[:, 0]
            critic = (value - returns[part]).square().mean()
            loss = args.critic * critic - surrogate - bonus * entropy
            self._descend(loss, "cards", CRITIC)
            outside = (ratio.detach() != clipped.detach()).float().mean()
            for name, each in zip(totals, (entropy, critic, outside), strict=True):
                totals[name].append(each.detach())
        return {name: torch.stack(each).mean() for name, each in totals.items()}

    def _learn_auction(self, auction: Decisions, minibatch: int) -> dict[str, Tensor]:
        """Train the auction's network by regression; return the critic's mean squared error.

        The output of a call learns the hand's return minus the critic's value. The critic learns
        the return, but only from calls that were not forced.
        """
        inputs, _, outputs, _, _, returns, forced, _ = self._tensors(auction)
        total: list[Tensor] = []
        for part in minibatches(len(inputs), minibatch):
            points = forward(self.networks["auction"], inputs[part])
            value, back = points[:, -1], returns[part]
            of_call = points.gather(1, outputs[part, None])[:, 0]
            critic = ((value - back).square() * ~forced[part]).mean()
            advantage = (of_call - (back - value.detach())).square().mean()
            self._descend(critic + advantage, "auction")
            total.append(critic.detach())
        return {"call_critic": torch.stack(total).mean()}

    def _descend(self, loss: Tensor, *parts: str) -> None:
        """Take an optimizer step on `loss`, with clipped gradients, for the networks of `parts`.

        Parts without a network are skipped.
        """
        learning = [part for part in parts if part in self.networks]
        for part in learning:
            self.optimizers[part].zero_grad()
        loss.backward()
        for part in learning:
            weights = self.networks[part].values()
            torch.nn.utils.clip_grad_norm_(weights, MAX_GRADIENT_NORM, foreach=True)
            self.optimizers[part].step()

    def _tensors(self, decisions: Decisions) -> list[Tensor]:
        """Return the columns of decisions as tensors on the learner's device."""
        return [torch.as_tensor(array, device=self.device) for array in decisions]


def minibatches(n: int, size: int) -> list[slice]:
    """Return slices [i::k] of n decisions, each of about `size`, which mix hands and tricks."""
    k = max(1, round(n / size))
    return [slice(first, None, k) for first in range(k)]


def log_softmax(logits: Tensor, legal: Tensor) -> Tensor:
    """Return the log-probabilities (n, O) of the outputs; illegal ones get the logit `NEVER`."""
    return torch.log_softmax(logits.masked_fill(legal == 0, NEVER), dim=1)
