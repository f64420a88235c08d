"""Tournaments that are interrupted, extended and resumed; tournaments of named pairs."""

import json

import pytest

from bideuchre_env import match, tournament
from bideuchre_env.errors import OptionError

GAMES, AGENTS = ("six_card_v0", "cincinnati_v0"), ("random", "cautious", "rule", "expert")
real = match.play


def play(out, agents=AGENTS, games=GAMES, **options):
    """Play a tournament; check that its file has the same ratings in the same order."""
    result = tournament.play(games, agents, boards=30, seed=5, out=out, **options)
    data = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert list(map(list, data["ratings"].values())) == list(map(list, result.ratings.values()))
    return result


@pytest.fixture(scope="module", autouse=True)
def no_pictures():
    """Skip the pictures, which take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tournament, "write_pictures", lambda *arguments: [])
        yield


def stop_after(monkeypatch, pairs):
    """Let the next tournament play `pairs` pairs, and raise `KeyboardInterrupt` at the next."""
    left = iter(range(pairs))

    def press(*pair, **options):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return real(*pair, **options)

    monkeypatch.setattr(match, "play", press)


def list_pairs(monkeypatch):
    """Return a list to which every pair (names of two agents) is added when it is played."""
    pairs = []

    def append(*pair, **options):
        pairs.append(pair[1:3])
        return real(*pair, **options)

    monkeypatch.setattr(match, "play", append)
    return pairs


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A tournament played without interruption."""
    return play(tmp_path_factory.mktemp("whole"))


def test_a_resumed_tournament_has_the_ratings_of_an_uninterrupted_one(tmp_path, monkeypatch, whole):
    for pairs in (1, 5, 1, 3):
        stop_after(monkeypatch, pairs)
        result = play(tmp_path)
        assert result.interrupted
        for rated in result.ratings.values():
            assert rated["random"].mean == rated["random"].high == 0
    pairs = list_pairs(monkeypatch)
    result = play(tmp_path)
    assert len(pairs) == 2 * 6 - 10
    assert not result.interrupted
    assert result.ratings == whole.ratings


@pytest.mark.parametrize("pairs", [1, 3])
def test_an_agent_that_is_added_later_plays_its_own_pairs_alone(
    tmp_path, monkeypatch, whole, pairs
):
    """The new agent becomes the anchor, because it is the first of the agents."""
    play(tmp_path, AGENTS[1:], GAMES[:1])
    stop_after(monkeypatch, 0)
    assert play(tmp_path, games=GAMES[:1]).ratings["six_card_v0"]["cautious"].mean == 0
    stop_after(monkeypatch, pairs - 1)
    play(tmp_path, games=GAMES[:1])
    later = list_pairs(monkeypatch)
    result = play(tmp_path, games=GAMES[:1])
    assert len(later) == 3 - (pairs - 1)
    assert all("random" in pair for pair in later)
    assert result.ratings["six_card_v0"] == whole.ratings["six_card_v0"]
    played = [each["agents"] for each in whole.matches if each["variant"] == "six_card_v0"]
    assert [each["agents"] for each in result.matches] == played


def play_pairs(out, pairs, agents=None):
    return tournament.play(["six_card_v0"], agents, pairs=pairs, boards=40, out=out)


def test_named_pairs_are_played_and_others_can_be_added(tmp_path, monkeypatch):
    pairs = [("rule", "random"), ("cautious", "random"), ("expert:margin=0", "expert:margin=100")]
    result = play_pairs(tmp_path, pairs[:2])
    assert [tuple(each["agents"]) for each in result.matches] == pairs[:2]
    assert result.agents == ("random", "rule", "cautious")
    assert result.ratings["six_card_v0"]["random"].mean == 0
    added = list_pairs(monkeypatch)
    result = play_pairs(tmp_path, pairs)
    assert added == pairs[2:]
    assert set(result.ratings["six_card_v0"]) == {"random", "rule", "cautious"}
    with pytest.raises(OptionError, match="has six_card_v0: cautious against random, which"):
        play_pairs(tmp_path, pairs[:1])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "one or more"),
        ([("rule", "rule")], "two different agents"),
        ([("rule", "random"), ("random", "rule")], "each two agents once"),
        ([("rule", "nobody")], "no agent 'nobody'"),
        (3, "pairs"),
    ],
)
def test_unusable_pairs_are_refused(pairs, message):
    with pytest.raises(OptionError, match=message):
        play_pairs(None, pairs)
    with pytest.raises(OptionError, match="agents, pairs: expected one of them"):
        play_pairs(None, [("rule", "random")], ("random", "rule"))
