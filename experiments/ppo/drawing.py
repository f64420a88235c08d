"""Drawing from masked logits."""

from __future__ import annotations

import math

import numpy as np

from bideuchre_env.core.phases.deal import GOLDEN, mix
from bideuchre_env.runtime.jit import Array, Word, entry_kernel


@entry_kernel
def sample(logits: Array, legal: Array, word: Word, choices: Array, log_probs: Array) -> None:
    """Draw a legal output of every row, by logits float32 (n, O), and its log-probability."""
    for i in range(len(logits)):
        most = -np.inf
        for j in range(logits.shape[1]):
            if legal[i, j] and logits[i, j] > most:
                most = logits[i, j]
        total = 0.0
        for j in range(logits.shape[1]):
            if legal[i, j]:
                total += math.exp(logits[i, j] - most)
        drawn = mix(word + np.uint64(i + 1) * GOLDEN)
        left = float(drawn >> np.uint64(11)) * 2.0**-53 * total
        chosen = -1
        for j in range(logits.shape[1]):
            if legal[i, j]:
                if chosen >= 0 and left < 0.0:
                    break
                chosen = j
                left -= math.exp(logits[i, j] - most)
        choices[i] = chosen
        log_probs[i] = logits[i, chosen] - most - math.log(total)
