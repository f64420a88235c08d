"""Who plays beside a learner: one, a pair, a pool, other ones by row or from some reset on."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from support.chi_square import assert_fits
from support.solo_helpers import Bad, Spy, assert_same, broken, chosen_action, walk

import bideuchre_env
from bideuchre_env import Pool, agents
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.envs.solo.rows import KERNEL_NETS, SOMEBODY
from bideuchre_env.errors import DealError, IllegalActionError, OptionError

cincinnati = bideuchre_env.cincinnati_v0
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)


def first(observation, mask):
    """The first legal action; a function, and no agent."""
    return int(mask.argmax())


def last(observation, mask):
    """The last legal action."""
    return np.flatnonzero(mask)[-1]


class First:
    """The same as an agent, and by rows."""

    name = "first"

    def act_rows(self, observations, masks):
        return masks.argmax(axis=1)


class AskedNet(NetAgent):
    """A net that kernels do not know."""


def actions_for(obs, turn, careless=0):
    """An action for every row, from what its learner sees."""
    pairs = zip(obs["action_mask"], obs["observation"], strict=True)
    return np.array([chosen_action(m, o, turn + i, careless) for i, (m, o) in enumerate(pairs)])


def walk_rows(vec, steps, seed, careless=0, **options):
    """Everything a vector environment tells over some steps."""
    out = [vec.reset(seed=seed, options=options)]
    for turn in range(steps):
        out.append(vec.step(actions_for(out[-1][0], turn, careless)))
    return out


def unchanged(env):
    """What a refused call may not change."""
    rows = env._rows
    players = tuple((id(each), id(each.agent)) for each in rows.players)
    return rows.states.tobytes(), rows.solos.tobytes(), repr(env), rows.seating.made, players


def asked(spec):
    """Somebody who is asked and plays as the kernels do for this one."""
    return AskedNet if spec == "net" else agents.make(spec, cincinnati.rules)


def named(told):
    """What was told without the names of players."""
    if isinstance(told, dict):
        places = {"left", "partner", "right"}
        return {key: named(told[key]) for key in told if key.lstrip("_") not in places}
    return [named(each) for each in told] if isinstance(told, (list, tuple)) else told


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
        assert info["left"] == info["right"] == info["partner"] == "spy"


@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0"])
def test_kernels_and_answers_are_the_same_in_every_place(name):
    """The rule player and two nets, in each of the three seats, inside and asked from outside."""
    rules = bideuchre_env.variants[name].rules

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
            assert_same(named(a), named(b))


def test_more_nets_than_kernels_hold_are_asked():
    """They play the same games there; one net that is said twice is held once."""
    margins = [f"net:margin=0.{i}" for i in range(1, KERNEL_NETS + 2)]
    pool = Pool(*margins, (margins[0], margins[-1]))
    vec = cincinnati.solo_vec(12, opponents=pool, partner=margins[0], episode="hand")
    kinds = vec._rows.kinds.tolist()
    assert kinds.count(SOMEBODY) == 1
    assert kinds[0] == kinds[-1]
    makers = [
        lambda rules, goal, margin=i / 10: AskedNet(rules, margin=margin, goal=goal)
        for i in range(1, KERNEL_NETS + 2)
    ]
    pool = Pool(*makers, (makers[0], makers[-1]))
    twin = cincinnati.solo_vec(12, opponents=pool, partner=margins[0], episode="hand")
    assert_same(named(walk_rows(vec, 20, 3)), named(walk_rows(twin, 20, 3)))


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


def test_a_reset_changes_them_from_that_episode_on():
    """As if the environment had been made with them; what is not named stays."""
    for options in (
        {"opponents": "rule"},
        {"partner": First},
        {"opponents": (first, "cautious"), "partner": "rule"},
        {"opponents": Pool("net", "rule"), "partner": "cautious"},
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


def test_in_the_batch_by_row():
    """A list has one for each row; None, and rows that are not reset, keep theirs."""
    by_row = ["rule", ("rule", "cautious"), Pool("random", "cautious"), First(), "net", first]
    partners = ["random", Pool("rule", first), "rule", "cautious", last, "net"]
    vec = cincinnati.solo_vec(6, opponents=by_row, partner=partners, episode="hand")
    ours = walk_rows(vec, 25, 8)
    for i in range(6):
        one = cincinnati.solo_vec(1, opponents=by_row[i], partner=partners[i], episode="hand")
        for mine, other in zip(ours, walk_rows(one, 25, 8 + i), strict=True):
            if i == 0:  # a row's actions go by its number
                assert_same({k: v[:1] for k, v in mine[0].items()}, other[0])
    mask = np.array([True, True, True, False, False, False])
    before, states = vec.players, vec._rows.states.copy()
    left = ["cautious", None, None, "random", "nobody", 5]
    _, infos = vec.reset(options={"reset_mask": mask, "opponents": left, "partner": "rule"})
    assert vec._rows.states[~mask].tobytes() == states[~mask].tobytes()
    for place, names in vec.players.items():
        assert (names[~mask] == before[place][~mask]).all()
        assert infos[place][mask].tolist() == names[mask].tolist()
        assert infos[place][~mask].tolist() == [None] * 3
    assert vec.players["left"][:2].tolist() == ["cautious", "rule"]
    assert vec.players["right"][:2].tolist() == ["cautious", "cautious"]
    assert vec.players["partner"].tolist() == ["rule"] * 3 + ["cautious", "last", "net"]
    ends = np.zeros(6, int)
    obs = vec._observations()
    for turn in range(40):
        obs, _, over, cut, _ = vec.step(actions_for(obs, turn))
        ends += over | cut
    assert (ends > 0).all()
    assert vec.players["partner"].tolist() == ["rule"] * 3 + ["cautious", "last", "net"]


@every_mode
def test_episodes_that_begin_by_themselves_go_on_with_the_last_said(mode):
    vec = cincinnati.solo_vec(3, opponents="random", episode="hand", autoreset_mode=mode)
    vec.reset(seed=1)
    mask = np.array([True, False, True])
    obs, _ = vec.reset(options={"reset_mask": mask, "opponents": ("rule", first)})
    for turn in range(30):
        obs, _, over, cut, _ = vec.step(actions_for(obs, turn))
        if mode == AutoresetMode.DISABLED and (over | cut).any():
            obs, infos = vec.reset(options={"reset_mask": over | cut})
    assert vec.players["left"].tolist() == ["rule", "random", "rule"]
    assert vec.players["right"].tolist() == ["first", "random", "first"]
    assert vec.players["partner"].tolist() == ["random"] * 3


def test_players_that_nobody_draws_are_let_go():
    """A league that goes on for long keeps only those who may still be met."""
    vec = cincinnati.solo_vec(4, opponents="random", autoreset_mode="Disabled")
    vec.reset(seed=1)
    for _ in range(20):
        vec.reset(options={"opponents": [First(), Pool(First(), First()), "random", first]})
    assert len(vec._rows.players) == 5
    vec.reset(options={"opponents": "rule", "reset_mask": np.array([True, True, True, False])})
    assert sorted(each.name for each in vec._rows.players) == ["first", "random", "rule"]
    kept = vec._rows.players
    vec.reset(options={"opponents": "rule"})
    assert len(vec._rows.players) == 2
    assert kept[0] in vec._rows.players or kept[1] in vec._rows.players


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
        assert_same(named(other), named(told[0]))
    assert len({shapes for shapes in calls}) == 1
    assert agents.agent_of(first, cincinnati.rules).name == "first"


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
    assert_same(named(a), named(b))


@pytest.mark.parametrize(
    ("who", "match"),
    [
        (lambda observation: 0, "an object with act_rows or act"),
        (lambda observation, mask, rng: 0, "asks for mask, rng: what makes an agent may ask for"),
        (lambda rules, mask: 0, "asks for mask: .* a function that is one for .observation, mask"),
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
    """With the row and what was legal; nothing has moved, the players are as they were."""
    vec = cincinnati.solo_vec(3, opponents="random", seat=0)
    vec.reset(seed=1)
    before = unchanged(vec)
    options = {"opponents": ["rule", first, answer], "partner": "cautious", "dealer": 2}
    with pytest.raises(IllegalActionError, match=match):
        vec.reset(seed=4, options=options)
    assert unchanged(vec) == before
    vec.step(vec.action_masks().argmax(axis=1))


BAD_RESETS = [
    ({"opponents": "nobody"}, "no agent 'nobody'"),
    ({"opponents": 3, "partner": "rule"}, "opponents=3"),
    ({"opponents": "rule", "partner": "nobody"}, "no agent 'nobody'"),
    ({"opponents": ("rule",)}, r"opponents=\('rule',\): a player, a pair \(left, right\), or a"),
    ({"opponents": ("rule", "rule", "rule")}, "a pair"),
    ({"opponents": ("rule", None)}, "opponents=None: the name of an agent"),
    ({"opponents": ("rule", Pool("rule"))}, "opponents=Pool"),
    ({"opponents": Pool("rule", None)}, "opponents=None"),
    ({"partner": ("rule", "rule")}, "partner=.*: one player, or a Pool of players"),
    ({"partner": Pool("rule", ("rule", "rule"))}, "one player, or a Pool"),
    ({"opponents": ["rule", "random"]}, r"a list is by row, .*; a pair is a tuple"),
    ({"partner": ["rule"] * 7}, r"a list is by row"),
    ({"opponents": agents.make("rule", bideuchre_env.barrie_v0.rules)}, "other rules"),
    ({"opponents": "rule", "seat": 9}, "seat 9"),
    ({"opponents": "rule", "deal": [["AS"]] * 4}, "deal"),
]


@pytest.mark.parametrize(("options", "match"), BAD_RESETS)
def test_unsound_options_change_nothing(options, match):
    for env in (cincinnati.solo(), cincinnati.solo_vec(3)):
        env.reset(seed=1)
        before = unchanged(env)
        for seed in (None, 5):
            with pytest.raises((OptionError, DealError), match=match):
                env.reset(seed=seed, options=options)
            assert unchanged(env) == before
        with pytest.raises(OptionError, match="seed=-1"):
            env.reset(seed=-1, options={"opponents": First, "partner": "rule"})
        assert unchanged(env) == before


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


def test_a_reset_that_a_player_spoils_puts_the_old_ones_back():
    vec = cincinnati.solo_vec(4, opponents="rule", seat=0)
    obs, _ = vec.reset(seed=1)
    for turn in range(3):
        obs, *_ = vec.step(actions_for(obs, turn))
    before = unchanged(vec)
    for left in range(4):
        bad = Bad(cincinnati.rules, broken, left)
        with pytest.raises(RuntimeError, match="broke down"):
            vec.reset(options={"opponents": ("net", bad), "partner": bad, "dealer": 0})
        assert unchanged(vec) == before
        assert_same(vec._observations(), obs)
    vec.step(actions_for(obs, 3))


def test_copies_go_their_own_way():
    """Pickled and copied between two steps, some rows with players that nobody else draws."""
    options = {"opponents": Pool("rule", "net", first), "partner": First, "episode": "hand"}
    vec = cincinnati.solo_vec(6, **options)
    walk_rows(vec, 6, 3)
    some = np.arange(6) < 4
    obs, _ = vec.reset(options={"reset_mask": some, "opponents": ("cautious", Spy)})
    twins = [copy.deepcopy(vec), pickle.loads(pickle.dumps(vec)), vec]
    for turn in range(15):
        told = [twin.step(actions_for(obs, turn)) for twin in twins]
        assert_same(told[0], told[1])
        assert_same(told[0], told[2])
        obs = told[0][0]


def test_agents_made_in_a_reset_are_seeded_too():
    """From the last seed: the same calls give the same games; two such agents are two."""
    seeds = []

    def maker(rules, seed):
        seeds.append(seed)
        return agents.make("random", rules, seed=seed)

    def other(rules, seed):
        return maker(rules, seed)

    told = []
    for _ in range(2):
        env = cincinnati.solo(opponents="rule", episode="hand")
        env.reset(seed=3)
        first_reset = env.reset(options={"opponents": (maker, other), "partner": maker})
        told.append([first_reset, *walk(env, 20, None)])
    assert_same(told[0], told[1])
    assert seeds[:3] == seeds[3:]
    assert len(set(seeds)) == 3
