"""The links that an editable install makes: `.ci/editable.py`, without hatchling."""

from __future__ import annotations

import errno
import importlib.util
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.script_modules import ROOT

posix = pytest.mark.skipif(os.name == "nt", reason="links take a privilege there")


@pytest.fixture
def link(monkeypatch):
    """The function that makes one."""
    parts = ["hatchling", "builders", "hooks", "plugin", "interface"]
    for k in range(1, len(parts) + 1):
        stub = SimpleNamespace(BuildHookInterface=object, __path__=[])
        monkeypatch.setitem(sys.modules, ".".join(parts[:k]), stub)
    spec = importlib.util.spec_from_file_location("editable", ROOT / ".ci" / "editable.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.link


@pytest.fixture
def folder(tmp_path):
    """The folder that is meant, with a file in it."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "file").touch()
    return tmp_path / "package"


@posix
def test_a_link_is_made_and_stays(link, folder, tmp_path):
    """In a folder that is made for it; also where git has written a text, or another is linked."""
    path = tmp_path / ".editable" / "package"
    for _ in range(2):
        link(path, folder)
        assert (path.is_symlink(), path.readlink()) == (True, Path("..", "package"))
    path.unlink()
    path.write_text("../package")
    link(path, folder)
    assert (path / "file").exists()
    path.unlink()
    path.symlink_to(tmp_path)
    link(path, folder)
    assert (path / "file").exists()


def test_a_folder_in_its_place_is_refused(link, folder, tmp_path):
    """An old copy, say; nothing in it is touched. The folder itself is fine."""
    path = tmp_path / "copy"
    path.mkdir()
    (path / "old").touch()
    with pytest.raises(SystemExit, match=r"copy is a folder, where a link to .* goes: move it"):
        link(path, folder)
    assert (path / "old").exists()
    link(folder, folder)


def test_where_no_link_can_be_made_it_says_what_to_do(link, folder, tmp_path, monkeypatch):
    def refuse(*told, **options):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if os.name == "nt":
        import _winapi

        monkeypatch.setattr(_winapi, "CreateJunction", refuse)
    else:
        monkeypatch.setattr(Path, "symlink_to", refuse)
    with pytest.raises(SystemExit, match=r"Operation not permitted\): install without -e"):
        link(tmp_path / "link", folder)
