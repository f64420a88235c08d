"""Train the agents `expert` and `net` for custom rules, and save their weights on this machine.

The calls of `expert` are fitted first, starting from the package's calls for the most similar
variant if there are any. Then `net` learns its cards. Weights that are not significantly better
than the previous ones are discarded. A stopped run resumes after its last finished step; hands that
`net` learned from in finished steps are first played again, because they are not saved. The same
settings produce the same weights.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bideuchre_env import __version__
from bideuchre_env._checks import brief, check_type, is_whole
from bideuchre_env._files import only_run_in
from bideuchre_env._intervals import Interval
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.expert import call_network
from bideuchre_env.agents.expert.call_network import CallNetwork
from bideuchre_env.agents.learned import net
from bideuchre_env.agents.learned.shipped import package_weights
from bideuchre_env.agents.prepared import (
    packaged_name,
    prepared_file,
    prepared_folder,
    prepared_weights,
    rules_hash,
)
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.evaluation.match import match
from bideuchre_env.learning import features
from bideuchre_env.learning.weights import (
    Weights,
    made_for,
    parse_weights,
    part_names,
    read_content,
    read_weights,
    write_parts,
)
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.training.calls import Report, expert_players, expert_with, fit_calls
from bideuchre_env.training.cards import JUDGED_SEED, Bar, Course, Learner, no_bar

ROUNDS = (3, 6)
"""Rounds of calls: starting from a similar game's calls, and from random weights."""
LEAST = 1000  # hands
BUSY = "wait for it, or stop it: the same --hands and --seed resume it"


@dataclass(frozen=True)
class Prepared:
    """The outcome of the training for one kind of agent."""

    kind: str
    file: Path
    kept: bool
    """Whether the new weights are significantly better, and were saved."""
    over: str
    """Description of the opponent."""
    points: Interval
    """Points per hand over the opponent, on duplicate boards that were not used for training."""
    instead: str
    """Description of the agent's play without the new weights."""


@dataclass(frozen=True)
class Preparation:
    """The training for one game: its settings and progress reports; `run` starts it.

    Raises `OptionError` for invalid values: `hands` must be at least `LEAST`, `boards` at least 2.
    """

    game: Variant
    hands: int = 300_000
    """Hands of the first round of cards; all other numbers of hands scale with it."""
    boards: int = 4_000
    """Boards of each match that decides whether weights are kept."""
    seed: int = 0
    bar: Bar = no_bar
    report: Report = print

    def __post_init__(self) -> None:
        check_type("game", self.game, Variant, "a Variant")
        check_type("seed", self.seed, int, "a whole number")
        split_seed(self.seed)
        for name, number, least in (("hands", self.hands, LEAST), ("boards", self.boards, 2)):
            if not is_whole(number) or number < least:
                raise OptionError(f"{name}={brief(number)}: expected a whole number from {least}")

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.game.rules

    @property
    def folder(self) -> Path:
        """The folder of the finished steps with these settings; deleted after a complete run.

        Raises `OptionError` for a user without a home folder.
        """
        settings = json.dumps(self.made["settings"])
        digest = hashlib.sha256(settings.encode()).hexdigest()[:16]
        return prepared_folder() / f"steps-{rules_hash(self.rules)}" / digest

    @property
    def _course(self) -> Course:
        """The settings of `net`'s training, without the folder of its steps."""
        hands = self.hands
        return Course(hands, hands // 5, call_hands=hands // 3, seed=self.seed)

    @property
    def made(self) -> dict[str, Any]:
        """The metadata of the weights files."""
        settings = {
            "hands": self.hands,
            "seed": self.seed,
            "rules": self.rules.to_dict(),
            "package": __version__,
            "features": [call_network.VERSION, features.VERSION],
            "steps": self._course.steps(),
        }
        command = command_of(self.rules, self.hands, self.seed)
        return {"variant": self.game.name, "command": command, "settings": settings}

    def run(self, *, again: bool = False) -> list[Prepared]:
        """Train `expert`, then `net`, and return the outcome of each.

        Weights are saved only if they are significantly better. Afterwards `expert`, `net` and the
        agents built on them use the saved weights for these rules. Raises `OptionError` for a
        variant of which the package has weights, for rules that are already prepared unless
        `again`, and while another run prepares them.
        """
        if name := packaged_name(self.rules):
            raise OptionError(f"{name} needs no preparing: the package has its weights")
        steps = self.folder.parent
        with only_run_in(steps, BUSY):
            if not again and prepared_file(self.rules).exists():
                raise OptionError(
                    f"{self.game.name} is prepared already, in {prepared_folder()}: add --force to "
                    "train again"
                )
            made = list(self._steps())  # saved only when both are done, so that a run can resume
            if parts := {each.kind: weights for each, weights in made if each.kept}:
                write_parts(prepared_file(self.rules), parts)
            shutil.rmtree(steps, ignore_errors=True)
        return [each for each, _ in made]

    def _steps(self) -> Iterator[tuple[Prepared, Weights]]:
        """Train and evaluate `expert`, then `net`; yield the outcome and new weights of each."""
        calls = call_network.package_network(self.rules)  # not prepared weights: reproducible
        fitted = self._fitted(calls)
        player = expert_with(call_network.calls_of(fitted), self.rules)
        gain = self._judged(player, expert_with(calls, self.rules))
        was = self._was(call_network.KIND)
        points = gain if was is None else self._judged(player, was)
        over = "the expert as it was, both without search"
        yield self._result(call_network.KIND, over, points, "it calls as before"), fitted
        if surely_better(gain) or not calls.layers.first.any():  # there were no fitted calls
            calls = call_network.calls_of(fitted)
        learned = self._learned(calls)
        over, instead = "the previous net", "it plays as before"
        other = self._was(net.KIND)
        if other is None and (own := package_weights(net.KIND, self.rules)) is not None:
            other = self._net(own)
        if other is None:
            over, instead = "the expert without search", "there is none for this game, as before"
            other = expert_with(calls, self.rules)
        points = self._judged(self._net(learned), other)
        yield self._result(net.KIND, over, points, instead), learned

    def _result(self, kind: str, over: str, points: Interval, instead: str) -> Prepared:
        """Return the outcome for one kind of agent; the arguments are fields of `Prepared`."""
        file = prepared_file(self.rules)
        return Prepared(kind, file, surely_better(points), over, points, instead)

    def _net(self, weights: Weights) -> net.NetAgent:
        """Return the agent `net` with these weights."""
        return net.NetAgent(self.rules, weights=weights, goal="points")

    def _was(self, kind: str) -> RowAgent | None:
        """Return the agent with the weights of an earlier preparation; None without them.

        Unusable weights are reported and removed; those of the other agent stay.
        """
        try:
            weights = prepared_weights(kind, self.rules)
            if weights is None:
                return None
            if kind == net.KIND:
                return self._net(weights)
            return expert_with(call_network.checked_calls(self.rules, weights), self.rules)
        except WeightsError as error:
            self.report(f"{error}; these weights are not used, and are removed")
        other, parts = net.KIND if kind == call_network.KIND else call_network.KIND, {}
        with suppress(WeightsError):
            if weights := prepared_weights(other, self.rules):
                parts[other] = weights
        with suppress(OSError):
            prepared_file(self.rules).unlink()
        if parts:
            write_parts(prepared_file(self.rules), parts)
        return None

    def _fitted(self, calls: CallNetwork) -> Weights:
        """Return fitted calls of the expert: those of a finished step, or train and save them.

        Training starts from `calls`, or from random weights if these are untrained.
        """
        file = self.folder / "calls.npz"
        if file.exists():
            saved = read_weights(file, call_network.KIND)
            call_network.checked_calls(self.rules, saved)
            return saved
        rng = np.random.default_rng([self.seed, 1])
        known = calls if calls.layers.first.any() else None
        with self.bar(f"{self.game.name} calls", "hands", "hands") as progress:
            fitted = fit_calls(
                known,
                expert_players(self.rules),
                2 * self.hands // 3,
                ROUNDS[known is None],
                rng,
                lambda line: self.report(f"{self.game.name} calls {line}"),
                progress,
            )
        game = made_for(call_network.KIND, self.rules, call_network.VERSION)
        weights = Weights(call_network.call_arrays(fitted), {**self.made, **game})
        write_parts(file, {call_network.KIND: weights})
        return weights

    def _learned(self, calls: CallNetwork) -> Weights:
        """Train `net` with the first calls `calls`, and return its weights.

        The training resumes after the last finished step.
        """
        course = replace(self._course, out=self.folder)
        command, bar, report = self.made["command"], self.bar, self.report
        game = Variant("game", self.rules)  # a fixed name, for the files of its steps
        weights = Learner(game, calls, course, command, bar=bar, report=report).run()
        return Weights(weights.arrays, {**weights.metadata, **self.made})

    def _judged(self, player: RowAgent, other: RowAgent) -> Interval:
        """Play a match; return the points per hand of `player` minus those of `other`.

        Raises `KeyboardInterrupt` if the match is interrupted.
        """
        with self.bar(f"{self.game.name}: evaluation", "boards", "decisions") as progress:
            result = match(
                self.game,
                player,
                other,
                boards=self.boards,
                seed=JUDGED_SEED,
                progress=lambda kind, done, total, decisions: progress(done, total, decisions),
            )
        if result.interrupted or result.points_per_hand is None:
            raise KeyboardInterrupt
        return result.points_per_hand


def surely_better(points: Interval) -> bool:
    """Whether the whole interval of points per hand is above 0."""
    return points.low is not None and points.low > 0


def command_of(rules: Rules, hands: int, seed: int) -> str:
    """Return a command that prepares these rules on any machine, without a rules file."""
    changes = {name: rules.options_from(known) for name, known in RULES.items()}
    base = min(changes, key=lambda name: len(changes[name]))
    words = ["bideuchre", "prepare", "--variant", base]
    for name, value in changes[base].items():
        text = value if isinstance(value, str) else "none" if value is None else json.dumps(value)
        words += ["--option", f"{name}={text}"]
    return shlex.join([*words, "--hands", str(hands), "--seed", str(seed)])


@dataclass(frozen=True)
class Listed:
    """A prepared file: its metadata, or in `fault` the reason why it is unusable."""

    file: Path
    game: str = ""
    kind: str = ""
    command: str = ""
    fault: str = ""


def listed() -> list[Listed]:
    """List the weights in prepared files of this machine; `OptionError` for a user without home.

    A fault of several parts of a file is listed once.
    """
    files = sorted(prepared_folder().glob("*.npz"))
    return [*dict.fromkeys(each for file in files for each in _listed(file))]


def _listed(file: Path) -> Iterator[Listed]:
    """Yield the entries of a prepared file, usable or not: one for each part."""
    try:
        data, name = read_content(file)
        parts = part_names(data, name, required=True)
    except WeightsError as error:
        yield Listed(file, fault=str(error))
        return
    for part in parts:
        try:
            yield _part_of(file, part, parse_weights(data, name, part))
        except WeightsError as error:
            yield Listed(file, fault=str(error))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            fault = f"the metadata of {part!r} do not name a use ({type(error).__name__})"
            yield Listed(file, fault=fault)


def _part_of(file: Path, part: str, weights: Weights) -> Listed:
    """Return the entry of a part of a prepared file; raises one of several errors if unusable."""
    made = weights.metadata
    rules = Rules(**made["settings"]["rules"])
    if file != prepared_file(rules):
        return Listed(file, fault="it is not called as agents would look for it")
    if part == net.KIND:
        net.weights_for(rules, weights)
    else:
        call_network.checked_calls(rules, weights)
    return Listed(file, str(made["variant"]), part, str(made["command"]))
