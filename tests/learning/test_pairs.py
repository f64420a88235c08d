"""Pairs of actions and their point differences; alternative actions that networks propose."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from support.chi_square import assert_fits
from support.custom_agents import ObservationPolicy
from support.playthroughs import DIFFERENT, SIX
from support.ray_clusters import in_order
from support.solo_helpers import assert_same

from bideuchre_env import Phase, make, variants
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.improved import PHASES, ImprovedPolicy
from bideuchre_env.learning.network import evaluate, new_network
from bideuchre_env.learning.pairs import CARDS, pair_blocks, pairs
from bideuchre_env.learning.proposals import Proposals
from bideuchre_env.rules.variants import RULES

pytestmark = pytest.mark.search

ALL = tuple(Phase)[:5]
BARRIE = variants["barrie_v0"].rules


class Twin:
    """Slow pairs: each line of a hand is played from the deal, action by action."""

    def __init__(self, policy, rules, seed, phases, opponent=None):
        self.opponent = opponent
        words = np.random.SeedSequence([seed & (1 << 64) - 1, seed >> 64])
        self.high = int(words.generate_state(2, np.uint64)[0])
        self.policy, self.phases = policy, phases
        self.env = make(rules).raw_env(episode="hand", reward="points")
        self.phase_of = layout_of(rules).slices["phase"]

    def line(self, hand, first):
        """Play a hand that begins with the actions `first`; return its decisions and rewards."""
        self.env.reset(seed=(self.high << 64) + hand)
        decisions = []
        while self.env.agents and not any(self.env.terminations.values()):
            name = self.env.agent_selection
            view = self.env.observe(name)
            seen, mask = view["observation"], view["action_mask"]
            if len(decisions) < len(first):
                action = first[len(decisions)]
            else:
                theirs = self.opponent and self.seat(name) % 2
                player = self.opponent if theirs else self.policy
                action = int(player.act_rows(seen[np.newaxis], mask[np.newaxis])[0])
            decisions.append((seen.copy(), mask.copy(), name, action))
            self.env.step(action)
        return decisions, dict(self.env.rewards)

    def seat(self, name):
        return self.env.possible_agents.index(name)

    def pairs(self, hand, others):
        """Yield (observation, mask, chosen, other, gain) for each choice of the policy."""
        main, points = self.line(hand, [])
        for ply, (seen, mask, name, action) in enumerate(main):
            if self.opponent and self.seat(name) % 2:
                continue
            if mask.sum() > 1 and Phase(int(seen[self.phase_of].argmax())) in self.phases:
                other = next(others)
                before = [decision[3] for decision in main[:ply]]
                _, instead = self.line(hand, [*before, other])
                yield seen, mask, action, other, instead[name] - points[name]


@pytest.mark.parametrize(
    ("name", "phases", "opponent"),
    [
        *((name, ALL, None) for name in (*SIX, "pepper_v0")),
        *((name, CARDS, None) for name in DIFFERENT[:2]),
        *((name, ALL, ObservationPolicy(8)) for name in DIFFERENT[:2]),
    ],
)
def test_pairs_equal_hands_played_one_at_a_time(name, phases, opponent):
    rules, policy, seed = variants[name].rules, ObservationPolicy(3), (5 << 64) + 7
    made = pairs(policy, rules, range(2, 14), seed, phases=phases, opponent=opponent)
    twin = Twin(policy, rules, seed, phases, opponent)
    others, at = iter(made.other.tolist()), 0
    for hand in range(2, 14):
        for seen, mask, chosen, other, gain in twin.pairs(hand, others):
            assert np.array_equal(made.observations[at], seen)
            assert np.array_equal(made.masks[at], mask)
            assert (made.chosen[at], made.other[at]) == (chosen, other)
            assert (made.gain[at], made.hand[at]) == (gain, hand)
            assert chosen != other
            at += 1
    assert at == len(made.gain) > 50
    assert len(set(np.sign(made.gain))) == 3


def test_blocks_parts_and_pools_give_the_same_pairs():
    policy, opponent = ObservationPolicy(2), ObservationPolicy(4)
    options = {"phases": ALL, "opponent": opponent}
    whole = pairs(policy, BARRIE, 21, 9, **options)
    assert_same(whole, pairs(policy, BARRIE, 21, 9, **options))
    for block in (1, 8, 21):
        for pool in (None, SimpleNamespace(in_order=in_order)):
            blocks = list(pair_blocks(policy, BARRIE, 21, 9, block=block, pool=pool, **options))
            assert len(blocks) == -(-21 // block)
            assert_same([*whole], [*map(np.concatenate, zip(*blocks, strict=True))])
            assert all(array.flags.writeable for array in blocks[0])
    parts = [pairs(policy, BARRIE, part, 9, **options) for part in (range(9), range(9, 21))]
    assert_same([*whole], [*map(np.concatenate, zip(*parts, strict=True))])


def test_other_seeds_deal_other_hands():
    policy = ObservationPolicy(2)
    dealt = [pairs(policy, BARRIE, 21, seed).observations for seed in (9, 10, 9 << 64)]
    hands = [{row.tobytes() for row in seen} for seen in dealt]
    assert not hands[0] & hands[1] | hands[0] & hands[2] | hands[1] & hands[2]


def test_a_share_of_decisions_is_a_uniform_sample_of_the_same_pairs():
    policy = ObservationPolicy(4)
    whole = pairs(policy, BARRIE, 400, 3)
    part = pairs(policy, BARRIE, 400, 3, share=0.3)
    n = len(whole.gain)
    assert_fits([len(part.gain), n - len(part.gain)], [0.3 * n, 0.7 * n])
    rows = {tuple(array[i].tobytes() for array in whole) for i in range(n)}
    assert all(tuple(array[i].tobytes() for array in part) in rows for i in range(len(part.gain)))


def test_other_actions_are_drawn_uniformly():
    made = pairs(ObservationPolicy(5), BARRIE, 3000, 4)
    others = made.masks.copy()
    others[np.arange(len(others)), made.chosen] = 0
    counts = others.sum(axis=1)
    places = np.cumsum(others, axis=1)[np.arange(len(others)), made.other] - 1
    for n in range(2, 7):
        drawn = np.bincount(places[counts == n], minlength=n)
        assert_fits(drawn, np.full(n, drawn.sum() / n))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(({"hands": bad}, "hands=") for bad in (0, 2.5, range(0, 8, 2), range(-2, 8), 1 << 70)),
        ({"seed": -1}, "seed=-1: expected a whole number"),
        ({"rules": "cincinnati_v0"}, "rules='cincinnati_v0': expected a Rules value"),
        ({"policy": "rule"}, "policy='rule': expected an agent with act_rows"),
        ({"opponent": "rule"}, "opponent='rule': expected an agent with act_rows"),
        *(({"phases": bad}, "phases=") for bad in ((), [Phase.DEAL], [Phase.PLAY, 9])),
        *(({"share": bad}, f"share={bad}") for bad in (0, 1.01)),
        ({"propose": 3}, "propose=3: expected a function, or None"),
        ({"block": 0}, "block=0: expected a whole number from 1"),
    ],
)
def test_unusable_arguments_are_refused_before_play(arguments, message):
    good = {"policy": ObservationPolicy(0), "rules": BARRIE, "hands": 4, "seed": 0}
    with pytest.raises(OptionError, match=message):
        pair_blocks(**good | arguments)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.full(n, 10**6), r"act_rows, row 0: seat \d may not choose 1000000; legal"),
        (lambda n: np.full(n, -1), "may not choose -1"),
        (lambda n: np.zeros(n), r"act_rows: expected whole numbers of shape \(4,\).*float64"),
        (lambda n: [True] + [0] * (n - 1), "not True or False"),
    ],
)
def test_illegal_actions_of_a_policy_are_refused(answer, message):
    policy = SimpleNamespace(act_rows=lambda observations, masks: answer(len(observations)))
    with pytest.raises(IllegalActionError, match=message):
        pairs(policy, BARRIE, 4, 0)


def test_illegal_proposals_are_refused():
    for propose, message in (
        (lambda seen, masks, chosen: chosen, "propose, row 0: expected another action than"),
        (lambda seen, masks, chosen: np.full(len(seen), -1), "propose, row 0: seat . may not"),
        (lambda seen, masks, chosen: chosen + 0.5, "propose: expected whole numbers"),
    ):
        with pytest.raises(IllegalActionError, match=message):
            pairs(ObservationPolicy(0), BARRIE, 4, 0, propose=propose)


def planted(kind=3):
    """A network that prefers output `kind` by two points for every input."""
    features = features_of(BARRIE, "cards")
    rng = np.random.default_rng(0)
    network = new_network(features.size, (8, 8), features.outputs, rng)
    network.last_bias[kind] = 2.0
    return network


def test_proposals_follow_the_softmax_of_the_network_and_do_not_depend_on_blocks():
    policy, made = ObservationPolicy(2), {}
    for share in (0.0, 0.5):
        propose = Proposals(planted(), BARRIE, "cards", seed=4, temperature=1.0, even=share)
        made[share] = pairs(policy, BARRIE, 600, 1, propose=propose)
        copy = pickle.loads(pickle.dumps(propose))
        blocks = pair_blocks(policy, BARRIE, 600, 1, propose=copy, block=70)
        again = map(np.concatenate, zip(*blocks, strict=True))
        assert_same([*made[share]], [*again])
    features = features_of(BARRIE, "cards")
    for share, some in made.items():
        rows = np.arange(len(some.gain))
        assert some.masks[rows, some.other].all()
        assert (some.other != some.chosen).all()
        left = some.masks.copy()
        left[rows, some.chosen] = 0
        _, legal, symmetries = evaluate(planted(), features, some.observations, left)
        outputs = features.outputs_of(some.other, symmetries)
        could = legal[:, 3] == 1
        n = legal[could].sum(axis=1)
        liked = np.exp(2) / (np.exp(2) + n - 1)
        expected = share / n + (1 - share) * liked
        error = np.sqrt(np.sum(expected * (1 - expected)))
        assert abs((outputs[could] == 3).sum() - expected.sum()) < 4 * error
        assert could.sum() > 500


def test_unusable_options_and_networks_of_another_part_are_refused():
    for name, bad in (
        *(("temperature", bad) for bad in (0, float("nan"))),
        *(("even", bad) for bad in (-0.1, 1.1)),
        ("seed", None),
        ("part", "else"),
    ):
        with pytest.raises(OptionError, match=f"^{name}"):
            Proposals(planted(), BARRIE, **{"part": "cards", "seed": 1, name: bad})
    with pytest.raises(OptionError, match="first: expected a shape of "):
        Proposals(planted(), BARRIE, "auction", 1)


CINCINNATI = RULES["cincinnati_v0"]


def new_network_of(part, hidden=(4, 4)):
    """Return a new network of the part "auction" or "cards", and its features."""
    features = features_of(CINCINNATI, part)
    return new_network(features.size, hidden, features.outputs, np.random.default_rng(1)), features


@pytest.mark.parametrize("part", PARTS)
def test_an_action_changes_where_the_network_gains_more_than_the_margin(part):
    policy, (network, features) = ObservationPolicy(2), new_network_of(part, (16, 8))
    phases = PHASES[part]
    made = pairs(policy, CINCINNATI, 60, 5, phases=phases)
    rng = np.random.default_rng(2)
    network.last[:] = rng.normal(0, 1, network.last.shape)
    outputs, legal, symmetries = evaluate(network, features, made.observations, made.masks)
    changed = 0
    for margin in (0.0, 0.3, 1e9):
        player = ImprovedPolicy(policy, CINCINNATI, {part: network}, {part: margin})
        actions = player.act_rows(made.observations, made.masks)
        for i, action in enumerate(actions):
            [own], [choice] = (
                features.outputs_of(np.array([a]), symmetries[i : i + 1])
                for a in (made.chosen[i], action)
            )
            best = max(np.flatnonzero(legal[i]), key=lambda k: outputs[i, k])
            better = outputs[i, best] - outputs[i, own] > margin
            assert choice == (best if better else own)
            changed += action != made.chosen[i]
    assert changed > 20
    others = [phase for parts, its in PHASES.items() if parts != part for phase in its]
    made = pairs(policy, CINCINNATI, 20, 5, phases=others)
    player = ImprovedPolicy(policy, CINCINNATI, {part: network}, {part: 0.0})
    assert np.array_equal(player.act_rows(made.observations, made.masks), made.chosen)


def test_networks_and_margins_that_do_not_fit_are_refused():
    policy, (network, _) = ObservationPolicy(1), new_network_of("cards")
    for networks, margins in (
        ({"cards": network}, {}),
        ({"auction": network}, {"auction": 0.1}),
        ({"else": network}, {"else": 0.1}),
        *(({"cards": network}, {"cards": bad}) for bad in (np.nan, -1.0, None)),
    ):
        with pytest.raises(OptionError):
            ImprovedPolicy(policy, CINCINNATI, networks, margins)
