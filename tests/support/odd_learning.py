"""Sound calls of what is read, written and learned: records, datasets, features, weights."""

from __future__ import annotations

import numpy as np
from support.odd_values import GAME, RULES_OF_IT, new_recorder, new_session, new_vec

from bideuchre_env import GameRecord, datasets, record, records_io
from bideuchre_env.learning import (
    features,
    fitting,
    improved,
    network,
    pairs,
    proposals,
    returns,
    sampling,
    weights,
)
from bideuchre_env.play.session import Session
from bideuchre_env.training.prepare import Preparation


def learning_calls(sound):
    """A function and sound values of its parameters, by name."""

    def new(suffix):
        return sound.folder / f"{next(sound.numbers)}{suffix}"

    rows = {"observations": sound.observations, "masks": sound.masks}
    making = {"policy": sound.policy, "rules": RULES_OF_IT, "hands": 2, "seed": 0}
    making |= {"phases": pairs.CARDS, "share": 1.0, "propose": None, "opponent": None}
    logits, legal = np.zeros((4, 3), np.float32), np.ones((4, 3), np.int8)
    written = {"choices": np.zeros(4, np.int64), "log_probs": np.zeros(4, np.float32)}
    arrays = {"first": np.zeros((5, 3), np.float32)}
    steps = (2, 4)
    return {
        "GameRecord": (lambda **values: GameRecord(**values).verify(), vars(sound.game)),
        "GameRecord.from_dict": (GameRecord.from_dict, {"data": sound.game.to_dict()}),
        "GameRecord.from_dict fields": (
            lambda **values: GameRecord.from_dict(values),
            sound.game.to_dict(),
        ),
        "GameRecord hand": (
            lambda **values: GameRecord.from_dict(
                sound.game.to_dict() | {"hands": [values, sound.game.hands[1]]}
            ),
            sound.game.hands[0],
        ),
        "GameRecord.loads": (GameRecord.loads, {"line": sound.game.dumps()}),
        "GameRecord.from_rows": (
            GameRecord.from_rows,
            {
                "rows": sound.states[:1],
                "rules": RULES_OF_IT,
                "variant": "cincinnati_v0",
                "seed": 1,
                "agents": ["random"] * 4,
                "start": (0, 0),
            },
        ),
        "record.rules_of": (record.rules_of, {"variant": "cincinnati_v0", "options": {}}),
        "records_io.read": (lambda path: list(records_io.read(path)), {"path": sound.file}),
        "records_io.scan": (
            lambda path, numbers: list(records_io.scan(path, numbers)),
            {"path": sound.file, "numbers": {1}},
        ),
        "records_io.write": (
            lambda records, overwrite, path=None: records_io.write(
                new(".jsonl"), records, overwrite=overwrite
            ),
            {"records": [sound.game], "overwrite": False},
        ),
        "records_io.write path": (
            lambda path: records_io.write(path, [sound.game]),
            {"path": new(".jsonl")},
        ),
        "records_io.RecordWriter": (
            lambda record: records_io.RecordWriter(new(".jsonl")).write(record),
            {"record": sound.game},
        ),
        "records_io.free_path": (
            records_io.free_path,
            {"folder": sound.folder, "stem": "a", "suffix": ".jsonl"},
        ),
        "datasets.export": (
            lambda **values: datasets.export(out=new(".npz"), **values),
            {
                "records": sound.file,
                "overwrite": True,
                "progress": None,
                "episode": "hand",
                "reward": "points",
                "observation": "dict",
                "gamma": 1.0,
                "forced": True,
                "player": None,
            },
        ),
        "datasets.export out": (
            lambda out: datasets.export(sound.file, out, episode="hand"),
            {"out": new(".npz")},
        ),
        "datasets.VecRecorder": (
            lambda **values: datasets.VecRecorder(path=new(".npz"), **values),
            {
                "vec": new_vec(),
                "players": None,
                "overwrite": True,
                "gamma": 1.0,
                "forced": True,
                "player": None,
            },
        ),
        "VecRecorder path": (
            lambda path: datasets.VecRecorder(new_vec(), path),
            {"path": new(".npz")},
        ),
        "VecRecorder.reset": (
            lambda **values: datasets.VecRecorder(new_vec(), new(".npz")).reset(**values),
            {"seed": 1, "mask": None, "options": None},
        ),
        "VecRecorder.step": (
            lambda actions: new_recorder(new(".npz")).step(actions),
            {"actions": sound.masks.argmax(axis=1)},
        ),
        "features_of": (features.features_of, {"rules": RULES_OF_IT, "part": "cards"}),
        "Features.write": (
            sound.auction.write,
            {
                **rows,
                "inputs": np.zeros((4, sound.auction.size), np.float32),
                "legal": np.zeros((4, sound.auction.outputs), np.int8),
                "symmetries": np.zeros(4, np.int64),
                "rename": True,
            },
        ),
        "Features.pack": (sound.auction.pack, {**rows, "rename": True}),
        "Features.unpack": (sound.auction.unpack, {"packed": sound.packed.inputs}),
        "Features.actions": (
            sound.auction.actions,
            {"outputs": np.zeros(4, np.int64), "symmetries": np.zeros(4, np.int64)},
        ),
        "Features.outputs_of": (
            sound.auction.outputs_of,
            {"actions": np.zeros(4, np.int64), "symmetries": np.zeros(4, np.int64)},
        ),
        "new_network": (
            network.new_network,
            {"inputs": 5, "hidden": (4, 3), "outputs": 2, "rng": sound.rng},
        ),
        "network.checked": (
            network.checked,
            {"network": sound.network, "features": sound.auction},
        ),
        "network parts": (
            lambda **values: network.checked(network.Network(**values), sound.auction),
            sound.network._asdict(),
        ),
        "network.forward": (
            network.forward,
            {"network": sound.network, "inputs": sound.auction.unpack(sound.packed.inputs)},
        ),
        "network.network_workspace": (
            network.network_workspace,
            {"network": sound.network, "features": sound.auction},
        ),
        "network.evaluate": (
            network.evaluate,
            {"network": sound.network, "features": sound.auction, **rows},
        ),
        "fit": (
            fitting.fit,
            {
                "network": sound.network,
                "features": sound.auction,
                "examples": sound.examples,
                "rng": sound.rng,
                "epochs": 1,
                "batch": 2,
                "learning_rate": 0.01,
                "report": lambda done: None,
            },
        ),
        "fit examples": (
            lambda **values: fitting.fit(
                sound.network, sound.auction, fitting.Examples(**values), sound.rng
            ),
            sound.examples._asdict(),
        ),
        "fitting.joined": (fitting.joined, {"parts": [sound.examples]}),
        "random_words": (sampling.random_words, {"seed": 1, "step": 2, "rows": 3}),
        "observation_words": (
            sampling.observation_words,
            {"seed": 1, "observations": sound.observations},
        ),
        "sample": (sampling.sample, {"logits": logits, "legal": legal, "words": 1, **written}),
        "greedy": (sampling.greedy, {"logits": logits, "legal": legal, **written}),
        "lambda_returns": (
            returns.lambda_returns,
            {
                "seats": np.zeros(steps, np.int8),
                "rewards": np.zeros((*steps, 4), np.float32),
                "ended": np.zeros(steps, bool),
                "values": np.zeros(steps, np.float32),
                "bootstrap": np.zeros((4, 4), np.float32),
                "gamma": 1.0,
                "lambda_": 0.95,
            },
        ),
        "pairs": (pairs.pairs, making),
        "pair_blocks": (
            lambda **values: next(pairs.pair_blocks(**values)),
            {**making, "block": 2, "pool": None},
        ),
        "Proposals": (
            proposals.Proposals,
            {
                "network": sound.network,
                "rules": RULES_OF_IT,
                "part": "auction",
                "seed": 1,
                "temperature": 0.7,
                "even": 0.25,
            },
        ),
        "ImprovedPolicy": (
            improved.ImprovedPolicy,
            {
                "policy": sound.policy,
                "rules": RULES_OF_IT,
                "networks": {"auction": sound.network},
                "margins": {"auction": 0.5},
            },
        ),
        "ImprovedPolicy parts": (
            lambda network, margin: improved.ImprovedPolicy(
                sound.policy, RULES_OF_IT, {"auction": network}, {"auction": margin}
            ),
            {"network": sound.network, "margin": 0.5},
        ),
        "write_weights": (
            lambda **values: weights.write_weights(new(".npz"), **values),
            {"arrays": arrays, "metadata": {"kind": "net"}, "half": False},
        ),
        "write_weights place": (
            lambda place: weights.write_weights(place, arrays, {}),
            {"place": new(".npz")},
        ),
        "write_weights array": (
            lambda array: weights.weights_bytes({"a": array}, {}),
            {"array": np.zeros(3)},
        ),
        "read_weights": (weights.read_weights, {"place": sound.weights}),
        "parse_weights": (
            weights.parse_weights,
            {"data": sound.weights.read_bytes(), "name": "these"},
        ),
        "made_for": (weights.made_for, {"kind": "net", "rules": RULES_OF_IT, "features": 1}),
        "check_weights": (
            weights.check_weights,
            {
                "weights": weights.read_weights(sound.weights),
                "expected": {"kind": "net"},
                "shapes": {"first": (5, "hidden")},
            },
        ),
        "play.Session": (
            lambda **values: Session(**values).close(),
            {"game": GAME, "people": (0,), "agents": ["random"] * 4, "seed": 1, "path": None},
        ),
        "Session.act": (
            lambda **values: new_session().act(**values),
            {"seat": 0, "name": "pass"},
        ),
        "Session.resume": (
            lambda **values: Session.resume(**values).close(),
            {"path": sound.folder / "saved.json", "trusted": ()},
        ),
        "Preparation": (
            lambda **values: Preparation(**values).folder,
            {"game": GAME.replace(target=21), "hands": 1000, "boards": 10, "seed": 0},
        ),
    }
