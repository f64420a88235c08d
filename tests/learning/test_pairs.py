"""Paired differences: against one hand at a time in the AEC environment; drawn fairly; refused."""

import numpy as np
import pytest
from support.chi_square import assert_fits
from support.playthroughs import VARIANTS
from support.policies import ObservationPolicy

from bideuchre_env import Phase, agents, make, variants
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.learning.pairs import CARDS, pair_blocks, pairs
from bideuchre_env.rules import actions

ALL = tuple(Phase)[:5]
BARRIE = variants["barrie_v0"].rules


class Twin:
    """Hands one at a time: pairs by playing each line from the deal, action by action."""

    def __init__(self, policy, rules, seed, phases, opponent=None):
        self.opponent = opponent
        words = np.random.SeedSequence([seed & (1 << 64) - 1, seed >> 64])
        self.high = int(words.generate_state(2, np.uint64)[0])
        self.policy, self.phases = policy, phases
        self.env = make(rules).raw_env(episode="hand", reward="points")
        self.phase_of = layout_of(rules).slices["phase"]

    def line(self, hand, first):
        """The first actions as given, then the policy's: (view, mask, who, action), rewards."""
        self.env.reset(seed=(self.high << 64) + hand)
        told = []
        while self.env.agents and not any(self.env.terminations.values()):
            name = self.env.agent_selection
            view = self.env.observe(name)
            seen, mask = view["observation"], view["action_mask"]
            if len(told) < len(first):
                action = first[len(told)]
            else:
                theirs = self.opponent and self.seat(name) % 2
                player = self.opponent if theirs else self.policy
                action = int(player.act_rows(seen[np.newaxis], mask[np.newaxis])[0])
            told.append((seen.copy(), mask.copy(), name, action))
            self.env.step(action)
        return told, dict(self.env.rewards)

    def seat(self, name):
        """The seat of a player."""
        return self.env.possible_agents.index(name)

    def pairs(self, hand, others):
        """(observation, mask, chosen, other, gain) of every decision, by the others given."""
        main, points = self.line(hand, [])
        for ply, (seen, mask, name, action) in enumerate(main):
            if self.opponent and self.seat(name) % 2:
                continue
            if mask.sum() > 1 and Phase(int(seen[self.phase_of].argmax())) in self.phases:
                other = next(others)
                before = [told[3] for told in main[:ply]]
                _, instead = self.line(hand, [*before, other])
                yield seen, mask, action, other, instead[name] - points[name]


def same(a, b):
    """Whether two sets of pairs are the same, array by array."""
    return all(
        one.dtype == two.dtype and np.array_equal(one, two) for one, two in zip(a, b, strict=True)
    )


@pytest.mark.parametrize(
    ("phases", "opponent"),
    [(CARDS, None), (ALL, None), (ALL, ObservationPolicy(8))],
    ids=["cards", "all", "opponent"],
)
@pytest.mark.parametrize("name", VARIANTS)
def test_pairs_are_those_of_hands_played_one_at_a_time(name, phases, opponent):
    """The same decisions, in the same order, and the same gains, each line played from the deal.

    Against an opponent, those of seats 0 and 2 alone.
    """
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
            at += 1
    assert at == len(made.gain) > 50
    assert len(set(np.sign(made.gain))) == 3


def test_what_a_pair_holds():
    """Arrays of the types promised; both actions legal, and two different ones."""
    made = pairs(ObservationPolicy(1), BARRIE, 300, 1, phases=ALL)
    m = len(made.gain)
    assert [array.dtype.name for array in made] == [
        "int8", "int8", "int64", "int64", "float32", "int64",
    ]  # fmt: skip
    assert made.observations.shape == (m, layout_of(BARRIE).size)
    assert made.masks.shape == (m, actions.of(BARRIE).n)
    rows = np.arange(m)
    assert made.masks[rows, made.chosen].all()
    assert made.masks[rows, made.other].all()
    assert (made.chosen != made.other).all()
    assert (np.diff(made.hand) >= 0).all()
    assert set(made.hand) <= set(range(300))
    phase = made.observations[:, layout_of(BARRIE).slices["phase"]].argmax(axis=1)
    assert set(phase) == set(ALL) - {Phase.NAMING}  # a bid names its strain here
    some = pairs(ObservationPolicy(1), BARRIE, 300, 1, phases=(Phase.AUCTION, Phase.PASSING))
    chosen = np.isin(phase, (Phase.AUCTION, Phase.PASSING))
    assert same(some, [array[chosen] for array in made])


def test_pairs_are_the_same_whatever_is_played_together():
    """In blocks of any size, in parts, and again; another seed deals other hands."""
    policy = ObservationPolicy(2)
    whole = pairs(policy, BARRIE, 21, 9, phases=ALL)
    assert same(whole, pairs(policy, BARRIE, 21, 9, phases=ALL))
    for block in (1, 8, 21):
        blocks = list(pair_blocks(policy, BARRIE, 21, 9, phases=ALL, block=block))
        assert len(blocks) == -(-21 // block)
        assert same(whole, map(np.concatenate, zip(*blocks, strict=True)))
    parts = [pairs(policy, BARRIE, part, 9, phases=ALL) for part in (range(9), range(9, 21))]
    assert same(whole, map(np.concatenate, zip(*parts, strict=True)))
    dealt = [pairs(policy, BARRIE, 21, seed).observations for seed in (9, 10, 9 << 64)]
    hands = [{row.tobytes() for row in seen} for seen in dealt]
    assert not hands[0] & hands[1] | hands[0] & hands[2] | hands[1] & hands[2]


def test_a_share_is_a_part_of_the_whole():
    """About that many, each decision alike, and the same ones with the same others."""
    policy = ObservationPolicy(4)
    whole = pairs(policy, BARRIE, 400, 3)
    part = pairs(policy, BARRIE, 400, 3, share=0.3)
    n = len(whole.gain)
    assert_fits([len(part.gain), n - len(part.gain)], [0.3 * n, 0.7 * n])
    rows = {tuple(array[i].tobytes() for array in whole) for i in range(n)}
    assert all(tuple(array[i].tobytes() for array in part) in rows for i in range(len(part.gain)))


def test_others_are_drawn_alike():
    """Each legal action but the chosen one as often as the others, by how many there are."""
    made = pairs(ObservationPolicy(5), BARRIE, 3000, 4)
    others = made.masks.copy()
    others[np.arange(len(others)), made.chosen] = 0
    counts = others.sum(axis=1)
    places = np.cumsum(others, axis=1)[np.arange(len(others)), made.other] - 1
    for n in range(2, 7):
        drawn = np.bincount(places[counts == n], minlength=n)
        assert_fits(drawn, np.full(n, drawn.sum() / n))


class Instead:
    """A policy that does something else at one observation."""

    def __init__(self, policy, seen, action):
        self.policy, self.seen, self.action = policy, seen, action

    def act_rows(self, observations, masks):
        """The policy's actions, but for that one."""
        same = (observations == self.seen).all(axis=1)
        return np.where(same, self.action, self.policy.act_rows(observations, masks))


def test_the_opposite_policy_has_the_opposite_gain():
    """What A gains over B is what B loses to A, for the same decision of the same hand."""
    policy = ObservationPolicy(6)
    made = pairs(policy, BARRIE, 30, 8, phases=ALL)
    told = 0
    for i in np.flatnonzero(made.gain)[:40]:
        seen, hand = made.observations[i], int(made.hand[i])
        changed = Instead(policy, seen, made.other[i])

        def back(observations, masks, chosen, seen=seen, action=made.chosen[i]):
            same = (observations == seen).all(axis=1)
            return np.where(same, action, masks.argmax(axis=1))

        again = pairs(changed, BARRIE, range(hand, hand + 1), 8, phases=ALL, propose=back)
        [j] = np.flatnonzero((again.observations == seen).all(axis=1))
        assert (again.chosen[j], again.other[j]) == (made.other[i], made.chosen[i])
        assert again.gain[j] == -made.gain[i]
        told += 1
    assert told == 40


def test_a_worse_card_is_seen_to_be_worse():
    """A policy that throws its best card away gains by the rule player's; that one does not."""
    rules = variants["cincinnati_v0"].rules
    rule, by_chance = agents.make("rule", rules), ObservationPolicy(7)

    class Careless:
        """The rule player, but it plays any card."""

        def act_rows(self, observations, masks):
            playing = observations[:, layout_of(rules).slices["phase"]][:, Phase.PLAY] == 1
            chance = by_chance.act_rows(observations, masks)
            return np.where(playing, chance, rule.act_rows(observations, masks))

    def by_rule(observations, masks, chosen):
        wished = rule.act_rows(observations, masks)
        assert (wished != chosen).all()
        return wished

    def gained(policy, propose):
        made = pairs(policy, rules, 1500, 2, phases=[Phase.PLAY], propose=propose)
        hands = np.bincount(made.hand, made.gain, 1500)
        return hands.mean(), hands.std() / np.sqrt(1500)

    mean, error = gained(Careless(), by_rule)
    assert mean > 4 * error
    mean, error = gained(rule, None)
    assert mean < -4 * error


def test_proposals_are_shown_copies():
    """What a function that proposes does to its arguments reaches no pair."""

    def spoil(observations, masks, chosen):
        others = masks.argmax(axis=1)
        for array in (observations, masks, chosen):
            array[:] = 1
        return others

    def calm(observations, masks, chosen):
        return masks.argmax(axis=1).astype(np.int16)

    policy = ObservationPolicy(6)
    spoilt, right = (pairs(policy, BARRIE, 20, 8, propose=each) for each in (spoil, calm))
    assert same(spoilt, right)


class Says:
    """A policy with a given answer."""

    def __init__(self, answer):
        self.answer = answer

    def act_rows(self, observations, masks):
        """That answer."""
        return self.answer(len(observations))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"hands": 0}, "hands=0: a number of hands from 1 on"),
        ({"hands": -3}, "hands=-3"),
        ({"hands": True}, "hands=True"),
        ({"hands": 2.5}, "hands=2.5"),
        ({"hands": range(5, 5)}, r"hands=range\(5, 5\)"),
        ({"hands": range(0, 8, 2)}, "hands=range"),
        ({"hands": range(-2, 8)}, "hands=range"),
        ({"hands": 1 << 70}, "hands="),
        ({"seed": None}, "seed=None: a whole number"),
        ({"seed": -1}, "seed=-1: a whole number from 0"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"rules": "cincinnati_v0"}, "rules='cincinnati_v0': a Rules value"),
        ({"policy": "rule"}, "policy='rule': it has no act_rows"),
        ({"opponent": "rule"}, "opponent='rule': it has no act_rows"),
        ({"phases": ()}, r"phases=\(\): some of Phase.AUCTION"),
        ({"phases": Phase.PLAY}, "phases="),
        ({"phases": [Phase.DEAL]}, "phases="),
        ({"phases": [Phase.PLAY, 9]}, "phases="),
        ({"phases": "PLAY"}, "phases='PLAY'"),
        ({"share": 0}, "share=0: above 0, and 1 at most"),
        ({"share": 1.01}, "share=1.01"),
        ({"share": float("nan")}, "share=nan"),
        ({"share": True}, "share=True"),
        ({"share": "half"}, "share='half'"),
        ({"propose": 3}, "propose=3: a function, or None"),
        ({"block": 0}, "block=0: hands at once"),
        ({"block": 1.5}, "block=1.5"),
    ],
)
def test_odd_arguments_are_refused(given, told):
    """Each in a sentence that names it, before anything is played."""
    arguments = {"policy": ObservationPolicy(0), "rules": BARRIE, "hands": 4, "seed": 0}
    with pytest.raises(OptionError, match=told):
        pair_blocks(**arguments | given)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda n: np.full(n, 10**6), r"act_rows, row 0: player_\d may not choose 1000000; legal"),
        (lambda n: np.full(n, -1), "may not choose -1"),
        (lambda n: np.zeros(n), r"act_rows: whole numbers of shape \(4,\).*float64"),
        (lambda n: np.zeros(n + 1, int), r"not int64 of shape \(5,\)"),
        (lambda n: None, "not object"),
    ],
)
def test_odd_answers_are_refused(answer, told):
    """Of the policy, and of the function that proposes."""
    with pytest.raises(IllegalActionError, match=told):
        pairs(Says(answer), BARRIE, 4, 0)


def test_odd_proposals_are_refused():
    """What is not legal, and what was chosen anyway."""
    policy = ObservationPolicy(0)
    with pytest.raises(IllegalActionError, match="propose, row 0: it is the action chosen"):
        pairs(policy, BARRIE, 4, 0, propose=lambda seen, masks, chosen: chosen)
    with pytest.raises(IllegalActionError, match=r"propose, row 0: player_\d may not choose"):
        pairs(policy, BARRIE, 4, 0, propose=lambda seen, masks, chosen: np.full(len(seen), -1))
    with pytest.raises(IllegalActionError, match="propose: whole numbers"):
        pairs(policy, BARRIE, 4, 0, propose=lambda seen, masks, chosen: chosen + 0.5)
