"""Files of weights: round trips, damage and compatibility."""

import io
import json
import re
import sys
import zipfile
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn
from support.strategies import in_two_sizes, rules

from bideuchre_env import Bid, Rules
from bideuchre_env._files import Output
from bideuchre_env.errors import BidEuchreError, OptionError, OutputError, WeightsError
from bideuchre_env.learning.weights import (
    LARGEST,
    Weights,
    check_weights,
    made_for,
    parse_weights,
    part_names,
    read_weights,
    weights_bytes,
    write_parts,
    write_weights,
)
from bideuchre_env.rules.variants import RULES

CINCINNATI = RULES["cincinnati_v0"]
DTYPES = ["u1", "i1", "i2", "u2", "i4", "u4", "f4", "f8", "i8", "u8"]
ARRAYS = {
    "last": np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3),
    "bias": np.array([3, -4, 5], np.int8),
}
METADATA = {"kind": "net", "seed": "7"}
SMALL = weights_bytes(ARRAYS, METADATA)
NPY = b"\x93NUMPY\x01\0"
TEXTS = st.text(max_size=8)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(TEXTS, values, max_size=3),
    max_leaves=5,
)
CONTENT = st.dictionaries(
    st.from_regex(r"[A-Za-z0-9_.-]{1,8}", fullmatch=True),
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: drawn.arrays(
            dtype,
            drawn.array_shapes(min_dims=0, max_dims=4, max_side=4),
            elements={"allow_nan": False, "allow_infinity": False} if dtype[0] == "f" else None,
        )
    ),
    max_size=4,
)


def packed(compression=zipfile.ZIP_STORED, **members):
    """Return the bytes of a zip archive with these members: arrays, or the bytes of a member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            member = io.BytesIO()
            if isinstance(content, bytes):
                member.write(content)
            else:
                np.lib.format.write_array(member, np.asarray(content))
            archive.writestr(f"{name}.npy", member.getvalue())
    return file.getvalue()


def equal(one, other):
    """Whether two weights have the same metadata and the same arrays, bit for bit."""
    one_bits, other_bits = (
        {name: (array.dtype, array.shape, array.tobytes()) for name, array in each.arrays.items()}
        for each in (one, other)
    )
    return one.metadata == other.metadata and one_bits == other_bits


@given(CONTENT, st.dictionaries(TEXTS, JSON, max_size=3))
@settings(deadline=None, max_examples=50)
def test_arrays_and_metadata_survive_a_round_trip(arrays, metadata):
    read = parse_weights(weights_bytes(arrays, metadata))
    assert read.metadata == metadata
    assert read.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        back = read.arrays[name]
        np.testing.assert_array_equal(back, array, strict=True)
        assert back.flags.aligned
        assert back.flags.c_contiguous
        assert back.flags.owndata
        assert not back.flags.writeable


def test_equal_content_gives_equal_bytes():
    turned = dict(reversed(ARRAYS.items())) | {"last": np.asfortranarray(ARRAYS["last"])}
    turned["bias"] = np.array([3, 0, -4, 0, 5], np.int8)[::2]
    assert weights_bytes(turned, dict(reversed(METADATA.items()))) == SMALL
    big = ARRAYS | {"last": ARRAYS["last"].astype(">f4")}
    assert weights_bytes(big, METADATA) == SMALL


def test_a_file_is_read_by_path_and_as_a_resource(tmp_path, monkeypatch):
    package = tmp_path / "of_weights"
    package.mkdir()
    (package / "__init__.py").touch()
    path = package / "net.npz"
    write_weights(path, ARRAYS, METADATA)
    monkeypatch.syspath_prepend(tmp_path)
    for place in (path, str(path), resources.files("of_weights").joinpath("net.npz")):
        read = read_weights(place)
        assert read.name == str(path)
        assert equal(read, parse_weights(SMALL))
    del sys.modules["of_weights"]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "net.npz"
    write_weights(path, ARRAYS, METADATA)
    with pytest.raises(WeightsError):
        write_weights(path, {"last": np.array([np.nan], np.float32)}, METADATA)
    with Output(path, overwrite=True) as output:  # reserved before a long run
        with pytest.raises(OutputError, match="being written by another run"):
            write_weights(path, {}, {})
        write_weights(output, ARRAYS, METADATA | {"seed": "8"})
    assert read_weights(path).metadata["seed"] == "8"
    assert [each.name for each in tmp_path.iterdir()] == ["net.npz"]


@given(drawn.arrays("f4", 40, elements=st.floats(-65504, 65504, width=32)))
@settings(deadline=None, max_examples=50)
def test_half_precision_errs_by_one_part_in_2048_at_most(array):
    half = weights_bytes({"last": array, "bias": ARRAYS["bias"]}, {}, half=True)
    with np.load(io.BytesIO(half)) as stored:
        assert stored["last"].dtype == np.float16
    back = parse_weights(half).arrays
    assert back["last"].dtype == np.float32
    assert back["bias"].dtype == np.int8
    error = np.abs(back["last"].astype(float) - array)
    assert (error <= np.maximum(np.abs(array) / 2048, 3e-8)).all()


def test_numpy_reads_and_writes_the_format():
    with np.load(io.BytesIO(SMALL)) as file:
        assert json.loads(str(file["provenance"])) == METADATA
        np.testing.assert_array_equal(file["last"], ARRAYS["last"], strict=True)
    for save in (np.savez, np.savez_compressed):
        data = io.BytesIO()
        save(data, provenance=json.dumps(METADATA), **ARRAYS)
        assert equal(parse_weights(data.getvalue()), parse_weights(SMALL))


def test_every_flipped_bit_is_refused_or_harmless():
    """A file that can still be read has the same content, for example if a time stamp changed."""
    whole = parse_weights(SMALL)
    refused = 0
    for bit in range(8 * len(SMALL)):
        flipped = bytearray(SMALL)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            assert equal(parse_weights(bytes(flipped)), whole)
        except WeightsError:
            refused += 1
    assert refused > 4 * len(SMALL)


def test_every_truncated_file_is_refused():
    for end in range(len(SMALL)):
        with pytest.raises(WeightsError):
            parse_weights(SMALL[:end])


@in_two_sizes(
    data=st.binary(max_size=40)
    | st.builds(
        lambda member: packed(provenance="{}", a=member),
        st.binary(max_size=80) | st.binary(max_size=60).map(lambda tail: NPY + tail),
    ),
    examples=300,
)
def test_arbitrary_bytes_are_read_or_refused(data):
    try:
        read = parse_weights(data)
    except WeightsError:
        return
    assert all(np.isfinite(array).all() for array in read.arrays.values())
    assert equal(parse_weights(weights_bytes(read.arrays, read.metadata)), read)


FAULTS = [
    (b"", "File is not a zip file"),
    (packed(provenance="[1]"), r"metadata=\[1\]: expected JSON values by name"),
    (packed(provenance='{"seed": NaN}'), "metadata 'seed'=nan: expected a JSON value"),
    (packed(provenance="{"), "Expecting property name"),
    (packed(provenance="[" * 5000), "recursion"),
    (packed(provenance="{}", a=b"nonsense"), "magic string is not correct"),
    (packed(provenance="{}", a=[object()]), "'a' is object|allow_pickle=False"),
    (packed(provenance="{}", a=["x"]), r"'a' is <U1 \(1,\): expected finite numbers"),
    (packed(provenance="{}", a=[np.nan]), r"'a' is float64 \(1,\): expected finite numbers"),
    (packed(zipfile.ZIP_DEFLATED, a=bytes(LARGEST + 1)), f"more than {LARGEST} bytes when unpack"),
    (bytes(LARGEST + 1), f"more than {LARGEST} bytes"),
]


@pytest.mark.parametrize(("data", "message"), FAULTS, ids=[text[:40] for _, text in FAULTS])
def test_a_damaged_file_is_refused_in_one_line(data, message):
    expected = f"^net.npz.*damaged, or not a .npz file of weights: .*({message})"
    with pytest.raises(WeightsError, match=expected) as caught:
        parse_weights(data, "net.npz")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_two_arrays_of_one_name_are_refused():
    file = io.BytesIO(SMALL)
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("bias.npy", archive.read("bias.npy"))
    with pytest.raises(WeightsError, match="two members of one name"):
        parse_weights(file.getvalue())


def test_a_directory_that_lost_an_entry_is_refused():
    """A flipped length makes one entry contain the next, as its comment."""
    data = bytearray(packed(provenance="{}", a=ARRAYS["bias"], b=ARRAYS["bias"]))
    _, second, third = (entry.start() for entry in re.finditer(b"PK\x01\x02", data))
    data[second + 32] = data.index(b"PK\x05\x06") - third
    with pytest.raises(WeightsError, match="members are missing"):
        parse_weights(bytes(data))


@pytest.mark.parametrize("name", ["missing.npz", "", "a\0b", "control\x1b[0m"])
def test_a_file_that_cannot_be_opened_is_an_error(tmp_path, name):
    with pytest.raises(WeightsError, match="cannot be read") as caught:
        read_weights(f"{tmp_path}/{name}")
    assert str(caught.value).isprintable()
    assert isinstance(caught.value, BidEuchreError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("arrays", "metadata", "half", "message"),
    [
        ({"a": np.zeros(2, bool)}, {}, False, "'a' has dtype bool: expected integers or floats"),
        ({"a": np.array([np.inf])}, {}, False, "'a' has a number that is not finite"),
        ({"a": np.float32([7e4])}, {}, True, "'a' has a number beyond 65504"),
        ({"a": np.float32([-7e4])}, {}, True, "'a' has a number beyond 65504"),
        ({1: np.zeros(1)}, {}, False, "1 has a name that is reserved, or not of the form"),
        ({"provenance": np.zeros(1)}, {}, False, "'provenance' has a name that is reserved"),
        ({"a": np.zeros(1)}, {"games": ("a",)}, False, r"'games'=\('a',\): expected a JSON value"),
        ({"a": np.zeros(1)}, {"seed": np.int64(7)}, False, "'seed'=.*: expected a JSON value"),
        ({"a": np.zeros(1)}, {7: "seed"}, False, "metadata 7='seed': expected a JSON value"),
        ({"a": np.zeros(LARGEST // 8)}, {}, False, f"bytes, above {LARGEST}"),
    ],
)
def test_weights_that_cannot_be_stored_are_refused(arrays, metadata, half, message):
    with pytest.raises(WeightsError, match=f"these weights cannot be stored.*{message}"):
        weights_bytes(arrays, metadata, half=half)


SHAPES = {"first": (5, "hidden"), "bias": ("hidden",)}


def made(rules=CINCINNATI, kind="net", features=1, **arrays):
    """Weights of `made_for(kind, rules, features)`; `arrays` replace arrays, None omits one."""
    own = {"first": np.zeros((5, 3), np.float32), "bias": np.zeros(3, np.float32)}
    texts = made_for(kind, rules, features) | {"variant": "cincinnati_v0"}
    whole = {name: array for name, array in {**own, **arrays}.items() if array is not None}
    return parse_weights(weights_bytes(whole, texts), "net.npz")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (made(), None),
        (made(CINCINNATI.replace(target=5, win_rule="any", all_pass="redeal_next")), None),
        (made(first=np.zeros((5, 64), np.float32), bias=np.zeros(64, np.float32)), None),
        (made(RULES["barrie_v0"]), ": ranks='J': expected ranks='9'"),
        (made(CINCINNATI.replace(partnered=(3, 6))), r": bids='3, 4, 5, 6, .*: expected bids="),
        (made(CINCINNATI.replace(strain_named="in_bid")), ": strain_named='in_bid'"),
        (made(CINCINNATI.replace(copies=2)), ": copies='2': expected copies='1'"),
        (made(kind="ppo"), ": kind='ppo': expected kind='net'"),
        (made(features=2), ": features='2': expected features='1'"),
        (Weights({}, {}), "these weights cannot be used here: no kind: expected"),
        (made(bias=None), "the arrays 'first': expected 'bias', 'first'"),
        (made(more=np.zeros(1)), "the arrays 'bias', 'first', 'more': expected"),
        (made(bias=np.zeros(3)), r"'bias' is float64 \[3\]: expected float32 \[3\]"),
        (made(bias=np.zeros(4, np.float32)), r"'bias' is float32 \[4\]: expected float32 \[3\]"),
        (made(first=np.zeros((6, 3), np.float32)), r"'first' is float32 \[6, 3\]: .* \[5, hidden"),
        (
            Weights(made().arrays | {"bias": np.full(3, np.nan, np.float32)}, made().metadata),
            "'bias' has a number that is not finite",
        ),
        (made(first=np.zeros(5, np.float32)), r"'first' is float32 \[5\]: .* float32 \[5, hidden"),
    ],
)
def test_weights_of_another_game_kind_or_shape_are_refused(weights, message):
    if message is None:
        check_weights(weights, made_for("net", CINCINNATI, 1), SHAPES)
    else:
        with pytest.raises(WeightsError, match=message) as caught:
            check_weights(weights, made_for("net", CINCINNATI, 1), SHAPES)
        assert "\n" not in str(caught.value)


@given(rules(), rules())
@settings(deadline=None, max_examples=50)
def test_metadata_differ_exactly_where_features_differ(one, other):
    facts = [
        (each.ranks, each.copies, each.strain_named, [(b.name, b.exchange) for b in each.ladder])
        for each in (one, other)
    ]
    texts = [made_for("net", each, 1) for each in (one, other)]
    assert (texts[0] == texts[1]) == (facts[0] == facts[1])


def test_weights_of_another_exchange_do_not_fit():
    """The games have a lone bid of the same name with an exchange of one or two cards."""
    one, other = (Rules(lone=(Bid("call", 12, exchange=n),), target=32) for n in (1, 2))
    assert made_for("net", one, 1) != made_for("net", other, 1)


def test_weights_do_not_fit_a_game_with_other_features():
    """The auction, an exchange, a kitty, and bids with partner change what an agent sees."""
    barrie = RULES["barrie_v0"]
    pepper = [Bid("pepper", value=9), Bid("pepper", value=9, partner=True)]
    games = [
        barrie,
        barrie.replace(auction="until_passes"),
        barrie.replace(auction="until_out"),
        barrie.replace(exchange_seen="open"),
        barrie.replace(partnered=(1, 7)),
        barrie.replace(partnered=(1, 7), kitty=4),
        *(barrie.replace(lone=[bid]) for bid in pepper),
    ]
    made = [made_for("net", each, 1) for each in games]
    assert all(one != other for i, one in enumerate(made) for other in made[:i])
    assert not {"auction", "exchange_seen", "kitty"} & made[0].keys()


def test_parts_of_a_file_are_replaced_one_by_one(tmp_path):
    place, first = tmp_path / "game.npz", Weights(ARRAYS, METADATA)
    write_parts(place, {"net": first, "ppo": Weights({"a": np.ones(2, np.float32)}, {})}, half=True)
    before = read_weights(place, "net")
    write_parts(place, {"ppo": Weights({"b": np.ones(3)}, {"seed": "2"})})
    assert part_names(place.read_bytes()) == ["net", "ppo"]
    after, ppo = read_weights(place, "net"), read_weights(place, "ppo")
    assert equal(before, after)
    assert after.arrays.keys() == ARRAYS.keys()
    assert after.metadata == {**METADATA, "digest": after.metadata["digest"]}
    assert ({*ppo.arrays}, ppo.metadata["seed"]) == ({"b"}, "2")
    write_parts(tmp_path / "again.npz", {"net": after, "ppo": ppo})
    assert read_weights(tmp_path / "again.npz", "ppo").metadata == ppo.metadata
    for part, message in (("expert", "has no weights of 'expert'"), ("", "expected one of net, p")):
        with pytest.raises(WeightsError, match=rf"game\.npz .*{message}"):
            read_weights(place, part)
    write_weights(place, {"a": np.ones(2)}, {})  # a file without parts is replaced
    write_parts(place, {"net": first})
    assert part_names(place.read_bytes()) == ["net"]
    assert read_weights(place, "net").metadata["digest"]


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ({"": Weights({}, {})}, WeightsError, "part='': expected a name of letters"),
        ({"a.b": Weights({}, {})}, WeightsError, "part='a.b'"),
        ({3: Weights({}, {})}, WeightsError, "part=3"),
        ({"net": {}}, OptionError, "expected Weights"),
        ([], OptionError, "expected weights by part"),
    ],
)
def test_unusable_parts_are_refused_and_nothing_is_written(parts, error, message, tmp_path):
    with pytest.raises(error, match=message):
        write_parts(tmp_path / "game.npz", parts)
    assert not list(tmp_path.iterdir())


def test_a_part_with_changed_arrays_is_refused_alone(tmp_path):
    place = tmp_path / "game.npz"
    write_parts(place, dict.fromkeys(("net", "ppo"), Weights({"a": np.ones(2)}, {})))
    with np.load(place) as whole:
        arrays = dict(whole)
    np.savez(place, **{**arrays, "net.a": np.zeros(2)})
    with pytest.raises(WeightsError, match="its arrays do not have the digest of its metadata"):
        read_weights(place, "net")
    assert read_weights(place, "ppo").arrays["a"].tolist() == [1.0, 1.0]
    place.write_bytes(b"damaged")
    with pytest.raises(WeightsError, match="damaged"):
        write_parts(place, {"net": Weights({"a": np.ones(2)}, {})})
    assert place.read_bytes() == b"damaged"
