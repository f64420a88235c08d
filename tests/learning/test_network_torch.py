"""torch, numpy and the kernels make the same of a network: outputs, gradients, and its file."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.fitting import Examples, gradients
from bideuchre_env.learning.network import SLOPE, Network, evaluate, forward, new_network
from bideuchre_env.learning.weights import read_weights, write_weights
from bideuchre_env.rules import actions
from bideuchre_env.rules.variants import RULES

torch = pytest.importorskip("torch")
NEAR = {"rtol": 1e-5, "atol": 1e-5}


def decisions(rules, part, rows=48, steps=16):
    """Observations (n, D) and masks (n, A) of one part of hands that are played at random."""
    first_card, found = actions.of(rules).card_offset, []
    vec = bideuchre_env.make(rules).vec(rows, copy=True)
    seen, _ = vec.reset(seed=5)
    for _ in range(steps):
        cards = seen["action_mask"][:, first_card:].any(axis=1)
        chosen = cards == (part == "cards")
        found.append((seen["observation"][chosen], seen["action_mask"][chosen]))
        seen, *_ = vec.step(vec.sample())
    return tuple(map(np.concatenate, zip(*found, strict=True)))


def network_for(features, seed=3):
    """A network that makes something of every input, outputs of the size of points."""
    rng = np.random.default_rng(seed)
    new = new_network(features.size, (40, 23), features.outputs, rng)
    return Network(*(rng.normal(0, 0.1, part.shape).astype(np.float32) + part for part in new))


def in_torch(network):
    """The same network as torch has it."""
    layers = [torch.nn.Linear(*sizes) for sizes in pairwise(network.shape)]
    model = torch.nn.Sequential(
        layers[0],
        torch.nn.LeakyReLU(float(SLOPE)),
        layers[1],
        torch.nn.LeakyReLU(float(SLOPE)),
        layers[2],
    )
    with torch.no_grad():
        for layer, weight, bias in zip(layers, network[::2], network[1::2], strict=True):
            layer.weight.copy_(torch.from_numpy(weight.T.copy()))
            layer.bias.copy_(torch.from_numpy(bias.copy()))
    return model


def of_torch(model):
    """The gradients of a model's weights, as a network has them."""
    found = [each.grad.numpy() for each in model.parameters()]
    return Network(*(each.T if each.ndim == 2 else each for each in found))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("variant", RULES)
def test_torch_numpy_and_kernels_agree(variant, part):
    """To 1e-5, on decisions of every variant; the kernels start from the observation."""
    features = features_of(RULES[variant], part)
    network = network_for(features)
    observations, masks = decisions(RULES[variant], part)
    assert len(observations) > 100
    inputs = features.unpack(features.pack(observations, masks).inputs)
    with torch.no_grad():
        theirs = in_torch(network)(torch.from_numpy(inputs)).numpy()
    assert theirs.std() > 0.1
    np.testing.assert_allclose(forward(network, inputs), theirs, **NEAR)
    np.testing.assert_allclose(evaluate(network, features, observations, masks)[0], theirs, **NEAR)


def test_the_gradients_of_a_fit_are_those_of_torch():
    """Half the mean squared error, of single outputs and of differences of two."""
    rng = np.random.default_rng(2)
    features = features_of(RULES["barrie_v0"], "cards")
    network = network_for(features)
    observations, masks = decisions(RULES["barrie_v0"], "cards")
    packed, n = features.pack(observations, masks), len(observations)
    of, against = (rng.integers(0, features.outputs, n) for _ in range(2))
    against = np.where(of == against, -1, against)
    against[::3] = -1
    targets = rng.normal(0, 3, n).astype(np.float32)
    ours = gradients(network, Examples(packed.inputs, of, against, targets))

    model = in_torch(network)
    outputs = model(torch.from_numpy(features.unpack(packed.inputs)))
    rows = torch.arange(n)
    less = torch.where(torch.from_numpy(against >= 0), outputs[rows, np.maximum(against, 0)], 0.0)
    error = outputs[rows, of] - less - torch.from_numpy(targets)
    (error.square().mean() / 2).backward()
    for name, mine, theirs in zip(Network._fields, ours, of_torch(model), strict=True):
        assert np.abs(theirs).max() > 1e-3, name
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("half", [False, True])
def test_a_network_of_torch_is_played_from_its_file(tmp_path, half):
    """Out of torch, into a file, and played by kernels; in halves, to a hundredth of a point."""
    features = features_of(RULES["cincinnati_v0"], "cards")
    model = in_torch(network_for(features))
    state = [each.detach().numpy() for each in model.parameters()]
    arrays = Network(*(each.T if each.ndim == 2 else each for each in state))._asdict()
    write_weights(tmp_path / "net.npz", arrays, {"kind": "net"}, half=half)
    network = Network(**read_weights(tmp_path / "net.npz").arrays)
    observations, masks = decisions(RULES["cincinnati_v0"], "cards")
    inputs = features.unpack(features.pack(observations, masks).inputs)
    with torch.no_grad():
        theirs = model(torch.from_numpy(inputs)).numpy()
    ours, _, _ = evaluate(network, features, observations, masks)
    np.testing.assert_allclose(ours, theirs, **({"atol": 1e-2} if half else NEAR))
