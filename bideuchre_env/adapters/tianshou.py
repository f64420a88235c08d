"""The games for Tianshou 2: `VecEnv`, a learner at each of many tables, and `SeatCollector`, which
collects what all four seats decide in self-play.

Observations are `Batch(obs=float32 (n, D) in [-1, 1], mask=bool (n, A))`. Tianshou's DQN family
reads the mask; its policy-gradient family (PPO, A2C, Reinforce) does not, and takes `MaskedActor`
and `ObservationCritic` around its networks.

Tianshou's own `PettingZooEnv` runs too, but does not learn rightly: it stores only what is paid at
a seat's own move, ends an episode for the last seat alone, and lets a seat go on from what the next
seat sees. `SeatCollector` gives each seat at each table a buffer of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bideuchre_env.adapters.common import Game, needs, variant_of, with_fixed
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
    """The logits of a network from float32 (n, D) to (n, A); illegal actions are never drawn."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """Logits (n, A) for `Batch(obs, mask)`, the lowest number there is where not legal."""
        logits = self.net(_tensor(obs.obs, self.net))
        legal = torch.as_tensor(obs.mask, dtype=torch.bool, device=logits.device)
        return logits.masked_fill(~legal, torch.finfo(logits.dtype).min), state


class ObservationCritic(torch.nn.Module):
    """The value of an observation, by a network from float32 (n, D) to (n, 1)."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, obs: Any, **_: Any) -> torch.Tensor:
        """Values (n, 1) for `Batch(obs, mask)`."""
        values: torch.Tensor = self.net(_tensor(obs.obs, self.net))
        return values


def _tensor(array: Any, net: torch.nn.Module) -> torch.Tensor:
    return torch.as_tensor(array, dtype=torch.float32, device=next(net.parameters()).device)


class VecEnv(BaseVectorEnv):
    """`num_envs` tables with a learner at each, as `solo_vec` makes them, for a `Collector`.

    `game` is a variant, or what `bideuchre_env.make` takes; the options are those of `solo_vec`,
    but for the observation and the autoreset mode, which are Tianshou's. Rewards are float64 (n,),
    `terminated` and `truncated` bool (n,), infos n dicts with "env_id". Those of an episode that
    has ended hold its "score", "hands", "winner", "outcome" and "illegal" too, and where players
    are drawn "left", "partner" and "right", who played it; those of a reset say who is to play.
    Where an episode has ended the mask is all True, since nothing is left to choose.
    """

    def __init__(
        self, game: Game, num_envs: int = 1, **options: Unpack[SoloVecGameKeywords]
    ) -> None:
        fixed = {"observation": "flat", "autoreset_mode": "Disabled", "copy": True, "device": "cpu"}
        self.tables = variant_of(game).solo_vec(
            num_envs, **with_fixed(options, "Tianshou", **fixed)
        )
        self.env_num, self.is_async, self.is_closed = num_envs, False, False
        self._seeds: list[int | None] = [None] * num_envs  # of the next reset, by table
        self._idle = np.ones(num_envs, bool)  # tables that have to be reset before the next step

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:
        """An attribute of the tables, once for each of those asked for; all have it alike."""
        names = {"observation_space": "single_observation_space"}
        names["action_space"] = "single_action_space"
        value = getattr(self.tables, names.get(key, key))
        return [value for _ in self._wrap_id(id)]

    def set_env_attr(self, key: str, value: Any, id: Any = None) -> None:
        """Refused in words: the tables have their attributes in common."""
        raise OptionError(
            f"set_env_attr({key!r}): tables are set up when they are made, by options"
        )

    def seed(self, seed: int | list[int] | None = None) -> list[Any]:
        """Seed table i with `seed` + i, or `seed[i]`, at its next reset."""
        if isinstance(seed, int):
            seed = [seed + i for i in range(self.env_num)]
        self._seeds = [None] * self.env_num if seed is None else [*seed]
        return [[each] for each in self._seeds]

    def reset(self, env_id: Any = None, **kwargs: Any) -> tuple[Batch, Array]:
        """Start episodes at all tables, or at these; `options` are those of `solo_vec`'s reset."""
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
        """One action at each table, or at these, which leaves the others to be reset.

        `IllegalActionError` for tables that have to be reset first.
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
        masks[~masks.any(axis=1)] = True  # over; DQN takes the best of these where it was cut short
        return Batch(obs=observations, mask=masks)

    def _choices_of_others(self, left_out: Array) -> Array:
        """Actions at the tables that a step leaves out: the batch steps all, so they play on."""
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
        """Every table as its `render_mode` has it."""
        return list(self.tables.render() or [])

    def close(self) -> None:
        """Let the threads go."""
        self.tables.close()
        self.is_closed = True


def _batch(observations: Array, info: dict[str, Any]) -> Batch:
    return Batch(obs=observations, mask=info["action_mask"].astype(bool))


def _infos(ids: Array, info: dict[str, Any]) -> Array:
    """What `info`, arrays by table, says of ends and players: a dict for each of these tables."""
    infos: list[dict[str, Any]] = [{"env_id": int(i)} for i in ids]
    for name in info.keys() - {"action_mask", "seat"}:
        if not name.startswith("_"):
            for each in infos:
                if info[f"_{name}"][each["env_id"]]:
                    each[name] = info[name][each["env_id"]]
    return np.array(infos, object)


class Seats:
    """The four seats of each of `num_tables` tables, as a `SeatCollector` asks for them.

    Environment 4 i + s is seat s at table i. `game` and the options are those of `vec`, but for the
    observation, which is Tianshou's.
    """

    def __init__(self, game: Game, num_tables: int = 1, **options: Unpack[VecGameKeywords]) -> None:
        fixed = {"observation": "flat", "copy": True, "device": "cpu"}
        self.tables = variant_of(game).vec(num_tables, **with_fixed(options, "Tianshou", **fixed))
        self.action_space = self.tables.single_action_space

    def __len__(self) -> int:
        return N_SEATS * self.tables.num_envs

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Batch, Array]:
        """Start games at all tables; what the seats to act see, and their environments (n,)."""
        observations, info = self.tables.reset(seed, options=options)
        return _batch(observations, info), self.ids(info)

    def ids(self, info: dict[str, Any]) -> Array:
        """The environments of the seats to act, int64 (n,)."""
        return np.arange(self.tables.num_envs) * N_SEATS + info["seat"].astype(np.int64)

    def close(self) -> None:
        """Let the threads go."""
        self.tables.close()


class SeatCollector(BaseCollector):
    """Collects the decisions of all four seats at many tables, by one policy, in self-play.

    A transition is from one decision of a seat to its own next, and its reward all that the seat
    is paid in between; an episode ends for every seat, with what it is paid last. The buffer is a
    `VectorReplayBuffer` with a part for each of `len(seats)`, and any algorithm of one agent learns
    from it. Steps are transitions, and episodes those of seats, four for each at a table.

    An episode that is cut short (by `max_hands`, say) is stored as terminated and truncated: the
    tables have dealt anew by then, so there is nothing to bootstrap from.
    """

    def __init__(self, policy: Any, seats: Seats, buffer: Any = None, **options: Any) -> None:
        super().__init__(policy, seats, buffer, **options)
        self._turns: tuple[Batch, Array] | None = None

    def reset_env(self, gym_reset_kwargs: dict[str, Any] | None = None) -> tuple[Batch, Array]:
        """Start games at all tables; what is under way at them is dropped."""
        n, width = len(self.env), int(self.env.action_space.n)
        [size] = self.env.tables.single_observation_space.shape
        self._seen = Batch(obs=np.zeros((n, size), np.float32), mask=np.zeros((n, width), bool))
        self._acts, self._paid = np.zeros(n, np.int64), np.zeros(n)
        self._pending = np.zeros(n, bool)  # with a decision that is not stored yet
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
            raise OptionError(f"render={render}: a SeatCollector does not render")
        if self._turns is None:
            raise OptionError("nothing has been dealt yet: reset() deals, or reset_before_collect")
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
        """One decision at every table: how many transitions that completes.

        Returns and lengths (m, 2) of seats' episodes that end are added to `ends`.
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
        """Store what came of the decisions of these seats: returns and lengths (m, 2) so far."""
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
