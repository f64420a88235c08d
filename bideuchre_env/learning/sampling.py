"""Outputs drawn from the softmax of logits among the legal ones, with their log-probabilities.

An output is the index of a logit, 0 to O - 1. Kernels use `math`, which also works on a GPU.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bideuchre_env._checks import brief, check_array, is_integer, to_array
from bideuchre_env.core.phases.deal import GOLDEN, mix, split_seed
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime.jit import Array, Word, entry_kernel, kernel


def required_seed(seed: Any, drawn: str = "draws") -> tuple[np.uint64, np.uint64]:
    """Return the low and high 64 bits of a seed, as uint64.

    Raises `OptionError` unless the seed is a whole number from 0 to 2**128 - 1. `drawn` is the noun
    for the random quantities in the message for None.
    """
    if seed is None:
        raise OptionError(f"seed=None: expected a whole number, so that {drawn} are reproducible")
    return split_seed(seed)


def random_words(seed: int, step: int, rows: int | Array) -> Array:
    """Return 64 random bits for each of n rows at one step, uint64 (n,), for `sample`.

    `rows` is n, for rows 0 to n - 1, or their numbers, int64 (n,). A row's word depends only on
    the seed, the step (0 or more) and the row's number. Raises `OptionError` for invalid arguments.
    """
    low, high = required_seed(seed)
    if not is_integer(step) or not 0 <= step < 1 << 63:
        raise OptionError(f"step={brief(step)}: expected a whole number from 0 on")
    if is_integer(rows) and not 0 <= int(rows) < 1 << 32:
        raise OptionError(f"rows={brief(rows)}: expected the number of rows, or their indices")
    numbers = np.arange(int(rows)) if is_integer(rows) else to_array("rows", rows)
    check_array("rows", numbers, np.int64, (-1,))
    words = np.empty(len(numbers), np.uint64)
    fill_words(low, high, np.uint64(step), numbers, words)
    return words


def observation_words(seed: int, observations: Array) -> Array:
    """Return 64 random bits for each row of observations, int8 (n, D), as uint64 (n,).

    A row's word depends only on the seed and the content of the row, not on its place.
    """
    low, high = required_seed(seed)
    check_array("observations", observations, np.int8, (-1, -1))
    words = np.empty(len(observations), np.uint64)
    hash_rows(low, high, observations, words)
    return words


def sample(
    logits: Array, legal: Array, words: Array | int, choices: Array, log_probs: Array
) -> None:
    """Draw an output for every row from the softmax of its logits among the legal outputs.

    Args:
        logits: float32 (n, O).
        legal: int8 (n, O), 1 for a legal output.
        words: uint64 (n,), the random numbers, for example of `random_words`; or a seed, for
            `random_words(seed, 0, n)`. A row's draw depends only on its own word, logits and
            legal outputs.
        choices: int64 (n,), overwritten with the outputs drawn.
        log_probs: float32 (n,), overwritten with the natural logarithms of their probabilities.

    Raises:
        OptionError: for arrays of another dtype or shape, a row without a legal output, and a
            legal logit that is not finite; nothing is written.
    """
    _check(logits, legal, choices, log_probs)
    drawn_by = words if isinstance(words, np.ndarray) else random_words(words, 0, len(logits))
    check_array("words", drawn_by, np.uint64, (len(logits),))
    sample_rows(logits, legal, drawn_by, choices, log_probs)


def greedy(logits: Array, legal: Array, choices: Array, log_probs: Array) -> None:
    """Choose the legal output with the highest logit in every row, the first of equals.

    `choices` and `log_probs` are overwritten; `log_probs` has the logarithms of the probabilities
    with which `sample` would draw these outputs. Arrays and errors are as in `sample`.
    """
    _check(logits, legal, choices, log_probs)
    greedy_rows(logits, legal, choices, log_probs)


def _check(logits: Array, legal: Array, choices: Array, log_probs: Array) -> None:
    """Raise the errors that `sample` documents, except those for `words`."""
    check_array("logits", logits, np.float32, (-1, -1))
    check_array("legal", legal, np.int8, logits.shape)
    check_array("choices", choices, np.int64, (len(logits),), written=True)
    check_array("log_probs", log_probs, np.float32, (len(logits),), written=True)
    row = int(first_unfit(logits, legal))
    if row >= 0:
        bad = np.flatnonzero((legal[row] != 0) & ~np.isfinite(logits[row]))
        if len(bad):
            raise OptionError(f"logits[{row}, {bad[0]}]: {logits[row, bad[0]]} is not finite")
        raise OptionError(f"legal[{row}]: expected at least one legal output")


@entry_kernel
def fill_words(low: Word, high: Word, step: Word, rows: Array, words: Array) -> None:
    """Fill `words`, uint64 (n,), with the results of `random_words` for the row numbers `rows`.

    `low` and `high` are the halves of the seed; `rows` is int64 (n,).
    """
    start = mix(mix(high + GOLDEN) + low) + step * GOLDEN
    for i in range(len(rows)):
        words[i] = mix(mix(start) + np.uint64(rows[i]) * GOLDEN)


@entry_kernel
def hash_rows(low: Word, high: Word, observations: Array, words: Array) -> None:
    """Fill `words`, uint64 (n,), with the results of `observation_words`.

    `low` and `high` are the halves of the seed; `observations` is int8 (n, D).
    """
    for i in range(len(observations)):
        words[i] = hash_row(low, high, observations, i)


@kernel
def hash_row(low: Word, high: Word, observations: Array, i: int) -> Word:
    """Return the word of row i of observations, int8 (n, D), see `observation_words`."""
    word = mix(mix(high + GOLDEN) + low)
    for j in range(observations.shape[1]):
        value = np.int64(observations[i, j])
        if value:
            word = mix(word + np.uint64(j << 8 | (value & 255)) * GOLDEN)
    return word


@entry_kernel
def first_unfit(logits: Array, legal: Array) -> int:
    """Return the first row with no legal output or with a legal logit that is not finite, or -1."""
    for i in range(len(logits)):
        count = 0
        for k in range(logits.shape[1]):
            if legal[i, k]:
                count += 1
                if not math.isfinite(logits[i, k]):
                    return i
        if count == 0:
            return i
    return -1


@kernel
def highest(logits: Array, legal: Array, i: int) -> int:
    """Return the legal output of row i with the highest logit, the first of equals; -1 if none."""
    best = -1
    for k in range(logits.shape[1]):
        if legal[i, k] and (best < 0 or logits[i, k] > logits[i, best]):
            best = k
    return best


@kernel
def total(logits: Array, legal: Array, i: int, top: float) -> float:
    """Return the sum of exp(logit - top) over the legal outputs of row i."""
    result = 0.0
    for k in range(logits.shape[1]):
        if legal[i, k]:
            result += math.exp(np.float64(logits[i, k]) - top)
    return result


@entry_kernel
def sample_rows(
    logits: Array, legal: Array, words: Array, choices: Array, log_probs: Array
) -> None:
    """Write the results of `sample` to `choices` and `log_probs`, for validated arrays."""
    for i in range(len(logits)):
        best = highest(logits, legal, i)
        top = np.float64(logits[i, best])
        whole = total(logits, legal, i, top)
        left = np.float64(words[i] >> np.uint64(11)) * 2.0**-53 * whole
        choice = best  # if rounding leaves a remainder
        for k in range(logits.shape[1]):
            if legal[i, k]:
                left -= math.exp(np.float64(logits[i, k]) - top)
                if left < 0:
                    choice = k
                    break
        choices[i] = choice
        log_probs[i] = np.float64(logits[i, choice]) - top - math.log(whole)


@entry_kernel
def greedy_rows(logits: Array, legal: Array, choices: Array, log_probs: Array) -> None:
    """Write the results of `greedy` to `choices` and `log_probs`, for validated arrays."""
    for i in range(len(logits)):
        best = highest(logits, legal, i)
        choices[i] = best
        log_probs[i] = -math.log(total(logits, legal, i, np.float64(logits[i, best])))
