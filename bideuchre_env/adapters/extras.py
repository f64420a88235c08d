"""What an adapter says where the library it is for is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Around an adapter's imports: a missing library is one line that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"bideuchre_env.adapters.{extra} needs {error.name}: "
            f'pip install "bideuchre_env[{extra}]"',
            name=error.name,
        ) from None
