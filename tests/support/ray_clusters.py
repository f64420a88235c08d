"""Clusters of Ray for tests, with several nodes on this machine."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SUPPORT = str(Path(__file__).resolve().parents[1])
SETTINGS = {
    "RAY_AUTH_MODE": "disabled",  # else it writes a token into the home folder
    "RAY_worker_niceness": "0",  # else workers wait for every other process
    "RAY_ADDRESS": "",
}


@contextmanager
def settings_for_ray(monkeypatch: Any, *paths: str, **more: str) -> Iterator[None]:
    """Context manager: set Ray's environment variables, and remove its temporary folder at the end.

    `paths` are added to the import path of workers, `more` are further variables.
    """
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

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
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
