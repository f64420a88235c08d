"""Policies on features as agents: functions, torch modules, and files that any process plays."""

import numpy as np
import pytest
from support.agent_games import look, start

import bideuchre_env
from bideuchre_env import agents, match
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.errors import OptionError, OutputError, WeightsError
from bideuchre_env.learning.encoder import encoder_of

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


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A network with dropout, in training mode, and the file of its agent."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    encoder, nn = encoder_of(RULES), torch.nn
    layers = nn.Linear(encoder.size, 32), nn.Tanh(), nn.Dropout(), nn.Linear(32, encoder.n_actions)
    agent = FeatureAgent(RULES, nn.Sequential(*layers))
    path = tmp_path_factory.mktemp("saved") / "policy.pt2"
    agent.save(path)
    assert agent._network.training
    return agent, path


@pytest.mark.slow
def test_a_saved_network_plays_like_the_live_one(saved):
    live, path = saved
    observations, masks = rows()
    loaded = FeatureAgent(RULES, path)
    assert (loaded.act_rows(observations, masks) == live.act_rows(observations, masks)).all()
    for n in (1, 2, 7):
        expected = live.act_rows(observations[:n], masks[:n])
        assert (loaded.act_rows(observations[:n], masks[:n]) == expected).all()
    result = match("cincinnati_v0", f"{NAME}:policy={path}", live, boards=12, workers=2)
    assert result.boards.ties == 12


@pytest.mark.slow
def test_files_that_do_not_fit_are_refused(saved, tmp_path):
    agent, path = saved
    with pytest.raises(WeightsError, match=r"policy.pt2 was saved for other rules: ranks='9', exp"):
        FeatureAgent(bideuchre_env.barrie_v0.rules, path)
    with pytest.raises(WeightsError, match=r"nowhere.pt2 cannot be read: No such file"):
        agents.make(f"{NAME}:policy=nowhere.pt2", RULES)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "torn.pt2").write_bytes(data)
    with pytest.raises(WeightsError, match=r"torn.pt2: no file of FeatureAgent.save"):
        FeatureAgent(RULES, tmp_path / "torn.pt2")
    with pytest.raises(OutputError):
        agent.save(tmp_path)  # a folder


def test_other_policies_are_refused(tmp_path):
    with pytest.raises(OptionError, match="policy=3: expected a file, a module or a function"):
        FeatureAgent(RULES, 3)
    with pytest.raises(OptionError, match="observation='dict': expected one of"):
        FeatureAgent(RULES, len, observation="dict")
    pytest.importorskip("torch")
    with pytest.raises(OptionError, match="expected a torch module; a function plays by name from"):
        FeatureAgent(RULES, len).save(tmp_path / "policy.pt2")
