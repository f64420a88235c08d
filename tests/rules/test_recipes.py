"""The files of rules of other tables, and the page that leads to them: "Which game is yours?"."""

import re
from pathlib import Path

import pytest

import bideuchre_env
from bideuchre_env import Bid, Rules, agents
from bideuchre_env.rules.variants import RULES

FOLDER = Path(bideuchre_env.__file__).parent / "rules" / "recipes"
FILES = sorted(FOLDER.glob("*.toml"))
PAGE = FOLDER / "README.md"  # a wheel has no pages
needs_page = pytest.mark.skipif(not PAGE.exists(), reason="pages are in a checkout only")

CALLS = (Bid("call-2", 12, 2), Bid("call-1", 18, 1), Bid("moon", 24))
AFTER = {"strain_named": "after_auction", "win_rule": "any"}
SINGLE = {"ranks": "9", "partnered": (1, 6), **AFTER}
FROM_3 = SINGLE | {
    "partnered": (3, 6),
    "all_pass": "dealer_forced",
    "opening_lead": "eldest",
    "both_over": "continue",
}
DOUBLE = {"ranks": "9", "copies": 2}
FROM_6 = DOUBLE | AFTER | {"partnered": (6, 12), "no_trump": "both", "auction": "until_passes"}
JACKS = {"ranks": "J", "copies": 2, "partnered": (1, 8), "lone": CALLS}
SLIDES = (Bid("slide", 12, 1), Bid("alone", 24))
DOUBLED = (Bid("double", 48), Bid("triple", 96), Bid("quadruple", 192))
HORSES = (Bid("horse", 12, 3), Bid("double horse", 24, 3), Bid("redouble horse", 48, 3))
PEPPERS = (Bid("little pepper", 6, partner=True), Bid("big pepper", 12, partner=True))

EXPECTED = {
    "sixteen_cards": {"ranks": "J", "partnered": (1, 4), "target": 20},
    "foster": SINGLE
    | {"no_trump": "none", "opening_lead": "eldest", "target": 15}
    | {"made_scores": "bid", "defenders_score": "value_if_set"},
    "app_24_cards": SINGLE
    | {"lone": (Bid("moon", 24),), "no_trump": "none", "opening_lead": "eldest", "target": 52},
    "kaibosh": SINGLE | {"lone": (Bid("kaibosh", 12),), "no_trump": "none", "target": 32},
    "iowa_pepper": SINGLE | {"lone": (Bid("pepper", 12),), "target": 31},
    "michigan": SINGLE
    | {"lone": SLIDES + DOUBLED, "no_trump": "none", "all_pass": "redeal_same", "target": 32}
    | {"exchange_seen": "open", "opening_lead": "eldest"},
    "horse": SINGLE
    | {"lone": HORSES, "strain_named": "in_bid", "auction": "until_passes", "floor": -25}
    | {"opening_lead": "left", "defenders_score": "none", "win_rule": "made_bid", "target": 50},
    "slide": FROM_3 | {"lone": SLIDES, "target": 32},
    "senior_games": JACKS | {"win_rule": "rounds", "rounds": 2},
    "senior_league": JACKS | {"strain_named": "lone_after", "win_rule": "made_bid", "target": 52},
    "app_32_cards": JACKS | {"win_rule": "any", "both_over": "highest", "target": 52},
    "high_low_32": JACKS | {"no_trump": "both", "win_rule": "made_bid", "target": 52},
    "app_kitty": JACKS
    | {"kitty": 4, "partnered": (1, 7), "no_trump": "both", "auction": "until_passes"}
    | {"all_pass": "dealer_forced", "win_rule": "any", "target": 52},
    "kitty_48": DOUBLE
    | {"kitty": 4, "partnered": (1, 11), "lone": (Bid("alone", 16),), "made_scores": "bid"}
    | {"win_rule": "rounds", "rounds": 3},
    "hoss": JACKS | AFTER | {"partnered": (4, 7), "lone": (Bid("hoss", 16, 2),), "target": 52},
    "forty_cards": {"ranks": "10", "copies": 2, "partnered": (1, 10), "no_trump": "both"}
    | {"win_rule": "any", "floor": -52, "target": 52},
    "double_pack": DOUBLE
    | {"partnered": (3, 12), "all_pass": "dealer_lowest", "win_rule": "any", "target": 36},
    "hussy": FROM_6
    | {"partnered": (6, 11), "lone": (Bid("hussy", 24, partner=True, lost=12),)}
    | {"no_trump": "high", "no_trump_from": 13, "target": 62},
    "hammerwalt": FROM_6
    | {"lone": (Bid("alone", 24, 3),), "all_pass": "dealer_lowest", "exchange_seen": "open"}
    | {"win_rule": "made_or_set", "target": 52},
    "shooter": FROM_6
    | {"lone": (Bid("shooter", 18, 2), Bid("loner", 24, lost=18)), "all_pass": "dealer_lowest"}
    | {"made_bonus": 2, "floor": -50, "target": 50},
}
NAMED = {
    "partners_best_v0": FROM_3
    | {"lone": (Bid("partners best", 12, 1), Bid("alone", 24)), "no_trump": "both", "target": 40},
    "indiana_v0": DOUBLE
    | {"partnered": (1, 12), "lone": (Bid("shoot", 24, 3),), "no_trump": "both"}
    | {"auction": "until_out", "win_rule": "made_or_set", "target": 52},
    "pepper_v0": SINGLE
    | {"partnered": (1, 5), "lone": PEPPERS, "auction": "until_passes", "target": 30},
}
GAMES = {path: Rules.from_toml(path) for path in FILES} | {name: RULES[name] for name in NAMED}
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: getattr(game, "stem", game))


def test_every_file_is_expected():
    assert {path.stem for path in FILES} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_has_the_rules_of_its_table(name):
    path = FOLDER / f"{name}.toml"
    assert Rules.from_toml(path) == Rules(**EXPECTED[name])
    assert bideuchre_env.make(path).name == name


@pytest.mark.parametrize("name", NAMED)
def test_a_variant_has_the_rules_of_its_table(name):
    assert RULES[name] == Rules(**NAMED[name])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_differs_from_every_variant_and_from_the_other_files(path):
    others = [Rules.from_toml(each) for each in FILES if each != path]
    assert Rules.from_toml(path) not in [*RULES.values(), *others]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_begins_with_its_source(path):
    head = re.match(r"(# .*\n)+", path.read_text(encoding="utf-8"))[0]
    assert re.search(r"https?://|[Ss]ource: .*|public projects?", head)


@every_game
def test_rule_plays_a_game_against_cautious(game):
    """The environment raises an error for an illegal action."""
    game = bideuchre_env.make(game)
    env = game.env()
    env.reset(seed=3)
    players = [agents.make(("rule", "cautious")[seat % 2], game.rules) for seat in range(4)]
    for name in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
        else:
            player = players[int(name[-1])]
            env.step(player.act(observation["observation"], observation["action_mask"]))
    record = env.unwrapped.record
    assert record.outcome is not None
    assert len(record.hands) > 1


@needs_page
@pytest.mark.parametrize("cards", [16, 24, 32, 40, 48])
def test_the_page_lists_each_game_under_its_deck(cards):
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)
    [section] = [each for each in sections if each.startswith(f"{cards} cards")]
    links = re.findall(r"\[`?[\w.]+`?\]\(([\w./]+)\) \|$", section, re.M)
    files = [path.name for path in FILES if Rules.from_toml(path).cards == cards]
    variants = [f"../{name}.md" for name, rules in RULES.items() if rules.cards == cards]
    assert sorted(links) == sorted(files + variants)


@needs_page
@every_game
def test_the_row_of_a_game_has_its_bids_and_target(game):
    rules, link = GAMES[game], game.name if isinstance(game, Path) else f"../{game}.md"
    [row] = [each for each in PAGE.read_text("utf-8").splitlines() if f"({link}) |" in each]
    bids, lone, no_trump, auction, end, _ = (cell.strip() for cell in row.strip("|").split("|"))
    assert bids.startswith("{} to {}".format(*rules.partnered))
    if lone != "the same":
        assert all(str(bid.value) in lone for bid in rules.lone)
        assert ("none" in lone) == (not rules.lone)
    assert no_trump.split(", ")[0] == ("none" if rules.no_trump == "none" else "high")
    assert ("low" in no_trump) == (rules.no_trump == "both")
    assert ("rounds" in auction) == (rules.auction != "once")
    assert ("after" in auction) == (rules.strain_named != "in_bid")
    hands = {8: "eight hands", 12: "twelve hands"}
    assert end.startswith(str(rules.target) if rules.target else hands[rules.hands_to_play])
    assert ("kitty" in bids) == (rules.kitty > 0)
    assert ("loses" in end) == (rules.floor is not None)
