"""Files of weights in their earlier form, which are read until version 0.3.

Such a file has the weights of one agent, and other names for the arrays of the calls.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from bideuchre_env._deprecation import UNTIL, _user_level
from bideuchre_env._files import PathLike
from bideuchre_env.learning.weights import Weights, parse_weights, part_names, read_content

_NEW_NAMES = {
    "calls.first_base": "calls.first_bias",
    "calls.second_base": "calls.second_bias",
    "calls.straight": "calls.skip",
    "calls.base": "calls.last_bias",
}


def read_part(place: PathLike, part: str) -> Weights:
    """Return the weights of a part of a file, or of a file in the old form.

    Raises `WeightsError` for a damaged file, or one without the part.
    """
    data, name = read_content(place)
    return parse_part(data, name, part) or parse_weights(data, name, part)  # which raises


def parse_part(data: bytes, name: str, part: str) -> Weights | None:
    """Return the weights of a part in the content of a file, None without it; see `read_part`."""
    if names := part_names(data, name):
        return renamed(parse_weights(data, name, part)) if part in names else None
    weights = renamed(parse_weights(data, name))
    warnings.warn(
        f"{name} is a file of one agent's weights, which bideuchre_env {UNTIL} will not read: "
        f"write them again with `write_parts(FILE, {{{part!r}: weights}})`",
        DeprecationWarning,
        stacklevel=_user_level(),
    )
    return weights


def read_parts(place: PathLike) -> list[Weights]:
    """Return the weights of all parts of a file, or of a file in the old form, without warning."""
    data, name = read_content(place)
    parts = [parse_weights(data, name, part) for part in part_names(data, name)]
    return parts or [renamed(parse_weights(data, name))]


def renamed(weights: Weights) -> Weights:
    """Return weights with the present names and shapes of the arrays of calls."""
    if not isinstance(weights.arrays, Mapping) or not _NEW_NAMES.keys() <= weights.arrays.keys():
        return weights
    arrays = {_NEW_NAMES.get(name, name): array for name, array in weights.arrays.items()}
    for name in {"calls.skip", "calls.last"} & arrays.keys():
        arrays[name] = np.reshape(arrays[name], (-1, 1))
    arrays["calls.slope"] = np.zeros(1, np.float32)
    return Weights(arrays, weights.metadata, weights.name)
