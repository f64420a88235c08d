"""The other players of a learner: an agent, a pair, a pool, a function, a list; their changes."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.chi_square import assert_fits
from support.custom_agents import First
from support.solo_helpers import (
    Spy,
    actions_for,
    assert_same,
    chosen_action,
    first,
    last,
    walk,
    walk_rows,
    without_names,
)

import bideuchre_env
from bideuchre_env import OpponentPool, agents
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.agents.rule.agent import RuleAgent
from bideuchre_env.errors import IllegalActionError, OptionError

cincinnati = bideuchre_env.cincinnati_v0


class PythonNet(NetAgent):
    """A net that is called from Python, because kernels do not know its class."""


class PythonRule(RuleAgent):
    """A rule player that is called from Python."""


def test_pair_of_opponents_is_left_and_right():
    for seat in range(4):
        spies = [Spy(cincinnati.rules) for _ in range(3)]
        env = cincinnati.solo(opponents=(spies[0], spies[1]), partner=spies[2], seat=seat)
        for seed in range(4):
            obs, info = env.reset(seed=seed, options={"dealer": 0})
            for turn in range(2):
                obs, *_ = env.step(chosen_action(obs["action_mask"], obs["observation"], turn))
                if env._rows.states["hands_dealt"][0] > 1:
                    break
        seats = [{(seat + 1) % 4}, {(seat + 3) % 4}, {(seat + 2) % 4}]
        assert all(seats[i] <= spies[i].seats for i in range(3))
        assert env.players == dict.fromkeys(("left", "partner", "right"), "spy")
        assert not env.players.keys() & info.keys()  # no player was drawn at random


@pytest.mark.search
@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0"])
def test_players_in_the_kernels_play_as_agents_do_in_every_place(name):
    variant = bideuchre_env.variants[name].replace(max_hands=5)
    as_agents = {
        "rule": PythonRule,
        "net": PythonNet,
        "net:margin=0.5": lambda rules, goal: PythonNet(rules, goal=goal, margin=0.5),
        "net:search=true,veto=0.2": lambda rules, goal: PythonNet(
            rules, goal=goal, search=True, veto=0.2
        ),
    }
    for players in (
        ("rule", "net", "net:margin=0.5"),
        ("net", "rule", "cautious"),
        ("net:search=true,veto=0.2", "random", NetAgent),
    ):
        for place in range(3):
            if players[place] not in as_agents:
                continue
            called = [*players[:place], as_agents[players[place]], *players[place + 1 :]]
            vecs = [
                variant.solo_vec(4, opponents=(a, c), partner=b, episode="hand")
                for a, b, c in (players, called)
            ]
            assert [bool(vec._rows.assignment.called) for vec in vecs] == [False, True]
            results = [without_names(walk_rows(vec, 15, 7, careless=40)) for vec in vecs]
            assert_same(*results)


@pytest.mark.search
def test_several_nets_in_the_kernels_play_as_agents():
    margins = [f"net:margin=0.{i}" for i in range(1, 4)]
    pool = OpponentPool(*margins, (margins[0], margins[-1]))
    vec = cincinnati.solo_vec(12, opponents=pool, partner=margins[0], episode="hand")
    assert not vec._rows.assignment.called
    makers = [
        lambda rules, goal, margin=i / 10: PythonNet(rules, margin=margin, goal=goal)
        for i in range(1, 4)
    ]
    pool = OpponentPool(*makers, (makers[0], makers[-1]))
    twin = cincinnati.solo_vec(12, opponents=pool, partner=margins[0], episode="hand")
    assert_same(without_names(walk_rows(vec, 20, 3)), without_names(walk_rows(twin, 20, 3)))


def test_pool_is_drawn_by_its_weights():
    pool = OpponentPool("rule", ("random", "cautious"), "cautious", weights=(5, 2, 1))
    vec = cincinnati.solo_vec(
        4000, opponents=pool, partner=OpponentPool("rule", "random"), autoreset_mode="Disabled"
    )
    vec.reset(seed=1)
    for _ in range(2):
        left, partner, right = vec.players.values()
        pairs = [("rule", "rule"), ("random", "cautious"), ("cautious", "cautious")]
        counts = [((left == a) & (right == b)).sum() for a, b in pairs]
        assert_fits(counts, [2500, 1000, 500])
        assert_fits([(partner == "rule").sum(), (partner == "random").sum()], [2000, 2000])
        both = [((partner == "rule") & (left == a) & (right == b)).sum() for a, b in pairs]
        assert_fits(both, [1250, 500, 250])
        before = vec.players
        vec.reset()
    assert 0.3 < (before["left"] == vec.players["left"]).mean() < 0.6


def test_players_have_names_before_the_first_reset_unless_it_draws_them():
    env = cincinnati.solo(opponents=("rule", "cautious"), partner=first)
    assert env.players == {"left": "rule", "partner": "first", "right": "cautious"}
    before = env.players
    env.reset(seed=1)
    assert env.players == before
    vec = cincinnati.solo_vec(2, opponents=["random", ("rule", first)], partner="cautious")
    before = {place: names.tolist() for place, names in vec.players.items()}
    assert before == {
        "left": ["random", "rule"],
        "partner": ["cautious"] * 2,
        "right": ["random", "first"],
    }
    vec.reset(seed=1)
    assert {place: names.tolist() for place, names in vec.players.items()} == before
    drawn = cincinnati.solo(opponents=OpponentPool("rule", "random"), partner="rule")
    with pytest.raises(OptionError, match=r"^nothing has been dealt yet: call reset\(\) first$"):
        print(drawn.players)


def test_infos_name_the_drawn_players():
    env = cincinnati.solo(opponents=OpponentPool("rule", ("cautious", "random")), partner=first)
    seen = set()
    for seed in range(20):
        obs, info = env.reset(seed=seed)
        names = {place: info[place] for place in ("left", "partner", "right")}
        assert names == env.players
        illegal = int(np.flatnonzero(obs["action_mask"] == 0)[0])
        end = env.step(illegal)[4]
        assert {place: end[place] for place in names} == names
        seen.add(tuple(names.values()))
    assert seen == {("rule", "first", "rule"), ("cautious", "first", "random")}


@pytest.mark.parametrize("face", ["solo", "solo_vec"])
def test_partner_is_required_where_opponents_differ(face):
    counts = [2] if face == "solo_vec" else []
    pools = OpponentPool("rule", "random"), OpponentPool("rule", ("rule", first))
    for several in (("rule", "random"), *pools):
        with pytest.raises(OptionError, match="partner=None: expected a player"):
            getattr(cincinnati, face)(*counts, opponents=several)
    env = getattr(cincinnati, face)(*counts, opponents="rule")
    assert "with rule against rule" in repr(env)
    env.reset(seed=1, options={"opponents": "cautious"})
    assert "with rule against cautious" in repr(env)


def test_function_is_an_agent():
    """A function plays as an agent does, and is called for each row separately."""
    calls = []

    def counted(observation, mask, calls=calls):
        assert observation.dtype == mask.dtype == np.int8
        calls.append((observation.shape, mask.shape))
        mask = mask.copy()
        observation[:] = 7  # the array is a copy for this function
        return int(mask.argmax())

    same = (First(), lambda rules, seed: First(), counted, first)
    results = [
        without_names(walk_rows(cincinnati.solo_vec(3, opponents=who, partner="rule"), 10, 4))
        for who in same
    ]
    for other in results[1:]:
        assert_same(other, results[0])
    assert len(set(calls)) == 1
    assert agents.agent_of(first, cincinnati.rules).name == "first"


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (lambda observation, mask: "pass", "agent '<lambda>': act returned 'pass'"),
        (lambda observation, mask: 36, "opponents: agent '<lambda>', row 2: seat 3 may not"),
        (lambda observation, mask: 99, "opponents: agent '<lambda>', row 2: .*legal: "),
    ],
)
def test_function_with_an_invalid_result_is_named(answer, match):
    vec = cincinnati.solo_vec(3, opponents="random", seat=0)
    vec.reset(seed=1)
    options = {"opponents": ["rule", first, answer], "partner": "cautious", "dealer": 2}
    with pytest.raises(IllegalActionError, match=match):
        vec.reset(seed=4, options=options)


def test_unusable_pools_are_refused():
    for players in ((), (OpponentPool("rule"),), (["rule"],)):
        with pytest.raises(OptionError, match="OpponentPool: "):
            OpponentPool(*players)
    inf, nan = float("inf"), float("nan")
    for weights in ([1], "12", 2, [0, 1], [nan, 1], [True, 1], [1e308, 1e308], [1, inf]):
        with pytest.raises(OptionError, match="weights="):
            OpponentPool("rule", "net", weights=weights)


@pytest.mark.search
def test_factory_of_changing_nets_is_called_by_every_reset_with_a_seed():
    margins = []

    def changing(rules, *, seed=None, goal="game"):
        margins.append(0.1 if seed is None else seed % 3 * 0.4)
        return NetAgent(rules, goal=goal, margin=margins[-1])

    env = cincinnati.solo_vec(3, opponents=changing)
    [player] = env._rows.assignment.players.values()
    for seed in range(6):
        env.reset(seed=seed)
        assert player.agent.margin == margins[-1]
    assert len(margins) == 7


every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)


@pytest.mark.search
def test_reset_changes_players_from_that_episode_on():
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


@pytest.mark.search
def test_players_by_row():
    who = ["rule", ("rule", "cautious"), OpponentPool("random", "cautious"), First(), "net", first]
    partners = ["random", OpponentPool("rule", first), "rule", "cautious", last, "net"]
    vec = cincinnati.solo_vec(6, opponents=who, partner=partners, episode="hand")
    ours = walk_rows(vec, 25, 8)
    for i in range(6):
        one = cincinnati.solo_vec(1, opponents=who[i], partner=partners[i], episode="hand")
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
    players = vec._rows.assignment.players.values()
    assert sorted(each.name for each in players) == ["first", "random", "rule"]


def test_agent_seeds_depend_on_the_place_not_on_the_history():
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
