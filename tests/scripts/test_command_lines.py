"""Command lines of the scripts in `experiments/`: options, help and errors."""

from contextlib import ExitStack
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from support.commands import ROOT, load_scripts, python

from bideuchre_env.cli import script_args

FOLDER = ROOT / "experiments"
NEEDS = {  # libraries that a script imports
    "agilerl_ppo": ("agilerl",),
    "cleanrl_ppo": ("torch",),
    "openspiel_ismcts": ("pyspiel",),
    "rllib_ppo": ("ray", "torch"),
    "sb3_maskable_ppo": ("sb3_contrib",),
    "tianshou_ppo": ("tianshou",),
    "torchrl_ppo": ("torchrl",),
    "train_ppo": ("torch", "tensorboard"),
}
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
            modules |= dict(
                zip(names, stack.enter_context(load_scripts(folder, *names)), strict=True)
            )
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


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--agents", "nobody"], "no agent 'nobody'"),
        (["--seed", "one"], "argument --seed: invalid int value: 'one'"),
    ],
)
def test_a_script_run_from_any_folder_names_a_wrong_option(options, error, tmp_path):
    done = python(FOLDER / "ladder.py", *options, where=tmp_path, status=2)
    assert done.stderr.splitlines()[-1].startswith(f"ladder.py: error: {error}")
    assert list(tmp_path.iterdir()) == []
