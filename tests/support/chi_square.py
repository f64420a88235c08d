"""Chi-square probabilities, and the significance level that all tests of chance share.

A correct program fails a check at level a with probability a. The seeds are fixed, so a test either
always passes or always fails; the level bounds the probability that a correct program fails with
the seed chosen for the test. `LEVEL` is for one check (a table, a pair of cards): about 5000 checks
are made, so the probability that any of them fails is below 1e-6. A table is checked on both
sides: too uneven shows a bias, too even shows that the counts are not random.
"""

import math

import numpy as np

LEVEL = 1e-10


def chi_square_above(x: float, df: int) -> float:
    """The probability that chi-square with `df` degrees of freedom exceeds x."""
    half = x / 2
    if df % 2:
        total, k, log_term = math.erfc(math.sqrt(half)), 1, math.log(4 * half / math.pi) / 2 - half
        # from df to df + 2 the probability grows by (x/2)^(df/2) e^(-x/2) / gamma(df/2 + 1)
        while k < df:
            total += math.exp(log_term)
            k += 2
            log_term += math.log(half) - math.log(k / 2)
        return min(total, 1.0)
    log_term, total = -half, 0.0
    for k in range(df // 2):
        total += math.exp(log_term)
        log_term += math.log(half) - math.log(k + 1)
    return min(total, 1.0)


def assert_fits(observed, expected, df=None, scale=1.0):
    """Check counts against expected counts, 5 or more each; `df` is by default the cells less one.

    `scale` multiplies chi-square, for cells that depend on each other by more than their total.
    """
    observed, expected = np.asarray(observed, float).ravel(), np.asarray(expected, float).ravel()
    assert observed.size == expected.size
    # an expectation of five or more in each cell keeps the statistic near its distribution
    assert expected.min() >= 5
    x = scale * float(((observed - expected) ** 2 / expected).sum())
    above = chi_square_above(max(x, 1e-12), observed.size - 1 if df is None else df)
    assert above > LEVEL, (x, observed[:20], expected[:20])
    assert 1 - above > LEVEL, ("too even", x)
