"""Game records: content, round trips, and errors for every fault."""

import copy
import json

import numpy as np
import pytest
from hypothesis import strategies as st
from oracles.reference import deck
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
from bideuchre_env import GameRecord, Rules, errors, make, match, records_io
from bideuchre_env.core.state import Phase, new_states


def finished(name="club_v0", seed=3, **options):
    """The record of a finished game of at most four deals, not all passed out, as JSON data."""
    env = start(name, seed, **{"max_hands": 4, **options})
    data = finish(env, Chooser(seed)).record.to_dict()
    assert any(hand["contract"] for hand in data["hands"])
    return data


@pytest.mark.parametrize("name", VARIANTS)
def test_a_record_is_one_line_of_json_with_fixed_fields(name):
    env = finish(start(name, 9, max_hands=9), Chooser(9))
    data = env.record.to_dict()
    assert " ".join(data) == "format variant options seed agents hands winner outcome"
    assert (data["format"], data["variant"], data["seed"]) == ("bideuchre/1", name, 9)
    assert (data["options"], data["agents"]) == ({"max_hands": 9}, None)
    line = env.record.dumps()
    assert "\n" not in line
    assert json.loads(line) == data
    for hand in data["hands"]:
        assert " ".join(hand) == "dealer deal actions declarer contract tricks points score"
        assert set(hand["actions"]) <= set(env.action_names)
        assert all(len(cards) == env.rules.tricks for cards in hand["deal"])


def test_the_kitty_of_a_record_is_the_rest_of_the_deck():
    env = finish(start("barrie_v0", 9, kitty=4, partnered=(1, 7), max_hands=3), Chooser(9))
    data = env.record.to_dict()
    for hand in data["hands"]:
        assert list(hand)[:3] == ["dealer", "deal", "kitty"]
        cards = [card for cards in (*hand["deal"], hand["kitty"]) for card in cards]
        assert sorted(cards) == sorted(deck("J", 2))
    assert GameRecord.loads(env.record.dumps()).to_dict() == data
    wrong, absent = json.loads(json.dumps(data)), json.loads(json.dumps(data))
    wrong["hands"][0]["kitty"][0] = data["hands"][0]["deal"][0][0]
    del absent["hands"][0]["kitty"]
    for changed, reason in ((wrong, "kitty .*the replay gives"), (absent, "lacks 'kitty'")):
        with pytest.raises(errors.RecordError, match=reason):
            GameRecord.from_dict(changed)


def test_contract_and_declarer_are_recorded_after_the_last_call():
    env = start("barrie_v0", 2, max_hands=2)
    for call in ("bid 1 C", "pass", "bid 2 NT", "pass"):
        hand = env.record.hands[0]
        assert (hand["declarer"], hand["contract"]) == (None, None)
        act(env, call)
    hand = env.record.hands[0]
    assert hand["contract"] == "2 NT"
    assert hand["declarer"] == (hand["dealer"] + 3) % 4
    env.reset(seed=3, options={"deal": hand["deal"], "dealer": 2})
    for _ in range(4):
        act(env, "pass")
    passed = env.record.hands[0]
    assert (passed["declarer"], passed["contract"]) == (None, None)
    assert (passed["tricks"], passed["points"], passed["actions"]) == ([0, 0], [0, 0], ["pass"] * 4)
    assert [sorted(cards) for cards in passed["deal"]] == [sorted(cards) for cards in hand["deal"]]
    assert env.record.seed is None  # the deal did not come from a seed


CHANGES = [{}, {"opening_lead": "eldest", "all_pass": "eldest_forced", "max_hands": 50}]
CHANGES += [{"win_rule": "rounds", "rounds": 2}]
CHANGES += [{"lone": [{"name": "shoot", "value": 9}], "moon_ladder": "jump"}]


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("options", CHANGES)
def test_recorded_options_are_the_changed_ones_and_give_the_same_rules(name, options):
    record, plain = start(name, 1, **options).record, start(name, 1).rules
    assert all(record.options[each] != getattr(plain, each) for each in record.options)
    assert plain.replace(**record.options) == record.rules
    assert GameRecord.loads(record.dumps()).rules == record.rules


@in_two_sizes(60, game=rules(), seed=seeds(), choices=st.integers(0, 2**32))
def test_any_rules_are_recorded_in_the_options_of_custom_v0(game, seed, choices):
    env = finish(start(game, seed), Chooser(choices))
    again = GameRecord.loads(env.record.dumps())
    assert again.variant == "custom_v0"
    assert again.rules == game
    assert make(again.rules).rules == game
    assert again == env.record


@pytest.mark.parametrize("name", ["farm_v0", "Grandma's game", "barrie_v0"])
def test_a_game_of_custom_rules_is_recorded_under_its_name_with_its_rules(name, tmp_path):
    game = make(Rules(target=9, max_hands=3, win_rule="any"), name=name)
    file = tmp_path / "games.jsonl"
    match(game, "random", "random", games=2, records=file)
    for record in records_io.read(file):
        assert (record.variant, record.rules) == (name, game.rules)
    data = record.to_dict()
    if name != "barrie_v0":
        assert Rules(**data["options"]) == game.rules
        for options in ({"target": 9}, data["options"] | {"self": 1}):
            refused(data | {"options": options}, "or custom rules with all options")


@pytest.mark.parametrize("name", ["", "two\nlines", "x" * 81, "\x1b[31mred", 5])
def test_a_name_of_a_game_is_printable(name):
    with pytest.raises(errors.OptionError, match=r"name=.*: expected 1 to 80 printable"):
        make(Rules(target=9), name=name)
    refused(finished() | {"variant": name, "options": Rules(target=52).to_dict()}, "variant")


def test_a_score_to_start_from_is_in_the_record():
    env = bideuchre_env.club_v0.raw_env(max_hands=3)
    env.reset(seed=1, options={"score": [40, -7]})
    data = finish(env, Chooser(1)).record.to_dict()
    assert data["start"] == [40, -7]
    assert GameRecord.from_dict(data).to_dict() == data
    assert "start" not in finished()
    refused(data | {"start": [41, -7]}, r"hand 1: (score|points)")


def test_a_replay_gives_the_state_at_the_end_of_each_hand():
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
    """Check that a record is refused with this message, from data and from a line of JSON."""
    before = copy.deepcopy(data)
    with pytest.raises(errors.RecordError, match=match) as caught:
        GameRecord.from_dict(data)
    assert type(caught.value) is errors.RecordError
    assert same(data, before)
    with pytest.raises(errors.RecordError) as again:
        GameRecord.loads(json.dumps(data))
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_field_of_a_game_is_refused_by_name(field):
    good = finished(max_hands=3)
    assert good["outcome"] == "truncated"
    words = {"hands": r"hands|hand 1|the record says", "options": r"options|hand 3|the record says"}
    words |= {"variant": r"variant|options|hand 1", "start": r"start|hand 1: score"}
    GameRecord.from_dict(good)
    if field != "start":
        refused({k: v for k, v in good.items() if k != field}, f"a record: lacks '{field}'")
    for wrong in WRONG[field]:
        refused(good | {field: wrong}, words.get(field, field))
    refused(good | {"comment": "x"}, "a record: has unknown 'comment'")


@pytest.mark.parametrize("field", WRONG_IN_HAND)
def test_a_wrong_field_of_a_hand_is_refused_by_name(field):
    good = finished(max_hands=3)
    at = next(i for i, hand in enumerate(good["hands"]) if hand["contract"])

    def with_hand(**changes):
        hands = copy.deepcopy(good["hands"])
        hands[at] |= changes
        return good | {"hands": hands}

    for wrong in WRONG_IN_HAND[field]:
        if good["hands"][at][field] == wrong and type(wrong) is not bool:
            wrong = "something else"
        word = {"actions": "action"}.get(field, field)
        refused(with_hand(**{field: wrong}), rf"hand {at + 1}: .*({word})")
    data = with_hand()
    del data["hands"][at][field]
    refused(data, f"hand {at + 1}: lacks '{field}'")
    refused(with_hand(comment="x"), f"hand {at + 1}: has unknown 'comment'")


def test_an_illegal_action_is_named_with_its_place_and_the_legal_ones():
    env = start("cincinnati_v0", 4, max_hands=2)
    for _ in range(7):
        env.step(Chooser(4)(env))
    legal, seat = legal_names(env), env.agent_selection[-1]
    data = env.record.to_dict()
    cards = [card for cards in data["hands"][0]["deal"] for card in cards]
    illegal = next(card for card in cards if card not in legal)
    data["hands"][0]["actions"].append(illegal)
    listed = ", ".join(map(repr, legal))
    refused(data, f"hand 1: action 8, seat {seat} may not choose '{illegal}'; legal: {listed}")


def test_hands_out_of_order_or_incomplete_are_refused():
    good = finished(win_rule="any", target=10**6)
    one, two, three, four = good["hands"]
    longer = one | {"actions": [*one["actions"], "pass"]}
    dealt = start("club_v0", 3, max_hands=4).record.to_dict()["hands"][0]
    for hands, message in (
        ([one, three, two, four], r"hand 2: dealer \d: expected seat \d"),
        ([one, two, three, four, one], "hand 5: the game is over before this hand"),
        ([longer, two, three, four], r"hand 1: action \d+, 'pass': the hand is over"),
        ([one, two, three], "the record says .*truncated.* the replay gives .*unfinished"),
        ([dealt, two, three, four], "hand 1: expected a finished hand, because another"),
    ):
        refused(good | {"hands": hands}, message)


def test_the_record_of_an_environment_is_a_copy():
    env = start("barrie_v0", 1)
    before = snapshot(env)
    env.record.hands.clear()
    env.record.options["target"] = 1
    assert same(snapshot(env), before)


def test_a_record_without_hands_is_an_unfinished_game():
    empty = GameRecord("club_v0", options={"target": 40})
    assert GameRecord.loads(empty.dumps()) == empty
    assert empty.rules.target == 40
    assert list(empty.replay()) == []
    refused(empty.to_dict() | {"outcome": "won", "winner": 0}, "the replay gives")
    custom = GameRecord("custom_v0", options=Rules(target=5).to_dict()).to_dict()
    del custom["options"]["target"]
    refused(custom, "options: target=None: expected a number")


@pytest.mark.parametrize("name", VARIANTS)
def test_random_rows_are_refused(name):
    """The check is needed because the kernel that records rows checks no bounds."""
    rng, rules = np.random.default_rng(3), make(name).rules
    states = new_states(20)
    states.view(np.uint8)[:] = rng.integers(0, 256, states.nbytes, np.uint8)
    for row in range(20):
        with pytest.raises(errors.OptionError, match="states"):
            GameRecord.from_rows(states[row : row + 1], rules, name)
