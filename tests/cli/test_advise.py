"""`bideuchre advise`: from a hand and what its seat knows, and from any action of a record."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.commands import run
from support.known import known

from bideuchre_env import records_io, selfplay
from bideuchre_env.agents.advice import advise_row
from bideuchre_env.cli import main as cli
from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import DEAL, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions

HAND = ("--hand", "JH JD AH KH QS 9C")
FEW = ("--worlds", "20")


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Files of two games each, by variant: one that names the strain later, one that exchanges."""
    found = {}
    for variant in ("cincinnati_v0", "club_v0"):
        path = tmp_path_factory.mktemp("games") / f"{variant}.jsonl"
        selfplay.play(variant, "expert", "cautious", games=2, seed=3, out=path)
        found[variant] = str(path)
    return found


def test_advice_on_a_hand_fits_the_screen(capsys, monkeypatch):
    """Three actions with their figures, and a sentence."""
    monkeypatch.setenv("COLUMNS", "80")
    asked = ("--seat", "3", "--calls", "pass, 4, pass", "--score", "28-30")
    assert run("advise", *HAND, *asked) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "JH JD AH KH QS 9C in cincinnati_v0, seat 3 dealt"
    for words in (
        "Seat 3 is to call. inference chooses ",
        "of 3 legal calls tried in 200 deals",
        "points",
        "made or set",
        "wins the game",
        "±",
    ):
        assert words in out
    rows = sum(bool(re.match(r"(pass|bid [\w ]+?)  ", line)) for line in lines)
    assert f"{rows} of 3 legal calls tried" in " ".join(out.split())
    assert out.rstrip().endswith(".")


def words_of(told):
    """Arguments of `known_position` as the command's."""
    ours, theirs = told["score"]
    words = ["--hand", " ".join(told["hand"]), "--seat", str(told["seat"])]
    words += ["--calls", ", ".join(told["calls"]), f"--score={ours}-{theirs}"]
    words += ["--deal", str(told["deal"])]
    for name in ("given", "passed", "played"):
        if told.get(name):
            words += [f"--{name}", " ".join(told[name])]
    return [*words, "--strain", told["strain"]] if "strain" in told else words


@pytest.mark.parametrize("variant", ["cincinnati_v0", "club_v0"])
def test_what_a_seat_knows_gets_the_advice_of_the_record(variant, games, capsys):
    """By the hand as a person tells it, by the place in the file, and in Python: the same."""
    record = next(iter(records_io.read(games[variant])))
    rules, asked = record.rules, 0
    tables = compile_tables(rules)
    for number, hand in list(enumerate(record.played_hands(), 1))[:3]:
        row = rows_of([hand.dealt])
        for ply, action in enumerate(hand.actions, 1):
            if ply % 4 == 1 or row["phase"][0] in (1, 2, 3):
                place = ("--hand", str(number), "--ply", str(ply))
                assert run("advise", games[variant], *place, "--json", *FEW) == 0
                there = json.loads(capsys.readouterr().out)
                told = advise_row(row, rules, worlds=20, also=[action]).to_dict()
                assert {name: there[name] for name in told} == told
                assert there["done"]["action"] == actions.of(rules).names[action]
                words = words_of(known(row[0], rules))
                dealer = ("--dealer", str(row["dealer"][0]))
                assert run("advise", *words, *dealer, "--variant", variant, "--json", *FEW) == 0
                here = json.loads(capsys.readouterr().out)
                plain = advise_row(row, rules, worlds=20).to_dict()
                assert {name: here[name] for name in plain} == plain
                asked += 1
            step_row(row, tables, action)
        assert row["phase"][0] >= DEAL
    assert asked > 15


def test_what_was_done_is_told(games, capsys):
    """Beside the advice, whatever it was; its row is among those printed."""
    path, said = games["cincinnati_v0"], set()
    for ply in range(1, 12):
        assert run("advise", path, "--game", "2", "--hand", "2", "--ply", str(ply), *FEW) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"Game 2, hand 2, action {ply}\n")
        last = out.splitlines()[-1]
        done = last.split(" is what was done.")[0].split(" was done")[0]
        assert any(line.startswith(f"{done}  ") for line in out.splitlines())
        said.add(last.endswith("is what was done."))
        assert max(map(len, out.splitlines())) <= 80
    assert said == {True, False}


def test_the_agent_and_the_deals_are_chosen(capsys):
    assert run("advise", *HAND, "--agent", "rule", "--milliseconds", "20", "--seed", "4") == 0
    assert "rule chooses " in capsys.readouterr().out
    assert run("advise", *HAND, "--agent", "pimc:worlds=5,played_out=5", *FEW, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["agent"] == "pimc:worlds=5,played_out=5"
    assert told["worlds"] <= 20
    assert (told["variant"], told["dealer"], told["seat"]) == ("cincinnati_v0", 3, 0)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ((), "a hand, as --hand"),
        (("--hand", "JH JD"), "a hand of 2 cards: seat 0 holds 6 there"),
        (("--hand", "JH JD AH KH QS XX"), "no card"),
        ((*HAND, "--calls", "4, 3"), "call 2, player_3 may not choose 'bid 3'"),
        ((*HAND, "--calls", "4,,3"), "no action"),
        ((*HAND, "--calls", "pass, 4, pass", "--dealer", "1"), "seat 1 is to act there") ,
        ((*HAND, "--score", "many"), "--score 'many': our points and theirs, as 28-30"),
        ((*HAND, "--score", "32-5"), "score 32 to 5: the game is over then, its target is 32"),
        ((*HAND, "--score", "5-40"), "score 5 to 40: the game is over then, its target is 32"),
        ((*HAND, "--seat", "5"), "seat 5"),
        ((*HAND, "--deal", "0"), "deal 0"),
        ((*HAND, "--agent", "nobody"), "no agent 'nobody'"),
        ((*HAND, "--worlds", "0"), "worlds=0: a whole number"),
        ((*HAND, "--milliseconds", "0"), "milliseconds=0.0: above 0"),
        ((*HAND, "--seed", "-1"), "seed=-1"),
        ((*HAND, "--ply", "2"), "--ply: for a file of game records, and none is given"),
        ((*HAND, "--variant", "nonsense"), "no variant"),
        (("nowhere.jsonl", "--ply", "1"), "nowhere.jsonl"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(asked, words, capsys):
    """On stderr, and exit code 2."""
    assert run("advise", *asked) == 2
    out, err = capsys.readouterr()
    assert words in err
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ((), "--ply: hand 1 of game 1 has actions 1 to"),
        (("--ply", "0"), "--ply 0: hand 1 of game 1 has actions 1 to"),
        (("--ply", "999"), "--ply 999"),
        (("--hand", "99", "--ply", "1"), "--hand 99: game 1 has hands 1 to"),
        (("--hand", "JH JD", "--ply", "1"), "--hand 'JH JD': with a file, a number from 1"),
        (("--game", "9", "--ply", "1"), "has no game 9"),
        (("--game", "-1", "--ply", "1"), "--game -1: with a file, a number from 1"),
        (("--ply", "1", "--seat", "2"), "--seat: with a file the position is that of the record"),
        (("--ply", "1", "--variant", "barrie_v0"), "the game on record is cincinnati_v0"),
        (("--ply", "1", "--option", "target=40"), "a record names its own rules"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(asked, words, games, capsys):
    assert run("advise", games["cincinnati_v0"], *asked) == 2
    out, err = capsys.readouterr()
    assert words in err
    assert (out, err.count("\n")) == ("", 1)


def test_a_bad_line_of_a_file_is_named(tmp_path, games, capsys):
    lines = Path(games["club_v0"]).read_text(encoding="utf-8").splitlines()
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(["{}", *lines]), encoding="utf-8")
    assert run("advise", str(path), "--ply", "1") == 2
    assert f"{path}:1: " in capsys.readouterr().err
    assert run("advise", str(path), "--game", "2", "--ply", "1", *FEW) == 0


def test_a_variant_that_a_record_is_not_of_is_refused(tmp_path, capsys):
    """Whatever is given, the default of other commands too; the record's own may be."""
    file = str(tmp_path / "barrie.jsonl")
    assert cli.main(["selfplay", "--variant", "barrie_v0", "--games", "1", "--out", file]) == 0
    asked = ["advise", file, "--ply", "2", "--agent", "rule", "--worlds", "4"]
    assert cli.main([*asked, "--variant", "cincinnati_v0"]) == 2
    assert "the game on record is barrie_v0" in capsys.readouterr().err
    for more in ([], ["--variant", "barrie_v0"]):
        assert cli.main([*asked, *more]) == 0
