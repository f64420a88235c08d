"""Add weights of `bideuchre prepare`, `learn_cards.py` or `train_ppo.py` to the package's data.

    python experiments/fitting/ship_weights.py --weights runs/learn_cards/pepper_v0.npz

The variant is that with the rules in the file. The parts of the file replace those of `VARIANT.npz`
in `--out`; `net` and `ppo` are stored as float16. The command and the settings of the training stay
in the metadata.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from bideuchre_env.agents.expert.call_network import KIND, checked_calls
from bideuchre_env.agents.making import make
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.weights import Weights, read_parts, write_parts
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The file to add, and the folder; every field is an option of the command line."""

    weights: tuple[Path, ...] = option((), "files of weights")
    out: Path = option(Path("agents/data"), "the folder of the package's data")


def main(args: Args) -> int:
    """Add the weights of each file; `WeightsError` or `OptionError` if they fit no variant."""
    for file in args.weights:
        for weights in read_parts(file):
            variant, part = variant_of(weights), weights.metadata["kind"]
            if part == KIND:
                checked_calls(RULES[variant], weights)
            else:
                make(part, RULES[variant], weights=weights)  # checks them
            made = {**weights.metadata, "variant": variant}
            place = args.out / f"{variant}.npz"
            write_parts(place, {part: replace(weights, metadata=made)}, half=part != KIND)
            print(f"{file}: {part} written to {place}")
    return 0


def variant_of(weights: Weights) -> str:
    """Return the name of the variant that the weights were trained for.

    `train_ppo.py` stores its name, the others the rules.
    """
    if "settings" not in weights.metadata:
        return str(weights.metadata["variant"])
    rules = Rules(**weights.metadata["settings"]["rules"])
    for name, known in RULES.items():
        if known == rules:
            return name
    raise OptionError(f"{weights.name}: expected the rules of one of {', '.join(RULES)}")


if __name__ == "__main__":
    sys.exit(run(main, Args))
