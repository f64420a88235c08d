"""Games for tests: random choosers that reach every kind of hand, and ways to step through."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from bideuchre_env import make, variants
from bideuchre_env.core.one_row import mask_row
from bideuchre_env.records.record import GameRecord

VARIANTS = tuple(variants)
DIFFERENT = ("cincinnati_v0", "barrie_v0", "double_deck_v0")
"""Variants that differ in deck, ladder, exchange, naming, leads and ways to win."""


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
    """Yield the environment and its next action, until the game is over or `limit` is reached."""
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


def draws(rows, step):
    """A uniform number below 1 for each row, float64 (rows,), by a hash of row and `step`."""
    with np.errstate(over="ignore"):
        x = np.arange(rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x += np.uint64(step + 1) * np.uint64(0xD1342543DE82EF95)
        for shift in (32, 29, 32):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(0xD6E8FEB86659FD93)
    return (x >> np.uint64(11)) / 2.0**53


def choose(masks, step):
    """A legal action for each row by its number, mask and `step`: mostly passes and low bids."""
    u, v = draws(len(masks), 2 * step), draws(len(masks), 2 * step + 1)
    counts = masks.sum(axis=1)
    bids = (masks[:, 0] == 1) & (counts > 1)
    most = np.where(bids & (v < 0.3), np.minimum(counts, 6), counts)
    k = (u * most).astype(np.int64)
    k[bids & (v >= 0.5)] = 0
    return (masks.cumsum(axis=1, dtype=np.int64) > k[:, np.newaxis]).argmax(axis=1)


class Caller(Chooser):
    """Choose at random, but often a bid with an exchange of cards, if one is legal."""

    def __call__(self, env: Any) -> int:
        calls = [name for name in legal_names(env) if name.startswith("bid call-")]
        if calls and self.rng.random() < 0.4:
            return int(env.action_names.index(self.rng.choice(calls)))
        return super().__call__(env)


def game(name: str, seed: int = 5, hands: int = 4, agents: list[str] | None = None) -> GameRecord:
    """A game of a variant with at most `hands` hands."""
    record: GameRecord = finish(start(name, seed, max_hands=hands), Caller(seed)).record
    record.agents = agents
    return record
