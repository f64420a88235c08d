"""Games for tests: a random chooser that reaches every kind of hand, and ways to step through."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from bideuchre_env import make
from bideuchre_env.core.one_row import mask_row

VARIANTS = (
    "cincinnati_v0",
    "simplified_v0",
    "club_v0",
    "barrie_v0",
    "six_card_v0",
    "double_deck_v0",
)


class Chooser:
    """Choose a random legal action; bids are low or passed more often than high.

    A uniform choice among all bids would end nearly every auction near the top of the ladder. Here
    some hands are passed out, some are bid low with partner, some high or alone.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def __call__(self, env: Any) -> int:
        """A legal action of the seat to act, as a number."""
        legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"]).tolist()
        if legal[0] == 0 and len(legal) > 1:
            if self.rng.random() < 0.5:
                return 0
            legal = legal[1:]
            if self.rng.random() < 0.6:
                legal = legal[:5]
        return self.rng.choice(legal)


def mask_of(raw: Any) -> Any:
    """The mask of the seat to act, int8 (A,), computed from a raw environment's state row."""
    mask = np.zeros(len(raw.action_names), np.int8)
    mask_row(raw._states, raw._tables, mask)
    return mask


def start(rules: Any, seed: int, **options: Any) -> Any:
    """A raw environment of these rules, or of a variant of this name, dealt from this seed."""
    env = make(rules).raw_env(**options)
    env.reset(seed=seed)
    return env


def plies(env: Any, choose: Any, limit: int = 10**6) -> Iterator[tuple[Any, int]]:
    """Yield the environment and the action `choose(env)` before it is carried out.

    It ends when the game is over, or after `limit` actions.
    """
    for _ in range(limit):
        if over(env):
            return
        action = choose(env)
        yield env, action
        env.step(action)


def over(env: Any) -> bool:
    """Whether the episode is over, so that agents only step with None."""
    return not env.agents or any(env.terminations.values()) or any(env.truncations.values())


def finish(env: Any, choose: Any) -> Any:
    for _ in plies(env, choose):
        pass
    return env


def row_bytes(env: Any) -> bytes:
    """The whole state of the game, with its random stream, as bytes."""
    return rows_bytes(env.unwrapped._states)


def rows_bytes(rows: Any) -> bytes:
    """Every field of state rows as bytes, without the gaps that align them."""
    return b"".join(rows[name].tobytes() for name in rows.dtype.names)


def legal_names(env: Any) -> list[str]:
    """The names of the legal actions of the seat to act."""
    mask = env.infos[env.agent_selection]["action_mask"]
    return [env.unwrapped.action_names[i] for i in np.flatnonzero(mask)]


def act(env: Any, name: str) -> None:
    env.step(env.unwrapped.action_names.index(name))


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal, also as dicts of arrays."""
    if isinstance(left, dict):
        same_keys = isinstance(right, dict) and left.keys() == right.keys()
        return same_keys and all(same(left[k], right[k]) for k in left)
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    return bool(left == right)


def snapshot(env: Any) -> dict[str, Any]:
    """The public state of an environment, and its state row."""
    raw = env.unwrapped
    return {
        "row": row_bytes(env),
        "agents": list(env.agents),
        "turn": env.agent_selection,
        "rewards": dict(raw.rewards),
        "cumulative": dict(raw._cumulative_rewards),
        "ends": (dict(raw.terminations), dict(raw.truncations)),
        "infos": {agent: dict(info) for agent, info in raw.infos.items()},
        "seen": {agent: raw.observe(agent) for agent in raw.possible_agents},
        "record": raw.record.to_dict(),
    }
