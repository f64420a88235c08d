"""Low-level operations for kernels, each with an equivalent in plain Python (its twin).

They are bit operations, access to rows of bytes through raw pointers, and atomic access to shared
numbers. An operation is described at its twin, for example `row_of` at `_plain_row` and `popcount`
at `_popcount`. The functions with a parameter `typing_context` emit its LLVM code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import binding as _binding
from llvmlite import ir as _ir
from numba import types
from numba.extending import intrinsic

from bideuchre_env.runtime.jit import JIT, Array, F, Word, config, inline_kernel, kernel

binding: Any = _binding
ir: Any = _ir
PLAIN_TWINS: list[tuple[Any, Any]] = []
"""Functions that the kernels call, each with its equivalent in plain Python."""


def _choose(plain: Any, fast: Any, fits: bool, compile_plain: Any = kernel) -> Any:
    """Return `fast` as an intrinsic of numba if `fits`, else `compile_plain(plain)`.

    Also records the result and its twin `plain` in `PLAIN_TWINS`.
    """
    chosen = intrinsic(fast) if fits else compile_plain(plain)
    PLAIN_TWINS.append((chosen, plain))
    return chosen


def _popcount(bits: int) -> int:
    """Return the number of bits set in a non-negative int64."""
    return int(bits).bit_count()


def _lowest_bit(bits: int) -> int:
    """Return the index of the lowest set bit of a positive int64."""
    bits = int(bits)
    return (bits & -bits).bit_length() - 1


def _highest_bit(bits: int) -> int:
    """Return the index of the highest set bit of a positive int64."""
    return int(bits).bit_length() - 1


def _instruction(plain: F, emit: Callable[[Any, Any, Any], Any]) -> F:
    """Return a machine instruction on an int64 for kernels; without JIT the function `plain`."""

    def declare(typing_context: Any, bits: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return emit(context, builder, args[0])

        return types.int64(types.int64), build

    return cast(F, _choose(plain, declare, JIT, lambda plain: plain))


popcount = _instruction(_popcount, lambda context, builder, bits: builder.ctpop(bits))
lowest_bit = _instruction(
    _lowest_bit,
    lambda context, builder, bits: builder.cttz(bits, context.get_constant(types.boolean, 1)),
)
highest_bit = _instruction(
    _highest_bit,
    lambda context, builder, bits: builder.sub(
        context.get_constant(types.int64, 63),
        builder.ctlz(bits, context.get_constant(types.boolean, 1)),
    ),
)


def _plain_nth_bit(bits: int, n: int) -> int:
    """Return the index of the `n`-th lowest set bit; `n` counts from 0, and the bit must exist."""
    for _ in range(n):
        bits &= bits - 1
    return lowest_bit(bits)


def _plain_deposit_bits(bits: int, places: int) -> int:
    """Return a number with the low bits of `bits`, in order, at the set bits of `places` (PDEP)."""
    result = 0
    while bits and places:
        place = places & -places
        result |= place if bits & 1 else 0
        bits >>= 1
        places ^= place
    return result


def _has_quick_deposit() -> bool:
    """Whether the processor has a fast instruction that deposits bits (PDEP)."""
    if config.CPU_FEATURES is not None:
        has = "+bmi2" in config.CPU_FEATURES.split(",")
    else:
        try:
            has = binding.get_host_cpu_features().get("bmi2", False)
        except RuntimeError:  # LLVM does not know this processor
            has = False
    return has and binding.get_host_cpu_name() not in _SLOW_DEPOSIT


def _emit_deposit(builder: Any, bits: Any, places: Any) -> Any:
    shape = ir.FunctionType(bits.type, [bits.type, bits.type])
    deposit = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), shape)
    return builder.call(deposit, [bits, places])


def _deposit(typing_context: Any, bits: Any, n: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        one = builder.shl(context.get_constant(types.int64, 1), args[1])
        bit = _emit_deposit(builder, one, args[0])
        return builder.cttz(bit, context.get_constant(types.boolean, 1))

    return types.int64(types.int64, types.int64), build


def _deposit_bits(typing_context: Any, bits: Any, places: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _emit_deposit(builder, *args)

    return types.int64(types.int64, types.int64), build


_SLOW_DEPOSIT = ("znver1", "znver2", "bdver4")  # these emulate it bit by bit
_QUICK = JIT and _has_quick_deposit()
nth_bit = _choose(_plain_nth_bit, _deposit, _QUICK, inline_kernel)
deposit_bits = _choose(_plain_deposit_bits, _deposit_bits, _QUICK, inline_kernel)


def _plain_row(rows: Array, i: int) -> Array:
    """Return row `i` of a C-contiguous int8 array (n, D).

    In compiled kernels it is a raw pointer: it can be indexed, but has no length and no slices.
    """
    row: Array = rows[i]
    return row


def _plain_line(line: Array) -> Array:
    """Return a C-contiguous int8 array (n,) in the form of the rows of `row_of`."""
    return line


def _plain_store(out: Array, at: int, word: Word) -> None:
    """Write the eight bytes of a uint64, lowest first, to `out[at : at + 8]` of a row."""
    for i in range(8):
        out[at + i] = (word >> np.uint64(8 * i)) & np.uint64(255)


def _plain_store_bits(out: Array, at: int, one: Word, two: Word) -> None:
    """Write bit i of one uint64 plus bit i of another to `out[at + i]` of a row, for 32 bits."""
    for i in range(32):
        bit = np.uint64(i)
        out[at + i] = int((one >> bit) & np.uint64(1)) + int((two >> bit) & np.uint64(1))


def _plain_store_tricks(out: Array, at: int, tags: Array, k: int, seat: int) -> None:
    """Write the tricks in `tags[k : k + 16]` to `out[at : at + 16]`, 0 for tags of other seats.

    A tag is `phases.play.tag`: the trick, from 1, above two bits with the seat.
    """
    for i in range(16):
        tag = tags[k + i]
        out[at + i] = tag >> 2 if tag & 3 == seat else 0


def _plain_store_both(out: Array, at: int, apart: int, tags: Array, k: int, seat: int) -> None:
    """Write like `_plain_store_tricks` for a deck with two copies of each card.

    The tags of the second copies are the second half of `tags`. The trick of the seat's first copy
    goes to `out[at + i]`, that of its other copy to `out[at + apart + i]`.
    """
    half = len(tags) // 2
    for i in range(16):
        one, two = tags[k + i], tags[half + k + i]
        first = one >> 2 if one & 3 == seat else 0
        second = two >> 2 if two & 3 == seat else 0
        out[at + i] = first if first else second
        out[at + apart + i] = second if first else 0


def _plain_load(row: Array, at: int) -> Word:
    """Return the eight bytes from `row[at]` on as a uint64, the lowest byte first."""
    word = np.uint64(0)
    for i in range(8):
        word |= np.uint64(int(row[at + i]) & 255) << np.uint64(8 * i)
    return word


_BYTES: Any = cast(Any, types).CPointer(types.int8)
_LINES, _ROWS = (
    [types.Array(types.int8, n, "C", readonly=readonly) for readonly in (False, True)]
    for n in (1, 2)
)


def _fast_row(typing_context: Any, rows: Any, i: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        width = builder.extract_value(array.shape, 1)
        return builder.gep(array.data, [builder.mul(args[1], width)])

    return (_BYTES(rows, types.int64), build) if rows in _ROWS else None


def _fast_line(typing_context: Any, line: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return (_BYTES(line), build) if line in _LINES or _is_bytes(line) else None


def _fast_store(typing_context: Any, out: Any, at: Any, word: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.gep(args[0], [args[1]])
        words = builder.bitcast(place, args[2].type.as_pointer())
        builder.store(args[2], words, align=1)
        return context.get_dummy_value()

    return (types.void(_BYTES, types.int64, types.uint64), build) if out == _BYTES else None


def _fast_store_bits(typing_context: Any, out: Any, at: Any, one: Any, two: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        int_type, vector = ir.IntType, ir.VectorType

        def spread(word: Any) -> Any:
            bits = builder.bitcast(builder.trunc(word, int_type(32)), vector(int_type(1), 32))
            return builder.zext(bits, vector(int_type(8), 32))

        place = builder.gep(args[0], [args[1]])
        bytes_ = builder.add(spread(args[2]), spread(args[3]))
        builder.store(bytes_, builder.bitcast(place, bytes_.type.as_pointer()), align=1)
        return context.get_dummy_value()

    signature = types.void(_BYTES, types.int64, types.uint64, types.uint64)
    return (signature, build) if out == _BYTES else None


def _tricks_of(context: Any, builder: Any, tags: Any, k: Any, seat: Any) -> Any:
    """Emit a vector of 16 bytes: the tricks in the tags from index `k`, 0 for other seats' tags."""
    byte = ir.IntType(8)
    sixteen = ir.VectorType(byte, 16)

    def all_of(value: int) -> Any:
        return ir.Constant(sixteen, [value] * 16)

    place = builder.bitcast(builder.gep(tags, [k]), sixteen.as_pointer())
    tag = builder.load(place, align=1)
    one = builder.insert_element(all_of(0), builder.trunc(seat, byte), ir.IntType(32)(0))
    owner = builder.shuffle_vector(
        one, one, ir.Constant(ir.VectorType(ir.IntType(32), 16), [0] * 16)
    )
    theirs = builder.icmp_unsigned("==", builder.and_(tag, all_of(3)), owner)
    return builder.select(theirs, builder.lshr(tag, all_of(2)), all_of(0))


def _is_bytes(field: Any) -> bool:
    return isinstance(field, types.NestedArray) and field.dtype == types.int8 and field.ndim == 1


def _fast_store_tricks(typing_context: Any, out: Any, at: Any, tags: Any, k: Any, seat: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out, at, tags, k, seat = args
        start = context.make_array(signature.args[2])(context, builder, tags).data
        tricks = _tricks_of(context, builder, start, k, seat)
        place = builder.bitcast(builder.gep(out, [at]), tricks.type.as_pointer())
        builder.store(tricks, place, align=1)
        return context.get_dummy_value()

    number = types.int64
    fits = out == _BYTES and _is_bytes(tags)
    return (types.void(out, number, tags, number, number), build) if fits else None


def _fast_store_both(
    typing_context: Any, out: Any, at: Any, apart: Any, tags: Any, k: Any, seat: Any
) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out, at, apart, tags, k, seat = args
        start = context.make_array(signature.args[3])(context, builder, tags).data
        half = context.get_constant(types.int64, signature.args[3].shape[0] // 2)
        one = _tricks_of(context, builder, start, k, seat)
        two = _tricks_of(context, builder, start, builder.add(half, k), seat)
        nothing = ir.Constant(one.type, [0] * 16)
        none = builder.icmp_unsigned("==", one, nothing)
        place = builder.gep(out, [at])
        for tricks in (builder.select(none, two, one), builder.select(none, nothing, two)):
            builder.store(tricks, builder.bitcast(place, one.type.as_pointer()), align=1)
            place = builder.gep(place, [apart])
        return context.get_dummy_value()

    number = types.int64
    fits = out == _BYTES and _is_bytes(tags)
    return (types.void(out, number, number, tags, number, number), build) if fits else None


def _fast_load(typing_context: Any, row: Any, at: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.gep(args[0], [args[1]])
        words = context.get_value_type(types.uint64).as_pointer()
        return builder.load(builder.bitcast(place, words), align=1)

    return (types.uint64(_BYTES, types.int64), build) if row == _BYTES else None


# Compiled rows are raw pointers: a view would be reference-counted at every row, with atomic
# instructions for which threads contend. Rows stay views if numba checks bounds.
_BARE = JIT and not config.BOUNDSCHECK and sys.byteorder == "little"
row_of = _choose(_plain_row, _fast_row, _BARE)
line_of = _choose(_plain_line, _fast_line, _BARE)
store_tricks = _choose(_plain_store_tricks, _fast_store_tricks, _BARE)
store_both_tricks = _choose(_plain_store_both, _fast_store_both, _BARE)
load_word = _choose(_plain_load, _fast_load, _BARE)
store_word = _choose(_plain_store, _fast_store, _BARE)
store_bits = _choose(_plain_store_bits, _fast_store_bits, _BARE)


def _plain_read(cells: Array, i: int) -> int:
    """Return `cells[i]`, int64, which another thread may write at the same time."""
    return int(cells[i])


def _plain_write(cells: Array, i: int, value: int) -> None:
    """Write `cells[i]`, int64; a thread that reads the new value also sees all earlier writes."""
    cells[i] = value


def _plain_add(cells: Array, i: int, value: int) -> int:
    """Add to `cells[i]`, int64; return the old value. The compiled form is atomic."""
    before = int(cells[i])
    cells[i] = before + value
    return before


@inline_kernel
def lower_cell(cells: Array, i: int, value: int) -> None:
    """Lower `cells[i]`, int64, to a value, unless it is lower already; atomic on a GPU."""
    if value < cells[i]:
        cells[i] = value


_CELLS = types.Array(types.int64, 1, "C")


def _cell(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


def _shared_read(typing_context: Any, cells: Any, i: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_cell(context, builder, signature, args), "seq_cst", 8)

    return (types.int64(_CELLS, types.int64), build) if cells == _CELLS else None


def _shared_write(typing_context: Any, cells: Any, i: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _cell(context, builder, signature, args), "seq_cst", 8)
        return context.get_dummy_value()

    return (types.void(_CELLS, types.int64, types.int64), build) if cells == _CELLS else None


def _shared_add(typing_context: Any, cells: Any, i: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cell = _cell(context, builder, signature, args)
        return builder.atomic_rmw("add", cell, args[2], "seq_cst")

    return (types.int64(_CELLS, types.int64, types.int64), build) if cells == _CELLS else None


# Communication of threads inside kernels; accesses are sequentially consistent.
read_cell: Any = intrinsic(_shared_read) if JIT else _plain_read
write_cell: Any = intrinsic(_shared_write) if JIT else _plain_write
add_to_cell: Any = intrinsic(_shared_add) if JIT else _plain_add
