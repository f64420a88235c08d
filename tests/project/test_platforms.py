"""Behaviour of Windows and macOS, simulated: open files, no POSIX functions, other links."""

import io
import os
import signal
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import filelock
import pytest
from support.commands import ROOT, load_scripts, python

from bideuchre_env._files import Output, TakenError, only_run_at, only_run_in, write_file
from bideuchre_env.bench import measure
from bideuchre_env.errors import OptionError, OutputError
from bideuchre_env.evaluation.executors import without_main
from bideuchre_env.runtime import cache, interrupts


@pytest.fixture
def windows(monkeypatch):
    """Files as on Windows: an open file cannot be moved, replaced or removed."""
    opened = {}

    def is_open(path):
        return os.path.realpath(path) in opened.values()

    def record(path, *rest, _open=os.open, **more):
        descriptor = _open(path, *rest, **more)
        opened[descriptor] = os.path.realpath(path)
        return descriptor

    def close(descriptor, _close=os.close):
        opened.pop(descriptor, None)
        _close(descriptor)

    def guarded(method):
        def call(path, *rest, **more):
            if any(map(is_open, (path, *rest))):
                raise PermissionError(13, "The process cannot access the file")
            return method(path, *rest, **more)

        return call

    monkeypatch.setattr(os, "open", record)
    monkeypatch.setattr(os, "close", close)
    for name in ("unlink", "rename", "replace"):
        monkeypatch.setattr(Path, name, guarded(getattr(Path, name)))
    yield
    assert not opened


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("overwrite", [False, True])
def test_files_on_windows_are_published_or_discarded(overwrite, windows, tmp_path):
    path = tmp_path / "x"
    if overwrite:
        path.write_text("old")
    Output(path, overwrite=overwrite).discard()
    assert names(tmp_path) == ["x"] * overwrite
    with Output(path, overwrite=overwrite) as output:
        output.write(b"one ")
        with pytest.raises(OptionError, match="being written by another run"):
            Output(path, overwrite=True)
        output.publish()
        output.write(b"two")
        output.close()
    assert path.read_text() == "one two"
    assert names(tmp_path) == ["x"]


def test_a_file_on_windows_that_appears_meanwhile_stays(windows, tmp_path):
    with Output(tmp_path / "x") as output:
        output.write(b"mine")
        (tmp_path / "x").write_text("theirs")
        with pytest.raises(OutputError, match=r"is in .*x\.new"):
            output.close()
    assert [(tmp_path / name).read_text() for name in ("x", "x.new")] == ["theirs", "mine"]
    assert names(tmp_path) == ["x", "x.new"]


def test_locks_on_windows_leave_no_file(windows, tmp_path):
    game, results = tmp_path / "game.json", tmp_path / "results"
    with only_run_at(game), only_run_in(results):
        write_file(game, "{}")
        for second in (only_run_at(game), only_run_in(results)):
            with pytest.raises(TakenError, match="another run"), second:
                pass
    assert names(tmp_path) == ["game.json"]


def test_a_file_system_without_locks_protects_nothing(tmp_path, monkeypatch):
    def unsupported(lock, *arguments, **options):
        raise NotImplementedError

    monkeypatch.setattr(filelock.FileLock, "acquire", unsupported)
    with only_run_in(tmp_path / "results"), only_run_in(tmp_path / "results"):
        write_file(tmp_path / "results" / "x", "written")
    assert names(tmp_path / "results") == ["x"]


@pytest.mark.skipif(sys.platform == "win32", reason="the functions are missing there")
def test_figures_of_a_machine_without_posix_functions(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(os, "sysconf")
    monkeypatch.setattr(measure, "Path", lambda _: Path("no such file"))
    monkeypatch.setattr(measure.platform, "processor", lambda: "arm")
    with measure.pinned() as core:
        assert core is None
    facts = measure.machine()
    assert (facts["processor"], facts["memory_gib"]) == ("arm", None)
    assert facts["cores"] == os.cpu_count()


def test_caches_on_windows(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "getuid", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    assert cache.user_cache() == tmp_path / "local" / "bideuchre_env"
    assert list(cache._own_temporary_folder()) == [tmp_path / "bideuchre_env-0"]


def test_processes_and_lines_on_windows(monkeypatch):
    """No signal mask is used, and lines are read by `input`."""
    monkeypatch.delattr(signal, "pthread_sigmask", raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    with without_main(), interrupts.blocked():
        assert not hasattr(sys.modules["__main__"], "__file__")
    monkeypatch.setattr(interrupts, "os", SimpleNamespace(name="nt"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("bid 4\n"))
    assert interrupts.typed_line() == "bid 4"


@pytest.fixture
def editable(monkeypatch):
    """The module `.ci/editable.py`, without hatchling."""
    hook = SimpleNamespace(BuildHookInterface=object)
    monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", hook)
    with load_scripts(".ci", "editable") as [module]:
        yield module


@pytest.mark.skipif(os.name == "nt", reason="simulates junctions by links")
def test_an_editable_install_on_windows_makes_junctions(editable, monkeypatch, tmp_path):
    """A junction replaces the text file that git writes for a link."""
    monkeypatch.setitem(sys.modules, "_winapi", SimpleNamespace(CreateJunction=os.symlink))
    (tmp_path / "agents").mkdir()
    (tmp_path / "link").write_text("../agents")
    monkeypatch.setattr(editable, "os", SimpleNamespace(name="nt"))
    editable.link(tmp_path / "link", tmp_path / "agents")
    assert (tmp_path / "link").resolve() == tmp_path / "agents"


@pytest.mark.skipif(os.name == "nt", reason="links take a privilege there")
def test_a_link_replaces_another_link_or_a_text_and_no_folder(editable, tmp_path):
    folder, path = tmp_path / "package", tmp_path / ".editable" / "package"
    folder.mkdir()
    (folder / "file").touch()
    for _ in range(2):
        editable.link(path, folder)
        assert (path.is_symlink(), path.readlink()) == (True, Path("..", "package"))
    path.unlink()
    path.write_text("../package")  # git writes a text file where links are unsupported
    editable.link(path, folder)
    assert (path / "file").exists()
    copy = tmp_path / "copy"
    copy.mkdir()
    with pytest.raises(SystemExit, match=r"copy is a folder, where a link to .* goes: move it"):
        editable.link(copy, folder)
    assert copy.is_dir()


@pytest.mark.slow
def test_the_package_is_imported_from_a_zip_file(tmp_path):
    """The import failed with a `NotADirectoryError`."""
    archive, package = tmp_path / "bideuchre.zip", ROOT / "bideuchre_env"
    with zipfile.ZipFile(archive, "w") as file:
        for folder, name in ((package, package.name), (ROOT / "agents", "bideuchre_env/agents")):
            for path in folder.rglob("*"):
                inner = path.relative_to(folder)
                if (
                    path.is_file()
                    and "__pycache__" not in path.parts
                    and inner.parts[0] != "agents"
                ):
                    file.write(path, f"{name}/{inner.as_posix()}")
    script = """
import sys
sys.path.insert(0, sys.argv[1])
import bideuchre_env
from bideuchre_env.agents.data import data_hash
from bideuchre_env.agents.learned.shipped import package_weights
from bideuchre_env.records.page.page import table_script
from bideuchre_env.runtime import jit
assert bideuchre_env.__file__.startswith(sys.argv[1])
assert bideuchre_env.match
weights = package_weights("net", bideuchre_env.club_v0.rules)
print(len(data_hash()), len(weights.arrays) > 5, len(table_script()) > 1000)
"""
    assert python("-c", script, archive, where=tmp_path, numba={}).stdout == "64 True True\n"
