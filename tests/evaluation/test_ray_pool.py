"""Blocks on Ray: each has one result, whoever dies; what is wrong is said in a line."""

from __future__ import annotations

import os
import socket
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support import own_agents, ray_blocks
from support.ray_clusters import settings_for_ray

from bideuchre_env import match
from bideuchre_env.agents import registry
from bideuchre_env.errors import AgentError, IllegalActionError, OptionError, WorkerError
from bideuchre_env.evaluation import ray_pool, ray_worker
from bideuchre_env.evaluation.ray_pool import RayPool, workers_of
from bideuchre_env.evaluation.statistics.sequential import Bounds

RAY = {"boards": 600, "games": 20, "seed": 3}


@pytest.fixture
def no_ray(monkeypatch):
    """Ray is not installed."""
    monkeypatch.setitem(sys.modules, "ray", None)


@pytest.fixture
def idle_ray(monkeypatch):
    """Ray is installed and has not been asked for anything."""
    idle = SimpleNamespace(is_initialized=lambda: False, shutdown=lambda **options: None)
    monkeypatch.setitem(sys.modules, "ray", idle)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """Workers on a Ray that is started for these tests, with a home folder of its own."""
    pytest.importorskip("ray")
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch, settings_for_ray(patch, HOME=str(home)):
        patch.delenv("RAY_AUTH_MODE")
        with RayPool("local") as started:
            yield started
        assert "RAY_AUTH_TOKEN" not in os.environ
        assert not list(home.glob(".ray*"))
        with pytest.raises(OptionError, match="closed"):
            started.run(ray_blocks.product, 1, [1])


def test_without_ray_a_line_says_how_to_install_it(no_ray):
    with pytest.raises(OptionError, match=r'pip install "bideuchre_env\[ray\]"'):
        RayPool()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("", "host:port"),
        ("no way", "host:port"),
        ("10.0.0.5", "host:port"),
        ("http://10.0.0.5:6379", "host:port"),
        ("127.0.0.1:x", "host:port"),
        (6379, "host:port"),
        ("127.0.0.1:1", "nobody answers there"),
        ("127.0.0.1:99999", "nobody answers there"),
        ("ray://127.0.0.1:1", "nobody answers there"),
    ],
)
def test_odd_addresses_are_refused(idle_ray, address, message, monkeypatch):
    """Before Ray is asked, which takes two minutes; RAY_ADDRESS counts where none is given."""
    with pytest.raises(OptionError, match=message) as refused:
        RayPool(address)
    assert "\n" not in str(refused.value)
    monkeypatch.setenv("RAY_ADDRESS", str(address) or "?")
    with pytest.raises(OptionError, match=message):
        RayPool()


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (SystemExit(15), "no Ray answers there"),
        (ConnectionError("Failed"), "no cluster of Ray that this machine is a node of"),
        (ValueError("several\nlines"), "several lines"),
    ],
)
def test_what_ray_raises_is_one_line(idle_ray, monkeypatch, raised, message):
    """It ends the program where something else answers."""

    def init(*how, **options):
        raise raised

    monkeypatch.setattr(sys.modules["ray"], "init", init, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "127.0.0.1:{1}".format(*server.getsockname())
        with pytest.raises(OptionError, match=f"ray address '{address}': .*{message}"):
            RayPool(address)


def test_an_older_ray_is_shut_down_too(idle_ray, monkeypatch):
    """Its shutdown has no option to wait for processes."""
    calls = []

    def init(*how, **options):
        calls.append("init")

    def shutdown():
        calls.append("shutdown")

    for name, function in (("init", init), ("shutdown", shutdown)):
        monkeypatch.setattr(sys.modules["ray"], name, function, raising=False)
    with RayPool("local"):
        assert calls == ["init"]
    assert calls == ["init", "shutdown"]


def test_a_cluster_without_processors_is_one_line(monkeypatch):
    """After some time: a node may come. What waits is given up."""
    cancelled, cpus = [], iter([1, 0, 1, *[0] * 10**6])
    ray = SimpleNamespace(
        is_initialized=lambda: True,
        cluster_resources=lambda: {"CPU": next(cpus)},
        remote=lambda **options: lambda function: SimpleNamespace(remote=lambda *a: object()),
        put=lambda value: value,
        wait=lambda promises, **options: ([], promises),
        cancel=lambda promise, force: cancelled.append(promise),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(ray_pool, "EMPTY_SECONDS", 0.2)
    with RayPool() as pool, pytest.raises(WorkerError, match="no processor"):
        list(pool.run(ray_blocks.product, 3, range(9)))
    assert len(cancelled) == 2


class RayError(Exception):
    """What all of Ray's errors are."""


class RayTaskError(RayError):
    """What was raised on a worker before the block began."""

    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


class WorkerCrashedError(RayError):
    """What is raised when Ray has begun a block as often as it may."""


@pytest.fixture
def failing_ray(monkeypatch):
    """A Ray that computes here, and raises for a block what `failures[block]` has, one by one."""
    failures, tried = {}, []

    def sent(common, sender, block):
        assert type(common) is (bytes if block in tried else memoryview)
        tried.append(block)
        return (failures[block].pop(0) if failures.get(block) else None), common, sender, block

    def get(promise):
        error, *what = promise
        if error is not None:
            raise error
        return ray_worker.call(*what)

    ray = SimpleNamespace(
        is_initialized=lambda: True,
        cluster_resources=lambda: {"CPU": 1},
        remote=lambda **options: lambda function: SimpleNamespace(remote=sent),
        put=memoryview,  # not the value itself
        get=get,
        wait=lambda promises, **options: (promises, []),
        cancel=lambda promise, force: None,
        exceptions=SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(ray_pool, "AGAIN_SECONDS", 0.001)
    monkeypatch.setattr(ray_pool, "POLL_SECONDS", 0.001)
    return failures, tried


def lost(kind):
    """The error of an object that could not be fetched: by the program, or by a worker."""
    error = RayError("Failed to retrieve object")
    return {
        "here": error,
        "worker": RayTaskError(error),
        "both": RayTaskError(RayTaskError(error)),
    }[kind]


@pytest.mark.parametrize("kind", ["here", "worker", "both"])
def test_a_block_that_ray_has_lost_is_sent_again(failing_ray, tmp_path, monkeypatch, kind):
    """As often as one whose worker dies; it has one result, and the others stay as they are."""
    monkeypatch.chdir(tmp_path)
    failures, tried = failing_ray
    failures[2] = [lost(kind) for _ in range(ray_pool.TRIES)]
    failures[4] = [lost(kind)]
    with RayPool() as pool:
        found = sorted(pool.run(ray_blocks.product, 3, range(7)))
    assert found == [(k, 3 * k) for k in range(7)]
    assert Counter(tried) == {**dict.fromkeys(range(7), 1), 2: ray_pool.TRIES + 1, 4: 2}


@pytest.mark.parametrize(
    ("error", "times", "message"),
    [
        (
            lost("here"),
            6,
            "block 3 was given up on Ray after 6 tries: RayError: Failed to retrieve",
        ),
        (lost("worker"), 6, "a worker on Ray cannot begin: Failed to retrieve object"),
        (RayTaskError(RuntimeError("no\nmodule")), 1, "a worker on Ray cannot begin: no module"),
        (RayTaskError(None), 1, "a worker on Ray cannot begin: None"),
        (WorkerCrashedError("died"), 1, "given up on Ray after 6 tries: WorkerCrashedError: died"),
        (RayTaskError(WorkerCrashedError("died")), 6, "cannot begin: died"),
    ],
)
def test_a_block_that_cannot_be_computed_ends_the_work(
    failing_ray, tmp_path, monkeypatch, error, times, message
):
    """What Ray loses again and again, what Ray has begun again itself, and what is not Ray's."""
    monkeypatch.chdir(tmp_path)
    failures, tried = failing_ray
    failures[2] = [error] * 20
    with RayPool() as pool, pytest.raises(WorkerError, match=message) as given_up:
        list(pool.run(ray_blocks.product, 3, range(9)))
    assert "\n" not in str(given_up.value)
    assert tried.count(2) == times


def test_processes_or_ray_and_not_both(no_ray):
    with workers_of(3, False, None) as three:
        assert three == 3
    for asked in ((2, True, None), (2, False, "auto")):
        with (
            pytest.raises(OptionError, match="--workers 2: processes here, or --ray"),
            workers_of(*asked),
        ):
            pass


def test_a_match_on_ray_is_the_match_of_one_process(pool, tmp_path, monkeypatch):
    """All its boards and games, by agents of the package, a file's and a test's verdict."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(own_agents.FILE)
    told = []
    for pair in (("rule", "cautious"), ("./mine.py:Last", "random")):
        here = match.play("barrie_v0", *pair, **RAY)
        there = match.play(
            "barrie_v0", *pair, **RAY, workers=pool, progress=lambda *how: told.append(how)
        )
        assert same(here, there)
    assert told[0] == ("boards", 0, 600, 0)
    assert [how[0] for how in told[-2:]] == ["games", "games"]
    assert told[-1][1:3] == (20, 20)
    tested = [
        match.play("barrie_v0", "rule", "random", boards=4000, sprt=Bounds(5, 6), workers=where)
        for where in (1, pool)
    ]
    assert same(*tested)
    assert tested[1].boards.boards < 4000


def same(a, b):
    """Whether two results have the same boards, games and decisions."""
    rows = zip((a.board_rows, a.game_rows), (b.board_rows, b.game_rows), strict=True)
    equal = all(len(x) == len(y) and (x == y).all() for x, y in rows)
    return (
        equal
        and (a.boards, a.games) == (b.boards, b.games)
        and (bool(a.test) or a.decisions == b.decisions)
    )


def test_agents_that_workers_cannot_have_are_refused(pool, tmp_path, monkeypatch):
    """Before anything is played; an agent's own error comes back in a line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "registered", {})
    registry.register("mine", lambda rules, *, seed=None: None)
    for agent in ("mine", lambda rules: None):
        with pytest.raises(OptionError, match="cannot be sent to another process"):
            match.play("barrie_v0", agent, "random", boards=500, workers=pool)
    Path("bad.py").write_text("class Bad:\n    def act(self, observation, mask): return 1 / 0\n")
    with pytest.raises(AgentError, match="ZeroDivisionError"):
        match.play("barrie_v0", "./bad.py:Bad", "random", boards=500, workers=pool)


def test_blocks_are_computed_once_each_and_in_order(pool):
    """However many there are; each with a copy of what they share, which it may write to."""
    assert sorted(pool.run(ray_blocks.product, 3, range(40))) == [(k, 3 * k) for k in range(40)]
    assert list(pool.in_order(ray_blocks.product, 3, iter(range(40)))) == [*range(0, 120, 3)]
    arrays = list(pool.in_order(ray_blocks.added, np.zeros(100_000), range(8)))
    assert [(array == k).all() for k, array in enumerate(arrays)] == [True] * 8
    arrays[0] += 1
    assert list(pool.run(ray_blocks.product, 3, [])) == []
    for kind, error in (("illegal", IllegalActionError), ("value", WorkerError)):
        with pytest.raises(error, match="3"):
            list(pool.run(ray_blocks.stumbles, kind, range(9)))
    enough = []
    for number, _ in pool.run(ray_blocks.product, 3, range(10**9), lambda: len(enough) > 20):
        enough.append(number)
    assert sorted(enough) == list(range(21))


def test_a_worker_that_dies_is_replaced(pool, tmp_path):
    """Its block is begun anew, and counted once."""
    found = Counter(number for number, _ in pool.run(ray_blocks.ends, (tmp_path, 1), range(12)))
    assert found == Counter(range(12))
    assert len(list(tmp_path.iterdir())) == 1
