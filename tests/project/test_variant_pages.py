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
    decisions_of_hands,
    example_of,
    fewest_hands,
    most_points_ahead,
    page_files,
    renewed,
    specs,
    ten_sentences,
)

import bideuchre_env
from bideuchre_env.errors import RulesError
from bideuchre_env.rules.options import CHOICES, OPTIONS
from bideuchre_env.rules.variants import RULES

SHOOT = ({"name": "call-3", "exchange": 3, "value": 9}, {"name": "shoot", "value": 16})
# Changes to try of every option, beside the words of those that have words.
CHANGES = {
    **CHOICES,
    "copies": (1, 2),
    "partnered": (None, (2, 4), (3, 3)),
    "lone": ((), SHOOT, SHOOT[1:], SHOOT[::-1]),
    "target": (20, 40),
    "rounds": (2, 3),
    "max_hands": (50,),
}
# The most points of a hand by which a side can be ahead, and the fewest hands that win a game.
FIGURES = {
    "cincinnati_v0": (48 + 6, 1),  # a quadruple moon that takes no trick; a triple moon, 32
    "simplified_v0": (24 + 8, 4),  # a moon that takes no trick; one round
    "club_v0": (24 + 8, 3),  # three moons, 72
    "barrie_v0": (24 + 8, 3),
    "six_card_v0": (6 + 6, 6),  # a bid of 6 that takes no trick; six times six tricks, 36
    "double_deck_v0": (12 + 12, 5),  # five times twelve tricks, 60
}


def text_of(file):
    """A page as it is on disk."""
    return (FOLDER / file).read_text(encoding="utf-8")


def changed_rules():
    """(option, rules, the rules with that option changed) for all changes that make a game."""
    for rules in RULES.values():
        for option, values in CHANGES.items():
            for value in values:
                try:
                    changed = rules.replace(**{option: value})
                except RulesError:
                    continue
                if changed != rules:
                    yield option, rules, changed


@pytest.mark.parametrize("file", page_files())
def test_a_page_is_current(file):
    """What stands between marks is what the rules say now."""
    assert text_of(file) == renewed(file), "python tests/support/variant_pages.py --write"


def test_every_variant_has_a_page_and_no_other_page_is_there():
    """And the index leads to each."""
    assert sorted(path.name for path in FOLDER.glob("*.md")) == sorted(page_files())
    assert all(f"({name}.md)" in text_of(INDEX) for name in bideuchre_env.variants)
    assert bideuchre_env.variants.keys() == RULES.keys()


def test_ten_sentences_are_ten_sentences():
    """Of every variant, and of every game that an option makes of it."""
    games = [*RULES.values(), *(changed for _, _, changed in changed_rules())]
    assert len(games) > 100
    for rules in games:
        told = ten_sentences(rules)
        assert len(told) == 10
        for sentence in told:
            assert re.fullmatch(r"[A-Z](?:[^.!?]|\.(?=\S))*\.", sentence), sentence


def test_every_option_changes_a_sentence():
    """Whatever it is changed from and to, whatever else the game has."""
    seen = set()
    for option, rules, changed in changed_rules():
        assert ten_sentences(rules) != ten_sentences(changed), f"{option} of {rules}"
        seen.add(option)
    assert seen == set(OPTIONS)


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


def play_hand(variant, target):
    """(decisions, side 0's reward, the record's hand) of a hand with this bid, or with none.

    The auction climbs to the bid by the highest calls below it; a game may allow steps alone.
    """
    raw = variant.raw_env(episode="hand")
    raw.reset(seed=1, options={"dealer": 0})
    ladder = [bid.name for bid in variant.rules.ladder]
    wanted, decisions = ladder.index(target) if target else -1, 0
    while not any(raw.terminations.values()):
        mask = raw.infos[raw.agent_selection]["action_mask"]
        legal = [name for name, may in zip(raw.action_names, mask, strict=True) if may]
        below = [name for name in legal if level_of(name, ladder) in range(wanted + 1)]
        raw.step(raw.action_names.index((below or legal)[-1 if below else 0]))
        decisions += 1
    [hand] = raw.record.to_dict()["hands"]
    return decisions, raw.rewards["player_0"], hand


def level_of(name, ladder):
    """Where an action's bid stands in the ladder, with a strain or without; None if it is none."""
    first, _, bid = name.partition(" ")
    if first != "bid":
        return None
    return ladder.index(bid if bid in ladder else bid.rpartition(" ")[0])


@pytest.mark.parametrize("name", RULES)
def test_hands_are_as_long_as_the_page_says(name):
    """A hand is played with every bid of the ladder, and one in which all pass."""
    variant, rules = bideuchre_env.variants[name], RULES[name]
    ahead, _ = FIGURES[name]
    lengths = set()
    for bid in rules.ladder:
        decisions, reward, hand = play_hand(variant, bid.name)
        assert hand["contract"].startswith(bid.name)
        assert -ahead <= reward <= ahead
        lengths.add(decisions)
    assert sorted(lengths) == decisions_of_hands(rules)
    row = dict(specs(name, rules))["decisions in a hand"]
    if rules.all_pass == "dealer_forced":
        assert "all pass" not in row
    else:
        decisions, reward, hand = play_hand(variant, None)
        assert (decisions, reward, hand["contract"]) == (4, 0, None)
        assert row.endswith("; 4 where all pass")


@pytest.mark.parametrize("name", RULES)
def test_points_and_lengths_of_games(name):
    """Worked out by hand from the values of the bids."""
    assert (most_points_ahead(RULES[name]), fewest_hands(RULES[name])) == FIGURES[name]


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
