"""Build `agents/data/holder_odds.npz`: the odds that a seat holds an unseen card.

    python experiments/fitting/build_holder_odds.py --seed 1

made the shipped file (`--out agents/data/holder_odds.npz`), when the package had six variants (see
its provenance). In each of `--rounds` rounds, the rule player plays `--hands` hands of every
registered variant, in all seats. Whenever a seat with 2 to 6 cards in hand is to play, the script
counts the true holders of the cards that this seat cannot see. It also counts their holders in
deals sampled for this seat (`agents/expert/endgame.py`).
After the round, the odds are multiplied by true count / sampled count; the next round samples its
deals with the new odds. The first round has equal odds everywhere.

Variants with the same deck are counted together: the odds are per deck. `CAREFUL` is added to both
counts, so that rare cases hardly change the odds. The limit `MOST` is about 16 times the odds of a
defender. If a kind of contract was never played with some number of cards in hand, its odds are 0,
which means unknown.

Each variant and round has its own random stream from the seed. The file is written at the end; if
interrupted by Ctrl-C, the script writes nothing.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hand_play import Table, new_table

from bideuchre_env import __version__
from bideuchre_env._files import Output
from bideuchre_env.agents.data import write_file
from bideuchre_env.agents.expert.endgame import (
    DEFENDER,
    EQUAL,
    MOST_HELD,
    NOWHERE,
    SAMPLED_DEAL,
    SHAPE,
    SampledDeal,
    begin_deals,
    contract_of,
    holder_of,
    number_cards,
    sample_deal,
)
from bideuchre_env.agents.rule.agent import rule_decision
from bideuchre_env.cli.progress import progress_bar
from bideuchre_env.cli.script_args import ScriptArgs, option, run
from bideuchre_env.core.hands import held
from bideuchre_env.core.phases.deal import deal_hand, split_seed, start_game
from bideuchre_env.core.records import State, Tables, View
from bideuchre_env.core.rows import seed_rows
from bideuchre_env.core.state import DEAL, PLAY
from bideuchre_env.core.step import apply, legal_bits
from bideuchre_env.core.view import count_held, see
from bideuchre_env.errors import OptionError
from bideuchre_env.rules.variants import RULES
from bideuchre_env.runtime.intrinsics import lowest_bit
from bideuchre_env.runtime.jit import Array, entry_kernel, kernel, new_rows

DRAWN = 2  # deals sampled at each decision
CAREFUL = 25.0  # cards added to both the true and the sampled counts
MOST = 255  # maximum odds of a holder; a defender has `EQUAL`
AT_ONCE = 250  # hands between two checks for Ctrl-C


@dataclass(frozen=True)
class Args(ScriptArgs):
    """The settings of the count; every field is an option of the command line."""

    hands: int = option(5000, "hands per variant and round")
    rounds: int = option(4, "rounds of counting; each starts from the odds of the previous round")
    seed: int = option(1, "seed of the hands")
    out: Path = option(Path("runs/holder_odds.npz"), "the file to write, at the end")


def main(args: Args) -> int:
    """Estimate the odds of every deck and write `args.out`; nothing is written if interrupted."""
    split_seed(args.seed)
    if args.hands < 1 or args.rounds < 1:
        raise OptionError(f"--hands {args.hands} --rounds {args.rounds}: at least 1 of each")
    script, options = "experiments/fitting/build_holder_odds.py", ("hands", "rounds", "seed")
    provenance = {
        "script": script,
        "command": args.command(script, options),
        "version": __version__,
        **{name: getattr(args, name) for name in options},
        "layouts": DRAWN,
        "careful": CAREFUL,
        "games": decks(),
        "played_by": "the rule player at all four seats",
    }
    with Output(args.out, overwrite=True) as out:  # reserved now, written at the end
        arrays = {}
        for deck, names in decks().items():
            arrays[deck] = count_deck(deck, names, args)
            print(f"{deck}: {', '.join(names)}", flush=True)
        write_file(out, arrays, provenance)
    print(f"written to {args.out}: {args.out.stat().st_size:,} bytes")
    return 0


def decks() -> dict[str, list[str]]:
    """Return the names of the registered variants by deck, such as "24x1": kinds x copies."""
    variants: dict[str, list[str]] = {}
    for name, rules in RULES.items():
        variants.setdefault(f"{rules.kinds}x{rules.copies}", []).append(name)
    return variants


def count_deck(deck: str, names: list[str], args: Args) -> Array:
    """Return the odds of the holders of a card in one deck, uint8 `SHAPE`; 0 where unknown.

    `names` are the variants played with this deck.
    """
    odds, seen = np.full(SHAPE, EQUAL, np.uint8), np.zeros(SHAPE[:2], bool)
    hands, done, decisions = args.hands * len(names) * args.rounds, 0, 0
    with progress_bar(deck, "hands") as progress:
        for turn in range(args.rounds):
            counts = np.zeros((2, *SHAPE))
            for name in names:
                rng = np.random.default_rng([args.seed, [*RULES].index(name), turn])
                table, deals = new_table(RULES[name]), new_rows(SAMPLED_DEAL, 1)
                seed_rows(table.states, *split_seed(int(rng.integers(2**62))))
                deals["holder_odds"] = odds
                for first in range(0, args.hands, AT_ONCE):
                    last = min(first + AT_ONCE, args.hands)
                    decisions += count_hands(table, deals, first, last, counts)
                    done += last - first
                    progress(done, hands, decisions)
            odds = correct_odds(odds, counts)
            seen |= counts[0].any(axis=(2, 3))
    odds[~seen] = 0  # unknown
    return odds


def correct_odds(odds: Array, counts: Array) -> Array:
    """Return `odds` times true / sampled counts, uint8 `SHAPE`, scaled to `EQUAL` for defenders.

    `counts` (2, *`SHAPE`): the true counts and the sampled ones.
    """
    true, sampled = counts + CAREFUL
    weights = odds * true / sampled
    weights *= EQUAL / weights[:, :, DEFENDER : DEFENDER + 1]
    corrected: Array = np.clip(np.rint(weights), 1, MOST).astype(np.uint8)
    return corrected


# --- the hands ------------------------------------------------------------------------------------


@entry_kernel
def count_hands(table: Table, deals: Array, first: int, last: int, counts: Array) -> int:
    """Play hands `first` to `last` - 1 by the rule player, adding holders of cards to `counts`.

    `deals`, `SAMPLED_DEAL` (1,), is scratch space with the odds in `holder_odds`. `counts`
    (2, *`SHAPE`): the true counts and the sampled ones. Return the number of actions played.
    """
    work, s = table.work, table.states[0]
    t, view = work.tables[0], work.views[0]
    decisions = 0
    for i in range(first, last):
        start_game(s, i & 3)
        deal_hand(s, t)
        while s.phase < DEAL:
            see(s, t, s.turn, view)
            chosen = rule_decision(view, legal_bits(s, t), work)
            if s.phase == PLAY and 1 < count_held(view, -1) < MOST_HELD:
                count_card(s, t, view, deals[0], counts)
            apply(s, t, chosen)
            decisions += 1
    return decisions


@kernel
def count_card(s: State, t: Tables, view: View, deal: SampledDeal, counts: Array) -> None:
    """Add the holders of the unseen cards at one decision to `counts`: [0] true, [1] sampled.

    `deal` is a workspace for the sampled deals.
    """
    number_cards(view, t, deal)
    begin_deals(view, deal)
    count_true(s, view, deal, counts[0])
    for _ in range(DRAWN):
        if sample_deal(view, deal):
            count_sampled(view, deal, counts[1])


@kernel
def count_true(s: State, view: View, deal: SampledDeal, counts: Array) -> None:
    """Add the true holders of the unseen cards to `counts`, `SHAPE`, with weight `DRAWN` a card.

    Two unseen copies of a card are indistinguishable: each counts half for each of their holders.
    A card that no playing seat holds counts for `NOWHERE`.
    """
    contract, n = contract_of(view), count_held(view, -1)
    cards = deal.unseen
    while cards:
        place = lowest_bit(cards)
        cards &= cards - 1
        kind, rank, rest = deal.kind[place], deal.rank[place], float(DRAWN)
        copies = (view.unseen >> kind & 1) + (view.unseen_pair >> kind & 1)
        for seat in range(1, 4):
            if view.cards_left[seat] > 0:
                share = float(DRAWN * held(s.hands[(s.turn + seat) & 3], kind)) / copies
                rest -= share
                counts[contract, n, holder_of(view, seat), rank] += share
        counts[contract, n, holder_of(view, NOWHERE), rank] += rest


@kernel
def count_sampled(view: View, deal: SampledDeal, counts: Array) -> None:
    """Add the holders of the unseen cards in the sampled deal `deal.hands` to `counts`, `SHAPE`."""
    contract, n = contract_of(view), count_held(view, -1)
    for seat in range(1, NOWHERE + 1):
        cards, holder = deal.hands[seat], holder_of(view, seat)
        while cards:
            counts[contract, n, holder, deal.rank[lowest_bit(cards)]] += 1.0
            cards &= cards - 1


if __name__ == "__main__":
    sys.exit(run(main, Args))
