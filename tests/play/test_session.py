"""A game between people and agents: who may act, undo, the file, and what damages it."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys

import pytest
from support.playthroughs import VARIANTS, rows_bytes

from bideuchre_env import make
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
    """A game with a rule player opposite and two that draw lots beside."""
    options = options or ({} if variant == "simplified_v0" else {"max_hands": 3})
    return Session(make(variant, **options), people, seated(people, *agents), seed=seed, path=path)


def choice(session, rng):
    """What a person does: half the calls are passes."""
    legal = session.legal()
    return "pass" if "pass" in legal and rng.random() < 0.5 else rng.choice(legal)


def play(session, seed=0, stop=None):
    """Play to the end by chance, or until `stop` says so."""
    rng = random.Random(seed)
    while not session.over and not (stop and stop(session)):
        session.advance()
        if session.hand_over:
            session.next_hand()
        elif session.waits_for_person:
            session.act(session.seat, choice(session, rng))
    return session


def move_on(session):
    """One action, or a deal."""
    if session.hand_over:
        session.next_hand()
    elif session.waits_for_person:
        session.act(0, session.legal()[0])
    else:
        session.step()


def place(session):
    """Everything that there is to a game in progress."""
    return rows_bytes(session.row.reshape(1)), session.record().to_dict()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_game_is_played_to_its_end_and_its_record_replays(variant):
    """By people on two seats."""
    session = play(begin(variant, people=(0, 3)))
    record = session.record()
    record.verify()
    assert record.outcome != "unfinished"
    assert 1 <= len(record.hands) <= 4
    assert record.agents == [PERSON, "rule", "rule", PERSON]
    assert session.seat is None
    assert not session.waits_for_person


def test_seats():
    """A partner for every person, opponents from the left of the first."""
    assert seated([0], "a", ["b"]) == [PERSON, "b", "a", "b"]
    assert seated([0], "a", ["b", "c"]) == [PERSON, "b", "a", "c"]
    assert seated([3], "a", ["b", "c"]) == ["b", "a", "c", PERSON]
    assert seated([2, 0], "a", ["b", "c"]) == [PERSON, "b", PERSON, "c"]
    assert seated([0, 1], "a", ["b"]) == [PERSON, PERSON, "a", "a"]
    assert seated([0, 1, 2, 3], "a", ["b"]) == [PERSON] * 4
    for people in ([], [4], [-1], [0, 0], [True], ["0"]):
        with pytest.raises(OptionError, match="one to four seats"):
            check_people(people)
    with pytest.raises(OptionError, match="one agent for both seats, or two"):
        seated([0], "a", [])


def test_nobody_acts_out_of_turn_or_against_the_rules():
    """Every refusal says why, and changes nothing."""
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
def test_what_is_taken_back_and_done_again_comes_out_alike(variant):
    """Over the start of a hand too; agents that draw lots draw the same."""
    session, rng, seen = begin(variant), random.Random(3), []
    while forward(session) or not session.over:
        seen.append((place(session), choice(session, rng)))
        session.act(0, seen[-1][1])
    whole, session, at, taken = session.record(), begin(variant), 0, 0
    while at < len(seen):
        forward(session)
        assert place(session) == seen[at][0]
        if at >= 3 and rng.random() < 0.15:
            for _ in range(3):
                session.undo()
                at, taken = at - 1, taken + 1
                assert place(session) == seen[at][0]
        session.act(0, seen[at][1])
        at += 1
    forward(session)
    assert session.record().to_dict() == whole.to_dict()
    assert taken
    with pytest.raises(IllegalActionError, match="the game is over"):
        session.undo()


def test_nothing_is_taken_back_before_the_first_decision_or_from_others():
    """Refused with the reason."""
    session = begin()
    session.advance()
    with pytest.raises(IllegalActionError, match="nothing to take back yet"):
        session.undo()
    with pytest.raises(IllegalActionError, match="several people"):
        play(begin(people=(0, 2)), stop=lambda game: game.decisions > 8).undo()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_game_goes_on_from_its_file_exactly_where_it_was(variant, tmp_path):
    """After every action and every deal; the deals to come and what agents draw are the same."""
    whole = play(begin(variant)).record()
    path, rng = tmp_path / "folder" / "game.json", random.Random(0)
    session = begin(variant, path=path)
    while not session.over:
        kept = place(session)
        session.close()
        session = Session.resume(path)
        assert place(session) == kept
        if session.hand_over:
            session.next_hand()
        elif session.waits_for_person:
            session.act(0, choice(session, rng))
        else:
            session.step()
    assert session.record().to_dict() == whole.to_dict()
    session.close()
    [kept] = tmp_path.glob("folder/*.jsonl")
    assert kept.read_text() == whole.dumps() + "\n"
    assert Session.resume(path).over
    assert sorted(each.name for each in path.parent.iterdir()) == ["game.json", "game.jsonl"]


def test_rules_of_ones_own_go_on_too(tmp_path):
    """The file holds them whole."""
    rules = make("barrie_v0", target=9, lone=[{"name": "shoot", "value": 9}]).rules
    game = make(rules, name="ours")
    with Session(game, [1], seated([1], *MIXED), seed=2, path=tmp_path / "game.json") as session:
        play(session, stop=lambda each: each.decisions > 20)
        kept = place(session)
    with Session.resume(tmp_path / "game.json") as session:
        assert (session.variant, session.rules, session.people) == ("ours", rules, (1,))
        assert place(session) == kept


def test_one_run_at_a_time(tmp_path):
    """Another process, and another session here, are told so; a killed one leaves it free."""
    path = tmp_path / "game.json"
    session = begin(path=path)
    with pytest.raises(OptionError, match="in use by another run"):
        Session.resume(path)
    ask = f"from bideuchre_env.play.session import Session; Session.resume({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    assert "in use by another run" in done.stderr.splitlines()[-1]
    session.close()
    kill = f"{ask}; import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert subprocess.run([sys.executable, "-c", kill]).returncode == -9
    Session.resume(path).close()


def test_a_new_game_replaces_nothing(tmp_path):
    """Neither a game nor anything else."""
    path = tmp_path / "game.json"
    path.write_text("mine")
    with pytest.raises(OptionError, match="exists"):
        begin(path=path)
    assert path.read_text() == "mine"
    assert [each.name for each in tmp_path.iterdir()] == ["game.json"]


@pytest.fixture
def saved(tmp_path):
    """A file of a game in its second hand, and what stands in it."""
    path = tmp_path / "game.json"
    begin_at = lambda game: game.hand == 2 and game.row["phase"] == Phase.PLAY  # noqa: E731
    play(begin(path=path), stop=begin_at).close()
    return path, json.loads(path.read_text())


def test_a_damaged_file_is_an_error_and_stays_as_it_is(saved):
    """Torn, foreign, older, newer, changed: one line that names the file."""
    path, data = saved
    record = data["record"]
    hands = record["hands"]
    dealt = [hands[0] | {"deal": hands[0]["deal"][::-1]}, *hands[1:]]
    faults = {
        path.read_text()[:-40]: "not one line of JSON",
        "": "not one line of JSON",
        "\xff": "format|JSON",
        "[" * 100_000: "not one line of JSON",
        "[]": "format list",
        "{}": "format None: this reads 'bideuchre play/1'",
        json.dumps(record): "format 'bideuchre/1'",
        json.dumps(data | {"format": "bideuchre play/2"}): "format 'bideuchre play/2'",
        json.dumps(data | {"more": 1}): "it has",
        json.dumps(data | {"people": [7]}): "one to four seats",
        json.dumps(data | {"people": 0}): "a list of seats",
        json.dumps(data | {"people": []}): "one to four seats",
        json.dumps(data | {"record": 1}): "a record: an object with format, .*, not int",
        json.dumps(data | {"record": record | {"seed": None}}): "lacks a seed",
        json.dumps(data | {"record": record | {"agents": None}}): "lacks a seed or agents",
        json.dumps(data | {"record": record | {"hands": []}}): "has no hand",
        json.dumps(data | {"record": record | {"seed": 2}}): "hand 1: not the deal of its seed",
        json.dumps(data | {"record": record | {"hands": dealt}}): "hand 1",
        json.dumps(
            data | {"record": record | {"agents": ["no", "such", "agent", "x"]}}
        ): "no agent",
    }
    for text, words in faults.items():
        path.write_text(text, encoding="latin-1")
        with pytest.raises((RecordError, OptionError), match=words) as caught:
            Session.resume(path)
        assert "\n" not in str(caught.value)
        assert path.read_text(encoding="latin-1") == text
    path.unlink()
    with pytest.raises(RecordError, match="cannot be read"):
        Session.resume(path)
    path.mkdir()
    with pytest.raises(RecordError, match="it cannot be read: no regular file"):
        Session.resume(path)


def test_a_full_disk_loses_nothing(saved, monkeypatch):
    """What could not be saved has not been done."""
    path, _ = saved
    session = Session.resume(path)

    def full(*given):
        raise OutputError("no room")

    for _ in range(60):
        before = place(session)
        monkeypatch.setattr(session_module, "write_file", full)
        with pytest.raises(OutputError):
            move_on(session)
        assert place(session) == before
        if session.decisions > 20:
            with pytest.raises(OutputError):
                session.undo()
            assert place(session) == before
        monkeypatch.undo()
        move_on(session)
        if session.over:
            break


def test_a_saved_game_runs_no_code_that_is_not_trusted(tmp_path, monkeypatch):
    """Its agents' files and modules are named again, or nothing of them is loaded."""
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


def test_the_record_of_a_game_that_is_over_is_made_again(tmp_path, monkeypatch):
    """There was no room for it: the game is over all the same, and its record comes later, once."""
    session = begin(path=tmp_path / "game.json", seed=1, max_hands=1)

    def full(*given):
        raise OutputError("no room")

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


def test_an_agent_that_fails_is_named_and_the_game_stays(tmp_path, monkeypatch):
    """An error of its own, an answer that is not legal, a name that is too long to record."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "class Breaks:\n    def act(self, observation, mask):\n        raise KeyError('oh')\n"
        "class Cheats:\n    def act(self, observation, mask):\n        return 36\n"
    )
    for name, error in (("Breaks", AgentError), ("Cheats", IllegalActionError)):
        agent = f"./mine.py:{name}"
        session = begin(agents=(agent, [agent]), seed=3)
        with pytest.raises(error, match=name):
            play(session)
        session.record().verify()
    with pytest.raises(OptionError, match="printable characters"):
        begin(agents=("rule", ["./" + "x" * 80 + ".py:A"]))


def test_the_file_to_go_on_with_is_the_unfinished_one_played_last(tmp_path, monkeypatch):
    """Finished ones are passed over; a damaged one is said."""
    monkeypatch.chdir(tmp_path)
    assert game_to_go_on("cincinnati_v0") is None
    paths = []
    for seed in range(3):
        paths.append(new_game_path("cincinnati_v0"))
        begin(path=paths[-1], seed=seed, max_hands=1).close()
        os.utime(paths[-1], (seed, seed))
    assert [path.name for path in paths] == [
        f"play-cincinnati_v0{end}.json" for end in ("", "-2", "-3")
    ]
    assert game_to_go_on("cincinnati_v0") == paths[2]
    assert game_to_go_on("cincinnati") is None
    begin(people=(0, 1), path=new_game_path("cincinnati_v0"), max_hands=1).close()
    assert game_to_go_on("cincinnati_v0") not in paths
    assert game_to_go_on("cincinnati_v0", alone=True) == paths[2]
    os.remove("runs/play-cincinnati_v0-4.json")
    with Session.resume(paths[2]) as session:
        play(session)
    assert game_to_go_on("cincinnati_v0") == paths[1]
    shutil.copy(paths[2], "runs/play-cincinnati_v0-x.json")
    paths[2].write_text("{")
    with pytest.raises(RecordError, match=r"play-cincinnati_v0-3\.json is no saved game"):
        game_to_go_on("cincinnati_v0")
