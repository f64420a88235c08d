"""`FeatureAgent`: a policy, which maps features to logits, as an agent that can be saved.

The file has the network itself: numpy plays it, without torch or the library that trained it.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env._files import PathLike
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.protocols import AgentInfo
from bideuchre_env.agents.registry import files_are_frozen
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.learning.encoder import encoder_of
from bideuchre_env.learning.features import VERSION
from bideuchre_env.learning.policy_graph import PolicyGraph, evaluating, graph_of
from bideuchre_env.learning.weights import (
    Weights,
    check_metadata,
    made_for,
    read_weights,
    write_weights,
)
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

KIND = "policy"
FORMS = ("features", "flat")
_read: dict[Path, Weights] = {}
"""Files that this process has read: within a match, a file that changes is not read again."""


class FeatureAgent(RowAgent):
    """Plays the legal action with the largest logit of a policy.

    Args:
        rules: the rules of the game.
        policy: the path of a file of `save`; a torch module from float32 (n, F) to logits (n, A);
            or a function from float32 (n, F) to an array (n, A).
        observation: the observations that the policy was trained on: "features", with renamed
            actions, or "flat". A file states it.

    Raises:
        OptionError: for another observation, or a policy of another type.
        WeightsError: the file is damaged, or was saved for other rules.
    """

    info = AgentInfo(
        "A saved policy: the legal action with the largest logit.",
        {"policy": "file that FeatureAgent.save has written"},
    )

    def __init__(self, rules: Rules, policy: Any, *, observation: str = "features") -> None:
        super().__init__(rules)
        if observation not in FORMS:
            raise OptionError(f"observation={brief(observation)}: expected one of {FORMS}")
        self._new = partial(type(self), rules, policy, observation=observation)
        self.observation = observation
        if isinstance(policy, (str, os.PathLike)):
            self._network: Any = self._load(policy)
        else:
            self._network = self.network(policy)
        if not callable(self._network):
            raise OptionError(f"policy={brief(policy)}: expected a file, a module or a function")

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by calling the constructor again: loaded networks cannot be pickled."""
        return self._new, (), {"name": self.name}

    def network(self, policy: Any) -> Any:
        """Return the network of a trained policy, from float32 (n, F) to logits (n, A).

        Adapters override this method for the policies of their library.
        """
        return policy

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """Return the legal actions with the largest logits, int64 (n,)."""
        if self.observation == "features":
            return encoder_of(self.rules).act_rows(self._best, observations, action_masks)
        return self._best(self.layout.scaled(observations), action_masks)

    def _best(self, inputs: Array, legal: Array) -> Array:
        logits = self._logits(inputs)
        if logits.shape != (len(inputs), self.n_actions) or logits.dtype.kind not in "fiu":
            raise OptionError(
                f"policy: logits {logits.dtype} {list(logits.shape)}: expected numbers "
                f"{[len(inputs), self.n_actions]}"
            )
        if np.isnan(logits).any():
            raise OptionError("policy: logits that are not numbers")
        lowest = np.finfo(logits.dtype).min if logits.dtype.kind == "f" else logits.min()
        best: Array = np.where(legal, np.maximum(logits, lowest), -np.inf).argmax(axis=1)
        return best

    def _logits(self, inputs: Array) -> Array:
        """Return the logits of float32 (n, F), an array (n, A)."""
        if not _is_module(self._network):
            return np.asarray(self._network(inputs))
        torch = sys.modules["torch"]
        first = next(self._network.parameters(), None)
        with torch.no_grad(), evaluating(self._network):
            tensor = torch.from_numpy(inputs)
            logits: Any = self._network(tensor if first is None else tensor.to(first.device))
        return np.asarray(logits.cpu())

    def save(self, path: PathLike) -> None:
        """Write the policy to a file, for `FeatureAgent(rules, path)` and, by name, for commands.

            bideuchre match bideuchre_env.agents:FeatureAgent:policy=FILE rule

        The file has the arrays and operations of the network, and no code: numpy alone plays it.

        Raises:
            OptionError: the policy is not a torch module, or computes other operations than those
                of `learning.policy_graph`.
            OutputError: the file cannot be written.
            WeightsError: the network is larger than 64 MiB, or has weights that are not finite.
        """
        if not _is_module(self._network):
            raise OptionError(
                f"policy={brief(self._network)}: expected a torch module; a function plays by name "
                "from its own file, as ./file.py:Agent"
            )
        graph = graph_of(self._network, self._size)
        try:
            graph.check(self._size, self.n_actions)
        except ValueError as error:
            raise OptionError(f"policy: {error}") from None
        metadata = made_for(KIND, self.rules, VERSION)
        more = {"observation": self.observation, "steps": graph.steps}
        write_weights(path, graph.arrays, {**metadata, **more})

    @property
    def _size(self) -> int:
        """Number of inputs of the policy."""
        is_features = self.observation == "features"
        return encoder_of(self.rules).size if is_features else self.layout.size

    def _load(self, path: PathLike) -> PolicyGraph:
        """Return the network of a file of `save`, and set `observation` to that of its training."""
        file = Path(path).expanduser()
        if not (files_are_frozen() and file.resolve() in _read):
            _read[file.resolve()] = read_weights(file)
        weights = _read[file.resolve()]
        check_metadata(weights, made_for(KIND, self.rules, VERSION))
        try:
            self.observation = str(weights.metadata.get("observation"))
            if self.observation not in FORMS:
                raise ValueError(f"observation: expected one of {FORMS}")
            steps: Any = weights.metadata.get("steps")
            graph = PolicyGraph(steps, weights.arrays)
            graph.check(self._size, self.n_actions)
        except ValueError as error:
            raise WeightsError(f"{weights.name} is no file of FeatureAgent.save: {error}") from None
        return graph


def _is_module(policy: Any) -> bool:
    """Whether a policy is a torch module; torch is not imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(policy, torch.nn.Module)
