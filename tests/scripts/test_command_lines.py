"""Scripts of `experiments/`: options, help, errors; the notebook; scripts that fit networks."""

import io
import json
import sys
from contextlib import ExitStack
from dataclasses import fields
from importlib import resources
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
from support.commands import ROOT, load_scripts, python

import bideuchre_env
from bideuchre_env import agents, match
from bideuchre_env.agents.expert import call_network
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.agents.learned.shipped import shipped_weights
from bideuchre_env.cli import script_args
from bideuchre_env.learning.weights import Weights, read_weights
from bideuchre_env.rules.variants import RULES
from bideuchre_env.training import cards

pytestmark = pytest.mark.slow

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
            modules |= zip(names, stack.enter_context(load_scripts(folder, *names)), strict=True)
        yield modules


def words(value):
    return [str(each) for each in value] if isinstance(value, tuple) else [str(value)]


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_an_option_of_its_type(scripts, name, capsys):
    script = scripts[name]
    assert script.Args.parse([]) == script.Args()
    options, expected, paths = [], {}, (Path("one"), Path("two"))
    for option in fields(script.Args):
        default, dashed = option.default, script_args.dashed(option.name)
        other = {int: 7, float: 0.5, str: "else", Path: Path("else"), bool: True}
        other |= {type(Path()): Path("else"), tuple: ("one", "two")}
        other[tuple[float, float]] = (-0.5, 1.0)
        hint = get_type_hints(script.Args)[option.name]
        kind = type(default) if default is not None else get_args(hint)[0]
        expected[option.name] = paths if hint == tuple[Path, ...] else other[kind]
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


FITS = ("fit_call_network", "fit_score_network")
SMALL = {
    "fit_call_network": ["--hands", "400", "--rounds", "4"],
    "fit_score_network": ["--hands", "400", "--played", "20", "--rounds", "2"],
}
PARTS = {"fit_call_network": "expert", "fit_score_network": "score"}


def run(script, out, *options):
    """Run a script with small settings and `options`; return the weights of a game."""
    words = [*SMALL[script.__name__], "--out", str(out), *options]
    assert script.main(script.Args.parse(words)) == 0
    return read_weights(out / "simplified_v0.npz", PARTS[script.__name__])


@pytest.mark.parametrize("name", FITS)
def test_a_fit_changes_its_game_and_its_part_alone(scripts, name, tmp_path):
    part, file = PARTS[name], tmp_path / "simplified_v0.npz"
    own = resources.files("bideuchre_env.agents.data").joinpath(file.name).read_bytes()
    file.write_bytes(own)
    written = run(scripts[name], tmp_path, "--games", "simplified_v0")
    assert written.metadata["hands"] == 400
    with np.load(io.BytesIO(own)) as old, np.load(file) as new:
        assert {*old.files} == {*new.files}
        same = {each: old[each].tobytes() == new[each].tobytes() for each in old.files}
    assert all(same[each] == (not each.startswith(f"{part}.")) for each in same if "first" in each)
    assert same["net.cards.last"]
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("name", FITS)
def test_a_seed_determines_the_weights(scripts, name, tmp_path):
    games = (
        "simplified_v0 --seed 4",
        "six_card_v0 simplified_v0 --seed 4",
        "simplified_v0 --seed 5",
    )
    one, again, other = (
        run(scripts[name], tmp_path / str(i), "--games", *each.split()).metadata["digest"]
        for i, each in enumerate(games)
    )
    assert one == again
    assert one != other


def test_chances_to_win_equal_the_game_tree(scripts):
    """The target is 3; each side is declarer equally often and makes one or two points."""
    rules = RULES["cincinnati_v0"].replace(target=3)
    cases = product(range(3), range(3), (1, 2))
    hands = np.array([(ours, theirs, 0, points, 0, 1) for ours, theirs, points in cases], np.int64)
    table = sys.modules["score_values"].score_values(rules, hands)

    def chance(ours, theirs):
        if ours >= 3 or theirs >= 3:
            return 1.0 if ours >= 3 else 0.0
        ways = [(ours + k, theirs) for k in (1, 2)] + [(ours, theirs + k) for k in (1, 2)]
        return sum(chance(*way) for way in ways) / 4

    for ours in range(3):
        for theirs in range(3):
            computed = table[0, 2 - ours, 2 - theirs]
            assert computed == pytest.approx(chance(ours, theirs), abs=2e-3)


TINY = ["--first", "300", "--hands", "200", "--call-hands", "400", "--call-rounds", "1"]
SHORT = ["--rounds", "1", "--call-rounds", "0"]


@pytest.fixture
def learn(scripts):
    return scripts["learn_cards"]


def train(learn, out, *options):
    """Run the script with small settings; return the bytes of the weights it writes, by file."""
    assert learn.main(learn.Args.parse([*TINY, "--out", str(out), *options])) == 0
    return {path.name: path.read_bytes() for path in out.glob("*.npz")}


def test_a_run_stopped_after_every_step_ends_with_the_same_weights(learn, tmp_path, monkeypatch):
    options = ["--games", "six_card_v0", "--rounds", "2", "--against", "rule", "expert"]
    options += ["--against-boards", "10"]
    whole = train(learn, tmp_path / "whole", *options)
    steps = len(whole) - 1
    assert steps > 2
    save, stopped = learn.Learner.save, tmp_path / "stopped"

    def interrupt(self, weights, k, seconds):
        saved = save(self, weights, k, seconds)
        if len(list(stopped.glob("*step*"))) == k + 1 < steps:
            raise KeyboardInterrupt
        return saved

    monkeypatch.setattr(learn.Learner, "save", interrupt)
    for _ in range(steps - 1):
        with pytest.raises(KeyboardInterrupt):
            train(learn, stopped, *options)
    assert train(learn, stopped, *options) == whole


def test_the_command_in_the_weights_reproduces_them(learn, tmp_path, monkeypatch):
    """The log has a line for every step, with its points against the judges."""
    monkeypatch.setattr(cards, "JUDGED", {"rule": 4})
    options = ["--games", "six_card_v0", *SHORT, "--seed", "5"]
    first = train(learn, tmp_path / "a", *options, "--judge")
    metadata = read_weights(tmp_path / "a" / "six_card_v0.npz", "net").metadata
    assert (metadata["kind"], metadata["variant"], metadata["seed"]) == ("net", "six_card_v0", "5")
    script, *words = metadata["command"].removeprefix("python ").split()
    assert script == "experiments/learn_cards.py"
    assert learn.main(learn.Args.parse([*words, "--out", str(tmp_path / "b")])) == 0
    again = (tmp_path / "b" / "six_card_v0.npz").read_bytes()
    assert again == first["six_card_v0.npz"]
    lines = (tmp_path / "a" / "six_card_v0-seed5.jsonl").read_text().splitlines()
    steps = [json.loads(line) for line in lines]
    assert [step["kind"] for step in steps] == ["first", "polish"]
    assert all(step["over rule"]["low"] <= step["over rule"]["high"] for step in steps)


def test_a_dropped_step_leaves_the_weights(learn, tmp_path, monkeypatch):
    monkeypatch.setattr(learn.Learner, "is_worse", lambda self, new, old: True)
    train(learn, tmp_path, "--games", "six_card_v0", "--rounds", "2", "--against", "rule")
    first, *later = (read_weights(file, "net").arrays for file in sorted(tmp_path.glob("*step*")))
    assert len(later) == 3
    for arrays in later:
        assert all(np.array_equal(array, arrays[name]) for name, array in first.items())


def test_a_step_that_loses_to_an_opponent_is_dropped(learn, tmp_path, capsys):
    rules = bideuchre_env.six_card_v0.rules
    good, calls = shipped_weights("net", rules), call_network.package_network(rules)
    negated = {name: -array for name, array in good.arrays.items() if name == "cards.last"}
    bad = Weights({**good.arrays, **negated}, good.metadata)
    course = cards.Course(against=("rule", "timid"), against_boards=400, out=tmp_path)
    learner = cards.Learner(bideuchre_env.six_card_v0, calls, course, "")
    assert learner.is_worse(bad, good)
    assert not learner.is_worse(good, bad)
    assert not learner.is_worse(good, good)
    assert "step dropped; against rule" in capsys.readouterr().out


@pytest.mark.long
def test_a_short_run_is_better_than_the_expert_without_search(learn, tmp_path):
    train(learn, tmp_path, "--games", "cincinnati_v0", "--first", "20000", *SHORT)

    def before(rules, *, goal="points"):
        return agents.make("expert", rules, wanted=(0,) * 13, goal="points")

    def after(rules, *, goal="points"):
        return NetAgent(rules, weights=tmp_path / "cincinnati_v0.npz", goal="points")

    result = match("cincinnati_v0", after, before, boards=4000, seed=11)
    assert result.points_per_hand.low > 0
