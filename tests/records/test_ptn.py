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
[EXAMPLE] = re.findall(r"```text\n(\[Event.*?)```", README, re.S)
GAME = {"variation": 1, "allowNoTrump": True}
SIX = GAME | {"gameOverScore": 32, "noAlone": True}
EIGHT = GAME | {"gameOverScore": 52, "deckSize": 16, "numDecks": 2, "bidType": 1}
EIGHT |= {"makerLeadsFirst": True, "callForBest": True, "offerAloneCall2": True}
EIGHT |= {"stickTheDealer": True, "minBid": 3}
LOW = {"allowLowNoTrump": True}
SIGN = dict(zip("CDHS", "♣♦♥♠", strict=True)) | {"NT": "NT", "LOW": "NT↓", "": ""}
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
    ]
    calls = [word(ply["action"]) for ply in plies if ply["phase"] == "auction"]
    lines += [" ".join(calls[at : at + 4]) for at in range(0, len(calls), 4)]
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


ROUNDS = {"biddingStyle": 1, "callTrump": 2}


@pytest.mark.parametrize(
    "options",
    [SIX, EIGHT, SIX | LOW, EIGHT | {"allowNoTrump": False}, SIX | ROUNDS, EIGHT | ROUNDS | LOW],
)
def test_hands_written_as_text_are_read_as_the_same_records(options, tmp_path):
    rules, texts, records = game_of_options(json.dumps(options)), [], []
    for seed in range(12):
        record = finish(start(rules, seed, max_hands=1), Chooser(seed)).record
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
    assert "no game record in it (event 1: line 5: Deal: " in capsys.readouterr().err


def hand_of(text, game=None):
    [(_, hand)] = read_hands(text.splitlines(), game)
    return hand


def tag_text(deal="N:- AK.AK.A.A - -", rows="6 Pass Pass Pass", options=SIX, more=""):
    options = json.dumps(json.dumps(options))
    return (
        f'[Event "x"]\n[GameOptionsJson {options}]\n[Deal "{deal}"]\n[Auction "E"]\n{rows}\n{more}'
    )


NAMED = "6 - - -\n6NT"
KITTY = EIGHT | LOW | {"withKitty": True, "biddingStyle": 1, "minBid": 1, "callTrump": 2}


def kitty_text():
    """A hand of a game with a kitty, of TricksterCards/TricksterBots issue 310."""
    lines = tag_text("W:KJ.AQJ.AQ. K.QJ.J.AKJ J.K.AK.AKJ AAQ.K.Q.QQ", "1♣ ♣Call2 - -", KITTY)
    lines = lines.replace('[Auction "E"]', '[Auction "N"]').replace(
        "[Deal", '[GameScores "S:-12 5 -12 5"]\n[Dealer "W"]\n[Deal'
    )
    return f'{lines}[Contract "♣Call2"]\n[Declarer "E"]\n[Note "x"]\n[Undealt "SQDKDJHA"]'


def play_text(rows):
    """The bid 6 NT of East, whose cards are unknown, and its rows of cards."""
    return tag_text(rows=NAMED, more=f'[Play "E"]\n{rows}', deal="N:- - - -")


def pass_text(*passed):
    """The bid call-2 of East, with West its partner, and these cards passed."""
    return tag_text(
        deal="N:- AKJ.AK.A. - -",
        rows="Call2 - - -\nNTCall2",
        options=SIX | {"offerAloneCall2": True},
        more="\n".join(f'[CardsPassed "{each}"]' for each in passed),
    )


def test_unknown_hand_plays_and_passes_a_nine():
    hand = hand_of(play_text("H9 - - -"))
    assert hand.steps[-1].action == "9H"
    hand = hand_of(pass_text("West:East:h9 C9", "East:West:HA HK"))
    assert [step.action for step in hand.steps[-4:]] == ["AH", "KH", "9H", "9C"]


def contract_text(options, *tags):
    """Unknown hands, dealt by North, and these tags in place of an auction."""
    return tag_text(deal="N:- - - -", options=options, more="\n".join(tags)).replace(
        '[Auction "E"]\n6 Pass Pass Pass\n', ""
    )


@pytest.mark.parametrize(("options", "last"), [(SIX, ["bid 4", "trump H"]), (EIGHT, ["bid 4 H"])])
def test_contract_and_declarer_stand_for_an_auction(options, last):
    """Seats before and after the declarer pass; eldest hand declares if there is no Declarer."""
    for passes, declarer in enumerate(("E", "S", "W", "N")):
        tags = ('[Contract "4♥"]', f'[Declarer "{declarer}"]')[: 1 + (passes > 0)]
        hand = hand_of(contract_text(options, *tags))
        calls = ["pass"] * passes + last[:1] + ["pass"] * (3 - passes)
        assert [step.action for step in hand.steps] == calls + last[1:]
        assert hand.steps[passes].seat == (3 + passes) % 4 == hand.row["declarer"][0]
    hand = hand_of(contract_text(SIX, '[Contract "Pass"]'))
    assert [step.action for step in hand.steps] == ["pass"] * 4
    for tags, message in (
        (['[Declarer "W"]'], "line 1: Contract: expected this tag once for each Event"),
        (['[Contract "4"]', '[Declarer "W"]'], "Contract: '4': expected 4 and its strain by West"),
        (['[Contract "Pass"]', '[Declarer "W"]'], "Declarer: 'W': expected no such tag"),
        (['[Contract "♥Alone"]'], "line 4: '.*Alone': expected 1, 2, 3"),
    ):
        fault = hand_of(contract_text(SIX, *tags))
        assert isinstance(fault, RecordError)
        assert re.search(message, str(fault)), fault


def test_twin_of_a_passed_card_comes_from_an_unknown_hand():
    """A passed card is in the declarer's hand, and not in the place of its twin as well."""
    tags = ('[Contract "♥Call1"]', '[CardsPassed "E:W:HQ"]', '[CardsPassed "W:E:HA"]')
    read = contract_text(EIGHT, *tags, '[Play "E"]')
    for cards, last in (("HA HA", "AH"), ("HK HA", "AH"), ("HK HQ", "QH")):
        assert hand_of(f"{read}\n{cards} - -").steps[-1].action == last
    for cards in ("HK HA - HA", "HA HA - HA", "HK HQ - HQ"):
        fault = hand_of(f"{read}\n{cards}")
        assert re.search("line 8: [AQ]H: expected a card that no other hand has or had", str(fault))


def test_malformed_tag_makes_no_event_of_its_own():
    results = list(read_hands(f"{tag_text(more='[Play W]')}\n\n{tag_text()}".splitlines()))
    assert [number for number, _ in results] == [1, 2]
    assert isinstance(results[0][1], RecordError)
    assert not isinstance(results[1][1], RecordError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            '{"variation":1,"gameOverScore":"x"}',
            'gameOverScore="x": expected a whole number from 1',
        ),
        ('{"variation":1,"gameOverScore":true}', "gameOverScore=true: expected a whole number"),
        ('{"variation":1,"gameOverScore":32.0}', "gameOverScore=32.0: expected a whole number"),
        ('{"variation":1,"gameOverScore":0}', "gameOverScore=0: expected a whole number from 1"),
        ('{"variation":true}', "variation=true: expected 1"),
        ('{"variation":1,"deckSize":16.0}', "deckSize=16.0: expected 24 or 20 or 16"),
        ('{"variation":1,"noAlone":1}', "noAlone=1: expected false or true"),
        ('{"variation":1,"minBid":7}', "minBid=7: expected up to 6"),
        ('{"variation":1,"noAlone":"%s"}' % ("x" * 999), r"^noAlone=\.\.\.: expected false"),
        ('{"variation":1,"deckSize":24,"decksize":24}', "a name twice"),
        ("[]", "expected a JSON object"),
        ("[" * 100_000, "expected a JSON object"),
    ],
)
def test_option_of_the_wrong_type_is_an_error(options, message):
    with pytest.raises(RecordError, match=message) as caught:
        game_of_options(options)
    assert not re.search("target|partnered", str(caught.value))


def test_option_needs_a_game_with_text(tmp_path, capsys):
    file = tmp_path / "hand.ptn"
    file.write_text(EXAMPLE, encoding="utf-8")
    assert run("check", str(file), "--option", "target=20") == 2
    assert "--option 'target=20': expected --variant or --rules" in capsys.readouterr().err
    file.write_text("x\n[Event x]\n[Event y]", encoding="utf-8")
    assert run("show", str(file)) == 2
    assert "no game record in its first 3 events (event 1: line 1: " in capsys.readouterr().err


def test_row_after_the_end_of_the_hand_is_an_error():
    assert re.search("'SA': the hand is over", str(hand_of(f"{EXAMPLE}SA")))


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
        (tag_text(options=SIX | {"withKitty": True}), "line 3: Deal: .*expected 5 cards"),
        (
            kitty_text().replace("SQDKDJHA", "SQDKDJHK"),
            "line 11: Undealt: 'SQDKDJHK': expected the 4 cards that no hand has",
        ),
        (kitty_text() + '\n[Play "W"]\nSA SK', "line 12: Play: expected no such tag .*withKitty"),
        (
            kitty_text().replace('\\"numDecks\\": 2', '\\"numDecks\\": 1'),
            "line 2: GameOptionsJson: kitty=4: expected 0 with this deck of 16 cards",
        ),
        (tag_text(rows=NAMED, options={"variation": 1}), "line 6: '6NT': .*strains C, D, H, S$"),
        (tag_text(options={"variation": 1} | LOW), "allowLowNoTrump=true: expected false without"),
        (tag_text(options=SIX | {"biddingStyle": 2}), "biddingStyle=2: expected 0 or 1, or"),
        (tag_text(options=SIX | {"newRule": "x"}), 'newRule="x": expected false or 0 or null'),
        (tag_text(options=SIX | {"players": 6}), "players=6: expected 4"),
        (tag_text(deal="N:- AK.AK.A - -"), "line 3: Deal: .*four suits"),
        (tag_text(deal="N:- AK.AK.A.X - -"), "line 3: Deal: .*is no card"),
        (tag_text(deal="AK.AK.A.A"), "line 3: Deal: .*expected a seat, a colon and four words"),
        (tag_text(rows="7 Pass"), "line 5: seat 3 may not choose 'bid 7'"),
        (tag_text(rows="6 Pass 5"), "line 5: seat 1 may not choose 'bid 5'"),
        (tag_text(rows="6 x"), "line 5: 'x': expected Pass"),
        (
            tag_text(rows="6 Pass Pass Pass\n6NT↓"),
            "line 6: .*expected one of the strains C, D, H, S, NT",
        ),
        (tag_text(rows="3 Pass Pass Pass\n- 4"), "line 6: '4': expected 3 and its strain by East"),
        (
            tag_text(rows="3 Pass Pass Pass\n3♥\n3♥"),
            "line 7: '3.*': expected no call after the auction",
        ),
        (tag_text(rows="3 Pass Pass Pass\n- 3♥"), "line 6: .*expected 3 H by East"),
        (tag_text(rows="4♥ Pass Pass Pass"), "line 5: .*expected the strain after the auction"),
        (tag_text(rows=NAMED, more='[Contract "5NT"]'), "line 7: .*expected 6 NT by East"),
        (tag_text(rows=NAMED, more='[Declarer "S"]'), "line 7: .*'S': expected East"),
        (tag_text(more='[GameScores "S:1 2 3 2"]'), "line 6: .*the same score for partners"),
        (
            tag_text().replace('[Auction "E"]', '[Auction "W"]'),
            "line 4: Auction: 'W': expected East",
        ),
        (tag_text(more="[Play W]"), "line 6: .*W.*: expected .Tag"),
        ("x\ny\n[Play W]", "line 1: 'x': expected .Tag"),
        (tag_text(more='[Play "E"]\nSA'), "line 6: Play: expected a complete auction"),
        (
            tag_text(rows=NAMED, more='[Play "S"]\nSA'),
            "line 7: Play: 'S': expected East, who leads",
        ),
        (tag_text(rows=NAMED, more='[Play "E"]\nSQ'), "line 8: seat 3 may not"),
        (tag_text(rows=NAMED, more='[Play "E"]\nSA - ST'), "line 8: .*a card of S"),
        (play_text("SASK"), "line 8: 'SASK': expected a card, suit first"),
        (play_text("SA S9 ST HQ\nHA H9 HT SQ"), "line 9: QS: North has failed to follow this suit"),
        (play_text("SA SA"), "line 8: AS: expected a card that no other hand has"),
        (play_text("SA SK\n- - SQ"), "line 9: '- - SQ': expected a row for each trick"),
        (play_text("SA SK SQ SJ ST"), "line 8: .*expected a row for each trick"),
        (pass_text("N:S:HK"), "line 7: CardsPassed: 'N:S:HK': expected at most 2 cards from East"),
        (pass_text("E:S:HA"), "line 7: .*expected at most 2 cards from East to West"),
        (pass_text("E:W:HA HK", "E:W:SA"), "line 8: .*at most 2 cards from West to East"),
        (pass_text("E:W:HA HK HQ"), "line 7: .*at most 2 cards from East"),
        (pass_text("E:W"), "line 7: .*expected seat:seat:cards"),
        (pass_text("W:E:CA"), "line 7: .*at most 2 cards from East to West"),
        (tag_text(rows=NAMED, more='[CardsPassed "E:W:HA"]'), "line 7: .*expected no card to be"),
        ("[Event x]", "line 1: .*expected .Tag"),
    ],
)
def test_faults_name_the_line(text, message):
    fault = hand_of(text)
    assert isinstance(fault, RecordError)
    assert re.search(message, str(fault)), fault


def test_a_text_of_a_game_with_a_kitty_is_read_up_to_the_play():
    """A hand of a public report: seven cards each, four in the kitty, low no trump, rounds."""
    hand = hand_of(kitty_text())
    assert (hand.rules.kitty, hand.rules.tricks, hand.rules.no_trump) == (4, 7, "both")
    assert [step.action for step in hand.steps][:2] == ["bid 1 C", "bid call-2 C"]
    record, _ = hand.played()
    assert sorted(record.hands[0]["kitty"]) == ["AH", "JD", "KD", "QS"]
    record.verify()
    known = kitty_text().replace("K.QJ.J.AKJ J.K.AK.AKJ AAQ.K.Q.QQ", "- - -")
    assert len(hand_of(known).cards[1]) == 7


def test_options_of_the_text_become_rules_and_a_game_replaces_them():
    rules = game_of_options(json.dumps(EIGHT))
    assert (rules.cards, rules.tricks, rules.partnered, rules.target) == (32, 8, (3, 8), 52)
    assert [bid.name for bid in rules.lone] == ["call-2", "call-1", "moon"]
    assert (rules.strain_named, rules.opening_lead) == ("in_bid", "declarer")
    assert rules.all_pass == "dealer_forced"
    other = Rules(ranks="9", copies=1, partnered=(3, 6), lone=[], target=20)
    text = tag_text(rows="6NT Pass", options=SIX | {"newRule": True})
    hand = hand_of(text, ("farm", other))
    assert (hand.variant, hand.rules.target) == ("farm", 20)
    assert [step.action for step in hand.steps] == ["bid 6 NT", "pass"]


@pytest.mark.search
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


def test_check_verifies_positions_and_names_the_event_and_line_of_a_fault(tmp_path, capsys):
    """A file of positions was one of bad events, and 20 of them stopped the reading."""
    file = tmp_path / "hands.ptn"
    file.write_text("\n\n".join([tag_text()] * 21), encoding="utf-8")
    assert run("check", str(file)) == 0
    counts = "0 games, 0 hands verified, 21 positions for `bideuchre advise`"
    assert capsys.readouterr().out == f"{file}: {counts}, no fault\n"
    revoke = play_text("SA S9 ST HQ\nHA H9 HT SQ")
    text = f"{EXAMPLE}\n{tag_text()}\n{revoke}"
    file.write_text(text, encoding="utf-8")
    assert run("check", str(file)) == 1
    line = len(text.splitlines())
    reason = "North has failed to follow this suit, so it cannot hold the card"
    fault = f"{file}:3: line {line}: QS: {reason}"
    assert capsys.readouterr().out.splitlines() == [
        fault,
        f"{file}: 1 game, 1 hand verified, 1 position for `bideuchre advise`, 1 bad event",
    ]
    assert run("advise", str(file), "--game", "3") == 2
    assert fault in capsys.readouterr().err
    file.write_text(tag_text(rows=NAMED, more='[Play "E"]\nSA H9 HT HJ'), encoding="utf-8")
    assert run("advise", str(file)) == 2  # no seat has the other spades
    assert f"{file}:1: played: no deal of the hidden cards allows" in capsys.readouterr().err
    file.write_text(EXAMPLE, encoding="utf-8")
    assert run("advise", str(file)) == 2
    assert f"{file}:1: the hand is over: expected --ply 1 to 29" in capsys.readouterr().err
    file.write_text(text, encoding="utf-8")
    assert run("show", str(file), "--game", "2") == 2
    assert "for fewer use `bideuchre advise`" in capsys.readouterr().err
