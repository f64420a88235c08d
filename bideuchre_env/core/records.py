"""Names of the records that kernels take: each is a row of the structured array named beside it."""

from __future__ import annotations

from typing import TypeAlias

from bideuchre_env.runtime.jit import Row

State: TypeAlias = Row  # state.STATE: a game
Tables: TypeAlias = Row  # tables.TABLES: the rules
Offsets: TypeAlias = Row  # observation.layout.OFFSETS: the blocks of an observation
View: TypeAlias = Row  # view.VIEW: the part of a game that a seat knows
