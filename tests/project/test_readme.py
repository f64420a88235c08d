"""The README runs as written: its commands, its code, and every block of output it shows.

`python tests/project/test_readme.py --write` writes the blocks anew after a change.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import bideuchre_env

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
MAIN_JOB = "pip install -e . && bideuchre selfplay"
TESTS = 'pip install -e ".[test]" && python -m pytest -n 2'
BIN = Path(sys.executable).parent
RATE = re.compile(r"[\d,]+ (?=decisions)")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.S)


def variants_table() -> str:
    """The README's table of variants, from the rules themselves."""
    ranks = {"9": "9 to A", "10": "10 to A", "J": "J to A"}
    rows = [
        ("deck", lambda r: f"{r.cards}: {ranks[r.ranks]}" + (", twice" if r.copies == 2 else "")),
        ("tricks", lambda r: str(r.tricks)),
        ("bids", lambda r: "{} to {}".format(*r.partnered)),
        (
            "alone",
            lambda r: ", ".join(f"{bid.name} {bid.value}" for bid in r.lone) or "none",
        ),
        ("strain named", lambda r: r.strain_named.replace("_", " ")),
        ("all pass", lambda r: r.all_pass.replace("_", " ")),
        ("leads", lambda r: r.opening_lead),
        (
            "wins",
            lambda r: (
                f"most points in {r.rounds} round"
                if r.win_rule == "rounds"
                else f"{r.target}, {r.win_rule.replace('_', ' ')}"
            ),
        ),
    ]
    variants = bideuchre_env.variants
    lines = ["| | " + " | ".join(f"`{name}`" for name in variants) + " |"]
    lines.append("|---" * (len(variants) + 1) + "|")
    for heading, cell in rows:
        lines.append(
            f"| {heading} | " + " | ".join(cell(v.rules) for v in variants.values()) + " |"
        )
    return "\n".join(lines)


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


def test_the_variants_table_is_true() -> None:
    """Every cell follows from the rules."""
    assert variants_table() in README.read_text(encoding="utf-8")


def test_the_layout_is_the_one_printed() -> None:
    """The observation table is what `print(env.observation_layout)` says."""
    assert layout_block() == blocks("text")[1]


def test_the_python_blocks_run(capsys: pytest.CaptureFixture[str]) -> None:
    """In order, in one namespace, as a reader would paste them."""
    namespace: dict[str, object] = {}
    assert len(blocks("python")) >= 5
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), namespace)
    assert "hand" in capsys.readouterr().out


def test_the_five_line_loop_plays_a_game_to_its_end() -> None:
    """After the loop every agent has left and the game has a result."""
    namespace: dict[str, object] = {}
    exec(compile(blocks("python")[0], "README.md", "exec"), namespace)
    env = namespace["env"]
    assert env.agents == []
    assert env.unwrapped.record.outcome in ("won", "truncated")


def write() -> None:
    """Put the tables and outputs of this machine into the README."""
    import tempfile

    text = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        main_job = run_main_job(Path(folder))
    outputs = iter((main_job, layout_block()))
    text = re.sub(r"(```text\n).*?(```)", lambda m: m[1] + next(outputs) + m[2], text, flags=re.S)
    table = r"VARIANTS|\| \| `cincinnati_v0`.*?\n(?=\n)"
    text = re.sub(
        table, lambda m: variants_table() + ("" if m[0] == "VARIANTS" else "\n"), text, flags=re.S
    )
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/project/test_readme.py --write")
    write()
