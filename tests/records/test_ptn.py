"""PTN text: round trips of played hands, positions for advice, and errors with their line."""

import json
import re
from pathlib import Path

import pytest
from support.commands import ROOT, run
from support.playthroughs import Chooser, finish, start

from bideuchre_env import GameRecord, Rules
from bideuchre_env.errors import RecordError
from bideuchre_env.records.files import scan
from bideuchre_env.records.page.view import hand_frames
from bideuchre_env.records.ptn import game_of_options, read_hands

README = (ROOT / "bideuchre_env/records/README.md").read_text(encoding="utf-8")
[EXAMPLE] = re.findall(r"```ptn\n(.*?)```", README, re.S)
SIX = {"variation": 1, "gameOverScore": 32, "noAlone": True}
EIGHT = {"variation": 1, "gameOverScore": 52, "deckSize": 16, "numDecks": 2, "bidType": 1}
EIGHT |= {"makerLeadsFirst": True, "callForBest": True, "offerAloneCall2": True}
EIGHT |= {"stickTheDealer": True, "minBid": 3}
SIGN = dict(zip("CDHS", "♣♦♥♠", strict=True)) | {"NT": "NT", "": ""}
LONE = {"moon": "Alone", "call-1": "Call1", "call-2": "Call2"}


def word(action):
    """A call in notation as PTN text."""
    if action == "pass":
        return "Pass"
    bid, _, strain = action.removeprefix("bid ").partition(" ")
    return f"{SIGN[strain]}{LONE[bid]}" if bid in LONE else f"{bid}{SIGN[strain]}"


def as_text(record, options):
    """The first hand of a record as PTN text."""
    [played, *_], hand = record.played_hands(), record.hands[0]
    frames = hand_frames(played.dealt, played.actions, record.rules, None)
    first = (hand["dealer"] + 1) % 4
    hands = [
        ".".join("".join(card[0] for card in cards if card[1] == suit) for suit in "SHDC")
        for cards in (hand["deal"][(hand["dealer"] + turn) % 4] for turn in range(4))
    ]
    plies = frames["plies"]
    lines = [
        '[Event "test"]',
        f"[GameOptionsJson {json.dumps(json.dumps(options))}]",
        '[GameScores "S:{} {} {} {}"]'.format(*record.start * 2),
        f'[Dealer "{"SWNE"[hand["dealer"]]}"]',
        f'[Deal "{"SWNE"[hand["dealer"]]}:{" ".join(hands)}"]',
        f'[Auction "{"SWNE"[first]}"]',
        " ".join(word(ply["action"]) for ply in plies[:4]),
    ]
    for ply in plies:
        seat, action = ply["seat"], ply["action"]
        if ply["phase"] == "naming":
            bid = hand["contract"].split()[0]
            named = word(f"bid {bid} {action.removeprefix('trump ')}")
            lines.append(" ".join(named if (first + i) % 4 == seat else "-" for i in range(4)))
        if ply["phase"] in ("giving", "passing"):
            sender, receiver = "SWNE"[seat], "SWNE"[(seat + 2) % 4]
            lines.append(f'[CardsPassed "{sender}:{receiver}:{action[::-1]}"]')
    for number, trick in enumerate(frames["tricks"]):
        leader = frames["tricks"][0]["leader"]
        if number == 0:
            lines.append(f'[Play "{"SWNE"[leader]}"]')
        cards = [trick["plies"][(leader + i) % 4] for i in range(4)]
        lines.append(" ".join("-" if ply is None else plies[ply]["action"][::-1] for ply in cards))
    return "\n".join(lines)


@pytest.mark.parametrize("options", [SIX, EIGHT])
def test_hands_written_as_text_are_read_as_the_same_records(options, tmp_path):
    rules, texts, records = game_of_options(json.dumps(options)), [], []
    for seed in range(12):
        record = finish(start(rules, seed), Chooser(seed)).record
        texts.append(as_text(record, options))
        records.append(record)
    file = tmp_path / "hands.ptn"
    file.write_text("\n\n".join(texts), encoding="utf-8")
    lines = list(scan(file))
    assert [line.error for line in lines] == [None] * 12
    assert [line.record.hands for line in lines] == [record.hands[:1] for record in records]
    assert all(GameRecord.loads(line.record.dumps()).rules == rules for line in lines)


def test_example_of_the_manual_is_shown_checked_and_a_position_for_advice(tmp_path, capsys):
    file = tmp_path / "hand.ptn"
    file.write_text(EXAMPLE, encoding="utf-8")
    assert run("check", str(file)) == 0
    assert "1 game, 1 hand verified, no fault" in capsys.readouterr().out
    assert run("show", str(file)) == 0
    assert "Contract: 4 S by seat 1" in capsys.readouterr().out
    assert run("show", str(file), "--variant", "barrie_v0") == 2
    assert "no game record in it (line 5: Deal: " in capsys.readouterr().err


def hand_of(text, game=None):
    [(_, hand)] = read_hands(text, game)
    return hand


def tag_text(deal="N:- AK.AK.A.A - -", rows="6 Pass Pass Pass", options=SIX, more=""):
    options = json.dumps(json.dumps(options))
    return (
        f'[Event "x"]\n[GameOptionsJson {options}]\n[Deal "{deal}"]\n[Auction "E"]\n{rows}\n{more}'
    )


def test_single_hand_is_a_position_but_no_record():
    hand = hand_of(tag_text())
    assert hand.cards[3] == ["AS", "KS", "AH", "KH", "AD", "AC"]
    assert [step.action for step in hand.steps] == ["bid 6", "pass", "pass", "pass"]
    with pytest.raises(RecordError, match="line 1: no cards of South, West, North"):
        hand.played()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (tag_text(options={}), "line 2: GameOptionsJson: variation: expected 1"),
        (tag_text(options=SIX | {"withKitty": True}), "withKitty=true: expected false"),
        (tag_text(options=SIX | {"players": 6}), "players=6: expected 4"),
        (tag_text(deal="N:- AK.AK.A - -"), "line 3: Deal: .*four suits"),
        (tag_text(deal="N:- AK.AK.A.X - -"), "line 3: Deal: .*is no card"),
        (tag_text(deal="AK.AK.A.A"), "line 3: Deal: .*expected a seat, a colon and four words"),
        (tag_text(rows="7 Pass"), "line 5: player_3 may not choose 'bid 7'"),
        (tag_text(rows="6 Pass 5"), "line 5: player_1 may not choose 'bid 5'"),
        (tag_text(rows="6 x"), "line 5: 'x': expected Pass"),
        (tag_text(rows="6 Pass Pass Pass\n6NT↓"), "line 6: .*low no trump"),
        (tag_text(rows="3 Pass Pass Pass\n- 4"), "line 6: '4': expected one call of each seat"),
        (tag_text(more='[Play "E"]\nSA'), "line 6: Play: expected a complete auction"),
        (
            tag_text(rows="6 - - -\n6NT", more='[Play "S"]\nSA'),
            "line 7: Play 'S': expected E, who leads",
        ),
        (tag_text(rows="6 - - -\n6NT", more='[Play "E"]\nSQ'), "line 8: player_3 may not"),
        (tag_text(rows="6 - - -\n6NT", more='[Play "E"]\nSA - ST'), "line 8: .*a card of S"),
        ("[Event x]", "line 1: .*expected .Tag"),
    ],
)
def test_faults_name_the_line(text, message):
    fault = hand_of(text)
    assert isinstance(fault, RecordError)
    assert re.search(message, str(fault)), fault


def test_options_of_the_text_become_rules_and_a_game_replaces_them():
    rules = game_of_options(json.dumps(EIGHT))
    assert (rules.cards, rules.tricks, rules.partnered, rules.target) == (32, 8, (3, 8), 52)
    assert [bid.name for bid in rules.lone] == ["call-2", "call-1", "moon"]
    assert (rules.strain_named, rules.opening_lead) == ("in_bid", "declarer")
    assert rules.all_pass == "dealer_forced"
    other = Rules(ranks="9", copies=1, partnered=(3, 6), lone=[], target=20)
    text = tag_text(rows="6NT Pass", options=SIX | {"withKitty": True})
    hand = hand_of(text, ("farm", other))
    assert (hand.variant, hand.rules.target) == ("farm", 20)
    assert [step.action for step in hand.steps] == ["bid 6 NT", "pass"]


def test_advice_on_text_is_at_its_end_or_before_an_action(tmp_path, capsys):
    file = Path(tmp_path, "case.PTN")
    file.write_text(tag_text(), encoding="utf-8")
    assert run("advise", str(file), "--worlds", "20", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["seat"], printed["phase"]) == (3, "name the strain")
    assert "done" not in printed
    assert run("advise", str(file), "--worlds", "20", "--json", "--ply", "1") == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["phase"], printed["done"]["action"]) == ("call", "bid 6")
    assert run("advise", str(file), "--ply", "2") == 2
    assert "the cards of South, who is to act, are unknown" in capsys.readouterr().err
    assert run("check", str(file)) == 1
