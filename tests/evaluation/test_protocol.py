"""The benchmark protocol: its definition stays the same, and a row has its matches' points."""

import hashlib
import json

import numpy as np
import pytest
from support.commands import ROOT, run

from bideuchre_env import make, match, tournament
from bideuchre_env.agents.prepared import rules_hash
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation import protocol
from bideuchre_env.evaluation.protocol import PROTOCOLS, Protocol, evaluate
from bideuchre_env.evaluation.seeding import deal_boards

SMALL = ("six_card_v0", "pepper_v0")
FIELD = ("cautious", "rule")
FROZEN = {"v1": ("189ac5ccd3dd2275", "76d929d9cb45748f")}
"""By version: hashes of its definition and of the first deals of its tasks. Never change them."""


@pytest.fixture
def small(monkeypatch):
    """A small protocol in the place of v1."""
    tasks = tuple((name, rules_hash(make(name).rules), 3 + i) for i, name in enumerate(SMALL))
    monkeypatch.setitem(PROTOCOLS, "v1", Protocol(tasks, FIELD, 20))


@pytest.mark.parametrize("version", PROTOCOLS)
def test_a_version_means_the_same_forever(version):
    tasks = PROTOCOLS[version].tasks
    assert [rules for _, rules, _ in tasks] == [rules_hash(make(name).rules) for name, *_ in tasks]
    deals = [
        [board.hands[0]["deal"] for board in deal_boards(make(name), 20, seed)]
        for name, _, seed in tasks
    ]
    digest = hashlib.sha256(json.dumps(deals).encode()).hexdigest()[:16]
    assert (PROTOCOLS[version].definition, digest) == FROZEN[version]


def test_the_page_has_the_definition():
    text = (ROOT / ".github/docs/benchmark_protocol.md").read_text(encoding="utf-8")
    fixed = PROTOCOLS["v1"]
    assert f"`{fixed.definition}`" in text
    assert f"plays {fixed.boards:,} [boards]" in text
    for name, _, seed in fixed.tasks:
        assert f"| {name} | {seed} |" in text
    for name in fixed.field:
        assert f"`{name}`" in text


def test_a_row_has_the_points_of_the_matches(small, tmp_path, monkeypatch):
    row = evaluate("beginner", decisions=5, out=tmp_path)
    halves = []
    for i, name in enumerate(SMALL):
        table = tournament([name], ["beginner"], field=FIELD, boards=20, seed=3 + i).data["table"]
        assert row["points_per_hand"][name] == table[0]["points_per_hand"]
        points = [
            match(name, "beginner", rival, boards=20, seed=3 + i).points_per_hand.mean
            for rival in FIELD
        ]
        assert row["points_per_hand"][name]["mean"] == pytest.approx(np.mean(points))
        halves.append(row["points_per_hand"][name]["high"] - row["points_per_hand"][name]["mean"])
    means = [row["points_per_hand"][name]["mean"] for name in SMALL]
    assert row["mean"]["mean"] == pytest.approx(np.mean(means))
    assert row["mean"]["high"] - row["mean"]["mean"] == pytest.approx(np.hypot(*halves) / 2)
    assert (row["training_decisions"], row["processor_minutes"]) == (5, None)
    assert row["decisions_per_second"] > 0
    monkeypatch.setattr("bideuchre_env.evaluation.tournament.match", None)
    assert evaluate("beginner", decisions=5, out=tmp_path) == row


def test_an_interrupted_run_has_no_row(small, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("bideuchre_env.evaluation.tournament.match", interrupted)
    assert evaluate("beginner") is None
    assert run("evaluate", "beginner", "--protocol", "v1") == 130


def test_other_rules_and_unknown_versions_are_refused(small, monkeypatch):
    with pytest.raises(OptionError, match="protocol='v0': expected v1"):
        evaluate("rule", "v0")
    monkeypatch.setattr(protocol, "make", lambda name: make(name, target=9))
    with pytest.raises(OptionError, match="six_card_v0 has other rules in this version"):
        evaluate("rule")


def test_the_command_prints_the_row(small, tmp_path, monkeypatch, capsys):
    command = ("evaluate", "beginner", "--protocol", "v1", "--decisions", "2e8", "--out", "a")
    monkeypatch.chdir(tmp_path)
    assert run(*command) == 0
    header, _, line = capsys.readouterr().out.splitlines()
    cells = dict(zip(header.split(" | "), line.split(" | "), strict=True))
    assert run(*command, "--json") == 0
    row = json.loads(capsys.readouterr().out)
    assert cells["agent"] == row["agent"] == "beginner"
    assert cells["training decisions"] == "200,000,000"
    assert cells["processor minutes"] == "not stated"
    assert cells["version"].startswith(f"{row['version']} ({row['data'][:8]}")
    assert cells["pepper_v0"].startswith(f"{row['points_per_hand']['pepper_v0']['mean']:+.2f} ± ")
    assert cells["mean"].startswith(f"{row['mean']['mean']:+.2f} ± ")
    assert run("evaluate", "beginner", "--protocol", "v9") == 2
    assert "--protocol v9: expected v1" in capsys.readouterr().err
    assert run(*command[:4], "--minutes", "-1") == 2
    assert "--minutes -1: expected 0 or more" in capsys.readouterr().err
