"""Odds of who holds an unseen card: the numbers, sampled deals, and the script that fits them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.agent_games import live_rows, look, start
from support.positions import CINCINNATI, Position
from support.script_modules import loaded

from bideuchre_env import agents
from bideuchre_env.agents.expert import (
    sampled_deals,
)
from bideuchre_env.agents.expert.sampled_deals import (
    DECLARER,
    DEFENDER,
    EQUAL,
    SAMPLED_DEAL,
    begin_deals,
    number_cards,
    sample_deal,
)
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import DEAL, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.card_order import STRENGTH
from bideuchre_env.learning.view import VIEW, read_view
from bideuchre_env.rules.cards import NO_TRUMP, SUITS, parse_card
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel, new_rows

TRUMPS, NO_TRUMPS = 0, 1  # contracts
SMALL = ["--hands", "6", "--rounds", "2"]


@pytest.mark.parametrize("variant", RULES)
def test_every_registered_deck_has_holder_odds(variant):
    """Read-only; a defender's are always `EQUAL`, and 0 where nothing was ever played."""
    known = sampled_deals.holder_odds(RULES[variant])
    assert known.shape == sampled_deals.SHAPE
    assert known.dtype == np.uint8
    assert not known.flags.writeable
    played = known.all(axis=(2, 3))
    assert played[: 4 if RULES[variant].lone else 2, 2:].all()
    assert not known[~played].any()
    assert (known[played][:, DEFENDER] == EQUAL).all()
    assert known.max() > 2 * EQUAL


def test_another_deck_has_no_holder_odds():
    """All zeros: cards are equally likely anywhere."""
    rules = Rules(ranks="10", partnered=(1, 5), target=20)
    known = sampled_deals.holder_odds(rules)
    assert known.shape == sampled_deals.SHAPE
    assert known.dtype == np.uint8
    assert not known.any()
    assert not known.flags.writeable
    position = Position(rules, {}, agent="expert")
    while int(position.states["phase"][0]) < DEAL:
        position.do(position.choice())


@pytest.mark.parametrize("variant", RULES)
def test_the_declarer_likelier_holds_trumps_than_a_defender(variant):
    """Except the bowers, which the declarer may have led already."""
    known, rank = sampled_deals.holder_odds(RULES[variant]), STRENGTH[SUITS.index("S")]
    for held in range(2, 6):
        for card in ("AS", "KS", "QS"):
            assert known[TRUMPS, held, DECLARER, rank[parse_card(card)]] > EQUAL
    if variant == "cincinnati_v0":  # where another seat leads
        assert (known[TRUMPS, 2:, DECLARER, rank[parse_card("JS")]] > 4 * EQUAL).all()
        assert known[TRUMPS, 5, DECLARER, rank[parse_card("JH")]] < EQUAL


def first_cards_of_defenders(variant, games):
    """State rows at the first card of a defender in a trump contract of rule players."""
    rules, found = RULES[variant], []
    tables, player = compile_tables(rules), agents.make("rule", rules)
    states = start(rules, games, seed=11)
    while len(live := live_rows(states)):
        for g in live:
            s = states[g]
            first = int(s["hands"][int(s["turn"])]).bit_count() == rules.tricks
            against = (int(s["turn"]) ^ int(s["declarer"])) & 1
            trumps = s["phase"] == PLAY and 0 <= s["strain"] < NO_TRUMP and s["sitting_out"] < 0
            if trumps and first and against:
                found.append(states[g : g + 1].copy())
        rows, masks = look(rules, states, live)
        apply_rows(states, tables, live, player.act_rows(rows, masks))
    return np.concatenate(found)


@entry_kernel
def count_cards(rows, tables, offsets, views, rooms, kinds, n, found):
    """Sample n deals from the first row, and count the cards of these kinds by seat."""
    v, x = views[0], rooms[0]
    read_view(row_of(rows, 0), tables[0], offsets[0], v)
    number_cards(v, x)
    begin_deals(v, x)
    for _ in range(n):
        if sample_deal(v, x):
            for seat in range(1, len(found)):
                for place in range(int(x.n)):
                    if kinds >> int(x.kind[place]) & 1 and int(x.hands[seat]) >> place & 1:
                        found[seat] += 1


def test_sampled_deals_give_the_declarer_as_many_trumps_as_it_has():
    """Equal odds give the declarer far too few trumps."""
    rules, n = CINCINNATI, 4
    tables, layout = compile_tables(rules), layout_of(rules)
    kinds = [int(tables["suit_bits"][0][strain][strain]) for strain in range(NO_TRUMP)]
    room = new_rows(VIEW, 1), new_rows(SAMPLED_DEAL, 1), new_rows(SAMPLED_DEAL, 1)
    room[1]["holder_odds"] = sampled_deals.holder_odds(rules)
    truth, told, alike = np.zeros(5), np.zeros(5, np.int64), np.zeros(5, np.int64)
    states = first_cards_of_defenders("cincinnati_v0", 800)
    for i in range(len(states)):
        s = states[i]
        trumps, turn = kinds[int(s["strain"])], int(s["turn"])
        declarer = (int(s["declarer"]) - turn) & 3
        order = [0, declarer, (declarer + 2) & 3, 2, 4]  # holders, the same for every position
        truth[1:4] += [
            (int(s["hands"][(turn + seat) & 3]) & trumps).bit_count() for seat in order[1:4]
        ]
        row, _ = look(rules, states, np.array([i]))
        for deals, counts in ((room[1], told), (room[2], alike)):
            found = np.zeros(5, np.int64)
            count_cards(row, tables, layout.offsets, room[0], deals, trumps, n, found)
            counts += found[order]
    shares = [counts[1] / counts.sum() for counts in (truth, told, alike)]
    assert shares[0] > 0.5
    assert shares[1] == pytest.approx(shares[0], abs=0.04)
    assert shares[2] < shares[0] - 0.1


# --- the script ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script():
    with loaded("experiments/fitting", "build_holder_odds") as (module,):
        yield module


def made(script, out, *options):
    assert script.main(script.Args.parse([*SMALL, "--out", str(out), *options])) == 0
    with np.load(out) as arrays:
        return {name: arrays[name] for name in arrays.files}


def test_the_script_writes_every_deck(script, tmp_path, capsys):
    """In the form that is loaded; the same seed gives the same bytes."""
    first, again = tmp_path / "new" / "one.npz", tmp_path / "two.npz"
    arrays = made(script, first)
    assert "16x2: simplified_v0, club_v0, barrie_v0" in capsys.readouterr().out
    told = json.loads(str(arrays.pop("provenance")))
    assert told["hands"] == 6
    assert told["rounds"] == 2
    assert sorted(arrays) == sorted(told["games"])
    for known in arrays.values():
        assert known.shape == sampled_deals.SHAPE
        assert known.dtype == np.uint8
        played = known.all(axis=(2, 3))
        assert played[:2, 2:].all()
        assert not known[~played].any()
        assert (known[played][:, DEFENDER] == EQUAL).all()
        assert len(np.unique(known)) > 5
    assert [path.name for path in first.parent.iterdir()] == ["one.npz"]
    made(script, again)
    assert first.read_bytes() == again.read_bytes()


def test_a_round_of_the_script_corrects_the_odds(script):
    """A holder whom sampled deals give a card half as often as it has it gets double odds."""
    known, found = (
        np.full(sampled_deals.SHAPE, EQUAL, np.uint8),
        np.zeros((2, *sampled_deals.SHAPE)),
    )
    found[:, TRUMPS, 3, :, 5] = 1e6
    found[1, TRUMPS, 3, DECLARER, 5] = 5e5
    found[0, NO_TRUMPS, 3, DEFENDER, 5], found[1, NO_TRUMPS, 3, DEFENDER, 5] = 1e6, 2e6
    new = script.corrected(known, found)
    assert new[TRUMPS, 3, :, 5].tolist() == [2 * EQUAL, EQUAL, EQUAL, EQUAL]
    assert new[NO_TRUMPS, 3, DECLARER, 5] == 2 * EQUAL  # against a defender, who stays at EQUAL
    assert new[NO_TRUMPS, 3, DEFENDER, 5] == EQUAL
    new[TRUMPS, 3, :, 5] = new[NO_TRUMPS, 3, :, 5] = EQUAL
    assert (new == EQUAL).all()  # what was never seen
