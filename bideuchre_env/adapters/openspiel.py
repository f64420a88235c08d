"""The games as Python games of OpenSpiel: all variants, and custom games through `register`.

    pyspiel.load_game("bideuchre_cincinnati_v0(dealer=0)")

Four players act in turn, with partners opposite (0 and 2, 1 and 3). Chance nodes draw the dealer
and deal card by card; the utility is zero-sum. Actions and their names are those of the other
environments. The parameters are `episode` ("hand", the default, or "game"), `reward` ("points", the
default for hands, or "win", the default for games) and `dealer` (a seat; -1 draws the first one).

An information state string is a seat's history of the game as text. The information state tensor,
if an episode is a hand, is the observation scaled to [-1, 1]: it has the whole hand except the
order in which the seat put cards aside. Whole games have only the tensor of the hand in progress.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bideuchre_env._checks import brief
from bideuchre_env.adapters.common import Game, needs, variant_of
from bideuchre_env.adapters.dealt_game import CHANCE, OVER, PUBLIC, DealtGame
from bideuchre_env.agents.making import agent_of
from bideuchre_env.agents.protocols import AgentSource, Goal
from bideuchre_env.core.observation.layout import layout_of
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.envs.options import EpisodeOptions
from bideuchre_env.envs.registration import make, variants
from bideuchre_env.errors import OptionError
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import AGENT_NAMES, CARD_NAMES, N_SEATS
from bideuchre_env.rules.parse import parse_dealer
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array

with needs("openspiel"):
    import pyspiel

PREFIX = "bideuchre_"
_DEFAULTS: dict[str, Any] = {"episode": "hand", "reward": "", "dealer": -1}
_MOST = 2**31 - 1
_registered: dict[str, Rules] = {}


def register(game: Game) -> str:
    """Register a game with OpenSpiel; return its name for `pyspiel.load_game`.

    Args:
        game: a variant, or an argument of `bideuchre_env.make`.

    Returns:
        `bideuchre_` and the name of the variant.

    Raises:
        OptionError: if the name is registered with other rules, or has characters other than
            letters, digits and _.
    """
    variant = variant_of(game)
    name = PREFIX + variant.name
    if not name.isidentifier():
        raise OptionError(f"name={brief(variant.name)}: expected letters, digits and _")
    if _registered.setdefault(name, variant.rules) != variant.rules:
        raise OptionError(
            f"{name!r} is registered with other rules: make(rules, name=...) gives these a name of "
            "their own"
        )

    # A class, not a function: the library releases it after the interpreter has ended, when only a
    # class, which references itself, still exists.
    made = type("BidEuchreGame", (BidEuchreGame,), {"name": name, "rules": variant.rules})
    pyspiel.register_game(_game_type(name, EpisodeOptions(episode="hand")), made)
    return name


def _game_type(name: str, options: EpisodeOptions) -> Any:
    kind = pyspiel.GameType
    several = options.episode == "game" and options.reward == "points"
    return kind(
        short_name=name,
        long_name=name.replace("_", " ").title(),
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kind.Information.IMPERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM,
        reward_model=kind.RewardModel.REWARDS if several else kind.RewardModel.TERMINAL,
        max_num_players=N_SEATS,
        min_num_players=N_SEATS,
        provides_information_state_string=True,
        provides_information_state_tensor=options.episode == "hand",
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_DEFAULTS,
    )


class BidEuchreGame(pyspiel.Game):
    """A game of `rules`, registered under `name`; `pyspiel.load_game` creates it.

    An invalid value of a parameter raises `OptionError`; see the module for the parameters.
    """

    name: str
    rules: Rules

    def __init__(self, parameters: dict[str, Any] | None = None) -> None:
        rules, values = self.rules, _DEFAULTS | (parameters or {})
        chosen = {"episode": values["episode"], "reward": values["reward"] or None}
        options = EpisodeOptions.chosen(chosen, self.name)
        dealer = values["dealer"]
        self.options = options
        self.dealer = parse_dealer(None if dealer == -1 else dealer)
        hands = rules.max_hands if options.episode == "game" else 1
        by_points = options.reward == "points"
        tables = compile_tables(rules)  # the bound of a hand follows
        bound = int(np.abs(tables["payoff"]).max()) + max(rules.tricks, int(tables["others"].max()))
        most = bound * hands if by_points else 1.0
        decisions = rules.most_calls + 1 + 2 * rules.exchange + rules.cards
        self._chances = min(_MOST, 1 + N_SEATS * rules.tricks * hands)
        info = pyspiel.GameInfo(
            num_distinct_actions=actions.of(rules).n,
            max_chance_outcomes=max(N_SEATS, rules.kinds),
            num_players=N_SEATS,
            min_utility=-float(most),
            max_utility=float(most),
            utility_sum=0.0,
            max_game_length=min(_MOST, decisions * hands),
        )
        super().__init__(_game_type(self.name, options), info, parameters or {})

    def max_chance_nodes_in_history(self) -> int:
        """Return the maximum number of chance nodes in a game."""
        return self._chances

    def new_initial_state(self) -> BidEuchreState:
        """Return the state before the first deal."""
        return BidEuchreState(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the game by name: pickle cannot import a class that `register` has created."""
        return _load, (self.name, self.rules, str(self))

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """Return an `Observer`, by default of this hand only, else as `iig_obs_type` requests.

        Raises `OptionError` for `params`, and for a type that `Observer` does not support.
        """
        if params:
            raise OptionError(f"observer parameters {brief(params)}: expected none")
        return Observer(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


def _load(name: str, rules: Rules, game: str) -> Any:
    """Load a pickled game; register its rules first in a process that lacks them."""
    if _registered.get(name) != rules:
        register(make(rules, name=name.removeprefix(PREFIX)))
    return pyspiel.load_game(game)


class BidEuchreState(pyspiel.State):
    """A state of a game: OpenSpiel's history, with the game in `dealt_game`."""

    def __init__(self, game: BidEuchreGame) -> None:
        super().__init__(game)
        options = game.options
        self.dealt_game = DealtGame(game.rules, options.episode, options.reward, game.dealer)

    def current_player(self) -> int:
        """Return the seat to act, or OpenSpiel's id for chance or for a finished game."""
        turn = self.dealt_game.turn
        if turn >= 0:
            return turn
        return pyspiel.PlayerId.CHANCE if turn == CHANCE else pyspiel.PlayerId.TERMINAL

    def is_terminal(self) -> bool:
        """Return whether the episode is over."""
        return self.dealt_game.turn == OVER

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the possible first dealers or next card kinds, each with its probability."""
        return self.dealt_game.chances()

    def _legal_actions(self, player: int) -> list[int]:
        return self.dealt_game.legal()

    def _apply_action(self, action: int) -> None:
        self.dealt_game.choose(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player != pyspiel.PlayerId.CHANCE:
            return actions.of(self.dealt_game.rules).names[action]
        return AGENT_NAMES[action] if self.dealt_game.awaits_dealer else CARD_NAMES[action]

    def returns(self) -> list[float]:
        """Return the sum of rewards by seat so far; partners have the same."""
        return _by_seat(self.dealt_game.paid)

    def rewards(self) -> list[float]:
        """Return the rewards by seat of the last decision; chance choices do not reset them."""
        return _by_seat(self.dealt_game.paid_last)

    def resample_from_infostate(
        self, player_id: int, sampler: Callable[[], float]
    ) -> BidEuchreState:
        """Return a state with redrawn hidden cards; all possible deals are equally likely.

        `sampler` returns numbers in [0, 1). At a chance node or the end the state is a copy.
        """
        game = self.dealt_game
        if game.turn < 0:
            return self.clone()
        state = self.get_game().new_initial_state()
        before = self.history()[: game.hand_began]
        for choice in before + game.resampled(player_id, sampler):
            state.apply_action(choice)
        return state

    def __str__(self) -> str:
        return str(self.dealt_game)


def _by_seat(side_0: float) -> list[float]:
    return [side_0, -side_0, side_0, -side_0]


class Observer:
    """The view of a player or spectator: `tensor`, and `dict` with its part of each layout block.

    The tensor is float32 (D,), the observation scaled to [-1, 1]. Without private information it
    has only the public blocks, relative to seat 0. Raises `OptionError` for a `kind` without public
    information, or with all players' private information.
    """

    def __init__(self, game: BidEuchreGame, kind: Any) -> None:
        private = pyspiel.PrivateInfoType
        if not kind.public_info or kind.private_info == private.ALL_PLAYERS:
            raise OptionError(
                f"{kind}: observers see what is public, and one player's private part or none"
            )
        self._all_hands = kind.perfect_recall
        self._public = kind.private_info == private.NONE
        layout = layout_of(game.rules)
        self._start = layout.private_size if self._public else 0
        self._scale = layout.scale[self._start :]
        self.tensor = np.zeros(layout.size - self._start, np.float32)
        self.dict = {}
        for block in layout.blocks:
            if not (block.private and self._public):
                at = layout.slices[block.name]
                part = self.tensor[at.start - self._start : at.stop - self._start]
                self.dict[block.name] = part.reshape(block.shape)

    def set_from(self, state: BidEuchreState, player: int) -> None:
        """Fill `tensor` with a player's observation; without private information with seat 0's."""
        seen = state.dealt_game.observation(0 if self._public else player)
        np.multiply(seen[self._start :], self._scale, out=self.tensor)

    def string_from(self, state: BidEuchreState, player: int) -> str:
        """Return a player's history of this hand, or of the whole game with perfect recall.

        Without private information it is the spectator's.
        """
        return state.dealt_game.history_of(PUBLIC if self._public else player, self._all_hands)


class AgentBot(pyspiel.Bot):
    """An agent of this package as a bot of OpenSpiel, for example for `pyspiel.evaluate_bots`.

    Args:
        game: the loaded game. Its reward sets the agent's goal: the points of the hand, or the win
            of the game.
        agent: a name, an agent, or a class or function that creates one.
        seed: the agent's seed.
    """

    def __init__(self, game: BidEuchreGame, agent: AgentSource, seed: int | None = None) -> None:
        super().__init__()
        goal: Goal = "points" if game.options.reward == "points" else "game"
        self._agent = agent_of(agent, game.rules, seed=seed, goal=goal)

    def step(self, state: BidEuchreState) -> int:
        """Return the agent's action for the seat to act."""
        game = state.dealt_game
        return int(self._agent.act(game.observation(game.turn).copy(), game.mask().copy()))

    def restart(self) -> None:
        """Do nothing: no state is carried from game to game."""

    restart_at = inform_action = lambda self, *args: None


def duplicate_boards(
    game: BidEuchreGame, ours: Sequence[Any], theirs: Sequence[Any], boards: int, seed: int = 0
) -> Array:
    """Play duplicate boards: each is played twice with the same deals and the sides swapped.

    Args:
        game: the loaded game.
        ours: four bots by seat; they may be the same bot.
        theirs: the four opposing bots by seat.
        boards: the number of boards.
        seed: board i is dealt from `seed` + i.

    Returns:
        Our mean return per game on each board, float64 (boards,).
    """
    totals = np.zeros(boards)
    for side in range(2):
        sides = (ours, theirs) if side == 0 else (theirs, ours)
        bots = [sides[seat % 2][seat] for seat in range(N_SEATS)]
        for board in range(boards):
            state = game.new_initial_state()  # only chance draws from the seed
            totals[board] += pyspiel.evaluate_bots(state, bots, seed + board)[side] / 2
    return totals


def _guard_bots() -> None:
    """Prevent two bots of the library from crashing the process when they search Python games.

    Their `step` calls Python without holding the GIL. `MCTSBot.step_with_policy` holds it, so it
    replaces `step`. `ISMCTSBot` cannot ask a Python game to redeal hidden cards at all.
    """

    def guarded(bot: type, name: str, instead: Callable[[Any, Any], Any]) -> None:
        own = getattr(bot, name)
        own = getattr(own, "unguarded", own)  # this module may be loaded again

        def method(self: Any, state: Any) -> Any:
            return (instead if isinstance(state, BidEuchreState) else own)(self, state)

        method.__doc__, method.unguarded = own.__doc__, own  # type: ignore[attr-defined]
        setattr(bot, name, method)

    def refuse(bot: Any, state: Any) -> None:
        raise OptionError(
            "pyspiel.ISMCTSBot cannot redeal the hidden cards of a game in Python: "
            "open_spiel.python.algorithms.ismcts.ISMCTSBot can, and takes the same arguments"
        )

    guarded(pyspiel.MCTSBot, "step", lambda bot, state: bot.step_with_policy(state)[1])
    for name in ("step", "get_policy", "step_with_policy"):
        guarded(pyspiel.ISMCTSBot, name, refuse)


_guard_bots()
for _variant in variants.values():
    register(_variant)
