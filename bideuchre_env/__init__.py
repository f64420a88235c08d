"""Reinforcement-learning environments for the Bid Euchre family of card games.

    env = bideuchre_env.cincinnati_v0()

Every variant is a callable with `.env`, `.raw_env`, `.vec` and `.rules`; `make` builds one from
options or from `Rules` of your own. The heavy parts are imported when first used.
"""

from __future__ import annotations

from bideuchre_env.runtime.quitting import program  # first: Ctrl-C is one line from now on

# isort: split
import os
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from typing import TYPE_CHECKING, Any

from bideuchre_env import errors
from bideuchre_env.envs.registration import Variant, make, register, variants
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.rules import Rules

if TYPE_CHECKING:  # what `_LAZY` and `_MODULES` name
    from bideuchre_env import adapters as adapters
    from bideuchre_env import agents as agents
    from bideuchre_env import analysis as analysis
    from bideuchre_env import datasets as datasets
    from bideuchre_env import solver as solver
    from bideuchre_env.core.observation.layout import Layout
    from bideuchre_env.core.state import Outcome, Phase
    from bideuchre_env.envs.aec.env import BidEuchreEnv
    from bideuchre_env.envs.pool import Pool
    from bideuchre_env.envs.solo.env import SoloEnv
    from bideuchre_env.envs.solo.vector_env import SoloVectorEnv
    from bideuchre_env.envs.vector.env import BidEuchreVec
    from bideuchre_env.evaluation import match as match
    from bideuchre_env.evaluation import rollout as rollout
    from bideuchre_env.evaluation import selfplay as selfplay
    from bideuchre_env.evaluation import tournament as tournament
    from bideuchre_env.evaluation.statistics import ratings as ratings
    from bideuchre_env.evaluation.statistics import sequential as sequential
    from bideuchre_env.records import files
    from bideuchre_env.records import record as record
    from bideuchre_env.records.record import GameRecord

    records_io = files

__version__ = "0.1.0"


class _AgentsBeside:
    """Finds the agents beside the package, where an archive of the sources has no link to them."""

    folder = os.path.join(os.path.dirname(__path__[0]), "agents")

    @classmethod
    def are_there(cls) -> bool:
        """Whether this is such an archive, and the agents are its own."""
        needed = ("registry.py", os.path.join(os.pardir, "pyproject.toml"))
        return not os.path.isdir(os.path.join(__path__[0], "agents")) and all(
            os.path.isfile(os.path.join(cls.folder, name)) for name in needed
        )

    @classmethod
    def find_spec(cls, name: str, path: Any, target: Any = None, /) -> ModuleSpec | None:
        """Where `bideuchre_env.agents` is; nothing else is found here."""
        if name != f"{__name__}.agents":
            return None
        first = os.path.join(cls.folder, "__init__.py")
        return spec_from_file_location(name, first, submodule_search_locations=[cls.folder])


if _AgentsBeside.are_there():
    sys.meta_path.append(_AgentsBeside)

cincinnati_v0 = variants["cincinnati_v0"]
simplified_v0 = variants["simplified_v0"]
club_v0 = variants["club_v0"]
barrie_v0 = variants["barrie_v0"]
six_card_v0 = variants["six_card_v0"]
double_deck_v0 = variants["double_deck_v0"]

_LAZY = {
    "BidEuchreEnv": "bideuchre_env.envs.aec.env",
    "BidEuchreVec": "bideuchre_env.envs.vector.env",
    "GameRecord": "bideuchre_env.records.record",
    "Layout": "bideuchre_env.core.observation.layout",
    "Outcome": "bideuchre_env.core.state",
    "Phase": "bideuchre_env.core.state",
    "Pool": "bideuchre_env.envs.pool",
    "SoloEnv": "bideuchre_env.envs.solo.env",
    "SoloVectorEnv": "bideuchre_env.envs.solo.vector_env",
}
_MODULES = {
    "adapters": "bideuchre_env.adapters",
    "agents": "bideuchre_env.agents",
    "analysis": "bideuchre_env.analysis",
    "datasets": "bideuchre_env.datasets",
    "match": "bideuchre_env.evaluation.match",
    "ratings": "bideuchre_env.evaluation.statistics.ratings",
    "record": "bideuchre_env.records.record",
    "records_io": "bideuchre_env.records.files",
    "rollout": "bideuchre_env.evaluation.rollout",
    "selfplay": "bideuchre_env.evaluation.selfplay",
    "sequential": "bideuchre_env.evaluation.statistics.sequential",
    "solver": "bideuchre_env.solver",
    "tournament": "bideuchre_env.evaluation.tournament",
}

__all__ = [
    "Bid",
    "BidEuchreEnv",
    "BidEuchreVec",
    "GameRecord",
    "Layout",
    "Outcome",
    "Phase",
    "Pool",
    "Rules",
    "SoloEnv",
    "SoloVectorEnv",
    "Variant",
    "barrie_v0",
    "cincinnati_v0",
    "club_v0",
    "double_deck_v0",
    "errors",
    "make",
    "simplified_v0",
    "six_card_v0",
    "variants",
]


if not TYPE_CHECKING:  # they would take any name for one

    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            return getattr(import_module(_LAZY[name]), name)
        if name in _MODULES:
            return import_module(_MODULES[name])
        raise AttributeError(f"module 'bideuchre_env' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MODULES})


def _only_help() -> bool:
    """Whether this is the command, asked what it does: for that nothing heavy is imported."""
    asked = sys.argv[1:]
    return program() == "bideuchre" and (
        not asked or not {"-h", "--help", "--version"}.isdisjoint(asked)
    )


if not _only_help():
    register()
