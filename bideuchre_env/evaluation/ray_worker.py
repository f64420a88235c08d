"""What a worker on Ray does with a block, in the folder and by the sources of who sent it."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, NamedTuple

from bideuchre_env.agents.loading import in_one_line
from bideuchre_env.agents.prepared import prepared_digests, prepared_folder, watched
from bideuchre_env.errors import BidEuchreError, OptionError, WorkerError


class Sender(NamedTuple):
    """What a worker has to share with the program that sends it blocks."""

    folder: str
    sources: str
    module: str
    module_sources: str
    prepared: tuple[
        tuple[str, str], ...
    ]  # what agents may go by that was learned there, and the hash of each

    @classmethod
    def here(cls, function: Callable[..., Any]) -> Sender:
        """Of this process, and of the function that it sends."""
        module = function.__module__
        found = module_sources(module)
        prepared = tuple(sorted(prepared_digests().items()))
        return cls(os.getcwd(), sources(), module, found, prepared)

    def prepare(self) -> None:
        """Work in the same folder, if it is there; `WorkerError` for other sources.

        Files that agents are named by are found from there.
        """
        host = socket.gethostname()
        if self.sources != sources():
            raise WorkerError(
                f"{host} has other sources of bideuchre_env: install the same on every node"
            )
        if self.module_sources != module_sources(self.module):
            raise WorkerError(
                f"{host} has no module {self.module!r}, or other sources of it: "
                "scripts lie at the same path on every node, all alike"
            )
        with suppress(OSError):
            os.chdir(self.folder)

    def check(self, file: str, digest: str | None) -> None:
        """Raise `WorkerError` for what was prepared otherwise here than there, or for one alone."""
        if digest != dict(self.prepared).get(file):
            raise WorkerError(
                f"{socket.gethostname()} plays by another {file}, or by none: `bideuchre prepare` "
                f"makes it, and {prepared_folder()} holds the same on every node"
            )


@lru_cache(maxsize=1)
def sources() -> str:
    """A hash of the package as it is here: its code and its agents' numbers."""
    package, files = Path(__file__).resolve().parents[1], {}
    spec = find_spec("bideuchre_env.agents")  # in a checkout they lie beside the package
    agents = Path(spec.origin or "").resolve().parent if spec else package
    for room, folder in (("", package), ("agents/", agents)):
        for path in folder.rglob("*.*"):
            if path.suffix in (".py", ".npz"):
                files[f"{room}{path.relative_to(folder).as_posix()}"] = path
    return hash_of(files)


@lru_cache(maxsize=8)
def module_sources(module: str) -> str:
    """A hash of the package that a module is of, or of the folder it lies in; "" if there is none.

    Of the modules of bideuchre_env it is "", too: they are in `sources`.
    """
    top = module.partition(".")[0]
    if top in ("bideuchre_env", "__main__"):  # nothing of the latter can be sent
        return ""
    spec = sys.modules[top].__spec__ if top in sys.modules else find_spec(top)
    if spec is None:
        return ""
    inside = spec.submodule_search_locations
    folder = Path(inside[0] if inside else spec.origin or "").resolve()
    paths = folder.rglob("*.py") if inside else folder.parent.glob("*.py")
    return hash_of({path.relative_to(folder.parent).as_posix(): path for path in paths})


def hash_of(files: dict[str, Path]) -> str:
    """A hash of files and of the names they go by."""
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def call(common: bytes, sender: Sender, block: Any) -> bytes:
    """What a block comes to, on a worker, and None; or None and the error that was raised."""
    where = f"on a worker of Ray, {socket.gethostname()}"
    try:
        sender.prepare()
        with watched(sender.check):
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
