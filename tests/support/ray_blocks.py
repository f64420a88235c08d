"""Functions that the tests of Ray run on workers, block by block."""

import os
from pathlib import Path

from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.evaluation import ray_worker


def product(shared, block):
    """Return the block times the shared value."""
    return shared * block


def add_in_place(shared, block):
    """Add the block to the worker's copy of the shared array, and return it."""
    shared += block
    return shared


def fail_at_3(kind, block):
    """Return the block, but raise an error of this kind at block 3.

    `kind` is "option", "illegal" or "value".
    """
    if block == 3:
        raise {"option": OptionError, "illegal": IllegalActionError, "value": ValueError}[kind]("3")
    return block


def crash(times, block):
    """Return the block, but end the process at block 2, up to `times[1]` times.

    Each time a file is written to the folder `times[0]`, to count them.
    """
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
        yield result
