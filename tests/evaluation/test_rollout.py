"""Rollouts: counts equal those of environments, for any number of threads."""

from dataclasses import replace

import numpy as np
import pytest
from support.kernels import compile_only
from support.playthroughs import VARIANTS

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env import rollout as module
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.rollout import TABLES_AT_ONCE, rollout


def counts(result):
    """The result of a rollout with its time set to 0, for comparisons."""
    return replace(result, seconds=0.0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_counts_equal_environments(variant):
    played = rollout(variant, "rule", hands=5, seed=30)
    rules = bideuchre_env.variants[variant].rules
    player = agents.make("rule", rules)
    points, decisions, contracts, made, lone = np.zeros(2, np.int64), 0, 0, 0, 0
    for table in range(5):
        env = bideuchre_env.variants[variant].raw_env(episode="hand")
        env.reset(seed=30 + table)
        for _ in env.agent_iter():
            obs, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(player.act(obs["observation"], obs["action_mask"]))
            decisions += 1
        hand = env.record.hands[0]
        points += hand["points"]
        if hand["declarer"] is not None:
            bid = next(bid for bid in rules.ladder if bid.name == hand["contract"].split()[0])
            need = rules.tricks if bid.tricks is None else bid.tricks
            contracts += 1
            made += hand["tricks"][hand["declarer"] & 1] >= need
            lone += bid.alone
    assert (played.hands, played.decisions) == (5, decisions)
    assert played.points == tuple(points)
    assert (played.contracts, played.made, played.lone) == (contracts, made, lone)
    assert played.passed_out == 5 - contracts


@pytest.mark.parametrize("variant", VARIANTS)
def test_threads_and_observing_leave_the_counts_unchanged(variant):
    hands = 3 * TABLES_AT_ONCE + 5
    played = rollout(variant, hands=hands, seed=1)
    assert played.hands == hands == played.contracts + played.passed_out
    assert played.lone_made <= min(played.made, played.lone) <= played.contracts
    assert 8 * hands < played.decisions < 70 * hands
    assert played.rate > 0
    assert counts(played) == counts(rollout(variant, hands=hands, seed=1, observe=True, threads=2))
    assert counts(played) != counts(rollout(variant, hands=hands, seed=2))
    ruled = rollout(variant, "rule", hands=600, seed=1)
    assert counts(ruled) == counts(rollout(variant, "rule", hands=600, seed=1, threads=3))


def test_points_of_both_sides_differ_by_less_than_four_standard_errors():
    played = rollout("cincinnati_v0", hands=200_000, seed=9)
    # a hand's difference stays within 66 points (a lone bid of the highest value and its tricks)
    assert abs(played.points[0] - played.points[1]) < 4 * 66 * np.sqrt(played.hands)


def test_rules_and_variants_are_accepted_and_wrong_options_refused():
    rules = bideuchre_env.cincinnati_v0.rules.replace(copies=2)
    assert rollout(rules, hands=10, seed=1).hands == 10
    assert rollout(bideuchre_env.barrie_v0, hands=3, seed=1).hands == 3
    for options, word in (
        ({"policy": "greedy"}, "policy='greedy': expected one of 'random', 'rule'"),
        ({"hands": 0}, "hands=0"),
        ({"hands": True}, "hands=True"),
        ({"threads": -1}, "threads=-1"),
        ({"seed": -1}, "seed=-1"),
    ):
        with pytest.raises(OptionError, match=word):
            rollout("cincinnati_v0", **options)
    with pytest.raises(OptionError, match="no variant"):
        rollout("bridge", hands=3)


def test_the_number_of_tables_at_once_is_that_of_the_option():
    usual = rollout("club_v0", hands=9, seed=4)
    assert counts(usual) == counts(rollout("club_v0", hands=9, seed=4, tables=9))
    assert counts(usual) != counts(rollout("club_v0", hands=9, seed=4, tables=2))
    for tables in (0, -1, 2.0, True, "9", 1 << 40):
        with pytest.raises(
            OptionError, match=r"tables=.*: expected a whole number from 1 to 4194304"
        ):
            rollout("club_v0", hands=9, tables=tables)
    with pytest.raises(OptionError, match="device='gpu': expected one of 'cpu', 'cuda'"):
        rollout("club_v0", hands=9, device="gpu")


@pytest.mark.slow
def test_every_kernel_compiles_for_the_gpu(monkeypatch):
    """The rule player's kernel needs a stack of one number."""
    with compile_only(monkeypatch, stack=8):
        for policy in module.POLICIES:
            rollout("double_deck_v0", policy, hands=10, device="cuda")
