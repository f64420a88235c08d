"""Make agents from names, classes and functions, and complete agents that lack a method or name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from inspect import Parameter, signature
from operator import index
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import MAX_NAME, did_you_mean, is_plain_name, shown
from bideuchre_env.agents.protocols import Agent, AgentInfo, check_goal
from bideuchre_env.agents.registry import BUILT_IN, find, load_or_explain, parse
from bideuchre_env.errors import IllegalActionError, OptionError

if TYPE_CHECKING:
    from bideuchre_env.agents.protocols import AgentSource, CompleteAgent, Factory, Goal
    from bideuchre_env.rules.rules import Rules
    from bideuchre_env.runtime.jit import Array

_CONTEXT = ("rules", "seed", "goal")  # passed to a factory that has parameters of these names


def make(
    name: str,
    rules: Rules,
    *,
    seed: int | None = None,
    goal: Goal | None = None,
    **options: Any,
) -> CompleteAgent:
    """Return an agent by name for these `Rules`: `"rule"`, `"./mine.py:Net:weights=a.npz"`.

    `seed` fixes the choices of agents that choose at random. `goal` is the objective of agents that
    have this option. `options` are the agent's own, such as `worlds=50` for "pimc". They may stand
    in the name instead, "pimc:worlds=50", which is then the name of the agent. Raises `OptionError`
    for an unknown name, for a file or module that raises an error, for an option that the agent
    does not have or that cannot be written in a name, and for options in both places.
    """
    own, written = parse(name)
    if written and options:
        raise OptionError(
            f"{shown(name)} and {', '.join(options)} besides: options stand in the name or are "
            "keywords, not both"
        )
    source = find(own)
    options = options or written
    if not _is_factory(source, options):
        if options:
            raise OptionError(f"{shown(name)}: {own!r} is an agent already, and takes no options")
        return completed(source, rules, own)
    _check_options(own, source, options, in_name=bool(written))
    call = partial(_call_factory, own, source, rules, seed, goal, options)
    agent = call() if own in BUILT_IN else load_or_explain(name, call)
    return completed(agent, rules, own, called=name if ":" in name else None)


def agent_of(
    source: AgentSource, rules: Rules, *, seed: int | None = None, goal: Goal | None = None
) -> CompleteAgent:
    """Return an agent for these rules from a name, a factory, an agent, or a function that acts.

    A factory is a class or function that is called with `rules`, `seed` and `goal`, without those
    that it has no parameter for. A function with two required parameters of other names is called
    with an observation and its mask, and returns the action. Raises `OptionError` for anything
    else.
    """
    if isinstance(source, str):
        return make(source, rules, seed=seed, goal=goal)
    if _is_factory(source):
        factory: Any = source
        call = partial(_call_factory, shown(factory), factory, rules, seed, goal, {})
        return completed(load_or_explain(shown(factory), call), rules)
    return completed(source, rules)


def completed(
    agent: Any, rules: Rules, name: str | None = None, *, called: str | None = None
) -> CompleteAgent:
    """Return an agent with `act`, `act_rows` and `name`; the same object if it has them.

    Its name is `called`, or else its own `name`, or else the `name` given here or its class.
    Raises `OptionError` for an object that is no agent for these rules.
    """
    if acts(agent):
        name = name or getattr(agent, "__name__", None)
    elif isinstance(agent, type) or not isinstance(agent, Agent):
        raise OptionError(f"agent {shown(agent)}: a name, or an object with act_rows or act")
    own = called or getattr(agent, "name", None)
    if called or own is None:
        own = called or name or type(agent).__name__
        if len(own) > MAX_NAME:
            own = "..." + own[3 - MAX_NAME :]  # the end tells checkpoints apart
    if not is_plain_name(own):
        raise OptionError(
            f"agent {shown(agent)}: its name is no string of 1 to {MAX_NAME} printable characters"
        )
    if getattr(agent, "rules", rules) != rules:
        raise OptionError(f"agent {own!r} was made for other rules than this game's")
    if not all(hasattr(agent, attribute) for attribute in ("act", "act_rows", "name")):
        return AdaptedAgent(agent, own)
    if agent.name != own:
        try:
            agent.name = own
        except AttributeError:
            return AdaptedAgent(agent, own)
    complete: CompleteAgent = agent
    return complete


class AdaptedAgent:
    """Adapter of an agent or a function: adds a name, and `act` or `act_rows` if it is missing."""

    def __init__(self, agent: Any, name: str) -> None:
        self.agent, self.name = agent, name
        self._rows = getattr(agent, "act_rows", None)
        self._once = agent if acts(agent) else getattr(agent, "act", None)
        if hasattr(agent, "at_once"):
            self.at_once: int = agent.at_once

    def __repr__(self) -> str:
        return f"<agent {self.name!r}: {shown(self.agent)}>"

    def act(self, observation: Array, action_mask: Array) -> int:
        """The action for one observation, int8 (D,), and its mask, int8 (A,)."""
        if self._once is None:
            return int(self.act_rows(observation[None], action_mask[None])[0])
        # copies, for an agent may keep what it has seen
        return self._whole(self._once(observation.copy(), action_mask.copy()))

    def act_rows(self, observations: Array, action_masks: Array) -> Array:
        """Actions, whole numbers (n,), for observations, int8 (n, D), and masks, int8 (n, A).

        Raises `IllegalActionError` where the agent's own `act` gives no whole number.
        """
        if self._rows is not None:
            rows: Array = self._rows(observations, action_masks)
            return rows
        import numpy as np

        chosen = [self.act(*row) for row in zip(observations, action_masks, strict=True)]
        return np.array(chosen, np.int64)

    def _whole(self, choice: Any) -> int:
        try:
            if not isinstance(choice, bool) and abs(number := index(choice)) < 2**62:
                return number
        except TypeError:
            pass
        raise IllegalActionError(
            f"agent {self.name!r}: act returned {shown(choice)}, not the number of an action"
        )


def acts(source: Any, options: Collection[str] = ()) -> bool:
    """Whether this is a function `(observation, mask) -> action` rather than a factory.

    Its two required parameters are positional, and are neither `options` nor those of a factory.
    """
    if isinstance(source, (type, Agent)) or not callable(source):
        return False
    required = _required(_parameters(source))
    return (
        len(required) == 2
        and required.keys().isdisjoint({*_CONTEXT, *options})
        and all(each.kind is not each.KEYWORD_ONLY for each in required.values())
    )


def info_of(factory: Any) -> AgentInfo | None:
    """The metadata of a class, its own `info`; None if that is anything else, or missing."""
    info = vars(factory).get("info") if isinstance(factory, type) else None
    return info if isinstance(info, AgentInfo) else None


def options_of(factory: Factory, *, in_name: bool = False) -> dict[str, Parameter]:
    """The options of a class or function, by name; with `in_name` those that a name may set.

    A class can restrict the latter to the options of its own `info`, an `AgentInfo`.
    """
    info = info_of(factory)
    return {
        name: each
        for name, each in _parameters(factory).items()
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        and name not in ("rules", "seed")
        and (not in_name or info is None or name in info.options)
    }


def _is_factory(source: Any, options: Collection[str] = ()) -> bool:
    """Whether this is called with these options to make an agent."""
    if isinstance(source, type):
        return True
    return callable(source) and not isinstance(source, Agent) and not acts(source, options)


def _call_factory(
    own: str,
    factory: Factory,
    rules: Rules,
    seed: int | None,
    goal: Goal | None,
    options: Mapping[str, Any],
) -> Any:
    """Return `factory(rules=, seed=, goal=, **options)`, leaving out what it does not accept."""
    parameters = _parameters(factory)
    context: dict[str, Any] = {"rules": rules, "seed": seed}
    if goal is not None:
        context["goal"] = check_goal(goal)
    missing = [
        name
        for name, each in _required(parameters).items()
        if name not in (*_CONTEXT, *options) or each.kind is each.POSITIONAL_ONLY
    ]
    if missing:
        raise OptionError(
            f"{own} asks for {', '.join(missing)}: a factory is called with those of rules, seed "
            "and goal that it has parameters for, and with the options of the agent's name; a "
            "function that acts has the parameters (observation, mask)"
        )
    if not _accepts_any(parameters):
        context = {name: value for name, value in context.items() if name in parameters}
    return factory(**(context | dict(options)))


def _check_options(own: str, factory: Factory, options: Mapping[str, Any], in_name: bool) -> None:
    """Raise `OptionError` for an option that is not accepted, or not in a name."""
    known = options_of(factory, in_name=in_name)
    others = _accepts_any(_parameters(factory))
    for option, value in options.items():
        if option in known or (others and option not in ("rules", "seed")):
            continue
        where = " to give in its name" if in_name else ""
        expected = f"it takes {', '.join(known)}" if known else "it takes none"
        raise OptionError(
            f"{option}={shown(value)}: no option of {own!r}{where}{did_you_mean(option, known)}: "
            f"{expected}"
        )


def _parameters(factory: Factory) -> Mapping[str, Parameter]:
    """The parameters of a class or function; `rules` and `seed` for compiled code without any."""
    try:
        return signature(factory).parameters
    except (TypeError, ValueError):
        return signature(lambda rules, *, seed=None: None).parameters


def _required(parameters: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """The parameters that have no default."""
    return {
        name: each
        for name, each in parameters.items()
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    }


def _accepts_any(parameters: Mapping[str, Parameter]) -> bool:
    return any(each.kind is each.VAR_KEYWORD for each in parameters.values())
