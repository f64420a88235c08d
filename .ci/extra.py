"""Install an extra, use it once while no other is installed, then run all its tests.

    python .ci/extra.py               # print the names of the extras, except `test` and `docs`
    python .ci/extra.py extra-minari  # in a new environment: `tox -e extra-minari`

The use of an extra is the function of its name; for an adapter, the blocks of the adapters' guides
that import it. An extra without either is an error.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

from check_types import ROOT, STAND_ALONE

TESTS = {  # of the other extras: the tests of the adapter of this name and of its script
    "train": ["tests/learning", "tests/scripts", "tests/adapters/test_trainer_scripts.py"],
    "ray": ["tests/evaluation", "tests/scripts"],
    "data": ["tests/datasets"],
    "minari": ["tests/datasets"],
    "plot": ["tests/evaluation/test_tournament.py"],
    "render": ["tests/records/test_render.py"],
    "web": ["tests/web"],
    "completion": ["tests/cli/test_screens.py"],
    "cuda": [
        "tests/envs/test_vector_device.py",
        "tests/evaluation/test_selfplay.py",
        "tests/scripts/test_train_ppo.py",
    ],
}
NOISE = re.compile(r"Traceback|Illegal move made", re.IGNORECASE)
BIDEUCHRE = (sys.executable, "-m", "bideuchre_env")


def extras() -> list[str]:
    """Return the names of the extras of pyproject.toml, except `test` and `docs`."""
    text = ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8")
    _, _, section = text.partition("[project.optional-dependencies]\n")
    names = re.findall(r"^(\w+) = \[", section.partition("\n[")[0], re.M)
    return [name for name in names if name not in ("test", "docs")]


def run(*command: str) -> None:
    """Run a command and print its output; exit if it fails.

    A traceback in the output, or a warning of illegal moves, is a failure, too.
    """
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, flush=True)
    if done.returncode or NOISE.search(done.stdout):
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}, or a line it should not print")


def plot() -> None:
    run(*BIDEUCHRE, "tournament", "random", "cautious", "--boards", "20", "--out", "t")
    assert Path("t/results-dark.svg").is_file()


def render() -> None:
    import bideuchre_env

    env = bideuchre_env.cincinnati_v0(render_mode="rgb_array")
    env.reset(seed=1)
    print(env.render().shape)


def data(out: str = "games.parquet") -> None:
    """Export two agents' games to `out`, a file or a Minari dataset."""
    run(*BIDEUCHRE, "selfplay", "random", "cautious", "--games", "4", "--out", "games.jsonl")
    run(*BIDEUCHRE, "export", "games.jsonl", out, "--episode", "hand")


def minari() -> None:
    os.environ["MINARI_DATASETS_PATH"] = os.getcwd()
    data("minari:bideuchre/first-v0")
    import minari

    print(minari.load_dataset("bideuchre/first-v0").total_steps)


def web() -> None:
    """Start a game in the browser, load its page, and end the server by Ctrl-C."""
    game = ("play", "--web", "--port", "0", "--partner", "rule", "--opponents", "rule")
    server = subprocess.Popen(
        [*BIDEUCHRE, *game, "--adviser", "rule"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    while not lines or not lines[-1].startswith("Open it"):
        lines.append(server.stdout.readline())
        assert lines[-1], lines
    link = re.search(r"http://\S+", "".join(lines))[0]
    with urlopen(link) as page:
        print(page.status, len(page.read()))
    server.send_signal(signal.SIGINT)
    print(server.stdout.read())
    assert server.wait() == 0


def completion() -> None:
    run(*BIDEUCHRE, "--print-completion", "bash")


def train() -> None:
    nets = ("--hidden", "16", "--hidden-auction", "8", "--minibatch", "256", "--hands", "32")
    boards = ("--boards", "2", "--final-boards", "2", "--opponents", "cautious")
    script = str(ROOT / "experiments" / "train_ppo.py")
    run(sys.executable, script, *nets, *boards, "--millions", "0.006", "--out", "ppo")
    run(*BIDEUCHRE, "match", "ppo:weights=ppo/weights.npz", "random", "--boards", "20")


def ray() -> None:
    run(*BIDEUCHRE, "match", "random", "cautious", "--boards", "20", "--ray")


def cuda() -> None:
    import bideuchre_env

    try:
        vec = bideuchre_env.cincinnati_v0.vec(64, device="cuda")
    except bideuchre_env.errors.OptionError as error:
        print(f"no first use of cuda: {error}")
    else:
        vec.reset(seed=1)


def supersuit() -> None:
    import numpy as np
    import supersuit

    import bideuchre_env

    env = bideuchre_env.cincinnati_v0(observation="flat", episode="hand")
    env = supersuit.frame_stack_v1(supersuit.dtype_v0(env, np.float64), 3)
    env.reset(seed=1)
    print(env.last()[0].shape)


def adapter(name: str) -> None:
    """Run the blocks of the adapters' guides that import adapter `name`; fail if there is none."""
    text = "".join((ROOT / page).read_text(encoding="utf-8") for page in STAND_ALONE)
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    own = [block for block in blocks if re.search(rf"adapters[. ](import )?{name}\b", block)]
    assert own, f"{name}: no first use of this extra is known"
    for block in own:
        run(sys.executable, "-c", block)


def tests_of(name: str) -> list[str]:
    """Return the test files of an extra."""
    adapter_tests = [f"tests/adapters/test_{name}.py", "tests/adapters/test_trainer_scripts.py"]
    return TESTS.get(name, adapter_tests)


def use(name: str) -> None:
    """Use an extra once, in a new temporary folder."""
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else Ray writes a token at home
    os.chdir(tempfile.mkdtemp())
    first_use = globals().get(name)
    if callable(first_use):
        first_use()
    else:
        adapter(name)


def main() -> None:
    """Print the extras, or install, use and test the one on the command line."""
    if len(sys.argv) == 1:
        print(*extras())
        return
    name = sys.argv[1].removeprefix("extra-")
    if name not in extras():
        sys.exit(f"{name}: expected one of {', '.join(extras())}")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "-e")
    subprocess.run([*pip, f"{ROOT}[{name}]"], check=True)
    use(name)
    others = ",train" if name == "cuda" else ""
    subprocess.run([*pip, f"{ROOT}[test,{name}{others}]"], check=True)
    pytest = (sys.executable, "-m", "pytest", "-q")
    for arguments in (
        ["-m", "long or not long", *tests_of(name)],
        ["tests/project/test_guides.py", "-k", "adapter"],
    ):
        subprocess.run([*pytest, *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
