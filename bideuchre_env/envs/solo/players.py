"""Who plays with and against a lone learner: partner and opponents, by name, made, or as given."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bideuchre_env import agents
from bideuchre_env._checks import shown, whole_numbers
from bideuchre_env.agents import Agent, CompleteAgent, Goal
from bideuchre_env.agents.making import acts
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.envs.solo.rows import CAUTIOUS, NET, RANDOM, RULE, SOMEBODY
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

if TYPE_CHECKING:
    from bideuchre_env.agents.learned.net import NetWorkspace

BUILT_IN = {"random": RANDOM, "cautious": CAUTIOUS, "rule": RULE}


_NET = "bideuchre_env.agents.learned.net"


class Player:
    """One of those that play beside learners; `kind` is what the kernels know it as.

    Kernels play a net of any options: by name, as an agent, or the class `NetAgent`. What a class
    or function of somebody's own makes may change, so that is asked.

    `spec` is a name as `agents.make` takes it, an agent, a function that acts, or a class or
    function that makes one. An agent made here plays for the `goal`, and is made anew by every
    `renew`. Agents see int8 observations; a function that acts sees what a learner does, with
    `observation` "flat" the scaled ones.
    """

    def __init__(
        self,
        option: str,
        spec: Any,
        rules: Rules,
        goal: Goal | None = None,
        entropy: list[int] | None = None,
        observation: str = "dict",
    ) -> None:
        self.option, self.spec, self.rules, self.goal = option, spec, rules, goal
        self.kind = BUILT_IN.get(spec, SOMEBODY) if isinstance(spec, str) else SOMEBODY
        self.agent: CompleteAgent | None = None
        self._made = isinstance(spec, (str, type)) or not isinstance(spec, Agent)
        if self._made and not isinstance(spec, str) and not callable(spec):
            raise OptionError(
                f"{option}={shown(spec)}: the name of an agent ({', '.join(agents.names())}), an "
                "agent, a function (observation, mask) -> action, or what makes an agent"
            )
        if not self._made:
            self.agent = agents.agent_of(spec, rules)
        self.renew(entropy)
        if self._is_net():
            self.kind = NET
        self._sees_flat = observation == "flat" and acts(spec)

    def _is_net(self) -> bool:
        """Whether this is a net, and will be the same one whenever it is made anew."""
        if _NET not in sys.modules:
            return False
        net = sys.modules[_NET]
        known = isinstance(self.spec, str) and self.spec.partition(":")[0] == net.KIND
        return (not self._made or known or self.spec is net.NetAgent) and (
            type(self.agent) is net.NetAgent
        )

    def renew(self, entropy: list[int] | None) -> None:
        """Make the agent anew, its seed drawn from these numbers, unless it is not ours to make."""
        if not self._made or self.kind != SOMEBODY:
            return
        seed = None
        if entropy is not None:
            seed = int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])
        self.agent = agents.agent_of(self.spec, self.rules, seed=seed, goal=self.goal)

    def workspace(self) -> NetWorkspace:
        """What a net decides by, for one thread."""
        assert self.kind == NET
        return cast(Any, self.agent).workspace()  # type: ignore[no-any-return]

    def answers(self, observations: Array, masks: Array) -> Array:
        """The agent's choices for rows of observations, int64 (m,), not yet checked to be legal.

        Raises `IllegalActionError` unless it gives whole numbers of that shape.
        """
        assert self.agent is not None
        if self._sees_flat:
            observations = layout_of(self.rules).scaled(observations)
        choices = self.agent.act_rows(observations, masks)
        where = f"{self.option}: agent {self.agent.name!r}: act_rows"
        return whole_numbers(where, choices, len(observations))

    @property
    def name(self) -> str:
        """The player's name."""
        return self.spec if self.agent is None else self.agent.name
