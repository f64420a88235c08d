"""The script that trains `net`: resumption, reproducibility, and improvement."""

import json

import pytest
from support.commands import load_scripts

from bideuchre_env import agents, match
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.learning.weights import read_weights
from bideuchre_env.training import cards

TINY = ["--first", "300", "--hands", "200", "--call-hands", "400", "--call-rounds", "1"]
SHORT = ["--rounds", "1", "--call-rounds", "0"]


@pytest.fixture(scope="module")
def learn():
    with load_scripts("experiments", "learn_cards") as (module,):
        yield module


def run(learn, out, *options):
    """Run the script with small settings; return the bytes of the weights it writes, by file."""
    assert learn.main(learn.Args.parse([*TINY, "--out", str(out), *options])) == 0
    return {path.name: path.read_bytes() for path in out.glob("*.npz")}


def test_a_run_stopped_after_every_step_ends_with_the_same_weights(learn, tmp_path, monkeypatch):
    options = ["--games", "six_card_v0", "--rounds", "1"]
    whole = run(learn, tmp_path / "whole", *options)
    steps = len(whole) - 1
    assert steps > 2
    save, stopped = learn.Learner.save, tmp_path / "stopped"

    def interrupt(self, weights, k, seconds):
        saved = save(self, weights, k, seconds)
        if len(list(stopped.glob("*step*"))) == k + 1 < steps:
            raise KeyboardInterrupt
        return saved

    monkeypatch.setattr(learn.Learner, "save", interrupt)
    for _ in range(steps - 1):
        with pytest.raises(KeyboardInterrupt):
            run(learn, stopped, *options)
    assert run(learn, stopped, *options) == whole


def test_the_command_in_the_weights_reproduces_them(learn, tmp_path, monkeypatch):
    """The log has a line for every step, with its points against the judges."""
    monkeypatch.setattr(cards, "JUDGED", {"rule": 4})
    options = ["--games", "six_card_v0", *SHORT, "--seed", "5"]
    first = run(learn, tmp_path / "a", *options, "--judge")
    metadata = read_weights(tmp_path / "a" / "net-six_card_v0.npz").metadata
    assert (metadata["kind"], metadata["variant"], metadata["seed"]) == ("net", "six_card_v0", "5")
    script, *words = metadata["command"].removeprefix("python ").split()
    assert script == "experiments/learn_cards.py"
    assert learn.main(learn.Args.parse([*words, "--out", str(tmp_path / "b")])) == 0
    again = (tmp_path / "b" / "net-six_card_v0.npz").read_bytes()
    assert again == first["net-six_card_v0.npz"]
    lines = (tmp_path / "a" / "six_card_v0-seed5.jsonl").read_text().splitlines()
    steps = [json.loads(line) for line in lines]
    assert [step["kind"] for step in steps] == ["first", "polish"]
    assert all(step["over rule"]["low"] <= step["over rule"]["high"] for step in steps)


@pytest.mark.slow
def test_a_short_run_is_better_than_the_expert_without_search(learn, tmp_path):
    run(learn, tmp_path, "--games", "cincinnati_v0", "--first", "20000", *SHORT)

    def before(rules, *, goal="points"):
        return agents.make("expert", rules, wanted=(0,) * 13, goal="points")

    def after(rules, *, goal="points"):
        return NetAgent(rules, weights=tmp_path / "net-cincinnati_v0.npz", goal="points")

    result = match.play("cincinnati_v0", after, before, boards=4000, seed=11)
    assert result.points_per_hand.low > 0
