"""Export of game records to a dataset: all decisions of finished episodes, as observed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bideuchre_env._checks import check_callback, check_flag, check_path, printable, to_list
from bideuchre_env._files import PathLike
from bideuchre_env.core.episode import GOES_ON, TERMINATED, TRUNCATED_THERE
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.one_row import ending_row, reward_row
from bideuchre_env.core.rows import apply_rows, encode_rows, observe_rows
from bideuchre_env.core.state import DEAL, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.datasets.columns import About, DatasetKeywords, DatasetOptions, Steps, new_steps
from bideuchre_env.datasets.writer import DatasetWriter, kind_of
from bideuchre_env.envs.forms import Form
from bideuchre_env.errors import OptionError, RecordError
from bideuchre_env.records.files import STDIN, read_played
from bideuchre_env.records.record import GameRecord, PlayedHand
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array

if TYPE_CHECKING:
    from typing_extensions import Unpack

DECISIONS_AT_ONCE = 1 << 16

Game = tuple[GameRecord, Sequence[PlayedHand]]
Progress = Callable[[int, int], None]


class Exported(NamedTuple):
    """Summary of a dataset of game records."""

    decisions: int  #: decisions of the dataset
    episodes: int  #: episodes of the dataset; in Minari one for each seat that has decisions
    games: int  #: games of the records
    unfinished: int  #: decisions left out because their episode does not end in its record


def export(
    records: PathLike | Iterable[PathLike],
    out: PathLike,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Unpack[DatasetKeywords],
) -> Exported:
    """Write the decisions of files of game records (`-` is standard input) to a dataset.

    Every record is verified by a replay. Episodes that do not end in their record are left out.
    After an error there is no new dataset, and an old one stays.

    Args:
        records: a path, or several.
        out: a path that ends in .npz or .parquet, or `minari:ID`.
        overwrite: whether to replace an existing dataset.
        progress: `progress(games, decisions)` is called after each block of games, with the numbers
            written so far.
        options: the keywords of `DatasetOptions`.

    Raises:
        OptionError: for invalid arguments, a dataset that exists unless `overwrite`, records
            without a finished episode, and a file that cannot be read.
        RecordError: for a record that does not replay, or of another game than the first.
        OutputError: for example, if the disk is full.
    """
    check_flag("overwrite", overwrite)
    check_callback("progress", progress)
    chosen = DatasetOptions.chosen(options, "export")
    kind_of(out)
    paths = _paths(records)
    games = _of_one_game(paths)
    first, hands = next(games, (None, ()))
    if first is None:
        raise OptionError(f"no game record in {', '.join(map(_file_name, paths))}")
    source = list(map(os.path.basename, paths))  # no folders: datasets are shared
    about = About(first.variant, first.rules, chosen, first.agents, source)
    writer = DatasetWriter(out, about, overwrite=overwrite)
    try:
        total, unfinished = _write_episodes(chain([(first, hands)], games), about, writer, progress)
        writer.close()
    finally:
        writer.discard()
    return Exported(writer.decisions, writer.stored, total, unfinished)


def _write_episodes(
    games: Iterable[Game], about: About, writer: DatasetWriter, progress: Progress | None
) -> tuple[int, int]:
    """Write the finished episodes; return the number of games, and of the decisions left out.

    Decisions are left out if their episode does not end in its record. Raises `OptionError` if no
    episode ends.
    """
    total, unfinished = 0, 0
    for block in _blocks(games):
        steps, finals, left_out = _replay_games(block, about, writer)
        writer.add(steps, finals)
        total, unfinished = total + len(block), unfinished + left_out
        if progress is not None:
            progress(total, writer.decisions)
    if not writer.episodes:
        hint = ": episode='hand' (--episode hand) exports their hands"
        raise OptionError(
            f"expected a finished game: all {total:,} are unfinished"
            + (hint if about.options.episode == "game" else "")
        )
    return total, unfinished


def _paths(records: Any) -> list[str]:
    """Return the paths in the argument `records` of `export`; `OptionError` for invalid ones."""
    one = isinstance(records, (str, bytes, os.PathLike)) or not isinstance(records, Iterable)
    each = [records] if one else to_list("records", records, "paths of files")
    paths = [check_path("path", path) for path in each]
    if not paths:
        raise OptionError("expected one or more files of game records")
    return paths


def _of_one_game(paths: Sequence[str]) -> Iterator[Game]:
    """Yield the games of all files; `RecordError` at a game with other rules than the first."""
    first = None
    for path in paths:
        for number, (record, hands) in enumerate(read_played(path), start=1):
            game = record.variant, record.options
            if first is None:
                first, rules = game, record.rules
            if game != first and (record.variant != first[0] or record.rules != rules):
                other = "with other options " if record.variant == first[0] else ""
                raise RecordError(
                    f"{_file_name(path)}, game {number}: {record.variant} {other}among games of "
                    f"{first[0]}: expected one variant with one set of rules"
                )
            yield record, hands


def _blocks(games: Iterable[Game]) -> Iterator[list[Game]]:
    """Yield the games in lists of at least `DECISIONS_AT_ONCE` decisions, except the last."""
    block, decisions = [], 0
    for game in games:
        block.append(game)
        decisions += sum(len(hand.actions) for hand in game[1])
        if decisions >= DECISIONS_AT_ONCE:
            yield block
            block, decisions = [], 0
    if block:
        yield block


def _replay_games(
    games: Sequence[Game], about: About, writer: DatasetWriter
) -> tuple[Steps, Array, int]:
    """Return the steps of finished episodes, their final observations, and a number.

    The final observations are (episodes, 4, D), by seat. The number is that of the decisions left
    out, because their episode does not end in its record. `writer` numbers the players.
    """
    counts = [len(played) for _, played in games]
    hands = [hand for _, played in games for hand in played]
    lengths = np.array([len(hand.actions) for hand in hands], np.int64)
    steps, states = _play_again(hands, lengths, about)
    over = _pay(steps, states, np.cumsum(lengths) - 1, about.options)
    of_game = [writer.players(record.agents) for record, _ in games]
    by_decision = np.repeat(np.repeat(of_game, counts, axis=0), lengths, axis=0)
    steps.players[:] = by_decision[np.arange(len(steps.seats)), steps.seats]
    whole = over
    if about.options.episode == "game":  # a game is over if its last hand ends it
        whole = over[np.repeat(np.cumsum(counts) - 1, counts)]
    chosen = np.repeat(whole, lengths)
    finals = _final_observations(states[over], about)
    steps = Steps(*(part[chosen] for part in steps))
    form = Form(about.rules, about.options.observation, steps.observations, steps.masks).update()
    played = form.callers_actions(steps.actions)
    steps = steps._replace(observations=form.seen, masks=form.masks, actions=played)
    ends = finals.reshape(-1, finals.shape[-1])
    nothing = np.zeros((len(ends), steps.masks.shape[1]), np.int8)
    ends = Form(about.rules, about.options.observation, ends, nothing).update().seen
    return steps, ends.reshape(*finals.shape[:2], ends.shape[-1]), int((~chosen).sum())


def _play_again(hands: Sequence[PlayedHand], lengths: Array, about: About) -> tuple[Steps, Array]:
    """Replay hands; return their steps, one hand after another, and their final state rows.

    `lengths`, int64 (hands,), are the numbers of actions. The steps' players, rewards and ends are
    not filled in.
    """
    tables, layout = compile_tables(about.rules), layout_of(about.rules)
    total, states = int(lengths.sum()), rows_of([hand.dealt for hand in hands])
    steps = new_steps((total,), about.rules)
    np.concatenate([np.zeros(0, np.int64), *(hand.actions for hand in hands)], out=steps.actions)
    seen = np.empty((len(hands), layout.size), np.int8)
    legal = np.empty((len(hands), steps.masks.shape[1]), np.int8)
    first = np.cumsum(lengths) - lengths
    for k in range(max(lengths, default=0)):
        index = np.flatnonzero(lengths > k)
        encode_rows(states, tables, layout.offsets, index, seen, legal)
        at = first[index] + k
        steps.observations[at], steps.masks[at] = seen[: len(at)], legal[: len(at)]
        steps.seats[at] = states["turn"][index]
        apply_rows(states, tables, index, steps.actions[at])
    return steps, states


def _pay(steps: Steps, states: Array, last: Array, options: DatasetOptions) -> Array:
    """Write rewards and ends to the last decision of each finished hand.

    `states` are the final rows of the hands, `last` the indices of their last decisions in `steps`.
    Returns, for each hand, whether an episode ends with it, bool (hands,).
    """
    by_hand, by_points = options.episode == "hand", options.reward == "points"
    over = np.zeros(len(states), np.bool_)  # a hand without actions has no last decision
    for i in np.flatnonzero(states["phase"] >= DEAL).tolist():
        row, at = states[i : i + 1], last[i]
        reward, end = reward_row(row, by_points), ending_row(row, by_hand)
        steps.rewards[at] = (reward, -reward, reward, -reward)
        steps.terminated[at], steps.truncated[at] = end == TERMINATED, end == TRUNCATED_THERE
        over[i] = end != GOES_ON
    return over


def _final_observations(states: Array, about: About) -> Array:
    """Return the observations of all four seats in n state rows, int8 (n, 4, D)."""
    tables, layout = compile_tables(about.rules), layout_of(about.rules)
    seen = np.empty((N_SEATS, len(states), layout.size), np.int8)
    for seat in range(N_SEATS):
        seats = np.full(len(states), seat)
        observe_rows(states, tables, layout.offsets, seats, seen[seat], 0, len(states))
    return seen.swapaxes(0, 1)


def _file_name(name: str) -> str:
    """Return a path as error messages show it; "<stdin>" for standard input."""
    return "<stdin>" if name == STDIN else printable(name)
