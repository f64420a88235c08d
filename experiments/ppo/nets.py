"""The nets as torch computes them: two hidden layers, and a last output that is the critic's."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from bideuchre_env.learning.network import SLOPE
from bideuchre_env.runtime.jit import config
from ppo.sparse import first_layer

LAYERS = ("first", "second", "last")
NAMES = tuple(name for layer in LAYERS for name in (layer, layer + "_bias"))
NEVER = -1e9  # a logit of what is not to be drawn

Weights = dict[str, Tensor]
"""By `NAMES`: matrices (inputs, outputs) and biases (outputs,), float32."""


def new_weights(
    sizes: tuple[int, int, int, int], rng: np.random.Generator, more: int = 0
) -> Weights:
    """Drawn weights of a net of these sizes; it says next to nothing yet.

    With `more` it sees so many inputs beside.
    """
    weights: Weights = {}
    for layer, name in enumerate(LAYERS):
        fan_in, fan_out = sizes[layer], sizes[layer + 1]
        # of the first layer's inputs about one in eight is 1; the last layer is drawn small
        spread = {"first": (16 / fan_in) ** 0.5, "second": (2 / fan_in) ** 0.5, "last": 0.001}
        drawn = rng.normal(0.0, spread[name], (fan_in, fan_out)).astype(np.float32)
        weights[name] = torch.from_numpy(drawn)
        weights[name + "_bias"] = torch.zeros(fan_out)
    if more:
        weights["more"] = torch.from_numpy(
            rng.normal(0.0, (16 / more) ** 0.5, (more, sizes[1])).astype(np.float32)
        )
    return weights


def forward(weights: Weights, lists: Tensor, more: Tensor | None = None) -> Tensor:
    """The outputs (n, O + 1) for lists of inputs, int16 (n, WIDTH).

    What a net sees beside (`new_weights`) comes in lists of its own, `more`.
    """
    hidden = first_layer(lists, weights["first"], weights["first_bias"])
    if more is not None:
        hidden = hidden + first_layer(more, weights["more"], torch.zeros_like(hidden[0]))
    hidden = leaky_relu(hidden, float(SLOPE))
    hidden = leaky_relu(
        torch.addmm(weights["second_bias"], hidden, weights["second"]), float(SLOPE)
    )
    return torch.addmm(weights["last_bias"], hidden, weights["last"])


def said(weights: Weights, lists: Tensor, more: Tensor | None = None) -> Tensor:
    """The same without gradients."""
    with torch.no_grad():
        return forward(weights, lists, more)


def torch_device(device: str) -> str:
    """torch's word for a device of the package; in numba's simulator it is the CPU."""
    return "cpu" if config.ENABLE_CUDASIM else device
