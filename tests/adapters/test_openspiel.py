"""OpenSpiel: its games are ours, action by action; its own checks and algorithms run on them."""

import subprocess
import sys

import numpy as np
import pytest
from support.playthroughs import VARIANTS
from support.script_modules import loaded

import bideuchre_env
from bideuchre_env.errors import DealError, IllegalActionError, OptionError
from bideuchre_env.rules.cards import CARD_NAMES

pytest.importorskip("pyspiel")

import pyspiel

from bideuchre_env.adapters import openspiel

# a game small enough for tables: four cards each, three bids, no exchange
SMALL = bideuchre_env.Rules(
    ranks="J", copies=1, partnered=(1, 2), lone=(), strain_named="in_bid", target=10
)


def new(game, seed):
    """A state in which the cards are dealt, drawn by this seed, and the generator."""
    state, rng = game.new_initial_state(), np.random.default_rng(seed)
    deal(state, rng)
    return state, rng


def deal(state, rng):
    """Let chance choose for as long as it is its turn."""
    while state.is_chance_node():
        choices, odds = zip(*state.chance_outcomes(), strict=True)
        assert sum(odds) == pytest.approx(1)
        state.apply_action(int(rng.choice(choices, p=odds)))


def dealt(state):
    """The hands of the last deal in the history, as `reset` takes them."""
    cards = state.get_game().rules.cards
    chance = [item.action for item in state.full_history() if item.player < 0][-cards:]
    return [[CARD_NAMES[kind] for kind in chance[seat::4]] for seat in range(4)]


def compare(state, raw):
    """Everything that both tell of a position is alike."""
    seat = state.current_player()
    assert raw.agent_selection == f"player_{seat}"
    for player, agent in enumerate(raw.possible_agents):
        seen = raw.observe(agent)
        mask = np.flatnonzero(seen["action_mask"]).tolist()
        assert state.legal_actions(player) == mask
        tensor = np.array(state.observation_tensor(player), np.float32)
        assert (tensor == raw.observation_layout.scaled(seen["observation"])).all()
        assert state.information_state_tensor(player) == state.observation_tensor(player)
    names = raw.action_names
    for action in state.legal_actions():
        assert state.action_to_string(action) == names[action]
        assert state.string_to_action(names[action]) == action


@pytest.mark.parametrize("name", VARIANTS)
def test_a_hand_is_the_aec_environments(name):
    """With the same deal, dealer and actions: views, masks, names and returns of every seat."""
    game = pyspiel.load_game(f"bideuchre_{name}", {"dealer": 2})
    raw = bideuchre_env.variants[name].raw_env(episode="hand")
    for seed in range(6):
        state, rng = new(game, seed)
        raw.reset(options={"deal": dealt(state), "dealer": 2})
        while not state.is_terminal():
            compare(state, raw)
            legal = state.legal_actions()
            action = legal[-1] if rng.random() < 0.3 else int(rng.choice(legal))
            state.apply_action(action)
            raw.step(action)
        rewards = [raw._cumulative_rewards[agent] for agent in raw.possible_agents]
        assert state.returns() == rewards == state.rewards()
        assert state.returns()[0] == -state.returns()[1] == state.returns()[2]


@pytest.mark.parametrize("reward", ["win", "points"])
def test_a_game_is_the_aec_environments(reward):
    """Hand after hand: the deal moves on by the rules, rewards come when a hand is over."""
    rules = bideuchre_env.barrie_v0.rules.replace(max_hands=3)
    variant = bideuchre_env.make(rules, name="three_hands")
    game = pyspiel.load_game(openspiel.register(variant), {"episode": "game", "reward": reward})
    assert not game.get_type().provides_information_state_tensor
    state, rng = new(game, 1)
    dealers = [int(state.information_state_string(0).split("dealer ")[1][0])]
    raw = variant.raw_env(reward=reward)
    raw.reset(options={"deal": dealt(state), "dealer": dealers[0]})
    paid = np.zeros(4)
    while True:
        action = int(rng.choice(state.legal_actions()))
        state.apply_action(action)
        raw.step(action)
        at_end = [raw.rewards[agent] for agent in raw.possible_agents]
        assert state.rewards() == at_end
        paid += at_end
        if state.is_terminal():
            break
        if state.is_chance_node():  # the same cards come, and the same dealer
            deal(state, rng)
            assert state.rewards() == at_end
            raw_row = raw._states[0]
            told = state.observation_string(0)
            assert f"hand {raw_row['hands_dealt']}, dealer {raw_row['dealer']}, score" in told
            raw._states[:] = state.dealt_game._states
            raw._call_on(raw._look)
    assert state.returns() == paid.tolist()
    assert len(state.information_state_string(1).split(" || ")) == 3


@pytest.mark.parametrize("name", VARIANTS)
def test_the_librarys_own_checks_pass(name):
    """Random play, clones, histories, strings, tensors, bounds, sums, what is written and read."""
    game = pyspiel.load_game(f"bideuchre_{name}")
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    two = bideuchre_env.make(bideuchre_env.variants[name].rules, name=f"two_{name}")
    register = openspiel.register(two.replace(max_hands=4, win_rule="any", target=200))
    for reward in ("win", "points"):
        game = pyspiel.load_game(register, {"episode": "game", "reward": reward})
        pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


def test_a_state_written_and_read_goes_on_alike():
    """Game and state as text; and a clone is a game of its own."""
    game = pyspiel.load_game("bideuchre_barrie_v0(dealer=1)")
    state, rng = new(game, 5)
    for _ in range(8):
        state.apply_action(int(rng.choice(state.legal_actions())))
    text = pyspiel.serialize_game_and_state(game, state)
    _, read = pyspiel.deserialize_game_and_state(text)
    twin, before = state.clone(), str(state)
    while not twin.is_terminal():
        action = int(rng.choice(twin.legal_actions()))
        twin.apply_action(action)
        read.apply_action(action)
        assert str(read) == str(twin)
    assert read.returns() == twin.returns()
    assert str(state) == before


@pytest.mark.parametrize("name", VARIANTS)
def test_a_redeal_is_one_that_the_player_cannot_tell(name):
    """For every seat all through hands: what it is told, sees and may do; the rest changes."""
    game = pyspiel.load_game(f"bideuchre_{name}")
    sampler, changed = pyspiel.UniformProbabilitySampler(0.0, 1.0), 0
    for seed in range(4):
        state, rng = new(game, seed)
        while not state.is_terminal():
            for player in range(4):
                other = state.resample_from_infostate(player, sampler)
                for tell in ("information_state_string", "information_state_tensor"):
                    assert getattr(other, tell)(player) == getattr(state, tell)(player)
                assert other.current_player() == state.current_player()
                if player == state.current_player():
                    assert other.legal_actions() == state.legal_actions()
                assert len(other.history()) == len(state.history())
                changed += str(other) != str(state)
            legal = state.legal_actions()
            state.apply_action(legal[-1] if rng.random() < 0.5 else int(rng.choice(legal)))
    assert changed > 100
    assert str(state.resample_from_infostate(0, sampler)) == str(state)


def test_a_seat_is_told_its_own_cards_of_an_exchange_alone():
    """In order; the partner's come when the declarer takes them up, in no order."""
    game = pyspiel.load_game("bideuchre_barrie_v0(dealer=3)")
    state, _ = new(game, 0)
    bid = next(n for n in bideuchre_env.barrie_v0.raw_env().action_names if "bid call-2" in n)
    for name in ("pass", bid, "pass", "pass"):
        state.apply_action(state.string_to_action(name))
    given = [state.action_to_string(state.legal_actions()[-1])]
    state.apply_action(state.legal_actions()[-1])
    given.append(state.action_to_string(state.legal_actions()[0]))
    state.apply_action(state.legal_actions()[0])
    told = [state.information_state_string(seat) for seat in range(4)]
    assert told[1].endswith(f"| 1 gives {given[0]} | 1 gives {given[1]}")
    for seat in (0, 2, 3):
        assert told[seat].endswith("| 1 gives a card | 1 gives a card")
    for _ in range(2):
        state.apply_action(state.legal_actions()[0])
    told = [state.information_state_string(seat) for seat in range(4)]
    assert "| gets " in told[1]
    assert all("gets" not in told[seat] for seat in (0, 2, 3))
    assert "3 passes a card" in told[1]
    assert "3 passes a card" not in told[3]


def test_observers_see_blocks_by_name():
    """The blocks of the layout, in their shapes; a spectator has no private ones."""
    game = pyspiel.load_game("bideuchre_cincinnati_v0")
    state, _ = new(game, 3)
    own = game.make_py_observer()
    own.set_from(state, 1)
    assert own.dict["hand"].sum() == 6
    assert own.dict["calls"].shape == (4, 8)
    kinds, part = pyspiel.IIGObservationType, pyspiel.PrivateInfoType
    kind = kinds(perfect_recall=False, private_info=part.NONE)
    public = game.make_py_observer(kind)
    public.set_from(state, 1)
    assert "hand" not in public.dict
    assert "holds" not in public.string_from(state, 1)
    with pytest.raises(OptionError, match="one player's private part or none"):
        game.make_py_observer(kinds(perfect_recall=False, private_info=part.ALL_PLAYERS))
    with pytest.raises(OptionError, match="observer parameters"):
        game.make_py_observer(kind, {"a": 1})


def test_what_is_refused():
    """Parameters, illegal actions and names; each in one line, and nothing changes."""
    with pytest.raises(OptionError, match="episode='round': one of 'game', 'hand'"):
        pyspiel.load_game("bideuchre_barrie_v0(episode=round)")
    with pytest.raises(OptionError, match="reward='money'"):
        pyspiel.load_game("bideuchre_barrie_v0(reward=money)")
    with pytest.raises(DealError, match="dealer 4: a seat from 0 to 3"):
        pyspiel.load_game("bideuchre_barrie_v0(dealer=4)")
    state, _ = new(pyspiel.load_game("bideuchre_cincinnati_v0"), 0)
    before = str(state)
    for action in (state.string_to_action("pass") + 20, 1000):
        with pytest.raises(IllegalActionError, match="legal"):
            state.dealt_game.choose(action)
    assert str(state) == before
    other = bideuchre_env.make(SMALL, name="cincinnati_v0")
    with pytest.raises(OptionError, match="registered with other rules"):
        openspiel.register(other)
    with pytest.raises(OptionError, match="letters, digits and _"):
        openspiel.register(bideuchre_env.make(SMALL, name="at home"))


def test_bots_of_the_library_that_search():
    """The Python ISMCTS redeals and plays; the library's C++ one is refused in words, not by a
    dead process; its MCTS plays."""
    from open_spiel.python.algorithms import ismcts, mcts

    game = pyspiel.load_game("bideuchre_barrie_v0")
    state, _ = new(game, 2)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(game, evaluator, 5.0, 20, random_state=np.random.RandomState(1))
    assert bot.step(state) in state.legal_actions()
    rollouts = pyspiel.RandomRolloutEvaluator(1, 1)
    cpp = pyspiel.ISMCTSBot(seed=1, evaluator=rollouts, uct_c=2.0, max_simulations=20)
    for name in ("step", "get_policy", "step_with_policy"):
        with pytest.raises(OptionError, match=r"cannot redeal.*ismcts\.ISMCTSBot can"):
            getattr(cpp, name)(state)
    with pytest.raises(pyspiel.SpielError, match="ResampleFromInfostate"):
        pyspiel.evaluate_bots(state.clone(), [cpp] * 4, 1)
    kuhn = pyspiel.load_game("kuhn_poker").new_initial_state()
    kuhn.apply_action(0)
    kuhn.apply_action(1)
    assert cpp.step(kuhn) in (0, 1)
    seeing = pyspiel.MCTSBot(game, rollouts, 2.0, 20, 5, False, 1, False)
    assert seeing.step(state) in state.legal_actions()


def test_our_agents_are_bots():
    """By name, in `evaluate_bots`, and stronger ones win."""
    game = pyspiel.load_game("bideuchre_cincinnati_v0")
    bots = [openspiel.AgentBot(game, name, seed=1) for name in ("rule", "random", "rule", "random")]
    total = 0.0
    for seed in range(30):
        state = game.new_initial_state()
        returns = pyspiel.evaluate_bots(state, bots, seed)
        assert returns == state.returns()
        total += returns[0]
    assert total / 30 > 2


def test_mccfr_learns_a_small_game():
    """Both samplings, over information states that are never mixed up."""
    from open_spiel.python.algorithms import external_sampling_mccfr, outcome_sampling_mccfr

    game = pyspiel.load_game(openspiel.register(bideuchre_env.make(SMALL, name="small")))
    outcomes = outcome_sampling_mccfr.OutcomeSamplingSolver(game)
    for _ in range(20):
        outcomes.iteration()
    state, _ = new(game, 1)
    assert sum(outcomes.average_policy().action_probabilities(state).values()) == pytest.approx(1)
    external = external_sampling_mccfr.ExternalSamplingSolver(game)
    external.iteration()
    assert len(external._infostates) > 100


def test_rl_environment_trains_a_learner():
    """The library's time steps: tensors, legal actions, rewards of every seat."""
    from open_spiel.python import rl_environment
    from open_spiel.python.algorithms import tabular_qlearner

    game = pyspiel.load_game("bideuchre_cincinnati_v0")
    env = rl_environment.Environment(game)
    env.seed(1)
    learners = [
        tabular_qlearner.QLearner(seat, env.action_spec()["num_actions"]) for seat in range(4)
    ]
    step = env.reset()
    while not step.last():
        seat = step.observations["current_player"]
        assert len(step.observations["info_state"][seat]) == 289
        step = env.step([learners[seat].step(step).action])
    for learner in learners:
        learner.step(step)
    assert len(step.rewards) == 4
    assert sum(step.rewards) == 0
    assert any(learner._q_values for learner in learners)


def test_a_program_ends_as_it_should():
    """The library lets go of registered games after the interpreter has ended."""
    ask = (
        "import pyspiel; from bideuchre_env.adapters import openspiel\n"
        "game = pyspiel.load_game('bideuchre_barrie_v0'); game.observation_tensor_shape()"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_module_can_be_loaded_again():
    """As in a notebook: the library's bots are guarded once, and still play."""
    ask = (
        "import importlib, pyspiel; from bideuchre_env.adapters import openspiel\n"
        "own = pyspiel.MCTSBot.step.unguarded; importlib.reload(openspiel)\n"
        "assert pyspiel.MCTSBot.step.unguarded is own\n"
        "for name in ('bideuchre_barrie_v0(dealer=1)', 'tic_tac_toe'):\n"
        "    game = pyspiel.load_game(name); state = game.new_initial_state()\n"
        "    while state.is_chance_node(): state.apply_action(state.legal_actions()[0])\n"
        "    rollouts = pyspiel.RandomRolloutEvaluator(1, 1)\n"
        "    bot = pyspiel.MCTSBot(game, rollouts, 2.0, 20, 5, False, 1, False)\n"
        "    assert bot.step(state) in state.legal_actions()\n"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_boards_swap_the_sides():
    """The same deals with either side's bots: two alike come to nothing, better ones to more."""
    game = pyspiel.load_game("bideuchre_cincinnati_v0")
    met = []

    class Watched(openspiel.AgentBot):
        def step(self, state):
            met.append((state.current_player() % 2, str(state.history()[:25])))
            return super().step(state)

    rule, cautious = Watched(game, "rule"), openspiel.AgentBot(game, "cautious", seed=1)
    assert not openspiel.duplicate_boards(game, [rule] * 4, [rule] * 4, 5).any()
    met.clear()
    made = openspiel.duplicate_boards(game, [rule] * 4, [cautious] * 4, 100, seed=1)
    assert made.mean() > 1
    deals = [{deal for seat, deal in met if seat == side} for side in range(2)]
    assert deals[0] == deals[1]
    assert len(deals[0]) == 100


# --- the script -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script():
    """`experiments/trainers/openspiel_ismcts.py`."""
    with loaded("experiments/trainers", "openspiel_ismcts") as [module]:
        yield module


def test_the_script_prints_a_result(script, capsys):
    """Against each judge, in seconds; one board gives no interval and is refused."""
    small = ["--boards", "2", "--simulations", "4", "--judges", "random", "cautious"]
    assert script.main(script.Args.parse(small)) == 0
    printed = capsys.readouterr().out
    for judge in ("random", "cautious"):
        assert f"ismcts:4 against {judge}, cincinnati_v0, 2 boards\npoints per hand" in printed
    with pytest.raises(OptionError, match="--boards: 2 or more"):
        script.main(script.Args.parse(["--boards", "1"]))


@pytest.mark.slow
def test_the_search_beats_random(script):
    """By more than five points per hand."""
    assert script.points(script.Args(boards=40, simulations=50), "random").low > 5
