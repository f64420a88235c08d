"""The table of hands that is shipped: in every hand the three best strains are sure.

The table keeps rounded chances and no counts. What was left at the first 100 deals betrays itself:
every chance is a hundredth there, and of more deals all are only by coincidence.
"""

from __future__ import annotations

import numpy as np
import pytest

from bideuchre_env.agents.expert.hand_table import DECKS, SCALE, hand_table, provenance

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


@pytest.mark.parametrize("deck", DECKS[:2])  # those of the variants, which have many hands
def test_in_no_hand_a_best_strain_was_left_at_the_first_deals(deck):
    """Of those that 100 deals would leave unsure, by the whole table: 2 % would be too many.

    With partner of chances all hundredths, five or more that are neither 0 nor 1, one in a hundred
    is so by coincidence; alone, of four chances, one in 40.
    """
    table, sure = hand_table(*deck), provenance()["half_widths"]
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
