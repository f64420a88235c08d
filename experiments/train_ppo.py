"""Train agent `ppo` by self-play from nothing: PPO for the cards, a regression for the auction.

    python experiments/train_ppo.py --out runs/ppo/cincinnati
    python experiments/train_ppo.py --variant barrie_v0 --millions 500 --out runs/ppo/barrie

One side's partners are both paid their side's points. Forced moves are left out. Every batch is
`--hands` hands dealt afresh, played to their end by the nets as they are, and learned from once:

- The cards (given up, passed, played) by PPO, a clipped step along each seat's own lambda-returns.
- The auction (calls, and naming the strain) by regression: a net of its own says of every call how
  much better it is than the critic expects of the hand, and calls are drawn by softmax of that over
  a temperature. In some hands one call is forced, so that rare ones, such as going alone, are seen;
  what came before it is not learned from.

With `--workers N` so many processes play while this one learns: by weights that are always one
update old, so that results follow from the settings as before. `--ray` puts them on a cluster.

With `--device cuda` (experimental) a GPU learns, and plays unless there are workers: games,
features, draws and returns stay there, and of a batch nothing comes back but counts.

A run goes on from the checkpoint in `--out`, if there is one, as though it had not been stopped: on
one thread of the same processor bit for bit. Ctrl-C keeps a checkpoint and ends. The folder has
`curve.csv`, TensorBoard's files, the checkpoint, and `weights.npz`, which `ppo` plays by:

    bideuchre match ppo:weights=runs/ppo/cincinnati/weights.npz expert --boards 2000
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bideuchre_env.cli.program import USAGE, complain

try:
    import torch
    from ppo.shown import CURVE, Shown
except ImportError as error:
    missing = error.name or "torch"
    complain(f'training needs {missing}: pip install "bideuchre_env[train]"', "train_ppo.py")
    sys.exit(USAGE)

from ppo.hands import Batch, Terms
from ppo.kept import (
    CHECKPOINT,
    PLAYED_BY,
    game_of,
    named,
    nets_in,
    read_checkpoint,
    weights_of,
    write_checkpoint,
)
from ppo.learner import Learner, Step
from ppo.measured import Strength, measure
from ppo.nets import torch_device
from ppo.processes import pool_of
from ppo.settings import FREE, checked, command
from ppo.spread import Blocks, Nets

from bideuchre_env._files import only_run_in
from bideuchre_env.cli.script_args import ScriptArgs, dashed, run
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.pairs import Pool
from bideuchre_env.learning.weights import write_weights
from bideuchre_env.runtime.interrupts import ctrl_c

SCALE = 5.0  # points that are 1 to the nets
MEASURED_SEED, FINAL_SEED = 20_000_000, 30_000_000  # of boards: as it goes, and at the end
POOL = 10  # past selves that are kept, taken at even distances over the run
KEPT_SECONDS = 120  # between checkpoints
NUMBERS = ("batch", "decisions", "hands", "seconds", "processor", "taken", "measured")


def option(default: Any, sense: str) -> Any:
    """A field of `Args`."""
    return field(default=default, metadata={"help": sense})


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of a run; every field is an option of the command line."""

    variant: str = option("cincinnati_v0", "the game")
    out: Path = field(
        default=Path("runs/ppo"), metadata={"help": "folder of the run, new or to go on with"}
    )
    seed: int = option(1, "of deals, draws and first weights")
    millions: float = option(120.0, "decisions of the whole run, in millions")
    hands: int = option(2048, "hands of a batch")
    minibatch: int = option(4096, "decisions of a step of learning")
    hidden: int = option(128, "units of either hidden layer of the cards' net")
    hidden_auction: int = option(64, "the same of the auction's")
    rate: float = option(0.001, "learning rate at first; it falls to nothing")
    clip: float = option(0.1, "how far from 1 PPO lets the ratio of probabilities go")
    entropy: float = option(0.01, "worth of entropy at first; it falls to a tenth")
    critic: float = option(0.5, "weight of the critic's error")
    lambda_: float = option(0.9, "of the returns: 0 trusts the critic, 1 what came of the hand")
    pull: float = option(
        0.0, "worth of the KL divergence from a slow copy of the cards' net; 0: none"
    )
    past: float = option(0.0, "share of hands in which one side is a past self")
    forced: float = option(
        0.08, "share of calls drawn anew, at random or nearly, so that rare ones are seen"
    )
    alone: float = option(0.3, "share of the hands that suit it best in which a bid alone is tried")
    temperature: float = option(0.3, "of the softmax that calls are drawn by, at first, in points")
    last_temperature: float = option(0.1, "the same at last")
    measure: float = option(10.0, "millions of decisions between measurements")
    boards: int = option(1000, "boards of a measurement, against each opponent")
    final_boards: int = option(10_000, "boards of the last one, of another seed")
    opponents: tuple[str, ...] = option(("cautious", "rule", "expert"), "who it is measured by")
    threads: int = option(1, "of torch; more than 1 is not the same bit for bit")
    device: str = option(
        "cpu", "where it is learned, and played without --workers: cpu, or cuda, a GPU"
    )
    all_hands: bool = option(False, "a critic of its own for the cards, which sees all hands")
    workers: int = option(0, "processes that play while this one learns, by weights one update old")
    ray: bool = option(False, "play as --workers do, but on Ray: the cluster here, or one begun")
    ray_address: str | None = option(None, "play as --workers do, but on this cluster of Ray")


class Asked(NamedTuple):
    """What a batch is played by."""

    terms: Terms
    nets: Nets
    past: Nets | None


class Run:
    """A run: its nets, how far it has come, and what is kept of it.

    With a pool of workers the next batch is played while this one is learned from.
    """

    def __init__(self, args: Args, pool: Pool | None = None) -> None:
        game = checked(args)
        self.args, self.rules, self.name = args, game.rules, game.name
        blocks = max(1, args.workers)
        self.blocks = Blocks(self.rules, args.hands, blocks, args.device, pool, args.all_hands)
        hidden = {"auction": args.hidden_auction, "cards": args.hidden}
        parts = {name: features_of(self.rules, name) for name in PARTS}
        sizes = {p: (f.size, hidden[p], hidden[p], f.outputs + 1) for p, f in parts.items()}
        others = 3 * 2 * parts["cards"].outputs if args.all_hands else 0
        self.learner = Learner(sizes, args.seed, torch_device(args.device), others)
        self.batch, self.decisions, self.hands, self.seconds = 0, 0, 0, 0.0
        self.processor = 0.0
        self.pool: list[Nets] = []
        self.taken = 0  # past selves, in all
        self.measured = 0  # decisions at the last measurement
        self.asked: Asked | None = None  # which workers play
        self.coming: Future[Batch] | None = None
        self.thread = ThreadPoolExecutor(1)  # waits for them
        self._resume()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        self.thread.shutdown(cancel_futures=True)

    @property
    def progress(self) -> float:
        """How much of the run is over, from 0 to 1."""
        return min(1.0, self.decisions / (1e6 * self.args.millions))

    def fade(self, first: float, last: float) -> float:
        """A number on its way from the first to the last over the run."""
        return first + (last - first) * self.progress

    def due(self) -> bool:
        """Whether a measurement is due: a multiple of `--measure` lies behind since the last."""
        every = 1e6 * self.args.measure
        return int(self.decisions / every) > int(self.measured / every)

    def ask(self, number: int) -> Asked:
        """How the batch of this number is to be played, by the nets as they are."""
        args = self.args
        temperature = self.fade(args.temperature, args.last_temperature)
        terms = Terms(
            number, args.seed, temperature, args.forced, args.alone, args.lambda_, SCALE, args.past
        )  # fmt: skip
        past = self.pool[number % len(self.pool)] if args.past and self.pool else None
        return Asked(terms, self.learner.acting(), past)

    def go(self) -> dict[str, float]:
        """Play a batch and learn from it; what is shown of it."""
        args, began = self.args, time.perf_counter()
        step = Step(
            self.fade(args.rate, 0.02 * args.rate), args.clip,
            self.fade(args.entropy, 0.1 * args.entropy), args.critic, args.pull, args.minibatch,
        )  # fmt: skip
        batch = self._played()
        played, worked = time.perf_counter(), time.process_time()
        found = self.learner.learn(batch, step)
        ended = time.perf_counter()
        self.seconds += ended - began
        self.processor += time.process_time() - worked + batch.processor
        if args.past and self.taken < int(2 * POOL * self.progress):
            self.taken = int(2 * POOL * self.progress)
            self.pool = [*self.pool, self.learner.acting()][-POOL:]
        found |= {"lone": batch.lone / batch.hands, "set": batch.set_back / batch.hands}
        found |= {"play_seconds": played - began, "learn_seconds": ended - played}
        return found

    def _played(self) -> Batch:
        """The batch that is due. Workers begin the next one, by the nets that do not know this."""
        asked = self.asked or self.ask(self.batch)
        batch = (
            (self.coming or self._begin(asked)).result()
            if self.args.workers
            else self.blocks.play(*asked)
        )
        self.batch += 1
        self.decisions += batch.decisions
        self.hands += batch.hands
        if self.args.workers:
            self.asked = self.ask(self.batch)
            self.coming = self._begin(self.asked)
        return batch

    def _begin(self, asked: Asked) -> Future[Batch]:
        return self.thread.submit(self.blocks.play, *asked)

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that the run goes on from, but for the numbers."""
        kept = self.learner.tensors()
        for i, past in enumerate(self.pool):
            kept |= named(past, f"past.{i}")
        if self.asked:
            kept |= named(self.asked.nets, "asked") | named(self.asked.past or {}, "asked past")
        return kept

    def keep(self) -> None:
        """Write the checkpoint and the weights to play by."""
        told = {name: getattr(self, name) for name in NUMBERS} | {"pool": len(self.pool)}
        if self.asked:
            told["asked"] = asdict(self.asked.terms) | {"past nets": self.asked.past is not None}
        settings = {name: str(value) for name, value in asdict(self.args).items()}
        told |= {"settings": settings, "game": game_of(self.rules)}
        write_checkpoint(self.args.out, self.tensors(), told)
        made = {
            "variant": self.name,
            "seed": str(self.args.seed),
            "steps": str(self.decisions),
            "decisions": str(self.decisions),
            "hands": str(self.hands),
            "command": command(self.args, self.name),
        }
        found = weights_of(self.rules, self.learner.nets, made)
        write_weights(self.args.out / PLAYED_BY, found.arrays, found.metadata)

    def _resume(self) -> None:
        """Go on from the checkpoint, if there is one."""
        found = read_checkpoint(self.args.out)
        if found is None:
            for name in (CURVE, PLAYED_BY):
                if (self.args.out / name).exists():
                    raise OptionError(
                        f"{self.args.out / name} is of a run without a checkpoint: move it away, "
                        "or take another --out"
                    )
            return
        tensors, told = found
        try:
            self._check_same(told.pop("game"), told.pop("settings"))
            numbers = {name: told[name] + 0 for name in NUMBERS}
            self.learner.load(tensors)
            for i in range(told.pop("pool")):
                self.pool.append(nets_in(tensors, f"past.{i}", self.learner.nets))
            if asked := told.get("asked"):
                past = asked.pop("past nets") and nets_in(tensors, "asked past", self.learner.nets)
                nets = nets_in(tensors, "asked", self.learner.nets)
                self.asked = Asked(Terms(**asked), nets, past or None)
        except (AttributeError, KeyError, TypeError, RuntimeError):  # the last: of another shape
            raise WeightsError(f"{self.args.out / CHECKPOINT} is none of this trainer") from None
        for name, number in numbers.items():
            setattr(self, name, number)

    def _check_same(self, game: dict[str, str], settings: dict[str, str]) -> None:
        """Raise `OptionError` for a checkpoint of another game or of other settings."""
        own = game_of(self.rules)
        for name, value in game.items():
            if own[name] != value:
                what = "other rules" if name == "rules" else f"{name} {value}, not {own[name]}"
                raise OptionError(
                    f"the run in {self.args.out} was begun with {what}: take another --out"
                )
        asked = {name: str(value) for name, value in asdict(self.args).items()}
        for name, value in settings.items():
            if name not in asked:
                raise OptionError(
                    f"the run in {self.args.out} was begun by another version of this script, with "
                    f"{dashed(name)} {value}: take another --out"
                )
            if name not in FREE and asked[name] != value:
                raise OptionError(
                    f"{dashed(name)} {asked[name]}: the run in {self.args.out} "
                    f"has {value}; go on with that, or take another --out"
                )


def train(args: Args) -> int:
    """The whole run, or what is left of it; 130 if interrupted."""
    torch.set_num_threads(args.threads)
    checked(args)
    with (
        pool_of(args.workers, args.ray, args.ray_address) as pool,
        Run(args, pool) as training,
        ctrl_c() as pressed,
        Shown(args.out, training.batch, args.opponents) as shown,
    ):
        kept = time.monotonic()
        while not pressed.is_set():
            if training.due():
                training.keep()  # no curve without its checkpoint
                kept = time.monotonic()
                if not compare(training, shown, args.boards, MEASURED_SEED, pressed.is_set):
                    break
                training.measured = training.decisions
            if training.progress == 1:
                training.keep()
                compare(training, shown, args.final_boards, FINAL_SEED, pressed.is_set)
                return 130 if pressed.is_set() else 0
            if time.monotonic() - kept > KEPT_SECONDS:
                training.keep()
                kept = time.monotonic()
            shown.batch(training, training.go())
        training.keep()
        return 130


def compare(
    training: Run, shown: Shown, boards: int, seed: int, stopped: Callable[[], bool]
) -> bool:
    """Measure the nets, and enter the result in the curve; False if Ctrl-C came in between."""
    found: dict[str, Strength] = {}
    for opponent in training.args.opponents:
        strength = measure(training.rules, training.learner.nets, opponent, boards, seed, stopped)
        if strength is None:
            return False
        found[opponent] = strength
    shown.strengths(training, boards, seed, found)
    return True


def main(args: Args) -> int:
    """Train, and keep others out of the folder meanwhile."""
    with only_run_in(args.out):
        return train(args)


if __name__ == "__main__":
    sys.exit(run(main, Args))
