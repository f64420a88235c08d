"""Command lines of the scripts in `experiments/`: options, help and errors."""

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
TRAINERS = {  # by script, the library that it imports, and the extra that has it
    "agilerl_ppo": ("agilerl", "agilerl"),
    "cleanrl_ppo": ("torch", "train"),
    "openspiel_ismcts": ("pyspiel", "openspiel"),
    "rllib_ppo": ("ray", "rllib"),
    "sb3_maskable_ppo": ("sb3_contrib", "sb3"),
    "tianshou_ppo": ("tianshou", "tianshou"),
    "torchrl_ppo": ("torchrl", "torchrl"),
}
NEEDS = {name: (library,) for name, (library, _) in TRAINERS.items()}
NEEDS |= {"rllib_ppo": ("ray", "torch"), "train_ppo": ("torch", "tensorboard")}
SCRIPTS = {
    path.stem: path
    for path in sorted(FOLDER.rglob("*.py"))
    if "class Args(" in path.read_text(encoding="utf-8")
}
NAMES = tuple(name for name in SCRIPTS if all(map(find_spec, NEEDS.get(name, ()))))


@pytest.fixture(scope="module")
def scripts():
    folders = {str(SCRIPTS[name].parent.relative_to(ROOT)) for name in NAMES}
    with ExitStack() as stack:
        modules = {}
        for folder in sorted(folders):
            names = [name for name in NAMES if SCRIPTS[name].parent == ROOT / folder]
            modules |= dict(zip(names, stack.enter_context(loaded(folder, *names)), strict=True))
        yield modules


def words(value):
    """A value as words of a command line."""
    return [str(each) for each in value] if isinstance(value, tuple) else [str(value)]


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_an_option_of_its_type(scripts, name, capsys):
    """Without options, the fields have their defaults; `--help` names every option."""
    script = scripts[name]
    assert script.Args.parse([]) == script.Args()
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
    with pytest.raises(SystemExit) as ended:
        script.Args.parse(["--help"])
    assert ended.value.code == 0
    page = capsys.readouterr().out
    assert all(script_args.dashed(option.name) in page for option in fields(script.Args))
    assert "default: None" not in page


@pytest.mark.parametrize("options", [["--seed", "-1"], ["--seed", "one"], ["--sead", "1"]])
@pytest.mark.parametrize("name", ["build_hand_table", "build_holder_odds"])
def test_a_wrong_option_is_one_line_and_code_2(
    scripts, name, options, tmp_path, monkeypatch, capsys
):
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
    command = [sys.executable, str(FOLDER / "ladder.py"), "--agents", "nobody"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("ladder.py: error: no agent 'nobody'")
    assert list(tmp_path.iterdir()) == []


def test_a_trainer_without_its_library_names_the_extra(tmp_path):
    assert {path.stem for path in SCRIPTS.values() if path.parent.name == "trainers"} == set(
        TRAINERS
    )
    program = f"import runpy, sys; sys.path.insert(0, {str(FOLDER / 'trainers')!r})\n"
    for name, (library, _) in TRAINERS.items():
        program += f"saved = sys.modules.get({library!r}); sys.modules[{library!r}] = None\n"
        program += f"try: runpy.run_path({str(SCRIPTS[name])!r}, run_name='__main__')\n"
        program += f"except SystemExit as end: print({name!r}, end.code)\n"
        program += f"del sys.modules[{library!r}]\n"
        program += f"if saved: sys.modules[{library!r}] = saved\n"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [f"{name} 2" for name in TRAINERS], done.stderr
    for line, (name, (_, extra)) in zip(done.stderr.splitlines(), TRAINERS.items(), strict=True):
        assert line.startswith(f"{name}.py: error: ")
        assert f'pip install "bideuchre_env[{extra}]"' in line
