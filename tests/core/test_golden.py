"""Golden games: saved games are reproduced from their seeds, byte for byte.

`PYTHONPATH=tests python tests/core/test_golden.py --write` writes the files.
"""

import sys
from pathlib import Path
from zlib import crc32

import pytest
from support.playthroughs import VARIANTS, finish, legal_names

from bideuchre_env import make

FOLDER = Path(__file__).parent / "golden"
ROUNDS = {"win_rule": "rounds", "rounds": 2}
SHOOT = [{"name": "call-3", "value": 9, "exchange": 3}, {"name": "shoot", "value": 16}]
GAMES = {
    # options of each game, in addition to the variant's
    "cincinnati_v0": [
        {},
        {"moon_ladder": "jump", "target": 20, "both_over": "highest"},
        {"all_pass": "redeal_next", "opening_lead": "declarer", "both_over": "continue"},
        {"win_rule": "made_bid", "target": 10, "max_hands": 9},
        {"partnered": None, "all_pass": "eldest_forced", "max_hands": 10},
    ],
    "simplified_v0": [
        {},
        {"rounds": 2, "dealer_may_equal": "never"},
        {"all_pass": "eldest_forced", "strain_named": "after_auction"},
    ],
    "club_v0": [
        {"target": 20},
        {"all_pass": "redeal_same", "target": 12, "max_hands": 15},
        {"dealer_may_equal": "lone", "all_pass": "dealer_forced", "max_hands": 8},
    ],
    "barrie_v0": [
        {"target": 25},
        {"win_rule": "any", "target": 20, "opening_lead": "eldest"},
        {"ranks": "10", "partnered": [1, 10], "target": 15, "lone": SHOOT, "max_hands": 9},
        {"partnered": None, "lone": SHOOT, "strain_named": "after_auction", "max_hands": 6},
    ],
    "six_card_v0": [
        {},
        ROUNDS,
        {"ranks": "J", "partnered": [1, 4], "target": 10},
        {"ranks": "10", "partnered": None, "lone": SHOOT, "max_hands": 6},
    ],
    "double_deck_v0": [
        {"target": 30},
        {"all_pass": "eldest_forced", "partnered": [2, 9], "max_hands": 4},
        {"lone": SHOOT, "strain_named": "after_auction", "max_hands": 6},
    ],
    "partners_best_v0": [
        {},
        {"no_trump_from": 4, "exchange_seen": "open", "target": 32},
        {"strain_named": "lone_after", "all_pass": "dealer_lowest", "max_hands": 8},
    ],
    "indiana_v0": [
        {"target": 30},
        {"auction": "until_passes", "partnered": [6, 12], "floor": -40, "max_hands": 6},
        {"no_trump": "none", "opening_lead": "left", "max_hands": 4},
    ],
    "pepper_v0": [
        {},
        {"auction": "until_out", "no_trump": "both", "made_scores": "bid", "max_hands": 9},
        {"auction": "once", "dealer_may_equal": "any", "defenders_score": "value_if_set"},
    ],
}


class FixedChooser:
    """Choices by a checksum of a counter, the same in every version of every dependency."""

    def __init__(self, seed):
        self.seed, self.count = seed, 0

    def number(self, n):
        """A number from 0 to n - 1, by the checksum of the next count."""
        self.count += 1
        return crc32(f"{self.seed}/{self.count}".encode()) % n

    def __call__(self, env):
        """Return an action: two times in three a legal pass, else mostly the lowest bid."""
        legal = legal_names(env)
        name = legal[self.number(len(legal))]
        if any(action.startswith("bid") for action in legal):
            bids = [action for action in legal if action != "pass"]
            lowest = [bid for bid in bids if bid.split()[1] == bids[0].split()[1]]
            name = bids[self.number(len(bids) if self.number(6) == 0 else len(lowest))]
            if "pass" in legal and self.number(3):
                name = "pass"
        return env.action_names.index(name)


def lines(name):
    """Play the golden games of a variant; return their records, a list of lines."""
    result = []
    for number, options in enumerate(GAMES[name]):
        env = make(name, **options).raw_env()
        env.reset(seed=100 + number)
        result.append(finish(env, FixedChooser(len(name) + number)).record.dumps() + "\n")
    return result


def write():
    FOLDER.mkdir(exist_ok=True)
    for name in GAMES:
        (FOLDER / f"{name}.jsonl").write_text("".join(lines(name)), encoding="utf-8", newline="\n")


@pytest.mark.parametrize("name", VARIANTS)
def test_golden_games_are_reproduced_to_the_byte(name):
    """Seeds, deals, action numbers, legal actions, scoring and the record format are unchanged."""
    saved = (FOLDER / f"{name}.jsonl").read_bytes().decode("utf-8")
    assert lines(name) == saved.splitlines(keepends=True)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit("usage: PYTHONPATH=tests python tests/core/test_golden.py --write")
    write()
