"""The study of beliefs after rare calls."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.script_modules import ROOT, loaded

from bideuchre_env.agents.search.agent import InferenceAgent
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.variants import RULES


@pytest.fixture(scope="module")
def beliefs():
    with loaded("experiments", "beliefs") as (module,):
        yield module


def test_coverage_compares_advice_with_uniform_deals(beliefs, tmp_path, monkeypatch, capsys):
    """On one position, with few deals; a second run reads the rows of the first."""
    monkeypatch.setattr(beliefs, "DRAWS", 20_000)
    monkeypatch.setattr(beliefs, "MOST_DRAWS", 20_000)
    file = tmp_path / "rows.json"
    words = ["--variants", "cincinnati_v0", "--hands", "300", "--positions", "1", "--seeds", "3"]
    args = beliefs.Args.parse([*words, "--json", str(file), "--out", str(tmp_path / "saved")])
    assert beliefs.main(args) == 0
    [row] = json.loads(file.read_text())["rows"]["cincinnati_v0"]
    assert beliefs.LEAST_RARE <= row["chance"] <= beliefs.MOST_RARE
    assert 0.0 <= row["covered"] <= 1.0
    assert row["rms"] < 12.0
    assert row["error"] < row["deviation"]
    printed = capsys.readouterr().out
    assert beliefs.main(args) == 0
    assert capsys.readouterr().out == printed
    assert "| cincinnati_v0 |" in printed


def test_calibration_compares_predictions_with_contracts_made(beliefs, tmp_path, capsys):
    words = ["--check", "calibration", "--variants", "cincinnati_v0", "--hands", "60"]
    args = beliefs.Args.parse([*words, "--out", str(tmp_path)])
    assert beliefs.main(args) == 0
    assert "| cincinnati_v0 | with partner | all |" in capsys.readouterr().out


def test_contracts_are_counted_by_range_of_the_prediction(beliefs):
    """A prediction on the border of two ranges counts in the upper one."""
    rows = beliefs.by_range(np.array([0.1, 0.19, 0.2, 0.5, 1.0]), np.array([0, 1, 1, 0, 1.0]))
    assert [(row["range"], row["n"], row["made"]) for row in rows] == [
        ("all", 5, 3),
        ("0% to 20%", 2, 1),
        ("20% to 40%", 1, 1),
        ("40% to 60%", 1, 0),
        ("80% to 100%", 1, 1),
    ]
    assert [row["predicted"] for row in rows[:2]] == pytest.approx([0.398, 0.145])


def test_a_poor_reference_is_no_measure(beliefs):
    row = {"bid": "moon", "role": "partner", "stage": "lead", "chance": 1e-4, "reference": 2.0,
           "stated": 20.0, "true": 3e7, "covered": 1.0, "rms": 1.5, "deviation": 10.0}  # fmt: skip
    table = beliefs.coverage_table({"a": [row | {"error": 2.0}, row | {"error": 0.5, "rms": 2.5}]})
    assert "| unknown | unknown | 20 | unknown |" in table
    assert "| 100% | 2.50 | 20 | > 10,000 |" in table
    assert "| 1 known | | | | | | 100% | 2.50 | | |" in table


def test_the_reference_is_the_answer_of_exact_beliefs(beliefs, monkeypatch):
    """Late in a hand all deals are enumerated: uniform deals, weighed, come to the same points."""
    monkeypatch.setattr(beliefs, "DRAWS", 40_000)
    rules, compared = RULES["cincinnati_v0"], 0
    searcher = InferenceAgent(rules, seed=0)
    decisions, _ = beliefs.positions(rules, 60, 5)
    for position in decisions:
        if position.stage != "end" or compared == 5:
            continue
        advice = beliefs.Advisor(rules).of_observation(position.observation, position.mask)
        first = advice.options[0]
        if first.points.low != first.points.high or advice.worlds < 5:
            continue  # sampled, or hardly anything is hidden
        row = beliefs.reference(searcher, position, first.action)
        assert row["reference"] == pytest.approx(first.points.mean, abs=4 * row["error"] + 0.05)
        compared += 1
    assert compared == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--check", "colour"], "expected coverage or calibration"),
        (["--variants", "poker"], "expected some of"),
        (["--seeds", "1"], "--seeds: 2 or more"),
    ],
)
def test_bad_options_are_refused(beliefs, words, message):
    with pytest.raises(OptionError, match=message):
        beliefs.main(beliefs.Args.parse(words))


@pytest.mark.parametrize("check", ["coverage", "calibration"])
def test_the_page_has_the_published_table(beliefs, check):
    path = ROOT / "experiments" / "results" / "beliefs" / f"{check}.json"
    saved = json.loads(path.read_text(encoding="utf-8"))
    tabulate = beliefs.coverage_table if check == "coverage" else beliefs.calibration_table
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    assert f"\n{tabulate(saved['rows'])}\n" in page
