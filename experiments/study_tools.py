"""Functions shared by the studies: agents of a game, playing hands, cached results, intervals."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import bideuchre_env
from bideuchre_env import match, records_io
from bideuchre_env._files import write_file
from bideuchre_env.agents import CompleteAgent
from bideuchre_env.agents.inputs import inputs
from bideuchre_env.agents.learned.shipped import shipped_weights
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.rows import apply_rows, deal_rows, encode_rows, seed_rows, start_rows
from bideuchre_env.core.state import Phase, new_states
from bideuchre_env.core.table.answers import require_legal
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.lockstep import choices_of
from bideuchre_env.evaluation.results import Result
from bideuchre_env.evaluation.statistics.intervals import mean_per_hand
from bideuchre_env.evaluation.statistics.scores import interval_dict
from bideuchre_env.evaluation.tournament_files import first_changed, origin_of
from bideuchre_env.rules import actions
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

LEARNED = ("net", "ppo")  # agents that need weights for the game
DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError)
"""Exceptions raised while reading a damaged or unrelated file."""

Item = TypeVar("Item")


def games_of(
    variants: Iterable[str], agents: Iterable[str]
) -> list[tuple[bideuchre_env.Variant, list[str]]]:
    """Return each game with the agents that can play it; omitted agents are printed on stderr.

    `OptionError` for an unknown variant or agent, or for two games with the same name.
    """
    games = [bideuchre_env.make(variant) for variant in variants]
    if len({game.name for game in games}) < len(games):
        raise OptionError(f"--variants {' '.join(variants)}: each needs a name of its own")
    result = [(game, with_weights(agents, game)) for game in games]
    for game, names in result:
        for name in names:
            bideuchre_env.agents.make(name, game.rules, seed=0)
    return result


def with_weights(agents: Iterable[str], game: bideuchre_env.Variant) -> list[str]:
    """Return the agents, each once; report those without weights on stderr and omit them."""
    result = []
    for agent in dict.fromkeys(agents):
        name, options = bideuchre_env.agents.parse(agent)
        try:
            if name in LEARNED and "weights" not in options:
                shipped_weights(name, game.rules)
            result.append(agent)
        except OptionError:
            message = f"{game.name}: {agent} is left out: no weights for this game"
            print(message, file=sys.stderr)
    return result


def tracked(title: str, items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items with a progress bar."""
    with progress_bar(title, "done", "done") as progress:
        for n, item in enumerate(items, 1):
            yield item
            progress(n, len(items), n)


def deal_hands(rules: Rules, numbers: range, stream: int) -> Array:
    """Return new states with hands dealt, one for each number; seat number % 4 deals.

    `stream` is the seed of hand 0; hand i has the seed `stream` + i.
    """
    states, tables = new_states(len(numbers)), compile_tables(rules)
    seed_rows(states, *split_seed(stream + numbers.start))
    start_rows(states, tables, np.array(numbers) & 3)
    deal_rows(states, tables)
    return states


def play_watched(
    states: Array,
    rules: Rules,
    agents: Sequence[CompleteAgent],
    which: Callable[[Array], Array],
    watch: Callable[[Array, Array, Array], None],
) -> None:
    """Play hands to their end in lock step; their states change in place.

    `which` maps the states in play, (m,), to the index of the agent that decides, (m,). Before
    each step `watch` is called with the indices of the hands in play, int64 (m,), their
    observations, int8 (m, D), and their masks, int8 (m, A).
    """
    tables, layout, n_actions = compile_tables(rules), layout_of(rules), actions.of(rules).n
    while len(slots := np.flatnonzero(states["phase"] < Phase.DEAL)):
        observations = np.zeros((len(slots), layout.size), np.int8)
        masks = np.zeros((len(slots), n_actions), np.int8)
        encode_rows(states, tables, layout.offsets, slots, observations, masks)
        watch(slots, observations, masks)
        choices, who = np.zeros(len(slots), np.int64), which(states[slots])
        for number, agent in enumerate(agents):
            if (own := who == number).any():
                choices[own] = choices_of(agent, observations[own], masks[own])
        require_legal(rules, states, tables, slots, choices, lambda j, row: f"hand {row}")
        apply_rows(states, tables, slots, choices)


def play_match(game: Any, a: Any, b: Any, args: Any) -> Result:
    """Play `args.boards` duplicate boards with `args.seed`, and return the result of agent `a`.

    Raise `KeyboardInterrupt` if the match is interrupted.
    """
    result = match(game, a, b, boards=args.boards, seed=args.seed)
    if result.interrupted:
        raise KeyboardInterrupt
    return result


def cached(
    folder: Path,
    words: Iterable[str],
    about: Any,
    agents: Sequence[str],
    compute: Callable[[], Any],
    is_valid: Callable[[Any], bool],
) -> Any:
    """Return the result in the JSON file named after `words`, or compute and save it.

    `about` is JSON that identifies the result, beside the versions, data and inputs of `agents`;
    `compute` returns JSON. The date of a saved result is printed on stderr. Raises `OptionError` if
    the file is damaged or of another run, or if `is_valid` returns False or fails for its result.
    """
    path = folder / f"{records_io.file_stem(*words)}.json"
    now = origin_of(inputs(agents))
    about = json.loads(json.dumps(about))
    if path.exists():
        with suppress(*DAMAGED):
            content = json.loads(path.read_text(encoding="utf-8"))
            if (
                content["about"] == about
                and content["software"] == now["software"]
                and first_changed(content["files"], now["files"]) is None
                and is_valid(content["result"])
            ):
                print(f"{path}: result of {content['date']}", file=sys.stderr)
                return content["result"]
        raise OptionError(
            f"{path} is no result of this run: another --out (results of other versions, data or "
            "files of agents are not read)"
        )
    result = compute()
    now["files"] = inputs(agents) | now["files"]  # with modules that were imported meanwhile
    content = {"about": about, **now, "date": str(date.today()), "result": result}
    write_json(path, content, indent=None)
    return result


def write_json(path: Path | None, content: Any, indent: int | None = 1) -> None:
    """Write `content` to `path` as JSON; do nothing if `path` is None."""
    if path is not None:
        write_file(path, json.dumps(content, indent=indent) + "\n")


def mean(values: Array, hands: float = 1.0, margin: float = 0.0) -> dict[str, float | None]:
    """Return a dict of the mean per hand and its 95 % interval; all are None without values.

    Each of the `values` (n,) covers `hands` hands; `margin` is the `tie_margin` of the interval.
    """
    return interval_dict(mean_per_hand(values, hands, margin))


def plus_minus(interval: dict[str, float | None] | None, sign: str = "") -> str:
    """Format a mean and half its interval with three decimals; `sign` is "+" for a difference.

    Without an interval only the mean is printed; without a mean the text is empty.
    """
    if interval is None or interval["mean"] is None:
        return ""
    if interval["low"] is None or interval["high"] is None:
        return f"{interval['mean']:{sign}.3f}"
    return f"{interval['mean']:{sign}.3f} ± {(interval['high'] - interval['low']) / 2:.3f}"
