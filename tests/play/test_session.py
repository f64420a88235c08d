"""Games between people and agents: turns, undo, claims, saved files and their errors."""

import json
import os
import random

import pytest
from support.playthroughs import EACH, play_to_claim, rows_bytes
from support.sessions import begin, choice, play, waits

from bideuchre_env.core.state import Phase
from bideuchre_env.errors import (
    IllegalActionError,
    OptionError,
    OutputError,
    RecordError,
)
from bideuchre_env.play import session as session_module
from bideuchre_env.play.players import Players
from bideuchre_env.play.saved import (
    PERSON,
    assign_players,
    new_game_path,
    unfinished_game,
)
from bideuchre_env.play.session import Session


def place(session):
    """The state row and the record of a game in progress, to compare games."""
    return rows_bytes(session.row.reshape(1)), session.record().to_dict()


@pytest.mark.parametrize(
    ("people", "opponents", "names"),
    [
        ([0], ["b", "c"], [PERSON, "b", "a", "c"]),
        ([3], ["b", "c"], ["b", "a", "c", PERSON]),
        ([2, 0], ["b", "c"], [PERSON, "b", PERSON, "c"]),
    ],
)
def test_agents_are_seated_from_the_left_of_the_first_person(people, opponents, names):
    assert assign_players(people, "a", opponents) == names


def test_actions_out_of_turn_or_against_the_rules_are_refused():
    session = play(begin(people=(0, 1)), stop=waits)
    before, other = place(session), 1 - session.seat
    for seat, name, words in (
        (other, "pass", "is not to act"),
        (2, "pass", "is not to act"),
        (session.seat, "bid 9", "is not legal now: expected pass, bid 3"),
        (session.seat, "JH", "is not legal now: expected pass, bid 3"),
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


def test_a_person_cannot_act_for_an_agent_whose_turn_it_is():
    session = play(begin(), stop=lambda game: game.seat not in (None, 0))
    seat, before = session.seat, place(session)
    with pytest.raises(IllegalActionError, match=f"seat {seat} is not to act: it is the turn"):
        session.act(seat, session.legal()[0])
    assert place(session) == before


@pytest.mark.parametrize("variant", EACH)
def test_undone_and_repeated_actions_lead_to_the_same_game(variant):
    """Undo may cross hands, and agents that act at random repeat their actions."""
    session, rng, decisions = begin(variant), random.Random(3), []
    while not play(session, stop=waits).over:
        decisions.append((place(session), choice(session, rng)))
        session.act(0, decisions[-1][1])
    whole, session, at, undone = session.record(), begin(variant), 0, 0
    while at < len(decisions):
        play(session, stop=waits)
        assert place(session) == decisions[at][0]
        if at >= 3 and rng.random() < 0.15:
            for _ in range(3):
                session.undo()
                at, undone = at - 1, undone + 1
                assert place(session) == decisions[at][0]
        session.act(0, decisions[at][1])
        at += 1
    play(session)
    assert session.record().to_dict() == whole.to_dict()
    assert undone
    with pytest.raises(IllegalActionError, match="the game is over"):
        session.undo()


def test_undo_is_refused_before_the_first_decision_and_with_several_people():
    session = begin()
    session.advance()
    with pytest.raises(IllegalActionError, match="you have not acted yet"):
        session.undo()
    with pytest.raises(IllegalActionError, match="several people"):
        play(begin(people=(0, 2)), stop=lambda game: game.decisions > 8).undo()


@pytest.mark.search
@pytest.mark.parametrize("variant", EACH)
def test_a_claim_takes_all_tricks_left_and_is_saved(variant, tmp_path):
    options = {} if variant == "simplified_v0" else {"max_hands": 30}
    seed = 4 if variant == "partners_best_v0" else 2  # a game in which the tricks may be claimed
    session = play_to_claim(begin(variant, path=tmp_path / "game.json", seed=seed, **options))
    left, side, moves = session.rules.tricks - session.row["trick"], session.seat & 1, []
    won = int(session.row["tricks_won"][side])
    with pytest.raises(IllegalActionError, match="claim: expected the seat to act"):
        session.claim(1)
    session.claim(0, moves.append)
    assert session.hand_over or session.over
    assert session.row["tricks_won"][side] == won + left
    assert len(moves) >= 3 * left - 3
    session.record().verify()
    session.close()
    with Session.resume(tmp_path / "game.json") as again:
        assert place(again) == place(session)


def test_a_claim_stops_where_a_trick_is_not_certain(monkeypatch):
    """An error in the proof must not reach the game, whose kernels check no action."""
    session = play_to_claim(begin("barrie_v0", seed=2, max_hands=30))
    answers = [session._players.certain()]
    monkeypatch.setattr(Players, "certain", lambda players: answers.pop() if answers else -1)
    monkeypatch.setattr(Session, "can_claim", True)
    with pytest.raises(IllegalActionError, match="the tricks left are not certain: play them"):
        session.claim(0)
    assert session.seat == 0
    session.record().verify()


@pytest.mark.parametrize("variant", EACH)
def test_a_game_resumes_exactly_from_its_file(variant, tmp_path):
    path, rng = tmp_path / "folder" / "game.json", random.Random(0)
    whole = play(begin(variant)).record()
    whole.verify()
    session = begin(variant, path=path)
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


@pytest.mark.skipif(os.name == "nt", reason="no locks of files")
def test_a_game_is_open_in_one_run_at_a_time(tmp_path):
    path = tmp_path / "game.json"
    session = begin(path=path)
    with pytest.raises(OptionError, match="in use by another run"):
        Session.resume(path)
    session.close()
    Session.resume(path).close()


@pytest.fixture
def saved(tmp_path):
    """The file of a game in its second hand, and its content."""
    path = tmp_path / "game.json"
    play(begin(path=path), stop=lambda g: g.hand == 2 and g.row["phase"] == Phase.PLAY).close()
    return path, json.loads(path.read_text())


def test_a_damaged_file_is_an_error_and_stays_unchanged(saved):
    path, data = saved
    record = data["record"]
    dealt = [record["hands"][0] | {"deal": record["hands"][0]["deal"][::-1]}, *record["hands"][1:]]
    fields = [
        ({"format": "bideuchre play/2"}, "format='bideuchre play/2'"),
        ({"people": [7]}, "one to four seats"),
        ({"record": 1}, "a record: an object with format, .*, not int"),
    ]
    in_record = [
        ({"agents": None}, "expected a record with agents"),
        ({"hands": []}, "expected a record with at least one hand"),
        ({"seed": 2}, "hand 1: not the deal of this game"),
        ({"hands": dealt}, "hand 1"),
        ({"agents": ["no", "such", "agent", "x"]}, "no agent"),
    ]
    faults = {
        path.read_text()[:-40]: "expected one line of JSON",
        "": "expected one line of JSON",
        "{}": "format=None: expected 'bideuchre play/1'",
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


def full(*arguments, **more):
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


def test_the_game_to_resume_is_the_unfinished_one_played_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert unfinished_game("cincinnati_v0") is None
    paths = []
    for seed in range(3):
        paths.append(new_game_path("cincinnati_v0"))
        begin(path=paths[-1], seed=seed, max_hands=1).close()
        os.utime(paths[-1], (seed, seed))
    ends = ("", "-2", "-3")
    assert [path.name for path in paths] == [f"play-cincinnati_v0{end}.json" for end in ends]
    assert unfinished_game("cincinnati_v0") == paths[2]
    with Session.resume(paths[2]) as session:
        play(session)
    assert unfinished_game("cincinnati_v0") == paths[1]
    paths[2].write_text("{")
    with pytest.raises(RecordError, match=r"play-cincinnati_v0-3\.json is no saved game"):
        unfinished_game("cincinnati_v0")


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
def test_a_pipe_is_no_saved_game_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "game.json")
    with pytest.raises(RecordError, match="it cannot be read: no regular file"):
        Session.resume(tmp_path / "game.json")


def test_a_game_in_a_file_with_the_longest_name_is_played_to_its_end(tmp_path):
    """The name of its record had 256 bytes, so the last card could not be played."""
    path = tmp_path / f"{'x' * 250}.json"
    with begin(max_hands=1, path=path) as session:
        play(session)
    assert session.record_path.read_text() == f"{session.record().dumps()}\n"
    with Session.resume(path) as again:
        again.save_record()
        assert again.record_path == session.record_path
    assert len(list(tmp_path.iterdir())) == 2
    assert new_game_path("club_v0", after=path).name.endswith("-2.json")
