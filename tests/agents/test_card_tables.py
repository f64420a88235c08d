"""Tables of hands and of card holders: their numbers, and the scripts that make them."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from support.agent_games import live_rows, look, start
from support.kernels import callable_from_python
from support.positions import CINCINNATI, Position
from support.script_modules import ROOT, loaded

from bideuchre_env import agents
from bideuchre_env.agents.expert import (
    sampled_deals,
)
from bideuchre_env.agents.expert.hand_table import SCALE, hand_table, provenance
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
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import DEAL, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.suits import SUIT_MAPS, renamed
from bideuchre_env.learning.view import VIEW, read_view
from bideuchre_env.rules.cards import COPY_SHIFT, NO_TRUMP, hand_bits, parse_card
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel, new_rows

renamed = callable_from_python(renamed)

DECKS = {(24, 1): (18_133, 6), (16, 2): (34_298, 8), (20, 1): (2_176, 5), (16, 1): (286, 4)}
LAYDOWNS = ("JS JC AS KS QS TS", "JS JS JC JC AS AS KS KS", "JS JC AS KS QS", "JS JC AS KS")


def random_hands(kinds, copies, n, seed=1):
    rng = np.random.default_rng(seed)
    deck = np.repeat(np.arange(kinds), copies)
    return [hand_bits(rng.permutation(deck)[: len(deck) // 4].tolist()) for _ in range(n)]


@pytest.mark.parametrize("deck", DECKS)
def test_every_hand_has_one_row(deck):
    """Up to suit symmetry, keyed by the least of its renamings."""
    table, (n, tricks) = hand_table(*deck), DECKS[deck]
    assert table.keys.shape == (n,)
    assert (np.diff(table.keys) > 0).all()
    assert table.tricks.shape[2:] == (5, tricks + 1)
    assert table.lone.shape[2:] == (4, 5)
    for hand in random_hands(*deck, 300):
        row, suits = table.row(hand)
        assert row >= 0
        assert sorted(suits) == [0, 1, 2, 3]


@pytest.mark.parametrize("deck", DECKS)
def test_renaming_the_suits_renames_the_strains(deck):
    table = hand_table(*deck)
    for hand in random_hands(*deck, 100):
        row, suits = table.row(hand)
        for symmetry, names in enumerate(SUIT_MAPS):
            other_row, other_suits = table.row(renamed(hand, symmetry))
            assert other_row == row
            for strain in range(4):
                one = table.tricks[row, 0, suits[strain]]
                other = table.tricks[row, 0, other_suits[names[strain]]]
                # a hand with two like suits may have either order of them
                assert abs(int((one * np.arange(len(one))).sum()) / SCALE
                           - (other * np.arange(len(one))).sum() / SCALE) < 1.2  # fmt: skip


@pytest.mark.parametrize(("deck", "words"), [*zip(DECKS, LAYDOWNS, strict=True)])
def test_chances_add_up(deck, words):
    """A row of chances sums to 255; a laydown is certain, alone and with partner."""
    table = hand_table(*deck)
    assert (table.tricks.sum(axis=-1, dtype=np.int64) == SCALE).all()
    row, suits = table.row(hand_bits([parse_card(word) for word in words.split()]))
    assert (table.tricks[row, :, suits[3], -1] == SCALE).all()
    assert (table.lone[row, :, 0, suits[3]] == SCALE).all()


def test_another_deck_has_no_table_and_another_hand_no_row():
    assert hand_table(20, 2) is None
    assert hand_table(24, 2) is None
    table = hand_table(24, 1)
    assert table.row(0)[0] == -1
    assert table.row(1 << COPY_SHIFT | 1)[0] == -1


@pytest.mark.slow
def test_the_script_makes_the_same_rows_in_any_number_of_processes(tmp_path):
    script = [sys.executable, str(ROOT / provenance()["script"])]
    for workers in ("1", "2"):
        out = tmp_path / f"{workers}.npz"
        decks = [f"{kinds}x{copies}" for kinds, copies in DECKS]
        asked = ["--hands", "5", "--workers", workers, "--out", str(out), "--decks", *decks]
        subprocess.run([*script, *asked], check=True)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_the_script_plays_the_three_best_strains_to_a_small_error():
    """Each best strain is played until its error is small."""
    with loaded("experiments/fitting", "hand_play", "build_hand_table") as (play, script):
        rules, n, limit = script.game(24, 1, "declarer"), 40, 0.08
        keys = script.canonical_hands(rules.kinds, rules.copies)[::450][:n].copy()
        won, half_width = (
            np.zeros((n, 5, rules.tricks + 1), np.int64),
            callable_from_python(play.half_width),
        )
        low, _ = split_seed(3)
        play.play_partnered(play.new_table(rules), keys, 0, low, 20, 900, limit, won)
        deals, ranked = won.sum(axis=2), 0
        means = won @ np.arange(rules.tricks + 1) / deals
        for i in range(n):
            order = np.argsort(-means[i], kind="stable")
            sure = [
                k for k in order if means[i, k] > means[i, order[2]] - play.NEAR or k in order[:3]
            ]
            for k in sure:
                assert half_width(won[i, k]) <= limit or deals[i, k] == 900
            ranked += any(deals[i, k] > 20 for k in order[3:])
        assert (deals >= 20).all()
        assert ranked  # some strain was among the best for a while, and is not


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
    truth, fitted, uniform = np.zeros(5), np.zeros(5, np.int64), np.zeros(5, np.int64)
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
        for deals, counts in ((room[1], fitted), (room[2], uniform)):
            found = np.zeros(5, np.int64)
            count_cards(row, tables, layout.offsets, room[0], deals, trumps, n, found)
            counts += found[order]
    shares = [counts[1] / counts.sum() for counts in (truth, fitted, uniform)]
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
    metadata = json.loads(str(arrays.pop("provenance")))
    assert metadata["hands"] == 6
    assert metadata["rounds"] == 2
    assert sorted(arrays) == sorted(metadata["games"])
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
