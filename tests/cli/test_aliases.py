"""Short commands for frequent uses of others."""

import pytest

from bideuchre_env.cli.aliases import in_full
from bideuchre_env.cli.main import build_parser, main

SAME = [
    ("selfplay rule random", "match rule random --games 2000 --at-once 125 --records"),
    ("selfplay rule random --games 2", "match rule random --games 2 --records"),
    ("selfplay rule random --boards 2 --out x", "match rule random --boards 2 --records x"),
    ("selfplay rule random --games 2 --no-records", "match rule random --games 2"),
    ("check a.jsonl", "records check a.jsonl"),
]


@pytest.mark.parametrize(("short", "full"), SAME)
def test_a_short_command_is_parsed_as_its_full_form(short, full):
    parsed, expected = (
        vars(build_parser().parse_args(words)) for words in (in_full(short.split()), full.split())
    )
    assert parsed | {"parser": 0, "run": 0} == expected | {"parser": 0, "run": 0}


@pytest.mark.parametrize("full", [*(full for _, full in SAME), "evaluate rule --protocol v1", ""])
def test_a_full_form_is_unchanged(full):
    assert in_full(full.split()) == full.split()


@pytest.mark.parametrize("out", [["--out", "x"], ["--out=x"], ["--records"]])
def test_selfplay_refuses_a_file_of_records_without_records(out, capsys):
    assert main(["selfplay", "rule", "random", *out, "--no-records"]) == 2
    assert "--out, --no-records: expected only one of them" in capsys.readouterr().err
