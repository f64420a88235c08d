"""Ray: blocks, one-line errors, versions of sources, and matches on workers and clusters."""

import importlib
import os
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support import custom_agents, ray_clusters
from support.ray_clusters import cluster_of, kill, settings_for_ray

from bideuchre_env import match
from bideuchre_env.cli.main import main
from bideuchre_env.errors import AgentError, IllegalActionError, OptionError, WorkerError
from bideuchre_env.evaluation import blocks, ray_worker
from bideuchre_env.evaluation.blocks import Plan, play_block
from bideuchre_env.evaluation.ray_pool import RayPool, workers_of
from bideuchre_env.evaluation.statistics.sequential import Bounds
from bideuchre_env.rules.variants import CINCINNATI

RAY = {"boards": 600, "games": 20, "seed": 3}


@pytest.fixture
def no_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)


@pytest.fixture
def idle_ray(monkeypatch):
    """A stand-in for Ray that is not initialized."""
    idle = SimpleNamespace(is_initialized=lambda: False, shutdown=lambda **options: None)
    monkeypatch.setitem(sys.modules, "ray", idle)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """Workers on a local Ray, with a temporary home folder."""
    pytest.importorskip("ray")
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch, settings_for_ray(patch, HOME=str(home)):
        patch.delenv("RAY_AUTH_MODE")
        with RayPool("local") as started:
            yield started
        assert "RAY_AUTH_TOKEN" not in os.environ
        assert not list(home.glob(".ray*"))
        with pytest.raises(OptionError, match="closed"):
            started.run(ray_clusters.product, 1, [1])


@pytest.mark.parametrize(
    ("address", "message"),
    [
        *((bad, "host:port") for bad in ("10.0.0.5", "http://10.0.0.5:1", 6379)),
        ("127.0.0.1:99999", "no answer there"),
    ],
)
def test_bad_addresses_are_refused_before_ray_is_called(idle_ray, address, message, monkeypatch):
    """RAY_ADDRESS is used if no address is passed."""
    with pytest.raises(OptionError, match=message):
        RayPool(address)
    monkeypatch.setenv("RAY_ADDRESS", str(address))
    with pytest.raises(OptionError, match=message):
        RayPool()


def test_workers_and_ray_exclude_each_other(no_ray):
    with workers_of(3, False, None) as three:
        assert three.workers == 3
    message = "--workers 2: expected only without --ray"
    with pytest.raises(OptionError, match=message), workers_of(2, True, None):
        pass


def same(a, b):
    """Whether two results have the same boards, games and decisions."""
    rows = zip((a.board_rows, a.game_rows), (b.board_rows, b.game_rows), strict=True)
    equal = all(x.tobytes() == y.tobytes() for x, y in rows)
    return equal and (bool(a.test) or a.decisions == b.decisions)


def test_a_match_on_ray_equals_the_match_of_one_process(pool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(custom_agents.FILE)
    calls = []
    for pair, options in (
        (("./mine.py:Last", "random"), RAY),
        (("rule", "random"), {"boards": 4000, "sprt": Bounds(5, 6)}),
    ):
        here = match("barrie_v0", *pair, **options)
        there = match(
            "barrie_v0", *pair, **options, workers=pool, progress=lambda *now: calls.append(now)
        )
        assert same(here, there)
        assert here.test is None or there.boards.boards < 4000
    assert calls[0] == ("boards", 0, 600, 0)
    assert ("games", 20, 20) in [now[:3] for now in calls]


def test_errors_of_agents_are_raised(pool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text("class Bad:\n    def act(self, observation, mask): return 1 / 0\n")
    with pytest.raises(AgentError, match="ZeroDivisionError"):
        match("barrie_v0", "./bad.py:Bad", "random", boards=500, workers=pool)


def test_blocks_are_computed_once_each_and_yielded_in_order(pool):
    assert sorted(pool.run(ray_clusters.product, 3, range(40))) == [(k, 3 * k) for k in range(40)]
    assert list(pool.in_order(ray_clusters.product, 3, iter(range(40)))) == [*range(0, 120, 3)]
    arrays = list(pool.in_order(ray_clusters.add_in_place, np.zeros(100_000), range(8)))
    assert [(array == k).all() for k, array in enumerate(arrays)] == [True] * 8
    arrays[0] += 1
    assert list(pool.run(ray_clusters.product, 3, [])) == []
    with pytest.raises(WorkerError, match="3"):
        list(pool.run(ray_clusters.fail_at_3, "value", range(9)))
    enough = []
    for number, _ in pool.run(ray_clusters.product, 3, range(10**9), lambda: len(enough) > 20):
        enough.append(number)
    assert sorted(enough) == list(range(21))


def test_the_block_of_a_dead_worker_is_computed_again_and_counted_once(pool, tmp_path):
    counts = Counter(number for number, _ in pool.run(ray_clusters.crash, (tmp_path, 1), range(12)))
    assert counts == Counter(range(12))
    assert len(list(tmp_path.iterdir())) == 1


def unpacked(data):
    return ray_worker.ForkingPickler.loads(data)


def test_errors_of_a_block_are_sent_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kinds = {"option": OptionError, "illegal": IllegalActionError, "value": WorkerError}
    sender = ray_worker.Sender.here(ray_clusters.fail_at_3)
    for kind, expected in kinds.items():
        common = ray_worker.pack((ray_clusters.fail_at_3, kind))
        assert unpacked(ray_worker.call(common, sender, 2)) == ([2], None)
        result, error = unpacked(ray_worker.call(common, sender, 3))
        assert result is None
        assert type(error) is expected
        assert "3" in str(error)
    missing = ray_worker.pack((ray_clusters.product, 2)).replace(b"product", b"missing")
    _, error = unpacked(ray_worker.call(missing, sender, 2))
    assert "missing" in str(error)
    with pytest.raises(OptionError, match="cannot be sent"):
        ray_worker.pack(lambda: None)


def test_a_worker_with_other_sources_refuses_the_block(tmp_path, monkeypatch):
    """The sources are a script's package, or a script and its neighbouring files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for path, beside in (("both/__init__.py", "both/other.py"), ("alone.py", "other.py")):
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text("def twice(shared, block):\n    return 2 * block\n")
        Path(beside).write_text("")
        function = importlib.import_module(path.split("/")[0].removesuffix(".py")).twice
        try:
            common, sender = ray_worker.pack((function, 0)), ray_worker.Sender.here(function)
            assert unpacked(ray_worker.call(common, sender, 4)) == ([8], None)
            Path(beside).write_text("x = 1\n")
            ray_worker.sources_of.cache_clear()
            for other in (sender, sender._replace(sources=(("nowhere", "0"),))):
                _, error = unpacked(ray_worker.call(common, other, 4))
                assert type(error) is WorkerError
                assert "install the same version on every node, scripts at" in str(error)
        finally:
            del sys.modules[function.__module__]
            ray_worker.sources_of.cache_clear()


@pytest.mark.parametrize("side", ["./mine.py:First", ("rule", "./mine.py:First")])
def test_an_agents_file_that_differs_on_a_node_is_refused(tmp_path, monkeypatch, side):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(custom_agents.FILE)
    plan = Plan(CINCINNATI, (side, "rule"), 0, True, 2)
    packed = ray_worker.pack(plan)
    batches = filter(None, play_block(unpacked(packed), range(4)))
    assert sum(len(batch.rows) for batch in batches) == 4
    Path("mine.py").write_text(custom_agents.FILE + "\n")
    blocks.unpacked.cache_clear()
    with pytest.raises(OptionError, match=r"'\./mine\.py' is another file here"):
        unpacked(packed)
    Path("mine.py").unlink()
    with pytest.raises(OptionError, match=r"'\./mine\.py': on Ray it lies at the same place"):
        unpacked(packed)


@pytest.fixture
def cluster(monkeypatch):
    pytest.importorskip("ray")
    with settings_for_ray(monkeypatch), cluster_of(2) as nodes:
        yield nodes


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="Ray has no clusters there")
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
        there = match(
            "cincinnati_v0", "rule", "./mine.py:Last", **played, workers=pool, progress=progress
        )
    here = match("cincinnati_v0", "rule", "./mine.py:Last", **played)
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
