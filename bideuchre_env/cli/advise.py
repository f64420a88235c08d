"""Recommend a call, strain, exchange or card, with a reason: `bideuchre advise`.

Print the best three actions of a position: the chance to win the game, the expected points of the
hand (ours minus theirs), the chance that our contract is made or theirs is set, and a reason. An
agent that plays for points orders them by points. The position is a hand as its seat knows it, or a
decision in a file of game records as the seat to act knew it. The figures come from sampled deals
of the hidden cards, each played out; ± is their 95 % margin of error.

    bideuchre advise --hand "JH JD AH KH QS 9C" --seat 3 --calls "pass, 4, pass"
    bideuchre advise --hand "JH JD AH KH QS 9C" --calls "pass,pass,pass,4"
    bideuchre advise games.jsonl --game 2 --hand 3 --ply 7 --agent expert
"""

from __future__ import annotations

import argparse
import json
import re
import time
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import brief, printable
from bideuchre_env.cli.options import (
    add_rules,
    add_seed,
    argument,
    check_agents,
    game_of,
    new_command,
)
from bideuchre_env.cli.progress import Bars, announce_compiling
from bideuchre_env.cli.screen import AGENTS, VARIANTS, folded, width
from bideuchre_env.errors import OptionError

if TYPE_CHECKING:
    from bideuchre_env.agents.advice import Advice
    from bideuchre_env.records.record import GameRecord
    from bideuchre_env.rules.rules import Rules
    from bideuchre_env.runtime.jit import Array

_POSITION = ("seat", "dealer", "calls", "strain", "given", "passed", "played", "score", "deal")
_SCORE = re.compile(r"\s*(-?\d{1,15})\s*[-:, ]\s*(-?\d{1,15})\s*")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    kinds = VARIANTS, AGENTS
    parser = new_command(commands, "advise", run, __doc__, *kinds)
    argument(parser, "file FILE", "game records; - is standard input", nargs="?")
    argument(
        parser,
        "--hand CARDS|N",
        'cards held now, as "JH JD AH KH QS 9C"; with FILE, hand N of the game, from 1',
    )
    argument(parser, "--game N", "with FILE: game N, from 1 (default: 1)", int)
    argument(parser, "--ply N", "with FILE: the decision of action N of the hand, from 1", int)
    argument(parser, "--seat S", "seat of the hand, 0 to 3 (default: 0)", int)
    argument(
        parser, "--dealer S", "seat of the dealer, 0 to 3 (default: inferred from the calls)", int
    )
    argument(parser, "--calls CALLS", 'all calls so far, in order, as "pass, 4 H, moon S"')
    argument(parser, "--strain X", "strain named after the auction: C, D, H, S or NT")
    argument(parser, "--given CARDS", "cards that you gave up as declarer")
    argument(parser, "--passed CARDS", "cards passed to the declarer, if you know them")
    argument(parser, "--played CARDS", "all cards played so far, in order, yours included")
    argument(
        parser,
        "--score OURS-THEIRS",
        "points of both sides before the hand, as 28-30 (default: 0-0)",
    )
    argument(parser, "--deal N", "number of this deal in the game, from 1 (default: 1)", int)
    add_rules(parser)
    argument(parser, "--agent A", "agent that advises", default="inference")
    argument(parser, "--worlds N", "sampled deals, 1 to 10,000 (default: 200)", int)
    argument(parser, "--milliseconds MS", "approximate thinking time, instead of --worlds", float)
    add_seed(parser)
    argument(parser, "--json", "print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print the advice for a decision in FILE, or else for `--hand`; return 0."""
    check_agents([arguments.agent])
    for_records = [name for name in ("game", "ply") if getattr(arguments, name) is not None]
    if arguments.file is None and for_records:
        raise OptionError(f"--{for_records[0]}: expected only with FILE")
    if arguments.file is None and arguments.hand is None:
        raise OptionError('expected --hand "JH JD AH KH QS 9C" or FILE')
    announce_compiling([arguments.agent, "inference"])
    return _of_hand(arguments) if arguments.file is None else _of_record(arguments)


def _of_hand(arguments: argparse.Namespace) -> int:
    """Print the advice for `--hand` and the other options of its position; return 0."""
    from bideuchre_env.agents.advice.position import known_position

    game, options = game_of(arguments), arguments
    row = known_position(
        game.rules,
        _words(options.hand),
        seat=0 if options.seat is None else options.seat,
        calls=_calls(options.calls or ""),
        dealer=options.dealer,
        strain=options.strain,
        given=_words(options.given or ""),
        passed=_words(options.passed or ""),
        played=_words(options.played or ""),
        score=_score(options.score),
        deal=1 if options.deal is None else options.deal,
    )
    cards, dealer = " ".join(_words(options.hand)), int(row["dealer"][0])
    advice = _advice(arguments, row, game.rules)
    if arguments.json:
        print(json.dumps({"variant": game.name, "dealer": dealer, **advice.to_dict()}))
        return 0
    print(folded(f"{cards} in {game.name}, dealer: seat {dealer}"))
    print(f"\n{advice.text(width())}")
    return 0


def _of_record(arguments: argparse.Namespace) -> int:
    """Print the advice for a decision in a recorded game, and judge the recorded action; return 0.

    Raises `OptionError` for options of `--hand` and of the rules, which the record has.
    """
    for name in (*_POSITION, "rules"):
        if getattr(arguments, name) is not None:
            raise OptionError(f"--{name}: not with FILE, whose record has the position")
    if arguments.option:
        raise OptionError("--option: not with FILE, whose record has the rules")
    from bideuchre_env.agents.advice.advice import amount
    from bideuchre_env.rules import actions

    game, hand = _number("--game", arguments.game or 1), _number("--hand", arguments.hand or "1")
    row, record, done = _position(arguments.file, game, hand, arguments.ply)
    rules, expected = record.rules, arguments.variant
    if expected not in (record.variant, None):
        raise OptionError(f"--variant {expected}: expected {record.variant}, as recorded")
    advice = _advice(arguments, row, rules, done)
    chosen, name = advice.option(done), actions.of(rules).names[done]
    if arguments.json:
        place = {"game": game, "hand": hand, "ply": arguments.ply}
        print(json.dumps({**place, **advice.to_dict(), "done": chosen.to_dict()}))
        return 0
    if chosen is advice.best:
        verdict = "was chosen"
    elif chosen in advice.close:
        verdict = "was chosen: too close to call"
    else:
        verdict = f"was chosen: {amount(chosen, advice.goal)} behind"
    print(f"Game {game}, hand {hand}, action {arguments.ply}\n")
    print(f"{advice.text(width(), (done,))}\n\n{name} {verdict}.")
    return 0


def _advice(
    arguments: argparse.Namespace, row: Array, rules: Rules, done: int | None = None
) -> Advice:
    from bideuchre_env.agents.advice import advise_row

    began, milliseconds = time.perf_counter(), arguments.milliseconds
    with Bars("advice", "deals") as bars:

        def how_far(what: str, so_far: int, total: int) -> None:
            if milliseconds is None:
                bars.show(f"deals {what}", so_far, total, so_far)
            else:
                spent = min(1000 * (time.perf_counter() - began), milliseconds)
                bars.show("milliseconds", round(spent), round(milliseconds), so_far)

        return advise_row(
            row,
            rules,
            arguments.agent,
            worlds=arguments.worlds,
            milliseconds=milliseconds,
            seed=arguments.seed,
            also=() if done is None else (done,),
            how_far=how_far,
        )


def _position(path: str, game: int, hand: int, ply: int | None) -> tuple[Array, GameRecord, int]:
    """Return the state row before an action of a recorded game, the record, and the action.

    `game`, `hand` and `ply` count from 1. Raises `OptionError` for a bad record or a number missing
    in the file; for `hand` and `ply` (also None), the message has the valid numbers.
    """
    from bideuchre_env.core.one_row import replay_row
    from bideuchre_env.core.state import rows_of
    from bideuchre_env.core.tables import compile_tables
    from bideuchre_env.records.files import scan

    name = "<stdin>" if path == "-" else printable(path)
    line = next((line for line in scan(path, {game}) if line.number == game), None)
    if line is None:
        raise OptionError(f"{name} has no game {game}")
    if line.record is None:
        raise OptionError(f"{name}:{game}: {line.error}")
    if hand > len(line.hands):
        raise OptionError(f"--hand {hand}: expected 1 to {len(line.hands)} in game {game}")
    played = line.hands[hand - 1]
    last = len(played.actions)
    if ply is None or not 1 <= ply <= last:
        number = "" if ply is None else f" {ply}"
        raise OptionError(f"--ply{number}: expected 1 to {last}, an action of hand {hand}")
    row = rows_of([played.dealt])
    replay_row(row, compile_tables(line.record.rules), played.actions[: ply - 1])
    return row, line.record, int(played.actions[ply - 1])


def _number(option: str, value: int | str) -> int:
    """Parse a number from 1; `OptionError` for other text. `--hand` is text, as it can be cards."""
    text = str(value)
    if not re.fullmatch(r"\d{1,9}", text) or int(text) < 1:
        raise OptionError(f"{option} {brief(value)}: expected a number from 1, with FILE")
    return int(text)


def _words(text: str) -> list[str]:
    """Split names at blanks and commas."""
    return [word for word in re.split(r"[\s,]+", text) if word]


def _calls(text: str) -> list[str]:
    """Split calls at commas; a blank text has none."""
    return [call.strip() for call in text.split(",")] if text.strip() else []


def _score(text: str | None) -> tuple[int, int]:
    """Parse our points and theirs: "28-30", "-3 12"; 0-0 for None, else `OptionError`."""
    match = _SCORE.fullmatch(text or "0-0")
    if match is None:
        raise OptionError(f"--score {brief(text)}: expected our points and theirs, as 28-30")
    return int(match[1]), int(match[2])
