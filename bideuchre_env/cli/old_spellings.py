"""Other names of commands, and old spellings of arguments.

Old spellings work until version `UNTIL`; a notice names the present one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO

from bideuchre_env.errors import OptionError

UNTIL = "0.3"
RECORDS = ("check", "show", "export")
FIELDS = {"evaluate": ["--field"], "crossplay": ["--partners"]}
"""Old commands and the option of `tournament` that has their meaning."""


def present(words: list[str]) -> tuple[list[str], str | None]:
    """Return a command line with the present spellings, and the FILE of an old `--json FILE`."""
    command, *rest = words or [""]
    file = None
    if command in ("selfplay", "tournament", "compile") and "--agents" in rest:
        at = rest.index("--agents")
        end = next((k for k in range(at + 1, len(rest)) if rest[k].startswith("-")), len(rest))
        rest = [*rest[at + 1 : end], *rest[:at], *rest[end:]]
        _notice(command, "--agents A B", "A B")
    if command in ("tournament", "evaluate", "crossplay") and "--variants" in rest:
        rest = ["--variant" if word == "--variants" else word for word in rest]
        _notice(command, "--variants V", "--variant V")
    if command == "prepare" and rest and not rest[0].startswith("-"):
        option = "--rules" if rest[0].endswith(".toml") else "--variant"
        _notice(command, rest[0], f"{option} {rest[0]}")
        rest = [option, *rest]
    if command in ("match", "bench") and "--json" in rest:
        after = rest.index("--json") + 1
        if rest[after : after + 1] == ["-"] or "".join(rest[after : after + 1]).endswith(".json"):
            file = rest.pop(after)
            _notice(command, f"--json {file}", "--json" if file == "-" else f"--json > {file}")
            rest = [word for word in rest if command == "match" or word != "--force"]
    present_words = _named(command, rest) if words else []
    return present_words, None if file == "-" else file


def _named(command: str, rest: list[str]) -> list[str]:
    """Return a command line with the name of the command that `--help` lists."""
    if command in RECORDS:
        return ["records", command, *rest]
    if command == "selfplay":
        return ["match", *_with_records(rest)]
    if command not in FIELDS or (command == "evaluate" and _is_protocol(rest)):
        return [command, *rest]
    option, out = FIELDS[command], ["--out", f"runs/{command}"]
    _notice("", f"{command} A", f"tournament A {option[0]}")
    if any(word.startswith("--out") for word in rest):
        out = []
    if any(word.startswith(option[0][:4]) for word in rest):  # perhaps abbreviated
        option = []
    return ["tournament", *rest, *out, *option]


def _is_protocol(rest: list[str]) -> bool:
    """Return whether arguments of `evaluate` are those of the present command of this name."""
    return any(word.startswith("--pro") or word in ("-h", "--help") for word in rest)


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


def _notice(command: str, old: str, new: str) -> None:
    words = f"bideuchre {command} {old} is now bideuchre {command} {new}".replace("  ", " ")
    print(f"{words}; the old spelling works until bideuchre_env {UNTIL}", file=sys.stderr)


@contextmanager
def output_in(file: str, overwrite: bool) -> Iterator[None]:
    """Context manager that writes the standard output of its body to a file."""
    from bideuchre_env._files import Output, write_file

    with Output(file, overwrite=overwrite) as output, redirect_stdout(StringIO()) as text:
        yield
        write_file(output, text.getvalue())
