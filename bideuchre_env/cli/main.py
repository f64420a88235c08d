"""The `bideuchre` command. Parsing is fast: a command imports its modules when it runs."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from bideuchre_env import __version__
from bideuchre_env._checks import did_you_mean, printable
from bideuchre_env._install import software, software_lines
from bideuchre_env.cli import (
    advise,
    agents,
    bench,
    boards,
    compile,
    evaluate,
    hand,
    match,
    play,
    prepare,
    quiz,
    records,
    tournament,
    variants,
)
from bideuchre_env.cli.program import USAGE, exit_code
from bideuchre_env.cli.screen import AGENTS, VARIANTS, folded, help_of
from bideuchre_env.cli.short_names import present
from bideuchre_env.errors import BidEuchreError, OutputError
from bideuchre_env.runtime.interrupts import quit_on_signals

COMMANDS = (
    *(play, match, tournament, evaluate, agents, variants, records),
    *(advise, hand, quiz, boards, prepare, bench, compile),
)


_WELCOME = """\
This is bideuchre_env {version}: the Bid Euchre family of card games as environments for
reinforcement learning, with agents to play against and an exact solver."""
_TRY = (
    (
        "bideuchre match rule cautious --games 2000 --records games.jsonl",
        "play 2,000 games between two agents and save them",
    ),
    ("bideuchre records show games.jsonl --game 1", "print the first of these games, card by card"),
    (
        "bideuchre match expert rule --boards 200",
        "measure how much better one agent is than another",
    ),
    (
        'bideuchre advise --hand "JH JD AH KH QS 9C" --seat 3 --calls "pass, 4, pass"',
        "get advice on a call, a strain, an exchange or a card",
    ),
    ("bideuchre variants barrie_v0", "print the rules of a variant"),
)
_MORE = """\
bideuchre help lists all commands; bideuchre help COMMAND explains one. Code is compiled on
first use, which may take minutes, once. bideuchre compile compiles it in advance, for all
commands but bideuchre prepare."""


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` whose errors are one line; a command reports its own."""

    def error(self, message: str) -> NoReturn:
        """Print the error and a hint to `--help`, and exit."""
        self.exit(USAGE, f"{self.prog}: error: {printable(message)} (see {self.prog} --help)\n")

    def parse_known_args(self, *arguments: Any, **more: Any) -> Any:
        """Parse; an unknown argument is an error of this command, not of `bideuchre`."""
        parsed, unknown = super().parse_known_args(*arguments, **more)
        if unknown:
            close = did_you_mean(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{close}")
        return parsed, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            close = did_you_mean(value, action.choices)
            expected = f"expected {', '.join(action.choices)}"
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}{close}: {expected}")

    def as_typed(self, message: str, parsed: argparse.Namespace) -> str:
        """Return an error message with arguments of this command for parameters of Python.

        `at_once=0: expected 1` becomes `--at-once 0: expected 1`, and `boards=N` `--boards N`.
        """
        names: dict[str, argparse.Action] = {}
        for action in self._actions:
            parts = action.metavar if isinstance(action.metavar, tuple) else ()  # of --sprt
            names |= dict.fromkeys([action.dest, *map(str.lower, parts)], action)

        def spelled(match: re.Match[str]) -> str:
            name, text = match.groups()
            if name not in names:
                return match[0]
            option, value = names[name], getattr(parsed, names[name].dest)
            written = option.option_strings[-1] if option.option_strings else option.metavar
            if text == "N":
                return f"{written} N"
            values = value if isinstance(value, list) else [value]
            if values != value and text not in (str(value), repr(value)):
                return match[0]  # of an option in the name of an agent
            words = [f"{each:g}" if isinstance(each, float) else str(each) for each in values]
            return f"{written} {shlex.join(words)}"

        message = message.replace("(--force, overwrite=True)", "(--force)")
        message = re.sub(r"^(\w+)=(.*?)(?=: )", spelled, message)
        return re.sub(r"\b(\w+)=(N)\b", spelled, message)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help or an error; raise if that fails, where argparse would continue silently."""
        (file or sys.stderr).write(message)


class _PrintCompletion(argparse.Action):
    """The option `--print-completion`."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, shell: Any, *arguments: Any
    ) -> NoReturn:
        from bideuchre_env.cli.completion import completion_script

        script = completion_script(parser, shell)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(newline="\n")  # bash rejects the line ends of Windows
        print(script)
        parser.exit()


class _PrintVersions(argparse.Action):
    """The option `--version`."""

    def __call__(self, parser: argparse.ArgumentParser, *arguments: Any) -> NoReturn:
        print(software_lines(software()))
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each command sets `run(parsed arguments)`."""
    parser = Parser(
        prog="bideuchre",
        **help_of(
            "Bid Euchre on the command line: matches, tournaments, game records, rules. "
            "bideuchre help COMMAND explains a command, with examples.",
            ("bideuchre match rule cautious --variant barrie_v0",),
            VARIANTS,
            AGENTS,
        ),
    )
    meaning = "print the versions of the package, its libraries and Python, for bug reports"
    parser.add_argument("--version", action=_PrintVersions, nargs=0, help=meaning)
    parser.add_argument(
        "--print-completion",
        action=_PrintCompletion,
        choices=("bash", "zsh", "tcsh"),
        help="print a script that completes commands, names and files in this shell (needs the "
        "extra [completion]); for bash, save it as "
        "~/.local/share/bash-completion/completions/bideuchre",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for module in COMMANDS:
        module.add(commands)
    return parser


def welcome() -> str:
    """Return the text of `bideuchre` without arguments: a description and five examples."""
    lines = [folded(_WELCOME.format(version=__version__)), "", "Five things to try:"]
    for command, purpose in _TRY:
        lines += ["", f"  {command}", f"      {purpose}"]
    return "\n".join([*lines, "", folded(_MORE)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (`arguments`, or by default the program's) and return the exit code.

    Bad input prints one line and returns 2; `--help` and usage errors raise `SystemExit`.
    """

    def run() -> int:
        typed = sys.argv[1:] if arguments is None else list(arguments)
        words = [*typed[1:], "--help"] if typed[:1] == ["help"] else typed
        parsed = build_parser().parse_args(present(words))
        if not hasattr(parsed, "run"):
            print(welcome())
            return 0
        try:
            code: int = parsed.run(parsed)
        except BidEuchreError as error:
            if isinstance(error, OutputError):
                raise
            parsed.parser.error(parsed.parser.as_typed(str(error), parsed))
        return code

    return exit_code(run, "bideuchre")


def console() -> NoReturn:
    """Entry point of the `bideuchre` command; from here on Ctrl-C or SIGTERM ends it in a line."""
    quit_on_signals("bideuchre")
    sys.exit(main())


if __name__ == "__main__":
    console()
