"""`selfplay`, `check`, `show` and `export` are short names of other commands."""

import pytest

from bideuchre_env.cli.short_names import present

NAMES = [
    ("selfplay rule random --games 2", "match rule random --games 2 --records"),
    ("selfplay a b --boards 3 --out x", "match a b --boards 3 --records x"),
    ("selfplay", "match --games 2000 --at-once 125 --records"),
    ("selfplay a b --no-records --boards 3", "match a b --boards 3"),
    ("show games.jsonl --game 1", "records show games.jsonl --game 1"),
    ("check games.jsonl", "records check games.jsonl"),
    ("match rule random", "match rule random"),
    ("evaluate rule --protocol v1", "evaluate rule --protocol v1"),
    ("", ""),
]


@pytest.mark.parametrize(("short", "full"), NAMES)
def test_a_short_name_is_parsed_as_the_full_one(short, full):
    assert present(short.split()) == full.split()
