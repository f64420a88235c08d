"""`Players`: the agents and advisers of a game, and claims; none of their errors names a card."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bideuchre_env._checks import brief, printable
from bideuchre_env.agents.advice import Advice, Advisor
from bideuchre_env.agents.advice.advising import people_chances
from bideuchre_env.agents.random_agents import RandomAgent
from bideuchre_env.agents.rule.certain import claim
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.one_row import look_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.table.answers import require_legal
from bideuchre_env.core.view import new_view
from bideuchre_env.errors import AgentError, BidEuchreError, IllegalActionError
from bideuchre_env.evaluation.lockstep import choices_of
from bideuchre_env.evaluation.seeding import seat_agent
from bideuchre_env.records.record import PlayedHand
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

_ROW_0 = np.zeros(1, np.int64)


class Players:
    """The agents of a game in row 0 of `states`, by seat; each sees only its own observation.

    `names` are the agents by seat; `seed` fixes their random choices.
    """

    def __init__(
        self, names: Mapping[int, str], rules: Rules, seed: int, states: Array, tables: Array
    ) -> None:
        self._rules, self._seed, self._states, self._tables = rules, seed, states, tables
        self._agents = {
            seat: seat_agent(name, rules, seed, seat, single=False) for seat, name in names.items()
        }
        self._people = [seat for seat in range(N_SEATS) if seat not in names]
        for seat, agent in self._agents.items():
            if hasattr(agent, "expect_people"):
                agent.expect_people(np.roll(people_chances(self._people), -seat))
        layout = layout_of(rules)
        self._seen = np.zeros((1, layout.size), np.int8)
        self._mask = np.zeros((1, actions.of(rules).n), np.int8)
        self.view = layout.offsets, self._seen[0], self._mask[0]
        """Arguments of kernels that write the observation and the mask of the seat to act."""
        self._claim_view = new_view()
        self._advisers: dict[str, Advisor] = {}
        self._learned: dict[str, list[bytes]] = {}  # hands from which each has learned

    def decision(self, seat: int, hand: int, decisions: int) -> int:
        """Return the action of the agent whose turn it is, as a number; `AgentError` if it fails.

        `hand` is for the message; `decisions`, the number of actions so far, determines the choices
        of an agent that acts at random, so that they are the same after an undo.
        """
        agent = self._agents[seat]
        if isinstance(agent, RandomAgent):
            agent.generator = np.random.default_rng((self._seed, seat, decisions))
        look_row(self._states, self._tables, *self.view)
        try:
            choices = choices_of(agent, self._seen.copy(), self._mask.copy())
            rows = self._states, self._tables, _ROW_0
            require_legal(self._rules, *rows, choices, lambda j, row: agent.name)
            return int(choices[0])
        except BidEuchreError as error:
            where = f"agent {brief(agent.name)} (seat {seat}) has failed in hand {hand}"
            raise AgentError(f"{where}: {_without_cards(error)}") from error

    def certain(self) -> int:
        """Return an action of the seat to act that is certain to win all tricks left, or -1."""
        return int(claim(self._states, self._tables, self._claim_view))

    def lowest(self) -> int:
        """Return the lowest legal card of the seat to act, as an action."""
        look_row(self._states, self._tables, *self.view)
        return int(self._mask[0].nonzero()[0][-1])

    def advice(self, agent: str, ended: Sequence[PlayedHand]) -> Advice:
        """Return an agent's advice for the seat to act; `AgentError` if a custom agent fails.

        The hands that have `ended` show how the others call.
        """
        try:
            hands = [hand.dealt + hand.actions.tobytes() for hand in ended]
            learned = self._learned.get(agent, [])
            # an undone hand cannot be unlearned
            if agent not in self._advisers or learned != hands[: len(learned)]:
                self._advisers[agent] = Advisor(self._rules, agent, people=self._people)
                learned = []
            advisor = self._advisers[agent]
            for hand in ended[len(learned) :]:
                advisor.learn(rows_of([hand.dealt]), hand.actions)
            self._learned[agent] = hands
            return advisor.of_row(self._states[0])
        except BidEuchreError:
            raise
        except Exception as error:
            raise AgentError(f"agent {brief(agent)} has failed: {_without_cards(error)}") from error


def _without_cards(error: BaseException) -> str:
    """Describe an agent's error without its message, which may name hidden cards."""
    if isinstance(error, IllegalActionError):
        return "it chose no legal action"
    cause = error.__cause__ or error
    places = traceback.extract_tb(cause.__traceback__)[-1:]  # none if it was never raised
    where = [f" in {printable(Path(each.filename).name)}, line {each.lineno}" for each in places]
    return type(cause).__name__ + "".join(where)
