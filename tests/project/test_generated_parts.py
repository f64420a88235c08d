"""The generated parts of pages are up to date with `.github/docs`, and are true."""

import pytest
from support.commands import ROOT, load_scripts

import bideuchre_env
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
