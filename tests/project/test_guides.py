"""What a newcomer reads is true: links lead somewhere, names stand in the files they are looked for
in, commands are those of the README and of CI, code runs, pictures show what the kernels do.

In a guide, names in brackets behind a link, `[step.py](step.py) (`apply`)`, are in that file.
"""

import ast
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.playthroughs import VARIANTS

import bideuchre_env
from bideuchre_env.agents.search.agent import PimcAgent
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.one_row import mask_row, next_row, start_row, step_row
from bideuchre_env.core.rows import seed_rows
from bideuchre_env.core.state import Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions

ROOT = Path(__file__).resolve().parents[2]
PLACES = (".github", "agents", "benchmarks", "bideuchre_env", "experiments", "tests")
CONTRIBUTING = ROOT / ".github" / "CONTRIBUTING.md"
CORE = ROOT / "bideuchre_env" / "core"
ADAPTERS = "bideuchre_env/adapters/README.md"  # its examples stand alone, and need extras
ROOMS = (
    "agents",
    "tests",
    *(
        f"bideuchre_env/{n}"
        for n in (
            "rules",
            "core",
            "solver",
            "learning",
            "envs",
            "adapters",
            "datasets",
            "evaluation",
        )
    ),
)
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)(?:\s+\(((?:`[^`]+`(?:,\s+)?)+)\))?")


def guides():
    """Every page of the tree, by its path from the top folder."""
    found = {path.resolve() for place in PLACES for path in (ROOT / place).rglob("*.md")}
    found |= set(ROOT.glob("*.md"))
    return sorted(str(path.relative_to(ROOT)) for path in found)


def links(guide):
    """(file or folder, anchor, names behind it) of every link of a guide into the tree."""
    text = (ROOT / guide).read_text(encoding="utf-8")
    for target, names in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            place = (ROOT / guide).parent / path if path else ROOT / guide
            yield place.resolve(), anchor, re.findall(r"`([^`]+)`", names)


def anchors(path):
    """The anchors of the headings of a page, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def defines(path, name):
    """Whether a file says what this name is: a definition, a value, a field or an option."""
    pattern = rf"\b(?:def|class) {name}\b|\b{name}\s*[:=,]|\"{name}\""
    return bool(re.search(pattern, path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("guide", guides())
def test_links_lead_somewhere_and_names_are_there(guide):
    """Files, folders, headings, and what is to be looked for in a file."""
    for path, anchor, names in links(guide):
        assert path.exists(), f"{guide}: {path.relative_to(ROOT)}"
        assert not anchor or anchor in anchors(path), f"{guide}: {path.name}#{anchor}"
        for name in names:
            assert defines(path, name), f"{guide}: {name} is not in {path.relative_to(ROOT)}"


def test_the_check_of_names_finds_what_is_missing():
    """One that is there, one that is not, a guide with names behind its links."""
    assert defines(CORE / "step.py", "apply")
    assert not defines(CORE / "step.py", "appl")
    assert any(names for _, _, names in links(".github/CONTRIBUTING.md"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_where_to_go_next(room):
    """Its page ends so, with links."""
    text = (ROOT / room / "README.md").read_text(encoding="utf-8")
    last = text.split("\n## ")[-1]
    assert last.startswith("Where next\n")
    assert LINK.search(last)


def code_of(guide, language):
    """The blocks of code of a guide."""
    text = (ROOT / guide).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


@pytest.mark.parametrize(
    "guide", [page for room in ROOMS if (page := f"{room}/README.md") != ADAPTERS]
)
def test_the_code_of_a_room_runs(guide, capsys, tmp_path, monkeypatch):
    """Block after block, as a reader would paste them."""
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in code_of(guide, "python"):
        exec(compile(block, guide, "exec"), scope)
    if code_of(guide, "python"):
        assert "print" not in "".join(code_of(guide, "python")) or capsys.readouterr().out


@pytest.mark.parametrize("block", code_of(ADAPTERS, "python"))
def test_the_code_of_an_adapter_runs(block, capsys):
    """Each example by itself, if the library that it is for is installed."""
    try:
        exec(compile(block, ADAPTERS, "exec"), {})
    except ModuleNotFoundError as error:
        if error.name.startswith("bideuchre_env"):
            raise
        pytest.skip(f"needs {error.name}")
    assert capsys.readouterr().out


def test_an_agent_of_ones_own_plays_from_the_shell(tmp_path):
    """The file and the command of the agents' page, as they stand there."""
    [file] = [block for block in code_of("agents/README.md", "python") if "# mine.py" in block]
    [command] = commands_of(code_of("agents/README.md", "sh")[0])
    (tmp_path / "mine.py").write_text(file, encoding="utf-8")
    done = subprocess.run(
        [Path(sys.executable).parent / "bideuchre", *shlex.split(command)[1:]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    heading, *_ = done.stdout.splitlines()
    assert heading.startswith("./mine.py:Mine against ./mine.py:Mine:aces=2, cincinnati_v0")
    points = re.search(r"points per hand +\S+ (\S+) +95 % interval (\S+)", done.stdout)
    assert float(points[1]) == pytest.approx(0.9, abs=0.3)
    assert float(points[2]) > 0


def commands_of(text):
    """The commands of lines of a shell, without comments."""
    lines = [line.split(" #")[0] for line in text.splitlines()]
    return [command.strip() for line in lines for command in line.split("&&") if command.strip()]


def test_the_five_commands_are_those_of_the_readme_and_of_ci():
    """Install, test, one test, lint, bench; each as it stands there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    known = set(re.findall(r"(?<!`)`([^`\n]+)`(?!`)", readme))
    known |= set(commands_of((ROOT / ".ci" / "run").read_text(encoding="utf-8")))
    for block in code_of("README.md", "sh"):
        known |= set(commands_of(block))
    [block] = code_of(".github/CONTRIBUTING.md", "sh")
    lines = block.splitlines()
    assert [line.split("# ")[1] for line in lines] == [
        "install",
        "test",
        "one test",
        "lint",
        "bench",
    ]
    [one_test] = commands_of(lines[2])
    for command in commands_of(block):
        assert command == one_test or command in known, command
    path, option, word = shlex.split(one_test.removeprefix("python -m pytest "))
    assert option == "-k"
    assert re.search(rf"^def test_\w*{word}", (ROOT / path).read_text(encoding="utf-8"), re.M)


def test_the_writers_run():
    """Every command that writes files anew, without its last word, says how it is used."""
    text = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\| `(.* --write)` \|", text, re.M)
    assert len(commands) == 4
    for command in commands:
        *setting, _, script, _ = shlex.split(command)
        environment = dict(pair.split("=") for pair in setting)
        done = subprocess.run(
            [sys.executable, script],
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert done.stderr.startswith("usage: ")


def test_the_options_of_the_searchers():
    """The agents' page has every number that `pimc` and `inference` take, but the seed."""
    told = re.findall(r"^\| `(\w+)` \|", (ROOT / "agents" / "README.md").read_text("utf-8"), re.M)
    listed = [name for name in told if name not in bideuchre_env.agents.names()]
    taken = inspect.signature(PimcAgent).parameters.values()
    options = [each.name for each in taken if each.kind is each.KEYWORD_ONLY]
    assert listed == [name for name in options if name not in ("seed", "clock")]
    assert [name for name in told if name not in listed] == list(bideuchre_env.agents.names())


def drawn_steps():
    """(phase, next phase) for every arrow of the core's picture."""
    [picture] = code_of("bideuchre_env/core/README.md", "mermaid")
    return {
        (Phase[before], Phase[after])
        for before, after in re.findall(r"^ +(\w+) --> (\w+) :", picture, re.M)
    }


def games():
    """Rules that between them have every way through a hand."""
    for name in VARIANTS:
        yield bideuchre_env.variants[name].rules
    yield bideuchre_env.barrie_v0.rules.replace(strain_named="after_auction", max_hands=2)
    yield bideuchre_env.barrie_v0.rules.replace(max_hands=1)


def steps_of_a_game(rules, seed):
    """(phase, next phase) for every action and deal of a game; half the calls are passes."""
    rng = np.random.default_rng(seed)
    states, tables, offsets = new_states(1), compile_tables(rules), layout_of(rules).offsets
    view, mask = np.zeros(layout_of(rules).size, np.int8), np.zeros(actions.of(rules).n, np.int8)
    seed_rows(states, np.uint64(seed), np.uint64(0))
    start_row(states, -1, 0, 0)
    met, phase = set(), Phase.DEAL
    while phase != Phase.OVER:
        if phase == Phase.DEAL:
            next_row(states, tables, offsets, view, mask)
        else:
            mask_row(states, tables, mask)
            choice = 0 if mask[0] and rng.random() < 0.5 else rng.choice(np.flatnonzero(mask))
            step_row(states, tables, int(choice))
        after = Phase(int(states[0]["phase"]))
        met.add((phase, after))
        phase = after
    return met


def test_the_picture_of_the_phases_is_what_the_kernels_do():
    """Every arrow is met in play, and nothing else is."""
    met = set()
    for rules in games():
        for seed in range(20):
            met |= steps_of_a_game(rules, seed)
    assert met == drawn_steps()


def test_imports_in_the_core_go_down_the_list():
    """The room's page lists its files in order; a file imports from those before its group."""
    text = (CORE / "README.md").read_text(encoding="utf-8")
    listed = text.partition("go down this list only:")[2].partition(".\n")[0]
    groups = [re.findall(r"\]\(([^)]+)\)", group) for group in listed.split("·")]
    place = {
        path.resolve(): number
        for number, group in enumerate(groups)
        for name in group
        for path in (CORE.joinpath(name).parent.rglob("*.py") if "/" in name else [CORE / name])
    }
    assert set(place) | {CORE / "__init__.py"} == set(CORE.rglob("*.py"))
    for path, number in place.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = getattr(node, "module", None) or ""
            if isinstance(node, ast.ImportFrom) and module.startswith("bideuchre_env.core"):
                inner = ROOT / (module.replace(".", "/") + ".py")
                assert place[inner] <= number, f"{path.name} imports {module}"
