"""Messages and pages say how to install an extra: on an index, or in a checkout before that."""

import re
from pathlib import Path

import pytest

from bideuchre_env import _install

ROOT = Path(__file__).resolve().parents[2]
INDEX = re.compile(r"pip install [^\n`]*bideuchre_env(?!\[\{)[\[\s\"'\\]")
CHECKOUT = re.compile(r"pip install [^\n`]*\.\[(?!test)")
PLACES = ("*.py", "*.md", "*.ipynb", "*.toml", "*.html", "*.js", "*.sh")


def files():
    """Every text file of the repository except this test."""
    for pattern in PLACES:
        for folder in ("bideuchre_env", "agents", "experiments", "benchmarks", "tests", ".github"):
            for path in (ROOT / folder).rglob(pattern):
                if path != Path(__file__).resolve():
                    yield path
        yield from ROOT.glob(pattern)


def test_one_constant_decides_the_command(monkeypatch):
    monkeypatch.setattr(_install, "ON_INDEX", False)
    assert _install.how_to_install("ray") == 'pip install -e ".[ray]" in a checkout'
    monkeypatch.setattr(_install, "ON_INDEX", True)
    assert _install.how_to_install("ray") == 'pip install "bideuchre_env[ray]"'


def test_no_page_or_message_names_an_index_without_the_package():
    """Once the package is on an index, the pages of users name that, and no checkout."""
    wrong = CHECKOUT if _install.ON_INDEX else INDEX
    for path in files():
        if path.suffix == ".py" and _install.ON_INDEX:
            continue
        assert not wrong.findall(path.read_text(encoding="utf-8")), path.relative_to(ROOT)


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


def test_messages_and_pages_name_extras_that_exist():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = \[", section, re.M))
    named = set()
    for path in files():
        content = path.read_text(encoding="utf-8")
        named |= {*re.findall(r"how_to_install\(['\"](\w+)['\"]\)", content)}
        for words in re.findall(r"pip install [^\n`]*\.\[([\w,]+)\]", content):
            named |= {*words.split(",")}
    assert {"ray", "cuda", "plot", "train", "web"} <= named
    assert named <= extras
