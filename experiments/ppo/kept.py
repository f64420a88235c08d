"""What a run keeps: its checkpoint, all that it goes on from, and the weights to play by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bideuchre_env.agents.learned.ppo import KIND
from bideuchre_env.agents.learned.shipped import arrays_of
from bideuchre_env.errors import WeightsError
from bideuchre_env.learning.features import PARTS, VERSION
from bideuchre_env.learning.network import Network
from bideuchre_env.learning.weights import Weights, made_for, read_weights, write_weights
from bideuchre_env.rules.rules import Rules
from ppo.nets import Weights as Net

CHECKPOINT, PLAYED_BY = "checkpoint.npz", "weights.npz"
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
    try:
        told = json.loads(kept.metadata[_TOLD])
    except (KeyError, ValueError):
        told = None
    if not isinstance(told, dict):
        raise WeightsError(f"{path} is no checkpoint of a run")
    return tensors, told


def game_of(rules: Rules) -> dict[str, str]:
    """What nets are trained for: the version of the features, and all of the rules."""
    return {**made_for(KIND, rules, VERSION), "rules": rules.to_toml()}


def named(nets: Mapping[str, Net], stem: str) -> dict[str, Tensor]:
    """The tensors of these nets by one name each, as `nets_in` finds them."""
    return {
        f"{stem}.{part}.{name}": weight.detach().cpu().contiguous()
        for part, weights in nets.items()
        for name, weight in weights.items()
    }


def nets_in(tensors: Mapping[str, Tensor], stem: str, like: Mapping[str, Net]) -> dict[str, Net]:
    """The nets of that name, where those lie that they are like; `KeyError` without."""
    return {
        part: {
            name: tensors[f"{stem}.{part}.{name}"].to(weight.device)
            for name, weight in weights.items()
        }
        for part, weights in like.items()
    }


def weights_of(rules: Rules, nets: Mapping[str, Net], made: Mapping[str, str]) -> Weights:
    """The nets as agent `ppo` plays them, without the critics' output; `made` says how."""
    arrays: dict[str, Any] = {}
    for part in PARTS:
        net = {name: w.detach().cpu().numpy() for name, w in nets[part].items()}
        net["last"], net["last_bias"] = net["last"][:, :-1], net["last_bias"][:-1]
        whole = {name: np.array(array, order="C") for name, array in net.items()}
        arrays |= arrays_of(Network(**whole), part)
    return Weights(arrays, {**made, **made_for(KIND, rules, VERSION)})
