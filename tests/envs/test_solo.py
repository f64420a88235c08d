"""The single-agent environment: deals, seats, rewards and the other players."""

import numpy as np
import pytest
from support.chi_square import assert_fits
from support.playthroughs import VARIANTS
from support.solo_helpers import assert_same, chosen_action
from support.strategies import in_two_sizes, rules, seeds

import bideuchre_env
from bideuchre_env import agents, make
from bideuchre_env.core.state import Outcome

every_variant = pytest.mark.parametrize("name", VARIANTS)
cincinnati = bideuchre_env.cincinnati_v0


def walk_beside_aec(variant, seed, seat, others, steps, **options):
    """Compare `steps` decisions of `SoloEnv` with an AEC environment; return finished episodes."""
    env = variant.solo(opponents=others, seat=seat, **options)
    aec = variant.raw_env(**options)
    agent = agents.make(others, variant.rules)
    learner = f"player_{seat}"
    ended = 0
    obs, info = env.reset(seed=seed)
    aec.reset(seed=seed)

    def over():
        return any(aec.terminations.values()) or any(aec.truncations.values())

    def others_play():
        """Play the other seats until the learner is to act; return the learner's rewards."""
        total = 0.0
        while aec.agent_selection != learner and not over():
            seen = aec.observe(aec.agent_selection)
            aec.step(agent.act(seen["observation"], seen["action_mask"]))
            total += aec.rewards[learner]
        return total

    others_play()
    for turn in range(steps):
        assert_same(obs, aec.observe(learner))
        assert_same(info["action_mask"], obs["action_mask"])
        assert info["seat"] == seat
        np.testing.assert_array_equal(env.action_masks(), obs["action_mask"] == 1)
        action = chosen_action(obs["action_mask"], obs["observation"], turn)
        obs, reward, terminated, truncated, info = env.step(action)
        aec.step(action)
        assert reward == aec.rewards[learner] + (0 if over() else others_play())
        assert (terminated, truncated) == (aec.terminations[learner], aec.truncations[learner])
        if over():
            record = aec.record
            assert_same(obs, aec.observe(learner))
            assert info["hands"] == len(record.hands)
            assert info["score"].tolist() == list(record.hands[-1]["score"])
            assert info["winner"] == (-1 if record.winner is None else record.winner)
            assert Outcome(info["outcome"]).name.lower() == (record.outcome or "unfinished")
            assert not info["illegal"]
            ended += 1
            obs, info = env.reset()
            aec.reset()
            others_play()
    return ended


@every_variant
@pytest.mark.parametrize("episode", ["game", "hand"])
@pytest.mark.parametrize("reward", ["win", "points"])
def test_solo_equals_the_aec_environment_for_one_seat(name, episode, reward):
    seat = VARIANTS.index(name) % 4
    variant = bideuchre_env.variants[name].replace(max_hands=5)
    options = {"episode": episode, "reward": reward}
    assert walk_beside_aec(variant, 2**64 - 2 + seat, seat, "rule", 120, **options) >= 1


@in_two_sizes(12, game=rules(), seed=seeds())
def test_solo_equals_the_aec_environment_under_any_rules(game, seed):
    variant = make(game).replace(max_hands=min(game.max_hands, 3 + 4 * (game.rounds or 0)))
    assert walk_beside_aec(variant, seed, seed % 4, "rule", 15, episode="hand") >= 1


def test_learner_that_sits_out_is_rewarded_for_the_hand():
    """If the learner sits out in its partner's moon, its only call gets the hand's points."""
    env = cincinnati.solo(
        opponents=lambda rules, seed: Caller(rules, "pass"),
        partner=lambda rules, seed: Caller(rules, "bid moon"),
        episode="hand",
        seat=0,
    )
    for seed in range(20):
        # the partner speaks after the learner
        env.reset(seed=seed, options={"dealer": 3})
        _, paid, terminated, _, info = env.step(env.action_names.index("pass"))
        assert terminated
        assert env._rows.states["sitting_out"][0] == 0
        assert paid == info["score"][0] - info["score"][1] != 0


class Caller(agents.make("rule", cincinnati.rules).__class__):
    """The rule player, except that it makes one given call whenever that call is legal."""

    def __init__(self, rules, call):
        super().__init__(rules)
        self.call = bideuchre_env.make(rules).solo().action_names.index(call)

    def choose(self, observations, action_masks):
        choices = super().choose(observations, action_masks)
        return np.where(action_masks[:, self.call] == 1, self.call, choices)


def first_calls(who, seeds=20_000):
    """The counts of first calls, passes first, then bids by level, of agent `who`."""
    env = cincinnati.solo_vec(seeds, opponents=who, seat=1, copy=False)
    obs, _ = env.reset(seed=1, options={"dealer": 3})
    calls = env.observation_layout.slices["calls"]
    width = (calls.stop - calls.start) // 4
    third = obs["observation"][:, calls.start + 3 * width : calls.start + 4 * width]
    return third.sum(axis=0)


def test_random_players_are_uniform_over_legal_calls():
    """As first calls, a pass and each bid of the ladder are equally likely."""
    counts = first_calls("random")
    mask = cincinnati.solo(seat=0)
    _, info = mask.reset(seed=1, options={"dealer": 3})
    legal = info["action_mask"][: len(counts)] == 1
    assert counts[~legal].sum() == 0
    assert_fits(counts[legal], np.full(legal.sum(), 20_000 / legal.sum()))


def test_cautious_players_pass_nine_times_in_ten():
    """As first call, cautious players make the lowest bid one time in ten."""
    counts = first_calls("cautious")
    assert_fits(counts[:2], [18_000, 2_000])
    assert counts[:2].sum() == 20_000


def test_seat_is_drawn_for_every_episode():
    """`seat=None` is uniform and a function of the seed; a number fixes the seat."""
    env = cincinnati.solo(episode="hand")
    drawn = [env.reset(seed=0)[1]["seat"]] + [env.reset()[1]["seat"] for _ in range(1999)]
    assert_fits(np.bincount(drawn, minlength=4), [500] * 4)
    for seat in range(4):
        env = cincinnati.solo(seat=seat)
        assert {env.reset(seed=s)[1]["seat"] for s in range(9)} == {seat}
        assert env.seat == seat
        assert env.reset(options={"seat": seat ^ 1})[1]["seat"] == seat ^ 1
        assert env.reset()[1]["seat"] == seat


def test_np_random_seed_repeats_an_unseeded_reset():
    env = cincinnati.solo()
    first = env.reset()
    assert_same(first, cincinnati.solo().reset(seed=env.np_random_seed))
    twins = [cincinnati.solo() for _ in range(2)]
    for twin in twins:
        twin.np_random = np.random.default_rng(5)
    assert_same(twins[0].reset(), twins[1].reset())
