"""A program as users write it: type checkers see the types of what it takes from the package."""

from typing_extensions import assert_type

import bideuchre_env
from bideuchre_env import match
from bideuchre_env.agents import CompleteAgent
from bideuchre_env.envs.aec.wrapped import WrappedEnv
from bideuchre_env.evaluation.results import Result
from bideuchre_env.solver.deal_table import DealTable

env = bideuchre_env.cincinnati_v0()
env.reset(seed=7)
agent = bideuchre_env.agents.make("rule", bideuchre_env.cincinnati_v0.rules)
result = match.play("cincinnati_v0", agent, "cautious", boards=2)
record = bideuchre_env.GameRecord.loads("{}")

assert_type(env, WrappedEnv)
assert_type(agent, CompleteAgent)
assert_type(result, Result)
assert_type(bideuchre_env.match.play("cincinnati_v0", agent, agent, games=2), Result)
assert_type(record, bideuchre_env.GameRecord)
assert_type(bideuchre_env.solver.table([], bideuchre_env.barrie_v0.rules), DealTable)
print(bideuchre_env.no_such_name)  # type: ignore[attr-defined]  # unknown names are errors
