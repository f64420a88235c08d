"""Build `agents/data/hand_worth.npz`: the chances of every hand if its holder is the declarer.

    python experiments/fitting/build_hand_table.py --seed 1 --workers 2

The table (`agents/expert/hand_table.py`) has a row for every canonical hand of the decks of 16, 20,
24 and 32 cards. With partner, it has the chance of each number of tricks in each strain; alone, the
chance of all the tricks in each strain, after an exchange of 0 to 3 cards. To estimate them, the
script deals the other cards at random and lets the rule player play all seats. Hands of single
decks are played twice: with the declarer leading, and with the eldest hand leading, which is then
another seat. In the registered games with 32 cards, the declarer always leads.

Every strain is played on `--first` deals. Only the three strains with the most tricks continue,
until half the width of the 95 % interval of each chance is at most `--partnered` with partner and
`--lone` alone, or until `--most` deals. If another strain is then among the best three, or equal to
one of them after rounding, it continues in the same way. The random numbers of a hand depend only
on the seed, the deck, the leader and the row of the hand, so `--workers` does not change the table.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hand_play import BEST, Precision, play_block

from bideuchre_env._files import Output
from bideuchre_env.agents.data import write_file
from bideuchre_env.agents.expert.hand_table import DECKS, SCALE, omitted
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.errors import OptionError
from bideuchre_env.evaluation.executors import Executor, executor_of
from bideuchre_env.learning.suits import canonical
from bideuchre_env.rules.cards import COPY_SHIFT
from bideuchre_env.runtime.jit import Array, entry_kernel

BLOCK = 128  # hands per task of a process


NAMES = {f"{kinds}x{copies}": (kinds, copies) for kinds, copies in DECKS}
LEADERS = {1: ("declarer", "eldest"), 2: ("declarer",)}  # [copies]: `Rules.opening_lead` to play


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the table; every field is an option of the command line."""

    first: int = option(100, "deals per strain and lone bid before strains are dropped")
    partnered: float = option(0.03, "half width of the interval of a chance, partnered bids")
    lone: float = option(0.02, "half width of the interval of a chance, lone bids")
    most: int = option(2500, "maximum of deals per strain")
    decks: tuple[str, ...] = option(tuple(NAMES), "decks: kinds of cards x copies of each")
    hands: int = option(0, "number of hands of a deck to compute; 0: all")
    workers: int = option(1, "processes; the table is the same")
    seed: int = option(1, "seed of the deals")
    out: Path = option(Path("runs/hand_worth.npz"), "the file to write, at the end")


def main(args: Args) -> int:
    """Compute the tables of `args.decks` and write `args.out`; nothing is written if interrupted.

    Raise `OptionError` for invalid options.
    """
    split_seed(args.seed)
    if not 1 <= args.first <= args.most or args.hands < 0 or args.workers < 1:
        raise OptionError("--first: 1 deal to --most; --hands: at least 0; --workers: at least 1")
    if not (0 < args.partnered < 1 and 0 < args.lone < 1):
        raise OptionError("--partnered and --lone: a share between 0 and 1")
    if not set(args.decks) <= NAMES.keys() or len(set(args.decks)) < len(args.decks):
        raise OptionError(f"--decks {' '.join(args.decks)}: each once, of {', '.join(NAMES)}")
    script = "experiments/fitting/build_hand_table.py"
    options = ("first", "partnered", "lone", "most", "decks", "seed")
    provenance = {
        "script": script,
        "command": args.command(script, options),
        "seed": args.seed,
        "deals": {"first": args.first, "most": args.most},
        "half_widths": {"partnered": args.partnered, "lone": args.lone, "best_strains": BEST},
        "leaders": {deck: LEADERS[NAMES[deck][1]] for deck in args.decks},
        "played_by": "the rule player at all four seats, the contract given, the other cards "
        "dealt uniformly at random",
        "chances": f"uint8, of {SCALE}",
    }
    with Output(args.out, overwrite=True) as out:  # reserved now, written at the end
        write_file(out, tables(args), provenance)
    print(f"written to {args.out}: {args.out.stat().st_size / 2**20:.2f} MiB")
    return 0


def tables(args: Args) -> dict[str, Array]:
    """Return the arrays of the file: `keys_`, `tricks_` and `lone_` + deck, as in `HandTable`.

    `tricks_` lacks the chance of `omitted` tricks.
    """
    arrays: dict[str, Array] = {}
    with executor_of(args.workers) as executor:
        for deck in args.decks:
            kinds, copies = NAMES[deck]
            keys = canonical_hands(kinds, copies)[: args.hands or None]
            leads = [
                play_hands(kinds, copies, lead, keys, args, executor)
                for lead in range(len(LEADERS[copies]))
            ]
            arrays[f"keys_{deck}"] = keys
            for name in ("tricks", "lone"):
                table = np.stack([played[name] for played in leads], axis=1)
                if name == "tricks":
                    table = np.delete(table, omitted(table.shape[-1] - 1), axis=-1)
                # storing equal entries of all hands together compresses a tenth better
                arrays[f"{name}_{deck}"] = np.asfortranarray(table)
    return arrays


def play_hands(
    kinds: int, copies: int, lead: int, keys: Array, args: Args, executor: Executor
) -> dict[str, Array]:
    """Play all hands `keys`, int64 (n,), of a deck in blocks, and show the progress.

    `lead` is an index of `LEADERS[copies]`. Return the concatenated tables of `play_block`.
    """
    leader = LEADERS[copies][lead]
    low = np.uint64((int(split_seed(args.seed)[0]) + 2 * lead + 4 * copies) % (1 << 64))
    precision = Precision(args.first, args.most, args.partnered, args.lone)
    blocks = ((first, keys[first : first + BLOCK]) for first in range(0, len(keys), BLOCK))
    played: list[dict[str, Array]] = []
    with progress_bar(f"{kinds}x{copies}, {leader} leads", "hands", "hands") as progress:
        shared = kinds, copies, leader, low, precision
        for part in executor.in_order(play_block, shared, blocks):
            played.append(part)
            done = min(BLOCK * len(played), len(keys))
            progress(done, len(keys), done)
    return {name: np.concatenate([part[name] for part in played]) for name in played[0]}


def canonical_hands(kinds: int, copies: int) -> Array:
    """Return all canonical hands (`learning/suits.py`) of a deck, ascending, int64 (n,)."""
    size = kinds * copies // 4
    hands, counts = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for kind in range(kinds):
        held = [0, 1 << kind, 1 << kind | 1 << (kind + COPY_SHIFT)][: copies + 1]
        hands = np.concatenate([hands | bits for bits in held])
        counts = np.concatenate([counts + n for n in range(copies + 1)])
        possible = (counts <= size) & (counts + copies * (kinds - 1 - kind) >= size)
        hands, counts = hands[possible], counts[possible]
    keys = np.zeros(len(hands), np.int64)
    key_rows(hands, keys)
    return np.unique(keys)


@entry_kernel
def key_rows(hands: Array, keys: Array) -> None:
    """Fill `keys` with the canonical hand of each of `hands`, both int64 (n,)."""
    for i in range(len(hands)):
        keys[i] = canonical(hands[i])[0]


if __name__ == "__main__":
    sys.exit(run(main, Args))
