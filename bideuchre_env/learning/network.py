"""A small network on 0/1 inputs: two hidden layers, evaluated by kernels and fitted with numpy.

    hidden 1 = leaky(first_bias + inputs @ first)
    hidden 2 = leaky(second_bias + hidden 1 @ second)
    outputs  = last_bias + hidden 2 @ last

all in float32, `leaky(x)` being x, or x / 100 where x is negative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env._checks import brief, check_array, check_type, is_integer, to_array, to_list
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.feature_rows import FeatureWorkspace, active_inputs, list_legal
from bideuchre_env.learning.features import Features
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel

SLOPE = np.float32(0.01)
ZERO = np.float32(0.0)
MOST_UNITS = 1 << 16


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
        """The numbers (F, H, K, O) of inputs, of hidden units in both layers, and of outputs."""
        return (*self.first.shape, *self.last.shape)


def new_network(
    inputs: int, hidden: tuple[int, int], outputs: int, rng: np.random.Generator
) -> Network:
    """Return an untrained network: two random hidden layers of these widths, outputs all 0.

    `inputs` and `outputs` are their numbers: `size` and `outputs` of `Features`. Raises
    `OptionError` unless the numbers are from 1 to `MOST_UNITS`.
    """
    widths = [inputs, *to_list("hidden", hidden, "two widths"), outputs]
    if len(widths) != 4 or not all(is_integer(n) and 1 <= n <= MOST_UNITS for n in widths):
        raise OptionError(
            f"inputs={brief(inputs)}, hidden={brief(hidden)}, outputs={brief(outputs)}: expected "
            f"four whole numbers from 1 to {MOST_UNITS}"
        )
    check_type("rng", rng, np.random.Generator, "a numpy.random.Generator")
    inputs, one, two, outputs = map(int, widths)

    def drawn(n: int, m: int, spread: float) -> Array:
        """Return normal random weights, float32 (n, m), with this standard deviation."""
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
    """Return the network with read-only, contiguous weights; `OptionError` unless it fits.

    It fits if its numbers of inputs and outputs are those of the features, its layers match, and
    its weights are finite float32. Kernels accept only read-only weights, and check no bounds. The
    result may share memory with `network`.
    """
    check_type("network", network, Network, "a Network")
    check_type("features", features, Features, "Features")
    fields = zip(Network._fields, network, strict=True)
    parts = [np.require(to_array(name, part), requirements="C") for name, part in fields]
    for name, part in zip(Network._fields, parts, strict=True):
        if part.dtype != np.float32:
            raise OptionError(f"{name}: expected float32 weights, not {part.dtype}")
        if not np.isfinite(part).all():
            raise OptionError(f"{name}: expected finite weights")
    one, two = (parts[1].shape + parts[3].shape + (0, 0))[:2]
    wide = (features.size, one), (one,), (one, two), (two,), (two, features.outputs)
    shapes = (*wide, (features.outputs,))
    for name, part, shape in zip(Network._fields, parts, shapes, strict=True):
        if part.shape != shape:
            raise OptionError(f"{name}: expected a shape of {shape}, not {part.shape}")
    views = [part.view() for part in parts]
    for view in views:
        view.flags.writeable = False
    return Network(*views)


def leaky(x: Array) -> Array:
    """Leaky ReLU: x, or x / 100 if x is negative."""
    return np.maximum(x, SLOPE * x)


def forward(network: Network, inputs: Array) -> Array:
    """Return the outputs, float32 (n, O), for dense inputs, float32 (n, F), with numpy.

    The shapes of the network's layers are not checked.
    """
    check_type("network", network, Network, "a Network")
    check_array("inputs", inputs, np.float32, (-1, len(network.first)))
    one = leaky(inputs @ network.first + network.first_bias)
    two = leaky(one @ network.second + network.second_bias)
    outputs: Array = two @ network.last + network.last_bias
    return outputs


class NetworkWorkspace(NamedTuple):
    """A network with the scratch arrays of its kernels, for one decision at a time."""

    features: FeatureWorkspace
    network: Network
    one: Array  # float32 (1, H); like the arrays below, rewritten by each decision
    two: Array  # float32 (1, K)
    outputs: Array  # float32 (1, O)


def network_workspace(network: Network, features: Features) -> NetworkWorkspace:
    """Return a new workspace of a network for one thread; `OptionError` if it does not fit."""
    fitting = checked(network, features)
    widths = fitting.shape[1:]
    one, two, outputs = (np.zeros((1, width), np.float32) for width in widths)
    return NetworkWorkspace(features.workspace(), fitting, one, two, outputs)


def another(work: NetworkWorkspace, features: Features) -> NetworkWorkspace:
    """Return a workspace of the same network, with new scratch arrays, for another thread.

    `features` must be those for which `work` was made.
    """
    scratch = (np.zeros_like(each) for each in work[2:])
    return NetworkWorkspace(features.workspace(), work.network, *scratch)


def evaluate(
    network: Network, features: Features, observations: Array, masks: Array
) -> tuple[Array, Array, Array]:
    """Return outputs, float32 (n, O), their legality, int8 (n, O), and symmetries, int64 (n,).

    Legality is 1 for a legal output, else 0; illegal outputs have a value, too. `observations`
    int8 (n, D) and `masks` int8 (n, A) must be of decisions of the features' part, which is not
    checked. Outputs are in the order of the renamed suits: `features.actions(indices, symmetries)`
    converts the chosen index in each row to an action.
    """
    check_type("features", features, Features, "Features")
    n = features.check_rows(observations, masks)
    outputs = np.empty((n, features.outputs), np.float32)
    out = outputs, np.zeros((n, features.outputs), np.int8), np.zeros(n, np.int64)
    evaluate_rows(observations, masks, network_workspace(network, features), out)
    return out


@entry_kernel
def evaluate_rows(
    observations: Array, masks: Array, work: NetworkWorkspace, out: tuple[Array, Array, Array]
) -> None:
    """Write the results of `evaluate` to the arrays `out`; nothing is checked."""
    outputs, legal, symmetries = out
    for i in range(len(observations)):
        n, symmetry = active_inputs(row_of(observations, i), True, work.features)
        add_up(n, work)
        for j in range(outputs.shape[1]):
            outputs[i, j] = work.outputs[0, j]
        list_legal(row_of(masks, i), work.features, symmetry, legal, i)
        symmetries[i] = symmetry


@kernel
def add_up(n: int, work: NetworkWorkspace) -> None:
    """Compute `work.outputs` for one decision.

    The first `n` entries of `work.features.active` are the indices of the inputs that are 1.
    """
    net, one, two = work.network, work.one, work.two
    add_first_layer(work.features.active, n, net.first, net.first_bias, one, 0)
    add_layer(one, net.second, net.second_bias, two)
    for k in range(two.shape[1]):
        two[0, k] = max(two[0, k], SLOPE * two[0, k])
    add_layer(two, net.last, net.last_bias, work.outputs)


@inline_kernel
def add_first_layer(active: Array, n: int, first: Array, bias: Array, out: Array, i: int) -> None:
    """Set row i of `out` to the leaky ReLU of `bias` plus the sum of `n` rows of `first`.

    The first `n` entries of `active`, int64 (1, m), are the indices of these rows. Adding four rows
    at a time halves the time.
    """
    width, k = out.shape[1], 0
    for h in range(width):
        out[i, h] = bias[h]
    while k + 4 <= n:
        a, b, c, d = active[0, k], active[0, k + 1], active[0, k + 2], active[0, k + 3]
        for h in range(width):
            out[i, h] += (first[a, h] + first[b, h]) + (first[c, h] + first[d, h])
        k += 4
    while k < n:
        a = active[0, k]
        for h in range(width):
            out[i, h] += first[a, h]
        k += 1
    for h in range(width):
        out[i, h] = max(out[i, h], SLOPE * out[i, h])


@inline_kernel
def add_layer(x: Array, weights: Array, bias: Array, out: Array) -> None:
    """Set `out` (1, m) to `bias + x @ weights`, all float32, `x` (1, n)."""
    n, m, i = x.shape[1], out.shape[1], 0
    for j in range(m):
        out[0, j] = bias[j]
    while i + 4 <= n:
        a, b, c, d = x[0, i], x[0, i + 1], x[0, i + 2], x[0, i + 3]
        for j in range(m):
            out[0, j] += (a * weights[i, j] + b * weights[i + 1, j]) + (
                c * weights[i + 2, j] + d * weights[i + 3, j]
            )
        i += 4
    while i < n:
        for j in range(m):
            out[0, j] += x[0, i] * weights[i, j]
        i += 1
