"""Which agents go by a name: the package's own, installed ones, and those that are registered."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import MAX_NAME, is_plain_name, shown
from bideuchre_env.agents.loading import loaded
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.agents.protocols import Factory

GROUP = "bideuchre_env.agents"
"""The group of entry points by which an installed package offers its agents."""
BUILT_IN = {
    "random": ("bideuchre_env.agents.random_agents", "RandomAgent"),
    "cautious": ("bideuchre_env.agents.random_agents", "CautiousAgent"),
    "rule": ("bideuchre_env.agents.rule.agent", "RuleAgent"),
    "expert": ("bideuchre_env.agents.expert.agent", "ExpertAgent"),
    "ppo": ("bideuchre_env.agents.learned.ppo", "PpoAgent"),
    "net": ("bideuchre_env.agents.learned.net", "NetAgent"),
    "pimc": ("bideuchre_env.agents.search.agent", "PimcAgent"),
    "inference": ("bideuchre_env.agents.search.agent", "InferenceAgent"),
}
registered: dict[str, Factory] = {}
_MARKS = frozenset(":,=")


def names() -> tuple[str, ...]:
    """Every agent that has a name: the package's own, weakest first, installed, registered."""
    return tuple(dict.fromkeys((*BUILT_IN, *installed(), *registered)))


def register(name: str, factory: Factory) -> None:
    """Make `make(name, rules)` call this class or function, as it would one that it is given.

    The parameters that are none of `rules`, `seed` and `goal` are the agent's options. Raises
    `OptionError` for a name that cannot stand on a screen or before options, or is one of the
    package's own.
    """
    if not _can_be_named(name):
        raise OptionError(
            f"name={shown(name)}: 1 to {MAX_NAME} printable characters make an agent's name, "
            "none of them : , or ="
        )
    if name in BUILT_IN:
        raise OptionError(f"{name!r} is one of the package's own agents: choose another name")
    if not callable(factory):
        raise OptionError(f"factory={shown(factory)}: expected factory(rules, seed=None)")
    registered[name] = factory


def is_known(name: object) -> bool:
    """Whether `name` is one of `names()`."""
    return isinstance(name, str) and (name in BUILT_IN or name in registered or name in installed())


def factory_of(name: str) -> Any:
    """What makes the agent of one of `names()`; an installed one may be an agent itself.

    Raises `OptionError` for an installed agent that cannot be imported.
    """
    if name in BUILT_IN:
        module, attribute = BUILT_IN[name]
        return getattr(import_module(module), attribute)
    if name in registered:
        return registered[name]
    entry = installed()[name]
    return loaded(f"agent {name!r} ({entry.value})", entry.load)


@lru_cache(maxsize=1)
def installed() -> dict[str, EntryPoint]:
    """The agents that installed packages offer, by name; the package's own names stay its own."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        if _can_be_named(entry.name) and entry.name not in BUILT_IN:
            found.setdefault(entry.name, entry)
    return found


def _can_be_named(name: object) -> bool:
    return isinstance(name, str) and is_plain_name(name) and not _MARKS & set(name)
