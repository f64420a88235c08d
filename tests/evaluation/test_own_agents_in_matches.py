"""Matches of one's own agents: in any number of processes, told what they play for, and typed."""

from __future__ import annotations

import multiprocessing
import os
import sys

import pytest
from support import typed_agents
from support.own_agents import Once, Told, make_once, write_file

import bideuchre_env
from bideuchre_env import agents, match, selfplay
from bideuchre_env.agents import registry
from bideuchre_env.envs.options import SoloOptions
from bideuchre_env.envs.solo.batch import SoloBatch
from bideuchre_env.errors import AgentError, OptionError
from bideuchre_env.evaluation import blocks

CINCINNATI = bideuchre_env.cincinnati_v0


@pytest.fixture(autouse=True)
def _a_folder_of_ones_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "registered", {"told": Told})
    monkeypatch.setattr(Told, "told", [])
    monkeypatch.setattr(sys, "path", [*sys.path])
    write_file(tmp_path)


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
    plan = blocks.Plan(CINCINNATI.rules, ("changing.py:A", "changing.py:A"), 0, True, 1)
    plan.seated()
    path.write_text(agent.format(2))
    os.utime(path, ns=(1, 1))
    assert [each.agent.act() for each in plan.runner(range(9))] == [1, 1]
    path.rename(tmp_path / "gone.py")
    assert [each.agent.act() for each in plan.runner(range(9))] == [1, 1]
    path.write_text(agent.format(3))
    assert [each.agent.act() for each in plan.seated()] == [3, 3]


def test_two_checkpoints_are_told_apart(tmp_path):
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
        "file": agents.make("./mine.py:Last", CINCINNATI.rules),
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
    made = Told(CINCINNATI.rules)
    match.play("cincinnati_v0", made, "rule", boards=2, games=2)
    assert goals() == [None]
    match.play("cincinnati_v0", "told:goal=game", "rule", boards=2)
    assert set(goals()) == {None, "game"}


@pytest.mark.parametrize(("episode", "goal"), [("hand", "points"), ("game", "game")])
def test_a_learners_company_plays_for_what_an_episode_is(episode, goal):
    for face in (CINCINNATI.solo, lambda **how: CINCINNATI.solo_vec(2, **how)):
        Told.told.clear()
        env = face(opponents="told", partner=Told, episode=episode)
        env.reset(seed=1)
        assert set(goals()) == {goal}


def test_an_agent_of_ones_own_sits_beside_a_learner():
    """By its file, as a class, as an object that chooses for one observation at a time."""
    options = {"seat": 0, "episode": "hand"}
    seen = []
    for who in ("./mine.py:First", Once, Once(), make_once):
        env = CINCINNATI.solo(opponents=who, **options)
        observation, _ = env.reset(seed=5)
        told = [observation["observation"].tobytes()]
        for _ in range(3):
            action = int(observation["action_mask"].argmax())
            observation, *_ = env.step(action)
            told.append(observation["observation"].tobytes())
        seen.append(told)
    assert all(told == seen[0] for told in seen)
    assert SoloBatch(CINCINNATI.rules, 1, SoloOptions(opponents=Once)).players[0].name == "Once"


@pytest.mark.parametrize("play", [match.play, selfplay.play])
def test_an_odd_number_of_games_is_rounded_up_and_the_report_says_so(play):
    said = "4 games (2 pairs), "
    odd, even = (str(play("cincinnati_v0", "random", "cautious", games=n)) for n in (3, 4))
    line = next(line for line in odd.splitlines() if line.startswith(said))
    assert line.endswith(", 3 asked for: games are played in pairs")
    assert said in even
    assert "asked for" not in even


def test_what_type_checkers_take_plays():
    """CI runs mypy on the same file."""
    results = typed_agents.matches()
    assert {result.agents[0] for result in results} == {"Once", "Many", "Ours"}
    assert all(result.boards.ties == 2 for result in results)
    assert typed_agents.complete() == ("Many", 0)
    with pytest.raises(OptionError, match="an object with act_rows or act"):
        typed_agents.wrong()
