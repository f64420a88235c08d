"""Check the beliefs of searchers about callers: agents of the package, or others.

    python experiments/studies.py callers
    python experiments/studies.py callers --agents expert net --variants barrie_v0
    python experiments/studies.py callers --check coverage

Each seat of each hand is one of the `--agents`, by chance. `nats` compares the log-likelihood of
the true hidden hands with the mean over uniform deals, given all actions so far: below 0 the belief
is worse than none. `coverage` counts how often the 95 % interval of a pass by the dealer contains
the mean result over deals in which the agents would make the same calls. The options `callers` of
the agent `inference` are the rows. The bidders of the default share no code with the package's
agents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from study_tools import deal_hands, mean, play_watched, plus_minus, tracked, write_json

from bideuchre_env import agents
from bideuchre_env._columns import markdown_table
from bideuchre_env.agents import CompleteAgent
from bideuchre_env.agents.advice.advising import Advisor
from bideuchre_env.agents.advice.outcomes import OUTCOMES, count_worlds
from bideuchre_env.agents.expert.win_table import win_table
from bideuchre_env.agents.search.agent import CALLERS, InferenceAgent
from bideuchre_env.agents.search.chains import NO_LIMIT, weigh_draws
from bideuchre_env.agents.search.likelihood import seat_log
from bideuchre_env.agents.search.workspace import SearchWorkspace
from bideuchre_env.cli.script_args import ScriptArgs, option
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.rows import apply_rows, encode_rows
from bideuchre_env.core.state import AUCTION, PLAY
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.lockstep import choices_of
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import COPY_SHIFT, N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.jit import Array, entry_kernel, new_rows

FIELD = Path(__file__).resolve().parents[1] / "tests/support/outside_bidders.py"
DRAWS = 1200  # uniform deals whose likelihoods are compared with that of the true hands
STAGES = ("call", "lead")
AT_ONCE = 20_000  # deals of a reference that are dealt at once
MOST_DRAWS = 400_000  # maximum number of deals of a reference
MOST_PLAYED, LEAST_PLAYED = 300, 40  # deals of a reference that are played out; else no reference

Row = dict[str, Any]


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the study; every field is an option of the command line."""

    check: str = option("nats", "nats or coverage", metavar="CHECK")
    agents: tuple[str, ...] = option(
        tuple(f"{FIELD}:{name}" for name in ("Sound", "Cautious", "Over", "Chain")), "the callers"
    )
    variants: tuple[str, ...] = option(("barrie_v0", "cincinnati_v0"), "variants")
    positions: int = option(100, "positions per variant and stage")
    seeds: int = option(6, "requests for advice per position, each with another seed")
    seed: int = option(0, "seed of the positions")
    json: Path | None = option(None, "JSON file for the rows")


@dataclass(frozen=True)
class Position:
    """A decision, with all hands."""

    dealt: Array  # state row (1,) before the first call
    state: Array  # state row (1,)
    observation: Array
    mask: Array


# --- positions ------------------------------------------------------------------------------------


def positions(
    rules: Rules, players: Sequence[CompleteAgent], stage: str, n: int, seed: int
) -> list[Position]:
    """Return up to n positions, each of another hand; each seat has one of the `players`.

    Stage "call" is a random call after others, "lead" the first card of a defender, and "dealer"
    the last call of an auction with a bid.
    """
    states = deal_hands(rules, range(4 * n), seed)
    dealt, by_hand = states.copy(), dict[int, list[Position]]()

    def watch(slots: Array, observations: Array, masks: Array) -> None:
        for slot, row, mask in zip(slots.tolist(), observations, masks, strict=True):
            if mask.sum() > 1 and is_at(states[slot], stage):
                one = slice(slot, slot + 1)
                position = Position(dealt[one], states[one].copy(), row.copy(), mask.copy())
                by_hand.setdefault(slot, []).append(position)

    play_watched(states, rules, players, lambda rows: seated(rows, len(players)), watch)
    random = np.random.default_rng(seed)
    choices = [by_hand[slot] for slot in sorted(by_hand)[:n]]
    return [each[random.integers(len(each))] for each in choices]


def seated(rows: Array, n: int) -> Array:
    """Return the index of the player, of n, who has the turn: by chance, fixed by hand and seat."""
    word: Array = rows["rng"][:, 0] >> (np.uint64(8) * (1 + rows["turn"].astype(np.uint64)))
    return (word % np.uint64(n)).astype(int)


def is_at(state: Any, stage: str) -> bool:
    """Whether a state with a choice is at this stage (see `positions`)."""
    if stage == "lead":
        defends = (int(state["turn"]) ^ int(state["declarer"])) & 1
        return bool(state["phase"] == PLAY and state["trick"] == 0 and defends)
    calls, bid = int(state["calls_made"]), state["level"] >= 0
    return bool(state["phase"] == AUCTION and (calls == 3 and bid if stage == "dealer" else calls))


# --- nats -----------------------------------------------------------------------------------------


@entry_kernel
def true_logs(
    space: SearchWorkspace, hands: Array, given: Array, passed: Array, logs: Array
) -> None:
    """Write the log-likelihoods of the other seats' actions for these hands to `logs` (4,).

    `hands`, int64 (4,), are by relative seat; `given` and `passed` are the cards exchanged.
    """
    world = space.worlds[0]
    for i in range(len(given)):
        world.given[i], world.passed[i] = given[i], passed[i]
    for seat in range(1, N_SEATS):
        world.hands[seat] = hands[seat]
    for seat in range(1, N_SEATS):
        logs[seat] = seat_log(space, seat, NO_LIMIT)


def nats_of(searcher: InferenceAgent, position: Position) -> tuple[float, float]:
    """Return the nats by which the true hands are more likely than uniform deals.

    They are summed over seats. Also return the effective sample size of `DRAWS` uniform deals.
    """
    space, logs, state = searcher.space, np.empty(DRAWS), position.state[0]
    searcher.open(position.observation[np.newaxis], position.mask[np.newaxis], 0)
    weigh_draws(space, logs, 0, DRAWS)
    drawn, true = space.stored["logs"][:DRAWS, 1:].copy(), np.zeros(N_SEATS)
    hands = np.roll(state["hands"], -int(state["turn"]))
    true_logs(space, hands, state["given"], state["passed"], true)
    weights = np.exp(logs - logs.max())
    nats = true[1:] - np.log(np.exp(drawn).mean(axis=0))
    return float(nats.sum()), float(weights.sum() ** 2 / (weights @ weights))


def nats(rules: Rules, players: Sequence[CompleteAgent], args: Args) -> list[Row]:
    """Return a row of nats for each stage and each option `callers`."""
    rows = []
    for stage in STAGES:
        decisions = positions(rules, players, stage, args.positions, args.seed)
        for callers in CALLERS:
            searcher = InferenceAgent(rules, seed=args.seed, callers=callers)
            figures = [nats_of(searcher, each) for each in tracked(f"{stage} {callers}", decisions)]
            gains, sizes = np.array(figures).T
            rows.append(
                {
                    "stage": stage,
                    "callers": callers,
                    "n": len(decisions),
                    "nats": mean(gains),
                    "worse": float((gains < 0.0).mean()),
                    "few": float((sizes < 20).mean()),
                }
            )
    return rows


# --- coverage -------------------------------------------------------------------------------------


def fitting_deals(
    rules: Rules, players: Sequence[CompleteAgent], position: Position, seed: int = 1
) -> list[Array]:
    """Return the hands, int64 (4,) by seat, of random deals in which `players` make the calls.

    Each seat has a random one of the players. There are at least `MOST_PLAYED` deals, unless
    `MOST_DRAWS` have been dealt. The seat to act has its own cards.
    """
    state, tables, layout = position.state[0], compile_tables(rules), layout_of(rules)
    random, fitting, seats = np.random.default_rng(seed), list[Array](), np.arange(N_SEATS)
    turn, first, n_actions = int(state["turn"]), int(state["dealer"]) + 1, actions.of(rules).n
    own = int(state["hands"][turn])
    rest = np.array(
        [
            kind
            for kind in range(rules.kinds)
            for copy in range(rules.copies)
            if copy >= (own >> kind & 1) + (own >> (kind + COPY_SHIFT) & 1)
        ]
    )
    for _ in range(MOST_DRAWS // AT_ONCE):
        deals = np.repeat(position.dealt, AT_ONCE)
        decks = random.permuted(np.tile(rest, (AT_ONCE, 1)), axis=1)
        for i, seat in enumerate(seats[seats != turn]):
            cards = np.sort(decks[:, i * rules.tricks : (i + 1) * rules.tricks], axis=1)
            second = np.diff(cards, axis=1, prepend=-1) == 0
            deals["hands"][:, seat] = (1 << (cards + COPY_SHIFT * second)).sum(axis=1)
        deals["hands"][:, turn] = own
        for after in range(int(state["calls_made"])):
            observations = np.zeros((len(deals), layout.size), np.int8)
            masks = np.zeros((len(deals), n_actions), np.int8)
            every = np.arange(len(deals))
            encode_rows(deals, tables, layout.offsets, every, observations, masks)
            who, choices = random.integers(len(players), size=len(deals)), every.copy()
            for number, player in enumerate(players):
                if (mine := who == number).any():
                    choices[mine] = choices_of(player, observations[mine], masks[mine])
            apply_rows(deals, tables, every, choices)
            seat = (first + after) & 3
            same = deals["calls"][:, seat] == state["calls"][seat]
            same &= deals["call_strains"][:, seat] == state["call_strains"][seat]
            deals = deals[same]
        fitting += list(deals["hands"])
        if len(fitting) >= MOST_PLAYED:
            break
    return fitting


def points_in(searcher: InferenceAgent, position: Position, deals: list[Array], action: int) -> Row:
    """Return the mean `points` of an action in these deals, its `error` and the number `n`."""
    space, n = searcher.space, min(len(deals), MOST_PLAYED)
    searcher.open(position.observation[np.newaxis], position.mask[np.newaxis], 0)
    turn = int(position.state["turn"][0])
    space.stored["hands"][:n] = np.roll(np.array(deals[:n]), -turn, axis=1)
    space.stored["given"][:n] = space.stored["passed"][:n] = -1
    space.mixings["n_stored"] = n
    outcomes, hands = new_rows(OUTCOMES, n), np.zeros((n, N_SEATS), np.int64)
    numbers, wins = np.arange(n), win_table(searcher.rules)
    count_worlds(
        space, searcher.cards, wins, np.array([action]), numbers, np.ones(n), outcomes, hands
    )
    points = np.asarray(outcomes["points"], float)
    good = float(np.mean(outcomes["good"]))
    return {"points": points.mean(), "error": points.std() / n**0.5, "n": n, "good": good}


def coverage(rules: Rules, players: Sequence[CompleteAgent], args: Args) -> list[Row]:
    """Return a row for each option `callers`: how often intervals contain the reference."""
    searcher = InferenceAgent(rules, seed=args.seed)
    references = []
    decisions = positions(rules, players, "dealer", args.positions, args.seed)
    for each in tracked("references", decisions):
        deals = fitting_deals(rules, players, each)
        if len(deals) >= LEAST_PLAYED:
            references.append((each, points_in(searcher, each, deals, 0)))
    if not references:
        raise OptionError("no position with a reference: more --positions")
    rows = []
    for callers in CALLERS:
        name, covered, away, sizes = f"inference:callers={callers}", [], [], []
        advisors = [Advisor(rules, name, seed=seed) for seed in range(args.seeds)]
        for position, reference in tracked(callers, references):
            hits, error = 0.0, float(reference["error"])
            for advisor in advisors:
                advice = advisor.of_observation(position.observation, position.mask, [0])
                points = advice.option(0).points
                gap = points.mean - reference["points"]
                hits += abs(gap) <= np.hypot(points.half, 1.96 * error)
                away.append(gap**2 - error**2)
                sizes.append(advice.effective)
            covered.append(hits / args.seeds)
        rows.append(
            {
                "callers": callers,
                "n": len(references),
                "covered": mean(np.array(covered)),
                "rms": max(0.0, float(np.mean(away))) ** 0.5,
                "effective": float(np.median(sizes)),
            }
        )
    return rows


# --- tables ---------------------------------------------------------------------------------------


def main(args: Args) -> int:
    """Check the beliefs in each variant, print a table, and write `args.json` if it is set."""
    if args.check not in ("nats", "coverage"):
        raise OptionError(f"--check {args.check}: expected nats or coverage")
    if unknown := sorted(set(args.variants) - set(RULES)):
        raise OptionError(f"--variants {' '.join(unknown)}: expected some of {' '.join(RULES)}")
    if min(args.positions, args.seeds) < 1:
        raise OptionError("--positions, --seeds: expected 1 or more")
    check, rows = nats if args.check == "nats" else coverage, []
    for variant in args.variants:
        rules = RULES[variant]
        players = [agents.make(name, rules, seed=args.seed) for name in args.agents]
        rows += [{"game": variant, **row} for row in check(rules, players, args)]
    lines = [[_cell(value) for value in row.values()] for row in rows]
    print(markdown_table([list(rows[0]), *lines]))
    write_json(args.json, {"rows": rows})
    return 0


def _cell(value: Any) -> str:
    """Format a value of a row."""
    if isinstance(value, dict):
        return plus_minus(value, "+")
    return f"{value:.2f}" if isinstance(value, float) else str(value)
