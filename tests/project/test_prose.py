"""Docstrings and names of the product follow the style of this project."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("bideuchre_env", "agents", "experiments", "benchmarks")
OPENER = re.compile(r"(What|Where(?! to)|Whoever|Whatever|Those|That|Of|One)\b")
NAMES = {
    *("told", "found", "kept", "shown", "wanted", "given", "said", "heard", "known", "asked"),
    *("named", "joined", "around", "coming", "taken"),
}
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def faults(path):
    """Yield "file:line: rule" for every docstring and name of a file that breaks a rule."""
    place, tree = path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, *DEFINITIONS)):
            continue
        name, line = getattr(node, "name", path.stem), getattr(node, "lineno", 1)
        if opener := OPENER.match(ast.get_docstring(node) or ""):
            yield f"{place}:{line}: begin the docstring with a verb or a noun, not {opener[0]!r}"
        if name.strip("_").lower() in NAMES:
            yield f"{place}:{line}: name it by a verb (function) or a noun, not {name!r}"


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_and_names_are_plain(package):
    broken = [fault for path in (ROOT / package).rglob("*.py") for fault in faults(path)]
    assert not broken, "\n".join(broken)
