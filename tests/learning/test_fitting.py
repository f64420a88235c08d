"""Small networks: gradients, Adam, fits, and the kernels that evaluate them."""

import numpy as np
import pytest
from support.custom_agents import ObservationPolicy

import bideuchre_env
from bideuchre_env.errors import DivergedError, OptionError
from bideuchre_env.learning.features import features_of
from bideuchre_env.learning.fitting import Examples, concatenate, errors, fit
from bideuchre_env.learning.fitting import gradients as gradients_of
from bideuchre_env.learning.network import (
    Network,
    arrays_of,
    checked,
    evaluate,
    forward,
    layers,
    network_of,
    new_network,
    zero_network,
)
from bideuchre_env.learning.weights import Weights
from bideuchre_env.rules.variants import RULES

pytestmark = pytest.mark.search

RULE_SET = RULES["cincinnati_v0"]
CARDS = features_of(RULE_SET, "cards")


def net_of(features, seed=0, hidden=(31, 17)):
    rng = np.random.default_rng(seed)
    empty = new_network(features.size, hidden, features.outputs, rng)
    return Network(*(rng.normal(0, 0.2, part.shape).astype(np.float32) for part in empty[:6]))


def examples(n, seed=0, features=CARDS):
    """Random examples; in a quarter of them there is no second output (-1)."""
    rng = np.random.default_rng(seed)
    inputs = np.packbits(rng.random((n, features.size)) < 1 / 6, axis=1)
    of, against = rng.integers(0, features.outputs, (2, n))
    against[rng.random(n) < 0.25] = -1
    return Examples(inputs, of, against, rng.normal(0, 2, n).astype(np.float32))


def outputs_of(network, packed):
    """Outputs of a network in double precision, for packed inputs of the features `CARDS`."""
    parts = [part.astype(np.float64) for part in network]
    x = np.unpackbits(packed, axis=1, count=CARDS.size).astype(np.float64)
    for weights, bias in (parts[:2], parts[2:4]):
        x = x @ weights + bias
        x = np.where(x < 0, x * np.float64(np.float32(0.01)), x)
    return x @ parts[4] + parts[5]


def loss(network, data):
    """Half the mean squared error of the examples, in double precision."""
    outputs, rows = outputs_of(network, data.inputs), np.arange(len(data.of))
    less = np.where(data.against >= 0, outputs[rows, data.against], 0.0)
    return 0.5 * np.mean((outputs[rows, data.of] - less - data.targets) ** 2)


def gradients(network, data):
    inputs = CARDS.unpack(data.inputs)
    return gradients_of(network, inputs, lambda outputs: errors(outputs, data))


def test_outputs_equal_double_precision():
    network, data = net_of(CARDS), examples(40)
    outputs = forward(network, CARDS.unpack(data.inputs))
    np.testing.assert_allclose(outputs, outputs_of(network, data.inputs), rtol=1e-4, atol=1e-4)


def test_gradients_equal_differences_of_the_loss():
    network, data = net_of(CARDS), examples(40)
    computed, rng = gradients(network, data), np.random.default_rng(1)
    for name, part, gradient in zip(Network._fields[:6], network[:6], computed[:6], strict=True):
        for _ in range(12):
            at = tuple(rng.integers(0, size) for size in part.shape)
            moved = []
            for step in (1e-4, -1e-4):
                other = part.astype(np.float64)
                other[at] += step
                moved.append(loss(network._replace(**{name: other}), data))
            expected = (moved[0] - moved[1]) / 2e-4
            assert gradient[at] == pytest.approx(expected, rel=2e-3, abs=2e-6), name


@pytest.mark.parametrize("hidden", [(9, 5), (9, 0)], ids=["two layers", "one layer"])
def test_gradients_of_relu_networks_with_a_skip_equal_differences_of_the_loss(hidden):
    """Half the sum of squares, in double precision, away from the kinks of the ReLUs."""
    rng = np.random.default_rng(4)
    zero = zero_network(7, 2, hidden)
    network = Network(*(rng.normal(0, 0.5, part.shape).astype(np.float32) for part in zero[:7]))
    network = network._replace(slope=zero.slope)
    inputs = rng.normal(0, 1, (20, 7)).astype(np.float32)
    computed = gradients_of(network, inputs, lambda outputs: outputs)
    assert [part.shape for part in computed] == [part.shape for part in network]
    assert not computed.slope.any()

    def halves(wide):
        return 0.5 * (layers(wide, inputs.astype(np.float64))[2] ** 2).sum()

    wide = Network(*(part.astype(np.float64) for part in network))
    for name, part in zip(Network._fields[:7], wide, strict=False):
        for _ in range(8 if part.size else 0):
            at = tuple(rng.integers(0, size) for size in part.shape)
            moved = []
            for step in (1e-7, -1e-7):
                other = part.copy()
                other[at] += step
                moved.append(halves(wide._replace(**{name: other})))
            expected = (moved[0] - moved[1]) / 2e-7
            assert getattr(computed, name)[at] == pytest.approx(expected, rel=2e-3, abs=1e-3), name


def test_a_network_in_weights_is_read_again():
    """The usual slope and an empty skip are not stored."""
    rng = np.random.default_rng(0)
    for network in (net_of(CARDS), new_network(3, (2, 2), 1, rng), zero_network(5, 1, (3, 0))):
        arrays = arrays_of(network, "cards")
        assert ("cards.skip" in arrays) == ("cards.slope" in arrays) == bool(network.skip.size)
        again = network_of(Weights(arrays, {}), "cards")
        assert all(map(np.array_equal, network, again))


def test_two_steps_of_a_fit_equal_adam_with_a_cosine_rate():
    network, data, rng = net_of(CARDS), examples(8), np.random.default_rng(0)
    fitted = fit(network, CARDS, data, rng, epochs=2, batch=8, learning_rate=0.01)
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


def test_the_same_generator_gives_the_same_weights_and_progress_rises():
    data, shares = examples(13_000), []
    first, again = (
        fit(net_of(CARDS), CARDS, data, np.random.default_rng(5), batch=100, report=shares.append)
        for _ in range(2)
    )
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    half = shares[: len(shares) // 2]
    assert half == sorted(half) == shares[len(half) :]
    assert 0 < half[0] < half[-1] <= 1


def test_kernels_evaluate_observations_as_numpy_does():
    for name, rules in RULES.items():
        vec, policy = bideuchre_env.make(name).vec(200), ObservationPolicy(1)
        seen, _ = vec.reset(seed=2)
        for _ in range(9):
            seen, *_ = vec.step(policy.act_rows(seen["observation"], seen["action_mask"]))
        cards = seen["action_mask"][:, -rules.kinds :].any(axis=1)
        for part, chosen in (("auction", ~cards), ("cards", cards)):
            features = features_of(rules, part)
            observations, masks = (each[chosen] for each in seen.values())
            network = net_of(features, hidden=(32, 15))
            outputs, legal, symmetries = evaluate(network, features, observations, masks)
            packed = features.pack(observations, masks)
            expected = forward(network, features.unpack(packed.inputs))
            np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-5)
            np.testing.assert_array_equal(legal, packed.legal)
            np.testing.assert_array_equal(symmetries, packed.symmetries)


def test_unusable_examples_weights_and_settings_are_refused():
    network, data, rng = net_of(CARDS), examples(20), np.random.default_rng(0)
    for name, bad, message in (
        ("inputs", data.inputs[:, :-1], "inputs: expected a numpy array of uint8 and shape "),
        ("of", data.of + 24, "of: expected outputs from 0 to 23"),
        ("against", data.against - 1, "against: expected outputs from -1 to 23"),
        ("targets", data.targets * np.float32(np.nan), "targets: expected finite numbers"),
        ("targets", data.targets[:, np.newaxis], "targets: expected a numpy array of float32 "),
    ):
        with pytest.raises(OptionError, match=message):
            fit(network, CARDS, data._replace(**{name: bad}), rng)
    for name, bad in (("batch", 0), ("epochs", -1), ("learning_rate", np.nan)):
        with pytest.raises(OptionError, match=f"^{name}="):
            fit(network, CARDS, data, rng, **{name: bad})
    for name, bad, message in (
        ("first", network.first[1:], "first: expected a shape of "),
        ("last", network.last.astype(np.float64), "last: expected float32 weights"),
        ("second_bias", network.second_bias * np.float32(np.inf), "second_bias: expected finite"),
    ):
        with pytest.raises(OptionError, match=message):
            checked(network._replace(**{name: bad}), CARDS)


def test_a_fit_that_diverges_raises():
    rng, data = np.random.default_rng(0), concatenate([examples(20)] * 40)
    with np.errstate(all="ignore"), pytest.raises(DivergedError, match="training has diverged"):
        fit(net_of(CARDS), CARDS, data, rng, batch=10, learning_rate=1e30)


def test_bits_past_the_inputs_are_refused():
    """Bits past the inputs would index rows of weights that do not exist."""
    assert CARDS.size % 8
    for bit in range(-CARDS.size % 8):
        data = examples(20)
        data.inputs[7, -1] |= 1 << bit
        with pytest.raises(OptionError, match="inputs: expected no bits beyond the "):
            fit(net_of(CARDS), CARDS, data, np.random.default_rng(0))
