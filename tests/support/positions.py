"""Positions by name: named cards and actions through the real core, and a player's choice.

Seat 0 deals unless said otherwise, so seat 1 is eldest hand; cards nobody is given are dealt out
from the lowest up.
"""

from __future__ import annotations

import numpy as np
import pytest

from bideuchre_env import agents, solver
from bideuchre_env.core import one_row
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.observation.resample import new_redeal, resample_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES, hand_bits, parse_card
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES

CINCINNATI, BARRIE = RULES["cincinnati_v0"], RULES["barrie_v0"]
SIX_CARD, CLUB = RULES["six_card_v0"], RULES["club_v0"]
SIMPLIFIED = RULES["simplified_v0"]

BOTH = pytest.mark.parametrize("agent", ["rule", "expert"])
"""A situation for the two players that decide at once."""


class Position:
    """A game at the table: `do` plays actions by name, `choice` asks the agent of this name."""

    def __init__(
        self,
        rules: Rules,
        hands: dict[int, str],
        *,
        dealer: int = 0,
        score: tuple[int, int] = (0, 0),
        played: int = 0,
        agent: str = "rule",
    ) -> None:
        self.rules, self.tables, self.layout = rules, compile_tables(rules), layout_of(rules)
        self.names = actions.of(rules).names
        self.states = new_states(1)
        seed_rows(self.states, *split_seed(1))
        start_rows(self.states, self.tables, np.array([dealer]))
        deal_rows(self.states, self.tables)
        self.states["hands"][0] = deal_out(rules, hands)
        self.states["score"][0] = score
        self.states["hands_played"] += played  # hands of the game that lie behind
        self.states["hands_dealt"] += played
        self.agent = agents.make(agent, rules)

    def do(self, text: str) -> Position:
        """Carry out actions, separated by commas or, for cards, by spaces."""
        for part in text.split(","):
            part = part.strip()
            words = part.split() if part.split()[0] in CARD_NAMES else [part]
            for word in words:
                action = self.names.index(word)
                _, mask = self.look()
                assert mask[action], f"{word} is not legal: {self.legal()}"
                one_row.step_row(self.states, self.tables, action)
        return self

    def look(self) -> tuple[np.ndarray, np.ndarray]:
        """What the seat to act sees, and its mask."""
        row = np.zeros((1, self.layout.size), np.int8)
        mask = np.zeros((1, len(self.names)), np.int8)
        encode_rows(self.states, self.tables, self.layout.offsets, np.zeros(1, np.int64), row, mask)
        return row[0], mask[0]

    def legal(self) -> list[str]:
        return [self.names[i] for i in np.flatnonzero(self.look()[1])]

    def choice(self) -> str:
        return self.names[self.agent.act(*self.look())]

    def choices(self, n: int) -> list[str]:
        """The next n actions of the agent, carried out."""
        chosen = []
        for _ in range(n):
            chosen.append(self.choice())
            self.do(chosen[-1])
        return chosen


def deal_out(rules: Rules, hands: dict[int, str]) -> list[int]:
    kinds = {seat: [parse_card(card) for card in text.split()] for seat, text in hands.items()}
    left = [kind for kind in range(rules.kinds) for _ in range(rules.copies)]
    for held in kinds.values():
        for kind in held:
            left.remove(kind)
    for seat in range(4):
        held = kinds.setdefault(seat, [])
        while len(held) < rules.tricks:
            held.append(left.pop())
    return [hand_bits(kinds[seat]) for seat in range(4)]


def redrawn(position: Position, deals: int, seed: int) -> np.ndarray:
    """State rows (deals,) of a position with all that the seat to act cannot know drawn anew."""
    rows, twin = np.repeat(position.states, deals), position.states.copy()
    scratch = new_redeal()
    for i in range(deals):
        twin[:] = position.states
        low, high = split_seed(seed + i)
        resample_row(twin, position.tables, int(twin["turn"][0]), scratch, low, high)
        rows[i] = twin[0]
    return rows


def gain(position: Position, card: str, other: str, deals: int = 400) -> tuple[float, float]:
    """Tricks one card takes beyond another by best play of all, and the standard error.

    Over deals that agree with what the seat knows, all hands seen once the card is played.
    """
    rows = redrawn(position, deals, seed=0)
    tricks = solver.solve_batch(rows, position.rules, moves=True, threads=1).astype(float)
    more = tricks[:, parse_card(card)] - tricks[:, parse_card(other)]
    return float(more.mean()), float(more.std(ddof=1) / np.sqrt(deals))
