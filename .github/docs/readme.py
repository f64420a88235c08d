"""Generate the figures, tables, printed outputs and the version of three pages.

The pages are the README and those of environments and experiments.
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
from itertools import groupby
from pathlib import Path

import bideuchre_env
from bideuchre_env.envs.manual import table
from bideuchre_env.envs.options import METHOD_OPTIONS

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
ENVS = ROOT / "bideuchre_env" / "envs" / "README.md"
EXPERIMENTS = ROOT / "experiments" / "README.md"
RESULTS = ROOT / "experiments" / "results"
TRAINERS = {  # by script: call, extra
    "cleanrl_ppo": ("`GAME.vec(512)`", "train"),
    "sb3_maskable_ppo": ("`adapters.sb3.SelfPlayVecEnv(512, GAME)`", "sb3"),
    "torchrl_ppo": ("`adapters.torchrl.SelfPlayEnv(GAME, 512)`", "torchrl"),
    "rllib_ppo": ("`adapters.rllib.SelfPlayConfig`", "rllib"),
    "tianshou_ppo": ("`adapters.tianshou.Seats(GAME, 128)`", "tianshou"),
    "agilerl_ppo": ("`adapters.agilerl.SelfPlayVec(GAME, 512)`", "agilerl"),
}
OWN = ("`train_ppo.py`", "train")
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
        f"- **Fast**: {env / 1e3:.0f} thousand decisions per second in `env()`, {connect_four} "
        f"times PettingZoo's connect four;\n"
        f"  {vec / 1e6:.0f} million with 4,096 games at once, {bridge} times the bridge bidding of "
        "pgx (on JAX);\n"
        f"  {hands / 1e6:.0f} million in one compiled loop, {euchre} times OpenSpiel's euchre in "
        "C++\n  ([one core](benchmarks/README.md#comparison-with-other-libraries) of an "
        f"{report['machine']['processor']})."
    )


def trainers(columns: int | None = None) -> str:
    """Return the table of trainers, or its first columns, from the results of the experiments."""
    heads = ("trainer", "minutes", "points per hand over `rule`")
    heads += ("decisions", "call (`GAME`: a variant) or script", "extra")
    with (RESULTS / "ppo" / "cincinnati_v0-seed1.csv").open() as curve:
        last = {name: float(text) for name, text in list(csv.DictReader(curve))[-1].items()}
    page = (RESULTS / "evaluate" / "ppo.md").read_text("utf-8")  # Cincinnati comes first
    over = page.partition("| over rule |")[2].partition("| ppo | ")[2].partition(" |")[0]
    rows = [trainer("`ppo`", last["decisions"], last["processor"], over, OWN)]
    for script, words in TRAINERS.items():
        made = json.loads((RESULTS / "trainers" / f"{script}.json").read_text("utf-8"))
        name = f"{NAMES[made['library']]} {made['version'].partition('+')[0]}"
        seconds = made["decisions"] / made["decisions per second"]
        points = made["points per hand over"]["rule"]
        over = f"{points['mean']:+.2f} ± {(points['high'] - points['low']) / 2:.2f}"
        rows.append(trainer(name, made["decisions"], seconds, over, words))
    return "\n".join(table(heads[:columns], [row[:columns] for row in rows])) + "\n"


def trainer(
    name: str, decisions: float, seconds: float, over: str, words: tuple[str, str]
) -> tuple[str, ...]:
    """Return a row of the table of trainers."""
    call, extra = words
    return name, f"{seconds / 60:.0f}", over, f"{decisions / 1e6:.1f} M", call, f"`{extra}`"


def variants() -> str:
    """Return the table of variants from the page of the rules, with links that fit the README."""
    page = (ROOT / "bideuchre_env" / "rules" / "README.md").read_text("utf-8")
    table = page.partition("<!-- variants -->\n")[2].partition("<!-- end -->")[0]
    return re.sub(r"\]\((\w+\.md)\)", r"](bideuchre_env/rules/\1)", table)


def citation() -> str:
    """Return the version in the BibTeX entry."""
    return f"version = {{{bideuchre_env.__version__}}}"


def keywords() -> str:
    """Return a table of the keywords of the environments, by the methods that take them."""
    rows = [
        tuple(", ".join(f"`{name}`" for name in names) for names in (methods, sorted(kind.names())))
        for kind, methods in groupby(METHOD_OPTIONS, METHOD_OPTIONS.__getitem__)
    ]
    return "\n".join(table(("method", "keywords"), rows)) + "\n"


def layout_block() -> str:
    """Return the observation layout of Cincinnati, as `print` shows it."""
    return f"{bideuchre_env.cincinnati_v0.raw_env().observation_layout}\n"


def main_job(folder: Path) -> str:
    """Run the last command of the README's first `sh` block in a folder; return its output."""
    program, *arguments = shlex.split(blocks("sh")[0].rpartition("&& ")[2])
    command = [Path(sys.executable).parent / program, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def excerpt(output: str) -> str:
    """Return the lines on points and contracts from the output of `main_job`."""
    return output.partition("hands\n")[2].partition("\n\nspeed")[0] + "\n"


def parts() -> dict[Path, dict[str, str]]:
    """Return the parts between marks, such as `<!-- figures -->`, by page and word of the mark."""
    readme = {"figures": figures(), "variants": variants(), "trainers": trainers(3)}
    return {README: readme, ENVS: {"keywords": keywords()}, EXPERIMENTS: {"trainers": trainers()}}


def write() -> None:
    """Generate the parts of the pages anew, and write the pages."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = {README: excerpt(main_job(Path(folder))), ENVS: layout_block()}
    for page, marked in parts().items():
        text = page.read_text(encoding="utf-8")
        for name, part in marked.items():
            marks = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
            text = re.sub(marks, lambda m, p=part: m[1] + p + m[2], text, flags=re.S)
        if page in outputs:
            text = re.sub(
                r"(```text\n).*?(```)",
                lambda m, o=outputs[page]: m[1] + o + m[2],
                text,
                count=1,
                flags=re.S,
            )
        if page is README:
            text = re.sub(r"version = \{.*?\}", citation(), text)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python .github/docs/readme.py --write")
    write()
