"""The table of hands that is shipped: in every hand the three best strains are sure.

The table keeps rounded chances and no counts. What was left at the first 100 deals betrays itself:
every chance is a hundredth there, and of more deals all are only by coincidence.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.script_modules import loaded

from bideuchre_env.agents.expert.hand_table import DECKS, SCALE, provenance, worth_table
from bideuchre_env.core.phases.deal import split_seed

BEST, FIRST, Z = 3, 100, 1.959963984540054
HUNDREDTHS = np.isin(np.arange(SCALE + 1), np.round(np.arange(FIRST + 1) * SCALE / FIRST))


def half_width(share, deals):
    """Half of Wilson's 95 % interval."""
    noise = share * (1 - share) / deals + Z**2 / (4 * deals**2)
    return Z * np.sqrt(noise) / (1 + Z**2 / deals)


def ranked(figures, tricks):
    """Figures of the strains, (rows, leads, 5), best strain first by the tricks of the table."""
    mean = tricks.astype(np.int64) @ np.arange(tricks.shape[-1])
    return np.take_along_axis(figures, np.argsort(-mean, axis=-1, kind="stable"), -1)


@pytest.mark.parametrize("deck", DECKS)
def test_in_no_hand_a_best_strain_was_left_at_the_first_deals(deck):
    """Of those that 100 deals would leave unsure, by the whole table: 2 % would be too many.

    With partner of chances all hundredths, five or more that are neither 0 nor 1, one in a hundred
    is so by coincidence; alone, of four chances, one in 40.
    """
    table, sure = worth_table(*deck), provenance()["half_widths"]
    ups = table.tricks.astype(np.int64).cumsum(axis=-1)[..., :-1]
    told = ((ups > 0) & (ups < SCALE)).sum(axis=-1) >= 5
    unsure = told & (half_width(ups / SCALE, FIRST).max(axis=-1) > sure["partnered"] + 1e-3)
    asked, left = (ranked(x, table.tricks) for x in (unsure, unsure & HUNDREDTHS[ups].all(axis=-1)))
    shares = left.sum(axis=(0, 1)) / asked.sum(axis=(0, 1))
    assert asked[..., :BEST].sum() > 80_000
    assert (shares[:BEST] < 0.015).all()
    assert (shares[BEST:] > 0.7).all()  # as those are that were left
    wide = (half_width(table.lone / SCALE, FIRST) > sure["lone"] + 1e-3).all(axis=2)
    asked, left = (ranked(x, table.tricks) for x in (wide, wide & HUNDREDTHS[table.lone].all(2)))
    shares = left.sum(axis=(0, 1)) / asked.sum(axis=(0, 1))
    assert (shares[:BEST] < 0.035).all()
    assert (shares[BEST:] > 0.9).all()


@pytest.mark.slow
def test_rows_played_again_are_those_that_are_shipped_and_sure():
    """Hands from all over the decks, counted anew: the same chances, and how sure they are."""
    made, rng = provenance(), np.random.default_rng(11)
    limits = made["half_widths"]
    with loaded("experiments/fitting", "hand_play", "build_hand_table") as (play, script):
        args = script.Args.parse(["--decks", *script.NAMES])
        every = script.blocks(args)
        some = rng.choice(len(every), 20, replace=False).tolist()
        for number in (*some, -1, -6, -30):  # and of the small decks
            block = every[number]
            i = int(rng.integers(len(block.keys)))
            table = worth_table(block.kinds, block.copies)
            tricks, lone = (x[block.start + i, block.lead] for x in (table.tricks, table.lone))
            won = np.zeros((1, *tricks.shape), np.int64)
            alone = np.zeros((1, *lone.shape, 2), np.int64)
            rules = script.game(block.kinds, block.copies, script.LEADERS[block.copies][block.lead])
            seed = int(split_seed(made["seed"])[0]) + 2 * block.lead + 4 * block.copies
            hands = (
                play.new_table(rules), block.keys[i : i + 1], block.start + i,
                np.uint64(seed % (1 << 64)),
            )  # fmt: skip
            play.play_partnered(*hands, args.first, args.most, args.partnered, won)
            play.play_alone(*hands, args.first, args.most, args.lone, won, alone)
            assert np.array_equal(script.quantised(won)[0], tricks)
            assert np.array_equal(np.round(SCALE * alone[0, ..., 1] / alone[0].sum(-1)), lone)
            best = ranked(np.arange(5)[None, None], tricks[None, None])[0, 0, :BEST]
            for strain in best.tolist():
                deals = won[0, strain].sum()
                chances = (deals - won[0, strain].cumsum())[:-1] / deals
                assert half_width(chances, deals).max() <= limits["partnered"]
                deals = alone[0, :, strain].sum(axis=-1)
                share = alone[0, :, strain, 1] / deals
                assert half_width(share, deals).max() <= limits["lone"]
