"""Blocks on a Ray worker: errors, versions of sources, and agents' files."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from support import own_agents, ray_blocks

from bideuchre_env.errors import IllegalActionError, OptionError, WorkerError
from bideuchre_env.evaluation import ray_worker, workers
from bideuchre_env.evaluation.blocks import Plan
from bideuchre_env.rules.variants import CINCINNATI


def unpacked(data):
    """The (result, error) that a worker has sent."""
    return ray_worker.ForkingPickler.loads(data)


def test_errors_of_a_block_are_sent_back(tmp_path, monkeypatch):
    """A worker sends errors of a block back; those of this package keep their type."""
    monkeypatch.chdir(tmp_path)
    kinds = {"option": OptionError, "illegal": IllegalActionError, "value": WorkerError}
    sender = ray_worker.Sender.here(ray_blocks.fail_at_3)
    for kind, expected in kinds.items():
        common = ray_worker.pack((ray_blocks.fail_at_3, kind))
        assert unpacked(ray_worker.call(common, sender, 2)) == (2, None)
        result, error = unpacked(ray_worker.call(common, sender, 3))
        assert result is None
        assert type(error) is expected
        assert "3" in str(error)
    missing = ray_worker.pack((ray_blocks.product, 2)).replace(b"product", b"missing")
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
            assert unpacked(ray_worker.call(common, sender, 4)) == (8, None)
            Path(beside).write_text("x = 1\n")
            ray_worker.sources_of.cache_clear()
            for other in (sender, sender._replace(sources=(("nowhere", "0"),))):
                _, error = unpacked(ray_worker.call(common, other, 4))
                assert type(error) is WorkerError
                assert "install the same version on every node, scripts at the same path" in str(
                    error
                )
        finally:
            del sys.modules[function.__module__]
            ray_worker.sources_of.cache_clear()


@pytest.mark.parametrize("side", ["./mine.py:First", ("rule", "./mine.py:First")])
def test_an_agents_file_that_differs_on_a_node_is_refused(tmp_path, monkeypatch, side):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(own_agents.FILE)
    plan = Plan(CINCINNATI, (side, "rule"), 0, True, 2)
    work = workers.Work.of(plan)
    assert len(workers.play_whole_block(work, range(4)).rows) == 4
    Path("mine.py").write_text(own_agents.FILE + "\n")
    workers.prepare_plan.cache_clear()
    with pytest.raises(OptionError, match=r"'\./mine\.py' is another file here"):
        workers.play_whole_block(work, range(4))
    Path("mine.py").unlink()
    with pytest.raises(OptionError, match=r"'\./mine\.py': on Ray it lies at the same place"):
        workers.play_whole_block(work, range(4))
