"""Agents made: by name, by a class or a function, or taken as they are and completed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from operator import index
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import MAX_NAME, did_you_mean, is_plain_name, shown
from bideuchre_env.agents.loading import loaded
from bideuchre_env.agents.naming import find, kinds_of, number_or_text, split, value_of
from bideuchre_env.agents.protocols import ActsOnce, ActsOnRows, Agent, check_goal
from bideuchre_env.agents.registry import BUILT_IN
from bideuchre_env.errors import IllegalActionError, OptionError

if TYPE_CHECKING:
    from bideuchre_env.agents.protocols import AgentSource, CompleteAgent, Goal
    from bideuchre_env.rules.rules import Rules
    from bideuchre_env.runtime.jit import Array

_GIVEN = ("rules", "seed", "goal")  # what an agent is told of the game, none of its options
_BY_KEYWORD = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_BY_PLACE = (
    Parameter.POSITIONAL_ONLY,
    Parameter.POSITIONAL_OR_KEYWORD,
    Parameter.VAR_POSITIONAL,
)


def make(
    name: str,
    rules: Rules,
    *,
    seed: int | None = None,
    goal: Goal | None = None,
    **options: Any,
) -> CompleteAgent:
    """An agent by name for one game's `Rules`: `"rule"`, `"./mine.py:Net:weights=a.npz"`.

    `seed` fixes the choices of those that draw lots; `goal` tells those that ask what is played
    for. `options` are the agent's own, such as `worlds=50` for "pimc". Those that are numbers,
    words or paths may stand in the name instead, "pimc:worlds=50", which is then the name of the
    agent. Raises `OptionError` for a name that is no agent's or whose file or module does not run,
    for an option the agent does not have or a name cannot give, and for options in both places.
    """
    own, written = split(name)
    if written and options:
        raise OptionError(
            f"{shown(name)} and {', '.join(options)} besides: options stand in the name or are "
            "keywords, not both"
        )
    found = find(own)
    if not _is_maker(found, written or options):
        if written or options:
            raise OptionError(f"{shown(name)}: {own!r} is an agent already, and takes no options")
        return completed(found, rules, own)
    taken = options_of(found, written or options)
    for option, value in (written or options).items():
        _check_option(own, taken, option, value, named=bool(written))
    if written:
        options = {key: value_of(name, taken.get(key), key, text) for key, text in written.items()}
    if own in BUILT_IN:
        made = call(found, rules, seed, goal, options)
    else:
        made = loaded(name, lambda: call(found, rules, seed, goal, options))
    return completed(made, rules, own, called=name if ":" in name else None)


def agent_of(
    source: AgentSource, rules: Rules, *, seed: int | None = None, goal: Goal | None = None
) -> CompleteAgent:
    """An agent for these rules by name, made by a class or function, or completed.

    A class or function is called with the rules if it has a parameter for them, and with `seed=`
    and `goal=` if it has those or takes any keywords (`**options`); an agent is taken as it is, and
    so is a function that asks for an observation and its mask: what it returns is the action.
    Raises `OptionError` for what is none.
    """
    if isinstance(source, str):
        return make(source, rules, seed=seed, goal=goal)
    if _is_maker(source):
        maker: Any = source
        _check_asked(maker)
        made = loaded(shown(maker), lambda: call(maker, rules, seed, goal, {}))
        return completed(made, rules)
    return completed(source, rules)


def completed(
    agent: Any, rules: Rules, name: str | None = None, *, called: str | None = None
) -> CompleteAgent:
    """An agent with all that a match asks of it; the same object, if it has it already.

    It is `called` so, or else by its own `name`, by the `name` given here, or by its class.
    Raises `OptionError` for what is no agent for these rules.
    """
    if acts(agent):
        name = name or getattr(agent, "__name__", type(agent).__name__)
        agent = ActingFunction(agent)
    sound: Any = agent
    if isinstance(agent, type) or not isinstance(agent, Agent):
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
    if not (hasattr(agent, "act") and hasattr(agent, "act_rows") and hasattr(agent, "name")):
        return AdaptedAgent(agent, own)
    if sound.name != own:
        try:
            sound.name = own
        except AttributeError:
            return AdaptedAgent(agent, own)
    complete: CompleteAgent = sound
    return complete


class ActingFunction:
    """A function `(observation, mask) -> action` as an agent."""

    def __init__(self, act: Callable[..., Any]) -> None:
        self.act = act


class AdaptedAgent:
    """An agent with what it came without: a name, `act` or `act_rows`."""

    def __init__(self, agent: Agent, name: str) -> None:
        self.agent, self.name = agent, name
        self._rows = agent.act_rows if isinstance(agent, ActsOnRows) else None
        self._once = agent.act if isinstance(agent, ActsOnce) else None
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
            return self._rows(observations, action_masks)
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


def call(
    factory: Callable[..., Any],
    rules: Rules,
    seed: int | None,
    goal: Goal | None,
    options: Mapping[str, Any],
) -> Any:
    """What a class or function makes of the rules, the seed and the goal, as far as it asks.

    It asks for the rules by a parameter `rules`, or by a first one without a default that no
    option fills.
    """
    if goal is not None:
        check_goal(goal)
    parameters = parameters_of(factory)
    first = rules_parameter(parameters, options)
    given = dict(options)
    told = {"seed": seed} if goal is None else {"seed": seed, "goal": goal}
    for name, value in told.items():
        if name in parameters or _takes_any(parameters):
            given.setdefault(name, value)
    if first is None:
        return factory(**given)
    if first.kind in _BY_KEYWORD:
        return factory(**{first.name: rules}, **given)
    return factory(rules, **given)


def parameters_of(factory: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters of a class or function; those of `f(rules, *, seed)` where none are told."""
    try:
        return dict(signature(factory, eval_str=True).parameters)
    except Exception:  # an annotation that only type checkers can read
        pass
    try:
        return dict(signature(factory).parameters)
    except (TypeError, ValueError):  # made in another language
        rules = Parameter("rules", Parameter.POSITIONAL_ONLY)
        return {"rules": rules, "seed": Parameter("seed", Parameter.KEYWORD_ONLY)}


def rules_parameter(
    parameters: Mapping[str, Parameter], options: Iterable[str] = ()
) -> Parameter | None:
    """The parameter that takes the rules, if there is one."""
    if "rules" in parameters:
        return parameters["rules"]
    for each in parameters.values():
        typed = each.annotation is not each.empty and kinds_of(each)
        free = each.default is each.empty and each.name not in {*_GIVEN, *options}
        return each if each.kind in _BY_PLACE and free and not typed else None
    return None


def options_of(factory: Callable[..., Any], given: Iterable[str] = ()) -> dict[str, Parameter]:
    """The options of what makes an agent, by name, where these are given.

    One that is called "**" stands for any others.
    """
    parameters = parameters_of(factory)
    rules = rules_parameter(parameters, given)
    return {
        "**" if each.kind is each.VAR_KEYWORD else name: each
        for name, each in parameters.items()
        if each.kind in (*_BY_KEYWORD, each.VAR_KEYWORD)
        and name not in ("rules", "seed")
        and each is not rules
    }


def _check_option(
    own: str, taken: Mapping[str, Parameter], option: str, value: Any, *, named: bool
) -> None:
    """Raise `OptionError` for an option that is not taken, or not from a name."""
    known = [name for name, each in taken.items() if name != "**" and (not named or kinds_of(each))]
    if option in known or ("**" in taken and option not in {*taken, "rules", "seed"}):
        return
    which = f"it takes {', '.join(known)}" if known else "it takes none"
    where = " to give in its name" if named else ""
    value = number_or_text(value) if named else value
    raise OptionError(
        f"{option}={shown(value)}: no option of {own!r}{where}{did_you_mean(option, known)}: "
        f"{which}"
    )


def _is_maker(source: Any, options: Iterable[str] = ()) -> bool:
    """Whether this is called for an agent, with these options, rather than being one."""
    if isinstance(source, type):
        return True
    return callable(source) and not isinstance(source, Agent) and not acts(source, options)


def acts(source: Any, options: Iterable[str] = ()) -> bool:
    """Whether this is a function `(observation, mask) -> action`, whatever it calls the two.

    It needs two arguments by place, besides the options, and none that makers are given.
    """
    if isinstance(source, (type, Agent)) or not callable(source):
        return False
    needed = _needed(parameters_of(source))
    by_place = [name for name, each in needed.items() if each.kind in _BY_PLACE]
    return len({*needed} - {*options}) == len(by_place) == 2 and needed.keys().isdisjoint(_GIVEN)


def _check_asked(maker: Callable[..., Any]) -> None:
    """Raise `OptionError` if a maker needs something that it is never given."""
    parameters = parameters_of(maker)
    needed, first = _needed(parameters), rules_parameter(parameters)
    unknown = [name for name in needed if name not in _GIVEN and needed[name] is not first]
    if unknown:
        raise OptionError(
            f"{shown(maker)} asks for {', '.join(unknown)}: what makes an agent may ask for rules, "
            "seed and goal, and a function that is one for (observation, mask)"
        )


def _needed(parameters: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """The parameters without which there is no call."""
    several = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return {
        name: each
        for name, each in parameters.items()
        if each.default is each.empty and each.kind not in several
    }


def _takes_any(parameters: Mapping[str, Parameter]) -> bool:
    return any(each.kind is each.VAR_KEYWORD for each in parameters.values())
