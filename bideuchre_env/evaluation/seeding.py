"""Derivation of the seeds of boards and agents from the seed of a match."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bideuchre_env._checks import brief, is_whole
from bideuchre_env.agents import AgentSource, CompleteAgent, Goal, agent_of
from bideuchre_env.core.phases.deal import SEED_LIMIT, split_seed
from bideuchre_env.core.rows import deal_rows, seed_rows, start_rows
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import OptionError
from bideuchre_env.records.record import GameRecord
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules

BOARD_SEEDS = 10**9
SEED_END = SEED_LIMIT // BOARD_SEEDS

Side: TypeAlias = AgentSource | tuple[AgentSource, AgentSource]
"""The agent of both seats of a side, or a tuple of two agents as partners."""


class Partners(NamedTuple):
    """Two agents as partners: the first has seat 0 or 1 of a table, the second seat 2 or 3."""

    first: CompleteAgent
    second: CompleteAgent

    @property
    def name(self) -> str:
        """The names of both."""
        return f"{self.first.name} + {self.second.name}"


def first_seed(seed: int) -> int:
    """Return the seed of board 0 of a run; board i has this seed plus i."""
    return seed * BOARD_SEEDS


def check_seed(seed: Any, boards: int = 1) -> None:
    """Raise `OptionError` unless the seed and the number of boards are valid.

    The seed is a whole number from 0 to `SEED_END` - 1, with at most 10**9 boards.
    """
    if not is_whole(seed) or not 0 <= seed < SEED_END:
        raise OptionError(f"seed={brief(seed)}: expected a whole number from 0 to {SEED_END - 1}")
    if boards > BOARD_SEEDS:
        raise OptionError(f"{boards} boards: a seed deals at most {BOARD_SEEDS}")


def deal_boards(game: Variant, boards: int, seed: int) -> list[GameRecord]:
    """Return the deals of a match's boards as records: a hand without an action for each board.

    Board i is that of all matches with this game and seed. Raises `OptionError` for an invalid
    seed.
    """
    check_seed(seed, boards)
    rules, first = game.rules, first_seed(seed)
    states, tables = new_states(boards), compile_tables(rules)
    seed_rows(states, *split_seed(first))
    start_rows(states, tables, np.arange(boards) % N_SEATS)
    deal_rows(states, tables)
    return [
        GameRecord.from_sound_rows(states[i : i + 1], rules, game.name, seed=first + i)
        for i in range(boards)
    ]


def seat_agent(
    agent: AgentSource, rules: Rules, seed: int, place: int, single: bool
) -> CompleteAgent:
    """Return an agent for boards of one hand (`single`), with points as its goal, or for games.

    An agent made here from a name, a class or a function has a different seed for each `place` of
    a run: 0 for A and 1 for B in a match of games; on boards the first board of a block.
    """
    own = int(np.random.SeedSequence((seed, place)).generate_state(1, np.uint64)[0])
    goal: Goal = "points" if single else "game"
    return agent_of(agent, rules, seed=own, goal=goal)


def seat_side(
    side: Side, rules: Rules, seed: int, place: int, single: bool
) -> CompleteAgent | Partners:
    """Return the agent of a side, or its `Partners`, as `seat_agent` makes agents."""
    first, *others = (seat_agent(each, rules, seed, place, single) for each in members_of(side))
    return Partners(first, *others) if others else first


def members_of(side: Any) -> tuple[Any, ...]:
    """Return the agents of a side: itself, or two partners; `OptionError` for another tuple."""
    if type(side) not in (tuple, Partners):
        return (side,)
    if len(side) != 2:
        raise OptionError(f"agents {brief(side)}: expected two agents, as partners")
    return tuple(side)


def options_of(game: Variant) -> dict[str, Any]:
    """Return the options that differ from the variant's, or all of custom rules, as in records."""
    return GameRecord.from_sound_rows(new_states(0), game.rules, game.name).options
