"""The trainer: what is learned from, that a run goes on as if not stopped, what it refuses."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import signal
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from support.script_modules import ROOT, loaded

import bideuchre_env
from bideuchre_env.agents.learned.ppo import PpoAgent
from bideuchre_env.agents.learned.shipped import network_of
from bideuchre_env.errors import OptionError, OutputError, WeightsError
from bideuchre_env.evaluation import match
from bideuchre_env.learning.network import forward
from bideuchre_env.learning.weights import read_weights, write_weights

RULES = bideuchre_env.make("cincinnati_v0").rules
NETS = ["--hidden", "16", "--hidden-auction", "8", "--minibatch", "256"]
TINY = [*NETS, "--hands", "32", "--millions", "0.006", "--boards", "2", "--final-boards", "2"]
TINY += ["--measure", "0.0025", "--opponents", "cautious"]
TIMES = ("seconds", "processor")
NAMES = ("hands", "learner", "nets", "sparse", "kept")


@pytest.fixture(scope="module")
def ppo():
    """The trainer and its parts."""
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    with loaded("experiments", "train_ppo", *(f"ppo.{name}" for name in NAMES)) as modules:
        found = dict(zip(("script", *NAMES), modules, strict=True))
        found["torch"] = sys.modules["torch"]
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(ROOT / "experiments")  # processes look for the parts there
            yield SimpleNamespace(**found)


def run(ppo, folder, *options):
    """The exit code of a run in this folder."""
    script = ppo.script
    return script.main(script.Args.parse([*TINY, "--out", str(folder), *options]))


def kept(folder):
    """All that a run leaves, but for times and its folder."""
    checkpoint = read_weights(folder / "checkpoint.safetensors")
    told = json.loads(checkpoint.metadata["run"])
    told = {name: value for name, value in told.items() if name not in TIMES}
    del told["settings"]["out"]
    arrays = {name: array.tobytes() for name, array in checkpoint.arrays.items()}
    with (folder / "curve.csv").open(newline="") as file:
        rows = [{k: v for k, v in row.items() if k not in TIMES} for row in csv.DictReader(file)]
    return arrays, told, rows, (folder / "weights.safetensors").read_bytes()


def press():
    """Ctrl-C, once."""
    signal.raise_signal(signal.SIGINT)


def drawn(ppo, seed=1, size=16):
    """Nets that say something."""
    rng, nets = np.random.default_rng(seed), {}
    for name, part in ppo.hands.Dealer(RULES, 1).parts.items():
        sizes = (part.features.size, size, size, part.features.outputs + 1)
        nets[name] = ppo.nets.new_weights(sizes, rng)
        nets[name]["last"] = nets[name]["last"] * 300
    return nets


def terms(ppo, **changed):
    """How a batch is played."""
    usual = {"number": 0, "seed": 5, "temperature": 0.3, "forced": 0.1, "alone": 0.3}
    usual |= {"decay": 0.9, "scale": 5.0, "past": 0.0}
    return ppo.hands.Terms(**(usual | changed))


EVERY = (1, 4, 9)


@pytest.mark.parametrize(
    ("options", "stops"),
    [
        pytest.param((), EVERY, id="plain"),
        pytest.param(("--past", "0.5", "--pull", "0.1", "--all-hands"), EVERY, id="all options"),
        pytest.param(("--workers", "1"), (4,), id="another process", marks=pytest.mark.slow),
        pytest.param(
            ("--workers", "2", "--past", "0.5"), EVERY, id="processes", marks=pytest.mark.slow
        ),
    ],
)
def test_a_run_goes_on_as_if_not_stopped(ppo, tmp_path, monkeypatch, options, stops):
    """Ctrl-C after some batches, and in a measurement: the end is the same bit for bit."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert run(ppo, whole, *options) == 0
    go, measure, calls = ppo.script.Run.go, ppo.script.measure, []

    def gone(training):
        found = go(training)
        if training.batch in stops:
            press()
        return found

    def measured(*given):
        calls.append(given)
        if len(calls) == 1:
            press()
        return measure(*given)

    monkeypatch.setattr(ppo.script.Run, "go", gone)
    monkeypatch.setattr(ppo.script, "measure", measured)
    codes = []
    while not codes or codes[-1] == 130:
        codes.append(run(ppo, stopped, *options))
    assert codes == [130] * (len(stops) + 1) + [0]
    arrays, told, rows, weights = kept(whole)
    assert (arrays, told, rows, weights) == kept(stopped)
    assert told["batch"] > 9
    assert len(rows) > 2
    assert any(name.startswith("past.") for name in arrays) == ("--past" in options)
    assert run(ppo, stopped, *options) == 0  # measures its end again, and changes nothing
    assert (arrays, told, rows, weights) == kept(stopped)


def test_a_batch_pays_each_seat_its_own(ppo):
    """A reward planted with one seat comes to that seat's decisions alone, a value to its own."""
    dealer = ppo.hands.Dealer(RULES, 24)
    dealer.play(terms(ppo), drawn(ppo))
    cards = dealer.parts["cards"]
    seats, tables = cards.room.keys[: cards.n] & 3, cards.room.keys[: cards.n] >> 2
    for seat in range(4):
        planted = np.zeros((24, 4), np.float32)
        planted[7, seat] = 2.0
        cards.values[: cards.n] = 0
        found = dealer._returns(cards, planted, 1.0)
        assert ((found == 2.0) == ((seats == seat) & (tables == 7))).all()
        assert ((found == 0.0) | (found == 2.0)).all()
        cards.values[: cards.n] = np.where(seats == seat, 3.0, 50.0)
        found = dealer._returns(cards, planted * 0, 0.0)[seats == seat]
        assert set(found) == {0.0, 3.0}


def test_both_partners_are_paid_what_their_side_makes(ppo):
    """And the opponents the opposite: the returns of calls are those of the hand, to scale."""
    dealer = ppo.hands.Dealer(RULES, 24)
    batch = dealer.play(terms(ppo, forced=0.0, alone=0.0), drawn(ppo))
    auction = dealer.parts["auction"]
    keys = auction.room.keys[: auction.n]
    made = dealer.states["points"][:, 0] - dealer.states["points"][:, 1]
    expected = np.where(keys & 1, -1, 1) * made[keys >> 2] / 5
    assert np.allclose(batch.auction.returns, expected)
    assert len(set(made)) > 3


def test_what_is_drawn_is_legal_and_its_odds_are_those_of_the_net(ppo):
    """However calls are forced; cards are drawn by the net's odds among legal ones."""
    nets = drawn(ppo)
    for changed in ({}, {"forced": 1.0}, {"forced": 0.0, "alone": 1.0}, {"temperature": 30.0}):
        batch = ppo.hands.Dealer(RULES, 64).play(terms(ppo, **changed), nets)
        for part in (batch.auction, batch.cards):
            rows = np.arange(len(part.outputs))
            assert part.legal[rows, part.outputs].all()
            assert (part.legal.sum(1) > 1).all()  # forced moves are left out
        cards = batch.cards
        logits = ppo.nets.outputs_of(nets["cards"], cards.inputs, "cpu")[:, :-1]
        logits = np.where(cards.legal != 0, logits.astype(np.float64), -np.inf)
        logits -= np.log(np.exp(logits).sum(1, keepdims=True))
        assert np.allclose(
            cards.log_probs, logits[np.arange(len(logits)), cards.outputs], atol=1e-5
        )


def test_nothing_before_a_forced_call_is_learned_from(ppo):
    """Nor what a past self did; cards are learned from either way."""
    dealer = ppo.hands.Dealer(RULES, 200)
    batch = dealer.play(terms(ppo, forced=0.3, past=0.5), drawn(ppo), drawn(ppo, 2))
    auction, cards = dealer.parts["auction"], dealer.parts["cards"]
    keys, forced = auction.room.keys[: auction.n], auction.forced[: auction.n]
    learned = dealer._learned_calls()
    for table in range(200):
        own = np.flatnonzero(keys >> 2 == table)
        at = np.flatnonzero(forced[own])
        expected = np.arange(len(own)) >= (at[-1] if len(at) else 0)
        past = auction.players[own] == ppo.hands.PAST
        assert (learned[own] == (expected & ~past)).all()
    assert batch.auction.forced.any()
    keys, past = cards.room.keys[: cards.n], cards.players[: cards.n] == ppo.hands.PAST
    assert len(batch.cards.outputs) == (~past).sum() < cards.n
    sides = {(key >> 2, key & 1) for key in keys[past]}
    assert {table for table, _ in sides} == set(range(100, 200))
    assert len(sides) == 100  # one side of each


def test_it_learns_what_is_paid(ppo):
    """A reward planted on the lowest legal card makes it likely, whatever is illegal."""
    batch = ppo.hands.Dealer(RULES, 64).play(terms(ppo), drawn(ppo))
    cards = batch.cards
    lowest = cards.legal.argmax(1)
    returns = np.where(cards.outputs == lowest, 1.0, -1.0).astype(np.float32)
    batch = batch._replace(cards=cards._replace(returns=returns, values=returns * 0))
    parts = ppo.hands.Dealer(RULES, 1).parts
    sizes = {p: (x.features.size, 16, 16, x.features.outputs + 1) for p, x in parts.items()}
    learner = ppo.learner.Learner(sizes, 1, "cpu")
    step = ppo.learner.Step(0.01, 10.0, 0.0, 0.5, 0.0, 256)

    def likely():
        logits = ppo.nets.outputs_of(learner.nets["cards"], cards.inputs, "cpu")[:, :-1]
        odds = np.where(cards.legal != 0, np.exp(logits), 0)
        return (odds[np.arange(len(odds)), lowest] / odds.sum(1)).mean()

    before = likely()
    for _ in range(8):
        found = learner.learn(batch, step)
    assert before < 0.5
    assert likely() > 0.8
    assert found["entropy"] < 1


def test_the_critic_of_all_hands_is_told_what_others_hold(ppo):
    """Their cards, by seat, suits renamed as the player's are; the player's own inputs stay."""
    nets, dealer = drawn(ppo), ppo.hands.Dealer(RULES, 32, all_hands=True)
    plain = ppo.hands.Dealer(RULES, 32).play(terms(ppo), nets).cards
    part = dealer.parts["cards"]
    sizes = (part.features.size, 16, 16, 1)
    rng = np.random.default_rng(1)
    critic = ppo.nets.new_weights(sizes, rng, 6 * part.features.outputs)
    cards = dealer.play(terms(ppo), nets | {ppo.hands.CRITIC: critic}).cards
    assert (cards.inputs == plain.inputs).all()
    assert (cards.outputs == plain.outputs).all()
    assert plain.hidden.shape[1] == 0
    assert not np.allclose(cards.values, plain.values)
    kinds = part.features.outputs
    for hidden, legal in zip(cards.hidden, cards.legal, strict=True):
        listed = hidden[1 : 1 + hidden[0]]
        others = set(listed % kinds)
        assert len(others) == len(listed)  # one copy of each card, and nobody else's
        assert not others & set(np.flatnonzero(legal))
        assert len(listed) >= 3


@pytest.mark.parametrize("part", ["auction", "cards"])
def test_torch_and_the_agent_make_the_same_of_weights(ppo, part):
    """On lists by kernels, as other devices do it, and spread out in numpy; slopes, too."""
    nets, torch = drawn(ppo), ppo.torch
    batch = ppo.hands.Dealer(RULES, 32).play(terms(ppo), nets)
    lists = getattr(batch, part).inputs[:64]
    inputs = np.zeros((64, len(nets[part]["first"])), np.float32)
    for row, (count, *active) in zip(inputs, lists, strict=True):
        row[active[:count]] = 1
    said = ppo.nets.outputs_of(nets[part], lists, "cpu")[:, :-1]
    weights = ppo.kept.weights_of(RULES, nets, {})
    assert np.allclose(said, forward(network_of(weights, part), inputs), atol=1e-4)
    matrix = nets[part]["first"].clone().requires_grad_()
    bias = nets[part]["first_bias"].clone().requires_grad_()
    slopes = []
    for way in (ppo.sparse.first_layer, ppo.sparse.gathered):
        found = way(torch.from_numpy(lists), matrix, bias)
        assert np.allclose(found.detach().numpy(), inputs @ matrix.detach().numpy(), atol=1e-5)
        (found**2).sum().backward()
        slopes.append((matrix.grad.clone(), bias.grad.clone()))
        matrix.grad = bias.grad = None
    assert all(torch.allclose(*pair, atol=1e-4) for pair in zip(*slopes, strict=True))


def trained(ppo, folder, *options):
    """A run's weights, played by the agent."""
    script = ppo.script
    options = ["--out", str(folder), "--opponents", "cautious", "--final-boards", "2", *options]
    assert script.main(script.Args.parse(options)) == 0
    return PpoAgent(RULES, weights=folder / "weights.safetensors")


def test_a_small_run_beats_cautious(ppo, tmp_path):
    """From nothing, in seconds."""
    small = ["--millions", "0.5", "--hands", "512", "--minibatch", "1024"]
    agent = trained(ppo, tmp_path / "run", *small, "--hidden", "32", "--hidden-auction", "32")
    points = match.play(RULES, agent, "cautious", boards=400, seed=9).boards.points_per_hand
    assert points.low > 0


@pytest.mark.slow
def test_a_run_of_minutes_beats_rule(ppo, tmp_path):
    """Without anything of rule's; on boards that no run is measured by."""
    agent = trained(ppo, tmp_path / "run", "--millions", "40", "--measure", "100")
    points = match.play(RULES, agent, "rule", boards=4000, seed=9).boards.points_per_hand
    assert points.low > 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--hands", "0"], "--hands 0: 1 to 65536"),
        (["--millions", "0"], "--millions 0.0: 1e-06 or more"),
        (["--seed", "-1"], "--seed -1: 0 to"),
        (["--decay", "1.5"], "--decay 1.5: 0 to 1"),
        (["--rate", "nan"], "--rate nan: 1e-06 or more"),
        (["--variant", "nothing_v0"], "nothing_v0"),
        (["--opponents", "nobody"], "no agent 'nobody'"),
        (["--workers", "3"], "--workers 3: a number that divides --hands 32"),
        (["--ray-address", "auto"], "--workers, 1 or more"),
    ],
)
def test_what_is_wrong_is_refused_first(ppo, tmp_path, options, told):
    """In a line; nothing is made."""
    with pytest.raises(OptionError, match=re.escape(told)):
        run(ppo, tmp_path / "run", *options)
    assert not (tmp_path / "run").exists()


def test_cuda_is_refused_where_there_is_none(ppo, tmp_path, monkeypatch):
    monkeypatch.setattr(ppo.torch.cuda, "is_available", lambda: False)
    with pytest.raises(OptionError, match="--cuda: torch finds no graphics processor"):
        run(ppo, tmp_path / "run", "--cuda")


def test_a_checkpoint_that_is_none_of_this_run_is_refused(ppo, tmp_path):
    """Other settings, another trainer's, torn: a line, and it is left as it is."""
    assert run(ppo, tmp_path) == 0
    path = tmp_path / "checkpoint.safetensors"
    good, found = path.read_bytes(), read_weights(path)
    with pytest.raises(OptionError, match=r"--seed 2: the run in .* has 1; go on with that"):
        run(ppo, tmp_path, "--seed", "2")
    told = json.loads(found.metadata["run"])
    for metadata in ({}, {"run": "{"}, {"run": "{}"}, {"run": json.dumps(told | {"pool": 3})}):
        write_weights(path, found.arrays, metadata)
        with pytest.raises(WeightsError, match=r"is no(ne of this trainer| checkpoint of a run)"):
            run(ppo, tmp_path)
    fewer = {name: array for name, array in found.arrays.items() if name != "cards.second"}
    for arrays in (fewer, {**fewer, "cards.second": np.ones((3, 3), np.float32)}):
        write_weights(path, arrays, found.metadata)
        with pytest.raises(WeightsError, match="is none of this trainer"):
            run(ppo, tmp_path)
    path.write_bytes(good[:-7])
    with pytest.raises(WeightsError, match="is damaged"):
        run(ppo, tmp_path)
    assert path.read_bytes() == good[:-7]
    path.write_bytes(good)
    assert run(ppo, tmp_path) == 0


def test_a_full_disk_loses_nothing_that_was_kept(ppo, tmp_path, monkeypatch):
    """One line; the checkpoint is the one before, and the run goes on from there."""
    whole, full = tmp_path / "whole", tmp_path / "full"
    assert run(ppo, whole) == 0
    monkeypatch.setattr(ppo.script, "KEPT_SECONDS", 0)
    go, write = ppo.script.Run.go, os.write

    def none_left(descriptor, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    def gone(training):
        if training.batch == 5:
            monkeypatch.setattr(os, "write", none_left)
        return go(training)

    monkeypatch.setattr(ppo.script.Run, "go", gone)
    with pytest.raises(OutputError, match=r"checkpoint\.safetensors could not be written"):
        run(ppo, full)
    monkeypatch.setattr(os, "write", write)
    checkpoint = read_weights(full / "checkpoint.safetensors")
    assert json.loads(checkpoint.metadata["run"])["batch"] == 5
    monkeypatch.setattr(ppo.script.Run, "go", go)
    assert run(ppo, full) == 0
    assert kept(full) == kept(whole)


def test_a_process_that_dies_is_one_line(ppo, tmp_path):
    """And what was kept stays."""
    pool = sys.modules["ppo.processes"].Processes(1)
    try:
        pool._all[0][0].terminate()
        with pytest.raises(bideuchre_env.errors.WorkerError, match="ended with code"):
            list(pool.in_order(max, 1, [2]))
    finally:
        pool.close()


def test_without_torch_it_is_one_line(monkeypatch, capsys):
    """Whatever else is asked."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "train_ppo", raising=False)
    with pytest.raises(SystemExit) as ended, loaded("experiments", "train_ppo"):
        pass
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert (
        error == 'train_ppo.py: error: training needs torch: pip install "bideuchre_env[train]"\n'
    )
