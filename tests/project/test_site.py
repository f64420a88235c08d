"""The documentation site: staged pages, their links, and the names on the API pages."""

import ast
import importlib
import inspect
import ntpath
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
from support.commands import ROOT, load_scripts

import bideuchre_env

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="the site is built from a checkout"
)
SITE = ROOT / ".github" / "docs" / "site"
LEARNING = "bideuchre_env/learning/README.md"
PAGE = "agents/README.md"
INTERNAL = {  # public functions and classes that are for other modules of the package only
    "check_numbers": "validates arguments of `match`, for `tournament` too",
    "job": "a kernel and its arguments, for `rollout` and its benchmark",
    "best_likelihood": "a step of `SequentialTest`",
    "unique_names": "refuses names that occur twice in JSON, in records and in options of PTN text",
    "text_hands": "reads PTN text for `bideuchre advise`",
    "short_name": "limits the length of the name of a file, for saved games too",
    "GameLines": "formats lines of games for `match` from JSON texts of hands",
}
IMPORT = re.compile(r"^from (bideuchre_env\.learning\.\w+) import (.+)$", re.M)


@pytest.fixture(scope="module")
def stage():
    with load_scripts(".github/docs", "stage") as [module]:
        yield module


def test_every_page_is_staged_at_its_own_address(stage, tmp_path):
    pages = stage.addresses()
    assert set(pages) >= {"README.md", PAGE, LEARNING, "experiments/class.ipynb"}
    assert stage.stage(tmp_path) == len(pages) - 1  # the README is a part of the index
    for page, address in pages.items():
        assert (tmp_path / address).is_file(), page
    assert len(set(pages.values())) == len(pages) - 1


def test_pages_are_all_markdown_files_that_git_does_not_ignore(stage, tmp_path, monkeypatch):
    pages = {"README.md", ".github/SECURITY.md", "experiments/new.md", "experiments/a.ipynb"}
    others = {".github/PULL_REQUEST_TEMPLATE.md", ".github/ISSUE_TEMPLATE/bug.md"}
    for name in pages | others | {"experiments/runs/ppo/notes.md", "a.ipynb", "venv/b.md"}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    shutil.copy(ROOT / ".gitignore", tmp_path)
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    monkeypatch.setattr(stage, "ROOT", tmp_path)
    assert set(stage.addresses()) == pages


def test_the_index_has_every_section_of_the_readme(stage):
    index = (SITE / "index.md").read_text(encoding="utf-8")
    parts = stage.readme_parts((ROOT / "README.md").read_text(encoding="utf-8"))
    assert set(parts) - set(stage.README_PART.findall(index)) == {"Documentation"}


def test_the_sidebar_has_every_page_in_groups_of_at_most_nine(stage):
    index = (SITE / "index.md").read_text(encoding="utf-8")
    groups = re.findall(r"^```\{toctree\}\n(?::[^\n]*\n)+\n(.*?)\n```$", index, re.M | re.S)
    groups = [[re.sub(r".*<|>", "", line) for line in group.splitlines()] for group in groups]
    assert all(1 < len(group) <= 9 for group in groups)
    places = {place.removesuffix(".md") for place in stage.addresses().values()}
    for page, below in stage.CHILDREN.items():
        folder = PurePosixPath(stage.address(page)).parent
        places -= {place for place in places if PurePosixPath(place).match(str(folder / below))}
    assert sorted(sum(groups, ["index"])) == sorted(places)


def test_lines_of_code_are_short(stage):
    """Printed output and files of other programs, in blocks of `text`, may be longer."""
    for page in stage.addresses():
        for block in stage.FENCE.findall(stage.Stager().text_of(page)):
            head, *lines = block[0].splitlines()
            assert head == "```text" or max(map(len, lines)) <= 78, (page, block[0])


@pytest.mark.parametrize(
    ("target", "link"),
    [
        ("../bideuchre_env/rules/README.md#the-game", "../rules.md#the-game"),
        ("../bideuchre_env/rules/club_v0.md", "../variants/club_v0.md"),
        ("../experiments/class.ipynb", "../tutorials/class.md"),
        ("../README.md#training", "../index.md#training"),
        ("../experiments/", "../experiments.md"),
        ("protocols.py", "REPOSITORY/blob/main/agents/protocols.py"),
        ("data", "REPOSITORY/tree/main/agents/data"),
        ("#advice", "#advice"),
        ("https://docs.ray.io", "https://docs.ray.io"),
    ],
)
def test_a_link_leads_to_a_page_or_to_the_repository(stage, target, link):
    expected = link.replace("REPOSITORY", "https://github.com/bideuchre-env/bideuchre_env")
    assert stage.Stager().rewrite(PAGE, f"a [b]({target}) c") == f"a [b]({expected}) c"


def test_links_have_slashes_on_windows(monkeypatch):
    monkeypatch.setitem(sys.modules, "os.path", ntpath)
    with load_scripts(".github/docs", "stage") as [module]:
        link = module.Stager().link(PAGE, "../bideuchre_env/rules/README.md")
    assert link == "../rules.md"


@pytest.mark.parametrize("target", ["nothing.md", "../../outside.md", "data/nothing.npz#a"])
def test_a_dead_link_is_an_error(stage, target):
    with pytest.raises(stage.DeadLinkError, match=re.escape(f"{PAGE}: {target.split('#')[0]}")):
        stage.Stager().rewrite(PAGE, f"[a]({target})")


def test_code_blocks_stay_unchanged(stage):
    text = "```python\nx = [a](nothing.md)\n```\n"
    assert stage.Stager().rewrite(PAGE, text) == text


def test_a_picture_becomes_one_for_each_theme(stage):
    stager = stage.Stager()
    files = ".github/pictures/ladder-dark.svg", ".github/pictures/ladder-light.svg"
    source = '<picture>\n<source srcset="{}"><img alt="L" width="9" src="{}"></picture>'
    assert stager.rewrite("README.md", source.format(*files)).splitlines() == [
        "![L](/github/pictures/ladder-dark.svg){.only-dark width=9px}",
        "![L](/github/pictures/ladder-light.svg){.only-light width=9px}",
    ]
    assert stager.pictures == set(files)


def documented():
    """Return the full names in the autodoc directives of the API pages."""
    names = set()
    for page in sorted((SITE / "api").glob("*.md")):
        module = ""
        text = page.read_text(encoding="utf-8")
        for kind, name in re.findall(r"^\.\. (currentmodule|auto\w+):: (\S+)$", text, re.M):
            if kind == "currentmodule":
                module = name
            elif kind == "automodule":
                names |= {f"{name}.{each}" for each in defined(importlib.import_module(name))}
            else:
                names.add(name if name.startswith("bideuchre_env.") else f"{module}.{name}")
    return names


def defined(module):
    """Return the names of the public functions and classes that a module itself defines."""
    own = {name: each for name, each in vars(module).items() if not name.startswith("_")}
    return {name for name, each in own.items() if getattr(each, "__module__", 0) == module.__name__}


def value_of(name):
    value = bideuchre_env
    for part in name.split(".")[1:]:
        value = getattr(value, part, None) or importlib.import_module(f"{value.__name__}.{part}")
    return value


def test_every_public_name_is_on_an_api_page(stage):
    names = documented()
    values = [value_of(name) for name in names if ".adapters." not in name]
    modules = [bideuchre_env.agents, bideuchre_env.analysis, bideuchre_env.datasets]
    for module in (bideuchre_env, *modules, bideuchre_env.solver):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value):
                public = {id(getattr(value, each)): each for each in defined(value) - set(INTERNAL)}
                assert not {public[each] for each in set(public) - set(map(id, values))}, name
            elif name in bideuchre_env.variants:
                assert f"variants/{name}.md" in stage.addresses().values()
            else:
                assert any(value is each for each in values), f"{module.__name__}.{name}"
    for module, imported in IMPORT.findall((ROOT / LEARNING).read_text(encoding="utf-8")):
        assert names >= {f"{module}.{name}" for name in imported.split(", ")}


def test_the_names_of_adapters_exist_and_every_adapter_has_one():
    names = {name for name in documented() if ".adapters." in name}
    for module in bideuchre_env.adapters.MODULES:
        path = Path(bideuchre_env.adapters.__file__).with_name(f"{module}.py")
        defined = {getattr(each, "name", "") for each in ast.parse(path.read_text("utf-8")).body}
        own = {name.split(".")[-1] for name in names if f".{module}." in name}
        assert own, module
        assert own <= defined


GOOD = ("", "/issues", "/compare/v0.1.0...v0.2.0", "/releases/tag/v0.1.0", "/tree/main/agents")
GOOD += ("/blob/main/agents/protocols.py#L3",)
BAD = ("/blob/main/agents/nothing.py", "/blob/master/agents/protocols.py", "/wiki", "x")


@pytest.mark.parametrize(
    ("link", "fault"),
    [*((link, "") for link in GOOD), *((link, "not in the repository") for link in BAD)],
)
def test_links_to_the_repository_are_checked(link, fault):
    with load_scripts(".github/docs", "check_links") as [module]:
        assert module.fault(Path("a.html"), module.REPOSITORY + link, {}) == fault
