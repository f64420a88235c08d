"""Links that an editable install makes: `.ci/editable.py`, without hatchling."""

import importlib.util
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.commands import ROOT


@pytest.fixture
def link(monkeypatch):
    parts = ["hatchling", "builders", "hooks", "plugin", "interface"]
    for k in range(1, len(parts) + 1):
        stub = SimpleNamespace(BuildHookInterface=object, __path__=[])
        monkeypatch.setitem(sys.modules, ".".join(parts[:k]), stub)
    spec = importlib.util.spec_from_file_location("editable", ROOT / ".ci" / "editable.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.link


@pytest.mark.skipif(os.name == "nt", reason="links take a privilege there")
def test_a_link_replaces_another_link_or_a_text_and_no_folder(link, tmp_path):
    folder, path = tmp_path / "package", tmp_path / ".editable" / "package"
    folder.mkdir()
    (folder / "file").touch()
    for _ in range(2):
        link(path, folder)
        assert (path.is_symlink(), path.readlink()) == (True, Path("..", "package"))
    path.unlink()
    path.write_text("../package")  # git writes a text file where links are unsupported
    link(path, folder)
    assert (path / "file").exists()
    copy = tmp_path / "copy"
    copy.mkdir()
    with pytest.raises(SystemExit, match=r"copy is a folder, where a link to .* goes: move it"):
        link(copy, folder)
    assert copy.is_dir()
