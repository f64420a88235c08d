"""The result of `render` in every environment: the table as text or as pixels."""

from __future__ import annotations

from typing import Any

from gymnasium.error import DependencyNotInstalled

from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

NO_MODE = "render() needs a render_mode, as 'ansi' or 'rgb_array', when the environment is made"
NEEDS_PILLOW = (
    "render_mode='rgb_array' needs Pillow 10.1 or newer: pip install \"bideuchre_env[render]\""
)


def rendered(
    mode: str, row: Any, rules: Rules, view: str | int, actor: int, learner: int | None = None
) -> str | Array | None:
    """The table in a state row: its text in mode "ansi", printed in "human", pixels in "rgb_array".

    "actor" as a `view` is the seat `actor`. A picture of all hands has the `learner` at the bottom,
    where there is one. Raises Gymnasium's `DependencyNotInstalled` for pixels without Pillow.
    """
    seat = actor if view == "actor" else view
    viewer = None if seat == "all" else int(seat)
    if mode == "rgb_array":
        return _pixels(row, rules, learner if viewer is None else viewer, viewer is None)
    from bideuchre_env.records.render import table_text

    text = table_text(row, rules, viewer)
    if mode == "human":
        print(text)
        return None
    return text


def _pixels(row: Any, rules: Rules, viewer: int | None, open_hands: bool) -> Array:
    from bideuchre_env.records.pixels import table_pixels

    try:
        return table_pixels(row, rules, viewer=viewer, open_hands=open_hands)
    except ImportError as error:
        # only now: trainers ask for this mode when they make environments, and few of them render
        raise DependencyNotInstalled(NEEDS_PILLOW) from error
