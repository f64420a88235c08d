"""The public names of `bideuchre_env`, each with the module it comes from.

Type checkers read this file, and so does `__init__.py`, which imports a name when it is first used.
"""

from bideuchre_env import adapters as adapters
from bideuchre_env import agents as agents
from bideuchre_env import analysis as analysis
from bideuchre_env import datasets as datasets
from bideuchre_env import errors as errors
from bideuchre_env import solver as solver
from bideuchre_env.core.observation.layout import Layout as Layout
from bideuchre_env.core.state import Outcome as Outcome
from bideuchre_env.core.state import Phase as Phase
from bideuchre_env.core.tables import card_power as card_power
from bideuchre_env.core.tables import card_suit as card_suit
from bideuchre_env.envs.aec.env import BidEuchreEnv as BidEuchreEnv
from bideuchre_env.envs.pool import OpponentPool as OpponentPool
from bideuchre_env.envs.registration import Variant as Variant
from bideuchre_env.envs.registration import make as make
from bideuchre_env.envs.registration import variants as variants
from bideuchre_env.envs.solo.env import SoloEnv as SoloEnv
from bideuchre_env.envs.solo.vector_env import SoloVectorEnv as SoloVectorEnv
from bideuchre_env.envs.vector.env import BidEuchreVec as BidEuchreVec
from bideuchre_env.evaluation.match import match as match
from bideuchre_env.evaluation.results import Result as Result
from bideuchre_env.evaluation.rollout import rollout as rollout
from bideuchre_env.evaluation.statistics import ratings as ratings
from bideuchre_env.evaluation.statistics import sequential as sequential
from bideuchre_env.evaluation.tournament import tournament as tournament
from bideuchre_env.records import files as _files
from bideuchre_env.records import record as record
from bideuchre_env.records.record import GameRecord as GameRecord
from bideuchre_env.rules.bids import Bid as Bid
from bideuchre_env.rules.rules import Rules as Rules

records_io = _files

barrie_v0: Variant
cincinnati_v0: Variant
club_v0: Variant
double_deck_v0: Variant
indiana_v0: Variant
partners_best_v0: Variant
pepper_v0: Variant
simplified_v0: Variant
six_card_v0: Variant

__version__: str
