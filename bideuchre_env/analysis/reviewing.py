"""`review`: an agent decides again in the place of each player of a recorded game."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bideuchre_env._checks import brief, check_callback, is_integer, to_list
from bideuchre_env.agents import AgentSource
from bideuchre_env.agents.advice import Advisor, Option
from bideuchre_env.agents.advice.reasons import Situation
from bideuchre_env.agents.protocols import Goal
from bideuchre_env.analysis.review import (
    LEAST_WINS,
    POINTS,
    SURE,
    WINS,
    Decision,
    HandReview,
    Player,
    Review,
    result_text,
)
from bideuchre_env.core.one_row import mask_row, step_row
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.core.state import Phase, rows_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.errors import OptionError
from bideuchre_env.records.look import Look
from bideuchre_env.records.record import GameRecord, PlayedHand
from bideuchre_env.records.words import title
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.runtime.jit import Array
from bideuchre_env.solver.analysis import analyse
from bideuchre_env.solver.par import par

AGAIN = 4  # additional sets of worlds by which a suspected mistake is tested

Progress = Callable[[int, int, int], None]


def review(
    record: GameRecord,
    agent: AgentSource = "inference",
    *,
    worlds: int | None = None,
    seed: int = 0,
    hands: Collection[int] | None = None,
    progress: Progress | None = None,
) -> Review:
    """Review a game: mistakes, judged by the information of the player, and bad luck.

    At every decision between two or more actions, `agent` chooses in the player's place. Its choice
    and the player's are evaluated in the same sampled deals of the hidden cards, weighted like
    those of the agent `inference`. A suspected mistake is tested in four more sets of deals. It is
    a mistake if

    - the agent chooses another action in every set,
    - the loss is at least a quarter of a point of the hand, and more than three standard errors of
      one set; or, unless the agent's goal is points, it is at least 2 % of the games,
    - and, unless the agent's goal is points, the loss is also at least one game in 1,000 and more
      than three of its standard errors.

    There is no mistake if the deals that fit the calls are too few (`Advice.few`). The calls of
    earlier hands show which seats call like agents, and which like people (`Advisor.learn`).
    Declarer and partner make no mistakes once their contract is set. The review also has the tricks
    that each card lost with all hands open, and, without a kitty, par: the value of the deal if all
    seats saw all cards and played their best. Tricks lost there without a mistake are bad luck, or
    not significant.

    Args:
        record: the game, finished or not.
        agent: the reviewing agent: a name, a factory or an agent object, as for `advise`.
        worlds: number of deals in a set, by default 200.
        seed: seed of the sampled deals.
        hands: the numbers of the hands to review, from 0; by default all.
        progress: `progress(done, total, decisions)` is called after each action of these hands,
            with the numbers of actions done and in total. `decisions` is equal to `done`.

    Raises:
        RecordError: for a record that does not replay.
        OptionError: for hands that the record does not have, and for other invalid arguments.
    """
    if not isinstance(record, GameRecord):
        raise OptionError(f"record={brief(record)}: expected a GameRecord")
    check_callback("progress", progress)
    if seed is None:
        raise OptionError("seed=None: expected a whole number")
    split_seed(seed)
    played = list(record.played_hands())
    chosen = _numbers(hands, len(played))
    reviewer = _Reviewer(record, played, agent, worlds, seed)
    open_losses = {(card.hand, card.ply): card.lost for card in analyse(record)}
    total, done, reviewed = sum(len(played[number].actions) for number in chosen), 0, []
    for number in chosen:
        decisions = []
        for decision in reviewer.decisions(number, played[number], open_losses):
            decisions += [decision] if decision is not None else []
            done += 1
            if progress is not None:
                progress(done, total, done)
        reviewed.append(reviewer.hand(number, played[number], decisions))
    return Review(
        title=title(record),
        agent=reviewer.first.agent.name,
        hands=tuple(reviewed),
        players=tuple(_player(record, reviewed, seat) for seat in range(N_SEATS)),
        plies=tuple(len(hand.actions) for hand in played),
    )


def _numbers(hands: Collection[int] | None, n: int) -> list[int]:
    """Return the numbers of the hands to review, sorted; None means all of the n hands.

    Raises `OptionError` for a number that is not from 0 to n - 1.
    """
    if hands is None:
        return list(range(n))
    numbers = to_list("hands", hands, f"numbers of hands from 0 to {n - 1}")
    for number in numbers:
        if not is_integer(number) or not 0 <= number < n:
            raise OptionError(f"hands={brief(hands)}: expected numbers of hands from 0 to {n - 1}")
    return sorted(set(numbers))


@dataclass(frozen=True)
class _Comparison:
    """The agent's choice `best` and the player's action `taken`, evaluated in sets of worlds.

    A world is a sampled deal of the hidden cards; `sets` is the number of sets. `why` explains
    `taken`. `error` (points) and `wins_error` (chance to win) are standard errors of the loss of
    `taken` for one set: a loss that is not significant in one set is not a mistake, even if it is
    significant in all sets together.
    """

    best: Option
    taken: Option
    why: str
    error: float
    wins_error: float
    sets: int
    few: bool

    @classmethod
    def of(cls, advisor: Advisor, trials: list[Situation], action: int) -> _Comparison:
        """Compare `action` with the agent's most frequent choice, over the worlds of all `trials`.

        Each trial is the result of `try_row` for one set of worlds, and must include `action`.
        """
        advice = advisor.advice(trials, action)
        best, option = advice.best, advice.option(action)
        return cls(
            best,
            option,
            advice.why,
            _error(trials, option, best, "points", option.error),
            _error(trials, option, best, "wins", option.wins_error),
            len(trials),
            advice.few,
        )

    @property
    def agrees(self) -> bool:
        """Whether the player's action is the agent's choice."""
        return self.taken.action == self.best.action

    def mistake(self, goal: Goal, part: float = 1.0) -> bool:
        """Whether the loss of the action taken is large enough and significant (see `review`).

        With too few deals no loss is significant. `goal` is that of the reviewing agent. All
        thresholds are multiplied by `part`.
        """
        if self.few:
            return False
        points, wins, sure = self.taken.loss, self.taken.wins_loss, part * SURE
        in_points = points >= part * POINTS and points > sure * self.error
        if goal == "points":
            return in_points
        in_wins = wins >= part * LEAST_WINS and wins > sure * self.wins_error
        return in_wins and (in_points or wins >= part * WINS)


def _error(
    trials: list[Situation], option: Option, best: Option, figure: str, error: float
) -> float:
    """Return the standard error, for one set of worlds, of an option's loss against `best`.

    `figure`, "points" or "wins", is the unit of the loss. `error` is the standard error over all
    sets together. The result is `error` scaled to one set, or the standard deviation of the loss
    between the sets if that is larger: if few worlds have most of the weight, `error` is too small.
    """
    if len(trials) == 1:
        return error
    result = [each.counted.behind(option.action, best.action, figure)[0] for each in trials]
    return float(max(error * len(trials) ** 0.5, np.std(result, ddof=1)))


def _lost(row: Any, t: Any) -> bool:
    """Whether the contract is set already, and the seat to act is on the declarer's side.

    `row` is the state, `t` the game's tables.
    """
    if row["declarer"] < 0 or row["declarer"] & 1 != row["turn"] & 1:
        return False
    theirs = row["tricks_won"][1 - (row["turn"] & 1)]
    return bool(theirs > t["tricks"] - t["need"][row["level"]])


class _Reviewer:
    """Evaluates the decisions of a record, with one advisor for each set of worlds.

    `first` is the advisor for every decision, `others` are those that test suspected mistakes.
    """

    def __init__(
        self,
        record: GameRecord,
        hands: list[PlayedHand],
        agent: AgentSource,
        worlds: int | None,
        seed: int,
    ) -> None:
        self.record, self.rules = record, record.rules
        self.first, *self.others = (
            Advisor(self.rules, agent, worlds, None, seed + k) for k in range(1 + AGAIN)
        )
        self.tables = compile_tables(self.rules)
        self.hands, self.learned = hands, 0  # the first hands, from which the advisors have learned

    def decisions(
        self, number: int, played: PlayedHand, open_losses: dict[tuple[int, int], int]
    ) -> Iterator[Decision | None]:
        """Yield the `Decision` of each action of hand `number`, in order; None if it was forced.

        `open_losses` has the tricks lost with all hands open, by (hand, ply).
        """
        for earlier in self.hands[self.learned : number]:
            for advisor in (self.first, *self.others):
                advisor.learn(rows_of([earlier.dealt]), earlier.actions)
        self.learned = max(self.learned, number)
        states, mask = rows_of([played.dealt]), np.zeros(actions.of(self.rules).n, np.int8)
        states["rng"] = 1  # any valid value: only later deals use it
        for ply, action in enumerate(played.actions.tolist()):
            mask_row(states, self.tables, mask)
            decision = None
            if mask.sum() > 1:
                result = self._compare(states, action)
                decision = self._decision(
                    *result, states[0], number, open_losses.get((number, ply)), ply
                )
            yield decision
            step_row(states, self.tables, action)

    def _compare(self, states: Array, action: int) -> tuple[_Comparison, bool]:
        """Compare the action taken with the agent's choice; also return whether it is a mistake.

        An action is suspected if its loss in the first set of worlds exceeds half the thresholds,
        unless its own side's contract is already set. Then the additional sets are tried. If the
        agent chooses the action in one, it is no mistake: the rest are left out, and the comparison
        has all sets tried. Else it has only the additional sets. `states` is one row.
        """
        goal, trial = self.first.goal, self.first.try_row(states, also=[action])
        first = _Comparison.of(self.first, [trial], action)
        if first.agrees or _lost(states[0], self.tables[0]) or not first.mistake(goal, 0.5):
            return first, False
        again: list[Situation] = []
        for advisor in self.others:
            again.append(advisor.try_row(states, also=trial.counted.actions))
            if again[-1].chosen == action:
                return _Comparison.of(self.first, [trial, *again], action), False
        result = _Comparison.of(self.first, again, action)
        return result, result.mistake(goal)

    def _decision(
        self,
        comparison: _Comparison,
        mistake: bool,
        row: Any,
        number: int,
        open_loss: int | None,
        ply: int,
    ) -> Decision:
        """Return the `Decision` for a comparison at `ply` of hand `number`.

        `row` is the state before the action. `open_loss` is the number of tricks that the card lost
        with all hands open, or None.
        """
        best, option, seat = comparison.best, comparison.taken, int(row["turn"])
        agents, declarer = self.record.agents, int(row["declarer"])
        return Decision(
            hand=number,
            ply=ply,
            seat=seat,
            player=agents[seat] if agents else None,
            phase=Phase(int(row["phase"])),
            trick=int(row["trick"]),
            action=option.name,
            best=best.name,
            lost=max(0.0, option.loss),
            error=comparison.error / comparison.sets**0.5,
            wins_lost=max(0.0, option.wins_loss),
            wins_error=comparison.wins_error / comparison.sets**0.5,
            points=option.points.mean,
            made=option.made.mean if option.made else None,
            wins=option.wins.mean,
            few=comparison.few,
            best_made=best.made.mean if best.made else None,
            open=open_loss,
            mistake=mistake,
            defends=declarer >= 0 and declarer & 1 != seat & 1,
            why=comparison.why,
        )

    def hand(self, number: int, played: PlayedHand, decisions: list[Decision]) -> HandReview:
        """Return the review of a hand from its decisions, with the hand's result and par."""
        hand = self.record.hands[number]
        ended = Look(played.ended[0], self.rules, None, agents=self.record.agents)
        return HandReview(
            number=number,
            result=result_text(hand, ended),
            par=None if self.rules.kitty else par(hand["deal"], self.rules, hand["dealer"]),
            decisions=tuple(decisions),
        )


def _player(record: GameRecord, hands: list[HandReview], seat: int) -> Player:
    """Return the totals of a seat's decisions in these hands."""
    own = [each for hand in hands for each in hand.decisions if each.seat == seat]
    mistakes = [each for each in own if each.mistake]
    return Player(
        seat=seat,
        name=record.agents[seat] if record.agents else None,
        hands=len(hands),
        decisions=len(own),
        mistakes=len(mistakes),
        lost=sum(each.lost for each in mistakes),
        wins_lost=sum(each.wins_lost for each in mistakes),
        open=sum(each.open or 0 for each in own),
        unlucky=sum(each.open or 0 for each in own if not each.mistake),
    )
