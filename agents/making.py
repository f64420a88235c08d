"""Make agents from names, classes and functions, and complete agents that lack a method or name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import nullcontext
from functools import partial
from inspect import Parameter
from operator import index
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import MAX_NAME, brief, did_you_mean, is_plain_name
from bideuchre_env.agents.inputs import watch_reads
from bideuchre_env.agents.protocols import Agent, AgentInfo, check_goal
from bideuchre_env.agents.registry import (
    BUILT_IN,
    STYLES,
    find,
    load_or_explain,
    parameters_of,
    parse,
)
from bideuchre_env.errors import IllegalActionError, OptionError

if TYPE_CHECKING:
    from bideuchre_env.agents.protocols import AgentSource, CompleteAgent, Factory, Goal
    from bideuchre_env.rules.rules import Rules
    from bideuchre_env.runtime.jit import Array

_CONTEXT = ("rules", "seed", "goal")  # passed to a factory if it has parameters of these names


def make(
    name: str, rules: Rules, *, seed: int | None = None, goal: Goal | None = None, **options: Any
) -> CompleteAgent:
    """Return an agent by name for these rules.

    Args:
        name: an agent, with or without options: "rule", "pimc:worlds=50",
            "./mine.py:Net:weights=a.npz". Options are then part of the agent's name.
        rules: the rules of the game.
        seed: fixes the choices of agents that choose at random.
        goal: the objective of agents that have this option.
        **options: the agent's options as keywords, instead of in the name: `worlds=50`.

    Raises:
        OptionError: the name is unknown, its file or module raises an error, an option does not
            exist or cannot be written in a name, or options are given in both places.
    """
    own, written = parse(name)
    if written and options:
        raise OptionError(
            f"{brief(name)}, {', '.join(options)}: expected options either in the name or as "
            "keywords, not both"
        )
    with nullcontext() if own in BUILT_IN else watch_reads():
        source, options = find(own), options or written
        if not _is_factory(source, options):
            if options:
                raise OptionError(
                    f"{brief(name)}: {own!r} is an agent already, and takes no options"
                )
            return complete(source, rules, own)
        _check_options(own, source, options, in_name=bool(written))
        call = partial(_call_factory, own, source, rules, seed, goal, options)
        agent = call() if own in BUILT_IN else load_or_explain(name, call)
    return complete(agent, rules, own, called=name if ":" in name or name in STYLES else None)


def agent_of(
    source: AgentSource, rules: Rules, *, seed: int | None = None, goal: Goal | None = None
) -> CompleteAgent:
    """Return an agent for these rules from a name, a factory, an agent, or a function that acts.

    Args:
        source: a name as in `make`; an agent; a factory; or a function that acts. A factory is a
            class or function; of `rules`, `seed` and `goal` it gets those that are among its
            parameters. A function with two required parameters of other names is called with an
            observation and its mask, and returns the action.
        rules: the rules of the game.
        seed: passed to a factory, or to `make`.
        goal: passed to a factory, or to `make`.

    Raises:
        OptionError: the source is none of these, or the name is invalid.
    """
    if isinstance(source, str):
        return make(source, rules, seed=seed, goal=goal)
    if _is_factory(source):
        factory: Any = source
        call = partial(_call_factory, brief(factory), factory, rules, seed, goal, {})
        return complete(load_or_explain(brief(factory), call), rules)
    return complete(source, rules)


def complete(
    agent: Any, rules: Rules, name: str | None = None, *, called: str | None = None
) -> CompleteAgent:
    """Return an agent with `act`, `act_rows` and `name`: the same object, or an `AdaptedAgent`.

    Its name is `called`, else its own `name`, else the argument `name`, else the name of its class.
    `called` also replaces the object's own `name`. The object is adapted if it lacks one of the
    three, or if its name cannot be replaced. Raises `OptionError` for an object that is not an
    agent for these rules.
    """
    if acts(agent):
        name = name or getattr(agent, "__name__", None)
    elif isinstance(agent, type) or not isinstance(agent, Agent):
        raise OptionError(
            f"agent {brief(agent)}: expected a name, or an object with act_rows or act"
        )
    own = called or getattr(agent, "name", None)
    if called or own is None:
        own = called or name or type(agent).__name__
        if len(own) > MAX_NAME:
            own = "..." + own[3 - MAX_NAME :]  # names of checkpoints differ at the end
    if not is_plain_name(own):
        raise OptionError(
            f"agent {brief(agent)}: expected a name of 1 to {MAX_NAME} printable characters"
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
    result: CompleteAgent = agent
    return result


class AdaptedAgent:
    """Adapter for an agent or a function: adds a name, and `act` or `act_rows` if missing."""

    def __init__(self, agent: Any, name: str) -> None:
        self.agent, self.name = agent, name
        self._rows = getattr(agent, "act_rows", None)
        self._once = agent if acts(agent) else getattr(agent, "act", None)
        if hasattr(agent, "at_once"):
            self.at_once: int = agent.at_once

    def __repr__(self) -> str:
        return f"<agent {self.name!r}: {brief(self.agent)}>"

    def act(self, observation: Array, action_mask: Array) -> int:
        """Return the action for one observation, int8 (D,), and its mask, int8 (A,).

        Raises `IllegalActionError` if the agent's own `act` does not return an integer.
        """
        if self._once is None:
            return int(self.act_rows(observation[None], action_mask[None])[0])
        # copies, because an agent may store the arrays
        return self._whole(self._once(observation.copy(), action_mask.copy()))

    def act_rows(self, observations: Array, action_masks: Array) -> Array:
        """Return actions, integers (n,), for observations, int8 (n, D), and masks, int8 (n, A).

        Raises `IllegalActionError` if the agent's own `act` does not return an integer.
        """
        if self._rows is not None:
            rows: Array = self._rows(observations, action_masks)
            return rows
        import numpy as np

        chosen = [self.act(*row) for row in zip(observations, action_masks, strict=True)]
        return np.array(chosen, np.int64)

    def _whole(self, choice: Any) -> int:
        """Return an action as an int; raise `IllegalActionError` if it is not an integer."""
        try:
            if not isinstance(choice, bool) and abs(number := index(choice)) < 2**62:
                return number
        except TypeError:
            pass
        raise IllegalActionError(
            f"agent {self.name!r}: act returned {brief(choice)}, not the number of an action"
        )


def acts(source: Any, options: Collection[str] = ()) -> bool:
    """Whether `source` is a function `(observation, mask) -> action` rather than a factory.

    It has exactly two required parameters, both positional, whose names are neither in `options`
    nor reserved for factories.
    """
    if isinstance(source, (type, Agent)) or not callable(source):
        return False
    required = _required(parameters_of(source))
    return (
        len(required) == 2
        and required.keys().isdisjoint({*_CONTEXT, *options})
        and all(each.kind is not each.KEYWORD_ONLY for each in required.values())
    )


def info_of(factory: Any) -> AgentInfo | None:
    """Return a class's own `info`; None if it is inherited, missing or not an `AgentInfo`."""
    info = vars(factory).get("info") if isinstance(factory, type) else None
    return info if isinstance(info, AgentInfo) else None


def options_of(factory: Factory, *, in_name: bool = False) -> dict[str, Parameter]:
    """Return the options of a factory by name: its parameters except `rules` and `seed`.

    With `in_name`, only those that can be written in an agent's name. If the factory is a class
    with its own `info`, these are the options of that `AgentInfo`.
    """
    info = info_of(factory)
    return {
        name: each
        for name, each in parameters_of(factory).items()
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        and name not in ("rules", "seed")
        and (not in_name or info is None or name in info.options)
    }


def _is_factory(source: Any, options: Collection[str] = ()) -> bool:
    """Whether `source` is a class or function that makes an agent when called with `options`."""
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
    """Return `factory(rules=, seed=, goal=, **options)`, without context that it does not accept.

    The context is `rules`, `seed` and, unless None, `goal`. Raises `OptionError` if the factory has
    other required parameters; `own` is its name in the error.
    """
    parameters = parameters_of(factory)
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
            f"{own} has unsupported required parameters {', '.join(missing)}: a factory may take "
            "rules, seed, goal and the options in the agent's name; an acting function takes "
            "(observation, mask)"
        )
    if not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        context = {name: value for name, value in context.items() if name in parameters}
    return factory(**(context | dict(options)))


def _check_options(own: str, factory: Factory, options: Mapping[str, Any], in_name: bool) -> None:
    """Raise `OptionError` for an option that the factory does not accept.

    With `in_name`, also for an option that cannot be written in an agent's name.
    """
    allowed = options_of(factory, in_name=in_name)
    others = any(each.kind is each.VAR_KEYWORD for each in parameters_of(factory).values())
    for option, value in options.items():
        if option in allowed or (others and option not in ("rules", "seed")):
            continue
        where = " to give in its name" if in_name else ""
        expected = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
        raise OptionError(
            f"{option}={brief(value)}: no option of {own!r}{where}{did_you_mean(option, allowed)}: "
            f"{expected}"
        )


def _required(parameters: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Return the parameters that a call must pass: no default, not `*args` or `**kwargs`."""
    return {
        name: each
        for name, each in parameters.items()
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    }
