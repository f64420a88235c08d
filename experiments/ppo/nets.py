"""The nets as torch computes them: two hidden layers, and a last output that is the critic's."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from bideuchre_env.runtime.jit import Array
from ppo.sparse import first_layer

LAYERS = ("first", "second", "last")
NAMES = tuple(name for layer in LAYERS for name in (layer, layer + "_bias"))
SLOPE = 0.01

Weights = dict[str, Tensor]
"""By `NAMES`: matrices (inputs, outputs) and biases (outputs,), float32."""


def new_weights(sizes: tuple[int, int, int, int], rng: np.random.Generator) -> Weights:
    """Drawn weights of a net of these sizes; it says next to nothing yet."""
    weights: Weights = {}
    for layer, name in enumerate(LAYERS):
        fan_in, fan_out = sizes[layer], sizes[layer + 1]
        # of the first layer's inputs about one in eight is 1; the last layer is drawn small
        spread = {"first": (16 / fan_in) ** 0.5, "second": (2 / fan_in) ** 0.5, "last": 0.001}
        drawn = rng.normal(0.0, spread[name], (fan_in, fan_out)).astype(np.float32)
        weights[name] = torch.from_numpy(drawn)
        weights[name + "_bias"] = torch.zeros(fan_out)
    return weights


def forward(weights: Weights, lists: Tensor) -> Tensor:
    """The outputs (n, O + 1) for lists of inputs, int16 (n, WIDTH)."""
    hidden = leaky_relu(first_layer(lists, weights["first"], weights["first_bias"]), SLOPE)
    hidden = leaky_relu(torch.addmm(weights["second_bias"], hidden, weights["second"]), SLOPE)
    return torch.addmm(weights["last_bias"], hidden, weights["last"])


def outputs_of(weights: Weights, lists: Array, device: str) -> Array:
    """The same in numpy, without gradients."""
    with torch.no_grad():
        found: Array = forward(weights, torch.from_numpy(lists).to(device)).cpu().numpy()
        return found
