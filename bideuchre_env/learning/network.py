"""Small networks: one or two hidden layers and a linear skip, evaluated by one set of kernels.

    hidden 1 = leaky(first_bias + inputs @ first)
    hidden 2 = leaky(second_bias + hidden 1 @ second)
    outputs  = last_bias + hidden 2 @ last + inputs @ skip

all in float32, `leaky(x)` being x, or `slope` * x where x is negative. Empty arrays `second` and
`skip` omit their layer. `add_last` sums the products of a network with one output in double
precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bideuchre_env._checks import brief, check_array, check_type, is_integer, to_array, to_list
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.feature_rows import FeatureWorkspace, active_inputs, list_legal
from bideuchre_env.learning.features import Features
from bideuchre_env.learning.weights import MOST_WEIGHT, Shape, Weights
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import Array, entry_kernel, inline_kernel, kernel

SLOPE = np.float32(0.01)
MOST_UNITS = 1 << 16
NO_LAYER, USUAL_SLOPE = np.zeros((0, 0), np.float32), np.array([SLOPE])
NO_LAYER.flags.writeable = USUAL_SLOPE.flags.writeable = False


class Network(NamedTuple):
    """The weights of a network, float32, of F inputs, H and K hidden units and O outputs."""

    first: Array  #: (F, H)
    first_bias: Array  #: (H,)
    second: Array  #: (H, K); `NO_LAYER` for one hidden layer, then `last` is (H, O)
    second_bias: Array  #: (K,)
    last: Array  #: (K, O)
    last_bias: Array  #: (O,)
    skip: Array = NO_LAYER  #: (F, O), or `NO_LAYER`
    slope: Array = USUAL_SLOPE  #: (1,): factor of negative numbers in the hidden layers

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

    return zero_network(inputs, outputs, (one, two), relu=False)._replace(
        first=drawn(inputs, one, np.sqrt(2 / 60)),  # some 60 inputs are 1 at a time
        second=drawn(one, two, np.sqrt(2 / one)),
    )


def zero_network(
    inputs: int, outputs: int, hidden: tuple[int, int], *, relu: bool = True
) -> Network:
    """Return a network of zeros, for the arguments of `shapes_of`."""
    shapes = shapes_of(inputs, outputs, hidden, relu=relu).values()
    return Network(*(np.zeros(shape, np.float32) for shape in shapes))  # type: ignore[type-var]


def shapes_of(
    inputs: int, outputs: int, hidden: Shape = ("H", "K"), *, relu: bool = False
) -> dict[str, Shape]:
    """Return the shapes of a network's arrays in a file, by name; see `check_weights`.

    `hidden` are the widths (H, K); K is 0 for one hidden layer. Only networks of `relu` have `skip`
    and `slope` in a file.
    """
    one, two = hidden
    second, last = ((0, 0), one) if two == 0 else ((one, two), two)
    wide: list[Shape] = [(inputs, one), (one,), second, (two,), (last, outputs), (outputs,)]
    more: list[Shape] = [(inputs, outputs), (1,)] if relu else []
    return dict(zip(Network._fields, wide + more, strict=False))


def network_of(weights: Weights, part: str) -> Network:
    """Return the network of a part, "auction", "cards" or "calls", from weights that have it.

    Its arrays are named `PART.first` etc.; a missing one raises `TypeError`.
    """
    arrays = {name: weights.arrays.get(f"{part}.{name}") for name in Network._fields}
    return Network(**{name: array for name, array in arrays.items() if array is not None})


def arrays_of(network: Network, part: str) -> dict[str, Array]:
    """Return the arrays of a part's network under the names that `network_of` reads.

    An empty `skip` and the usual `slope` are left out.
    """
    usual = Network._field_defaults
    return {
        f"{part}.{name}": array
        for name, array in network._asdict().items()
        if name not in usual or not np.array_equal(array, usual[name])
    }


def checked(network: Network, features: Features) -> Network:
    """Return the network with read-only, contiguous weights; `OptionError` unless it fits.

    It fits if its numbers of inputs and outputs are those of the features, its layers match, and
    its weights are finite float32. Kernels accept only read-only weights, and check no bounds. The
    result may share memory with `network`.
    """
    check_type("features", features, Features, "Features")
    return sealed_network(network, features.size, features.outputs)


def sealed_network(
    network: Network, inputs: int, outputs: int, hidden: tuple[int, int] | None = None
) -> Network:
    """Check a network and make it read-only, like `checked`.

    `inputs`, `outputs` and `hidden` (H, K) are the expected widths; `hidden` None allows any.
    """
    check_type("network", network, Network, "a Network")
    fields = zip(Network._fields, network, strict=True)
    parts = [np.require(to_array(name, part), requirements="C").view() for name, part in fields]
    widths = hidden or (parts[1].shape + parts[3].shape + (0, 0))[:2]
    if widths[0] == 0 and widths[1] > 0:
        raise OptionError("first_bias: expected at least one unit")
    shapes: dict[str, Shape] = {"skip": (0, 0), "slope": (1,)}
    shapes |= shapes_of(inputs, outputs, widths, relu=parts[6].size > 0)
    for name, part in zip(Network._fields, parts, strict=True):
        if part.dtype != np.float32:
            raise OptionError(f"{name}: expected float32 weights, not {part.dtype}")
        if not (np.abs(part) < MOST_WEIGHT).all():
            raise OptionError(f"{name}: expected finite weights below {MOST_WEIGHT:g}")
        if part.shape != shapes[name]:
            raise OptionError(f"{name}: expected a shape of {shapes[name]}, not {part.shape}")
        part.flags.writeable = False
    return Network(*parts)


def leaky(x: Array, slope: Array) -> Array:
    """Leaky ReLU: x, or `slope` * x if x is negative."""
    return np.maximum(x, slope * x)


def forward(network: Network, inputs: Array) -> Array:
    """Return the outputs, float32 (n, O), for dense inputs, float32 (n, F), with numpy.

    The shapes of the network's layers are not checked.
    """
    check_type("network", network, Network, "a Network")
    check_array("inputs", inputs, np.float32, (-1, len(network.first)))
    return layers(network, inputs)[2]


def layers(network: Network, inputs: Array) -> tuple[Array, Array, Array]:
    """Return the activations of both hidden layers (a single one twice), and the outputs."""
    one = leaky(inputs @ network.first + network.first_bias, network.slope)
    second = len(network.second) > 0
    two = leaky(one @ network.second + network.second_bias, network.slope) if second else one
    outputs = two @ network.last + network.last_bias
    return one, two, outputs + inputs @ network.skip if network.skip.size else outputs


class NetworkWorkspace(NamedTuple):
    """A network with the scratch arrays of its kernels, for one decision at a time."""

    features: FeatureWorkspace
    network: Network
    one: Array  # float32 (H,); like the arrays below, rewritten by each decision
    two: Array  # float32 (K,)
    outputs: Array  # float32 (O,)


def network_workspace(network: Network, features: Features) -> NetworkWorkspace:
    """Return a new workspace of a network for one thread; `OptionError` if it does not fit."""
    network = checked(network, features)
    biases = network.first_bias, network.second_bias, network.last_bias
    return NetworkWorkspace(features.workspace(), network, *map(np.zeros_like, biases))


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
            outputs[i, j] = work.outputs[j]
        list_legal(row_of(masks, i), work.features, symmetry, legal, i)
        symmetries[i] = symmetry


@kernel
def add_up(n: int, work: NetworkWorkspace) -> None:
    """Compute `work.outputs` for one decision.

    The first `n` entries of `work.features.active` are the indices of the inputs that are 1.
    """
    copy(work.network.first_bias, work.one)
    copy(work.network.last_bias, work.outputs)
    add_active(work.features.active, n, work.network.first, work.one)
    add_active(work.features.active, n, work.network.skip, work.outputs)
    add_hidden(work.network, work.one, work.two, work.outputs)


@kernel
def add_inputs(
    network: Network, inputs: Array, first: int, stop: int, sums: Array, outputs: Array
) -> None:
    """Add the part of `inputs[first:stop]`, dense, to the sums of the first layer and the outputs.

    Both must start from the biases; `add_hidden` then completes the outputs.
    """
    add_rows(inputs, first, stop, network.first, sums)
    add_last(inputs, first, stop, network.skip, outputs)


@kernel
def add_hidden(network: Network, one: Array, two: Array, outputs: Array) -> None:
    """Add the part of the hidden layers to the outputs; `one` has the sums of the first layer."""
    slope = network.slope[0]
    rectify(one, slope)
    if len(network.second) == 0:
        add_last(one, 0, len(one), network.last, outputs)
        return
    copy(network.second_bias, two)
    add_rows(one, 0, len(one), network.second, two)
    rectify(two, slope)
    add_last(two, 0, len(two), network.last, outputs)


@inline_kernel
def copy(source: Array, target: Array) -> None:
    """Copy `source` to `target`; a slice assignment would allocate a temporary copy."""
    for i in range(len(target)):
        target[i] = source[i]


@inline_kernel
def rectify(sums: Array, slope: float) -> None:
    """Apply the leaky ReLU in place."""
    for i in range(len(sums)):
        sums[i] = max(sums[i], slope * sums[i])


@inline_kernel
def add_last(inputs: Array, first: int, stop: int, weights: Array, outputs: Array) -> None:
    """Add `inputs[first:stop] @ weights[first:stop]` to the outputs; nothing without weights."""
    if len(outputs) > 1:
        add_rows(inputs, first, min(stop, len(weights)), weights, outputs)
    elif len(weights) > 0:
        total = 0.0
        for i in range(first, stop):
            total += inputs[i] * weights[i, 0]
        outputs[0] += total


@inline_kernel
def add_active(active: Array, n: int, weights: Array, sums: Array) -> None:
    """Add `n` rows of `weights` to `sums`, float32; nothing without weights.

    The first `n` entries of `active`, int64 (1, m), are the indices of these rows. Adding four rows
    at a time halves the time.
    """
    width, k = min(len(sums), weights.shape[1]), 0
    while k + 4 <= n:
        a, b, c, d = active[0, k], active[0, k + 1], active[0, k + 2], active[0, k + 3]
        for h in range(width):
            sums[h] += (weights[a, h] + weights[b, h]) + (weights[c, h] + weights[d, h])
        k += 4
    while k < n:
        a = active[0, k]
        for h in range(width):
            sums[h] += weights[a, h]
        k += 1


@inline_kernel
def add_rows(inputs: Array, first: int, stop: int, weights: Array, sums: Array) -> None:
    """Add `inputs[first:stop] @ weights[first:stop]` to `sums`, all float32.

    Inputs are added four at a time, then the rest; four zeros are skipped.
    """
    i, width = first, len(sums)
    while i + 4 <= stop:
        a, b, c, d = inputs[i], inputs[i + 1], inputs[i + 2], inputs[i + 3]
        if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
            for j in range(width):
                sums[j] += (a * weights[i, j] + b * weights[i + 1, j]) + (
                    c * weights[i + 2, j] + d * weights[i + 3, j]
                )
        i += 4
    while i < stop:
        for j in range(width):
            sums[j] += inputs[i] * weights[i, j]
        i += 1
