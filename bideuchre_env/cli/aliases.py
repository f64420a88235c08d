"""Short commands for frequent uses of others, such as `bideuchre selfplay`."""

from __future__ import annotations

import re

from bideuchre_env.errors import OptionError

RECORDS = ("check", "show", "export")


def in_full(words: list[str]) -> list[str]:
    """Return a command line with the command that `--help` lists."""
    command, *rest = words or [""]
    if command in RECORDS:
        return ["records", *words]
    return ["match", *_with_records(rest)] if command == "selfplay" else words


def _with_records(rest: list[str]) -> list[str]:
    """Return arguments of `match` that play as `selfplay`: by default 2,000 games, with records."""
    unrecorded = "--no-records" in rest
    words = [re.sub("^--out(?=$|=)", "--records", word) for word in rest if word != "--no-records"]
    has_file = any(word.startswith("--records") for word in words)
    if unrecorded and has_file:
        raise OptionError("--out, --no-records: expected only one of them")
    if not any(word.startswith(("--b", "--g")) for word in rest):
        words = ["--games", "2000", "--at-once", "125", *words]
    return words if unrecorded or has_file else [*words, "--records"]
