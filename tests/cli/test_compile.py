"""`bideuchre compile` compiles the kernels of most commands once."""

import pytest
from support.commands import python, run

from bideuchre_env.evaluation import warm_up
from bideuchre_env.runtime import jit


@pytest.mark.parametrize(
    ("options", "parts", "kernels"),
    [
        ([], tuple(warm_up.PARTS), "all commands but prepare"),
        (["--agents", "rule", "cautious"], ("game", "rule"), "matches of these agents"),
    ],
)
def test_kernels_compiled_are_counted(options, parts, kernels, capsys, monkeypatch):
    calls, counts = [], [1000, 234]

    def compile_in_processes(names, processes):
        calls.append(names)
        assert 1 <= processes <= len(names)
        return iter(counts)

    monkeypatch.setattr(warm_up, "compile_in_processes", compile_in_processes)
    assert run("compile", *options) == 0
    line = f"1,234 kernels compiled in 0 seconds, saved in {jit.CACHE_FOLDER}\n"
    assert capsys.readouterr().out == line
    counts[:] = [0]
    assert run("compile", *options) == 0
    line = f"the kernels of {kernels} are compiled already, in {jit.CACHE_FOLDER}\n"
    assert capsys.readouterr().out == line
    assert calls == [parts] * 2


@pytest.mark.parametrize(
    ("setting", "value", "variable"),
    [("JIT", False, "NUMBA_DISABLE_JIT"), ("CACHE_FOLDER", "", "NUMBA_CACHE_DIR")],
)
def test_without_compilation_or_a_cache_it_is_an_error(
    setting, value, variable, error_of, monkeypatch
):
    monkeypatch.setattr(jit, setting, value)
    assert variable in error_of("compile")


@pytest.mark.slow
def test_later_commands_compile_nothing(folder):
    """After `bideuchre compile` with an empty cache, other commands compile nothing."""

    def fresh(*arguments):
        return python("-m", "bideuchre_env", *arguments, NUMBA_CACHE_DIR=str(folder))

    assert "kernels compiled in" in fresh("compile").stdout
    line = "the kernels of all commands but prepare are compiled"
    assert fresh("compile").stdout.startswith(line)
    for arguments in (
        ("selfplay", "--games", "2", "--out", "games.jsonl"),
        ("export", "games.jsonl", "games.npz"),
        ("match", "pimc:worlds=4", "expert", "--boards", "2"),
        ("match", "inference:worlds=4", "cautious", "--boards", "2"),
        ("hand", "JH JD AH KH QS 9C"),
    ):
        assert "compiling" not in fresh(*arguments).stderr
