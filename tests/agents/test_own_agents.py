"""Custom agents: from a file, a module or a package, as objects and classes, and in matches."""

from __future__ import annotations

import multiprocessing
import os
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from support import typed_agents
from support.agent_games import look, start
from support.own_agents import Once, Told, make_once, write_file

import bideuchre_env
from bideuchre_env import agents, match, selfplay
from bideuchre_env._checks import MAX_NAME
from bideuchre_env.agents import Agent, registry
from bideuchre_env.envs.options import SoloOptions
from bideuchre_env.envs.solo.batch import SoloBatch
from bideuchre_env.errors import AgentError, OptionError
from bideuchre_env.evaluation import blocks

RULES = bideuchre_env.cincinnati_v0.rules


@pytest.fixture(autouse=True)
def _a_folder_of_ones_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "registered", {"told": Told})
    monkeypatch.setattr(Told, "told", [])
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
        ("./mine.py:Net", "./mine.py:Net asks for weights: a factory is called with "),
        ("./mine.py:Net:wieghts=a", r"wieghts='a': no option .*\(did you mean 'weights'\?\): it"),
        ("./mine.py:Net:weights=a.npz,scale=x", r"UFuncTypeError: .*\(mine.py, line \d+\)$"),
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
    monkeypatch.setattr(registry, "registered", {})
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


def named_rules(depth=3, rules=None):
    return made(depth, rules)


def any_keyword(**context):
    return made(context)


def any_option(rules, **options):
    return made(rules, options)


def made(*told):
    agent = Once()
    agent.told = told
    return agent


@pytest.mark.parametrize(
    ("factory", "told"),
    [
        (no_rules, ("none", 7, "points")),
        (typed_option, ("w", 7)),
        (named_rules, (3, RULES)),
        (any_keyword, ({"rules": RULES, "seed": 7, "goal": "points"},)),
        (any_option, (RULES, {"seed": 7, "goal": "points"})),
        (lambda rules, goal: made(rules, goal), (RULES, "points")),
    ],
)
def test_a_factory_is_called_with_rules_seed_and_goal_by_name(factory, told):
    """Parameters that it does not have are left out."""
    assert agents.agent_of(factory, RULES, seed=7, goal="points").agent.told == told


@pytest.mark.parametrize(
    "factory",
    [lambda game: Once(), lambda rules, depth: Once(), lambda rules, /: Once()],
)
def test_a_factory_with_another_required_parameter_is_refused(factory):
    with pytest.raises(
        OptionError, match=r"asks for (game|depth|rules): a factory is called with those"
    ):
        agents.agent_of(factory, RULES)


def test_the_goal_in_a_name_comes_before_the_one_of_who_plays():
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


@pytest.mark.parametrize(
    "pair",
    [
        ("./mine.py:Net:weights=a.npz", "./mine.py:Net:weights=b.npz"),
        ("told:depth=2", Once()),
    ],
)
def test_two_processes_play_the_boards_that_one_does(pair):
    """Names are sent there, and registered classes; so are agents that can be pickled."""
    one, two = (
        match.play("cincinnati_v0", *pair, boards=12, at_once=1, seed=3, workers=k) for k in (1, 2)
    )
    assert one.board_rows.tobytes() == two.board_rows.tobytes()
    for result in (one, two):
        assert result.keys == tuple(each if isinstance(each, str) else "Once" for each in pair)


def test_a_file_that_changes_is_the_same_for_the_whole_match(tmp_path, monkeypatch):
    """The next match plays it as it is then."""
    monkeypatch.setattr(blocks, "LockstepRunner", lambda rules, seated, *rest: seated)
    path = tmp_path / "changing.py"
    agent = "class A:\n    def act(self, *row):\n        return {}\n"
    path.write_text(agent.format(1))
    plan = blocks.Plan(RULES, ("changing.py:A", "changing.py:A"), 0, True, 1)
    plan.seated()
    path.write_text(agent.format(2))
    os.utime(path, ns=(1, 1))
    assert [each.agent.act() for each in plan.runner(range(9))] == [1, 1]
    path.rename(tmp_path / "gone.py")
    assert [each.agent.act() for each in plan.runner(range(9))] == [1, 1]
    path.write_text(agent.format(3))
    assert [each.agent.act() for each in plan.seated()] == [3, 3]


def test_two_checkpoints_are_told_apart_in_a_match():
    """In the report, in JSON, and on the boards."""
    names = [f"./mine.py:Net:weights={each}.npz" for each in "ab"]
    result = match.play("cincinnati_v0", *names, boards=60)
    assert 0 <= result.boards.ties < 60
    assert result.points_per_hand.mean != 0
    assert list(result.to_dict()["contracts"]) == names
    for name in names:
        assert name in str(result)
    same = match.play("cincinnati_v0", names[0], names[0], boards=4)
    assert same.boards.ties == 4
    assert same.keys == (names[0], f"{names[0]}#2")


@pytest.mark.parametrize("source", ["name", "class", "object", "main", "file"])
def test_what_no_other_process_can_have_is_refused_at_once(source, monkeypatch):
    class Inner(Once):
        pass

    registry.registered["inner"] = Inner
    of_script = type("Net", (Once,), {"__module__": "__main__"})
    monkeypatch.setattr(sys.modules["__main__"], "Net", of_script, raising=False)
    agent = {
        "name": "inner",
        "class": Inner,
        "object": Inner(),
        "main": of_script,
        "file": agents.make("./mine.py:Last", RULES),
    }[source]
    played = []
    with pytest.raises(OptionError, match=r"cannot be sent to another process .*file\.py:Agent"):
        match.play(
            "cincinnati_v0",
            "rule",
            agent,
            boards=9,
            workers=2,
            progress=lambda *_: played.append(1),
        )
    assert not played
    assert not multiprocessing.active_children()
    assert match.play("cincinnati_v0", "rule", agent, boards=2).boards.boards == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_an_agents_own_names_the_line(workers):
    told = r"agent './mine.py:Stumbles': IndexError: list index out of range \(mine.py, line \d+\)"
    with pytest.raises(AgentError, match=told) as raised:
        match.play("cincinnati_v0", "./mine.py:Stumbles", "rule", boards=9, workers=workers)
    assert "\n" not in str(raised.value)


def goals():
    return [each[2] for each in Told.told]


def test_boards_are_played_for_points_and_games_for_the_game():
    """A match of both makes an agent for each; one that is made already plays as it is."""
    match.play("cincinnati_v0", "told", "rule", boards=2, games=2)
    assert set(goals()) == {"points", "game"}
    for length, goal in (({"boards": 2}, "points"), ({"games": 2}, "game")):
        for play in (match.play, selfplay.play):
            Told.told.clear()
            play("cincinnati_v0", Told, "told", **length)
            assert set(goals()) == {goal}
    Told.told.clear()
    made = Told(RULES)
    match.play("cincinnati_v0", made, "rule", boards=2, games=2)
    assert goals() == [None]
    match.play("cincinnati_v0", "told:goal=game", "rule", boards=2)
    assert set(goals()) == {None, "game"}


@pytest.mark.parametrize(("episode", "goal"), [("hand", "points"), ("game", "game")])
def test_a_learners_company_plays_for_what_an_episode_is(episode, goal):
    for face in (
        bideuchre_env.cincinnati_v0.solo,
        lambda **how: bideuchre_env.cincinnati_v0.solo_vec(2, **how),
    ):
        Told.told.clear()
        env = face(opponents="told", partner=Told, episode=episode)
        env.reset(seed=1)
        assert set(goals()) == {goal}


def test_an_agent_of_ones_own_sits_beside_a_learner():
    """By its file, as a class, as an object that chooses for one observation at a time."""
    options = {"seat": 0, "episode": "hand"}
    seen = []
    for who in ("./mine.py:First", Once, Once(), make_once):
        env = bideuchre_env.cincinnati_v0.solo(opponents=who, **options)
        observation, _ = env.reset(seed=5)
        told = [observation["observation"].tobytes()]
        for _ in range(3):
            action = int(observation["action_mask"].argmax())
            observation, *_ = env.step(action)
            told.append(observation["observation"].tobytes())
        seen.append(told)
    assert all(told == seen[0] for told in seen)
    assert SoloBatch(RULES, 1, SoloOptions(opponents=Once)).players[0].name == "Once"


def test_what_type_checkers_take_plays():
    """CI runs mypy on the same file."""
    results = typed_agents.matches()
    assert {result.agents[0] for result in results} == {"Once", "Many", "Ours"}
    assert all(result.boards.ties == 2 for result in results)
    assert typed_agents.complete() == ("Many", 0)
    with pytest.raises(OptionError, match="an object with act_rows or act"):
        typed_agents.wrong()
