"""The files of numbers that the package brings along: small, played, and how they were made."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from support.script_modules import loaded

from bideuchre_env import agents
from bideuchre_env.agents.learned.shipped import provenance
from bideuchre_env.agents.registry import BUILT_IN
from bideuchre_env.learning.features import VERSION
from bideuchre_env.learning.weights import made_for, read_weights
from bideuchre_env.rules.variants import RULES

ROOT = Path(__file__).resolve().parents[2]
EVERY_FILE = sorted((ROOT / "agents" / "data").glob("*.npz"))
FILES = [file for file in EVERY_FILE if "-" in file.stem]
PAGE = (ROOT / "agents" / "README.md").read_text(encoding="utf-8")
FROZEN = dict(re.findall(r"^\| `(\w+\.npz)` \| `(\w{64})` \|", PAGE, re.MULTILINE))
MOST_BYTES = 3 * 10**5


def test_there_are_some_and_all_are_told_of():
    """Each is named by its agent and variant, and `bideuchre agents` finds it."""
    told = {f"{kind}-{name}" for kind in BUILT_IN for name in provenance(kind)}
    assert told
    assert {file.stem for file in FILES} == told


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_is_small_fits_its_game_and_says_how_it_was_made(file):
    """A few hundred kB; kind, game, features, seed, and how much it was trained."""
    kind, variant = file.stem.split("-")
    made = read_weights(file).metadata
    assert file.stat().st_size <= MOST_BYTES
    assert made.items() >= made_for(kind, RULES[variant], VERSION).items()
    assert made["variant"] == variant
    assert made["seed"].isdecimal()
    assert int(made.get("steps") or made["decisions"]) > 0
    assert agents.make(f"{kind}:weights={file}", RULES[variant]).name.startswith(kind)


def test_all_frozen_files_are_shipped():
    """And all files together have at most 5.2 MB."""
    assert FROZEN
    assert FROZEN.keys() < {file.name for file in EVERY_FILE}
    assert sum(file.stat().st_size for file in EVERY_FILE) <= 52 * 10**5


@pytest.mark.parametrize("file", EVERY_FILE, ids=lambda file: file.stem)
def test_a_file_names_the_command_that_makes_it_or_is_frozen(file):
    """The command's script is there and takes its options; a frozen file has the page's hash."""
    with np.load(file) as arrays:
        made = json.loads(str(arrays["provenance"]))
    if file.name in FROZEN:
        assert hashlib.sha256(file.read_bytes()).hexdigest() == FROZEN[file.name]
        return
    for part in [made] if "command" in made else made.values():
        script, *options = shlex.split(part["command"].removeprefix("python "))
        path = Path(script)
        if path.name == "train_ppo.py":
            pytest.importorskip("torch")
        with loaded(path.parent, path.stem) as (module,):
            module.Args.parse(options)
