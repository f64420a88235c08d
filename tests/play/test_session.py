"""A game between people and agents: who may act, undo, claims, the saved file and its faults."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys

import pytest
from support.playthroughs import VARIANTS, rows_bytes
from support.terminal_games import to_a_claim

from bideuchre_env import Variant, make
from bideuchre_env.core.state import Phase
from bideuchre_env.errors import (
    AgentError,
    IllegalActionError,
    OptionError,
    OutputError,
    RecordError,
)
from bideuchre_env.play import session as session_module
from bideuchre_env.play.saved import PERSON, check_people, game_to_go_on, new_game_path, seated
from bideuchre_env.play.session import Session
from bideuchre_env.records import files as records_io

MIXED = ("rule", ["cautious", "random"])


def begin(variant="cincinnati_v0", people=(0,), path=None, seed=1, agents=MIXED, **options):
    """A game with the rule player opposite, and two beside of which one acts at random."""
    options = options or ({} if variant == "simplified_v0" else {"max_hands": 3})
    game = variant if isinstance(variant, Variant) else make(variant, **options)
    return Session(game, people, seated(people, *agents), seed=seed, path=path)


def choice(session, rng):
    """An action of the person; half the calls are passes."""
    legal = session.legal()
    return "pass" if "pass" in legal and rng.random() < 0.5 else rng.choice(legal)


def play(session, seed=0, stop=None):
    """Play at random to the end, or until `stop` is true of the session."""
    rng = random.Random(seed)
    while not session.over and not (stop and stop(session)):
        session.advance()
        if session.hand_over:
            session.next_hand()
        elif session.waits_for_person:
            session.act(session.seat, choice(session, rng))
    return session


def place(session):
    """The row and the record of a game in progress."""
    return rows_bytes(session.row.reshape(1)), session.record().to_dict()


@pytest.mark.parametrize(
    ("people", "opponents", "names"),
    [
        ([0], ["b"], [PERSON, "b", "a", "b"]),
        ([0], ["b", "c"], [PERSON, "b", "a", "c"]),
        ([3], ["b", "c"], ["b", "a", "c", PERSON]),
        ([2, 0], ["b", "c"], [PERSON, "b", PERSON, "c"]),
        ([0, 1], ["b"], [PERSON, PERSON, "a", "a"]),
        ([0, 1, 2, 3], ["b"], [PERSON] * 4),
    ],
)
def test_partner_and_opponents_are_seated_from_the_left_of_the_first_person(
    people, opponents, names
):
    assert seated(people, "a", opponents) == names


@pytest.mark.parametrize("people", [[], [4], [-1], [0, 0], [True], ["0"]])
def test_seats_of_people_that_are_none_are_refused(people):
    with pytest.raises(OptionError, match="one to four seats"):
        check_people(people)
    with pytest.raises(OptionError, match="one agent for both seats, or two"):
        seated([0], "a", [])


def test_nobody_acts_out_of_turn_or_against_the_rules():
    """Every refusal gives the reason, and changes nothing."""
    session = play(begin(people=(0, 1)), stop=lambda game: game.waits_for_person)
    before, other = place(session), 1 - session.seat
    for seat, name, words in (
        (other, "pass", "is not to act"),
        (2, "pass", "is not to act"),
        (session.seat, "bid 9", "is not what you may call now; legal: "),
        (session.seat, "JH", "is not what you may call now"),
        (session.seat, "", "legal"),
        (session.seat, "x" * 1000, "legal"),
    ):
        with pytest.raises(IllegalActionError, match=words):
            session.act(seat, name)
    with pytest.raises(IllegalActionError, match="dealt when this one is over"):
        session.next_hand()
    assert session.step() is None
    assert place(session) == before
    play(session)
    with pytest.raises(IllegalActionError, match="the game is over"):
        session.act(0, "pass")


def forward(session):
    """On to the person's next decision, or to the end."""
    while not session.over and not session.waits_for_person:
        session.advance()
        if session.hand_over:
            session.next_hand()


@pytest.mark.parametrize("variant", VARIANTS)
def test_actions_taken_back_and_done_again_lead_to_the_same_game(variant):
    """Over the start of a hand too; agents that act at random act as before."""
    session, rng, decisions = begin(variant), random.Random(3), []
    while forward(session) or not session.over:
        decisions.append((place(session), choice(session, rng)))
        session.act(0, decisions[-1][1])
    whole, session, at, taken = session.record(), begin(variant), 0, 0
    while at < len(decisions):
        forward(session)
        assert place(session) == decisions[at][0]
        if at >= 3 and rng.random() < 0.15:
            for _ in range(3):
                session.undo()
                at, taken = at - 1, taken + 1
                assert place(session) == decisions[at][0]
        session.act(0, decisions[at][1])
        at += 1
    forward(session)
    assert session.record().to_dict() == whole.to_dict()
    assert taken
    with pytest.raises(IllegalActionError, match="the game is over"):
        session.undo()


def test_nothing_is_taken_back_before_the_first_decision_or_from_others():
    session = begin()
    session.advance()
    with pytest.raises(IllegalActionError, match="nothing to take back yet"):
        session.undo()
    with pytest.raises(IllegalActionError, match="several people"):
        play(begin(people=(0, 2)), stop=lambda game: game.decisions > 8).undo()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_claim_takes_all_tricks_left_and_is_saved(variant, tmp_path):
    """As if every card had been played."""
    options = {} if variant == "simplified_v0" else {"max_hands": 30}
    session = to_a_claim(begin(variant, path=tmp_path / "game.json", seed=2, **options))
    left, side, moves = session.rules.tricks - session.row["trick"], session.seat & 1, []
    won = int(session.row["tricks_won"][side])
    with pytest.raises(IllegalActionError, match="a claim is for the seat to act"):
        session.claim(1)
    session.claim(0, moves.append)
    assert session.hand_over or session.over
    assert session.row["tricks_won"][side] == won + left
    assert len(moves) >= 3 * left - 3
    session.record().verify()
    session.close()
    with Session.resume(tmp_path / "game.json") as again:
        assert place(again) == place(session)


def test_a_trick_that_may_be_lost_is_not_claimed():
    """Neither by the person to act nor between hands; nothing changes."""
    session = begin()
    session.advance()
    for _ in range(2):
        assert not session.can_claim
        before = place(session)
        with pytest.raises(IllegalActionError, match="if it takes every trick left"):
            session.claim(0)
        assert place(session) == before
        while not session.hand_over:
            session.advance()
            if session.waits_for_person:
                session.act(0, session.legal()[0])


@pytest.mark.parametrize("variant", [*VARIANTS, "ours"])
def test_a_game_resumes_from_its_file_exactly_where_it_was(variant, tmp_path):
    """After every action and every deal; later deals and random choices are the same."""
    game, path, rng = variant, tmp_path / "folder" / "game.json", random.Random(0)
    if variant == "ours":
        rules = make("barrie_v0", target=9, lone=[{"name": "shoot", "value": 9}]).rules
        game = make(rules.replace(max_hands=2), name="ours")
    whole = play(begin(game)).record()
    whole.verify()
    session = begin(game, path=path)
    while not session.over:
        before = place(session)
        session.close()
        session = Session.resume(path)
        assert place(session) == before
        if session.hand_over:
            session.next_hand()
        elif session.waits_for_person:
            session.act(0, choice(session, rng))
        else:
            session.step()
    assert session.record().to_dict() == whole.to_dict()
    assert (session.variant, session.people) == (variant, (0,))
    session.close()
    assert (path.parent / "game.jsonl").read_text() == whole.dumps() + "\n"
    assert Session.resume(path).over
    assert sorted(each.name for each in path.parent.iterdir()) == ["game.json", "game.jsonl"]


def test_a_game_is_open_in_one_run_at_a_time(tmp_path):
    """Neither another session of this process nor another process opens it."""
    path = tmp_path / "game.json"
    session = begin(path=path)
    with pytest.raises(OptionError, match="in use by another run"):
        Session.resume(path)
    code = f"from bideuchre_env.play.session import Session; Session.resume({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "in use by another run" in done.stderr.splitlines()[-1]
    session.close()
    Session.resume(path).close()


@pytest.fixture
def saved(tmp_path):
    """The file of a game in its second hand, and its content."""
    path = tmp_path / "game.json"
    play(
        begin(path=path), stop=lambda game: game.hand == 2 and game.row["phase"] == Phase.PLAY
    ).close()
    return path, json.loads(path.read_text())


def test_a_damaged_file_is_an_error_and_stays_as_it_is(saved):
    path, data = saved
    record = data["record"]
    dealt = [record["hands"][0] | {"deal": record["hands"][0]["deal"][::-1]}, *record["hands"][1:]]
    fields = [
        ({"format": "bideuchre play/2"}, "format 'bideuchre play/2'"),
        ({"more": 1}, "it has"),
        ({"people": [7]}, "one to four seats"),
        ({"people": 0}, "a list of seats"),
        ({"people": []}, "one to four seats"),
        ({"record": 1}, "a record: an object with format, .*, not int"),
    ]
    in_record = [
        ({"seed": None}, "lacks a seed"),
        ({"agents": None}, "lacks a seed or agents"),
        ({"hands": []}, "has no hand"),
        ({"seed": 2}, "hand 1: not the deal of its seed"),
        ({"hands": dealt}, "hand 1"),
        ({"agents": ["no", "such", "agent", "x"]}, "no agent"),
    ]
    faults = {
        path.read_text()[:-40]: "not one line of JSON",
        "": "not one line of JSON",
        "\xff": "format|JSON",
        "[" * 100_000: "not one line of JSON",
        "[]": "format list",
        "{}": "format None: this reads 'bideuchre play/1'",
        json.dumps(record): "format 'bideuchre/1'",
    }
    faults |= {json.dumps(data | change): words for change, words in fields}
    faults |= {json.dumps(data | {"record": record | change}): w for change, w in in_record}
    for text, words in faults.items():
        path.write_text(text, encoding="latin-1")
        with pytest.raises((RecordError, OptionError), match=words) as caught:
            Session.resume(path)
        assert "\n" not in str(caught.value)
        assert path.read_text(encoding="latin-1") == text
    path.unlink()
    with pytest.raises(RecordError, match="cannot be read"):
        Session.resume(path)


def full(*arguments):
    """A write to a full disk."""
    raise OutputError("no room")


def test_an_action_that_cannot_be_saved_is_not_done(saved, monkeypatch):
    session = Session.resume(saved[0])

    def move_on():
        if session.hand_over:
            session.next_hand()
        elif session.waits_for_person:
            session.act(0, session.legal()[0])
        else:
            session.step()

    while not session.over:
        before = place(session)
        monkeypatch.setattr(session_module, "write_file", full)
        for change in (move_on, session.undo):
            with pytest.raises(OutputError):
                change()
            assert place(session) == before
        monkeypatch.undo()
        move_on()


def test_a_saved_game_runs_no_code_that_is_not_trusted(tmp_path, monkeypatch):
    """Files of agents are named again, or nothing of them is loaded."""
    monkeypatch.chdir(tmp_path)
    agent = "./mine.py:Quiet"
    (tmp_path / "mine.py").write_text(
        "open('ran', 'w').close()\n"
        "class Quiet:\n    def act(self, observation, mask):\n        return mask.argmax()\n"
    )
    begin(agents=(agent, ["rule"]), path="game.json", seed=1).close()
    os.remove("ran")
    before = (tmp_path / "game.json").read_bytes()
    for trusted in ((), ("rule",)):
        with pytest.raises(OptionError, match="whose code would run"):
            Session.resume("game.json", trusted)
    assert not os.path.exists("ran")
    assert (tmp_path / "game.json").read_bytes() == before
    with Session.resume("game.json", [agent]) as session:
        assert session.agents[2] == agent


def test_a_record_that_a_full_disk_had_no_room_for_is_written_later(tmp_path, monkeypatch):
    session = begin(path=tmp_path / "game.json", seed=1, max_hands=1)
    monkeypatch.setattr(session_module.records_io, "write", full)
    play(session)
    assert session.over
    assert session.kept is None
    with pytest.raises(OutputError):
        session.keep()
    session.close()
    monkeypatch.undo()
    for _ in range(2):
        with Session.resume(tmp_path / "game.json") as again:
            again.keep()
            assert again.kept == tmp_path / "game.jsonl"
            assert list(records_io.read(again.kept)) == [again.record()]
    assert len(list(tmp_path.glob("*.jsonl"))) == 1


@pytest.mark.parametrize(
    ("body", "error"), [("raise KeyError('oh')", AgentError), ("return 36", IllegalActionError)]
)
def test_an_agent_that_fails_is_named_and_the_game_stays(body, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = f"class Fails:\n    def act(self, observation, mask):\n        {body}\n"
    (tmp_path / "mine.py").write_text(code)
    session = begin(agents=("./mine.py:Fails", ["./mine.py:Fails"]), seed=3)
    with pytest.raises(error, match="Fails"):
        play(session)
    session.record().verify()
    with pytest.raises(OptionError, match="printable characters"):
        begin(agents=("rule", ["./" + "x" * 80 + ".py:A"]))


def test_the_game_to_resume_is_the_unfinished_one_played_last(tmp_path, monkeypatch):
    """Finished games are passed over; a damaged file is an error."""
    monkeypatch.chdir(tmp_path)
    assert game_to_go_on("cincinnati_v0") is None
    paths = []
    for seed, people in enumerate(((0,), (0,), (0,), (0, 1))):
        paths.append(new_game_path("cincinnati_v0"))
        begin(people=people, path=paths[-1], seed=seed, max_hands=1).close()
        os.utime(paths[-1], (seed, seed))
    ends = ("", "-2", "-3", "-4")
    assert [path.name for path in paths] == [f"play-cincinnati_v0{end}.json" for end in ends]
    assert game_to_go_on("cincinnati_v0") == paths[3]
    assert game_to_go_on("cincinnati_v0", alone=True) == paths[2]
    assert game_to_go_on("cincinnati") is None
    paths[3].unlink()
    with Session.resume(paths[2]) as session:
        play(session)
    assert game_to_go_on("cincinnati_v0") == paths[1]
    shutil.copy(paths[2], "runs/play-cincinnati_v0-x.json")
    paths[2].write_text("{")
    with pytest.raises(RecordError, match=r"play-cincinnati_v0-3\.json is no saved game"):
        game_to_go_on("cincinnati_v0")


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
def test_a_pipe_is_no_saved_game_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "game.json")
    with pytest.raises(RecordError, match="it cannot be read: no regular file"):
        Session.resume(tmp_path / "game.json")
