"""PettingZoo's bookkeeping of a game in which all agents are done at once: who acts, who is paid.

`AECEnv` leaves it to an environment and helps with general but slow methods. Here it is done when
something changes, and everything that PettingZoo promises about it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils.env import AECIterable

from bideuchre_env.rules.cards import AGENT_NAMES

_NOTHING_PAID = dict.fromkeys(AGENT_NAMES, 0.0)
_NOBODY_DONE = dict.fromkeys(AGENT_NAMES, False)
_EVERYBODY_DONE = dict.fromkeys(AGENT_NAMES, True)


class Bookkeeping(AECEnv[str, Any, Any]):
    """`agents`, `agent_selection`, `rewards`, `terminations`, `truncations` and `infos`.

    `_actor` is the agent that may act, None when nobody may: before the first game, and while the
    agents of one that is over take their leave, each by a step with None.
    """

    agent_selection: str
    _actor: str | None = None

    def _begin_bookkeeping(self) -> None:
        """Start a game with all agents, in which nobody is to act yet."""
        self.agents = list(AGENT_NAMES)
        self.rewards = _NOTHING_PAID.copy()
        self._cumulative_rewards = _NOTHING_PAID.copy()
        self.terminations = _NOBODY_DONE.copy()
        self.truncations = _NOBODY_DONE.copy()
        self.infos: dict[str, dict[str, Any]] = {agent: self._info() for agent in AGENT_NAMES}
        self._skip_agent_selection: str | None = None
        self._paid = False  # whether there is anything in `rewards`

    def _info(self) -> dict[str, Any]:
        """The info of an agent that is not to act."""
        return {}

    def _require_game(self) -> None:
        """Raise `OptionError` before the first reset."""
        raise NotImplementedError

    def _pay(self, earned: float) -> None:
        """Enter what side 0 has earned, and side 1 lost."""
        for seat, agent in enumerate(AGENT_NAMES):
            reward = -earned if seat & 1 else earned
            self.rewards[agent] = reward
            self._cumulative_rewards[agent] += reward
        self._paid = True

    def _clear_rewards(self) -> None:
        for agent in self.rewards:
            self.rewards[agent] = 0.0
        self._paid = False

    def _end_bookkeeping(self, truncated: bool) -> None:
        """The game is over, or cut short, for everybody."""
        if truncated:
            self.truncations = _EVERYBODY_DONE.copy()
        else:
            self.terminations = _EVERYBODY_DONE.copy()
        self._actor = None
        self._deads_step_first()

    def _forfeit(self, penalty: float) -> None:
        """End the game for everybody, with this reward for the agent to act and 0 for the others.

        Everybody is both terminated and truncated, as PettingZoo has it after an illegal action.
        Nobody is to act any more, so no info says that something is legal.
        """
        culprit = self.agent_selection
        self.infos[culprit] = self._info()
        self._clear_rewards()
        self.rewards[culprit] = penalty
        self._paid = True
        self._cumulative_rewards[culprit] = penalty
        self.terminations = _EVERYBODY_DONE.copy()
        self._end_bookkeeping(truncated=True)

    def _was_dead_step(self, action: Any) -> None:
        """Remove the agent to act, whose game is over."""
        super()._was_dead_step(action)
        self._actor = None  # also where the game was ended from outside

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Any, Any]:
        """The agent to act, at most `max_iter` times, until nobody is left; `step` in between."""
        self._require_game()
        return Turns(self, max_iter)

    def _copy_bookkeeping(self, other: Bookkeeping) -> None:
        """Copy the bookkeeping of another game."""
        self.agents = other.agents.copy()
        for name in ("rewards", "_cumulative_rewards", "terminations", "truncations"):
            setattr(self, name, getattr(other, name).copy())
        self.infos = {
            agent: {name: mask.copy() for name, mask in info.items()}
            for agent, info in other.infos.items()
        }


class Turns(AECIterable[str, Any, Any]):
    """The iterator of `agent_iter`: the agents in the order of PettingZoo's own, sooner."""

    def __iter__(self) -> Iterator[str]:
        env, left = self.env, self.max_iter
        while left > 0 and env.agents:
            left -= 1
            yield env.agent_selection
