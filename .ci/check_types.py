"""Check types like a user, by a run of `mypy --strict` and a run of pyright.

The programs are the Python blocks of all pages, `.ci/typed.py` and `.ci/typed_agents.py`.
They are checked in a folder outside the repository, against the installed package. The blocks of a
page form one program; each block of the pages in `STAND_ALONE` is its own program. Libraries that
are not installed count as `Any`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAND_ALONE = (
    "bideuchre_env/adapters/README.md",
    ".github/docs/tutorials/training.md",
    ".github/docs/tutorials/self_play.md",
    ".github/docs/tutorials/training_loop.md",
)
PROGRAMS = (".ci/typed.py", ".ci/typed_agents.py")
MYPY = (
    *("--strict", "--disable-error-code=import-not-found", "--disable-error-code=import-untyped"),
    "--untyped-calls-exclude=torch",
)
PYRIGHT = {"reportMissingImports": False, "reportUnnecessaryTypeIgnoreComment": True}


def write_programs(folder: Path) -> None:
    """Write each program to its own file in `folder`."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for page in listed.stdout.splitlines():
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S)
        programs = blocks if page in STAND_ALONE else ["\n".join(blocks)] if blocks else []
        for number, program in enumerate(programs):
            stem = re.sub(r"\W", "_", page.removesuffix(".md"))
            (folder / f"{stem}_{number}.py").write_text(program, encoding="utf-8")
    for path in PROGRAMS:
        (folder / Path(path).name).write_text((ROOT / path).read_text("utf-8"), encoding="utf-8")


def main() -> int:
    """Run mypy and pyright on the programs, which print their errors; return 1 if either fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_programs(folder)
        (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT), encoding="utf-8")
        checkers = (["mypy", *MYPY, "."], ["pyright", "--pythonpath", sys.executable])
        codes = [
            subprocess.run([sys.executable, "-m", *checker], cwd=folder).returncode
            for checker in checkers
        ]
        return int(any(codes))  # a checker that a signal ends has a negative code


if __name__ == "__main__":
    sys.exit(main())
