"""A tournament of named pairs."""

from __future__ import annotations

import pytest

from bideuchre_env import match, tournament
from bideuchre_env.errors import OptionError


def play(out, pairs, agents=None):
    """A tournament of pairs on `six_card_v0`, in a folder."""
    return tournament.play(["six_card_v0"], agents, pairs=pairs, boards=40, out=out)


def test_named_pairs_alone_are_played_and_others_can_be_added(tmp_path, monkeypatch):
    """The weaker agent of the first pair has rating 0; who met nobody of its kin has none."""
    pairs = [("rule", "random"), ("cautious", "random"), ("expert:margin=0", "expert:margin=100")]
    found = play(tmp_path, pairs[:2])
    assert [tuple(each["agents"]) for each in found.matches] == pairs[:2]
    assert found.agents == ("random", "rule", "cautious")
    assert found.ratings["six_card_v0"]["random"].mean == 0
    real, played = match.play, []

    def noted(*pair, **options):
        played.append(pair[1:3])
        return real(*pair, **options)

    monkeypatch.setattr(match, "play", noted)
    found = play(tmp_path, pairs)
    assert played == pairs[2:]
    assert set(found.ratings["six_card_v0"]) == {"random", "rule", "cautious"}
    assert "expert:margin=0" in str(found)
    with pytest.raises(OptionError, match="has six_card_v0: cautious against random, which"):
        play(tmp_path, pairs[:1])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "one or more"),
        ([("rule",)], "two different agents"),
        ([("rule", "rule")], "two different agents"),
        ([("rule", 3)], "two different agents"),
        ([("rule", "random"), ("random", "rule")], "each two agents once"),
        ([("rule", "nobody")], "no agent 'nobody'"),
        (3, "pairs"),
    ],
)
def test_wrong_pairs_are_refused(pairs, message):
    with pytest.raises(OptionError, match=message):
        play(None, pairs)
    with pytest.raises(OptionError, match="agents, pairs: expected one of them"):
        play(None, [("rule", "random")], ("random", "rule"))
