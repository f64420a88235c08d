"""Weights on disk: `.npz` files with metadata, which contain no code.

`numpy.load` reads such a file too: the arrays by name, and the metadata as JSON under "provenance".
A file of parts has the weights of several agents: the names begin with that of the part and a dot.
The zip format has a checksum for every array, so that a damaged file is rejected. The tables
of `agents/data` have the same file format, with other arrays and other metadata.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bideuchre_env import _files
from bideuchre_env._checks import (
    brief,
    check_flag,
    check_type,
    is_integer,
    is_whole,
    printable,
    to_array,
)
from bideuchre_env._files import Output, PathLike
from bideuchre_env._inputs import open_file, read_all, read_zip
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.rules.rules import Rules, check_rules
from bideuchre_env.runtime.jit import Array

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

LARGEST = 2**26
"""Maximum size of a file in bytes, compressed and uncompressed."""
MOST_ARRAYS = 1000
"""Maximum number of arrays in a file, with that of the metadata."""
MOST_WEIGHT = np.float32(1e9)
"""Limit of a weight: sums of larger weights may overflow to NaN, which cannot index a table."""
PROVENANCE = "provenance"
"""Name of the array that holds the metadata, a JSON text."""
Shape: TypeAlias = tuple[int | str, ...]
"""Shape of an array for `check_weights`: a text stands for any length."""
_PART = re.compile(r"[A-Za-z0-9_-]+")
_NAME = re.compile(r"[A-Za-z0-9_.-]+")  # in ASCII the archive's text encodings agree


@dataclass(frozen=True, eq=False)
class Weights:
    """Content of a file of weights: arrays, read-only and C-contiguous, and metadata.

    `metadata`, JSON values by name, describes the purpose and the training of the weights; `name`
    is the file's name in error messages.
    """

    arrays: Mapping[str, Array]
    metadata: Mapping[str, Any]
    name: str = "these weights"


def read_weights(place: PathLike | Traversable, part: str = "") -> Weights:
    """Read the weights in a file, given by its path or as a resource of a package.

    `part` is a part of a file of parts. float16 becomes float32; other dtypes are unchanged. Raises
    `WeightsError` for a file that is missing, damaged or larger than `LARGEST`.
    """
    return parse_weights(*read_content(place), part)


def read_parts(place: PathLike) -> dict[str, Weights]:
    """Return the weights in a file of parts, by part; raises like `read_weights`."""
    data, name = read_content(place)
    parts = part_names(data, name, required=True)
    return {part: parse_weights(data, name, part) for part in parts}


def read_content(place: PathLike | Traversable) -> tuple[bytes, str]:
    """Return the content of a file of weights, and its name, like `read_weights`."""
    if not isinstance(place, str | os.PathLike) and not hasattr(place, "open"):
        raise WeightsError(f"place={brief(place)}: expected a path")
    source = Path(place) if isinstance(place, str | os.PathLike) else place
    name = printable(str(source))
    try:
        with open_file(source) if isinstance(source, Path) else source.open("rb") as file:
            data = read_all(file, LARGEST)
    except OSError as error:
        raise WeightsError(f"{name} cannot be read: {_files.reason(error)}") from None
    except ValueError as error:  # an invalid path
        raise WeightsError(f"{name} cannot be read: {error}") from None
    return data, name


def write_weights(
    place: PathLike | Output,
    arrays: Mapping[str, Array],
    metadata: Mapping[str, Any],
    *,
    half: bool = False,
) -> None:
    """Write weights to a file atomically, replacing an existing file; `OutputError` on failure.

    On one machine the same content yields the same bytes. `half` stores float32 as float16, in
    half the space. Its rounding error is at most one part in 2,048, and at most 3e-8 for numbers
    below 6e-5. `metadata` are JSON values by name. Raises `WeightsError` for content that such a
    file cannot store; nothing is written.
    """
    _files.write_file(place, weights_bytes(arrays, metadata, half=half))


def write_parts(place: PathLike, parts: Mapping[str, Weights], *, half: bool = False) -> None:
    """Write weights by name of their part to a file, like `write_weights`.

    Other parts of an existing file are kept; a file of weights without parts is replaced. The
    metadata of a part get a "digest" of its arrays, which is checked when they are read.
    """
    check_type("parts", parts, Mapping, "weights by part")
    for part, weights in parts.items():
        if not isinstance(part, str) or not _PART.fullmatch(part) or part == PROVENANCE:
            raise WeightsError(f"part={brief(part)}: expected a name of letters, digits, _ and -")
        check_type(f"parts[{part!r}]", weights, Weights, "Weights")
    members: dict[str, Array] = {}
    if os.path.exists(place):
        data, name = read_content(place)
        others = tuple(f"{each}." for each in part_names(data, name) if each not in parts)
        with _damage_of(name):
            members = {n: array for n, array in read_archive(data).items() if n.startswith(others)}
    for part, weights in parts.items():
        stored = read_archive(weights_bytes(weights.arrays, weights.metadata, half=half))
        made = json.loads(str(stored.pop(PROVENANCE))) | {"digest": digest_of(stored)}
        stored[PROVENANCE] = np.array(json.dumps(made, sort_keys=True))
        members |= {f"{part}.{name}": array for name, array in stored.items()}
    try:
        content = archive_bytes(members)
    except ValueError as error:
        raise WeightsError(f"these weights cannot be stored: {error}") from None
    _files.write_file(place, content)


def digest_of(arrays: Mapping[str, Array]) -> str:
    """Return a SHA-256 hash of arrays, with their names, dtypes and shapes, as they are stored."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()


def made_for(kind: str, rules: Rules, features: int) -> dict[str, str]:
    """Return the metadata that weights must have to be usable by an agent for these rules.

    They are the `kind` of agent, the version `features` of its features, and the properties of the
    game on which features and outputs depend: the deck, the bids' names and numbers of exchanged
    cards, when a strain is named and, if they are not the usual ones, the strains, the auction, who
    sees an exchange and the kitty. A lone bid with partner is marked; the values of bids are not
    included.
    Raises `OptionError` unless `rules` are `Rules` and `features` is a whole number.
    """
    check_rules(rules)
    if not is_integer(features):
        raise OptionError(f"features={brief(features)}: expected the number of a version")
    usual = {"no_trump": "high", "auction": "once", "exchange_seen": "blind", "kitty": "0"}
    own = {name: str(getattr(rules, name)) for name in usual}
    more = {name: value for name, value in own.items() if value != usual[name]}
    bids = []
    for bid in rules.ladder:
        exchange = f" ({bid.exchange})" if bid.exchange else ""
        partner = " with partner" if bid.partner else ""
        bids.append(f"{bid.name}{exchange}{partner}")
    return {
        **more,
        "kind": kind,
        "features": str(features),
        "ranks": rules.ranks,
        "copies": str(rules.copies),
        "bids": ", ".join(bids),
        "strain_named": rules.strain_named,
    }


def check_weights(
    weights: Weights, expected: Mapping[str, str], shapes: Mapping[str, Shape], double: str = ""
) -> None:
    """Raise `WeightsError` unless the metadata is as expected and the arrays have these shapes.

    `expected` is the result of `made_for`; the weights may have more metadata. There must be no
    other arrays, and all must be float32 below `MOST_WEIGHT`; the array `double` may be float64. A
    string in a shape stands for any length from 1, the same wherever that string is used.
    """
    whose = check_metadata(weights, expected)
    check_type("shapes", shapes, Mapping, "shapes by name")
    if weights.arrays.keys() != shapes.keys():
        actual, names = (", ".join(map(brief, sorted(each))) for each in (weights.arrays, shapes))
        raise WeightsError(f"{whose}: the arrays {actual}: expected {names}")
    lengths: dict[int | str, int] = {}
    for key, shape in shapes.items():
        array = np.asarray(weights.arrays[key])
        fits = len(shape) == array.ndim and all(
            length == (axis if is_whole(axis) else lengths.setdefault(axis, length or 1))
            for axis, length in zip(shape, array.shape, strict=True)
        )
        dtype = array.dtype if key == double and array.dtype == np.float64 else np.float32
        if not fits or array.dtype != dtype:
            allowed = tuple(lengths.get(axis, axis) for axis in shape)
            raise WeightsError(
                f"{whose}: {brief(key)} is {array.dtype} {list(array.shape)}: expected float32 "
                f"[{', '.join(map(str, allowed))}]"
            )
        if not (np.abs(array) < MOST_WEIGHT).all():
            raise WeightsError(
                f"{whose}: {brief(key)} has a number that is not finite, or {MOST_WEIGHT:g} or more"
            )


def check_metadata(weights: Weights, expected: Mapping[str, str]) -> str:
    """Raise `WeightsError` unless the metadata is as expected; there may be more metadata.

    Returns the beginning of the text of other errors of these weights.
    """
    check_type("weights", weights, Weights, "Weights")
    check_type("expected", expected, Mapping, "texts by name")
    check_type("weights.arrays", weights.arrays, Mapping, "arrays by name")
    check_type("weights.metadata", weights.metadata, Mapping, "metadata by name")
    made = weights.metadata
    variant = f", for {printable(str(made['variant']))}," if "variant" in made else ""
    whose = f"{weights.name}{variant} cannot be used here"
    for key, value in expected.items():
        if made.get(key) != value:
            actual = f"{key}={brief(made[key])}" if key in made else f"no {key}"
            raise WeightsError(f"{whose}: {actual}: expected {key}={brief(value)}")
    return whose


def weights_bytes(
    arrays: Mapping[str, Array], metadata: Mapping[str, Any], *, half: bool = False
) -> bytes:
    """Return the content of the file that `write_weights` writes, or raise its `WeightsError`."""
    check_type("arrays", arrays, Mapping, "arrays by name")
    check_flag("half", half)
    stored = {name: _stored(name, array, half) for name, array in arrays.items()}
    try:
        _check_metadata(metadata)
        ordered = {name: stored[name] for name in sorted(stored)}
        return archive_bytes(ordered, dict(sorted(metadata.items())))
    except ValueError as error:
        raise WeightsError(f"these weights cannot be stored: {error}") from None


def parse_weights(data: bytes, name: str = "these weights", part: str = "") -> Weights:
    """Return the weights in the content of a file; a `WeightsError` names the file `name`.

    With `part`, only the arrays of that part are read and checked. Raises `WeightsError` if a
    single bit of the arrays read has changed since the file was written, except in unused parts of
    the archive, such as its time stamps.
    """
    names = part_names(data, name, required=part != "")
    if part and part not in names:
        raise WeightsError(f"{name} has no weights of {part!r}")
    if names and not part:
        raise WeightsError(f"{name} is a file of parts: expected one of {', '.join(names)}")
    with _damage_of(name):
        arrays = read_archive(data, f"{part}." if part else "")
        metadata = json.loads(str(arrays.pop(PROVENANCE, "null")))
        _check_metadata(metadata)
        if part and metadata.get("digest") != digest_of(arrays):
            raise ValueError("its arrays do not have the digest of its metadata")
        arrays = {key: _loaded(key, array) for key, array in arrays.items()}
    return Weights(arrays, metadata, name)


def part_names(data: bytes, name: str = "these weights", *, required: bool = False) -> list[str]:
    """Return the names of the parts in the content of a file; none if it is no file of parts.

    With `required`, that is a `WeightsError`, which names the file `name`.
    """
    end = f".{PROVENANCE}.npy"
    with _damage_of(name):
        members = read_zip(data, LARGEST, MOST_ARRAYS, lambda each: each.endswith(end))
    if required and not members:
        raise WeightsError(f"{name}: expected a file of parts, as `write_parts` writes it")
    return [each.removesuffix(end) for each in members]


@contextmanager
def _damage_of(name: str) -> Iterator[None]:
    """Raise `WeightsError` for any error in a file, named `name`."""
    try:
        yield
    except Exception as error:  # zipfile, zlib, numpy and json each have their own
        fault = f"{name} is damaged, or not a .npz file of weights"
        raise WeightsError(f"{fault}: {printable(str(error) or type(error).__name__)}") from None


def archive_bytes(arrays: Mapping[str, Array], metadata: object = None) -> bytes:
    """Return the content of a compressed `.npz` file of these arrays and the metadata, if any.

    The metadata become a JSON text in an array `PROVENANCE`. An array in Fortran order stays in
    that order. Raises `ValueError` above `LARGEST` bytes or `MOST_ARRAYS` arrays.
    """
    file = io.BytesIO()
    made = {} if metadata is None else {PROVENANCE: np.array(json.dumps(metadata))}
    members = {**arrays, **made}
    if len(members) > MOST_ARRAYS:
        raise ValueError(f"{len(arrays)} arrays, above {MOST_ARRAYS - 1}")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(array))
        unpacked = sum(member.file_size for member in archive.infolist())
    data = file.getvalue()
    if (size := max(len(data), unpacked)) > LARGEST:
        raise ValueError(f"{size} bytes, above {LARGEST}")
    return data


def read_archive(data: bytes, prefix: str = "") -> dict[str, Array]:
    """Return the arrays in the content of an `.npz` file by name, in C order.

    Only names with the prefix are read, and it is removed from them. The JSON text of the metadata,
    if any, is the array `PROVENANCE`. Checksums are verified: damage raises the errors of
    `read_zip` and numpy, and so do more than `LARGEST` bytes or `MOST_ARRAYS` arrays.
    """
    return {
        name.removeprefix(prefix).removesuffix(".npy"): np.asarray(
            np.lib.format.read_array(io.BytesIO(content)), order="C"
        )
        for name, content in read_zip(
            data, LARGEST, MOST_ARRAYS, lambda name: name.startswith(prefix)
        ).items()
    }


def _stored(name: str, array: Array, half: bool) -> Array:
    """Return a copy to store: little-endian, C order; float32 becomes float16 if `half`.

    Raises `WeightsError` for an invalid name or dtype, and for a number that is not finite or too
    large for float16.
    """
    fault = None
    values = to_array(brief(name), array)
    if not isinstance(name, str) or name == PROVENANCE or not _NAME.fullmatch(name):
        fault = f"a name that is reserved, or not of the form {_NAME.pattern}"
    elif not _is_numeric(values):
        fault = f"dtype {values.dtype}: expected integers or floats of at most 64 bits"
    elif not np.isfinite(values).all():
        fault = "a number that is not finite"
    elif half and values.dtype == np.float32:
        most = float(np.finfo(np.float16).max)
        if np.abs(values).max(initial=0) > most:
            fault = f"a number beyond {most:g}, the largest of float16"
        else:
            values = values.astype(np.float16)
    if fault:
        raise WeightsError(f"these weights cannot be stored: {brief(name)} has {fault}")
    return np.array(values, values.dtype.newbyteorder("<"), order="C")


def _check_metadata(metadata: object) -> None:
    """Raise `ValueError` unless this is a mapping of texts to JSON values."""
    if not isinstance(metadata, Mapping):
        raise ValueError(f"metadata={brief(metadata)}: expected JSON values by name")
    for key, value in metadata.items():
        if not isinstance(key, str) or not _is_json(value):
            raise ValueError(f"metadata {brief(key)}={brief(value)}: expected a JSON value")


def _is_json(value: object) -> bool:
    """Whether a value is the same after it was written as JSON and read."""
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


def _is_numeric(array: Array) -> bool:
    """Whether this is an array of integers or floats of at most 64 bits."""
    return array.dtype.kind in "iuf" and array.dtype.itemsize <= 8


def _loaded(key: str, array: Array) -> Array:
    """Return a read-only copy in C order and native byte order; float16 becomes float32.

    Raises `ValueError`, with the array's name `key`, unless all entries are finite numbers.
    """
    if not _is_numeric(array) or not np.isfinite(array).all():
        raise ValueError(f"{brief(key)} is {array.dtype} {array.shape}: expected finite numbers")
    dtype = np.dtype(np.float32) if array.dtype.newbyteorder("=") == np.float16 else array.dtype
    loaded = np.array(array, dtype.newbyteorder("="), order="C")
    loaded.flags.writeable = False
    return loaded
