"""Packaged data files and their errors; tables of hands and of card holders, and their scripts."""

import hashlib
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from support.agent_games import CINCINNATI, CLUB, decisions
from support.commands import ROOT, load_scripts, python
from support.kernels import callable_from_python
from support.playthroughs import SIX

from bideuchre_env import agents
from bideuchre_env.agents import data
from bideuchre_env.agents.expert import (
    call_network,
    endgame,
    hand_table,
    score_network,
    win_table,
)
from bideuchre_env.agents.expert.endgame import (
    DECLARER,
    DEFENDER,
    EQUAL,
    SAMPLED_DEAL,
    begin_deals,
    number_cards,
    sample_deal,
)
from bideuchre_env.agents.learned.net import net_weights
from bideuchre_env.agents.learned.shipped import package_weights, provenance
from bideuchre_env.agents.rule import bidding
from bideuchre_env.cli.main import build_parser
from bideuchre_env.core.state import PLAY, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import VIEW, see
from bideuchre_env.errors import TableError, WeightsError
from bideuchre_env.learning import weights
from bideuchre_env.learning.features import VERSION, features_of
from bideuchre_env.learning.network import new_network
from bideuchre_env.learning.suits import SUIT_MAPS, renamed
from bideuchre_env.learning.weights import made_for, read_weights, write_parts
from bideuchre_env.rules.cards import COPY_SHIFT, NO_TRUMP, hand_bits, parse_card
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import entry_kernel, new_rows

pytestmark = pytest.mark.slow

FOLDER = ROOT / "agents" / "data"
EVERY_FILE = sorted(FOLDER.glob("*.npz"))
PARTS = [(name, part) for name in RULES for part in data.parts_of(name)]
PAGE = (ROOT / "agents" / "README.md").read_text(encoding="utf-8")
FROZEN = dict(re.findall(r"^\| `(\w+\.npz)` \| `(\w{64})` \|", PAGE, re.MULTILINE))

FROZEN_PARTS = re.findall(r"^\| parts `(\w+)` \| `(\w{64})` \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("part", "expected"), FROZEN_PARTS)
def test_parts_that_cannot_be_made_again_are_those_of_the_page(part, expected):
    made = [data.package_part(name, part).metadata for name, each in PARTS if each == part]
    digests = "".join(each["digest"] for each in made)
    assert hashlib.sha256(digests.encode()).hexdigest() == expected


def test_every_variant_has_one_file_with_the_weights_of_its_agents():
    every = set.intersection(*(set(data.parts_of(name)) for name in RULES))
    assert every == {"expert", "net", "ppo"}
    assert {part for _, part in PARTS} == {"expert", "score", "net", "ppo"}
    assert {f"{name}.npz" for name in RULES} < {file.name for file in EVERY_FILE}
    for kind in ("expert", "net", "ppo"):
        assert [*provenance(kind)] == [name for name, part in PARTS if part == kind]


@pytest.mark.parametrize(("variant", "kind"), PARTS)
def test_weights_fit_their_game_and_have_provenance(variant, kind):
    file = FOLDER / f"{variant}.npz"
    made = read_weights(file, kind).metadata
    assert file.stat().st_size <= 7 * 10**5
    assert made["variant"] == variant
    assert len(made["digest"]) == 64
    if kind in ("net", "ppo"):
        assert made.items() >= made_for(kind, RULES[variant], VERSION).items()
        assert kind != "net" or Rules(**made["settings"]["rules"]) == RULES[variant]
        assert made["seed"].isdecimal()
        assert int(made.get("steps") or made["decisions"]) > 0
        assert agents.make(f"{kind}:weights={file}", RULES[variant]).name.startswith(kind)


def test_only_the_arrays_of_an_agent_are_read(monkeypatch):
    read, loaded = [], weights.read_zip

    def spy(content, most, members, wanted):
        read.extend(each := loaded(content, most, members, wanted))
        return each

    monkeypatch.setattr(weights, "read_zip", spy)
    weights.read_weights(FOLDER / "barrie_v0.npz", "expert")
    arrays = [name for name in read if not name.endswith("provenance.npy")]
    assert {name.split(".")[0] for name in arrays} == {"expert"}


def test_all_files_together_are_at_most_7_and_a_half_megabytes():
    assert FROZEN
    assert {part for part, _ in FROZEN_PARTS} == {"expert", "score"}
    assert FROZEN.keys() < {file.name for file in EVERY_FILE}
    assert sum(file.stat().st_size for file in EVERY_FILE) <= 7.5e6


@pytest.mark.parametrize("file", EVERY_FILE, ids=lambda file: file.stem)
def test_a_file_has_finite_numbers_and_its_command_or_is_frozen(file):
    """The command's script accepts its options; a frozen file has the hash of the README."""
    with np.load(file, allow_pickle=False) as arrays:
        origins = [json.loads(str(arrays[n])) for n in arrays.files if n.endswith("provenance")]
        for name in arrays.files:
            assert arrays[name].dtype.kind in "iufU"
            assert arrays[name].dtype.kind != "f" or np.isfinite(arrays[name]).all(), name
    assert origins
    if file.name in FROZEN:
        assert hashlib.sha256(file.read_bytes()).hexdigest() == FROZEN[file.name]
        return
    for part in origins:
        if "command" not in part:
            assert (ROOT / part["script"]).is_file()
            continue
        script, *options = shlex.split(part["command"].removeprefix("python "))
        if script == "bideuchre":
            build_parser().parse_args(options)
            continue
        path = Path(script)
        if path.name == "train_ppo.py":
            pytest.importorskip("torch")
        with load_scripts(path.parent, path.stem) as (module,):
            module.Args.parse(options)


def clear_caches():
    tables = hand_table.hand_table, bidding.load_weights
    for cached in (data.read_file, data.package_part, data.parts_of, *tables):
        cached.cache_clear()


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder in place of the packaged one."""
    clear_caches()
    monkeypatch.setattr(data.resources, "files", lambda package: tmp_path)
    yield tmp_path
    clear_caches()


LOADERS = {
    endgame.FILE: lambda: endgame.holder_odds(RULES["cincinnati_v0"]),
    hand_table.FILE: lambda: hand_table.hand_table(24, 1),
    bidding.FILE: lambda: bidding.load_weights(24, 1),
}


@pytest.mark.parametrize("name", LOADERS)
def test_a_missing_or_damaged_file_is_an_error_that_names_it(folder, name):
    whole = (FOLDER / name).read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    for content in (None, b"", b"no table", whole[: len(whole) // 2], bytes(flipped)):
        if content is not None:
            (folder / name).write_bytes(content)
        clear_caches()
        with pytest.raises(TableError, match=f"agents/data/{name} is missing or damaged.*install"):
            LOADERS[name]()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        *((hand_table.FILE, f"{part}_24x1") for part in ("keys", "tricks", "lone")),
        *((endgame.FILE, "24x1"), (bidding.FILE, "24x1_lone")),
    ],
)
def test_an_array_of_another_shape_or_type_is_an_error(folder, name, part):
    """The check is needed because kernels do not check bounds."""
    with np.load(FOLDER / name) as whole:
        arrays = {each: whole[each] for each in whole.files}
    right = arrays[part]
    for wrong in (right[..., np.newaxis], right.astype(np.complex64), right[1:]):
        with (folder / name).open("wb") as file:
            np.savez(file, **{**arrays, part: wrong})
        clear_caches()
        with pytest.raises(TableError, match=r"24x1.*: expected a numpy array of .*, not "):
            LOADERS[name]()


@pytest.mark.parametrize(
    ("part", "load"),
    [
        ("expert", lambda: call_network.package_network.__wrapped__(CLUB)),
        ("score", lambda: score_network.load_score_network.__wrapped__(CLUB)),
        ("score", lambda: win_table.fitted_wins(CLUB)),
        ("net", lambda: package_weights.__wrapped__("net", CLUB)),
    ],
)
def test_missing_or_damaged_weights_are_an_error(folder, part, load):
    whole = (FOLDER / "club_v0.npz").read_bytes()
    flipped = bytearray(whole)
    for at in re.finditer(rb"%s\..{3,30}\.npy" % part.encode(), whole):
        if at.end() + 40 < len(whole):  # else a name in the list of contents at the end
            flipped[at.end() + 40] ^= 255
    for content in (None, b"", b"no weights", whole[: len(whole) // 2], bytes(flipped)):
        if content is not None:
            (folder / "club_v0.npz").write_bytes(content)
        clear_caches()
        with pytest.raises(WeightsError, match=r"club_v0\.npz .*(damaged|cannot be read)"):
            load()


def test_changed_arrays_do_not_have_their_digest(tmp_path):
    place = tmp_path / "club_v0.npz"
    with np.load(FOLDER / place.name) as whole:
        arrays = dict(whole)
    arrays["expert.calls.last"] = -arrays["expert.calls.last"]
    np.savez(place, **arrays)
    with pytest.raises(WeightsError, match="digest"):
        read_weights(place, "expert")
    assert read_weights(place, "net").metadata["variant"] == "club_v0"


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
    table, (n, tricks) = hand_table.hand_table(*deck), DECKS[deck]
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
    table = hand_table.hand_table(*deck)
    for hand in random_hands(*deck, 100):
        row, suits = table.row(hand)
        for symmetry, names in enumerate(SUIT_MAPS):
            other_row, other_suits = table.row(renamed(hand, symmetry))
            assert other_row == row
            for strain in range(4):
                rows = (row, suits[strain]), (other_row, other_suits[names[strain]])
                one, other = (table.tricks[at, 0, suit] for at, suit in rows)
                # a hand with two equivalent suits may have either order of them
                assert abs((one - other.astype(int)) @ np.arange(len(one))) / hand_table.SCALE < 1.2


@pytest.mark.parametrize(("deck", "words"), [*zip(DECKS, LAYDOWNS, strict=True)])
def test_chances_add_up(deck, words):
    """A row of chances sums to 255; a laydown is certain, alone and with partner."""
    table = hand_table.hand_table(*deck)
    assert (table.tricks.sum(axis=-1, dtype=np.int64) == hand_table.SCALE).all()
    row, suits = table.row(hand_bits([parse_card(word) for word in words.split()]))
    assert (table.tricks[row, :, suits[3], -1] == hand_table.SCALE).all()
    assert (table.lone[row, :, 0, suits[3]] == hand_table.SCALE).all()


def test_another_deck_has_no_table_and_another_hand_no_row():
    assert hand_table.hand_table(20, 2) is None
    assert hand_table.hand_table(24, 2) is None
    table = hand_table.hand_table(24, 1)
    assert table.row(0)[0] == -1
    assert table.row(1 << COPY_SHIFT | 1)[0] == -1


@pytest.mark.long
def test_the_script_makes_the_same_rows_in_any_number_of_processes(tmp_path):
    for workers in ("1", "2"):
        out = tmp_path / f"{workers}.npz"
        decks = [f"{kinds}x{copies}" for kinds, copies in DECKS]
        options = ["--hands", "5", "--workers", workers, "--out", str(out), "--decks", *decks]
        python(ROOT / hand_table.provenance()["script"], *options)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


FITTED_LONE = ("16x1_lone", "20x1_lone", "24x1_lone")


@pytest.fixture(scope="module")
def lone_script():
    with load_scripts("experiments/fitting", "fit_lone_bids") as (module,):
        yield module


def test_only_the_lone_bids_of_single_decks_are_fitted(lone_script, tmp_path, capsys):
    out = tmp_path / "weights.npz"
    options = ["--hands", "500", "--seed", "3", "--out", str(out)]
    assert lone_script.main(lone_script.Args.parse(options)) == 0
    assert "24 cards, no trump, 2 exchanged:" in capsys.readouterr().out
    with np.load(out) as new, np.load(FOLDER / bidding.FILE) as old:
        assert new.files == old.files
        changed = {name for name in new.files if not np.array_equal(new[name], old[name])}
        assert all(np.isfinite(new[name]).all() for name in changed - {"provenance"})
    assert changed == {*FITTED_LONE, "provenance"}


def test_the_regression_finds_the_weights_of_its_data(lone_script):
    rng, weights = np.random.default_rng(1), np.array([-1.0, 2.0, -0.5])
    x = np.column_stack([np.ones(40_000), rng.normal(size=(40_000, 2))])
    y = rng.random(len(x)) < lone_script.chances(x, weights)
    assert lone_script.logistic_regression(x, y) == pytest.approx(weights, abs=0.06)


@pytest.mark.slow
def test_the_script_makes_the_shipped_lone_bids_again(lone_script, tmp_path):
    """Rounding errors of another linear algebra library (BLAS) can change the last decimal."""
    out, shipped = tmp_path / "weights.npz", FOLDER / bidding.FILE
    with np.load(shipped) as arrays:
        command = json.loads(str(arrays["provenance"]))["command"]
    options = [*shlex.split(command)[2:], "--out", str(out)]
    assert lone_script.main(lone_script.Args.parse(options)) == 0
    with np.load(out) as new, np.load(shipped) as old:
        assert new.files == old.files
        for name in old.files:
            assert (new[name].dtype, new[name].shape) == (old[name].dtype, old[name].shape), name
            if name in FITTED_LONE:
                last = 10.0**-lone_script.DECIMALS
                np.testing.assert_allclose(new[name], old[name], rtol=0, atol=1.001 * last)
            else:
                np.testing.assert_array_equal(new[name], old[name], name)


TRUMPS, NO_TRUMPS = 0, 1  # contracts
SMALL = ["--hands", "6", "--rounds", "2"]


def check_odds(odds, contracts):
    """Check the table's form, and that the first `contracts` of its contracts have occurred."""
    assert (odds.shape, odds.dtype) == (endgame.SHAPE, np.uint8)
    played = odds.all(axis=(2, 3))
    assert played[:contracts, 2:].all()
    assert not odds[~played].any()
    assert (odds[played][:, DEFENDER] == EQUAL).all()


@pytest.mark.parametrize("variant", SIX)
def test_every_deck_has_holder_odds(variant):
    """They were counted in these variants; lone bids of the double deck have none."""
    odds = endgame.holder_odds(RULES[variant])
    check_odds(odds, 4 if RULES[variant].lone else 2)
    assert not odds.flags.writeable
    assert odds.max() > 2 * EQUAL


def first_card_against_trumps(rules, state):
    """Whether a defender is to play its first card in a trump contract that is not alone."""
    full = int(state["hands"][state["turn"]]).bit_count() == rules.tricks
    trumps = 0 <= state["strain"] < NO_TRUMP and state["sitting_out"] < 0
    defends = (int(state["turn"]) ^ int(state["declarer"])) & 1
    return state["phase"] == PLAY and full and trumps and defends


@entry_kernel
def count_cards(states, tables, views, rooms, kinds, n, counts):
    """Count the cards of `kinds` (bits) of seats 1 to 3 in n deals sampled for the seat to act."""
    v, x = views[0], rooms[0]
    see(states[0], tables[0], states[0].turn, v)
    number_cards(v, tables[0], x)
    begin_deals(v, x)
    for _ in range(n):
        if sample_deal(v, x):
            for seat in range(1, len(counts)):
                for place in range(int(x.n)):
                    if kinds >> int(x.kind[place]) & 1 and int(x.hands[seat]) >> place & 1:
                        counts[seat] += 1


def test_sampled_deals_give_the_declarer_its_true_share_of_trumps():
    rules, tables, states = CINCINNATI, compile_tables(CINCINNATI), new_states(1)
    views, deals = new_rows(VIEW, 1), new_rows(SAMPLED_DEAL, 1)
    deals["holder_odds"] = endgame.holder_odds(rules)
    truth, sampled = np.zeros(4), np.zeros(4)  # declarer, a defender, partner, a defender
    for _, _, state in decisions(rules, 800, seed=11):
        if not first_card_against_trumps(rules, state):
            continue
        trumps = int(tables["suit_bits"][0][state["strain"]][state["strain"]])
        turn, declarer, counts = int(state["turn"]), int(state["declarer"]), np.zeros(4, np.int64)
        states[0] = state
        count_cards(states, tables, views, deals, trumps, 4, counts)
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
    first, again = tmp_path / "new" / "one.npz", tmp_path / "two.npz"
    arrays = made(script, first)
    assert "16x2: simplified_v0, club_v0, barrie_v0" in capsys.readouterr().out
    metadata = json.loads(str(arrays.pop("provenance")))
    assert metadata["hands"] == 6
    assert metadata["rounds"] == 2
    assert sorted(arrays) == sorted(metadata["games"])
    for odds in arrays.values():
        check_odds(odds, 2)
        assert len(np.unique(odds)) > 5
    assert [path.name for path in first.parent.iterdir()] == ["one.npz"]
    made(script, again)
    assert first.read_bytes() == again.read_bytes()


def test_a_round_of_the_script_corrects_the_odds(script):
    """Odds double for a holder that gets a card half as often in sampled deals as in real ones."""
    odds = np.full(endgame.SHAPE, EQUAL, np.uint8)
    counts = np.zeros((2, *endgame.SHAPE))
    counts[:, TRUMPS, 3, :, 5] = 1e6
    counts[1, TRUMPS, 3, DECLARER, 5] = 5e5
    counts[0, NO_TRUMPS, 3, DEFENDER, 5], counts[1, NO_TRUMPS, 3, DEFENDER, 5] = 1e6, 2e6
    new = script.correct_odds(odds, counts)
    assert new[TRUMPS, 3, :, 5].tolist() == [2 * EQUAL, EQUAL, EQUAL, EQUAL]
    assert new[NO_TRUMPS, 3, DECLARER, 5] == 2 * EQUAL  # defenders stay at EQUAL
    assert new[NO_TRUMPS, 3, DEFENDER, 5] == EQUAL
    new[TRUMPS, 3, :, 5] = new[NO_TRUMPS, 3, :, 5] = EQUAL
    assert (new == EQUAL).all()  # entries without observations


@pytest.mark.parametrize("name", ["six_card_v0", "indiana_v0"])
def test_weights_of_a_game_become_the_packages_own(name, tmp_path, capsys):
    """Weights of `net` become float16; other parts of the file stay."""
    rules, file = RULES[name], tmp_path / "mine.npz"
    calls = call_network.new_network()
    calls = calls._replace(layers=calls.layers._replace(last_bias=np.full(1, 0.1, np.float32)))
    features = features_of(rules, "cards")
    cards = new_network(features.size, (8, 4), features.outputs, np.random.default_rng(1))
    made = {"command": "bideuchre prepare", "settings": {"hands": 9, "seed": 0}, "variant": "mine"}
    made["settings"]["rules"] = rules.to_dict()
    net = net_weights(rules, cards, calls, made)
    made |= made_for(call_network.KIND, rules, call_network.VERSION)
    expert = weights.Weights(call_network.call_arrays(calls), made)
    write_parts(file, {"expert": expert, "net": net})
    place = tmp_path / f"{name}.npz"
    place.write_bytes((FOLDER / place.name).read_bytes())
    with load_scripts("experiments/fitting", "ship_weights") as (module,):
        assert module.main(module.Args(weights=(file,), out=tmp_path)) == 0
    new = read_weights(place, "net")
    assert new.metadata["variant"] == name
    for part, array in net.arrays.items():
        assert np.array_equal(new.arrays[part], array.astype(np.float16).astype(np.float32))
    assert read_weights(place, "expert").arrays["calls.last_bias"] == np.float32(0.1)
    with np.load(place) as new, np.load(FOLDER / place.name) as old:
        kept = [each for each in old.files if each.startswith(("ppo.", "score."))]
        assert {each.partition(".")[0] for each in kept} == {*data.parts_of(name)} - {
            "expert",
            "net",
        }
        for each in kept:
            assert new[each].tobytes() == old[each].tobytes()
