"""Names of agents, and the lookup of the class, function or agent of a name.

    NAME                    an agent of the package or an installed package, or a registered agent
    package.module:Agent    an attribute of a module
    ./file.py:Agent         an attribute of a Python file
    cmd:PROGRAM ARGUMENTS   a bot in another process (`agents/bots/README.md`)
    player:calls=NAME,cards=NAME   the calls of one agent of the package, the cards of another

Options may follow: `pimc:worlds=20,solved=4`, `./mine.py:Net:weights=runs/a.npz`; those of a bot
precede its command, `cmd:seconds=5:./bot`. A value is a TOML boolean, number or string; any other
text is used unchanged. The attribute of a module or a file may be dotted. A NAME takes precedence
over a module of the same name.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import lru_cache, reduce
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, signature
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import MAX_NAME, brief, did_you_mean, is_plain_name
from bideuchre_env._deprecation import present_name
from bideuchre_env.agents.bots.command import command_files
from bideuchre_env.errors import BidEuchreError, OptionError
from bideuchre_env.runtime.contexts import holding

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from bideuchre_env.agents.protocols import Factory

GROUP = "bideuchre_env.agents"
"""The entry point group of agents in installed packages."""
BUILT_IN = {
    "random": "bideuchre_env.agents.random_agents:RandomAgent",
    "cautious": "bideuchre_env.agents.random_agents:CautiousAgent",
    "beginner": "bideuchre_env.agents.rule.beginner:BeginnerAgent",
    "rule": "bideuchre_env.agents.rule.agent:RuleAgent",
    "ppo": "bideuchre_env.agents.learned.ppo:PpoAgent",
    "expert": "bideuchre_env.agents.expert.agent:ExpertAgent",
    "pimc": "bideuchre_env.agents.search.agent:PimcAgent",
    "net": "bideuchre_env.agents.learned.net:NetAgent",
    "inference": "bideuchre_env.agents.search.agent:InferenceAgent",
}
"""The package's own agents, weakest first: classes with metadata in `info`, an `AgentInfo`."""
COMMAND = "cmd"
"""First word of the names of bots in other processes; the rest has its own syntax."""
PLAYER = "player"
"""Name of the agent that combines others, its options."""
_WITH_OPTIONS = {
    COMMAND: "bideuchre_env.agents.bots.agent:CommandAgent",
    PLAYER: "bideuchre_env.agents.player:PlayerAgent",
}
"""Agents that have no play of their own without options."""
STYLES = {
    "rash": "rule:boldness=1",
    "timid": "rule:boldness=-1",
    "always-defend": "rule:boldness=-12",
}
"""Short names of `rule` with other styles of bidding: overbids, underbids, almost never bids."""
registered: dict[str, Factory] = {}
"""Factories by name, from `register`."""

_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_ELSEWHERE = re.compile(
    rf"(?P<place>{_DOTTED}(?<!\.py)|.*?\.py):(?P<attribute>{_DOTTED})(?::(?P<options>.*))?"
)
_COMMAND = re.compile(r"cmd:(?:(?P<options>\w+=[^:]*):)?(?P<command>.*)", re.S)
_SYNTAX = "name:option=value,option=value, as pimc:worlds=20,solved=4"

_LIBRARY = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_PACKAGE = {str(Path(__file__).parent), str(Path(__file__).resolve().parent)}
_PACKAGE |= {str(Path(folder).parent / "bideuchre_env") for folder in _PACKAGE}
NOT_USER_CODE = tuple(_LIBRARY | _PACKAGE | {"<frozen "})  # prefixes of paths, for `in_one_line`

_files: dict[str, tuple[int, ModuleType]] = {}  # by path: modification time when run, module
_frozen = ContextVar("_frozen", default=False)


def names() -> tuple[str, ...]:
    """Return the names of all agents: the package's own, weakest first; then installed, registered.

    Installed agents come from entry points of other packages, registered ones from `register`.
    """
    return tuple(dict.fromkeys((*BUILT_IN, *installed(), *registered)))


def register(name: str, factory: Factory) -> None:
    """Register a factory, so that `make(name, rules)` calls it.

    Args:
        name: a printable name without `:`, `,` and `=`; not a name of the package's agents.
        factory: a callable `factory(rules, *, seed=None, goal=None, **options)`. It may omit any of
            these parameters; all others are the agent's options.

    Raises:
        OptionError: the name is invalid, or the factory is not callable.
    """
    if not _is_valid_name(name):
        raise OptionError(
            f"name={brief(name)}: expected 1 to {MAX_NAME} printable characters without : , and ="
        )
    if name in (*BUILT_IN, *STYLES, *_WITH_OPTIONS):
        raise OptionError(
            f"name={name!r}: expected another name than those of the package's agents"
        )
    if not callable(factory):
        raise OptionError(f"factory={brief(factory)}: expected factory(rules, seed=None)")
    registered[name] = factory


def is_known(name: object) -> bool:
    """Whether `name` is one of `names()`, or `PLAYER`."""
    return isinstance(name, str) and (name == PLAYER or name in names())


@lru_cache(maxsize=1)
def installed() -> dict[str, EntryPoint]:
    """Return the entry points of agents in installed packages, by name.

    Invalid names, and names of this package's own agents, are left out.
    """
    entries: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        if _is_valid_name(entry.name) and entry.name not in (*BUILT_IN, *STYLES, *_WITH_OPTIONS):
            entries.setdefault(entry.name, entry)
    return entries


def parse(name: str) -> tuple[str, dict[str, bool | int | float | str]]:
    """Split the name of an agent into its own name and its options.

    Args:
        name: "rule", one of `STYLES`, or with options as in "pimc:worlds=20,solved=4".

    Returns:
        The own name, and the options: TOML booleans, numbers or strings; any other text unchanged.
            `make` checks whether the agent has these options. The command of a bot is its
            option `command`.

    Raises:
        OptionError: for an unknown agent, and for malformed options.
    """
    name = STYLES.get(name, name) if isinstance(name, str) else name
    own, colon, written = name.partition(":") if isinstance(name, str) else ("", "", "")
    own = own if is_known(own) else present_name(own, names())
    options: dict[str, bool | int | float | str] = {}
    if match := _COMMAND.fullmatch(name) if own == COMMAND else None:
        written, options["command"] = match["options"], match["command"]
        colon = "" if written is None else ":"
    elif not is_known(own):
        match = _ELSEWHERE.fullmatch(name) if colon else None
        if match is None:
            raise OptionError(_unknown(own if colon else name))
        own, written = name[: match.end("attribute")], match["options"]
        colon = "" if written is None else ":"
    if not name.isprintable():
        raise OptionError(f"{brief(name)}: expected printable characters")
    for part in written.split(",") if colon else ():
        option, _, value = part.partition("=")
        if not option or not value:
            raise OptionError(
                f"{brief(name)}: cannot parse option {brief(part)}: expected {_SYNTAX}"
            )
        if option in options:
            raise OptionError(
                f"{brief(name)}: option {brief(option)} is repeated: expected {_SYNTAX}"
            )
        options[option] = _value(value)
    return own, options


def combined(name: str) -> list[str]:
    """Return the own names of the agents that an agent consists of: one, unless it combines some.

    Raises `OptionError` as `parse`.
    """
    own, options = parse(name)
    if own != PLAYER:
        return [own]
    return [parse(value)[0] for value in options.values() if isinstance(value, str)]


def files_of(name: str) -> list[str]:
    """Return the Python file in an agent's name, or the files in a bot's command."""
    own, options = parse(name)
    if own == COMMAND:
        return command_files(str(options["command"]))
    match = None if is_known(own) else _ELSEWHERE.fullmatch(own)
    return [match["place"]] if match and match["place"].endswith(".py") else []


def find(own: str) -> Any:
    """Import and return the class, function or agent that a name without options refers to.

    Raises `OptionError` if there is none, or if its module or file raises an error.
    """
    if place := (BUILT_IN | _WITH_OPTIONS).get(own):
        module, _, attribute = place.partition(":")
        return getattr(import_module(module), attribute)
    if own in registered:
        return registered[own]
    if own in installed():
        entry = installed()[own]
        return load_or_explain(f"agent {own!r} ({entry.value})", entry.load)
    place, _, attribute = own.rpartition(":")
    if place.endswith(".py"):
        return _attribute(place, _file_module(place), attribute)
    _make_importable(Path.cwd())
    first = place.partition(".")[0]
    if first not in sys.modules and importlib.util.find_spec(first) is None:
        raise OptionError(_unknown(place, ", and no such module"))
    return _attribute(place, load_or_explain(place, lambda: import_module(place)), attribute)


def parameters_of(factory: Any) -> Mapping[str, Parameter]:
    """Return the parameters of a callable; `rules` and `seed` if it has no signature (compiled)."""
    try:
        return signature(factory).parameters
    except (TypeError, ValueError):
        return signature(lambda rules, *, seed=None: None).parameters


def _value(text: str) -> bool | int | float | str:
    """Return the TOML boolean, number or string that `text` spells, or `text` itself."""
    if text.lower() in ("true", "false"):  # also as Python writes them
        return text.lower() == "true"
    if "\n" in text or ("#" in text and text[0] not in "'\""):
        return text  # TOML would read only a part of it
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (bool, int, float, str)) else text


def _is_valid_name(name: object) -> bool:
    """Whether a name is printable and has none of the characters `:`, `,` and `=`."""
    return isinstance(name, str) and is_plain_name(name) and not {*":,="} & {*name}


def _unknown(name: Any, besides: str = "") -> str:
    """Return the error message for an unknown agent's name; `besides` is added after the name."""
    return (
        f"no agent {brief(name)}{did_you_mean(name, names())}{besides}: the agents are "
        f"{', '.join(names())}, and your own as ./file.py:Agent, package.module:Agent or "
        "cmd:PROGRAM"
    )


def freeze_files() -> AbstractContextManager[None]:
    """Context in which changed files are not reloaded, so that a run uses one version."""
    return holding(_frozen, True)


def files_are_frozen() -> bool:
    """Whether `freeze_files` is in effect."""
    return _frozen.get()


def _file_module(path: str) -> ModuleType:
    """Return a Python file as a module; `OptionError` if it is missing or raises an error.

    The file is run once, and again after it has changed, except within `freeze_files`. It can
    import modules of its folder.
    """
    file = Path(path).expanduser()
    key = str(file.resolve())
    if files_are_frozen() and key in _files:
        return _files[key][1]
    if not file.is_file():
        beside = sorted(str(each) for each in Path(".").glob("*.py"))
        close = did_you_mean(file.name, beside)
        raise OptionError(f"there is no file {brief(path)}{close}")
    written = file.stat().st_mtime_ns
    if key not in _files or _files[key][0] != written:
        _files[key] = written, load_or_explain(path, lambda: _run(file.resolve()))
    return _files[key][1]


def load_or_explain(what: str, load: Callable[[], Any]) -> Any:
    """Return `load()`; an error other than `BidEuchreError` becomes an `OptionError`.

    Its message is one line: `what`, the agent, then the error and its line of user code.
    """
    try:
        return load()
    except BidEuchreError:
        raise
    except (Exception, SystemExit) as error:
        raise OptionError(f"{what}: {in_one_line(error)}") from error


def in_one_line(error: BaseException) -> str:
    """Format an error of user code: its type, its message, and the file and line in user code."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {kind}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    user_frames = [frame for frame in frames if not frame.filename.startswith(NOT_USER_CODE)]
    last = user_frames[-1] if user_frames else None
    where = f" ({Path(last.filename).name}, line {last.lineno})" if last else ""
    return f"{kind}: {text[:300]}{where}" if text else f"{kind}{where}"


class _SourceLoader(SourceFileLoader):
    """Compiles the source each time: cached bytecode may be older, as its time has seconds only."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _run(file: Path) -> ModuleType:
    """Run a Python file as a module with a unique name, and return the module."""
    name = f"agent file {file}"
    spec = importlib.util.spec_from_file_location(name, file, loader=_SourceLoader(name, str(file)))
    assert spec is not None  # it ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _make_importable(file.parent)
    sys.modules[name] = module  # dataclasses look up their module there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _make_importable(folder: Path) -> None:
    """Append a folder to `sys.path`; at the end, so that it hides no other module."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _attribute(where: str, module: ModuleType, attribute: str) -> Any:
    """Return a dotted attribute of a module; `OptionError` if it is missing.

    `where` names the module in the error.
    """
    try:
        return reduce(getattr, attribute.split("."), module)
    except AttributeError:
        agents = _agents_in(module)
        hint = f": its agents are {', '.join(agents)}" if agents else ", and defines no agent"
        close = did_you_mean(attribute, agents)
        raise OptionError(f"{where} has no {attribute!r}{close}{hint}") from None


def _agents_in(module: ModuleType) -> list[str]:
    """Return the public names of agents, agent classes and functions defined in a module."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and (isinstance(value, FunctionType) or hasattr(value, "act") or hasattr(value, "act_rows"))
    ]
