"""The generated parts of pages are up to date with `.github/docs`, and are true."""

import re

import gymnasium
import pettingzoo
import pytest
from support.script_modules import ROOT, load_scripts

import bideuchre_env
from bideuchre_env.rules.options import OPTIONS
from bideuchre_env.rules.variants import RULES

PAGES = (*RULES, "README")
# By variant: the largest point difference of a hand, the fewest hands that win a game, and the
# numbers of decisions of a hand. Computed by hand from the values of the bids.
FIGURES = {
    "cincinnati_v0": (48 + 6, 1, [23, 29]),  # a quadruple moon without a trick; a triple moon, 32
    "simplified_v0": (24 + 8, 4, [28, 30, 32, 36]),  # a moon that takes no trick; one round
    "club_v0": (24 + 8, 3, [28, 30, 32, 36]),  # three moons, 72
    "barrie_v0": (24 + 8, 3, [28, 30, 32, 36]),
    "six_card_v0": (6 + 6, 6, [28]),  # a bid of 6 that takes no trick; six times six tricks, 36
    "double_deck_v0": (12 + 12, 5, [52]),  # five times twelve tricks, 60
}


@pytest.fixture(scope="module")
def pages():
    with load_scripts(".github/docs", "variant_pages") as [module]:
        yield module


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_a_variant_is_current(pages, name):
    text = (pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert text == pages.renewed(f"{name}.md"), "python .github/docs/variant_pages.py --write"


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
        assert readme.layout_block() == readme.blocks("text", readme.ENVS)[0]


def test_every_picture_of_a_generator_is_on_disk(pages):
    """There is a light and a dark picture for each step of a hand of every variant."""
    drawn = {}
    for name in RULES:
        drawn |= pages.pictures(name)
    assert len(drawn) == 10 * len(RULES)
    for file, svg in drawn.items():
        assert (ROOT / ".github" / "pictures" / file).is_file()
        assert svg.startswith("<svg ")


@pytest.mark.parametrize("name", RULES)
def test_figures_equal_the_environments(pages, name):
    rows = dict(pages.specs(name, RULES[name]))
    raw = bideuchre_env.variants[name].raw_env()
    raw.reset(seed=1)
    box = raw.observation_space("player_0")["observation"]
    assert rows["observation D"].startswith(
        f"{box.shape[0]} int8, from {box.low.min()} to {box.high.max()};"
    )
    assert rows["global state"] == f"{raw.state().size} {raw.state().dtype}"
    deal = raw.record.to_dict()["hands"][0]["deal"]
    assert rows["deck"].startswith(f"{sum(map(len, deal))} cards ")
    assert {rows["tricks in a hand"]} == {str(len(hand)) for hand in deal}
    assert rows["actions A"].startswith(f"{len(raw.action_names)}: ")
    words = {"bids": "bid ", "strains": "trump ", "cards": ""}
    for kind, first, last in re.findall(r"(bids|strains|cards) (\d+) to (\d+)", rows["actions A"]):
        numbered = raw.action_names[int(first) : int(last) + 1]
        assert all(action.startswith(words[kind]) for action in numbered)
    assert rows["hands in a game"].endswith(f"after {RULES[name].max_hands} deals")
    ahead, hands, decisions = FIGURES[name]
    assert pages.most_points_ahead(RULES[name]) == ahead
    assert pages.fewest_hands(RULES[name]) == hands
    assert pages.decisions_of_hands(RULES[name]) == decisions


@pytest.mark.parametrize("name", RULES)
def test_the_calls_of_a_page_create_the_game(pages, name):
    rows = dict(pages.specs(name, RULES[name]))
    scope = {"gymnasium": gymnasium, "pettingzoo": pettingzoo, "bideuchre_env": bideuchre_env}
    places = ["in Gymnasium", "many tables at once"]
    places += ["in PettingZoo"] if hasattr(pettingzoo, "register") else []
    for place in places:
        made = eval(rows[place].strip("`"), dict(scope))
        assert getattr(made, "unwrapped", made).rules == RULES[name]
