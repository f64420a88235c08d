"""Make `agents/data/hand_worth.npz`: the worth of every hand to a declarer.

    python experiments/fitting/build_hand_table.py --seed 1 --workers 2

For every canonical hand of the decks of 16, 20, 24 and 32 cards (`agents/expert/hand_table.py`),
the other cards are dealt at random and played out by the rule player at all seats, the hand's
holder having been given the contract: with partner in every strain, and alone in every strain after
every exchange. The hands of single decks are played once with the declarer leading and once with
another seat leading (each as often); the 32-card ones with the declarer leading, as in every
declared game of that deck.

Every strain is played on `--first` deals, then the three that came out best until half the width of
each chance's 95 % interval is at most `--partnered` with partner and `--lone` alone. Where another
is among the best three after that, or too near to tell in the table, it is played on as well: the
three that are best in the table are always that sure. Each hand has streams of its own from the
seed, so the numbers do not depend on the order of work. Blocks of hands that are done are kept in
the folder OUT.parts: a run that was stopped goes on there.
"""

from __future__ import annotations

import io
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hand_play import BEST, N_EXCHANGES, NEAR, new_table, play_alone, play_partnered

from bideuchre_env._files import Output, only_run_in
from bideuchre_env._files import write_file as write_whole
from bideuchre_env.agents.data import write_file
from bideuchre_env.agents.expert.hand_table import DECKS, SCALE
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.core.phases.auction import N_STRAINS
from bideuchre_env.core.phases.deal import split_seed
from bideuchre_env.errors import OptionError
from bideuchre_env.learning.suits import canonical_key
from bideuchre_env.rules.bids import Bid
from bideuchre_env.rules.cards import COPY_SHIFT
from bideuchre_env.rules.rules import Rules
from bideuchre_env.runtime.jit import Array, entry_kernel

BLOCK = 128  # hands that are kept at a time


def named(kinds: int, copies: int) -> str:
    """What a deck is called in files and on the command line."""
    return f"{kinds}x{copies}"


NAMES = {named(*deck): deck for deck in DECKS}
LEADERS = {1: ("declarer", "eldest"), 2: ("declarer",)}  # by copies
LOWEST = {16: "J", 20: "10", 24: "9"}


@dataclass(frozen=True)
class Args(ScriptArgs):
    """What to play; every field is an option of the command line."""

    first: int = option(100, "deals of every strain and lone bid")
    partnered: float = option(0.03, "half the width of a chance's interval with partner")
    lone: float = option(0.02, "the same alone")
    most: int = option(2500, "deals of a strain at most")
    decks: tuple[str, ...] = option(tuple(NAMES), "the decks: kinds of cards x copies of each")
    hands: int = option(0, "only so many hands of a deck; 0 for all")
    workers: int = option(1, "processes; the table stays the same")
    seed: int = option(1, "same seed, same table")
    out: Path = option(Path("runs/hand_worth.npz"), "the file to write, at the end")


class Block(NamedTuple):
    """Some of the hands of a deck, played with one leader."""

    kinds: int
    copies: int
    lead: int
    start: int
    keys: Array

    @property
    def file(self) -> str:
        """Its name among the blocks that are kept."""
        leader = LEADERS[self.copies][self.lead]
        return f"{named(self.kinds, self.copies)}-{leader}-{self.start:05}.npz"


def main(args: Args) -> int:
    """Play the decks and write the file; what was played before an interruption is kept."""
    split_seed(args.seed)
    if not 1 <= args.first <= args.most or args.hands < 0 or args.workers < 1:
        raise OptionError("--first: 1 deal to --most; --hands: at least 0; --workers: at least 1")
    if not (0 < args.partnered < 1 and 0 < args.lone < 1):
        raise OptionError("--partnered and --lone: a share between 0 and 1")
    if not set(args.decks) <= NAMES.keys() or len(set(args.decks)) < len(args.decks):
        raise OptionError(f"--decks {' '.join(args.decks)}: each once, of {', '.join(NAMES)}")
    parts = args.out.with_name(args.out.name + ".parts")
    with only_run_in(parts), Output(args.out, overwrite=True) as out:  # written at the end
        play_blocks(args, parts)
        write_file(out, tables(args, parts), told(args))
    print(f"written to {args.out}: {args.out.stat().st_size / 2**20:.2f} MiB")
    return 0


def blocks(args: Args) -> list[Block]:
    """Everything there is to play."""
    found = []
    for kinds, copies in map(NAMES.__getitem__, args.decks):
        keys = canonical_hands(kinds, copies)[: args.hands or None]
        for lead in range(len(LEADERS[copies])):
            for start in range(0, len(keys), BLOCK):
                found.append(Block(kinds, copies, lead, start, keys[start : start + BLOCK]))
    return found


def play_blocks(args: Args, parts: Path) -> None:
    """Play the blocks that are not kept yet."""
    every = blocks(args)
    left = [block for block in every if not is_kept(block, args, parts)]
    done = len(every) - len(left)
    context = get_context("spawn")
    with (
        progress_bar("hands", "blocks") as progress,
        ProcessPoolExecutor(args.workers, mp_context=context) as pool,
    ):
        try:
            for kept in pool.map(play_block, left, [args] * len(left), [parts] * len(left)):
                done += 1
                progress(done, len(every), done * kept)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def is_kept(block: Block, args: Args, parts: Path) -> bool:
    """Whether a block is kept that was played by the same settings."""
    with suppress(OSError, ValueError, KeyError), np.load(parts / block.file) as kept:
        return str(kept["settings"]) == settings(block, args)
    return False


def settings(block: Block, args: Args) -> str:
    """What the numbers of a block depend on."""
    limits = f"{args.first} {args.partnered} {args.lone} {args.most} {args.seed}"
    return f"{len(block.keys)} hands, the best {BEST} and those within {NEAR} tricks: {limits}"


def tables(args: Args, parts: Path) -> dict[str, Array]:
    """The arrays of the file by name, from the blocks."""
    arrays: dict[str, Array] = {}
    for deck in args.decks:
        own = [block for block in blocks(args) if named(block.kinds, block.copies) == deck]
        by_lead = [[block for block in own if block.lead == lead] for lead in (0, 1)]
        by_lead = [each for each in by_lead if each]
        arrays[f"keys_{deck}"] = np.concatenate([block.keys for block in by_lead[0]])
        for name in ("tricks", "lone"):
            table = np.stack(
                [
                    np.concatenate([np.load(parts / block.file)[name] for block in each])
                    for each in by_lead
                ],
                axis=1,
            )
            # like numbers of all hands side by side take a tenth less room when compressed
            arrays[f"{name}_{deck}"] = np.asfortranarray(table)
    return arrays


def told(args: Args) -> dict[str, object]:
    """How the table was made, for the file itself."""
    script = "experiments/fitting/build_hand_table.py"
    options = ("first", "partnered", "lone", "most", "decks", "seed")
    return {
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


def canonical_hands(kinds: int, copies: int) -> Array:
    """Every canonical hand of a deck, rising; int64 (n,)."""
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
    """Fill `keys` with the canonical hand of every hand."""
    for i in range(len(hands)):
        keys[i] = canonical_key(hands[i])


def game(kinds: int, copies: int, leader: str) -> Rules:
    """A game with a bid for half the tricks and a lone bid for every exchange."""
    half = kinds * copies // 8
    lone = tuple(Bid(f"call-{k}", value=1, exchange=k) for k in range(N_EXCHANGES))
    return Rules(
        ranks=LOWEST[kinds],
        copies=copies,
        partnered=(half, half),
        lone=lone,
        opening_lead=leader,
        target=10,
    )


def play_block(block: Block, args: Args, parts: Path) -> int:
    """Play a block and keep it; how many hands it has."""
    n, tricks = len(block.keys), block.kinds * block.copies // 4
    rules = game(block.kinds, block.copies, LEADERS[block.copies][block.lead])
    table = new_table(rules)
    low = np.uint64((int(split_seed(args.seed)[0]) + 2 * block.lead + 4 * block.copies) % (1 << 64))
    won = np.zeros((n, N_STRAINS, tricks + 1), np.int64)
    alone = np.zeros((n, N_EXCHANGES, N_STRAINS, 2), np.int64)
    for i in range(0, n, 8):  # in parts, so that Ctrl-C is heard
        part = slice(i, min(i + 8, n))
        hands = (table, block.keys[part], block.start + i, low)
        play_partnered(*hands, args.first, args.most, args.partnered, won[part])
        play_alone(*hands, args.first, args.most, args.lone, won[part], alone[part])
    file = io.BytesIO()
    lone = np.round(SCALE * alone[..., 1] / alone.sum(axis=-1)).astype(np.uint8)
    arrays = {"tricks": quantised(won), "lone": lone, "settings": np.array(settings(block, args))}
    np.savez(file, **arrays)
    write_whole(parts / block.file, file.getvalue())
    return n


def quantised(counts: Array) -> Array:
    """Counts along the last axis as uint8 shares that add up to `SCALE` exactly."""
    ups = np.cumsum(counts, axis=-1) * SCALE / counts.sum(axis=-1, keepdims=True)
    steps = np.diff(np.round(ups), axis=-1, prepend=0)
    shares: Array = steps.astype(np.uint8)
    return shares


if __name__ == "__main__":
    sys.exit(run(main, Args))
