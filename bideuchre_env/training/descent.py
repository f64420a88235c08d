"""Gradient descent on pairs of calls, in numpy: networks with one or two hidden layers."""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.expert.call_network import SCALE
from bideuchre_env.errors import DivergedError
from bideuchre_env.runtime.jit import Array

PAIRS = 1024  # per minibatch
WORSE = 2.0  # limit on the squared error after training, in multiples of that before


def forward(p: dict[str, Array], x: Array) -> tuple[Array, Array, Array]:
    """Return outputs (n,) for inputs `x` (n, F), and both hidden layers (a single one twice)."""
    one = np.maximum(x @ p["first"] + p["first_base"], 0)
    two = np.maximum(one @ p["second"] + p["second_base"], 0) if "second" in p else one
    return two @ p["last"] + x @ p["straight"] + p["base"], one, two


def gradients(p: dict[str, Array], x: Array, one: Array, two: Array, g: Array) -> dict[str, Array]:
    """Return the gradients of all weights from `g` (n,), that of the outputs of `forward`."""
    slopes = {"last": two.T @ g, "straight": x.T @ g, "base": g.sum()}
    g_one = g[:, None] * p["last"] * (two > 0)
    if "second" in p:
        slopes |= {"second": one.T @ g_one, "second_base": g_one.sum(axis=0)}
        g_one = (g_one @ p["second"].T) * (one > 0)
    return slopes | {"first": x.T @ g_one, "first_base": g_one.sum(axis=0)}


def descend(
    p: dict[str, Array],
    x: Array,
    y: Array,
    alike: float,
    rng: np.random.Generator,
    epochs: int,
    rate: float,
    asked: Array | None = None,
) -> dict[str, Array]:
    """Return new weights after `epochs` of Adam over pairs: `x` (n, 2, inputs), `y` (n, 2).

    `alike` is the correlation r of a pair's residuals; the loss of a pair is
    sum^2 / (1 + r) + difference^2 / (1 - r). Outputs are multiplied by `asked` (n, 2), 0 or 1,
    unless it is None. The learning rate decays from `rate` to 0.
    """
    moments = {name: [np.zeros_like(part), np.zeros_like(part)] for name, part in p.items()}
    p, batches, step = dict(p), max(1, len(x) // PAIRS), 0
    for _ in range(epochs):
        for these in np.array_split(rng.permutation(len(x)), batches):
            step += 1
            rows = x[these].reshape(-1, x.shape[2])
            outputs, one, two = forward(p, rows)
            mask = np.float32(1.0) if asked is None else asked[these]
            r = outputs.reshape(-1, 2) * mask - y[these]
            together = r.sum(axis=1) / (1 + alike)
            apart = (r[:, 0] - r[:, 1]) / (1 - alike)
            g = (np.stack([together + apart, together - apart], axis=1) * mask).reshape(-1)
            g *= np.float32(1 / len(rows))
            now = rate * 0.5 * (1 + np.cos(np.pi * step / (epochs * batches)))
            for name, slope in gradients(p, rows, one, two, g).items():
                first, second = moments[name]
                first += 0.1 * (slope - first)
                second += 0.001 * (slope * slope - second)
                scale = np.sqrt(second / (1 - 0.999**step)) + 1e-8
                p[name] = (p[name] - now / (1 - 0.9**step) * first / scale).astype(np.float32)
    return p


def check_trained(
    p: dict[str, Array], x: Array, y: Array, before: float, scale: float = SCALE
) -> None:
    """Raise `DivergedError` if a weight is not finite or the error exceeds `WORSE` * `before`.

    The errors are mean squared errors for `x` (n, 2, inputs) and `y` (n, 2), in units of `scale`;
    `before` is that before training.
    """
    if bad := sorted(name for name, part in p.items() if not np.isfinite(part).all()):
        raise DivergedError(f"training diverged: {', '.join(bad)} not finite; nothing is written")
    after = float(np.mean((y - forward(p, x.reshape(-1, x.shape[2]))[0].reshape(-1, 2)) ** 2))
    if not after <= WORSE * before:
        errors = f"squared error {scale**2 * after:.3g}, before it {scale**2 * before:.3g}"
        raise DivergedError(f"training diverged: {errors}; nothing is written")
