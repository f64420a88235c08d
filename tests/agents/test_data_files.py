"""The packaged data files: sizes, provenance, and errors for damaged files."""

import hashlib
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from support.commands import ROOT, load_scripts

from bideuchre_env import agents
from bideuchre_env.agents import data
from bideuchre_env.agents.expert import (
    call_network,
    hand_table,
    sampled_deals,
    score_network,
    win_table,
)
from bideuchre_env.agents.learned.shipped import provenance
from bideuchre_env.agents.registry import BUILT_IN
from bideuchre_env.agents.rule import bidding
from bideuchre_env.errors import TableError
from bideuchre_env.learning.features import VERSION
from bideuchre_env.learning.weights import made_for, read_weights
from bideuchre_env.rules.variants import RULES

FOLDER = ROOT / "agents" / "data"
EVERY_FILE = sorted(FOLDER.glob("*.npz"))
WEIGHTS = [file for file in EVERY_FILE if "-" in file.stem]
PAGE = (ROOT / "agents" / "README.md").read_text(encoding="utf-8")
FROZEN = dict(re.findall(r"^\| `(\w+\.npz)` \| `(\w{64})` \|", PAGE, re.MULTILINE))


def test_weights_are_found_by_agent_and_variant():
    stems = {f"{kind}-{name}" for kind in BUILT_IN for name in provenance(kind)}
    assert stems
    assert {file.stem for file in WEIGHTS} == stems


@pytest.mark.parametrize("file", WEIGHTS, ids=lambda file: file.stem)
def test_weights_are_small_fit_their_game_and_have_provenance(file):
    kind, variant = file.stem.split("-")
    made = read_weights(file).metadata
    assert file.stat().st_size <= 3 * 10**5
    assert made.items() >= made_for(kind, RULES[variant], VERSION).items()
    assert made["variant"] == variant
    assert made["seed"].isdecimal()
    assert int(made.get("steps") or made["decisions"]) > 0
    assert agents.make(f"{kind}:weights={file}", RULES[variant]).name.startswith(kind)


def test_all_files_together_are_at_most_5_2_megabytes():
    assert FROZEN
    assert FROZEN.keys() < {file.name for file in EVERY_FILE}
    assert sum(file.stat().st_size for file in EVERY_FILE) <= 52 * 10**5


@pytest.mark.parametrize("file", EVERY_FILE, ids=lambda file: file.stem)
def test_a_file_has_finite_numbers_and_its_command_or_is_frozen(file):
    """The command's script accepts its options; a frozen file has the hash of the README."""
    with np.load(file, allow_pickle=False) as arrays:
        made = json.loads(str(arrays["provenance"]))
        for name in arrays.files:
            assert arrays[name].dtype.kind in "iufU"
            assert arrays[name].dtype.kind != "f" or np.isfinite(arrays[name]).all(), name
    if file.name in FROZEN:
        assert hashlib.sha256(file.read_bytes()).hexdigest() == FROZEN[file.name]
        return
    for part in [made] if "command" in made else made.values():
        script, *options = shlex.split(part["command"].removeprefix("python "))
        path = Path(script)
        if path.name == "train_ppo.py":
            pytest.importorskip("torch")
        with load_scripts(path.parent, path.stem) as (module,):
            module.Args.parse(options)


def clear_caches():
    for cached in (data.read_file, hand_table.hand_table, bidding.load_weights):
        cached.cache_clear()


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder in place of the packaged one."""
    clear_caches()
    monkeypatch.setattr(data.resources, "files", lambda package: tmp_path)
    yield tmp_path
    clear_caches()


LOADERS = {
    sampled_deals.FILE: lambda: sampled_deals.holder_odds(RULES["cincinnati_v0"]),
    hand_table.FILE: lambda: hand_table.hand_table(24, 1),
    call_network.FILE: lambda: call_network.fitted_network("cincinnati_v0"),
    win_table.FILE: lambda: score_network.fitted_score_network("club_v0"),
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
        (sampled_deals.FILE, "24x1"),
        (hand_table.FILE, "keys_24x1"),
        (hand_table.FILE, "tricks_24x1"),
        (hand_table.FILE, "lone_24x1"),
        (call_network.FILE, "cincinnati_v0_first"),
        (call_network.FILE, "cincinnati_v0_shifts"),
        (win_table.FILE, "club_v0_straight"),
        (bidding.FILE, "24x1_lone"),
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
        with pytest.raises(TableError, match=r"is .* not (u?int|float)"):
            LOADERS[name]()
