"""`advise` and `Advisor`: try the actions of a position in sampled deals and return an `Advice`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from bideuchre_env._checks import brief, check_array, is_integer, to_list
from bideuchre_env._intervals import Interval
from bideuchre_env.agents.advice.advice import Advice, Option
from bideuchre_env.agents.advice.figures import Counted, effective, interval, mean, share
from bideuchre_env.agents.advice.outcomes import OUTCOMES, count_worlds, mark_calls
from bideuchre_env.agents.advice.reasons import Situation, why
from bideuchre_env.agents.expert.decision import PlayerWorkspace
from bideuchre_env.agents.expert.win_table import win_table
from bideuchre_env.agents.making import agent_of
from bideuchre_env.agents.player import PlayerAgent
from bideuchre_env.agents.protocols import AgentSource, CompleteAgent, Goal
from bideuchre_env.agents.search.agent import CALLERS, InferenceAgent, PimcAgent
from bideuchre_env.agents.search.callers import best_chances, style_logs
from bideuchre_env.agents.search.sampler import Report, load_kernels
from bideuchre_env.agents.search.workspace import MOST_WORLDS, SearchWorkspace
from bideuchre_env.core.one_row import look_row, step_row
from bideuchre_env.core.state import STATE, Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.validity import checked_states
from bideuchre_env.errors import IllegalActionError, OptionError
from bideuchre_env.records.words import action_to_do
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import N_SEATS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, new_rows

DOUBT = 0.15  # of results in the auction, in standard deviations, if all others are people
UNEXPLAINED = 0.02  # calls are unexplained if no deal tried gives them a higher chance
MOST_NATS = 20.0  # limit of the evidence of one hand
ABOUT_OTHERS = 0.2  # weight of a seat's calls as evidence about each other seat
LEAST_DOUBT = 0.05  # least chance that a seat is a person, and that it is an agent


def advise(
    source: Any,
    agent: AgentSource = "inference",
    *,
    rules: Rules | None = None,
    worlds: int | None = None,
    milliseconds: float | None = None,
    seed: int = 0,
    also: Sequence[int] = (),
) -> Advice:
    """Advise the seat to act: an agent's choice, and the results of every sensible action.

    Args:
        source: a PettingZoo AEC environment, or with `rules` an observation of the seat to act:
            int8 (D,), or a dict with "observation" and optionally "action_mask". Cards that the
            seat cannot see are not used.
        agent: the agent whose choice is reported: a name, a factory or an agent object. Its goal
            orders the options. Only a named agent shares the belief of the results about callers.
        rules: the rules of an observation; None for an environment.
        worlds: number of deals of the unseen cards, drawn and weighted as by the agent
            `inference`. None: 200, or as many as `milliseconds` allows, up to 10,000.
        milliseconds: approximate time limit for trying the deals. None: no limit.
        seed: fixes the deals.
        also: numbers of actions that are always tried.

    Raises:
        OptionError: no seat is to act, the observation is impossible under the rules, or an
            argument is invalid.
        IllegalActionError: an action in `also` is not legal, or the agent's choice is not.
    """
    env: Any = getattr(source, "unwrapped", None)
    if hasattr(env, "get_state") and hasattr(env, "rules"):
        if rules is not None:
            raise OptionError("rules: expected None with an environment, which has its own")
        return Advisor(env.rules, agent, worlds, milliseconds, seed).of_row(env.get_state(), also)
    if not isinstance(rules, Rules):
        raise OptionError(
            f"{type(source).__name__} with rules={brief(rules)}: expected an AEC environment, or "
            "an observation and its Rules"
        )
    observation = source.get("observation") if isinstance(source, dict) else source
    mask = source.get("action_mask") if isinstance(source, dict) else None
    advisor = Advisor(rules, agent, worlds, milliseconds, seed)
    return advisor.of_observation(observation, mask, also)


def advise_row(
    row: Any,
    rules: Rules,
    agent: AgentSource = "inference",
    *,
    worlds: int | None = None,
    milliseconds: float | None = None,
    seed: int = 0,
    also: Sequence[int] = (),
    how_far: Report | None = None,
) -> Advice:
    """Like `advise`, for the seat to act in `row`, one row of dtype `STATE`.

    Cards that the seat cannot see are not used. `how_far(step, done, total)` is called to report
    the progress in deals; `step` is "weighed", then "played out".
    """
    advisor = Advisor(rules, agent, worlds, milliseconds, seed)
    advisor.searcher.sampler.report = how_far
    return advisor.of_row(row, also)


class Advisor:
    """Advises on many positions under the same rules; see `advise` for the parameters.

    `people` are the seats at which people may sit; the others are known to be agents. An advisor is
    not thread-safe, because it reuses one workspace.
    """

    def __init__(
        self,
        rules: Rules,
        agent: AgentSource = "inference",
        worlds: int | None = None,
        milliseconds: float | None = None,
        seed: int = 0,
        people: Sequence[int] = range(N_SEATS),
    ) -> None:
        self.rules = rules
        limits: dict[str, Any] = {}
        if worlds is not None:
            limits |= {"worlds": worlds, "played_out": worlds}
        if milliseconds is not None:
            most = {"worlds": MOST_WORLDS, "played_out": MOST_WORLDS}
            limits = {**most, **limits, "milliseconds": milliseconds}
        named = isinstance(agent, str)  # an object may have another seed, and belief
        other = None if named and agent == "inference" else agent_of(agent, rules, seed=seed)
        callers = other.callers if isinstance(other, (PimcAgent, PlayerAgent)) else None
        self.searcher = InferenceAgent(rules, seed=seed, callers=callers, **limits)
        if named and not limits and type(other) is InferenceAgent and other.goal == "game":
            self.searcher = other  # so that choice and figures are from the same deals
        self.searcher.expect_people(people_chances(people))
        self.agent: CompleteAgent = self.searcher if other is None else other
        self._expect = getattr(other, "expect_people", None) if named else None
        self.people: Array = self.searcher.space.choice_models["people"][0].copy()
        """The chance that a seat is a person, by seat, float64 (4,); see `learn`."""
        self.searcher.sampler.list_all_hands()
        self.goal: Goal = "points" if getattr(self.agent, "goal", "game") == "points" else "game"
        self.figure = "points" if self.goal == "points" else "wins"
        self.wins = win_table(rules)
        self.actions = actions.of(rules)
        space, none = self.searcher.space, np.empty(0, np.int64)
        load_kernels(space)  # a time limit does not include compilation
        hands = np.zeros((0, N_SEATS), np.int64)
        nothing = none, none, np.empty(0), new_rows(OUTCOMES, 1), hands
        count_worlds(space, self.searcher.cards, self.wins, *nothing)

    def of_row(self, row: Any, also: Sequence[int] = ()) -> Advice:
        """Return the advice for the seat to act in one row of dtype `STATE`; see `advise_row`."""
        return self.advice([self.try_row(row, also)])

    def try_row(self, row: Any, also: Sequence[int] = ()) -> Situation:
        """Try the options of the seat to act in a state row; pass the result to `advice`.

        Several trials of one position, by advisors with different seeds, can be pooled there.
        Raises `OptionError` unless `row` is a position of the game in which a seat is to act, and
        `IllegalActionError` if an action in `also`, or the agent's choice, is not legal.
        """
        if not isinstance(row, (np.ndarray, np.void)) or row.dtype != STATE or row.size != 1:
            raise OptionError(f"row={brief(row)}: expected one row of STATE")
        one, tables = new_states(1), compile_tables(self.rules)
        one[:] = np.atleast_1d(np.asarray(row))
        one["rng"] = 1  # any valid value: rows of records have 0, and only later deals use it
        return self.try_position(checked_states(one, 1, tables), also)

    def try_position(self, states: Array, also: Sequence[int] = ()) -> Situation:
        """Like `try_row`, for a valid position, shape (1,), that is not checked again.

        `known_position`, `checked_states` and records have valid positions.
        """
        if states["phase"][0] >= Phase.DEAL:
            raise OptionError("the hand is over: no seat is to act")
        layout, tables = self.searcher.layout, compile_tables(self.rules)
        seen, mask = np.zeros(layout.size, np.int8), np.zeros(self.actions.n, np.int8)
        seat = look_row(states, tables, layout.offsets, seen, mask)
        return self._try(seen, mask, also, int(seat))

    def learn(self, dealt: Array, played: Array) -> None:
        """Learn from a finished hand which seats call like people; later advice uses `people`.

        The players at a table often call in the same style, so the calls of a seat are weak
        evidence about the other seats. `dealt`
        is the state row, shape (1,), before the actions `played`, int64 (n,). A hand that was
        passed out teaches nothing, and neither do calls with a hand of `hidden_hands`. Seats
        are never certain to be people, or agents, unless they are by `callers` or its `people`.
        """
        states, tables, hands = dealt.copy(), compile_tables(self.rules), dealt["hands"][0].copy()
        evidence, has_evidence = np.zeros(N_SEATS), np.zeros(N_SEATS, bool)
        for action in played.tolist():
            if states["phase"][0] > Phase.NAMING:
                seat, logs = self._call_logs(states, hands)
                own = np.arange(N_SEATS) == seat
                evidence = np.where(own | has_evidence, evidence, logs[1] - logs[0])
                has_evidence |= ~own
                if has_evidence.all():
                    break
            step_row(states, tables, action)
        else:
            return
        unsure = (self.people > 0.0) & (self.people < 1.0)
        evidence[~unsure | hidden_hands(states[0], self.rules)] = 0.0
        evidence += ABOUT_OTHERS * (evidence.sum() - evidence)
        doubts = (1.0 - self.people) * np.exp(-evidence.clip(-MOST_NATS, MOST_NATS))
        learned = self.people / np.maximum(self.people + doubts, 1e-9)
        self.people[unsure] = learned[unsure].clip(LEAST_DOUBT, 1.0 - LEAST_DOUBT)

    def _call_logs(self, states: Array, hands: Array) -> tuple[int, Array]:
        """Return the seat to act, and `style_logs` of the other seats for their dealt `hands`.

        Seats are absolute.
        """
        layout, space = self.searcher.layout, self.searcher.space
        seen, mask = np.zeros((1, layout.size), np.int8), np.zeros((1, self.actions.n), np.int8)
        seat = int(look_row(states, compile_tables(self.rules), layout.offsets, seen[0], mask[0]))
        self.searcher.open(seen, mask, 0)
        return seat, np.roll(style_logs(space, np.roll(hands, -seat)), seat, axis=1)

    def of_observation(
        self, observation: Any, mask: Any = None, also: Sequence[int] = (), seat: int = 0
    ) -> Advice:
        """Return the advice for an observation, int8 (D,), of the seat to act.

        A `mask`, int8 (A,), must be that of the legal actions, else `OptionError` is raised. The
        other errors are those of `advise`. `seat` is only reported in the advice.
        """
        return self.advice([self._try(observation, mask, also, seat)])

    def _try(self, observation: Any, mask: Any, also: Sequence[int], seat: int) -> Situation:
        """Check an observation and its mask, try its options, and return their results.

        Raises `OptionError` or `IllegalActionError`; `seat` is only stored in the result.
        """
        size = self.searcher.layout.size
        check_array("observation", observation, np.int8, (size,), any_order=True)
        space, rows = self.searcher.space, np.array(observation[np.newaxis], order="C")
        masks = np.zeros((1, self.actions.n), np.int8)
        people = np.roll(self.people, -seat)
        space.choice_models["people"][0] = people
        if self._expect is not None:
            self._expect(people)
        if not self.searcher.open(rows, masks, 0):
            raise OptionError(
                "observation: expected that of a seat to act in a game of these rules"
            )
        if mask is not None:
            check_array("action_mask", mask, np.int8, (self.actions.n,), any_order=True)
            if not np.array_equal(mask != 0, masks[0] != 0):
                raise OptionError("action_mask: expected the mask of the observation")
        to_do = action_to_do(space.worlds[0], self.rules).removeprefix("to ")
        also = to_list("also", also, "numbers of actions")
        for action in also:
            if not is_integer(action) or not 0 <= action < self.actions.n or not masks[0][action]:
                raise IllegalActionError(f"also={brief(action)}: expected a legal action")
        counted, chosen, learned = self._count(rows, masks, also)
        plan = space.plans[0]
        return Situation(
            rules=self.rules,
            seat=seat,
            to_do=to_do,
            view=space.expert.views.copy()[0],
            mask=masks[0],
            certain=int(plan["expert_action"]) if plan["certain"] else -1,
            counted=counted,
            chosen=chosen,
            learned=learned,
            goal=self.goal,
            doubt=self._doubt(space),
            unexplained=self._unexplained(counted, seat),
        )

    def _unexplained(self, counted: Counted, seat: int) -> tuple[int, ...]:
        """Return the seats whose calls are unlikely in all deals of a position of `seat`."""
        space, chances = self.searcher.space, np.ones(N_SEATS)
        if space.expert.views["phase"][0] == Phase.AUCTION:
            best_chances(space, counted.hands, chances)
        return tuple(((seat + np.flatnonzero(chances < UNEXPLAINED)) % N_SEATS).tolist())

    def _doubt(self, space: SearchWorkspace) -> float:
        """Return the doubt about how the others bid (see `Situation`): 0 if all are agents.

        Only in the auction: the play shows more of the hands.
        """
        view, people = space.expert.views[0], space.choice_models["people"][0]
        if view["phase"] != Phase.AUCTION:
            return 0.0
        called = np.flatnonzero(view["calls"][1:] >= 0) + 1
        return DOUBT * sqrt(float(people[called].mean())) if len(called) else 0.0

    def _count(
        self, rows: Array, masks: Array, also: Sequence[int]
    ) -> tuple[Counted, int, dict[int, float]]:
        """Try the options of the open position in sampled deals.

        Options are the searcher's candidates, the calls to compare, the agent's choice and `also`.
        Returns their outcomes, the agent's choice, and its learned priors by action (empty unless
        the agent is the searcher and has priors).
        """
        searcher, chosen, compared = self.searcher, -1, np.zeros(self.actions.n, np.int8)
        if searcher.space.expert.views["phase"][0] == Phase.AUCTION:
            mark_calls(searcher.space, masks[0], compared)
        if self.agent is not searcher:
            chosen = int(self.agent.act_rows(rows, masks)[0])
            if not 0 <= chosen < self.actions.n or not masks[0][chosen]:
                raise IllegalActionError(
                    f"agent {self.agent.name!r} chooses {brief(chosen)}, which is not legal"
                )
            compared[chosen] = 1
        compared[list(also)] = 1
        plan, learned = searcher.space.plans[0], {}
        candidates = plan["actions"][: plan["n"]].tolist()
        if self.agent is searcher and plan["has_priors"]:
            worths = plan["priors"][: plan["n"]] / plan["prior_unit"]
            learned = dict(zip(candidates, worths.tolist(), strict=True))
        tried = list(dict.fromkeys(candidates + np.flatnonzero(compared).tolist()))
        several: list[Counted] = []

        def count(
            space: SearchWorkspace, net: PlayerWorkspace | None, numbers: Array, weights: Array
        ) -> None:
            n, numbers_of = len(numbers), np.array(tried, np.int64)
            ends, hands = new_rows(OUTCOMES, n * len(tried)), np.zeros((n, N_SEATS), np.int64)
            count_worlds(space, net, self.wins, numbers_of, numbers, weights, ends, hands)
            outcomes = np.asarray(ends).reshape(n, len(tried))
            design_effect = 0.0 if plan["all_worlds"] > 0.0 else float(plan["design_effect"])
            several.append(Counted(tried, outcomes, weights[numbers], hands, design_effect))

        searcher.search(searcher.clock(), count, to_the_end=True)
        if chosen < 0:
            chosen = int(np.flatnonzero(masks[0])[0])
            if masks[0].sum() > 1:
                chosen = searcher.choice()
        return Counted.of_all(several), chosen, learned

    def advice(self, trials: Sequence[Situation], taken: int | None = None) -> Advice:
        """Return the advice from the pooled deals of one or more trials of a position.

        Its `chosen` is the most frequent choice of the trials. With an action `taken`, for a
        review, `chosen` is the first option whatever its results are, and `why` explains `taken`.
        """
        first, choices = trials[0], [trial.chosen for trial in trials]
        counted = Counted.of_all([trial.counted for trial in trials])
        chosen = max(counted.actions, key=choices.count)
        order = sorted(
            counted.actions,
            key=lambda action: (
                action == first.certain,
                counted.average(action, self.figure),
                action == chosen,
            ),
            reverse=True,
        )
        if taken is not None:
            order = [chosen, *(action for action in order if action != chosen)]
        certain = order[0] == first.certain
        options = tuple(
            self._option(counted, action, order[0], certain, first.doubt) for action in order
        )
        situation = replace(first, counted=counted, chosen=chosen, options=options)
        return Advice(
            seat=first.seat,
            phase=situation.to_do,
            agent=self.agent.name,
            goal=self.goal,
            chosen=chosen,
            legal=int(first.mask.sum()),
            options=options,
            drawn=round(counted.weights.sum()),
            worlds=len(counted.weights),
            effective=counted.effective,
            exact=counted.exact,
            unexplained=tuple(
                seat
                for seat in first.unexplained
                if all(seat in each.unexplained for each in trials)
            ),
            why=why(situation, taken),
        )

    def _option(
        self, counted: Counted, action: int, best: int, certain: bool, doubt: float
    ) -> Option:
        """Return the mean results of an action, compared with those of the action `best`.

        `certain` is whether `best` is certain to take every trick left. `doubt` (see `Situation`)
        widens the intervals of the results, but not of comparisons.
        """
        column, weights, effect = counted.column(action), counted.weights, counted.design_effect
        points = column["points"].astype(float)
        effect += doubt**2 * effective(weights)
        own, bids = column["declarer"] == 0, 0 < action < self.actions.trump_offset
        stands = weights * own if bids and own.any() else weights
        average = mean(points, weights)
        wins = interval(column["wins"], weights, effect)
        if wins.low is not None and wins.high is not None:
            wins = Interval(wins.mean, max(0.0, wins.low), min(1.0, wins.high))
        loss, loss_error = counted.behind(action, best)
        wins_loss, wins_error = counted.behind(action, best, "wins")
        return Option(
            action=action,
            name=self.actions.names[action],
            points=interval(points, weights, effect),
            made=share(column["good"], weights * (own if bids else column["level"] >= 0), effect),
            wins=wins,
            tricks=mean(column["tricks"], stands),
            deviation=sqrt(mean((points - average) ** 2, weights)),
            behind=counted.gap(action, best, self.figure),
            loss=loss,
            error=loss_error,
            wins_loss=wins_loss,
            wins_error=wins_error,
            dominated=action != best and (certain or counted.dominated(action, best, self.figure)),
        )


def people_chances(people: Sequence[int]) -> Array:
    """Return the chance that a seat is a person, by seat, float64 (4,), before any calls.

    `people` are the seats at which people may sit.
    """
    return CALLERS["people"] * np.isin(np.arange(N_SEATS), people)


def hidden_hands(state: Any, rules: Rules) -> Array:
    """Return for each seat whether the others cannot deduce its dealt hand after the play, bool.

    They cannot deduce the hands of declarer and partner after an exchange, of a declarer who took
    up a kitty, and of a partner who sits out if not all cards are dealt. The result has the shape
    (4,). `state` is a row with the contract.
    """
    t, declarer, level = compile_tables(rules)[0], int(state["declarer"]), int(state["level"])
    hidden, exchanged = np.zeros(N_SEATS, bool), t["exchange"][level] > 0
    undealt = rules.kinds * rules.copies > N_SEATS * rules.tricks
    hidden[declarer] = exchanged or t["kitty"] > 0
    hidden[declarer ^ 2] = exchanged or (t["alone"][level] and undealt)
    return hidden
