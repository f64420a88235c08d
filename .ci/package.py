"""Build the source archive and the wheel, check them as a package index would, and use both.

    python .ci/package.py dist   # build into this folder, whose packages are removed before

It needs the tools of `tox -e package`. Each package is installed in a clean environment; the tests
of the unpacked archive are collected, and some of them run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path
from zipfile import ZipFile

from readme_renderer.markdown import render

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 8e6  # bytes of the wheel; the weights of nine variants are nine tenths of it
USE = """
import importlib.util, bideuchre_env, bideuchre_env.agents as agents
assert importlib.util.find_spec("agents") is None, "a global package named agents leaked"
env = bideuchre_env.cincinnati_v0(); env.reset(seed=1); print(env, agents.names())
"""


def run(*command: object, where: Path = ROOT) -> None:
    """Run a command in a folder; exit if it fails."""
    print("==", *(part for part in map(str, command) if "\n" not in part), flush=True)
    subprocess.run(list(map(str, command)), cwd=where, check=True)


def tool(name: str, *arguments: object) -> None:
    """Run a module of the tools."""
    run(sys.executable, "-m", name, *arguments)


def check_contents(wheel: Path, direct: Path) -> None:
    """Check that both wheels have equal files, and the first a page with absolute links."""
    packages = ZipFile(wheel), ZipFile(direct)
    names, others = (sorted(package.namelist()) for package in packages)
    assert names == others, set(names) ^ set(others)
    [metadata] = (name for name in names if name.endswith("/METADATA"))
    page = packages[0].read(metadata).decode().partition("\n\n")[2]
    links = re.findall(r'\b(?:href|src)="([^"]+)', render(page))
    links += re.findall(r'srcset="([^"]+)', page)
    relative = [link for link in links if not link.startswith(("https://", "#"))]
    assert links, "no links in METADATA"
    assert not relative, f"relative links in METADATA: {relative}"
    size = wheel.stat().st_size
    assert size <= LARGEST, f"the wheel has {size / 1e6:.1f} MB"
    print(f"{len(names)} files, {size / 1e6:.1f} MB, {len(links)} absolute links")


def use(package: Path, folder: Path) -> Path:
    """Install a package in a clean environment in `folder` and use it; return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", package, where=folder)
    run(python, "-c", USE, where=folder)
    games = ("--games", "20", "--seed", "1", "--no-records")
    run(folder / "bin" / "bideuchre", "selfplay", *games, where=folder)
    return python


def make_empty(folder: Path) -> None:
    """Remove the packages from a folder; exit if it has another file, and remove nothing then."""
    packages = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    if folder.exists() and (others := {*folder.iterdir()} - {*packages}):
        sys.exit(f"{folder} has {min(others).name}, which is no package: choose another folder")
    for package in packages:
        package.unlink()


def main(out: Path) -> None:
    """Build into a folder, check and use."""
    make_empty(out)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        tool("build", "--outdir", out, ".")
        tool("build", "--wheel", "--outdir", work / "direct", ".")  # as `pip install .` makes it
        [wheel], [archive] = out.glob("*.whl"), out.glob("*.tar.gz")
        tool("twine", "check", "--strict", wheel, archive)
        tool("check_wheel_contents", wheel)
        tool("pyroma", "--min", "8", archive)  # two points are for an e-mail address of the authors
        check_contents(wheel, *(work / "direct").glob("*.whl"))
        use(wheel, work / "wheel")
        python = use(archive, work / "archive")
        with tarfile.open(archive) as files:
            files.extractall(work, filter="data")
        [sources] = work.glob("bideuchre_env-*")
        run(python, "-m", "pip", "install", "--quiet", "-e", ".[test]", where=sources)
        pytest = (python, "-m", "pytest", "-q")
        run(*pytest, "--collect-only", "-qq", where=sources)
        run(*pytest, "tests/project/test_architecture.py", "tests/rules", where=sources)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
