"""The script that teaches `net`: it learns; a run that was stopped comes to the same weights."""

from __future__ import annotations

import json

import pytest
from support.script_modules import loaded

from bideuchre_env import agents, match
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.learning.weights import read_weights
from bideuchre_env.rules.variants import RULES
from bideuchre_env.training import cards

TINY = ["--first", "300", "--hands", "200", "--call-hands", "400", "--call-rounds", "1"]


@pytest.fixture(scope="module")
def learn():
    with loaded("experiments", "learn_cards") as (module,):
        yield module


def run(learn, out, *options):
    """The weights that a run ends with, as bytes by file."""
    assert learn.main(learn.Args.parse([*TINY, "--out", str(out), *options])) == 0
    return {path.name: path.read_bytes() for path in out.glob("*.npz")}


def test_a_run_that_was_stopped_comes_to_the_same_weights(learn, tmp_path, monkeypatch):
    """Stopped after every step in turn: the weights of each are equal."""
    whole = run(learn, tmp_path / "whole", "--games", "six_card_v0")
    assert sorted(whole) == [
        "net-six_card_v0.npz",
        *(f"six_card_v0-seed0-step{k:02}.npz" for k in range(1, 6)),
    ]
    save, stopped = learn.Learner.save, tmp_path / "stopped"

    def interrupted(self, weights, k, seconds):
        saved = save(self, weights, k, seconds)
        if len(list(stopped.glob("*step*"))) == k + 1 < 5:
            raise KeyboardInterrupt
        return saved

    monkeypatch.setattr(learn.Learner, "save", interrupted)
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            run(learn, stopped, "--games", "six_card_v0")
    assert run(learn, stopped, "--games", "six_card_v0") == whole


def test_weights_say_how_they_were_made(learn, tmp_path):
    """The command in the file makes the file; the curve has a line for every step."""
    options = ["--games", "cincinnati_v0", "--rounds", "1", "--seed", "5", "--call-rounds", "0"]
    first = run(learn, tmp_path / "a", *options)
    made = read_weights(tmp_path / "a" / "net-cincinnati_v0.npz").metadata
    assert (made["kind"], made["variant"], made["seed"]) == ("net", "cincinnati_v0", "5")
    script, *asked = made["command"].removeprefix("python ").split()
    assert script == "experiments/learn_cards.py"
    out = ["--out", str(tmp_path / "b")]
    assert learn.main(learn.Args.parse([*asked, *out])) == 0
    again = (tmp_path / "b" / "net-cincinnati_v0.npz").read_bytes()
    assert again == first["net-cincinnati_v0.npz"]
    lines = (tmp_path / "a" / "cincinnati_v0-seed5.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["first", "polish"]


def test_any_rules_are_learned(learn, tmp_path):
    """A file of rules of one's own; the weights are for it, and for no variant."""
    file = tmp_path / "farm.toml"
    file.write_text('base = "barrie_v0"\nname = "farm"\npartnered = [5, 8]\n')
    asked = ["--games", str(file), "--rounds", "1", "--call-rounds", "0"]
    run(learn, tmp_path / "out", *asked)
    made = read_weights(tmp_path / "out" / "net-farm.npz").metadata["command"]
    assert f"--games {file} " in made
    file.write_text('base = "barrie_v0"\nname = "farm"\npartnered = [5, 8]\ntarget = 9\n')
    with pytest.raises(OptionError, match="made by other settings"):
        run(learn, tmp_path / "out", *asked)  # other rules of the same name
    weights = tmp_path / "out" / "net-farm.npz"
    game = learn.variant_of(file, [])
    assert match.play(game, NetAgent(game.rules, weights=weights), "rule", boards=2).decisions
    with pytest.raises(WeightsError, match="bids="):
        NetAgent(RULES["barrie_v0"], weights=weights)
    with pytest.raises(OptionError, match="no weights for these rules"):
        agents.make("net", game.rules)


def test_odd_options_are_refused(learn, tmp_path):
    """Numbers too small, and a folder that has steps of other settings."""
    for options, said in (
        (["--first", "10"], "100 or more"),
        (["--call-hands", "99"], "100 or more"),
        (["--hands", "99"], "100 or more"),
        (["--rounds", "0"], "--rounds: 1 or more"),
        (["--call-rounds", "-1"], "--call-rounds: 0 or more"),
        (["--games", "nonsense"], "is no variant"),
    ):
        with pytest.raises(OptionError, match=said):
            run(learn, tmp_path, *options)
    small = ["--games", "six_card_v0", "--rounds", "1", "--call-rounds", "0"]
    run(learn, tmp_path, *small)
    with pytest.raises(OptionError, match="made by other settings"):
        run(learn, tmp_path, *small, "--hands", "333")


def test_a_short_run_is_better_than_what_it_began_with(learn, tmp_path):
    """Than the expert without its search, surely, on boards of another seed."""
    options = ["--games", "cincinnati_v0", "--first", "20000", "--rounds", "1"]
    run(learn, tmp_path, *options, "--call-rounds", "0")

    def before(rules, *, goal="points"):
        return agents.make("expert", rules, wanted=(0,) * 13, goal="points")

    def after(rules, *, goal="points"):
        return NetAgent(rules, weights=tmp_path / "net-cincinnati_v0.npz", goal="points")

    result = match.play("cincinnati_v0", after, before, boards=4000, seed=11)
    assert result.points_per_hand.low > 0


def test_what_a_step_is_worth_is_told(learn, tmp_path, monkeypatch, capsys):
    """A line of the curve for each step, with intervals over the agents that judge."""
    monkeypatch.setattr(cards, "JUDGED", {"rule": 4})
    run(learn, tmp_path, "--games", "six_card_v0", "--rounds", "1", "--judge")
    lines = (tmp_path / "six_card_v0-seed0.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert [line["kind"] for line in found] == ["first", "calls", "polish"]
    assert all(line["over rule"]["low"] <= line["over rule"]["high"] for line in found)
    assert "six_card_v0 step 3 of 3: polish, " in capsys.readouterr().out
