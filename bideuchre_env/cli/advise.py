"""Recommend a call, strain, exchange or card, with a reason: `bideuchre advise`.

Print the best three actions of a position: the chance to win the game, the expected points of the
hand (ours minus theirs), the chance that our contract is made or theirs is set, and a reason. An
agent that plays for points orders them by points. The position is a hand as its seat knows it, or a
decision in a file of game records as the seat to act knew it. The figures come from sampled deals
of the hidden cards, each played out; ± is their 95 % margin of error. Without --ply the position is
that after the last action of a hand in progress. In PTN text (.ptn, .pbn) game N is event N.

    bideuchre advise --hand "JH JD AH KH QS 9C" --seat 3 --calls "pass, 4, pass"
    bideuchre advise --hand "JH JD AH KH QS 9C" --calls "pass,pass,pass,4"
    bideuchre advise games.jsonl --game 2 --hand 3 --ply 7 --agent expert
    bideuchre advise hands.ptn
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import brief, printable
from bideuchre_env.cli.options import (
    add_rules,
    add_seed,
    argument,
    check_agents,
    game_of,
    new_command,
    text_game,
)
from bideuchre_env.cli.progress import Bars, announce_compiling, compiling_bar
from bideuchre_env.cli.screen import AGENTS, VARIANTS, folded, width
from bideuchre_env.errors import BidEuchreError, OptionError

if TYPE_CHECKING:
    from bideuchre_env.agents.advice import Advice
    from bideuchre_env.records.record import PlayedHand
    from bideuchre_env.rules.rules import Rules
    from bideuchre_env.runtime.jit import Array

_CARDS = ("given", "passed", "played", "kitty", "laid_away")
_POSITION = ("seat", "dealer", "calls", "strain", *_CARDS, "score", "deal")
_MADE = (
    "The chances are those in deals that fit the calls so far, played out by strong agents. Those "
    "of `bideuchre hand` are for all deals, played by agent rule."
)
_SCORE = re.compile(r"\s*(-?\d{1,15})\s*[-:, ]\s*(-?\d{1,15})\s*")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = new_command(commands, "advise", run, __doc__, VARIANTS, AGENTS)
    argument(parser, "file FILE", "game records or PTN text; - is standard input", nargs="?")
    meaning = 'cards held now, as "JH JD AH KH QS 9C"; with FILE, hand N of the game, from 1'
    argument(parser, "--hand CARDS|N", meaning)
    argument(parser, "--game N", "with FILE: game N, from 1 (default: 1)", int)
    argument(parser, "--ply N", "with FILE: the decision of action N of the hand, from 1", int)
    argument(parser, "--seat S", "seat of the hand, 0 to 3 (default: 0)", int)
    argument(
        parser, "--dealer S", "seat of the dealer, 0 to 3 (default: inferred from the calls)", int
    )
    argument(parser, "--calls CALLS", 'all calls so far, in order, as "pass, 4 H, moon S"')
    argument(parser, "--strain X", "strain named after the auction: C, D, H, S or NT")
    argument(parser, "--given CARDS", "cards that you gave up as declarer, or took up as partner")
    argument(parser, "--passed CARDS", "cards passed to the declarer, if you know them")
    argument(parser, "--played CARDS", "all cards played so far, in order, yours included")
    argument(parser, "--kitty CARDS", "cards that you took up from the kitty as declarer")
    argument(parser, "--laid-away CARDS", "cards that you have laid away so far")
    meaning = "points of both sides before the hand, as 28-30 (default: 0-0)"
    argument(parser, "--score OURS-THEIRS", meaning)
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
    from bideuchre_env.evaluation.kernel_parts import advice_parts

    announce_compiling(advice_parts([arguments.agent]))
    return _of_hand(arguments) if arguments.file is None else _of_file(arguments)


def _of_hand(arguments: argparse.Namespace) -> int:
    """Print the advice for `--hand` and the other options of its position; return 0."""
    from bideuchre_env.agents.advice.position import known_position

    game, options = game_of(arguments), arguments
    score = _score(options.score)
    try:
        row = known_position(
            game.rules,
            _words(options.hand),
            seat=0 if options.seat is None else options.seat,
            calls=_calls(options.calls or ""),
            dealer=options.dealer,
            strain=options.strain,
            **{name: _words(getattr(options, name) or "") for name in _CARDS},
            score=score,
            deal=1 if options.deal is None else options.deal,
        )
    except BidEuchreError as error:  # it begins with the name of a parameter
        named = rf"^({'|'.join(('hand', *_POSITION))})(=None)?(?=[: ])"
        text = re.sub(named, lambda each: f"--{each[1].replace('_', '-')}", str(error))
        raise OptionError(text) from None
    cards, dealer = " ".join(_words(options.hand)), int(row["dealer"][0])
    advice = _advice(arguments, row, game.rules)
    if arguments.json:
        print(json.dumps({"variant": game.name, "dealer": dealer, **advice.to_dict()}))
        return 0
    print(folded(f"{cards} in {game.name}, dealer: seat {dealer}"))
    print(f"\n{_text(advice)}")
    return 0


def _of_file(arguments: argparse.Namespace) -> int:
    """Print the advice for a decision in FILE, and judge the action in the file; return 0.

    Raises `OptionError` for options of `--hand`, and for those of the rules with a record.
    """
    for name in _POSITION:
        if getattr(arguments, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise OptionError(f"{option}: not with FILE, whose record has the position")
    from bideuchre_env.agents.advice.advice import amount
    from bideuchre_env.records.ptn import is_text
    from bideuchre_env.rules import actions

    game, hand = _number("--game", arguments.game or 1), _number("--hand", arguments.hand or "1")
    of_file = _of_text if is_text(arguments.file) else _of_record
    row, rules, done, earlier = of_file(arguments, game, hand)
    advice = _advice(arguments, row, rules, done, earlier)
    chosen = None if done is None else advice.option(done)
    if arguments.json:
        place = {"game": game, "hand": hand, "ply": arguments.ply}
        judged = {} if chosen is None else {"done": chosen.to_dict()}
        print(json.dumps({**place, **advice.to_dict(), **judged}))
        return 0
    if done is None or chosen is None:
        print(f"Game {game}, after the last action\n\n{_text(advice)}")
        return 0
    if chosen is advice.best:
        verdict = "was chosen"
    elif advice.few and chosen.dominated:  # no figures
        verdict = f"was chosen, but {advice.best.name} is certain to be as good"
    elif advice.few or chosen in advice.close:
        verdict = f"was chosen: {advice.tie}"
    else:
        verdict = f"was chosen: {amount(chosen, advice.goal)} behind"
    print(f"Game {game}, hand {hand}, action {arguments.ply}\n")
    print(f"{_text(advice, (done,))}\n\n{actions.of(rules).names[done]} {verdict}.")
    return 0


def _text(advice: Advice, also: tuple[int, ...] = ()) -> str:
    """Format advice; for calls and strains, add a sentence on the meaning of the chances."""
    text, bidding = advice.text(width(), also), advice.phase in ("call", "name the strain")
    return f"{text}\n\n{folded(_MADE)}" if bidding and not advice.few else text


def _of_record(
    arguments: argparse.Namespace, game: int, hand: int
) -> tuple[Array, Rules, int | None, Sequence[PlayedHand]]:
    """Return the state row before an action of a recorded game, the rules, and the action.

    Also return the earlier hands of the game. Without `--ply` the row is that of a hand in
    progress, and the action is None. `game` and `hand` count from 1. Raises `OptionError` for a bad
    record, another variant, or a number missing in the file; for the hand and `--ply`, the message
    has the valid numbers.
    """
    from bideuchre_env.core.one_row import replay_row
    from bideuchre_env.core.state import Phase, rows_of
    from bideuchre_env.core.tables import compile_tables
    from bideuchre_env.records.files import scan

    if arguments.rules is not None:
        raise OptionError("--rules: not with FILE, whose record has the position")
    if arguments.option:
        raise OptionError("--option: not with FILE, whose record has the rules")
    name = "<stdin>" if arguments.file == "-" else printable(arguments.file)
    line = next((each for each in scan(arguments.file, {game}) if each.number == game), None)
    if line is None:
        raise OptionError(f"{name} has no game {game}")
    if line.record is None:
        raise OptionError(f"{name}:{game}: {line.error}")
    record, ply = line.record, arguments.ply
    if arguments.variant not in (record.variant, None):
        raise OptionError(f"--variant {arguments.variant}: expected {record.variant}, as recorded")
    if hand > len(line.hands):
        raise OptionError(f"--hand {hand}: expected 1 to {len(line.hands)} in game {game}")
    played = line.hands[hand - 1]
    if ply is None and played.ended["phase"][0] <= Phase.PLAY:
        return played.ended, record.rules, None, line.hands[: hand - 1]
    if ply is None or not 1 <= ply <= len(played.actions):
        number = "" if ply is None else f" {ply}"
        last = f"{len(played.actions)}, an action of hand {hand}"
        raise OptionError(f"--ply{number}: expected 1 to {last}")
    row = rows_of([played.dealt])
    replay_row(row, compile_tables(record.rules), played.actions[: ply - 1])
    return row, record.rules, int(played.actions[ply - 1]), line.hands[: hand - 1]


def _of_text(
    arguments: argparse.Namespace, game: int, hand: int
) -> tuple[Array, Rules, int | None, Sequence[PlayedHand]]:
    """Return a row with what the seat to act knows, the rules, and its action in PTN text.

    Also return the earlier hands, which are none. Without `--ply` the position is that after the
    last action, and the action is None. Raises `OptionError` for a missing hand or action, and if
    the cards of the seat to act are not known.
    """
    from bideuchre_env.agents.advice.position import known_position
    from bideuchre_env.core.state import Phase
    from bideuchre_env.records.files import text_hands
    from bideuchre_env.records.ptn import SEATS
    from bideuchre_env.rules import actions

    chosen, name = text_game(arguments, arguments.file), printable(arguments.file)
    text = next((each for at, each in text_hands(arguments.file, chosen) if at == game), None)
    if text is None or hand > 1:
        raise OptionError(f"{name} has no game {game} with a hand {hand}: each event is a game")
    if isinstance(text, BidEuchreError):
        raise OptionError(f"{name}:{game}: {text}")
    ply, last = arguments.ply, len(text.steps)
    if ply is not None and not 1 <= ply <= last:
        raise OptionError(f"--ply {ply}: expected 1 to {last}, an action of the hand, or no --ply")
    if ply is None and text.row["phase"][0] > Phase.PLAY:
        raise OptionError(f"{name}:{game}: the hand is over: expected --ply 1 to {last}")
    before = text.steps if ply is None else text.steps[: ply - 1]
    seat = int(text.row["turn"][0]) if ply is None else text.steps[ply - 1].seat
    if not text.cards[seat]:
        plies = [str(at) for at, step in enumerate(text.steps, 1) if text.cards[step.seat]]
        some = f"; known for --ply {', '.join(plies)}" if plies else ""
        raise OptionError(
            f"{name}:{game}: the cards of {SEATS[seat]}, who is to act, are unknown{some}"
        )
    names: dict[Phase, list[str]] = {phase: [] for phase in Phase}
    held, seen = list(text.cards[seat]), text.rules.exchange_seen == "open"
    taken_up = (Phase.GIVING, Phase.PASSING) if seen else (Phase.PASSING,)
    for step in before:
        names[step.phase].append(step.action)
        if step.phase >= Phase.GIVING and step.seat == seat:
            held.remove(step.action)
        elif step.phase in taken_up and (step.seat + 2) % len(SEATS) == seat:
            held.append(step.action)
    declarer = int(text.row["declarer"][0])
    ours = seat % 2 == declarer % 2
    try:
        row = known_position(
            text.rules,
            held,
            seat=seat,
            calls=names[Phase.AUCTION],
            dealer=text.dealer,
            strain=names[Phase.NAMING][0].removeprefix("trump ") if names[Phase.NAMING] else None,
            given=names[Phase.GIVING] if seat == declarer or (seen and ours) else (),
            passed=names[Phase.PASSING] if ours else (),
            played=names[Phase.PLAY],
            score=text.start[:: -1 if seat % 2 else 1],
        )
    except BidEuchreError as error:
        raise OptionError(f"{name}:{game}: {error}") from None
    done = None if ply is None else actions.of(text.rules).index[text.steps[ply - 1].action]
    return row, text.rules, done, ()


def _advice(
    arguments: argparse.Namespace,
    row: Array,
    rules: Rules,
    done: int | None = None,
    earlier: Sequence[PlayedHand] = (),
) -> Advice:
    """Return the advice for a row; `earlier` hands of the game show how the players call."""
    from bideuchre_env.agents.advice import Advisor
    from bideuchre_env.core.state import rows_of
    from bideuchre_env.evaluation.kernel_parts import advice_parts

    agent, milliseconds = arguments.agent, arguments.milliseconds
    with compiling_bar(advice_parts([agent])):
        advisor = Advisor(rules, agent, arguments.worlds, milliseconds, arguments.seed)
        for hand in earlier:
            advisor.learn(rows_of([hand.dealt]), hand.actions)
    began = time.perf_counter()
    with Bars("advice", "deals") as bars:

        def how_far(what: str, so_far: int, total: int) -> None:
            if milliseconds is None:
                bars.show(f"deals {what}", so_far, total, so_far)
            else:
                spent = min(1000 * (time.perf_counter() - began), milliseconds)
                bars.show("milliseconds", round(spent), round(milliseconds), so_far)

        advisor.searcher.sampler.report = how_far
        return advisor.advice([advisor.try_position(row, () if done is None else (done,))])


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
    """Split calls at commas; a blank text has none, and "p" is a pass."""
    calls = [call.strip() for call in text.split(",")] if text.strip() else []
    return ["pass" if call.lower() == "p" else call for call in calls]


def _score(text: str | None) -> tuple[int, int]:
    """Parse our points and theirs: "28-30", "-3 12"; 0-0 for None, else `OptionError`."""
    match = _SCORE.fullmatch(text or "0-0")
    if match is None:
        raise OptionError(f"--score {brief(text)}: expected our points and theirs, as 28-30")
    return int(match[1]), int(match[2])
