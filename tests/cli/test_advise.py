"""`bideuchre advise`: on a hand with its seat's knowledge, and on any action of a record."""

import json
from pathlib import Path

import pytest
from support.commands import run
from support.positions import knowledge_of

from bideuchre_env import records_io, selfplay
from bideuchre_env.agents.advice import advise_row
from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.rules import actions

HAND = ("--hand", "JH JD AH KH QS 9C")
FEW = ("--worlds", "20")


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Files of two games, for a variant with strains named later and one with exchanges."""
    files = {}
    for variant in ("cincinnati_v0", "club_v0"):
        path = tmp_path_factory.mktemp("games") / f"{variant}.jsonl"
        selfplay.play(variant, "expert", "cautious", games=2, seed=3, out=path)
        files[variant] = str(path)
    return files


def test_advice_on_a_hand_is_a_table_of_actions_and_a_sentence(capsys):
    seat = ("--seat", "3", "--calls", "pass, 4, pass", "--score", "28-30")
    assert run("advise", *HAND, *seat) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    assert out.startswith("JH JD AH KH QS 9C in cincinnati_v0, dealer: seat 3\n")
    for words in (
        "Seat 3 is to call. inference chooses ",
        "of 3 legal calls tried in 200 deals",
        "made or set",
        "wins the game",
        "±",
    ):
        assert words in out


def options_of(position):
    """Arguments of `known_position` as options of the command."""
    ours, theirs = position["score"]
    options = ["--hand", " ".join(position["hand"]), "--seat", str(position["seat"])]
    options += ["--calls", ", ".join(position["calls"]), f"--score={ours}-{theirs}"]
    options += ["--deal", str(position["deal"])]
    for name in ("given", "passed", "played"):
        if position.get(name):
            options += [f"--{name}", " ".join(position[name])]
    return [*options, "--strain", position["strain"]] if "strain" in position else options


def test_advice_is_the_same_for_a_hand_for_a_record_and_in_python(games, capsys):
    variant = "club_v0"
    record = next(iter(records_io.read(games[variant])))
    rules, tables, compared = record.rules, compile_tables(record.rules), 0
    for number, hand in list(enumerate(record.played_hands(), 1))[:2]:
        row = rows_of([hand.dealt])
        for ply, action in enumerate(hand.actions, 1):
            if ply % 8 == 1 or row["phase"][0] in (1, 2, 3):
                place = ("--hand", str(number), "--ply", str(ply))
                assert run("advise", games[variant], *place, "--json", *FEW) == 0
                printed = json.loads(capsys.readouterr().out)
                expected = advise_row(row, rules, worlds=20, also=[action]).to_dict()
                assert {name: printed[name] for name in expected} == expected
                assert printed["done"]["action"] == actions.of(rules).names[action]
                position = options_of(knowledge_of(row[0], rules))
                dealer = ("--dealer", str(row["dealer"][0]), "--variant", variant)
                assert run("advise", *position, *dealer, "--json", *FEW) == 0
                printed = json.loads(capsys.readouterr().out)
                expected = advise_row(row, rules, worlds=20).to_dict()
                assert {name: printed[name] for name in expected} == expected
                compared += 1
            step_row(row, tables, action)
    assert compared > 6


def test_the_agent_and_the_number_of_deals_are_chosen(games, capsys):
    place = ("--game", "2", "--hand", "2", "--ply", "3")
    assert run("advise", games["cincinnati_v0"], *place, "--agent", "rule", *FEW) == 0
    out = capsys.readouterr().out
    assert out.startswith("Game 2, hand 2, action 3\n")
    assert out.endswith("\n\npass was chosen.\n")
    assert run("advise", *HAND, "--agent", "rule", "--milliseconds", "20", "--seed", "4") == 0
    assert "rule chooses " in capsys.readouterr().out
    assert run("advise", *HAND, "--agent", "pimc:worlds=5,played_out=5", *FEW, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["agent"] == "pimc:worlds=5,played_out=5"
    assert printed["worlds"] <= 20
    assert (printed["variant"], printed["dealer"], printed["seat"]) == ("cincinnati_v0", 3, 0)


def test_a_bad_line_of_a_file_is_named_and_other_games_are_read(games, error_of):
    lines = Path(games["club_v0"]).read_text(encoding="utf-8").splitlines()
    Path("bad.jsonl").write_text("\n".join(["{}", *lines]), encoding="utf-8")
    assert "bad.jsonl:1: " in error_of("advise", "bad.jsonl", "--ply", "1")
    same = ("--variant", "club_v0", "--agent", "rule")
    assert run("advise", "bad.jsonl", "--game", "2", "--ply", "1", *FEW, *same) == 0
