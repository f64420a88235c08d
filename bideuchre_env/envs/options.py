"""The options of every environment, each declared once, with its values and its default.

The rules of the game are the options of `Rules`. These options define how a player interacts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypedDict, TypeVar, get_args

from bideuchre_env._checks import brief, check_flag, is_number, unknown_options
from bideuchre_env.errors import DealError, OptionError, UnknownOptionError
from bideuchre_env.rules.options import GameKeywords
from bideuchre_env.rules.parse import parse_seat
from bideuchre_env.runtime.devices import check_device
from bideuchre_env.runtime.threads import check_threads

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode

    from bideuchre_env.agents.protocols import AgentSource
    from bideuchre_env.envs.pool import OpponentPool

Episode: TypeAlias = Literal["game", "hand"]
Reward: TypeAlias = Literal["win", "points"]
ObservationKind: TypeAlias = Literal["dict", "flat", "features"]
RenderMode: TypeAlias = Literal["human", "ansi", "rgb_array"]
View: TypeAlias = Literal["all", "actor", 0, 1, 2, 3]
Device: TypeAlias = Literal["cpu", "cuda"]
Opponents: TypeAlias = "AgentSource | tuple[AgentSource, AgentSource] | OpponentPool"
"""Both opponents: one agent for both seats, the agents of the left and right, or a pool."""
Partner: TypeAlias = "AgentSource | OpponentPool"
"""The partner: an agent, or a pool."""
AutoresetName: TypeAlias = Literal["SameStep", "NextStep", "Disabled"]

EPISODES: tuple[Episode, ...] = get_args(Episode)
REWARDS: tuple[Reward, ...] = get_args(Reward)
OBSERVATIONS: tuple[ObservationKind, ...] = get_args(ObservationKind)
VIEWS: tuple[View, ...] = get_args(View)


class EpisodeKeywords(TypedDict, total=False):
    """The keywords of `EpisodeOptions`, each with the type that checkers accept."""

    episode: Episode
    reward: Reward | None
    observation: ObservationKind


class ViewKeywords(EpisodeKeywords, total=False):
    """The keywords of `ViewOptions`."""

    render_mode: RenderMode | None
    view: View


class HostVecKeywords(EpisodeKeywords, total=False):
    """The keywords of `VecOptions` without `device`, for libraries with their own `device`."""

    skip_forced: bool
    threads: int
    copy: bool


class VecKeywords(HostVecKeywords, total=False):
    """The keywords of `VecOptions`."""

    device: Device


class _LearnerKeywords(ViewKeywords, total=False):
    skip_forced: bool
    seat: int | None
    illegal_reward: float | None


class SoloKeywords(_LearnerKeywords, total=False):
    """The keywords of `SoloOptions`."""

    opponents: Opponents
    partner: Partner | None


class HostSoloVecKeywords(_LearnerKeywords, HostVecKeywords, total=False):
    """The keywords of `SoloVecOptions` without `device`."""

    opponents: Opponents | Sequence[Opponents]
    partner: Partner | Sequence[Partner] | None
    autoreset_mode: AutoresetMode | AutoresetName


class SoloVecKeywords(HostSoloVecKeywords, VecKeywords, total=False):
    """The keywords of `SoloVecOptions`."""


class EnvGameKeywords(GameKeywords, ViewKeywords, total=False):
    """The keywords of `Variant.env`: the options of the rules and of the environment."""


class VecGameKeywords(GameKeywords, VecKeywords, total=False):
    """The keywords of `Variant.vec`."""


class SoloGameKeywords(GameKeywords, SoloKeywords, total=False):
    """The keywords of `Variant.solo`."""


class SoloVecGameKeywords(GameKeywords, SoloVecKeywords, total=False):
    """The keywords of `Variant.solo_vec`."""


class HostVecGameKeywords(GameKeywords, HostVecKeywords, total=False):
    """The keywords of `Variant.vec` without `device`."""


class HostSoloVecGameKeywords(GameKeywords, HostSoloVecKeywords, total=False):
    """The keywords of `Variant.solo_vec` without `device`."""


Options = TypeVar("Options", bound="EpisodeOptions")


def check_keywords(keywords: Iterable[str], allowed: Sequence[str], whose: str) -> None:
    """Raise `UnknownOptionError` unless all keywords are `allowed`; the message names `whose`."""
    if unknown := unknown_options(keywords, allowed, f" of {whose}", "unexpected keyword argument"):
        raise UnknownOptionError(unknown)


def check_choice(name: str, value: Any, words: tuple[Any, ...]) -> None:
    """Raise `OptionError` unless the value of an option is in `words`."""
    if type(value) not in (str, int, type(None)) or value not in words:
        raise OptionError(f"{name}={brief(value)}: expected one of {', '.join(map(repr, words))}")


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions:
    """The options of every environment: episode, reward and form of observations.

    Raises `OptionError` for an invalid value.
    """

    episode: Episode = "game"
    """The length of an episode: "game", a whole game, or "hand", one hand."""
    reward: Reward = None  # type: ignore[assignment]  # replaced by __post_init__
    """"win": 1 and -1 to the sides at the end of a won game; "points": after each hand, the side's
    points minus the other's. None is "win" for games, "points" for hands."""
    observation: ObservationKind = "dict"
    """"dict": the int8 vector and the mask. "flat": the vector alone, float32 and scaled to
    [-1, 1] by `Layout.scale`; the mask is in the infos. "features": the inputs of `FeatureEncoder`
    alone, float32 in [-1, 1], for learning; they do not have the order of play. Suits are renamed,
    trump first, and so are the actions in masks and in `step`; "symmetry" in the infos is the
    number of the renaming, 0 to 7. Names of actions, records and agents keep the game's suits."""

    def __post_init__(self) -> None:
        check_choice("episode", self.episode, EPISODES)
        if vars(self)["reward"] is None:
            object.__setattr__(self, "reward", "win" if self.episode == "game" else "points")
        check_choice("reward", self.reward, REWARDS)
        check_choice("observation", self.observation, OBSERVATIONS)

    @classmethod
    def chosen(cls: type[Options], options: Mapping[str, Any], whose: str) -> Options:
        """Return options made from keywords; `UnknownOptionError` for an unknown keyword.

        Its message names `whose`, a variant. Raises `OptionError` for an invalid value.
        """
        check_keywords(options, cls.names(), whose)
        return cls(**options)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all options of this class, inherited ones included."""
        return tuple(field.name for field in fields(cls))


@dataclass(frozen=True, kw_only=True)
class ViewOptions(EpisodeOptions):
    """The options of environments that can render the table."""

    render_modes: ClassVar[tuple[str, ...]] = get_args(RenderMode)

    render_mode: RenderMode | None = None
    """None, "ansi" (the table as text), "human" (printed after every step) or "rgb_array" (pixels,
    uint8 (488, 760, 3), which need the extra `render`)."""
    view: View = "all"
    """Visible hands: "all", the "actor"'s (a learner's own) or those of a seat."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("view", self.view, VIEWS)
        check_choice("render_mode", self.render_mode, (None, *self.render_modes))


@dataclass(frozen=True, kw_only=True)
class VecOptions(EpisodeOptions):
    """The options of `BidEuchreVec`."""

    skip_forced: bool = False
    """True: a step also plays the decisions that follow with a single legal action, in random games
    a third of all decisions, up to the end of the hand."""
    threads: int = 1
    """The number of threads that share the rows."""
    copy: bool = True
    """True: returned arrays are copies. False, which is faster: they are the environment's own
    arrays, and the next call overwrites them."""
    device: Device = "cpu"
    """Device that stores and steps the rows: "cpu", or "cuda" (a GPU), with the extra `cuda`.
    Returned arrays and actions are then on the GPU, and a learner's partner and opponents can only
    be "random", "cautious" and "rule", also in pairs and pools. Experimental."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("skip_forced", self.skip_forced)
        check_threads(self.threads)
        check_flag("copy", self.copy)
        check_device(self.device)
        if self.device != "cpu" and self.threads != 1:
            raise OptionError(
                f"threads={self.threads}, device={self.device!r}: expected threads only with "
                "device='cpu'"
            )


@dataclass(frozen=True, kw_only=True)
class SoloOptions(ViewOptions):
    """The options of `SoloEnv`."""

    opponents: Opponents | Sequence[Opponents] = "random"
    """A player, a pair (left, right), or an `OpponentPool` to draw from in every episode; for a
    vector environment also a list of these by row (a list is never a pair). A player is an agent's
    name for `agents.make`, an agent, a function `(observation, mask) -> action`, or a class or
    function that creates an agent. The agent's goal is points if the `episode` is a hand, else the
    game. A function gets the learner's form of observations, masks and actions, so that a snapshot
    of the learner can be an opponent; agents always get int8. `reset(options={"opponents": ...})`
    changes them."""
    partner: Partner | Sequence[Partner] | None = None
    """A player, an `OpponentPool` of players, or a list by row. None is the player of both
    opponents when the environment is made, and an error if they differ; only
    `reset(options={"partner": ...})` changes it later. `players` and the repr name the partner;
    infos name it only in rows that draw from an `OpponentPool`."""
    seat: int | None = None
    """The learner's seat, 0 to 3; None draws one for every episode."""
    skip_forced: bool = False
    """True: decisions of the learner with a single legal action are played by the environment, but
    for its first decision in an episode."""
    illegal_reward: float | None = None
    """The reward of an illegal action, which also ends the episode. None is minus an
    upper bound of the loss of an episode, so that quitting never pays: -1 with `reward="win"`; with
    "points" minus the largest loss of a hand, for a game times the largest number of hands."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("skip_forced", self.skip_forced)
        if self.seat is not None:
            object.__setattr__(self, "seat", learners_seat(self.seat))
        if self.illegal_reward is not None:
            if not is_number(self.illegal_reward):
                raise OptionError(
                    f"illegal_reward={brief(self.illegal_reward)}: expected a finite number or None"
                )
            object.__setattr__(self, "illegal_reward", float(self.illegal_reward))


@dataclass(frozen=True, kw_only=True)
class SoloVecOptions(SoloOptions, VecOptions):
    """The options of `SoloVectorEnv`: those of `SoloOptions`, of `VecOptions`, and its own."""

    render_modes: ClassVar[tuple[str, ...]] = ("ansi", "rgb_array")

    autoreset_mode: AutoresetMode | AutoresetName = "SameStep"
    """"SameStep", "NextStep" or "Disabled", or Gymnasium's `AutoresetMode`."""


METHOD_OPTIONS: dict[str, type[EpisodeOptions]] = {
    **dict.fromkeys(("env", "raw_env", "parallel_env"), ViewOptions),
    **{"vec": VecOptions, "solo": SoloOptions, "solo_vec": SoloVecOptions},
}
"""Options of the environment that each method of `Variant` makes."""


def learners_seat(seat: Any) -> int:
    """The learner's seat as a number; `OptionError` unless it is one from 0 to 3."""
    try:
        return parse_seat("seat", seat)
    except DealError as error:
        raise OptionError(f"{error}, or None to draw one for every episode") from None
