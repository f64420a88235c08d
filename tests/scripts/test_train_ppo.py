"""The PPO trainer: returns, sampling, learning, strength; resumption, files and devices."""

import csv
import re
import shlex
import signal
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from support.commands import ROOT, load_scripts
from support.kernels import compile_only, in_simulator, simulated
from support.ray_clusters import in_order

import bideuchre_env
from bideuchre_env.agents.learned.ppo import PpoAgent
from bideuchre_env.errors import DivergedError, OptionError, WeightsError
from bideuchre_env.evaluation.match import match
from bideuchre_env.learning.network import forward, network_of
from bideuchre_env.learning.weights import read_weights
from bideuchre_env.runtime import devices
from bideuchre_env.runtime.interrupts import raising

pytestmark = pytest.mark.slow

RULES = bideuchre_env.make("cincinnati_v0").rules
NETS = ["--hidden", "16", "--hidden-auction", "8", "--minibatch", "256"]
TINY = [*NETS, "--hands", "32", "--millions", "0.006", "--boards", "2", "--final-boards", "2"]
TINY += ["--measure", "0.0025", "--opponents", "cautious"]
TIMES = ("seconds", "processor")
NAMES = ("rollout", "networks")


@pytest.fixture(scope="module")
def ppo():
    """The trainer's modules `script`, `NAMES` and `torch`, if torch is installed."""
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    with load_scripts("experiments", "train_ppo", *(f"ppo.{name}" for name in NAMES)) as modules:
        parts = dict(zip(("script", *NAMES), modules, strict=True))
        parts["torch"] = sys.modules["torch"]
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(ROOT / "experiments")  # worker processes import from there
            yield SimpleNamespace(**parts)


def run(ppo, folder, *options):
    """Run the trainer in this folder with small settings, and return its exit code."""
    script = ppo.script
    return script.main(script.Args.parse([*TINY, "--out", str(folder), *options]))


def saved_run(ppo, folder):
    """(checkpoint, rows of the curve, bytes of the weights) of a run, without times."""
    state = ppo.torch.load(folder / "checkpoint.pt", weights_only=True)
    state = {name: plain(value) for name, value in state.items() if name not in TIMES}
    with (folder / "curve.csv").open(newline="") as file:
        rows = [{k: v for k, v in row.items() if k not in TIMES} for row in csv.DictReader(file)]
    return state, rows, (folder / "weights.npz").read_bytes()


def plain(value):
    """Return a copy of a checkpoint's value with lists in place of tensors and tuples."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


def play_batch(dealer, *how):
    """Play a batch of a dealer, and return it with its columns copied to numpy arrays."""
    batch = dealer.play(*how)
    parts = {
        name: type(part)(*(column.numpy().copy() for column in part))
        for name, part in (("auction", batch.auction), ("cards", batch.cards))
    }
    return batch._replace(**parts)


def random_networks(ppo, seed=1, size=16, rules=RULES):
    """Networks of both parts with random weights; outputs are large, so that policies differ."""
    rng, nets = np.random.default_rng(seed), {}
    for name, part in ppo.rollout.Dealer(rules, 1).parts.items():
        sizes = (part.features.size, size, size, part.features.outputs + 1)
        nets[name] = ppo.networks.new_weights(sizes, rng)
        nets[name]["last"] = nets[name]["last"] * 300
    return nets


def terms(ppo, **changed):
    """The `Terms` of a small batch; keywords replace the usual values."""
    usual = {"number": 0, "seed": 5, "temperature": 0.3, "forced": 0.1, "alone": 0.3}
    usual |= {"lambda_": 0.9, "scale": 5.0}
    return ppo.rollout.Terms(**(usual | changed))


def outputs_of(ppo, weights, lists):
    """Outputs of a network for lists of active inputs, without the critic's output (the last)."""
    with ppo.torch.no_grad():
        return ppo.networks.forward(weights, ppo.torch.from_numpy(lists)).numpy()[:, :-1]


def test_a_planted_reward_or_value_reaches_its_own_seat_alone(ppo):
    dealer = ppo.rollout.Dealer(RULES, 24)
    dealer.play(terms(ppo), random_networks(ppo))
    cards = dealer.parts["cards"]
    seats, tables = cards.room.keys[: cards.n] & 3, cards.room.keys[: cards.n] >> 2
    for seat in range(4):
        planted = ppo.torch.zeros(24, 4)
        planted[7, seat] = 2.0
        cards.values[: cards.n] = 0
        returns = dealer._returns(cards, planted, 1.0)
        assert ((returns == 2.0) == ((seats == seat) & (tables == 7))).all()
        assert ((returns == 0.0) | (returns == 2.0)).all()
        cards.values[: cards.n] = ppo.torch.where(seats == seat, 3.0, 50.0)
        returns = dealer._returns(cards, planted * 0, 0.0)[seats == seat]
        assert set(returns.tolist()) == {0.0, 3.0}


@pytest.mark.parametrize(
    ("variant", "options"), [("pepper_v0", {}), ("barrie_v0", {"kitty": 4, "partnered": (1, 7)})]
)
def test_rounds_of_bidding_and_a_kitty_fit_into_the_columns(ppo, variant, options):
    """Long auctions once overwrote the memory behind the columns."""
    rules = bideuchre_env.make(variant).rules.replace(**options)
    dealer = ppo.rollout.Dealer(rules, 24)
    networks = random_networks(ppo, rules=rules)
    auction, n = networks["auction"], len(networks["auction"]["last_bias"])
    auction["last"] *= 0  # every seat makes the lowest bid
    auction["last_bias"] += -ppo.torch.arange(n) % n
    dealer.play(terms(ppo, forced=0.0, alone=0.0), networks)
    for part in dealer.parts.values():
        assert 0 < part.n <= len(part.steps)
    assert dealer.parts["auction"].n > 5 * 24 or rules.auction == "once"


def test_returns_of_calls_are_the_scaled_points_of_the_side(ppo):
    dealer = ppo.rollout.Dealer(RULES, 24)
    batch = dealer.play(terms(ppo, forced=0.0, alone=0.0), random_networks(ppo))
    auction = dealer.parts["auction"]
    keys = auction.room.keys[: auction.n].numpy()
    states = dealer.tables.states
    made = states["points"][:, 0] - states["points"][:, 1]
    expected = np.where(keys & 1, -1, 1) * made[keys >> 2] / 5
    assert np.allclose(batch.auction.returns, expected)
    assert len(set(made)) > 3


def test_sampled_outputs_are_legal_and_have_the_networks_log_probabilities(ppo):
    nets = random_networks(ppo)
    for changed in ({}, {"forced": 1.0}, {"forced": 0.0, "alone": 1.0}, {"temperature": 30.0}):
        batch = play_batch(ppo.rollout.Dealer(RULES, 64), terms(ppo, **changed), nets)
        for part in (batch.auction, batch.cards):
            rows = np.arange(len(part.outputs))
            assert part.legal[rows, part.outputs].all()
            assert (part.legal.sum(1) > 1).all()  # forced moves are left out
        cards = batch.cards
        logits = outputs_of(ppo, nets["cards"], cards.inputs)
        logits = np.where(cards.legal != 0, logits.astype(np.float64), -np.inf)
        logits -= np.log(np.exp(logits).sum(1, keepdims=True))
        chosen = logits[np.arange(len(logits)), cards.outputs]
        assert np.allclose(cards.log_probs, chosen, atol=1e-5)


def test_the_critic_alone_sees_the_cards_of_all_hands(ppo):
    nets, dealer = random_networks(ppo), ppo.rollout.Dealer(RULES, 32, all_hands=True)
    plain = play_batch(ppo.rollout.Dealer(RULES, 32), terms(ppo), nets).cards
    part = dealer.parts["cards"]
    sizes = (part.features.size, 16, 16, 1)
    rng = np.random.default_rng(1)
    critic = ppo.networks.new_weights(sizes, rng, 6 * part.features.outputs)
    cards = play_batch(dealer, terms(ppo), nets | {ppo.networks.CRITIC: critic}).cards
    assert (cards.inputs == plain.inputs).all()
    assert (cards.outputs == plain.outputs).all()
    assert plain.hidden.shape[1] == 0
    assert not np.allclose(cards.values, plain.values)
    kinds = part.features.outputs
    for hidden, legal in zip(cards.hidden, cards.legal, strict=True):
        listed = hidden[1 : 1 + hidden[0]]
        others = set(listed % kinds)
        assert len(others) == len(listed)  # one copy of each hidden card
        assert not others & set(np.flatnonzero(legal))
        assert len(listed) >= 3


@pytest.mark.parametrize("part", ["auction", "cards"])
def test_torch_and_the_agent_compute_the_same_outputs_and_gradients(ppo, part):
    nets, torch = random_networks(ppo), ppo.torch
    batch = play_batch(ppo.rollout.Dealer(RULES, 32), terms(ppo), nets)
    lists = getattr(batch, part).inputs[:64]
    inputs = np.zeros((64, len(nets[part]["first"])), np.float32)
    for row, (count, *active) in zip(inputs, lists, strict=True):
        row[active[:count]] = 1
    outputs = outputs_of(ppo, nets[part], lists)
    weights = ppo.networks.agent_weights(RULES, nets, {})
    assert np.allclose(outputs, forward(network_of(weights, part), inputs), atol=1e-4)
    matrix = nets[part]["first"].clone().requires_grad_()
    bias = nets[part]["first_bias"].clone().requires_grad_()
    gradients = []
    for way in (ppo.networks.first_layer, ppo.networks.gathered_rows):
        sums = way(torch.from_numpy(lists), matrix, bias)
        assert np.allclose(sums.detach().numpy(), inputs @ matrix.detach().numpy(), atol=1e-5)
        (sums**2).sum().backward()
        gradients.append((matrix.grad.clone(), bias.grad.clone()))
        matrix.grad = bias.grad = None
    assert all(torch.allclose(*pair, atol=1e-4) for pair in zip(*gradients, strict=True))


def trained(ppo, folder, *options):
    script = ppo.script
    options = ["--out", str(folder), "--opponents", "cautious", "--final-boards", "2", *options]
    assert script.main(script.Args.parse(options)) == 0
    return PpoAgent(RULES, weights=folder / "weights.npz")


@pytest.fixture
def one_thread(ppo):
    """Limit torch to one thread: with more, sums are in another order."""
    threads = ppo.torch.get_num_threads()
    ppo.torch.set_num_threads(1)
    yield
    ppo.torch.set_num_threads(threads)


def test_blocks_play_the_hands_of_their_number(ppo, one_thread):
    pool, nets = SimpleNamespace(in_order=in_order), random_networks(ppo)

    def batch_of(blocks, number=0):
        settings = terms(ppo, number=number, seed=7)
        workers = sys.modules["ppo.workers"]
        work = workers.Work(RULES, 60 // blocks, blocks, False, settings, nets)
        return workers.play_blocks(pool, work)

    one, two, other = batch_of(1), batch_of(2), batch_of(1, number=1)
    assert one.hands == two.hands == 60
    assert not np.array_equal(one.cards.outputs, other.cards.outputs)
    alone = ppo.rollout.Dealer(RULES, 60).play(terms(ppo, seed=7), nets)
    assert (one.cards.outputs == alone.cards.outputs.numpy()).all()
    assert not np.array_equal(one.cards.outputs, two.cards.outputs)
    assert np.array_equal(two.cards.outputs, batch_of(2).cards.outputs)


def test_a_run_of_seconds_beats_cautious(ppo, tmp_path):
    small = ["--millions", "0.5", "--hands", "512", "--minibatch", "1024"]
    agent = trained(ppo, tmp_path / "run", *small, "--hidden", "32", "--hidden-auction", "32")
    points = match(RULES, agent, "cautious", boards=400, seed=9).boards.points_per_hand
    assert points.low > 0


@pytest.mark.long
def test_a_run_of_minutes_beats_rule(ppo, tmp_path):
    agent = trained(ppo, tmp_path / "run", "--millions", "40", "--measure", "100")
    points = match(RULES, agent, "rule", boards=4000, seed=9).boards.points_per_hand
    assert points.low > 0


@pytest.mark.parametrize(
    "options", [("--all-hands",), pytest.param(("--workers", "2"), marks=pytest.mark.long)]
)
def test_a_run_resumed_after_ctrl_c_equals_a_whole_one(ppo, tmp_path, monkeypatch, options):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert run(ppo, whole, *options) == 0
    update, measure, calls = ppo.script.Run.update, ppo.script.measure, []

    def interrupted(training):
        statistics = update(training)
        if training.batch in (1, 9):
            signal.raise_signal(signal.SIGTERM if training.batch == 1 else signal.SIGINT)
        return statistics

    def measured(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        return measure(*arguments)

    monkeypatch.setattr(ppo.script.Run, "update", interrupted)
    monkeypatch.setattr(ppo.script, "measure", measured)
    codes = []
    while not codes or codes[-1] in (130, 143):
        with raising("train_ppo.py"):
            codes.append(run(ppo, stopped, *options))
    assert codes == [143, 130, 130, 0]
    state, rows, weights = saved_run(ppo, whole)
    assert (state, rows, weights) == saved_run(ppo, stopped)
    assert state["batch"] > 9
    assert len(rows) > 2
    assert run(ppo, stopped, *options) == 0  # repeats the final evaluation only
    assert (state, rows, weights) == saved_run(ppo, stopped)


def test_the_command_in_the_weights_reproduces_them(ppo, tmp_path):
    assert run(ppo, tmp_path / "run", "--variant", "cincinnati") == 0
    made = read_weights(tmp_path / "run" / "weights.npz", "ppo").metadata
    assert made["variant"] == "cincinnati_v0"
    assert made["steps"] == made["decisions"]
    python, script, *options = shlex.split(made["command"])
    assert (python, script) == ("python", "experiments/train_ppo.py")
    assert run(ppo, tmp_path / "again", *options) == 0
    one, two = ((tmp_path / name / "weights.npz").read_bytes() for name in ("run", "again"))
    assert one == two


def test_on_a_device_a_run_is_the_same():
    pytest.importorskip("torch")
    assert re.match(r"\d+ passed", simulated(__file__))


def assert_same(batch, other):
    """Compare two batches except for their times."""
    parts = (*batch.auction, *batch.cards), (*other.auction, *other.cards)
    for ours, theirs in zip(*parts, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert batch[2:-1] == other[2:-1]


@in_simulator
def test_simulated_batches_are_the_same(ppo):
    dealers = [ppo.rollout.Dealer(RULES, 24, each, all_hands=True) for each in ("cpu", "cuda")]
    nets = random_networks(ppo)
    sizes = (len(nets["cards"]["first"]), 16, 16, 1)
    critic = ppo.networks.new_weights(sizes, np.random.default_rng(3), 6 * RULES.kinds)
    for number in range(2):
        how = terms(ppo, number=number)
        assert_same(*(each.play(how, nets | {"critic": critic}) for each in dealers))


@in_simulator
def test_simulated_a_whole_run_is_the_same(ppo, tmp_path):
    short = ("--millions", "0.002", "--hands", "16")
    assert run(ppo, tmp_path / "cpu", *short) == 0
    assert run(ppo, tmp_path / "cuda", *short, "--device", "cuda") == 0
    ours, theirs = saved_run(ppo, tmp_path / "cpu"), saved_run(ppo, tmp_path / "cuda")
    assert ours[0].pop("settings") | {"device": "cuda"} == theirs[0].pop("settings")
    assert ours[:2] == theirs[:2]


@in_simulator
@pytest.mark.parametrize("each", ["cpu", "cuda"])
@pytest.mark.parametrize("logits", [np.nan, np.inf])
def test_simulated_logits_that_are_not_finite_are_refused(ppo, each, logits):
    dealer = ppo.rollout.Dealer(RULES, 16, each)
    nets = random_networks(ppo)
    nets["auction"]["last_bias"][:] = logits
    with pytest.raises(DivergedError, match="row 0: the network's logits are not finite"):
        dealer.play(terms(ppo, forced=0.0, alone=0.0), nets)


@in_simulator
def test_simulated_lists_that_are_too_long_are_refused(ppo, monkeypatch):
    """Kernels rebuilt with lists shorter than most hands need raise an error."""
    monkeypatch.setattr(sys.modules["ppo.rollout_kernels"], "WIDTH", 40)
    monkeypatch.setattr("bideuchre_env.runtime.device._FORMS", {})
    monkeypatch.setattr("bideuchre_env.runtime.device.DeviceMemory._programs", {})
    dealer = ppo.rollout.Dealer(RULES, 16, "cuda")
    with pytest.raises(RuntimeError, match="lists are too short"):
        dealer.play(terms(ppo), random_networks(ppo))


@pytest.mark.long
def test_every_kernel_compiles_for_the_gpu(ppo, monkeypatch):
    with compile_only(monkeypatch) as compiled:
        monkeypatch.setattr(ppo.rollout, "torch_device", lambda device: "cpu")
        dealer = ppo.rollout.Dealer(RULES, 4, "cuda", all_hands=True)
        dealer.tables.deal(np.uint64(1), np.uint64(2))
        assert not any(map(len, dealer.tables.advance()))  # no kernel runs
        part = dealer.parts["cards"]
        new = part.enter(ppo.torch.arange(4))
        part.act(new, dealer.tables.zeros((4, part.features.outputs), ppo.torch.float), 1)
        dealer._batch(terms(ppo), 0.0)
    assert len(compiled) == 2 * 3


def test_a_checkpoint_that_is_damaged_or_of_another_run_is_refused(ppo, tmp_path):
    assert run(ppo, tmp_path) == 0
    path = tmp_path / "checkpoint.pt"
    good = path.read_bytes()
    with pytest.raises(OptionError, match=r"--seed 2: the run in .* has 1; continue with that"):
        run(ppo, tmp_path, "--seed", "2")
    assert path.read_bytes() == good
    for each in (good[:-7], good[: len(good) // 2] + b"?" + good[len(good) // 2 + 1 :]):
        path.write_bytes(each)
        with pytest.raises(WeightsError, match="is damaged"):
            run(ppo, tmp_path)
        assert path.read_bytes() == each


@pytest.mark.long
@pytest.mark.parametrize(
    "options", [("--threads", "2"), ("--device", "cuda"), ("--device", "cuda", "--workers", "1")]
)
def test_a_run_with_threads_or_a_gpu_makes_usable_weights(ppo, tmp_path, options):
    if "cuda" in options and (devices._missing() or not ppo.torch.cuda.is_available()):
        pytest.skip("there is no GPU here")
    assert run(ppo, tmp_path, *options) == 0
    agent = PpoAgent(RULES, weights=tmp_path / "weights.npz")
    assert set(options) <= set(shlex.split(agent.made["command"]))
