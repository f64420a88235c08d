"""Functions of blocks that the tests of Ray send to workers."""

from __future__ import annotations

import os
from pathlib import Path

from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.evaluation import ray_worker


def product(shared, block):
    """The block times the shared value."""
    return shared * block


def added(shared, block):
    """The block added to the worker's copy of the shared array."""
    shared += block
    return shared


def stumbles(kind, block):
    """Raise an error of this kind at block 3."""
    if block == 3:
        raise {"option": OptionError, "illegal": IllegalActionError, "value": ValueError}[kind]("3")
    return block


def ends(times, block):
    """End the process at block 2, up to `times[1]` times."""
    folder, most = Path(times[0]), times[1]
    if block == 2 and len(list(folder.iterdir())) < most:
        (folder / str(os.getpid())).touch()
        os._exit(3)
    return block


def in_order(function, shared, blocks):
    """Results as a pool yields them, computed in this process from packed blocks."""
    common, sender = ray_worker.pack((function, shared)), ray_worker.Sender.here(function)
    for block in blocks:
        result, error = ray_worker.ForkingPickler.loads(ray_worker.call(common, sender, block))
        assert error is None
        yield result
