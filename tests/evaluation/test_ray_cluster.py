"""A cluster of two nodes loses one in the middle: the same totals as of one machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from support import own_agents, ray_blocks
from support.ray_clusters import cluster_of, kill, settings_for_ray

from bideuchre_env import match
from bideuchre_env.cli.main import main
from bideuchre_env.evaluation.ray_pool import RayPool

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Ray has no clusters there"),
]


@pytest.fixture
def cluster(monkeypatch):
    """Two nodes with a processor each."""
    with settings_for_ray(monkeypatch), cluster_of(2) as nodes:
        yield nodes


def test_blocks_of_a_node_that_dies_are_begun_anew_and_counted_once(cluster, tmp_path):
    """Some block was begun on it and not done; it is done elsewhere, and has one result."""
    log, found = tmp_path / "log", Counter()
    [doomed] = (node.node_id for node in cluster.worker_nodes)
    with RayPool(cluster.address) as pool:
        assert pool.workers == 2
        for number, block in pool.run(ray_blocks.logged, (str(log), doomed), range(12)):
            assert number == block
            found[block] += 1
            kill(cluster)
    assert found == Counter(range(12))
    begun, done = (defaultdict(list) for _ in range(2))
    for line in log.read_text().splitlines():
        what, block, node = line.split()
        (begun if what == "begun" else done)[block].append(node)
    lost = [nodes for nodes in begun.values() if doomed in nodes]
    assert lost
    assert all(len(set(nodes)) == 2 for nodes in lost)
    assert set(done) == {str(block) for block in range(12)}
    assert not any(doomed in nodes for nodes in done.values())
    assert not cluster.worker_nodes


def test_a_match_on_a_cluster_that_loses_a_node(cluster, tmp_path, monkeypatch, capfd):
    """Boards, games and decisions are those of one process; Ray says nothing of it."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(own_agents.FILE)
    played = {"boards": 6000, "games": 200, "seed": 11}
    killed = []

    def progress(kind, done, total, decisions):
        if done > 1000 and not killed:
            killed.append((kind, done))
            kill(cluster)

    with RayPool(cluster.address) as pool:
        there = match.play(
            "cincinnati_v0", "rule", "./mine.py:Last", **played, workers=pool, progress=progress
        )
    here = match.play("cincinnati_v0", "rule", "./mine.py:Last", **played)
    assert killed[0][0] == "boards"
    assert not cluster.worker_nodes
    assert (there.board_rows == here.board_rows).all()
    assert (there.game_rows == here.game_rows).all()
    assert (there.boards, there.games) == (here.boards, here.games)
    assert (there.decisions, there.workers) == (here.decisions, 2)
    assert "raylet" not in capfd.readouterr().out


def test_the_command_on_a_cluster(cluster, capsys):
    """It prints what it prints here, but for the times; Ray goes on afterwards."""
    asked = ["match", "rule", "cautious", "--boards", "300"]
    printed = []
    for how in ([], ["--ray"], ["--ray-address", cluster.address]):
        arguments = [*asked, *how]
        assert main(arguments) == 0
        printed.append(capsys.readouterr().out.splitlines()[:-1])  # the last line has times
    assert printed[0] == printed[1] == printed[2]
    assert main([*asked, "--ray", "--workers", "2"]) == 2
    assert main([*asked, "--ray-address", "127.0.0.1:1"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2


CTRL_C = """
import os, signal, sys
from bideuchre_env import match
from bideuchre_env.evaluation.ray_pool import RayPool
signal.signal(signal.SIGINT, signal.default_int_handler)

def press(kind, done, total, decisions):
    if done:
        os.killpg(0, signal.SIGINT)

with RayPool("local") as pool:
    result = match.play(
        "barrie_v0", "rule", "cautious", boards=10**6, workers=pool, progress=press
    )
    again = match.play("barrie_v0", "rule", "cautious", boards=300, workers=pool)
print(result.interrupted, 0 < result.boards.boards < 10**6, again.boards.boards)
"""


def test_ctrl_c_keeps_the_blocks_that_are_finished(monkeypatch):
    """It reaches every process of a terminal; workers go on, and are there for the next match."""
    with settings_for_ray(monkeypatch):
        done = subprocess.run(
            [sys.executable, "-c", CTRL_C],
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )
    assert (done.returncode, done.stdout) == (0, "True True 300\n"), done.stderr
    assert "Traceback" not in done.stderr
