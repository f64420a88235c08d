"""What a page is given of a table: all that a seat may know, in words too, and nothing hidden."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.playthroughs import VARIANTS, Chooser, legal_names, plies, start

from bideuchre_env.errors import OptionError
from bideuchre_env.records.page.view import game_view, table_view
from bideuchre_env.rules.cards import CARD_NAMES

SEATS = (None, 0, 1, 2, 3)


class Caller(Chooser):
    """By chance, and eager to call for cards."""

    def __call__(self, env):
        calls = [name for name in legal_names(env) if name.startswith("bid call-")]
        if calls and self.rng.random() < 0.4:
            return env.action_names.index(self.rng.choice(calls))
        return super().__call__(env)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_view_has_nothing_that_the_seat_cannot_know(name):
    """Hidden cards drawn anew change nothing: in all phases, exchange and double deck included."""
    rng, phases = np.random.default_rng(4), set()
    env = start(name, 6, max_hands=8)
    for _ in plies(env, Caller(9)):
        row = env.get_state()[0]
        phases.add(table_view(row, env.rules)["phase"])
        for seat in range(4):
            other = env.resample_hidden(seat=seat, rng=rng).get_state()[0]
            view = table_view(row, env.rules, seat)
            assert view == table_view(other, env.rules, seat)
            assert [seat for seat in range(4) if isinstance(view["hands"][seat], list)] == [seat]
            json.dumps(view, allow_nan=False)
    exchange = {"giving", "passing"} if env.rules.exchange else set()
    naming = {"naming"} if env.rules.strain_named == "after_auction" else set()
    assert phases == {"auction", "play"} | exchange | naming


@pytest.mark.parametrize("name", VARIANTS)
def test_legal_actions_are_sent_to_whom_they_belong(name):
    """To the seat to act and to the all-seeing; each has words."""
    env = start(name, 3, episode="hand")
    words = game_view(env.rules)["words"]
    assert sorted(words) == sorted(env.action_names)
    for _ in plies(env, Chooser(2)):
        row, turn = env.get_state()[0], int(env.agent_selection[-1])
        for seat in SEATS:
            legal = table_view(row, env.rules, seat)["legal"]
            assert legal == (legal_names(env) if seat in (None, turn) else [])


def test_hands_are_sorted_with_trumps_first():
    """From the right bower down, the left bower among them; the rest by suit, high cards first."""
    deal = [
        *(["JH", "JD", "AH", "9S", "TS", "9C"], ["KH", "TH", "QS", "KS", "AC", "TC"]),
        *(["QH", "9H", "JS", "AS", "QC", "KC"], ["9D", "TD", "QD", "KD", "AD", "JC"]),
    ]
    env = start("cincinnati_v0", 1)
    env.reset(options={"deal": deal, "dealer": 3})
    for action in ("bid 3", "pass", "pass", "pass", "trump D"):
        env.step(env.action_names.index(action))
    view = table_view(env.get_state()[0], env.rules, 0)
    assert view["hands"] == [["JD", "JH", "TS", "9S", "AH", "9C"], 6, 6, 6]
    assert view["remark"] == "The jack of hearts, the left bower, is one of the diamonds."
    assert view["words"] == (
        "You name diamonds. The contract is 3 in diamonds by you. You to play."
    )
    assert (view["contract"], view["strain"], view["need"]) == ("3 D", "D", 3)
    env.step(env.action_names.index("JH"))
    view = table_view(env.get_state()[0], env.rules, 2)
    assert view["words"] == "Partner plays the jack of hearts. Right to play, diamonds led."


def test_words_name_every_action():
    """As they are said."""
    words = game_view(start("barrie_v0", 1).rules)["words"]
    assert words["JH"] == "jack of hearts"
    assert words["bid 4 NT"] == "bid 4 in no trump"
    assert words["bid call-2 S"] == "bid call-2 in spades"
    words = game_view(start("cincinnati_v0", 1).rules)["words"]
    assert words["trump NT"] == "name no trump"
    assert words["bid double moon"] == "bid double moon"
    assert set(words) >= set(CARD_NAMES)


def test_a_seat_is_a_seat():
    """Anything else is refused."""
    env = start("barrie_v0", 1)
    for wrong in (4, -1, "0", True, 1.0):
        with pytest.raises(OptionError, match="a seat from 0 to 3, or None"):
            table_view(env.get_state()[0], env.rules, wrong)
