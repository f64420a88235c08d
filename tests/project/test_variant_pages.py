"""The pages of the variants are current, complete and true.

`python tests/support/variant_pages.py --write` renews what they have from the rules.
"""

import re

import gymnasium
import pettingzoo
import pytest
from support.variant_pages import (
    FOLDER,
    INDEX,
    example_of,
    page_files,
    renewed,
    specs,
)

import bideuchre_env
from bideuchre_env.rules.variants import RULES


def text_of(file):
    """A page as it is on disk."""
    return (FOLDER / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("file", page_files())
def test_a_page_is_current(file):
    """What stands between marks is what the rules say now."""
    assert text_of(file) == renewed(file), "python tests/support/variant_pages.py --write"


def test_every_variant_has_a_page_and_no_other_page_is_there():
    """And the index leads to each."""
    assert sorted(path.name for path in FOLDER.glob("*.md")) == sorted(page_files())
    assert all(f"({name}.md)" in text_of(INDEX) for name in bideuchre_env.variants)
    assert bideuchre_env.variants.keys() == RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_the_figures_are_those_of_the_environments(name):
    """Actions, observation, global state, cards, names: of what is made, not of what is meant."""
    rows = dict(specs(name, RULES[name]))
    variant = bideuchre_env.variants[name]
    raw = variant.raw_env()
    raw.reset(seed=1)
    box = raw.observation_space("player_0")["observation"]
    size, names = raw.action_space("player_0").n, raw.unwrapped.action_names
    assert rows["actions A"].startswith(f"{size}: ")
    assert len(names) == size
    for what, first, last in re.findall(r"(bids|strains|cards) (\d+) to (\d+)", rows["actions A"]):
        words = {name.split()[0] for name in names[int(first) : int(last) + 1]}
        assert words == {"bids": {"bid"}, "strains": {"trump"}}.get(what, words)
        assert what != "cards" or all(len(word) == 2 for word in words)
    bounds = f"{box.shape[0]} int8, from {box.low.min()} to {box.high.max()};"
    assert rows["observation D"].startswith(bounds)
    assert box.dtype == "int8"
    assert rows["global state"] == f"{raw.state().size} {raw.state().dtype}"
    deal = raw.record.to_dict()["hands"][0]["deal"]
    assert rows["deck"].startswith(f"{sum(map(len, deal))} cards ")
    assert {rows["tricks in a hand"]} == {str(len(hand)) for hand in deal}
    assert rows["in game records"] == f'`"variant": "{raw.record.to_dict()["variant"]}"`'
    assert all(agent in rows["players"] for agent in raw.possible_agents)
    truncated = RULES[name].max_hands
    assert rows["hands in a game"].endswith(f"truncated after {truncated} deals")


@pytest.mark.parametrize("name", RULES)
def test_the_registered_names_make_the_game(name):
    """As the page writes the calls."""
    rows = dict(specs(name, RULES[name]))
    scope = {"gymnasium": gymnasium, "pettingzoo": pettingzoo, "bideuchre_env": bideuchre_env}
    places = ["in Gymnasium", "many tables at once"]
    places += ["in PettingZoo"] if hasattr(pettingzoo, "register") else []
    for place in places:
        made = eval(rows[place].strip("`"), dict(scope))
        assert getattr(made, "unwrapped", made).rules == RULES[name]


@pytest.mark.parametrize("name", RULES)
def test_the_example_runs_and_changes_the_game(name, capsys):
    """The blocks of code, in order, as a reader would paste them."""
    text, scope = text_of(f"{name}.md"), {}
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) == 2
    exec(compile("".join(blocks), f"{name}.md", "exec"), scope)
    assert str(RULES[name]) in capsys.readouterr().out
    example = example_of(name, text)
    assert scope["env"].unwrapped.rules == RULES[name].replace(**example) != RULES[name]
