"""Lambda returns by seat, compared with a slow implementation."""

import numpy as np
import pytest

from bideuchre_env.errors import OptionError
from bideuchre_env.learning.returns import lambda_returns


def trajectory(seed, steps=40, n=30, waiting=0.2):
    """Random arguments of `lambda_returns` for n rows; `waiting` is the share without decisions."""
    rng = np.random.default_rng(seed)
    seats = rng.integers(4, size=(steps, n)).astype(np.int8)
    seats[rng.random((steps, n)) < waiting] = -1
    rewards = rng.normal(size=(steps, n, 4)).astype(np.float32)
    ended = rng.random((steps, n)) < 0.06
    values = rng.normal(size=(steps, n)).astype(np.float32)
    bootstrap = rng.normal(size=(n, 4)).astype(np.float32)
    bootstrap[rng.random((n, 4)) < 0.4] = np.nan
    return seats, rewards, ended, values, bootstrap


def twin(seats, rewards, ended, values, bootstrap, gamma, lambda_):
    """Slow lambda returns from the definition, and `complete`; both (steps, n)."""
    steps, n = seats.shape
    returns, complete = np.zeros((steps, n)), np.zeros((steps, n), bool)
    for i in range(n):
        for seat in range(4):
            episode = []  # [step, reward until the seat's next decision]
            for t in range(steps):
                if seats[t, i] == seat:
                    episode.append([t, 0.0])
                if episode:
                    episode[-1][1] += rewards[t, i, seat]
                if ended[t, i] or t == steps - 1:
                    after = 0.0 if ended[t, i] else bootstrap[i, seat]
                    fill(
                        episode, values[:, i], after, gamma, lambda_, returns[:, i], complete[:, i]
                    )
                    episode = []
    return returns, complete


def fill(episode, values, after, gamma, lambda_, returns, complete):
    """Write the returns of a seat's decisions in an episode of a row: mixtures of n-step returns.

    `episode` has [step, reward until the seat's next decision]; `after` is the value at its end,
    NaN if unknown. The last decision is then not complete, and its return is its value.
    """
    if episode and np.isnan(after):
        returns[episode[-1][0]] = after = values[episode[-1][0]]
        episode.pop()
    worth = [*(values[t] for t, _ in episode), after]
    m = len(episode)
    for k, (t, _) in enumerate(episode):
        reached = [
            sum(gamma**j * episode[k + j][1] for j in range(steps))
            + gamma**steps * worth[k + steps]
            for steps in range(1, m - k + 1)
        ]
        parts = [(1 - lambda_) * lambda_**j for j in range(m - k - 1)] + [lambda_ ** (m - k - 1)]
        returns[t] = np.dot(parts, reached)
        complete[t] = True


@pytest.mark.parametrize(("gamma", "lambda_"), [(1, 0.95), (0.9, 0.7), (1, 1), (0.99, 0), (0, 0.5)])
def test_returns_and_advantages_equal_the_slow_implementation(gamma, lambda_):
    for seed, waiting in ((1, 0.0), (2, 0.3)):
        seats, rewards, ended, values, bootstrap = trajectory(seed, waiting=waiting)
        for after in (bootstrap, None):
            rates = {"gamma": gamma, "lambda_": lambda_}
            made = lambda_returns(seats, rewards, ended, values, after, **rates)
            whole = np.full_like(bootstrap, np.nan) if after is None else after
            returns, complete = twin(seats, rewards, ended, values, whole, gamma, lambda_)
            np.testing.assert_allclose(made.returns, returns, rtol=1e-5, atol=1e-5)
            advantages = np.where(seats < 0, 0, returns - values)
            np.testing.assert_allclose(made.advantages, advantages, rtol=1e-5, atol=1e-5)
            assert np.array_equal(made.complete, complete)
            assert 0.5 < complete[seats >= 0].mean() < 1
            assert [array.dtype.name for array in made] == ["float32", "float32", "bool"]


def put(value, *at):
    """Return a function that sets the elements at index `at` of an array, and returns the array."""

    def change(array):
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("seats", put(4, 2, 1), r"seats\[2, 1\]=4: expected a seat from 0 to 3, or -1"),
        ("seats", put(-2, 0, 0), r"seats\[0, 0\]=-2: expected a seat"),
        ("seats", lambda a: a.astype(int), "seats: expected a numpy array of int8"),
        ("rewards", lambda a: a[:, :, 0].copy(), r"rewards: expected .* \(5, 3, 4\), not"),
        ("rewards", put(np.nan, 1, 1, 1), "rewards, bootstrap: expected finite numbers"),
        ("bootstrap", put(np.inf, 1, 1), "rewards, bootstrap: expected finite numbers"),
        ("ended", lambda a: a.astype(np.int8), "ended: expected a numpy array of bool"),
        ("values", put(np.nan, 3, 2), "values: expected finite numbers"),
        ("values", np.asfortranarray, "values: expected a contiguous array"),
        ("bootstrap", lambda a: a.T.copy(), r"bootstrap: expected .* \(3, 4\), not"),
        *(
            (rate, lambda a, bad=bad: bad, f"{rate}=.*: expected a number from 0 to 1")
            for rate in ("gamma", "lambda_")
            for bad in (-0.1, 1.1, None)
        ),
    ],
)
def test_unusable_arguments_are_refused(name, change, message):
    names = ("seats", "rewards", "ended", "values", "bootstrap")
    arguments = dict(zip(names, trajectory(6, steps=5, n=3, waiting=0), strict=True))
    arguments |= {"gamma": 1.0, "lambda_": 0.9}
    arguments[name] = change(arguments[name])
    with pytest.raises(OptionError, match=message):
        lambda_returns(**arguments)
