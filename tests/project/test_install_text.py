"""Messages and pages say how to install an extra: on an index, or in a checkout before that."""

import re

import pytest
from support.commands import ROOT, load_scripts

from bideuchre_env import _install

INDEX = re.compile(r"pip install [^\n`]*bideuchre_env(?!\[\{)[\[\s\"'\\]")
CHECKOUT = re.compile(r"pip install [^\n`]*-e \\?[\"']?\.(?!\[(?:test|docs)\b)")
TEXTS = (".md", ".py", ".ipynb", ".toml", ".html", ".js", ".sh", ".yml", ".yaml")


@pytest.fixture(scope="module")
def pages():
    with load_scripts(".github/docs", "install_text") as [module]:
        yield module


@pytest.mark.parametrize("on_index", [False, True])
def test_one_constant_decides_the_messages_and_the_pages(on_index, pages, monkeypatch):
    """Rewritten pages have only the form for `ON_INDEX`; the other form and back changes none."""
    monkeypatch.setattr(_install, "ON_INDEX", on_index)
    expected = 'pip install "bideuchre_env[ray]"' if on_index else 'pip install -e ".[ray]"'
    assert _install.how_to_install("ray") == expected + (not on_index) * " in a checkout"
    changed = 0
    for path in pages.files(".md"):
        before = path.read_text(encoding="utf-8")
        text = pages.rewritten(before)
        assert not (CHECKOUT if on_index else INDEX).search(text), path
        assert "from a checkout" not in text or not on_index, path
        changed += bool(pages.COMMAND.search(text))
        monkeypatch.setattr(_install, "ON_INDEX", not on_index)
        other = pages.rewritten(text)
        monkeypatch.setattr(_install, "ON_INDEX", on_index)
        assert pages.rewritten(other) == text
    assert changed > 5


def test_the_pages_have_the_command_of_the_constant(pages):
    for path in pages.files(".md"):
        text = path.read_text(encoding="utf-8")
        assert text == pages.rewritten(text), "python .github/docs/install_text.py --write"


def test_only_the_listed_files_name_a_checkout(pages):
    """Other files than pages have no command of their own, but call `how_to_install`."""
    for path in pages.files(*TEXTS[1:]):
        text = path.read_text(encoding="utf-8")
        assert not CHECKOUT.search(text), path
        assert not INDEX.search(text), path


def test_the_listed_files_name_no_index(pages):
    for start in pages.CHECKOUT:
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


def test_messages_and_pages_name_extras_that_exist(pages, monkeypatch):
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = \[", section, re.M))
    monkeypatch.setattr(pages, "CHECKOUT", ("tests/project/test_install_text.py",))
    mentioned = set()
    tools = (path for path in (ROOT / ".ci").iterdir() if path.is_file())
    for path in (*pages.files(*TEXTS), *tools):
        content = path.read_text(encoding="utf-8")
        mentioned |= {*re.findall(r"how_to_install\(['\"](\w+)['\"]\)", content)}
        for words in re.findall(r"pip install [^\n`]*(?:\.|bideuchre_env)\[([\w,]+)\]", content):
            mentioned |= {*words.split(",")}
    assert {"ray", "cuda", "plot", "train", "web"} <= mentioned
    assert mentioned <= extras
