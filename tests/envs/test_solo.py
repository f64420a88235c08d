"""One learner equals the AEC environment, and many rows equal `SyncVectorEnv`, bit for bit."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from support.chi_square import assert_fits
from support.custom_agents import First, Last
from support.playthroughs import DIFFERENT, EACH, VARIANTS
from support.solo_helpers import Spy, actions_for, assert_same, chosen_action, first, walk_rows
from support.strategies import in_two_sizes, rules, seeds

import bideuchre_env
from bideuchre_env import OpponentPool, agents, make
from bideuchre_env.core.state import Outcome
from bideuchre_env.errors import IllegalActionError
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.rules import Rules

every_variant = pytest.mark.parametrize("name", EACH)
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


def caller(name):
    """A function that makes a call whenever it is legal, and else takes the first legal action."""
    call = cincinnati.solo().action_names.index(name)
    return lambda observation, mask: call if mask[call] else int(mask.argmax())


def test_learner_that_sits_out_is_rewarded_for_the_hand():
    """If the learner sits out in its partner's moon, its only call gets the hand's points."""
    players = {"opponents": caller("pass"), "partner": caller("bid moon")}
    env = cincinnati.solo(**players, episode="hand", seat=0)
    for seed in range(20):
        # the partner speaks after the learner
        env.reset(seed=seed, options={"dealer": 3})
        _, paid, terminated, _, info = env.step(env.action_names.index("pass"))
        assert terminated
        assert env._rows.states["sitting_out"][0] == 0
        assert paid == info["score"][0] - info["score"][1] != 0


def first_calls(who, seeds=20_000):
    """The counts of first calls, passes first, then bids by level, of agent `who`."""
    env = cincinnati.solo_vec(seeds, opponents=who, seat=1, copy=False)
    obs, _ = env.reset(seed=1, options={"dealer": 3})
    calls = env.observation_layout.slices["calls"]
    width = (calls.stop - calls.start) // 4
    third = obs["observation"][:, calls.start + 3 * width : calls.start + 4 * width]
    return third.sum(axis=0)


def test_random_players_are_uniform_over_legal_calls():
    counts = first_calls("random")
    mask = cincinnati.solo(seat=0)
    _, info = mask.reset(seed=1, options={"dealer": 3})
    legal = info["action_mask"][: len(counts)] == 1
    assert counts[~legal].sum() == 0
    assert_fits(counts[legal], np.full(legal.sum(), 20_000 / legal.sum()))


def test_cautious_players_pass_nine_times_in_ten():
    counts = first_calls("cautious")
    assert_fits(counts[:2], [18_000, 2_000])
    assert counts[:2].sum() == 20_000


def test_seat_is_drawn_for_every_episode():
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


every_mode = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
ROWS = 5


def walk_both(vec, sync, steps, seed=None, careless=30):
    """Step both with equal actions, some illegal, and compare; return finished episodes."""
    result, twin = vec.reset(seed=seed), sync.reset(seed=seed)
    ended = 0
    for turn in range(steps):
        assert_same(result, twin, f"step {turn}")
        actions = actions_for(result[0], turn, careless)
        result, twin = vec.step(actions), sync.step(actions)
        over = result[2] | result[3]
        ended += over.sum()
        if vec.autoreset_mode == AutoresetMode.DISABLED and over.any():
            assert_same(result, twin, f"step {turn}")
            result, twin = (e.reset(options={"reset_mask": over.copy()}) for e in (vec, sync))
    assert_same(result, twin)
    return ended


@pytest.mark.parametrize("name", DIFFERENT)
@every_mode
def test_solo_vec_is_gymnasiums_sync_vector_env(name, mode):
    variant = bideuchre_env.variants[name]
    pool = OpponentPool("rule", ("cautious", First()), "random", weights=(1, 2, 1))
    cases = [
        {"opponents": pool, "partner": OpponentPool("random", first), "episode": "hand"},
        {"opponents": "rule", "partner": "cautious", "reward": "points", "careless": 0},
        {"opponents": Spy, "partner": "random", "seat": 3, "illegal_reward": -5, "careless": 60},
    ]
    for number, options in enumerate(cases):
        careless = options.pop("careless", 30)
        options["max_hands"] = 5
        vec = variant.solo_vec(ROWS, autoreset_mode=mode, **options)
        sync = SyncVectorEnv([lambda o=options: variant.solo(**o)] * ROWS, autoreset_mode=mode)
        assert vec.metadata["autoreset_mode"] is mode
        assert vec.observation_space == sync.observation_space
        assert vec.action_space == sync.action_space
        assert vec.single_observation_space == sync.single_observation_space
        assert vec.single_action_space == sync.single_action_space
        seed = (2**64 - 3, 17, [5, 2**100, 5, 0, 9])[number]
        ended = walk_both(vec, sync, 50, seed, careless)
        assert ended >= (careless > 0)
        walk_both(vec, sync, 10, None, careless)


@every_variant
def test_number_of_threads_changes_nothing(name):
    variant, results = bideuchre_env.variants[name], []
    for threads in (1, 3):
        options = {"opponents": "cautious", "partner": "rule", "episode": "hand"}
        results.append(walk_rows(variant.solo_vec(512, threads=threads, **options), 25, 8))
    assert_same(*results)


@every_mode
def test_reset_mask_resets_only_masked_rows(mode):
    vec = cincinnati.solo_vec(6, opponents="rule", autoreset_mode=mode, seat=0)
    obs, _ = vec.reset(seed=3)
    for turn in range(3):
        obs, *_ = vec.step(actions_for(obs, turn))
    mask = np.array([True, False, False, True, False, True])
    before = vec._rows.states.copy()
    for seed, row, row_seed in ((40, 5, 45), ([1, None, None, 2, None, None], 3, 2)):
        options = {"reset_mask": mask.copy(), "score": (3, 4)}
        again, infos = vec.reset(seed=seed, options=options)
        assert "reset_mask" in options  # the caller's dict is not changed
        for part in obs:
            np.testing.assert_array_equal(again[part][~mask], obs[part][~mask])
        assert vec._rows.states[~mask].tobytes() == before[~mask].tobytes()
        np.testing.assert_array_equal(infos["_seat"], mask)
        assert not infos["action_mask"][~mask].any()
        assert (vec._rows.states["score"][mask] == (3, 4)).all()
        single = cincinnati.solo(opponents="rule", seat=0)
        seen, _ = single.reset(seed=row_seed, options={"score": (3, 4)})
        np.testing.assert_array_equal(again["observation"][row], seen["observation"])


def test_finished_row_must_be_reset_in_mode_disabled():
    vec = cincinnati.solo_vec(3, autoreset_mode="Disabled")
    obs, _ = vec.reset(seed=1)
    actions = obs["action_mask"].argmax(axis=1)
    actions[1] = obs["action_mask"][1].argmin()
    before = vec._rows.states[1].tobytes()
    obs, rewards, terminated, _, infos = vec.step(actions)
    assert terminated.tolist() == [False, True, False]
    assert rewards[1] == -1
    assert infos["illegal"].tolist() == [False, True, False]
    assert vec._rows.states[1].tobytes() == before
    assert not vec.action_masks()[1].any()
    frozen = vec._rows.states.tobytes()
    with pytest.raises(IllegalActionError, match="row 1: its episode is over"):
        vec.step(obs["action_mask"].argmax(axis=1))
    assert vec._rows.states.tobytes() == frozen
    vec.reset(options={"reset_mask": terminated})
    vec.step(vec.action_masks().argmax(axis=1))


def test_actions_of_rows_that_restart_in_mode_next_step_are_unused():
    vec = cincinnati.solo_vec(2, autoreset_mode="NextStep")
    obs, _ = vec.reset(seed=1)
    actions = obs["action_mask"].argmax(axis=1)
    actions[0] = obs["action_mask"][0].argmin()
    _, _, terminated, _, _ = vec.step(actions)
    assert terminated.tolist() == [True, False]
    _, rewards, terminated, _, infos = vec.step([-(10**9), int(vec.action_masks()[1].argmax())])
    assert rewards[0] == 0
    assert not terminated[0]
    assert infos["action_mask"][0].any()


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_an_episode_over_before_the_first_decision_is_a_result_of_its_own(mode):
    """Partner bids alone in an auction with rounds before the learner, who sits out, could call."""
    shooter = Rules(ranks="9", lone=[Bid("alone", 12)], auction="until_passes", target=30)
    env = make(shooter).solo_vec(
        2, episode="hand", reward="points", opponents=Last(), partner=Last(), autoreset_mode=mode
    )
    seen, _ = env.reset(seed=1)
    ended = undecided = 0
    for _ in range(300):
        masks = seen["action_mask"]
        seen, rewards, terminated, _, infos = env.step(masks.argmax(axis=1))
        result = infos.get("final_info", infos)
        for row in np.flatnonzero(terminated):
            side = int(result["seat"][row]) & 1
            score = result["score"][row]
            assert rewards[row] == score[side] - score[1 - side]
            ended += 1
            undecided += not masks[row].any()
    assert ended > 50
    assert undecided > 5
