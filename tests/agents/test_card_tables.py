"""Tables of hands and of card holders, and the scripts that generate them."""

import json

import numpy as np
import pytest
from support.agent_games import decisions
from support.commands import ROOT, load_scripts, python
from support.kernels import callable_from_python
from support.positions import CINCINNATI

from bideuchre_env.agents.expert import sampled_deals
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
from bideuchre_env.core.state import PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.learning.suits import SUIT_MAPS, renamed
from bideuchre_env.learning.view import VIEW, read_view
from bideuchre_env.rules.cards import COPY_SHIFT, NO_TRUMP, hand_bits, parse_card
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
    """Rows are unique up to suit symmetry, keyed by the smallest renaming of the hand."""
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
                # a hand with two equivalent suits may have either order of them
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
    for workers in ("1", "2"):
        out = tmp_path / f"{workers}.npz"
        decks = [f"{kinds}x{copies}" for kinds, copies in DECKS]
        options = ["--hands", "5", "--workers", workers, "--out", str(out), "--decks", *decks]
        python(ROOT / provenance()["script"], *options)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


TRUMPS, NO_TRUMPS = 0, 1  # contracts
SMALL = ["--hands", "6", "--rounds", "2"]


@pytest.mark.parametrize("variant", RULES)
def test_every_registered_deck_has_holder_odds(variant):
    """Odds are read-only, `EQUAL` for defenders, and 0 for contracts that never occurred."""
    odds = sampled_deals.holder_odds(RULES[variant])
    assert odds.shape == sampled_deals.SHAPE
    assert odds.dtype == np.uint8
    assert not odds.flags.writeable
    played = odds.all(axis=(2, 3))
    assert played[: 4 if RULES[variant].lone else 2, 2:].all()
    assert not odds[~played].any()
    assert (odds[played][:, DEFENDER] == EQUAL).all()
    assert odds.max() > 2 * EQUAL


def first_card_against_trumps(rules, state):
    """Whether a defender is to play its first card in a trump contract that is not alone."""
    full = int(state["hands"][state["turn"]]).bit_count() == rules.tricks
    trumps = 0 <= state["strain"] < NO_TRUMP and state["sitting_out"] < 0
    defends = (int(state["turn"]) ^ int(state["declarer"])) & 1
    return state["phase"] == PLAY and full and trumps and defends


@entry_kernel
def count_cards(rows, tables, offsets, views, rooms, kinds, n, counts):
    """Count the cards of `kinds` (bits) of seats 1 to 3 in n deals sampled from `rows[0]`."""
    v, x = views[0], rooms[0]
    read_view(row_of(rows, 0), tables[0], offsets[0], v)
    number_cards(v, x)
    begin_deals(v, x)
    for _ in range(n):
        if sample_deal(v, x):
            for seat in range(1, len(counts)):
                for place in range(int(x.n)):
                    if kinds >> int(x.kind[place]) & 1 and int(x.hands[seat]) >> place & 1:
                        counts[seat] += 1


def test_sampled_deals_give_the_declarer_its_true_share_of_trumps():
    rules, tables, offsets = CINCINNATI, compile_tables(CINCINNATI), layout_of(CINCINNATI).offsets
    views, deals = new_rows(VIEW, 1), new_rows(SAMPLED_DEAL, 1)
    deals["holder_odds"] = sampled_deals.holder_odds(rules)
    truth, sampled = np.zeros(4), np.zeros(4)  # declarer, a defender, partner, a defender
    for row, _, state in decisions(rules, 800, seed=11):
        if not first_card_against_trumps(rules, state):
            continue
        trumps = int(tables["suit_bits"][0][state["strain"]][state["strain"]])
        turn, declarer, counts = int(state["turn"]), int(state["declarer"]), np.zeros(4, np.int64)
        count_cards(row[np.newaxis], tables, offsets, views, deals, trumps, 4, counts)
        sampled += np.roll(counts, turn - declarer)
        held = [(int(hand) & trumps).bit_count() for hand in state["hands"]]
        held[turn] = 0
        truth += np.roll(held, -declarer)
    assert truth[0] > 0.5 * truth.sum()
    assert sampled[0] / sampled.sum() == pytest.approx(truth[0] / truth.sum(), abs=0.04)


@pytest.fixture(scope="module")
def script():
    with load_scripts("experiments/fitting", "build_holder_odds") as (module,):
        yield module


def made(script, out, *options):
    """Run the script with small settings, and return the arrays of its file `out` by name."""
    assert script.main(script.Args.parse([*SMALL, "--out", str(out), *options])) == 0
    with np.load(out) as arrays:
        return {name: arrays[name] for name in arrays.files}


def test_the_script_writes_every_deck(script, tmp_path, capsys):
    """The file has the arrays that agents load, and the same seed writes the same bytes."""
    first, again = tmp_path / "new" / "one.npz", tmp_path / "two.npz"
    arrays = made(script, first)
    assert "16x2: simplified_v0, club_v0, barrie_v0" in capsys.readouterr().out
    metadata = json.loads(str(arrays.pop("provenance")))
    assert metadata["hands"] == 6
    assert metadata["rounds"] == 2
    assert sorted(arrays) == sorted(metadata["games"])
    for odds in arrays.values():
        assert odds.shape == sampled_deals.SHAPE
        assert odds.dtype == np.uint8
        played = odds.all(axis=(2, 3))
        assert played[:2, 2:].all()
        assert not odds[~played].any()
        assert (odds[played][:, DEFENDER] == EQUAL).all()
        assert len(np.unique(odds)) > 5
    assert [path.name for path in first.parent.iterdir()] == ["one.npz"]
    made(script, again)
    assert first.read_bytes() == again.read_bytes()


def test_a_round_of_the_script_corrects_the_odds(script):
    """Odds double for a holder that gets a card half as often in sampled deals as in real ones."""
    odds, counts = (
        np.full(sampled_deals.SHAPE, EQUAL, np.uint8),
        np.zeros((2, *sampled_deals.SHAPE)),
    )
    counts[:, TRUMPS, 3, :, 5] = 1e6
    counts[1, TRUMPS, 3, DECLARER, 5] = 5e5
    counts[0, NO_TRUMPS, 3, DEFENDER, 5], counts[1, NO_TRUMPS, 3, DEFENDER, 5] = 1e6, 2e6
    new = script.correct_odds(odds, counts)
    assert new[TRUMPS, 3, :, 5].tolist() == [2 * EQUAL, EQUAL, EQUAL, EQUAL]
    assert new[NO_TRUMPS, 3, DECLARER, 5] == 2 * EQUAL  # defenders stay at EQUAL
    assert new[NO_TRUMPS, 3, DEFENDER, 5] == EQUAL
    new[TRUMPS, 3, :, 5] = new[NO_TRUMPS, 3, :, 5] = EQUAL
    assert (new == EQUAL).all()  # entries without observations
