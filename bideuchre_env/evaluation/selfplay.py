"""Old name of matches with records, which works until bideuchre_env 0.3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bideuchre_env._deprecation import warn_old
from bideuchre_env._files import PathLike
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.match import match
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.seeding import Side


def play(
    variant: Any,
    a: Side,
    b: Side,
    *,
    boards: int | None = None,
    games: int | None = None,
    out: PathLike | None = None,
    progress: Callable[[int, int, int], None] | None = None,
    **options: Any,
) -> Result:
    """Return `match(variant, a, b, boards=boards, games=games, records=out)`."""
    warn_old("selfplay.play(..., out=...)", "match(..., records=...)")
    if (boards is None) == (games is None):
        raise OptionError("expected either boards=N (boards of one hand) or games=N (whole games)")
    if progress is not None:
        options["progress"] = lambda kind, *numbers: progress(*numbers)
    return match(variant, a, b, boards=boards or 0, games=games or 0, records=out, **options)
