"""Agents of one's own: in a file, a module or an installed package, as an object or a class."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from support.agent_games import look, start
from support.own_agents import Once, Told, make_once, write_file

import bideuchre_env
from bideuchre_env import agents
from bideuchre_env._checks import MAX_NAME
from bideuchre_env.agents import Agent, RowAgent, registry
from bideuchre_env.errors import IllegalActionError, OptionError

RULES = bideuchre_env.cincinnati_v0.rules


@pytest.fixture(autouse=True)
def _a_folder_of_ones_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "registered", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    write_file(tmp_path)
    for name in ("mine", "beside", "torn", "rule"):  # imported by name: each test has its own
        monkeypatch.delitem(sys.modules, name, raising=False)


def chosen(agent, n=5):
    """What an agent chooses in some rows, and the first legal actions there."""
    observations, masks = look(RULES, start(RULES, n), np.arange(n))
    return np.asarray(agent.act_rows(observations, masks)).tolist(), masks.argmax(axis=1).tolist()


@pytest.mark.parametrize(
    "name",
    ["./mine.py:First", "mine.py:Zoo.Inner", "./mine.py:ready", "mine:First", "mine:Zoo.Inner"],
)
def test_an_agent_of_a_file_or_module_plays_and_is_called_as_it_was_asked_for(name):
    agent = agents.make(name, RULES, seed=1)
    first, legal = chosen(agent)
    assert first == legal
    assert agent.name == name
    observations, masks = look(RULES, start(RULES, 1), np.arange(1))
    assert agent.act(observations[0], masks[0]) == masks[0].argmax()
    assert isinstance(agent, Agent)


def test_a_path_may_be_absolute_and_leads_to_modules_beside_the_file(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    write_file(tmp_path / "elsewhere", "beside.py")
    own = tmp_path / "elsewhere" / "own.py"
    own.write_text("from beside import First as Imported\nclass Mine(Imported): pass\n")
    agent = agents.make(f"{own}:Mine", RULES)
    assert chosen(agent)[0] == chosen(agent)[1]


def test_two_checkpoints_are_two_agents(tmp_path):
    """Options may be words and paths; all of it is the agent's name."""
    a, b = (agents.make(f"./mine.py:Net:weights={name}.npz", RULES) for name in "ab")
    assert chosen(a, 30)[0] != chosen(b, 30)[0]
    assert (a.name, b.name) == ("./mine.py:Net:weights=a.npz", "./mine.py:Net:weights=b.npz")
    again = agents.make(f"./mine.py:Net:weights={tmp_path}/a.npz,scale=2", RULES)
    assert chosen(again, 30)[0] == chosen(a, 30)[0]
    by_keyword = agents.make("./mine.py:Net", RULES, weights="a.npz")
    assert chosen(by_keyword, 30)[0] == chosen(a, 30)[0]


def test_a_long_name_ends_as_it_was_written(tmp_path):
    """The end tells checkpoints apart, and the whole still fits into a record."""
    folder = tmp_path / ("a" * 100)
    folder.mkdir()
    name = f"{write_file(folder)}:Net:weights={folder}/a.npz"
    agent = agents.make(name, RULES)
    assert len(agent.name) == MAX_NAME
    assert agent.name.startswith("...")
    assert name.endswith(agent.name[3:])


def test_a_file_is_run_again_once_it_has_changed(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("from mine import First as Agent\nclass A(Agent): pass\n")
    first = agents.make("changing.py:A", RULES)
    path.write_text("from mine import Last as Agent\nclass A(Agent): pass\n# longer\n")
    os.utime(path, ns=(1, 1))
    assert chosen(agents.make("changing.py:A", RULES))[0] != chosen(first)[0]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("experd", r"no agent 'experd' \(did you mean 'expert'\?\): the agents are random, "),
        ("experd:margin=1", r"no agent 'experd' \(did you mean 'expert'\?\)"),
        ("nomodule:First", "no agent 'nomodule', and no module of that name: the agents are "),
        ("mine:", "no agent 'mine': the agents are random.*your own as ./file.py:Agent"),
        ("./mine.py", "no agent './mine.py': the agents are random"),
        ("./mine.py:", "no agent './mine.py'"),
        ("./mine.py:1", "no agent './mine.py'"),
        ("./main.py:First", r"there is no file './main.py' \(did you mean 'mine.py'\?\)"),
        (
            "./mine.py:Firts",
            r"./mine.py has no 'Firts' \(did you mean 'First'\?\): its agents are First, Last, "
            "Net, broken, Stumbles, ready$",
        ),
        ("./mine.py:Zoo.Outer", "./mine.py has no 'Zoo.Outer'"),
        ("./empty.py:A", "./empty.py has no 'A', and defines no agent$"),
        ("./mine.py:number", "agent 3: a name, or an object with act_rows or act"),
        ("./mine.py:ready:depth=3", "'./mine.py:ready' is an agent already, and takes no options"),
        ("./mine.py:Net", "./mine.py:Net: TypeError: .*missing 1 required.*'weights'"),
        ("./mine.py:Net:wieghts=a", r"wieghts='a': no option .*\(did you mean 'weights'\?\): it"),
        ("./mine.py:Net:flag=1", "flag=1.: true or false is expected$"),
        ("./mine.py:Net:weights=a.npz,scale=x", "'scale=x' gives no number"),
        ("./mine.py:Net:weights=c.npz", r"FileNotFoundError: .*'c.npz' \(mine.py, line \d+\)$"),
        ("./mine.py:First:depth=3", "no option of './mine.py:First' .*: it takes none$"),
        ("./mine.py:broken", r"./mine.py:broken: LookupError: no weights \(mine.py, line \d+\)$"),
        ("./syntax.py:A", r"./syntax.py: line 2: SyntaxError: .*"),
        ("./torn.py:A", r"./torn.py: ModuleNotFoundError: .*'torchh' \(torn.py, line 3\)$"),
        ("torn:A", r"torn: ModuleNotFoundError: .*'torchh' \(torn.py, line 3\)$"),
        ("./exits.py:A", r"./exits.py: SystemExit: 3 \(exits.py, line 1\)$"),
    ],
)
def test_what_cannot_play_is_one_line_that_says_why(name, told, tmp_path):
    (tmp_path / "syntax.py").write_text("x = 1\ndef f(:\n")
    (tmp_path / "torn.py").write_text("import os\n\nimport torchh\n")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "exits.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(OptionError, match=told) as raised:
        agents.make(name, RULES)
    assert "\n" not in str(raised.value)


def test_a_name_of_ones_own_comes_after_the_packages(tmp_path):
    """A module called `rule` stands behind the agent of that name."""
    (tmp_path / "rule.py").write_text("class A:\n    act = None\n")
    with pytest.raises(OptionError, match="'A' is no option"):
        agents.make("rule:A", RULES)


def test_installed_agents_go_by_their_entry_points(monkeypatch):
    """One that hides a name of the package is left out; one that is torn spoils no other."""
    group = registry.GROUP
    entries = [
        EntryPoint("theirs", "support.own_agents:Once", group),
        EntryPoint("told", "support.own_agents:Told", group),
        EntryPoint("torn", "nowhere_at_all:Agent", group),
        EntryPoint("rule", "support.own_agents:Once", group),
        EntryPoint("a:b", "support.own_agents:Once", group),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    registry.installed.cache_clear()
    try:
        assert agents.names()[len(registry.BUILT_IN) :] == ("theirs", "told", "torn")
        agent = agents.make("theirs", RULES)
        assert agent.name == "theirs"
        assert chosen(agent)[0] == chosen(agent)[1]
        assert agents.make("told:depth=3", RULES).name == "told:depth=3"
        assert Told.told[-1][3] == 3
        with pytest.raises(OptionError, match=r"agent 'torn' \(nowhere_at_all:Agent\): Module"):
            agents.make("torn", RULES)
    finally:
        monkeypatch.undo()
        registry.installed.cache_clear()


@pytest.mark.parametrize("source", [Once, Once(), make_once, lambda: Once(), "./mine.py:First"])
def test_classes_functions_objects_and_names_are_all_agents(source):
    agent = agents.agent_of(source, RULES, seed=1)
    first, legal = chosen(agent)
    assert first == legal
    assert agent.name == ("./mine.py:First" if isinstance(source, str) else "Once")


def no_rules(*, goal=None, seed=0):
    return made("none", seed, goal)


def typed_option(weights: str = "w", seed: int | None = None):
    return made(weights, seed)


def by_place(rules, /, seed=None):
    return made(rules, seed)


def named_rules(depth=3, rules=None):
    return made(depth, rules)


def any_place(*rules, **options):
    return made(*rules, *options.items())


def made(*told):
    agent = Once()
    agent.told = told
    return agent


@pytest.mark.parametrize(
    ("factory", "told"),
    [
        (no_rules, ("none", 7, "points")),
        (typed_option, ("w", 7)),
        (by_place, (RULES, 7)),
        (named_rules, (3, RULES)),
        (any_place, (RULES, ("seed", 7), ("goal", "points"))),
        (lambda game: made(game), (RULES,)),
        (lambda game, goal: made(game, goal), (RULES, "points")),
    ],
)
def test_a_factory_is_told_what_it_asks_for(factory, told):
    """The rules by a parameter for them, the seed and the goal by their names."""
    assert agents.agent_of(factory, RULES, seed=7, goal="points").agent.told == told


def test_the_goal_in_a_name_comes_before_the_one_of_who_plays():
    agents.register("told", Told)
    for name, goal, found in (
        ("told", "points", "points"),
        ("told", "game", "game"),
        ("told", None, None),
        ("told:goal=game", "points", "game"),
    ):
        agents.make(name, RULES, goal=goal)
        assert Told.told[-1][2] == found
    agents.make("rule", RULES, goal="game")  # asks for none
    with pytest.raises(OptionError, match="goal='fame': one of 'points', 'game'"):
        agents.make("told", RULES, goal="fame")


class Choosy:
    """Options of every kind that can be written."""

    def __init__(
        self,
        rules,
        *,
        path: Path | None = None,
        word: str | None = None,
        either: int | str = 0,
        choice: Literal["points", "game"] = "game",
        default="x",
        folder=Path("."),
        plain=None,
    ):
        self.told = [path, word, either, choice, default, folder, plain]

    act = Once.act


@pytest.mark.parametrize("value", ["7", "0.5", "runs/lr=0.1/a.npz"])
def test_a_value_is_what_its_option_takes(value):
    agents.register("choosy", Choosy)
    names = ("path", "word", "either", "choice", "default", "folder", "plain")
    agent = agents.make("choosy:" + ",".join(f"{name}={value}" for name in names), RULES)
    number = {"7": 7, "0.5": 0.5}.get(value, value)
    assert agent.agent.told == [Path(value), value, number, value, value, Path(value), number]


@pytest.mark.parametrize("answer", [None, 1.0, "pass", True, 2**80, np.zeros(2, int)])
def test_act_gives_the_number_of_an_action(answer):
    class Odd:
        def act(self, observation, action_mask):
            return answer

    with pytest.raises(IllegalActionError, match=r"agent 'Odd': act returned .*not the number"):
        chosen(agents.agent_of(Odd, RULES))


def test_what_an_agent_keeps_of_a_row_stays_as_it_was():
    """The arrays of a match are rewritten by its next step."""

    class Keeps:
        def __init__(self):
            self.kept = []

        def act(self, observation, action_mask):
            self.kept.append(observation)
            return np.int8(0)

    keeper = Keeps()
    agent = agents.agent_of(keeper, RULES)
    observations, masks = look(RULES, start(RULES, 2), np.arange(2))
    before = observations.copy()
    assert agent.act_rows(observations, masks).tolist() == [0, 0]
    observations[:] = 9
    assert np.array_equal(keeper.kept, before)


def test_each_of_the_two_methods_is_called_where_there_are_both():
    class Both:
        def act(self, observation, action_mask):
            return 1

        def act_rows(self, observations, action_masks):
            return np.full(len(observations), 2)

    agent = agents.agent_of(Both, RULES)
    row = np.zeros(3, np.int8)
    assert (agent.act(row, row), agent.act_rows(row[None], row[None]).tolist()) == (1, [2])


def test_a_row_agent_is_called_by_its_class_unless_it_has_a_name():
    class Mine(RowAgent):
        def choose(self, observations, action_masks):
            return action_masks.argmax(axis=1)

    class Named(Mine):
        name = "somebody"

    assert agents.agent_of(Mine, RULES).name == "Mine"
    assert agents.agent_of(Named(RULES), RULES).name == "somebody"


def test_nothing_heavy_is_imported_for_the_protocols():
    code = (
        "import sys; from bideuchre_env.agents import Agent, names, parse; parse('rule'); "
        "print('numba' in sys.modules); from bideuchre_env.agents import RowAgent"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
