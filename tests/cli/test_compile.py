"""`bideuchre compile` compiles kernels once, in parts; `bideuchre bench` reports measured rates."""

import json

import pytest
from support.commands import python, run
from support.kernels import empty_cache, import_kernels
from support.small_package import EDITS_THAT_MATTER, ENTRIES, OTHER_EDITS, Tiny

import bideuchre_env
from bideuchre_env import agents, match
from bideuchre_env.bench import tasks
from bideuchre_env.cli.progress import announce_compiling, compiling_bar
from bideuchre_env.envs.aec import env as aec
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation import kernel_parts, warm_up
from bideuchre_env.evaluation.kernel_parts import (
    AGENT_PARTS,
    SECONDS,
    agent_parts,
    compile_seconds,
    mark_compiled,
)
from bideuchre_env.runtime import jit

cached = pytest.mark.skipif(not jit.private, reason="kernels are not cached")


@pytest.mark.parametrize(
    ("options", "parts", "kernels"),
    [
        ([], tuple(warm_up.PARTS), "all commands but prepare"),
        (["rule", "cautious"], ("game", "rule"), "matches of these agents"),
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
    line = f"1,234 kernels compiled in 0 seconds, saved in {jit.FILES.writable}\n"
    assert capsys.readouterr().out == line
    counts[:] = [0]
    assert run("compile", *options) == 0
    line = f"the kernels of {kernels} are compiled already\n"
    assert capsys.readouterr().out == line
    assert calls == [parts] * 2


def test_without_compilation_or_cache_is_an_error(error_of, monkeypatch, tmp_path):
    empty_cache(monkeypatch)
    assert "no cache folder is writable: set NUMBA_CACHE_DIR" in error_of("compile")
    monkeypatch.setattr(jit, "private", None)
    assert "this version of numba is not tested" in error_of("compile")
    monkeypatch.setattr(jit, "JIT", False)
    assert "NUMBA_DISABLE_JIT is set" in error_of("compile")


def test_a_complete_cache_that_cannot_be_written_is_no_error(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(warm_up, "compile_in_processes", lambda names, processes: iter([0]))
    empty_cache(monkeypatch, tmp_path)
    for part in warm_up.PARTS:
        mark_compiled(part)
    monkeypatch.setattr(jit.FILES, "_folders", (jit.FILES._folders[0], None))
    monkeypatch.setattr(kernel_parts, "_in_process", set())
    assert run("compile") == 0
    assert "are compiled already" in capsys.readouterr().out


@cached
def test_the_time_to_compile_is_estimated_until_all_parts_are_marked(tmp_path, monkeypatch, capsys):
    """A file of compiled code alone does not mark a part: its compilation may be incomplete."""
    empty_cache(monkeypatch, tmp_path)
    parts = agent_parts(["rule", "inference:worlds=9"])
    announce_compiling(parts)
    assert capsys.readouterr().err == f"Compiling kernels, once: about {SECONDS['search']} s left\n"
    jit.FILES.write("agents.search.agent.choose-0123.nbc", b"")
    assert compile_seconds(parts) == SECONDS["search"]
    for part, missing in (("expert", "search"), ("search", "rule"), ("rule", None)):
        mark_compiled(part)
        kernel_parts._in_process.clear()  # as in another process
        less = SECONDS["expert"] if missing == "search" else 0
        assert compile_seconds(parts) == (SECONDS[missing] - less if missing else 0)
    announce_compiling(parts)
    assert capsys.readouterr().err == ""
    assert compile_seconds(agent_parts(["net"])) == SECONDS["net"] - SECONDS["expert"]
    assert {*AGENT_PARTS, "random", "cautious"} == set(agents.registry.BUILT_IN)


@cached
def test_after_an_edit_the_estimate_is_for_the_kernels_that_it_reaches(tmp_path, monkeypatch):
    tiny = Tiny(tmp_path)

    def load():
        top, _ = tiny.load(monkeypatch)
        empty_cache(monkeypatch, tiny.cache)
        return top

    top = load()
    top.outputs()
    types = {name: jit.private.types_in_use(getattr(top, name)) for name in ENTRIES}
    entries = [("tiny.top", name, each) for name, each in types.items()]
    monkeypatch.setattr(kernel_parts, "_entries", lambda: iter(entries))
    mark_compiled("search")
    load()
    assert compile_seconds(["search"]) == 0
    for edit, share in (
        (OTHER_EDITS["comment"], 0),
        (EDITS_THAT_MATTER["constant"][:3], 2 / 5),
        (("top.py", "def one(", "def first("), 1 / 5),
    ):
        with tiny.edited(*edit):
            load()
            assert compile_seconds(["search"]) == SECONDS["search"] * share


@pytest.mark.skipif(not jit.JIT, reason="nothing is compiled")
def test_without_a_cache_folder_parts_are_compiled_once_in_a_process(monkeypatch, capsys):
    played, logged = [], jit.compiling.show
    empty_cache(monkeypatch)
    monkeypatch.setitem(warm_up.PARTS, "rule", lambda: played.append(jit.compiling.show))
    for _ in range(2):
        announce_compiling(["rule"])
        with compiling_bar(["rule"]):
            pass
    assert len(played) == 1
    assert played[0] is not logged
    assert jit.compiling.show == logged
    assert capsys.readouterr().err == f"Compiling kernels: about {SECONDS['rule']} s left\n"


def test_an_error_before_the_parts_are_compiled_compiles_none(tmp_path, monkeypatch):
    empty_cache(monkeypatch, tmp_path)
    monkeypatch.setitem(warm_up.PARTS, "rule", None)
    with pytest.raises(OptionError, match="seats"), compiling_bar(["rule"]):
        raise OptionError("seats")


def test_the_notice_needs_no_kernels():
    """Kernels import slowly, so the notice precedes them."""
    program = "import sys, bideuchre_env.evaluation.kernel_parts; print(*sys.modules)"
    names = python("-c", program).stdout.split()
    assert not {"bideuchre_env.core.step", "bideuchre_env.evaluation.warm_up"} & {*names}


@pytest.mark.long
def test_later_commands_compile_nothing(folder):
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


@pytest.mark.slow
def test_the_parts_compile_every_entry_kernel():
    """Only `try_rows`, the kernel of `bideuchre prepare`, is left to compile at its first use."""
    import_kernels()
    for play in warm_up.PARTS.values():
        play()
    later = {name for _, name, types in kernel_parts._entries() if not types}
    assert later <= {"try_rows"}


def test_a_part_that_is_compiled_and_saved_is_skipped(monkeypatch, tmp_path):
    played = []
    monkeypatch.setitem(warm_up.PARTS, "game", lambda: played.append("game"))
    for bases in ((tmp_path,), ()):
        empty_cache(monkeypatch, *bases)
        assert [warm_up.compile_part("game"), warm_up.compile_part("game")] == [0, 0]
    assert played == ["game", "game"]
    empty_cache(monkeypatch, tmp_path)
    warm_up.compile_part("game")
    assert len(played) == (2 if jit.private else 3)


PARTS = {"random cautious": "", "rule random": "rule", "expert": "expert"}
PARTS |= {"ppo": "ppo", "net": "expert net", "pimc:worlds=20 rule": "rule expert search"}


@pytest.mark.parametrize("names", PARTS)
def test_parts_of_agents(names):
    assert agent_parts(names.split()) == tuple(PARTS[names].split())


def test_registered_agents_add_no_part(monkeypatch):
    monkeypatch.setitem(agents.registry.registered, "mine", print)
    assert agent_parts(["mine", "rule"]) == ("rule",)


def test_a_task_counts_the_actions_of_its_games(monkeypatch):
    """Steps of finished agents in the AEC loop do not count."""
    steps, step = [], aec.BidEuchreEnv.step

    def counted(env, action):
        steps.append(action is not None)
        step(env, action)

    monkeypatch.setattr(aec.BidEuchreEnv, "step", counted)
    game = bideuchre_env.six_card_v0
    done, spent = tasks.aec(game, wrapped=True, episode="hand")()
    assert done == sum(steps) == len(steps) - 4 >= 4
    assert spent > 0
    assert tasks.vec(game, 4_096)()[0] == 4 * 4_096
    done, _ = tasks.self_play(game, "rule", "random", boards=16)()
    result = match("six_card_v0", "rule", "random", boards=16, seed=1)
    assert done == sum(result.decisions)


@pytest.mark.slow
def test_bench_prints_a_table_or_json(capsys):
    options = ("bench", "--variant", "six_card_v0", "--seconds", "0.01")
    assert run(*options) == 0
    table, err = capsys.readouterr()
    assert err == ""
    assert run(*options, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["variant"] == "six_card_v0"
    assert set(data["machine"]) >= {"processor", "cores", "python", "packages"}
    for row in data["figures"]:
        assert 0 < row["least"] <= row["low"] <= row["median"] <= row["high"] <= row["most"]
        assert row["repeats"] == 5
        assert row["name"] in table
