"""`FeatureAgent`: a policy, which maps features to logits, as an agent that can be saved.

The file has the network itself, as an exported program of torch: it is read without the code and
the library that trained it.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env._files import PathLike, reason, write_file
from bideuchre_env._inputs import MOST_OF_TORCH, read_file, read_zip
from bideuchre_env._install import how_to_install
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.protocols import AgentInfo
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.learning.encoder import encoder_of
from bideuchre_env.learning.features import VERSION
from bideuchre_env.learning.weights import made_for
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

KIND = "policy"
FORMS = ("features", "flat")
_METADATA = "bideuchre.json"


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
            self._network, self.observation = load(policy, rules)
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
        best: Array = np.where(legal, self._logits(inputs), -np.inf).argmax(axis=1)
        return best

    def _logits(self, inputs: Array) -> Array:
        """Return the logits of float32 (n, F), an array (n, A)."""
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(self._network, torch.nn.Module):
            return np.asarray(self._network(inputs))
        first = next(self._network.parameters(), None)
        with torch.no_grad(), evaluating(self._network):
            tensor = torch.from_numpy(inputs)
            logits = self._network(tensor if first is None else tensor.to(first.device))
        return np.asarray(logits.cpu())

    def save(self, path: PathLike) -> None:
        """Write the policy to a file, for `FeatureAgent(rules, path)` and, by name, for commands.

            bideuchre match bideuchre_env.agents:FeatureAgent:policy=FILE rule

        The network is exported by `torch.export`, so its code must be free of Python branches on
        the values of its input.

        Raises:
            OptionError: the policy is not a torch module.
            OutputError: the file cannot be written.
        """
        torch = import_torch()
        network = self._network
        if not isinstance(network, torch.nn.Module):
            raise OptionError(
                f"policy={brief(network)}: expected a torch module; a function plays by name from "
                "its own file, as ./file.py:Agent"
            )
        features = self.observation == "features"
        size = encoder_of(self.rules).size if features else self.layout.size

        first = next(network.parameters(), torch.zeros(0))
        rows = {0: torch.export.Dim("rows", min=1)}
        with evaluating(network):
            example = torch.zeros(2, size, device=first.device)
            alone = torch.nn.Sequential(network)  # a network may have other parameters too
            program = torch.export.export(alone, (example,), dynamic_shapes=(rows,))
        data, metadata = io.BytesIO(), made_for(KIND, self.rules, VERSION)
        metadata["form"] = self.observation
        torch.export.save(program, data, extra_files={_METADATA: json.dumps(metadata)})
        write_file(path, data.getvalue())


def load(path: PathLike, rules: Rules) -> tuple[Any, str]:
    """Return the network of a file of `FeatureAgent.save`, and the form of its observations.

    Raises `WeightsError` if the file cannot be read, is damaged, or was saved for other rules.
    """
    torch, extra = import_torch(), {_METADATA: ""}
    try:
        data = read_file(Path(path).expanduser(), MOST_OF_TORCH)
        read_zip(data, MOST_OF_TORCH, 10_000)  # torch does not verify the checksums
        program = torch.export.load(io.BytesIO(data), extra_files=extra)
        metadata = dict(json.loads(extra[_METADATA]))
        form = metadata.pop("form")
    except OSError as error:
        raise WeightsError(f"{os.fspath(path)} cannot be read: {reason(error)}") from None
    except Exception as error:  # torch raises errors of many types
        raise WeightsError(f"{os.fspath(path)}: no file of FeatureAgent.save ({error})") from None
    expected = made_for(KIND, rules, VERSION)
    for key, value in expected.items():
        if metadata.get(key) != value or form not in FORMS:
            raise WeightsError(
                f"{os.fspath(path)} was saved for other rules: {key}={brief(metadata.get(key))}, "
                f"expected {brief(value)}"
            )
    network = program.module()
    network.training = False  # it was exported in evaluation mode, and has no `eval`
    return network, form


def import_torch() -> Any:
    """Return torch; `OptionError` if it is not installed."""
    try:
        import torch
        import torch.export
    except ImportError:
        raise OptionError(f"a saved policy needs torch: {how_to_install('train')}") from None
    return torch


@contextmanager
def evaluating(network: Any) -> Iterator[None]:
    """Context manager: set a torch module to evaluation mode, and restore its mode at the end."""
    training = network.training
    if training:
        network.eval()
    try:
        yield
    finally:
        if training:
            network.train()
