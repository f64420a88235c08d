"""`Variant`, the class of `cincinnati_v0` and the other games, and their ids in registries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from bideuchre_env._checks import check_name
from bideuchre_env._deprecation import RENAMED
from bideuchre_env.envs.options import (
    EnvGameKeywords,
    SoloGameKeywords,
    SoloOptions,
    SoloVecGameKeywords,
    SoloVecOptions,
    VecGameKeywords,
    VecOptions,
    ViewOptions,
    check_keywords,
)
from bideuchre_env.envs.pool import OPPONENTS, PARTNER, OpponentPool
from bideuchre_env.envs.registry_ids import gymnasium_id, pettingzoo_id
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.options import OPTIONS, GameKeywords
from bideuchre_env.rules.rules import Rules, check_game, variant_name
from bideuchre_env.rules.toml_file import is_rules_file, read_rules_file
from bideuchre_env.rules.variants import CUSTOM, RULES

if TYPE_CHECKING:
    from pettingzoo.utils.env import ParallelEnv
    from typing_extensions import Unpack

    from bideuchre_env.envs.aec.env import BidEuchreEnv
    from bideuchre_env.envs.aec.wrapped import WrappedEnv
    from bideuchre_env.envs.solo.env import SoloEnv
    from bideuchre_env.envs.solo.vector_env import SoloVectorEnv
    from bideuchre_env.envs.vector.env import BidEuchreVec
    from bideuchre_env.runtime.jit import Array

FACE_OPTIONS = {*ViewOptions.names(), *VecOptions.names(), *SoloVecOptions.names()}


class _Documentation:
    """The docstring of `Variant`, and for an instance the manual of its game.

    `help(variant)` prints the docstring of an instance if it differs from that of the class.
    """

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __get__(self, variant: Variant | None, owner: type) -> str | None:
        if variant is None:
            return self.text
        from bideuchre_env.envs.manual import manual

        return manual(variant.name, variant.rules)


class Variant:
    """A game, with a method for each kind of environment; calling it makes the PettingZoo one.

    `help(bideuchre_env.cincinnati_v0)` prints the manual of a variant: rules, action space,
    observation space, rewards, starting state, episode end and arguments.

    Attributes:
        name: the name of the variant, such as "cincinnati_v0".
        rules: the `Rules` of the game.
    """

    __doc__ = _Documentation(__doc__)

    def __init__(self, name: str, rules: Rules) -> None:
        check_game(rules, name)
        self.name = name
        self.rules = rules

    def env(self, **options: Unpack[EnvGameKeywords]) -> WrappedEnv:
        """Return the AEC environment, wrapped as PettingZoo's are: an illegal action ends the game.

        Args:
            options: the options of the rules (`GameOptions`) and of the environment
                (`ViewOptions`).

        Raises:
            UnknownOptionError: for another keyword; also a `TypeError`.
            RulesError: for an invalid option of the rules.
            OptionError: for an invalid option of the environment.

        Example:
            env = bideuchre_env.cincinnati_v0(episode="hand", render_mode="ansi")
        """
        from bideuchre_env.envs.aec.wrapped import WrappedEnv

        return WrappedEnv(self.raw_env(**options))

    __call__ = env

    def raw_env(self, **options: Unpack[EnvGameKeywords]) -> BidEuchreEnv:
        """Return the AEC environment without wrappers; illegal actions raise `IllegalActionError`.

        Args:
            options: those of `env`; the errors are the same.
        """
        from bideuchre_env.envs.aec.env import BidEuchreEnv

        rules, face = self._split(options, ViewOptions.names())
        return BidEuchreEnv(rules, self.name, **face)

    def vec(self, num_envs: int, **options: Unpack[VecGameKeywords]) -> BidEuchreVec:
        """Return many tables for self-play, stepped together.

        Args:
            num_envs: the number of tables n; arrays have a row for each.
            options: the options of the rules and of `VecOptions`; the errors are those of `env`.

        Example:
            vec = bideuchre_env.cincinnati_v0.vec(4096, threads=2, observation="flat")
        """
        from bideuchre_env.envs.vector.env import BidEuchreVec

        rules, face = self._split(options, VecOptions.names())
        return BidEuchreVec(rules, self.name, num_envs, **face)

    def solo(self, **options: Unpack[SoloGameKeywords]) -> SoloEnv:
        """Return the Gymnasium environment of one learner; the other seats act inside it.

        Args:
            options: the options of the rules and of `SoloOptions`; the errors are those of `env`.

        Example:
            env = bideuchre_env.cincinnati_v0.solo(opponents="rule", seat=0)
        """
        from bideuchre_env.envs.solo.env import SoloEnv

        rules, face = self._split(options, SoloOptions.names())
        return SoloEnv(rules, self.name, **face)

    def solo_vec(self, num_envs: int, **options: Unpack[SoloVecGameKeywords]) -> SoloVectorEnv:
        """Return the Gymnasium vector environment of one learner at each of many tables.

        Args:
            num_envs: the number of tables n.
            options: the options of the rules and of `SoloVecOptions`; the errors are those of
                `env`.
        """
        from bideuchre_env.envs.solo.vector_env import SoloVectorEnv

        rules, face = self._split(options, SoloVecOptions.names())
        return SoloVectorEnv(rules, self.name, num_envs, **face)

    @property
    def gymnasium_id(self) -> str | None:
        """The id of the declared variant of this name in Gymnasium's registry; None without one.

        The name decides: with changed options, the id is still that of the unchanged variant.
        """
        return gymnasium_id(self.name) if self.name in variants else None

    def parallel_env(
        self, **options: Unpack[EnvGameKeywords]
    ) -> ParallelEnv[str, dict[str, Array], Any]:
        """Return the game as a PettingZoo `ParallelEnv`, for tools that require one.

        Seats still act in turn: a step takes the actions of all agents and applies that of the
        agent to act. Spaces, rewards and the end of an episode are those of `env`: an illegal
        action ends the game.

        Args:
            options: those of `env`; the errors are the same.
        """
        from pettingzoo.utils.conversions import turn_based_aec_to_parallel

        env = self.env(**options)
        env.metadata["is_parallelizable"] = True
        return turn_based_aec_to_parallel(env)

    def replace(self, **options: Unpack[GameKeywords]) -> Variant:
        """Return a copy of this variant with some options of its rules changed; its name stays.

        Args:
            options: those of `Rules.replace`; the errors are the same.
        """
        return Variant(self.name, self.rules.replace(**options))

    def _split(
        self, options: Mapping[str, Any], face: tuple[str, ...]
    ) -> tuple[Rules, dict[str, Any]]:
        """Return the changed rules, and the options that an environment (`face`) takes.

        Raises `UnknownOptionError` for any other option, `RulesError` for invalid rules.
        """
        check_keywords(options, (*face, *OPTIONS), self.name)
        game = {name: value for name, value in options.items() if name in OPTIONS}
        rest = {name: value for name, value in options.items() if name not in OPTIONS}
        return (self.rules.replace(**game) if game else self.rules), rest

    def __repr__(self) -> str:
        return f"<{self.name}: {self.rules.cards} cards, {self.rules.tricks} tricks>"


variants: dict[str, Variant] = {name: Variant(name, rules) for name, rules in RULES.items()}
"""Every declared variant, by name."""


def make(
    game: str | PathLike[str] | Rules, *, name: str | None = None, **options: Unpack[GameKeywords]
) -> Variant:
    """Return a `Variant` by the name of a declared one, from custom `Rules`, or from a file.

    Args:
        game: a name ("barrie" is short for "barrie_v0"), a `Rules` value, or the path of a .toml
            file, which `Rules.from_toml` reads.
        name: the name of a custom game; by default the name in its file, or "custom_v0".
        options: options of the rules that differ, see `GameOptions`.

    Raises:
        OptionError: for an unknown variant, a name for a declared one, or an option of
            environments.
        RulesError: for invalid rules or an invalid file; `UnknownRuleError` for an unknown option.

    Example:
        game = bideuchre_env.make("barrie", target=32)
        env = game.env()
    """
    if name is not None:
        check_name(name)
    if isinstance(game, Rules):
        variant = Variant(name or CUSTOM, game)
    elif is_rules_file(game):
        file = read_rules_file(game, OPTIONS)
        variant = Variant(name or file.name or CUSTOM, Rules.from_toml(file))
        if variant.rules != RULES.get(variant.name, variant.rules):
            raise file.fault(
                f"{variant.name!r} is a declared variant with other rules: give this game a name "
                'of its own, as name = "ours"'
            )
    else:
        try:
            declared = variant_name(game)
        except OptionError as error:
            raise OptionError(f"{error}, Rules, or the path of a .toml file") from None
        if name is not None:
            raise OptionError(
                f"name={name!r}: expected only with custom rules; {declared} has a name"
            )
        variant = variants[declared]
    for option in options:
        if option in FACE_OPTIONS:
            raise OptionError(
                f"{option!r} is an option of environments, not of rules: pass it to .env(), "
                ".raw_env(), .vec(), .solo() or .solo_vec()"
            )
    return variant.replace(**options) if options else variant


def make_solo(variant: str, **options: Unpack[SoloGameKeywords]) -> SoloEnv:
    """Return a declared variant's `SoloEnv`: Gymnasium's entry point.

    The players may come from JSON, as in a stored `EnvSpec`: see `_players`.
    """
    return make(variant).solo(**_with_players(options, _players))


def make_solo_vec(
    variant: str, num_envs: int = 1, **options: Unpack[SoloVecGameKeywords]
) -> SoloVectorEnv:
    """Return the `SoloVectorEnv` of a declared variant: Gymnasium's vector entry point.

    The players may come from JSON, see `_players`; a list of players is by row.
    """

    def by_row(value: Any) -> Any:
        return list(map(_players, value)) if isinstance(value, list) else _players(value)

    return make(variant).solo_vec(num_envs, **_with_players(options, by_row))


def _with_players(options: Mapping[str, Any], parse: Callable[[Any], Any]) -> Any:
    """Return the options with `parse` applied to "opponents" and "partner"."""
    return {
        name: parse(value) if name in (OPPONENTS, PARTNER) else value
        for name, value in options.items()
    }


def _players(value: Any) -> Any:
    """Return players from JSON: a list of two is a pair, other values stay unchanged.

    A mapping with the keys "players" and "weights" is an `OpponentPool`.
    """
    if isinstance(value, list) and len(value) == 2:
        return tuple(value)
    if isinstance(value, dict) and value.keys() == {"players", "weights"}:
        return OpponentPool(*map(_players, value["players"]), weights=value["weights"])
    return value


# Gymnasium reads the render modes of an entry point here; it derives "rgb_array_list" itself.
make_solo.metadata = {"render_modes": list(SoloOptions.render_modes)}  # type: ignore[attr-defined]


def make_aec(variant: str, **options: Unpack[EnvGameKeywords]) -> WrappedEnv:
    """Return the AEC environment of a declared variant by name: PettingZoo's entry point."""
    return make(variant).env(**options)


def make_parallel(
    variant: str, **options: Unpack[EnvGameKeywords]
) -> ParallelEnv[str, dict[str, Array], Any]:
    """Return the parallel environment of a declared variant by name: PettingZoo's entry point."""
    return make(variant).parallel_env(**options)


def register() -> None:
    """Register every variant in Gymnasium, and in PettingZoo if it has a registry. Idempotent.

    A variant is also registered under its old name, if it is in `RENAMED`.
    """
    import gymnasium
    import pettingzoo

    old = [name for name, (present, _) in RENAMED.items() if present in variants]
    for name in (*variants, *old):
        if gymnasium_id(name) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(name),
                entry_point=f"{__name__}:{make_solo.__name__}",
                vector_entry_point=f"{__name__}:{make_solo_vec.__name__}",
                kwargs={"variant": name},
            )
        if not hasattr(pettingzoo, "register"):
            continue
        for kind, registry, make_env in (
            ("aec", pettingzoo.aec_registry, make_aec),
            ("parallel", pettingzoo.parallel_registry, make_parallel),
        ):
            if pettingzoo_id(name) not in registry:
                entry_point = f"{__name__}:{make_env.__name__}"
                pettingzoo.register(
                    kind, pettingzoo_id(name), entry_point, kwargs={"variant": name}
                )
