"""Games for tests: random choosers that reach every kind of hand, ways to step through, a person.

The functions for a person answer the prompts of `bideuchre play`, and play a session to a claim.
"""

import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from bideuchre_env import agents, make, variants
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.one_row import look_row, mask_row
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.play.session import Session
from bideuchre_env.records.record import GameRecord
from bideuchre_env.rules import actions

VARIANTS = tuple(variants)
SIX = VARIANTS[:6]
"""The variants without low no trump, rounds of bidding and lone bids with partner.

Tests that take seconds for each game play these only. The options of the other three are in the
random rules of `strategies.py`, in the tests of wider rules and in the cheap tests of all nine.
"""
QUICK = ("cincinnati_v0", "indiana_v0")
"""Variants that differ in deck, copies, ladder, exchange, naming, auction and no trump."""


def slow_unless(quick: Iterable[Any], cases: Iterable[Any]) -> list[Any]:
    """Parameters of an expensive test: the README's command runs the `quick` cases, CI runs all."""
    return [
        each
        if each in quick
        else pytest.param(*each if isinstance(each, tuple) else (each,), marks=pytest.mark.slow)
        for each in cases
    ]


EACH = slow_unless(QUICK, VARIANTS)
DIFFERENT = ("cincinnati_v0", "barrie_v0", "double_deck_v0")
"""Variants that differ in deck, ladder, exchange, naming, leads and ways to win."""
RED_BOWERS = [
    *(["JH", "JD", "AH", "9S", "TS", "9C"], ["KH", "TH", "QS", "KS", "AC", "TC"]),
    *(["QH", "9H", "JS", "AS", "QC", "KC"], ["9D", "TD", "QD", "KD", "AD", "JC"]),
]
"""A deal in which seat 0 has both red jacks."""
PROMPT = "help): "
OURS = ("--partner", "rule", "--opponents", "rule", "cautious", "--pause", "0", "--no-review")


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
    """Whether two values are equal, also as dicts or lists of arrays."""
    if isinstance(left, (list, tuple)):
        return type(left) is type(right) and len(left) == len(right) and all(map(same, left, right))
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


def choose(masks, step):
    """A legal action for each row by its number, mask and `step`: mostly passes and low bids."""
    u, v = np.random.default_rng(step).random((len(masks), 2)).T
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


def answer(screen: str) -> str:
    """A line for the last prompt of a screen: the first legal action, or "" for Enter."""
    lines = screen.rsplit(PROMPT, 1)[0].splitlines()
    if lines[-1].startswith("Enter"):
        return ""
    if lines[-1].startswith("Your call"):
        [calls] = re.findall(r"^You may call: (.*)", "\n".join(lines[-3:]), re.M)
        first = calls.split(", ")[0]
        return calls.partition(", as ")[2] if " with " in calls and first != "pass" else first
    if lines[-1].startswith("Your strain"):
        return "1"
    keys = lines[-3].split()  # above the cards, above the prompt
    return next(key for key in keys if key != "-")


def play_to_claim(session: Session) -> Session:
    """Play until the tricks left may be claimed; the rule player decides for the person."""
    rule, names = agents.make("rule", session.rules), actions.of(session.rules).names
    layout, tables = layout_of(session.rules), compile_tables(session.rules)
    seen, mask = np.zeros(layout.size, np.int8), np.zeros(len(names), np.int8)
    while not session.can_claim:
        assert not session.over
        session.advance()
        if session.hand_over:
            session.next_hand()
        elif session.waits_for_person and not session.can_claim:
            look_row(session.row.reshape(1), tables, layout.offsets, seen, mask)
            session.act(session.seat, names[rule.act(seen, mask)])
    return session
