"""Search agents: options, determinism, time limits, strength, candidates, and playouts."""

from itertools import count
from math import sqrt

import numpy as np
import pytest
from support.agent_games import SEARCH, decisions, look, per_hand, searcher, settled
from support.playthroughs import DIFFERENT

from bideuchre_env import agents
from bideuchre_env.agents.expert.agent import NO_SEARCH
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.agents.learned.shipped import shipped_weights
from bideuchre_env.agents.rule.win_curve import POINT_ALONE
from bideuchre_env.agents.search.agent import LAST_CARDS, InferenceAgent, PimcAgent
from bideuchre_env.agents.search.candidates import (
    HOPELESS,
    NET_ERROR,
    RELIABLE_SIZE,
    add_values,
    begin,
    choose,
    drop_hopeless,
)
from bideuchre_env.agents.search.playouts import play_out
from bideuchre_env.agents.search.workspace import PLAN
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import AUCTION, DEAL, GIVING, NAMING, PASSING, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.features import features_of
from bideuchre_env.learning.network import evaluate, network_of
from bideuchre_env.rules import actions
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel, new_rows
from bideuchre_env.solver import solve

pytestmark = pytest.mark.search


@pytest.mark.parametrize("name", SEARCH)
def test_a_decision_depends_on_seed_and_observation_alone(name):
    rules = RULES["club_v0"]
    cases = decisions(rules, 6, seed=2, every=3)
    rows, masks = np.stack([row for row, _, _ in cases]), np.stack([mask for _, mask, _ in cases])
    agent = searcher(name, rules, seed=11)
    together = agent.act_rows(rows, masks)
    order = np.random.default_rng(1).permutation(len(rows))
    assert np.array_equal(agent.act_rows(rows[order], masks[order]), together[order])
    again = searcher(name, rules, seed=11)
    assert [again.act(rows[i], masks[i]) for i in range(len(rows))] == together.tolist()
    other = searcher(name, rules, seed=12).act_rows(rows, masks)
    assert not np.array_equal(other, together)


@pytest.mark.parametrize("name", SEARCH)
def test_a_mask_of_another_position_is_answered_without_a_search(name):
    """The search never tries a card that the seat does not hold."""
    rules = RULES["barrie_v0"]
    agent, expert = searcher(name, rules), agents.make("expert", rules)
    cards = agents.make("net:search=true", rules) if name == "inference" else expert
    for row, mask, state in decisions(rules, 2, seed=3, every=3):
        wrong = np.ones_like(mask)
        calls = state["phase"] in (AUCTION, NAMING)
        assert agent.act(row, wrong) == (expert if calls else cards).act(row, wrong)
        assert agent.space.plans[0]["n"] == 0 or mask.all()


def test_option_solved_is_the_number_of_tricks_that_the_solver_plays():
    """With at most `solved` tricks left there are no playouts, so the choice is the same."""
    rules = RULES["cincinnati_v0"]
    positions = [d for d in decisions(rules, 16, seed=8, every=2) if d[2]["phase"] == PLAY]
    positions = [d for d in positions if d[2]["trick"] < rules.tricks - LAST_CARDS]
    choices = {}
    for solved in (0, 3, 12):
        agent = searcher("pimc", rules, worlds=30, solved=solved)
        agent.standard_errors = 0.0
        choices[solved], ready = [], set()
        for row, mask, _ in positions:
            choices[solved].append(agent.act(row, mask))
            ready.add(int(agent.space.plans["solver_ready"][0]))
        assert (1 in ready) == (solved > 0)
    last = [i for i, d in enumerate(positions) if d[2]["trick"] >= 3]
    assert [choices[3][i] for i in last] == [choices[12][i] for i in last]
    assert choices[3] != choices[12]
    assert choices[3] != choices[0]


@pytest.mark.parametrize("name", SEARCH)
def test_a_decision_ends_at_its_time_limit(name):
    """The clock is read after each batch of four worlds; at least one batch is tried."""
    rules, some = RULES["cincinnati_v0"], 8 if name == "pimc" else 4
    played = [d for d in decisions(rules, 4, seed=5) if d[2]["phase"] == PLAY and d[1].sum() > 2]
    row, mask, _ = played[0]
    for tick, fewest, most in ((1.0, 4, 4), (0.002, some, 24), (0.0, 200, 200)):
        clock = count(0.0, tick).__next__
        agent = agents.make(name, rules, seed=1, worlds=200, milliseconds=10, clock=clock)
        assert mask[agent.act(row, mask)]
        assert fewest <= agent.space.plans[0]["total"] <= most


def test_pimc_beats_rule():
    rules = RULES["cincinnati_v0"]
    pimc, rule = searcher("pimc", rules, worlds=20, played_out=40), agents.make("rule", rules)
    mean, half = per_hand(rules, pimc, rule, 240, seed=1)
    assert mean - half > 0.0


FIRST, SECOND, THIRD = 11, 12, 13
NO_CALLS = compile_tables(RULES["partners_best_v0"])  # of a game in which these are no calls


def plan_of(priors, gains, *, prior_error=0.0, worlds=0, spread=0.0):
    """A search plan with candidates 11, 12, ..., of which the first is the expert's action.

    In half of the worlds a candidate gains its entry of `gains` plus `spread`, in the others its
    entry minus `spread`. `priors` and `prior_error` are the net's values and their error; `worlds`
    is the number of worlds tried. The result is an array of one plan.
    """
    plans = new_rows(PLAN, 1)
    plan, n = plans[0], len(priors)
    plan["expert_action"], plan["n"], plan["design_effect"], plan["prior_unit"] = FIRST, n, 1.0, 1.0
    plan["actions"][:n], plan["priors"][:n] = range(FIRST, FIRST + n), priors
    plan["prior_errors"][1:n], plan["has_priors"] = prior_error, prior_error > 0.0
    plan["total"], plan["total_squares"] = worlds, worlds
    plan["sums"][:n] = worlds * np.array(gains)
    plan["squares"][1:n] = worlds * (np.array(gains[1:]) ** 2 + spread**2)
    return plans


def left_of(plans):
    """The candidates that remain after the hopeless ones are dropped."""
    n = drop_hopeless(plans)
    assert n == plans["n"][0]
    return plans["actions"][0][:n].tolist()


FAR = HOPELESS * 0.5  # limit for a candidate behind by priors with an error of 0.5
BEHIND = HOPELESS * 0.1  # the same by trials with an error of 0.1
TRIED = {"worlds": 101, "spread": 1.0}  # a standard error of 0.1
ERROR = 0.1 * 0.2 / sqrt(0.1**2 + 0.2**2)  # of a trial and a prior together
WEIGHED = TRIED | {"prior_error": 0.2}


@pytest.mark.parametrize(
    ("plan", "left"),
    [
        (plan_of([0.0, -FAR - 0.01, -FAR + 0.01], [0] * 3, prior_error=0.5), [FIRST, THIRD]),
        (plan_of([0.0] * 3, [0] * 3), [FIRST, SECOND, THIRD]),  # nothing is known
        (plan_of([0.0, 5.0, 4.9], [0] * 3, prior_error=0.1), [FIRST, SECOND, THIRD]),
        (plan_of([0.0, 5.0, 1.0], [0] * 3, prior_error=0.1), [FIRST, SECOND]),
        (plan_of([0.0, 0.0], [0.0, -BEHIND - 0.001], **TRIED), [FIRST]),
        (plan_of([0.0, 0.0], [0.0, -BEHIND + 0.001], **TRIED), [FIRST, SECOND]),
        (plan_of([0.0] * 2, [0.0, -1.25 * (HOPELESS * ERROR + 0.001)], **WEIGHED), [FIRST]),
        (plan_of([0.0] * 2, [0.0, -1.25 * (HOPELESS * ERROR - 0.001)], **WEIGHED), [FIRST, SECOND]),
        (plan_of([0.0, 0.0], [0.0, 0.0], worlds=RELIABLE_SIZE), [FIRST, SECOND]),
        (plan_of([0.0, 0.0], [0.0, -3.0], worlds=RELIABLE_SIZE), [FIRST, SECOND]),
        (plan_of([0.0, 0.0], [0.0, 0.0], worlds=RELIABLE_SIZE + 1), [FIRST]),
        (plan_of([0.0, 0.0], [0.0, -3.0], worlds=RELIABLE_SIZE + 1), [FIRST]),
    ],
)
def test_candidates_behind_by_several_errors_are_dropped_but_the_experts_never(plan, left):
    assert left_of(plan.copy()) == left


def test_the_error_of_the_best_candidate_counts_too():
    """A candidate's constant gain of 0.9 is not hopeless against a noisy gain of 1."""
    plans = plan_of([0.0] * 3, [0.0, 1.0, 0.9], worlds=101, spread=1.0)
    plans["squares"][0, 2] = 101 * 0.81
    assert left_of(plans) == [FIRST, SECOND, THIRD]


@pytest.mark.parametrize(
    ("expected", "other", "doubted"),
    [
        ("bid 4 H", "bid 4 D", True),
        ("bid 4 H", "bid call-2 H", True),
        ("pass", "bid call-2 H", True),
        ("bid call-2 H", "bid call-2 D", False),
        ("bid 4 H", "bid 3 D", False),
        ("bid 4 H", "pass", False),
        ("KH", "AH", False),
    ],
)
def test_a_call_that_people_would_not_expect_must_be_better_by_a_standard_error(
    expected, other, doubted
):
    """Among calls of about the same worth: another strain of the same bid, or alone."""
    rules = RULES["barrie_v0"]
    names, tables = list(actions.of(rules).names), compile_tables(rules)
    for gain in (0.5 * ERROR, 1.5 * ERROR):
        plans = plan_of([0.0, 0.0], [0.0, gain / 0.8], **WEIGHED)
        plans["actions"][0][:2] = names.index(expected), names.index(other)
        plans["expert_action"] = names.index(expected)
        right = expected if doubted and gain < ERROR else other
        assert names[choose(plans, tables, 1.0)] == right


@pytest.mark.parametrize("prior_error", [0.0, 0.5])
@pytest.mark.parametrize("gain", [0.0625, 0.3, 1.0])
def test_a_constant_gain_in_all_worlds_is_chosen(gain, prior_error):
    plans = plan_of([0.0] * 4, [0.0, gain, gain / 2, gain], worlds=80, prior_error=prior_error)
    assert left_of(plans)[:2] == [FIRST, SECOND]
    assert THIRD not in plans["actions"][0][: plans["n"][0]]
    assert choose(plans, NO_CALLS, 1.0) in (SECOND, SECOND + 2)


@entry_kernel
def add_worlds(plans, values, weights):
    """Add worlds with these values of the candidates, (w, n), and weights, (w,), to the plan."""
    for i in range(len(weights)):
        for j in range(values.shape[1]):
            plans[0].values[j] = values[i, j]
        add_values(plans[0], weights[i])


def test_a_world_of_weight_three_counts_as_three_equal_worlds():
    values = np.random.default_rng(1).normal(size=(5, 3))
    once, thrice = plan_of([0.0] * 3, [0.0] * 3), plan_of([0.0] * 3, [0.0] * 3)
    add_worlds(once, values, np.full(5, 3.0))
    add_worlds(thrice, np.repeat(values, 3, axis=0), np.ones(15))
    for name in ("sums", "squares", "total"):
        assert np.allclose(once[name], thrice[name], rtol=1e-12), name
    assert np.allclose(once["squares"][0, 1], 3 * ((values[:, 1] - values[:, 0]) ** 2).sum())


def test_dependent_worlds_count_less():
    plans = plan_of([0.0, 0.0], [0.0, 0.0], worlds=RELIABLE_SIZE + 1)
    plans["total_squares"] *= 2  # as with Markov chains
    assert left_of(plans) == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("plan", "chosen"),
    [
        (plan_of([0.0, -0.3], [0.0, 0.1], **WEIGHED), SECOND),  # (4 * 0.1 - 0.3) / 5 > 0
        (plan_of([0.0, -0.5], [0.0, 0.1], **WEIGHED), FIRST),
        (plan_of([0.0, 0.0], [0.0, 0.11], **TRIED), SECOND),  # one error of 0.1
        (plan_of([0.0, 0.0], [0.0, 0.09], **TRIED), FIRST),
    ],
)
def test_priors_and_trials_are_weighed_by_their_errors(plan, chosen):
    assert choose(plan, NO_CALLS, 1.0) == chosen


@pytest.mark.parametrize(("all_worlds", "chosen"), [(0.0, FIRST), (11.0, FIRST), (10.0, SECOND)])
def test_once_all_worlds_are_tried_the_gain_alone_decides(all_worlds, chosen):
    plans = plan_of([0.0, -0.5], [0.0, 0.1], prior_error=0.5, worlds=10, spread=3.0)
    plans["all_worlds"] = all_worlds
    assert choose(plans, NO_CALLS, 1.0) == chosen


@entry_kernel
def finished(space, net):
    """The tricks of side 0 after the simulated world is played out."""
    return play_out(space, net)


def in_python(rules, state, calls, cards, left=0):
    """The state after `calls` plays the auction and `cards` the rest, with `left` tricks left."""
    states, tables = state.copy().reshape(1), compile_tables(rules)
    while states["phase"][0] < DEAL:
        if states["phase"][0] == PLAY and rules.tricks - states["trick"][0] <= left:
            break
        player = calls if states["phase"][0] in (AUCTION, NAMING) else cards
        apply_rows(
            states, tables, np.arange(1), player.act_rows(*look(rules, states, np.arange(1)))
        )
    return states[0]


@pytest.mark.parametrize("variant", DIFFERENT)
def test_playouts_use_calls_of_the_expert_and_cards_of_the_net_or_expert(variant):
    rules = RULES[variant]
    inference = InferenceAgent(rules, seed=1, solved=0)
    expert, net = agents.make("expert", rules, wanted=NO_SEARCH), agents.make("net", rules)
    by_expert = PimcAgent(rules, seed=1, solved=0)
    inference.space.plans["plays_net"] = 1
    phases, differ = set(), 0
    for _, _, state in decisions(rules, 3, seed=12):
        phases.add(int(state["phase"]))
        for agent, cards in ((inference, net), (by_expert, expert)):
            agent.space.simulated[0] = state
            won = finished(agent.space, agent.cards)
            end = in_python(rules, state, expert, cards)
            assert won == end["tricks_won"][0]
            assert np.array_equal(agent.space.simulated[0]["plays"], end["plays"])
        differ += not np.array_equal(inference.space.simulated[0]["plays"], end["plays"])
    expected = {AUCTION, PLAY} if rules.strain_named == "in_bid" else {AUCTION, NAMING, PLAY}
    if any(bid.exchange for bid in rules.lone):
        expected |= {GIVING, PASSING}
    assert phases >= expected
    assert differ > 3


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_the_solver_plays_the_last_tricks_of_a_playout(variant):
    rules = RULES[variant]
    inference = InferenceAgent(rules, seed=1, solved=3)
    inference.space.plans["plays_net"] = 1
    expert, net = agents.make("expert", rules, wanted=NO_SEARCH), agents.make("net", rules)
    checked = 0
    for _, _, state in decisions(rules, 6, seed=13, every=5):
        left = in_python(rules, state, expert, net, left=3)
        inference.space.simulated[0], inference.space.plans["solver_ready"] = state, 0
        won = finished(inference.space, inference.cards)
        if left["phase"] == PLAY:
            more, still = solve(left.reshape(1), rules=rules), rules.tricks - left["trick"]
            assert won == left["tricks_won"][0] + (still - more if left["turn"] & 1 else more)
            checked += 1
    assert checked > 10


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0", "double_deck_v0"])
@pytest.mark.parametrize("goal", ["points", "game"])
def test_priors_are_the_outputs_of_the_net(variant, goal):
    """The net's card is the first candidate; priors are the network's outputs, in points."""
    rules, checked = RULES[variant], 0
    agent = InferenceAgent(rules, seed=1, goal=goal)
    net, plain = NetAgent(rules, search=True), NetAgent(rules, margin=0.0)
    network = network_of(shipped_weights("net", rules), "cards")
    plan = agent.space.plans
    for row, mask, state in decisions(rules, 3, seed=4, every=2):
        rows, masks = row[np.newaxis], mask[np.newaxis]
        begin(agent.space, rows, masks, 0)
        before = plan.copy()
        agent.open(rows, masks, 0)
        if state["phase"] in (AUCTION, NAMING):
            assert plan.tobytes() == before.tobytes()
            continue
        assert plan["expert_action"][0] == net.act(row, mask)
        n = int(plan["n"][0])
        if n < 2 or plan["has_priors"][0] == 0 or plan["certain"][0]:
            continue
        _, tried = settled(rules, rows, masks)
        outputs, legal, _ = evaluate(network, features_of(rules, "cards"), rows, tried)
        points = plan["priors"][0, :n] / plan["prior_unit"][0]
        expected = outputs[legal == 1]
        assert np.sort(points) == pytest.approx(np.sort(expected), abs=1e-4)
        unit = float(plan["prior_unit"][0])
        assert (plan["prior_errors"][0, :n] == NET_ERROR * unit).all()
        if goal == "points" and state["phase"] == PLAY:
            assert unit == pytest.approx(POINT_ALONE, rel=1e-6)
        best = set(plan["actions"][0, :n][points > points.max() - 1e-4].tolist())
        assert plain.act(row, mask) in best
        checked += 1
    assert checked > 12


def test_the_net_gives_priors_where_it_has_weights():
    cincinnati, strange = RULES["cincinnati_v0"], RULES["cincinnati_v0"].replace(ranks="10")
    assert InferenceAgent(cincinnati).net is not None
    assert PimcAgent(cincinnati).net is None
    assert agents.make("pimc:net_cards=true", cincinnati).net is not None
    assert agents.make("inference:net_cards=false", cincinnati).net is None
    assert InferenceAgent(strange).net is None
    with pytest.raises(OptionError, match="agent 'net' has no weights for these rules"):
        agents.make("inference:net_cards=true", strange)
    with pytest.raises(OptionError, match="net_cards=1: expected True, False or None"):
        InferenceAgent(cincinnati, net_cards=1)
