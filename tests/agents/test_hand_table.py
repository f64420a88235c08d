"""The tables of hands: whole, small, unpickled, and the same whatever the suits are called."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources

import numpy as np
import pytest
from support.kernels import callable_from_python
from support.script_modules import ROOT, loaded

from bideuchre_env.agents.expert import hand_table as module
from bideuchre_env.agents.expert.hand_table import SCALE, hand_table, provenance
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.suits import SUIT_MAPS, renamed
from bideuchre_env.rules.cards import COPY_SHIFT, hand_bits, parse_card

renamed = callable_from_python(renamed)

DECKS = {(24, 1): (18_133, 6), (16, 2): (34_298, 8), (20, 1): (2_176, 5), (16, 1): (286, 4)}
LAYDOWNS = ("JS JC AS KS QS TS", "JS JS JC JC AS AS KS KS", "JS JC AS KS QS", "JS JC AS KS")


def random_hands(kinds, copies, n, seed=1):
    rng = np.random.default_rng(seed)
    deck = np.repeat(np.arange(kinds), copies)
    return [hand_bits(rng.permutation(deck)[: len(deck) // 4].tolist()) for _ in range(n)]


@pytest.mark.parametrize("deck", DECKS)
def test_every_hand_has_one_row(deck):
    """18,133, 34,298, 2,176 and 286 hands up to suit symmetry, each the least of its renamings."""
    table, (n, tricks) = hand_table(*deck), DECKS[deck]
    assert table.keys.shape == (n,)
    assert (np.diff(table.keys) > 0).all()
    assert table.tricks.shape[2:] == (5, tricks + 1)
    assert table.lone.shape[2:] == (4, 5)
    for hand in random_hands(*deck, 300):
        row, suits = table.row(hand)
        assert row >= 0
        assert sorted(suits) == [0, 1, 2, 3]


@pytest.mark.parametrize("deck", DECKS)
def test_renaming_the_suits_renames_the_strains(deck):
    """A hand with its suits renamed is worth in the new suits what it was in the old ones."""
    table = hand_table(*deck)
    for hand in random_hands(*deck, 100):
        row, suits = table.row(hand)
        for symmetry, names in enumerate(SUIT_MAPS):
            other_row, other_suits = table.row(renamed(hand, symmetry))
            assert other_row == row
            for strain in range(4):
                one = table.tricks[row, 0, suits[strain]]
                other = table.tricks[row, 0, other_suits[names[strain]]]
                # a hand that looks alike in two suits may be seen either way
                assert abs(int((one * np.arange(len(one))).sum()) / SCALE
                           - (other * np.arange(len(one))).sum() / SCALE) < 1.2  # fmt: skip


@pytest.mark.parametrize(("deck", "words"), [*zip(DECKS, LAYDOWNS, strict=True)])
def test_chances_add_up(deck, words):
    """A row of chances is 255 in all, exactly; a laydown is certain, alone and with partner."""
    table = hand_table(*deck)
    assert (table.tricks.sum(axis=-1, dtype=np.int64) == SCALE).all()
    row, suits = table.row(hand_bits([parse_card(word) for word in words.split()]))
    assert (table.tricks[row, :, suits[3], -1] == SCALE).all()
    assert (table.lone[row, :, 0, suits[3]] == SCALE).all()


def test_no_other_deck_has_a_table_and_no_other_hand_a_row():
    assert hand_table(20, 2) is None
    assert hand_table(24, 2) is None
    table = hand_table(24, 1)
    assert table.row(0)[0] == -1
    assert table.row(1 << COPY_SHIFT | 1)[0] == -1


def test_the_file_is_small_and_tells_how_it_was_made():
    """A few MB at most, with its provenance, loaded without pickle."""
    path = resources.files("bideuchre_env.agents.data").joinpath(module.FILE)
    assert len(path.read_bytes()) < 3 * 2**20
    with np.load(path.open("rb")) as arrays:  # refuses objects
        assert all(arrays[name].dtype.kind in "iuU" for name in arrays.files)
    assert provenance()["seed"] == 1
    assert provenance()["deals"]["first"] >= 100


@pytest.mark.slow
def test_the_script_makes_the_same_rows_in_any_number_of_processes(tmp_path):
    """Same seed, same file: the first hands of each deck, in one process and in two."""
    script = [sys.executable, str(ROOT / provenance()["script"])]
    for workers in ("1", "2"):
        out = tmp_path / f"{workers}.npz"
        decks = [f"{kinds}x{copies}" for kinds, copies in DECKS]
        asked = ["--hands", "5", "--workers", workers, "--out", str(out), "--decks", *decks]
        subprocess.run([*script, *asked], check=True)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_the_three_best_strains_are_sure():
    """Ranked by all the deals that were played, and those within a rounding of them, too."""
    with loaded("experiments/fitting", "hand_play", "build_hand_table") as (play, script):
        rules, n, limit = script.game(24, 1, "declarer"), 40, 0.08
        keys = script.canonical_hands(rules.kinds, rules.copies)[::450][:n].copy()
        won, half_width = (
            np.zeros((n, 5, rules.tricks + 1), np.int64),
            callable_from_python(play.half_width),
        )
        low, _ = split_seed(3)
        play.play_partnered(play.new_table(rules), keys, 0, low, 20, 900, limit, won)
        deals, ranked = won.sum(axis=2), 0
        means = won @ np.arange(rules.tricks + 1) / deals
        for i in range(n):
            order = np.argsort(-means[i], kind="stable")
            sure = [
                k for k in order if means[i, k] > means[i, order[2]] - play.NEAR or k in order[:3]
            ]
            for k in sure:
                assert half_width(won[i, k]) <= limit or deals[i, k] == 900
            ranked += any(deals[i, k] > 20 for k in order[3:])
        assert (deals >= 20).all()
        assert ranked  # some strain was among the best for a while, and is not


def test_odd_options_of_the_script_are_refused(tmp_path):
    """Before anything is played; no file is there."""
    with loaded("experiments/fitting", "hand_play", "build_hand_table") as (_, script):
        out = ["--out", str(tmp_path / "t.npz")]
        for wrong in (["--first", "0"], ["--most", "99"], ["--lone", "1"], ["--workers", "0"]):
            with pytest.raises(OptionError):
                script.main(script.Args.parse([*wrong, *out]))
    assert not list(tmp_path.iterdir())
