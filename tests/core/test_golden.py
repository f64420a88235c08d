"""Golden games: whole games on file, made again from their seeds and compared to the byte.

`PYTHONPATH=tests python tests/core/test_golden.py --write` writes the files. A golden file never
stands alone: each game on it is replayed by the package and by the reference engine, which shares
no code with it.
"""

import json
import sys
from pathlib import Path
from zlib import crc32

import pytest
from oracles.reference import ReferenceGame
from support.playthroughs import VARIANTS, finish, legal_names

from bideuchre_env import GameRecord, make

FOLDER = Path(__file__).parent / "golden"
ROUNDS = {"win_rule": "rounds", "rounds": 2}
SHOOT = [{"name": "call-3", "value": 9, "exchange": 3}, {"name": "shoot", "value": 16}]
GAMES = {
    # the options of each game, beside those that are the variant's own
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
}


class FixedChooser:
    """Choices that will be the same in any version of anything: by a checksum of a counter."""

    def __init__(self, seed):
        self.seed, self.count = seed, 0

    def number(self, n):
        """A number below n."""
        self.count += 1
        return crc32(f"{self.seed}/{self.count}".encode()) % n

    def __call__(self, env):
        """Pass two times in three, else mostly a lowest bid; any other action by chance."""
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
    """The golden games of a variant, played now: one line each."""
    found = []
    for number, options in enumerate(GAMES[name]):
        env = make(name, **options).raw_env()
        env.reset(seed=100 + number)
        found.append(finish(env, FixedChooser(len(name) + number)).record.dumps() + "\n")
    return found


def write():
    """Write every golden file anew."""
    FOLDER.mkdir(exist_ok=True)
    for name in GAMES:
        (FOLDER / f"{name}.jsonl").write_text("".join(lines(name)), encoding="utf-8", newline="\n")


def on_file(name):
    """The lines of a variant's golden file."""
    return (FOLDER / f"{name}.jsonl").read_bytes().decode("utf-8").splitlines(keepends=True)


def test_every_variant_has_a_golden_file_and_no_other():
    """The folder holds what the table above says."""
    assert set(GAMES) == set(VARIANTS)
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.jsonl" for name in GAMES}


@pytest.mark.parametrize("name", VARIANTS)
def test_golden_games_are_made_again_to_the_byte(name):
    """Seeds, deals, numbering, legal actions, scoring and the record's form are as they were."""
    assert lines(name) == on_file(name)


@pytest.mark.parametrize("name", VARIANTS)
def test_golden_games_replay(name):
    """Every game is over, verified in replay, and read back to the same line."""
    for line in on_file(name):
        record = GameRecord.loads(line)
        assert record.outcome != "unfinished"
        assert record.dumps() + "\n" == line


@pytest.mark.parametrize("name", VARIANTS)
def test_golden_games_are_what_the_reference_engine_plays(name):
    """Every deal, action and result, by an engine written from the rule texts alone."""
    for line in on_file(name):
        data = json.loads(line)
        rules = make(name, **data["options"]).rules.to_dict()
        game = ReferenceGame(rules, data["hands"][0]["dealer"])
        for hand in data["hands"]:
            assert game.outcome == "unfinished"
            assert game.dealer == hand["dealer"]
            game.deal(hand["deal"])
            for action in hand["actions"]:
                assert game.needs_deal is False
                game.play(action)
            assert game.phase in ("deal", "over")
            assert game.last_hand == {
                word: hand[word] for word in ("dealer", "declarer", "contract", "tricks", "points")
            }
            assert game.score == hand["score"]
        assert (game.winner, game.outcome) == (data["winner"], data["outcome"])


def test_the_golden_games_have_something_of_everything():
    """Won, drawn or cut off; passed out, made, set; alone and with partner; every exchange."""
    records = [GameRecord.loads(line) for name in GAMES for line in on_file(name)]
    hands = [(record, hand) for record in records for hand in record.hands]
    words = {hand["contract"].rsplit(" ", 1)[0] for _, hand in hands if hand["contract"]}
    assert {record.outcome for record in records} >= {"won", "truncated"}
    assert {record.winner for record in records} == {0, 1, None}
    assert {"moon", "double moon", "call-1", "call-2", "call-3", "shoot", "1", "3", "5"} <= words
    assert any(hand["contract"] is None for _, hand in hands)
    gains = [hand["points"][hand["declarer"] % 2] for _, hand in hands if hand["contract"]]
    assert min(gains) < 0 < max(gains)
    assert len(hands) > 100


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit("usage: PYTHONPATH=tests python tests/core/test_golden.py --write")
    write()
