"""The games for AgileRL: `make_vec` has a learner at each of many tables, and `make_parallel` all
four seats of one table.

AgileRL wants observations of numbers alone, and masks in the infos. Its PPO, DQN and Rainbow DQN
read the masks from there. Its IPPO draws legal actions by them, but forgets them when it learns, so
that it compares probabilities of different choices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bideuchre_env.adapters.extras import needs
from bideuchre_env.adapters.games import Game, settled, variant_of

with needs("agilerl"):
    import agilerl as agilerl

if TYPE_CHECKING:
    from bideuchre_env.envs.solo.vector_env import SoloVectorEnv


def make_vec(game: Game, num_envs: int = 1, **options: Any) -> SoloVectorEnv:
    """`num_envs` tables with a learner at each, for `collect_rollouts` and `train_on_policy`.

    `game` is a variant, or what `bideuchre_env.make` takes; the options are those of `solo_vec`,
    but for the observation and the autoreset mode, which are AgileRL's: float32 (n, D) in [-1, 1]
    with `info["action_mask"]` int8 (n, A), and episodes that begin anew in the step that ends them.
    """
    fixed = {"observation": "flat", "autoreset_mode": "SameStep", "copy": True}
    return variant_of(game).solo_vec(num_envs, **settled(options, "AgileRL", **fixed))


def make_parallel(game: Game, **options: Any) -> Any:
    """The Parallel environment of one table, for `IPPO` and AgileRL's vector environments.

    The options are those of `parallel_env`, but for the observation. Every agent has a mask in its
    info, all zeros where it is not to act; what it does then is not looked at.
    """
    return variant_of(game).parallel_env(**settled(options, "AgileRL", observation="flat"))
