"""The small network: what kernels make of it, its gradients, and that it learns what is there."""

from __future__ import annotations

import numpy as np
import pytest
from support.policies import ObservationPolicy

import bideuchre_env
from bideuchre_env.errors import DivergedError, OptionError
from bideuchre_env.learning.features import features_of
from bideuchre_env.learning.fitting import Examples, fit, gradients, joined
from bideuchre_env.learning.network import Network, checked, evaluate, forward, new_network
from bideuchre_env.rules.variants import RULES

RULE_SET = RULES["cincinnati_v0"]
CARDS = features_of(RULE_SET, "cards")


def drawn(features, seed=0, hidden=(31, 17)):
    """A network with something in every weight."""
    rng = np.random.default_rng(seed)
    empty = new_network(features.size, hidden, features.outputs, rng)
    return Network(*(rng.normal(0, 0.2, part.shape).astype(np.float32) for part in empty))


def examples(n, seed=0, features=CARDS):
    """Inputs, a sixth of them 1, with outputs to compare; one in four has one output alone."""
    rng = np.random.default_rng(seed)
    inputs = np.packbits(rng.random((n, features.size)) < 1 / 6, axis=1)
    of, against = rng.integers(0, features.outputs, (2, n))
    against[rng.random(n) < 0.25] = -1
    return Examples(inputs, of, against, rng.normal(0, 2, n).astype(np.float32))


def loss(network, data):
    """Half the mean squared error, in double precision."""
    parts = [part.astype(np.float64) for part in network]
    x = np.unpackbits(data.inputs, axis=1, count=CARDS.size).astype(np.float64)
    for weights, bias in (parts[:2], parts[2:4]):
        x = x @ weights + bias
        x = np.where(x < 0, x * np.float64(np.float32(0.01)), x)
    outputs, rows = x @ parts[4] + parts[5], np.arange(len(data.of))
    less = np.where(data.against >= 0, outputs[rows, data.against], 0.0)
    return 0.5 * np.mean((outputs[rows, data.of] - less - data.targets) ** 2)


def test_the_gradients_are_those_of_the_loss():
    """Against differences of the loss itself, in double precision, at random weights."""
    network, data = drawn(CARDS), examples(40)
    found, rng = gradients(network, data), np.random.default_rng(1)
    for name, part, gradient in zip(Network._fields, network, found, strict=True):
        for _ in range(12):
            at = tuple(rng.integers(0, size) for size in part.shape)
            moved = []
            for step in (1e-4, -1e-4):
                other = part.astype(np.float64)
                other[at] += step
                moved.append(loss(network._replace(**{name: other}), data))
            expected = (moved[0] - moved[1]) / 2e-4
            assert gradient[at] == pytest.approx(expected, rel=2e-3, abs=2e-6), name


def test_adam_is_that_of_the_paper():
    """Two steps of a fit by hand: bias-corrected moments, the rate falling along a cosine."""
    network, data = drawn(CARDS), examples(8)
    fitted = fit(
        network, CARDS, data, np.random.default_rng(0), epochs=2, batch=8, learning_rate=0.01
    )
    weights = [part.astype(np.float64) for part in network]
    first = [np.zeros_like(part) for part in weights]
    second = [np.zeros_like(part) for part in weights]
    for step in (1, 2):
        now = Network(*(part.astype(np.float32) for part in weights))
        for part, m, v, gradient in zip(weights, first, second, gradients(now, data), strict=True):
            m += 0.1 * (gradient - m)
            v += 0.001 * (gradient.astype(np.float64) ** 2 - v)
            rate = 0.01 * 0.5 * (1 + np.cos(np.pi * step / 2))
            part -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    for name, part, expected in zip(Network._fields, fitted, weights, strict=True):
        np.testing.assert_allclose(part, expected, rtol=2e-3, atol=2e-4, err_msg=name)


def test_it_learns_what_is_there():
    """Differences made up from the inputs, under noise of their own size."""
    rng = np.random.default_rng(2)
    data = examples(30_000, seed=3)
    x = CARDS.unpack(data.inputs)
    worth = 2.0 * x[:, [0]] * (np.arange(24) < 8) - 2.0 * x[:, [5]] * x[:, [9]]
    worth += 1.5 * x[:, [20]] * (np.arange(24) % 3 == 0)
    rows = np.arange(len(x))
    truth = worth[rows, data.of] - np.where(data.against < 0, 0, worth[rows, data.against])
    noisy = data._replace(targets=(truth + rng.normal(0, 0.7, len(x))).astype(np.float32))
    network = new_network(CARDS.size, (64, 32), 24, rng)
    fitted = fit(network, CARDS, noisy, rng, epochs=3, batch=256)
    outputs, rows = forward(fitted, CARDS.unpack(data.inputs)), np.arange(len(truth))
    against = np.where(data.against < 0, 0, outputs[rows, data.against])
    fresh = outputs[rows, data.of] - against - truth
    assert np.mean(fresh**2) < 0.35 * np.var(truth)
    assert (forward(network, x[:5]) == 0).all()  # what it started from says nothing


def test_the_same_generator_gives_the_same_weights():
    """Twice; and the report of what is done rises to the end."""
    data, told = examples(13_000), []
    first, again = (
        fit(drawn(CARDS), CARDS, data, np.random.default_rng(5), batch=100, report=told.append)
        for _ in range(2)
    )
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    half = told[: len(told) // 2]
    assert half == sorted(half) == told[len(half) :]
    assert 0 < half[0] < half[-1] <= 1


def test_kernels_and_numpy_agree():
    """From observations through the list of inputs, and through a matrix of them."""
    for name, rules in RULES.items():
        vec, policy = bideuchre_env.make(name).vec(200), ObservationPolicy(1)
        seen, _ = vec.reset(seed=2)
        for _ in range(9):
            seen, *_ = vec.step(policy.act_rows(seen["observation"], seen["action_mask"]))
        cards = seen["action_mask"][:, -rules.kinds :].any(axis=1)
        for part, chosen in (("auction", ~cards), ("cards", cards)):
            features = features_of(rules, part)
            observations, masks = (each[chosen] for each in seen.values())
            network = drawn(features, hidden=(32, 15))
            outputs, legal, symmetries = evaluate(network, features, observations, masks)
            packed = features.pack(observations, masks)
            expected = forward(network, features.unpack(packed.inputs))
            np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-5)
            np.testing.assert_array_equal(legal, packed.legal)
            np.testing.assert_array_equal(symmetries, packed.symmetries)


def test_odd_examples_and_weights_are_refused():
    """What does not fit the features, and what is not finite; steps that lead nowhere."""
    network, data, rng = drawn(CARDS), examples(20), np.random.default_rng(0)
    for name, bad, said in (
        ("inputs", data.inputs[:, :-1], "inputs: packed ones, uint8 "),
        ("of", data.of + 24, "of: outputs from 0 to 23"),
        ("against", data.against - 1, "against: outputs from -1 to 23"),
        ("targets", data.targets * np.float32(np.nan), "targets: some are not finite"),
        ("targets", data.targets[:, np.newaxis], r"targets: float32 \(n,\) is expected"),
        ("targets", data.targets.astype(np.float64), "not float64"),
        ("targets", data.targets.tolist(), "targets=.*: a numpy array"),
    ):
        with pytest.raises(OptionError, match=said):
            fit(network, CARDS, data._replace(**{name: bad}), rng)
    for name, bad in (
        ("batch", 0), ("batch", -5), ("batch", 2.0), ("epochs", -1), ("epochs", True),
        ("learning_rate", np.nan), ("learning_rate", np.inf), ("learning_rate", "low"),
    ):  # fmt: skip
        with pytest.raises(OptionError, match=f"^{name}="):
            fit(network, CARDS, data, rng, **{name: bad})
    huge = joined([data] * 40)
    with np.errstate(all="ignore"), pytest.raises(DivergedError, match="not finite any more"):
        fit(network, CARDS, huge, rng, batch=10, learning_rate=1e30)
    for name, bad, said in (
        ("first", network.first[1:], "first: a shape of "),
        ("last", network.last.astype(np.float64), "last: float32 weights"),
        ("second_bias", network.second_bias * np.float32(np.inf), "second_bias: weights that are"),
    ):
        with pytest.raises(OptionError, match=said):
            checked(network._replace(**{name: bad}), CARDS)
        with pytest.raises(OptionError, match=said):
            fit(network._replace(**{name: bad}), CARDS, data, rng)


def test_bits_past_the_inputs_are_refused():
    """They would stand for rows of weights that there are not."""
    network, rng = drawn(CARDS), np.random.default_rng(0)
    assert CARDS.size % 8
    for bit in range(-CARDS.size % 8):
        data = examples(20)
        data.inputs[7, -1] |= 1 << bit
        with pytest.raises(OptionError, match="inputs: bits past the "):
            fit(network, CARDS, data, rng)
