"""Agents are legal in every game and on random observations, and blind to hidden cards."""

import itertools
import random

import numpy as np
import pytest
from support.agent_games import (
    LEARNED,
    SEARCH,
    look,
    play_games,
    play_on,
    redeals,
    searcher,
    shipped,
    start,
    varied_decisions,
)
from support.strategies import random_rules

from bideuchre_env import agents
from bideuchre_env.core.state import AUCTION, GIVING, NAMING, PASSING, PLAY
from bideuchre_env.rules.variants import RULES

FAST = ("random", "cautious", "rule")
ALL = (*FAST, "expert", "ppo", "net", "net:search=true", "net:goal=points", *SEARCH)


def made(name, rules, **options):
    """An agent by name; search agents have few worlds, in double deck only one."""
    if name not in SEARCH:
        return agents.make(name, rules, seed=1)
    worlds = 1 if rules == RULES["double_deck_v0"] else 3
    return searcher(name, rules, **{"worlds": worlds, "played_out": 5 * worlds, **options})


def variants_of(name):
    """The variants that an agent can play."""
    kind = name.partition(":")[0]
    return shipped(kind) if kind in LEARNED else tuple(RULES)


def custom_games(name):
    """Random rules; for nets the variants with another opening lead."""
    if name.partition(":")[0] in LEARNED:
        return [RULES[variant].replace(opening_lead="eldest") for variant in variants_of(name)]
    rng = random.Random(8)
    return [random_rules(rng).replace(max_hands=12) for _ in range(12 if name in SEARCH else 30)]


def each_in_its_variants(names):
    """All pairs (agent, variant) of these agents and the variants that each can play."""
    return [(name, variant) for name in names for variant in variants_of(name)]


@pytest.mark.parametrize(("name", "variant"), each_in_its_variants(ALL))
def test_every_agent_is_legal_in_every_variant(name, variant):
    """The agent plays whole games (search agents: hands) against random, rule and itself."""
    rules = RULES[variant]
    agent, reckless, rule = made(name, rules), made("random", rules), made("rule", rules)
    if name in SEARCH:
        play_on(rules, start(rules, 5, seed=6), (agent, rule), hands=2)
        play_on(rules, start(rules, 5, seed=7), (reckless, agent), hands=2)
    else:
        for sides in ((agent, agent), (agent, rule), (reckless, agent)):
            play_games(rules, sides, 60 if name in FAST else 10)


@pytest.mark.parametrize("name", ALL)
def test_every_agent_is_legal_in_custom_games(name):
    tables, hands = (2, 1) if name in SEARCH else (16, 3)
    for seed, rules in enumerate(custom_games(name)):
        agent, reckless, rule = made(name, rules), made("random", rules), made("rule", rules)
        for sides in ((agent, rule), (reckless, agent)):
            play_on(rules, start(rules, tables, seed=seed), sides, hands)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "variant"), each_in_its_variants(ALL))
def test_every_agent_is_legal_on_every_decision_of_ten_thousand_games(name, variant):
    """Search agents play 1,000 games, with two worlds, the fewest that can change a card."""
    rules, games = RULES[variant], 500 if name in SEARCH else 5_000
    agent = made(name, rules, worlds=2, played_out=2, considered=1)
    for other in ("random", "rule"):
        play_games(rules, (agent, made(other, rules)), games)


@pytest.mark.parametrize("name", ALL)
def test_a_random_observation_gets_a_legal_action(name):
    rng = np.random.default_rng(5)
    variants = ["barrie_v0"] if name in SEARCH else variants_of(name)
    for variant, low, high in itertools.product(variants, (0, -128), (2, 128)):
        agent = made(name, RULES[variant])
        rows = rng.integers(low, high, (200, agent.layout.size)).astype(np.int8)
        masks = (rng.random((200, agent.n_actions)) < 0.2).astype(np.int8)
        masks[:, 0] |= masks.sum(axis=1) == 0
        assert masks[np.arange(200), agent.act_rows(rows, masks)].all()


PLAN_FIELDS = ("n", "actions", "sums", "squares", "total")


def phases_of(rules):
    """The phases with decisions in this game."""
    phases = {AUCTION, PLAY}
    if rules.strain_named == "after_auction":
        phases.add(NAMING)
    if any(bid.exchange for bid in rules.lone):
        phases |= {GIVING, PASSING}
    return phases


def plan_bytes(agent):
    """The results of a searcher's last decision, as bytes."""
    return [agent.space.plans[part].tobytes() for part in PLAN_FIELDS]


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        (name, variant)
        for name in ("rule", "expert", *LEARNED, *SEARCH)
        for variant in (shipped(name) if name in LEARNED else RULES)
    ],
)
def test_hidden_cards_change_no_decision(name, variant):
    """Decisions and search results stay equal in every phase of every game."""
    rules, moved, phases = RULES[variant], 0, set()
    search = name in SEARCH
    agent = searcher(name, rules, seed=4, worlds=4) if search else agents.make(name, rules)
    cases = varied_decisions(rules, 30 if search else 60, seed=9)
    for number, (row, mask, state) in enumerate(cases):
        twin = redeals(rules, state, 1, seed=number)
        again, same_mask = look(rules, twin, np.arange(1))
        assert np.array_equal(again[0], row)
        assert np.array_equal(same_mask[0], mask)
        chosen = agent.act(row, mask)
        plan = plan_bytes(agent) if search else None
        assert agent.act(again[0], same_mask[0]) == chosen
        assert plan is None or plan == plan_bytes(agent)
        moved += not np.array_equal(twin[0]["hands"], state["hands"])
        phases.add(int(state["phase"]))
    assert moved > len(cases) // 2
    assert phases == phases_of(rules)
