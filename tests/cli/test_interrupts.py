"""SIGTERM in every command: finished work is printed and saved, and no temporary file is left."""

import json
import os

import pytest
from support.commands import python

import bideuchre_env
from bideuchre_env.cli.completion import commands_of
from bideuchre_env.cli.main import build_parser
from bideuchre_env.cli.short_names import present

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="POSIX signals")]

STEP = "bideuchre_env.evaluation.lockstep:LockstepRunner._step"
MATCHES = "bideuchre_env.evaluation.tournament:match"
PAIR = ("--variant", "six_card_v0", "cautious", "random")
FIELD = ("--variant", "six_card_v0", "--boards", "40", "--out", "x")
HAND = ("--hand", "JH JD AH KH QS 9C", "--seat", "3", "--calls", "pass, 4, pass")
TABLES = ["x/results.csv", "x/results.json", "x/results.md"]
ONE_MATCH = "1 finished matches are saved"
CASES = {
    "play": (["--file", "x.json"], "bideuchre_env.play.terminal:Terminal._line", 1),
    "selfplay": ([*PAIR, "--out", "x.jsonl"], STEP, 900),
    "match": ([*PAIR, "--boards", "100000", "--csv", "x.csv"], STEP, 300),
    "match --workers 2": (
        [*PAIR, "--boards", "100000", "--csv", "x.csv"],
        "bideuchre_env.evaluation.match:_Part.take",
        3,
    ),
    "tournament": ([*FIELD, "random", "cautious", "rule"], MATCHES, 2),
    "tournament --field": (["random", "rule", "--games", "0", *FIELD, "cautious"], MATCHES, 2),
    "evaluate --protocol": (["v1", "cautious", "--out", "x"], MATCHES, 2),
    "tournament --partners": (["--field", "rule", *FIELD, "cautious", "random"], MATCHES, 2),
    "agents": ([], "bideuchre_env.cli.agents:columns", 1),
    "variants": ([], "bideuchre_env.cli.variants:columns", 1),
    "check": (["games.jsonl"], "bideuchre_env.records.files:scan", 1),
    "show": (["games.jsonl"], "bideuchre_env.records.render:record_view", 1),
    "export": (["games.jsonl", "y/x.npz"], "bideuchre_env._files:Output.write", 1),
    "advise": ([*HAND], "bideuchre_env.cli.advise:compiling_bar", 1),
    "hand": (["JH JD AH KH QS 9C"], "bideuchre_env.agents.expert.hand_worth:hand_worth", 1),
    "quiz": (["--out", "y/x.html"], "bideuchre_env.cli.quiz:compiling_bar", 1),
    "boards": (["--out", "y/x.html"], "bideuchre_env.solver:makeable", 3),
    "prepare": (
        ["--variant", "six_card", "--option", "target=9"],
        "bideuchre_env.training.prepare:fit_calls",
        1,
    ),
    "bench": ([], "bideuchre_env.bench.tasks:Setup", 1),
    "compile": (["random"], "bideuchre_env.evaluation.executors:Processes._receive", 1),
}
"""By command: its arguments, a function, and the number of its call that gets SIGTERM."""
SAVED = {
    "play": ("The game is saved. Resume it with", ["x.json"]),
    "selfplay": ("Interrupted: the figures are of the boards", ["x.jsonl"]),
    "match": ("Interrupted: the figures are of the boards", ["x.csv"]),
    "match --workers 2": ("Interrupted: the figures are of the boards", ["x.csv"]),
    "tournament": (ONE_MATCH, TABLES),
    "evaluate --protocol": (
        "interrupted: the same command resumes",
        [
            "x",
            *(f"x/cincinnati_v0/{name.partition('/')[2]}" for name in (*TABLES, "x/results.tex")),
        ],
    ),
    **dict.fromkeys(
        ("tournament --field", "tournament --partners"), (ONE_MATCH, [*TABLES, "x/results.tex"])
    ),
}
"""By command, the text that is printed and the files that are saved; the others save nothing."""
PROGRAM = """
import importlib, json, os, signal, sys
from functools import reduce
from pathlib import Path
from bideuchre_env.cli.main import console
from bideuchre_env.evaluation import tournament

def start(words, place, count):
    # in a group of its own, for a signal to all processes of the command, as of a job or container
    os.setpgid(0, 0)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"../{name}", os.O_WRONLY | os.O_CREAT), number)
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner = reduce(getattr, owners, importlib.import_module(module))
    real = getattr(owner, name)

    def press(*arguments, **options):
        nonlocal count
        count -= 1
        if count == 0:
            os.killpg(0, signal.SIGTERM)
        return real(*arguments, **options)

    setattr(owner, name, press)
    tournament.write_pictures = lambda *arguments: []
    sys.argv[1:] = words
    console()

results = {}
for name, case in json.load(sys.stdin).items():
    folder = Path(name.replace(" ", "")) / "here"
    folder.mkdir(parents=True)
    Path(folder / "games.jsonl").write_bytes(Path("games.jsonl").read_bytes())
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = os.environ["TMPDIR"] = os.getcwd()
        code = 99
        try:
            start(*case)
        except SystemExit as end:
            code = end.code
        finally:
            sys.stdout.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    out, err = ((folder.parent / each).read_text() for each in ("out", "err"))
    results[name] = [code, sorted(left), out, err]
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """The exit code, files left, output and errors of each command."""
    folder = tmp_path_factory.mktemp("interrupts")
    bideuchre_env.match("six_card_v0", "random", "random", games=2, records=folder / "games.jsonl")
    cases = {name: [[*name.split(), *words], *rest] for name, (words, *rest) in CASES.items()}
    return json.loads(python("-c", PROGRAM, where=folder, text=json.dumps(cases)).stdout)


def test_every_command_has_a_case():
    names = commands_of(build_parser()).keys() - {"records"}
    covered = set()
    for name, (words, *_) in CASES.items():
        command, *more = present([*name.split(), *words])
        covered.add(f"{command} {more[0]}" if command == "records" else command)
    assert covered == names


@pytest.mark.parametrize("name", CASES)
def test_sigterm_saves_finished_work_and_leaves_no_temporary_file(ended, name):
    code, left, out, err = ended[name]
    assert code == 143, out[-2000:] + err
    text, saved = SAVED.get(name, ("", []))
    assert text in out + err
    assert "Traceback" not in err
    assert not [path for path in left if path.rpartition("/")[2].startswith(".")]
    files = {path for path in left if not path.startswith("bideuchre_env")}  # caches
    assert files == {"games.jsonl", *saved, *(path.rpartition("/")[0] for path in saved)} - {""}
