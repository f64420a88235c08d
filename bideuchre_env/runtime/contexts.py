"""`holding`: a context variable with another value for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Context in which the variable has this value."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)
