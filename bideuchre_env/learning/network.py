"""A small network on 0/1 inputs: two hidden layers, played by kernels and fitted with numpy.

    hidden 1 = leaky(first_bias + inputs @ first)
    hidden 2 = leaky(second_bias + hidden 1 @ second)
    outputs  = last_bias + hidden 2 @ last

all in float32, `leaky(x)` being x, or x / 100 where x is negative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env.errors import OptionError
from bideuchre_env.learning.feature_rows import FeatureWorkspace, active_inputs, list_legal
from bideuchre_env.learning.features import Features
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel

SLOPE = np.float32(0.01)
ZERO = np.float32(0.0)


class Network(NamedTuple):
    """The weights of a network, float32, of F inputs, H and K hidden units and O outputs."""

    first: Array  # (F, H)
    first_bias: Array  # (H,)
    second: Array  # (H, K)
    second_bias: Array  # (K,)
    last: Array  # (K, O)
    last_bias: Array  # (O,)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Inputs, hidden units of either layer, outputs."""
        return (*self.first.shape, *self.last.shape)


def new_network(
    inputs: int, hidden: tuple[int, int], outputs: int, rng: np.random.Generator
) -> Network:
    """A network to start from: its outputs are all 0."""
    one, two = hidden

    def drawn(n: int, m: int, spread: float) -> Array:
        return rng.normal(0.0, spread, (n, m)).astype(np.float32)

    return Network(
        drawn(inputs, one, np.sqrt(2 / 60)),  # some 60 inputs are 1 at a time
        np.zeros(one, np.float32),
        drawn(one, two, np.sqrt(2 / one)),
        np.zeros(two, np.float32),
        np.zeros((two, outputs), np.float32),
        np.zeros(outputs, np.float32),
    )


def checked(network: Network, features: Features) -> Network:
    """The network, read-only and contiguous, if it fits the features; else `OptionError`.

    Kernels are compiled for read-only weights, and for no others; they check no bounds.
    """
    parts = [np.ascontiguousarray(part) for part in network]
    for name, part in zip(Network._fields, parts, strict=True):
        if part.dtype != np.float32:
            raise OptionError(f"{name}: float32 weights are expected, not {part.dtype}")
        if not np.isfinite(part).all():
            raise OptionError(f"{name}: weights that are not finite")
    one, two = (parts[1].shape + parts[3].shape + (0, 0))[:2]
    wide = (features.size, one), (one,), (one, two), (two,), (two, features.outputs)
    shapes = (*wide, (features.outputs,))
    for name, part, shape in zip(Network._fields, parts, shapes, strict=True):
        if part.shape != shape:
            raise OptionError(f"{name}: a shape of {shape} is expected, not {part.shape}")
    views = [part.view() for part in parts]
    for view in views:
        view.flags.writeable = False
    return Network(*views)


def leaky(x: Array) -> Array:
    """x, or x / 100 where it is negative."""
    return np.maximum(x, SLOPE * x)


def forward(network: Network, inputs: Array) -> Array:
    """The outputs, float32 (n, O), for inputs, float32 (n, F)."""
    one = leaky(inputs @ network.first + network.first_bias)
    two = leaky(one @ network.second + network.second_bias)
    outputs: Array = two @ network.last + network.last_bias
    return outputs


class Straightened(NamedTuple):
    """The weights of a network in which every unit passes `SLOPE` of itself straight on.

    `leaky(x)` is `SLOPE * x` and, where x is positive, the rest of x. The first of these is a sum
    over the inputs that are 1, through however many layers. It is added up with hidden 1, which
    leaves the rest of the few units that are positive: one in nine of those that play cards.
    Arrays are float32 and read-only; of the units in one row outputs come first, then hidden 2,
    then hidden 1.
    """

    inputs: Array  # (F, O + K + H)
    bias: Array  # (1, O + K + H)
    one: Array  # (H, O + K): from hidden 1, where that is positive
    two: Array  # (K, O): from hidden 2


def straightened(network: Network) -> Straightened:
    """The same network, so written."""
    # in float64, so that what is left of it in float32 is the same on all machines
    first, first_bias, second, second_bias, last, last_bias = (
        part.astype(np.float64) for part in network
    )
    slope, rest = float(SLOPE), 1.0 - float(SLOPE)
    inputs_two = slope * first @ second
    bias_two = second_bias + slope * first_bias @ second
    parts = (
        np.hstack([slope * inputs_two @ last, inputs_two, first]),
        np.hstack([last_bias + slope * bias_two @ last, bias_two, first_bias])[None],
        rest * np.hstack([slope * second @ last, second]),
        rest * last,
    )
    with np.errstate(over="ignore"):
        weights = Straightened(*(part.astype(np.float32) for part in parts))
    if not all(np.isfinite(part).all() for part in weights):
        raise OptionError("weights whose products no float32 holds")
    for part in weights:
        part.flags.writeable = False
    return weights


class NetworkWorkspace(NamedTuple):
    """A network and what it needs to be played by kernels; arrays of one row."""

    features: FeatureWorkspace
    weights: Straightened
    units: Array  # float32 (1, O + K + H): outputs first; rewritten by each decision
    positive: Array  # int64 (1, max(H, K) + 1): which units are, so rewritten


def network_workspace(network: Network, features: Features) -> NetworkWorkspace:
    """Room for one thread to play a network in; `OptionError` if it does not fit."""
    weights = straightened(checked(network, features))
    units, most = weights.bias.shape[1], max(len(weights.one), len(weights.two))
    room = np.zeros((1, units), np.float32), np.zeros((1, most + 1), np.int64)
    return NetworkWorkspace(features.workspace(), weights, *room)


def another(work: NetworkWorkspace, features: Features) -> NetworkWorkspace:
    """Room for another thread to play the same network in."""
    scratch = (np.zeros_like(each) for each in work[2:])
    return NetworkWorkspace(features.workspace(), work.weights, *scratch)


def evaluate(
    network: Network, features: Features, observations: Array, masks: Array
) -> tuple[Array, Array, Array]:
    """Outputs, float32 (n, O), which are legal, int8 (n, O), and symmetries, int64 (n,).

    `observations` int8 (n, D) and `masks` int8 (n, A), of decisions of the features' part.
    """
    n = features.check_rows(observations, masks)
    outputs = np.empty((n, features.outputs), np.float32)
    legal, symmetries = np.zeros((n, features.outputs), np.int8), np.zeros(n, np.int64)
    work = network_workspace(network, features)
    evaluate_rows(observations, masks, work, outputs, legal, symmetries)
    return outputs, legal, symmetries


@entry_kernel
def evaluate_rows(
    observations: Array,
    masks: Array,
    work: NetworkWorkspace,
    outputs: Array,
    legal: Array,
    symmetries: Array,
) -> None:
    """Rewrite `outputs` float32 (n, O), `legal` int8 (n, O) and `symmetries` int64 (n,)."""
    feature = work.features
    t, p = feature.tables[0], feature.places[0]
    for i in range(len(observations)):
        n, symmetry = active_inputs(row_of(observations, i), True, feature)
        add_up(n, work)
        for j in range(outputs.shape[1]):
            outputs[i, j] = work.units[0, j]
        list_legal(row_of(masks, i), t, p.cards, symmetry, legal, i)
        symmetries[i] = symmetry


@kernel
def add_up(n: int, work: NetworkWorkspace) -> None:
    """Fill `work.units`, whose first are the outputs, from the first `n` active inputs.

    Four rows of weights are added at a time, which halves the time.
    """
    active, units = work.features.active, work.units
    inputs, bias, one, two = work.weights
    width, i = units.shape[1], 0
    for j in range(width):
        units[0, j] = bias[0, j]
    while i + 4 <= n:
        a, b, c, d = active[0, i], active[0, i + 1], active[0, i + 2], active[0, i + 3]
        for j in range(width):
            units[0, j] += (inputs[a, j] + inputs[b, j]) + (inputs[c, j] + inputs[d, j])
        i += 4
    while i < n:
        a = active[0, i]
        for j in range(width):
            units[0, j] += inputs[a, j]
        i += 1
    add_positive(units, one, work.positive)
    add_positive(units, two, work.positive)


@inline_kernel
def add_positive(units: Array, weights: Array, positive: Array) -> None:
    """Add what positive units of a layer bring the units before it: `weights` (units, before)."""
    before, n, i = weights.shape[1], 0, 0
    for h in range(len(weights)):
        positive[0, n] = h
        n += 1 if units[0, before + h] > ZERO else 0
    while i + 4 <= n:
        a, b, c, d = positive[0, i], positive[0, i + 1], positive[0, i + 2], positive[0, i + 3]
        w, x, y, z = (
            units[0, before + a],
            units[0, before + b],
            units[0, before + c],
            units[0, before + d],
        )
        for j in range(before):
            units[0, j] += (w * weights[a, j] + x * weights[b, j]) + (
                y * weights[c, j] + z * weights[d, j]
            )
        i += 4
    while i < n:
        a = positive[0, i]
        x = units[0, before + a]
        for j in range(before):
            units[0, j] += x * weights[a, j]
        i += 1
