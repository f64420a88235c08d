"""Compile all kernels ahead of use, by running each part of the package briefly."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bideuchre_env import agents
from bideuchre_env.agents.advice.advising import advise_row
from bideuchre_env.agents.advice.position import known_position
from bideuchre_env.agents.expert.hand_worth import hand_worth
from bideuchre_env.agents.rule.certain import claim
from bideuchre_env.agents.search.agent import InferenceAgent, PimcAgent
from bideuchre_env.agents.search.history import record_history
from bideuchre_env.agents.search.likelihood import log_likelihood
from bideuchre_env.agents.search.worlds import prepare_worlds
from bideuchre_env.core.one_row import step_row
from bideuchre_env.core.state import Phase, new_states
from bideuchre_env.core.tables import compile_tables
from bideuchre_env.core.view import new_view
from bideuchre_env.envs.aec.env import BidEuchreEnv
from bideuchre_env.envs.registration import variants
from bideuchre_env.evaluation.executors import Processes
from bideuchre_env.evaluation.kernel_parts import is_compiled, mark_compiled
from bideuchre_env.evaluation.match import match
from bideuchre_env.evaluation.rollout import rollout
from bideuchre_env.learning.features import PARTS as PARTS_OF_A_HAND
from bideuchre_env.learning.features import VERSION, features_of
from bideuchre_env.learning.fitting import Examples, fit
from bideuchre_env.learning.network import arrays_of, evaluate, new_network
from bideuchre_env.learning.pairs import pairs
from bideuchre_env.learning.proposals import Proposals
from bideuchre_env.learning.returns import lambda_returns
from bideuchre_env.learning.sampling import greedy, sample
from bideuchre_env.learning.weights import Weights, made_for
from bideuchre_env.records.look import last_caller
from bideuchre_env.records.record import GameRecord
from bideuchre_env.runtime import jit

GAME = variants["barrie_v0"]


def play_game() -> None:
    """Compile the AEC and vector environments, records, redeals, and boards of simple agents."""
    env = GAME.raw_env()
    env.reset(seed=1)
    env.state()
    env.resample_hidden(0, np.random.default_rng(0))
    record = play_to_end(env)
    GameRecord.loads(record.dumps())
    env.reset(options={"deal": record.hands[0]["deal"]})
    step_row(env.get_state(), compile_tables(GAME.rules), 0)
    with contextlib.suppress(ValueError):  # the error names the legal actions
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmin()))
    env.observation_layout.decode(env.observe("player_0")["observation"])
    for threads in (1, 2):
        vec = GAME.vec(256, threads=threads)  # fewer rows would use one thread only
        vec.reset(seed=1)
        for _ in range(400):
            vec.step(vec.sample())
        vec.observe(0)
        vec.state()
        vec.set_state(vec.get_state())
    for form in ("flat", "features"):
        vec = GAME.vec(1, observation=form)
        vec.reset(seed=1)
        vec.step(vec.sample())
        GAME.raw_env(observation=form).reset(seed=1)
    play_boards("random", "cautious")
    ask("cautious")
    last_caller(env.get_state(), GAME.rules)


def play_to_end(env: BidEuchreEnv) -> GameRecord:
    """Play an environment to the end, always by the last legal action; return its record."""
    while (mask := env.observe(env.agent_selection)["action_mask"]).any():
        env.step(int(mask.nonzero()[0][-1]))
    return env.record


def play_boards(a: str, b: str) -> None:
    """Play boards and whole games between two agents, with records."""
    with TemporaryDirectory() as folder:
        match(GAME, a, b, boards=2, games=2, records=Path(folder) / "games.jsonl")


def ask(name: str) -> None:
    """Ask an agent for an action as Python programs do, by an observation."""
    seen, info = GAME.vec(1).reset(seed=1)
    agents.make(name, GAME.rules).act_rows(seen["observation"], info["action_mask"])


def play_rule() -> None:
    """Compile the rule player and the beginner."""
    play_boards("rule", "random")
    ask("rule")
    ask("beginner")


def play_claim() -> None:
    """Compile `claim`, which detects that a player wins all remaining tricks."""
    claim(new_states(1), compile_tables(GAME.rules), new_view())


def play_learner() -> None:
    """Compile environments of one learner with each kind of opponent, and rollouts."""
    for opponents in ("random", "rule", agents.make("random", GAME.rules)):
        rows = GAME.solo_vec(64, opponents=opponents, episode="hand")  # some end
        row = GAME.solo(opponents=opponents)
        seen, observed = rows.reset(seed=1)[0], row.reset(seed=1)[0]
        for _ in range(100):
            seen = rows.step(seen["action_mask"].argmax(axis=1))[0]
            observed, _, over, cut, _ = row.step(int(observed["action_mask"].argmax()))
            if over or cut:
                observed = row.reset()[0]
        rows.reset(options={"reset_mask": np.arange(64) < 1})
    for policy in ("random", "rule"):
        for observe in (False, True):
            rollout(GAME, policy=policy, hands=64, seed=1, observe=observe)


def play_learning() -> None:
    """Compile features, networks, sampling, lambda returns and paired differences."""
    for part in PARTS_OF_A_HAND:
        features = features_of(GAME.rules, part)
        cards = part == "cards"
        phases = [Phase.PLAY] if cards else [Phase.AUCTION]
        examples = pairs(agents.make("random", GAME.rules), GAME.rules, 4, 0, phases=phases)
        n = len(examples.gain)
        inputs = np.zeros((n, features.size), np.float32)
        legal, symmetries = np.zeros((n, features.outputs), np.int8), np.zeros(n, np.int64)
        features.write(examples.observations, examples.masks, inputs, legal, symmetries)
        packed = features.pack(examples.observations, examples.masks).inputs
        of, against = (
            features.outputs_of(each, symmetries) for each in (examples.other, examples.chosen)
        )
        features.actions(of, symmetries)
        rng = np.random.default_rng(0)
        network = new_network(features.size, (8, 8), features.outputs, rng)
        network = fit(network, features, Examples(packed, of, against, examples.gain), rng)
        outputs = evaluate(network, features, examples.observations, examples.masks)[0]
        choices, log_probs = np.zeros(n, np.int64), np.zeros(n, np.float32)
        sample(outputs, legal, 0, choices, log_probs)
        Proposals(network, GAME.rules, part, seed=0)(
            examples.observations, examples.masks, examples.chosen
        )
        greedy(outputs, legal, choices, log_probs)
    seats, values = np.zeros((1, 1), np.int8), np.zeros((1, 1), np.float32)
    lambda_returns(seats, np.zeros((1, 1, 4), np.float32), np.ones((1, 1), np.bool_), values)


def play_expert() -> None:
    """Compile the expert, also for custom rules, and `hand_worth`."""
    for no_trump in ("high", "both"):
        rules = variants["cincinnati_v0"].rules.replace(no_trump=no_trump)
        hand_worth("JH JD AH KH QS 9C", rules)
    play_boards("expert", "random")
    ask("expert")
    agents.make("expert", variants["cincinnati_v0"].rules.replace(target=20))
    agents.make("expert", variants["simplified_v0"].rules.replace(rounds=2))


def play_ppo() -> None:
    """Compile `ppo`, with small untrained networks."""
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {}
    for part in PARTS_OF_A_HAND:
        features = features_of(GAME.rules, part)
        arrays |= arrays_of(new_network(features.size, (8, 8), features.outputs, rng), part)
    weights = Weights(arrays, made_for("ppo", GAME.rules, VERSION))
    match(GAME, agents.make("ppo", GAME.rules, weights=weights), "random", boards=2)


def play_net() -> None:
    """Compile `net` with search, and as the opponent of a learner."""
    play_boards("net:search=true", "random")
    ask("net")
    GAME.solo_vec(4, opponents="net").reset(seed=1)


def play_search() -> None:
    """Compile `pimc` and `inference`, with few worlds."""
    for kind in (PimcAgent, InferenceAgent):
        agent = kind(GAME.rules, seed=0, worlds=8, goal="points")
        match(GAME, agent, "random", boards=2)
        agent.sampler.enough = agent.sampler.listed_share = 1e9  # lists are made, and chains run
        match(GAME, agent, "random", boards=1)
    prepare_worlds(agent.space)  # these three are called by scripts
    record_history(agent.space)
    log_likelihood(agent.space, 0.0)


def play_advice() -> None:
    """Compile advice for the cards known to a seat, in games to a target and by rounds."""
    hand = ["JS", "JS", "JC", "AS", "KS", "AH", "AD", "QS"]
    for rules in (GAME.rules, variants["simplified_v0"].rules):
        advise_row(known_position(rules, hand, calls=["pass"]), rules, worlds=8)


def play_solver() -> None:
    """Compile the solver for positions, whole deals, and the cards of a record."""
    from bideuchre_env import solver

    env = GAME.raw_env(episode="hand")
    env.reset(seed=1)
    record = play_to_end(env)
    deal = record.hands[0]["deal"]
    for tricks in range(GAME.rules.tricks):
        solver.can_make(record, tricks, ply=20, hand=0)
    solver.solve(record, ply=20, hand=0)
    solver.solve_moves(record, ply=20, hand=0)
    solver.analyse(record)
    solver.par(deal, GAME.rules, dealer=0)
    solver.best_exchange(deal, GAME.rules, declarer=0, strain="H", cards=1)
    solver.solve_batch([deal], GAME.rules, strain="H", declarer=0)


PARTS: dict[str, Callable[[], None]] = {
    "game": play_game,
    "claims": play_claim,
    "rule": play_rule,
    "learner": play_learner,
    "learning": play_learning,
    "expert": play_expert,
    "ppo": play_ppo,
    "net": play_net,
    "search": play_search,
    "advice": play_advice,
    "solver": play_solver,
}
"""By name, a function that calls the kernels of a part of the package."""


def compile_part(name: str) -> int:
    """Compile a part unless it is marked as compiled; return the number of kernels compiled."""
    if is_compiled(name):
        return 0
    before = jit.compiling.count
    PARTS[name]()
    mark_compiled(name)
    return jit.compiling.count - before


def compile_in_processes(names: Sequence[str], processes: int) -> Iterator[int]:
    """Compile several parts in parallel; yield the number of kernels of each as it finishes.

    Raises `WorkerError` if a process dies; a later call continues with the missing parts.
    """
    with Processes(processes) as executor:
        for _, count in executor.run(_compile_part, None, names):
            yield count


def _compile_part(shared: None, name: str) -> int:
    return compile_part(name)
