"""Files of compiled kernels that are damaged, or cannot be written: one line, and it goes on."""

from __future__ import annotations

import errno
import logging
import runpy
import shutil

import numba
import pytest

from bideuchre_env.runtime import kernel_files

SOURCE = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the kernel is kept; nothing has been said of it."""
    (tmp_path / "small_kernel.py").write_text(SOURCE)
    monkeypatch.setattr(kernel_files.KernelCache, "said", set())
    monkeypatch.setattr(kernel_files.KernelCache, "keeping", True)
    return tmp_path / "cache"


def fresh(folder):
    """The kernel as a process of its own would have it: nothing is compiled yet."""
    function = runpy.run_path(str(folder.parent / "small_kernel.py"))["double"]
    compiled = numba.njit(function)
    compiled._cache = kernel_files.kernel_cache(function, str(folder))
    return compiled


def loads(folder):
    """Whether the kernel is found in its files; it gives the same either way."""
    compiled = fresh(folder)
    assert compiled(21) == 42
    return bool(sum(compiled.stats.cache_hits.values()))


def test_what_is_compiled_is_kept(folder, caplog):
    assert [loads(folder), loads(folder)] == [False, True]
    assert caplog.text == ""


def test_kept_is_what_can_be_used(folder, monkeypatch):
    """Not what is damaged, of another source, or for another processor; asking says nothing."""
    assert not kernel_files.is_kept(fresh(folder))
    loads(folder)
    compiled = fresh(folder)
    assert kernel_files.is_kept(compiled)
    with monkeypatch.context() as patch:
        patch.setattr(compiled._cache._cache_file, "_source_stamp", "another")
        assert not kernel_files.is_kept(compiled)
    with monkeypatch.context() as patch:
        codegen = type(compiled.targetctx.codegen())
        patch.setattr(codegen, "magic_tuple", lambda self: ("another processor",))
        assert not kernel_files.is_kept(compiled)
    (index,) = folder.rglob("*.nbi")
    flip(index)
    assert not kernel_files.is_kept(compiled)
    assert index.exists()


def test_two_processes_write_two_files_for_two_types(folder):
    """Each knows of nothing yet when it begins: at worst one is compiled again."""
    load = kernel_files._CheckedFiles._load_index
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_files._CheckedFiles, "_load_index", lambda files: {})
        assert fresh(folder)(21) == 42
        assert fresh(folder)(0.5) == 1.0
    assert kernel_files._CheckedFiles._load_index is load
    assert len(list(folder.rglob("*.nbc"))) == 2
    assert not loads(folder)
    assert loads(folder)
    assert fresh(folder)(0.5) == 1.0


def flip(path):
    """Another byte in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"garbage\n" * 100),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "one byte": flip,
}


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_made_anew(damage, suffix, folder, caplog):
    """One line says so; the next process finds it whole."""
    loads(folder)
    for path in folder.rglob(f"*.{suffix}"):
        DAMAGE[damage](path)
    assert not loads(folder)
    assert [record.message for record in caplog.records] == [caplog.records[0].message]
    assert "were damaged and are made anew (for example small_kernel." in caplog.text
    assert loads(folder)


def test_damage_that_cannot_be_mended_is_told(folder, caplog):
    """The line names the folder to delete."""
    loads(folder)
    (index,) = folder.rglob("*.nbi")
    index.unlink()
    index.mkdir()
    for _ in range(2):
        assert not loads(folder)
    assert len(caplog.records) == 1
    assert f"delete {folder}" in caplog.text


def test_a_full_disk_costs_no_result(folder, caplog, monkeypatch):
    """Written once, in vain, and not tried again."""
    tried = []

    def full(self, path):
        tried.append(path)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kernel_files._CheckedFiles, "_open_for_write", full)
    assert [loads(folder), loads(folder)] == [False, False]
    assert len(tried) == 1
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    told = f"(No space left on device): make room, delete {folder}, or set NUMBA_CACHE_DIR"
    assert told in caplog.text


def test_another_fault_has_a_line_of_its_own(folder, caplog, monkeypatch):
    """Damage that was mended hides no full disk."""
    loads(folder)
    flip(next(folder.rglob("*.nbc")))

    def full(self, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kernel_files._CheckedFiles, "_open_for_write", full)
    assert not loads(folder)
    damaged, kept = [record.message for record in caplog.records]
    assert "were damaged" in damaged
    assert "cannot be kept (No space left on device)" in kept


def test_a_folder_that_vanishes_is_made_again(folder, caplog):
    compiled = fresh(folder)
    shutil.rmtree(folder)
    assert compiled(21) == 42
    assert loads(folder)
    assert caplog.text == ""


def test_a_folder_that_cannot_be_made_again_is_told(folder, caplog):
    """Before a kernel is declared, and between that and its first call: not for one reason."""
    compiled = fresh(folder)
    shutil.rmtree(folder)
    folder.write_text("a file where the folder would be")
    assert compiled(21) == 42
    assert not loads(folder)
    assert len(caplog.records) == 2
    assert all(str(folder) in record.message for record in caplog.records)
