"""Policies on features as agents: functions, torch modules, and files that any process plays."""

import numpy as np
import pytest
from support.agent_games import look, start

import bideuchre_env
from bideuchre_env import agents, match
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.agents.registry import freeze_files
from bideuchre_env.errors import OptionError, OutputError, WeightsError
from bideuchre_env.learning.encoder import encoder_of
from bideuchre_env.learning.features import VERSION
from bideuchre_env.learning.weights import archive_bytes, made_for

RULES = bideuchre_env.cincinnati_v0.rules
NAME = "bideuchre_env.agents:FeatureAgent"


def rows(n=200):
    return look(RULES, start(RULES, n), np.arange(n) % 4)


def weights(inputs, outputs, seed=1):
    return np.random.default_rng(seed).normal(size=(inputs, outputs)).astype(np.float32)


@pytest.mark.parametrize("form", ["features", "flat"])
def test_the_legal_action_with_the_largest_logit_is_played(form):
    encoder, layout = encoder_of(RULES), bideuchre_env.cincinnati_v0.raw_env().observation_layout
    size = encoder.size if form == "features" else layout.size
    table = weights(size, encoder.n_actions)
    agent = FeatureAgent(RULES, lambda inputs: inputs @ table, observation=form)
    observations, masks = rows()
    chosen = agent.act_rows(observations, masks)
    assert masks[np.arange(len(chosen)), chosen].all()
    if form == "flat":
        values = np.where(masks, layout.scaled(observations) @ table, -np.inf)
        assert (chosen == values.argmax(axis=1)).all()
        return
    inputs, legal, symmetries = encoder.encode(observations, masks)
    renamed = np.where(legal, inputs @ table, -np.inf).argmax(axis=1)
    assert (chosen == encoder.actions(renamed, symmetries)).all()


def residual(width, outputs):
    """A network of all operations that a file can have, except those of `chain`."""
    import torch
    from torch.nn import functional

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(width, 8, bias=False)
            self.norm, self.scale = torch.nn.LayerNorm(8), torch.nn.Parameter(torch.randn(8))
            self.last = torch.nn.Linear(16, outputs)

        def forward(self, inputs):
            hidden = self.first(inputs)
            hidden = self.norm(functional.elu(hidden) * self.scale + hidden.tanh() / 2.0)
            both = [functional.silu(hidden), functional.leaky_relu(hidden - 1)]
            return self.last(torch.sigmoid(torch.cat(both, dim=-1)))

    return Network()


def chain(width, outputs):
    from torch import nn

    return nn.Sequential(
        nn.Linear(width, 32), nn.Tanh(), nn.Dropout(), nn.ReLU(inplace=True), nn.Linear(32, outputs)
    )


@pytest.fixture(scope="module", params=[chain, residual])
def saved(request, tmp_path_factory):
    """An agent of a network in training mode, and its file."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    encoder = encoder_of(RULES)
    agent = FeatureAgent(RULES, request.param(encoder.size, encoder.n_actions))
    path = tmp_path_factory.mktemp("saved") / "policy.npz"
    agent.save(path)
    assert agent._network.training
    return agent, path


@pytest.mark.slow
def test_a_saved_network_plays_like_the_live_one(saved):
    live, path = saved
    observations, masks = rows()
    loaded = FeatureAgent(RULES, path)
    assert (loaded.act_rows(observations, masks) == live.act_rows(observations, masks)).all()
    inputs = encoder_of(RULES).encode(observations, masks).inputs
    assert loaded._logits(inputs) == pytest.approx(live._logits(inputs), abs=1e-5)
    result = match("cincinnati_v0", f"{NAME}:policy={path}", loaded, boards=12, workers=2)
    assert result.boards.ties == 12


@pytest.mark.slow
def test_files_that_do_not_fit_are_refused(saved, tmp_path):
    agent, path = saved
    with pytest.raises(WeightsError, match=r"policy.npz cannot be used here: ranks='9': exp"):
        FeatureAgent(bideuchre_env.barrie_v0.rules, path)
    with pytest.raises(WeightsError, match=r"nowhere.npz cannot be read: No such file"):
        agents.make(f"{NAME}:policy=nowhere.npz", RULES)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "torn.npz").write_bytes(data)
    with pytest.raises(WeightsError, match=r"torn.npz is damaged, or not a .npz file of weights"):
        FeatureAgent(RULES, tmp_path / "torn.npz")
    with pytest.raises(OutputError):
        agent.save(tmp_path)  # a folder


@pytest.mark.slow
def test_a_file_that_is_replaced_during_a_match_is_not_read_again(tmp_path):
    pytest.importorskip("torch")
    size, path = encoder_of(RULES).size, tmp_path / "policy.npz"
    (observations, masks), chosen = rows(), []
    with freeze_files():
        for _ in range(2):
            FeatureAgent(RULES, chain(size, 37)).save(path)
            chosen.append(FeatureAgent(RULES, path).act_rows(observations, masks).tolist())
    assert chosen[0] == chosen[1]
    assert FeatureAgent(RULES, path).act_rows(observations, masks).tolist() != chosen[0]


TWO = {"value": 0}
A = {"array": "a"}
FAULTS = [
    (None, "expected a list of at most 1000 steps"),
    ([["relu", [TWO]]] * 1001, "expected a list of at most 1000 steps"),
    ([["relu"]], "step 0: expected an operation and its arguments"),
    ([["__import__", ["os"]]], "step 0: no operation '__import__'"),
    ([["relu", ["os"]]], "arguments that do not fit"),
    ([["relu", [{"value": 1}]]], "arguments that do not fit"),
    ([["relu", [{"array": "b"}]]], "arguments that do not fit"),
    ([["add", [TWO, [[[TWO]]]]]], "arguments that do not fit"),
    ([["add", [TWO, A]]], "arguments that do not fit"),
    ([["linear", [TWO, A, A]]], "arguments that do not fit"),
    (
        [["cat", [[TWO, TWO], 1]]] + [["cat", [[{"value": i}] * 4, 1]] for i in range(1, 30)],
        "do not",
    ),
    ([["linear", [1, A]]], "arguments of wrong types"),
    ([["tanh", [TWO, TWO]]], "arguments of wrong types"),  # numpy would write to the second
    ([["linear", [A, A]]], r"outputs of shape \[3, 3\]"),
    ([["relu", [TWO, TWO, TWO]]], "arguments of wrong types"),
    ([["relu", [TWO]]], r"outputs of shape \[2, \d+\]: expected \[2, 37\]"),
]


@pytest.mark.parametrize(("steps", "message"), FAULTS)
def test_steps_that_are_no_network_are_refused(steps, message, tmp_path):
    """A file cannot run code, read other arrays, or make arrays that grow without limit."""
    metadata = {**made_for("policy", RULES, VERSION), "observation": "features", "steps": steps}
    path = tmp_path / "policy.npz"
    path.write_bytes(archive_bytes({"a": weights(3, 2)}, metadata))
    with pytest.raises(WeightsError, match=message):
        FeatureAgent(RULES, path)


def two_heads(kind, width, outputs):
    """A network with a critic, whose values are not returned; "two": they are.

    "alias": the logits change in place under another name.
    """
    from torch import nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor, self.critic = nn.Linear(width, outputs), nn.Linear(width, outputs)
            self.dropout = nn.Dropout()

        def forward(self, inputs):
            logits = self.actor(inputs)
            if kind == "alias":
                self.dropout(logits).relu_()
            values = self.critic(inputs)
            return (logits, values) if kind == "two" else logits

    return Network()


@pytest.mark.slow
def test_a_critic_in_the_network_is_left_out_and_the_modes_of_its_parts_stay(tmp_path):
    pytest.importorskip("torch")
    size, n = encoder_of(RULES).size, encoder_of(RULES).n_actions
    network = two_heads("unused", size, n)
    network.critic.train(False)
    agent, (observations, masks) = FeatureAgent(RULES, network), rows()
    agent.save(tmp_path / "policy.npz")
    expected = agent.act_rows(observations, masks)
    modes = [network.training, network.actor.training, network.critic.training]
    assert modes == [True, True, False]
    loaded = FeatureAgent(RULES, tmp_path / "policy.npz")
    assert (loaded.act_rows(observations, masks) == expected).all()
    with pytest.raises(OptionError, match="2 outputs: expected one"):
        FeatureAgent(RULES, two_heads("two", size, n)).save(tmp_path / "other.npz")
    with pytest.raises(OptionError, match=r"outputs of shape \[2, 5\]: expected \[2, 37\]"):
        FeatureAgent(RULES, two_heads("unused", size, 5)).save(tmp_path / "other.npz")
    assert not (tmp_path / "other.npz").exists()


@pytest.mark.slow
def test_a_network_that_torch_exports_wrongly_is_refused(tmp_path):
    """It is one with torch before 2.14; later versions export it rightly."""
    torch = pytest.importorskip("torch")
    size, n, path = encoder_of(RULES).size, encoder_of(RULES).n_actions, tmp_path / "policy.npz"
    agent, (observations, masks) = FeatureAgent(RULES, two_heads("alias", size, n)), rows()
    if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 14):
        with pytest.raises(OptionError, match="not exported rightly"):
            agent.save(path)
        return
    agent.save(path)
    again = FeatureAgent(RULES, path).act_rows(observations, masks)
    assert (again == agent.act_rows(observations, masks)).all()


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda inputs: 0, r"logits int64 \[\]: expected numbers \[200, 37\]"),
        (lambda inputs: np.zeros(37), r"logits float64 \[37\]"),
        (lambda inputs: np.full((len(inputs), 37), np.nan), "not numbers"),
    ],
)
def test_outputs_that_are_no_logits_are_refused(policy, message):
    with pytest.raises(OptionError, match=message):
        FeatureAgent(RULES, policy).act_rows(*rows())


def test_a_legal_action_is_played_if_no_legal_logit_is_finite():
    observations, masks = rows()
    agent = FeatureAgent(RULES, lambda inputs: np.full((len(inputs), 37), -np.inf))
    chosen = agent.act_rows(observations, masks)
    assert masks[np.arange(len(chosen)), chosen].all()


def test_other_policies_are_refused(tmp_path):
    with pytest.raises(OptionError, match="policy=3: expected a file, a module or a function"):
        FeatureAgent(RULES, 3)
    with pytest.raises(OptionError, match="observation='dict': expected one of"):
        FeatureAgent(RULES, len, observation="dict")
    torch = pytest.importorskip("torch")
    with pytest.raises(OptionError, match="expected a torch module; a function plays by name from"):
        FeatureAgent(RULES, len).save(tmp_path / "policy.npz")
    with pytest.raises(OptionError, match=r"the network computes aten.softmax.int: expected opera"):
        FeatureAgent(RULES, torch.nn.Softmax(dim=-1)).save(tmp_path / "policy.npz")
