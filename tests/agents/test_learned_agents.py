"""The learned agents `net` and `ppo`: their decisions, and weights that do not fit."""

import copy
import pickle
import random
from functools import lru_cache

import numpy as np
import pytest
from support.agent_games import LEARNED, play_on, settled, shipped, start
from support.strategies import random_rules

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env.agents.expert.agent import ExpertAgent
from bideuchre_env.agents.learned.net import NetAgent, calls_of, net_weights, weights_for
from bideuchre_env.agents.learned.ppo import KIND, PpoAgent
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.learning.features import PARTS, VERSION, features_of
from bideuchre_env.learning.network import (
    Network,
    arrays_of,
    evaluate,
    forward,
    network_of,
    new_network,
)
from bideuchre_env.learning.weights import Weights, made_for, write_parts
from bideuchre_env.rules import actions
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime import jit

pytestmark = pytest.mark.search

CINCINNATI = RULES["cincinnati_v0"]
NO_SEARCH = {"wanted": (0,) * 13}


@lru_cache(maxsize=8)
def seen(name, tables=24):
    """Observations and masks of a few hands between a rule and a cautious player."""
    rules, rows, masks = RULES[name], [], []

    def watch(row, mask, _):
        rows.append(row.copy())
        masks.append(mask.copy())

    sides = (agents.make("rule", rules), agents.make("cautious", rules, seed=3))
    play_on(rules, start(rules, tables, seed=4), sides, watch=watch)
    return np.concatenate(rows), np.concatenate(masks)


def cards_of(name, tables=24):
    """Observations and masks with two or more legal cards, none certain to win all that is left."""
    rows, masks = seen(name, tables)
    cards = masks[:, actions.of(RULES[name]).card_offset :].sum(axis=1) > 1
    cards &= settled(RULES[name], rows, masks)[0] < 0
    return rows[cards], masks[cards]


def planted(rules, output, points):
    """Weights of a net that gives `points` to output number `output`, and 0 to all others."""
    base = weights_for(rules)
    network = Network(*(np.zeros_like(each) for each in network_of(base, "cards")[:6]))
    network.last_bias[output] = points
    return net_weights(rules, network, calls_of(base), {})


@pytest.mark.parametrize(
    ("name", "goal"),
    [
        *((name, "game") for name in shipped("net")),
        ("barrie_v0", "points"),
        ("six_card_v0", "points"),
    ],
)
def test_the_net_without_its_network_is_the_expert(name, goal):
    """A margin of 100 disables the network, with and without the search."""
    rules = RULES[name]
    rows, masks = seen(name)
    calls = calls_of(weights_for(rules))
    expert = ExpertAgent(rules, network=calls, goal=goal, **NO_SEARCH)
    net = agents.make("net", rules, margin=100, goal=goal)
    assert np.array_equal(net.act_rows(rows, masks), expert.act_rows(rows, masks))
    whole = ExpertAgent(rules, network=calls, goal=goal)
    net = agents.make("net", rules, margin=100, veto=100, search=True, goal=goal)
    assert np.array_equal(net.act_rows(rows, masks), whole.act_rows(rows, masks))


@pytest.mark.parametrize("name", ["cincinnati_v0", "barrie_v0", "club_v0"])
def test_the_net_plays_the_card_with_the_largest_output(name):
    """The net plays it only if its output exceeds that of the rule player's card by the margin.

    No row is of a defender against a lone bid at no trump, where the margin is larger.
    """
    rules, features = RULES[name], features_of(RULES[name], "cards")
    rows, masks = cards_of(name)
    reduced = settled(rules, rows, masks)[1]
    plain = agents.make("rule", rules).act_rows(rows, masks)
    followed = 0
    for output, points in ((0, 0.3), (5, 0.3), (0, 0.05)):
        weights = planted(rules, output, points)
        network = network_of(weights, "cards")
        _, legal, symmetries = evaluate(network, features, rows, reduced)
        best = features.actions(np.full(len(rows), output), symmetries)
        better = (legal[:, output] == 1) & (points > 0.1)
        choices = NetAgent(rules, weights=weights).act_rows(rows, masks)
        assert np.array_equal(choices, np.where(better, best, plain))
        followed += (choices != plain).sum()
        eager = NetAgent(rules, weights=weights, margin=0.0).act_rows(rows, masks)
        assert np.array_equal(eager, np.where(legal[:, output] == 1, best, plain))
    assert followed > 20


def plays(name, call, defends, deals=60):
    """Observations, masks and cards of `rule` with several cards, in contracts of random hands.

    They are those of the defenders, or else of the declarer, who makes the `call`.
    """
    rules, cards, rows, masks = RULES[name], [], [], []
    env, rule = bideuchre_env.make(name).raw_env(), agents.make("rule", rules)
    names, offset = actions.of(rules).names, actions.of(rules).card_offset
    for deal in range(deals):
        env.reset(seed=deal)
        declarer = env.agent_selection
        env.step(names.index(call))
        while len(env.record.hands) == 1:
            seen = env.observe(env.agent_selection)
            row, mask = seen["observation"][None], seen["action_mask"][None]
            action = int(rule.act_rows(row, mask)[0]) if mask[0, 0] == 0 else 0
            side = int(env.agent_selection[-1]) + int(declarer[-1])
            chosen = side % 2 == 1 if defends else env.agent_selection == declarer
            if chosen and mask[0, offset:].sum() > 1:
                rows, masks, cards = [*rows, row], [*masks, mask], [*cards, action]
            env.step(action)
    return np.concatenate(rows), np.concatenate(masks), np.array(cards)


@pytest.mark.parametrize(
    ("name", "call", "defends", "points", "follows"),
    [
        ("barrie_v0", "bid moon NT", True, 1.5, False),
        ("barrie_v0", "bid moon NT", True, 2.5, True),
        ("barrie_v0", "bid moon NT", False, 1.5, True),
        ("barrie_v0", "bid moon H", True, 1.5, True),
        ("barrie_v0", "bid 4 NT", True, 1.5, True),
        ("indiana_v0", "bid shoot LOW", True, 1.5, False),
    ],
)
def test_guards_at_no_trump_need_a_larger_margin(name, call, defends, points, follows):
    """Against a lone declarer at no trump, the network must prefer its card by two points."""
    rules = RULES[name]
    rows, masks, cards = plays(name, call, defends)
    outputs = features_of(rules, "cards").outputs
    choices = [
        NetAgent(rules, weights=planted(rules, output, points)).act_rows(rows, masks)
        for output in range(outputs)
    ]
    changed = (np.array(choices) != cards).any(axis=0)
    assert changed.mean() > 0.4 if follows else not changed.any()


def test_the_network_vetoes_cards_of_the_search():
    rows, masks = cards_of("cincinnati_v0", tables=100)
    weights = planted(CINCINNATI, 4, 3.0)
    quiet = NetAgent(CINCINNATI, weights=weights).act_rows(rows, masks)
    firm = NetAgent(CINCINNATI, weights=weights, search=True, veto=2.5).act_rows(rows, masks)
    weak = NetAgent(CINCINNATI, weights=weights, search=True, veto=3.5).act_rows(rows, masks)
    features = features_of(CINCINNATI, "cards")
    legal = evaluate(network_of(weights, "cards"), features, rows, masks)[1][:, 4] == 1
    assert np.array_equal(firm[legal], quiet[legal])
    assert (weak[legal] != quiet[legal]).any()
    assert np.array_equal(firm[~legal], weak[~legal])  # equal outputs: no veto
    assert (firm[~legal] != quiet[~legal]).any()


@pytest.mark.parametrize("name", LEARNED)
def test_a_copy_has_the_same_decisions_and_compiles_nothing(name):
    agent = agents.make(name, CINCINNATI)
    agent.name = "mine"
    rows, masks = seen("cincinnati_v0")
    chosen, compiled = agent.act_rows(rows, masks), jit.compiling.count
    for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert twin.name == "mine"
        assert np.array_equal(twin.act_rows(rows, masks), chosen)
    assert jit.compiling.count == compiled


@pytest.mark.parametrize("name", LEARNED)
def test_weights_are_read_from_a_file_or_refused(name, tmp_path):
    place = tmp_path / "mine.npz"
    weights = agents.make(name, CINCINNATI)._options["weights"]
    rows, masks = seen("cincinnati_v0")
    chosen = agents.make(name, CINCINNATI).act_rows(rows, masks)
    write_parts(place, {name: weights})
    by_name = agents.make(f"{name}:weights={place}", CINCINNATI)
    for agent in (agents.make(name, CINCINNATI, weights=place), by_name):
        assert np.array_equal(agent.act_rows(rows, masks), chosen)
    bias, extra = {"cards.last_bias": np.ones(3, np.float32)}, {"extra": np.ones(3, np.float32)}
    changed = {
        "kind='other': expected kind=": ({"kind": "other"}, {}),
        "features='0': expected features=": ({"features": "0"}, {}),
        ": expected float32": ({}, bias),
        "the arrays .*extra.*: expected": ({}, extra),
    }
    for message, (metadata, arrays) in changed.items():
        wrong = Weights(weights.arrays | arrays, weights.metadata | metadata)
        write_parts(place, {name: wrong})
        with pytest.raises(WeightsError, match=message) as error:
            agents.make(name, CINCINNATI, weights=place)
        assert "mine.npz" in str(error.value)
        assert "\n" not in str(error.value)
    write_parts(place, {name: weights})
    message = r"for cincinnati_v0, cannot be used here: (ranks|copies)="
    with pytest.raises(WeightsError, match=message):
        agents.make(name, RULES["double_deck_v0"], weights=place)
    with pytest.raises(WeightsError, match=r"nowhere.* cannot be read"):
        agents.make(name, CINCINNATI, weights=tmp_path / "nowhere")
    place.write_bytes(b"\xff" * 100)
    with pytest.raises(WeightsError, match=r"damaged, or not a .npz file of weights"):
        agents.make(name, CINCINNATI, weights=place)


@pytest.mark.parametrize("name", LEARNED)
def test_a_game_without_weights_is_refused(name):
    rng = random.Random(2)
    fitted = [made_for(name, RULES[variant], VERSION) for variant in shipped(name)]
    refused = [r for r in map(random_rules, [rng] * 20) if made_for(name, r, VERSION) not in fitted]
    assert len(refused) > 10
    for rules in refused:
        message = r"expected .* one of cincinnati_v0.*; .*weights=FILE uses your own$"
        with pytest.raises(OptionError, match=message):
            agents.make(name, rules)


def networks(rules, seed=3):
    """A network with random weights for each part; its outputs depend on every input."""
    rng, result = np.random.default_rng(seed), {}
    for part in PARTS:
        features = features_of(rules, part)
        new = new_network(features.size, (24, 16), features.outputs, rng)
        drawn = (rng.normal(0, 0.1, each.shape).astype(np.float32) + each for each in new[:6])
        result[part] = Network(*drawn)
    return result


@pytest.mark.parametrize("variant", RULES)
def test_ppo_plays_the_largest_legal_output(variant):
    rules = RULES[variant]
    nets, parts = networks(rules), {part: features_of(rules, part) for part in PARTS}
    arrays = arrays_of(nets["auction"], "auction") | arrays_of(nets["cards"], "cards")
    agent = PpoAgent(rules, weights=Weights(arrays, made_for(KIND, rules, VERSION)))
    card_offset, seen = parts["cards"].actions(np.zeros(1, int), np.zeros(1, int))[0], set()

    def watch(rows, masks, chosen):
        calls = ~masks[:, card_offset:].any(axis=1)
        for part, here in (("auction", calls), ("cards", ~calls)):
            if not here.any():
                continue
            seen.add(part)
            features, n = parts[part], int(here.sum())
            inputs = np.zeros((n, features.size), np.float32)
            legal, symmetries = np.zeros((n, features.outputs), np.int8), np.zeros(n, np.int64)
            certain, reduced = settled(rules, rows[here], masks[here])
            features.write(rows[here], reduced, inputs, legal, symmetries)
            outputs = np.where(legal != 0, forward(nets[part], inputs), -np.inf)
            took = features.outputs_of(chosen[here], symmetries)
            largest = outputs[np.arange(n), took] >= outputs.max(axis=1) - 1e-4
            assert np.where(certain >= 0, chosen[here] == certain, largest).all()
        for i in range(0, len(rows), 7):
            assert agent.act(rows[i], masks[i]) == chosen[i]

    play_on(rules, start(rules, 40), (agent, agent), hands=2, watch=watch)
    assert seen == set(PARTS)
