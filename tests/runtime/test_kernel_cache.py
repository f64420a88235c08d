"""Cache files of kernels: reuse, edits, damage, folders of others."""

import errno
import logging
import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from support.other_user import unwritable
from support.small_package import EDITS_THAT_MATTER, OTHER_EDITS, Tiny, result

from bideuchre_env._quitting import finish_all
from bideuchre_env.runtime import cache, compiling, jit
from bideuchre_env.runtime.cache import KernelFiles

pytestmark = pytest.mark.skipif(not jit.private, reason="kernels are not cached")
long = pytest.mark.long


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The package with all its kernels compiled, its outputs, and the names of the kernels."""
    tiny = Tiny(tmp_path_factory.mktemp("filled"))
    with pytest.MonkeyPatch.context() as patch:
        outputs, compiled = tiny.run(patch)
    assert len(compiled) > 15
    return tiny, outputs, compiled


@pytest.fixture
def tiny(filled, tmp_path, monkeypatch):
    """A copy of the package and its cache."""
    monkeypatch.setattr(compiling, "_logged", set())
    shutil.copytree(filled[0].folder, tmp_path, dirs_exist_ok=True)
    return Tiny(tmp_path)


LOWEST_EDIT = EDITS_THAT_MATTER["kernel two levels down"][:3]
QUICK = ("constant", "order of fields of a dtype", "method of an intrinsic", "builtin")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [each if each in QUICK else pytest.param(each, marks=long) for each in EDITS_THAT_MATTER],
)
def test_an_edit_compiles_what_it_reaches_and_is_never_ignored(name, filled, tiny, monkeypatch):
    """Outputs are those of an empty cache; when the edit is undone, the old code is still there."""
    _, before, all_compiled = filled
    *edit, expected = EDITS_THAT_MATTER[name]
    with tiny.edited(*edit):
        outputs, compiled = tiny.run(monkeypatch)
        assert (outputs, set()) == tiny.run(monkeypatch)
        from_empty_cache, called = tiny.run(monkeypatch, tiny.folder / "empty")
    assert outputs == from_empty_cache
    assert (outputs == before) is (name == "decorator")
    assert compiled == called & (expected | (called - all_compiled))
    assert tiny.run(monkeypatch) == (before, set())


def test_edits_that_cannot_matter_compile_nothing(filled, tiny, monkeypatch):
    _, before, _ = filled
    for name, edit in OTHER_EDITS.items():
        with tiny.edited(*edit):
            assert tiny.run(monkeypatch) == (before, set()), name


def test_code_compiled_with_a_patched_global_is_for_that_patch_only(filled, tiny, monkeypatch):
    """Once, all later processes loaded it."""
    _, before, all_compiled = filled
    shutil.rmtree(tiny.cache)
    patched, compiled = tiny.run(monkeypatch, limit=20)
    assert compiled == all_compiled
    assert patched[0] == before[0] + 30
    assert tiny.run(monkeypatch) == (before, {"lowest", "middle", "one"})
    assert tiny.run(monkeypatch, limit=20) == (patched, set())


def test_constants_from_the_environment_count_and_the_folder_of_the_package_does_not(
    filled, tiny, monkeypatch
):
    _, before, _ = filled
    with monkeypatch.context() as patch:
        patch.setenv("TINY_CHOSEN", "9")
        outputs, compiled = tiny.run(patch)
    assert outputs[1] == before[1] + 5
    assert compiled == {"from_data", "others", "two"}
    assert Tiny(tiny.folder / "elsewhere").run(monkeypatch, tiny.cache) == (before, set())


@long
@pytest.mark.parametrize(
    "setting",
    [{"NUMBA_OPT": "2"}, {"NUMBA_BOUNDSCHECK": "1"}, {"NUMBA_CPU_NAME": "generic"}],
)
def test_another_setting_of_numba_compiles_all(setting, filled, tiny):
    _, before, all_compiled = filled
    environment = {"NUMBA_CPU_FEATURES": ""} | setting
    assert result(tiny.start(**environment))[:2] == (before, all_compiled)


def test_a_global_that_is_changed_late_is_compiled_and_not_saved(tiny, monkeypatch):
    """Kernels are linked with code that was compiled before, so the mixture must not be saved."""
    top, _ = tiny.load(monkeypatch)
    assert top.one(3) == 44
    top.middle.py_func.__globals__["low"].LIMIT = 20
    before = set(tiny.cache.rglob("*.nbc"))
    assert top.one(3.0) == 74  # for another type
    saved = {path.name.split("-")[0] for path in set(tiny.cache.rglob("*.nbc")) - before}
    assert saved == {"tiny.low.inlined"}  # which does not read that global
    assert tiny.run(monkeypatch)[0][0] == 44


@pytest.mark.parametrize("content", [b"garbage\n" * 100, None, "valid"])
def test_damaged_files_are_compiled_again(content, filled, tiny, monkeypatch):
    _, before, _ = filled
    for name in ("top.one", "middle.middle"):
        [path] = tiny.cache.rglob(f"tiny.{name}-*.nbc")
        if content == "valid":  # of another build of numba
            KernelFiles(lambda: [tiny.cache]).write(path.name, b"no pickle")
        else:
            path.write_bytes(content or path.read_bytes()[:-40])
    assert tiny.run(monkeypatch) == (before, {"one", "middle"})
    assert tiny.run(monkeypatch) == (before, set())


def test_an_inner_kernel_is_not_needed_by_a_saved_entry(filled, tiny, monkeypatch):
    _, before, _ = filled
    for path in tiny.cache.rglob("tiny.low.*.nbc"):
        path.unlink()
    assert tiny.run(monkeypatch) == (before, set())


def test_a_full_disk_costs_one_warning_and_no_result(filled, tiny, caplog, monkeypatch):
    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    _, before, _ = filled
    monkeypatch.setattr(jit.compiling, "show", lambda text: None)
    with monkeypatch.context() as patch, tiny.edited(*LOWEST_EDIT):
        patch.setattr(Path, "write_bytes", full)
        for _ in range(2):
            outputs, compiled = tiny.run(monkeypatch)
            assert (outputs[1:], compiled) == (before[1:], {"lowest", "middle", "one"})
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "cannot be saved: No space left on device" in caplog.text


def test_a_deleted_folder_is_made_again(tiny, monkeypatch, caplog):
    top, _ = tiny.load(monkeypatch)
    assert jit.FILES.writable
    shutil.rmtree(tiny.cache)
    top.outputs()
    assert tiny.run(monkeypatch)[1] == set()
    assert "cannot be saved" not in caplog.text


def test_files_not_used_for_two_weeks_are_deleted_once_a_day(tmp_path):
    files, now = KernelFiles(lambda: [tmp_path]), time.time()
    for name in ("read", "unread", "young"):
        files.write(name, b"content")
    folder = tmp_path / "kernels"
    for name, days in (("read", 15), ("unread", 15), ("young", 13)):
        os.utime(folder / name, (now - days * cache._DAY,) * 2)
    assert files.read("read") == b"content"
    files.write("new", b"")
    assert files.find("unread")
    os.utime(folder / "stale-files-deleted", (now - 2 * cache._DAY,) * 2)
    files.write("new", b"")
    names = {path.name for path in folder.iterdir()}
    assert names == {"read", "young", "new", "stale-files-deleted"}


def test_folders_of_older_versions_are_deleted_after_two_weeks(tmp_path):
    old, young, other = (tmp_path / f"kernels-{end}" for end in ("0" * 16, "1" * 16, "mine"))
    for folder in (old, young, other):
        (folder / "inside").mkdir(parents=True)
    for folder in (old, other):
        os.utime(folder, (0, time.time() - 15 * cache._DAY))
    KernelFiles(lambda: [tmp_path]).write("one", b"content")
    assert {path.name for path in tmp_path.iterdir()} == {"kernels", young.name, other.name}


def test_a_program_that_ends_at_once_leaves_no_locks_and_parts_of_files(tmp_path, monkeypatch):
    def quit_now(path, target):
        assert {each.suffix for each in path.parent.iterdir()} >= {".lock", ".tmp"}
        finish_all()
        assert [each.name for each in path.parent.iterdir()] == ["stale-files-deleted"]
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", quit_now)
    files = KernelFiles(lambda: [tmp_path])
    with pytest.raises(KeyboardInterrupt), files.locked("one"):
        files.write("one", b"content")


def test_an_equal_file_that_windows_does_not_replace_is_good(tmp_path, monkeypatch):
    """A file that another process reads cannot be replaced there."""

    def refuse(path, target):
        raise PermissionError(13, "The process cannot access the file")

    files = KernelFiles(lambda: [tmp_path])
    files.write("one", b"content")
    monkeypatch.setattr(Path, "replace", refuse)
    files.write("one", b"content")
    with pytest.raises(PermissionError):
        files.write("two", b"content")
    assert not list(tmp_path.rglob("*.tmp"))


def test_without_locks_each_process_compiles(tmp_path, monkeypatch):
    import filelock

    def unsupported(lock, *arguments, **options):
        raise NotImplementedError

    monkeypatch.setattr(filelock.FileLock, "acquire", unsupported)
    with KernelFiles(lambda: [tmp_path]).locked("one"):
        pass


def test_kernels_are_cached_beside_the_package_or_in_the_first_usable_folder(tmp_path, monkeypatch):
    package, user, temporary, chosen = (tmp_path / name for name in ("p", "u", "t", "c"))
    for folder in (package, temporary):
        folder.mkdir()
    monkeypatch.setattr(cache, "_PACKAGE", package)
    monkeypatch.setattr(cache.tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("XDG_CACHE_HOME", str(user))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(chosen))

    def first():
        return KernelFiles(cache.cache_bases).writable

    assert first() == chosen / "kernels"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert first() == package / "__pycache__" / "kernels"
    shutil.rmtree(package / "__pycache__")
    (package / "__pycache__").write_text("a file where the folder would be")
    assert first() == user / "bideuchre_env" / "kernels"
    assert not list(temporary.iterdir())
    shutil.rmtree(user)
    user.write_text("another")
    own = temporary / f"bideuchre_env-{os.getuid() if os.name == 'posix' else 0}"
    assert first() == own / "kernels"

    def no_home():
        raise RuntimeError("Could not determine home directory")

    monkeypatch.setattr(cache, "user_cache", no_home)
    assert first() == own / "kernels"
    if os.name == "posix":
        own.chmod(0o777)  # others could have put code there
        assert first() is None


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="other permissions")
def test_a_cache_that_cannot_be_written_is_used(filled, tiny):
    """If it lacks kernels, one message says that new ones cannot be saved."""
    _, before, _ = filled
    for folder in tiny.folder.parents[:3]:  # those of pytest are closed to other users
        if folder.stat().st_uid == os.getuid():
            folder.chmod(0o755)
    with unwritable(tiny.cache / "kernels") as user:
        assert result(tiny.start(*user)) == (before, set(), "")
        with tiny.edited(*LOWEST_EDIT):
            _, compiled, messages = result(tiny.start(*user))
    assert compiled == {"one", "middle", "lowest"}
    assert messages.count("\n") == 2, messages
    assert "cannot be saved: no cache folder can be written: set NUMBA_CACHE_DIR" in messages


def test_new_kernels_are_saved_in_the_next_folder(filled, tiny, monkeypatch):
    _, before, _ = filled
    home = tiny.folder / "home"
    real = cache.tempfile.TemporaryFile

    def temporary_file(dir):
        if tiny.cache in Path(dir).parents:
            raise PermissionError(13, "read-only")
        return real(dir=dir)

    monkeypatch.setattr(cache.tempfile, "TemporaryFile", temporary_file)

    def run():
        top, kernels = tiny.load(monkeypatch)
        monkeypatch.setattr(jit.FILES, "_bases", lambda: [tiny.cache, home])
        return top.outputs(), {each.py_func.__name__ for each in kernels if each.stats.cache_misses}

    assert run() == (before, set())
    with tiny.edited(*LOWEST_EDIT):
        assert run()[1] == {"one", "middle", "lowest"}
        assert run()[1] == set()
    assert len(list(home.rglob("*.nbc"))) == 3


@pytest.mark.slow
def test_processes_that_start_together_compile_each_kernel_once(tiny):
    shutil.rmtree(tiny.cache)
    results = [result(each) for each in [tiny.start() for _ in range(2)]]
    assert len({str(outputs) for outputs, *_ in results}) == 1
    compiled = [kernel for _, kernels, _ in results for kernel in kernels]
    assert len(compiled) == len(set(compiled)) > 15
    assert not list(tiny.cache.rglob("*.lock"))


@long
def test_a_killed_process_stops_no_other(tiny):
    shutil.rmtree(tiny.cache)
    killed = tiny.start()
    while not list(tiny.cache.rglob("*.nbc")):
        time.sleep(0.01)
    other = tiny.start()
    time.sleep(0.3)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    started = time.monotonic()
    outputs, compiled, _ = result(other)
    assert compiled
    assert time.monotonic() - started < 60
    assert result(tiny.start())[:2] == (outputs, set())


def test_a_loaded_inner_kernel_is_linked_into_a_new_entry_kernel(filled, tiny, monkeypatch):
    """An inner kernel has no machine code; an entry kernel exports nothing of it."""
    _, before, _ = filled
    for path in tiny.cache.rglob("tiny.top.one-*.nbc"):
        path.unlink()
    top, _ = tiny.load(monkeypatch)
    assert top.one(3) == before[0]
    assert sum(top.middle.stats.cache_hits.values()) == 1
    (of_inner,), (of_entry,) = top.middle.overloads.values(), top.one.overloads.values()
    assert of_inner.library.get_pointer_to_function(of_inner.fndesc.mangled_name) == 0
    linkages = {each.linkage.name for each in of_entry.library.get_defined_functions()}
    assert linkages <= {"external", "internal"}
