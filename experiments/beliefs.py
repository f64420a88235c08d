"""Check the beliefs of searchers about the hidden cards after rare calls.

    python experiments/studies.py beliefs
    python experiments/studies.py beliefs --check calibration --variants barrie_v0

Positions come from hands of `expert` against `net`. `coverage` asks for advice on positions after
rare calls with many seeds. It counts how often the 95 % interval of the points of an action
contains a reference value, computed from at least a million uniform deals. `calibration` predicts
the chance that a contract is made when a defender first plays, and compares it with the share of
contracts that were made. The results of finished variants are cached in the folder `--out`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from study_tools import cached, deal_hands, play_watched, tracked, write_json

from bideuchre_env import agents
from bideuchre_env._columns import markdown_table
from bideuchre_env._intervals import wilson
from bideuchre_env.agents.advice.advising import Advisor
from bideuchre_env.agents.advice.outcomes import OUTCOMES, count_worlds
from bideuchre_env.agents.expert.win_table import win_table
from bideuchre_env.agents.search.agent import InferenceAgent
from bideuchre_env.agents.search.callers import call_chances
from bideuchre_env.agents.search.chains import weigh_draws
from bideuchre_env.agents.search.likelihood import UNLIKELY, seat_log
from bideuchre_env.agents.search.workspace import SearchWorkspace
from bideuchre_env.agents.search.worlds import draw_world
from bideuchre_env.cli.script_args import ScriptArgs, option
from bideuchre_env.core.state import AUCTION, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array, entry_kernel, new_rows

PLAYERS = ("expert", "net")
DRAWS = 1_000_000  # first number of uniform deals of a reference; fourfold until `ENOUGH`
MOST_DRAWS = 16_000_000
ENOUGH = 400  # effective sample size of a reference
PLAYED = 4000  # deals of a reference that are played out
LEAST_REFERENCE = 90  # least effective sample size of a reference for a comparison
MOST_TRUE = 10_000  # larger effective sample sizes are not printed as numbers
DEPTH = 14.0  # deals whose log-likelihood is further behind the best are dropped
PILOT = 400  # uniform deals for the estimate of the calls' chance
OF_ONE_KIND = 12  # positions of one bid, role and stage; the rarest is used
LEAST_RARE, MOST_RARE = 4e-5, 1e-2  # chance of the rarest seat's calls; rarer ones get no reference
MIDDLE = (1, 2, 3)  # tricks in mid-hand
BINS = (0.2, 0.4, 0.6, 0.8)

Row = dict[str, Any]


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of a check; every field is an option of the command line."""

    check: str = option("coverage", "coverage or calibration", metavar="CHECK")
    variants: tuple[str, ...] = option(
        ("barrie_v0", "simplified_v0", "club_v0", "cincinnati_v0"), "variants"
    )
    hands: int = option(6000, "hands from which positions are taken")
    positions: int = option(15, "maximum of positions per variant")
    seeds: int = option(20, "requests for advice per position, each with another seed")
    seed: int = option(0, "seed of the positions")
    out: Path = option(Path("runs/beliefs"), "folder with the rows of finished variants")
    json: Path | None = option(None, "JSON file for the rows")


@dataclass(frozen=True)
class Position:
    """A decision while the highest bid is another seat's, as the seat to act sees it."""

    bid: str  # name of the highest bid
    role: str  # of the seat to act: partner or opponent of the bidder
    stage: str  # see `stage_of`
    observation: Array
    mask: Array
    hand: int  # the number of its hand
    lone: bool


# --- positions ------------------------------------------------------------------------------------


def positions(rules: Rules, hands: int, seed: int) -> tuple[list[Position], Array]:
    """Play `hands` hands of `expert` (seats 0 and 2) against `net`.

    Return every decision while the highest bid is another seat's, and the final states, (hands,).
    A decision with a single legal action is included only in the auction.
    """
    one, other = (agents.make(name, rules, seed=seed) for name in PLAYERS)
    states, lone = deal_hands(rules, range(hands), seed), compile_tables(rules)[0]["alone"]
    result = []

    def record(live: Array, rows: Array, masks: Array) -> None:
        for hand, row, mask in zip(live, rows, masks, strict=True):
            state = states[hand]
            bidder, turn, phase = (int(state[name]) for name in ("declarer", "turn", "phase"))
            if bidder in (-1, turn) or (phase != AUCTION and mask.sum() < 2):
                continue
            stage = stage_of(phase, int(state["trick"]))
            role = "opponent" if (bidder ^ turn) & 1 else "partner"
            level = int(state["level"])
            bid = rules.ladder[level].name
            result.append(
                Position(bid, role, stage, row.copy(), mask.copy(), hand, bool(lone[level]))
            )

    play_watched(states, rules, (one, other), lambda rows: rows["turn"] & 1, watch=record)
    return result, states


def stage_of(phase: int, trick: int) -> str:
    """Return the stage of the hand: auction, exchange, lead, middle or end."""
    if phase < PLAY:
        return "auction" if phase == AUCTION else "exchange"
    return "lead" if trick == 0 else "middle" if trick in MIDDLE else "end"


def rare_positions(searcher: InferenceAgent, args: Args) -> list[tuple[float, Position]]:
    """Return up to `args.positions` pairs (chance, position), the rarest position first.

    The chance is the probability of a seat's calls over uniform deals, for the other seat whose
    calls are least likely. For each bid, role and stage except `end`, up to `OF_ONE_KIND` random
    positions are tried, and the rarest with a chance from `LEAST_RARE` to `MOST_RARE` is taken.
    """
    by_kind: dict[tuple[str, str, str], list[tuple[float, Position]]] = {}
    result, _ = positions(searcher.rules, args.hands, args.seed)
    order = np.random.default_rng(args.seed).permutation(len(result))
    for position in (result[i] for i in order):
        kind = (position.bid, position.role, position.stage)
        same = by_kind.setdefault(kind, [])
        if position.stage != "end" and len(same) < OF_ONE_KIND:
            searcher.open(position.observation[np.newaxis], position.mask[np.newaxis], 0)
            chances = np.zeros(N_SEATS)
            weigh_draws(searcher.space, np.empty(PILOT), 0, PILOT)
            call_chances(searcher.space, PILOT, chances)
            same.append((float(chances[1:].min()), position))
    rarest = [
        min(rare, key=lambda one: one[0])
        for same in by_kind.values()
        if (rare := [one for one in same if LEAST_RARE <= one[0] <= MOST_RARE])
    ]
    return sorted(rarest, key=lambda one: one[0])[: args.positions]


# --- coverage -------------------------------------------------------------------------------------


@entry_kernel
def weigh_uniform(
    space: SearchWorkspace, logs: Array, first: int, last: int, order: Array, most: float
) -> float:
    """Write the log-likelihoods of uniform worlds `first` to `last` - 1 to `logs`; return the best.

    `most` is the best of earlier worlds; a world that is `DEPTH` behind the best gets `UNLIKELY`.
    Seats are weighed in `order`: the one with the rarest calls first, as it excludes most worlds.
    """
    for j in range(first, last):
        draw_world(space, j)
        logs[j] = 0.0
        for seat in order:
            logs[j] += seat_log(space, seat, most - DEPTH - logs[j])
            if logs[j] < most - DEPTH:
                logs[j] = UNLIKELY
                break
        most = max(most, logs[j])
    return most


def reference(searcher: InferenceAgent, position: Position, action: int) -> Row:
    """Estimate the points of an action from uniform deals, weighed by the likelihood of the calls.

    Return the mean as `reference`, its standard error as `error`, the standard `deviation` of the
    points, and the number of `deals`.
    """
    searcher.open(position.observation[np.newaxis], position.mask[np.newaxis], 0)
    space, pilot = searcher.space, np.empty(PILOT)
    weigh_draws(space, pilot, 0, PILOT)
    seats = np.exp(space.stored["logs"][:PILOT, 1:]).mean(axis=0)
    order, n = np.argsort(seats) + 1, DRAWS
    while True:
        logs, most = np.empty(n), float(pilot.max())
        for first in range(0, n, DRAWS // 10):
            most = weigh_uniform(space, logs, first, first + DRAWS // 10, order, most)
        weights = np.exp(logs - most)
        size = weights.sum() ** 2 / (weights @ weights)
        if size >= ENOUGH or n >= MOST_DRAWS:
            break
        n *= 4
    reached = np.cumsum(weights)
    marks = (np.arange(PLAYED) + 0.5) / PLAYED * reached[-1]
    numbers, counts = np.unique(np.searchsorted(reached, marks), return_counts=True)
    outcomes, hands = new_rows(OUTCOMES, len(numbers)), np.zeros((len(numbers), N_SEATS), np.int64)
    wins = win_table(searcher.rules)
    cards = searcher.cards
    count_worlds(space, cards, wins, np.array([action]), numbers, weights, outcomes, hands)
    points = np.asarray(outcomes["points"], float)
    mean = float(np.average(points, weights=counts))
    deviation = float(np.sqrt(np.average((points - mean) ** 2, weights=counts)))
    error = deviation * float(np.sqrt(1 / size + 1 / PLAYED))
    return {"reference": mean, "error": error, "deviation": deviation, "deals": n}


def cover(searcher: InferenceAgent, chance: float, position: Position, args: Args) -> Row:
    """Return a row that compares advice with `args.seeds` seeds with the reference of the position.

    Both evaluate the action that `expert` plays. `stated` is the effective sample size by the
    advice: the harmonic mean over seeds, because the mean squared error is proportional to the mean
    of its inverse. `true` is the sample size that explains the actual squared error.
    """
    searcher.open(position.observation[np.newaxis], position.mask[np.newaxis], 0)
    action = int(searcher.space.plans["expert_action"][0])
    row = reference(searcher, position, action)
    means, halves, sizes = [], [], []
    for seed in range(args.seeds):
        advice = Advisor(searcher.rules, seed=seed, people=()).of_observation(
            position.observation, position.mask, [action]
        )
        points = next(option.points for option in advice.options if option.action == action)
        means.append(points.mean)
        halves.append(points.half)
        sizes.append(advice.effective)
    away = np.array(means) - row["reference"]
    error, half = row["error"], np.array(halves)
    square = max(float(np.mean(away**2)) - error**2, 1e-9)
    return row | {
        "bid": position.bid,
        "role": position.role,
        "stage": position.stage,
        "chance": chance,
        "covered": float(np.mean(np.abs(away) <= np.sqrt(half**2 + (1.96 * error) ** 2) + 1e-9)),
        "rms": float(np.sqrt(np.mean(away**2))),
        "stated": args.seeds / sum(1 / size for size in sizes),
        "true": row["deviation"] ** 2 / square,
    }


# --- calibration ----------------------------------------------------------------------------------


def calibrate(rules: Rules, args: Args) -> list[Row]:
    """Return rows of `by_range` for lone contracts, and for at most as many partnered ones.

    A contract is predicted at the first card of the defender who plays first. The prediction is for
    the card that `expert` plays; choosing the best of many predictions would bias it. Predictions
    from `few` deals, which advice does not print, are left out.
    """
    decisions, states = positions(rules, args.hands, args.seed)
    first: dict[int, Position] = {}  # by hand
    for position in decisions:
        if position.stage == "lead" and position.role == "opponent":
            first.setdefault(position.hand, position)
    lone = [position for position in first.values() if position.lone]
    partnered = [position for position in first.values() if not position.lone]
    n = min(len(lone), len(partnered))
    some = [partnered[i] for i in np.linspace(0, len(partnered), n, endpoint=False, dtype=int)]
    advisor, rows = Advisor(rules, "expert", seed=args.seed, people=()), []
    for name, group in (("alone", lone), ("with partner", some)):
        pairs = []
        for position in group:
            advice = advisor.of_observation(position.observation, position.mask)
            set_chance = advice.choice.made
            if set_chance is not None and not advice.few:
                state = states[position.hand]
                made = state["points"][int(state["declarer"]) & 1] > 0
                pairs.append((1.0 - set_chance.mean, made))
        predicted, made = np.array(pairs, float).reshape(-1, 2).T
        rows += [{"contracts": name} | row for row in by_range(predicted, made)]
    return rows


def by_range(predicted: Array, made: Array) -> list[Row]:
    """Return rows with the number of contracts, their mean prediction, and the number made.

    The rows are for all contracts, and for those with a prediction in each range of `BINS`; a range
    without contracts has no row. `predicted` and `made` are float (n,): the predicted chance, and 1
    if the contract was made.
    """
    bins = np.digitize(predicted, BINS)
    edges = enumerate(pairwise([0.0, *BINS, 1.0]))
    ranges = [("all", bins >= 0)]
    ranges += [(f"{low:.0%} to {high:.0%}", bins == i) for i, (low, high) in edges]
    return [
        {
            "range": name,
            "n": int(inside.sum()),
            "predicted": float(predicted[inside].mean()),
            "made": int(made[inside].sum()),
        }
        for name, inside in ranges
        if inside.any()
    ]


# --- rows and tables ------------------------------------------------------------------------------


def main(args: Args) -> int:
    """Check the games in `args.variants`, print the table, and write `args.json` if it is set."""
    if args.check not in ("coverage", "calibration"):
        raise OptionError(f"--check {args.check}: expected coverage or calibration")
    if unknown := sorted(set(args.variants) - set(RULES)):
        raise OptionError(f"--variants {' '.join(unknown)}: expected some of {' '.join(RULES)}")
    if min(args.hands, args.positions) < 1 or args.seeds < 2:
        raise OptionError("--hands, --positions: expected 1 or more; --seeds: 2 or more")
    settings = {
        name: getattr(args, name) for name in ("check", "hands", "positions", "seeds", "seed")
    }
    check, tabulate = coverage, coverage_table
    if args.check == "calibration":
        check, tabulate = calibrate, calibration_table
    rows: dict[str, list[Row]] = {}
    for variant in args.variants:
        words = (variant, *map(str, settings.values()))
        compute = partial(check, RULES[variant], args)
        about = [variant, settings]
        saved = partial(cached, args.out, words, about, ())
        rows[variant] = saved(compute, lambda rows: type(rows) is list)
    print(tabulate(rows))
    write_json(args.json, {"settings": settings, "rows": rows})
    return 0


def coverage(rules: Rules, args: Args) -> list[Row]:
    """Return rows of `cover` for the rarest positions of a game."""
    searcher = InferenceAgent(rules, seed=args.seed)
    chosen = tracked("coverage", rare_positions(searcher, args))
    return [cover(searcher, chance, position, args) for chance, position in chosen]


def coverage_table(by_variant: dict[str, list[Row]]) -> str:
    """Format the rows by variant as Markdown, with a last line of means.

    Results without a precise reference are printed as unknown, and are not in the means.
    """
    lines = [
        ["game", "bid", "seat", "stage", "chance of the calls", "reference", "covered", "RMS error",
         "effective deals stated", "true"]
    ]  # fmt: skip
    counted = []
    for variant, rows in by_variant.items():
        for row in rows:
            stated, true = (
                f"{row[name]:,.0f}" if row[name] < MOST_TRUE else f"> {MOST_TRUE:,}"
                for name in ("stated", "true")
            )
            covered, rms = f"{row['covered']:.0%}", f"{row['rms']:.2f}"
            if row["error"] > row["deviation"] / LEAST_REFERENCE**0.5:
                covered = rms = true = "unknown"
            else:
                counted.append(row)
            points = f"{row['reference']:+.2f} ± {1.96 * row['error']:.2f}"
            cells = [variant, row["bid"], row["role"], row["stage"], f"{row['chance']:.1e}"]
            lines.append([*cells, points, covered, rms, stated, true])
    table = markdown_table(lines)
    if counted:
        covered, rms = (np.mean([row[name] for row in counted]) for name in ("covered", "rms"))
        table += f"\n| {len(counted)} known | | | | | | {covered:.0%} | {rms:.2f} | | |"
    return table


def calibration_table(by_variant: dict[str, list[Row]]) -> str:
    """Format predicted chances and shares made, by game, contract and range, as Markdown."""
    lines = [
        ["game", "contracts", "predicted made", "n", "mean prediction", "made", "95 % interval"]
    ]
    for variant, rows in by_variant.items():
        for row in rows:
            interval = wilson(row["made"], row["n"])
            cells = [variant, row["contracts"], row["range"], str(row["n"])]
            cells += [f"{row['predicted']:.0%}", f"{interval.mean:.0%}"]
            lines.append([*cells, f"{interval.low:.0%} to {interval.high:.0%}"])
    return markdown_table(lines)
