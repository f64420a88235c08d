"""A user's program: type checkers must see the types of the package's names."""

from typing import Literal

from typing_extensions import assert_type

import bideuchre_env
from bideuchre_env import Bid, OpponentPool, Rules, match
from bideuchre_env.agents import CompleteAgent
from bideuchre_env.envs.aec.env import BidEuchreEnv
from bideuchre_env.envs.aec.wrapped import WrappedEnv
from bideuchre_env.evaluation.results import Result
from bideuchre_env.solver.deal_table import DealTable

env = bideuchre_env.cincinnati_v0()
env.reset(seed=7)
agent = bideuchre_env.agents.make("rule", bideuchre_env.cincinnati_v0.rules)
result = match("cincinnati_v0", agent, "cautious", boards=2)
record = bideuchre_env.GameRecord.loads("{}")

assert_type(env, WrappedEnv)
assert_type(agent, CompleteAgent)
assert_type(result, Result)
assert_type(bideuchre_env.match("cincinnati_v0", agent, agent, games=2), Result)
assert_type(record, bideuchre_env.GameRecord)
assert_type(bideuchre_env.solver.table([], bideuchre_env.barrie_v0.rules), DealTable)
print(bideuchre_env.no_such_name)  # type: ignore[attr-defined]  # unknown names are errors

game = bideuchre_env.make(Rules(lone=[Bid("moon", value=24)], target=52), max_hands=20)
assert_type(game.rules.lone, tuple[Bid, ...])
assert_type(env.unwrapped, BidEuchreEnv)
assert_type(game.raw_env(target=4, view=0, episode="hand").reward, Literal["win", "points"])
game.vec(4, partnered=[3, 5], observation="flat", device="cpu")
game.solo(opponents=("rule", lambda observation, mask: mask.argmax()), partner=agent)
game.solo_vec(
    2, opponents=["rule", OpponentPool("net", ("rule", agent))], autoreset_mode="NextStep"
)

game(targt=4)  # type: ignore[call-arg]
game.raw_env(episode="hands")  # type: ignore[arg-type]
game.vec(4, opponents="rule")  # type: ignore[call-arg]
game.solo(opponents=3)  # type: ignore[arg-type]
game.solo(opponents=["rule", "net"])  # type: ignore[arg-type]  # a list is by row
game.solo_vec(4, reward="win_points")  # type: ignore[arg-type]
game.replace(win_rule="some")  # type: ignore[arg-type]
bideuchre_env.make("barrie_v0", targt=4)  # type: ignore[call-arg]
bideuchre_env.datasets.export("a.jsonl", "a.npz", gama=1)  # type: ignore[call-arg]
bideuchre_env.datasets.VecRecorder(game.vec(1), "a.npz", reward="win")  # type: ignore[call-arg]
