"""`env()`: a raw environment with the behaviour of PettingZoo's standard wrappers in one layer.

Exceptions, messages, log lines and bookkeeping are those of `OrderEnforcingWrapper` around this
game's bounds check around `TerminateIllegalWrapper`; a test compares them. A single layer saves
nine tenths of the time of a step. There are three differences: legality is decided by the game,
never by a mask that a caller may have overwritten; after an illegal action no info has a mask; and
`last` after the end of a game raises `OptionError`, not `KeyError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from bideuchre_env.envs.aec.bookkeeping import Turns
from bideuchre_env.envs.aec.env import BidEuchreEnv
from bideuchre_env.envs.face import Observation, default_illegal_reward, whole_action
from bideuchre_env.errors import IllegalActionError, OutOfBoundsError


def _raw_attribute(name: str) -> property:
    """Return a property for an attribute of the raw environment.

    Reading it before the first reset raises `AttributeError`.
    """

    def read(wrapper: Any) -> Any:
        if not wrapper._has_reset:
            raise AttributeError(f"{name} cannot be accessed before reset")
        return getattr(wrapper.env, name)

    def write(wrapper: Any, value: Any) -> None:
        setattr(wrapper.env, name, value)

    return property(read, write, doc=f"`{name}` of the raw environment.")


class WrappedEnv(OrderEnforcingWrapper[str, Any, Any]):
    """A `BidEuchreEnv` with the behaviour of PettingZoo's standard wrappers.

    Observing or stepping before the first reset raises PettingZoo's errors. An action that does not
    exist raises `OutOfBoundsError`. An illegal action is logged, ends the episode for all agents,
    and its agent's reward is minus an upper bound of the loss of an episode. `unwrapped` is the raw
    environment, which raises instead. Spaces, rewards and the end of an episode are described in
    `BidEuchreEnv`.
    """

    env: BidEuchreEnv
    agents = _raw_attribute("agents")
    agent_selection = _raw_attribute("agent_selection")
    rewards = _raw_attribute("rewards")
    terminations = _raw_attribute("terminations")
    truncations = _raw_attribute("truncations")
    infos = _raw_attribute("infos")

    @property
    def unwrapped(self) -> BidEuchreEnv:
        """The raw environment."""
        return self.env

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game, as `BidEuchreEnv.reset` does."""
        self.env.reset(seed, options)
        self._has_reset = self._has_updated = True

    def step(self, action: Any) -> None:
        """Apply the action of `agent_selection`; None for an agent whose game is over.

        Illegal actions are described in `WrappedEnv`. Any action but None for an agent whose game
        is over raises `ValueError`. If no agent is left, a warning is logged.
        """
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        raw = self.env
        if raw._actor is None:
            self._step_done(action)
            return
        try:
            raw.step(action)
        except OutOfBoundsError:
            raise
        except IllegalActionError:
            EnvLogger.warn_on_illegal_move()
            raw._forfeit(default_illegal_reward(raw.rules, raw.episode, raw.reward))

    def _step_done(self, action: Any) -> None:
        if not self.env.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        if action is not None:
            who = f"{self.env.agent_selection}: "
            whole_action(action, self.env.rules, who, self.env._states)
        self.env.step(action)

    def last(self, observe: bool = True) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """See `BidEuchreEnv.last`; `AttributeError` before the first reset."""
        if not self._has_reset:
            raise AttributeError("agent_selection cannot be accessed before reset")
        return self.env.last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Turns:
        """Return an iterable of the agent to act: at most `max_iter` times, while agents are left.

        Iterating raises `AssertionError` unless `step` or `reset` was called since the last agent.
        Before the first reset, this method raises `AttributeError`.
        """
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return WrappedTurns(self, max_iter)

    def __repr__(self) -> str:
        return repr(self.env)

    def __str__(self) -> str:
        return str(self.env)


class WrappedTurns(Turns):
    """`Turns` that require a step or a reset between one agent and the next."""

    def __iter__(self) -> Iterator[str]:
        wrapped, raw, left = self.env, self.env.env, self.max_iter
        while left > 0 and raw.agents:
            left -= 1
            agent = raw.agent_selection
            if not wrapped._has_updated:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            wrapped._has_updated = False
            yield agent
