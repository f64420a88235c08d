"""The settings of a run: what they may be, what may change when it goes on, and their command."""

from __future__ import annotations

import shlex
from dataclasses import fields, replace
from typing import Any

import torch

import bideuchre_env
from bideuchre_env.cli.script_args import dashed
from bideuchre_env.envs.registration import Variant
from bideuchre_env.errors import OptionError
from bideuchre_env.runtime.devices import check_device
from ppo.nets import torch_device

INFINITE = float("inf")
BOUNDS: tuple[tuple[str, float, float], ...] = (
    *((name, 0, 2**32 - 1) for name in ("seed",)),
    *(
        (name, 1e-6, INFINITE)
        for name in ("millions", "measure", "rate", "clip", "temperature", "last_temperature")
    ),
    *((name, 1, 2**16) for name in ("minibatch", "hidden", "hidden_auction", "threads")),
    ("hands", 16, 2**16),
    *((name, 0, INFINITE) for name in ("entropy", "critic", "pull")),
    *((name, 0, 1024) for name in ("workers",)),
    *((name, 0, 1) for name in ("lambda_", "past", "forced", "alone")),
    *((name, 2, 10**7) for name in ("boards", "final_boards")),
)
FREE = (  # what may be another when a run goes on; of the variant it is the rules that count
    "variant",
    "out",
    "measure",
    "boards",
    "final_boards",
    "opponents",
    "threads",
    "ray",
    "ray_address",
)
TOLD = ("variant", "threads")  # of these what the weights depend on


def checked(args: Any) -> Variant:
    """The game; `OptionError` for settings that cannot be, before anything is made."""
    for name, least, most in BOUNDS:
        value = getattr(args, name)
        if not least <= value <= most or value == INFINITE:
            wanted = f"{least} or more, and finite" if most == INFINITE else f"{least} to {most}"
            raise OptionError(f"{dashed(name)} {value}: {wanted}")
    game = bideuchre_env.make(args.variant)
    for opponent in args.opponents:
        bideuchre_env.agents.make(opponent, game.rules, seed=0)
    if args.hands % max(1, args.workers):
        raise OptionError(f"--workers {args.workers}: a number that divides --hands {args.hands}")
    if (args.ray or args.ray_address) and not args.workers:
        raise OptionError(
            "--ray, --ray-address: how many play there at a time is --workers, 1 or more"
        )
    check_device(args.device)
    if torch_device(args.device) == "cuda" and not torch.cuda.is_available():
        raise OptionError("--device cuda: torch finds no GPU that it can use")
    return game


def command(args: Any, name: str) -> str:
    """The command line that makes these weights of the game of this name: all they depend on."""
    if not args.variant.endswith(".toml"):
        args = replace(args, variant=name)
    words = ["python", "experiments/train_ppo.py"]
    for each in fields(args):
        value = getattr(args, each.name)
        if value is not False and (each.name in TOLD or each.name not in FREE):
            option = dashed(each.name)
            words += [option] if value is True else [option, str(value)]
    return shlex.join(words)
