"""Generated parts and install commands of pages and messages are up to date, and are true."""

import re

import pytest
from support.commands import ROOT, load_scripts

import bideuchre_env
from bideuchre_env import _install
from bideuchre_env.rules.options import OPTIONS
from bideuchre_env.rules.variants import RULES

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


@pytest.mark.parametrize(
    "text",
    [
        'pip install "bideuchre_env[sb3]"',
        "pip install 'bideuchre_env[cuda]'",
        'pip install notebook \\"bideuchre_env[plot]\\"',
        "pip install bideuchre_env\n",
    ],
)
def test_the_form_of_an_index_is_recognized(text):
    assert INDEX.search(text)
    assert not INDEX.search('pip install -e ".[sb3]" && python -m bideuchre_env')


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
