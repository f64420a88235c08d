"""The table of published figures fits the tree, and its script finds and renews stale figures."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

import pytest
from support.commands import ROOT, load_scripts

from bideuchre_env.cli.main import build_parser

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the script imports tomllib")

WRITTEN = {"generated", "pages", "files", "sources", "commands"}
RECORDED = {"version", "date", "machine", "minutes", "source", "digest", "copied"}
RESULTS = ("experiments/ladder.json", "experiments/results/*", "benchmarks/results/*")
TRAINING = r"experiments/results/(ppo|learn_cards)/"  # curves, which belong to the data files


@pytest.fixture
def published():
    with load_scripts(".ci", "published") as [module]:
        yield module


def git(*arguments, where=ROOT):
    done = subprocess.run(["git", *arguments], cwd=where, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_figure_has_sections_sources_and_commands_that_exist(published):
    for name, figure in published.load().items():
        assert WRITTEN - {"generated", "pages"} <= figure.keys() <= WRITTEN | RECORDED, name
        for page in (*figure.get("generated", ()), *figure.get("pages", ())):
            published.section(page)
        for source in figure["sources"]:
            assert source.startswith(":!") or git("ls-files", "--", source), f"{name}: {source}"
        for script in re.findall(r"python\S* ([\w./]+\.py)", " ".join(figure["commands"])):
            assert (ROOT / script).is_file(), f"{name}: {script}"


def test_the_commands_have_options_of_the_command_line(published):
    commands = [command for figure in published.load().values() for command in figure["commands"]]
    lines = re.findall(r"bideuchre [^|;>\n]*", "\n".join(commands))
    assert len(lines) > 5
    for line in lines:
        assert build_parser().parse_args(shlex.split(line.replace("$variant", "pepper_v0"))[1:]).run


def test_every_file_of_results_is_of_one_figure(published):
    files = [name for figure in published.load().values() for name in figure["files"]]
    assert len({*files}) == len(files)
    results = {name for name in git("ls-files", "--", *RESULTS) if not name.endswith("README.md")}
    assert {name for name in results if not re.match(TRAINING, name)} <= {*files}


def test_comments_and_docstrings_are_no_sources(published):
    def hashed(text):
        return repr(published.outline(published.ast.parse(text)))

    code = 'class A:\n    """Text."""\n\n    x = None  # why\n    """Text."""\n'
    assert hashed(code) == hashed("class A:\n    x = None")
    assert hashed(code) != hashed("class A:\n    x = 0")
    assert hashed("x = 'a'") != hashed("x = 'b'")


TABLE = """\
# A comment.

[groups]
code = ["code", ":!code/other.py"]

[points]
pages = ["page.md#points-per-hand"]
files = ["points.txt"]
sources = ["code"]
commands = ["echo first >> log; cat code/a.py > points.txt", "test ! -e stop; echo $RUNS >> log"]

[speed]
files = ["speed.json"]
sources = ["speed.py"]
commands = ['''echo '{"machine": "CPU, bideuchre_env 9.1"}' > speed.json''']
"""
PAGE = "# Points per hand\n\n| [rule](7.md) | +0.5 |\n\n# Other\n\n3\n"


@pytest.fixture
def tree(published, tmp_path, monkeypatch):
    """A small repository with a table of two figures."""
    (tmp_path / "code").mkdir()
    for name in ("code/a.py", "code/other.py", "speed.py"):
        (tmp_path / name).write_text("x = 1\n")
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "published.toml").write_text(TABLE)
    git("init", "-q", where=tmp_path)
    monkeypatch.setattr(published, "ROOT", tmp_path)
    monkeypatch.setattr(published, "TABLE", tmp_path / "published.toml")
    return tmp_path


def stale(published, capsys):
    """Return the names of the stale figures and the reason of each, as the script prints them."""
    capsys.readouterr()
    status = published.main(["--check"])
    *lines, _ = capsys.readouterr().out.splitlines()
    assert status == (len(lines) > 0)
    return {name: reason for name, _, reason in (line.partition(": ") for line in lines)}


needs_bash = pytest.mark.skipif(os.name == "nt", reason="commands run in bash")


@needs_bash
def test_figures_are_renewed_and_become_stale(published, tree, capsys):
    assert {*stale(published, capsys)} == {"points", "speed"}
    assert published.main(["all"]) == 0
    reasons = stale(published, capsys)
    assert {*reasons} == {"points"}
    assert reasons["points"].startswith("compare with the results: page.md#points-per-hand")
    assert published.main(["--copied", "points"]) == 0
    assert stale(published, capsys) == {}
    table = published.TABLE.read_text()
    assert table.startswith("# A comment.\n\n[groups]")
    figures = published.load()
    assert figures["points"].keys() >= RECORDED
    assert "machine" not in figures["speed"]
    assert published.stated(figures["speed"]) == {"version": "9.1", "machine": "CPU"}

    changes = {
        "code/a.py": ("x = 2\n", "its sources or commands have changed"),
        "points.txt": ("x = 3\n", "its files have been changed by hand"),
        "page.md": (PAGE.replace("0.5", "0.6"), "compare with the results"),
    }
    harmless = {
        "code/a.py": '"""Text."""\nx = 1  # why\n',
        "code/other.py": "y = 1\n",
        "page.md": PAGE.replace("rule", "expert").replace("7", "8").replace("3", "4"),
    }
    for name, (text, reason) in changes.items():
        before = (tree / name).read_text()
        (tree / name).write_text(text)
        assert stale(published, capsys)["points"].startswith(reason)
        (tree / name).write_text(before)
    for name, text in harmless.items():
        (tree / name).write_text(text)
    assert stale(published, capsys) == {}
    published.TABLE.write_text(published.TABLE.read_text().replace("cat code", "cat -u code"))
    assert stale(published, capsys).keys() == {"points"}


@needs_bash
def test_a_figure_without_its_files_begins_anew(published, tree, capsys):
    table = published.TABLE.read_text()
    published.TABLE.write_text(table.replace("cat code/a.py >", "test -e go || exit 0; cat go >"))
    assert published.main(["points"]) == 1
    assert "points.txt" in capsys.readouterr().err
    (tree / "go").write_text("x = 4\n")
    assert published.main(["points"]) == 0
    assert (tree / "points.txt").read_text() == "x = 4\n"


@needs_bash
def test_a_stopped_figure_resumes_unless_its_sources_change(published, tree, capsys):
    (tree / "stop").touch()
    assert published.main(["points", "speed"]) == 1
    assert {*stale(published, capsys)} == {"points"}
    (tree / "stop").unlink()
    assert published.main(["points"]) == 0
    log = (tree / "log").read_text().splitlines()
    assert log[0] == "first"
    assert len(log) == 2
    assert published.main(["--copied", "points"]) == 0
    (tree / "stop").touch()
    assert published.main(["points"]) == 1
    (tree / "stop").unlink()
    (tree / "code" / "a.py").write_text("x = 2\n")
    assert published.main(["points"]) == 0
    again = (tree / "log").read_text().splitlines()
    assert again[2:4] == ["first", "first"]
    assert log[1].startswith("runs/figures/points-")
    assert again[4] != log[1]
    assert (tree / "points.txt").read_text() == "x = 2\n"


@needs_bash
def test_a_stopped_run_ends_its_command(published, tree):
    def stop():
        while not (tree / "began").exists():
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(KeyboardInterrupt):
        published.run("touch began; sleep 60; touch ended", tree)
    stopper.join()
    assert not (tree / "ended").exists()


def test_an_unknown_figure_is_refused(published, tree, capsys):
    with pytest.raises(SystemExit):
        published.main(["nothing"])
    assert "nothing: expected all, or some of points, speed" in capsys.readouterr().err
