"""The command lines of the experiments: an option a field of `Args`, its default the field's."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from support.script_modules import ROOT, loaded

from bideuchre_env.cli import script_args

FOLDER = ROOT / "experiments"
NEEDS = {  # by script, the libraries of its extra; what it says without is tested with it
    "train_ppo": ("torch", "tensorboard"),
    "cleanrl_ppo": ("torch",),
    "sb3_maskable_ppo": ("sb3_contrib",),
    "rllib_ppo": ("ray", "torch"),
    "torchrl_ppo": ("torchrl",),
    "tianshou_ppo": ("tianshou",),
    "agilerl_ppo": ("agilerl",),
    "openspiel_ismcts": ("pyspiel",),
}
FILES = {
    path.stem: path
    for path in sorted(FOLDER.rglob("*.py"))
    if "class Args(" in path.read_text(encoding="utf-8")
    and all(map(find_spec, NEEDS.get(path.stem, ())))
}
NAMES = tuple(FILES)


@pytest.fixture(scope="module")
def scripts():
    folders = {str(path.parent.relative_to(ROOT)) for path in FILES.values()}
    with ExitStack() as stack:
        modules = {}
        for folder in sorted(folders):
            names = [name for name, path in FILES.items() if path.parent == ROOT / folder]
            modules |= dict(zip(names, stack.enter_context(loaded(folder, *names)), strict=True))
        yield modules


def words(value):
    """How a value is written on a command line."""
    return [str(each) for each in value] if isinstance(value, tuple) else [str(value)]


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_an_option(scripts, name):
    """Without options, the defaults; with all of them, their values, each in the field's type."""
    script = scripts[name]
    plain = script.Args()
    assert script.Args.parse([]) == plain
    options, expected = [], {}
    for option in fields(script.Args):
        default, dashed = option.default, script_args.dashed(option.name)
        other = {int: 7, float: 0.5, str: "else", Path: Path("else"), bool: True}
        other |= {type(Path()): Path("else"), tuple: ("one", "two")}
        other[tuple[float, float]] = (-0.5, 1.0)
        hint = get_type_hints(script.Args)[option.name]
        kind = type(default) if default is not None else get_args(hint)[0]
        expected[option.name] = other[kind]
        options += [dashed] if default is False else [dashed, *words(expected[option.name])]
    parsed = vars(script.Args.parse(options))
    assert parsed == expected
    assert all(type(parsed[key]) is type(value) for key, value in expected.items())


@pytest.mark.parametrize("name", NAMES)
def test_help_tells_every_option_and_its_default(scripts, name, capsys):
    """`--help` begins with what the script does."""
    script = scripts[name]
    with pytest.raises(SystemExit) as ended:
        script.Args.parse(["--help"])
    assert ended.value.code == 0
    page = " ".join(capsys.readouterr().out.split())
    assert " ".join(script.__doc__.partition("\n")[0].split()) in page
    for option in fields(script.Args):
        assert script_args.dashed(option.name) in page
        shown = f" (default: {' '.join(words(option.default))})"
        plain = option.default is None or option.default is False
        told = option.metadata["help"] + ("" if plain else shown)
        assert told.replace(" ", "") in page.replace(" ", "")  # a long path is broken anywhere
    assert "default: None" not in page


@pytest.mark.parametrize("options", [["--seed", "-1"], ["--seed", "one"], ["--sead", "1"]])
@pytest.mark.parametrize(
    "name", ["fit_call_network", "fit_score_network", "build_hand_table", "build_holder_odds"]
)
def test_what_is_wrong_is_one_line_and_code_2(
    scripts, name, options, tmp_path, monkeypatch, capsys
):
    """Refused by the script or not to be read at all: the code is the same, nothing is written."""
    script, out = scripts[name], tmp_path / "out"
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *options, "--out", str(out)])
    try:
        code = script_args.run(script.main, script.Args)
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"{name}.py: error: ")
    assert "seed" in error or "sead" in error
    assert not out.exists()


def test_a_script_runs_as_a_file_from_any_folder(tmp_path):
    """As the README has it: `python experiments/ladder.py`."""
    command = [sys.executable, str(FOLDER / "ladder.py"), "--agents", "nobody"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("ladder.py: error: no agent 'nobody'")
    assert list(tmp_path.iterdir()) == []
