"""A library of an extra that is not installed: the error says how to install it, no file is left.

Adapters are in `tests/adapters`, CUDA is in `tests/envs/test_vector_device.py`.
"""

import os
import sys
from pathlib import Path

import pytest
from gymnasium.error import DependencyNotInstalled
from support.commands import run

from bideuchre_env import cincinnati_v0, datasets
from bideuchre_env._install import how_to_install
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.ray_pool import RayPool

GAMES = Path(__file__).parents[1] / "core" / "golden" / "cincinnati_v0.jsonl"


def render(form):
    env = form(render_mode="rgb_array")
    env.reset(seed=1)
    env.render()


USES = [
    ("ray", ["ray"], "running on Ray needs ray", RayPool),
    ("data", ["pyarrow"], "needs pyarrow", lambda: datasets.export(GAMES, "a.parquet")),
    ("minari", ["minari"], "needs minari", lambda: datasets.export(GAMES, "minari:x-v0")),
    ("render", ["PIL", "PIL.Image"], "needs Pillow", lambda: render(cincinnati_v0.env)),
    ("render", ["PIL", "PIL.Image"], "needs Pillow", lambda: render(cincinnati_v0.solo)),
    ("completion", ["shtab"], "needs shtab", ["--print-completion", "bash"]),
    ("web", ["aiohttp"], "--web needs aiohttp", ["play", "--web"]),
    ("web", ["segno"], "--web needs segno", ["play", "--web"]),
    (
        "plot",
        ["matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"],
        "needs matplotlib",
        ["match", "rule", "rule", "--picture", "a.png"],
    ),
]
"""By use: the extra, its modules, the beginning of the message, and a function or a command."""


@pytest.mark.parametrize(("extra", "modules", "message", "use"), USES)
def test_the_extra_is_named(extra, modules, message, use, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "bideuchre_env.evaluation.match.match", None
    )  # refused before anything is played
    for name in [name for name in sys.modules if name.startswith("bideuchre_env.web.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in modules:
        monkeypatch.setitem(sys.modules, name, None)
    if isinstance(use, list):
        assert run(*use) == 2
        error = capsys.readouterr().err
    else:
        with pytest.raises((OptionError, DependencyNotInstalled)) as caught:
            use()
        error = str(caught.value)
    assert message in error
    assert how_to_install(extra) in error
    assert os.listdir() == []
