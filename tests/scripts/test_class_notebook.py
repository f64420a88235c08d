"""The notebook for a class: every cell runs, in order, and its figures make sense."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.script_modules import ROOT

from bideuchre_env.records.record import GameRecord

pyplot = pytest.importorskip("matplotlib.pyplot")
NOTEBOOK = ROOT / "experiments" / "class.ipynb"


def cells(kind):
    """The texts of the cells of a kind, by their ids."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["name"]) == (4, "python3")
    return {
        cell["id"]: "".join(cell["source"])
        for cell in notebook["cells"]
        if cell["cell_type"] == kind
    }


@pytest.fixture(scope="module")
def ran():
    """The names that the cells leave behind, and the figures they draw."""
    before = pyplot.get_backend()
    pyplot.switch_backend("agg")
    names = {"__name__": "__main__"}
    for name, source in cells("code").items():
        exec(compile(source, name, "exec"), names)
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    yield names, figures
    pyplot.close("all")
    pyplot.switch_backend(before)


def test_it_is_committed_without_outputs():
    """And says how to get what it needs; each part has an exercise."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    words = "\n".join(cells("markdown").values())
    assert 'pip install notebook "bideuchre_env[plot]"' in words
    assert words.count("**Exercise") == words.count("\n## ") + words.startswith("## ") == 6


def test_a_hand_is_worth_most_in_its_long_suit(ran):
    """And the advice is on it, from what its holder sees."""
    names, _ = ran
    for worth in names["worth"].by_leader.values():
        assert max(worth, key=lambda strain: worth[strain]["tricks"]) == "H"
    advice = names["advice"]
    assert (advice.seat, advice.phase) == (0, "call")
    assert advice.best.name.startswith("bid ")


def test_the_hand_is_a_record_with_mistakes_of_the_random_player(ran):
    names, _ = ran
    record, review = names["record"], names["review"]
    assert GameRecord.from_dict(record.to_dict()).hands == record.hands
    assert record.hands[0]["deal"][0] == sorted(
        names["HAND"].split(), key=record.hands[0]["deal"][0].index
    )
    assert {mistake.seat for mistake in review.mistakes} == {2}


def test_boards_spread_less_than_tables(ran):
    """By more than the mean of two tables with deals of their own would."""
    names, (figure, _) = ran
    tables, boards = names["tables"], names["boards"]
    assert tables.mean() == pytest.approx(boards.mean())
    assert tables.mean() == pytest.approx(names["result"].points_per_hand.mean)
    assert boards.std() < tables.std() / np.sqrt(2)
    heights = [sum(bar.get_height() for bar in axis.patches) for axis in figure.axes]
    assert heights == [len(tables), len(boards)] == [800, 400]


def test_the_learner_learns(ran):
    """From far below its opponents to above them; the curve drawn is what it scored."""
    names, (_, figure) = ran
    curve = names["curve"]
    assert len(curve) == names["LESSONS"]
    assert curve[0] < -3
    assert np.mean(curve[-4:]) > 0
    [axis] = figure.axes
    assert axis.lines[0].get_ydata().tolist() == curve
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("lesson", "points per hand")
