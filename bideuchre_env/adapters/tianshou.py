"""Environments for Tianshou 2: `VecEnv` has one learner at each of many tables, and `SeatCollector`
collects the decisions of all four seats in self-play.

Observations are `Batch(obs=float32 (n, D) in [-1, 1], mask=bool (n, A))`. Tianshou's DQN family
reads the mask. Its policy-gradient family (PPO, A2C, Reinforce) does not, and needs `MaskedActor`
and `ObservationCritic` around its networks.

Tianshou's own `PettingZooEnv` runs, but its transitions are wrong: it stores only the reward of a
seat's own move, ends an episode for the last seat only, and takes the next seat's observation as
the seat's next one. `SeatCollector` gives each seat at each table its own buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bideuchre_env.adapters.common import FLOATS, Game, needs, variant_of, with_fixed
from bideuchre_env.agents import FeatureAgent
from bideuchre_env.envs.options import SoloVecGameKeywords, VecGameKeywords
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array

with needs("tianshou"):
    import torch
    from tianshou.data import Batch, CollectStats
    from tianshou.data.collector import BaseCollector
    from tianshou.env import BaseVectorEnv

if TYPE_CHECKING:
    from typing_extensions import Unpack


class MaskedActor(torch.nn.Module):
    """The logits of a network from float32 (n, D) to (n, A); illegal actions are never sampled."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """Return logits (n, A) for `Batch(obs, mask)`, and `state` unchanged.

        The logits of illegal actions are the dtype's minimum.
        """
        logits = self.net(_tensor(obs.obs, self.net))
        legal = torch.as_tensor(obs.mask, dtype=torch.bool, device=logits.device)
        return logits.masked_fill(~legal, torch.finfo(logits.dtype).min), state


class ObservationCritic(torch.nn.Module):
    """The value of an observation, by a network from float32 (n, D) to (n, 1)."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, **_: Any) -> torch.Tensor:
        """Return values (n, 1) for `Batch(obs, mask)`."""
        values: torch.Tensor = self.net(_tensor(obs.obs, self.net))
        return values


def _tensor(array: Any, net: torch.nn.Module) -> torch.Tensor:
    return torch.as_tensor(array, dtype=torch.float32, device=next(net.parameters()).device)


class VecEnv(BaseVectorEnv):
    """A vector environment with one learner at each table, for a `Collector`.

    Rewards are float64 (n,), `terminated` and `truncated` bool (n,), infos n dicts with "env_id".
    The info of an ended episode also has "score", "hands", "winner", "outcome" and "illegal". If
    players are drawn at random, this info and that of a reset name them as "left", "partner" and
    "right". The mask of an ended episode is all True, because no action is left to choose.

    Args:
        game: a variant, or an argument of `bideuchre_env.make`.
        num_envs: the number of tables.
        options: those of `solo_vec`. The observation is "flat" or "features"; the autoreset mode,
            `copy` and `device` are fixed.

    Raises:
        OptionError: for another value of a fixed option; other errors are those of `solo_vec`.
    """

    def __init__(
        self, game: Game, num_envs: int = 1, **options: Unpack[SoloVecGameKeywords]
    ) -> None:
        fixed = {"observation": FLOATS, "autoreset_mode": "Disabled", "copy": True, "device": "cpu"}
        self.tables = variant_of(game).solo_vec(
            num_envs, **with_fixed(options, "Tianshou", **fixed)
        )
        self.env_num, self.is_async, self.is_closed = num_envs, False, False
        self._seeds: list[int | None] = [None] * num_envs  # for the next reset, by table
        self._idle = np.ones(num_envs, bool)  # tables that must be reset before the next step

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:
        """Return an attribute, which all tables share, once per table of `id` (None: all)."""
        names = {"observation_space": "single_observation_space"}
        names["action_space"] = "single_action_space"
        value = getattr(self.tables, names.get(key, key))
        return [value for _ in self._wrap_id(id)]

    def set_env_attr(self, key: str, value: Any, id: Any = None) -> None:
        """Raise `OptionError`: the tables share their attributes."""
        raise OptionError(
            f"set_env_attr({key!r}): tables are set up when they are made, by options"
        )

    def seed(self, seed: int | list[int] | None = None) -> list[Any]:
        """Seed table i with `seed` + i, or `seed[i]`, at its next reset; return [seed] by table."""
        if isinstance(seed, int):
            seed = [seed + i for i in range(self.env_num)]
        self._seeds = [None] * self.env_num if seed is None else [*seed]
        return [[each] for each in self._seeds]

    def reset(self, env_id: Any = None, **kwargs: Any) -> tuple[Batch, Array]:
        """Start episodes at all tables or `env_id`; keywords are those of `solo_vec`'s `reset`.

        Return the batch and the infos of these tables. Without a keyword `seed` the seeds are those
        of the method `seed`.
        """
        ids = np.asarray(self._wrap_id(env_id))
        chosen = np.zeros(self.env_num, bool)
        chosen[ids] = True
        seeds = kwargs.get("seed")
        if seeds is None and any(self._seeds[i] is not None for i in ids):
            seeds = self._seeds
        self._seeds = [None if i in ids else each for i, each in enumerate(self._seeds)]
        options = dict(kwargs.get("options") or {})
        if not chosen.all():
            options["reset_mask"] = chosen
        observations, info = self.tables.reset(seed=seeds, options=options)
        self._idle &= ~chosen
        return self._batch(observations)[ids], _infos(ids, info)

    def step(self, action: Any, id: Any = None) -> tuple[Batch, Array, Array, Array, Array]:
        """Apply an action at each table, or at those of `id`.

        The other tables lose their episode and must be reset before their next step. Return the
        batch, rewards, `terminated`, `truncated` and infos of the tables that acted.

        Raises:
            IllegalActionError: for a table that must be reset first.
        """
        ids = np.asarray(self._wrap_id(id))
        if self._idle[ids].any():
            raise IllegalActionError(f"table {ids[self._idle[ids]][0]}: reset() starts an episode")
        left_out = np.ones(self.env_num, bool)
        left_out[ids] = False
        choices = self._choices_of_others(left_out)
        choices[ids] = np.asarray(action)
        observations, rewards, terminated, truncated, info = self.tables.step(choices)
        self._idle |= left_out
        self._idle |= terminated | truncated
        seen = self._batch(observations)[ids]
        return seen, rewards[ids], terminated[ids], truncated[ids], _infos(ids, info)

    def _batch(self, observations: Array) -> Batch:
        masks = self.tables.action_masks()
        masks[~masks.any(axis=1)] = True  # episode over; DQN maximizes over these at a truncation
        return Batch(obs=observations, mask=masks)

    def _choices_of_others(self, left_out: Array) -> Array:
        """Return actions of all tables, int64 (n,), legal ones for the left-out tables.

        The batch steps all tables; left-out tables whose episode is over are reset first.
        """
        if left_out.any():
            masks = self.tables.action_masks()
            over = left_out & ~masks.any(axis=1)
            if over.any():
                self.tables.reset(options={"reset_mask": over})
                masks = self.tables.action_masks()
            first: Array = masks.argmax(axis=1)
            return first
        return np.zeros(self.env_num, np.int64)

    def render(self, **_: Any) -> list[Any]:
        """Return a rendering of every table, in its `render_mode`; [] without a mode."""
        return list(self.tables.render() or [])

    def close(self) -> None:
        """Close the tables and their threads."""
        self.tables.close()
        self.is_closed = True


def _batch(observations: Array, info: dict[str, Any]) -> Batch:
    return Batch(obs=observations, mask=info["action_mask"].astype(bool))


def _infos(ids: Array, info: dict[str, Any]) -> Array:
    """Convert `info`, arrays by table, to a dict of results and players for each table of `ids`."""
    infos: list[dict[str, Any]] = [{"env_id": int(i)} for i in ids]
    for name in info.keys() - {"action_mask", "seat", "symmetry"}:
        if not name.startswith("_"):
            for each in infos:
                if info[f"_{name}"][each["env_id"]]:
                    each[name] = info[name][each["env_id"]]
    return np.array(infos, object)


class Seats:
    """The four seats of each of `num_tables` tables, the environments of a `SeatCollector`.

    Environment 4 i + s is seat s at table i.

    Args:
        game: a variant, or an argument of `bideuchre_env.make`.
        num_tables: the number of tables.
        options: those of `vec`. The observation is "flat" or "features"; `copy` and `device` are
            fixed.

    Raises:
        OptionError: for another value of a fixed option; other errors are those of `vec`.
    """

    def __init__(self, game: Game, num_tables: int = 1, **options: Unpack[VecGameKeywords]) -> None:
        fixed = {"observation": FLOATS, "copy": True, "device": "cpu"}
        self.tables = variant_of(game).vec(num_tables, **with_fixed(options, "Tianshou", **fixed))
        self.action_space = self.tables.single_action_space

    def __len__(self) -> int:
        return N_SEATS * self.tables.num_envs

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Batch, Array]:
        """Start episodes at all tables, see `BidEuchreVec.reset` for the arguments.

        Return the batch of the seats to act, and their environments, int64 (n,).
        """
        observations, info = self.tables.reset(seed, options=options)
        return _batch(observations, info), self.ids(info)

    def ids(self, info: dict[str, Any]) -> Array:
        """Return the environment numbers of the seats to act at the n tables, int64 (n,)."""
        return np.arange(self.tables.num_envs) * N_SEATS + info["seat"].astype(np.int64)

    def close(self) -> None:
        """Close the tables and their threads."""
        self.tables.close()


class SeatCollector(BaseCollector):
    """Collects the decisions of all four seats at many tables, by one policy, in self-play.

    A transition leads from a seat's decision to its own next one, and its reward is the sum of the
    seat's rewards in between. An episode ends for every seat, with its last rewards. Any
    single-agent algorithm can learn from the buffer. `n_step` counts transitions, and `n_episode`
    counts episodes of seats, four per episode of a table.

    A truncated episode (by `max_hands`, for example) is stored as terminated and truncated: the
    table has already started the next one, so no observation is left to bootstrap from.

    Args:
        policy: a Tianshou policy or algorithm, which plays all seats.
        seats: the tables.
        buffer: a `VectorReplayBuffer` with `len(seats)` parts.
        options: those of Tianshou's `BaseCollector`.

    Raises:
        OptionError: from `collect`, before the first reset or with `render`.
    """

    def __init__(self, policy: Any, seats: Seats, buffer: Any = None, **options: Any) -> None:
        super().__init__(policy, seats, buffer, **options)
        self._turns: tuple[Batch, Array] | None = None

    def reset_env(self, gym_reset_kwargs: dict[str, Any] | None = None) -> tuple[Batch, Array]:
        """Start episodes at all tables, and drop the unfinished ones; return as `Seats.reset`.

        `gym_reset_kwargs` are its arguments.
        """
        n, width = len(self.env), int(self.env.action_space.n)
        [size] = self.env.tables.single_observation_space.shape
        self._seen = Batch(obs=np.zeros((n, size), np.float32), mask=np.zeros((n, width), bool))
        self._acts, self._paid = np.zeros(n, np.int64), np.zeros(n)
        self._pending = np.zeros(n, bool)  # seats with a decision that is not stored yet
        self._turns = self.env.reset(**(gym_reset_kwargs or {}))
        return self._turns

    def _collect(
        self,
        n_step: int | None = None,
        n_episode: int | None = None,
        random: bool = False,
        render: float | None = None,
        gym_reset_kwargs: dict[str, Any] | None = None,
    ) -> CollectStats:
        if render is not None:
            raise OptionError(f"render={render}: expected None; a SeatCollector does not render")
        if self._turns is None:
            raise OptionError(
                "nothing has been dealt yet: call reset() first, or set reset_before_collect"
            )
        steps, ends = 0, [np.zeros((0, 2))]
        while steps < (n_step or 0) or sum(map(len, ends)) < (n_episode or 0):
            steps += self._turn(random, ends)
        episodes = np.concatenate(ends)
        self.collect_step += steps
        self.collect_episode += len(episodes)
        return CollectStats.with_autogenerated_stats(
            returns=episodes[:, 0],
            lens=episodes[:, 1].astype(int),
            n_collected_episodes=len(episodes),
            n_collected_steps=steps,
        )

    def _turn(self, random: bool, ends: list[Array]) -> int:
        """Make one decision at every table; return the number of completed transitions.

        Append the returns and lengths (m, 2) of the seats' ended episodes to `ends`.
        """
        assert self._turns is not None
        seen, ids = self._turns
        again = np.flatnonzero(self._pending[ids])
        self._store(ids[again], seen[again])
        self._acts[ids] = acts = self._choose(seen, random)
        self._seen[ids], self._paid[ids], self._pending[ids] = seen, 0.0, True
        observations, rewards, terminated, truncated, info = self.env.tables.step(acts)
        self._paid += rewards.reshape(-1)
        self._turns = _batch(observations, info), self.env.ids(info)
        over = np.flatnonzero(self._pending & (terminated | truncated).repeat(N_SEATS))
        if len(over):
            by_seat = (terminated.repeat(N_SEATS)[over], truncated.repeat(N_SEATS)[over])
            ends.append(self._store(over, self._seen[over], *by_seat))
            self._pending[over] = False
        return len(again) + len(over)

    def _choose(self, seen: Batch, random: bool) -> Array:
        if random:
            drawn: Array = self.env.tables.sample()
            return drawn
        batch = Batch(obs=seen, info=Batch())
        acts = self.policy(batch).act
        acts = acts.cpu().numpy() if isinstance(acts, torch.Tensor) else np.asarray(acts)
        return self.policy.add_exploration_noise(acts, batch) if self.exploration_noise else acts

    def _store(self, ids: Array, following: Batch, *ended: Array) -> Array:
        """Store the pending transitions of seats `ids`, which lead to the observations `following`.

        `ended` is (terminated, truncated), or empty if the episodes continue. Return the returns
        and lengths of the seats' episodes so far, (m, 2).
        """
        if not len(ids):
            return np.zeros((0, 2))
        terminated, truncated = ended or (np.zeros(len(ids), bool), np.zeros(len(ids), bool))
        transitions = Batch(
            obs=self._seen[ids],
            act=self._acts[ids],
            rew=self._paid[ids],
            terminated=terminated | truncated,
            truncated=truncated,
            done=terminated | truncated,
            obs_next=following,
            info=Batch(env_id=ids),
            policy=Batch(),
        )
        _, returns, lengths, _ = self.buffer.add(transitions, buffer_ids=ids)
        return np.stack([returns, lengths], axis=1)


class PolicyAgent(FeatureAgent):
    """A trained `MaskedActor`, or an algorithm or policy with one, as an agent."""

    def network(self, policy: Any) -> Any:
        """Return the network inside the `MaskedActor`."""
        policy = getattr(policy, "policy", policy)
        return getattr(policy, "actor", policy).net
