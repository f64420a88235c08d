"""Scripts and a tournament on a cluster of two nodes write what they write here."""

from __future__ import annotations

import csv
import os

import pytest
from support.ray_clusters import cluster_of, settings_for_ray
from support.script_modules import ROOT, loaded

from bideuchre_env.cli.main import main

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Ray has no clusters there"),
]
TIMES = {"a_ms_per_decision", "b_ms_per_decision"}


@pytest.fixture
def cluster(monkeypatch):
    """Two nodes with a processor each; their workers find the scripts."""
    with settings_for_ray(monkeypatch, str(ROOT / "experiments")), cluster_of(2) as nodes:
        yield nodes


def test_a_tournament_on_a_cluster(cluster, tmp_path):
    """The same table, but for the times."""
    tables = []
    for how in ([], ["--ray"]):
        out = tmp_path / str(len(tables))
        options = ["--variant", "six_card_v0", "--agents", "random", "rule", "--boards", "300"]
        assert main(["tournament", *options, "--games", "4", "--out", str(out), *how]) == 0
        with (out / "results.csv").open(encoding="utf-8") as file:
            rows = csv.DictReader(file)
            tables.append([{k: v for k, v in row.items() if k not in TIMES} for row in rows])
    assert len(tables[0]) == 1
    assert tables[0] == tables[1]


def test_learning_cards_on_a_cluster(cluster, tmp_path):
    """The same weights, byte for byte."""
    weights = []
    for how in ([], ["--ray"]):
        out = tmp_path / str(len(weights))
        options = ["--games", "six_card_v0", "--first", "300", "--hands", "200", "--rounds", "2"]
        with loaded("experiments", "learn_cards") as (script,):
            asked = [*options, "--call-rounds", "0", "--out", str(out), *how]
            assert script.main(script.Args.parse(asked)) == 0
        weights.append({path.name: path.read_bytes() for path in out.glob("*.npz")})
    assert "net-six_card_v0.npz" in weights[0]
    assert weights[0] == weights[1]
