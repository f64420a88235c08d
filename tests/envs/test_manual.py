"""`help` of a variant is a manual in Gymnasium's form; the `repr` of objects, and notebooks."""

import pickle
import pydoc
import re
from dataclasses import fields
from xml.etree import ElementTree

import gymnasium
import pettingzoo
import pytest
from support.playthroughs import Chooser, finish, start

import bideuchre_env
from bideuchre_env import (
    BidEuchreEnv,
    BidEuchreVec,
    GameRecord,
    Rules,
    SoloEnv,
    SoloVectorEnv,
    Variant,
    match,
)
from bideuchre_env.agents.expert.hand_worth import hand_worth
from bideuchre_env.envs import manual
from bideuchre_env.envs.options import METHOD_OPTIONS, SoloVecOptions, ViewOptions
from bideuchre_env.records.page.page import replay_page
from bideuchre_env.rules.sheet import sections
from bideuchre_env.rules.variants import RULES

COMMON_TITLES = ("Description", "Action Space", "Observation Space", "Rewards", "Starting State")
COMMON_TITLES += ("Episode End", "Arguments", "Version History")
TITLES = ("Description", "Rules", *COMMON_TITLES[1:])
# By variant: most points of a hand by which a side can be ahead, fewest hands that win a game,
# decisions of a hand. Worked out by hand from the values of the bids.
FIGURES = {
    "cincinnati_v0": (48 + 6, 1, [23, 29]),  # a quadruple moon without a trick; a triple moon, 32
    "simplified_v0": (24 + 8, 4, [28, 30, 32, 36]),  # a moon that takes no trick; one round
    "club_v0": (24 + 8, 3, [28, 30, 32, 36]),  # three moons, 72
    "barrie_v0": (24 + 8, 3, [28, 30, 32, 36]),
    "six_card_v0": (6 + 6, 6, [28]),  # a bid of 6 that takes no trick; six times six tricks, 36
    "double_deck_v0": (12 + 12, 5, [52]),  # five times twelve tricks, 60
    "partners_best_v0": (24 + 6, 2, [23, 25, 29]),  # alone that takes no trick; twice alone, 48
    "indiana_v0": (24 + 12, 3, [46, 52]),  # three times shoot, 72; with four calls
    "pepper_v0": (12 + 6, 3, [29]),  # three big peppers, 36; with four calls
}
LOSSES = ("5,400", "128", "3,200", "3,200", "1,200", "2,400", "3,000", "3,600", "1,800")
GAME_LOSSES = dict(zip(FIGURES, LOSSES, strict=True))
METHODS = {name: METHOD_OPTIONS[name] for name in ("vec", "solo", "solo_vec")}


def help_of(thing):
    """The output of `help`, without bold letters."""
    return pydoc.render_doc(thing, renderer=pydoc.plaintext)


def unwrapped(text):
    """A manual with cells that continue on the next line joined, in single blanks."""
    return " ".join(text.replace("|", " ").split())


def part(name, title):
    """The lines of a section that depend on the rules, as one text."""
    return "\n".join(manual.sections(name, RULES[name])[title])


@pytest.mark.parametrize("name", RULES)
def test_help_of_a_variant_has_the_sections_of_gymnasium(name):
    text = help_of(bideuchre_env.variants[name])
    assert tuple(re.findall(r"^ *## (.+)$", text, re.M)) == TITLES
    assert max(map(len, text.splitlines())) <= 100
    for title in TITLES[1:]:
        for line in part(name, title).splitlines():
            if set(line) - set("| -"):
                assert line.split(" | ")[0].strip("| ") in unwrapped(text)


@pytest.mark.parametrize("name", RULES)
def test_the_numbers_of_a_manual_are_those_of_the_environment(name):
    text = unwrapped(help_of(bideuchre_env.variants[name]))
    raw = bideuchre_env.variants[name].raw_env()
    raw.reset(seed=1)
    box = raw.observation_space("player_0")["observation"]
    (size,), n = box.shape, raw.action_space("player_0").n
    assert f"`Discrete({n})`" in text
    assert f"`Box({box.low.min()}, {box.high.max()}, ({size},), {box.dtype})`" in text
    assert f"`Box(0, 1, ({n},), int8)`" in text
    assert f"`state()` {raw.state().dtype} ({raw.state().size},)" in text
    for block, at in raw.observation_layout.slices.items():
        assert f"`{block}` {at.start}:{at.stop}" in text
    deal = raw.record.to_dict()["hands"][0]["deal"]
    cards, tricks = sum(map(len, deal)), len(deal[0])
    assert f"Cards {cards} cards (" in text
    assert f"{tricks} to each of four seats" in text
    assert f"A random dealer, {tricks} random cards in each hand" in text
    assert f"after {RULES[name].max_hands} deals" in text


@pytest.mark.parametrize("name", RULES)
def test_the_actions_of_a_manual_are_those_of_the_environment(name):
    names = bideuchre_env.variants[name].raw_env().action_names
    rows = re.findall(r"(\d+) to (\d+) \| `(.+?)` to `(.+?)`", part(name, "Action Space"))
    assert [int(first) for first, *_ in rows] == [1, *(int(row[1]) + 1 for row in rows[:-1])]
    assert int(rows[-1][1]) == len(names) - 1
    for first, last, *ends in rows:
        assert ends == [names[int(first)], names[int(last)]]
        kind = ends[0].rpartition(" ")[0] and ends[0].partition(" ")[0]  # "" for cards
        assert all(name.startswith(kind) for name in names[int(first) : int(last) + 1])


@pytest.mark.parametrize("name", RULES)
def test_the_bids_of_a_manual_are_those_of_the_rules(name):
    rules, text = RULES[name], part(name, "Rules")
    assert f"| {rules.partnered[0]} to {rules.partnered[1]} | as bid |" in text
    assert text.count("(lone)") == sum(bid.alone for bid in rules.lone)
    assert text.count("(with partner)") == sum(bid.partner for bid in rules.lone)
    for bid in rules.lone:
        assert re.search(rf"\| {bid.name} .*\| \+{bid.value} \| -{bid.value} \|", text)
        assert ("none", "1 card", "2 cards", "3 cards")[bid.exchange] in text or not rules.exchange


@pytest.mark.parametrize("name", RULES)
def test_the_figures_of_an_episode(name):
    ahead, hands, decisions = FIGURES[name]
    assert f"-{ahead} to {ahead} |" in part(name, "Rewards")
    illegal = f'With "points" it is -{ahead} for a hand, -{GAME_LOSSES[name]} for a game.'
    assert illegal in part(name, "Rewards")
    length = part(name, "Episode End").splitlines()[-1]
    assert f" {hands} played hand" in length
    numbers = re.findall(r"\d+", length.split(" | ")[2].partition(" decisions")[0])
    assert [int(number) for number in numbers] == decisions


@pytest.mark.parametrize("name", RULES)
def test_the_registered_ids_of_a_manual_make_the_game(name):
    aec, solo = re.findall(r"`(\w+\.make\(.+?\))`", part(name, "Arguments"))
    parallel = aec.replace('"aec"', '"parallel"')
    assert f'`{aec}`, also "parallel"' in part(name, "Arguments")
    calls = [solo, *([aec, parallel] if hasattr(pettingzoo, "register") else [])]
    for call in calls:
        made = eval(call, {"gymnasium": gymnasium, "pettingzoo": pettingzoo})
        assert made.unwrapped.rules == RULES[name]


@pytest.mark.parametrize("name", RULES)
def test_the_options_of_a_manual_make_the_game(name):
    """The Arguments section has the value of every option except `lone`, which has a table."""
    text = part(name, "Arguments")
    values = {option: eval(value) for option, value in re.findall(r"`(\w+)=(.+?)`", text)}
    assert Rules(**values, lone=RULES[name].lone) == RULES[name]


@pytest.mark.parametrize("name", RULES)
def test_a_manual_has_only_rules_of_its_game(name):
    """Conditional sentences are those of the rule sheet."""
    rules, text = RULES[name], unwrapped(bideuchre_env.variants[name].__doc__)
    sheet = dict(sections(rules))
    for part_of_sheet in ("Cards", "Auction", "Play", "Game", "Scoring"):
        assert sheet[part_of_sheet][0] in text
    assert sheet["Play"][1] in text
    assert (" ".join(sheet["Exchange"]) in text) == bool(rules.exchange)
    assert ("exchange" in text.lower()) == bool(rules.exchange)
    assert ("All strains of a bid" in text) == (rules.strain_named == "in_bid")
    assert ("`lone`" in text) == bool(rules.lone)


def test_the_table_of_options_is_complete():
    """The table has each option of the environments, its default, and methods that lack it."""
    declared = {each.name: each.default for each in fields(SoloVecOptions)}
    rows = {row[0].strip("`"): row[1:] for row in manual.OPTION_ROWS}
    assert rows.keys() == declared.keys()
    for option, (default, meaning) in rows.items():
        assert eval(default.strip("`")) == declared[option]
        *_, methods = meaning.rpartition("; ")
        having = {method for method, made in METHODS.items() if option in made.names()}
        if methods.startswith("not "):
            assert set(re.findall(r"`(\w+)`", methods)) == METHODS.keys() - having
        elif option in ViewOptions.names():
            assert having == METHODS.keys()
        else:
            assert set(re.findall(r"`(\w+)`", methods)) == having
    assert all(hasattr(Variant, re.search(r"\.(\w+)\(", call)[1]) for call, _ in manual.CALLS)


def test_changed_and_custom_rules_have_their_own_manual():
    changed = bideuchre_env.cincinnati_v0.replace(target=11)
    assert "To 11 points" in changed.__doc__
    assert "gymnasium.make" not in changed.__doc__
    own = bideuchre_env.make(Rules(target=10, partnered=None, lone=[{"name": "all", "value": 5}]))
    assert "| all (lone)" in help_of(own)
    assert "custom rules" in own.__doc__


def test_the_class_has_a_docstring_of_its_own():
    assert Variant.__doc__.startswith("A game, with a method for each kind of environment")
    assert "class Variant" in help_of(Variant)
    copied = pickle.loads(pickle.dumps(bideuchre_env.barrie_v0))
    assert vars(copied) == vars(bideuchre_env.barrie_v0)
    assert copied.__doc__ == bideuchre_env.barrie_v0.__doc__


@pytest.mark.parametrize("made", [BidEuchreEnv, BidEuchreVec, SoloEnv, SoloVectorEnv])
def test_environment_classes_have_the_sections_of_gymnasium(made):
    assert tuple(re.findall(r"^    ([A-Z][A-Za-z ]+):$", made.__doc__, re.M)) == COMMON_TITLES
    assert len(made.__doc__.splitlines()) <= 60


class Page:
    """The tags of a piece of HTML, its text, the cells of its tables, and its frame."""

    def __init__(self, text):
        root = ElementTree.fromstring(f"<body>{text}</body>")
        self.tags = {each.tag for each in root.iter()} - {"body"}
        self.rows = [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]
        self.text = "".join(root.itertext())
        self.frame = getattr(root.find(".//iframe"), "attrib", {})


def test_rules_and_layouts_are_displayed_as_tables():
    env = bideuchre_env.barrie_v0.raw_env()
    for each in (env.rules, env.observation_layout):
        words = " ".join(" ".join(row) for row in Page(each._repr_html_()).rows).split()
        assert words[-5:] == str(each).split()[-5:]


def test_a_match_and_a_hand_worth_are_displayed_as_tables():
    played = match("six_card_v0", "rule", "random", boards=6, games=2)
    page = Page(played._repr_html_())
    assert page.text.startswith("rule against random, six_card_v0, seed 0")
    assert sum(row[0] == "points per hand" for row in page.rows) == 2
    page = Page(hand_worth("JH JD AH KH QS 9C", bideuchre_env.cincinnati_v0.rules)._repr_html_())
    assert page.rows[0][:2] == ["", "H"]
    assert [row[0] for row in page.rows[1:3]] == ["tricks", "3"]


@pytest.mark.slow
def test_a_record_is_displayed_as_its_replay_in_a_frame():
    """The frame is sandboxed; names of agents are not markup."""
    record = finish(start("barrie_v0", 5, max_hands=6), Chooser(5)).record
    record.agents = ["<script>alert(1)</script>", "a & b", '"c"', "rule"]
    page = Page(record._repr_html_())
    assert page.tags == {"p", "b", "iframe"}
    assert page.text.startswith(f"barrie_v0: {len(record.hands)} hands, score ")
    assert page.frame["sandbox"] == "allow-scripts"
    assert page.frame["srcdoc"] == replay_page(record).replace("\n", " ")  # as XML is read


def test_incomplete_and_broken_records_are_displayed():
    env = start("barrie_v0", 3)
    assert "in progress" in Page(env.record._repr_html_()).frame["srcdoc"]
    assert "0 hands" in Page(GameRecord("club_v0")._repr_html_()).text
    assert repr(GameRecord("club_v0", hands=5)) == "<GameRecord that makes no game>"
    assert "makes no game" in Page(GameRecord("club_v0", hands=5)._repr_html_()).text
    broken = env.record
    broken.hands[0]["actions"] = ["<b>"]
    assert "does not replay: hand 1: action 1, seat " in Page(broken._repr_html_()).text


def test_reprs_are_one_line():
    game = bideuchre_env.cincinnati_v0
    raw, wrapped, solo = game.raw_env(), game.env(), game.solo(seat=2, partner="rule")
    for env in (raw, wrapped):
        assert repr(env) == "<cincinnati_v0: nothing dealt yet>"
        env.reset(seed=1, options={"dealer": 0, "score": (5, -3)})
        assert repr(env) == "<cincinnati_v0: hand 1, player_1 to act, score 5 to -3>"
    wrapped.step(30)
    assert repr(wrapped) == "<cincinnati_v0: hand 1, over, score 5 to -3>"
    assert repr(solo) == "<cincinnati_v0, one learner with rule against random: nothing dealt yet>"
    solo.reset(seed=1, options={"score": (5, -3)})
    assert repr(solo).endswith("rule against random: in seat 2, score 5 to -3>")
    many = game.solo_vec(3)
    assert repr(many) == "<cincinnati_v0 x 3, one learner each with random against random>"
    assert repr(raw.record) == "<GameRecord cincinnati_v0: 1 hand, score 5 to -3, unfinished>"
    won = finish(start("cincinnati_v0", 2, target=4), Chooser(2)).record
    us, them = won.hands[-1]["score"]
    assert f"score {us} to {them}, won by side {won.winner}>" in repr(won)
