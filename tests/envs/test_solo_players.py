"""Who plays beside a learner: one, a pair, a pool, other ones by row or from some reset on."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from support.chi_square import assert_fits
from support.solo_helpers import (
    First,
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
from bideuchre_env import Pool, agents
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.envs.solo.rows import KERNEL_NETS, SOMEBODY
from bideuchre_env.errors import IllegalActionError, OptionError

cincinnati = bideuchre_env.cincinnati_v0
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)


class AskedNet(NetAgent):
    """A net that kernels do not know."""


def test_a_pair_is_left_and_right():
    """The first of the pair plays after the learner, the second before it; each is asked apart."""
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
        assert not env.players.keys() & info.keys()  # nobody was drawn


@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0"])
def test_kernels_and_answers_are_the_same_in_every_place(name):
    """The rule player and two nets, in each of the three seats, inside and asked from outside."""
    rules = bideuchre_env.variants[name].rules.replace(max_hands=5)

    def outside(spec):
        return AskedNet if spec == "net" else agents.make(spec, rules)

    for left, partner, right in (
        ("rule", "net", "net:margin=0.5"),
        ("net", "rule", "cautious"),
        ("net:search=true", "random", "net"),
    ):
        players = [left, partner, right]
        for place in range(3):
            if players[place] not in ("rule", "net"):
                continue
            other = [*players[:place], outside(players[place]), *players[place + 1 :]]
            options = {"episode": "hand", "max_hands": 5}
            ours, theirs = (
                bideuchre_env.variants[name].solo_vec(4, opponents=(a, c), partner=b, **options)
                for a, b, c in (players, other)
            )
            assert not ours._rows.seating.asks
            assert theirs._rows.seating.asks
            a, b = (walk_rows(each, 15, 7, careless=40) for each in (ours, theirs))
            assert_same(without_names(a), without_names(b))


def test_more_nets_than_kernels_hold_are_asked():
    """They play the same games there; one net that is said twice is held once."""
    margins = [f"net:margin=0.{i}" for i in range(1, KERNEL_NETS + 2)]
    pool = Pool(*margins, (margins[0], margins[-1]))
    vec = cincinnati.solo_vec(12, opponents=pool, partner=margins[0], episode="hand")
    kinds = vec._rows.seating.kinds.tolist()
    assert kinds.count(SOMEBODY) == 1
    assert kinds[0] == kinds[-1]
    makers = [
        lambda rules, goal, margin=i / 10: AskedNet(rules, margin=margin, goal=goal)
        for i in range(1, KERNEL_NETS + 2)
    ]
    pool = Pool(*makers, (makers[0], makers[-1]))
    twin = cincinnati.solo_vec(12, opponents=pool, partner=margins[0], episode="hand")
    assert_same(without_names(walk_rows(vec, 20, 3)), without_names(walk_rows(twin, 20, 3)))


def test_a_pool_is_drawn_from_by_its_weights():
    """For every episode, pairs as they are said, the partner apart; alike without weights."""
    pool = Pool("rule", ("random", "cautious"), "cautious", weights=(5, 2, 1))
    vec = cincinnati.solo_vec(
        4000, opponents=pool, partner=Pool("rule", "random"), autoreset_mode="Disabled"
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


@every_mode
def test_draws_are_a_function_of_the_rows_seed(mode):
    """Rows of a batch, of any size and threads, are single environments; infos are Gymnasium's."""
    options = {
        "opponents": Pool("rule", ("cautious", First()), "random", weights=(1, 2, 1)),
        "partner": Pool("random", first),
        "episode": "hand",
    }
    vec = cincinnati.solo_vec(5, autoreset_mode=mode, **options)
    sync = SyncVectorEnv([lambda: cincinnati.solo(**options)] * 5, autoreset_mode=mode)
    told, twin = vec.reset(seed=9), sync.reset(seed=9)
    ended = 0
    for turn in range(60):
        assert_same(told, twin, f"step {turn}")
        actions = actions_for(told[0], turn, 30)
        told, twin = vec.step(actions), sync.step(actions)
        over = told[2] | told[3]
        ended += over.sum()
        if mode == AutoresetMode.DISABLED and over.any():
            assert_same(told, twin, f"step {turn}")
            told, twin = (e.reset(options={"reset_mask": over.copy()}) for e in (vec, sync))
    assert ended > 30
    if mode == AutoresetMode.SAME_STEP:
        many = cincinnati.solo_vec(300, threads=2, **options)
        few, all_of_them = cincinnati.solo_vec(5, **options), walk_rows(many, 20, 9)
        for step, part in zip(all_of_them, walk_rows(few, 20, 9), strict=True):
            assert_same({k: v[:5] for k, v in step[0].items()}, part[0])


def test_infos_say_who_played():
    """At the beginning of an episode and at its end; those of the one that is over in between."""
    env = cincinnati.solo(opponents=Pool("rule", ("cautious", "random")), partner=first)
    seen = set()
    for seed in range(20):
        obs, info = env.reset(seed=seed)
        told = {place: info[place] for place in ("left", "partner", "right")}
        assert told == env.players
        illegal = int(np.flatnonzero(obs["action_mask"] == 0)[0])
        _, _, over, _, end = env.step(illegal)
        assert over
        assert {place: end[place] for place in told} == told
        seen.add(tuple(told.values()))
    assert seen == {("rule", "first", "rule"), ("cautious", "first", "random")}
    obs, _ = env.reset(seed=1)
    info = env.step(int(obs["action_mask"].argmax()))[4]
    assert not {"left", "partner", "right"} & info.keys()


def test_the_partner_is_said():
    """It is one and the same as the opponents only where these are one, and it stays who it is."""
    for face in (cincinnati.solo, lambda **options: cincinnati.solo_vec(2, **options)):
        env = face(opponents="rule")
        assert "with rule against rule" in repr(env)
        env.reset(seed=1, options={"opponents": "cautious"})
        assert "with rule against cautious" in repr(env)
        env.reset(options={"partner": Pool("random", "rule")})
        assert "with one of 2: random, rule against cautious" in repr(env)
        env.reset(options={"partner": "random", "opponents": ("rule", "cautious")})
        assert "with random against rule and cautious" in repr(env)
        for several in (("rule", "random"), Pool("rule", "random"), Pool("rule", ("rule", first))):
            with pytest.raises(OptionError, match="partner=None: opponents that differ are no"):
                face(opponents=several)
    vec = cincinnati.solo_vec(3, opponents=["rule", "random", ("rule", "rule")])
    vec.reset(seed=1)
    assert vec.players["partner"].tolist() == ["rule", "random", "rule"]
    assert "with different ones by row against different ones by row" in repr(vec)


def test_a_function_serves_as_an_agent():
    """It gives the actions that an agent gives who chooses alike; each row is asked apart."""
    calls = []

    def counted(observation, mask, calls=calls):
        assert observation.dtype == mask.dtype == np.int8
        calls.append((observation.shape, mask.shape))
        mask = mask.copy()
        observation[:] = 7  # its own
        return int(mask.argmax())

    same = (First(), lambda rules, seed: First(), lambda o, m: int(m.argmax()), counted, first)
    told = [walk_rows(cincinnati.solo_vec(3, opponents=who, partner="rule"), 10, 4) for who in same]
    for other in told[1:]:
        assert_same(without_names(other), without_names(told[0]))
    assert len(set(calls)) == 1
    assert agents.agent_of(first, cincinnati.rules).name == "first"


def test_a_list_is_by_row_and_a_tuple_is_a_pair():
    """Where there are as many rows as there are in a pair, too."""
    by_row = cincinnati.solo_vec(2, opponents=["rule", "cautious"], partner="random")
    pair = cincinnati.solo_vec(2, opponents=("rule", "cautious"), partner="random")
    for vec, right in ((by_row, ["rule", "cautious"]), (pair, ["cautious", "cautious"])):
        vec.reset(seed=1)
        assert vec.players["right"].tolist() == right


class Rating:
    """An object that is called as a function is."""

    def __call__(self, observation, mask, /, *, temperature=1.0):
        return last(observation, mask)

    def rate(self, seen, legal):
        return last(seen, legal)


@pytest.mark.parametrize("who", [Rating(), Rating().rate])
def test_whatever_is_called_with_an_observation_and_its_mask(who):
    options = {"opponents": "rule", "partner": who, "episode": "hand"}
    twin = options | {"partner": last}
    a, b = (walk(cincinnati.solo(**each), 20, 3) for each in (options, twin))
    assert_same(without_names(a), without_names(b))


@pytest.mark.parametrize(
    ("who", "match"),
    [
        (lambda observation: 0, "asks for observation: a factory is called with"),
        (lambda observation, mask, rng: 0, "asks for observation, mask, rng: a factory is"),
        (lambda rules, mask: 0, "asks for mask: .*; a function that acts has the param"),
        (lambda: 3, "agent 3: a name, or an object with act_rows or act"),
    ],
)
def test_a_function_that_is_neither_is_told_in_a_line(who, match):
    with pytest.raises(OptionError, match=match) as caught:
        cincinnati.solo(opponents=who)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (lambda observation, mask: "pass", "agent '<lambda>': act returned 'pass'"),
        (lambda observation, mask: None, "agent '<lambda>': act returned None"),
        (lambda observation, mask: 36, "opponents: agent '<lambda>', row 2: player_3 may not"),
        (lambda observation, mask: 99, "opponents: agent '<lambda>', row 2: .*legal: "),
    ],
)
def test_a_function_that_answers_wrongly_is_named(answer, match):
    """With the row and what was legal; every row has to be reset, and may have other players."""
    vec = cincinnati.solo_vec(3, opponents="random", seat=0)
    vec.reset(seed=1)
    options = {"opponents": ["rule", first, answer], "partner": "cautious", "dealer": 2}
    with pytest.raises(IllegalActionError, match=match):
        vec.reset(seed=4, options=options)
    for mask in (None, np.array([True, False, True])):
        with pytest.raises((IllegalActionError, OptionError), match="reset"):
            vec.step([0] * 3) if mask is None else vec.reset(options={"reset_mask": mask})
    twin = cincinnati.solo_vec(3, opponents="random", seat=0)
    others = {"opponents": "rule", "partner": "random"}
    assert_same(walk_rows(vec, 5, 2, **others), walk_rows(twin, 5, 2, **others))


@pytest.mark.parametrize(
    ("made", "match"),
    [
        (lambda: Pool(), "Pool: one or more players"),
        (lambda: Pool(Pool("rule")), "Pool: .* no pools"),
        (lambda: Pool(["rule"]), "Pool: one or more players"),
        (lambda: Pool("rule", "net", weights=[1]), "a positive number for each of its 2"),
        (lambda: Pool("rule", weights=[0]), "weights="),
        (lambda: Pool("rule", weights=[float("nan")]), "weights="),
        (lambda: Pool("rule", weights=[True]), "weights="),
        (lambda: Pool("rule", weights="1"), "weights="),
        (lambda: Pool("rule", "net", weights=[1e308, 1e308]), "with a finite sum"),
        (lambda: Pool("rule", "net", weights=[1, float("inf")]), "with a finite sum"),
        (lambda: Pool("rule", "net", weights=[1, 10**400]), "with a finite sum"),
        (lambda: Pool("rule", weights=2), "weights="),
    ],
)
def test_pools_that_make_no_sense_are_refused(made, match):
    with pytest.raises(OptionError, match=match):
        made()


def test_a_pool_is_a_value():
    pool = Pool("rule", ("net", "rule"), weights=np.array([1, 3]))
    assert repr(pool) == "Pool('rule', ('net', 'rule'), weights=(1.0, 3.0))"
    assert pool == pickle.loads(pickle.dumps(pool)) == copy.deepcopy(pool)
    assert pool != Pool("rule", ("net", "rule"))
    assert repr(Pool("rule", "net")) == "Pool('rule', 'net')"
