"""Teach the agent `net` its cards by paired differences, and its calls to go with them.

    python experiments/learn_cards.py --games cincinnati_v0 barrie_v0 --judge

In a hand of self-play some card is replaced by another and the rest is played out both ways: the
difference in points is what a network learns to foretell, of every card, from what the player
sees. A later round plays with the network of the round before, and tries cards that it finds good
more often; it learns from its own pairs and as many of earlier rounds. Before the last two rounds
the calls of the expert are fitted again to hands played so (once is enough: a second time brought
nothing), and at last the network goes through all pairs once more.

The weights after every step are kept in `--out`, and a round's pairs until the game is done: a run
that was stopped goes on there, and comes to the same weights. `net-GAME.safetensors` are those at
the end of it.
"""

from __future__ import annotations

import os

import bideuchre_env.runtime.quitting  # noqa: F401  # first: Ctrl-C is one line from now on

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read by numpy: more add up in another order

# isort: split
import io
import json
import shlex
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from bideuchre_env import match
from bideuchre_env._files import only_run_in, write_file
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.expert.agent import NO_SEARCH, ExpertAgent, ExpertWorkspace
from bideuchre_env.agents.expert.call_network import load_network
from bideuchre_env.agents.expert.hand_table import hand_table
from bideuchre_env.agents.learned.net import NetAgent, calls_of, net_weights, weights_for
from bideuchre_env.agents.learned.shipped import network_of
from bideuchre_env.cli.options import variant_of
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, run
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.ray_pool import RayPool, workers_of
from bideuchre_env.evaluation.statistics.scores import interval_dict
from bideuchre_env.learning.features import features_of
from bideuchre_env.learning.fitting import Examples, checked_examples, fit, joined
from bideuchre_env.learning.network import new_network
from bideuchre_env.learning.pairs import BLOCK, Pairs, pair_blocks
from bideuchre_env.learning.proposals import Proposals
from bideuchre_env.learning.weights import Weights, read_weights, write_weights
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array

sys.path.append(str(Path(__file__).parent / "fitting"))  # its scripts are no package
from fit_call_network import fit_calls

HIDDEN = (256, 64)
FITS = {"first": (4, 2.5e-3), "cards": (2, 1.5e-3), "polish": (1, 1.5e-3)}
"""How often each fit goes over its pairs, and the rate of Adam it begins with."""
JUDGED = {"rule": 10_000, "expert": 2_000}  # boards against each after a step
JUDGED_SEED = 2_000_000_000  # of boards alone: pairs are dealt from other streams


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to learn; every field is an option of the command line."""

    games: tuple[str, ...] = field(
        default=tuple(RULES), metadata={"help": "variants, or files of rules (.toml)"}
    )
    first: int = field(default=300_000, metadata={"help": "hands of the first round of cards"})
    hands: int = field(default=60_000, metadata={"help": "hands of every round after it"})
    rounds: int = field(default=3, metadata={"help": "rounds of cards, the first included"})
    call_hands: int = field(default=100_000, metadata={"help": "hands of a round of calls"})
    call_rounds: int = field(default=2, metadata={"help": "rounds of calls; 0 leaves them alone"})
    judge: bool = field(default=False, metadata={"help": "play rule and expert after every step"})
    seed: int = field(
        default=0, metadata={"help": "same seed, same pairs; same weights on one machine"}
    )
    ray: bool = field(default=False, metadata={"help": "make the pairs on Ray, started here"})
    ray_address: str | None = field(
        default=None, metadata={"help": "make the pairs on this cluster of Ray, as host:port"}
    )
    out: Path = field(
        default=Path("runs/learn_cards"), metadata={"help": "where steps and weights are kept"}
    )


def main(args: Args) -> int:
    """Learn each game from where it stands; no step that is complete is lost."""
    split_seed(args.seed)
    if min(args.first, args.hands, args.call_hands) < 100:
        raise OptionError("--first, --hands and --call-hands: 100 or more")
    if args.rounds < 1 or args.call_rounds < 0:
        raise OptionError("--rounds: 1 or more; --call-rounds: 0 or more")
    games = [variant_of(Path(name) if name.endswith(".toml") else name, []) for name in args.games]
    with only_run_in(args.out), workers_of(1, args.ray, args.ray_address) as workers:
        pool = workers if isinstance(workers, RayPool) else None
        for name, game in zip(args.games, games, strict=True):
            Learner(name, game, args, pool).run()
    return 0


class Learner:
    """A game's networks on their way; each step makes better ones."""

    def __init__(self, asked: str, game: Variant, args: Args, pool: RayPool | None = None) -> None:
        self.asked, self.game, self.rules = asked, game, game.rules
        self.args, self.seed = args, args.seed
        self.pool = pool
        self.features = features_of(game.rules, "cards")
        self.steps = steps_of(args, game.rules)

    def run(self) -> None:
        """Take every step that has not been taken, and write the weights."""
        done = 0
        while done < len(self.steps) and self.file(done + 1).exists():
            done += 1
        weights = self.weights(done)
        rounds = [k for k in range(done) if self.steps[k] in ("first", "cards")]
        kept = [self.examples(k) for k in rounds] if done < len(self.steps) else []
        for k in range(done, len(self.steps)):
            began = time.process_time()
            if self.steps[k] == "calls":
                weights = self.better_calls(weights, k)
            else:
                kept += [self.examples(k)] if self.steps[k] != "polish" else []
                weights = self.better_cards(weights, kept, k)
            weights = self.keep(weights, k, time.process_time() - began)
        place = self.args.out / f"net-{self.game.name}.safetensors"
        write_weights(place, weights.arrays, weights.metadata)
        print(f"{self.game.name}: written to {place}", flush=True)
        for k in range(len(self.steps)):
            self.pairs_file(k).unlink(missing_ok=True)

    def file(self, step: int) -> Path:
        """Where the weights after so many steps are kept."""
        return self.args.out / f"{self.game.name}-seed{self.seed}-step{step:02}.safetensors"

    def pairs_file(self, k: int) -> Path:
        """Where the pairs of step k are kept meanwhile."""
        return self.args.out / f"{self.game.name}-seed{self.seed}-pairs{k:02}.npz"

    def weights(self, step: int) -> Weights:
        """The weights after so many steps."""
        if step > 0:
            kept = read_weights(self.file(step))
            if kept.metadata.get("settings") != self.settings(step):
                raise OptionError(f"{self.file(step)} was made by other settings: another --out")
            return weights_for(self.rules, kept)
        rng = np.random.default_rng([self.seed, 0])
        cards = new_network(self.features.size, HIDDEN, self.features.outputs, rng)
        return net_weights(self.rules, cards, load_network(self.rules), {})

    def settings(self, step: int) -> str:
        """What the weights after so many steps depend on."""
        names = ("seed", "first", "hands", "call_hands", "call_rounds")
        chosen = {name: getattr(self.args, name) for name in names}
        rules = {"rules": self.rules.to_toml(), "features": self.features.version}
        return json.dumps({**chosen, "steps": self.steps[:step], **rules})

    def keep(self, weights: Weights, k: int, seconds: float) -> Weights:
        """Write the weights that step k has made, and say how good they are."""
        name = self.game.name
        told = f"{name} step {k + 1} of {len(self.steps)}: {self.steps[k]}, {seconds:.0f} s"
        line: dict[str, Any] = {"step": k + 1, "kind": self.steps[k], "seconds": round(seconds, 1)}
        for other, boards in JUDGED.items() if self.args.judge else ():
            found = self.judged(weights, other, boards)
            line[f"over {other}"] = found
            low, mean, high = (found[key] for key in ("low", "mean", "high"))
            told += f", over {other} {mean:+.3f} ({low:+.3f} to {high:+.3f})"
        made = {
            "variant": name,
            "seed": str(self.seed),
            "steps": str(k + 1),
            "command": f"python experiments/learn_cards.py {options(self.args, self.asked)}",
            "settings": self.settings(k + 1),
        }
        whole = Weights(weights.arrays, {**weights.metadata, **made})
        curve = self.args.out / f"{name}-seed{self.seed}.jsonl"
        kept = curve.read_text(encoding="utf-8").splitlines()[:k] if curve.exists() else []
        write_file(curve, "\n".join([*kept, json.dumps(line)]) + "\n")
        write_weights(self.file(k + 1), whole.arrays, whole.metadata)
        print(told, flush=True)
        return whole

    def judged(self, weights: Weights, other: str, boards: int) -> dict[str, Any]:
        """Points per hand over another agent, on boards that nothing is learned from."""

        def net(rules: Rules, *, goal: Any = "points") -> NetAgent:
            return NetAgent(rules, weights=weights, goal=goal)

        result = match.play(self.game, net, other, boards=boards, seed=JUDGED_SEED)
        if result.interrupted:
            raise KeyboardInterrupt
        return interval_dict(result.points_per_hand)

    def examples(self, k: int) -> Examples:
        """The pairs of step k, as they are kept, or made by the weights before it and kept."""
        place = self.pairs_file(k)
        unread = OSError, ValueError, KeyError, EOFError, BadZipFile, OptionError
        with suppress(*unread), np.load(place) as kept:
            if str(kept["settings"]) == self.settings(k):
                found = Examples(*(kept[name] for name in Examples._fields))
                checked_examples(found, self.features)
                return found
        made = self.played(self.weights(k), k)
        data = io.BytesIO()
        np.savez(data, settings=np.array(self.settings(k)), **made._asdict())
        write_file(place, data.getvalue())
        return made

    def played(self, weights: Weights, k: int) -> Examples:
        """The pairs of step k, played by these weights."""
        first = k == 0
        hands = self.args.first if first else self.args.hands
        policy = self.fast(weights) if first else self.net(weights)
        seed, draws = (int(n) for n in np.random.SeedSequence([self.seed, k]).generate_state(2))
        network = network_of(weights, "cards")
        propose = None if first else Proposals(network, self.rules, "cards", draws)
        parts, count = [], 0
        blocks = pair_blocks(policy, self.rules, hands, seed, propose=propose, pool=self.pool)
        with progress_bar(f"{self.game.name} step {k + 1}, pairs", "hands") as progress:
            for number, made in enumerate(blocks, 1):
                parts.append(self.told(made))
                count += len(made.gain)
                progress(min(hands, BLOCK * number), hands, count)
        return joined(parts)

    def fast(self, weights: Weights) -> RowAgent:
        """What the net plays like while its network says nothing."""
        calls = calls_of(weights)
        return ExpertAgent(self.rules, network=calls, wanted=NO_SEARCH, goal="points")

    def net(self, weights: Weights) -> NetAgent:
        """The net with these weights."""
        return NetAgent(self.rules, weights=weights, goal="points")

    def told(self, made: Pairs) -> Examples:
        """What pairs tell the network."""
        packed = self.features.pack(made.observations, made.masks)
        of, against = (
            self.features.outputs_of(actions, packed.symmetries).astype(np.int16)
            for actions in (made.other, made.chosen)
        )
        return Examples(packed.inputs, of, against, made.gain)

    def better_cards(self, weights: Weights, kept: list[Examples], k: int) -> Weights:
        """The weights after the network of cards has been fitted to pairs."""
        rng = np.random.default_rng([self.seed, k, 3])
        epochs, rate = FITS[self.steps[k]]
        if self.steps[k] != "cards":
            examples = joined(kept)
        else:
            older, newer = joined(kept[:-1]), kept[-1]
            some = rng.integers(0, len(older.targets), len(newer.targets))
            examples = joined([newer, Examples(*(each[some] for each in older))])
        total = epochs * len(examples.targets)
        with progress_bar(f"{self.game.name} step {k + 1}, fitting", "pairs") as progress:
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

    def better_calls(self, weights: Weights, k: int) -> Weights:
        """The weights after the calls have been fitted to hands that are played by the net."""
        cards, fast = network_of(weights, "cards"), self.fast(weights)

        def players(calls: Array) -> tuple[ExpertWorkspace, RowAgent, RowAgent]:
            net = self.net(net_weights(self.rules, cards, calls, {}))
            return net.workspace().expert, net, fast

        rng = np.random.default_rng([self.seed, k, 4])
        calls, hands, rounds = calls_of(weights), self.args.call_hands, self.args.call_rounds
        title = f"  {self.game.name} calls"
        fitted = fit_calls(calls, players, hands, rounds, rng, title, settle=0)
        return net_weights(self.rules, cards, fitted, {})


def steps_of(args: Args, rules: Rules) -> list[str]:
    """What is learned, in order: cards, with calls before the last two rounds of them.

    A deck without a table of hands bids by fixed rules, which have nothing to learn.
    """
    steps = ["first", *["cards"] * (args.rounds - 1)]
    if args.call_rounds and hand_table(rules.kinds, rules.copies) is not None:
        steps.insert(max(1, args.rounds - 2), "calls")
    return [*steps, "polish"]


def options(args: Args, game: str) -> str:
    """The options that learn this game alone."""
    names = ("first", "hands", "rounds", "call_hands", "call_rounds", "seed")
    named = [[f"--{name.replace('_', '-')}", str(getattr(args, name))] for name in names]
    return shlex.join(["--games", game, *(word for each in named for word in each)])


if __name__ == "__main__":
    sys.exit(run(main, Args))
