"""The README runs as written: its commands, its code, and every block of output it shows.

`python tests/project/test_readme.py --write` writes the blocks anew after a change.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bideuchre_env
from bideuchre_env import match
from bideuchre_env.cli import main as cli

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
ENVS = ROOT / "bideuchre_env" / "envs" / "README.md"
MOST_LINES = 160
MAIN_JOB = "pip install -e . && bideuchre selfplay"
TESTS = 'pip install -e ".[test]" && python -m pytest -n 2'
BIN = Path(sys.executable).parent
RATE = re.compile(r"[\d,]+ (?=decisions)")


def blocks(language: str, page: Path = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.S)


def figures() -> str:
    """The README's measured figures, from the results that the scripts have written."""
    report = json.loads((ROOT / "benchmarks" / "results" / "peers.json").read_text("utf-8"))
    facts = report["machine"]
    rows = {(row["group"], row["name"]): row for row in report["figures"]}
    env, vec, hands = (
        rows["bideuchre_env", name]["median"]
        for name in ("AEC env()", "vec, 4,096 rows, actions drawn", "rollouts")
    )
    times = {
        name: f"{rows[name]['ratio']:.2g}"
        for name in (
            ("PettingZoo classic", "connect_four env()"),
            ("pgx on JAX, CPU", "bridge_bidding, 4,096 rows"),
            ("OpenSpiel", "euchre, C++ rollouts after the deal"),
        )
    }
    connect_four, bridge, euchre = times.values()
    return (
        f"- **Fast**: in decisions a second on one core, `env()` {env / 1e3:.0f} thousand, "
        f"{connect_four} times PettingZoo's connect four;\n"
        f"  `vec(4096, copy=False)` {vec / 1e6:.0f} million, {bridge} times pgx's bridge bidding; "
        f"whole hands in a kernel {hands / 1e6:.0f} million,\n"
        f"  {euchre} times OpenSpiel's euchre in C++ "
        f"([{facts['processor']}](benchmarks/README.md#peers)).\n"
    )


TRAINERS = {  # by script: call, observation, autoreset mode, extra
    "sb3_maskable_ppo": ("`adapters.sb3.VecEnv(256, GAME)`", "flat, dict", "SameStep", "sb3"),
    "cleanrl_ppo": ('`GAME.vec(512, observation="flat")`', "flat, dict", "SameStep", "train"),
    "agilerl_ppo": ("`adapters.agilerl.make_vec(GAME, 256)`", "flat", "SameStep", "agilerl"),
    "torchrl_ppo": ("`adapters.torchrl.Env(GAME, 256)`", "flat", "Disabled", "torchrl"),
    "tianshou_ppo": ("`adapters.tianshou.Seats(GAME, 128)`", "flat", "SameStep", "tianshou"),
    "rllib_ppo": ("`adapters.rllib.MultiAgentEnv`", "flat, with mask", "RLlib's own", "rllib"),
}
NAMES = {
    "sb3-contrib": "SB3, sb3-contrib",
    "torch": "CleanRL's way, torch",
    "agilerl": "AgileRL",
    "torchrl": "TorchRL",
    "tianshou": "Tianshou",
    "ray": "RLlib, ray",
}


def trainers() -> str:
    """The table of trainers, from what their scripts have written."""
    lines = [
        "| trainer | call | observation | autoreset | extra | decisions/s | over `cautious` |",
        "|---|---|---|---|---|---|---|",
    ]
    for script, (call, seen, autoreset, extra) in TRAINERS.items():
        path = ROOT / "experiments" / "results" / "trainers" / f"{script}.json"
        made = json.loads(path.read_text("utf-8"))
        name = f"{NAMES[made['library']]} {made['version'].partition('+')[0]}"
        rate, over = made["decisions per second"], made["points per hand over"]["cautious"]
        half = (over["high"] - over["low"]) / 2
        points = f"{over['mean']:+.2f} ± {half:.2f}"
        cells = (name, call, seen, autoreset, f"`{extra}`", f"{round(rate, -2):,.0f}", points)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def layout_block() -> str:
    env = bideuchre_env.cincinnati_v0.raw_env()
    return f"{env.observation_layout}\n"


def run_main_job(folder: Path) -> str:
    command = shlex.split(MAIN_JOB.partition("&& ")[2])
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_first_screen_has_the_two_commands() -> None:
    """Exactly so, and the second one is what CI runs."""
    screen = "\n".join(README.read_text(encoding="utf-8").splitlines()[:40])
    assert f"```sh\n{MAIN_JOB}\n```" in screen
    assert f"```sh\n{TESTS}\n```" in screen
    assert f"    {TESTS}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_main_job_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """`bideuchre selfplay`: the same lines for the same seed, but for the speed of the machine."""
    printed = run_main_job(tmp_path)
    shown = blocks("text")[0]
    assert RATE.sub("#", printed) == RATE.sub("#", shown)
    [records] = list(tmp_path.rglob("*.jsonl"))
    assert records.name in printed
    assert records.stat().st_size > 0


def test_what_players_are_shown_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Play, replay, ask: every command as written; a game is begun, and left at once."""
    [shown] = [block for block in blocks("sh") if "bideuchre play" in block]
    play, advise, show = (shlex.split(line, comments=True)[1:] for line in shown.splitlines())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert cli.main(play) == 0
    assert "The game is saved" in capsys.readouterr().out
    assert cli.main(advise) == 0
    assert "bid 4" in capsys.readouterr().out
    match_of_rules = ["selfplay", "--games", "1", "--out", show[1]]
    assert cli.main(match_of_rules) == 0
    assert cli.main([*show, "--agent", "rule", "--worlds", "2"]) == 0
    assert "<!doctype html>" in (tmp_path / show[-1]).read_text(encoding="utf-8")


def test_it_is_short() -> None:
    """What takes longer stands in the rooms' pages."""
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_the_figures_are_those_the_scripts_wrote() -> None:
    """Between their marks stands what the committed results say."""
    text = README.read_text(encoding="utf-8")
    assert f"<!-- figures -->\n{figures()}<!-- end -->" in text
    assert f"\n\n{trainers()}| OpenSpiel" in text


def test_every_picture_is_there_and_has_words() -> None:
    """Each is a file of the tree, and has a text for those who cannot see it."""
    text = README.read_text(encoding="utf-8")
    named = re.findall(r'(?:src|srcset)="([^"]+)"', text) + re.findall(
        r"!\[[^\]]+\]\(([^)]+)\)", text
    )
    assert len(named) >= 2
    for name in named:
        assert (ROOT / name).is_file(), name
    assert len(re.findall(r"<img ", text)) == len(re.findall(r'<img [^>]*alt="[^"]{20,}"', text))


def test_the_layout_is_the_one_printed() -> None:
    """The observation table is what `print(env.observation_layout)` says."""
    assert layout_block() == blocks("text", ENVS)[0]


def test_the_python_blocks_run() -> None:
    """In order, in one namespace, as a reader would paste them; the training run is below."""
    namespace: dict[str, object] = {}
    assert len(blocks("python")) >= 3
    for block in blocks("python"):
        if block != first_run():
            exec(compile(block, "README.md", "exec"), namespace)


def first_run() -> str:
    """The block of the first training run."""
    [block] = [block for block in blocks("python") if "for lesson in" in block]
    return block


def test_the_first_training_run_learns_what_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Pasted alone: the points it prints grow as told, and what it learns is better than told."""
    assert sum(map(bool, first_run().splitlines())) <= 15
    namespace: dict[str, Any] = {}
    exec(compile(first_run(), "README.md", "exec"), namespace)
    printed = [float(line.split()[0]) for line in capsys.readouterr().out.splitlines()]
    before, after = printed[0], float(np.mean(printed[-8:]))
    page = " ".join(README.read_text(encoding="utf-8").split())
    told = re.search(
        r"from (\S+) points per hand to about (\S+)\. In .* better by about (\S+)\.", page
    )
    assert told is not None
    assert before == pytest.approx(float(told[1]), abs=0.05)
    assert after == pytest.approx(float(told[2]), abs=0.3)

    class Student:
        """Two seats that play by what one has learned, without the noise it learned by."""

        def act_rows(self, observations: Any, masks: Any) -> Any:
            return np.where(masks, (observations > 0) @ namespace["worth"], -np.inf).argmax(axis=1)

    points = match.play("cincinnati_v0", Student(), "cautious", boards=2_000).points_per_hand
    assert points is not None
    assert points.low > 1
    assert points.mean == pytest.approx(float(told[3]), abs=0.5)


def test_the_five_line_loop_plays_a_game_to_its_end() -> None:
    """After the loop every agent has left and the game has a result."""
    namespace: dict[str, object] = {}
    exec(compile(blocks("python")[0], "README.md", "exec"), namespace)
    env = namespace["env"]
    assert env.agents == []
    assert env.unwrapped.record.outcome in ("won", "truncated")


def write() -> None:
    """Put figures and outputs of this machine into the pages."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        outputs = {README: run_main_job(Path(folder)), ENVS: layout_block()}
    for page, output in outputs.items():
        text = page.read_text(encoding="utf-8")
        text = re.sub(
            r"(```text\n).*?(```)", lambda m, o=output: m[1] + o + m[2], text, count=1, flags=re.S
        )
        if page is README:
            marks = r"(<!-- figures -->\n).*?(<!-- end -->)"
            text = re.sub(marks, lambda m: m[1] + figures() + m[2], text, flags=re.S)
            marks = r"\| trainer \|.*?(?=\| OpenSpiel)"
            text = re.sub(marks, lambda _: trainers(), text, flags=re.S)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/project/test_readme.py --write")
    write()
