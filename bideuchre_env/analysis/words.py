"""Numbers, seats, contracts and par in words."""

from __future__ import annotations

from typing import Any

from bideuchre_env.agents.advice.holding import number_word
from bideuchre_env.core.state import Phase
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.records.words import SIDES, STRAIN_WORDS
from bideuchre_env.rules.cards import STRAINS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.solver.par import Par


def tricks(number: int) -> str:
    """A number of tricks: "one trick", "no tricks"."""
    return f"{number_word(number)} trick{'s' * (number != 1)}"


def counted(number: int, noun: str) -> str:
    """A number of things: "1 point", "12 points"."""
    return f"{number or 'no'} {noun}{'s' * (number != 1)}"


def named(seat: int, name: str | None) -> str:
    """A seat with its player, where there is one."""
    return f"seat {seat} ({name})" if name else f"seat {seat}"


def did(phase: Phase, action: str) -> str:
    """What a player did, as a verb: "passed", "bid 4 H", "named hearts trump", "played JH"."""
    if phase == Phase.AUCTION:
        return "passed" if action == "pass" else action
    if phase == Phase.NAMING:
        strain = STRAIN_WORDS[STRAINS.index(action.split()[1])]
        return f"named {strain}" + " trump" * (strain != "no trump")
    verb = {Phase.GIVING: "gave up", Phase.PASSING: "passed on", Phase.PLAY: "played"}[phase]
    return f"{verb} {action}"


def what(phase: Phase, action: str) -> str:
    """An action as a thing: "a pass", "bid 4 H", "hearts", "JH"."""
    if phase == Phase.AUCTION:
        return "a pass" if action == "pass" else action
    if phase == Phase.NAMING:
        return STRAIN_WORDS[STRAINS.index(action.split()[1])]
    return action


def par_text(par: Par) -> str:
    """What a deal is worth: "4 H by seat 1 with five tricks, 4 points to seats 1 and 3"."""
    if par.contract is None:
        return "all pass"
    words = f"{par.contract} by seat {par.declarer} with {tricks(par.tricks or 0)}"
    if not par.points:
        return f"{words}, no points to either side"
    return f"{words}, {counted(abs(par.points), 'point')} to {SIDES[par.points < 0]}"


def result_text(played: dict[str, Any], rules: Rules, agents: list[str] | None) -> str:
    """What a hand of a record came to: "4 H by seat 1 (rule), made with five tricks ...".

    `played` is the notation's object.
    """
    if played["declarer"] is None:
        return "passed out." if len(played["actions"]) >= 4 else "not bid to the end."
    seat, score = played["declarer"], "{} to {}".format(*played["score"])
    contract = f"{played['contract']} by {named(seat, agents[seat] if agents else None)}"
    won = played["tricks"][seat & 1]
    if sum(played["tricks"]) < rules.tricks:
        return f"{contract}, not played to the end."
    names = [bid.name for bid in rules.ladder]
    level = max(
        (at for at, name in enumerate(names) if f"{played['contract']} ".startswith(f"{name} ")),
        key=lambda at: len(names[at]),
    )
    need = int(compile_tables(rules)["need"][0][level])
    outcome = "made" if won >= need else "set"
    points = "points {:+d} to {:+d}".format(*played["points"])
    return f"{contract}, {outcome} with {tricks(won)}; {points}, score {score}."
