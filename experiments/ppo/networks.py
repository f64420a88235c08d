"""The networks in torch: two hidden layers, and the critic's value as the last output.

Inputs are sparse: about 50 of some 400 are 1, the others 0. A position is therefore a list of its
active inputs, int16 (WIDTH,): their number, then their indices. Summing the listed rows of the
first matrix takes a fifth of the time of a dense product.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag, leaky_relu

from bideuchre_env.agents.learned.ppo import KIND
from bideuchre_env.learning import weights as files
from bideuchre_env.learning.features import PARTS, VERSION
from bideuchre_env.learning.network import SLOPE, Network, arrays_of
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, config, entry_kernel

WIDTH = 128  # length of a list; the largest deck needs about 110
LAYERS = ("first", "second", "last")
NEVER = -1e9  # logit of an output that must not be sampled
CRITIC = "critic"
"""Key of the optional separate critic for card play, which sees all hands."""

Weights = dict[str, Tensor]
"""Matrices (inputs, outputs) under the names in `LAYERS`, biases (outputs,) under those names with
`_bias`; float32. A critic's weights for hidden cards are under `more`."""
Networks = dict[str, Weights]
"""The weights of each part, and of the critic if there is one."""


def new_weights(
    sizes: tuple[int, int, int, int], rng: np.random.Generator, more: int = 0
) -> Weights:
    """Draw initial weights of a network whose outputs are close to 0.

    `sizes` are the numbers of inputs, of units in both hidden layers, and of outputs.
    `more` is the number of additional inputs, for cards that the player does not see.
    """
    weights: Weights = {}
    for layer, name in enumerate(LAYERS):
        fan_in, fan_out = sizes[layer], sizes[layer + 1]
        # about one in eight inputs is 1; small weights in the last layer
        deviation = {"first": (16 / fan_in) ** 0.5, "second": (2 / fan_in) ** 0.5, "last": 0.001}
        drawn = rng.normal(0.0, deviation[name], (fan_in, fan_out)).astype(np.float32)
        weights[name] = torch.from_numpy(drawn)
        weights[name + "_bias"] = torch.zeros(fan_out)
    if more:
        drawn = rng.normal(0.0, (16 / more) ** 0.5, (more, sizes[1])).astype(np.float32)
        weights["more"] = torch.from_numpy(drawn)
    return weights


def forward(weights: Weights, lists: Tensor, more: Tensor | None = None) -> Tensor:
    """Return the outputs (n, O + 1) for lists of inputs, int16 (n, WIDTH); the last is the value.

    `more` has the lists of the additional inputs, for a critic that sees all hands.
    """
    hidden = first_layer(lists, weights["first"], weights["first_bias"])
    if more is not None:
        hidden = hidden + first_layer(more, weights["more"], torch.zeros_like(hidden[0]))
    hidden = leaky_relu(hidden, float(SLOPE))
    hidden = leaky_relu(
        torch.addmm(weights["second_bias"], hidden, weights["second"]), float(SLOPE)
    )
    return torch.addmm(weights["last_bias"], hidden, weights["last"])


def first_layer(lists: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
    """Return the sums (n, H) of bias (H,) and the rows of matrix (F, H) in each list (n, WIDTH)."""
    if lists.device.type == "cpu":
        return SumOfRows.apply(lists, matrix, bias)
    return gathered_rows(lists, matrix, bias)


def gathered_rows(lists: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
    """Return `first_layer` by torch operations, on any device, with gradients."""
    counts = lists[:, 0].long()
    active = torch.arange(lists.shape[1] - 1, device=lists.device) < counts[:, None]
    rows, starts = lists[:, 1:][active].long(), counts.cumsum(0) - counts
    return bias + embedding_bag(rows, matrix, starts, mode="sum")


class SumOfRows(torch.autograd.Function):
    """`add_rows` with its gradient, on the CPU."""

    @staticmethod
    def forward(ctx: Any, lists: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
        """The sums (n, H)."""
        ctx.save_for_backward(lists, matrix)
        sums = torch.empty(len(lists), len(bias))
        add_rows(lists.numpy(), matrix.detach().numpy(), bias.detach().numpy(), sums.numpy())
        return sums

    @staticmethod
    def backward(ctx: Any, gradients: Tensor) -> Any:
        """The gradients of matrix and bias, and None for the lists, in the order of `forward`."""
        lists, matrix = ctx.saved_tensors
        of_matrix = torch.zeros_like(matrix)
        add_to_rows(lists.numpy(), gradients.contiguous().numpy(), of_matrix.numpy())
        return None, of_matrix, gradients.sum(0)


@entry_kernel
def add_rows(lists: Array, matrix: Array, bias: Array, sums: Array) -> None:
    """Write bias (H,) + the listed rows of matrix (F, H) to `sums` (n, H); float32."""
    for i in range(len(lists)):
        for k in range(len(bias)):
            sums[i, k] = bias[k]
        for j in range(1, lists[i, 0] + 1):
            row = lists[i, j]
            for k in range(len(bias)):
                sums[i, k] += matrix[row, k]


@entry_kernel
def add_to_rows(lists: Array, gradients: Array, matrix: Array) -> None:
    """Add gradients[i] (H,) to every row of matrix (F, H) that list i has; float32."""
    for i in range(len(lists)):
        for j in range(1, lists[i, 0] + 1):
            row = lists[i, j]
            for k in range(matrix.shape[1]):
                matrix[row, k] += gradients[i, k]


def torch_device(device: str) -> str:
    """Return torch's name for a device of the package: the CPU if numba simulates CUDA."""
    return "cpu" if config.ENABLE_CUDASIM else device


def made_for(rules: Rules) -> dict[str, str]:
    """Return the metadata that weights of agent `ppo` for a game must have."""
    return files.made_for(KIND, rules, VERSION)


def agent_weights(
    rules: Rules, networks: Mapping[str, Weights], metadata: Mapping[str, str]
) -> files.Weights:
    """Return the networks in the format of agent `ppo`, without the critic's output.

    `made_for` is added to `metadata`.
    """
    arrays: dict[str, Any] = {}
    for part in PARTS:
        network = {name: w.detach().cpu().numpy() for name, w in networks[part].items()}
        network["last"], network["last_bias"] = network["last"][:, :-1], network["last_bias"][:-1]
        whole = {name: np.array(array, order="C") for name, array in network.items()}
        arrays |= arrays_of(Network(**whole), part)
    return files.Weights(arrays, {**metadata, **made_for(rules)})
