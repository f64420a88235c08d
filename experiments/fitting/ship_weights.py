"""Add weights of `bideuchre prepare` or `learn_cards.py` to the package's data, for a variant.

    python experiments/fitting/ship_weights.py --weights runs/learn_cards/net-pepper_v0.npz

The variant is that with the rules in the file. Weights of `net` become `net-VARIANT.npz` in
`--out`, stored as float16. The call network in weights of `expert` becomes an entry of
`call_network.npz` there. The command and the settings of the training stay in the metadata.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from bideuchre_env.agents.data import write_file
from bideuchre_env.agents.expert import call_network
from bideuchre_env.agents.learned import net
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.weights import Weights, read_weights, write_weights
from bideuchre_env.rules.rules import Rules
from bideuchre_env.rules.variants import RULES

SCRIPT = "experiments/fitting/ship_weights.py"


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The file to add, and the folder; every field is an option of the command line."""

    weights: tuple[Path, ...] = option((), "files of weights")
    out: Path = option(Path("agents/data"), "the folder of the package's data")


def main(args: Args) -> int:
    """Add each file; raise `WeightsError` or `OptionError` for one that fits no variant."""
    for file in args.weights:
        weights = read_weights(file)
        variant = variant_of(weights)
        place = ship_calls if weights.metadata["kind"] == call_network.KIND else ship_net
        print(f"{file}: written to {place(variant, weights, args.out)}")
    return 0


def variant_of(weights: Weights) -> str:
    """Return the name of the variant with the rules that the weights were trained for."""
    rules = Rules(**weights.metadata["settings"]["rules"])
    for name, known in RULES.items():
        if known == rules:
            return name
    raise OptionError(f"{weights.name}: expected the rules of one of {', '.join(RULES)}")


def ship_net(variant: str, weights: Weights, folder: Path) -> Path:
    """Write the weights of `net`, as float16; return the path."""
    net.weights_for(RULES[variant], weights)  # checks them
    place = folder / f"{net.KIND}-{variant}.npz"
    write_weights(place, weights.arrays, {**weights.metadata, "variant": variant}, half=True)
    return place


def ship_calls(variant: str, weights: Weights, folder: Path) -> Path:
    """Write the call network of `expert` beside those of the other variants; return the path."""
    names = {name: call_network.fitted_network(name) for name in call_network.provenance()}
    names[variant] = call_network.checked_calls(RULES[variant], weights)
    parts = call_network.NETWORK.names or ()
    arrays = {f"{name}_{part}": n[part][0] for name, n in names.items() for part in parts}
    settings = weights.metadata["settings"]
    made = {name: settings[name] for name in ("hands", "seed")}
    made = {"script": SCRIPT, "command": weights.metadata["command"], **made}
    place = folder / call_network.FILE
    write_file(place, arrays, {**call_network.provenance(), variant: made})
    return place


if __name__ == "__main__":
    sys.exit(run(main, Args))
