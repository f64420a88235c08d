"""Fixtures for the tests of adapters: torch with one thread, and Ray in this process."""

import sys

import pytest
from support.ray_clusters import settings_for_ray


@pytest.fixture(autouse=True, scope="module")
def one_thread_of_torch():
    """Limit torch to one thread: more would compete with the other test process."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def local_ray():
    """Ray in this process, with files in a temporary folder."""
    import ray

    with pytest.MonkeyPatch.context() as patch, settings_for_ray(patch):
        ray.init(num_cpus=1, include_dashboard=False, object_store_memory=128 << 20)
        yield
        ray.shutdown()
