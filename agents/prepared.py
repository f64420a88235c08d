"""Weights that `bideuchre prepare` has saved on this machine.

They are in the user's cache folder, one file of parts for each game, and remain after an
upgrade of the package. The variants for which the package has weights of `net` never use them. An
agent that is created after a file has been replaced uses the new file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from bideuchre_env._files import reason
from bideuchre_env._inputs import read_file
from bideuchre_env.agents.data import parts_of
from bideuchre_env.agents.registry import files_are_frozen
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.learning.weights import LARGEST, Weights, parse_weights, part_names
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.cache import user_cache
from bideuchre_env.runtime.contexts import holding

PREPARED = ("expert", "net")
"""The kinds of agents that can be prepared."""
PREPARED_FILE = "prepared "
"""Prefix of the names of prepared files beside those of other files, before the file's name."""

ADDED_LATER = (
    "no_trump", "no_trump_from", "auction", "exchange_seen", "made_scores", "made_bonus",
    "defenders_score", "floor", "kitty",
)  # fmt: skip
"""Options that the hash leaves out at their default: so hashes in result folders stay valid."""

Watch = Callable[[str, str | None], None]  # see `watch_files`
_watch: ContextVar[Watch | None] = ContextVar("_watch", default=None)


_HashAndWeights: TypeAlias = tuple[str | None, Weights | None]
"""The hash of a file, None without a file, and its weights of a kind of agent, None without any."""
_last: dict[tuple[Path, str], _HashAndWeights] = {}


@lru_cache(maxsize=64)
def packaged_name(rules: Rules) -> str | None:
    """Return the name of the variant with these rules, if the package has its weights, else None.

    They are those of `net`; a variant without them can be prepared.
    """
    names = (name for name, known in RULES.items() if known == rules)
    return next((name for name in names if "net" in parts_of(name)), None)


@lru_cache(maxsize=64)
def rules_hash(rules: Rules) -> str:
    """Return a hash of the rules, sixteen hexadecimal digits; the name of the game has no effect.

    The names of lone bids have an effect, as in `made_for`. The default of an option in
    `ADDED_LATER` has none.
    """
    options = rules.to_dict()
    for each in fields(rules):
        if each.name in ADDED_LATER and options[each.name] == each.default:
            del options[each.name]
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:16]


def prepared_folder() -> Path:
    """Return the folder of all prepared files; `OptionError` for a user without a home folder."""
    try:
        return user_cache() / "prepared"
    except RuntimeError:
        raise OptionError("no home folder for the cache: set XDG_CACHE_HOME to a folder") from None


def prepared_file(rules: Rules) -> Path:
    """Return the path of the weights for these rules; it need not exist."""
    return prepared_folder() / f"{rules_hash(rules)}.npz"


def prepared_weights(kind: str, rules: Rules) -> Weights | None:
    """Return the weights that were prepared for these rules, or None if there are none.

    Always None for a variant of which the package has weights. Within `registry.freeze_files` the
    result of the last call is reused, even if the file has changed. Calls the callback of
    `watch_files`. Raises `WeightsError` if the file is damaged.
    """
    if packaged_name(rules):
        return None
    with suppress(OptionError):
        place = prepared_file(rules)
        key = place, kind
        if not (files_are_frozen() and key in _last):
            _last[key] = _find(place, kind)
        digest, weights = _last[key]
        if (watch := _watch.get()) is not None:
            watch(PREPARED_FILE + place.name, digest)
        return weights
    return None


def _find(place: Path, kind: str) -> _HashAndWeights:
    """Return the hash of a file, and its weights of a kind of agent, as `_HashAndWeights`.

    The file is read again only if it has changed.
    """
    try:
        now = place.stat()
    except OSError:  # no file, or no permission
        return None, None
    return _read(place, kind, (now.st_ino, now.st_mtime_ns, now.st_size))


@lru_cache(maxsize=8)
def _read(place: Path, kind: str, stamp: tuple[int, ...]) -> _HashAndWeights:
    """Read a file and return its hash and weights; `WeightsError` if it is damaged.

    `stamp` (inode, time, size) is only a part of the cache key.
    """
    try:
        data = read_file(place, LARGEST)
    except OSError as error:
        raise WeightsError(f"{place} cannot be read: {reason(error)}") from None
    has_part = kind in part_names(data, str(place), required=True)
    weights = parse_weights(data, str(place), kind) if has_part else None
    return hashlib.sha256(data).hexdigest(), weights


def watch_files(watch: Watch) -> AbstractContextManager[None]:
    """Context in which each search for a prepared file calls `watch(name, hash)`.

    `name` is `PREPARED_FILE` + the file's name. `hash` is None if there is no such file.
    """
    return holding(_watch, watch)


def prepared_digests() -> dict[str, str]:
    """Return the SHA-256 hash of every readable prepared file, by `PREPARED_FILE` + name."""
    hashes = {}
    with suppress(OSError, OptionError):
        for file in prepared_folder().glob("*.npz"):
            with suppress(OSError):  # an unreadable file is not used either
                content = read_file(file, LARGEST)
                hashes[PREPARED_FILE + file.name] = hashlib.sha256(content).hexdigest()
    return hashes
