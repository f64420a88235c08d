"""Who is likely to hold an unseen card: the file, what it says, and the script that counts it."""

from __future__ import annotations

import json
import random
from importlib import resources

import numpy as np
import pytest
from support.agent_games import look, start
from support.positions import CINCINNATI, Position
from support.script_modules import ROOT, loaded

from bideuchre_env import agents
from bideuchre_env.agents import data
from bideuchre_env.agents.expert import (
    call_network,
    hand_table,
    sampled_deals,
    score_network,
    win_table,
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
from bideuchre_env.agents.rule import weights as rule_weights
from bideuchre_env.cli import script_args
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows
from bideuchre_env.core.state import DEAL, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError, TableError
from bideuchre_env.learning.card_order import STRENGTH
from bideuchre_env.learning.view import VIEW, read_view
from bideuchre_env.learning.weights import read_archive
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import NO_TRUMP, SUITS, parse_card
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import row_of
from bideuchre_env.runtime.jit import entry_kernel, new_rows

TRUMPS, NO_TRUMPS = 0, 1  # contracts
SMALL = ["--hands", "6", "--rounds", "2"]

# --- the file ------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", RULES)
def test_every_registered_deck_has_its_numbers(variant):
    """Read-only, a defender's always `EQUAL`; 0, "not known", where nothing was ever played."""
    known = sampled_deals.holder_odds(RULES[variant])
    assert known.shape == sampled_deals.SHAPE
    assert known.dtype == np.uint8
    assert not known.flags.writeable
    played = known.all(axis=(2, 3))
    assert played[: 4 if RULES[variant].lone else 2, 2:].all()
    assert not known[~played].any()
    assert (known[played][:, DEFENDER] == EQUAL).all()
    assert known.max() > 2 * EQUAL


def test_the_numbers_are_by_deck():
    """Games of one deck share them, be they registered or made up."""
    assert sampled_deals.holder_odds(RULES["barrie_v0"]) is sampled_deals.holder_odds(
        RULES["club_v0"]
    )
    made_up = Rules(ranks="9", copies=1, partnered=(2, 4), target=17)
    assert sampled_deals.holder_odds(made_up) is sampled_deals.holder_odds(RULES["cincinnati_v0"])


def test_of_another_deck_nothing_is_known():
    """Zeros, by which sampled deals take all to be alike; the expert plays it all the same."""
    rules = Rules(ranks="10", partnered=(1, 5), target=20)
    known = sampled_deals.holder_odds(rules)
    assert known.shape == sampled_deals.SHAPE
    assert known.dtype == np.uint8
    assert not known.any()
    assert not known.flags.writeable
    position = Position(rules, {}, agent="expert")
    while int(position.states["phase"][0]) < DEAL:
        position.do(position.choice())


def test_the_file_is_small_and_tells_how_it_was_made():
    """Loaded without pickle; the decks are those of the registered variants."""
    path = resources.files("bideuchre_env.agents.data").joinpath(sampled_deals.FILE)
    assert len(path.read_bytes()) < 10_000
    with np.load(path.open("rb")) as arrays:  # refuses objects
        assert all(arrays[name].dtype.kind in "uU" for name in arrays.files)
    told = sampled_deals.provenance()
    assert (ROOT / told["script"]).exists()
    assert told["command"].startswith(f"python {told['script']} --hands {told['hands']} ")
    assert told["seed"] == 1
    assert {name for names in told["games"].values() for name in names} == set(RULES)
    assert set(data.read_file(sampled_deals.FILE)) == {*told["games"], data.PROVENANCE}


def forget():
    kept = hand_table.hand_table, rule_weights.load_weights
    for cached in (data.read_file, *kept):
        cached.cache_clear()


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder that the package takes its files from."""
    forget()
    monkeypatch.setattr(data.resources, "files", lambda package: tmp_path)
    yield tmp_path
    forget()


LOADERS = {
    sampled_deals.FILE: lambda: sampled_deals.holder_odds(CINCINNATI),
    hand_table.FILE: lambda: hand_table.hand_table(24, 1),
    call_network.FILE: lambda: call_network.fitted_network("cincinnati_v0"),
    win_table.FILE: lambda: score_network.fitted_score_network("club_v0"),
    rule_weights.FILE: lambda: rule_weights.load_weights(24, 1),
}
PROVENANCES = {
    sampled_deals.FILE: sampled_deals.provenance,
    hand_table.FILE: hand_table.provenance,
    call_network.FILE: call_network.provenance,
    win_table.FILE: win_table.provenance,
    rule_weights.FILE: lambda: data.read_provenance(rule_weights.FILE),
}


@pytest.mark.parametrize("name", LOADERS)
def test_a_file_that_is_missing_or_damaged_is_named(folder, name):
    """One kind of error for all of them, whatever the damage: it names the file and the way out."""
    whole = (ROOT / "agents" / "data" / name).read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    for content in (None, b"", b"no table", whole[: len(whole) // 2], bytes(flipped)):
        if content is not None:
            (folder / name).write_bytes(content)
        forget()
        with pytest.raises(TableError, match=f"agents/data/{name} is missing or damaged.*install"):
            LOADERS[name]()


@pytest.mark.parametrize("name", LOADERS)
def test_a_flipped_bit_of_a_table_is_refused_or_harmless(folder, name):
    """At 50 random places, half of them among the archive's own headers at its end."""
    content, rng = (ROOT / "agents" / "data" / name).read_bytes(), random.Random(0)
    whole, errors = read_archive(content), []
    for last in 25 * (len(content), 1000):
        flipped = bytearray(content)
        flipped[-1 - rng.randrange(last)] ^= 1 << rng.randrange(8)
        (folder / name).write_bytes(flipped)
        forget()
        try:
            read = data.read_file(name)
        except TableError as error:
            errors.append(str(error))
            continue
        np.testing.assert_equal(read, whole, strict=True)
    assert [f"agents/data/{name}" in error for error in errors].count(True) == len(errors) >= 25


@pytest.mark.parametrize("name", LOADERS)
def test_a_file_without_its_arrays_is_damaged(folder, name):
    with (folder / name).open("wb") as file:
        np.savez_compressed(file, provenance=np.array("{"))
    if name != sampled_deals.FILE:  # a deck it lacks is one of which nothing is known
        with pytest.raises(TableError, match=r"no .* in it"):
            LOADERS[name]()
    with pytest.raises(TableError, match="its provenance cannot be read"):
        PROVENANCES[name]()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        (sampled_deals.FILE, "24x1"),
        (hand_table.FILE, "keys_24x1"),
        (hand_table.FILE, "tricks_24x1"),
        (hand_table.FILE, "lone_24x1"),
        (call_network.FILE, "cincinnati_v0_first"),
        (call_network.FILE, "cincinnati_v0_shifts"),
        (win_table.FILE, "club_v0_straight"),
        (rule_weights.FILE, "24x1_lone"),
    ],
)
def test_numbers_of_another_form_are_damaged(folder, name, part):
    """They would be read by kernels, which check no bounds."""
    with np.load(ROOT / "agents" / "data" / name) as whole:
        arrays = {each: whole[each] for each in whole.files}
    right = arrays[part]
    for wrong in (right[..., np.newaxis], right.astype(np.complex64), right[1:]):
        with (folder / name).open("wb") as file:
            np.savez(file, **{**arrays, part: wrong})
        forget()
        with pytest.raises(TableError, match=r"is .* not (u?int|float)"):
            LOADERS[name]()


# --- what they say -------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", RULES)
def test_the_declarer_has_the_trumps(variant):
    """In a trump contract its holder is likelier to have any but the bowers than a defender is.

    (A right bower it has in Barrie is led at once, and not left in its hand.)
    """
    known, rank = sampled_deals.holder_odds(RULES[variant]), STRENGTH[SUITS.index("S")]
    for held in range(2, 6):
        for card in ("AS", "KS", "QS"):
            assert known[TRUMPS, held, DECLARER, rank[parse_card(card)]] > EQUAL
    if variant == "cincinnati_v0":  # where another seat leads
        assert (known[TRUMPS, 2:, DECLARER, rank[parse_card("JS")]] > 4 * EQUAL).all()
        assert known[TRUMPS, 5, DECLARER, rank[parse_card("JH")]] < EQUAL


@entry_kernel
def fill_odds(rows, tables, offsets, views, deals):
    """How likely each unseen card is taken to lie with each seat, into `deals`."""
    v, x = views[0], deals[0]
    read_view(row_of(rows, 0), tables[0], offsets[0], v)
    number_cards(v, x)
    begin_deals(v, x)


def test_a_lone_contract_no_variant_of_the_deck_has_leans_by_its_strain():
    """Two packs of 24 are registered without one: its declarer is taken to hold the trumps."""
    rules = Rules(ranks="9", copies=2, partnered=(1, 12), lone=[Bid("moon", value=24)], target=52)
    position = Position(rules, {1: "JS JS JC AS AS KS QS TS AH KH AD KD"})
    position.do("bid moon S, pass, pass, pass")
    state = position.states[0]
    while state["trick"] < 7 or state["turn"] == 1:  # a defender with five cards
        position.do(position.choice())
    views, deals = new_rows(VIEW, 1), new_rows(SAMPLED_DEAL, 1)
    deals["holder_odds"], deals["lean_by"] = sampled_deals.holder_odds(rules), 2
    fill_odds(
        position.look()[0][np.newaxis], position.tables, position.layout.offsets, views, deals
    )
    x, declarer = deals[0], int(views[0]["declarer"])
    other = 4 - declarer  # the other defender
    unseen = [place for place in range(x["n"]) if int(x["unseen"]) >> place & 1]
    trumps = {place for place in unseen if x["suit"][place] == SUITS.index("S")}
    assert 0 < len(trumps) < len(unseen)
    for place in unseen:
        more = 6 / 4 if place in trumps else 1
        assert x["odds"][declarer, place] == more * x["odds"][other, place]


def at_first_card_of_defenders(variant, games):
    """Rows of state at the first card a defender plays in a trump contract, by the rule player."""
    rules, found = RULES[variant], []
    tables, player = compile_tables(rules), agents.make("rule", rules)
    states = start(rules, games, seed=11)
    while len(live := np.flatnonzero(np.asarray(states["phase"]) < DEAL)):
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
def where_they_lie(rows, tables, offsets, views, rooms, kinds, n, found):
    """Sample n deals from what the first row shows, and count where cards of these kinds lie."""
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


def test_sampled_deals_give_the_trumps_to_those_who_have_them():
    """The trumps a defender cannot see, by their holder, in truth and in deals it samples.

    With the numbers both agree; with cards taken to lie alike the declarer has far too few.
    """
    rules, n = CINCINNATI, 4
    tables, layout = compile_tables(rules), layout_of(rules)
    kinds = [int(tables["suit_bits"][0][strain][strain]) for strain in range(NO_TRUMP)]
    room = new_rows(VIEW, 1), new_rows(SAMPLED_DEAL, 1), new_rows(SAMPLED_DEAL, 1)
    room[1]["holder_odds"] = sampled_deals.holder_odds(rules)
    truth, told, alike = np.zeros(5), np.zeros(5, np.int64), np.zeros(5, np.int64)
    states = at_first_card_of_defenders("cincinnati_v0", 1200)
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
            where_they_lie(row, tables, layout.offsets, room[0], deals, trumps, n, found)
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
    """Complete, in a folder it makes, in the form that is loaded; same seed, same bytes."""
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
    other = made(script, tmp_path / "three.npz", "--seed", "2")
    assert not np.array_equal(other["24x1"], arrays["24x1"])


def test_a_round_moves_the_numbers_towards_the_truth(script):
    """A holder whom sampled deals give a card half as often as it has it counts double after."""
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


def test_ctrl_c_writes_nothing(script, tmp_path, monkeypatch, capsys):
    """Between two parts of the hands, so that it is heard."""

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(script, "note_hands", interrupted)
    assert script_args.run(script.main, script.Args, ["--out", str(tmp_path / "l.npz")]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [(["--hands", "0"], "hands"), (["--rounds", "0"], "rounds"), (["--seed", "-1"], "seed")],
)
def test_bad_arguments_are_refused_before_anything_is_dealt(script, tmp_path, options, told):
    with pytest.raises(OptionError, match=told):
        script.main(script.Args.parse(["--out", str(tmp_path / "l.npz"), *options]))
    assert list(tmp_path.iterdir()) == []
