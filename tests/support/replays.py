"""Games to replay on a page, with every phase of their variant, and notes on them."""

import random
from typing import Any

from support.playthroughs import Chooser, finish, legal_names, start

from bideuchre_env.records.record import GameRecord

NASTY = ["</script><script>bad()</script>", "<b>&amp;", "\"'{sheets}", "rule"]


class Caller(Chooser):
    """Choose at random, but often a bid with an exchange of cards, if one is legal."""

    def __call__(self, env: Any) -> int:
        calls = [name for name in legal_names(env) if name.startswith("bid call-")]
        if calls and self.rng.random() < 0.4:
            return int(env.action_names.index(self.rng.choice(calls)))
        return super().__call__(env)


def game(name: str, seed: int = 5, hands: int = 4, agents: list[str] | None = None) -> GameRecord:
    """A game of a variant with at most `hands` hands."""
    record: GameRecord = finish(start(name, seed, max_hands=hands), Caller(seed)).record
    record.agents = agents
    return record


def notes_on(record: GameRecord, why: str = "The right bower draws trumps.") -> dict[str, Any]:
    """Notes like those of a review, with random figures; every third action has none."""
    rng = random.Random(3)

    def note() -> dict[str, Any]:
        lost = max(0.0, rng.gauss(0.2, 0.8))
        chances = {"points": 2.1, "made": rng.random(), "wins": rng.random()}
        loss = {"lost": lost, "error": 0.1, "best": "JH", "mistake": lost > 0.8, "why": why}
        return loss | {"open": rng.choice((0, 1, None))} | chances

    hands = [
        {"par": "par: 4 H by seat 1", "plies": [(i % 3 and note()) or None for i in range(n)]}
        for n in (len(hand["actions"]) for hand in record.hands)
    ]
    names = record.agents or ["a", "b", "c", "d"]
    figures = {"decisions": 60, "mistakes": 3, "lost": 2.4, "words": why}
    players = [{"seat": seat, "name": name} | figures for seat, name in enumerate(names)]
    return {"agent": "inference", "hands": hands, "players": players}
