"""Generate the figures, tables, printed outputs and the version of two pages.

The pages are `README.md` and `bideuchre_env/envs/README.md`.
`python .github/docs/readme.py --write` writes these parts anew after a change.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import bideuchre_env

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
ENVS = ROOT / "bideuchre_env" / "envs" / "README.md"
TRAINERS = {  # by script: call, learners, extra
    "cleanrl_ppo": ("`GAME.vec(512)`", "four seats", "train"),
    "sb3_maskable_ppo": ("`adapters.sb3.SelfPlayVecEnv(512, GAME)`", "four seats", "sb3"),
    "torchrl_ppo": ("`adapters.torchrl.SelfPlayEnv(GAME, 512)`", "four seats", "torchrl"),
    "rllib_ppo": ("`adapters.rllib.SelfPlayConfig`", "four seats", "rllib"),
    "tianshou_ppo": ("`adapters.tianshou.Seats(GAME, 128)`", "four seats", "tianshou"),
    "agilerl_ppo": ("`adapters.agilerl.SelfPlayVec(GAME, 512)`", "four seats", "agilerl"),
}
OWN = ("[`ppo`](agents/README.md)", "`experiments/train_ppo.py`", "four seats", "`train`")
NAMES = {
    "sb3-contrib": "SB3, sb3-contrib",
    "torch": "CleanRL's way, torch",
    "agilerl": "AgileRL",
    "torchrl": "TorchRL",
    "tianshou": "Tianshou",
    "ray": "RLlib, ray",
}


def blocks(language: str, page: Path = README) -> list[str]:
    """Return the contents of a page's code blocks in one language."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.S)


def figures() -> str:
    """Return the README's list item of measured figures, from `benchmarks/results/peers.json`."""
    report = json.loads((ROOT / "benchmarks" / "results" / "peers.json").read_text("utf-8"))
    rows = {(row["group"], row["name"]): row for row in report["figures"]}
    env, vec, hands = (
        rows["bideuchre_env", name]["median"]
        for name in ("AEC env()", "vec, 4,096 rows, actions drawn", "rollouts")
    )
    connect_four, bridge, euchre = (
        f"{rows[name]['ratio']:.2g}"
        for name in (
            ("PettingZoo classic", "connect_four env()"),
            ("pgx on JAX, CPU", "bridge_bidding, 4,096 rows"),
            ("OpenSpiel", "euchre, C++ rollouts after the deal"),
        )
    )
    return (
        f"- **Fast**: {env / 1e3:.0f} thousand decisions/s in `env()`, {connect_four} times "
        f"PettingZoo's connect four; {vec / 1e6:.0f} million in\n"
        f"  `vec(4096, copy=False)`, {bridge} times pgx's bridge bidding; {hands / 1e6:.0f} "
        f"million in rollouts, {euchre} times OpenSpiel's\n"
        f"  euchre in C++ ([one core](benchmarks/README.md#comparison-with-other-libraries) of an "
        f"{report['machine']['processor']})."
    )


def trainers() -> str:
    """Return the table of trainers, from the results in `experiments/results/trainers/`."""
    lines = [
        "| trainer | call (`GAME`: a variant) | learners | extra | decisions | minutes "
        "| points per hand over `rule` |",
        "|---|---|---|---|---|---|---|",
    ]
    for script, (call, learners, extra) in TRAINERS.items():
        path = ROOT / "experiments" / "results" / "trainers" / f"{script}.json"
        made = json.loads(path.read_text("utf-8"))
        name = f"{NAMES[made['library']]} {made['version'].partition('+')[0]}"
        decisions, over = made["decisions"], made["points per hand over"]["rule"]
        minutes = f"{decisions / made['decisions per second'] / 60:.0f}"
        points = f"{over['mean']:+.2f} ± {(over['high'] - over['low']) / 2:.2f}"
        numbers = (f"{decisions / 1e6:.1f} M", minutes, points)
        lines.append(f"| {' | '.join((name, call, learners, f'`{extra}`', *numbers))} |")
    with (ROOT / "experiments" / "results" / "ppo" / "cincinnati_v0-seed1.csv").open() as curve:
        last = list(csv.DictReader(curve))[-1]
    points, low, high = (float(last[f"rule {name}"]) for name in ("points", "low", "high"))
    numbers = (
        f"{float(last['decisions']) / 1e6:.1f} M",
        f"{float(last['processor']) / 60:.0f}",
        f"{points:+.2f} ± {(high - low) / 2:.2f}",
    )
    lines.insert(2, f"| {' | '.join((*OWN, *numbers))} |")
    return "\n".join(lines) + "\n"


def variants() -> str:
    """Return the table of variants from the page of the rules, with links that fit the README."""
    page = (ROOT / "bideuchre_env" / "rules" / "README.md").read_text("utf-8")
    table = page.partition("<!-- variants -->\n")[2].partition("<!-- end -->")[0]
    return re.sub(r"\]\((\w+\.md)\)", r"](bideuchre_env/rules/\1)", table)


def citation() -> str:
    """Return the version in the BibTeX entry."""
    return f"version = {{{bideuchre_env.__version__}}}"


def layout_block() -> str:
    """Return the observation layout of Cincinnati, as `print` shows it."""
    return f"{bideuchre_env.cincinnati_v0.raw_env().observation_layout}\n"


def main_job(folder: Path) -> str:
    """Run the command after `&&` in the README's first `sh` block in a folder; return its text."""
    program, *arguments = shlex.split(blocks("sh")[0].partition("&& ")[2])
    command = [Path(sys.executable).parent / program, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def excerpt(output: str) -> str:
    """Return the lines on points and contracts from the output of `main_job`."""
    return output.partition("hands\n")[2].partition("\n\nspeed")[0] + "\n"


def write() -> None:
    """Generate the parts of both pages anew, and write the pages."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = {README: excerpt(main_job(Path(folder))), ENVS: layout_block()}
    for page, output in outputs.items():
        text = page.read_text(encoding="utf-8")
        text = re.sub(
            r"(```text\n).*?(```)", lambda m, o=output: m[1] + o + m[2], text, count=1, flags=re.S
        )
        if page is README:
            for name, part in (("figures", figures()), ("variants", variants())):
                marks = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
                text = re.sub(marks, lambda m, p=part: m[1] + p + m[2], text, flags=re.S)
            marks = r"\| trainer \|.*?(?=\n## )"
            text = re.sub(marks, lambda _: trainers(), text, flags=re.S)
            text = re.sub(r"version = \{.*?\}", citation(), text)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python .github/docs/readme.py --write")
    write()
