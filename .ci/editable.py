"""Build hook of `pip install -e`: link the package into a folder of its own, `.editable/`.

An editable install adds this folder to the import path. hatchling alone cannot do it: it refuses
`sources` that change a prefix, as `agents` to `bideuchre_env/agents`. Type checkers follow a path,
but no import hook (`dev-mode-exact`), and the top folder as path would make `agents`, `experiments`
and `tests` importable, too.

In a checkout `bideuchre_env/agents` is a link to `agents`. On Windows without symbolic links git
writes a text file in its place. This hook replaces the text by a junction, which requires no
privilege; git then reports a changed file, which must not be committed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EditableHook(BuildHookInterface):
    """Makes the links before the installer writes the path."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """For `pip install -e`, link the package, and its agents if no link to them exists."""
        if version == "editable":
            root = Path(self.root)
            link(root / "bideuchre_env" / "agents", root / "agents")
            link(root / ".editable" / "bideuchre_env", root / "bideuchre_env")


def link(path: Path, folder: Path) -> None:
    """Make `path` a link to `folder`; an existing link to it stays.

    A real folder at `path`, or a link that cannot be made, ends the installation with an error.
    """
    if path.is_dir():
        if path.resolve() == folder.resolve():
            return
        if not path.is_symlink():
            raise SystemExit(f"{path} is a folder, where a link to {folder} goes: move it away")
    try:
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)  # git writes a text file where links are unsupported
        if os.name == "nt":
            import _winapi

            _winapi.CreateJunction(str(folder), str(path))  # other links need a privilege
        else:
            path.symlink_to(os.path.relpath(folder, path.parent), target_is_directory=True)
    except OSError as error:
        raise SystemExit(
            f"{path} cannot be made a link to {folder} ({error.strerror or error}): "
            "install without -e, as in pip install ."
        ) from None
