"""PettingZoo's own tests, and tests of seeds, rewards and rendering, which those omit."""

import warnings

import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from support.playthroughs import EACH, Chooser, finish, same, snapshot

import bideuchre_env

every_variant = pytest.mark.parametrize("name", EACH)
KINDS = [{"episode": e, "reward": r} for e in ("game", "hand") for r in ("win", "points")]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind.values()))
FORMS = [{"episode": "hand", "observation": form} for form in ("flat", "features")]
every_form = pytest.mark.parametrize("form", ["dict", "flat", "features"])
HARMLESS = (  # warnings of api_test about every environment whose observation is a dict
    r"Observation space for each agent probably should be gymnasium.spaces.box or",
    r"Observation is not a NumPy array",
)


@every_variant
@pytest.mark.parametrize("kind", [*KINDS, *FORMS], ids=lambda kind: "-".join(kind.values()))
def test_api_test_passes(name, kind):
    """PettingZoo's `api_test` passes, wrapped and raw, with only the warnings for dict spaces."""
    for env in (bideuchre_env.variants[name](**kind), bideuchre_env.variants[name].raw_env(**kind)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for message in HARMLESS if "observation" not in kind else ():
                warnings.filterwarnings("ignore", message)
            api_test(env, num_cycles=150)


@every_variant
@every_form
def test_seed_test_passes(name, form):
    seed_test(lambda: bideuchre_env.variants[name](observation=form), num_cycles=300)


def first_deal(env):
    hand = env.unwrapped.record.hands[0]
    return hand["dealer"], tuple(map(tuple, hand["deal"]))


@every_variant
def test_render_test_passes(name, capsys):
    render_test(lambda render_mode=None: bideuchre_env.variants[name](render_mode=render_mode))
    assert "score" in capsys.readouterr().out


@every_variant
def test_ansi_rendering_shows_only_the_cards_of_the_view(name):
    """The view of a seat names only that seat's cards; the view "all" names every card."""
    for view in ("all", "actor", 0, 3):
        env = bideuchre_env.variants[name](render_mode="ansi", view=view)
        env.reset(seed=4)
        text = env.render()
        held = {card for hand in env.unwrapped.record.hands[0]["deal"] for card in hand}
        seat = int(env.agent_selection[-1]) if view == "actor" else view
        if view != "all":
            held = set(env.unwrapped.record.hands[0]["deal"][seat])
        words = set(text.split())
        assert {word for word in words if len(word) == 2 and word[1] in "CDHS"} == held
        assert ("??" in words) == (view != "all")


@every_variant
@every_form
def test_parallel_api_test_passes(name, form):
    env = bideuchre_env.variants[name].parallel_env(max_hands=5, observation=form)
    parallel_api_test(env, num_cycles=200)


@pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="this PettingZoo has no registry")
@every_variant
def test_pettingzoo_make_knows_every_variant(name):
    stem = name.removesuffix("_v0").replace("_", "-")
    env = pettingzoo.make("aec", f"bideuchre/{stem}-v0", max_hands=7, episode="hand")
    env.reset(seed=5)
    plain = bideuchre_env.variants[name](max_hands=7, episode="hand")
    plain.reset(seed=5)
    assert env.unwrapped.rules == plain.unwrapped.rules
    assert same(snapshot(env), snapshot(plain))


def test_writing_into_returned_arrays_changes_nothing():
    env = bideuchre_env.cincinnati_v0.raw_env()
    env.reset(seed=1)
    before = snapshot(env)
    seen = env.observe(env.agent_selection)
    seen["observation"][:] = 1
    seen["action_mask"][:] = 1
    env.state()[:] = 1
    env.get_state()["hands"] = 0
    env.action_names.clear()
    env.record.hands[0]["deal"][0].clear()
    env.infos[env.agent_selection]["action_mask"][:] = 1
    with pytest.raises(bideuchre_env.errors.IllegalActionError):
        env.step(len(env.action_names) - 1)
    env.infos[env.agent_selection] = before["infos"][env.agent_selection]
    del before["infos"]
    now = snapshot(env)
    del now["infos"]
    assert same(now, before)


def play_episode(env, choices):
    """Play an episode; return the rewards of `last()` summed by agent, and those of each step."""
    received = dict.fromkeys(env.possible_agents, 0.0)
    choose, payments = Chooser(choices), []
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        received[agent] += reward
        env.step(None if terminated or truncated else choose(env))
        if not (terminated or truncated):
            payments.append(dict(env.rewards))
    return received, payments


@every_variant
@every_kind
def test_rewards_sum_to_zero_and_last_returns_them_all(name, kind):
    short = {} if name == "simplified_v0" else {"target": 8}
    env = bideuchre_env.variants[name](max_hands=30, **short, **kind)
    nonzero = 0
    for episode in range(6):
        env.reset(seed=episode)
        received, payments = play_episode(env, episode)
        for paid in payments:
            assert paid["player_0"] == paid["player_2"] == -paid["player_1"] == -paid["player_3"]
        for agent in env.possible_agents:
            assert received[agent] == sum(paid[agent] for paid in payments)
        record = env.unwrapped.record
        if kind["reward"] == "points":
            margin = sum(hand["points"][0] - hand["points"][1] for hand in record.hands)
            assert received["player_0"] == margin
            assert len([p for p in payments if p["player_0"]]) <= len(record.hands)
        else:
            won = record.outcome == "won"
            sign = 0 if not won else 1 if record.winner == 0 else -1
            assert received["player_0"] == sign
            assert not any(paid["player_0"] for paid in payments[:-1])
        if kind["episode"] == "hand":
            assert len(record.hands) == 1
        nonzero += received["player_0"] != 0
    assert nonzero or kind == {"episode": "hand", "reward": "win"}


def test_an_episode_of_one_hand_terminates():
    """An episode of one hand is terminated, not truncated, even if `max_hands` ends the game."""
    env = bideuchre_env.barrie_v0.raw_env(episode="hand", max_hands=1)
    env.reset(seed=8)
    finish(env, Chooser(8))
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert env.record.outcome == "truncated"


def test_without_a_seed_environments_have_different_deals():
    """The first reset without a seed takes one from the operating system."""
    deals = set()
    for _ in range(5):
        env = bideuchre_env.double_deck_v0()
        env.reset()
        deals.add(first_deal(env))
        vec = bideuchre_env.double_deck_v0.vec(1)
        vec.reset()
        deals.add(tuple(vec.get_state()["hands"][0].tolist()))
    assert len(deals) == 10
