"""Advice: choice, figures, hidden information, errors, and sentences that are true."""

import re
from math import sqrt

import numpy as np
import pytest
from support.agent_games import (
    SEARCH,
    decisions,
    limit_listing,
    look,
    redeals,
    start,
    varied_decisions,
)
from support.playthroughs import DIFFERENT, SIX

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env._intervals import Interval
from bideuchre_env.agents.advice import Advisor, advise, advise_row
from bideuchre_env.agents.advice.figures import Counted, effective, error, interval, share
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.expert.agent import NO_SEARCH
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import AUCTION, DEAL, GIVING, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.variants import RULES

pytestmark = pytest.mark.search

AGENTS = {name: name for name in ("rule", "expert", "net")}
AGENTS |= {name: f"{name}:worlds=8,played_out=12" for name in ("pimc", "inference")}


def unwrapped(advice):
    return " ".join(advice.text().split())


@pytest.mark.parametrize("name", AGENTS)
def test_advice_has_the_choice_of_its_agent(name, monkeypatch):
    if name != "inference":
        limit_listing(monkeypatch)
    for variant in DIFFERENT if name in SEARCH else SIX:
        rules = RULES[variant]
        advisor = Advisor(rules, AGENTS[name], 4 if name in ("rule", "expert", "net") else None)
        agent = agents.make(AGENTS[name], rules, seed=0)
        if name == "inference":
            agent.sampler.list_all_hands()  # advice enumerates hands, too
        if name in SEARCH:
            agent.expect_people()  # as advice does
        for row, mask, state in varied_decisions(rules, 3, seed=21):
            advice = advisor.of_row(state)
            assert advice.choice.action == agent.act(row, mask), (variant, str(advice))
            assert advice.best is advice.options[0]
            assert (advice.best.loss, advice.best.error) == (0.0, 0.0)
            assert advice.agent == agent.name
            assert advice.seat == state["turn"]
            assert all(mask[option.action] for option in advice.options)
            assert all(option.behind.mean > -1e-12 for option in advice.options)
            figure = "points" if advice.goal == "points" else "wins"
            means = [getattr(option, figure).mean for option in advice.options]
            assert max(means) == means[0]
            assert advice.legal == mask.sum()
            if advice.legal > 1:
                assert advice.choice.name in advice.headline
                tried = f"{len(advice.options)} of {advice.legal} legal" in unwrapped(advice)
                assert tried != advice.few
            assert not advice.few or not re.search(r"%|±|points", advice.text())


def played_out(rules, state, action, n, seed):
    """Play out n uniform deals after an action in Python; return three arrays for its side.

    They are the point differences, the tricks, and whether the contract was made if ours, or set
    if theirs. The last array has only deals with a contract; after a bid, with the seat's own.
    The expert plays all seats after a call, the net after a card, both without a search.
    """
    tables, seat, calling = compile_tables(rules), int(state["turn"]), state["phase"] < GIVING
    player = (
        agents.make("expert", rules, wanted=NO_SEARCH) if calling else agents.make("net", rules)
    )
    states = redeals(rules, state, n, seed)
    apply_rows(states, tables, np.arange(n), np.full(n, action, np.int64))
    while len(live := np.flatnonzero(np.asarray(states["phase"]) < DEAL)):
        apply_rows(states, tables, live, player.act_rows(*look(rules, states, live)))
    side, won = seat & 1, np.asarray(states["tricks_won"])
    points = np.asarray(states["points"]).astype(float)
    declarer, level = np.asarray(states["declarer"]), np.asarray(states["level"])
    need = np.asarray(tables["need"][0])[level]
    made = won[np.arange(n), declarer & 1] >= need
    good = np.where(declarer & 1 == side, made, ~made) * (level >= 0)
    bids = 0 < action < actions.of(rules).trump_offset
    among = declarer == seat if bids else level >= 0
    return points[:, side] - points[:, 1 - side], won[:, side], good[among]


@pytest.mark.parametrize("variant", DIFFERENT)
def test_figures_agree_with_playouts_in_python(variant):
    rules, n = RULES[variant], 300
    advisor = Advisor(rules, f"inference:solved=0,considered=0,worlds={n},played_out=150")
    checked = 0
    for _, _, state in varied_decisions(rules, 2, seed=31):
        advice = advisor.of_row(state)
        for option in advice.options[:2]:
            points, tricks, good = played_out(rules, state, option.action, n, seed=1000)
            error = sqrt((points.std() ** 2 / n) + (option.points.half / 1.96) ** 2)
            assert abs(points.mean() - option.points.mean) <= 4.5 * error + 1e-9
            if option.made is not None and len(good) >= 30 and option.made.half < 0.15:
                error = sqrt(0.25 / len(good) + (option.made.half / 1.96) ** 2)
                assert abs(good.mean() - option.made.mean) <= 4.5 * error
            if state["phase"] != AUCTION:
                error = tricks.std() * sqrt(2 / n)
                assert abs(tricks.mean() - option.tricks) <= 4.5 * error + 1e-9
            checked += 1
    assert checked >= 6


@pytest.mark.parametrize("variant", DIFFERENT)
def test_hidden_cards_change_no_advice(variant):
    rules = RULES[variant]
    advisor, moved = Advisor(rules, worlds=6), 0
    for number, (_, _, state) in enumerate(varied_decisions(rules, 4, seed=9)):
        twin = redeals(rules, state, 1, seed=number)[0]
        moved += not np.array_equal(twin["hands"], state["hands"])
        assert advisor.of_row(state) == advisor.of_row(twin)
    assert moved > 3


def test_every_source_gives_the_same_advice(monkeypatch):
    limit_listing(monkeypatch)
    env = bideuchre_env.barrie_v0()
    env.reset(seed=5)
    for _ in range(3):
        env.step(int(env.last()[0]["action_mask"].nonzero()[0][0]))
    seen = env.last()[0]
    advice = advise(env, "rule", worlds=10)
    assert advice == advise(env.unwrapped, "rule", worlds=10)
    assert advice == agents.advise(env, "rule", worlds=10)
    assert advice == advise_row(env.unwrapped.get_state(), env.unwrapped.rules, "rule", worlds=10)
    alone = advise(seen, "rule", rules=env.unwrapped.rules, worlds=10)
    assert alone == advise(seen["observation"], "rule", rules=env.unwrapped.rules, worlds=10)
    assert (advice.seat, alone.seat) == (int(env.agent_selection[-1]), 0)
    assert advice.options == alone.options
    assert advice.worlds <= 10


def test_a_requested_action_is_among_the_options():
    rules = RULES["barrie_v0"]
    advisor = Advisor(rules, worlds=6)
    for _, mask, state in varied_decisions(rules, 4, seed=4):
        action = int(np.flatnonzero(mask)[-1])
        assert advisor.of_row(state, [action]).option(action).name
        with pytest.raises(IllegalActionError, match="expected a legal action"):
            advisor.of_row(state, [int(np.flatnonzero(mask == 0)[0])])
    with pytest.raises(KeyError):
        advisor.of_row(state).option(-1)


def test_invalid_arguments_are_one_line_errors():
    rules = RULES["cincinnati_v0"]
    row, mask, state = decisions(rules, 1, seed=1)[0]
    over = start(rules, 1)
    over["phase"] = DEAL
    wrong = np.ones_like(mask)
    cases = [
        (lambda: advise("no table"), "an AEC environment, or an observation"),
        (lambda: advise(row), "ndarray with rules=None: "),
        (lambda: advise(row.astype(float), rules=rules), "not float64"),
        (lambda: advise({"observation": row, "action_mask": wrong}, rules=rules), "action_mask"),
        (lambda: advise(np.zeros_like(row), rules=rules), "expected that of a seat to act"),
        (lambda: advise(bideuchre_env.barrie_v0(), rules=rules), "has its own"),
        (lambda: advise_row(7, rules), "one row of STATE"),
        (lambda: advise_row(over, rules), "no position of this game"),
        (lambda: advise_row(start(rules, 2), rules), "one row of STATE"),
        (lambda: advise_row(state, rules, worlds=0), "worlds=0"),
        (lambda: advise_row(state, rules, milliseconds=-1), "milliseconds=-1"),
        (lambda: advise_row(state, rules, seed=-1), "seed=-1"),
    ]
    for ask, words in cases:
        with pytest.raises(OptionError) as caught:
            ask()
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)

    class Cheat:
        def act(self, observation, action_mask):
            return int(action_mask.argmin())

    with pytest.raises(IllegalActionError, match="which is not legal"):
        advise_row(state, rules, Cheat())


def test_intervals_depend_on_the_effective_sample_size():
    values, even, heavy = np.array([1.0, 3.0, 1.0, 3.0]), np.ones(4), np.array([9.0, 1.0, 1.0, 1.0])
    assert effective(even) == 4
    assert effective(heavy) == pytest.approx(144 / 84)
    assert effective(np.zeros(4)) == 0
    assert interval(values, heavy).half > 2 * interval(values, even).half
    assert interval(values, even).mean == 2
    assert effective(even, 2.0) == 2  # dependent worlds, with a design effect of 2
    assert interval(values, even, 2.0).half > 2 * interval(values, even).half
    assert share(np.array([1, 0, 1, 0]), even, 2.0).half > share(np.array([1, 0, 1, 0]), even).half
    alone = interval(values, np.array([0.0, 5.0, 0.0, 0.0]))
    assert (alone.mean, alone.low, alone.half) == (3.0, None, np.inf)
    assert share(np.array([1, 0, 1, 0]), heavy).mean == pytest.approx(10 / 12)
    assert share(np.array([1, 0, 1, 0]), np.zeros(4)) is None


def test_figures_of_enumerated_deals_are_exact():
    """With `design_effect` 0 intervals have no width."""
    values, heavy = np.array([1.0, 0.0, 1.0]), np.array([9.0, 1.0, 1.0])
    assert interval(values, heavy, 0.0) == Interval(10 / 11, 10 / 11, 10 / 11)
    assert share(values, heavy, 0.0) == Interval(10 / 11, 10 / 11, 10 / 11)
    assert error(values, np.array([1.0, 0.0, 0.0]), 0.0) == 0.0
    assert share(values, np.zeros(3), 0.0) is None
    assert Counted([1], np.zeros((3, 1)), heavy, np.zeros((3, 4)), 0.0).effective == 3
    rules, exact = RULES["cincinnati_v0"], 0
    for _, mask, state in decisions(rules, 4, seed=8):
        if state["phase"] == PLAY and state["trick"] >= 3 and mask.sum() > 1:
            advice = advise_row(state, rules)
            exact += advice.worlds > 1 and max(each.points.half for each in advice.options) == 0.0
    assert exact > 2


CERTAIN = re.compile(
    r"wins the trick|nothing still out beats it|left, and wins[;:.]|wins: no|take every trick left"
)


@pytest.mark.parametrize("variant", DIFFERENT)
def test_sentences_about_tricks_are_true(variant, monkeypatch):
    """A trick that advice calls won is won for all hands and cards of the other seats."""
    limit_listing(monkeypatch)
    rules = RULES[variant]
    tables, rng = compile_tables(rules), np.random.default_rng(1)
    advisor, certain = Advisor(rules, "rule", worlds=4), 0
    choices = [d for d in decisions(rules, 6, seed=14) if d[1].sum() > 1]
    for _, mask, state in choices[:: max(1, len(choices) // 60)]:
        advice = advisor.of_row(state)
        assert re.fullmatch(r"[A-Z0-9][^\n]*[a-zA-Z0-9]\)?\.", advice.why), advice.why
        assert advice.why.count("(") == advice.why.count(")")
        assert "  " not in advice.why
        if state["phase"] != PLAY or not CERTAIN.search(advice.why.split(";")[0] + ";"):
            continue
        certain += 1
        [option] = [each for each in advice.options if advice.why.startswith(each.name)]
        for number in range(12):
            states = redeals(rules, state, 1, seed=number)
            apply_rows(states, tables, np.arange(1), np.array([option.action]))
            while states["trick"][0] == state["trick"] and states["phase"][0] == PLAY:
                legal = np.flatnonzero(look(rules, states, np.arange(1))[1][0])
                apply_rows(states, tables, np.arange(1), rng.choice(legal, 1))
            side = int(state["turn"]) & 1
            won = states["tricks_won"][0][side] - state["tricks_won"][side]
            assert won == 1, (advice.why, number)
        assert mask[option.action]
    assert certain > 3


def test_the_seed_of_the_advice_fixes_the_deals_of_a_given_agent():
    rules = RULES["cincinnati_v0"]
    row = known_position(rules, ["JH", "JD", "AH", "KH", "QS", "9C"], calls=["pass"])
    mine = agents.make("inference", rules, seed=3)
    one, two = (advise_row(row, rules, mine, seed=seed) for seed in (1, 2))
    assert one.options[0].action == two.options[0].action
    assert {o.points.mean for o in one.options} != {o.points.mean for o in two.options}
