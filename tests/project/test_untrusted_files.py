"""Untrusted files of every kind: pipes, devices, bombs, damaged bits, and limits of writers."""

import gzip
import io
import json
import os
import random
import socket
import zipfile
from contextlib import contextmanager, suppress
from functools import partial

import pytest
from support.commands import python

from bideuchre_env import Rules, make, match, records_io, tournament
from bideuchre_env._inputs import MOST_OF_TORCH, check_size, read_checkpoint, read_zip
from bideuchre_env.agents.prepared import prepared_digests, prepared_file, prepared_weights
from bideuchre_env.errors import BidEuchreError, OutputError, WeightsError
from bideuchre_env.evaluation import recorder, tournament_files
from bideuchre_env.learning import weights
from bideuchre_env.learning.weights import read_weights, weights_bytes
from bideuchre_env.play.levels import PERSON
from bideuchre_env.play.saved import read_game
from bideuchre_env.play.session import Session
from bideuchre_env.records import files
from bideuchre_env.records.ptn import LONGEST_EVENT
from bideuchre_env.rules.bids import MAX_BIDS
from bideuchre_env.rules.toml_file import MOST_BYTES
from bideuchre_env.rules.variants import RULES

CUSTOM = RULES["six_card_v0"].replace(target=11)
EVENT = '[Event "x"]\n[Deal "N:... ... ... ..."]\n'


def prepared(path):
    """Read the weights that are prepared for `CUSTOM`, whose file is the target of a link."""
    os.environ["XDG_CACHE_HOME"] = str(path.parent)
    place = prepared_file(CUSTOM)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(path)
    prepared_digests()
    return read_weights(place) if prepared_weights("net", CUSTOM) is None else True


@contextmanager
def begun(path):
    """Yield a saved game in which the person in seat 0 is to act."""
    players = [PERSON, "random", "random", "random"]
    with Session(make("six_card_v0"), [0], players, seed=1, path=path) as session:
        while not session.waits_for_person:
            session.advance()
        yield session


def resumed(path):
    """Return the record of a saved game, as it is resumed."""
    with Session.resume(path) as session:
        return session.record()


READERS = {
    "net.npz": read_weights,
    "prepared.npz": prepared,
    "game.toml": Rules.from_toml,
    "games.jsonl": lambda path: list(records_io.read(path)),
    "hands.ptn": lambda path: list(files.text_hands(path)),
    "saved.json": resumed,
    "results.json": tournament_files.load,
}


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """A small valid content of each kind of file, by the name of the file."""
    folder = tmp_path_factory.mktemp("games")
    match("six_card_v0", "random", "random", boards=1, records=folder / "g.jsonl")
    lines = (folder / "g.jsonl").read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        pictures = "bideuchre_env.evaluation.tournament.write_pictures"
        patch.setattr(pictures, lambda *arguments: [])
        tournament(("six_card_v0",), ("random", "cautious"), out=folder / "t", boards=2)
    with begun(folder / "saved.json"):
        saved = (folder / "saved.json").read_bytes()
    return {
        "net.npz": weights_bytes({"a": [1.5, 2.5]}, {"kind": "net"}),
        "game.toml": CUSTOM.to_toml().encode(),
        "games.jsonl": lines,
        "games.jsonl.gz": gzip.compress(lines),
        "hands.ptn": EVENT.encode(),
        "saved.json": saved,
        "results.json": (folder / "t" / "results.json").read_bytes(),
    }


@contextmanager
def listening(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        yield


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
@pytest.mark.parametrize("name", READERS)
def test_pipes_devices_sockets_and_folders_are_refused_at_once(name, tmp_path, monkeypatch):
    """A pipe without a writer was waited for, for ever."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    for kind in ("pipe", "device", "folder", "socket"):
        path = tmp_path / f"{kind}-{name}"
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path.symlink_to("/dev/zero")
        elif kind == "folder":
            path.mkdir()
        with listening(path.name) if kind == "socket" else open(os.devnull):
            with pytest.raises(BidEuchreError, match=r"regular file|No such device") as caught:
                READERS[name](path)
            assert name in str(caught.value) or name == "prepared.npz"


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd")
def test_a_pipe_that_the_shell_has_opened_is_read(contents):
    reading, writing = os.pipe()
    os.write(writing, contents["games.jsonl"])
    os.close(writing)
    assert len(list(records_io.read(f"/dev/fd/{reading}"))) == 2
    os.close(reading)


@pytest.mark.parametrize("name", ["net.npz", "game.toml", "games.jsonl", "games.jsonl.gz"])
@pytest.mark.parametrize("seed", range(2))
def test_a_flipped_bit_is_an_error_of_the_package_or_harmless(name, seed, contents, tmp_path):
    """With a checksum (weights, gzip) the content is unchanged, or there is an error."""
    _flip(name, seed, contents[name], tmp_path / name, READERS[name.removesuffix(".gz")])


@pytest.mark.parametrize("name", ["hands.ptn", "saved.json", "results.json"])
def test_a_flipped_bit_is_no_traceback(name, contents, tmp_path):
    _flip(name, 1, contents[name], tmp_path / name, READERS[name])


ODD = (
    None,
    True,
    -1,
    2**70,
    10**4000,
    float("inf"),
    float("nan"),
    "",
    "9" * 5000,
    [],
    [[]],
    {},
    "\0",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["games.jsonl", "saved.json", "results.json"])
def test_odd_values_in_json_are_errors_of_the_package(name, contents, tmp_path):
    line = contents[name] if name == "results.json" else contents[name].splitlines()[0]
    (tmp_path / name).write_bytes(b"[" * 100_000)
    with pytest.raises(BidEuchreError):
        READERS[name](tmp_path / name)
    data, read = json.loads(line), READERS[name]
    if name == "results.json":
        keys = set(map(tournament_files.key_of, data["matches"]))
        read = partial(tournament_files.finished_matches, settings=json.loads(line), keys=keys)
    for parent, key in list(places(data)):
        before = parent[key]
        for value in ODD:
            parent[key] = value
            (tmp_path / name).write_text(json.dumps(data))
            with suppress(BidEuchreError):
                read(tmp_path if name == "results.json" else tmp_path / name)
        parent[key] = before


def places(data):
    """Yield the container and key of each value in JSON; of a list, those of its first item."""
    keys = list(data) if isinstance(data, dict) else range(min(1, len(data)))
    for key in keys:
        yield data, key
        if isinstance(data[key], dict | list):
            yield from places(data[key])


def _flip(name, seed, whole, path, read):
    path.write_bytes(whole)
    content, rng = as_text(read(path)), random.Random(seed)
    for _ in range(150):
        bit = rng.randrange(8 * len(whole))
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            same = as_text(read(path)) == content
        except BidEuchreError:
            continue
        assert same or not name.endswith((".npz", ".gz")), bit


def as_text(content):
    """Return a text that is equal for equal contents of a file."""
    if isinstance(content, weights.Weights):
        return f"{[(k, v.tolist()) for k, v in content.arrays.items()]} {content.metadata}"
    return str(content)


def test_a_checkpoint_of_torch_is_verified(tmp_path):
    """A flipped bit is an error: torch alone reads most of such files, with another content."""
    torch = pytest.importorskip("torch")
    path = tmp_path / "checkpoint.pt"
    torch.save({"w": torch.arange(600.0), "game": {"a": "b"}, "batch": 3}, path)

    def read(path):
        try:
            content = torch.load(read_checkpoint(path), weights_only=True)
        except Exception as error:
            raise WeightsError(str(error)) from None
        return {**content, "w": content["w"].tolist()}

    _flip("checkpoint.npz", 1, path.read_bytes(), path, read)


def archive(compression, megabytes, stated):
    """Return an archive of zeros whose headers state another size."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as each, each.open("a.npy", "w") as member:
        for _ in range(megabytes):
            member.write(bytes(2**20))
    size = (megabytes << 20).to_bytes(4, "little")
    return file.getvalue().replace(size, stated.to_bytes(4, "little"))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="it needs the module resource")
def test_bombs_take_no_memory(tmp_path):
    """A file of weights of 1,534 bytes took 1.9 GB, and PTN text of 33 kB 4.5 GB."""
    for how in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED):
        (tmp_path / f"{how}.npz").write_bytes(archive(how, 300, 128))
    for name, line in (("lines", b"a\n" * 2**19), ("zeros", bytes(2**20))):
        with gzip.open(tmp_path / f"{name}.ptn", "wb") as file:
            for _ in range(300 if name == "zeros" else 4):
                file.write(line)
    (tmp_path / "dots.toml").write_text(f"a{'.a' * 50_000} = 1\n")
    script = """
import resource, sys
from pathlib import Path
from bideuchre_env import Rules
from bideuchre_env.errors import BidEuchreError
from bideuchre_env.learning.weights import read_weights
from bideuchre_env.records.files import scan
def before(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start, readers = before(), {".npz": read_weights, ".ptn": lambda path: list(scan(path)),
                            ".toml": Rules.from_toml}
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        print(readers[path.suffix](path)[0].error)
    except BidEuchreError as error:
        print(error)
megabytes = (before() - start) // (2**20 if sys.platform == "darwin" else 2**10)
assert megabytes < 64, megabytes
"""
    text = python("-c", script, tmp_path).stdout
    faults = ("deflate", "deflate", "CRC", "16384", "65536 characters", "65536 bytes")
    assert len(text.splitlines()) == len(faults)
    assert all(fault in text for fault in faults), text


def test_sizes_and_numbers_of_members_of_an_archive_are_limited():
    whole = weights_bytes({f"a{i}": [1.0] for i in range(3)}, {})
    assert len(read_zip(whole, len(whole), 4)) == 4
    with pytest.raises(ValueError, match="more than 3 members"):
        read_zip(whole, len(whole), 3)
    with pytest.raises(ValueError, match=f"more than {len(whole) - 1} bytes"):
        read_zip(whole, len(whole) - 1, 4)
    most = {f"a{i}": [0] for i in range(weights.MOST_ARRAYS - 1)}
    assert len(weights.parse_weights(weights_bytes(most, {})).arrays) == len(most)
    with pytest.raises(WeightsError, match="1000 arrays, above 999"):
        weights_bytes({**most, "b": [0]}, {})


def test_the_largest_rules_are_read_back():
    lone = [
        {"name": f"b{'i' * 28}{number:03}", "exchange": 3, "value": 10**6}
        for number in range(MAX_BIDS)
    ]
    rules = Rules(partnered=None, lone=lone, target=10**15, max_hands=10**15)
    assert len(rules.to_toml()) < MOST_BYTES / 2
    assert Rules.from_toml(rules.to_toml()) == rules


def test_lines_that_readers_would_refuse_are_not_written(tmp_path, monkeypatch):
    """Rules with 40,000 hands made lines that `check` refused, with all later lines."""
    rules = Rules(target=10**9, max_hands=40)
    for module in (files, recorder):
        monkeypatch.setattr(module, "LONGEST", 10_000)
    out = tmp_path / "games.jsonl"
    result = match(rules, "random", "random", games=2, records=out)
    assert "bytes: expected up to 10000" in result.unwritten
    assert not out.exists()
    assert (result.games_asked, result.records) == (2, None)


def test_a_line_that_is_too_long_does_not_hide_later_lines(contents, tmp_path, monkeypatch):
    line = contents["games.jsonl"].splitlines(keepends=True)[0]
    monkeypatch.setattr(files, "LONGEST", len(line))
    for length in (len(line), len(line) + 1, 2 * len(line) + 2, 3 * len(line)):
        path = tmp_path / "games.jsonl"
        path.write_bytes(b"x" * length + b"\n" + line)
        bad, good = records_io.scan(path)
        assert (bad.number, bad.error) == (1, f"longer than {len(line)} bytes")
        assert (good.number, good.error) == (2, None)


def test_a_saved_game_that_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "game.json"
    with begun(path) as session:
        before, size = session.record(), path.stat().st_size
        monkeypatch.setattr("bideuchre_env.play.session.LONGEST", size)
        with pytest.raises(OutputError, match=f"expected up to {size}"):
            session.act(0, session.legal()[0])
        assert session.record() == before
    assert read_game(path).record == before


def test_the_limit_of_an_event_of_text():
    assert all(isinstance(each, BidEuchreError) for _, each in files.read_hands(EVENT.split("\n")))
    lines = [*EVENT.split("\n"), *["x" * 99] * (LONGEST_EVENT // 99 + 1), *EVENT.split("\n")]
    [(number, error)] = files.read_hands(lines)
    assert (number, str(error).startswith("line 1: an event of more than")) == (1, True)


def test_a_file_above_its_limit_is_not_written():
    check_size("c.pt", MOST_OF_TORCH, MOST_OF_TORCH)
    with pytest.raises(OutputError, match=r"^c.pt could not be written: 3 bytes: expected up to 2"):
        check_size("c.pt", 3, 2)
