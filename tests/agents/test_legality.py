"""Agents: legal in every game, blind to hidden cards, deterministic, strong; invalid input."""

import itertools
import random

import numpy as np
import pytest
from support.agent_games import (
    LEARNED,
    SEARCH,
    look,
    per_hand,
    play_games,
    play_on,
    redeals,
    searcher,
    shipped,
    start,
    varied_decisions,
)
from support.commands import python
from support.playthroughs import DIFFERENT, QUICK, SIX
from support.strategies import random_rules

from bideuchre_env import agents
from bideuchre_env.agents import Agent, registry
from bideuchre_env.core.state import AUCTION, GIVING, NAMING, PASSING, PLAY
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.rules.variants import RULES

FAST = ("random", "cautious", "beginner", "rule")
ALL = (*FAST, "expert", "ppo", "net", "net:search=true", "net:goal=points", *SEARCH)


def made(name, rules, **options):
    """An agent by name; search agents have few worlds, in double deck only one."""
    if name not in SEARCH:
        return agents.make(name, rules, seed=1)
    worlds = 1 if rules == RULES["double_deck_v0"] else 3
    return searcher(name, rules, **{"worlds": worlds, "played_out": 5 * worlds, **options})


def variants_of(name):
    kind = name.partition(":")[0]
    if kind in LEARNED:
        return shipped(kind)
    return SIX if kind in SEARCH else tuple(RULES)


def custom_games(name):
    """Random rules; for nets the variants with another opening lead."""
    if name.partition(":")[0] in LEARNED:
        return [RULES[variant].replace(opening_lead="eldest") for variant in variants_of(name)]
    rng = random.Random(8)
    return [random_rules(rng).replace(max_hands=12) for _ in range(12 if name in SEARCH else 40)]


def each_in_its_variants(names):
    """All agents in all their variants; those outside `QUICK` are slow tests."""
    return [
        pytest.param(name, variant, marks=() if variant in QUICK else pytest.mark.slow)
        for name in names
        for variant in variants_of(name)
    ]


@pytest.mark.parametrize(("name", "variant"), each_in_its_variants(ALL))
def test_every_agent_is_legal_in_every_variant(name, variant):
    rules = RULES[variant]
    agent, reckless, rule = made(name, rules), made("random", rules), made("rule", rules)
    if name in SEARCH:
        play_on(rules, start(rules, 3, seed=6), (agent, rule))
        play_on(rules, start(rules, 3, seed=7), (reckless, agent))
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


@pytest.mark.long
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
    phases = {AUCTION, PLAY}
    if rules.strain_named == "after_auction":
        phases.add(NAMING)
    if any(bid.exchange for bid in rules.lone):
        phases |= {GIVING, PASSING}
    return phases


def plan_bytes(agent):
    return [agent.space.plans[part].tobytes() for part in PLAN_FIELDS]


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        (name, variant)
        for name in ("rule", "expert", *LEARNED, *SEARCH)
        for variant in (DIFFERENT if name in SEARCH else variants_of(name))
    ],
)
def test_hidden_cards_change_no_decision(name, variant):
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


def test_importing_the_agents_does_not_import_numba():
    code = (
        "import sys, bideuchre_env.agents as a; a.Agent, a.names(), a.parse('rule'); "
        "print('numba' in sys.modules); a.RowAgent"
    )
    assert python("-c", code).stdout.strip() == "False"


def test_registered_agents_are_made_by_name(monkeypatch):
    monkeypatch.setattr(registry, "registered", {})
    agents.register("mine", lambda rules, *, seed=None: agents.make("random", rules, seed=seed))
    assert agents.names() == (*FAST, "ppo", "expert", "pimc", "net", "inference", "mine")
    assert agents.make("mine", RULES["barrie_v0"]).name == "random"
    for name in FAST:
        agent = agents.make(name, RULES["barrie_v0"], seed=3)
        assert isinstance(agent, Agent)
        assert agent.name == name
    for bad in ("rule", "rash", "", 7, "mine:", "my,own", "a=b", ":", "rule:x=1"):
        with pytest.raises(OptionError):
            agents.register(bad, lambda rules, *, seed=None: None)
    with pytest.raises(OptionError):
        agents.register("other", None)


@pytest.mark.parametrize("name", ["grandmaster", "", None, 3, ["rule"]])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(OptionError, match="random, cautious, beginner, rule"):
        agents.make(name, RULES["barrie_v0"])


@pytest.mark.parametrize("name", [*FAST, "expert", *LEARNED])
def test_bad_arrays_are_refused(name):
    rules = RULES["barrie_v0"]
    agent = agents.make(name, rules, seed=1)
    rows, masks = look(rules, start(rules, 3), np.arange(3))
    bad = [(rows.astype(np.int64), masks), (rows, masks.astype(bool)), (rows[:, :-1], masks)]
    bad += [(rows, masks[:, :-1]), (rows, masks[:2]), (rows[0], masks[0])]
    bad += [(rows.tolist(), masks), (rows, None)]
    for observations, action_masks in bad:
        with pytest.raises(OptionError, match=r"expected a numpy array of .*, not"):
            agent.act_rows(observations, action_masks)
    for row, mask in ((rows, masks), (rows[0], masks[0][:4])):
        with pytest.raises(OptionError, match=r"expected a numpy array of .*, not"):
            agent.act(row, mask)
    masks[1] = 0
    with pytest.raises(OptionError, match="row 1 of the masks is all zeros"):
        agent.act_rows(rows, masks)
    with pytest.raises(OptionError, match="no action is legal"):
        agent.act(rows[1], masks[1])


@pytest.mark.parametrize("name", [*FAST, *SEARCH])
def test_bad_rules_and_seeds_are_refused(name):
    with pytest.raises(OptionError, match="expected a Rules value"):
        agents.make(name, "barrie_v0")
    for seed in (-1, 2**128, 1.5, "a"):
        with pytest.raises(OptionError):
            agents.make(name, RULES["barrie_v0"], seed=seed)


@pytest.mark.parametrize("name", FAST)
def test_strided_and_empty_rows_are_accepted(name):
    rules = RULES["club_v0"]
    rows, masks = look(rules, start(rules, 8), np.arange(8))
    agent = agents.make(name, rules, seed=1)
    assert agent.act_rows(rows[:0], masks[:0]).shape == (0,)
    actions = agent.act_rows(rows[::2], masks[::2])
    assert actions.dtype == np.int64
    assert masks[::2][np.arange(4), actions].all()


@pytest.mark.parametrize("name", ["rule", "expert", *LEARNED])
def test_a_decision_depends_on_the_observation_alone(name):
    rules, seen = RULES["barrie_v0"], []
    agent, fresh = (agents.make(name, rules, seed=seed) for seed in (1, 2))

    def watch(rows, masks, actions):
        seen.extend(zip(rows.copy(), masks.copy(), strict=True))

    play_on(rules, start(rules, 20), (agent, agents.make("rule", rules)), watch=watch)
    rows, masks = (np.stack([each[k] for each in seen]) for k in (0, 1))
    together = agent.act_rows(rows, masks)
    assert [fresh.act(row, mask) for row, mask in seen[::-1]] == together[::-1].tolist()
    assert len(set(together.tolist())) > 10


@pytest.mark.parametrize("answer", [None, 1.0, "pass", True, 2**80, np.zeros(2, int)])
def test_act_must_return_the_number_of_an_action(answer):
    class Odd:
        def act(self, observation, action_mask):
            return answer

    rules = RULES["cincinnati_v0"]
    with pytest.raises(IllegalActionError, match=r"agent 'Odd': act returned .*not the number"):
        agents.agent_of(Odd, rules).act_rows(*look(rules, start(rules, 1), np.arange(1)))


def test_an_observation_that_an_agent_stores_does_not_change():
    """Agents get copies, because the next step of a match overwrites its arrays."""

    class Stores:
        def __init__(self):
            self.stored = []

        def act(self, observation, action_mask):
            self.stored.append(observation)
            return np.int8(0)

    rules, stores = RULES["cincinnati_v0"], Stores()
    agent = agents.agent_of(stores, rules)
    observations, masks = look(rules, start(rules, 2), np.arange(2))
    before = observations.copy()
    assert agent.act_rows(observations, masks).tolist() == [0, 0]
    observations[:] = 9
    assert np.array_equal(stores.stored, before)


def test_random_is_uniform():
    rules = RULES["six_card_v0"]
    rows, masks = look(rules, start(rules, 1), np.zeros(20_000, np.int64))
    actions = agents.make("random", rules, seed=12).act_rows(rows, masks)
    counts = np.bincount(actions, minlength=masks.shape[1])[masks[0] > 0]
    expected = len(rows) / len(counts)
    assert len(counts) == 31
    assert ((counts - expected) ** 2 / expected).sum() < 70  # 30 degrees of freedom, p < 1e-4


def test_cautious_passes_nine_times_in_ten_and_never_bids_alone():
    rules = RULES["barrie_v0"]
    rows, masks = look(rules, start(rules, 1), np.zeros(5_000, np.int64))
    actions = agents.make("cautious", rules, seed=12).act_rows(rows, masks)
    assert 0.88 < (actions == 0).mean() < 0.92
    assert actions.max() <= 5  # the lowest bid, in any strain


@pytest.mark.parametrize("variant", RULES)
def test_rule_beats_cautious(variant):
    rules = RULES[variant]
    players = agents.make("rule", rules), agents.make("cautious", rules, seed=2)
    mean, half = per_hand(rules, *players, 400)
    assert mean - half > 2.0
