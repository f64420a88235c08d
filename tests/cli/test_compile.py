"""`bideuchre compile` compiles the kernels of most commands, and nothing a second time."""

import os
import subprocess
import sys

import pytest

from bideuchre_env.cli import main as cli
from bideuchre_env.evaluation import warm_up
from bideuchre_env.runtime import jit


def run(capsys, *arguments):
    """The exit code, and what was printed."""
    code = cli.main(arguments)
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("options", "kernels"),
    [([], "all commands but prepare"), (["--agents", "random"], "matches of these agents")],
)
def test_when_all_is_compiled_it_says_where(options, kernels, capsys, monkeypatch):
    monkeypatch.setattr(warm_up, "compile_in_processes", lambda names, processes: iter([0]))
    code, out, _ = run(capsys, "compile", *options)
    line = f"the kernels of {kernels} are compiled, and saved in {jit.CACHE_FOLDER}\n"
    assert (code, out) == (0, line)


def test_kernels_and_seconds_are_printed(capsys, monkeypatch):
    asked = []

    def compile_in_processes(names, processes):
        asked.append(names)
        assert 1 <= processes <= len(names)
        return iter([1000, 234])

    monkeypatch.setattr(warm_up, "compile_in_processes", compile_in_processes)
    code, out, _ = run(capsys, "compile")
    assert (code, out) == (0, f"1,234 kernels compiled in 0 seconds, saved in {jit.CACHE_FOLDER}\n")
    run(capsys, "compile", "--agents", "rule", "cautious")
    assert asked == [tuple(warm_up.PARTS), ("game", "rule")]


def test_a_wrong_agent_is_one_line(capsys):
    code, out, err = run(capsys, "compile", "--agents", "nobody")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "nobody" in err


@pytest.mark.parametrize(("setting", "value"), [("JIT", False), ("CACHE_FOLDER", "")])
def test_what_cannot_be_compiled_or_kept_is_one_line(setting, value, capsys, monkeypatch):
    monkeypatch.setattr(jit, setting, value)
    code, out, err = run(capsys, "compile")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "NUMBA_DISABLE_JIT" in err if setting == "JIT" else "NUMBA_CACHE_DIR" in err


def test_a_process_that_dies_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(warm_up, "compile_part", os._exit)
    monkeypatch.setattr(warm_up, "PARTS", {9: None})
    code, out, err = run(capsys, "compile")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "a process that compiled has died" in err


def fresh(folder, *arguments):
    """What a command prints in a process of its own, with kernels kept in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "bideuchre_env", *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, done.stderr


@pytest.mark.slow
def test_after_it_nothing_is_compiled(tmp_path):
    """From an empty folder."""
    assert "kernels compiled in" in fresh(tmp_path, "compile")[0]
    line = "the kernels of all commands but prepare are compiled"
    assert fresh(tmp_path, "compile")[0].startswith(line)
    for arguments in (
        ("selfplay", "--games", "2", "--out", str(tmp_path / "games.jsonl")),
        ("export", str(tmp_path / "games.jsonl"), str(tmp_path / "games.npz")),
        ("match", "pimc:worlds=4", "expert", "--boards", "2"),
        ("match", "inference:worlds=4", "cautious", "--boards", "2"),
        ("hand", "JH JD AH KH QS 9C"),
    ):
        assert "compiling" not in fresh(tmp_path, *arguments)[1]
