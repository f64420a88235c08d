"""Sums of products in registers, compared with plain Python."""

import numpy as np
import pytest
from numba.core.errors import TypingError

from bideuchre_env.runtime.jit import JIT, config, entry_kernel, new_rows
from bideuchre_env.runtime.vectors import _plain_add_rows, add_rows

FIELDS = [("inputs", (21,)), ("weights", (21, 24)), ("sums", (24,))]
LAYER = np.dtype([(name, np.float32, shape) for name, shape in FIELDS], align=True)


@entry_kernel
def add(layers, first, last):
    """Add some rows of the first layer."""
    layer = layers[0]
    add_rows(layer.inputs, first, last, layer.weights, layer.sums)


@pytest.mark.parametrize(("first", "last"), [(0, 21), (0, 4), (5, 5), (3, 20), (20, 21)])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_sums_have_the_same_bits_as_in_plain_python(first, last, share):
    rng = np.random.default_rng(first + 100 * last)
    layers = new_rows(LAYER, 1)
    layers["inputs"] = rng.normal(0, 10, 21) * (rng.random(21) < share)
    layers["weights"] = rng.normal(0, 1, (21, 24)) * 10.0 ** rng.integers(-6, 6, (21, 24))
    layers["sums"] = rng.normal(0, 1, 24)
    sums = layers["sums"][0].copy()
    _plain_add_rows(layers["inputs"][0], first, last, layers["weights"][0], sums)
    add(layers, first, last)
    assert np.array_equal(layers["sums"][0].view(np.int32), sums.view(np.int32))


@pytest.mark.skipif(not JIT or config.BOUNDSCHECK, reason="the plain one takes any array")
def test_fields_of_other_types_are_refused_at_compilation():
    other = np.dtype([("inputs", np.float32, (3,)), ("weights", np.float64, (3, 2))])

    @entry_kernel
    def wrong(layers, others):
        add_rows(layers[0].inputs, 0, 3, others[0].weights, layers[0].sums)

    with pytest.raises(TypingError, match="add_rows"):
        wrong(new_rows(LAYER, 1), new_rows(other, 1))
