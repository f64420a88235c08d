"""Docstrings of public functions name their parameters."""

import ast
import inspect
import re
from operator import attrgetter
from pathlib import Path

import pytest

import bideuchre_env

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*(ROOT / "bideuchre_env").rglob("*.py"), *(ROOT / "agents").rglob("*.py")])
PACKAGES = ("agents", "analysis", "datasets", "solver")
ENTRIES = (
    *("make", "match", "tournament"),
    *("ratings.ratings", "records_io.read", "records_io.scan", "records_io.write"),
    *("Variant.env", "Variant.raw_env", "Variant.parallel_env", "Variant.replace"),
    *("Variant.vec", "Variant.solo", "Variant.solo_vec"),
    *("Rules.replace", "Rules.from_toml", "Rules.options_from", "Layout.scaled", "Layout.decode"),
    *("BidEuchreEnv.reset", "BidEuchreEnv.step", "BidEuchreEnv.resample_hidden"),
    *("BidEuchreVec.reset", "BidEuchreVec.step", "BidEuchreVec.set_deal", "BidEuchreVec.set_state"),
    *("SoloEnv.reset", "SoloEnv.step", "SoloVectorEnv.reset", "SoloVectorEnv.step"),
    *("GameRecord.from_rows", "GameRecord.from_dict", "records_io.RecordWriter"),
    *("Bid", "Rules", "Layout", "OpponentPool", "GameRecord", "datasets.VecRecorder"),
    *("sequential.Bounds", "sequential.SequentialTest", "ratings.Meeting"),
    *("agents.RowAgent", "agents.RowAgent.act_rows"),
)


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_point_documents_its_arguments(name):
    assert "\nArgs:\n" in inspect.getdoc(attrgetter(name)(bideuchre_env))


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_of_public_packages_document_their_arguments(package):
    module = getattr(bideuchre_env, package)
    functions = [getattr(module, name) for name in module.__all__]
    for function in filter(inspect.isfunction, functions):
        if inspect.signature(function).parameters:
            assert "\nArgs:\n" in inspect.getdoc(function), function.__name__


def documented(node):
    """The names in the section `Args` of a docstring; None without the section."""
    section = re.search(r"^Args:\n((?:    .*\n?)+)", ast.get_docstring(node) or "", re.M)
    if section is None:
        return None
    entries = re.findall(r"^    (\*{0,2}\w[\w, ]*): ", section[1], re.M)
    return {name.strip("* ") for entry in entries for name in entry.split(",")}


def parameters(node):
    """The names of the parameters of a function, or of a class: its `__init__` or its fields."""
    if isinstance(node, ast.ClassDef):
        made = [each for each in ast.walk(node) if getattr(each, "name", "") == "__init__"]
        if not made:
            fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            return {each.target.id for each in fields}
        node = made[0]
    names = node.args
    plain = [*names.posonlyargs, *names.args, *names.kwonlyargs, names.vararg, names.kwarg]
    return {each.arg for each in plain if each is not None} - {"self", "cls"}


@pytest.mark.slow
def test_documented_arguments_are_parameters():
    """A function documents all of its parameters or none; a dataclass may have other fields."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and (names := documented(node)):
                missing = set() if isinstance(node, ast.ClassDef) else parameters(node) - names
                wrong = (names - parameters(node), missing)
                assert wrong == (set(), set()), f"{path}: {node.name}"
