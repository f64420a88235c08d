"""Fitting a small network with numpy: regression on its outputs, by Adam."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bideuchre_env.errors import DivergedError, OptionError
from bideuchre_env.learning.features import Features
from bideuchre_env.learning.network import SLOPE, Network, forward, leaky
from bideuchre_env.learning.packed_rows import adam_rows, add_first, add_slopes
from bideuchre_env.runtime.jit import Array

BATCH = 512
RATE = 2.5e-3
MOMENTS = np.array([0.9, 0.999], np.float32)  # of Adam: how much of them stays


class Examples(NamedTuple):
    """What outputs should come to; m rows.

    The difference of two outputs, `of` less `against`, should be the target; where `against` is
    -1, the output alone.
    """

    inputs: Array  # uint8 (m, B), packed by `Features.pack`
    of: Array  # int64 (m,)
    against: Array  # int64 (m,)
    targets: Array  # float32 (m,)


def joined(parts: list[Examples]) -> Examples:
    """All these examples as one."""
    return Examples(*map(np.concatenate, zip(*parts, strict=True)))


def fit(
    network: Network,
    features: Features,
    examples: Examples,
    rng: np.random.Generator,
    *,
    epochs: int = 1,
    batch: int = BATCH,
    rate: float = RATE,
    report: Callable[[float], None] = lambda done: None,
) -> Network:
    """The network after so many passes over the examples, in random order; squared errors.

    The step of Adam falls from `rate` to 0 along a cosine. The same generator gives the same
    weights on one machine with one thread. `report` is told the share done. Raises `OptionError`
    for what does not fit, `DivergedError` where weights are no longer finite.
    """
    checked_examples(examples, features)
    weights = [part.copy() for part in network]
    first, second = ([np.zeros_like(part) for part in weights] for _ in range(2))
    n = len(examples.targets)
    batches = -(-n // batch)
    steps, step = epochs * batches, 0
    for _ in range(epochs):
        order = rng.permutation(n)
        for rows in np.array_split(order, batches):
            slopes = gradients(Network(*weights), Examples(*(e[rows] for e in examples)))
            step += 1
            size = rate * 0.5 * (1 + np.cos(np.pi * step / steps)) / (1 - float(MOMENTS[0]) ** step)
            scale = 1 - float(MOMENTS[1]) ** step
            for part, slope, m, v in zip(weights, slopes, first, second, strict=True):
                a, b, c, d = (each.reshape(-1) for each in (part, slope, m, v))
                adam_rows(a, b, c, d, MOMENTS, size, scale)
            if step % 64 == 0:
                report(step / steps)
    if not all(np.isfinite(part).all() for part in weights):
        raise DivergedError("the weights of the network are not finite any more: a lower rate?")
    return Network(*weights)


def gradients(network: Network, examples: Examples) -> Network:
    """The slope of half the mean squared error in every weight."""
    rows = np.arange(len(examples.targets))
    one = np.empty((len(rows), len(network.first_bias)), np.float32)
    active = np.empty(8 * examples.inputs.shape[1], np.int64)
    add_first(examples.inputs, network.first, network.first_bias, one, active)
    two = leaky(one @ network.second + network.second_bias)
    outputs = two @ network.last + network.last_bias
    both = examples.against >= 0
    error = outputs[rows, examples.of] - examples.targets
    error -= np.where(both, outputs[rows, examples.against], np.float32(0))
    error /= np.float32(len(rows))
    slopes = np.zeros_like(outputs)
    slopes[rows, examples.of] = error
    slopes[rows[both], examples.against[both]] -= error[both]
    slopes_two = (slopes @ network.last.T) * np.where(two > 0, np.float32(1), SLOPE)
    slopes_one = slopes_two @ network.second.T
    first = np.zeros_like(network.first)
    add_slopes(examples.inputs, one, slopes_one, first, active)
    return Network(
        first,
        slopes_one.sum(axis=0),
        one.T @ slopes_two,
        slopes_two.sum(axis=0),
        two.T @ slopes,
        slopes.sum(axis=0),
    )


def errors_of(network: Network, features: Features, examples: Examples) -> Array:
    """How far the outputs are above the targets, float32 (m,)."""
    found = np.empty(len(examples.targets), np.float32)
    for start in range(0, len(found), BATCH):
        part = Examples(*(each[start : start + BATCH] for each in examples))
        outputs, rows = forward(network, features.unpack(part.inputs)), np.arange(len(part.of))
        less = np.where(part.against >= 0, outputs[rows, part.against], np.float32(0))
        found[start : start + BATCH] = outputs[rows, part.of] - less - part.targets
    return found


def checked_examples(examples: Examples, features: Features) -> None:
    """Raise `OptionError` unless the examples are of these features."""
    n = len(examples.targets)
    wide = (n, (features.size + 7) // 8)
    if n == 0 or examples.inputs.shape != wide or examples.inputs.dtype != np.uint8:
        raise OptionError(
            f"inputs: packed ones, uint8 {wide}, at least one, are expected, not "
            f"{examples.inputs.dtype} {examples.inputs.shape}"
        )
    for name, least in (("of", 0), ("against", -1)):
        column = getattr(examples, name)
        sound = column.shape == (n,) and column.dtype.kind in "iu"
        if not sound or not least <= column.min() <= column.max() < features.outputs:
            raise OptionError(f"{name}: outputs from {least} to {features.outputs - 1}, ({n},)")
    if not np.isfinite(examples.targets).all():
        raise OptionError("targets: some are not finite")
