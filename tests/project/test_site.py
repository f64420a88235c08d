"""The documentation site and its links; generated parts and install commands of pages."""

import ast
import importlib
import inspect
import ntpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import ROOT, load_scripts

import bideuchre_env
from bideuchre_env import _install
from bideuchre_env.rules.options import OPTIONS
from bideuchre_env.rules.variants import RULES

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="the site is built from a checkout"
)
SITE = ROOT / ".github" / "docs" / "site"
LEARNING = "bideuchre_env/learning/README.md"
PAGE = "agents/README.md"
INTERNAL = {  # public functions and classes that are for other modules of the package only
    "check_numbers": "validates arguments of `match.play`, for the command line too",
    "check_pairs": "validates the argument `pairs` of `tournament.play`",
    "job": "a kernel and its arguments, for `rollout` and its benchmark",
    "best_likelihood": "a step of `SequentialTest`",
    "GameLines": "formats lines of games for `selfplay.play` from JSON texts of hands",
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
    """Return the object of a full name."""
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


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ("", ""),
        ("/issues", ""),
        ("/compare/v0.1.0...v0.2.0", ""),
        ("/releases/tag/v0.1.0", ""),
        ("/blob/main/agents/protocols.py#L3", ""),
        ("/tree/main/agents", ""),
        ("/blob/main/agents/nothing.py", "not in the repository"),
        ("/blob/master/agents/protocols.py", "not in the repository"),
        ("/wiki", "not in the repository"),
        ("x", "not in the repository"),
    ],
)
def test_links_to_the_repository_are_checked(link, fault):
    with load_scripts(".github/docs", "check_links") as [module]:
        assert module.fault(Path("a.html"), module.REPOSITORY + link, {}) == fault


PAGES = (*RULES, "README")


@pytest.fixture(scope="module")
def pages():
    with load_scripts(".github/docs", "variant_pages") as [module]:
        yield module


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_a_variant_is_current(pages, name):
    text = (pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert text == pages.renewed(f"{name}.md"), "python .github/docs/variant_pages.py --write"


@pytest.mark.parametrize("name", RULES)
def test_a_page_mentions_an_exchange_only_if_its_game_has_one(name, pages):
    text = (pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert ("exchange" in text) == bool(RULES[name].exchange)


def test_every_variant_has_a_page_and_a_link_in_the_index(pages):
    assert {path.stem for path in pages.FOLDER.glob("*.md")} == set(PAGES)
    index = (pages.FOLDER / pages.INDEX).read_text(encoding="utf-8")
    assert all(f"({name}.md)" in index for name in bideuchre_env.variants)
    assert all(f"`{option}`" in index for option in OPTIONS)


def test_the_readme_and_the_page_of_environments_are_current():
    with load_scripts(".github/docs", "readme") as [readme]:
        text = readme.README.read_text(encoding="utf-8")
        assert f"<!-- figures -->\n{readme.figures()}<!-- end -->" in text
        assert f"<!-- variants -->\n{readme.variants()}<!-- end -->" in text
        assert f"\n\n{readme.trainers()}| OpenSpiel" in text
        assert readme.citation() in readme.blocks("bibtex")[0]
        assert readme.layout_block() == readme.blocks("text", readme.ENVS)[0]


def test_every_picture_of_a_generator_is_on_disk(pages):
    """Each of the five steps of every variant's example hand has a light and a dark picture."""
    drawn = {}
    for name in RULES:
        drawn |= pages.pictures(name)
    assert len(drawn) == 10 * len(RULES)
    for file, svg in drawn.items():
        assert (ROOT / ".github" / "pictures" / file).is_file()
        assert svg.startswith("<svg ")


INDEX = re.compile(r"pip install [^\n`]*bideuchre_env(?!\[\{)[\[\s\"'\\]")
CHECKOUT = re.compile(r"pip install [^\n`]*-e \\?[\"']?\.(?!\[(?:test|docs)\b)")
TEXTS = (".md", ".py", ".ipynb", ".toml", ".html", ".js", ".sh", ".yml", ".yaml")


@pytest.fixture(scope="module")
def install_text():
    with load_scripts(".github/docs", "install_text") as [module]:
        yield module


@pytest.mark.parametrize("on_index", [False, True])
def test_one_constant_decides_the_messages_and_the_pages(on_index, install_text, monkeypatch):
    """Rewritten pages have only the form for `ON_INDEX`; the other form and back changes none."""
    monkeypatch.setattr(_install, "ON_INDEX", on_index)
    expected = 'pip install "bideuchre_env[ray]"' if on_index else 'pip install -e ".[ray]"'
    assert _install.how_to_install("ray") == expected + (not on_index) * " in a checkout"
    changed = 0
    for path in install_text.files(".md"):
        before = path.read_text(encoding="utf-8")
        text = install_text.rewritten(before)
        assert not (CHECKOUT if on_index else INDEX).search(text), path
        assert "from a checkout" not in text or not on_index, path
        changed += bool(install_text.COMMAND.search(text))
        monkeypatch.setattr(_install, "ON_INDEX", not on_index)
        other = install_text.rewritten(text)
        monkeypatch.setattr(_install, "ON_INDEX", on_index)
        assert install_text.rewritten(other) == text
    assert changed > 5


def test_the_pages_have_the_command_of_the_constant(install_text):
    for path in install_text.files(".md"):
        text = path.read_text(encoding="utf-8")
        assert text == install_text.rewritten(text), "python .github/docs/install_text.py --write"


def test_only_the_listed_files_name_a_checkout(install_text):
    """Other files than pages have no command of their own, but call `how_to_install`."""
    for path in install_text.files(*TEXTS[1:]):
        text = path.read_text(encoding="utf-8")
        assert not CHECKOUT.search(text), path
        assert not INDEX.search(text), path


def test_the_listed_files_name_no_index(install_text):
    for start in install_text.CHECKOUT:
        paths = [ROOT / start] if (ROOT / start).is_file() else (ROOT / start).iterdir()
        texts = [path.read_text(encoding="utf-8") for path in paths if path.is_file()]
        assert texts
        if start != "tests/":
            assert not any(map(INDEX.search, texts)), start


def test_messages_and_pages_name_extras_that_exist(install_text, monkeypatch):
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = \[", section, re.M))
    monkeypatch.setattr(install_text, "CHECKOUT", ("tests/project/test_generated_parts.py",))
    mentioned = set()
    tools = (path for path in (ROOT / ".ci").iterdir() if path.is_file())
    for path in (*install_text.files(*TEXTS), *tools):
        content = path.read_text(encoding="utf-8")
        mentioned |= {*re.findall(r"how_to_install\(['\"](\w+)['\"]\)", content)}
        for words in re.findall(r"pip install [^\n`]*(?:\.|bideuchre_env)\[([\w,]+)\]", content):
            mentioned |= {*words.split(",")}
    assert {"ray", "cuda", "plot", "train", "web"} <= mentioned
    assert mentioned <= extras
