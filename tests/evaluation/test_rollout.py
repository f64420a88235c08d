"""Rollouts: the same hands as an environment plays, counted right, for any number of threads."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from support.device_code import compiled_by
from support.playthroughs import VARIANTS

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env import rollout as module
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.rollout import TABLES_AT_ONCE, rollout


def counts(result):
    """A rollout without its time."""
    return replace(result, seconds=0.0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_rule_player_plays_as_in_an_environment(variant):
    """Five tables of two hands: the counts are those of five environments and the agent."""
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
def test_counts_add_up(variant):
    """Hands, contracts and passed-out hands; observing and threads change nothing."""
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


def test_random_play_favours_no_side():
    """Over 200,000 hands the sides' points differ by less than four standard errors."""
    played = rollout("cincinnati_v0", hands=200_000, seed=9)
    # a hand's difference stays within 66 points (a lone bid of the highest value and its tricks)
    assert abs(played.points[0] - played.points[1]) < 4 * 66 * np.sqrt(played.hands)


@pytest.mark.parametrize("ended_by", [KeyboardInterrupt, None])
def test_its_threads_end_with_it(monkeypatch, ended_by):
    """However it ends: with its result, or by Ctrl-C in the midst of it."""
    pools, play = [], module._play

    def watched(rules, policy, hands, *given):
        counted, pool = play(rules, policy, hands, *given), given[-2]
        pools.append((pool, pool._executor))
        if ended_by is not None and hands > 1:
            raise ended_by
        return counted

    monkeypatch.setattr(module, "_play", watched)
    with nullcontext() if ended_by is None else pytest.raises(ended_by):
        rollout("cincinnati_v0", hands=600, seed=1, threads=3)
    (pool, _), (same, executor) = pools
    assert pool is same
    assert len(executor._threads) >= 1  # there were some
    assert executor._shutdown
    assert pool._executor is None


def test_custom_games_and_options():
    """Rules and variants are taken as well as names; what is wrong is named."""
    rules = bideuchre_env.cincinnati_v0.rules.replace(copies=2)
    assert rollout(rules, hands=10, seed=1).hands == 10
    assert rollout(bideuchre_env.barrie_v0, hands=3, seed=1).hands == 3
    for options, word in (
        ({"policy": "greedy"}, "policy='greedy': one of 'random', 'rule'"),
        ({"hands": 0}, "hands=0"),
        ({"hands": 2.5}, "hands=2.5"),
        ({"hands": True}, "hands=True"),
        ({"threads": -1}, "threads=-1"),
        ({"seed": -1}, "seed=-1"),
    ):
        with pytest.raises(OptionError, match=word):
            rollout("cincinnati_v0", **options)
    with pytest.raises(OptionError, match="no variant"):
        rollout("bridge", hands=3)


def test_tables_at_once():
    """As many as are asked for: a table of its own for each hand is the default of a few."""
    usual = rollout("club_v0", hands=9, seed=4)
    assert counts(usual) == counts(rollout("club_v0", hands=9, seed=4, tables=9))
    assert counts(usual) != counts(rollout("club_v0", hands=9, seed=4, tables=2))
    for tables in (0, -1, 2.0, True, "9", 1 << 40):
        with pytest.raises(OptionError, match=r"tables=.*: a whole number from 1 to 4194304"):
            rollout("club_v0", hands=9, tables=tables)
    with pytest.raises(OptionError, match="device='gpu': one of 'cpu', 'cuda'"):
        rollout("club_v0", hands=9, device="gpu")


@pytest.mark.slow
def test_every_kernel_becomes_machine_code(monkeypatch):
    """For two GPUs; the rule player's needs a stack of one number."""
    with compiled_by(monkeypatch, stack=8):
        for policy in module.POLICIES:
            rollout("double_deck_v0", policy, hands=10, device="cuda")
