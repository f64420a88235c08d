"""The commands and code blocks of the README run and print the displayed output."""

import io
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import load_scripts

from bideuchre_env import match
from bideuchre_env.cli import main as cli

ROOT = Path(__file__).resolve().parents[2]
README, LEARNING = ROOT / "README.md", ROOT / "bideuchre_env" / "learning" / "README.md"
RATE = re.compile(r"[\d,]+ (?=decisions)")
OUTPUT = """\
rule against cautious, cincinnati_v0, seed 0

2,000 games (1,000 pairs), 16,112 hands
games won         rule 1,999   cautious 1   drawn 0   truncated 0
                  rule 100.0 %   95 % interval 99.7 to 100.0 %
points per hand   rule +3.37   95 % interval +3.32 to +3.42

contracts            bid            made            set   alone   made alone
  rule            13,361   12,574 (94 %)      787 (6 %)     111   104 (94 %)
  cautious         2,751      693 (25 %)   2,058 (75 %)       0            0

speed             723,634 decisions per second
records           runs/selfplay-cincinnati_v0-rule-cautious-seed0.jsonl
"""


def blocks(language: str, page: Path = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.S)


def test_the_first_command_prints_the_output_of_the_readme(tmp_path: Path) -> None:
    """The command prints the same lines every time, except the speed; the README has an excerpt."""
    with load_scripts(".github/docs", "readme") as [readme]:
        printed = readme.main_job(tmp_path)
        assert readme.excerpt(printed) == blocks("text")[0]
    assert RATE.sub("#", printed) == RATE.sub("#", OUTPUT)
    [records] = list(tmp_path.rglob("*.jsonl"))
    assert records.name in printed
    assert records.stat().st_size > 0


def test_the_commands_for_players_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands run as written; the game is left at once."""
    [commands] = [block for block in blocks("sh") if "bideuchre play" in block]
    words = (shlex.split(line, comments=True) for line in commands.splitlines())
    play, advise, show = (command[1:] for command in words if command)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert cli.main(play) == 0
    assert "The game is saved" in capsys.readouterr().out
    assert cli.main(advise) == 0
    assert "bid 4" in capsys.readouterr().out
    assert cli.main(["selfplay", "--games", "1", "--out", show[1]]) == 0
    assert cli.main([*show, "--agent", "rule", "--worlds", "2"]) == 0
    assert "<!doctype html>" in (tmp_path / show[-1]).read_text(encoding="utf-8")


def test_the_python_blocks_run() -> None:
    """The Python blocks run in order in one namespace; the first plays a game to its end."""
    namespace: dict[str, Any] = {}
    assert len(blocks("python")) >= 2
    for number, block in enumerate(blocks("python")):
        exec(compile(block, "README.md", "exec"), namespace)
        if number == 0:
            assert namespace["env"].agents == []
            assert namespace["env"].unwrapped.record.outcome in ("won", "truncated")


def test_the_first_training_run_learns(capsys: pytest.CaptureFixture[str]) -> None:
    """The points of the first training run grow as the page states; its policy beats `cautious`."""
    [block] = [each for each in blocks("python", LEARNING) if "for iteration in" in each]
    namespace: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), namespace)
    printed = [float(line.split()[0]) for line in capsys.readouterr().out.splitlines()]
    page = " ".join(LEARNING.read_text(encoding="utf-8").split())
    stated = re.search(
        r"from (\S+) points per hand to about (\S+)\. In .* better by about (\S+)\.", page
    )
    assert stated is not None
    before, after, better = map(float, stated.groups())
    assert printed[0] == pytest.approx(before, abs=0.05)
    assert float(np.mean(printed[-8:])) == pytest.approx(after, abs=0.3)

    class Student:
        """An agent that plays by the learned values, without exploration."""

        def act_rows(self, observations: Any, masks: Any) -> Any:
            return np.where(masks, (observations > 0) @ namespace["q_weights"], -np.inf).argmax(
                axis=1
            )

    points = match.play("cincinnati_v0", Student(), "cautious", boards=2_000).points_per_hand
    assert points is not None
    assert points.low > 1
    assert points.mean == pytest.approx(better, abs=0.5)
