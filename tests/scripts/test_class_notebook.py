"""The notebook for a class: every cell runs, and its figures are plausible."""

import json

import numpy as np
import pytest
from support.commands import ROOT

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
