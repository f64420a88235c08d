"""Lambda-returns by their definition, for the tests of the adapters."""

from itertools import pairwise

import numpy as np


def lambda_return(paid, values, gamma, lambda_):
    """The return of the first decision: the weighted mean of its n-step returns.

    `paid` are a seat's rewards after each of its decisions in an episode that has ended, `values`
    the critic's values at these decisions.
    """

    def after(n):
        total = sum(gamma**i * paid[i] for i in range(n))
        return total + (gamma**n * values[n] if n < len(paid) else 0.0)

    last = len(paid)
    weights = [(1 - lambda_) * lambda_ ** (n - 1) for n in range(1, last)]
    return sum(w * after(n) for n, w in enumerate(weights, 1)) + lambda_ ** (last - 1) * after(last)


def expected_returns(seats, rewards, ended, values, gamma, lambda_):
    """By step and row (T, n), the returns of decisions in finished episodes; NaN for the others."""
    result = np.full(seats.shape, np.nan)
    for row in range(seats.shape[1]):
        first = 0
        for end in np.flatnonzero(ended[:, row]):
            for seat in range(4):
                steps = first + np.flatnonzero(seats[first : end + 1, row] == seat)
                bounds = [*steps, end + 1]
                paid = [rewards[a:b, row, seat].sum() for a, b in pairwise(bounds)]
                for k, step in enumerate(steps):
                    own = values[steps[k:], row]
                    result[step, row] = lambda_return(paid[k:], own, gamma, lambda_)
            first = end + 1
    return result
