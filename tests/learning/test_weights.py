"""Files of weights: what is written comes back, and every fault is one clear line."""

from __future__ import annotations

import json
import sys
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn
from support.strategies import in_two_sizes, rules

from bideuchre_env._files import Output
from bideuchre_env.errors import BidEuchreError, OutputError, WeightsError
from bideuchre_env.learning.weights import (
    LARGEST,
    Weights,
    check_weights,
    made_for,
    parse_weights,
    read_weights,
    weights_bytes,
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
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
CONTENT = st.dictionaries(
    NAMES.filter(lambda name: name != "__metadata__"),
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: drawn.arrays(
            dtype,
            drawn.array_shapes(min_dims=0, max_dims=4, max_side=4),
            elements={"allow_nan": False, "allow_infinity": False} if dtype[0] == "f" else None,
        )
    ),
    max_size=4,
)


def packed(header, data=b""):
    """The bytes of a file with this header, a JSON value or a text, and these bytes of arrays."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F32", shape=(1,), offsets=(0, 4)):
    """What a header says of an array."""
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def refusal(data):
    """What is said of a file of these bytes: one line, which names the file."""
    with pytest.raises(WeightsError) as caught:
        parse_weights(data, "net.safetensors")
    said = str(caught.value)
    assert said.startswith("net.safetensors")
    assert "\n" not in said
    assert len(said) < 700
    return said


# --- what is written comes back ------------------------------------------------------------------


@given(CONTENT, st.dictionaries(NAMES, NAMES, max_size=3))
@settings(deadline=None)
def test_what_is_written_is_read_back(arrays, metadata):
    """Dtypes, shapes and numbers; as arrays that are read-only and lie as kernels expect them."""
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


def test_the_same_content_gives_the_same_bytes():
    """In whatever order it is given, and however the arrays lie in memory."""
    turned = dict(reversed(ARRAYS.items())) | {"last": np.asfortranarray(ARRAYS["last"])}
    turned["bias"] = np.array([3, 0, -4, 0, 5], np.int8)[::2]
    assert weights_bytes(turned, dict(reversed(METADATA.items()))) == SMALL
    big = ARRAYS | {"last": ARRAYS["last"].astype(">f4")}
    assert weights_bytes(big, METADATA) == SMALL


def test_a_file_is_read_by_path_and_as_a_resource(tmp_path, monkeypatch):
    """As the agents' own weights are, wherever the package lies."""
    package = tmp_path / "of_weights"
    package.mkdir()
    (package / "__init__.py").touch()
    path = package / "net.safetensors"
    write_weights(path, ARRAYS, METADATA)
    monkeypatch.syspath_prepend(tmp_path)
    found = resources.files("of_weights").joinpath("net.safetensors")
    for place in (path, str(path), found):
        read = read_weights(place)
        assert read.metadata == METADATA
        assert read.name == str(path)
        np.testing.assert_array_equal(read.arrays["last"], ARRAYS["last"], strict=True)
    del sys.modules["of_weights"]


def test_a_file_is_complete_or_not_there(tmp_path):
    """What was there stays if weights cannot be stored, or if their place cannot be taken."""
    path = tmp_path / "net.safetensors"
    write_weights(path, ARRAYS, METADATA)
    with pytest.raises(WeightsError):
        write_weights(path, {"last": np.array([np.nan], np.float32)}, METADATA)
    with Output(path, overwrite=True) as output:  # reserved before a long run
        with pytest.raises(OutputError, match="being written by another run"):
            write_weights(path, {}, {})
        write_weights(output, ARRAYS, METADATA | {"seed": "8"})
    assert read_weights(path).metadata["seed"] == "8"
    assert [each.name for each in tmp_path.iterdir()] == ["net.safetensors"]


@given(drawn.arrays("f4", 40, elements=st.floats(-65504, 65504, width=32)))
@settings(deadline=None)
def test_half_takes_half_the_room_and_says_what_it_costs(array):
    """One part in 2,048, or 3e-8 of what is small; float32 again when it is read."""
    arrays = {"last": array, "bias": ARRAYS["bias"]}
    whole, half = (weights_bytes(arrays, {}, half=half) for half in (False, True))
    assert len(whole) - len(half) == 2 * array.size
    back = parse_weights(half).arrays
    assert back["last"].dtype == np.float32
    assert back["bias"].dtype == np.int8
    error = np.abs(back["last"].astype(float) - array)
    assert (error <= np.maximum(np.abs(array) / 2048, 3e-8)).all()


# --- against the library whose format it is ------------------------------------------------------


@given(CONTENT)
@settings(deadline=None)
def test_its_library_writes_the_same_bytes_and_reads_ours(arrays):
    """safetensors itself, where it is installed; of texts it keeps no order, so one alone."""
    theirs = pytest.importorskip("safetensors.numpy")
    ours = weights_bytes(arrays, {"kind": "net"})
    assert theirs.save(arrays, {"kind": "net"}) == ours
    back = theirs.load(ours)
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array, strict=True)


def test_weights_of_torch_are_read(tmp_path):
    """Written from tensors, float16 among them; metadata is read by the library too."""
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("safetensors.torch")
    opened = pytest.importorskip("safetensors").safe_open
    path = tmp_path / "net.safetensors"
    tensors = {name: torch.from_numpy(array) for name, array in ARRAYS.items()}
    theirs.save_file(tensors | {"half": torch.ones(3, dtype=torch.float16)}, path, METADATA)
    read = read_weights(path)
    assert read.metadata == METADATA
    np.testing.assert_array_equal(read.arrays["last"], ARRAYS["last"], strict=True)
    np.testing.assert_array_equal(read.arrays["half"], np.ones(3, np.float32), strict=True)
    write_weights(path, ARRAYS, METADATA)
    with opened(path, "pt") as file:
        assert file.metadata() == METADATA
        assert torch.equal(file.get_tensor("last"), tensors["last"])


# --- damage --------------------------------------------------------------------------------------


def test_every_bit_flipped_and_every_cut_is_refused_or_harmless():
    """What is read all the same has arrays of the same shapes, and finite numbers."""
    shapes = sorted(array.shape for array in ARRAYS.values())
    refused = 0
    damaged = [SMALL[:end] for end in range(len(SMALL))]
    for place in range(len(SMALL)):
        for bit in range(8):
            flipped = bytearray(SMALL)
            flipped[place] ^= 1 << bit
            damaged.append(bytes(flipped))
    for data in damaged:
        try:
            read = parse_weights(data)
        except WeightsError:
            refused += 1
        else:
            assert sorted(array.shape for array in read.arrays.values()) == shapes
            assert all(np.isfinite(array).all() for array in read.arrays.values())
    assert refused > len(SMALL) + 8 * len(SMALL) // 4
    assert all(refusal(data) for data in damaged[: len(SMALL)])  # a cut is always seen


@in_two_sizes(
    data=st.one_of(
        st.binary(max_size=40),
        st.builds(packed, st.binary(max_size=40), st.binary(max_size=8)),
        st.builds(
            packed,
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(
                        st.sampled_from(["a", "__metadata__", "dtype", "shape", "data_offsets"]),
                        inner,
                    )
                ),
                max_leaves=12,
            ),
            st.binary(max_size=8),
        ),
        st.builds(
            lambda name, *parts, data: packed({name: entry(*parts)}, data),
            st.text(max_size=4),
            st.sampled_from(["F32", "F16", "I8", "U64", "BF16", "", None]),
            st.lists(st.integers(-1, 2**70) | st.integers(0, 4) | st.none(), max_size=10),
            st.lists(st.integers(-4, 12) | st.integers(), max_size=3),
            data=st.binary(max_size=12),
        ),
    ),
    examples=300,
)
def test_whatever_the_bytes_are_there_is_a_defined_answer(data):
    """`WeightsError` or weights, whatever the bytes say."""
    try:
        read = parse_weights(data)
    except WeightsError:
        return
    assert all(np.isfinite(array).all() for array in read.arrays.values())
    assert parse_weights(weights_bytes(read.arrays, read.metadata)).metadata == read.metadata


NAN = np.array([np.nan], "<f4").tobytes()
FAULTS = [
    (b"", "ends after 0 bytes"),
    (b"\1\0\0", "ends after 3 bytes"),
    ((2**63).to_bytes(8, "little") + b"{}", f"a header of {2**63} bytes; at most 1048576"),
    ((40).to_bytes(8, "little") + b"{}", "ends after 10 bytes, in its header of 40"),
    (packed(b"{"), "its header cannot be read"),
    (packed(b"{\xff}"), "its header cannot be read: .*utf-8"),
    (packed(b"[" * 5000), "its header cannot be read"),
    (packed(b"9" * 5000), "its header"),
    (packed([1]), "its header is no JSON object"),
    (packed(b'{"a": 1, "a": 2}'), "a name stands there twice"),
    (packed({"a": 1}), "'a' is 1, not dtype, shape and data_offsets"),
    (packed({"a": entry("BF16", (1,), (0, 2))}), "'a' has dtype 'BF16'; one of U8, I8"),
    (packed({"a": entry(shape=(1.0,))}, b"0000"), r"'a' has shape \[1.0\]"),
    (packed({"a": entry(shape=(True,))}, b"0000"), r"'a' has shape \[True\]"),
    (packed({"a": entry(shape=(0,), offsets=(0, 0))}), r"'a' has shape \[0\]"),
    (packed({"a": entry(shape=(1,) * 9)}, b"0000"), "up to 8 lengths"),
    (packed({"a": entry(shape=(2**64,))}, b"0000"), f"'a' has {4 * 2**64} bytes"),
    (packed({"a": entry(shape=(2,))}, b"0000"), r"'a' has 8 bytes, and data_offsets \[0, 4\]"),
    (packed({"a": entry(offsets=(-4, 0))}, b"0000"), r"data_offsets \[-4, 0\]"),
    (packed({"a": entry(offsets=(4, 8))}, b"0000"), "'a' ends at byte 8 of 4 bytes"),
    (packed({"a": entry(offsets=(4, 8))}, b"00000000"), "'a' begins at byte 4, not where"),
    (packed({"a": entry(), "b": entry()}, b"0000"), "'b' begins at byte 0, not where"),
    (packed({"a": entry()}, b"0000" * 2), "8 bytes of arrays, and its header tells of 4"),
    (packed({"a": entry()}, NAN), "'a' has a number that is not finite"),
    (packed({"__metadata__": 1}), "metadata 1, not texts by name"),
    (packed({"__metadata__": {"seed": 1}}), "metadata 'seed' is 1, not a text"),
    (packed({"__metadata__": {"seed": "\ud800"}}), "half a character"),
    (packed({"\udfff": entry()}, b"0000"), "half a character"),
    (bytes(LARGEST + 1), f"more than {LARGEST} bytes"),
]


@pytest.mark.parametrize(("data", "said"), FAULTS, ids=[said[:40] for _, said in FAULTS])
def test_a_fault_is_named(data, said):
    """One line says which file it is and what is wrong with it."""
    with pytest.raises(WeightsError, match=said):
        parse_weights(data, "net.safetensors")
    refusal(data)


@pytest.mark.parametrize("name", ["missing.safetensors", "", "a\0b", "control\x1b[0m"])
def test_what_cannot_be_opened_is_said(tmp_path, name):
    """No file, a folder, a name that no system has; control characters are escaped."""
    with pytest.raises(WeightsError, match="cannot be read") as caught:
        read_weights(f"{tmp_path}/{name}")
    assert str(caught.value).isprintable()
    assert isinstance(caught.value, BidEuchreError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("arrays", "metadata", "half", "said"),
    [
        ({"a": np.zeros(2, bool)}, {}, False, "'a' has dtype bool, none of uint8, int8"),
        ({"a": np.array(["x"])}, {}, False, "'a' has dtype <U1"),
        ({"a": np.zeros((0, 3))}, {}, False, r"'a' has shape \(0, 3\): at least one number"),
        ({"a": np.zeros((1,) * 9)}, {}, False, "in at most 8 axes"),
        ({"a": np.array([np.inf])}, {}, False, "'a' has a number that is not finite"),
        ({"a": np.float32([7e4])}, {}, True, "'a' has a number beyond 65504"),
        ({1: np.zeros(1)}, {}, False, "an array's name is 1, not a text"),
        ({"a": np.zeros(1)}, {"seed": 7}, False, "metadata 'seed' is 7, not a text"),
        ({"a": np.zeros(1)}, {7: "seed"}, False, "metadata 7 is 'seed', not a text"),
        ({"\ud800": np.zeros(1)}, {}, False, "half a character"),
        ({"a": np.zeros(LARGEST // 8)}, {}, False, f"{LARGEST} bytes and a header of"),
        ({"__metadata__": np.zeros(1)}, {}, False, "'__metadata__' has the name under which"),
    ],
)
def test_what_cannot_be_stored_is_said(arrays, metadata, half, said):
    """Before anything is written."""
    with pytest.raises(WeightsError, match=f"these weights cannot be stored.*{said}"):
        weights_bytes(arrays, metadata, half=half)


# --- do they fit? --------------------------------------------------------------------------------

SHAPES = {"first": (5, "hidden"), "bias": ("hidden",)}


def made(rules=CINCINNATI, kind="net", features=1, **arrays):
    """Weights that `SHAPES` and the texts of `made_for` describe, but for what is given."""
    own = {"first": np.zeros((5, 3), np.float32), "bias": np.zeros(3, np.float32)}
    texts = made_for(kind, rules, features) | {"variant": "cincinnati_v0"}
    whole = {name: array for name, array in {**own, **arrays}.items() if array is not None}
    return parse_weights(weights_bytes(whole, texts), "net.safetensors")


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (made(), None),
        (made(CINCINNATI.replace(target=5, win_rule="any", all_pass="redeal_next")), None),
        (made(first=np.zeros((5, 64), np.float32), bias=np.zeros(64, np.float32)), None),
        (made(RULES["barrie_v0"]), ": ranks='J', and ranks='9' is expected"),
        (made(CINCINNATI.replace(partnered=(3, 6))), r": bids='3, 4, 5, 6, .* is expected"),
        (made(CINCINNATI.replace(strain_named="in_bid")), ": strain_named='in_bid'"),
        (made(CINCINNATI.replace(copies=2)), ": copies='2', and copies='1' is expected"),
        (made(kind="ppo"), ": kind='ppo', and kind='net' is expected"),
        (made(features=2), ": features='2', and features='1' is expected"),
        (Weights({}, {}), "these weights cannot be used here: no kind, and"),
        (made(bias=None), "the arrays 'first', and 'bias', 'first' are expected"),
        (made(more=np.zeros(1)), "the arrays 'bias', 'first', 'more', and"),
        (made(bias=np.zeros(3)), r"'bias' is float64 \[3\], and float32 \[3\] is expected"),
        (made(bias=np.zeros(4, np.float32)), r"'bias' is float32 \[4\], and float32 \[3\]"),
        (
            made(first=np.zeros((6, 3), np.float32)),
            r"for cincinnati_v0, cannot be used here: 'first' is float32 \[6, 3\], and float32 "
            r"\[5, hidden\] is expected",
        ),
        (
            Weights(made().arrays | {"bias": np.full(3, np.nan, np.float32)}, made().metadata),
            "'bias' has a number that is not finite",
        ),
        (made(first=np.zeros(5, np.float32)), r"'first' is float32 \[5\], and float32 \[5, hidden"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, said):
    """Kind of agent, features, game and shapes; not the target or who wins at it."""
    if said is None:
        check_weights(weights, made_for("net", CINCINNATI, 1), SHAPES)
    else:
        with pytest.raises(WeightsError, match=said) as caught:
            check_weights(weights, made_for("net", CINCINNATI, 1), SHAPES)
        assert "\n" not in str(caught.value)


@given(rules(), rules())
@settings(deadline=None)
def test_texts_tell_apart_what_features_depend_on(one, other):
    """Decks, names and exchanges of bids, and when the strain is named: all of it, no more."""
    alike = [
        (each.ranks, each.copies, each.strain_named, [(b.name, b.exchange) for b in each.ladder])
        for each in (one, other)
    ]
    texts = [made_for("net", each, 1) for each in (one, other)]
    assert (texts[0] == texts[1]) == (alike[0] == alike[1])
