"""PettingZoo's bookkeeping for a game that ends for all agents at once: selection and rewards.

`AECEnv` has general but slow helper methods for it. Here attributes are updated only when they
change, and they conform to PettingZoo's API.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils.env import AECIterable

from bideuchre_env.rules.cards import AGENT_NAMES

_NOTHING_PAID = dict.fromkeys(AGENT_NAMES, 0.0)
_ALL_ACTIVE = dict.fromkeys(AGENT_NAMES, False)
_EVERYBODY_DONE = dict.fromkeys(AGENT_NAMES, True)


class Bookkeeping(AECEnv[str, Any, Any]):
    """`agents`, `agent_selection`, `rewards`, `terminations`, `truncations` and `infos`.

    `_actor` is the agent to act; None before the first game, and while the agents of a finished
    game are removed by `step(None)`.
    """

    agent_selection: str
    _actor: str | None = None

    def _begin_bookkeeping(self) -> None:
        """Start a game with all agents; no agent is to act yet."""
        self.agents = list(AGENT_NAMES)
        self.rewards = _NOTHING_PAID.copy()
        self._cumulative_rewards = _NOTHING_PAID.copy()
        self.terminations = _ALL_ACTIVE.copy()
        self.truncations = _ALL_ACTIVE.copy()
        self.infos: dict[str, dict[str, Any]] = {agent: self._info() for agent in AGENT_NAMES}
        self._skip_agent_selection: str | None = None
        self._paid = False  # whether `rewards` has any entry but 0

    def _info(self) -> dict[str, Any]:
        """The info of an agent that is not to act."""
        return {}

    def _require_game(self) -> None:
        """Raise `OptionError` before the first reset."""
        raise NotImplementedError

    def _pay(self, earned: float) -> None:
        """Set the rewards to `earned` for side 0 and its negative for side 1.

        They are also added to the cumulative rewards.
        """
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
        """Mark the game as truncated, or else terminated, for all agents; select the first one."""
        if truncated:
            self.truncations = _EVERYBODY_DONE.copy()
        else:
            self.terminations = _EVERYBODY_DONE.copy()
        self._actor = None
        self._deads_step_first()

    def _forfeit(self, penalty: float) -> None:
        """End the game after an illegal action of the selected agent, whose reward is `penalty`.

        `penalty` also replaces its cumulative reward. The others' rewards are 0; their cumulative
        rewards stay. As in PettingZoo, all agents are then both terminated and truncated.
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
        """Remove the selected agent, whose game is over; `ValueError` unless `action` is None."""
        super()._was_dead_step(action)
        self._actor = None  # also if a caller has ended the game

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Any, Any]:
        """Return an iterable of the agent to act: at most `max_iter` times, while agents are left.

        Raises `OptionError` before the first reset.
        """
        self._require_game()
        return Turns(self, max_iter)

    def _copy_bookkeeping(self, other: Bookkeeping) -> None:
        """Copy the agents, rewards, ends and infos of another game, so that no container is shared.

        Other attributes, such as the selected agent, are not copied here.
        """
        self.agents = other.agents.copy()
        for name in ("rewards", "_cumulative_rewards", "terminations", "truncations"):
            setattr(self, name, getattr(other, name).copy())
        self.infos = {
            agent: {name: copy(value) for name, value in info.items()}
            for agent, info in other.infos.items()
        }


class Turns(AECIterable[str, Any, Any]):
    """The iterator of `agent_iter`: PettingZoo's order, with less work per step."""

    def __iter__(self) -> Iterator[str]:
        env, left = self.env, self.max_iter
        while left > 0 and env.agents:
            left -= 1
            yield env.agent_selection
