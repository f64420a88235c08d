"""The container recipe of the page on troubleshooting: built once, started by another user."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from support.commands import ROOT, python
from support.other_user import unwritable

PAGE = (ROOT / ".github" / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
UNREACHABLE = re.compile(r"NewConnectionError|name resolution")


def recipe():
    """Return the instructions of the recipe with their arguments, in order."""
    [text] = re.findall(r"```dockerfile\n(.*?)```", PAGE, re.S)
    lines = (line.partition(" ") for line in text.splitlines() if not line.startswith("#"))
    return [(instruction, rest) for instruction, _, rest in lines]


def copy_checkout(folder):
    """Copy the files that git does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(os.path.lexists, listed.splitlines()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def files(*folders):
    """Return the files in folders, with the times of their last changes."""
    paths = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {path: path.stat().st_mtime_ns for path in paths}


@pytest.fixture
def image():
    """A folder, open to every user, with an environment of Python that finds all dependencies."""
    with tempfile.TemporaryDirectory() as name:  # pytest's folders are closed to other users
        folder = Path(name)
        folder.chmod(0o755)
        python("-m", "venv", folder / "venv")
        [packages] = (folder / "venv").rglob("site-packages")
        (packages / "outer.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
        yield folder


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no containers")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the recipe needs a checkout")
def test_a_container_starts_without_compiling_as_another_user(image):
    bin = image / "venv" / "bin"
    for name in ("home", "tmp"):
        (image / name).mkdir()
        (image / name).chmod(0o777)
    outer = {name: os.environ[name] for name in os.environ if not name.startswith("NUMBA_")}
    outer = {name: value for name, value in outer.items() if name != "XDG_CACHE_HOME"}
    env = outer | {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "HOME": str(image / "home")}
    instructions = recipe()
    for instruction, rest in instructions:
        if instruction == "ENV":
            env |= [rest.split("=")]
        elif instruction == "COPY":
            source, target = rest.split()
            assert source == "."
            copy_checkout(image / target.strip("/"))
        elif instruction == "RUN":
            command = rest.replace("/src", str(image / "src"))
            done = subprocess.run(command, shell=True, env=env, capture_output=True, text=True)
            if done.returncode and UNREACHABLE.search(done.stderr):
                pytest.skip("no package index can be reached")
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert [name for name, _ in instructions][-2:] == ["USER", "CMD"]
    [kernels] = (image / "venv").rglob("kernels")
    before = files(image)
    assert sum(path.suffix == ".nbc" for path in before) > 50
    env["TMPDIR"] = str(image / "tmp")
    with unwritable(kernels) as user:
        command = [*user, *json.loads(instructions[-1][1])]
        done = subprocess.run(command, cwd=image, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stderr == ""  # compilation is announced there
    assert done.stdout.startswith("rule against cautious, cincinnati_v0")
    assert files(image) == before


@pytest.mark.skipif(sys.platform == "win32", reason="the quotes of a POSIX shell")
def test_the_command_of_the_page_prints_the_cache_folder(tmp_path):
    [code] = re.findall(r'^python -c "(.*)"$', PAGE, re.M)
    assert python("-c", code, NUMBA_CACHE_DIR=str(tmp_path)).stdout == f"{tmp_path / 'kernels'}\n"
