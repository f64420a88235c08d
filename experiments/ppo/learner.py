"""The learner: PPO for the cards, a regression for the auction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.learning.features import PARTS
from ppo.hands import CRITIC, Batch, Decisions
from ppo.nets import NEVER, Weights, forward, new_weights

LONGEST = 1.0  # gradient: what is longer is cut down
SLOWLY = 0.01  # of the way to the present self that the slower copy goes with each batch


@dataclass(frozen=True)
class Step:
    """How a batch is learned from."""

    rate: float  # of learning
    clip: float  # how far from 1 the ratio of probabilities may go
    entropy: float  # what it is worth
    critic: float  # weight of the critic's error
    pull: float  # weight of the KL divergence from the slower copy of oneself; 0 has none
    minibatch: int  # decisions


class Learner:
    """The nets of both parts, their optimizers, and a slower copy of the cards' net.

    With `hidden` there is a critic that sees so many inputs more: the cards that others hold.
    """

    def __init__(
        self, sizes: dict[str, tuple[int, int, int, int]], seed: int, device: str, hidden: int = 0
    ) -> None:
        rng = np.random.default_rng([seed, 0])
        self.device = device
        self.nets = {part: new_weights(sizes[part], rng) for part in PARTS}
        if hidden:
            self.nets[CRITIC] = new_weights((*sizes["cards"][:3], 1), rng, hidden)
        for weights in self.nets.values():
            for name, weight in weights.items():
                weights[name] = weight.to(device).requires_grad_()
        self.slow = {name: w.detach().clone() for name, w in self.nets["cards"].items()}
        self.optimizers = {
            part: torch.optim.Adam(weights.values(), eps=1e-5, fused=True)
            for part, weights in self.nets.items()
        }

    def acting(self) -> dict[str, Weights]:
        """The weights as they are now, to act by: copies."""
        return {
            part: {name: w.detach().clone() for name, w in weights.items()}
            for part, weights in self.nets.items()
        }

    def learn(self, batch: Batch, step: Step) -> dict[str, float]:
        """Learn from a batch, once; what it came to, by name."""
        for optimizer in self.optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = step.rate
        found = self._learn_cards(batch.cards, step) | self._learn_auction(batch.auction, step)
        return {name: float(value) for name, value in found.items()}

    def _learn_cards(self, cards: Decisions, step: Step) -> dict[str, Tensor]:
        """PPO: one pass over the decisions, the advantages as they were when they were made."""
        weights, learning = self.nets["cards"], self._learning("cards", CRITIC)
        inputs, legal, outputs, before, values, returns, _, hidden = self._tensors(cards)
        advantages = returns - values
        spread = advantages.std() if len(advantages) > 1 else torch.ones(())  # of one there is none
        advantages = (advantages - advantages.mean()) / (spread + 1e-6)
        total: dict[str, list[Tensor]] = {}
        for part in minibatches(len(inputs), step.minibatch):
            found = forward(weights, inputs[part])
            log_probs = log_softmax(found[:, :-1], legal[part])
            ratio = (log_probs.gather(1, outputs[part, None])[:, 0] - before[part]).exp()
            advantage = advantages[part]
            clipped = ratio.clamp(1 - step.clip, 1 + step.clip)
            surrogate = torch.minimum(ratio * advantage, clipped * advantage).mean()
            entropy = -(log_probs.exp() * log_probs).sum(1).mean()
            said = found[:, -1]
            if CRITIC in self.nets:
                said = forward(self.nets[CRITIC], inputs[part], hidden[part])[:, 0]
            critic = (said - returns[part]).square().mean()
            loss = step.critic * critic - surrogate - step.entropy * entropy
            if step.pull:
                with torch.no_grad():
                    slow = log_softmax(forward(self.slow, inputs[part])[:, :-1], legal[part])
                pulled = (log_probs.exp() * (log_probs - slow)).sum(1).mean()
                loss = loss + step.pull * pulled
            descend(loss, learning)
            for name, value in (("entropy", entropy), ("card_critic", critic)):
                total.setdefault(name, []).append(value.detach())
            cut = (ratio.detach() != clipped.detach()).float().mean()
            total.setdefault("clipped", []).append(cut)
        if step.pull:
            with torch.no_grad():
                for name, slow_weight in self.slow.items():
                    slow_weight.lerp_(weights[name], SLOWLY)
        return {name: torch.stack(each).mean() for name, each in total.items()}

    def _learn_auction(self, auction: Decisions, step: Step) -> dict[str, Tensor]:
        """Regression: a call's advantage is the hand's return less what the critic says of it.

        The critic learns from the calls that were not forced: it says what comes of playing on.
        """
        weights, learning = self.nets["auction"], self._learning("auction")
        inputs, _, outputs, _, _, returns, forced, _ = self._tensors(auction)
        total: list[Tensor] = []
        for part in minibatches(len(inputs), step.minibatch):
            found = forward(weights, inputs[part])
            value, back = found[:, -1], returns[part]
            said = found.gather(1, outputs[part, None])[:, 0]
            critic = ((value - back).square() * ~forced[part]).mean()
            advantage = (said - (back - value.detach())).square().mean()
            descend(critic + advantage, learning)
            total.append(critic.detach())
        return {"call_critic": torch.stack(total).mean()}

    def _learning(self, *names: str) -> list[tuple[Weights, torch.optim.Optimizer]]:
        """The nets of these names that there are, and what changes each."""
        return [(self.nets[name], self.optimizers[name]) for name in names if name in self.nets]

    def _tensors(self, decisions: Decisions) -> list[Tensor]:
        return [torch.as_tensor(array, device=self.device) for array in decisions]

    def tensors(self) -> dict[str, Tensor]:
        """All that the learner is, by name: what `load` takes."""
        kept = {f"slow.{name}": weight for name, weight in self.slow.items()}
        for part, weights in self.nets.items():
            optimizer = self.optimizers[part]
            for name, weight in weights.items():
                kept[f"{part}.{name}"] = weight.detach()
                for key, value in optimizer.state.get(weight, {}).items():
                    kept[f"adam.{part}.{name}.{key}"] = value
        return {name: tensor.cpu().contiguous() for name, tensor in kept.items()}

    def load(self, kept: dict[str, Tensor]) -> None:
        """Become the learner that gave these tensors."""
        for name, weight in self.slow.items():
            weight.copy_(kept[f"slow.{name}"])
        for part, weights in self.nets.items():
            optimizer = self.optimizers[part]
            for name, weight in weights.items():
                with torch.no_grad():
                    weight.copy_(kept[f"{part}.{name}"])
                stem = f"adam.{part}.{name}."
                state = {k.removeprefix(stem): v for k, v in kept.items() if k.startswith(stem)}
                if state:
                    moved = {key: value.to(self.device).clone() for key, value in state.items()}
                    optimizer.state[weight] = moved


def minibatches(n: int, size: int) -> list[slice]:
    """Every k-th decision, for each of the first k: the table and the trick differ within one."""
    k = max(1, round(n / size))
    return [slice(first, None, k) for first in range(k)]


def log_softmax(logits: Tensor, legal: Tensor) -> Tensor:
    """Log-probabilities (n, O) of the legal outputs; those of others are far below."""
    return torch.log_softmax(logits.masked_fill(legal == 0, NEVER), dim=1)


def descend(loss: Tensor, learning: Sequence[tuple[Weights, torch.optim.Optimizer]]) -> None:
    """One step down the gradient."""
    for _, optimizer in learning:
        optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    for weights, optimizer in learning:
        torch.nn.utils.clip_grad_norm_(weights.values(), LONGEST, foreach=True)
        optimizer.step()
