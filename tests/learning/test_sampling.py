"""Masked sampling: probabilities and frequencies, by each row alone; odd arrays are refused."""

import numpy as np
import pytest
from support.chi_square import assert_fits

from bideuchre_env.errors import OptionError
from bideuchre_env.learning.sampling import greedy, random_words, sample

N, OUTPUTS = 3000, 17


def rows(seed, n=N, spread=3.0):
    """Logits and masks by chance: from one legal output a row to all."""
    rng = np.random.default_rng(seed)
    logits = (rng.normal(size=(n, OUTPUTS)) * spread).astype(np.float32)
    legal = (rng.random((n, OUTPUTS)) < rng.random((n, 1))).astype(np.int8)
    legal[np.arange(n), rng.integers(OUTPUTS, size=n)] = 1
    return logits, legal


def drawn(logits, legal, words):
    """What `sample` writes."""
    choices, log_probs = np.full(len(logits), -7), np.full(len(logits), np.nan, np.float32)
    sample(logits, legal, words, choices, log_probs)
    return choices, log_probs


def probabilities(logits, legal):
    """The softmax among the legal outputs, float64 (n, O), by numpy."""
    masked = np.where(legal == 1, logits.astype(np.float64), -np.inf)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0, 1e30])
def test_draws_are_those_of_the_slow_twin(spread):
    """A word says how far along the probabilities, laid end to end, the choice lies."""
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


def test_choices_come_as_often_as_their_probabilities():
    """Chi-square of frequencies, for rows of different kinds."""
    logits, legal = rows(2, n=8, spread=1.0)
    for i in range(8):
        n = 20_000
        many = [np.repeat(array[i : i + 1], n, axis=0) for array in (logits, legal)]
        choices, _ = drawn(*many, random_words(i, 0, n))
        p = probabilities(logits[i : i + 1], legal[i : i + 1])[0]
        counts = np.bincount(choices, minlength=OUTPUTS)
        assert counts[p == 0].sum() == 0
        often = p * n >= 5
        if often.sum() > 1:
            rest = [counts[~often].sum()], [p[~often].sum() * n]
            observed, expected = counts[often], p[often] * n
            if rest[1][0] >= 5:
                observed, expected = np.append(observed, rest[0]), np.append(expected, rest[1])
            assert_fits(observed, expected, df=len(observed) - 1)


def test_words_are_spread_evenly():
    """Over the rows of one step, the steps of one row, and seeds."""
    n = 40_000
    by_row, many = random_words(3, 0, n), np.array([0])
    by_step = np.concatenate([random_words(3, step, many) for step in range(4000)])
    by_seed = np.concatenate([random_words(seed << 60, 0, many) for seed in range(4000)])
    for words in (by_row, by_step, by_seed):
        for shift in (0, 32, 56):
            part = (words >> np.uint64(shift) & np.uint64(63)).astype(int)
            assert_fits(np.bincount(part, minlength=64), np.full(64, len(words) / 64))
    assert len(set(by_row)) == n


def test_a_draw_is_a_function_of_its_own_row():
    """Whatever else is in the batch, and in whatever order."""
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


def test_a_seed_stands_for_its_first_words():
    """In place of words; it is refused as there."""
    logits, legal = rows(4)
    by_seed, by_words = (drawn(logits, legal, each) for each in (9, random_words(9, 0, N)))
    assert all(np.array_equal(one, other) for one, other in zip(by_seed, by_words, strict=True))
    with pytest.raises(OptionError, match="seed=-1: a whole number from 0"):
        drawn(logits, legal, -1)


def test_greedy_takes_the_likeliest():
    """The first of those alike; with its log-probability."""
    logits, legal = rows(5)
    logits = np.round(logits)
    choices, log_probs = np.zeros(N, np.int64), np.zeros(N, np.float32)
    greedy(logits, legal, choices, log_probs)
    p = probabilities(logits, legal)
    assert np.array_equal(choices, np.where(legal == 1, logits, -np.inf).argmax(axis=1))
    np.testing.assert_allclose(log_probs, np.log(p.max(axis=1)), rtol=1e-6, atol=1e-6)


def test_what_is_not_legal_does_not_count():
    """Not even where it is no number; and the only legal output is certain."""
    logits, legal = rows(6)
    choices, log_probs = drawn(logits, legal, random_words(1, 1, N))
    logits[legal == 0] = np.nan
    again = drawn(logits, legal, random_words(1, 1, N))
    assert np.array_equal(choices, again[0])
    assert np.array_equal(log_probs, again[1])
    one = legal.sum(axis=1) == 1
    assert one.any()
    assert (log_probs[one] == 0).all()


def refused(told, **changed):
    """Both functions refuse arrays so changed, and write nothing."""
    logits, legal = rows(7, n=20)
    legal[:, 3] = 1
    arrays = {"logits": logits, "legal": legal, "words": random_words(0, 0, 20)}
    arrays |= {"choices": np.full(20, -7), "log_probs": np.zeros(20, np.float32)}
    arrays |= {name: change(arrays[name]) for name, change in changed.items()}
    with pytest.raises(OptionError, match=told):
        sample(*arrays.values())
    if "words" not in changed:
        words = arrays.pop("words")
        with pytest.raises(OptionError, match=told):
            greedy(*arrays.values())
        assert len(words) == 20
    if "choices" not in changed:
        assert (arrays["choices"] == -7).all()


def put(value, *at):
    """A change that puts a value into a copy."""

    def change(array):
        array = array.copy()
        array[at] = value
        return array

    return change


def read_only(array):
    """The same, not to be written to."""
    array = array.copy()
    array.flags.writeable = False
    return array


def test_odd_arrays_are_refused():
    """Each in a sentence that names it; nothing is written then."""
    refused(r"logits\[4, 3\]: nan is not finite", logits=put(np.nan, 4, 3))
    refused(r"logits\[0, 3\]: inf is not finite", logits=put(np.inf, 0, 3))
    refused(r"logits\[19, 3\]: -inf is not finite", logits=put(-np.inf, 19, 3))
    refused(r"legal\[11\]: no output is legal there", legal=put(0, 11))
    refused("logits: a numpy array of float32", logits=lambda a: a.astype(float))
    refused("logits: a numpy array of float32", logits=lambda a: a.tolist())
    refused("logits: its rows do not follow each other", logits=lambda a: np.asfortranarray(a))
    refused(
        r"legal: .* shape \(20, 17\) is expected, not int8 \(20, 16\)", legal=lambda a: a[:, 1:]
    )
    refused("legal: a numpy array of int8", legal=lambda a: a == 1)
    refused(r"words: .*uint64 and shape \(20,\)", words=lambda a: a[1:])
    refused("words: a numpy array of uint64", words=lambda a: a.astype(np.int64))
    refused("choices: a numpy array of int64", choices=lambda a: a.astype(np.int32))
    refused("choices: it is written to", choices=read_only)
    refused("log_probs: a numpy array of float32", log_probs=lambda a: a.astype(float))
    refused("log_probs: it is written to", log_probs=read_only)


@pytest.mark.parametrize(
    ("seed", "step", "numbers", "told"),
    [
        (None, 0, 1, "seed=None"),
        (-1, 0, 1, "seed=-1"),
        (0, -1, 1, "step=-1: a whole number from 0 on"),
        (0, 1.5, 1, "step=1.5"),
        (0, 0, -1, "rows=-1: how many, or their numbers"),
        (0, 0, 2.5, "rows: a numpy array of int64"),
        (0, 0, np.zeros(3), "rows: a numpy array of int64"),
    ],
)
def test_odd_words_are_refused(seed, step, numbers, told):
    """Seeds, steps and rows."""
    with pytest.raises(OptionError, match=told):
        random_words(seed, step, numbers)


def test_no_rows_are_no_trouble():
    """Nothing is drawn."""
    choices, log_probs = drawn(*rows(8, n=0), random_words(0, 0, 0))
    assert len(choices) == len(log_probs) == 0
