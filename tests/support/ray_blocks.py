"""Functions of blocks that the tests of Ray send to workers, and a pool without any."""

from __future__ import annotations

import os
import time
from pathlib import Path

from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.evaluation import ray_worker


def product(shared, block):
    """The block times what is shared."""
    return shared * block


def added(shared, block):
    """The block, added to the array that is shared: a copy of its own."""
    shared += block
    return shared


def stumbles(kind, block):
    """Raises an error of this kind at block 3."""
    if block == 3:
        raise {"option": OptionError, "illegal": IllegalActionError, "value": ValueError}[kind]("3")
    return block


def ends(times, block):
    """Ends its process at block 2, as often as `times` says."""
    folder, most = Path(times[0]), times[1]
    if block == 2 and len(list(folder.iterdir())) < most:
        (folder / str(os.getpid())).touch()
        os._exit(3)
    return block


def logged(shared, block):
    """Enters in a file, before a block and after it, on which node it is.

    A block on the doomed node never ends; the others wait until one has begun there.
    """
    import ray

    file, doomed = Path(shared[0]), shared[1]
    node = ray.get_runtime_context().get_node_id()
    for what in ("begun", "done"):
        with file.open("a") as log:
            log.write(f"{what} {block} {node}\n")
        while what == "begun" and (node == doomed or doomed not in file.read_text()):
            time.sleep(0.1)
    return block


def in_order(function, shared, blocks):
    """What a pool does, in this process: all that is sent is packed."""
    common, sender = ray_worker.packed((function, shared)), ray_worker.Sender.here(function)
    for block in blocks:
        result, error = ray_worker.ForkingPickler.loads(ray_worker.call(common, sender, block))
        assert error is None
        yield result
