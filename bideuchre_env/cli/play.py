"""Play a game with and against agents: `bideuchre play`.

Play a game with a partner and two opponents, agents of your choice. Type cards and calls by name
or by key; h lists the other keys, among them hint, undo and last trick. A review follows the game.
The game is saved after every card, and the same command resumes it: FILE, or else the variant's
last unfinished game in runs/. --new begins a new game and keeps the old one.

With --web you play in a browser. Only this machine can open the page unless --host allows others.
Each seat has a secret link, which shows the cards of that seat only. Guests may scan a QR code
instead, or type its short address, and choose a free seat, whose printed link then is no longer
valid. The links work again when the saved game is resumed at the same port. The first seat is the
host's: its page begins another game, variant or level, and sets the speed. Everyone can ask for
hints; undo works only while one person plays. The operating system draws each deal when it is due:
nothing that is shown or saved determines a later deal. A seed determines all deals, so --seed is
for one person. The saved game has all hands of the deal in play, and the links: only its owner can
read the file.

    bideuchre play
    bideuchre play --level easy
    bideuchre play --variant barrie_v0 --partner inference --opponents rule expert
    bideuchre play --option target=10 --seat 3 --new
    bideuchre play --file runs/play-cincinnati_v0.json
    bideuchre play --web
    bideuchre play --web --people 0,2 --host 0.0.0.0
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import brief, printable
from bideuchre_env._files import only_run_at
from bideuchre_env._install import how_to_install
from bideuchre_env._quitting import before_quitting
from bideuchre_env.cli.options import add_rules, argument, check_agents, game_of, new_command
from bideuchre_env.cli.progress import announce_compiling, compiling_bar, progress_bar
from bideuchre_env.cli.screen import AGENTS, VARIANTS, folded, width
from bideuchre_env.errors import OptionError, RecordError
from bideuchre_env.play.levels import LEVELS, PERSON, level_of
from bideuchre_env.runtime.interrupts import CTRL_C, interrupted_code, raising

if TYPE_CHECKING:
    from rich.console import Console

    from bideuchre_env.envs.registration import Variant
    from bideuchre_env.play.session import Session

PARTNER, OPPONENTS, ADVISER = "expert", ["expert"], "inference"
PAUSE = 0.6
HOST, PORT = "127.0.0.1", 8765
MOST_PAUSE = 60.0
HOW_TO_BEGIN = " (--new begins a new game)"


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "play", run, __doc__, VARIANTS, AGENTS)
    add_rules(parser)
    argument(parser, "--seat N", "your seat, 0 to 3 (default: 0)", int)
    levels = (f"{name}: {level.words}" for name, level in LEVELS.items())
    meaning = "\n".join(("level of partner and opponents:", *levels))
    argument(parser, "--level", meaning, choices=tuple(LEVELS))
    argument(parser, "--partner A", f"agent of your partner (default: {PARTNER})")
    meaning = f"agent of both opponents, or two agents: left, right (default: {OPPONENTS[0]})"
    argument(parser, "--opponents A", meaning, nargs="+")
    argument(parser, "--adviser A", "agent that gives hints and the review", default=ADVISER)
    meaning = "seed of all deals, for one person who may know them (default: deals by chance)"
    argument(parser, "--seed S", meaning, int)
    argument(parser, "--file FILE", "file of the saved game (default: a file in runs/)")
    argument(parser, "--new", "begin a new game")
    argument(
        parser,
        "--pause SECONDS",
        f"delay after each move of an agent, 0 to {MOST_PAUSE:g} (default: {PAUSE} on a terminal, "
        "0 in a pipe)",
        float,
    )
    argument(parser, "--no-review", "skip the review after the game")
    browser = parser.add_argument_group("in a browser (needs the extra [web])")
    argument(browser, "--web", "serve the game as a page to play in a browser")
    meaning = "seats of the people, as 0,2; each gets a link (default: one person, --seat)"
    argument(browser, "--people SEATS", meaning)
    meaning = f"address to listen on; 0.0.0.0 lets your network in (default: {HOST})"
    argument(browser, "--host HOST", meaning)
    argument(browser, "--port N", f"port to listen on, 0 for any free one (default: {PORT})", int)


def run(arguments: argparse.Namespace) -> int:
    """Play until the game is over or the player quits, or serve the game with --web; return 0."""
    _check(arguments)
    path, parts = _path_and_parts(arguments)
    announce_compiling(parts)
    if arguments.web:
        return _serve(arguments, path, parts)
    from rich.console import Console

    with raising(), _open_session(arguments, path, parts) as session, _saved(session):
        if len(session.people) > 1:
            raise OptionError(f"{printable(str(session.path))} has several people: add --web")
        console = Console(width=width(), highlight=False, markup=False, emoji=False)
        from bideuchre_env.play.terminal import Terminal

        pause = arguments.pause
        if pause is None:
            pause = PAUSE if sys.stdin.isatty() and sys.stdout.isatty() else 0.0
        terminal = Terminal(
            session,
            console,
            pause=pause,
            adviser=arguments.adviser,
            before_hint=lambda: _compile_hints(arguments.adviser),
        )
        if session.over or terminal.run():
            terminal.print_ending()
            _finish(session, console, arguments)
    return 0


def _serve(arguments: argparse.Namespace, path: Path | None, parts: Sequence[str]) -> int:
    """Serve the game to browsers until Ctrl-C, and print how to resume it; return 0.

    SIGTERM ends it in the same way, with exit code 143. Raises `OptionError` without the extra
    `web`, or if the port cannot be used.
    """
    try:
        from bideuchre_env.web.server import listening, run_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("bideuchre_env"):
            raise
        raise OptionError(f"--web needs {error.name}: {how_to_install('web')}") from None

    address = arguments.host or HOST
    listener = listening(address, PORT if arguments.port is None else arguments.port)
    options = ["--host", address] if arguments.host else []
    if arguments.port is not None:  # links work again only at the port of this server
        options += ["--port", str(listener.getsockname()[1])]
    with listener, _open_session(arguments, path, parts) as session:
        last = run_server(
            session,
            lambda old, agents, game: _next_game(old, agents, game, arguments),
            address,
            listener,
            _announce,
            pause=PAUSE if arguments.pause is None else arguments.pause,
            adviser=arguments.adviser,
            reviewed=not arguments.no_review,
        )
        _print_how_to_resume(last, "--web", *options)
        last.save_record()
        if last.record_path is not None:
            print(f"To read the game: bideuchre records show {shlex.quote(str(last.record_path))}")
    code = interrupted_code()
    return 0 if code == CTRL_C else code


def _next_game(
    old: Session, agents: Sequence[str], game: Variant, arguments: argparse.Namespace
) -> Session:
    """Return a new game of the same people with these agents, with new deals and a new file."""
    from bideuchre_env.evaluation.kernel_parts import agent_parts
    from bideuchre_env.play.saved import new_game_path
    from bideuchre_env.play.session import Session

    path = new_game_path(game.name, old.path if arguments.file else None)
    names = [name for seat, name in enumerate(agents) if seat not in old.people]
    parts = (*agent_parts(names), "claims")
    announce_compiling(parts)
    with compiling_bar(parts):
        session = Session(game, old.people, agents, path=path, seats=old.seats)
        if list(agents) != old.agents or game.rules != old.rules:
            _rehearse(session)
    return session


def _announce(links: dict[int, str], invitation: str | None) -> None:
    if invitation is not None:
        print(invitation)
    for seat, link in links.items():
        print(f"Seat {seat}: {link}")
    if len(links) > 1:
        print(f"Seat {min(links)} is the host's: its page begins other games and sets the speed.")
        print("A link gives access to its seat: send each link to one person only. The connection")
        print("is not encrypted: use a network that you trust.")
    print("Open the link in a browser. Ctrl-C stops the server; the game is saved.", flush=True)


def _check(arguments: argparse.Namespace) -> None:
    """Raise `OptionError` for invalid or contradictory options."""
    from bideuchre_env.play.saved import check_alone

    partner, opponents = _chosen_agents(arguments)
    names = [arguments.adviser, partner, *opponents]
    check_agents([name for name in names if name is not None])
    if len(opponents) > 2:
        raise OptionError(f"opponents={brief(opponents)}: expected one or two agents")
    for name in ("people", "host", "port"):
        if getattr(arguments, name) is not None and not arguments.web:
            raise OptionError(f"--{name}: expected only with --web")
    if arguments.people is not None and arguments.seat is not None:
        raise OptionError("--people, --seat: expected only one of them")
    limits = (("port", 65535, ""), ("seat", 3, ""), ("pause", MOST_PAUSE, " seconds"))
    for name, most, unit in limits:
        number = getattr(arguments, name)
        if number is not None and not 0 <= number <= most:
            raise OptionError(f"{name}={number}: expected 0 to {most:g}{unit}")
    check_alone(arguments.seed, _people(arguments))


def _chosen_agents(arguments: argparse.Namespace) -> tuple[str | None, list[str]]:
    """Return the partner and the opponents of the options: None, and [], by default.

    Raises `OptionError` for a level together with agents.
    """
    level, partner, opponents = arguments.level, arguments.partner, arguments.opponents or []
    if level is None:
        return partner, opponents
    if partner is not None or opponents:
        options = {"level": [level], "partner": [partner or ""], "opponents": opponents}
        words = [f"--{key} {' '.join(value)}" for key, value in options.items() if any(value)]
        raise OptionError(f"{printable(', '.join(words))}: expected a level or agents")
    return LEVELS[level].agent, [LEVELS[level].agent]


def _path_and_parts(arguments: argparse.Namespace) -> tuple[Path | None, tuple[str, ...]]:
    """Return the path of the game to resume, None for a new game, and the parts to compile.

    With --web they include those of hints.
    """
    from bideuchre_env.evaluation.kernel_parts import advice_parts, agent_parts
    from bideuchre_env.play.saved import saved_agents, unfinished_game

    partner, opponents = _chosen_agents(arguments)
    path, names = None, [partner or PARTNER, *(opponents or OPPONENTS)]
    try:
        if arguments.file:
            path = Path(arguments.file)
            if not path.exists():
                with only_run_at(path):  # an error for a bad path comes before kernels compile
                    pass
        elif not arguments.new:
            path = unfinished_game(game_of(arguments).name, not arguments.web)
        if arguments.new or path is None or not path.exists():
            path = None
        else:
            names = saved_agents(path)
    except RecordError as error:
        raise RecordError(f"{error}{HOW_TO_BEGIN}") from None
    hints = advice_parts([arguments.adviser]) if arguments.web else ()
    return path, (*agent_parts(names), "claims", *hints)


@contextmanager
def _open_session(
    arguments: argparse.Namespace, path: Path | None, parts: Sequence[str]
) -> Iterator[Session]:
    """Context manager: open a new game, or resume that of `path`, and yield it.

    Before, the kernels of a session and the `parts` are compiled, and the players are printed.
    Raises `OptionError` if a resumed game differs from the options, and `RecordError` for a file
    that is not a saved game.
    """
    with ExitStack() as stack:
        with compiling_bar(parts):
            session = stack.enter_context(_begin_or_resume(arguments, path))
            if path is not None:
                _check_same(arguments, session)
            _rehearse(session)
        print(f"{'New game in' if path is None else 'Resuming'} {printable(str(session.path))}")
        _print_players(session)
        yield session


def _print_players(session: Session) -> None:
    """Print the names of the agents at the table, and their level or each agent."""
    players = zip(session.names, session.agents, strict=True)
    agents = {name: printable(agent) for name, agent in players if agent != PERSON}
    level = level_of(list(agents.values()))
    if level is not None:
        names = ", ".join(agents)
        print(folded(f"At the table: {names}, level {level}. Each {LEVELS[level].words}."))
    elif agents:
        names = ", ".join(f"{name} ({agent})" for name, agent in agents.items())
        print(f"At the table: {names}")
    sys.stdout.flush()


def _begin_or_resume(arguments: argparse.Namespace, path: Path | None) -> Session:
    """Return a session that resumes the game of `path`, or that of a new game if it is None."""
    from bideuchre_env.play.saved import assign_players, new_game_path
    from bideuchre_env.play.session import Session

    partner, opponents = _chosen_agents(arguments)
    if path is not None:
        try:
            return Session.resume(path, [name for name in (partner, *opponents) if name])
        except RecordError as error:
            raise RecordError(f"{error}{HOW_TO_BEGIN}") from None
    game, people = game_of(arguments), _people(arguments)
    path = Path(arguments.file) if arguments.file else new_game_path(game.name)
    names = assign_players(people, partner or PARTNER, opponents or OPPONENTS)
    return Session(game, people, names, seed=arguments.seed, path=path)


def _people(arguments: argparse.Namespace) -> list[int]:
    """Return the seats of people; `OptionError` for an invalid --people."""
    if arguments.people is None:
        return [0 if arguments.seat is None else arguments.seat]
    seats = [each.strip() for each in arguments.people.split(",")]
    if not all(seat in ("0", "1", "2", "3") for seat in seats) or len(set(seats)) < len(seats):
        raise OptionError(f"--people {brief(arguments.people)}: expected seats from 0 to 3, as 0,2")
    return sorted(map(int, seats))


def _check_same(arguments: argparse.Namespace, session: Session) -> None:
    """Raise `OptionError` if an option differs from the settings of the saved game."""
    from bideuchre_env.play.saved import assign_players

    variant, changed = arguments.variant, arguments.rules or arguments.option
    game = game_of(arguments)
    has_seats = arguments.seat is not None or arguments.people is not None
    people = _people(arguments) if has_seats else list(session.people)
    differs = []
    other = changed and game.rules != session.rules
    if other or ((variant or changed) and game.name != session.variant):
        differs.append("other rules")
    if people != list(session.people):
        differs.append("other seats")
    else:
        begun = session.agents
        partner, opponents = _chosen_agents(arguments)
        partner = partner or begun[people[0] ^ 2]
        requested = assign_players(people, partner, opponents or ["", ""])
        if any(name and name != other for name, other in zip(requested, begun, strict=True)):
            differs.append(f"other agents ({', '.join(begun)})")
    if arguments.seed is not None and arguments.seed != session.seed:
        differs.append("another seed")
    if differs:
        raise OptionError(
            f"the game in {printable(str(session.path))} has {' and '.join(differs)}: "
            "--new begins a new game"
        )


def _rehearse(session: Session) -> None:
    """Compile the kernels of a session, by an action in another game of the same rules."""
    from bideuchre_env.envs.registration import Variant
    from bideuchre_env.play.session import Session

    game = Variant(session.variant, session.rules)
    with Session(game, (0, 1, 2, 3), session.agents) as rehearsal:
        rehearsal.act(int(rehearsal.row["turn"]), rehearsal.legal()[0])


def _compile_hints(adviser: str) -> None:
    """Compile the kernels of hints, with the estimated time."""
    from bideuchre_env.evaluation.kernel_parts import advice_parts

    parts = advice_parts([adviser])
    announce_compiling(parts)
    with compiling_bar(parts):
        pass


@contextmanager
def _saved(session: Session) -> Iterator[None]:
    """Context manager: on exit, also by Ctrl-C, print how to resume an unfinished game."""

    def quitting() -> None:  # the cursor may be in the middle of a line
        print()
        _print_how_to_resume(session)

    try:
        with before_quitting(quitting):
            yield
    finally:
        _print_how_to_resume(session)


def _print_how_to_resume(session: Session, *options: str) -> None:
    if not session.over:
        command = shlex.join(["bideuchre", "play", *options, "--file", str(session.path)])
        print(f"The game is saved. Resume it with: {command}", flush=True)


def _finish(session: Session, console: Console, arguments: argparse.Namespace) -> None:
    """Save the record; print its file, and a review unless --no-review.

    Ctrl-C skips the review and raises `KeyboardInterrupt`.
    """
    session.save_record()  # if it could not be saved before
    quoted = shlex.quote(str(session.record_path)) if session.record_path else None
    if quoted:
        console.print(f"To read the game: bideuchre records show {quoted}", soft_wrap=True)
    if arguments.no_review:
        return
    from bideuchre_env.analysis import review
    from bideuchre_env.play.lines import Lines

    adviser = arguments.adviser
    try:
        with progress_bar(f"review by {adviser} (Ctrl-C skips it)", "actions") as progress:
            text = str(review(session.record(), adviser, progress=progress))
    except KeyboardInterrupt:
        again = f" To review the game: bideuchre records show {quoted} --analyse" if quoted else ""
        console.print(f"Review skipped.{again}", soft_wrap=True)
        raise
    except OptionError as error:  # the adviser does not play by these rules
        console.print(f"No review: {error}", soft_wrap=True)
        return
    numbers = Lines(session.row, session.rules, session.people[0]).seat_numbers()
    console.print(f"\n{numbers}\n\n{text}")
