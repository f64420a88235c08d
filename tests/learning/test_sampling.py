"""Masked sampling of actions, and lambda returns by seat, compared with slow implementations."""

import numpy as np
import pytest
from support.chi_square import assert_fits

from bideuchre_env.errors import OptionError
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.learning.sampling import greedy, random_words, sample

pytestmark = pytest.mark.search

N, OUTPUTS = 3000, 17


def rows(seed, n=N, spread=3.0):
    """Random logits and masks with one or more legal outputs in each row."""
    rng = np.random.default_rng(seed)
    logits = (rng.normal(size=(n, OUTPUTS)) * spread).astype(np.float32)
    legal = (rng.random((n, OUTPUTS)) < rng.random((n, 1))).astype(np.int8)
    legal[np.arange(n), rng.integers(OUTPUTS, size=n)] = 1
    return logits, legal


def drawn(logits, legal, words):
    """The choices of `sample`, and their log-probabilities."""
    choices, log_probs = np.full(len(logits), -7), np.full(len(logits), np.nan, np.float32)
    sample(logits, legal, words, choices, log_probs)
    return choices, log_probs


def probabilities(logits, legal):
    masked = np.where(legal == 1, logits.astype(np.float64), -np.inf)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0, 1e30])
def test_a_word_selects_the_output_by_inverse_transform(spread):
    logits, legal = rows(1, spread=spread)
    words = random_words(5, 2, N)
    choices, log_probs = drawn(logits, legal, words)
    p = probabilities(logits, legal)
    ends = np.cumsum(p, axis=1)
    u = (words >> np.uint64(11)) * 2.0**-53
    at = np.arange(N)
    assert (legal[at, choices] == 1).all()
    assert (u < ends[at, choices] + 1e-12).all()
    assert (u >= ends[at, choices] - p[at, choices] - 1e-12).all()
    np.testing.assert_allclose(log_probs, np.log(p[at, choices]), rtol=1e-6, atol=1e-6)


def test_words_are_uniform_over_rows_steps_and_seeds():
    n = 40_000
    by_row, many = random_words(3, 0, n), np.array([0])
    by_step = np.concatenate([random_words(3, step, many) for step in range(4000)])
    by_seed = np.concatenate([random_words(seed << 60, 0, many) for seed in range(4000)])
    for words in (by_row, by_step, by_seed):
        for shift in (0, 32, 56):
            part = (words >> np.uint64(shift) & np.uint64(63)).astype(int)
            assert_fits(np.bincount(part, minlength=64), np.full(64, len(words) / 64))
    assert len(set(by_row)) == n


def test_a_draw_depends_on_its_own_row_alone():
    logits, legal = rows(4)
    whole = drawn(logits, legal, random_words(9, 6, N))
    order = np.random.default_rng(0).permutation(N)[:500]
    part = drawn(logits[order], legal[order], random_words(9, 6, order))
    for one, other in zip(whole, part, strict=True):
        assert np.array_equal(one[order], other)
    alone = drawn(logits[7:8], legal[7:8], random_words(9, 6, np.array([7])))
    assert (alone[0][0], alone[1][0]) == (whole[0][7], whole[1][7])
    other_step, other_seed = random_words(9, 7, N), random_words(9 << 64, 6, N)
    for words in (other_step, other_seed):
        assert (drawn(logits, legal, words)[0] != whole[0]).any()


def test_a_seed_equals_its_words_of_step_0():
    logits, legal = rows(4)
    by_seed, by_words = (drawn(logits, legal, each) for each in (9, random_words(9, 0, N)))
    assert all(np.array_equal(one, other) for one, other in zip(by_seed, by_words, strict=True))
    with pytest.raises(OptionError, match="seed=-1: expected a whole number from 0"):
        drawn(logits, legal, -1)


def test_greedy_takes_the_first_of_the_likeliest_outputs():
    logits, legal = rows(5)
    logits = np.round(logits)
    choices, log_probs = np.zeros(N, np.int64), np.zeros(N, np.float32)
    greedy(logits, legal, choices, log_probs)
    p = probabilities(logits, legal)
    assert np.array_equal(choices, np.where(legal == 1, logits, -np.inf).argmax(axis=1))
    np.testing.assert_allclose(log_probs, np.log(p.max(axis=1)), rtol=1e-6, atol=1e-6)


def test_logits_of_illegal_outputs_are_ignored_even_if_nan():
    logits, legal = rows(6)
    choices, log_probs = drawn(logits, legal, random_words(1, 1, N))
    logits[legal == 0] = np.nan
    again = drawn(logits, legal, random_words(1, 1, N))
    assert np.array_equal(choices, again[0])
    assert np.array_equal(log_probs, again[1])
    one = legal.sum(axis=1) == 1
    assert one.any()
    assert (log_probs[one] == 0).all()


def put(value, *at):
    """Return a function that returns a copy of an array with `value` at index `at`."""

    def change(array):
        array = array.copy()
        array[at] = value
        return array

    return change


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("logits", put(np.nan, 4, 3), r"logits\[4, 3\]: nan is not finite"),
        ("logits", put(np.inf, 0, 3), r"logits\[0, 3\]: inf is not finite"),
        ("legal", put(0, 11), r"legal\[11\]: expected at least one legal output"),
        ("logits", lambda a: a.astype(float), "logits: expected a numpy array of float32"),
        ("logits", np.asfortranarray, "logits: expected a contiguous array"),
        ("legal", lambda a: a[:, 1:], r"legal: expected .* shape \(20, 17\), not int8 \(20, 16"),
        ("legal", lambda a: a == 1, "legal: expected a numpy array of int8"),
        ("words", lambda a: a[1:], r"words: .*uint64 and shape \(20,\)"),
        ("choices", lambda a: a.astype(np.int32), "choices: expected a numpy array of int64"),
        ("choices", read_only, "choices: expected a writable array"),
        ("log_probs", lambda a: a.astype(float), "log_probs: expected a numpy array of float32"),
        ("log_probs", read_only, "log_probs: expected a writable array"),
    ],
)
def test_unusable_arrays_are_refused_and_nothing_is_written(name, change, message):
    logits, legal = rows(7, n=20)
    legal[:, 3] = 1
    arrays = {"logits": logits, "legal": legal, "words": random_words(0, 0, 20)}
    arrays |= {"choices": np.full(20, -7), "log_probs": np.zeros(20, np.float32)}
    arrays[name] = change(arrays[name])
    for function in (sample, greedy):
        with pytest.raises(OptionError, match=message):
            function(*arrays.values())
        if name == "words":
            break
        arrays.pop("words", None)
    assert name == "choices" or (arrays["choices"] == -7).all()


BAD_WORDS = [(-1, 0, 1, "seed=-1"), (0, -1, 1, "step=-1: expected a whole number from 0 on")]
BAD_WORDS += [(0, 0, -1, "rows=-1: expected the number of rows")]
BAD_WORDS += [(0, 0, np.zeros(3), "rows: expected a numpy array of int64")]


@pytest.mark.parametrize(("seed", "step", "numbers", "message"), BAD_WORDS)
def test_unusable_seeds_steps_and_rows_are_refused(seed, step, numbers, message):
    with pytest.raises(OptionError, match=message):
        random_words(seed, step, numbers)


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
def test_unusable_arguments_of_returns_are_refused(name, change, message):
    names = ("seats", "rewards", "ended", "values", "bootstrap")
    arguments = dict(zip(names, trajectory(6, steps=5, n=3, waiting=0), strict=True))
    arguments |= {"gamma": 1.0, "lambda_": 0.9}
    arguments[name] = change(arguments[name])
    with pytest.raises(OptionError, match=message):
        lambda_returns(**arguments)
