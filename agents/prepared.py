"""What has been learned on this machine for rules of one's own: `bideuchre prepare` makes it.

It lies in the user's cache, a file for each kind of agent and each game, so that it outlives an
upgrade of the package. The package's own variants never look there. A file that is written anew is
seen by every agent that is made from then on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bideuchre_env._files import reason
from bideuchre_env.agents.loading import are_kept
from bideuchre_env.errors import OptionError, WeightsError
from bideuchre_env.learning.weights import LARGEST, Weights, parse_weights
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.cache import user_cache

PREPARED = ("expert", "net")
"""The kinds of agents that can be."""

Watch = Callable[[str, str | None], None]
_watch: ContextVar[Watch | None] = ContextVar("_watch", default=None)


class _Read(NamedTuple):
    """A file as it was read: what told it from others then, its hash, what it holds."""

    stamp: tuple[int, ...] | None  # None of one that was not there, as the two that follow
    digest: str | None
    weights: Weights | None


_read: dict[Path, _Read] = {}


@lru_cache(maxsize=64)
def rules_hash(rules: Rules) -> str:
    """What tells rules apart, whatever they are called: sixteen hexadecimal digits.

    The names of lone bids count, as they do for `made_for`: what was learned with others is refused
    there, so that it may as well not be found.
    """
    return hashlib.sha256(json.dumps(rules.to_dict(), sort_keys=True).encode()).hexdigest()[:16]


def prepared_folder() -> Path:
    """Where everything lies that was prepared here; `OptionError` of a user without a home."""
    try:
        return user_cache() / "prepared"
    except RuntimeError:
        raise OptionError(
            "this user has no home, where agents would be kept: set XDG_CACHE_HOME to a folder"
        ) from None


def prepared_file(kind: str, rules: Rules) -> Path:
    """Where the weights of a kind of agent for these rules lie, if they were prepared."""
    return prepared_folder() / f"{kind}-{rules_hash(rules)}.npz"


def prepared_weights(kind: str, rules: Rules) -> Weights | None:
    """The weights that were prepared for these rules, or None; None for a variant, in any case.

    Within `loading.files_kept` they are those that were found last, changed or not. Raises
    `WeightsError` where the file is damaged.
    """
    if rules in RULES.values():
        return None
    with suppress(OptionError):
        place = prepared_file(kind, rules)
        if not (are_kept() and place in _read):
            _read[place] = _found(place)
        if (watch := _watch.get()) is not None:
            watch(place.name, _read[place].digest)
        return _read[place].weights
    return None


def _found(place: Path) -> _Read:
    """What there is at a place now; a file is read once for as long as it stays the same."""
    try:
        now = place.stat()
    except OSError:  # none, or in a home that is somebody else's
        return _Read(None, None, None)
    stamp = (now.st_ino, now.st_mtime_ns, now.st_size)
    if place in _read and _read[place].stamp == stamp:
        return _read[place]
    try:
        with place.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise WeightsError(f"{place} cannot be read: {reason(error)}") from None
    return _Read(stamp, hashlib.sha256(data).hexdigest(), parse_weights(data, str(place)))


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Tell `watch` of every file that agents look for meanwhile: its name, and its hash or None."""
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)


def prepared_digests() -> dict[str, str]:
    """The hash of every file that was prepared, by its name, as they are now."""
    found = {}
    with suppress(OSError, OptionError):
        for file in prepared_folder().glob("*.npz"):
            with suppress(OSError):  # nothing to play by
                found[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found
