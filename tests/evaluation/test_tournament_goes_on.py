"""A tournament that is stopped and goes on ends in the ratings of one that was not."""

from __future__ import annotations

import json
from itertools import count

import pytest
from support.prepared_calls import prepare_calls

from bideuchre_env import match, tournament
from bideuchre_env.cli.options import variant_of
from bideuchre_env.errors import OptionError

GAMES, AGENTS = ("six_card_v0", "cincinnati_v0"), ("random", "cautious", "rule", "expert")
real = match.play


def play(out, agents=AGENTS, games=GAMES, **options):
    """A tournament in a folder, as one that reads its file afterwards sees it."""
    found = tournament.play(games, agents, boards=30, seed=5, out=out, **options)
    data = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert list(map(list, data["ratings"].values())) == list(map(list, found.ratings.values()))
    return found, data


@pytest.fixture(scope="module", autouse=True)
def no_pictures():
    """They take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tournament, "write_pictures", lambda *given: [])
        yield


def stopped_after(monkeypatch, pairs):
    """The next tournament plays so many pairs; Ctrl-C then."""
    left = iter(range(pairs))

    def pressed(*pair, **options):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return real(*pair, **options)

    monkeypatch.setattr(match, "play", pressed)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All in one go."""
    return play(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("times", [range(1, 12), (5, 3), (6,)], ids=str)
def test_ratings_are_those_of_one_that_was_not_stopped(tmp_path, monkeypatch, whole, times):
    """Stopped after every pair, in the middle of a game, and between two of them."""
    for pairs in (1,) * len(times) if isinstance(times, range) else times:
        stopped_after(monkeypatch, pairs)
        found, data = play(tmp_path)
        assert found.interrupted
        for rated in data["ratings"].values():
            assert rated["random"] == {"mean": 0, "low": 0, "high": 0}
    monkeypatch.setattr(match, "play", real)
    found, data = play(tmp_path)
    assert not found.interrupted
    assert found.ratings == whole[0].ratings
    assert data["ratings"] == whole[1]["ratings"]
    assert [list(rated) for rated in data["ratings"].values()] == [
        list(rated) for rated in whole[1]["ratings"].values()
    ]


@pytest.mark.parametrize("pairs", range(1, 5))
def test_a_weaker_agent_that_comes_later_is_the_anchor(tmp_path, monkeypatch, whole, pairs):
    """As if it had been there from the start; before it has played, who was named next."""
    play(tmp_path, AGENTS[1:], GAMES[:1])
    stopped_after(monkeypatch, 0)
    found, _ = play(tmp_path, games=GAMES[:1])
    assert found.ratings["six_card_v0"]["cautious"].mean == 0
    stopped_after(monkeypatch, pairs - 1)
    play(tmp_path, games=GAMES[:1])
    monkeypatch.setattr(match, "play", real)
    found, data = play(tmp_path, games=GAMES[:1])
    assert found.ratings["six_card_v0"] == whole[0].ratings["six_card_v0"]
    assert data["ratings"]["six_card_v0"] == whole[1]["ratings"]["six_card_v0"]


def test_agents_that_were_prepared_meanwhile_are_others(tmp_path, monkeypatch):
    """Their matches are not mixed with those from before: in one go, or when it goes on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    game = variant_of("six_card_v0", ["target=9"])
    out, changed = (
        tmp_path / "t",
        r"expert-\w+\.npz(, which `bideuchre prepare` makes,)? has",
    )
    stopped_after(monkeypatch, 2)
    play(out, AGENTS[1:], [game])
    monkeypatch.setattr(match, "play", real)
    prepare_calls(game.rules)
    with pytest.raises(OptionError, match=f"{changed} changed since .*results.json was written"):
        play(out, AGENTS[1:], [game])
    weak, pairs = AGENTS[:2], count(1)
    assert len(play(out, weak, [game], force=True)[0].matches) == 1  # who learns nothing may go on
    prepare_calls(game.rules, 1.0)

    def prepared_later(*pair, **options):
        if next(pairs) == 2:
            prepare_calls(game.rules, 2.0)
        return real(*pair, **options)

    monkeypatch.setattr(match, "play", prepared_later)
    with pytest.raises(OptionError, match=f"{changed} changed since this tournament began"):
        play(out, AGENTS, [game])
    assert len(json.loads((out / "results.json").read_text())["matches"]) == 3
