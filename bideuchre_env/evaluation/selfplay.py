"""Two agents against each other on duplicate deals: `play(variant, a, b, boards=..., seed=...)`.

Every board is played twice with the same cards and the sides swapped, so that the luck of the deal
cancels. A board is a single hand (`boards=N`, with the deal passing around the seats) or a whole
game (`games=N`: N games in pairs with the same deals; an odd N is rounded up).
"""

from __future__ import annotations

from contextlib import closing, nullcontext
from typing import Any

from bideuchre_env._checks import brief, check_callback, check_flag, is_whole
from bideuchre_env._files import PathLike
from bideuchre_env._quitting import before_quitting
from bideuchre_env.agents import AgentSource
from bideuchre_env.envs.registration import Variant, make
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.lockstep import LockstepRunner, Progress
from bideuchre_env.evaluation.recorder import Recorder
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.seeding import check_seed, first_seed, options_of, seat_agent
from bideuchre_env.evaluation.statistics.scores import Scores
from bideuchre_env.records.files import RecordWriter
from bideuchre_env.rules.rules import Rules

MOST_AT_ONCE = 1024


def play(
    variant: str | Variant | Rules,
    a: AgentSource,
    b: AgentSource,
    *,
    boards: int | None = None,
    games: int | None = None,
    seed: int = 0,
    out: PathLike | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    at_once: int | None = None,
) -> Result:
    """Play partnerships of `a` against partnerships of `b` on duplicate deals.

    Ctrl-C ends the run with the finished boards (see `Result`); a second one raises at once.

    Args:
        variant: the game.
        a, b: agents, by name ("pimc:worlds=20", "./mine.py:Net"), as a class or function that makes
            one, or as a function that acts (see `agents.agent_of`). Of an agent made here, the seed
            derives from `seed`, and the goal is points on boards, else the game. An agent object
            plays as it is.
        boards: the number of boards of one hand each; or
        games: the number of whole games; they are played in pairs, so it is rounded up to even.
        seed: board i is dealt by an environment with seed `seed * 10**9 + i`, the record's seed.
            The deals do not depend on the agents.
        out: a new file for the game records, reserved before agents are made: the two tables of
            each board in order, written as boards finish. A full disk ends the records, not the
            games; `Result.unwritten` is then the reason.
        overwrite: whether `out` may replace an existing file.
        at_once: boards played at a time; by default an eighth of them, from 32 to 1,024. It does
            not change the results of deterministic agents.
        progress: `progress(done, total, decisions)`, in boards or games, is called before the first
            lock step, which compiles kernels, and after each later step.

    Raises:
        OptionError: for invalid arguments.
        IllegalActionError: for an illegal action of an agent.
        AgentError: for any other error of an agent.
    """
    game = variant if isinstance(variant, Variant) else make(variant)
    mode, total = _length(boards, games)
    check_flag("overwrite", overwrite)
    check_callback("progress", progress)
    single = mode == "boards"
    check_seed(seed, total)
    if at_once is None:
        at_once = max(32, min(total // 8, MOST_AT_ONCE))
    if not is_whole(at_once) or at_once < 1:
        raise OptionError(f"at_once={brief(at_once)}: expected a whole number of boards, 1 or more")
    at_once, first, unwritten = min(at_once, total), first_seed(seed), None
    with nullcontext() if out is None else RecordWriter(out, overwrite=overwrite) as writer:
        first_agent = seat_agent(a, game.rules, seed, 0, single)
        second_agent = seat_agent(b, game.rules, seed, 1, single)
        sides, names = (first_agent, second_agent), (first_agent.name, second_agent.name)
        runner = LockstepRunner(game.rules, sides, range(total), first, single, at_once)
        if writer is None:
            interrupted = runner.run(_per_game(progress, mode))
        else:
            n_slots = len(runner.states)
            recorder = Recorder(writer, game.rules, game.name, names, first, n_slots)
            with before_quitting(recorder.close), closing(recorder):
                interrupted = runner.run(_per_game(progress, mode), recorder)
            out, unwritten = out if writer.lines else None, recorder.error
    scores = Scores.of_totals(runner.totals)
    return Result(
        variant=game.name,
        options=options_of(game),
        agents=names,
        seed=seed,
        mode=mode,
        boards=scores if single else Scores(),
        games=Scores() if single else scores,
        decisions=(runner.decisions[0], runner.decisions[1]),
        think_seconds=(runner.think_seconds[0], runner.think_seconds[1]),
        decisions_per_second=runner.rate,
        seconds=runner.seconds,
        at_once=at_once,
        interrupted=interrupted,
        records=None if out is None else str(out),
        unwritten=unwritten,
        games_asked=games or 0,
    )


def _length(boards: Any, games: Any) -> tuple[str, int]:
    if (boards is None) == (games is None):
        raise OptionError("expected either boards=N (boards of one hand) or games=N (whole games)")
    mode, number = ("boards", boards) if games is None else ("games", games)
    if not is_whole(number) or number < 1:
        raise OptionError(f"{mode}={brief(number)}: expected a whole number, 1 or more")
    return mode, int(number) if mode == "boards" else (int(number) + 1) // 2


def _per_game(progress: Progress | None, mode: str) -> Progress | None:
    if progress is None or mode == "boards":
        return progress
    return lambda done, total, decisions: progress(2 * done, 2 * total, decisions)
