"""The greeting, every `--help`, and the completion of commands, names and files in a shell."""

import io
import os
import platform
import re
import shutil
import subprocess
import sys
from importlib import metadata

import pytest
from support.commands import python, run

import bideuchre_env
from bideuchre_env import agents, variants
from bideuchre_env.cli import completion
from bideuchre_env.cli import main as cli
from bideuchre_env.cli.main import build_parser
from bideuchre_env.play.levels import LEVELS


def parsers():
    """The parsers of all commands by name; "" is `bideuchre` itself."""
    parser = cli.build_parser()
    return {"": parser, **completion.commands_of(parser)}


def test_without_a_command_examples_are_printed(capsys):
    assert run() == 0
    out, err = capsys.readouterr()
    assert err == ""
    examples = [line.split() for line in out.splitlines() if line.startswith("  bideuchre ")]
    assert len(examples) == 5
    assert {words[1] for words in examples} <= set(parsers())


def test_help_lists_at_most_14_commands_and_explains_all_names_of_commands(capsys):
    assert run("help") == 0
    page = capsys.readouterr().out
    listed = [line.split()[0] for line in page.splitlines() if re.match(r" {4}[a-z]", line)]
    assert len(listed) <= 14
    assert {"match", "tournament", "records"} <= set(listed)
    names = {name: f"records {name}" for name in ("check", "show", "export")}
    names["selfplay"] = "match"
    for name, present in names.items():
        assert run("help", name) == 0
        assert capsys.readouterr().out == parsers()[present].format_help()


@pytest.mark.parametrize("name", parsers())
def test_help_has_examples_that_parse_and_lists_variants_and_agents(name):
    parser = parsers()[name]
    page = parser.format_help()
    lines = page[page.index("\nexample") :].splitlines()
    examples = [line for line in lines if line.startswith("  bideuchre ")]
    assert examples
    for line in examples:
        words = line.partition(" > ")[0].replace('"', "'").split("'")
        arguments = [w for k, part in enumerate(words) for w in ([part] if k % 2 else part.split())]
        parsed = cli.build_parser().parse_args(arguments[1:])
        assert parsed.run or name == ""
    words = " ".join(page.split())
    options = {action.dest for action in parser._actions}
    if options & {"variant", "variants"} or name in ("", "variants"):
        assert f"variants: {', '.join(variants)}" in words
    if options & {"a", "agents"} or not name:
        assert f"agents, weakest first: {', '.join(agents.names())}" in words


@pytest.mark.parametrize("name", parsers())
def test_help_keeps_a_value_on_the_line_of_its_word(name):
    lines = parsers()[name].format_help().splitlines()
    assert not [line for line in lines if re.search(r"default:$|^\s*%", line)]


def test_help_explains_each_level_on_a_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = parsers()["play"].format_help()
    for level, (_, words) in LEVELS.items():
        assert re.search(rf"^ +{level}: {words.split()[0]}", page, re.M)
        assert f"{level}: {words}" in " ".join(page.split())


FIGURES = {"match", "tournament", "agents", "variants"}
FIGURES |= {"advise", "hand", "bench", "evaluate"}


def test_agents_games_and_json_are_spelled_alike_in_all_commands():
    spelled = {"V": {"--variant"}, "GAME": set(), "A": {"--partner", "--opponents", "--adviser"}}
    spelled["A"] |= {"--agent", "--field"}
    with_json = set()
    for name, parser in parsers().items():
        for action in parser._actions:
            if action.metavar in spelled:
                assert {*action.option_strings} <= spelled[action.metavar], name
            if "--json" in action.option_strings:
                assert action.nargs == 0, name
                with_json.add(name)
    assert with_json == FIGURES


def test_help_explains_a_command_or_lists_them(capsys):
    for words in (["help"], ["help", "match"]):
        assert run(*words) == 0
        page = capsys.readouterr().out
        assert run(*words[1:], "--help") == 0
        assert page == capsys.readouterr().out


def test_help_and_parse_errors_load_no_heavy_module():
    code = (
        "import sys; from bideuchre_env.cli.main import main\n"
        f"for arguments in {[[], *([*name.split(), '--help'] for name in parsers()), ['x']]}:\n"
        "    try: main(arguments)\n"
        "    except SystemExit: pass\n"
        "heavy = {'numba', 'rich', 'matplotlib', 'bideuchre_env.evaluation.match'}\n"
        "sys.exit(f'heavy: {heavy & set(sys.modules)}' if heavy & set(sys.modules) else 0)"
    )
    python("-c", code)


def test_version_prints_a_line_for_each_package_without_importing_numba():
    code = (
        "import sys; from bideuchre_env.cli.main import main\n"
        "try: main(['--version'])\n"
        "except SystemExit as done: print(done.code, 'numba' in sys.modules)"
    )
    packages = ("numpy", "numba", "llvmlite", "gymnasium", "pettingzoo")
    assert python("-c", code).stdout.splitlines() == [
        f"bideuchre_env {bideuchre_env.__version__}",
        *(f"{name} {metadata.version(name)}" for name in packages),
        f"{platform.python_implementation()} {platform.python_version()}",
        f"{platform.system()} {platform.machine()}",
        "0 False",
    ]


BASH = None if os.name == "nt" else shutil.which("bash")  # there it may be that of WSL
FREE_TEXTS = {
    *("N", "K", "G", "S", "X", "MS", "SECONDS", "LOW", "HIGH", "SEATS", "HOST", "HOST:PORT"),
    *("NAME=VALUE", "PAIR", "CARDS", "CARDS|N", "CALLS", "OURS-THEIRS", "VERSION"),
}
"""Metavars of arguments that no shell completes."""
COMPLETE = """
source ./completion.bash
COMP_WORDS=({words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
$(complete -p bideuchre | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def script(shell, capsys):
    assert run("--print-completion", shell) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_script_has_commands_agents_and_variants(shell, capsys):
    text = script(shell, capsys)
    for name in ("match", "tournament", *agents.names(), *variants):
        assert name in text


def test_lines_end_as_shells_need_on_windows_too(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\r\n")
    monkeypatch.setattr(sys, "stdout", out)
    assert run("--print-completion", "bash") == 0
    out.flush()
    assert b"\n" in out.buffer.getvalue()
    assert b"\r" not in out.buffer.getvalue()


def test_every_metavar_is_completed_or_a_free_text():
    parser, mapped, free = build_parser(), set(), set()
    completion.completion_script(parser, "bash")
    for command in completion.commands_of(parser).values():
        for action in command._actions:
            metavars = action.metavar if isinstance(action.metavar, tuple) else (action.metavar,)
            completed = action.choices or hasattr(action, "complete")
            (mapped if completed else free).update(metavars)
    assert free - {None} == FREE_TEXTS
    assert not mapped & FREE_TEXTS


COMPLETED = [("ma", ["match"]), ("match --var", ["--variant"]), ("match ex", ["expert"])]
COMPLETED += [("match --variant ba", ["barrie_v0"]), ("match expert p", ["ppo", "pimc"])]
COMPLETED += [("match rule ca", ["cautious"]), ("agents inf", ["inference"])]
COMPLETED += [("variants clu", ["club_v0"]), ("records export --reward po", ["points"])]
COMPLETED += [("records show ga", ["games.jsonl"]), ("match --rules fa", ["farm.toml"])]


@pytest.mark.skipif(BASH is None, reason="no bash")
@pytest.mark.parametrize(("words", "expected"), COMPLETED)
def test_bash_completes_a_word(words, expected, folder, capsys):
    text = script("bash", capsys)
    (folder / "completion.bash").write_text(text, encoding="utf-8", newline="\n")
    for name in ("games.jsonl", "farm.toml"):
        (folder / name).touch()
    subprocess.run([BASH, "-n", "completion.bash"], check=True)
    program = COMPLETE.format(words=f"bideuchre {words}")
    done = subprocess.run(
        [BASH, "--norc", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == expected
