"""Clusters of Ray with two nodes, one of which may die: results equal those of one process."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import own_agents
from support.ray_clusters import cluster_of, kill, settings_for_ray
from support.script_modules import ROOT, loaded

import bideuchre_env
from bideuchre_env import agents, match
from bideuchre_env.cli.main import main
from bideuchre_env.evaluation.ray_pool import RayPool
from bideuchre_env.learning.pairs import pair_blocks

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Ray has no clusters there"),
]


@pytest.fixture
def cluster(monkeypatch):
    """Two nodes with a processor each, whose workers can import the scripts."""
    with settings_for_ray(monkeypatch, str(ROOT / "experiments")), cluster_of(2) as nodes:
        yield nodes


def test_a_match_survives_the_loss_of_a_node(cluster, tmp_path, monkeypatch, capfd):
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


def test_pairs_survive_the_loss_of_a_node_in_order(cluster):
    rules = bideuchre_env.make("barrie_v0").rules
    policy, there = agents.make("rule", rules, seed=1), []
    with RayPool(cluster.address) as pool:
        for made in pair_blocks(policy, rules, 6000, 9, block=200, pool=pool):
            there.append(made)
            if len(there) == 5:
                kill(cluster)
        assert not cluster.worker_nodes
    here = pair_blocks(policy, rules, 6000, 9, block=200)
    for mine, theirs in zip(here, there, strict=True):
        assert all((a == b).all() for a, b in zip(mine, theirs, strict=True))


def test_the_match_command_prints_the_same(cluster, capsys):
    command = ["match", "rule", "cautious", "--boards", "300"]
    printed = []
    for options in ([], ["--ray"], ["--ray-address", cluster.address]):
        assert main([*command, *options]) == 0
        printed.append(capsys.readouterr().out.splitlines()[:-1])  # the last line has times
    assert printed[0] == printed[1] == printed[2]
    assert main([*command, "--ray", "--workers", "2"]) == 2
    assert main([*command, "--ray-address", "127.0.0.1:1"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_the_tournament_command_writes_the_same_table(cluster, tmp_path):
    tables = []
    for options in ([], ["--ray"]):
        out = tmp_path / str(len(tables))
        command = ["tournament", "--variant", "six_card_v0", "--agents", "random", "rule"]
        assert main([*command, "--boards", "300", "--out", str(out), *options]) == 0
        with (out / "results.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        tables.append([{k: v for k, v in row.items() if "ms_per" not in k} for row in rows])
    assert tables[0] == tables[1] != []


def test_learn_cards_writes_the_same_weights(cluster, tmp_path):
    weights = []
    for options in ([], ["--ray"]):
        out = tmp_path / str(len(weights))
        words = ["--games", "six_card_v0", "--first", "300", "--hands", "200", "--rounds", "2"]
        with loaded("experiments", "learn_cards") as (script,):
            words += ["--call-rounds", "0", "--out", str(out), *options]
            assert script.main(script.Args.parse(words)) == 0
        weights.append({path.name: path.read_bytes() for path in out.glob("*.npz")})
    assert weights[0] == weights[1] != {}


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


def test_ctrl_c_keeps_the_finished_blocks_and_the_workers(monkeypatch):
    """A terminal sends it to every process."""
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
