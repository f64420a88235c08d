"""Games agree with `reference.py` after every action, over all options and styles of play.

The comparison covers the seat to act, legal actions, tricks, points, scores and outcomes, and the
rewards at the end of a game. `test_observation.py` compares observations.
"""

import random
from collections import Counter

import numpy as np
import pytest
from oracles.reference import ReferenceGame
from support.playthroughs import EACH
from support.strategies import random_rules

import bideuchre_env
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.rules.cards import hand_names

HANDS = 500
SLOW_HANDS = 100_000


def chooser(rng: random.Random, temper: str):
    """Return a random policy over names of actions; `temper` sets how often and high it bids."""

    def choose(names: list[str]) -> str:
        bids = [name for name in names if name.startswith("bid")]
        if bids:
            passes = {"bold": 0, "timid": 0.8, "silent": 1}.get(temper, 0.5)
            if "pass" in names and rng.random() < passes:
                return "pass"
            if temper == "alone":
                return bids[-1 - rng.randrange(min(6, len(bids)))]
            return rng.choice(bids if temper in ("bold", "wild") else bids[:5])
        return rng.choice(names)

    return choose


TEMPERS = ("bold", "timid", "silent", "alone", "wild", "steady")


class Pair:
    """A game played on this package's engine and on the reference, which must agree."""

    def __init__(self, rules, name, rng, counts, score=None):
        self.rng, self.counts, self.rules = rng, counts, rules
        self.reward = rng.choice(("win", "points"))
        self.env = bideuchre_env.make(rules, name=name).raw_env(reward=self.reward)
        aim = rules.target or 20
        if score is None:
            score = [rng.randint(-5, aim) if rng.random() < 0.7 else 0 for _ in range(2)]
        self.env.reset(seed=rng.getrandbits(64), options={"score": score})
        self.row = self.env._states[0]
        self.slow = ReferenceGame(rules.to_dict(), int(self.row["dealer"]), tuple(score))
        self.names = self.env.action_names
        self.paid = [0.0] * 4

    def play(self, choose) -> None:
        while self.slow.phase != "over":
            if self.slow.needs_deal:
                assert self.slow.dealer == self.row["dealer"]
                self.slow.deal([hand_names(hand) for hand in self.row["hands"]])
            assert self.env.agent_selection == f"player_{self.slow.to_act}"
            legal = [self.names[i] for i in np.flatnonzero(self.env.action_masks())]
            assert self.slow.legal() == set(legal)
            action = choose(legal)
            self.env.step(self.names.index(action))
            self.slow.play(action)
            self.after(action)
        self.finish()

    def after(self, action: str) -> None:
        """Compare the results of the last action at the end of a trick or a hand."""
        if self.slow.needs_deal or self.slow.phase == "over":
            last = self.slow.last_hand
            row = rows_of(self.env._finished[-1:])[0]
            hand = bideuchre_env.record.hand_of(row, self.rules)
            assert {key: hand[key] for key in last} == last
            assert hand["score"] == list(self.slow.score)
            self.counts["hands"] += 1
            self.counts["passed out"] += last["declarer"] is None
            if self.reward == "points":
                points = last["points"]
                for s in range(4):
                    self.paid[s] += points[s & 1] - points[1 - (s & 1)]
        elif self.row["phase"] == Phase.PLAY:
            assert self.row["tricks_won"].tolist() == list(self.slow.tricks)
            if self.row["led"] < 0 and self.row["trick"] > 0:
                assert self.row["turn"] == self.slow.last_trick_winner
        self.counts[action.split()[0] if action[0].islower() else "card"] += 1

    def finish(self) -> None:
        record = self.env.record
        assert (record.winner, record.outcome) == (self.slow.winner, self.slow.outcome)
        won = self.slow.outcome == "won"
        for seat in range(4):
            agent = f"player_{seat}"
            assert self.env.terminations[agent] == (self.slow.outcome != "truncated")
            assert self.env.truncations[agent] == (self.slow.outcome == "truncated")
            if self.reward == "win":
                sign = 1.0 if self.slow.winner == seat & 1 else -1.0
                assert self.env.rewards[agent] == (sign if won else 0.0)
        self.counts[self.slow.outcome] += 1


def run(variant: str, hands: int, seed: int) -> Counter:
    """Play at least `hands` hands of random games; return counts of hands, actions and outcomes."""
    rng = random.Random(f"{variant} {seed}")
    counts: Counter = Counter()
    base = bideuchre_env.variants[variant].rules
    while counts["hands"] < hands:
        rules = base if rng.random() < 0.5 else random_rules(rng)
        rules = rules.replace(max_hands=rng.choice((8, 9, 12, 25)))
        Pair(rules, variant, rng, counts).play(chooser(rng, rng.choice(TEMPERS)))
    return counts


@pytest.mark.parametrize("variant", EACH)
def test_games_agree_with_the_reference(variant: str) -> None:
    counts = run(variant, HANDS, seed=1)
    assert counts["hands"] >= HANDS
    for kind in ("won", "truncated", "passed out", "trump", "bid", "pass", "card"):
        assert counts[kind] > 0, (kind, counts)


@pytest.mark.parametrize("variant", EACH)
def test_level_games_of_rounds_are_drawn_as_in_the_reference(variant: str) -> None:
    """A game is played from 0-0, then again from the score that makes its final score level."""
    rules = bideuchre_env.variants[variant].rules.replace(win_rule="rounds", rounds=1)
    for seed in range(20):
        counts: Counter = Counter()
        first = Pair(rules, variant, random.Random(seed), counts, [0, 0])
        first.play(chooser(random.Random(seed), "steady"))
        ahead = first.slow.score[0] - first.slow.score[1]
        level = [max(0, -ahead), max(0, ahead)]
        again = Pair(rules, variant, random.Random(seed), counts, level)
        again.play(chooser(random.Random(seed), "steady"))
        assert counts["drawn"] == (2 if ahead == 0 else 1)


@pytest.mark.long
@pytest.mark.parametrize("variant", bideuchre_env.variants)
def test_100000_hands_agree_with_the_reference(variant: str) -> None:
    assert run(variant, SLOW_HANDS, seed=2)["hands"] >= SLOW_HANDS
