"""Fitting a small network (`network`) with numpy, by Adam: regression on its outputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bideuchre_env._checks import brief, check_array, check_type, is_integer, is_number, to_list
from bideuchre_env.errors import DivergedError, OptionError
from bideuchre_env.learning.features import Features
from bideuchre_env.learning.network import Network, checked, layers
from bideuchre_env.runtime.jit import Array

BATCH = 512
MOST_STEPS = 10**9
LEARNING_RATE = 2.5e-3
BETAS = np.array([0.9, 0.999], np.float32)  # of Adam


class Examples(NamedTuple):
    """Training examples; m rows.

    `of` and `against` are indices of outputs (`Features.outputs_of` converts actions to them). The
    target is for output `of` minus output `against`, or for output `of` alone if `against` is -1.
    """

    inputs: Array  #: uint8 (m, B), packed by `Features.pack`
    of: Array  #: integers (m,) of any width, like `against`
    against: Array  #: integers (m,)
    targets: Array  #: float32 (m,)


def concatenate(parts: list[Examples]) -> Examples:
    """Concatenate one or more `Examples` into one.

    Raises `OptionError` for an empty list, and for inputs of different widths.
    """
    parts = to_list("parts", parts, "one or more Examples")
    if not parts or not all(isinstance(part, Examples) for part in parts):
        raise OptionError(f"parts={brief(parts)}: expected one or more Examples")
    try:
        return Examples(*map(np.concatenate, zip(*parts, strict=True)))
    except ValueError as error:
        raise OptionError(f"parts: expected Examples of the same features ({error})") from None


def fit(
    network: Network,
    features: Features,
    examples: Examples,
    rng: np.random.Generator,
    *,
    epochs: int = 1,
    batch: int = BATCH,
    learning_rate: float = LEARNING_RATE,
    report: Callable[[float], None] = lambda done: None,
) -> Network:
    """Return a new network, trained on the examples with Adam and the squared error.

    Args:
        network: the initial weights, which are not changed.
        features: the features of the examples.
        examples: see `Examples`.
        rng: decides the order of the examples. On one machine with one thread, the same generator
            yields the same weights.
        epochs: passes over the examples.
        batch: maximum number of examples in a minibatch.
        learning_rate: of the first step; it falls to 0 along a cosine.
        report: called with the completed fraction, 0 to 1, after every 64 minibatches.

    Raises:
        OptionError: if an argument is invalid, or if the arguments do not fit each other.
        DivergedError: if weights are not finite after training.
    """
    network = checked(network, features)
    check_examples(examples, features)
    check_steps(epochs, batch, learning_rate)
    check_type("rng", rng, np.random.Generator, "a numpy.random.Generator")
    if not callable(report):
        raise OptionError(f"report={brief(report)}: expected a function")
    return descend(
        network,
        len(examples.targets),
        lambda rows: features.unpack(examples.inputs[rows]),
        lambda outputs, rows: errors(outputs, Examples(*(each[rows] for each in examples))),
        rng,
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        report=report,
    )


def descend(
    network: Network,
    n: int,
    inputs: Callable[[Array], Array],
    slopes: Callable[..., Array],
    rng: np.random.Generator,
    *,
    epochs: int,
    batch: int,
    learning_rate: float,
    report: Callable[[float], None] = lambda done: None,
) -> Network:
    """Return a new network, trained on n examples; see `fit` for the other arguments.

    `inputs(rows)` returns the inputs of the examples with these indices, float32 (m, F), and
    `slopes(outputs, rows)` the gradient of their loss with respect to their outputs, (m, O).
    """
    weights = Network(*(part.copy() for part in network))
    moments = [[np.zeros_like(part) for part in weights] for _ in range(2)]
    batches, rest = -(-n // batch), 1 - BETAS
    steps, step = epochs * batches, 0
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(n), batches):
            slope = gradients(weights, inputs(rows), partial(slopes, rows=rows))
            step += 1
            size = learning_rate * 0.5 * (1 + np.cos(np.pi * step / steps))
            size = np.float32(size / (1 - float(BETAS[0]) ** step))
            correction = np.float32(1 - float(BETAS[1]) ** step)
            for part, gradient, m, v in zip(weights, slope, *moments, strict=True):
                m *= BETAS[0]
                m += rest[0] * gradient
                v *= BETAS[1]
                v += rest[1] * gradient * gradient
                part -= size * m / (np.sqrt(v / correction) + np.float32(1e-8))
            if step % 64 == 0:
                report(step / steps)
    if not all(np.isfinite(part).all() for part in weights):
        raise DivergedError(
            "training has diverged, the weights are not finite: try a lower learning_rate"
        )
    return weights


def errors(outputs: Array, examples: Examples) -> Array:
    """Return the gradient of half the mean squared error with respect to the outputs."""
    rows, both = np.arange(len(outputs)), examples.against >= 0
    error = outputs[rows, examples.of] - examples.targets
    error -= np.where(both, outputs[rows, examples.against], np.float32(0))
    error /= np.float32(len(rows))
    of_outputs = np.zeros_like(outputs)
    of_outputs[rows, examples.of] = error
    of_outputs[rows[both], examples.against[both]] -= error[both]
    return of_outputs


def gradients(network: Network, inputs: Array, slopes: Callable[[Array], Array]) -> Network:
    """Return the gradient of a loss with respect to all weights, as a `Network`, for inputs (n, F).

    `slope` is not trained: its gradient is 0. `slopes(outputs)` returns the gradient of the loss
    with respect to the outputs, (n, O).
    """
    one, two, outputs = layers(network, inputs)
    of_outputs = slopes(outputs)
    of_one = (of_outputs @ network.last.T) * np.where(two > 0, np.float32(1), network.slope)
    second, second_bias = network.second, network.second_bias  # empty, or overwritten
    if len(second):
        second, second_bias = one.T @ of_one, of_one.sum(axis=0)
        of_one = (of_one @ network.second.T) * np.where(one > 0, np.float32(1), network.slope)
    skip = inputs.T @ of_outputs if network.skip.size else network.skip
    first, bias = inputs.T @ of_one, of_one.sum(axis=0)
    last, last_bias = two.T @ of_outputs, of_outputs.sum(axis=0)
    no_slope = np.zeros_like(network.slope)
    return Network(first, bias, second, second_bias, last, last_bias, skip, no_slope)


def check_examples(examples: Examples, features: Features) -> None:
    """Raise `OptionError` unless there are valid examples for these features, at least one.

    Dtypes and shapes, the range of the indices of outputs, and finite targets are checked.
    """
    check_type("examples", examples, Examples, "Examples")
    targets = examples.targets
    check_array("targets", targets, np.float32, (-1,), any_order=True)
    n, width = len(targets), (features.size + 7) // 8
    check_array("inputs", examples.inputs, np.uint8, (n, width), any_order=True)
    if n == 0:
        raise OptionError("targets: expected at least one example")
    if (examples.inputs[:, -1] & ((1 << (-features.size % 8)) - 1)).any():
        raise OptionError(f"inputs: expected no bits beyond the {features.size} inputs")
    for name, least in (("of", 0), ("against", -1)):
        column = getattr(examples, name)
        sound = (
            isinstance(column, np.ndarray) and column.shape == (n,) and column.dtype.kind in "iu"
        )
        if not sound or not least <= column.min() <= column.max() < features.outputs:
            most = features.outputs - 1
            raise OptionError(f"{name}: expected outputs from {least} to {most}, ({n},)")
    if not np.isfinite(targets).all():
        raise OptionError("targets: expected finite numbers")


def check_steps(epochs: Any, batch: Any, learning_rate: Any) -> None:
    """Raise `OptionError` unless the learning rate is above 0 and the others are at least 1.

    `epochs` and `batch` must be whole numbers up to `MOST_STEPS`, the learning rate finite.
    """
    for name, number in (("epochs", epochs), ("batch", batch)):
        if not is_integer(number) or not 1 <= number <= MOST_STEPS:
            raise OptionError(
                f"{name}={brief(number)}: expected a whole number from 1 to {MOST_STEPS}"
            )
    if not is_number(learning_rate) or learning_rate <= 0:
        raise OptionError(f"learning_rate={brief(learning_rate)}: expected a number above 0")
