"""OpenSpiel: games equal the AEC environment; OpenSpiel's checks, bots and algorithms run."""

import pickle

import numpy as np
import pytest
from support.commands import python
from support.playthroughs import VARIANTS

import bideuchre_env
from bideuchre_env.errors import DealError, IllegalActionError, OptionError
from bideuchre_env.rules.cards import CARD_NAMES

pytest.importorskip("pyspiel")

import pyspiel

from bideuchre_env.adapters import openspiel

SMALL = bideuchre_env.Rules(ranks="J", partnered=(1, 2), lone=(), target=10)


def dealt_state(game, seed):
    """Return a new state of `game` after a random deal, and the random generator used for it."""
    state, rng = game.new_initial_state(), np.random.default_rng(seed)
    deal(state, rng)
    return state, rng


def deal(state, rng):
    """Draw chance's actions until a seat is to act; check that their probabilities sum to 1."""
    while state.is_chance_node():
        choices, odds = zip(*state.chance_outcomes(), strict=True)
        assert sum(odds) == pytest.approx(1)
        state.apply_action(int(rng.choice(choices, p=odds)))


def last_deal(state):
    """The hands of the last deal in the history: four lists of card names, as for `reset`."""
    cards = state.get_game().rules.cards
    chance = [item.action for item in state.full_history() if item.player < 0][-cards:]
    return [[CARD_NAMES[kind] for kind in chance[seat::4]] for seat in range(4)]


def assert_same_position(state, raw):
    assert raw.agent_selection == f"player_{state.current_player()}"
    for player, agent in enumerate(raw.possible_agents):
        seen = raw.observe(agent)
        assert state.legal_actions(player) == np.flatnonzero(seen["action_mask"]).tolist()
        tensor = np.array(state.observation_tensor(player), np.float32)
        assert (tensor == raw.observation_layout.scaled(seen["observation"])).all()
        assert state.information_state_tensor(player) == state.observation_tensor(player)
    for action in state.legal_actions():
        name = state.action_to_string(action)
        assert name == raw.action_names[action]
        assert state.string_to_action(name) == action


@pytest.mark.parametrize("name", VARIANTS)
def test_a_hand_equals_that_of_the_aec_environment(name):
    game = pyspiel.load_game(f"bideuchre_{name}", {"dealer": 2})
    raw = bideuchre_env.variants[name].raw_env(episode="hand")
    for seed in range(3):
        state, rng = dealt_state(game, seed)
        raw.reset(options={"deal": last_deal(state), "dealer": 2})
        while not state.is_terminal():
            assert_same_position(state, raw)
            legal = state.legal_actions()
            action = legal[-1] if rng.random() < 0.3 else int(rng.choice(legal))
            state.apply_action(action)
            raw.step(action)
        rewards = [raw._cumulative_rewards[agent] for agent in raw.possible_agents]
        assert state.returns() == rewards == state.rewards()
        assert state.returns()[0] == -state.returns()[1] == state.returns()[2]


def test_chance_deals_every_remaining_card_with_the_same_probability():
    """A kind with two copies left is twice as likely as a kind with one copy."""
    state = pyspiel.load_game("bideuchre_barrie_v0(dealer=0)").new_initial_state()
    cards = bideuchre_env.barrie_v0.rules.cards
    assert {odds for _, odds in state.chance_outcomes()} == {2 / cards}
    state.apply_action(3)
    odds = dict(state.chance_outcomes())
    assert (odds[3], odds[4]) == (1 / (cards - 1), 2 / (cards - 1))


@pytest.mark.parametrize("reward", ["win", "points"])
def test_a_game_equals_that_of_the_aec_environment(reward):
    rules = bideuchre_env.barrie_v0.rules.replace(max_hands=3)
    variant = bideuchre_env.make(rules, name="three_hands")
    game = pyspiel.load_game(openspiel.register(variant), {"episode": "game", "reward": reward})
    assert not game.get_type().provides_information_state_tensor
    state, rng = dealt_state(game, 1)
    dealer = int(state.information_state_string(0).split("dealer ")[1][0])
    raw = variant.raw_env(reward=reward)
    raw.reset(options={"deal": last_deal(state), "dealer": dealer})
    total = np.zeros(4)
    while True:
        action = int(rng.choice(state.legal_actions()))
        state.apply_action(action)
        raw.step(action)
        rewards = [raw.rewards[agent] for agent in raw.possible_agents]
        assert state.rewards() == rewards
        total += rewards
        if state.is_terminal():
            break
        if state.is_chance_node():  # copy the next deal to the AEC environment
            deal(state, rng)
            row = raw._states[0]
            opening = f"hand {row['hands_dealt']}, dealer {row['dealer']}, score"
            assert opening in state.observation_string(0)
            raw._states[:] = state.dealt_game._states
            raw._call_on(raw._look)
    assert state.returns() == total.tolist()
    assert len(state.information_state_string(1).split(" || ")) == 3


@pytest.mark.parametrize("name", VARIANTS)
def test_the_checks_of_the_library_pass(name):
    game = pyspiel.load_game(f"bideuchre_{name}")
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    short = bideuchre_env.make(bideuchre_env.variants[name].rules, name=f"short_{name}")
    registered = openspiel.register(short.replace(max_hands=2, win_rule="any", target=200))
    for reward in ("win", "points"):
        game = pyspiel.load_game(registered, {"episode": "game", "reward": reward})
        pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_player_cannot_tell_a_redeal_from_the_state(name):
    """In every state of a hand, a redeal looks the same to its seat, and moves hidden cards."""
    game = pyspiel.load_game(f"bideuchre_{name}")
    sampler, changed = pyspiel.UniformProbabilitySampler(0.0, 1.0), 0
    for seed in range(2):
        state, rng = dealt_state(game, seed)
        while not state.is_terminal():
            for player in range(4):
                other = state.resample_from_infostate(player, sampler)
                for view in ("information_state_string", "information_state_tensor"):
                    assert getattr(other, view)(player) == getattr(state, view)(player)
                assert other.current_player() == state.current_player()
                if player == state.current_player():
                    assert other.legal_actions() == state.legal_actions()
                changed += str(other) != str(state)
            legal = state.legal_actions()
            state.apply_action(legal[-1] if rng.random() < 0.5 else int(rng.choice(legal)))
    assert changed > 50
    assert str(state.resample_from_infostate(0, sampler)) == str(state)


def test_an_exchange_is_private():
    """A seat sees its own cards; the declarer sees passed cards only after the exchange."""
    state, _ = dealt_state(pyspiel.load_game("bideuchre_barrie_v0(dealer=3)"), 0)
    bid = next(n for n in bideuchre_env.barrie_v0.raw_env().action_names if "bid call-2" in n)
    for name in ("pass", bid, "pass", "pass"):
        state.apply_action(state.string_to_action(name))
    discards = []
    for place in (-1, 0):
        discards.append(state.action_to_string(state.legal_actions()[place]))
        state.apply_action(state.legal_actions()[place])
    histories = [state.information_state_string(seat) for seat in range(4)]
    assert histories[1].endswith(f"| 1 gives {discards[0]} | 1 gives {discards[1]}")
    for seat in (0, 2, 3):
        assert histories[seat].endswith("| 1 gives a card | 1 gives a card")
    for _ in range(2):
        state.apply_action(state.legal_actions()[0])
    histories = [state.information_state_string(seat) for seat in range(4)]
    assert "| gets " in histories[1]
    assert all("gets" not in histories[seat] for seat in (0, 2, 3))
    assert "3 passes a card" in histories[1]
    assert "3 passes a card" not in histories[3]


def test_observers_have_the_blocks_of_the_layout():
    game = pyspiel.load_game("bideuchre_cincinnati_v0")
    state, _ = dealt_state(game, 3)
    own = game.make_py_observer()
    own.set_from(state, 1)
    assert own.dict["hand"].sum() == 6
    assert own.dict["calls"].shape == (4, 8)
    kinds, private = pyspiel.IIGObservationType, pyspiel.PrivateInfoType
    kind = kinds(perfect_recall=False, private_info=private.NONE)
    public = game.make_py_observer(kind)
    public.set_from(state, 1)
    assert "hand" not in public.dict
    assert "holds" not in public.string_from(state, 1)
    with pytest.raises(OptionError, match="one player's private part or none"):
        game.make_py_observer(kinds(perfect_recall=False, private_info=private.ALL_PLAYERS))
    with pytest.raises(OptionError, match="observer parameters"):
        game.make_py_observer(kind, {"a": 1})


@pytest.mark.parametrize(
    ("parameter", "error", "message"),
    [
        ("episode=round", OptionError, "episode='round': expected one of 'game', 'hand'"),
        ("reward=money", OptionError, "reward='money'"),
        ("dealer=4", DealError, "dealer 4: expected a seat from 0 to 3"),
    ],
)
def test_bad_parameters_of_a_game_are_refused(parameter, error, message):
    with pytest.raises(error, match=message):
        pyspiel.load_game(f"bideuchre_barrie_v0({parameter})")


def test_illegal_actions_and_taken_names_are_refused():
    state, _ = dealt_state(pyspiel.load_game("bideuchre_cincinnati_v0"), 0)
    before = str(state)
    for action in (state.string_to_action("pass") + 20, 1000):
        with pytest.raises(IllegalActionError, match="legal"):
            state.dealt_game.choose(action)
    assert str(state) == before
    with pytest.raises(OptionError, match="registered with other rules"):
        openspiel.register(bideuchre_env.make(SMALL, name="cincinnati_v0"))
    with pytest.raises(OptionError, match="letters, digits and _"):
        openspiel.register(bideuchre_env.make(SMALL, name="at home"))


def test_searching_bots_play_or_are_refused():
    """The Python ISMCTS and the C++ MCTS play; the C++ ISMCTS cannot redeal and is refused."""
    from open_spiel.python.algorithms import ismcts, mcts

    game = pyspiel.load_game("bideuchre_barrie_v0")
    state, _ = dealt_state(game, 2)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(game, evaluator, 5.0, 20, random_state=np.random.RandomState(1))
    assert bot.step(state) in state.legal_actions()
    rollouts = pyspiel.RandomRolloutEvaluator(1, 1)
    cpp = pyspiel.ISMCTSBot(seed=1, evaluator=rollouts, uct_c=2.0, max_simulations=20)
    for name in ("step", "get_policy", "step_with_policy"):
        with pytest.raises(OptionError, match=r"cannot redeal.*ismcts\.ISMCTSBot can"):
            getattr(cpp, name)(state)
    open_handed = pyspiel.MCTSBot(game, rollouts, 2.0, 20, 5, False, 1, False)
    assert open_handed.step(state) in state.legal_actions()


def test_agents_are_bots_and_boards_swap_the_sides():
    """Both sides' bots get the same deals: equal bots score 0, better bots more."""
    game = pyspiel.load_game("bideuchre_cincinnati_v0")
    met = []

    class RecordingBot(openspiel.AgentBot):
        def step(self, state):
            met.append((state.current_player() % 2, str(state.history()[:25])))
            return super().step(state)

    rule, cautious = RecordingBot(game, "rule"), openspiel.AgentBot(game, "cautious", seed=1)
    assert not openspiel.duplicate_boards(game, [rule] * 4, [rule] * 4, 5).any()
    met.clear()
    points = openspiel.duplicate_boards(game, [rule] * 4, [cautious] * 4, 60, seed=1)
    assert points.mean() > 1
    deals = [{deal for seat, deal in met if seat == side} for side in range(2)]
    assert deals[0] == deals[1]
    assert len(deals[0]) == 60


READ = """
import importlib, pickle, pyspiel, sys
for game, text, rules in pickle.load(open(sys.argv[1], "rb")):
    assert (str(game), game.rules) == (text, rules)
    print(game)
from bideuchre_env.adapters import openspiel
own = pyspiel.MCTSBot.step.unguarded
importlib.reload(openspiel)
assert pyspiel.MCTSBot.step.unguarded is own
"""


def test_a_pickled_game_is_the_same_game_in_another_process(tmp_path):
    """A process that has not registered a custom game unpickles it; it may reload the adapter."""
    custom = openspiel.register(bideuchre_env.make(SMALL, name="pickled_v0"))
    names = [*(f"bideuchre_{name}" for name in VARIANTS), custom]
    games = [pyspiel.load_game(f"{name}(dealer=2,episode=game)") for name in names]
    pickled = pickle.dumps([(game, str(game), game.rules) for game in games])
    (tmp_path / "games").write_bytes(pickled)
    done = python("-c", READ, tmp_path / "games")
    assert (done.stdout.splitlines(), done.stderr) == (list(map(str, games)), "")
