"""Ray for tests: clusters of nodes on this machine, and functions that workers run by block."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.evaluation import ray_worker

SUPPORT = str(Path(__file__).resolve().parents[1])
SETTINGS = {
    "RAY_AUTH_MODE": "disabled",  # else it writes a token into the home folder
    "RAY_worker_niceness": "0",  # else workers wait for every other process
    "RAY_ADDRESS": "",
}


@contextmanager
def settings_for_ray(monkeypatch: Any, *paths: str, **more: str) -> Iterator[None]:
    """Context manager: set Ray's variables and those of `more`; remove its folder at the end."""
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # sockets have short paths
    os.mkdir(f"{folder}/ray")
    before = filter(None, [os.environ.get("PYTHONPATH")])
    path = os.pathsep.join((SUPPORT, *paths, *before))
    for name, value in {**SETTINGS, "RAY_TMPDIR": folder, "PYTHONPATH": path, **more}.items():
        monkeypatch.setenv(name, value)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def cluster_of(nodes: int) -> Iterator[Any]:
    """Context manager: yield a cluster of nodes with one processor each; the first is the head."""
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(nodes - 1):
            cluster.add_node(num_cpus=1)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def kill(cluster: Any) -> None:
    """Kill the last worker node, if there is one; the head stays."""
    for node in list(cluster.worker_nodes)[-1:]:
        cluster.remove_node(node, allow_graceful=False)


def product(shared, block):
    """Return the block times the shared value."""
    return shared * block


def add_in_place(shared, block):
    """Add the block to the worker's copy of the shared array, and return it."""
    shared += block
    return shared


def count_to(shared, block):
    """Yield `block` answers, from the shared value up, with a pause after each."""
    for i in range(block):
        yield shared + i
        yield None


def fail_at_3(kind, block):
    """Return the block; at block 3 raise the error of this kind."""
    if block == 3:
        raise {"option": OptionError, "illegal": IllegalActionError, "value": ValueError}[kind]("3")
    return block


def crash(times, block):
    """Return the block; at block 2 end the process, `times[1]` times, with a file each time."""
    folder, most = Path(times[0]), times[1]
    if block == 2 and len(list(folder.iterdir())) < most:
        (folder / str(os.getpid())).touch()
        os._exit(3)
    return block


def in_order(function, shared, blocks):
    """Yield results as a pool does, computed in this process from packed blocks."""
    common, sender = ray_worker.pack((function, shared)), ray_worker.Sender.here(function)
    for block in blocks:
        result, error = ray_worker.ForkingPickler.loads(ray_worker.call(common, sender, block))
        assert error is None
        yield from result
