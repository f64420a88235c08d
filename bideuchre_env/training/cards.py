"""Train the card play of agent `net` by paired differences, and calls adapted to it.

In a hand of self-play one card is replaced by another, and the hand is played out with both. A
network learns the difference in points, for every card, from the player's observation. Each later
round plays with the previous network and tries the cards that it prefers more often. It learns from
its own pairs and equally many pairs of earlier rounds. Before the last two rounds the expert's
calls are fitted to hands that `net` plays (a second fit brought no gain). The last step fits the
network to all pairs once more.

With opponents (`Course.against`), equal shares of the hands are played against the network itself,
each opponent and the previous network. A step is kept only if its network is not worse than the
previous one, by more than `MOST_LOST`, against each opponent on the same boards.

The weights after every step are saved in a folder. A stopped run resumes there, plays the pairs of
the finished steps again, and ends with the same weights.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bideuchre_env._files import write_file
from bideuchre_env.agents.expert.agent import NO_SEARCH
from bideuchre_env.agents.expert.call_network import CallNetwork, calls_of
from bideuchre_env.agents.learned.net import KIND, NetAgent, net_weights, weights_for
from bideuchre_env.agents.making import make as make_agent
from bideuchre_env.agents.protocols import CompleteAgent
from bideuchre_env.agents.registry import parse
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.match import match
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.seeding import Side
from bideuchre_env.evaluation.statistics.intervals import mean_per_hand
from bideuchre_env.evaluation.statistics.scores import interval_dict
from bideuchre_env.learning.features import features_of
from bideuchre_env.learning.fitting import Examples, concatenate, fit
from bideuchre_env.learning.network import network_of, new_network
from bideuchre_env.learning.pairs import Policy, Pool, pair_blocks
from bideuchre_env.learning.proposals import Proposals
from bideuchre_env.learning.weights import Weights, read_weights, write_parts
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array
from bideuchre_env.training.calls import (
    Progress,
    Report,
    drawn_network,
    expert_with,
    fit_calls,
    no_progress,
)

HIDDEN = (256, 64)
FITS = {"first": (4, 2.5e-3), "cards": (2, 1.5e-3), "polish": (1, 1.5e-3)}
"""Passes of each fit over its pairs, and the first learning rate."""
JUDGED = {"rule": 10_000, "expert": 2_000}  # boards against each agent after a step
JUDGED_SEED = 2_000_000_000  # for these boards only: training pairs have other seeds
MOST_LOST = 0.1  # points per hand: the 95 % interval of the loss of a step that is kept is below it
CHECKED_SEED = 2_100_000_000  # for the boards that decide on a step

SEARCHERS = ("expert", "pimc", "inference")
"""Agents that are too slow to play out millions of hands."""

Bar: TypeAlias = Callable[[str, str, str], AbstractContextManager[Progress]]
"""Opens a progress bar from its title, the unit of its counts, and the unit of its rate."""


def no_bar(title: str, unit: str, rated: str) -> AbstractContextManager[Progress]:
    """Return a context manager that yields `no_progress`: a progress bar that shows nothing."""
    return nullcontext(no_progress)


def playout_agent(name: str, rules: Rules, seed: int) -> CompleteAgent:
    """Return an agent for training: the expert without search instead of one in `SEARCHERS`."""
    options: dict[str, Any] = {}
    if parse(name)[0] in SEARCHERS:
        name, options = "expert", {"wanted": NO_SEARCH}
    return make_agent(name, rules, seed=seed, goal="points", **options)


def setting(default: Any, meaning: str) -> Any:
    """Return a field of `Course`; `meaning` is the help text of `experiments/learn_cards.py`."""
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True)
class Course:
    """The settings of a training run: its lengths, its seed, and the folder of its steps."""

    first: int = setting(300_000, "hands of the first round of cards")
    hands: int = setting(60_000, "hands of every round after it")
    rounds: int = setting(3, "rounds of cards, the first included")
    call_hands: int = setting(100_000, "hands of a round of calls")
    call_rounds: int = setting(2, "rounds of calls; 0 leaves them alone")
    against: tuple[str, ...] = setting(
        (), "opponents in training, beside the network itself; those that search play without it"
    )
    against_boards: int = setting(10_000, "boards against each of them that decide on a step")
    seed: int = setting(0, "same seed, same pairs; same weights on one machine")
    judge: bool = setting(False, "play rule and expert after every step")
    out: Path = field(
        default=Path("runs/learn_cards"), metadata={"help": "folder of the steps and weights"}
    )

    def steps(self) -> list[str]:
        """Return the kinds of all steps, in order.

        They are "first", a "cards" for each further round, and "polish". If `call_rounds` is above
        0, a "calls" comes before the last two rounds of cards, but after "first".
        """
        steps = ["first", *["cards"] * (self.rounds - 1)]
        if self.call_rounds:
            steps.insert(max(1, self.rounds - 2), "calls")
        return [*steps, "polish"]


@dataclass(eq=False)
class Learner:
    """Runs the steps of a `Course` for one game; each step makes weights of `net` from the last."""

    game: Variant
    calls: CallNetwork
    """The first network of calls."""
    course: Course
    command: str
    """Saved as metadata."""
    pool: Pool | None = None
    """Workers that play the pairs."""
    bar: Bar = no_bar
    report: Report = print

    def __post_init__(self) -> None:
        """Derive the other attributes; `run` starts the run."""
        self.rules, self.seed, self.steps = self.game.rules, self.course.seed, self.course.steps()
        self.features = features_of(self.rules, "cards")

    def run(self) -> Weights:
        """Run every step that is not saved yet; return the weights after the last step.

        Raises the errors of `weights` for saved steps.
        """
        done = 0
        while done < len(self.steps) and self.file(done + 1).exists():
            done += 1
        weights, pairs = self.weights(done), list[Examples]()
        if done == len(self.steps):
            return weights
        for k, step in enumerate(self.steps):
            began = time.process_time()
            if step in ("first", "cards"):  # also for finished steps: later steps need the pairs
                pairs.append(self.play_pairs(self.weights(k) if k < done else weights, k))
            if k >= done:
                improve = self.improve_calls if step == "calls" else self.improve_cards
                better = improve(weights, pairs, k)
                if k == 0 or not self.is_worse(better, weights):
                    weights = better
                weights = self.save(weights, k, time.process_time() - began)
        return weights

    def is_worse(self, new: Weights, old: Weights) -> bool:
        """Whether `new` may be worse than `old` against an opponent by `MOST_LOST` or more.

        That is: by the lower end of the 95 % interval of the difference on the same boards.
        """
        for place, name in enumerate(self.course.against):
            gain = mean_per_hand(self.board_points(new, place) - self.board_points(old, place), 2)
            if gain is None or gain.low is None or gain.low <= -MOST_LOST:
                change = "unknown" if gain is None else f"{gain.mean:+.3f} ± {gain.half:.3f}"
                self.report(f"  {self.game.name}: step dropped; against {name}, points: {change}")
                return True
        return False

    def board_points(self, weights: Weights, place: int) -> Array:
        """Return points of `weights` per board against `against[place]`, int64 (boards,)."""
        opponent = self.opponents()[place]  # a new one, so that both matches are equal but for us
        rows = self.match(weights, opponent, self.course.against_boards, CHECKED_SEED).board_rows
        assert rows is not None
        points: Array = rows["points"].sum(axis=1)
        return points

    def opponents(self) -> list[CompleteAgent]:
        """Return new agents of `Course.against`."""
        return [playout_agent(name, self.rules, seed=0) for name in self.course.against]

    def file(self, step: int) -> Path:
        """Return the path of the weights after `step` steps; it need not exist."""
        return self.course.out / f"{self.game.name}-seed{self.seed}-step{step:02}.npz"

    def weights(self, step: int) -> Weights:
        """Load the weights after `step` steps; 0: a random card network, and the first calls.

        Raises `WeightsError` for a damaged file, and `OptionError` for one of other settings.
        """
        if step > 0:
            saved = read_weights(self.file(step), KIND)
            if saved.metadata.get("settings") != self.settings(step):
                raise OptionError(
                    f"{self.file(step)} was made with other settings: choose another --out"
                )
            return weights_for(self.rules, saved)
        rng = np.random.default_rng([self.seed, 0])
        cards = new_network(self.features.size, HIDDEN, self.features.outputs, rng)
        return net_weights(self.rules, cards, self.calls, {})

    def settings(self, step: int) -> dict[str, Any]:
        """Return the settings that determine the weights after `step` steps, as JSON values."""
        names = ("seed", "first", "hands", "call_hands", "call_rounds")
        chosen = {name: getattr(self.course, name) for name in names}
        if self.course.against:
            against, boards = list(self.course.against), self.course.against_boards
            chosen |= {"against": against, "against_boards": boards}
        rules = {"rules": self.rules.to_dict(), "features": self.features.version}
        return {**chosen, "steps": self.steps[:step], **rules}

    def save(self, weights: Weights, k: int, seconds: float) -> Weights:
        """Save the weights after step k, counted from 0; return them with metadata.

        Also writes a line about the step to the run's .jsonl file, and reports it. With
        `course.judge`, first plays matches; the line then has the points per hand over other
        agents. `seconds` is the duration of the step.
        """
        name = self.game.name
        message = f"{name} step {k + 1} of {len(self.steps)}: {self.steps[k]}, {seconds:.0f} s"
        line: dict[str, Any] = {"step": k + 1, "kind": self.steps[k], "seconds": round(seconds, 1)}
        for other, boards in JUDGED.items() if self.course.judge else ():
            result = self.match(weights, other, boards, JUDGED_SEED)
            points: dict[str, Any] = interval_dict(result.points_per_hand)
            line[f"over {other}"] = points
            message += ", over {} {mean:+.3f} ({low:+.3f} to {high:+.3f})".format(other, **points)
        made = {
            "variant": name,
            "seed": str(self.seed),
            "steps": str(k + 1),
            "command": self.command,
            "settings": self.settings(k + 1),
        }
        weights = Weights(weights.arrays, {**weights.metadata, **made})
        curve = self.course.out / f"{name}-seed{self.seed}.jsonl"
        before = curve.read_text(encoding="utf-8").splitlines()[:k] if curve.exists() else []
        write_file(curve, "\n".join([*before, json.dumps(line)]) + "\n")
        write_parts(self.file(k + 1), {KIND: weights})
        self.report(message)
        return weights

    def match(self, weights: Weights, other: Side, boards: int, seed: int) -> Result:
        """Play a match of `weights` against another agent; its boards are not used for training.

        Raises `KeyboardInterrupt` if the match is interrupted.
        """
        net = partial(NetAgent, weights=weights, goal="points")
        result = match(self.game, net, other, boards=boards, seed=seed)
        if result.interrupted:
            raise KeyboardInterrupt
        return result

    def play_pairs(self, weights: Weights, k: int) -> Examples:
        """Play the hands of step k, counted from 0; return their pairs as examples.

        In step 0 the expert plays, with the calls of `weights`, and the other card of a pair is
        uniform. Later `net` plays with `weights`, and its network proposes the other cards. The
        target is the gain of the other card over the card chosen, in points. Each opponent
        plays the other side in an equal share of the hands.
        """
        first = k == 0
        hands = self.course.first if first else self.course.hands
        policy = expert_with(calls_of(weights), self.rules) if first else self.net(weights)
        seed, draws = (int(n) for n in np.random.SeedSequence([self.seed, k]).generate_state(2))
        network = network_of(weights, "cards")
        propose = None if first else Proposals(network, self.rules, "cards", draws)
        parts, count, done = [], 0, 0
        opponents: list[Policy | None] = [None]
        if self.course.against:
            past = [self.net(self.weights(k - 1))] if k > 1 else []
            opponents += [*self.opponents(), *past]
        ends = np.linspace(0, hands, len(opponents) + 1).astype(int).tolist()
        how = partial(pair_blocks, policy, self.rules, seed=seed, propose=propose, pool=self.pool)
        blocks = chain.from_iterable(
            how(range(*ends[i : i + 2]), opponent=opponent) for i, opponent in enumerate(opponents)
        )
        with self.bar(f"{self.game.name} step {k + 1}, pairs", "hands", "pairs") as progress:
            for pairs in blocks:
                packed = self.features.pack(pairs.observations, pairs.masks)
                of, against = (
                    self.features.outputs_of(actions, packed.symmetries).astype(np.int16)
                    for actions in (pairs.other, pairs.chosen)
                )
                parts.append(Examples(packed.inputs, of, against, pairs.gain))
                count += len(pairs.gain)
                done = int(pairs.hand[-1]) + 1 if len(pairs.hand) else done
                progress(done, hands, count)
        return concatenate(parts)

    def net(self, weights: Weights) -> NetAgent:
        """Return the agent `net` with these weights."""
        return NetAgent(self.rules, weights=weights, goal="points")

    def improve_cards(self, weights: Weights, pairs: list[Examples], k: int) -> Weights:
        """Return the weights after step k: the network of cards is fitted to pairs.

        Step "cards" uses the last pairs and equally many random ones of the earlier steps; the
        other steps use all pairs.
        """
        rng = np.random.default_rng([self.seed, k, 3])
        epochs, rate = FITS[self.steps[k]]
        if self.steps[k] != "cards":
            examples = concatenate(pairs)
        else:
            older, newer = concatenate(pairs[:-1]), pairs[-1]
            some = rng.integers(0, len(older.targets), len(newer.targets))
            examples = concatenate([newer, Examples(*(each[some] for each in older))])
        total = epochs * len(examples.targets)
        with self.bar(f"{self.game.name} step {k + 1}, fitting", "pairs", "pairs") as progress:
            fitted = fit(
                network_of(weights, "cards"),
                self.features,
                examples,
                rng,
                epochs=epochs,
                learning_rate=rate,
                report=lambda done: progress(int(done * total), total, int(done * total)),
            )
        return net_weights(self.rules, fitted, calls_of(weights), {})

    def improve_calls(self, weights: Weights, pairs: list[Examples], k: int) -> Weights:
        """Return the weights after step k: calls fitted to new hands of the net, not to `pairs`."""
        cards, calls = network_of(weights, "cards"), calls_of(weights)
        others = (expert_with(calls, self.rules), *self.opponents())  # with the old calls

        def players(calls: CallNetwork) -> tuple[NetAgent, tuple[CompleteAgent, ...]]:
            """Return the players for `fit_calls`."""
            net = self.net(net_weights(self.rules, cards, calls, {}))
            return net, (net, *others)

        rng = np.random.default_rng([self.seed, k, 4])
        hands, rounds = self.course.call_hands, self.course.call_rounds
        calls = calls if calls.layers.first.any() else drawn_network(rng)  # if no calls were fitted
        fitted = fit_calls(
            calls,
            players,
            hands,
            rounds,
            rng,
            lambda line: self.report(f"  {self.game.name} calls {line}"),
        )
        return net_weights(self.rules, cards, fitted, {})
