"""Custom agents: from a file, a module or a package, as objects or classes, and in matches."""

import multiprocessing
import os
import sys
from functools import partial
from importlib.metadata import EntryPoint
from types import ModuleType

import numpy as np
import pytest
from support.agent_games import look, start
from support.commands import load_scripts
from support.custom_agents import Once, Recorder, write_file

import bideuchre_env
from bideuchre_env import agents, match
from bideuchre_env._checks import MAX_NAME
from bideuchre_env.agents import Agent, registry
from bideuchre_env.agents.inputs import inputs
from bideuchre_env.errors import AgentError, OptionError
from bideuchre_env.evaluation import blocks

pytestmark = pytest.mark.search

RULES = bideuchre_env.cincinnati_v0.rules


@pytest.fixture(autouse=True)
def folder_with_agents(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "registered", {"recorder": Recorder})
    monkeypatch.setattr(Recorder, "calls", [])
    # without the folders that other tests have loaded files from
    clean = [path for path in sys.path if not os.path.exists(os.path.join(path, "mine.py"))]
    monkeypatch.setattr(sys, "path", clean)
    write_file(tmp_path)
    for name in ("mine", "beside", "torn", "rule"):  # imported by name
        monkeypatch.delitem(sys.modules, name, raising=False)


def choices(agent, n=5):
    """The actions of an agent as eldest hand in n fixed deals."""
    observations, masks = look(RULES, start(RULES, n), np.arange(n))
    return np.asarray(agent.act_rows(observations, masks)).tolist()


def first_legal(n=5):
    """The first legal action in each of the same deals."""
    return look(RULES, start(RULES, n), np.arange(n))[1].argmax(axis=1).tolist()


@pytest.mark.parametrize(
    "name",
    ["./mine.py:First", "mine.py:Zoo.Inner", "./mine.py:ready", "mine:First", "mine:Zoo.Inner"],
)
def test_an_agent_of_a_file_or_module_has_the_requested_name(name):
    agent = agents.make(name, RULES, seed=1)
    assert choices(agent) == first_legal()
    assert agent.name == name
    observations, masks = look(RULES, start(RULES, 1), np.arange(1))
    assert agent.act(observations[0], masks[0]) == masks[0].argmax()
    assert isinstance(agent, Agent)


def test_an_absolute_path_finds_modules_beside_the_file(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    write_file(tmp_path / "elsewhere", "beside.py")
    own = tmp_path / "elsewhere" / "own.py"
    own.write_text("from beside import First as Imported\nclass Mine(Imported): pass\n")
    assert choices(agents.make(f"{own}:Mine", RULES)) == first_legal()


def test_two_checkpoints_are_two_agents(tmp_path):
    names = [f"./mine.py:Net:weights={each}.npz" for each in "ab"]
    a, b = (agents.make(name, RULES) for name in names)
    assert choices(a, 30) != choices(b, 30)
    assert [a.name, b.name] == names
    again = agents.make(f"./mine.py:Net:weights={tmp_path}/a.npz,scale=2", RULES)
    assert choices(again, 30) == choices(a, 30)
    by_keyword = agents.make("./mine.py:Net", RULES, weights="a.npz")
    assert choices(by_keyword, 30) == choices(a, 30)
    result = match("cincinnati_v0", *names, boards=60)
    assert 0 <= result.boards.ties < 60
    assert list(result.to_dict()["contracts"]) == names
    same = match("cincinnati_v0", names[0], names[0], boards=4)
    assert same.boards.ties == 4
    assert same.keys == (names[0], f"{names[0]}#2")


def test_a_long_name_is_shortened_at_its_beginning(tmp_path):
    folder = tmp_path / ("a" * 100)
    folder.mkdir()
    name = f"{write_file(folder)}:Net:weights={folder}/a.npz"
    agent = agents.make(name, RULES)
    assert len(agent.name) == MAX_NAME
    assert agent.name.startswith("...")
    assert name.endswith(agent.name[3:])


def test_a_changed_file_is_loaded_again_but_not_during_a_match(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "LockstepRunner", lambda rules, seated, *rest: seated)
    path = tmp_path / "changing.py"
    agent = "class A:\n    def act(self, *row):\n        return {}\n"
    path.write_text(agent.format(1))
    plan = blocks.Plan(RULES, ("changing.py:A", "changing.py:A"), 0, True, 1)
    plan.make_agents()
    path.write_text(agent.format(2))
    os.utime(path, ns=(1, 1))
    assert [each.agent.act() for each in plan.runner(range(9))] == [1, 1]
    path.rename(tmp_path / "gone.py")
    assert [each.agent.act() for each in plan.runner(range(9))] == [1, 1]
    path.write_text(agent.format(3))
    assert [each.agent.act() for each in plan.make_agents()] == [3, 3]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("experd:margin=1", r"no agent 'experd' \(did you mean 'expert'\?\)"),
        ("nomodule:First", "no agent 'nomodule', and no such module: the agents are "),
        ("mine:", "no agent 'mine': the agents are random.*your own as ./file.py:Agent"),
        ("./mine.py:", "no agent './mine.py'"),
        ("./main.py:First", r"there is no file './main.py' \(did you mean 'mine.py'\?\)"),
        ("./mine.py:Firts", r"./mine.py has no 'Firts' \(did you mean 'First'\?\): its agents are "
         "First, Last, Net, broken, Stumbles, ready$"),
        ("./empty.py:A", "./empty.py has no 'A', and defines no agent$"),
        ("./mine.py:number", "agent 3: expected a name, or an object with act_rows or act"),
        ("./mine.py:ready:depth=3", "'./mine.py:ready' is an agent already, and takes no options"),
        ("./mine.py:Net", "./mine.py:Net has unsupported required parameters weights: "),
        ("./mine.py:Net:wieghts=a", r"wieghts='a': no option .*\(did you mean 'weights'\?\): it"),
        ("./mine.py:broken", r"./mine.py:broken: LookupError: no weights \(mine.py, line \d+\)$"),
        ("./syntax.py:A", r"./syntax.py: line 2: SyntaxError: .*"),
        ("./torn.py:A", r"./torn.py: ModuleNotFoundError: .*'torchh' \(torn.py, line 3\)$"),
        ("./exits.py:A", r"./exits.py: SystemExit: 3 \(exits.py, line 1\)$"),
        ("rule:A", "cannot parse option 'A'"),  # the agent comes before the module rule.py
    ],
)  # fmt: skip
def test_an_agent_that_cannot_be_made_is_a_one_line_error(name, message, tmp_path):
    (tmp_path / "syntax.py").write_text("x = 1\ndef f(:\n")
    (tmp_path / "torn.py").write_text("import os\n\nimport torchh\n")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "exits.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "rule.py").write_text("class A:\n    act = None\n")
    with pytest.raises(OptionError, match=message) as raised:
        agents.make(name, RULES)
    assert "\n" not in str(raised.value)


def test_installed_agents_are_found_by_entry_points(monkeypatch):
    """Entries with the name of a built-in agent are ignored; a broken entry affects no other."""
    places = {"theirs": "support.custom_agents:Once", "recorder": "support.custom_agents:Recorder"}
    places |= {"torn": "nowhere_at_all:Agent"}
    places |= dict.fromkeys(("rule", "a:b"), "support.custom_agents:Once")
    entries = [EntryPoint(name, place, registry.GROUP) for name, place in places.items()]
    monkeypatch.setattr(registry, "registered", {})
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    registry.installed.cache_clear()
    try:
        assert agents.names()[len(registry.BUILT_IN) :] == ("theirs", "recorder", "torn")
        agent = agents.make("theirs", RULES)
        assert agent.name == "theirs"
        assert choices(agent) == first_legal()
        assert agents.make("recorder:depth=3", RULES).name == "recorder:depth=3"
        assert Recorder.calls[-1][3] == 3
        with pytest.raises(OptionError, match=r"agent 'torn' \(nowhere_at_all:Agent\): Module"):
            agents.make("torn", RULES)
    finally:
        monkeypatch.undo()
        registry.installed.cache_clear()


def no_rules(*, goal=None, seed=0):
    return made("none", seed, goal)


def made(*arguments):
    """An agent with the arguments of its factory as an attribute."""
    agent = Once()
    agent.arguments = arguments
    return agent


@pytest.mark.parametrize(
    ("factory", "arguments"),
    [(no_rules, ("none", 7, "points")), (lambda rules, goal: made(rules, goal), (RULES, "points"))],
)
def test_a_factory_is_called_with_the_parameters_that_it_has(factory, arguments):
    assert agents.agent_of(factory, RULES, seed=7, goal="points").agent.arguments == arguments


@pytest.mark.parametrize(
    "factory", [lambda game: Once(), lambda rules, depth: Once(), lambda rules, /: Once()]
)
def test_a_factory_with_another_required_parameter_is_refused(factory):
    message = r"unsupported required parameters (game|depth|rules): a factory may"
    with pytest.raises(OptionError, match=message):
        agents.agent_of(factory, RULES)


@pytest.mark.parametrize(
    "pair",
    [
        ("./mine.py:Net:weights=a.npz", "pimc:worlds=2,played_out=4,solved=2"),
        ("recorder:depth=2", Once()),
    ],
)
def test_two_processes_play_the_same_boards_as_one(pair):
    options = {"boards": 12, "at_once": 1, "seed": 3}
    one, two = (match("cincinnati_v0", *pair, workers=k, **options) for k in (1, 2))
    assert one.board_rows.tobytes() == two.board_rows.tobytes()
    for result in (one, two):
        assert result.keys == tuple(each if isinstance(each, str) else "Once" for each in pair)


@pytest.mark.parametrize("source", ["name", "class", "object", "main", "file"])
def test_an_agent_that_cannot_be_pickled_is_refused_before_the_match(source, monkeypatch):
    class Inner(Once):
        pass

    registry.registered["inner"] = Inner
    of_script = type("Net", (Once,), {"__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "Net", of_script, raising=False)
    sources = {"name": "inner", "class": Inner, "object": Inner(), "main": of_script}
    agent = sources[source] if source != "file" else agents.make("./mine.py:Last", RULES)
    with pytest.raises(OptionError, match=r"cannot be sent to another process .*file\.py:Agent"):
        match("cincinnati_v0", "rule", agent, boards=9, workers=2)
    assert not multiprocessing.active_children()
    assert match("cincinnati_v0", "rule", agent, boards=2).boards.boards == 2


def test_the_script_that_is_run_is_an_input_only_of_its_own_agents(tmp_path, monkeypatch):
    """In a process that `multiprocessing` starts it has a second name."""
    (tmp_path / "script.py").write_text("a script")
    script = ModuleType("__main__")
    script.__file__ = str(tmp_path / "script.py")
    script.Net = type("Net", (Once,), {"__module__": "__mp_main__"})
    for name in ("__main__", "__mp_main__"):
        monkeypatch.setitem(sys.modules, name, script)
    monkeypatch.setitem(registry.registered, "net-of-script", script.Net)
    assert "script.py" not in inputs(["./mine.py:Last"])
    assert {"mine.py"} <= inputs(["./mine.py:Last"]).keys()
    assert "script.py" in inputs(["net-of-script"])


@pytest.mark.parametrize("workers", [1, 2])
def test_an_exception_of_an_agent_names_its_line(workers):
    line = r"agent './mine.py:Stumbles': IndexError: list index out of range \(mine.py, line \d+\)"
    with pytest.raises(AgentError, match=line) as raised:
        match("cincinnati_v0", "./mine.py:Stumbles", "rule", boards=9, workers=workers)
    assert "\n" not in str(raised.value)


def goals():
    """The set of goals that the constructor of `Recorder` has been called with."""
    return {each[2] for each in Recorder.calls}


def test_boards_are_played_for_points_and_games_for_the_game():
    """A goal in a name, and the goal of an agent that exists already, do not change."""
    match("cincinnati_v0", "recorder", "rule", boards=2, games=2)
    assert goals() == {"points", "game"}
    for length, goal in (({"boards": 2}, "points"), ({"games": 2}, "game")):
        Recorder.calls.clear()
        match("cincinnati_v0", Recorder, "recorder", **length)
        assert goals() == {goal}
    Recorder.calls.clear()
    made = Recorder(RULES)
    match("cincinnati_v0", made, "rule", boards=2, games=2)
    assert goals() == {None}
    match("cincinnati_v0", "recorder:goal=game", "rule", boards=2)
    assert goals() == {None, "game"}
    with pytest.raises(OptionError, match="goal='fame': expected one of 'points', 'game'"):
        agents.make("recorder", RULES, goal="fame")


@pytest.mark.parametrize(("episode", "goal"), [("hand", "points"), ("game", "game")])
def test_opponents_and_partner_of_a_learner_have_the_goal_of_its_episode(episode, goal):
    game = bideuchre_env.cincinnati_v0
    for face in (game.solo, partial(game.solo_vec, 2)):
        Recorder.calls.clear()
        env = face(opponents="recorder", partner=Recorder, episode=episode)
        env.reset(seed=1)
        assert goals() == {goal}


def test_agents_that_type_checkers_accept_play():
    """CI runs mypy on the file of these agents."""
    with load_scripts(".ci", "typed_agents") as [typed_agents]:
        results = typed_agents.matches()
        assert {result.agents[0] for result in results} == {"Once", "Many", "Ours"}
        assert all(result.boards.ties == 2 for result in results)
        with pytest.raises(OptionError, match="an object with act_rows or act"):
            typed_agents.wrong()
