"""Reading and writing of the agents' data files in this folder: named arrays and provenance."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from bideuchre_env import _files
from bideuchre_env._checks import check_array
from bideuchre_env._files import Output, PathLike
from bideuchre_env.errors import OptionError, TableError
from bideuchre_env.learning import weights
from bideuchre_env.learning.weights import PROVENANCE, Weights
from bideuchre_env.runtime.jit import Array, new_rows


def sealed(array: Array) -> Array:
    """Return a read-only view of an array: kernels are compiled for read-only tables only."""
    view = array.view()
    view.flags.writeable = False
    return view


@lru_cache(maxsize=8)
def read_file(name: str) -> dict[str, Array]:
    """Return the arrays of a data file by name, read-only.

    Raises `TableError` if the file is missing or damaged.
    """
    path = resources.files(__name__).joinpath(name)
    try:
        arrays = weights.read_archive(path.read_bytes())
        return {each: sealed(array) for each, array in arrays.items()}
    except Exception as error:  # damage can raise anything: in the archive, a header or an array
        raise damaged(name, f"{type(error).__name__}: {error}") from error


@lru_cache(maxsize=64)
def parts_of(variant: str) -> list[str]:
    """Return the names of the parts in a variant's file of weights, such as "expert"."""
    return weights.part_names(
        *weights.read_content(resources.files(__name__).joinpath(f"{variant}.npz"))
    )


@lru_cache(maxsize=64)
def package_part(variant: str, part: str) -> Weights:
    """Return a part of a variant's file of weights; `WeightsError` if it is missing or damaged."""
    return weights.read_weights(resources.files(__name__).joinpath(f"{variant}.npz"), part)


@lru_cache(maxsize=1)
def data_hash() -> str:
    """Return the SHA-256 hash of all data files, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(resources.files(__name__).iterdir(), key=lambda each: each.name):
        if path.name.endswith(".npz"):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def read_array(name: str, part: str, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Return the array named `part` of the data file `name`, read-only.

    Raises `TableError` if it is missing or has another shape or dtype, because kernels do not check
    bounds. An axis of -1 in `shape` has any length.
    """
    arrays = read_file(name)
    if part not in arrays:
        raise damaged(name, f"no {part} in it")
    array = arrays[part]
    try:
        check_array(part, array, dtype, shape)
    except OptionError as error:
        raise damaged(name, str(error)) from None
    return array


def read_record(name: str, prefix: str, dtype: np.dtype[Any]) -> Array:
    """Return a new array of one `dtype` record; field `x` is read from the array `{prefix}_x`."""
    record = new_rows(dtype, 1)
    for part in dtype.names or ():
        form = record[part][0]
        record[part][0] = read_array(name, f"{prefix}_{part}", np.shape(form), form.dtype)
    return record


def read_provenance(name: str) -> dict[str, Any]:
    """Return the provenance stored in a data file; `TableError` if it is missing or damaged."""
    arrays = read_file(name)
    if PROVENANCE not in arrays:
        raise damaged(name, f"no {PROVENANCE} in it")
    text = str(arrays[PROVENANCE])
    try:
        made: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise damaged(name, f"its provenance cannot be read: {error}") from error
    return made


def write_file(place: PathLike | Output, arrays: dict[str, Array], made: dict[str, Any]) -> None:
    """Write arrays and their provenance `made` to a data file, atomically.

    Raises `OutputError` if that fails.
    """
    _files.write_file(place, weights.archive_bytes(arrays, made))


def damaged(name: str, why: str) -> TableError:
    """Return the error for a missing or damaged data file."""
    return TableError(
        f"agents/data/{name} is missing or damaged, and the package needs it: "
        f"install it again ({why})"
    )
