"""Resets that change the other players of a learner, in all rows or in some."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.custom_agents import First
from support.solo_helpers import actions_for, assert_same, first, last, walk, walk_rows

import bideuchre_env
from bideuchre_env import OpponentPool, agents

cincinnati = bideuchre_env.cincinnati_v0
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)


def test_reset_changes_players_from_that_episode_on():
    """After a reset with other players, an environment equals a new one with these players."""
    for options in (
        {"partner": First},
        {"opponents": (first, "cautious"), "partner": "rule"},
        {"opponents": OpponentPool("net", "rule"), "partner": "cautious"},
    ):
        env = cincinnati.solo(opponents="random", partner="cautious", episode="hand")
        walk(env, 10, 3)
        env.reset(options=options)
        made = {"opponents": "random", "partner": "cautious"} | options
        assert_same(walk(env, 30, 5), walk(cincinnati.solo(episode="hand", **made), 30, 5))
        vec = cincinnati.solo_vec(4, opponents="random", partner="cautious", episode="hand")
        walk_rows(vec, 10, 3)
        twin = cincinnati.solo_vec(4, episode="hand", **made)
        assert_same(walk_rows(vec, 30, 5, **options), walk_rows(twin, 30, 5))


def test_players_by_row():
    """A list has a player for each row; None and rows that are not reset keep their players."""
    by_row = [
        "rule",
        ("rule", "cautious"),
        OpponentPool("random", "cautious"),
        First(),
        "net",
        first,
    ]
    partners = ["random", OpponentPool("rule", first), "rule", "cautious", last, "net"]
    vec = cincinnati.solo_vec(6, opponents=by_row, partner=partners, episode="hand")
    ours = walk_rows(vec, 25, 8)
    for i in range(6):
        one = cincinnati.solo_vec(1, opponents=by_row[i], partner=partners[i], episode="hand")
        for mine, other in zip(ours, walk_rows(one, 25, 8 + i), strict=True):
            if i == 0:  # `actions_for` depends on the row's number
                assert_same({k: v[:1] for k, v in mine[0].items()}, other[0])
    mask = np.array([True, True, True, False, False, False])
    before, states = vec.players, vec._rows.states.copy()
    left = ["cautious", None, None, "random", "nobody", 5]
    _, infos = vec.reset(options={"reset_mask": mask, "opponents": left, "partner": "rule"})
    assert vec._rows.states[~mask].tobytes() == states[~mask].tobytes()
    for place, names in vec.players.items():
        assert (names[~mask] == before[place][~mask]).all()
        assert infos[f"_{place}"].tolist() == [False] * 2 + [True] + [False] * 3  # one pool
    assert vec.players["left"][:2].tolist() == ["cautious", "rule"]
    assert vec.players["right"][:2].tolist() == ["cautious", "cautious"]
    assert vec.players["partner"].tolist() == ["rule"] * 3 + ["cautious", "last", "net"]


@every_mode
def test_autoreset_keeps_the_players_of_the_last_reset(mode):
    vec = cincinnati.solo_vec(3, opponents="random", episode="hand", autoreset_mode=mode)
    vec.reset(seed=1)
    mask = np.array([True, False, True])
    obs, _ = vec.reset(options={"reset_mask": mask, "opponents": ("rule", first)})
    for turn in range(30):
        obs, _, over, cut, _ = vec.step(actions_for(obs, turn))
        if mode == AutoresetMode.DISABLED and (over | cut).any():
            obs, _ = vec.reset(options={"reset_mask": over | cut})
    assert vec.players["left"].tolist() == ["rule", "random", "rule"]
    assert vec.players["right"].tolist() == ["first", "random", "first"]
    assert vec.players["partner"].tolist() == ["random"] * 3


def test_unused_players_are_dropped():
    vec = cincinnati.solo_vec(4, opponents="random", autoreset_mode="Disabled")
    vec.reset(seed=1)
    for _ in range(20):
        vec.reset(options={"opponents": [First(), OpponentPool(First(), First()), "random", first]})
    assert len(vec._rows.assignment.players) == 5
    vec.reset(options={"opponents": "rule", "reset_mask": np.array([True, True, True, False])})
    assert sorted(each.name for each in vec._rows.assignment.players.values()) == [
        "first",
        "random",
        "rule",
    ]


def test_agent_seeds_depend_on_the_place_not_on_the_history():
    """The game of a seed is the same after any earlier players."""
    seeds = {}

    def maker(name):
        def make(rules, seed):
            seeds[name] = seed
            return agents.make("random", rules, seed=seed)

        return make

    a, b, c, d = map(maker, "abcd")
    made = {"opponents": OpponentPool(a, (b, "rule"), ("cautious", c)), "partner": d}
    results = []
    for before in ({"opponents": c, "partner": a}, {"opponents": ("rule", b), "partner": d}, made):
        env = cincinnati.solo(episode="hand", **before)
        env.reset(seed=1)
        results.append([env.reset(seed=3, options=made), dict(seeds), *walk(env, 10, None)])
    for other in results[1:]:
        assert_same(results[0], other)
    assert len(set(seeds.values())) == 4
    for options, number in (({"opponents": a}, 0), ({"opponents": "rule", "partner": a}, 1)):
        cincinnati.solo(**options).reset(seed=3)  # the seed of a single player, unchanged
        assert seeds["a"] == np.random.SeedSequence([3, number]).generate_state(1, np.uint64)[0]
    vec = cincinnati.solo_vec(4, opponents=["rule", a, b, a], partner="rule")
    vec.reset(seed=3)
    assert seeds["a"] == np.random.SeedSequence([3, 0, 1, 0]).generate_state(1, np.uint64)[0]
    assert seeds["b"] == np.random.SeedSequence([3, 0, 2, 0]).generate_state(1, np.uint64)[0]
