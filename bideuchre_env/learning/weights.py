"""Weights on disk, as safetensors files, read and written with numpy and json alone.

Such a file is eight bytes with the length of a header, a header in JSON that says of each array its
dtype, its shape and where it lies, and then the arrays. It holds no code. Beside the arrays the
header has texts, which say what the weights are for and how they were made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bideuchre_env import _files
from bideuchre_env._checks import is_whole, printable, shown
from bideuchre_env._files import Output, PathLike
from bideuchre_env.errors import WeightsError
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

LARGEST = 2**26
"""The most bytes of a file that is read; a header has at most 2**20."""
_LONGEST_HEADER = 2**20
_MOST_AXES = 8
_METADATA = "__metadata__"
# in the order in which the format's own library puts arrays into a file, from the end
_DTYPES = {
    **{"U8": "<u1", "I8": "<i1", "I16": "<i2", "U16": "<u2", "F16": "<f2"},
    **{"I32": "<i4", "U32": "<u4", "F32": "<f4", "F64": "<f8", "I64": "<i8", "U64": "<u8"},
}
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
_ORDER = list(_DTYPES)


@dataclass(frozen=True, eq=False)
class Weights:
    """What a file of weights holds; the arrays are read-only and C-contiguous.

    `metadata` says what they are for and how they were made; `name` is the file's, for errors.
    """

    arrays: Mapping[str, Array]
    metadata: Mapping[str, str]
    name: str = "these weights"


def read_weights(place: PathLike | Traversable) -> Weights:
    """The weights in a file, by its path or as a resource of a package.

    Arrays are as they are stored, but float16 comes back as float32. `WeightsError` names the file
    and says what is wrong with it: nothing of a damaged file is returned.
    """
    source = Path(place) if isinstance(place, str | os.PathLike) else place
    name = printable(str(source))
    try:
        with source.open("rb") as file:
            data: bytes = file.read(LARGEST + 1)
    except OSError as error:
        raise WeightsError(f"{name} cannot be read: {_files.reason(error)}") from None
    except ValueError as error:  # a path that no system has
        raise WeightsError(f"{name} cannot be read: {error}") from None
    return parse_weights(data, name)


def write_weights(
    place: PathLike | Output,
    arrays: Mapping[str, Array],
    metadata: Mapping[str, str],
    *,
    half: bool = False,
) -> None:
    """Write weights to a file, complete or not at all (`OutputError`).

    The same content gives the same bytes. `half` stores float32 as float16, in half the room: a
    number is then rounded by at most one part in 2,048, or by 3e-8 where it is below 6e-5.
    Raises `WeightsError`, with nothing written, for what such a file cannot hold.
    """
    _files.write_file(place, weights_bytes(arrays, metadata, half=half))


def made_for(kind: str, rules: Rules, features: int) -> dict[str, str]:
    """The texts that decide whether weights fit: kind of agent, version of features, the game.

    Of the game it is what features and outputs depend on: deck, names and exchanges of the bids,
    and when a strain is named. What bids pay is not compared.
    """
    bids = (f"{bid.name} ({bid.exchange})" if bid.exchange else bid.name for bid in rules.ladder)
    return {
        "kind": kind,
        "features": str(features),
        "ranks": rules.ranks,
        "copies": str(rules.copies),
        "bids": ", ".join(bids),
        "strain_named": rules.strain_named,
    }


def check_weights(
    weights: Weights,
    expected: Mapping[str, str],
    shapes: Mapping[str, tuple[int | str, ...]],
) -> None:
    """Raise `WeightsError` unless the texts are as expected and the arrays have these shapes.

    `expected` is as `made_for` gives it. Arrays are float32 and finite, and there are no others; a
    word in a shape stands for one length, whichever it is, in all of them.
    """
    made = weights.metadata
    variant = f", for {printable(made['variant'])}," if "variant" in made else ""
    whose = f"{weights.name}{variant} cannot be used here"
    for key, value in expected.items():
        if made.get(key) != value:
            given = f"{key}={shown(made[key])}" if key in made else f"no {key}"
            raise WeightsError(f"{whose}: {given}, and {key}={shown(value)} is expected")
    if weights.arrays.keys() != shapes.keys():
        given, names = (", ".join(map(shown, sorted(each))) for each in (weights.arrays, shapes))
        raise WeightsError(f"{whose}: the arrays {given}, and {names} are expected")
    lengths: dict[int | str, int] = {}
    for key, shape in shapes.items():
        array = weights.arrays[key]
        fits = len(shape) == array.ndim and all(
            length == (axis if is_whole(axis) else lengths.setdefault(axis, length))
            for axis, length in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype != np.float32:
            known = tuple(lengths.get(axis, axis) for axis in shape)
            raise WeightsError(
                f"{whose}: {shown(key)} is {array.dtype} {list(array.shape)}, and float32 "
                f"[{', '.join(map(str, known))}] is expected"
            )
        if not np.isfinite(array).all():
            raise WeightsError(f"{whose}: {shown(key)} has a number that is not finite")


def weights_bytes(
    arrays: Mapping[str, Array], metadata: Mapping[str, str], *, half: bool = False
) -> bytes:
    """What `write_weights` writes."""
    stored = {name: _stored(name, array, half) for name, array in arrays.items()}
    order = sorted(stored, key=lambda name: (-_ORDER.index(_NAMES[stored[name].dtype]), name))
    header: dict[str, Any] = {}
    if metadata:
        _check_texts({_METADATA: dict(metadata)}, "these weights cannot be stored")
        header[_METADATA] = dict(sorted(metadata.items()))
    end = 0
    for name in order:
        array = stored[name]
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    _check_texts(header, "these weights cannot be stored")
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _LONGEST_HEADER or 8 + len(text) + end > LARGEST:
        raise WeightsError(
            f"these weights cannot be stored: {end} bytes and a header of {len(text)}; at most "
            f"{LARGEST} in all, and {_LONGEST_HEADER} of header"
        )
    data = b"".join(stored[name].tobytes() for name in order)
    return len(text).to_bytes(8, "little") + text + data


def _stored(name: str, array: Array, half: bool) -> Array:
    """An array as it lies in a file."""
    fault = None
    given = np.asarray(array)
    if name == _METADATA:
        fault = "the name under which the texts are stored"
    elif given.dtype.newbyteorder("<") not in _NAMES:
        fault = f"dtype {given.dtype}, none of {', '.join(map(str, _NAMES))}"
    elif not given.size or given.ndim > _MOST_AXES:
        fault = f"shape {given.shape}: at least one number, in at most {_MOST_AXES} axes"
    elif not np.isfinite(given).all():
        fault = "a number that is not finite"
    elif half and given.dtype == np.float32:
        most = float(np.finfo(np.float16).max)
        if np.abs(given).max() > most:
            fault = f"a number beyond {most:g}, the largest of float16"
        else:
            given = given.astype(np.float16)
    if fault:
        raise WeightsError(f"these weights cannot be stored: {shown(name)} has {fault}")
    return np.ascontiguousarray(given, given.dtype.newbyteorder("<")).reshape(given.shape)


def parse_weights(data: bytes, name: str = "these weights") -> Weights:
    """The weights that a file of these bytes holds; `name` is its name in a `WeightsError`."""
    try:
        header, rest = _header(data)
        _check_texts(header, name)
        metadata = header.pop(_METADATA, {})
        end, arrays = 0, {}
        for key, begin, found in sorted(
            (_placed(key, entry, rest) for key, entry in header.items()), key=lambda each: each[1]
        ):
            if begin != end:
                raise _Fault(f"{shown(key)} begins at byte {begin}, not where the one before ends")
            end += found.nbytes
            arrays[key] = _loaded(key, found)
        if end != len(rest):
            raise _Fault(f"{len(rest)} bytes of arrays, and its header tells of {end}")
    except _Fault as fault:
        raise WeightsError(f"{name} is damaged, or no safetensors file: {fault}") from None
    return Weights(arrays, metadata, name)


class _Fault(Exception):
    """What is wrong with the bytes of a file."""


def _header(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """The header of a file, and the bytes behind it."""
    if len(data) > LARGEST:
        raise _Fault(f"more than {LARGEST} bytes")
    if len(data) < 8:
        raise _Fault(f"it ends after {len(data)} bytes")
    length = int.from_bytes(data[:8], "little")
    if length > _LONGEST_HEADER:
        raise _Fault(f"a header of {length} bytes; at most {_LONGEST_HEADER}")
    if 8 + length > len(data):
        raise _Fault(f"it ends after {len(data)} bytes, in its header of {length}")
    try:
        header = json.loads(data[8 : 8 + length].decode(), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise _Fault(f"its header cannot be read: {shown(str(error))}") from None
    if not isinstance(header, dict):
        raise _Fault("its header is no JSON object")
    return header, memoryview(data)[8 + length :]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands there twice")
    return found


def _check_texts(header: Mapping[str, Any], name: str) -> None:
    """Raise `WeightsError` unless names and metadata are texts that can be written."""
    metadata = header.get(_METADATA, {})
    if not isinstance(metadata, dict):
        raise WeightsError(f"{name}: metadata {shown(metadata)}, not texts by name")
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise WeightsError(f"{name}: metadata {shown(key)} is {shown(value)}, not a text")
    for text in (*header, *metadata, *metadata.values()):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise WeightsError(f"{name}: {shown(text)} has half a character") from None
        except AttributeError:
            raise WeightsError(f"{name}: an array's name is {shown(text)}, not a text") from None


def _placed(key: str, entry: object, data: memoryview) -> tuple[str, int, Array]:
    """An array's name, where it begins, and the array as it lies in the data."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise _Fault(f"{shown(key)} is {shown(entry)}, not dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise _Fault(f"{shown(key)} has dtype {shown(dtype)}; one of {', '.join(_DTYPES)}")
    if not _is_list(shape) or len(shape) > _MOST_AXES or 0 in shape:
        raise _Fault(
            f"{shown(key)} has shape {shown(shape)}, not up to {_MOST_AXES} lengths from 1"
        )
    size = prod(shape) * np.dtype(_DTYPES[dtype]).itemsize
    if not _is_list(offsets) or len(offsets) != 2 or offsets[1] - offsets[0] != size:
        raise _Fault(f"{shown(key)} has {size} bytes, and data_offsets {shown(offsets)}")
    if offsets[1] > len(data):
        raise _Fault(f"{shown(key)} ends at byte {offsets[1]} of {len(data)} bytes of arrays")
    part = data[offsets[0] : offsets[1]]
    return key, offsets[0], np.frombuffer(part, _DTYPES[dtype]).reshape(shape)


def _is_list(value: object) -> bool:
    """Whether this is a list of whole numbers, none below 0."""
    return isinstance(value, list) and all(is_whole(each) and each >= 0 for each in value)


def _loaded(key: str, found: Array) -> Array:
    """A read-only copy that lies as kernels expect it; float16 becomes float32."""
    if not np.isfinite(found).all():
        raise _Fault(f"{shown(key)} has a number that is not finite")
    dtype = np.float32 if found.dtype.itemsize == 2 and found.dtype.kind == "f" else found.dtype
    array = np.array(found, np.dtype(dtype).newbyteorder("="))
    array.flags.writeable = False
    return array
