"""The scripts of `experiments/trainers/` learn with their libraries and save agents."""

import json
from dataclasses import replace

import numpy as np
import pytest
from support.commands import load_scripts

import bideuchre_env
from bideuchre_env import match
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.errors import OptionError

PLAYER = "bideuchre_env.agents:FeatureAgent"
SMALL = ("--boards", "20", "--hidden", "16", "--minibatch", "256")
# By script: its library, arguments of a short run, and a lower bound on the points per hand
# against `cautious` after a million decisions. Measured: at least 1.9.
SCRIPTS = {
    "sb3_maskable_ppo": ("sb3_contrib", "--steps 4096 --tables 64 --table-steps 16", 1.0),
    "cleanrl_ppo": ("torch", "--total-timesteps 8192 --num-envs 64 --num-steps 32", 1.0),
    "agilerl_ppo": ("agilerl", "--steps 4096 --tables 64 --table-steps 16", 1.5),
    "torchrl_ppo": ("torchrl", "--steps 4096 --tables 64 --table-steps 16", 1.5),
    "tianshou_ppo": ("tianshou", "--steps 4096 --tables 16 --table-steps 64", 1.5),
    "rllib_ppo": ("ray.rllib", "--steps 4096 --tables 64 --table-steps 16", 1.5),
}


@pytest.fixture
def script(request):
    """The module of a script, if its library is installed."""
    name = request.param
    pytest.importorskip(SCRIPTS[name][0])
    torch = pytest.importorskip("torch")
    if name == "rllib_ppo":
        request.getfixturevalue("local_ray")
    before = torch.get_num_threads()
    with load_scripts("experiments/trainers", name) as [module]:
        yield module
    torch.set_num_threads(before)


every_script = pytest.mark.parametrize("script", SCRIPTS, indirect=True)


@every_script
def test_a_short_run_prints_results_and_saves_an_agent(script, tmp_path, capsys):
    options = ("--out", str(tmp_path), "--json", str(tmp_path / "result.json"))
    short = SCRIPTS[script.__name__][1].split()
    assert script.main(script.Args.parse([*SMALL, *options, *short])) == 0
    printed = capsys.readouterr().out
    report = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert f"{report['decisions']:,} decisions, " in printed
    assert report["decisions per second"] > 0
    assert report["points per hand over"].keys() == {"cautious", "rule"}
    for judge in ("cautious", "rule"):
        assert f"{report['library']} against {judge}, cincinnati_v0" in printed
    by_name = f"{PLAYER}:policy={tmp_path / script.POLICY}"
    in_process = FeatureAgent(bideuchre_env.cincinnati_v0.rules, tmp_path / script.POLICY)
    points = [
        match("cincinnati_v0", player, "random", boards=10, seed=3).boards.points_per_hand
        for player in (by_name, in_process)
    ]
    assert points[0] == points[1]


@pytest.mark.long
@every_script
def test_a_whole_run_beats_cautious(script, tmp_path):
    """After a million decisions, the policy beats `cautious` on boards that the script omits."""
    steps = "--total-timesteps" if script.__name__ == "cleanrl_ppo" else "--steps"
    options = ["--out", str(tmp_path), "--boards", "2", steps, "1000000"]
    assert script.main(script.Args.parse(options)) == 0
    agent = f"{PLAYER}:policy={tmp_path / script.POLICY}"
    result = match("cincinnati_v0", agent, "cautious", boards=1000, seed=9)
    assert result.boards.points_per_hand.low > SCRIPTS[script.__name__][2]


@pytest.fixture(scope="module")
def search():
    """The module of OpenSpiel's search script, which does not learn."""
    pytest.importorskip("pyspiel")
    with load_scripts("experiments/trainers", "openspiel_ismcts") as [module]:
        yield module


def test_the_search_prints_a_result_against_each_judge(search, capsys):
    small = ["--boards", "2", "--simulations", "4", "--judges", "random", "cautious"]
    assert search.main(search.Args.parse(small)) == 0
    printed = capsys.readouterr().out
    for judge in ("random", "cautious"):
        assert f"ismcts:4 against {judge}, cincinnati_v0, 2 boards\npoints per hand" in printed
    with pytest.raises(OptionError, match="--boards: 2 or more"):
        search.main(search.Args.parse(["--boards", "1"]))


@pytest.mark.long
def test_the_search_beats_random(search):
    assert search.points(search.Args(boards=40, simulations=50), "random").low > 5


def test_each_decision_has_the_points_of_its_own_side():
    """With lambda 1 and a critic of zeros, a return is the scaled points of the seat's side."""
    pytest.importorskip("torch")
    with load_scripts("experiments/trainers", "cleanrl_ppo") as [script]:
        options = {"episode": "hand", "observation": "features", "skip_forced": True}
        vec = bideuchre_env.cincinnati_v0.vec(16, **options)
        agent = script.Agent(vec.features.size, vec.features.n_actions, 16)
        storage = script.Storage(48, 16, vec.features.size, vec.features.n_actions)
        script.play(agent, vec, storage, vec.reset(seed=3))
        args = replace(script.Args.parse([]), gae_lambda=1.0)
    storage.values.zero_()
    seats, rewards, ended = storage.seats, storage.rewards, storage.ended
    expected = []
    for t, row in np.argwhere(seats >= 0):
        seat, ends = seats[t, row], np.flatnonzero(ended[t:, row])
        if len(ends):
            expected.append(rewards[t + ends[0], row, seat] / script.SCALE)
        elif (seats[t + 1 :, row] == seat).any():  # otherwise its return is not known
            expected.append(0.0)
    _, masks, actions, log_probs, returns, *_ = storage.batch(args)
    assert len(expected) > 100
    assert np.allclose(returns, expected)
    assert (masks.sum(1) > 1).all()
    assert masks.gather(1, actions[:, None]).all()
    assert (log_probs < 0).all()
