"""Players for any game of the family: `make("rule", rules)` gives one, `names()` lists them.

Wherever a player is asked for by name, numbers among its options may stand behind the name:
`make("pimc:worlds=20,solved=4", rules)`. All of that is then what the player is called.

Nothing heavy is imported until a player is made. In the repository, `agents/README.md` tells the
players apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, formatannotation, signature
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import MAX_NAME, is_plain_name, shown
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.agents.base import Agent
    from bideuchre_env.rules.rules import Rules

    Factory = Callable[..., Agent]

__all__ = ["make", "names", "parse", "register"]

_BUILT_IN = {
    "random": ("bideuchre_env.agents.random_agents", "RandomAgent"),
    "cautious": ("bideuchre_env.agents.random_agents", "CautiousAgent"),
    "rule": ("bideuchre_env.agents.rule.agent", "RuleAgent"),
    "expert": ("bideuchre_env.agents.expert.agent", "ExpertAgent"),
    "pimc": ("bideuchre_env.agents.search.agent", "PimcAgent"),
    "inference": ("bideuchre_env.agents.search.agent", "InferenceAgent"),
}
_registered: dict[str, Factory] = {}

_WRITTEN = "name:option=value,option=value, as pimc:worlds=20,solved=4"
_MARKS = frozenset(":,=")
_VALUE = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_NUMBER_TYPES = {"int", "float", "None", "Optional", "typing"}  # words in a number's type


def names() -> tuple[str, ...]:
    """The agents `make` knows, weakest first, then those that were registered."""
    return (*_BUILT_IN, *_registered)


def register(name: str, factory: Factory) -> None:
    """Make `make(name, rules, seed=...)` call `factory(rules, seed=...)`.

    The factory's other keyword-only parameters are the agent's options. Raises `OptionError` for a
    name that cannot stand on a screen or before options, or is one of the package's own.
    """
    if not is_plain_name(name) or _MARKS & set(name):
        raise OptionError(
            f"name={shown(name)}: 1 to {MAX_NAME} printable characters make an agent's name, "
            "none of them : , or ="
        )
    if name in _BUILT_IN:
        raise OptionError(f"{name!r} is one of the package's own agents: choose another name")
    if not callable(factory):
        raise OptionError(f"factory={factory!r}: something to call as factory(rules, seed=None)")
    _registered[name] = factory


def parse(name: str) -> tuple[str, dict[str, float]]:
    """An agent's own name and its options, from `name` or `name:option=value,option=value`.

    Values are whole numbers or decimals. Raises `OptionError` for an agent that is not in
    `names()` and for what is not written so; which options an agent has, `make` knows.
    """
    own, colon, written = name.partition(":") if isinstance(name, str) else ("", "", "")
    if own not in names():
        wrong = own if colon else name
        raise OptionError(f"no agent {shown(wrong)}: the agents are {', '.join(names())}")
    if not is_plain_name(name):
        raise OptionError(
            f"{shown(name)}: an agent's name with its options is {MAX_NAME} printable characters "
            "at most"
        )
    options: dict[str, float] = {}
    for part in written.split(",") if colon else ():
        option, _, value = part.partition("=")
        if not option or not value:
            raise OptionError(f"{shown(name)}: {shown(part)} is no option: {_WRITTEN}")
        if option in options:
            raise OptionError(f"{shown(name)}: the option {shown(option)} twice: {_WRITTEN}")
        if not _VALUE.fullmatch(value):
            raise OptionError(
                f"{shown(name)}: {shown(part)} gives no number: a whole one or a decimal is "
                "expected, as worlds=20 or margin=0.5"
            )
        options[option] = float(value) if "." in value else int(value)
    return own, options


def make(name: str, rules: Rules, *, seed: int | None = None, **options: Any) -> Agent:
    """An agent by name for one game's `Rules`; `seed` fixes the choices of those that draw lots.

    `options` are the agent's own, such as `worlds=50` for "pimc". Those that are numbers may stand
    in the name instead, "pimc:worlds=50", which is then the name of the agent. Raises `OptionError`
    for a name that is not in `names()`, for an option the agent does not have or a name cannot
    give, and for options in both places.
    """
    own, in_name = parse(name)
    if in_name and options:
        raise OptionError(
            f"{shown(name)} and {', '.join(options)} besides: options stand in the name or are "
            "keywords, not both"
        )
    factory: Any = _registered.get(own)
    if factory is None:
        module, attribute = _BUILT_IN[own]
        factory = getattr(import_module(module), attribute)
    options = in_name or options
    if options:
        _check_options(own, factory, options, named=bool(in_name))
    agent: Agent = factory(rules, seed=seed, **options)
    if in_name:
        _rename(agent, name)
    return agent


def _check_options(own: str, factory: Factory, options: dict[str, Any], *, named: bool) -> None:
    """Raise `OptionError` for an option the factory does not take, or not from a name."""
    taken = signature(factory).parameters
    any_other = any(each.kind is each.VAR_KEYWORD for each in taken.values())
    known = [
        each.name
        for each in taken.values()
        if each.kind is each.KEYWORD_ONLY
        and each.name != "seed"
        and (not named or _is_number(each))
    ]
    for option, value in options.items():
        if option in known or (any_other and option not in {*taken, "seed"}):
            continue
        which = f"it takes {', '.join(known)}" if known else "it takes none"
        where = " to give in its name" if named else ""
        raise OptionError(f"{option}={shown(value)}: no option of {own!r}{where}: {which}")


def _is_number(option: Parameter) -> bool:
    """Whether an option's value is a number: by its type or, without one, its default."""
    if option.annotation is option.empty:
        return type(option.default) in (int, float, type(None)) or option.default is option.empty
    words = set(re.findall(r"\w+", formatannotation(option.annotation)))
    return words <= _NUMBER_TYPES and bool(words & {"int", "float"})


def _rename(agent: Agent, name: str) -> None:
    """Call an agent by the name with options that it was made by."""
    try:
        agent.name = name
    except AttributeError:
        raise OptionError(
            f"{shown(name)}: the name of this agent cannot be set, so its name gives no options"
        ) from None
