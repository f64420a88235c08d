"""What a worker on Ray does with a block, in the folder and by the sources of who sent it."""

from __future__ import annotations

import hashlib
import os
import socket
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, NamedTuple

from bideuchre_env.agents.loading import in_one_line
from bideuchre_env.errors import BidEuchreError, OptionError, WorkerError


class Sender(NamedTuple):
    """What a worker has to share with the program that sends it blocks."""

    folder: str
    sources: str

    @classmethod
    def here(cls) -> Sender:
        """Of this process."""
        return cls(os.getcwd(), sources())

    def prepare(self) -> None:
        """Work in the same folder, if it is there; `WorkerError` for other sources of the package.

        Files that agents are named by are found from there.
        """
        if self.sources != sources():
            raise WorkerError(
                f"{socket.gethostname()} has other sources of bideuchre_env: "
                "install the same on every node"
            )
        with suppress(OSError):
            os.chdir(self.folder)


@lru_cache(maxsize=1)
def sources() -> str:
    """A hash of the package as it is installed here: its code and its agents' numbers."""
    package, files = Path(__file__).resolve().parents[1], {}
    spec = find_spec("bideuchre_env.agents")  # in a checkout they lie beside the package
    agents = Path(spec.origin or "").resolve().parent if spec else package
    for room, folder in (("", package), ("agents/", agents)):
        for path in folder.rglob("*.*"):
            if path.suffix in (".py", ".npz", ".safetensors"):
                files[f"{room}{path.relative_to(folder).as_posix()}"] = path
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def call(common: bytes, sender: Sender, block: Any) -> bytes:
    """What a block comes to, on a worker, and None; or None and the error that was raised."""
    where = f"on a worker of Ray, {socket.gethostname()}"
    try:
        sender.prepare()
        function, shared = ForkingPickler.loads(common)
        return packed((function(shared, block), None))
    except OptionError as error:
        return packed((None, OptionError(f"{error} ({where})")))
    except BidEuchreError as error:
        return packed((None, error))
    except (Exception, SystemExit) as error:
        return packed((None, WorkerError(f"{where}: {in_one_line(error)}")))


def packed(value: Any) -> bytes:
    """A value as it is sent; Ray's own way gives arrays that cannot be written to.

    Raises `OptionError` for what cannot be sent.
    """
    try:
        return bytes(ForkingPickler.dumps(value))
    except Exception as error:
        raise OptionError(f"this cannot be sent between workers: {in_one_line(error)}") from None
