"""The games for AgileRL: `make_vec` has a learner at each of many tables, `Parallel` all four seats
of one table, and `ParallelVec` those of many.

AgileRL wants observations of numbers alone, and masks in the infos. Its PPO, DQN, Rainbow DQN and
IPPO choose by the masks there. What AgileRL 2.58 then learns is another matter:

- the GAE of its PPO reads the end of an episode a step late, so that what is paid last reaches no
  earlier decision; `rollout_buffer_config={"use_gae": False}`, the returns themselves, is right;
- the targets of its DQN and Rainbow DQN take the best of all actions that follow, legal or not;
- its IPPO forgets the masks when it learns.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from pettingzoo.utils.wrappers import BaseParallelWrapper

from bideuchre_env.adapters.common import Game, needs, variant_of, with_fixed
from bideuchre_env.envs.checks import parse_count
from bideuchre_env.envs.options import EnvGameKeywords, SoloVecGameKeywords

with needs("agilerl"):
    import agilerl.algorithms  # noqa: F401  # which need peft, though AgileRL does not say so
    from agilerl.vector.pz_async_vec_env import AsyncPettingZooVecEnv

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bideuchre_env.envs.solo.vector_env import SoloVectorEnv


def make_vec(
    game: Game, num_envs: int = 1, **options: Unpack[SoloVecGameKeywords]
) -> SoloVectorEnv:
    """`num_envs` tables with a learner at each, for `collect_rollouts` and `train_on_policy`.

    `game` is a variant, or what `bideuchre_env.make` takes; the options are those of `solo_vec`,
    but for the observation and the autoreset mode, which are AgileRL's: float32 (n, D) in [-1, 1]
    with `info["action_mask"]` int8 (n, A), and episodes that begin anew in the step that ends them.
    """
    fixed = {"observation": "flat", "autoreset_mode": "SameStep", "copy": True, "device": "cpu"}
    return variant_of(game).solo_vec(num_envs, **with_fixed(options, "AgileRL", **fixed))


class Parallel(BaseParallelWrapper[str, Any, Any]):
    """The Parallel environment of one table, for `IPPO`; seats act in turn.

    For many tables take `ParallelVec`: in a bare `AsyncPettingZooVecEnv` IPPO fails on the masks.

    The options are those of `parallel_env`, but for the observation. Observations are float32 (D,);
    every agent's info has an "action_mask", a list of A numbers, all 0 where it is not to act. What
    it does then is not looked at.
    """

    def __init__(self, game: Game, **options: Unpack[EnvGameKeywords]) -> None:
        super().__init__(
            variant_of(game).parallel_env(**with_fixed(options, "AgileRL", observation="flat"))
        )

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Deal: observations and infos by agent."""
        observations, infos = super().reset(seed, options)
        return observations, _listed(infos)

    def step(self, actions: dict[str, Any]) -> tuple[Any, Any, Any, Any, dict[str, dict[str, Any]]]:
        """Carry out the action of the seat to act: what PettingZoo's Parallel environments give."""
        *result, infos = super().step(actions)
        observations, rewards, terminations, truncations = result
        return observations, rewards, terminations, truncations, _listed(infos)


def _listed(infos: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The infos with masks as lists: of arrays IPPO asks whether they are None, and fails."""
    return {
        agent: {**info, "action_mask": info["action_mask"].tolist()}
        for agent, info in infos.items()
    }


class ParallelVec(AsyncPettingZooVecEnv):
    """`num_envs` tables as `Parallel`, each in a process of its own, for `IPPO`.

    Every agent's info has an "action_mask", a list of num_envs * A numbers, table by table: IPPO
    fails on arrays ("The truth value of an array with more than one element is ambiguous"), and
    gives a list the shape that it needs.
    """

    def __init__(self, game: Game, num_envs: int = 1, **options: Unpack[EnvGameKeywords]) -> None:
        variant = variant_of(game)
        super().__init__([lambda: Parallel(variant, **options)] * parse_count(num_envs))

    def reset_wait(self, timeout: float | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """What `AsyncPettingZooVecEnv` gives, with masks that IPPO reads."""
        observations, infos = super().reset_wait(timeout)
        return observations, _joined(infos)

    def step_wait(self, timeout: float | None = None) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """What `AsyncPettingZooVecEnv` gives, with masks that IPPO reads."""
        *result, infos = super().step_wait(timeout)
        observations, rewards, terminations, truncations = result
        return observations, rewards, terminations, truncations, _joined(infos)


def _joined(infos: dict[str, Any]) -> dict[str, Any]:
    """The infos by agent, whose masks, a list for each table, are one list."""
    return {
        agent: {**info, "action_mask": [*chain(*info["action_mask"])]}
        for agent, info in infos.items()
        if isinstance(info, dict)
    }
