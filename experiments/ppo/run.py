"""A run of the trainer: its networks, its progress and its checkpoint."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import torch

from bideuchre_env._files import write_file
from bideuchre_env._inputs import MOST_OF_TORCH, check_size, read_checkpoint
from bideuchre_env.cli.script_args import dashed
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.learning.features import PARTS, features_of
from bideuchre_env.learning.pairs import Pool
from bideuchre_env.learning.weights import write_parts
from bideuchre_env.rules.rules import Rules
from ppo.learner import Learner
from ppo.logging import CURVE
from ppo.networks import KIND, Networks, agent_weights, made_for, torch_device
from ppo.rollout import Batch, Dealer, Terms
from ppo.workers import Work, play_blocks

SCALE = 5.0  # points per unit of the networks' values
CHECKPOINT, WEIGHTS = "checkpoint.pt", "weights.npz"
NUMBERS = ("batch", "decisions", "hands", "seconds", "processor", "measured")

Request = tuple[Terms, Networks]
"""The terms of a batch, and the networks that play it."""


class Run:
    """A run in the folder `args.out`, resumed from its checkpoint if there is one.

    With a pool of workers, the next batch is played during learning. `settings` must be the same
    when a run resumes; `metadata` is written with the agent's weights.
    """

    def __init__(
        self,
        args: Any,
        rules: Rules,
        pool: Pool | None,
        settings: Mapping[str, str],
        metadata: Mapping[str, str],
    ) -> None:
        self.args, self.rules, self.pool = args, rules, pool
        self.settings, self.metadata = dict(settings), metadata
        self.game = {**made_for(rules), "rules": rules.to_toml()}
        hidden = {"auction": args.hidden_auction, "cards": args.hidden}
        parts = {name: features_of(rules, name) for name in PARTS}
        sizes = {p: (f.size, hidden[p], hidden[p], f.outputs + 1) for p, f in parts.items()}
        others = 3 * 2 * parts["cards"].outputs if args.all_hands else 0
        self.learner = Learner(sizes, args.seed, torch_device(args.device), others)
        if pool is None:
            self.dealer = Dealer(rules, args.hands, args.device, args.all_hands)
        self.batch, self.decisions, self.hands = 0, 0, 0
        self.seconds, self.processor = 0.0, 0.0
        self.measured = 0  # decisions at the last measurement
        self.request: Request | None = None  # of the batch that workers play
        self.next_batch: Future[Batch] | None = None
        self.thread = ThreadPoolExecutor(1)  # waits for the workers
        self._resume()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        self.thread.shutdown(cancel_futures=True)

    @property
    def progress(self) -> float:
        """Finished fraction of the run, from 0 to 1."""
        return min(1.0, self.decisions / (1e6 * self.args.millions))

    def anneal(self, first: float, last: float) -> float:
        """Interpolate linearly from `first`, at the start of the run, to `last`, at its end."""
        return first + (last - first) * self.progress

    def is_measurement_due(self) -> bool:
        """Whether a multiple of `--measure` million decisions lies after the last measurement."""
        every = 1e6 * self.args.measure
        return int(self.decisions / every) > int(self.measured / every)

    def update(self) -> dict[str, float]:
        """Play a batch and learn from it; return its statistics by name.

        They are those of `Learner.learn`, `lone` and `set` (contracts per hand that are played
        alone, and not made), `play_seconds` and `learn_seconds`.
        """
        args, began = self.args, time.perf_counter()
        rate = self.anneal(args.rate, 0.02 * args.rate)
        entropy = self.anneal(args.entropy, 0.1 * args.entropy)
        batch = self._next_batch()
        played, processor = time.perf_counter(), time.process_time()
        statistics = self.learner.learn(batch, args, rate, entropy)
        ended = time.perf_counter()
        self.seconds += ended - began
        self.processor += time.process_time() - processor + batch.processor
        statistics |= {"lone": batch.lone / batch.hands, "set": batch.set_back / batch.hands}
        return statistics | {"play_seconds": played - began, "learn_seconds": ended - played}

    def _next_batch(self) -> Batch:
        """Return the next batch.

        With workers, also start the batch after it, with the networks as they are before they learn
        from the returned one.
        """
        if self.pool is None:
            batch = self.dealer.play(*self._new_request())
        else:
            self.request = self.request or self._new_request()
            batch = (self.next_batch or self._submit()).result()
        self.batch += 1
        self.decisions += batch.decisions
        self.hands += batch.hands
        if self.pool is not None:
            self.request = self._new_request()
            self.next_batch = self._submit()
        return batch

    def _new_request(self) -> Request:
        """Return the request for the next batch, with the networks as they are now.

        Workers get a copy of the networks, because training continues while they play.
        """
        args = self.args
        temperature = self.anneal(args.temperature, args.last_temperature)
        terms = Terms(
            self.batch, args.seed, temperature, args.forced, args.alone, args.lambda_, SCALE
        )
        networks = self.learner.networks
        if self.pool is not None:
            networks = {
                part: {name: weight.detach().clone() for name, weight in weights.items()}
                for part, weights in networks.items()
            }
        return terms, networks

    def _submit(self) -> Future[Batch]:
        """Submit the batch of `self.request` to the workers; return its future."""
        args, blocks = self.args, self.args.workers
        work = Work(self.rules, args.hands // blocks, blocks, args.all_hands, *self.request)
        return self.thread.submit(play_blocks, self.pool, work)

    def save(self) -> None:
        """Write the checkpoint, and the weights for agent `ppo`."""
        state: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS}
        state |= {"learner": self.learner.state(), "game": self.game, "settings": self.settings}
        if self.request:
            terms, networks = self.request
            state["request"] = [asdict(terms), networks]
        data = io.BytesIO()
        torch.save(state, data)
        check_size(self.args.out / CHECKPOINT, data.tell(), MOST_OF_TORCH)
        write_file(self.args.out / CHECKPOINT, data.getvalue())
        steps = str(self.decisions)
        metadata = {"steps": steps, "decisions": steps, "hands": str(self.hands), **self.metadata}
        weights = agent_weights(self.rules, self.learner.networks, metadata)
        write_parts(self.args.out / WEIGHTS, {KIND: weights})

    def _resume(self) -> None:
        """Restore the checkpoint, if there is one.

        `OptionError` if it is of other settings, or if there are other files of a run without a
        checkpoint; `WeightsError` if it is damaged.
        """
        path = self.args.out / CHECKPOINT
        if not path.exists():
            for name in (CURVE, WEIGHTS):
                if (self.args.out / name).exists():
                    raise OptionError(
                        f"{self.args.out / name} is of a run without a checkpoint: move it away, "
                        "or take another --out"
                    )
            return
        try:
            file, device = read_checkpoint(path), self.learner.device
            state = torch.load(file, map_location=device, weights_only=True)
            self._check_settings(state["game"], state["settings"])
            self.learner.load(state["learner"])
            for name in NUMBERS:
                setattr(self, name, state[name] + 0)
            if "request" in state:
                terms, networks = state["request"]
                self.request = Terms(**terms), networks
        except OptionError:
            raise
        except Exception as error:  # of torch, zipfile and pickle
            raise WeightsError(
                f"{path} is damaged, or no checkpoint of this trainer ({type(error).__name__})"
            ) from None

    def _check_settings(self, game: dict[str, str], settings: dict[str, str]) -> None:
        """Raise `OptionError` for a checkpoint of another game or of other settings."""
        if game != self.game:
            raise OptionError(
                f"the run in {self.args.out} was begun with other rules: take another --out"
            )
        for name in sorted({*settings, *self.settings}):
            saved, requested = settings.get(name), self.settings.get(name)
            if saved != requested:
                raise OptionError(
                    f"{dashed(name)} {requested}: the run in {self.args.out} has {saved}; "
                    "continue with that, or take another --out"
                )
