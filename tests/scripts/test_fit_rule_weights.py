"""The script that fits the rule player's bidding numbers writes a file like the shipped one."""

from __future__ import annotations

import ast
import math

import pytest
from support.script_modules import ROOT, loaded

from bideuchre_env.agents.rule import hand_numbers
from bideuchre_env.errors import OptionError

SHIPPED = (ROOT / "agents" / "rule" / "hand_numbers.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def fit():
    with loaded("experiments/fitting", "fit_rule_weights") as (module,):
        yield module


def arguments(fit, out, *options):
    return fit.parse_args(["--deals", "300", "--rounds", "1", "--out", str(out), *options])


def read(text):
    """The dicts of the file, and the comment each deck stands under."""
    numbers = next(node for node in ast.parse(text).body if isinstance(node, ast.AnnAssign))
    comments = [line.split("#")[1] for line in text.splitlines() if line.startswith("    {  #")]
    return ast.literal_eval(numbers.value), comments


def test_the_shipped_file_is_in_the_format_of_the_script(fit):
    """Header included: the script writes the shipped numbers as they stand, to the byte."""
    assert fit.source(list(hand_numbers.HAND_NUMBERS)) == SHIPPED
    assert "experiments/fitting/fit_rule_weights.py" in hand_numbers.__doc__


def test_a_small_fit_writes_the_same_keys_shapes_and_decks(fit, tmp_path, capsys):
    """A single and a double deck fitted, the others as they are in the package."""
    out = tmp_path / "new" / "hand_numbers.py"
    assert fit.main(arguments(fit, out, "--decks", "24x1", "16x2")) == 0
    printed = capsys.readouterr().out
    assert [line.split(":")[0] for line in printed.splitlines()[:-1]] == ["24x1", "16x2"]
    assert [path.name for path in out.parent.iterdir()] == ["hand_numbers.py"]
    numbers, comments = read(out.read_text(encoding="utf-8"))
    shipped, shipped_comments = read(SHIPPED)
    assert comments == shipped_comments
    for name, deck, old in zip(fit.NAMES, numbers, shipped, strict=True):
        assert {k: len(v) for k, v in deck.items()} == {k: len(v) for k, v in old.items()}
        assert list(deck) == list(old)
        assert all(math.isfinite(value) for values in deck.values() for value in values)
        assert (deck == old) == (name not in ("24x1", "16x2"))


def test_the_same_seed_gives_the_same_numbers(fit, tmp_path):
    """Whichever other decks are fitted; another seed gives others."""
    for name, options in (("a", ["20x1"]), ("b", ["16x1", "20x1"]), ("c", ["20x1", "--seed", "1"])):
        assert fit.main(arguments(fit, tmp_path / name, "--decks", *options)) == 0
    a, b, c = (read((tmp_path / name).read_text(encoding="utf-8"))[0][1] for name in "abc")
    assert a == b != c


def test_ctrl_c_writes_nothing(fit, tmp_path, monkeypatch, capsys):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "fit_roles", interrupted)
    assert fit.main(arguments(fit, tmp_path / "numbers.py", "--decks", "16x1")) == 130
    assert "nothing is written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--decks", "32x1"], "32x1"),
        (["--deals", "99"], "deals"),
        (["--rounds", "0"], "rounds"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_dealt(fit, tmp_path, options, told):
    with pytest.raises(OptionError, match=told):
        fit.main(arguments(fit, tmp_path / "numbers.py", *options))
    assert list(tmp_path.iterdir()) == []
