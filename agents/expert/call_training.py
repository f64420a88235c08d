"""How the network of calls is trained: pairs of calls, squared errors, Adam; numpy alone."""

from __future__ import annotations

import numpy as np

from bideuchre_env.agents.expert.call_features import N_INPUTS
from bideuchre_env.agents.expert.call_network import FIRST, LAYERS, SCALE, SECOND, new_network
from bideuchre_env.errors import DivergedError
from bideuchre_env.runtime.jit import Array

EPOCHS = 2
RATE = 2e-3  # of Adam, falling to 0 in every round
PAIRS = 1024  # in one step of it
WORSE = 2.0  # times the squared error that training may leave; more, and it has diverged


def drawn_network(rng: np.random.Generator) -> Array:
    """A network to start from, which adds nothing yet."""
    network = new_network()
    network["first"][0] = rng.normal(0, np.sqrt(1 / 16), (N_INPUTS, FIRST))
    network["second"][0] = rng.normal(0, np.sqrt(2 / FIRST), (FIRST, SECOND))
    return network


def forward(p: dict[str, Array], x: Array) -> tuple[Array, Array, Array]:
    """What a network says of inputs (n, inputs), and its layers on the way; it may have but one."""
    one = np.maximum(x @ p["first"] + p["first_base"], 0)
    two = np.maximum(one @ p["second"] + p["second_base"], 0) if "second" in p else one
    return two @ p["last"] + x @ p["straight"] + p["base"], one, two


def gradients(p: dict[str, Array], x: Array, one: Array, two: Array, g: Array) -> dict[str, Array]:
    """The slope of the loss in every weight, given that in what the network says, (n,)."""
    slopes = {"last": two.T @ g, "straight": x.T @ g, "base": g.sum()}
    g_one = g[:, None] * p["last"] * (two > 0)
    if "second" in p:
        slopes |= {"second": one.T @ g_one, "second_base": g_one.sum(axis=0)}
        g_one = (g_one @ p["second"].T) * (one > 0)
    return slopes | {"first": x.T @ g_one, "first_base": g_one.sum(axis=0)}


def train(network: Array, kept: list[Array], rng: np.random.Generator) -> str:
    """Train the network on these trials, and say how it went."""
    x = np.concatenate([trials["inputs"] for trials in kept])
    y = np.concatenate([(trials["points"] - trials["plain"]) / SCALE for trials in kept])
    y = y.astype(np.float32)
    p = {name: network[name][0].copy() for name in LAYERS}
    n = len(kept[-1])
    before = y[-n:] - forward(p, x[-n:].reshape(-1, N_INPUTS))[0].reshape(-1, 2)
    p = descend(p, x, y, float(np.corrcoef(before.T)[0, 1]), rng, EPOCHS, RATE)
    check_trained(p, x[-n:], y[-n:], float(np.mean(before**2)))
    for name in LAYERS:
        network[name][0] = p[name]
    whole, apart = SCALE**2 * np.mean(before**2), SCALE**2 * np.mean(np.diff(before) ** 2)
    return f"{len(x)} pairs, squared error before {whole:.2f}, of differences {apart:.2f}"


def descend(
    p: dict[str, Array],
    x: Array,
    y: Array,
    alike: float,
    rng: np.random.Generator,
    epochs: int,
    rate: float,
    told: Array | None = None,
) -> dict[str, Array]:
    """The weights after so many times over the pairs: `x` (n, 2, inputs), `y` (n, 2), by Adam.

    Of a pair of residuals with correlation r, `alike`, the loss is
    sum^2 / (1 + r) + difference^2 / (1 - r). Where `told` (n, 2) is 0 the network is not asked: it
    says 0. `rate` falls to 0.
    """
    moments = {name: [np.zeros_like(part), np.zeros_like(part)] for name, part in p.items()}
    p, batches, step = dict(p), max(1, len(x) // PAIRS), 0
    for _ in range(epochs):
        for these in np.array_split(rng.permutation(len(x)), batches):
            step += 1
            rows = x[these].reshape(-1, x.shape[2])
            said, one, two = forward(p, rows)
            asked = np.float32(1.0) if told is None else told[these]
            r = said.reshape(-1, 2) * asked - y[these]
            together = r.sum(axis=1) / (1 + alike)
            apart = (r[:, 0] - r[:, 1]) / (1 - alike)
            g = (np.stack([together + apart, together - apart], axis=1) * asked).reshape(-1)
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
    """Raise `DivergedError` unless the weights are finite and err on these pairs about as before.

    `x` (n, 2, inputs), `y` (n, 2) in units of `scale`; `before`: the squared error training began
    with.
    """
    if bad := sorted(name for name, part in p.items() if not np.isfinite(part).all()):
        raise DivergedError(f"training diverged: {', '.join(bad)} not finite; nothing is written")
    after = float(np.mean((y - forward(p, x.reshape(-1, x.shape[2]))[0].reshape(-1, 2)) ** 2))
    if not after <= WORSE * before:
        told = f"squared error {scale**2 * after:.3g}, before it {scale**2 * before:.3g}"
        raise DivergedError(f"training diverged: {told}; nothing is written")
