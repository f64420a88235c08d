"""What a run keeps: its checkpoint, which is all that it goes on from, and the weights it exports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.learning.features import VERSION
from bideuchre_env.learning.network import Network
from bideuchre_env.learning.weights import made_for, read_weights, write_weights
from bideuchre_env.rules.rules import Rules
from ppo.hands import PARTS
from ppo.nets import Weights

CHECKPOINT = "checkpoint.safetensors"
_TOLD = "run"  # the checkpoint's text, JSON


def write_checkpoint(folder: Path, tensors: Mapping[str, Tensor], told: dict[str, Any]) -> None:
    """Put these tensors, and what is told in JSON, in place of the last checkpoint, in one step."""
    arrays = {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}
    write_weights(folder / CHECKPOINT, arrays, {_TOLD: json.dumps(told)})


def read_checkpoint(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """The tensors of the folder's checkpoint and what it tells; None if there is none."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    kept = read_weights(path)
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in kept.arrays.items()}
    return tensors, json.loads(kept.metadata[_TOLD])


def networks_of(nets: Mapping[str, Weights]) -> dict[str, Network]:
    """The nets by part as the package plays them: without the critics' output."""
    networks = {}
    for part, weights in nets.items():
        arrays = {name: w.detach().cpu().numpy() for name, w in weights.items()}
        arrays["last"], arrays["last_bias"] = arrays["last"][:, :-1], arrays["last_bias"][:-1]
        networks[part] = Network(**{n: np.ascontiguousarray(a) for n, a in arrays.items()})
    return networks


def export(path: Path, rules: Rules, nets: Mapping[str, Weights], made: dict[str, str]) -> None:
    """Write the weights that agent `ppo` plays; `made` says how they came about."""
    arrays = {
        f"{part}.{name}": array
        for part, network in networks_of(nets).items()
        for name, array in network._asdict().items()
    }
    write_weights(path, arrays, {**made_for("ppo", rules, VERSION), **made})


__all__ = ["PARTS", "export", "networks_of", "read_checkpoint", "write_checkpoint"]
