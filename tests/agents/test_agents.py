"""Agents: valid and invalid input, determinism, strength."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from support.agent_games import LEARNED, SEARCH, look, per_hand, play_on, start

from bideuchre_env import agents
from bideuchre_env.agents import Agent, registry
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.rules.variants import RULES

ALL = ("random", "cautious", "rule")  # agents without learned numbers or a search


def test_importing_the_agents_does_not_import_numba():
    code = (
        "import sys, bideuchre_env.agents as a; a.Agent, a.names(), a.parse('rule'); "
        "print('numba' in sys.modules); a.RowAgent"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_registered_agents_are_made_by_name(monkeypatch):
    monkeypatch.setattr(registry, "registered", {})
    agents.register("mine", lambda rules, *, seed=None: agents.make("random", rules, seed=seed))
    assert agents.names() == (*ALL, "expert", "ppo", "net", "pimc", "inference", "mine")
    assert agents.make("mine", RULES["barrie_v0"]).name == "random"
    for name in ALL:
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
    with pytest.raises(OptionError, match="random, cautious, rule"):
        agents.make(name, RULES["barrie_v0"])


@pytest.mark.parametrize("name", [*ALL, "expert", *LEARNED])
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


@pytest.mark.parametrize("name", [*ALL, *SEARCH])
def test_bad_rules_and_seeds_are_refused(name):
    with pytest.raises(OptionError, match="expected a Rules value"):
        agents.make(name, "barrie_v0")
    for seed in (-1, 2**128, 1.5, "a"):
        with pytest.raises(OptionError):
            agents.make(name, RULES["barrie_v0"], seed=seed)


@pytest.mark.parametrize("name", ALL)
def test_strided_and_empty_rows_are_accepted(name):
    rules = RULES["club_v0"]
    rows, masks = look(rules, start(rules, 8), np.arange(8))
    agent = agents.make(name, rules, seed=1)
    assert agent.act_rows(rows[:0], masks[:0]).shape == (0,)
    actions = agent.act_rows(rows[::2], masks[::2])
    assert actions.dtype == np.int64
    assert masks[::2][np.arange(4), actions].all()


@pytest.mark.parametrize("name", ALL)
def test_the_same_seed_gives_the_same_actions(name):
    rules = RULES["simplified_v0"]
    runs = []
    for _ in range(2):
        log = []
        pair = [agents.make(name, rules, seed=4), agents.make("random", rules, seed=5)]
        play_on(rules, start(rules, 30), pair, watch=lambda r, m, a, log=log: log.append(a))
        runs.append(np.concatenate(log))
    assert np.array_equal(*runs)


@pytest.mark.parametrize("name", ["rule", "expert", *LEARNED])
def test_a_decision_depends_on_the_observation_alone(name):
    """`act` equals `act_rows`; other rows, earlier decisions and the seed change nothing."""
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
    mean, half = per_hand(
        rules, agents.make("rule", rules), agents.make("cautious", rules, seed=2), 400
    )
    assert mean - half > 2.0
