"""What `pip install -e` does besides: a link to the package in a folder of its own, `.editable/`.

That folder is the path an editable install adds. Type checkers follow it, and they follow no import
hook; the top folder in its place would make `agents`, `experiments` and `tests` everybody's.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EditableHook(BuildHookInterface):
    """Makes the links before the path is written down."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Link the package; its agents, too, where the checkout or archive has no link to them."""
        if version == "editable":
            root = Path(self.root)
            link(root / "bideuchre_env" / "agents", root / "agents")
            link(root / ".editable" / "bideuchre_env", root / "bideuchre_env")


def link(path: Path, folder: Path) -> None:
    """Make `path` a link to `folder`; one that is there stays.

    A folder in its place is somebody's: it ends the installation, as does a link that cannot be
    made, with a sentence.
    """
    if path.is_dir():
        if path.resolve() == folder.resolve():
            return
        if not path.is_symlink():
            raise SystemExit(f"{path} is a folder, where a link to {folder} goes: move it away")
    try:
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)  # git writes a text where it can make no link
        if os.name == "nt":
            import _winapi

            _winapi.CreateJunction(str(folder), str(path))  # other links take a privilege there
        else:
            path.symlink_to(os.path.relpath(folder, path.parent), target_is_directory=True)
    except OSError as error:
        raise SystemExit(
            f"{path} cannot be made a link to {folder} ({error.strerror or error}): "
            "install without -e, as in pip install ."
        ) from None
