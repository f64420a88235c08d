"""Runs of the scripts in `experiments/trainers/`."""

from __future__ import annotations

import json

import bideuchre_env
from bideuchre_env import match


def run_in_seconds(script, folder, capsys, *options):
    """A small run: it prints a result against each judge, and keeps a policy that can be named.

    What so few decisions come to is worth nothing yet, and is held to nothing.
    """
    small = ["--out", str(folder), "--boards", "20", "--hidden", "16", "--minibatch", "256"]
    kept = folder / "result.json"
    assert script.main(script.Args.parse([*small, "--json", str(kept), *options])) == 0
    printed = capsys.readouterr().out
    report = json.loads(kept.read_text(encoding="utf-8"))
    assert f"{report['decisions']:,} decisions, " in printed
    assert report["decisions per second"] > 0
    assert report["points per hand over"].keys() == {"cautious", "rule"}
    for judge in ("cautious", "rule"):
        assert f"{script.Player.name} against {judge}, cincinnati_v0" in printed
    named = f"{script.__file__}:Player:weights={folder / script.POLICY}"
    player = script.Player(bideuchre_env.cincinnati_v0.rules, folder / script.POLICY)
    by_name, in_process = (
        match.play("cincinnati_v0", each, "random", boards=10, seed=3).boards.points_per_hand
        for each in (named, player)
    )
    assert by_name == in_process


def points_over_cautious(script, folder):
    """Points per hand over `cautious` of what a whole run keeps, on boards of another seed."""
    assert script.main(script.Args.parse(["--out", str(folder), "--boards", "2"])) == 0
    named = f"{script.__file__}:Player:weights={folder / script.POLICY}"
    return match.play(
        "cincinnati_v0", named, "cautious", boards=1000, seed=9
    ).boards.points_per_hand
