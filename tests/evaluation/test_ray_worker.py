"""What a worker on Ray does with a block: what it raises, and by whose files it plays."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from support import own_agents, ray_blocks
from support.prepared_calls import prepare_calls

from bideuchre_env.cli.options import variant_of
from bideuchre_env.errors import IllegalActionError, OptionError, WorkerError
from bideuchre_env.evaluation import ray_worker, workers
from bideuchre_env.evaluation.blocks import Plan, play_block
from bideuchre_env.rules.variants import CINCINNATI


def test_what_a_worker_raises_is_sent_back(tmp_path, monkeypatch):
    """Errors of ours as they are, others in a line; and other sources are none to play by."""
    monkeypatch.chdir(tmp_path)
    kinds = {"option": OptionError, "illegal": IllegalActionError, "value": WorkerError}
    for kind, expected in kinds.items():
        common = ray_worker.packed((ray_blocks.stumbles, kind))
        sender = ray_worker.Sender.here(ray_blocks.stumbles)
        assert unpacked(ray_worker.call(common, sender, 2)) == (2, None)
        result, error = unpacked(ray_worker.call(common, sender, 3))
        assert result is None
        assert type(error) is expected
        assert "3" in str(error)
        _, error = unpacked(
            ray_worker.call(common, sender._replace(sources=(("bideuchre_env", "0"),)), 2)
        )
        assert type(error) is WorkerError
        assert "install the same on every node" in str(error)
    gone = ray_worker.packed((ray_blocks.product, 2)).replace(b"product", b"missing")
    _, error = unpacked(ray_worker.call(gone, sender, 2))
    assert "missing" in str(error)
    with pytest.raises(OptionError, match="cannot be sent"):
        ray_worker.packed(lambda: None)


def test_a_function_of_other_sources_is_none_to_play_by(tmp_path, monkeypatch):
    """Of a script's package, or of a script that has neighbours; it may be missing, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for path, beside in (("alike/__init__.py", "alike/other.py"), ("alone.py", "other.py")):
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text("def twice(shared, block):\n    return 2 * block\n")
        Path(beside).write_text("")
        function = importlib.import_module(path.split("/")[0].removesuffix(".py")).twice
        try:
            common, sender = ray_worker.packed((function, 0)), ray_worker.Sender.here(function)
            assert unpacked(ray_worker.call(common, sender, 4)) == (8, None)
            Path(beside).write_text("x = 1\n")
            ray_worker.sources_of.cache_clear()
            for told in (sender, sender._replace(sources=(("nowhere", "0"),))):
                _, error = unpacked(ray_worker.call(common, told, 4))
                assert type(error) is WorkerError
                assert "scripts at the same path" in str(error)
        finally:
            del sys.modules[function.__module__]
            ray_worker.sources_of.cache_clear()


def unpacked(sent):
    """What a worker has sent."""
    return ray_worker.ForkingPickler.loads(sent)


def test_a_whole_block_is_what_is_played_in_parts():
    plan = Plan(CINCINNATI, ("rule", "cautious"), 5, True, 4)
    parts = []
    play_block(plan, range(16, 32), parts.append, lambda: False)
    whole = workers.whole_block(workers.Work.of(plan), range(16, 32))
    assert len(parts) > 2
    assert (whole.rows == np.concatenate([part.rows for part in parts])).all()
    assert whole.decisions == tuple(np.sum([part.decisions for part in parts], axis=0))
    assert min(whole.think_seconds) > 0


def test_a_file_is_the_same_on_every_node(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(own_agents.FILE)
    plan = Plan(CINCINNATI, ("./mine.py:First", "rule"), 0, True, 2)
    work = workers.Work.of(plan)
    assert len(workers.whole_block(work, range(4)).rows) == 4
    Path("mine.py").write_text(own_agents.FILE + "\n")
    workers.ready.cache_clear()
    with pytest.raises(OptionError, match=r"'\./mine\.py' is another file here"):
        workers.whole_block(work, range(4))
    Path("mine.py").unlink()
    with pytest.raises(OptionError, match=r"'\./mine\.py': on Ray it lies at the same place"):
        workers.whole_block(work, range(4))


def test_what_was_prepared_is_the_same_on_every_node(tmp_path, monkeypatch):
    """What the agents at hand look for, and nothing else; a file that is new is seen at once."""
    game = variant_of("cincinnati_v0", ["target=20"])
    other = variant_of("cincinnati_v0", ["target=21"])

    def answered(plan, sender):
        """What a worker says with a cache of its own, to whom nothing was said before."""
        workers.ready.cache_clear()
        common = ray_worker.packed((workers.whole_block, workers.Work.of(plan)))
        return unpacked(ray_worker.call(common, sender, range(4)))[1]

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    expert, rule = (Plan(game.rules, (name, "rule"), 0, True, 2) for name in ("expert", "cautious"))
    alone = ray_worker.Sender.here(workers.whole_block)
    assert answered(expert, alone) is None
    prepare_calls(other.rules)
    assert answered(expert, alone) is None
    file = prepare_calls(game.rules)
    both = ray_worker.Sender.here(workers.whole_block)
    assert answered(expert, both) is None
    file.write_bytes(prepare_calls(game.rules, 1.0).read_bytes())
    for sender in (alone, both):
        error = answered(expert, sender)
        assert type(error) is WorkerError
        assert f"plays by another {file.name}, or by none" in str(error)
        assert answered(rule, sender) is None
    file.unlink()
    assert "or by none" in str(answered(expert, both))
    assert answered(expert, alone) is None
