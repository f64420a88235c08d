"""Search agents (perfect-information Monte Carlo): try actions in sampled deals, called worlds.

A world is played out in all four seats until few tricks are left (`playouts.py`); the solver plays
the rest. During card play `pimc` samples worlds uniformly among those consistent with the
observation; `inference` weights them by the likelihood of the others' calls, exchange and cards
(`sampler.py`), and starts from the card choice of agent `net`. Before the play both weight worlds
by the calls: with uniform worlds every bid of the others would seem easy to set.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.agents.base import RowAgent
from bideuchre_env.agents.expert.decision import PlayerWorkspace
from bideuchre_env.agents.learned.net import NetAgent
from bideuchre_env.agents.protocols import GOAL_OPTION, AgentInfo, Goal, check_goal, check_range
from bideuchre_env.agents.search.candidates import (
    begin,
    choose,
    drop_hopeless,
    lean_on_net,
    try_worlds,
)
from bideuchre_env.agents.search.sampler import AT_ONCE, WorldSampler
from bideuchre_env.agents.search.workspace import MOST_WORLDS, SearchWorkspace, new_workspace
from bideuchre_env.core.state import AUCTION, PLAY
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.cards import MAX_TRICKS
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

MOST_CONSIDERED = 1000  # maximum of the option `considered`
WORLDS = 200  # default number of worlds tried for a card
PLAYED_OUT = 200  # default number of worlds tried for a call, a strain or an exchange
# by which a candidate must beat `expert_action` if it has no prior, or is a `surprising` call
STANDARD_ERRORS = 1.0
STAGE = 40  # worlds per batch without a time limit, and before the first `drop_hopeless`
CALLS_CONSIDERED = 6  # default of `considered` before the play
LAST_CARDS = 2  # cards in hand up to which the expert's deals are better than uniform worlds
FITTED_MODEL = {
    "points": 0.4, "tricks": 0.0494, "chance": 0.06, "error_rate": 0.01, "error_points": 3.3,
    "lead": 0.316, "follow": 0.0586, "level": -0.7, "pass_": -3.5, "strain": -2.5, "giving": -4,
    "passing": -2, "spread": 1.5, "taste": 0.6, "own": 0.5, "lowest": 0.5, "daring": 0.7,
    "doubt": 0.1, "careless_lead": 0.8, "careless_follow": 0.3,
}  # fmt: skip
"""Parameters of `CHOICE_MODEL` except `reads_cards` and `people`; `agents/README.md` describes the
fit."""
CALLERS = {"agents": 0.0, "people": 0.9}
"""Values of the option `callers`, each with the chance that a seat is a person."""
TriesWorlds = Callable[[SearchWorkspace, PlayerWorkspace | None, Array, Array], None]
"""Function that tries the candidates in worlds, with the arguments of `try_worlds`."""
SOLVED = 3  # number of last tricks that the solver plays


class PimcAgent(RowAgent):
    """Plays the action with the best mean result over sampled deals of the hidden cards.

    The search stops when only one candidate is left that may be the best. If deals are sampled
    uniformly in the play, the expert plays the last two cards, because it samples more likely
    deals.

    Args:
        rules: the rules of the game.
        seed: fixes the deals, so that the same observation always gets the same action. None: a
            random seed.
        worlds: maximum number of deals in which a card is tried.
        played_out: maximum number of deals in which a call, a strain or an exchange is tried.
        considered: deals weighed per deal that is tried. The weight is the likelihood that the
            expert in the others' seats would bid and exchange as they did. Up to three times more
            are weighed if likely deals are rare. If few deals are left and `milliseconds` is None,
            all are enumerated. 0 disables weighing; None means 6 before the play and 0 in it.
        solved: number of last tricks that the solver plays, 0 to 12. Until then the expert, or the
            net with `net_cards`, plays the deal out.
        milliseconds: approximate time limit of a decision, which tries at least four deals; the
            choice then depends on the machine. None: no limit.
        net_cards: True: start from the card choice of agent `net`, which also plays out the deals
            in which cards are tried. None: the default of the class, False for `pimc`.
        callers: "agents": the weights expect calls like those of `expert`; "people": each seat is
            probably a person, who counts tricks (`search/people.py`), but perhaps an agent. None:
            "agents", but "people" in advice and at a table with people (`expect_people`).
        goal: "game": all seats are assumed to play to win the game, by the score; "points": for
            the points of each hand.
        clock: function that returns the time in seconds.

    Raises:
        OptionError: an option has an invalid value, or `net_cards` is True and the net has no
            weights for these rules.
    """

    name = "pimc"
    info = AgentInfo(
        "Monte Carlo search: tries actions in sampled deals of the hidden cards.",
        {
            "worlds": "sampled deals for a card",
            "played_out": "most sampled deals for a call, a strain or an exchange",
            "considered": "deals weighted for each deal that is tried; 0 disables weighting",
            "solved": "number of last tricks that the exact solver plays",
            "milliseconds": "approximate time limit of a decision",
            "net_cards": "true: use agent net to choose cards to try and to play out deals; "
            "default: true for inference, false for pimc",
            "callers": "whose calls are expected: agents, or people, who may also be agents; "
            "default: people in advice and play, else agents",
            **GOAL_OPTION,
        },
        milliseconds=1.5,
    )
    at_once = 2  # boards of a match in lock step: few, for early progress and a quick Ctrl-C
    considers = 0  # default of `considered` during card play
    reads_cards = 0  # 1: the weights of worlds include the likelihood of cards played
    prefers_net = False  # default of `net_cards`

    def __init__(
        self,
        rules: Rules,
        *,
        seed: int | None = None,
        worlds: int = WORLDS,
        played_out: int = PLAYED_OUT,
        considered: int | None = None,
        solved: int = SOLVED,
        milliseconds: float | None = None,
        net_cards: bool | None = None,
        callers: str | None = None,
        goal: Goal = "game",
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(rules)
        self.worlds = check_range("worlds", worlds, 1, MOST_WORLDS)
        self.played_out = check_range("played_out", played_out, 1, MOST_WORLDS)
        self.considered = (CALLS_CONSIDERED, self.considers)
        if considered is not None:
            self.considered = (check_range("considered", considered, 0, MOST_CONSIDERED),) * 2
        self.milliseconds = check_milliseconds(milliseconds)
        self.clock = clock
        self.standard_errors = STANDARD_ERRORS
        self.goal = check_goal(goal)
        self.net = self.load_net(net_cards)
        self.space = new_workspace(rules, seed, goal)
        self.cards = None if self.net is None else self.net.workspace()
        self.sampler = WorldSampler(self.space, rules.kinds, clock)
        self.space.plans["solved"] = check_range("solved", solved, 0, MAX_TRICKS)
        for part, number in FITTED_MODEL.items():
            self.space.choice_models[part] = number
        self.space.choice_models["reads_cards"] = self.reads_cards
        self.callers = check_callers(callers)
        self.space.choice_models["people"] = CALLERS[callers or "agents"]

    def expect_people(self, chances: Array | float = CALLERS["people"]) -> None:
        """Expect people as callers, unless the option `callers` is set.

        `chances`, by relative seat, (4,), or one for all, are those that a seat is a person.
        """
        if self.callers is None:
            self.space.choice_models["people"] = chances

    def load_net(self, net_cards: Any) -> NetAgent | None:
        """Return the net agent for the option `net_cards`, or None for a search without it.

        Raises `OptionError` if `net_cards` is not a bool or None, or if it is True and the net has
        no weights for these rules.
        """
        if net_cards is not None and not isinstance(net_cards, bool):
            raise OptionError(f"net_cards={brief(net_cards)}: expected True, False or None")
        if net_cards is False or (net_cards is None and not self.prefers_net):
            return None
        try:
            return NetAgent(self.rules, search=True, goal=self.goal)
        except OptionError:
            if net_cards:
                raise
            return None

    def choose(self, observations: Array, action_masks: Array) -> Array:
        """Return a legal action for every row; int64 (n,)."""
        choices: Array = action_masks.argmax(axis=1).astype(np.int64)
        for i in np.flatnonzero(action_masks.astype(bool).sum(axis=1) > 1):
            began = self.clock()
            self.open(observations, action_masks, int(i))
            if self.space.plans[0]["n"] > 1 and not self.takes_expert_action():
                self.search(began)
            choices[i] = self.choice()
        return choices

    def open(self, observations: Array, action_masks: Array, i: int) -> bool:
        """Rebuild the position of row i in `space`, and list its candidate actions in the plan.

        A mask of zeros is overwritten by that of the position. Returns False, and the list is
        empty, for an observation that no game has, or another mask.
        """
        opened = begin(self.space, observations, action_masks, i)
        if self.cards is not None:
            lean_on_net(self.space, self.cards, action_masks, i)
        return bool(opened)

    def search(
        self, began: float, tries: TriesWorlds = try_worlds, to_the_end: bool = False
    ) -> None:
        """Try the candidates of the open position in batches of sampled worlds.

        `tries` tries one batch; `began` is the clock's reading from which the time limit counts.
        Candidates that are significantly worse than the best are dropped; calls also before the
        first world, by their priors. The search stops at the time limit, and when only one
        candidate is left unless `to_the_end`. `choice` then returns the action.
        """
        space = self.space
        limit = inf if self.milliseconds is None else self.milliseconds / 1000
        phase = int(space.expert.views[0]["phase"])
        # only calls: the net's priors of cards are sometimes off by much more than `NET_ERROR`
        if phase == AUCTION and drop_hopeless(space.plans) == 1 and not to_the_end:
            return
        in_play = phase == PLAY
        worlds = self.worlds if in_play else self.played_out
        weights = self.sampler.weights(worlds, self.considered[in_play], began + limit / 2)
        numbers = np.flatnonzero(weights)
        step = STAGE if limit == inf else AT_ONCE
        for first in range(0, len(numbers), step):
            tries(space, self.cards, numbers[first : first + step], weights)
            if self.sampler.report is not None:
                done = min(first + step, len(numbers))
                self.sampler.report("played out", done, len(numbers))
            staged = first + step >= STAGE
            if staged and drop_hopeless(space.plans) == 1 and not to_the_end:
                break
            if self.clock() >= began + limit:
                break

    def takes_expert_action(self) -> bool:
        """Whether to play the plan's `expert_action` without search.

        This is so if the action is certain to take every trick left. In the play it is also so if
        worlds are uniform and few cards are in hand (`LAST_CARDS`).
        """
        if self.space.plans[0]["certain"]:
            return True
        view, uniform = self.space.expert.views[0], self.considered[1] == 0
        return bool(uniform and view["phase"] == PLAY and view["cards_left"][0] <= LAST_CARDS)

    def choice(self) -> int:
        """Return the best action in the worlds tried so far, or `expert_action` without search."""
        if self.takes_expert_action():
            return int(self.space.plans[0]["expert_action"])
        return int(choose(self.space.plans, self.space.expert.tables, self.standard_errors))


class InferenceAgent(PimcAgent):
    """Like `PimcAgent`, but weighs worlds also during card play, by calls, exchange and cards.

    It has the arguments of `PimcAgent`. `considered=None` means 6 before the play and 10 in it.
    `net_cards=None` means True if agent `net` has weights for the rules, else False.
    """

    name = "inference"
    info = replace(
        PimcAgent.info,
        description="Like pimc, but gives more weight to deals that explain the others' actions.",
        milliseconds=6.6,
    )
    considers = 10
    reads_cards = 1
    prefers_net = True


def check_callers(callers: Any) -> str | None:
    """Return the option `callers`; raise `OptionError` unless it is None or one of `CALLERS`."""
    if callers is not None and (not isinstance(callers, str) or callers not in CALLERS):
        raise OptionError(f"callers={brief(callers)}: expected {', '.join(CALLERS)} or None")
    return callers


def check_milliseconds(milliseconds: Any) -> float | None:
    """Return a time limit in ms as a float, or None for no limit.

    Raises `OptionError` unless it is above 0 and at most an hour.
    """
    if milliseconds is None:
        return None
    number = isinstance(milliseconds, (int, float)) and not isinstance(milliseconds, bool)
    if not number or not 0 < milliseconds <= 3_600_000:
        raise OptionError(
            f"milliseconds={brief(milliseconds)}: expected above 0 and up to 3,600,000, or None"
        )
    return float(milliseconds)
