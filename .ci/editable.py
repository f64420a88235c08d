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
    """Make `path` a link to `folder`; one that is there stays."""
    if path.is_dir():
        return
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)  # git writes a text where it can make no link
    if os.name == "nt":
        import _winapi

        _winapi.CreateJunction(str(folder), str(path))  # other links take a privilege there
    else:
        path.symlink_to(os.path.relpath(folder, path.parent), target_is_directory=True)
