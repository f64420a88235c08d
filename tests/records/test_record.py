"""Game records: what they say, that they are read back, and that no fault in one goes unseen."""

import copy
import json
import random

import numpy as np
import pytest
from hypothesis import strategies as st
from support.playthroughs import (
    VARIANTS,
    Chooser,
    act,
    finish,
    legal_names,
    plies,
    same,
    snapshot,
    start,
)
from support.strategies import in_two_sizes, rules, seeds

import bideuchre_env
from bideuchre_env import GameRecord, Rules, errors, make, selfplay
from bideuchre_env.cli.main import main
from bideuchre_env.core.state import Phase, new_states


def finished(name="club_v0", seed=3, **options):
    """A record, as JSON data, of a short game with at least one played hand."""
    env = start(name, seed, **{"max_hands": 4, **options})
    data = finish(env, Chooser(seed)).record.to_dict()
    assert any(hand["contract"] for hand in data["hands"])
    return data


@pytest.mark.parametrize("name", VARIANTS)
def test_a_record_is_notations_object(name):
    """The fields of the notation, in its order, with words of the game; one line of JSON."""
    env = finish(start(name, 9, max_hands=9), Chooser(9))
    data = env.record.to_dict()
    assert list(data) == [
        *("format", "variant", "options", "seed", "agents", "hands", "winner", "outcome")
    ]
    assert (data["format"], data["variant"], data["seed"]) == ("bideuchre/1", name, 9)
    assert data["options"] == {"max_hands": 9}
    assert data["agents"] is None
    line = env.record.dumps()
    assert "\n" not in line
    assert json.loads(line) == data
    for hand in data["hands"]:
        assert list(hand) == [
            *("dealer", "deal", "actions", "declarer", "contract", "tricks", "points", "score")
        ]
        assert set(hand["actions"]) <= set(env.action_names)
        assert all(len(cards) == env.rules.tricks for cards in hand["deal"])


def test_the_example_of_the_notation():
    """A first hand of Cincinnati by hand: the actions and results stand in the record as said."""
    deal = [
        ["9S", "TS", "JH", "QH", "KD", "AC"],
        ["9H", "TH", "KH", "AH", "JD", "AS"],
        ["9C", "TC", "JC", "QC", "KC", "9D"],
        ["TD", "QD", "AD", "JS", "QS", "KS"],
    ]
    env = bideuchre_env.cincinnati_v0()
    env.reset(options={"deal": deal, "dealer": 2})
    for name in ("bid 3", "pass", "bid 4", "pass", "trump H"):
        act(env, name)
    hand = env.unwrapped.record.to_dict()["hands"][0]
    assert hand["actions"] == ["bid 3", "pass", "bid 4", "pass", "trump H"]
    assert (hand["dealer"], hand["declarer"], hand["contract"]) == (2, 1, "4 H")
    assert (hand["tricks"], hand["points"], hand["score"]) == ([0, 0], [0, 0], [0, 0])
    assert [sorted(cards) for cards in hand["deal"]] == [sorted(cards) for cards in deal]
    assert env.unwrapped.record.seed is None  # the deal did not come from a seed


def test_contract_and_declarer_are_settled_by_the_last_call():
    """While the auction runs they are null, and a passed-out hand keeps them so."""
    env = start("barrie_v0", 2, max_hands=2)
    for call in ("bid 1 C", "pass", "bid 2 NT", "pass"):
        hand = env.record.hands[0]
        assert (hand["declarer"], hand["contract"]) == (None, None)
        act(env, call)
    assert env.record.hands[0]["contract"] == "2 NT"
    env.reset(seed=2)
    for _ in range(4):
        act(env, "pass")
    hand = env.record.hands[0]
    assert (hand["declarer"], hand["contract"]) == (None, None)
    assert (hand["tricks"], hand["points"], hand["actions"]) == ([0, 0], [0, 0], ["pass"] * 4)


@pytest.mark.parametrize("name", VARIANTS)
def test_options_are_what_differs(name):
    """A default is not written; what is written makes the same rules again."""
    plain = start(name, 1).record
    assert plain.options == {}
    changed = start(name, 1, opening_lead="eldest", all_pass="eldest_forced", max_hands=50).record
    assert plain.rules.replace(**changed.options) == changed.rules
    assert all(changed.options[name] != getattr(plain.rules, name) for name in changed.options)
    assert GameRecord.loads(changed.dumps()).rules == changed.rules


@in_two_sizes(60, game=rules(), seed=seeds(), choices=st.integers(0, 2**32))
def test_a_game_of_ones_own_is_recorded_with_its_rules(game, seed, choices):
    """Any `Rules` travel in the options of `custom_v0`, through JSON, and are the same again."""
    env = finish(start(game, seed), Chooser(choices))
    again = GameRecord.loads(env.record.dumps())
    assert again.variant == "custom_v0"
    assert again.rules == game
    assert make(again.rules).rules == game
    assert again == env.record


@pytest.mark.parametrize("name", ["farm_v0", "Grandma's game", "barrie_v0"])
def test_a_named_game_is_recorded_under_its_name(name, tmp_path, capsys):
    """Its rules are spelled out, so whoever knows no such name replays it all the same."""
    game = make(Rules(target=9, max_hands=3, win_rule="any"), name=name)
    env = finish(start_of(game), Chooser(3))
    data = env.record.to_dict()
    assert data["variant"] == env.record.variant == name
    if name != "barrie_v0":
        assert Rules(**data["options"]) == game.rules
        refused(data | {"options": {"target": 9}}, "a game of one's own, with its whole rules")
        refused(data | {"options": data["options"] | {"self": 1}}, "a game of one's own")
        older = {key: each for key, each in data["options"].items() if key != "both_over"}
        assert GameRecord.from_dict(data | {"options": older}).rules == game.rules
    assert GameRecord.from_dict(data) == env.record
    assert GameRecord.from_dict(data).rules == game.rules
    file = tmp_path / "games.jsonl"
    selfplay.play(game, "random", "random", games=2, out=file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["variant"] for line in lines] == [name] * 2
    assert main(["check", str(file)]) == 0
    assert main(["show", str(file)]) == 0
    assert f"Game 1: {name}" in capsys.readouterr().out


def start_of(game):
    env = game.raw_env()
    env.reset(seed=5)
    return env


@pytest.mark.parametrize("name", ["", "two\nlines", "x" * 81, "\x1b[31mred", 5])
def test_names_of_games_are_printable(name):
    """As those of agents: they stand on screens."""
    with pytest.raises(errors.OptionError, match=r"name=.*: a name has 1 to 80 printable"):
        make(Rules(target=9), name=name)
    data = finished() | {"variant": name, "options": Rules(target=52).to_dict()}
    refused(data, "variant")


def test_every_variant_in_every_form_of_options():
    """Rules of a variant changed to and from `rounds` are written so that they are read back."""
    for name in VARIANTS:
        for options in (
            {"win_rule": "rounds"},
            {"win_rule": "rounds", "rounds": 2},
            {"win_rule": "any", "target": 9},
            {"win_rule": "any", "target": 9, "both_over": "highest"},
            {"win_rule": "made_bid", "target": 9},
            {"ranks": "10", "copies": 2, "partnered": (1, 9)},
            {"lone": [{"name": "shoot", "value": 9}], "moon_ladder": "jump"},
        ):
            record = finish(start(name, 4, max_hands=9, **options), Chooser(4)).record
            assert GameRecord.loads(record.dumps()).rules == record.rules


def test_a_game_that_began_elsewhere():
    """A score to start from is in the record, and only then."""
    env = bideuchre_env.club_v0.raw_env(max_hands=3)
    env.reset(seed=1, options={"score": [40, -7]})
    data = finish(env, Chooser(1)).record.to_dict()
    assert data["start"] == [40, -7]
    assert GameRecord.from_dict(data).to_dict() == data
    assert "start" not in finished()
    data["start"] = [41, -7]
    with pytest.raises(errors.RecordError, match=r"hand 1: (score|points)"):
        GameRecord.from_dict(data)


def test_replayed_rows_are_the_game():
    """`replay` gives the state at each hand's end, and leaves no trace in the record."""
    env = start("barrie_v0", 6, max_hands=5)
    ends = []
    for _ in plies(env, Chooser(6)):
        if len(env.record.hands) > len(ends) + 1:
            ends.append(env.record.hands[-2]["score"])
    rows = list(env.record.replay())
    assert [row["score"][0].tolist() for row in rows[:-1]] == ends
    assert rows[-1]["phase"][0] == Phase.OVER


WRONG = {
    "format": ["bideuchre/2", None, 1, ["bideuchre/1"]],
    "variant": ["club", None, 7, ["club_v0"], "custom_v0", "cincinnati_v0"],
    "options": [None, [], "x", {"colour": 1}, {"target": 0}, {"target": "52"}, {"max_hands": 2}],
    "seed": [-1, "7", 1.0, True, [7]],
    "agents": ["rule", [], ["a", "b", "c"], ["a", "b", "c", 4], ["a", "b", "c", ""], [None] * 4],
    "hands": [None, {}, "x", [None], [[]], [{}], []],
    "winner": [0, 1, True, "0", 0.0, [None]],
    "outcome": [None, "won", "drawn", "unfinished", "", 3, ["truncated"]],
    "start": [None, 5, [], [0], [0, 0, 0], [0.0, 0], [True, 0], ["0", 0], [10**30, 0], [1, 0]],
}
WRONG_IN_HAND = {
    "dealer": [None, -1, 4, "0", 1.0, True, [0]],
    "deal": [None, [], {}, "9S", [[], [], [], []], [None] * 4],
    "actions": [None, {}, "pass", [None], [5], ["Pass"], ["bid 99 C"], [["pass"]]],
    "declarer": [None, -1, 4, "1", 1.0, True],
    "contract": [None, "", "4", "9 C", "4 c", 4, ["4 C"]],
    "tricks": [None, [], [0], [9, 9], [4.0, 4.0], ["4", "4"], [True, 7], {"0": 4}],
    "points": [None, [], [0], [99, 0], [4.0, 4.0], ["4", "4"], 4],
    "score": [None, [], [0], [10**30, 0], [4.0, 4.0], "4-4"],
}


def refused(data, match):
    """Check that a record is refused with these words, from data and from a line of JSON."""
    before = copy.deepcopy(data)
    with pytest.raises(errors.RecordError, match=match) as caught:
        GameRecord.from_dict(data)
    assert type(caught.value) is errors.RecordError
    assert same(data, before)
    with pytest.raises(errors.RecordError) as again:
        GameRecord.loads(json.dumps(data))
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("field", WRONG)
def test_a_broken_field_of_a_game(field):
    """Every field in turn, missing and wrong in every way: an error that names it."""
    good = finished(max_hands=3)
    assert good["outcome"] == "truncated"
    named = {"hands": r"hands|hand 1|the record says", "options": r"options|hand 3|the record says"}
    named |= {"winner": "winner", "outcome": "outcome", "variant": r"variant|options|hand 1"}
    named |= {"start": r"start|hand 1: score"}
    GameRecord.from_dict(good)
    if field != "start":
        refused({k: v for k, v in good.items() if k != field}, f"a record: lacks '{field}'")
    for wrong in WRONG[field]:
        refused(good | {field: wrong}, named.get(field, field))


@pytest.mark.parametrize("field", WRONG_IN_HAND)
def test_a_broken_field_of_a_hand(field):
    """The same within a hand; the error says which hand it is."""
    good = finished(max_hands=3)
    at = next(i for i, hand in enumerate(good["hands"]) if hand["contract"])
    for wrong in WRONG_IN_HAND[field]:
        data = copy.deepcopy(good)
        if data["hands"][at][field] == wrong and type(wrong) is not bool:
            wrong = "something else"
        data["hands"][at][field] = wrong
        named = {"deal": "deal", "actions": "action"}.get(field, field)
        refused(data, rf"hand {at + 1}: .*({named})")
    data = copy.deepcopy(good)
    del data["hands"][at][field]
    refused(data, f"hand {at + 1}: lacks '{field}'")


def test_an_unknown_field():
    """Nothing is ignored, in the game or in a hand."""
    good = finished()
    refused(good | {"comment": "x"}, "a record: has unknown 'comment'")
    data = copy.deepcopy(good)
    data["hands"][0]["comment"] = "x"
    refused(data, "hand 1: has unknown 'comment'")


def test_an_illegal_action_is_named_with_its_place():
    """Hand, position, seat, the action and what was legal."""
    env = start("cincinnati_v0", 4, max_hands=2)
    for _ in range(7):
        env.step(Chooser(4)(env))
    legal, seat = legal_names(env), env.agent_selection
    data = env.record.to_dict()
    illegal = next(
        card for cards in data["hands"][0]["deal"] for card in cards if card not in legal
    )
    data["hands"][0]["actions"].append(illegal)
    listed = ", ".join(map(repr, legal))
    refused(data, f"hand 1: action 8, {seat} may not choose '{illegal}'; legal: {listed}")


def test_hands_out_of_order_or_too_many():
    """Swapped hands, a hand after the end, an unfinished hand with another behind it."""
    good = finished(win_rule="any", target=10**6)
    assert len(good["hands"]) == 4
    data = copy.deepcopy(good)
    data["hands"][1], data["hands"][2] = data["hands"][2], data["hands"][1]
    refused(data, r"hand 2: dealer \d, but the deal is seat \d's")
    data = copy.deepcopy(good)
    data["hands"].append(data["hands"][0])
    refused(data, "hand 5: the game was over before it")
    data = copy.deepcopy(good)
    data["hands"][0]["actions"].append("pass")
    refused(data, r"hand 1: action \d+, 'pass': the hand is over")
    data = copy.deepcopy(good)
    data["hands"].pop()
    refused(data, "the record says .*truncated.* the replay gives .*unfinished")
    data = copy.deepcopy(good)
    short = start("club_v0", 3, max_hands=4).record.to_dict()["hands"][0]
    data["hands"][0] = short
    refused(data, "hand 1: unfinished, yet another hand follows")


@pytest.mark.parametrize("name", VARIANTS)
def test_any_one_changed_word_is_noticed_or_makes_another_true_record(name):
    """A leaf of the record replaced by another of its kind, many times, all over the record.

    A change may happen to make a record that is true (another agent, another seed); then it reads
    back as the changed one. It must never be read as if it were the first.
    """
    good = finished(name, seed=8, max_hands=3, win_rule="any", target=10**6)
    rng, refusals = random.Random(5), 0
    for _ in range(250):
        data = copy.deepcopy(good)
        at, key = data, None
        while isinstance(at, (dict, list)) and at:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            parent, key = at, rng.choice(keys)
            at = parent[key]
        others = ["pass", "bid 4 H", "AS", "JC", 0, 1, 2, 5, -3, None, True, 2.0, "", [], {}]
        parent[key] = rng.choice([other for other in others if not same(other, at)])
        try:
            again = GameRecord.from_dict(copy.deepcopy(data))
        except errors.RecordError:
            refusals += 1
        else:
            assert again.to_dict() == data
            assert json.dumps(data) != json.dumps(good)
    assert refusals > 150


def test_the_record_of_an_environment_is_a_copy():
    """Changing it changes nothing in the environment."""
    env = start("barrie_v0", 1)
    before = snapshot(env)
    env.record.hands.clear()
    env.record.options["target"] = 1
    assert same(snapshot(env), before)


def test_a_record_without_hands():
    """A game that has not begun is a record too: unfinished, with its options checked."""
    empty = GameRecord("club_v0", options={"target": 40})
    assert GameRecord.loads(empty.dumps()) == empty
    assert empty.rules.target == 40
    assert list(empty.replay()) == []
    refused(empty.to_dict() | {"outcome": "won", "winner": 0}, "the replay gives")


def test_rules_of_ones_own_need_all_they_need():
    """`custom_v0` is read as `Rules(**options)`, with their errors."""
    game = Rules(target=5, max_hands=2)
    data = finish(start(game, 1), Chooser(1)).record.to_dict()
    assert data["variant"] == "custom_v0"
    del data["options"]["target"]
    refused(data, "options: win_rule='made_or_set' needs a target")


def test_rows_of_no_game_are_refused():
    """The kernel that writes them checks no bounds."""
    rng = np.random.default_rng(3)
    for name in VARIANTS:
        rules = make(name).rules
        states = new_states(20)
        states.view(np.uint8)[:] = rng.integers(0, 256, states.nbytes, np.uint8)
        for row in range(20):
            with pytest.raises(errors.OptionError, match="states"):
                GameRecord.from_rows(states[row : row + 1], rules, name)
