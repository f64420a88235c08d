"""`add_rows`: sums of products for kernels, held in the processor's registers until complete.

A loop over an array of sums would load and store them for every row of weights, because the
compiler must assume that weights and sums overlap (aliasing).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as _ir
from numba import types
from numba.extending import intrinsic

from bideuchre_env.runtime.jit import Array, config, kernel, private

ir: Any = _ir
cgutils: Any = private and private.cgutils


def _plain_add_rows(inputs: Array, first: int, last: int, weights: Array, sums: Array) -> None:
    """Add `inputs[first:last] @ weights[first:last]` to `sums`; all float32.

    Inputs are added four at a time, then the rest; four zeros are skipped. The arrays are
    fields of rows: `inputs` (n,), `weights` (n, W) and `sums` (W,).
    """
    i, width = first, len(sums)
    while i + 4 <= last:
        one, two, three, four = inputs[i], inputs[i + 1], inputs[i + 2], inputs[i + 3]
        if one != 0.0 or two != 0.0 or three != 0.0 or four != 0.0:
            for j in range(width):
                sums[j] += (one * weights[i, j] + two * weights[i + 1, j]) + (
                    three * weights[i + 2, j] + four * weights[i + 3, j]
                )
        i += 4
    while i < last:
        one = inputs[i]
        for j in range(width):
            sums[j] += one * weights[i, j]
        i += 1


def _is_field(array: Any, ndim: int) -> bool:
    """Whether this is the type of a float32 field of a row."""
    return (
        isinstance(array, types.NestedArray) and array.dtype == types.float32 and array.ndim == ndim
    )


class _Sums:
    """Emits the LLVM code of `_plain_add_rows`, with all sums in one vector of `width` floats."""

    def __init__(self, builder: Any, inputs: Any, weights: Any, sums: Any, width: int) -> None:
        self.builder, self.inputs, self.weights, self.width = builder, inputs, weights, width
        self.type = ir.VectorType(ir.FloatType(), width)
        self.place = builder.bitcast(sums, self.type.as_pointer())
        self.sums = cgutils.alloca_once_value(builder, builder.load(self.place, align=4))

    def input(self, i: Any) -> Any:
        """Emit the load of input i."""
        return self.builder.load(self.builder.gep(self.inputs, [i]))

    def product(self, i: Any, number: Any) -> Any:
        """Emit a number times row i of the weights, a vector."""
        builder, nothing = self.builder, ir.Constant(self.type, ir.Undefined)
        start = builder.gep(self.weights, [builder.mul(i, ir.Constant(i.type, self.width))])
        row = builder.load(builder.bitcast(start, self.type.as_pointer()), align=4)
        one = builder.insert_element(nothing, number, ir.IntType(32)(0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), self.width), [0] * self.width)
        return builder.fmul(builder.shuffle_vector(one, nothing, lanes), row)

    def add(self, more: Any) -> None:
        """Emit the addition of a vector to the sums."""
        self.builder.store(self.builder.fadd(self.builder.load(self.sums), more), self.sums)

    def add_four(self, i: Any) -> None:
        """Emit the addition of rows i to i + 3, skipped at run time if their inputs are all 0."""
        builder = self.builder
        places = [builder.add(i, ir.Constant(i.type, k)) for k in range(4)]
        numbers = [self.input(place) for place in places]
        zero = ir.Constant(ir.FloatType(), 0.0)
        one, two, three, four = (builder.fcmp_unordered("!=", x, zero) for x in numbers)
        with builder.if_then(builder.or_(builder.or_(one, two), builder.or_(three, four))):
            one, two, three, four = map(self.product, places, numbers)
            self.add(builder.fadd(builder.fadd(one, two), builder.fadd(three, four)))

    def done(self) -> None:
        """Emit the store of the sums to their array."""
        self.builder.store(self.builder.load(self.sums), self.place, align=4)


def _fast_add_rows(
    typing_context: Any, inputs: Any, first: Any, last: Any, weights: Any, sums: Any
) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def start(k: int) -> Any:
            return context.make_array(signature.args[k])(context, builder, args[k]).data

        emit = _Sums(builder, start(0), start(3), start(4), signature.args[4].shape[0])
        first, last = args[1:3]
        four = ir.Constant(first.type, 4)
        fours = builder.sdiv(builder.sub(last, first), four)
        with cgutils.for_range(builder, fours) as loop:
            emit.add_four(builder.add(first, builder.mul(loop.index, four)))
        rest = builder.add(first, builder.mul(fours, four))
        with cgutils.for_range_slice(builder, rest, last, ir.Constant(first.type, 1)) as (i, _):
            emit.add(emit.product(i, emit.input(i)))
        emit.done()
        return context.get_dummy_value()

    number = types.int64
    fits = _is_field(inputs, 1) and _is_field(weights, 2) and _is_field(sums, 1)
    if not fits or weights.shape[1] != sums.shape[0]:
        return None
    return types.void(inputs, number, number, weights, sums), build


# numba checks bounds only in the plain form
_FAST = private is not None and not config.BOUNDSCHECK
add_rows: Any = intrinsic(_fast_add_rows) if _FAST else kernel(_plain_add_rows)
