"""A match on a Ray cluster that loses one of two nodes equals a match of one process."""

import os
from pathlib import Path

import pytest
from support import custom_agents
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


def test_a_match_survives_the_loss_of_a_node(cluster, tmp_path, monkeypatch, capsys):
    """The command's options `--ray` and `--ray-address` give the same match, too."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(custom_agents.FILE)
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
    printed = []
    for options in ([], ["--ray"], ["--ray-address", cluster.address]):
        assert main(["match", "rule", "cautious", "--boards", "300", *options]) == 0
        printed.append(capsys.readouterr().out.splitlines()[:-1])  # the last line has times
    assert printed[0] == printed[1] == printed[2]
