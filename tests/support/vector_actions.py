"""Actions for many tables at once: a function of row and step, for any number of rows."""

import numpy as np


def draws(rows, step):
    """A uniform number below 1 for each row, float64 (rows,), by a hash of row and `step`."""
    with np.errstate(over="ignore"):
        x = np.arange(rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x += np.uint64(step + 1) * np.uint64(0xD1342543DE82EF95)
        for shift in (32, 29, 32):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(0xD6E8FEB86659FD93)
    return (x >> np.uint64(11)) / 2.0**53


def choose(masks, step):
    """A legal action for each row: in the auction half of them pass, others mostly bid low.

    The choice depends only on the row's number, its mask and `step`.
    """
    u, v = draws(len(masks), 2 * step), draws(len(masks), 2 * step + 1)
    counts = masks.sum(axis=1)
    bids = (masks[:, 0] == 1) & (counts > 1)
    most = np.where(bids & (v < 0.3), np.minimum(counts, 6), counts)
    k = (u * most).astype(np.int64)
    k[bids & (v >= 0.5)] = 0
    return (masks.cumsum(axis=1, dtype=np.int64) > k[:, np.newaxis]).argmax(axis=1)
