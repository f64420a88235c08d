"""The tables of hands, and the script that makes them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from support.kernels import callable_from_python
from support.script_modules import ROOT, loaded

from bideuchre_env.agents.expert.hand_table import SCALE, hand_table, provenance
from bideuchre_env.core.phases.deal import split_seed
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
    """Up to suit symmetry, keyed by the least of its renamings."""
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
    table = hand_table(*deck)
    for hand in random_hands(*deck, 100):
        row, suits = table.row(hand)
        for symmetry, names in enumerate(SUIT_MAPS):
            other_row, other_suits = table.row(renamed(hand, symmetry))
            assert other_row == row
            for strain in range(4):
                one = table.tricks[row, 0, suits[strain]]
                other = table.tricks[row, 0, other_suits[names[strain]]]
                # a hand with two like suits may have either order of them
                assert abs(int((one * np.arange(len(one))).sum()) / SCALE
                           - (other * np.arange(len(one))).sum() / SCALE) < 1.2  # fmt: skip


@pytest.mark.parametrize(("deck", "words"), [*zip(DECKS, LAYDOWNS, strict=True)])
def test_chances_add_up(deck, words):
    """A row of chances sums to 255; a laydown is certain, alone and with partner."""
    table = hand_table(*deck)
    assert (table.tricks.sum(axis=-1, dtype=np.int64) == SCALE).all()
    row, suits = table.row(hand_bits([parse_card(word) for word in words.split()]))
    assert (table.tricks[row, :, suits[3], -1] == SCALE).all()
    assert (table.lone[row, :, 0, suits[3]] == SCALE).all()


def test_another_deck_has_no_table_and_another_hand_no_row():
    assert hand_table(20, 2) is None
    assert hand_table(24, 2) is None
    table = hand_table(24, 1)
    assert table.row(0)[0] == -1
    assert table.row(1 << COPY_SHIFT | 1)[0] == -1


@pytest.mark.slow
def test_the_script_makes_the_same_rows_in_any_number_of_processes(tmp_path):
    script = [sys.executable, str(ROOT / provenance()["script"])]
    for workers in ("1", "2"):
        out = tmp_path / f"{workers}.npz"
        decks = [f"{kinds}x{copies}" for kinds, copies in DECKS]
        asked = ["--hands", "5", "--workers", workers, "--out", str(out), "--decks", *decks]
        subprocess.run([*script, *asked], check=True)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_the_script_plays_the_three_best_strains_to_a_small_error():
    """Each best strain is played until its error is small."""
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
