"""The agents: what they accept and refuse, determinism, strength."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from support.agent_games import look, per_hand, play_on, start

from bideuchre_env import agents, selfplay
from bideuchre_env.agents import Agent, RowAgent, registry
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.rules.variants import RULES

ALL = ("random", "cautious", "rule")  # the fast ones; test_search.py has the others


def test_importing_the_agents_does_not_import_numba():
    code = (
        "import sys, bideuchre_env.agents as a; a.Agent, a.names(), a.parse('rule'); "
        "print('numba' in sys.modules); a.RowAgent"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_names_and_make():
    assert agents.names()[:3] == ALL
    for name in ALL:
        agent = agents.make(name, RULES["barrie_v0"], seed=3)
        assert isinstance(agent, Agent)
        assert agent.name == name


@pytest.mark.parametrize("name", ["grandmaster", "", None, 3, ["rule"]])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(OptionError, match="random, cautious, rule"):
        agents.make(name, RULES["barrie_v0"])


def test_register(monkeypatch):
    monkeypatch.setattr(registry, "registered", {})
    agents.register("mine", lambda rules, *, seed=None: agents.make("random", rules, seed=seed))
    assert agents.names() == (*ALL, "expert", "ppo", "net", "pimc", "inference", "mine")
    assert agents.make("mine", RULES["barrie_v0"]).name == "random"
    for bad in ("rule", "", 7):
        with pytest.raises(OptionError):
            agents.register(bad, lambda rules, *, seed=None: None)
    with pytest.raises(OptionError):
        agents.register("other", None)


@pytest.mark.parametrize("name", ALL)
def test_bad_arrays_are_refused(name):
    rules = RULES["barrie_v0"]
    agent = agents.make(name, rules, seed=1)
    rows, masks = look(rules, start(rules, 3), np.arange(3))
    bad = [
        (rows.astype(np.int64), masks),
        (rows, masks.astype(bool)),
        (rows[:, :-1], masks),
        (rows, masks[:, :-1]),
        (rows, masks[:2]),
        (rows[0], masks[0]),
        (rows.tolist(), masks),
        (rows, None),
    ]
    for observations, action_masks in bad:
        with pytest.raises(OptionError, match="is expected, not"):
            agent.act_rows(observations, action_masks)
    with pytest.raises(OptionError, match="is expected, not"):
        agent.act(rows, masks)
    with pytest.raises(OptionError, match="is expected, not"):
        agent.act(rows[0], masks[0][:4])
    masks[1] = 0
    with pytest.raises(OptionError, match="row 1 of the masks is all zeros"):
        agent.act_rows(rows, masks)
    with pytest.raises(OptionError, match="no action is legal"):
        agent.act(rows[1], masks[1])


@pytest.mark.parametrize("name", ALL)
def test_bad_rules_and_seeds_are_refused(name):
    with pytest.raises(OptionError, match="expected a Rules value"):
        agents.make(name, "barrie_v0")
    for seed in (-1, 2**128, 1.5, "a"):
        with pytest.raises(OptionError):
            agents.make(name, RULES["barrie_v0"], seed=seed)


@pytest.mark.parametrize("name", ALL)
def test_strided_and_empty_rows(name):
    rules = RULES["club_v0"]
    rows, masks = look(rules, start(rules, 8), np.arange(8))
    agent = agents.make(name, rules, seed=1)
    assert agent.act_rows(rows[:0], masks[:0]).shape == (0,)
    actions = agent.act_rows(rows[::2], masks[::2])
    assert actions.dtype == np.int64
    assert masks[::2][np.arange(4), actions].all()


@pytest.mark.parametrize("name", ALL)
def test_an_agent_repeats_itself(name):
    rules = RULES["simplified_v0"]
    seen = []
    for _ in range(2):
        log = []
        pair = [agents.make(name, rules, seed=4), agents.make("random", rules, seed=5)]
        play_on(rules, start(rules, 30), pair, watch=lambda r, m, a, log=log: log.append(a))
        seen.append(np.concatenate(log))
    assert np.array_equal(*seen)


def test_act_is_act_rows_on_one_row():
    rules = RULES["club_v0"]
    rule = agents.make("rule", rules)

    def watch(rows, masks, actions):
        for i in range(0, len(rows), 5):
            assert rule.act(rows[i], masks[i]) == actions[i]

    play_on(rules, start(rules, 30), (rule, rule), watch=watch)


@pytest.mark.parametrize("answer", [None, 1.0, "pass", True, 2**80, np.zeros(2, int)])
def test_act_gives_the_number_of_an_action(answer):
    class Odd:
        def act(self, observation, action_mask):
            return answer

    rules = RULES["cincinnati_v0"]
    with pytest.raises(IllegalActionError, match=r"agent 'Odd': act returned .*not the number"):
        agents.agent_of(Odd, rules).act_rows(*look(rules, start(rules, 1), np.arange(1)))


def test_what_an_agent_keeps_of_a_row_stays_as_it_was():
    """The arrays of a match are rewritten by its next step."""

    class Keeps:
        def __init__(self):
            self.kept = []

        def act(self, observation, action_mask):
            self.kept.append(observation)
            return np.int8(0)

    rules, keeper = RULES["cincinnati_v0"], Keeps()
    agent = agents.agent_of(keeper, rules)
    observations, masks = look(rules, start(rules, 2), np.arange(2))
    before = observations.copy()
    assert agent.act_rows(observations, masks).tolist() == [0, 0]
    observations[:] = 9
    assert np.array_equal(keeper.kept, before)


def test_each_of_the_two_methods_is_called_where_there_are_both():
    class Both:
        def act(self, observation, action_mask):
            return 1

        def act_rows(self, observations, action_masks):
            return np.full(len(observations), 2)

    agent = agents.agent_of(Both, RULES["cincinnati_v0"])
    row = np.zeros(3, np.int8)
    assert (agent.act(row, row), agent.act_rows(row[None], row[None]).tolist()) == (1, [2])


def test_a_row_agent_is_called_by_its_class_unless_it_has_a_name():
    class Mine(RowAgent):
        def choose(self, observations, action_masks):
            return action_masks.argmax(axis=1)

    class Named(Mine):
        name = "somebody"

    rules = RULES["cincinnati_v0"]
    assert agents.agent_of(Mine, rules).name == "Mine"
    assert agents.agent_of(Named(rules), rules).name == "somebody"


def test_random_is_uniform():
    rules = RULES["six_card_v0"]
    rows, masks = look(rules, start(rules, 1), np.zeros(20_000, np.int64))
    actions = agents.make("random", rules, seed=12).act_rows(rows, masks)
    counts = np.bincount(actions, minlength=masks.shape[1])[masks[0] > 0]
    expected = len(rows) / len(counts)
    assert len(counts) == 31
    assert ((counts - expected) ** 2 / expected).sum() < 70  # 30 degrees of freedom, p < 1e-4


def test_cautious_passes_and_never_goes_alone():
    rules = RULES["barrie_v0"]
    rows, masks = look(rules, start(rules, 1), np.zeros(5_000, np.int64))
    actions = agents.make("cautious", rules, seed=12).act_rows(rows, masks)
    assert 0.88 < (actions == 0).mean() < 0.92
    assert actions.max() <= 5  # the lowest bid, in any strain


@pytest.mark.parametrize(("variant", "floor"), [("cincinnati_v0", 5.0), ("barrie_v0", 8.0)])
def test_rule_is_far_ahead_of_random(variant, floor):
    rules = RULES[variant]
    mean, half = per_hand(
        rules, agents.make("rule", rules), agents.make("random", rules, seed=2), 400
    )
    assert mean - half > floor


@pytest.mark.parametrize("variant", RULES)
def test_rule_is_ahead_of_cautious(variant):
    rules = RULES[variant]
    mean, half = per_hand(
        rules, agents.make("rule", rules), agents.make("cautious", rules, seed=2), 400
    )
    assert mean - half > 2.0


@pytest.mark.parametrize("variant", ["cincinnati_v0", "barrie_v0"])
def test_rule_wins_whole_games(variant):
    """At least 99.9 % of games against random."""
    games = selfplay.play(variant, "rule", "random", games=4000, seed=1).games
    assert games.a_won >= 0.999 * games.games
