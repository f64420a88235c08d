"""A net beside a learner plays inside the kernels what it plays when it is asked, bit for bit."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from support.solo_helpers import assert_same, chosen_action, without_names

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.envs.solo.rows import NET, RULE, SOMEBODY
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.variants import RULES

cincinnati = bideuchre_env.cincinnati_v0


class Asked(NetAgent):
    """A net that is asked, as an agent of somebody's own is."""

    name = "asked"
    batches = 0

    def choose(self, observations, action_masks):
        Asked.batches += 1
        return super().choose(observations, action_masks)


def asked(**options):
    """What makes such an agent, told the goal as one of the package's own is."""
    return lambda rules, *, seed=None, goal="game": Asked(rules, goal=goal, **options)


def told(variant, steps, **options):
    """Everything a vector environment says over some steps, and what its players are."""
    vec = variant.solo_vec(6, **options)
    out = [vec.reset(seed=11)]
    for turn in range(steps):
        obs = out[-1][0]
        pairs = zip(obs["action_mask"], obs["observation"], strict=True)
        actions = np.array([chosen_action(m, o, turn + i) for i, (m, o) in enumerate(pairs)])
        out.append(vec.step(actions))
    vec.close()
    return out, [player.kind for player in vec._rows.players]


@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0", "simplified_v0"])
def test_it_plays_as_it_does_when_it_is_asked(name):
    """With every option, against it and beside it, for points and for the game."""
    variant = bideuchre_env.variants[name]
    rules = variant.rules.replace(max_hands=5)
    cases = [
        ({"opponents": "net"}, {"opponents": asked()}, [NET]),
        (
            {"opponents": "rule", "partner": "net:margin=0.5", "episode": "hand"},
            {"opponents": "rule", "partner": asked(margin=0.5), "episode": "hand"},
            [RULE, NET],
        ),
        (
            {"opponents": "net:search=true,veto=0.2", "partner": NetAgent, "threads": 2},
            {"opponents": asked(search=True, veto=0.2), "partner": asked()},
            [NET, NET],
        ),
        (
            {"opponents": NetAgent(rules, goal="points"), "partner": asked()},
            {"opponents": lambda rules: Asked(rules, goal="points"), "partner": "net"},
            [NET, SOMEBODY],
        ),
    ]
    for inside, outside, kinds in cases:
        options = {"max_hands": 5, "illegal_reward": -2.0}
        ours, found = told(variant, 40, **inside, **options)
        assert found == kinds
        before = Asked.batches
        theirs, _ = told(variant, 40, **outside, **options)
        assert Asked.batches > before
        assert_same(without_names(ours), without_names(theirs))


def test_kernels_play_it_and_nobody_asks(monkeypatch):
    """Not even once; one learner alone is the same."""
    monkeypatch.setattr(NetAgent, "choose", None)
    told(cincinnati, 20, opponents="net")
    env = cincinnati.solo(opponents="net", partner="cautious", episode="hand")
    seen, over = env.reset(seed=3)[0], False
    while not over:
        seen, _, over, *_ = env.step(int(seen["action_mask"].argmax()))


def test_an_environment_with_it_is_copied_and_sent():
    """Its twin goes on alike."""
    vec = cincinnati.solo_vec(4, opponents="net")
    seen, _ = vec.reset(seed=5)
    twins = (vec, copy.deepcopy(vec), pickle.loads(pickle.dumps(vec)))
    for _ in range(10):
        actions = seen["action_mask"].argmax(axis=1)
        steps = [each.step(actions) for each in twins]
        assert_same(steps[1], steps[0])
        assert_same(steps[2], steps[0])
        seen = steps[0][0]


def test_a_game_that_it_has_not_learned_is_refused():
    """When the environment is made, in the agent's own words."""
    rules = RULES["cincinnati_v0"].replace(copies=2, partnered=(6, 12))
    with pytest.raises(OptionError, match="agent 'net' has no weights for these rules"):
        bideuchre_env.make(rules).solo_vec(2, opponents="net")


def test_whoever_plays_with_others_imports_nothing_of_it():
    code = (
        "import sys, bideuchre_env; "
        "bideuchre_env.cincinnati_v0.solo_vec(2, opponents='rule', partner='random'); "
        "print([name for name in sys.modules if 'learned' in name or 'net_rows' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_name_stands_where_the_players_are_named():
    for name in ("net", "net:margin=0.5"):
        env = cincinnati.solo_vec(2, opponents=name)
        assert env._rows.players[0].name == name
        assert agents.make(name, cincinnati.rules).name == name


@pytest.mark.parametrize("face", ["solo", "solo_vec"])
def test_what_makes_another_net_each_time_is_asked_for_it(face):
    """By every reset with a seed; the game goes as the net of that time plays it."""
    margins = []

    def changing(rules, *, seed=None, goal="game"):
        margins.append(0.1 if seed is None else seed % 3 * 0.4)
        return NetAgent(rules, goal=goal, margin=margins[-1])

    made = getattr(cincinnati, face)
    env = made(3, opponents=changing) if face == "solo_vec" else made(opponents=changing)
    [player] = env._rows.players
    assert player.kind == SOMEBODY
    for seed in range(6):
        env.reset(seed=seed)
        assert player.agent.margin == margins[-1]
    assert len(margins) == 7
    assert len(set(margins)) > 1
