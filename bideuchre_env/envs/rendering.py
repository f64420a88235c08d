"""The result of `render` in every environment: the table as text or as pixels."""

from __future__ import annotations

from typing import Any

from gymnasium.error import DependencyNotInstalled

from bideuchre_env._install import how_to_install
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

NO_MODE = "render() needs a render_mode, as 'ansi' or 'rgb_array', when the environment is made"
NEEDS_PILLOW = f"render_mode='rgb_array' needs Pillow 10.1 or newer: {how_to_install('render')}"


def render_table(
    mode: str, row: Any, rules: Rules, view: str | int, actor: int, learner: int | None = None
) -> str | Array | None:
    """The table in a state row: its text in mode "ansi", printed in "human", pixels in "rgb_array".

    `view` is "all" for all hands, a seat for its hand, or "actor" for that of the seat `actor`. A
    picture of all hands has the seat `learner`, if any, at the bottom. Pixels without Pillow raise
    Gymnasium's `DependencyNotInstalled`.
    """
    seat = actor if view == "actor" else view
    viewer = None if seat == "all" else int(seat)
    if mode == "rgb_array":
        from bideuchre_env.records.pixels import table_pixels

        bottom = learner if viewer is None else viewer
        try:
            return table_pixels(row, rules, viewer=bottom, open_hands=viewer is None)
        except ImportError as error:
            # not at construction: trainers set this mode, but few of them render
            raise DependencyNotInstalled(NEEDS_PILLOW) from error
    from bideuchre_env.records.render import table_text

    text = table_text(row, rules, viewer)
    if mode == "human":
        print(text)
        return None
    return text
