"""Command lines of the scripts in `experiments/`, and the notebook for a class."""

import json
from contextlib import ExitStack
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
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


pyplot = pytest.importorskip("matplotlib.pyplot")
NOTEBOOK = ROOT / "experiments" / "class.ipynb"


@pytest.fixture(scope="module")
def ran():
    """The names that the cells define, and their figures."""
    before = pyplot.get_backend()
    pyplot.switch_backend("agg")
    names = {"__name__": "__main__"}
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        assert cell["outputs"] == []  # committed without outputs
        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    yield names, [pyplot.figure(number) for number in pyplot.get_fignums()]
    pyplot.close("all")
    pyplot.switch_backend(before)


def test_boards_have_less_variance_than_tables(ran):
    """Boards even have less variance than the mean of two independent tables."""
    names, (figure, _) = ran
    tables, boards = names["tables"], names["boards"]
    assert tables.mean() == pytest.approx(boards.mean())
    assert tables.mean() == pytest.approx(names["result"].points_per_hand.mean)
    assert boards.std() < tables.std() / np.sqrt(2)
    heights = [sum(bar.get_height() for bar in axis.patches) for axis in figure.axes]
    assert heights == [len(tables), len(boards)] == [800, 400]


def test_the_learner_of_the_last_cells_improves(ran):
    names, (_, figure) = ran
    curve = names["curve"]
    assert len(curve) == names["LESSONS"]
    assert curve[0] < -3
    assert np.mean(curve[-4:]) > 0
    [axis] = figure.axes
    assert axis.lines[0].get_ydata().tolist() == curve
