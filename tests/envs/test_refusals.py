"""What is refused at the edges: before a game, from outside a game, and on the way to a screen."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env import agents, errors, selfplay
from bideuchre_env.records.record import GameRecord
from bideuchre_env.records.render import table_text
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.rules import Rules


def a_game(variant="cincinnati_v0", **options):
    env = bideuchre_env.variants[variant].raw_env(**options)
    env.reset(seed=1)
    return env


@pytest.mark.parametrize(
    "look",
    [
        lambda env: env.observe("player_0"),
        lambda env: env.last(),
        lambda env: env.state(),
        lambda env: env.get_state(),
        lambda env: env.render(),
        lambda env: env.resample_hidden(0, np.random.default_rng(1)),
        lambda env: env.agent_iter(),
    ],
)
def test_nothing_to_see_before_the_first_deal(look):
    env = bideuchre_env.cincinnati_v0.raw_env(render_mode="ansi")
    with pytest.raises(errors.OptionError, match="reset\\(\\) deals a game"):
        look(env)


@pytest.mark.parametrize("make", ["env", "raw_env"])
def test_last_after_the_end_says_to_reset(make):
    """The sentence of `step`, once every agent has left."""
    env = getattr(bideuchre_env.cincinnati_v0, make)(episode="hand")
    env.reset(seed=1)
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        env.step(None if over else int(observation["action_mask"].argmax()))
    with pytest.raises(errors.OptionError, match=r"no game is going on: reset\(\) deals one"):
        env.last()
    with pytest.raises(
        errors.IllegalActionError, match=r"no game is going on: reset\(\) deals one"
    ):
        env.unwrapped.step(0)


@pytest.mark.parametrize("action", [True, 1.0, float("nan"), "1", np.zeros(2), -1, 10**6, None])
def test_the_wrapped_env_names_what_is_no_action(action):
    """As PettingZoo's own bounds check an assertion, and a sentence of ours besides."""
    env = bideuchre_env.cincinnati_v0()
    env.reset(seed=1)
    row = env.unwrapped._states.copy()
    with pytest.raises(errors.OutOfBoundsError, match="player_") as caught:
        env.step(action)
    assert isinstance(caught.value, AssertionError)
    assert env.unwrapped._states == row
    assert not any(env.terminations.values())


def test_a_clone_keeps_its_masks_to_itself():
    env = a_game()
    twin = env.clone()
    twin.infos[twin.agent_selection]["action_mask"][:] = 0
    assert env.infos[env.agent_selection]["action_mask"].any()


def test_a_clone_does_not_print(capsys):
    env = a_game(render_mode="human")
    twin = env.clone()
    twin.step(int(twin.infos[twin.agent_selection]["action_mask"].argmax()))
    assert capsys.readouterr().out == ""
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
    assert "score" in capsys.readouterr().out


def test_redealing_needs_a_generator():
    with pytest.raises(errors.OptionError, match=r"numpy\.random\.Generator"):
        a_game().resample_hidden(0, 5)


def test_the_table_is_text_in_a_notebook(monkeypatch):
    """rich would hand it to the notebook's display and leave an empty string."""
    shell = type("ZMQInteractiveShell", (), {})
    monkeypatch.setattr("builtins.get_ipython", lambda: shell(), raising=False)
    env = a_game()
    assert "dealer" in table_text(env._states[0], env.rules)


@pytest.mark.parametrize("name", ["\x1b[31mred", "two\nlines", "x" * 81, "", "\ud800", 5])
def test_names_that_would_spoil_a_screen(name):
    data = a_game().record.to_dict() | {"agents": ["rule", name, "rule", "rule"]}
    with pytest.raises(errors.RecordError, match="printable"):
        GameRecord.from_dict(data)
    with pytest.raises(errors.OptionError, match="printable"):
        agents.register(name, lambda rules, seed=None: None)
    agent = agents.make("random", bideuchre_env.cincinnati_v0.rules, seed=1)
    agent.name = name
    with pytest.raises(errors.OptionError, match="printable"):
        selfplay.play("cincinnati_v0", agent, "random", boards=1)


def test_an_agent_of_other_rules_is_refused():
    other = agents.make("rule", bideuchre_env.cincinnati_v0.rules.replace(target=500))
    with pytest.raises(errors.OptionError, match="other rules"):
        selfplay.play("cincinnati_v0", other, "random", boards=1)


def test_check_goes_on_where_the_screen_has_few_letters(tmp_path):
    """An error quotes what it found in letters any screen has, and the next line is checked."""
    record = a_game().record.to_dict()
    bad = record | {"hands": [record["hands"][0] | {"actions": ["♥"]}]}
    lines = [
        GameRecord(**{k: v for k, v in r.items() if k != "format"}).dumps() for r in (bad, record)
    ]
    file = tmp_path / "games.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    code = "import sys; from bideuchre_env.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", str(file)],
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert "\\u2665" in done.stdout
    assert "1 game" in done.stdout


def test_an_option_of_the_environment_is_no_rule():
    with pytest.raises(errors.OptionError, match=r"give it to \.env\(\)"):
        bideuchre_env.make("barrie_v0", episode="hand")


def test_whole_numbers_of_numpy_are_whole_numbers():
    rules = bideuchre_env.cincinnati_v0.rules.replace(target=np.int64(40))
    assert rules == bideuchre_env.cincinnati_v0.rules.replace(target=40)
    assert type(rules.target) is int
    with pytest.raises(errors.RulesError, match="target"):
        rules.replace(target=np.array([1, 2]))


def test_a_lone_bid_has_a_short_name():
    with pytest.raises(errors.RulesError, match="lone bid name"):
        Rules(lone=[Bid("m" * 33, value=12)], target=32)


@pytest.mark.parametrize(
    "wrong", [{"start": ("a", 1)}, {"start": (10**30, 2)}, {"start": (1.5, 2)}, {"hands": 5}]
)
def test_replaying_checks_what_it_replays(wrong):
    record = a_game().record
    for name, value in wrong.items():
        setattr(record, name, value)
    with pytest.raises(errors.RecordError):
        list(record.replay())


@pytest.mark.parametrize("wrong", [np.float32(0.5), np.int8(-120)])
def test_decode_takes_observations_only(wrong):
    env = a_game()
    observation = env.observe("player_0")["observation"]
    values = np.full(observation.shape, wrong)
    with pytest.raises(errors.OptionError, match=r"layout\.low and layout\.high"):
        env.observation_layout.decode(values)


@pytest.mark.parametrize("seed", range(5))
def test_the_rule_player_stays_within_the_mask_whatever_it_is_shown(seed):
    """Rows no game can give: any numbers within the bounds, or beyond them."""
    rng = np.random.default_rng(seed)
    for variant in bideuchre_env.variants.values():
        agent = agents.make("rule", variant.rules)
        rows = rng.integers(-128, 128, (200, agent.layout.size)).astype(np.int8)
        rows[100:] = rng.integers(agent.layout.low, agent.layout.high.astype(np.int16) + 1)
        masks = (rng.random((200, agent.n_actions)) < 0.1).astype(np.int8)
        masks[:, 0] |= ~masks.any(axis=1)
        choices = agent.act_rows(rows, masks)
        assert masks[np.arange(200), choices].all()
