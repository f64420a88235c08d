"""The greeting and every `--help` of the command line."""

import argparse
import platform
from importlib import metadata

import pytest
from support.commands import python, run

import bideuchre_env
from bideuchre_env import agents, variants
from bideuchre_env.cli import main as cli


def parsers():
    """The parsers of all commands by name; "" is `bideuchre` itself."""
    parser = cli.build_parser()
    chosen = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {"": parser, **chosen.choices}


def test_without_a_command_examples_are_printed(capsys):
    assert run() == 0
    out, err = capsys.readouterr()
    assert err == ""
    examples = [line.split() for line in out.splitlines() if line.startswith("  bideuchre ")]
    assert len(examples) == 5
    assert {words[1] for words in examples} <= set(parsers())


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
    if "variant" in options or name in ("", "variants"):
        assert f"variants: {', '.join(variants)}" in words
    if options & {"a", "agents"} or not name:
        assert f"agents, weakest first: {', '.join(agents.names())}" in words


def test_help_and_parse_errors_load_no_heavy_module():
    code = (
        "import sys; from bideuchre_env.cli.main import main\n"
        f"for arguments in {[[], *([*name.split(), '--help'] for name in parsers()), ['x']]}:\n"
        "    try: main(arguments)\n"
        "    except SystemExit: pass\n"
        "heavy = {'numba', 'rich', 'matplotlib', 'bideuchre_env.evaluation.selfplay'}\n"
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


def test_python_m_is_the_command():
    done = python("-m", "bideuchre_env", "dance", status=2)
    assert done.stderr.startswith("bideuchre: error: ")
