"""A game in progress, its file and the errors of agents reveal no hidden card and no later deal."""

import itertools
import os
import random
import re
import stat
from unittest.mock import patch

import pytest
from support.sessions import begin, hand_over, play, waits

from bideuchre_env import make
from bideuchre_env.errors import AgentError, OptionError
from bideuchre_env.play.saved import SavedGame
from bideuchre_env.play.session import Session


def drawn(sequences):
    """Patch for the operating system's random numbers: those of each sequence in turn."""
    numbers = itertools.chain.from_iterable(sequences)
    return patch("secrets.randbits", lambda bits: next(numbers) % 2**bits)


@pytest.mark.parametrize("way", ["undo", "resume"])
def test_a_deal_that_has_been_seen_is_dealt_again(way, tmp_path):
    """Without a seed too: an undo to the hand before does not lead to better cards."""
    session = begin(seed=None, path=tmp_path / "game.json")
    play(session, stop=lambda game: game.hand == 2 and waits(game))
    if way == "resume":
        session.close()
        session = Session.resume(tmp_path / "game.json")
    second = session.record().hands[1]["deal"]
    while session.hand == 2:
        session.undo()
    while session.hand == 1:
        play(session, stop=lambda game: game.hand_over or waits(game))
        session.next_hand() if session.hand_over else session.act(0, session.legal()[-1])
    assert session.record().hands[1]["deal"] == second
    session.record().verify()
    session.close()


@pytest.mark.parametrize("people", [(0,), (0, 2), (0, 1, 2, 3)])
def test_each_deal_is_drawn_when_it_is_due(people, tmp_path):
    """Two games with the same draws up to the end of hand 1 have equal files, but other deals."""
    files, deals = [], []
    for last in (1, 2):
        path, rng = tmp_path / f"{last}.json", random.Random(5)
        with drawn([(rng.getrandbits(128) for _ in range(3)), itertools.repeat(last)]):
            session = begin(people=people, path=path, seed=None)
            files.append(play(session, stop=hand_over).record())
            assert path.read_text() == SavedGame(people, files[-1], session.seats).line()
            session.next_hand()
            session.close()
            deals.append(session.record().hands[1]["deal"])
    assert files[0].to_dict() == files[1].to_dict()
    assert files[0].seed is None
    assert deals[0] != deals[1]


def test_a_resumed_game_draws_new_deals(tmp_path):
    path = tmp_path / "game.json"
    play(begin(path=path, seed=None), stop=hand_over).close()
    before, deals = path.read_bytes(), set()
    for _ in range(2):
        path.write_bytes(before)
        with Session.resume(path) as session:
            session.next_hand()
            deals.add(str(session.record().hands[1]["deal"]))
    assert len(deals) == 2


def test_several_people_play_without_a_seed(tmp_path):
    """A seed determines every deal. The seed in a game saved by an older version is not used."""
    with pytest.raises(OptionError, match="seed=5: expected only with one person"):
        Session(make("cincinnati_v0"), (0, 2), ["rule"] * 4, seed=5)
    path = tmp_path / "game.json"
    play(begin(path=path, seed=5), stop=hand_over).close()
    path.write_text(path.read_text().replace('"people": [0]', '"people": [0, 2]'))
    with begin(seed=5) as seeded, Session.resume(path) as session:
        play(seeded, stop=hand_over).next_hand()
        session.next_hand()
        assert session.record().seed is None
        assert session.record().hands[0] == seeded.record().hands[0]
        assert session.record().hands[1]["deal"] != seeded.record().hands[1]["deal"]
    assert '"seed": null' in path.read_text()


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
@pytest.mark.parametrize("before", [None, "game.json", ".game.json.bideuchre"])
def test_only_the_owner_can_read_a_saved_game(before, tmp_path, monkeypatch):
    """The file has all hands. An older version wrote it, or was killed, readable by everyone."""
    path, modes = tmp_path / "game.json", []
    write = os.write

    def watched(descriptor, data):
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return write(descriptor, data)

    umask = os.umask(0o022)
    try:
        session = begin(path=path)
        if before is not None:
            (tmp_path / before).touch()
            (tmp_path / before).chmod(0o644)
        if before == ".game.json.bideuchre":
            path.unlink()
        monkeypatch.setattr(os, "write", watched)
        session.step() if session.seat else session.act(0, session.legal()[0])
    finally:
        os.umask(umask)
    assert set(modes) == {0o600}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    session.close()


ERRORS = ("raise KeyError(observation, mask)", "return 36", "return 'JH'", "raise SystemExit('AS')")
ERRORS += ("raise __import__('bideuchre_env').errors.OptionError('JH')",)


@pytest.mark.parametrize("body", ERRORS)
def test_the_error_of_an_agent_names_no_cards(body, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = f"class Broken:\n    def act(self, observation, mask):\n        {body}\n"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    session = begin(agents=("./mine.py:Broken", ["./mine.py:Broken"]), seed=2)
    with pytest.raises(AgentError) as caught:
        play(session)
    told = r"agent './mine.py:Broken' \(seat \d\) has failed in hand 1: "
    told += r"(it chose no legal action|\w+ in mine\.py, line 3)"
    assert re.fullmatch(told, str(caught.value))
