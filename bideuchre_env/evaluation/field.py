"""Old name of tournaments against a field, which works until bideuchre_env 0.3."""

from __future__ import annotations

from typing import Any

from bideuchre_env._deprecation import warn_old
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.tournament import tournament


def play(
    variants: Any, agents: Any, field: Any, *, crossplay: bool = False, **options: Any
) -> Result:
    """Return `tournament(variants, agents, field=field, partners=crossplay)`."""
    warn_old("evaluation.field.play(...)", "tournament(..., field=...)")
    return tournament(variants, agents, field=field, partners=crossplay, **options)
