"""Players for any game of the family: `make("rule", rules)` gives one, `names()` lists them.

Nothing heavy is imported until a player is made.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from bideuchre_env.errors import MAX_NAME, OptionError, is_plain_name, shown

if TYPE_CHECKING:
    from bideuchre_env.agents.base import Agent
    from bideuchre_env.rules import Rules

    Factory = Callable[..., Agent]

__all__ = ["make", "names", "register"]

_BUILT_IN = {
    "random": ("bideuchre_env.agents.simple", "RandomAgent"),
    "cautious": ("bideuchre_env.agents.simple", "CautiousAgent"),
    "rule": ("bideuchre_env.agents.rule", "RuleAgent"),
    "expert": ("bideuchre_env.agents.expert", "ExpertAgent"),
    "pimc": ("bideuchre_env.agents.pimc", "PimcAgent"),
    "inference": ("bideuchre_env.agents.pimc", "InferenceAgent"),
}
_registered: dict[str, Factory] = {}


def names() -> tuple[str, ...]:
    """The agents `make` knows, weakest first, then those that were registered."""
    return (*_BUILT_IN, *_registered)


def register(name: str, factory: Factory) -> None:
    """Make `make(name, rules, seed=...)` call `factory(rules, seed=...)`.

    Raises `OptionError` for a name that cannot stand on a screen or is one of the package's own.
    """
    if not is_plain_name(name):
        raise OptionError(
            f"name={shown(name)}: 1 to {MAX_NAME} printable characters make an agent's name"
        )
    if name in _BUILT_IN:
        raise OptionError(f"{name!r} is one of the package's own agents: choose another name")
    if not callable(factory):
        raise OptionError(f"factory={factory!r}: something to call as factory(rules, seed=None)")
    _registered[name] = factory


def make(name: str, rules: Rules, *, seed: int | None = None, **options: Any) -> Agent:
    """An agent by name for one game's `Rules`; `seed` fixes the choices of those that draw lots.

    `options` are the agent's own, such as `worlds=50` for "pimc". Raises `OptionError` for a name
    that is not in `names()` and for an option the agent does not have.
    """
    factory: Any = _registered.get(name) if isinstance(name, str) else None
    if factory is None:
        if not isinstance(name, str) or name not in _BUILT_IN:
            raise OptionError(f"no agent {name!r}: the agents are {', '.join(names())}")
        module, attribute = _BUILT_IN[name]
        factory = getattr(import_module(module), attribute)
    if options:
        _check_options(name, factory, options)
    agent: Agent = factory(rules, seed=seed, **options)
    return agent


def _check_options(name: str, factory: Factory, options: dict[str, Any]) -> None:
    """Raise `OptionError` for an option the factory does not take."""
    taken = signature(factory).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in taken):
        return
    known = [each.name for each in taken if each.kind is each.KEYWORD_ONLY and each.name != "seed"]
    for option in options:
        if option not in known:
            which = f"it takes {', '.join(known)}" if known else "it takes none"
            raise OptionError(f"{option}={shown(options[option])}: no option of {name!r}: {which}")
