"""Agent `player`: the calls of one agent, the cards of another, the last tricks of a third."""

from __future__ import annotations

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.making import make
from bideuchre_env.agents.protocols import AgentInfo, Goal, check_range
from bideuchre_env.agents.registry import BUILT_IN, STYLES
from bideuchre_env.core.state import Phase
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import MAX_TRICKS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

LAST = 5  # tricks at the end of a hand: those that `expert` searches


class PlayerAgent(RowAgent):
    """Combines agents of the package, each of which decides in its part of a hand.

    Args:
        rules: the rules of the game.
        seed: passed to the agents.
        calls: the agent that makes the calls and names the strain. Required.
        cards: the agent that chooses the cards, those of an exchange included. Required.
        ending: the agent that chooses the cards of the last tricks. None: that of `cards`.
        tricks: the number of last tricks, 1 to 12.
        goal: passed to the agents. None: their default.

    Raises:
        OptionError: a name is not that of an agent of the package, or an option is invalid.
    """

    name = "player"
    info = AgentInfo(
        "Combines agents: the calls of one, the cards of another, the last tricks of a third.",
        {
            "calls": "agent that makes calls and names strains",
            "cards": "agent that chooses cards",
            "ending": "agent that chooses the cards of the last tricks (default: that of cards)",
            "tricks": "number of these tricks",
        },
    )

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int | None = None,
        calls: str | None = None,
        cards: str | None = None,
        ending: str | None = None,
        tricks: int = LAST,
        goal: Goal | None = None,
    ) -> None:
        super().__init__(rules, seed)
        self.tricks = check_range("tricks", tricks, 1, MAX_TRICKS)
        if calls is None or cards is None:
            raise OptionError("expected calls and cards, as player:calls=expert,cards=net")
        chosen = {"calls": calls, "cards": cards, "ending": cards if ending is None else ending}
        for option, name in chosen.items():
            own = name.partition(":")[0] if isinstance(name, str) else name
            if own not in (*BUILT_IN, *STYLES):
                raise OptionError(f"{option}={brief(name)}: expected one of {', '.join(BUILT_IN)}")
        made = {name: make(name, rules, seed=seed, goal=goal) for name in chosen.values()}
        self.parts = [made[name] for name in chosen.values()]
        if sizes := [agent.at_once for agent in self.parts if hasattr(agent, "at_once")]:
            self.at_once = min(sizes)
        self._first_card = actions.of(rules).card_offset
        self._hand, self._play = self.layout["hand"], self.layout["phase"].start + Phase.PLAY

    @property
    def callers(self) -> str | None:
        """The option `callers` of the first part that sets it, else None."""
        set_by = (getattr(agent, "callers", None) for agent in self.parts)
        return next((callers for callers in set_by if callers is not None), None)

    def expect_people(self, chances: Array | float) -> None:
        """Make all parts that have this method expect people as callers, with these chances."""
        for agent in self.parts:
            if hasattr(agent, "expect_people"):
                agent.expect_people(chances)

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """Return a legal action for every row; int64 (n,)."""
        choices = np.empty(len(observations), np.int64)
        cards = action_masks[:, self._first_card :].any(axis=1)
        last = observations[:, self._hand].sum(axis=1) <= self.tricks
        last &= observations[:, self._play] == 1
        parts = np.where(cards, np.where(last, 2, 1), 0)
        for part, agent in enumerate(self.parts):
            rows = parts == part
            if rows.any():
                choices[rows] = agent.act_rows(observations[rows], action_masks[rows])
        return choices
