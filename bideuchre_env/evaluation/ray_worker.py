"""The worker of a `RayPool`: compute a block in the sender's folder, with the same sources."""

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

from bideuchre_env.agents.prepared import prepared_digests, prepared_folder, watch_files
from bideuchre_env.errors import WorkerError
from bideuchre_env.evaluation.executors import answers, pack, to_send


class Sender(NamedTuple):
    """The environment of the program that sends blocks, which its workers must match."""

    folder: str
    sources: tuple[tuple[str, str], ...]  # packages and modules, and the hash of each
    prepared: tuple[tuple[str, str], ...]  # folder and hashes of prepared agents there

    @classmethod
    def here(cls, function: Callable[..., Any]) -> Sender:
        """Return the environment of this process, for the function that it sends."""
        modules = {"bideuchre_env", "bideuchre_env.agents", function.__module__.partition(".")[0]}
        modules -= {"__main__"}  # workers cannot import it
        sources = tuple((module, sources_of(module)) for module in sorted(modules))
        return cls(os.getcwd(), sources, tuple(sorted(prepared_digests().items())))

    def prepare(self) -> None:
        """Change to the sender's folder, if it exists; raise `WorkerError` for other sources.

        Relative paths of agents' files start there.
        """
        for module, digest in self.sources:
            if digest != sources_of(module):
                raise WorkerError(
                    f"{socket.gethostname()} has no module {module!r}, or another version of it: "
                    "install the same version on every node, scripts at the same path"
                )
        with suppress(OSError):
            os.chdir(self.folder)

    def check(self, file: str, digest: str | None) -> None:
        """Raise `WorkerError` if a prepared agent's file differs from the sender's."""
        if digest != dict(self.prepared).get(file):
            raise WorkerError(
                f"{socket.gethostname()} has another {file}, or none: `bideuchre prepare` "
                f"makes it; copy {prepared_folder()} to every node"
            )


@lru_cache(maxsize=8)
def sources_of(module: str) -> str:
    """Return the hash of a package's .py and .npz files, or of the .py files beside a module.

    The hash of a module that cannot be found is "".
    """
    spec = sys.modules[module].__spec__ if module in sys.modules else find_spec(module)
    if spec is None:
        return ""
    inside = spec.submodule_search_locations
    folder = Path(inside[0] if inside else spec.origin or "").resolve()
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.*") if inside else folder.parent.glob("*.py")):
        if path.suffix in (".py", ".npz"):
            name = path.relative_to(folder.parent).as_posix()
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def call(common: bytes, sender: Sender, block: Any) -> bytes:
    """Compute a block on a worker; `common` is the pickled (function, shared).

    Returns (list of answers, None) or (None, error), pickled: arrays that Ray itself pickles arrive
    read-only.
    """
    try:
        sender.prepare()
        with watch_files(sender.check):
            function, shared = ForkingPickler.loads(common)
            every = answers(function, shared, block)
            return pack(([answer for answer in every if answer is not None], None))
    except (Exception, SystemExit) as error:
        return pack((None, to_send(error, f"on a worker of Ray, {socket.gethostname()}")))
